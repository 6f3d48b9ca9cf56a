/**
 * Metrics in the text forms that Prometheus reads. A program lists its metrics in one X-macro table; counters are C11 atomics
 * that any thread may bump; values kept elsewhere (per-worker counters, sizes) come from a collector called on the owner
 * loop when /metrics is read; histograms belong to the owner loop.
 *
 *     #define X_METRICS(X) \
 *         X(M_QUERIES, METRIC_COUNTER, "dnsd_queries", "", "DNS queries received.") …
 *
 * Names are base units; the writer adds `_total` to counters. Source: OpenMetrics 1.0; Prometheus' text format 0.0.4; ours.
 */
#ifndef RUN_METRICS_H
#define RUN_METRICS_H

#include <stdint.h>

#include "base/buf.h"

enum metric_kind {
    METRIC_COUNTER,
    METRIC_GAUGE,
    METRIC_INFO,
    METRIC_COUNTER_US,   /* as METRIC_COUNTER, kept in µs, written in seconds */
    METRIC_GAUGE_US,     /* as METRIC_GAUGE, kept in µs, written in seconds   */
    METRIC_HISTOGRAM,    /* of durations, in seconds                          */
    METRIC_HISTOGRAM_VEC /* several of one name, one for each set of labels that metric_series was asked for */
};

/** How values are written. */
enum metrics_format {
    METRICS_TEXT,       /* text/plain; version=0.0.4 */
    METRICS_OPENMETRICS /* application/openmetrics-text; version=1.0.0 */
};

struct metric_def {
    enum metric_kind kind;
    const char *name;   /* without _total / _info */
    const char *labels; /* fixed label set, `a="b"`, or "" */
    const char *help;
};

#define METRICS_ENUM_ONE(id, ...)                     id,
#define METRICS_ENUM(TABLE)                           TABLE(METRICS_ENUM_ONE)
#define METRICS_ROW_ONE(id, kind, name, labels, help) {kind, name, labels, help},
#define METRICS_ROWS(TABLE)                           TABLE(METRICS_ROW_ONE)

struct metrics;
/**
 * New metrics, all 0 (METRIC_INFO: 1). Free with metrics_free.
 *
 * @param defs    rows; rows of one name with different labels stand together (else a BUG)    [borrowed, lives on]
 * @param n_defs  rows
 * Thread: any.   Source: ours.
 */
struct metrics *metrics_new(const struct metric_def *defs, size_t n_defs);
/** Release; NULL is fine. Thread: owner, when nobody bumps any more. Source: ours. */
void metrics_free(struct metrics *m);
/** Add n to a row; n >= 0 for a counter. `id` is a row number (else a BUG). Thread: any. Source: ours. */
void metric_add(struct metrics *m, int id, int64_t n);
/** Set a row; a counter must not go back. `id` is a row number (else a BUG). Thread: any. Source: ours. */
void metric_set(struct metrics *m, int id, int64_t value);
/** Value of a row. `id` is a row number (else a BUG). Thread: any. Source: ours. */
int64_t metric_value(const struct metrics *m, int id);
/** Row number of a name, the first one of several; -1: no row has it. Thread: any. Source: ours. */
int metrics_find(const struct metrics *m, const char *name);

/** A histogram of durations: fixed bucket bounds from 100 µs to 10 s. */
struct metric_series;
/** Most series of a METRIC_HISTOGRAM_VEC row. */
#define METRIC_SERIES_MAX 256
/**
 * The series of these labels, made empty when there is none.
 *
 * @param id      row number of a METRIC_HISTOGRAM_VEC (else a BUG)
 * @param labels  `a="b",c="d"`, escaped; from a bounded set                     [borrowed for the call]
 * @return it lives as long as m; NULL: the row has METRIC_SERIES_MAX of others.
 * Thread: owner.   Source: ours.
 */
struct metric_series *metric_series(struct metrics *m, int id, const char *labels);
/** Count a duration. @param s  NULL: nothing happens @param us  below 0 counts as 0. Thread: owner. Source: ours. */
void metric_series_observe(struct metric_series *s, int64_t us);
/** The same for a METRIC_HISTOGRAM (else a BUG). Thread: owner. Source: ours. */
void metric_observe(struct metrics *m, int id, int64_t us);

/**
 * Name the function that sets values just before they are written; the last one named counts.
 *
 * @param fn   called by metrics_write on the owner's thread; NULL: none
 * @param arg  what fn gets                                                      [borrowed, lives on]
 * Thread: owner.   Source: ours.
 */
void metrics_collector(struct metrics *m, void (*fn)(void *arg), void *arg);
/** Append the exposition of all rows in table order. Thread: owner. Source: OpenMetrics 1.0; Prometheus' text format 0.0.4. */
void metrics_write(struct metrics *m, enum metrics_format format, struct buf *out);

#endif
