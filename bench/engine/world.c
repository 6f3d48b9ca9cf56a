#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/obj.h"

#define TIMER_MAGIC OBJ_MAGIC('B', 'T', 'I', 'M')

struct timer {
    struct obj obj;
    struct heap_node due;
    char *user, *name;
};

/** The effects of a step. */
struct batch {
    STAILQ_ENTRY(batch) link;
    struct eng_effects effects;
};

static double now_us(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static void measured(struct world *w, double since_us)
{
    double us = now_us() - since_us;
    w->phase.engine_us += us;
    w->phase.longest_us = us > w->phase.longest_us ? us : w->phase.longest_us;
}

static void new_engine(struct world *w)
{
    struct err_info why = {0};
    if (engine_new(&w->cfg, &w->e, &why)) {
        fprintf(stderr, "%s\n", why.text);
        exit(1);
    }
}

void world_init(struct world *w, bool keeps_documents)
{
    *w = (struct world){.now_ms = 1000000, .keeps_documents = keeps_documents};
    w->cfg = (struct engine_config){.dialect = dialect_find("seed"),
                                    .cluster_ts = 1700000000000,
                                    .domain = "cluster.example",
                                    .queue = "default",
                                    .max_containers = 1000000,
                                    .probe_interval_ms = 30000,
                                    .retry_interval_ms = 30000};
    STAILQ_INIT(&w->batches);
    new_engine(w);
    world_event(w, (struct eng_event){.kind = EV_RESUME});
}

static void free_timer(void *p)
{
    struct timer *t = obj_cast(p, struct timer, TIMER_MAGIC);
    free(t->user);
    free(t->name);
    obj_fini(&t->obj);
    free(t);
}

static void forget_timers(struct world *w)
{
    heap_fini(&w->due);
    map_fini(&w->timers, free_timer);
}

void world_fini(struct world *w)
{
    engine_free(w->e);
    forget_timers(w);
    map_fini(&w->documents, free);
}

void world_begin(struct world *w)
{
    w->phase = (struct phase){0};
}

/* ---- effects ---- */

static void persist(struct world *w, const struct eng_effect *e)
{
    w->phase.n_documents++;
    w->phase.n_stored_bytes += strlen(e->key) + e->len;
    if (w->keeps_documents)
        free(e->bytes ? map_set(&w->documents, e->key, mem_strn(e->bytes, e->len))
                      : map_remove(&w->documents, e->key));
}

static void set_timer(struct world *w, const struct eng_effect *e)
{
    mem_auto char *key = mem_fmt("%s/%s", e->user, e->name);
    struct timer *t = map_get(&w->timers, key);
    if (!t) {
        t = mem_new(struct timer);
        obj_init(&t->obj, TIMER_MAGIC);
        t->user = mem_str(e->user);
        t->name = mem_str(e->name);
        map_set(&w->timers, key, t);
    }
    if (e->at_ms)
        heap_set(&w->due, &t->due, e->at_ms, 0);
    else
        heap_remove(&w->due, &t->due);
}

static void step(struct world *w, struct eng_event ev)
{
    struct batch *b = mem_new(struct batch);
    double since_us = now_us();
    engine_step(w->e, &ev, (struct eng_time){.now_ms = w->now_ms, .wall_ms = w->now_ms}, &b->effects);
    measured(w, since_us);
    STAILQ_INSERT_TAIL(&w->batches, b, link);
    w->phase.n_steps++;
}

static void carry_out(struct world *w, const struct eng_effect *e)
{
    const char *id = e->container_id;
    switch (e->kind) {
    case EFF_PERSIST: persist(w, e); break;
    case EFF_TIMER: set_timer(w, e); break;
    case EFF_REQUEST:
        step(w, (struct eng_event){.kind = EV_ALLOCATED, .container_id = id, .host = "node-00001"});
        break;
    case EFF_LAUNCH:
        step(w, (struct eng_event){.kind = EV_RUNNING,
                                   .container_id = id,
                                   .attempt = e->launch->attempt,
                                   .ip = "10.11.12.13",
                                   .host = "node-00001"});
        break;
    case EFF_STOP:
        step(w, (struct eng_event){.kind = EV_EXITED, .container_id = id, .exit = {.cause = CAUSE_STOPPED}});
        break;
    case EFF_PUBLISH:
    case EFF_UNPUBLISH:
    case EFF_PURGE:
    case EFF_ENDED: step(w, (struct eng_event){.kind = EV_RECORD, .ticket = e->ticket}); break;
    default: break;
    }
}

/** The timers of now: how a step goes on. @return false: none is due */
static bool fire(struct world *w)
{
    struct heap_node *first = heap_first(&w->due);
    if (!first || first->key > w->now_ms)
        return false;
    struct timer *t = container_of(first, struct timer, due);
    heap_remove(&w->due, first);
    step(w, (struct eng_event){.kind = EV_TIMER, .user = t->user, .name = t->name});
    return true;
}

static void carry_all_out(struct world *w)
{
    struct batch *b;
    while ((b = STAILQ_FIRST(&w->batches))) {
        STAILQ_REMOVE_HEAD(&w->batches, link);
        for (size_t i = 0; i < b->effects.n; i++)
            carry_out(w, &b->effects.items[i]);
        eng_effects_fini(&b->effects);
        free(b);
    }
}

void world_event(struct world *w, struct eng_event ev)
{
    step(w, ev);
    do
        carry_all_out(w);
    while (fire(w));
}

bool world_wait(struct world *w)
{
    struct heap_node *first = heap_first(&w->due);
    if (!first)
        return false;
    w->now_ms = first->key > w->now_ms ? first->key : w->now_ms;
    while (fire(w))
        carry_all_out(w);
    return true;
}

/* ---- a restart ---- */

struct found {
    char **ids;
    int64_t *attempts;
    size_t n, cap;
};

static void note_container(void *arg, const struct eng_container_ref *c)
{
    struct found *f = arg;
    if (f->n == f->cap) {
        f->cap = f->cap ? 2 * f->cap : 1024;
        f->ids = mem_resize(f->ids, f->cap, sizeof f->ids[0]);
        f->attempts = mem_resize(f->attempts, f->cap, sizeof f->attempts[0]);
    }
    f->ids[f->n] = mem_str(c->instance->container_id);
    f->attempts[f->n++] = c->instance->attempt;
}

static void load_all(struct world *w)
{
    mem_auto const char **keys = map_sorted_keys(&w->documents);
    for (size_t i = 0; keys[i]; i++) {
        struct err_info why = {0};
        const char *text = map_get(&w->documents, keys[i]);
        double since_us = now_us();
        if (engine_load(w->e, keys[i], text, strlen(text), &why)) {
            fprintf(stderr, "%s: %s\n", keys[i], why.text);
            exit(1);
        }
        measured(w, since_us);
    }
}

void world_restart(struct world *w)
{
    struct found f = {.n = 0};
    engine_free(w->e);
    forget_timers(w);
    new_engine(w);
    load_all(w);
    engine_containers(w->e, note_container, &f);
    for (size_t i = 0; i < f.n; i++) {
        step(w, (struct eng_event){.kind = EV_RECOVERED,
                                   .container_id = f.ids[i],
                                   .attempt = f.attempts[i],
                                   .found = FOUND_RUNNING,
                                   .ip = "10.11.12.13",
                                   .host = "node-00001"});
        free(f.ids[i]);
    }
    free(f.ids);
    free(f.attempts);
    world_event(w, (struct eng_event){.kind = EV_RESUME});
}
