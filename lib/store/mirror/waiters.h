/**
 * Callers that wait until a revision number is applied, each with a time limit.
 *
 *     add ──► WAITING ──wake(applied >= zxid)──► DUE ──next turn of the loop──► fn(arg, 0)
 *                └─────────────── time limit ─────────────────────────────────► fn(arg, ERR_TIMEOUT)
 *                └─────────────── fini ───────────────────────────────────────► fn(arg, ERR_CANCELLED)
 *     forget: fn is not called
 *
 * fn may add, wake and forget waiters. Thread: owner for everything.   Source: ours.
 */
#ifndef STORE_MIRROR_WAITERS_H
#define STORE_MIRROR_WAITERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "run/loop.h"

struct mirror_waiter;

struct mirror_waiters {
    struct run_loop *loop;
    TAILQ_HEAD(mirror_waiter_list, mirror_waiter) list;
};

/** Ready for use; nobody waits. @param loop  [borrowed, lives on] */
void mirror_waiters_init(struct mirror_waiters *w, struct run_loop *loop);
/** Call the fn of all that wait, with ERR_CANCELLED. */
void mirror_waiters_fini(struct mirror_waiters *w);
/**
 * Wait.
 *
 * @param zxid        the revision number
 * @param is_applied  it is applied already
 * @param timeout_ms  time limit; negative: 0
 * @param fn          called once, never before this returns
 */
void mirror_waiters_add(struct mirror_waiters *w, int64_t zxid, bool is_applied, int64_t timeout_ms,
                        void (*fn)(void *arg, int err), void *arg);
/** Everything up to this revision number is applied now. */
void mirror_waiters_wake(struct mirror_waiters *w, int64_t applied);
/** Forget all that were added with this arg. */
void mirror_waiters_forget(struct mirror_waiters *w, const void *arg);

#endif
