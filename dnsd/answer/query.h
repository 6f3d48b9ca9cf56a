/**
 * From a question to an answer: the one place where the rules of an authoritative server stand (RFC 1034 4.3.2 as amended
 * by RFC 2308, 4592, 6604, 6672, 6891, 7828, 7873, 8020, 8482, 8467, 8906, 8914, 9619). Pure: no allocation, lock, log or
 * clock.
 *
 * Steps, so that a worker can run each over a whole batch and cache misses overlap:
 *
 *     answer_read()    parse the message, hash its name, fetch where its shard is written down into the cache
 *     answer_fetch()   a step at a time: the shard, the slot, the node; then the same for what is around a missing name, or
 *                      for the targets of SRV, MX and NS
 *     answer_write()   make the response
 *
 * Thread: any; one struct answer, one thread.
 */
#ifndef ANSWER_QUERY_H
#define ANSWER_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/cookie.h"
#include "wire/read.h"
#include "zone/find.h"

struct answer_options {
    uint16_t udp_max;      /* largest UDP response and the size announced in OPT; 512..4096, 0: 1232 */
    bool keep_order;       /* true: records of a set always in the same order; false: rotated by query id */
    bool can_forward;      /* names outside all zones are handed off instead of refused */
    bool can_fall_through; /* so are names that a dynamic zone does not hold */
    bool can_transfer;     /* AXFR and IXFR are handed off instead of refused */
    bool has_empty_zones;  /* names of RFC 6303 and 6761 are answered when no zone covers them */
    bool needs_cookie;     /* over UDP only clients that prove their address get data */
    uint16_t keepalive_100ms; /* idle timeout told to TCP clients that ask */
    const char *version;  /* told for version.bind, or NULL: hidden            [borrowed, lives as long] */
    const char *identity; /* told for id.server, or NULL: hidden               [borrowed, lives as long] */
    const uint8_t *nsid;  /* name server identifier, or NULL                   [borrowed, lives as long] */
    uint8_t nsid_len;     /* at most 64; longer ones are not sent */
};

/** Why a query is not answered here but handed to someone else. */
enum answer_hand_off {
    ANSWER_HERE,
    ANSWER_FORWARD,      /* no zone of ours */
    ANSWER_FALL_THROUGH, /* a dynamic zone of ours, which does not hold the name */
    ANSWER_TRANSFER,
};

/** What the cookie of a query proves (RFC 7873). */
enum answer_cookie {
    ANSWER_COOKIE_NONE,    /* there was none, or cookies are off */
    ANSWER_COOKIE_UNKNOWN, /* no server cookie, or not one of ours */
    ANSWER_COOKIE_GOOD,    /* the client is where it says it is */
};

/** Names beside the question's that are fetched for an answer. */
#define ANSWER_MAX_MORE 4

/** One query on its way. */
struct answer {
    struct query q;                          /* what was read */
    const uint8_t *msg;                      /* the message                                 [borrowed] */
    struct zone_place place;                 /* where its name would be, for the fetches */
    struct zone_place more[ANSWER_MAX_MORE]; /* n_more: around a missing name, or of the first targets: */
    const uint8_t *more_of;    /* wire of the set that has these targets, or NULL             [borrowed] */
    uint8_t n_more, more_step; /* more_step: step that fetches the first part of them */
    bool is_tcp;               /* decides size limit and ANY */
    bool is_tls;               /* padding is allowed; false after answer_read, the caller sets it */
    const struct cookie_secrets *secrets; /* NULL after answer_read; see answer_wants_client   [borrowed] */
    struct cookie_client client;          /* valid with secrets */
    enum answer_hand_off hand_off;        /* set by answer_write */
    enum answer_cookie cookie;            /* set by answer_write */
    uint16_t rcode;                       /* rcode of the response, set by answer_write */
    bool is_truncated;                    /* set by answer_write */
};

/**
 * Read a message and warm the cache for its name.
 *
 * @param a    filled; a->msg borrows the message                                [out]
 * @param msg  len octets as received                                            [borrowed until answer_write]
 * @param v    version that will answer                                          [borrowed]
 * Thread: any.   Source: RFC 1035 4.1.
 */
void answer_read(struct answer *a, const uint8_t *msg, size_t len, bool is_tcp, const struct zone_version *v);

/** Does the query carry a cookie? Then the caller sets a->secrets and a->client before answer_write, unless cookies are off. */
static inline bool answer_wants_client(const struct answer *a)
{
    return a->q.cookie_len > 0;
}

/**
 * Fetch a part of what answer_write will need into the cache. From any step on the others may be left out.
 *
 * @param v     as given to answer_read                                          [borrowed]
 * @param step  0, 1, 2 … as long as the one before returned true, each after that has had time to arrive
 * @return whether the next step would fetch more.   Thread: any.
 */
bool answer_fetch(struct answer *a, const struct zone_version *v, unsigned step);

/**
 * Make the response.
 *
 * @param a     after answer_read; its result fields are set                     [in,out]
 * @param v     the version given to answer_read                                 [borrowed]
 * @param opts  options                                                          [borrowed]
 * @param out   room for cap octets: for UDP at least udp_max, for TCP 65535     [out]
 * @return octets of the response; 0: send nothing. When a->hand_off is not ANSWER_HERE the response is what to send
 *         if nobody takes the query.
 * Thread: any.   Source: RFC 1034 4.3.2 and the list above.
 */
size_t answer_write(struct answer *a, const struct zone_version *v, const struct answer_options *opts,
                    uint8_t *out, size_t cap);

/**
 * In place of a response: the question and TC, so that the client comes again over TCP (rate limiting, RFC 2181 9).
 *
 * @param a    after answer_write                                                [in,out]
 * @param out  room for cap >= 512 octets                                        [out]
 * @return octets of the response.   Thread: any.   Source: ours; slip of BIND's RRL.
 */
size_t answer_write_empty(struct answer *a, const struct zone_version *v, const struct answer_options *opts,
                          uint8_t *out, size_t cap);

#endif
