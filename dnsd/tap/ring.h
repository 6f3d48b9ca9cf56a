/**
 * Queries on their way from the threads that answer to the thread that logs: one ring of octets for each of the former. A thread that
 * answers copies what it was asked and what it said, and goes on; where there is no room the entry is dropped and counted. Nobody waits.
 *
 *     read ──►│ head │ query │ response │ pad │ head │ … │◄── written        an entry lies in one piece: at the end of the memory
 *             └─ len, a multiple of 8 ────────┘                              a head that only says how much to step over fills the rest
 *
 * Thread: one writes, one reads.   Source: ours.
 */
#ifndef TAP_RING_H
#define TAP_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tap_ring;

enum tap_protocol { TAP_UDP, TAP_TCP, TAP_TLS };

/** Where an entry goes. */
enum { TAP_LOG = 1, TAP_DNSTAP = 2 };

/** One query, or the response to one that was handed off. */
struct tap_entry {
    uint32_t len;       /* of the ring's: octets of the entry */
    uint32_t sinks;     /* TAP_*; 0: octets to step over */
    uint64_t at_ns;     /* wall clock, ns since 1970: the query was read; 0: not known */
    uint64_t said_ns;   /* the same: the response was written */
    uint32_t query_len; /* octets of the query; 0: it is in another entry */
    uint32_t said_len;  /* octets of the response; 0: none, or in another entry */
    uint16_t rcode;     /* of the response, its upper bits too */
    uint16_t client_port;
    uint8_t protocol; /* enum tap_protocol */
    bool is_relayed;  /* handed off to a server that recurses */
    bool is_ipv6;
    uint8_t client[16]; /* 4 octets of IPv4 */
};

/** A ring. @param size octets: a power of two, 4096 at least. @return tap_ring_free. Thread: any. Source: ours. */
struct tap_ring *tap_ring_new(size_t size);
/** Release. NULL is fine. Thread: any, when no thread uses it. Source: ours. */
void tap_ring_free(struct tap_ring *r);

/**
 * Put an entry.
 *
 * @param e         its lengths say how much is copied of:                        [borrowed]
 * @param query     octets                                                       [borrowed]
 * @param response  octets                                                       [borrowed]
 * @return false: there is no room; it is counted.   Thread: the writer.   Source: ours.
 */
bool tap_ring_put(struct tap_ring *r, const struct tap_entry *e, const uint8_t *query,
                  const uint8_t *response);

/**
 * The oldest entry.
 *
 * @param query  e->query_len octets, then e->said_len octets of the response     [out, borrowed until tap_ring_drop]
 * @return NULL: the ring is empty.   Thread: the reader.   Source: ours.
 */
const struct tap_entry *tap_ring_oldest(struct tap_ring *r, const uint8_t **query);
/** Give the room of the oldest entry back. Thread: the reader. Source: ours. */
void tap_ring_drop(struct tap_ring *r);
/** Entries for which there was no room. Thread: any. Source: ours. */
uint64_t tap_ring_n_lost(const struct tap_ring *r);

#endif
