/**
 * Names that several records share, where a record that is not ready shows only when no ready one is left: answers are
 * filtered by readiness, and never emptied by it.
 *
 *     name ─ n_ready, and the records that are not ready
 *     n_ready > 0: the ready ones are in the zone;   n_ready = 0: the others are
 *
 * Thread: owner.   Source: ours.
 */
#ifndef NAMES_POOL_H
#define NAMES_POOL_H

#include <stdbool.h>

#include "base/map.h"
#include "zone/zone.h"

struct pools {
    struct map by_name; /* owner as lower-case text -> struct pool */
};

/** Where the records that show, or no longer show, go. */
struct pool_sink {
    void (*rr)(void *arg, const struct zone_rr *rr, bool is_add);
    void *arg;
};

/** Release; no record is told. Thread: owner. */
void pools_fini(struct pools *p);

/**
 * A record comes to a name, or goes; the changes of the zone that follow are told at once.
 *
 * @param rr  a record at a shared name: A, AAAA, SRV                             [borrowed]
 * Thread: owner.   Source: ours.
 */
void pools_change(struct pools *p, const struct zone_rr *rr, bool is_ready, bool is_add,
                  const struct pool_sink *sink);

/** Number of ready records at a name; 0 also when nobody shares it. Thread: owner. */
unsigned pools_n_ready(const struct pools *p, const uint8_t *owner);

#endif
