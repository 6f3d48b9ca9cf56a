/**
 * The outage shield: removals that would take away too large a share of the names within two seconds are held, not published,
 * until a person releases them or the records return.
 *
 *   commit:  guard_begin ──► guard_count ──► guard_holds of each change     alarm: its removals are held
 *
 *   held ──guard_release──► released, with the next commit (guard_take_released) ──► guard_answer
 *     └──guard_returned: the record is there again──► not held
 *
 * Removals before the alarm are not taken back; those after it in the same two seconds count with them.
 * Everything here is about paths; which records they are, and what happens to their names, is the caller's.
 *
 * Thread: owner.   Source: ours.
 */
#ifndef FOLLOW_GUARD_H
#define FOLLOW_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

/** Removals within this time count together. */
#define GUARD_WINDOW_MS 2000

/** When a removal is held instead of published. */
struct guard_limits {
    unsigned share_percent; /* of the records that have names, within the window; 0: never */
    unsigned min_records;   /* fewer are never held */
};

struct guard;

/** Nothing is held. @param limits copied. Free with guard_free. Thread: owner. Source: ours. */
struct guard *guard_new(const struct guard_limits *limits);
/** Release; nobody who waits for a release is called. NULL is fine. Thread: owner. Source: ours. */
void guard_free(struct guard *g);

/**
 * A commit begins, without alarm.
 *
 * @param n_records  that have names now: the base of the share when a new window begins
 * @param n_most     as many removals the commit can have at most, waiting ones included
 * @return whether its removals have to be counted: with fewer there is no alarm.   Thread: owner.   Source: ours.
 */
bool guard_begin(struct guard *g, int64_t now_ms, size_t n_records, size_t n_most);
/** The removals of the commit were counted: raise the alarm when they are too many, with those of the window before it.
 *  @param n_removals of records that have names, waiting ones included. Thread: owner. Source: ours. */
void guard_count(struct guard *g, size_t n_removals);
/**
 * One change of the commit.
 *
 * @param is_removal  it takes the names of a record away
 * @return true: it is held, do not apply it; it is a removal. A change that is none ends the hold of its path.
 * Thread: owner.   Source: ours.
 */
bool guard_holds(struct guard *g, const char *path, bool is_removal);
/** A path has a record (again): its removal is not held. Thread: owner. Source: ours. */
void guard_returned(struct guard *g, const char *path);

/** Is the removal of this path held? Thread: owner. Source: ours. */
bool guard_is_held(const struct guard *g, const char *path);
/** Number of paths whose removal is held. Thread: owner. Source: ours. */
size_t guard_n_held(const struct guard *g);
/** Those of them that are held since guard_begin. Thread: owner. Source: ours. */
size_t guard_n_new(const struct guard *g);

/**
 * Release all removals that are held: the next commit makes them.
 *
 * @param fn  called with their number, by guard_answer; at once with 0 when none is held; not after guard_forget
 * @return false: none is held.   Thread: owner.   Source: ours.
 */
bool guard_release(struct guard *g, void (*fn)(void *arg, size_t n_records), void *arg);
/** A commit takes what was released. @param out its paths; map_fini [out]. Thread: owner. Source: ours. */
void guard_take_released(struct guard *g, struct map *out);
/** Released removals are published: the window begins anew. Thread: owner. Source: ours. */
void guard_restart(struct guard *g);
/** The commit that took what was released is published: call who asked for it. Thread: owner. Source: ours. */
void guard_answer(struct guard *g);
/** Forget the calls of arg. Thread: owner. Source: ours. */
void guard_forget(struct guard *g, const void *arg);

#endif
