/**
 * The members of one type at a shared name, of which at most a certain number is published: those that come first in an order that
 * depends on name and rdata only, so that every server chooses the same, and a member that comes or goes changes one other at most.
 *
 *     a   c   d   f │ h   k   m        a search tree by hash, so that its depth is that of random keys: some 2 ln n
 *                 │ └─ not published
 *                 └─ last: the last that is published; NULL while all are
 *
 * Thread: owner.   Source: ours; rendezvous hashing (Thaler, Ravishankar 1998).
 */
#ifndef NAMES_MEMBERS_H
#define NAMES_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zone/zone.h"

struct member;

/** All zero: none. */
struct members {
    struct member *root, *last;
    unsigned n_items;
};

/** What a change is made with. */
struct members_edit {
    unsigned max;         /* of members that are published; 0: all are */
    bool is_published;    /* false: none of these members is in the zone now, and rr is not called */
    struct zone_rr about; /* owner and type of all; the rest is not used */
    /** Called before the change returns, for each contribution that becomes visible or is so no more. */
    void (*rr)(void *arg, const struct zone_rr *rr, bool is_add);
    void *arg;
};

/** Release all; rr is not called. Empty and usable again. Thread: owner. Source: ours. */
void members_fini(struct members *m);
/** One more contribution to the member with this rdata. @param rr borrowed. Thread: owner. Source: ours. */
void members_add(struct members *m, const struct members_edit *e, const struct zone_rr *rr);
/** One fewer; there is one. @param rr borrowed. Thread: owner. Source: ours. */
void members_remove(struct members *m, const struct members_edit *e, const struct zone_rr *rr);
/** Call rr for all that are published, or would be: they come to the zone, or leave it. Thread: owner. Source: ours. */
void members_publish(const struct members *m, const struct members_edit *e, bool is_add);
/** Is the member with this rdata among those that are published? @param rr borrowed. Thread: owner. Source: ours. */
bool members_has(const struct members *m, const struct zone_rr *rr);

#endif
