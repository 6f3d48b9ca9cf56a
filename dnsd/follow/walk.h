/**
 * Walks over all records, in steps between other work: a record that is there from begin to end is visited once at least, one that
 * is replaced meanwhile maybe twice.
 *
 * Thread: owner.   Source: ours.
 */
#ifndef FOLLOW_WALK_H
#define FOLLOW_WALK_H

#include "bobbin/error.h"
#include "names/packed.h"
#include "run/loop.h"

struct walk;
struct walk_ops {
    /** One record. @param packed len octets of map_pack; valid during the call, as path is [borrowed]. */
    void (*record)(void *arg, const char *path, const char *packed, size_t len);
    /** The end: 0, or ERR_CANCELLED at walks_free. The walk is gone. */
    void (*done)(void *arg, int err);
};

/** All walks over one set. */
struct walks;

/** No walk is under way. @param set outlives the walks; it may change while they are under way [borrowed]. Free with walks_free. Thread:
 *  owner. Source: ours. */
struct walks *walks_new(struct run_loop *loop, const struct packed_set *set);
/** End all walks with ERR_CANCELLED, and release. NULL is fine. Thread: owner. Source: ours. */
void walks_free(struct walks *all);

/** Begin. @param ops outlives the walk [borrowed]. @return the walk, until done is called; nothing is called yet. Thread: owner.
 *  Source: ours. */
struct walk *walk_start(struct walks *all, const struct walk_ops *ops, void *arg);
/** End it early; done is not called. NULL is fine. Thread: owner. Source: ours. */
void walk_cancel(struct walk *w);

#endif
