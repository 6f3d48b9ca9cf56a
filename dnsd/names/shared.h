/**
 * Shared names: names at which several registry records have records (a component, a service, its SRV names). An unready
 * record is visible there only while no ready one is left, so readiness filters an answer and never empties it. Of each type at most
 * a certain number is visible (members.h).
 *
 *     name ─ n_ready ─ A ─ ready members, unready members
 *                    └ SRV ─ …
 *     n_ready > 0: the zone has the ready members;   n_ready = 0: the zone has the unready ones
 *
 * Thread: owner.   Source: ours.
 */
#ifndef NAMES_SHARED_H
#define NAMES_SHARED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "zone/zone.h"

struct shared_names {
    struct map by_name;   /* owner as lower-case text -> struct shared_name */
    unsigned max_members; /* of one type at a name that are visible; 0: all */
};

/** What became of a record at a shared name. */
enum shared_state {
    SHARED_VISIBLE,
    SHARED_NOT_READY, /* others at the name are */
    SHARED_SURPLUS,   /* there are more than max_members */
};

/** Receives the edits of the zone: each record that becomes visible or is so no more. */
struct shared_sink {
    void (*rr)(void *arg, const struct zone_rr *rr, bool is_add);
    void *arg;
};

/** Release; emits nothing. @param names empty afterwards, usable again; max_members stays [in,out]. Thread: owner. Source: ours. */
void shared_fini(struct shared_names *names);

/**
 * Add a record to a shared name, or remove it, and emit the edits of the zone that follow.
 *
 * @param names     all zero but for max_members: no name is shared yet                             [in,out]
 * @param rr        A, AAAA or SRV; its owner in any case                        [borrowed]
 * @param is_ready  as it was when the record was added
 * @param is_add    false: one record like rr that was added is removed
 * @param sink      called before this returns                                   [borrowed]
 * Thread: owner.   Source: ours.
 */
void shared_change(struct shared_names *names, const struct zone_rr *rr, bool is_ready, bool is_add,
                   const struct shared_sink *sink);

/** What became of a record that was added. @param rr its owner in any case [borrowed]. Thread: owner. Source: ours. */
enum shared_state shared_state(const struct shared_names *names, const struct zone_rr *rr, bool is_ready);

#endif
