/**
 * Changes of the zones take turns, and a large one is made in steps, so that the loop is never held for long:
 *
 *     queued ──turn──► begin ──► step, step, … ──► published ──► done ──► the next one's turn
 *                                  │  ▲   a task of the loop (run/task.h): other work in between
 *                     many edits   ▼  │
 *                           applied on a thread of the pool
 *
 * A change that takes no longer than a task may in one turn (RUN_TASK_US) is published before writer_run returns, when nobody else has
 * the turn. Readers see all of a change or nothing of it.
 *
 * Thread: owner (the zone set's writer).   Source: ours.
 */
#ifndef FOLLOW_WRITER_H
#define FOLLOW_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "run/loop.h"
#include "zone/zone.h"

struct writer;

/** A change. All functions are called on the owner's thread, none before writer_run. */
struct writer_change {
    /** The turn has come, no transaction is open yet: declare zones here. NULL: nothing to do. @return 0; or an error: done is
     *  called with it, nothing else is. */
    int (*begin)(void *arg);
    /** One piece of the work, some microseconds. @return false: that was all. */
    bool (*step)(void *arg, struct zone_tx *tx);
    /** @return ZONE_* flags of the version that is published now. */
    unsigned (*flags)(void *arg);
    /** It is published, or begin failed. No transaction is open, and nobody's turn comes until this returns. */
    void (*done)(void *arg, int err);
    void *arg;
};

/** Nobody has the turn. Free with writer_stop. Thread: owner. Source: ours. */
struct writer *writer_new(struct run_loop *loop, struct zoneset *zones);

/**
 * Make a change when it is its turn, at once if possible. Not from inside begin, step or flags.
 *
 * @param change  copied
 * Thread: owner.   Source: ours.
 */
void writer_run(struct writer *w, const struct writer_change *change);

/**
 * Make a change before this returns, however large. For the time before the loop runs: nobody may have the turn.
 *
 * @param change  copied
 * Thread: owner.   Source: ours.
 */
void writer_run_now(struct writer *w, const struct writer_change *change);

/** Forget the changes of arg; done is not called, and what was made of them is dropped. Thread: owner. Source: ours. */
void writer_cancel(struct writer *w, void *arg);

/** How often the loop did other work between two steps of a change, since the start. Thread: owner. Source: ours. */
uint64_t writer_n_slices(const struct writer *w);

/**
 * Stop and free; no change may be left but cancelled ones. NULL: stopped is called at once.
 *
 * @param stopped  called when no thread of the pool works on the zones any more; maybe before this returns
 * Thread: owner.   Source: ours.
 */
void writer_stop(struct writer *w, void (*stopped)(void *arg), void *arg);

#endif
