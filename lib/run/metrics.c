#include "run/metrics.h"
#include "base/mem.h"
#include "base/obj.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

/* Upper bounds of the buckets. Written alike in both forms, so that a series keeps its name when the form changes. */
#define BUCKETS(X)                                                                                           \
    X(100, "0.0001")                                                                                         \
    X(250, "0.00025")                                                                                        \
    X(500, "0.0005")                                                                                         \
    X(1000, "0.001")                                                                                         \
    X(2500, "0.0025")                                                                                        \
    X(5000, "0.005")                                                                                         \
    X(10000, "0.01")                                                                                         \
    X(25000, "0.025")                                                                                        \
    X(50000, "0.05")                                                                                         \
    X(100000, "0.1")                                                                                         \
    X(250000, "0.25")                                                                                        \
    X(500000, "0.5")                                                                                         \
    X(1000000, "1.0")                                                                                        \
    X(2500000, "2.5")                                                                                        \
    X(5000000, "5.0")                                                                                        \
    X(10000000, "10.0")

static const struct {
    int64_t le_us;
    const char *le;
} buckets[] = {
#define BUCKET_ROW(us, text) {us, text},
    BUCKETS(BUCKET_ROW)
#undef BUCKET_ROW
};

struct metric_series {
    STAILQ_ENTRY(metric_series) link;
    char *labels;
    uint64_t counts[ARRAY_LEN(buckets) + 1]; /* not cumulated; the last one is above all bounds */
    int64_t sum_us;
};
STAILQ_HEAD(series_list, metric_series);

/* The series of a histogram row; a METRIC_HISTOGRAM has one. */
struct histogram {
    struct series_list series;
    size_t n_series;
};

struct metrics {
    const struct metric_def *defs;
    size_t n_defs;
    _Atomic int64_t *values;
    struct histogram *histograms; /* one a row, empty for other kinds */
    void (*collect)(void *arg);
    void *collect_arg;
};

static bool is_same_family(const struct metric_def *a, const struct metric_def *b)
{
    return strcmp(a->name, b->name) == 0;
}

/* Rows of one name must stand together: the format writes a family once. */
static void check_table(const struct metric_def *defs, size_t n_defs)
{
    for (size_t i = 1; i < n_defs; i++) {
        if (is_same_family(&defs[i], &defs[i - 1])) {
            BUG_IF(defs[i].kind != defs[i - 1].kind);
            continue;
        }
        for (size_t j = 0; j < i; j++)
            BUG_IF(is_same_family(&defs[i], &defs[j]));
    }
}

static struct metric_series *add_series(struct histogram *h, const char *labels)
{
    struct metric_series *s = mem_new(struct metric_series);
    s->labels = mem_str(labels);
    STAILQ_INSERT_TAIL(&h->series, s, link);
    h->n_series++;
    return s;
}

struct metrics *metrics_new(const struct metric_def *defs, size_t n_defs)
{
    check_table(defs, n_defs);
    struct metrics *m = mem_new(struct metrics);
    m->defs = defs;
    m->n_defs = n_defs;
    m->values = mem_array(n_defs, sizeof *m->values);
    m->histograms = mem_array(n_defs, sizeof *m->histograms);
    for (size_t i = 0; i < n_defs; i++) {
        atomic_init(&m->values[i], defs[i].kind == METRIC_INFO);
        STAILQ_INIT(&m->histograms[i].series);
        if (defs[i].kind == METRIC_HISTOGRAM)
            add_series(&m->histograms[i], defs[i].labels);
    }
    return m;
}

void metrics_free(struct metrics *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->n_defs; i++) {
        struct metric_series *s;
        while ((s = STAILQ_FIRST(&m->histograms[i].series))) {
            STAILQ_REMOVE_HEAD(&m->histograms[i].series, link);
            free(s->labels);
            free(s);
        }
    }
    free(m->histograms);
    free(m->values);
    free(m);
}

static _Atomic int64_t *value_of(const struct metrics *m, int id)
{
    BUG_IF(id < 0 || (size_t)id >= m->n_defs);
    return &m->values[id];
}

void metric_add(struct metrics *m, int id, int64_t n)
{
    atomic_fetch_add_explicit(value_of(m, id), n, memory_order_relaxed);
}

void metric_set(struct metrics *m, int id, int64_t value)
{
    atomic_store_explicit(value_of(m, id), value, memory_order_relaxed);
}

int64_t metric_value(const struct metrics *m, int id)
{
    return atomic_load_explicit(value_of(m, id), memory_order_relaxed);
}

int metrics_find(const struct metrics *m, const char *name)
{
    for (size_t i = 0; i < m->n_defs; i++) {
        if (strcmp(m->defs[i].name, name) == 0)
            return (int)i;
    }
    return -1;
}

/* ---- histograms ---- */

static struct histogram *histogram_of(struct metrics *m, int id, enum metric_kind kind)
{
    BUG_IF(id < 0 || (size_t)id >= m->n_defs || m->defs[id].kind != kind);
    return &m->histograms[id];
}

struct metric_series *metric_series(struct metrics *m, int id, const char *labels)
{
    struct histogram *h = histogram_of(m, id, METRIC_HISTOGRAM_VEC);
    struct metric_series *s;
    STAILQ_FOREACH (s, &h->series, link) {
        if (strcmp(s->labels, labels) == 0)
            return s;
    }
    return h->n_series < METRIC_SERIES_MAX ? add_series(h, labels) : NULL;
}

void metric_series_observe(struct metric_series *s, int64_t us)
{
    size_t i = 0;
    if (!s)
        return;
    us = us < 0 ? 0 : us;
    while (i < ARRAY_LEN(buckets) && us > buckets[i].le_us)
        i++;
    s->counts[i]++;
    s->sum_us += us;
}

void metric_observe(struct metrics *m, int id, int64_t us)
{
    metric_series_observe(STAILQ_FIRST(&histogram_of(m, id, METRIC_HISTOGRAM)->series), us);
}

/* ---- the exposition ---- */

void metrics_collector(struct metrics *m, void (*fn)(void *arg), void *arg)
{
    m->collect = fn;
    m->collect_arg = arg;
}

/* How a kind is called, and what follows the name in its samples. */
static const struct {
    const char *word, *text_word, *suffix;
} kinds[] = {
    [METRIC_COUNTER] = {"counter", "counter", "_total"},
    [METRIC_GAUGE] = {"gauge", "gauge", ""},
    [METRIC_INFO] = {"info", "gauge", "_info"},
    [METRIC_COUNTER_US] = {"counter", "counter", "_total"},
    [METRIC_GAUGE_US] = {"gauge", "gauge", ""},
    [METRIC_HISTOGRAM] = {"histogram", "histogram", ""},
    [METRIC_HISTOGRAM_VEC] = {"histogram", "histogram", ""},
};

/* Help as a line has it: only OpenMetrics escapes quotes. */
static void write_help(struct buf *out, const char *help, enum metrics_format format)
{
    for (const char *p = help; *p; p++) {
        if (*p == '\n')
            buf_add_str(out, "\\n");
        else if (*p == '\\' || (*p == '"' && format == METRICS_OPENMETRICS))
            buf_addf(out, "\\%c", *p);
        else
            buf_add_char(out, *p);
    }
    buf_add_char(out, '\n');
}

/* The base unit that a name ends with, or NULL. */
static const char *unit_of(const char *name)
{
    static const char *const units[] = {"seconds", "bytes"};
    const char *last = strrchr(name, '_');
    for (size_t i = 0; last && i < ARRAY_LEN(units); i++) {
        if (strcmp(last + 1, units[i]) == 0)
            return units[i];
    }
    return NULL;
}

/* OpenMetrics names the family, the older form its samples. */
static void write_family(struct buf *out, const struct metric_def *d, enum metrics_format format)
{
    bool is_open = format == METRICS_OPENMETRICS;
    const char *suffix = is_open ? "" : kinds[d->kind].suffix;
    const char *unit = is_open && d->kind != METRIC_INFO ? unit_of(d->name) : NULL;
    buf_addf(out, "# TYPE %s%s %s\n", d->name, suffix,
             is_open ? kinds[d->kind].word : kinds[d->kind].text_word);
    if (unit)
        buf_addf(out, "# UNIT %s %s\n", d->name, unit);
    buf_addf(out, "# HELP %s%s ", d->name, suffix);
    write_help(out, d->help, format);
}

static void write_sample(struct buf *out, const char *name, const char *suffix, const char *labels)
{
    buf_addf(out, "%s%s", name, suffix);
    if (labels[0])
        buf_addf(out, "{%s}", labels);
    buf_add_char(out, ' ');
}

static void write_seconds(struct buf *out, int64_t us)
{
    buf_addf(out, "%lld.%06lld\n", (long long)(us / 1000000), (long long)(us % 1000000));
}

static void write_series(struct buf *out, const char *name, const struct metric_series *s)
{
    unsigned long long n = 0;
    for (size_t i = 0; i < ARRAY_LEN(s->counts); i++) {
        n += s->counts[i];
        buf_addf(out, "%s_bucket{%s%sle=\"%s\"} %llu\n", name, s->labels, s->labels[0] ? "," : "",
                 i < ARRAY_LEN(buckets) ? buckets[i].le : "+Inf", n);
    }
    write_sample(out, name, "_sum", s->labels);
    write_seconds(out, s->sum_us);
    write_sample(out, name, "_count", s->labels);
    buf_addf(out, "%llu\n", n);
}

static void write_row(struct buf *out, const struct metrics *m, size_t i)
{
    const struct metric_def *d = &m->defs[i];
    const struct metric_series *s;
    STAILQ_FOREACH (s, &m->histograms[i].series, link)
        write_series(out, d->name, s);
    if (d->kind == METRIC_HISTOGRAM || d->kind == METRIC_HISTOGRAM_VEC)
        return;
    write_sample(out, d->name, kinds[d->kind].suffix, d->labels);
    if (d->kind == METRIC_COUNTER_US || d->kind == METRIC_GAUGE_US)
        write_seconds(out, metric_value(m, (int)i));
    else
        buf_addf(out, "%lld\n", (long long)metric_value(m, (int)i));
}

void metrics_write(struct metrics *m, enum metrics_format format, struct buf *out)
{
    if (m->collect)
        m->collect(m->collect_arg);
    for (size_t i = 0; i < m->n_defs; i++) {
        if (i == 0 || !is_same_family(&m->defs[i], &m->defs[i - 1]))
            write_family(out, &m->defs[i], format);
        write_row(out, m, i);
    }
    if (format == METRICS_OPENMETRICS)
        buf_add_str(out, "# EOF\n");
}
