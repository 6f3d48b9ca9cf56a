/**
 * Who waits for a revision: /sync, and the revision that is answered from.
 *
 *   waiters_published(R) ──► R is in the newest version ──waiters_visible──► readers see it: R is answered from
 *                                                                              └─ calls who waits for R or one before it
 *
 * Thread: owner.   Source: ours.
 */
#ifndef FOLLOW_WAITERS_H
#define FOLLOW_WAITERS_H

#include <stdint.h>

#include "bobbin/error.h"
#include "bobbin/registry.h"
#include "run/loop.h"

struct waiters;

/** Nobody waits, no revision is answered from. @param loop outlives it [borrowed]. Free with waiters_free. Thread: owner. Source: ours. */
struct waiters *waiters_new(struct run_loop *loop);
/** Call all with ERR_CANCELLED, and release. NULL is fine. Thread: owner. Source: ours. */
void waiters_free(struct waiters *all);

/**
 * Wait for a revision.
 *
 * @param revision    as a write answers with it                                [borrowed]
 * @param timeout_ms  from now
 * @param fn          called once, never before this returns: 0 when everything up to the revision is visible; ERR_TIMEOUT;
 *                    ERR_GONE: the revision is of another store; ERR_CANCELLED
 * @return 0; or ERR_PARSE: not a revision, fn is not called.   Thread: owner.   Source: ours.
 */
int waiters_add(struct waiters *all, const char *revision, int64_t timeout_ms, void (*fn)(void *arg, int err),
                void *arg);
/** Forget the calls of arg. Thread: owner. Source: ours. */
void waiters_forget(struct waiters *all, const void *arg);

/** Everything up to this revision is in the newest version. @param revision [copied]. Thread: owner. Source: ours. */
void waiters_published(struct waiters *all, const char *revision);
/** Readers see the newest version: call who waited for it. Thread: owner. Source: ours. */
void waiters_visible(struct waiters *all);
/** The revision that is answered from; "": none yet. Borrowed. Thread: owner. Source: ours. */
const char *waiters_revision(const struct waiters *all);

#endif
