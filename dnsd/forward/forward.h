/**
 * The forwarder relays queries for names outside our zones to upstream servers. It has a thread and a loop of its own:
 * workers only copy a query and post it, so queries for our zones never wait for the forwarder.
 *
 *     net worker:    forward_take → post         (refuses clients that may not use it: the worker's response is sent)
 *     forward loop:  cache → hit: net_reply
 *                          → miss: join the equal query in flight, or send one
 *                    query in flight → upstream → next upstream … → answer → cache, net_reply to each client
 *
 *     forward_new → net_start with forward_take → forward_use → …
 *     … → forward_stop (no reply is sent after it) → net_stop → forward_free
 *
 * A query that a forwarding loop brings back joins itself in flight and ends with the time-out, so no loop multiplies it.
 *
 * Upstreams have turns, each of the time-out: three for a query, so one that is silent has another when there are fewer. Within its
 * turn a datagram that may be lost is sent again, from another port with another id and case, after a time that follows the upstream's
 * round-trip time and doubles. Each such time ends in one of these ways:
 *
 *     silence, and the turn is not over: UDP again
 *
 *     UDP, case at random ──► truncated, or too long ──────────────► TCP
 *          │   │              wrong case, or many strays: forged? ─► TCP ── fails, was it the case? ─► UDP, lower case
 *          │   └► FORMERR, NOTIMP: the same without EDNS
 *          └► silence, network, malformed, another rcode: the next upstream
 *
 * Source: RFC 1034 5.3, RFC 2308, RFC 5452, RFC 9520; ours.
 */
#ifndef FORWARD_FORWARD_H
#define FORWARD_FORWARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/network.h"
#include "forward/upstreams.h"
#include "net/net.h"

struct forward;
struct err_info;
struct outage;
struct run_loop;

/** Counters: field, metric name, help. */
#define FORWARD_COUNTERS(X)                                                                                  \
    X(queries, "dns_forward_queries", "queries taken for upstream servers")                                  \
    X(cache_hits, "dns_forward_cache_hits", "of them answered from the cache")                               \
    X(joined, "dns_forward_joined", "of them that joined an equal query in flight")                          \
    X(overloaded, "dns_forward_overloaded", "queries answered SERVFAIL because too many were in flight")     \
    X(not_allowed, "dns_forward_not_allowed", "queries of clients that may not be forwarded")                \
    X(sent, "dns_forward_sent", "queries sent to upstream servers")                                          \
    X(repeated, "dns_forward_repeated", "of them sent again because no answer came, perhaps lost")           \
    X(sent_tcp, "dns_forward_sent_tcp", "of them over TCP, after a truncated answer or suspected forgery")   \
    X(sent_plain, "dns_forward_sent_plain", "of them without EDNS, to a server without EDNS")                \
    X(strays, "dns_forward_strays", "datagrams dropped: wrong id, question or case; perhaps forged")         \
    X(doubts, "dns_forward_doubts", "queries repeated over TCP because of such datagrams")                   \
    X(timeouts, "dns_forward_timeouts", "queries that an upstream server did not answer in time")            \
    X(errors, "dns_forward_errors", "queries that failed by the network or a malformed answer")              \
    X(continued, "dns_forward_continued", "answers of upstream servers continued in our zones")              \
    X(failures, "dns_forward_failures", "queries that no upstream server answered")                          \
    X(reply_failed, "dns_forward_reply_failed", "responses whose client was gone or too slow")

struct forward_counts {
#define FORWARD_COUNTS_FIELD(field, name, help) uint64_t field;
    FORWARD_COUNTERS(FORWARD_COUNTS_FIELD)
#undef FORWARD_COUNTS_FIELD
    uint64_t under_way;   /* queries accepted and not answered */
    uint64_t cache_bytes; /* octets the cache uses */
    uint64_t failing;     /* upstream servers that did not answer when asked last */
};

/** An upstream server, as it was when asked last. */
struct forward_upstream {
    const struct upstream *at; /* its address                                    [borrowed] */
    int64_t rtt_ms;            /* smoothed time to an answer; -1: none yet */
    unsigned n_failed;         /* in a row */
};

/** Zones in forward_options.fall_through at most. */
#define FORWARD_ZONES_MAX 16

struct forward_options {
    struct upstreams upstreams; /* at least one */
    struct run_loop *owner;     /* of the writer's thread; lives on             [borrowed] */
    struct outage *outage;   /* none of the servers answers; that thread's, freed after its loop [borrowed] */
    struct networks clients; /* whose queries are forwarded */
    unsigned timeout_ms;     /* a turn of one upstream */
    unsigned max_under_way;  /* queries accepted at once */
    size_t cache_bytes;      /* 0: no cache */
    uint16_t udp_max;        /* longest UDP response; 512..4096 */
    uint32_t negative_ttl_s; /* longest TTL of a negative answer for a name inside our zones */
    uint32_t ttl_most_s;     /* longest TTL of any answer */
    uint32_t ttl_most_negative_s; /* longest TTL of a negative answer */
    const uint8_t *nsid;          /* NSID for clients that ask, or NULL              [borrowed] */
    uint8_t nsid_len;             /* at most RELAY_NSID_MAX */
    uint16_t keepalive_100ms;     /* idle timeout for TCP clients that ask */
    size_t n_fall_through;        /* missing names of our zones are forwarded at or below these; 0: all */
    uint8_t fall_through[FORWARD_ZONES_MAX][NAME_MAX_LEN];
};

/**
 * Start the thread. forward_take refuses queries until forward_use.
 *
 * @param opts  copied
 * @param out   the forwarder; forward_stop, then forward_free                   [out]
 * @return 0; or ERR_IO: no thread; why says so.   Thread: writer.   Source: ours.
 */
int forward_new(const struct forward_options *opts, struct forward **out, struct err_info *why);
/** Accept queries, and reply through this net. @param n lives until forward_stop [borrowed]. Thread: writer. Source: ours. */
void forward_use(struct forward *f, struct net *n);
/** End the thread and drop the queries in flight. forward_take may still be called and refuses. NULL is fine. Thread: writer.
 *  Source: ours. */
void forward_stop(struct forward *f);
/** Release, after net_stop. NULL is fine. Thread: writer. Source: ours. */
void forward_free(struct forward *f);

/**
 * Accept a query: copy it and post it to the loop. The `take` of struct net_taker.
 *
 * @param owner  struct forward
 * @return 0; ERR_NOTFOUND: no query for a forwarder; ERR_UNAVAILABLE: not started or stopping; ERR_PERMISSION: the client may not.
 * Thread: any.   Source: ours.
 */
int forward_take(void *owner, enum answer_hand_off what, const struct net_peer *peer, const uint8_t *msg,
                 size_t len);

/** Read the counters one by one, not as one snapshot. @param out filled [out]. Thread: any. Source: ours. */
void forward_counts_read(const struct forward *f, struct forward_counts *out);
/** State of the servers, in the order of the list. @return how many. Thread: any. Source: ours. */
size_t forward_upstreams_read(const struct forward *f, struct forward_upstream out[UPSTREAMS_MAX]);

#endif
