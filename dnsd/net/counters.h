/**
 * Counters of one thread: it alone writes them and any thread reads them, so relaxed loads and stores are enough. They have
 * cache lines of their own.
 *
 * Source: ours.
 */
#ifndef NET_COUNTERS_H
#define NET_COUNTERS_H

#include <stdatomic.h>

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

/** Count a response by rcode. Thread: the owner's. Source: ours. */
void count_response(struct counters *c, const struct answer *a);

#endif
