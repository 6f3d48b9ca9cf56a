/**
 * From a question to an answer: the one place where the rules of an authoritative server stand (RFC 1034 4.3.2 as amended
 * by RFC 2308, 4592, 6604, 6672, 6891, 8020, 8482, 8906, 8914, 9619). Pure: no allocation, lock, log or clock.
 *
 * Four steps, so that a worker can run each over a whole batch and cache misses overlap:
 *
 *     answer_read()         parse the message, hash its name, fetch the shard into the cache
 *     answer_fetch_slot()   fetch the slot
 *     answer_fetch_node()   fetch the node
 *     answer_write()        make the response
 *
 * Thread: any; one struct answer, one thread.
 */
#ifndef ANSWER_QUERY_H
#define ANSWER_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/read.h"
#include "zone/find.h"

struct answer_options {
    uint16_t udp_max;      /* largest UDP response and the size announced in OPT; 512..4096, 0: 1232 */
    bool keep_order;       /* true: records of a set always in the same order; false: rotated by query id */
    bool can_forward;      /* names outside all zones are handed off instead of refused */
    bool can_fall_through; /* so are names that a dynamic zone does not hold */
    bool can_transfer;     /* AXFR and IXFR are handed off instead of refused */
    const uint8_t *nsid;   /* name server identifier, or NULL                   [borrowed, lives as long] */
    uint8_t nsid_len;      /* at most 64; longer ones are not sent */
};

/** Why a query is not answered here but handed to someone else. */
enum answer_hand_off { ANSWER_HERE, ANSWER_FORWARD, ANSWER_TRANSFER };

/** One query on its way. */
struct answer {
    struct query q;                /* what was read */
    const uint8_t *msg;            /* the message                                 [borrowed] */
    struct zone_place place;       /* where its name would be, for the fetches */
    bool is_tcp;                   /* decides size limit and ANY */
    enum answer_hand_off hand_off; /* set by answer_write */
    uint16_t rcode;                /* rcode of the response, set by answer_write */
    bool is_truncated;             /* set by answer_write */
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

/** Fetch what answer_write will need; both steps may be left out. Thread: any. */
void answer_fetch_slot(const struct answer *a);
void answer_fetch_node(const struct answer *a);

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

#endif
