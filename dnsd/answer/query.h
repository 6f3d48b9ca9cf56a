/**
 * From a query to a response: all rules of an authoritative server (RFC 1034 4.3.2 as amended by RFC 2308, 4592, 6604, 6672,
 * 6891, 7828, 7873, 8020, 8482, 8467, 8906, 8914, 9619). Pure: no allocation, lock, log or clock.
 *
 * Steps, so that a worker can run each over a whole batch and cache misses overlap:
 *
 *     answer_read()    parse the message, hash its name, prefetch the pointer to its shard
 *     answer_fetch()   prefetch step by step: the shard, the slot, the node; then the same for the names around a missing
 *                      one, or for the targets of SRV, MX and NS
 *     answer_write()   write the response
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
    bool can_forward;      /* hand off names outside all zones instead of refusing them */
    bool can_fall_through; /* hand off missing names of dynamic zones, too */
    bool can_transfer;     /* hand off AXFR and IXFR instead of refusing them */
    bool has_empty_zones;  /* answer names of RFC 6303 and 6761 that no zone covers */
    bool needs_cookie;     /* over UDP answer only clients that prove their address */
    uint16_t keepalive_100ms; /* idle timeout, sent to TCP clients that ask */
    const char *version;  /* text of version.bind, or NULL: refused            [borrowed, lives as long] */
    const char *identity; /* text of id.server, or NULL: refused               [borrowed, lives as long] */
    const uint8_t *nsid;  /* name server identifier, or NULL                   [borrowed, lives as long] */
    uint8_t nsid_len;     /* at most 64; longer ones are not sent */
};

/** Why a query is handed off instead of answered. */
enum answer_hand_off {
    ANSWER_HERE,
    ANSWER_FORWARD,      /* no zone of ours */
    ANSWER_FALL_THROUGH, /* a missing name of a dynamic zone */
    ANSWER_TRANSFER,
};

/** Result of the check of a cookie (RFC 7873). */
enum answer_cookie {
    ANSWER_COOKIE_NONE,    /* there was none, or cookies are off */
    ANSWER_COOKIE_UNKNOWN, /* no server cookie, or not one of ours */
    ANSWER_COOKIE_GOOD,    /* proves the address of the client */
};

/** Which names a client may see beside the one it asks for: where aliases lead, and targets that get addresses. */
struct answer_guard {
    bool (*allows)(const struct answer_guard *g,
                   const uint8_t *name); /* wire name in lower case   [borrowed] */
};

/** Names that are prefetched beside the question's. */
#define ANSWER_MAX_MORE 4

/** One query and its result. */
struct answer {
    struct query q;                          /* what was read */
    const uint8_t *msg;                      /* the message                                 [borrowed] */
    struct zone_place place;                 /* where its name would be, for the fetches */
    struct zone_place more[ANSWER_MAX_MORE]; /* n_more: around a missing name, or of the first targets */
    const uint8_t *more_of;    /* wire of the set that has these targets, or NULL             [borrowed] */
    uint8_t n_more, more_step; /* more_step: step that fetches the first part of them */
    bool is_tcp;               /* decides size limit and ANY */
    bool is_tls;               /* padding is allowed; false after answer_read, the caller sets it */
    const struct cookie_secrets *secrets; /* NULL after answer_read; see answer_wants_client   [borrowed] */
    struct cookie_client client;          /* valid with secrets */
    const struct answer_guard *guard;     /* NULL after answer_read: all names are shown      [borrowed] */
    enum answer_hand_off hand_off;        /* set by answer_write */
    enum answer_cookie cookie;            /* set by answer_write */
    uint16_t rcode;                       /* rcode of the response, set by answer_write */
    bool is_truncated;                    /* set by answer_write */
};

/**
 * Read a message and begin to prefetch its name.
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
 * Prefetch a part of what answer_write reads. The remaining steps may be left out at any time.
 *
 * @param v     as given to answer_read                                          [borrowed]
 * @param step  0, 1, 2 … while the step before returned true, each after the memory of that has arrived
 * @return whether there is a next step.   Thread: any.   Source: ours.
 */
bool answer_fetch(struct answer *a, const struct zone_version *v, unsigned step);

/**
 * Write the response.
 *
 * @param a     after answer_read; its result fields are set                     [in,out]
 * @param v     the version given to answer_read                                 [borrowed]
 * @param opts  options                                                          [borrowed]
 * @param out   room for cap octets: for UDP at least udp_max, for TCP 65535     [out]
 * @return octets of the response; 0: send nothing. When a->hand_off is not ANSWER_HERE, send it only if the
 *         query is not accepted there.
 * Thread: any.   Source: RFC 1034 4.3.2 and the list above.
 */
size_t answer_write(struct answer *a, const struct zone_version *v, const struct answer_options *opts,
                    uint8_t *out, size_t cap);

/**
 * Write the question and TC instead of a response, so that the client repeats the query over TCP (rate limiting, RFC 2181 9).
 *
 * @param a    after answer_write                                                [in,out]
 * @param out  room for cap >= 512 octets                                        [out]
 * @return octets of the response.   Thread: any.   Source: ours; slip of BIND's RRL.
 */
size_t answer_write_empty(struct answer *a, const struct zone_version *v, const struct answer_options *opts,
                          uint8_t *out, size_t cap);

/**
 * Write REFUSED with extended error 18, for a client that may not ask this.
 *
 * @param a    after answer_read; its result fields are set                      [in,out]
 * @param out  room for cap >= 512 octets                                        [out]
 * @return octets of the response; 0: send nothing.   Thread: any.   Source: RFC 8914 4.19.
 */
size_t answer_write_prohibited(struct answer *a, const struct zone_version *v,
                               const struct answer_options *opts, uint8_t *out, size_t cap);

/** Aliases of another server's answer, at most. */
#define ANSWER_LINKS_MAX 8

/** The aliases with which another server's answer begins: of the question's name, then each of the one before. */
struct answer_links {
    unsigned n;
    struct answer_link {
        uint32_t ttl_s;
        const uint8_t *target; /* wire name, uncompressed                       [borrowed] */
    } items[ANSWER_LINKS_MAX];
};

/**
 * Continue another server's answer where it enters our zones: these aliases up to the first whose target is ours, and for that
 * target what we answer. AA is clear and RA set.
 *
 * @param a      after answer_read, of the client's query; its result fields are set [in,out]
 * @param links  aliases for its question                                        [borrowed]
 * @param out    room for 65535 octets                                           [out]
 * @return octets of the response; 0: no target is in a zone of ours, nothing is written or set.
 * Thread: any.   Source: RFC 1034 4.3.2, RFC 6604.
 */
size_t answer_write_links(struct answer *a, const struct zone_version *v, const struct answer_options *opts,
                          const struct answer_links *links, uint8_t *out);

#endif
