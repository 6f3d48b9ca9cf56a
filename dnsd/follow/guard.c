#include "follow/guard.h"
#include "base/mem.h"

#include <stdlib.h>
#include <sys/queue.h>

/** Before every window: the next commit begins one. */
#define NO_WINDOW (INT64_MIN / 2)

/** Who asked for a release. */
struct request {
    TAILQ_ENTRY(request) link;
    size_t n_records;
    bool is_taken; /* a commit makes what it released */
    void (*fn)(void *arg, size_t n_records);
    void *arg;
};

struct guard {
    struct guard_limits limits;
    int64_t window_ms;     /* when the window began */
    size_t n_base, n_gone; /* records that had names then; removals since, held or not */
    bool is_alarm;         /* of the commit that is being made */
    size_t n_new;          /* held since it began */
    struct map held;       /* path -> the guard */
    struct map released;   /* those that the next commit makes */
    TAILQ_HEAD(, request) requests;
};

struct guard *guard_new(const struct guard_limits *limits)
{
    struct guard *g = mem_new(struct guard);
    g->limits = *limits;
    g->window_ms = NO_WINDOW;
    TAILQ_INIT(&g->requests);
    return g;
}

static void request_free(struct guard *g, struct request *r)
{
    TAILQ_REMOVE(&g->requests, r, link);
    free(r);
}

void guard_free(struct guard *g)
{
    struct request *r;
    if (!g)
        return;
    while ((r = TAILQ_FIRST(&g->requests)))
        request_free(g, r);
    map_fini(&g->held, NULL);
    map_fini(&g->released, NULL);
    free(g);
}

/* ---- a commit ---- */

bool guard_begin(struct guard *g, int64_t now_ms, size_t n_records, size_t n_most)
{
    g->is_alarm = false;
    g->n_new = 0;
    if (now_ms - g->window_ms > GUARD_WINDOW_MS) {
        g->window_ms = now_ms;
        g->n_base = n_records;
        g->n_gone = 0;
    }
    return g->limits.share_percent && g->n_gone + n_most >= g->limits.min_records;
}

void guard_count(struct guard *g, size_t n_removals)
{
    size_t n = g->n_gone + n_removals;
    g->is_alarm = g->limits.share_percent && n >= g->limits.min_records &&
                  n * 100 > g->n_base * g->limits.share_percent;
}

bool guard_holds(struct guard *g, const char *path, bool is_removal)
{
    bool was_held = guard_is_held(g, path);
    g->n_gone += is_removal && !was_held;
    if (is_removal && (g->is_alarm || was_held)) {
        g->n_new += !was_held;
        map_set(&g->held, path, g);
        return true;
    }
    if (was_held)
        map_remove(&g->held, path);
    return false;
}

void guard_returned(struct guard *g, const char *path)
{
    map_remove(&g->held, path);
}

bool guard_is_held(const struct guard *g, const char *path)
{
    return g->held.n_items && map_get(&g->held, path);
}

size_t guard_n_held(const struct guard *g)
{
    return g->held.n_items;
}

size_t guard_n_new(const struct guard *g)
{
    return g->n_new;
}

/* ---- release ---- */

bool guard_release(struct guard *g, void (*fn)(void *arg, size_t n_records), void *arg)
{
    if (!g->held.n_items) {
        fn(arg, 0);
        return false;
    }
    struct request *r = mem_new(struct request);
    *r = (struct request){.n_records = g->held.n_items, .fn = fn, .arg = arg};
    TAILQ_INSERT_TAIL(&g->requests, r, link);
    for (MAP_EACH (&g->released, it)) /* of a release that no commit has taken yet */
        map_set(&g->held, it->key, g);
    map_fini(&g->released, NULL);
    g->released = g->held;
    g->held = MAP_EMPTY;
    return true;
}

void guard_take_released(struct guard *g, struct map *out)
{
    struct request *r;
    TAILQ_FOREACH (r, &g->requests, link)
        r->is_taken = true;
    *out = g->released;
    g->released = MAP_EMPTY;
}

void guard_restart(struct guard *g)
{
    g->window_ms = NO_WINDOW;
}

/* They are in the order in which they came; a call may add or forget others. */
void guard_answer(struct guard *g)
{
    struct request *r;
    while ((r = TAILQ_FIRST(&g->requests)) && r->is_taken) {
        struct request copy = *r;
        request_free(g, r);
        copy.fn(copy.arg, copy.n_records);
    }
}

void guard_forget(struct guard *g, const void *arg)
{
    struct request *r = TAILQ_FIRST(&g->requests);
    while (r) {
        struct request *next = TAILQ_NEXT(r, link);
        if (r->arg == arg)
            request_free(g, r);
        r = next;
    }
}
