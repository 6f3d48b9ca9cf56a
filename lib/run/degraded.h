/**
 * Shortages of a daemon: room on a disk, descriptors. Code that meets a shortage reports it, from any thread; the frame of
 * the daemon says it by an event, a metric and /readyz, looks again by itself, and says when it is over.
 *
 *     fine --report--> short --over, or the look finds enough--> fine       events: on a change, once a minute at most
 *
 * Source: ours; errno(3).
 */
#ifndef RUN_DEGRADED_H
#define RUN_DEGRADED_H

#include <stddef.h>

#include "run/loop.h"
#include "run/metrics.h"

enum degraded_kind { DEGRADED_DISK, DEGRADED_DESCRIPTORS, DEGRADED_N };

/** Rows of every daemon's table of metrics; found there by name. */
#define DEGRADED_METRICS(X)                                                                                  \
    X(M_DEGRADED_DISK, METRIC_GAUGE, "degraded", "cause=\"disk\"", "1 while this resource is short.")        \
    X(M_DEGRADED_DESCRIPTORS, METRIC_GAUGE, "degraded", "cause=\"descriptors\"",                             \
      "1 while this resource is short.")                                                                     \
    X(M_SHORTAGES_DISK, METRIC_COUNTER, "shortages", "of=\"disk\"",                                          \
      "Times that an operation failed for want of this resource.")                                           \
    X(M_SHORTAGES_DESCRIPTORS, METRIC_COUNTER, "shortages", "of=\"descriptors\"",                            \
      "Times that an operation failed for want of this resource.")

/**
 * Something failed for want of a resource, if `error` says so: ENOSPC, EDQUOT and EFBIG are DEGRADED_DISK, EMFILE and ENFILE
 * DEGRADED_DESCRIPTORS; with any other nothing happens.
 *
 * @param error  errno of what failed
 * @param where  disk: path of a file there; descriptors: for what               [borrowed]
 * errno is left as it is.
 * Thread: any.   Source: ours.
 */
void degraded_report(int error, const char *where);
/** An operation on this path, reported as failed before, succeeds again. Cheap while nothing is short. Thread: any. Source: ours. */
void degraded_over(const char *where);

struct degraded;
/**
 * Watch over the shortages of the process; one watcher at a time.
 *
 * @param loop     calls `changed` on its thread                                 [borrowed, lives on]
 * @param metrics  with the rows of `defs`, among them DEGRADED_METRICS, or not  [borrowed, lives on]
 * @param defs     rows                                                          [borrowed, lives on]
 * @param n_defs   their number
 * @param changed  gets what is short, one sentence, or NULL: nothing is         [borrowed]
 * Thread: owner.   Source: ours.
 */
struct degraded *degraded_watch(struct run_loop *loop, struct metrics *metrics, const struct metric_def *defs,
                                size_t n_defs, void (*changed)(void *arg, const char *reason), void *arg);
/** Watch no more; reports are kept for the next watcher. Thread: owner, before run_loop_free. Source: ours. */
void degraded_unwatch(struct degraded *g);

#endif
