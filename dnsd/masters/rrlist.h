/**
 * Records one after another in a block of memory: the content of a zone that does not come from the registry.
 * Pure. Thread: one list, one thread.   Source: ours.
 */
#ifndef MASTERS_RRLIST_H
#define MASTERS_RRLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "zone/zone.h"

struct rrlist {
    struct buf bytes;
    size_t n_rrs;
    uint64_t sum; /* of all that was added: two lists that differ have different ones, most likely */
};

/** Append a copy. @param rr valid wire names and rdata [borrowed]. */
void rrlist_add(struct rrlist *l, const struct zone_rr *rr);
/** Call fn for each, in order; rr is valid during the call. */
void rrlist_each(const struct rrlist *l, void (*fn)(void *arg, const struct zone_rr *rr), void *arg);
/** The record at *at, which moves to the next. @param at 0 at first [in,out]. @return false: there is none any more. */
bool rrlist_next(const struct rrlist *l, size_t *at, struct zone_rr *rr);
/** Release; the list is empty and usable again. */
void rrlist_fini(struct rrlist *l);

#endif
