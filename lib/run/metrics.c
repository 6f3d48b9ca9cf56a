#include "run/metrics.h"
#include "base/mem.h"
#include "base/obj.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct metrics {
    const struct metric_def *defs;
    size_t n_defs;
    _Atomic int64_t *values;
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

struct metrics *metrics_new(const struct metric_def *defs, size_t n_defs)
{
    check_table(defs, n_defs);
    struct metrics *m = mem_new(struct metrics);
    m->defs = defs;
    m->n_defs = n_defs;
    m->values = mem_array(n_defs, sizeof *m->values);
    for (size_t i = 0; i < n_defs; i++)
        atomic_init(&m->values[i], defs[i].kind == METRIC_INFO);
    return m;
}

void metrics_free(struct metrics *m)
{
    if (!m)
        return;
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

void metrics_collector(struct metrics *m, void (*fn)(void *arg), void *arg)
{
    m->collect = fn;
    m->collect_arg = arg;
}

static void write_family(struct buf *out, const struct metric_def *d)
{
    static const char *const kinds[] = {"counter", "gauge", "info"};
    buf_addf(out, "# TYPE %s %s\n# HELP %s ", d->name, kinds[d->kind], d->name);
    for (const char *p = d->help; *p; p++) {
        if (*p == '\n')
            buf_add_str(out, "\\n");
        else if (*p == '\\' || *p == '"')
            buf_addf(out, "\\%c", *p);
        else
            buf_add_char(out, *p);
    }
    buf_add_char(out, '\n');
}

void metrics_write(struct metrics *m, struct buf *out)
{
    static const char *const suffixes[] = {"_total", "", "_info"};
    if (m->collect)
        m->collect(m->collect_arg);
    for (size_t i = 0; i < m->n_defs; i++) {
        const struct metric_def *d = &m->defs[i];
        if (i == 0 || !is_same_family(d, d - 1))
            write_family(out, d);
        buf_addf(out, "%s%s", d->name, suffixes[d->kind]);
        if (d->labels[0])
            buf_addf(out, "{%s}", d->labels);
        buf_addf(out, " %lld\n", (long long)metric_value(m, (int)i));
    }
    buf_add_str(out, "# EOF\n");
}
