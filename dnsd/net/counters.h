/**
 * Counters of one thread: it alone writes them and any thread reads them, so relaxed loads and stores are enough. They have
 * cache lines of their own.
 *
 * Source: ours.
 */
#ifndef NET_COUNTERS_H
#define NET_COUNTERS_H

#include <stdatomic.h>

#include "bobbin/error.h"
#include "net/net.h"

struct counters {
    _Alignas(64)
#define COUNTERS_FIELD(field, name, help) _Atomic uint64_t field;
        NET_COUNTERS(COUNTERS_FIELD)
#undef COUNTERS_FIELD
};

/** Add to a counter. Thread: the owner's. Source: ours. */
static inline void count_add(_Atomic uint64_t *counter, uint64_t n)
{
    uint64_t now = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, now + n, memory_order_relaxed);
}

/** Is the client refused, because the taker of its query said ERR_PERMISSION? A missing name of ours is missing for all. Thread: any.
 *  Source: ours. */
static inline bool net_is_prohibited(const struct answer *a, int err)
{
    return err == ERR_PERMISSION && a->hand_off == ANSWER_FORWARD;
}

/** Count a response by rcode. Thread: the owner's. Source: ours. */
void count_response(struct counters *c, const struct answer *a);

#endif
