/**
 * Records one after another in a block of memory: the content of a zone that does not come from the registry.
 * Pure. Thread: one list, one thread.   Source: ours.
 */
#ifndef FEED_RRLIST_H
#define FEED_RRLIST_H

#include <stddef.h>

#include "base/buf.h"
#include "zone/zone.h"

struct rrlist {
    struct buf bytes;
    size_t n_rrs;
};

/** Append a copy. @param rr valid wire names and rdata [borrowed]. */
void rrlist_add(struct rrlist *l, const struct zone_rr *rr);
/** Call fn for each, in order; rr is valid during the call. */
void rrlist_each(const struct rrlist *l, void (*fn)(void *arg, const struct zone_rr *rr), void *arg);
/** Release; the list is empty and usable again. */
void rrlist_fini(struct rrlist *l);

#endif
