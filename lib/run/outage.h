/**
 * Outages of what a daemon needs: a registry, a store, a resource manager. Who needs it reports each failed try and each success; the
 * log has one event when an outage begins, at most one a minute while it lasts, one when it ends. Metrics, /readyz and error
 * texts repeat the reason of the last failed try.
 *
 *              first failed try: begins                failed try, a minute after the last event: lasts
 *     reached ───────────────────────────► missing ──┐
 *        ▲                                   │  ▲────┘
 *        └───────────────────────────────────┘
 *              first success: ends
 *
 * The caller passes the time; no timer runs: retries drive it. Thread: owner.   Source: ours.
 */
#ifndef RUN_OUTAGE_H
#define RUN_OUTAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "bobbin/error.h"
#include "run/log.h"
#include "run/metrics.h"

/** A lasting outage is logged once in this time. */
#define OUTAGE_AGAIN_MS 60000

/** The two rows of one need in a daemon's table of metrics: "1: it was reached", and since when it is missing. */
#define OUTAGE_UP(X, id, of)                                                                                 \
    X(id, METRIC_GAUGE, "dependency_up", "of=\"" of "\"",                                                    \
      "0 while this program cannot reach what it needs, 1 when it has, or has not tried yet.")
#define OUTAGE_SINCE(X, id, of)                                                                              \
    X(id, METRIC_GAUGE, "dependency_missing_since_seconds", "of=\"" of "\"",                                 \
      "Unix time at which the outage began; 0: there is none.")

/** What is needed, and how its outages are logged. Static. */
struct outage_def {
    const char *of; /* one word: "registry" */
    /** Fields of begins: url, error; of lasts also lasts_s, tries; of ends: url, lasted_s, tries. */
    const struct log_event *begins, *lasts, *ends;
    int up_row, since_row; /* of the daemon's metrics */
};

struct outages;
/** The needs of one daemon; none at first. @param metrics  with the rows of every def [borrowed, lives on].
 *  Free with outages_free. Thread: owner. Source: ours. */
struct outages *outages_new(struct metrics *metrics);
/** Free it with its outages; NULL is fine. Thread: owner. Source: ours. */
void outages_free(struct outages *s);
/**
 * Append a line for each outage that lasts, in the order in which the needs were added: `registry is missing: REASON (since TIME)`.
 *
 * @param separator  between two of them: "\n", "; "                             [borrowed]
 * Thread: owner.   Source: ours.
 */
void outages_write(const struct outages *s, const char *separator, struct buf *out);

struct outage;
/** A need; it counts as reached until a try fails. @param def  static. Owned by s. Thread: owner. Source: ours. */
struct outage *outage_new(struct outages *s, const struct outage_def *def);
/**
 * A try has failed.
 *
 * @param url     of what was tried                                              [borrowed]
 * @param why     its text is the reason                                         [borrowed]
 * @param now_ms  a clock that only rises: run_now_ms
 * Thread: owner.   Source: ours.
 */
void outage_fails(struct outage *o, const char *url, const struct err_info *why, int64_t now_ms);
/** It is reached. @param now_ms  as outage_fails. @return whether an outage has ended by this. Thread: owner. Source: ours. */
bool outage_ends(struct outage *o, const char *url, int64_t now_ms);
/** Whether an outage lasts. Thread: owner. Source: ours. */
bool outage_lasts(const struct outage *o);
/** Wall clock at which the outage began, in ms; 0: there is none. Thread: owner. Source: ours. */
int64_t outage_since_ms(const struct outage *o);
/** Reason of the last failed try, with the URL where it does not name it; "": there is no outage. Borrowed until the next report.
 *  Thread: owner. Source: ours. */
const char *outage_reason(const struct outage *o);
/** Append "REASON (since TIME)"; nothing without an outage. Thread: owner. Source: ours. */
void outage_write(const struct outage *o, struct buf *out);
/** Append a point of time as 2026-01-31T10:00:00Z. Thread: any. Source: RFC 3339. */
void outage_time(int64_t wall_ms, struct buf *out);

#endif
