/**
 * A cluster that names its containers, as a resource manager of YARN does: it is asked for a number of containers under a key, and grants them one
 * after the other under names of its own.
 *
 *     EFF_REQUEST (key, wanted 3) ──> key: open c1, c2, c3 ──granted──> EV_ALLOCATED (key, c2)    key: open c1, c3
 *     EFF_REQUEST (key, wanted 1) ──> key: open c1             a number replaces the one before; what was granted meanwhile comes all the same
 *
 * It forgets its keys with the application that asked (a power failure), and when it says so (EV_RESYNC).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "world.h"

/** What is asked for under one key of a service. */
struct world_key {
    enum eng_kind kind;
    char *user, *name;
    int64_t allocation_id;
    char **open; /* containers that are not granted yet, or whose grant nobody has heard of */
    size_t n_open;
};

static char *key_text(enum eng_kind kind, const char *name, int64_t allocation_id)
{
    return mem_fmt("%d/%s/%" PRId64, (int)kind, name, allocation_id);
}

static struct world_key *take_key(struct world *w, const struct eng_effect *e)
{
    mem_auto char *text = key_text(e->service_kind, e->name, e->request->allocation_id);
    struct world_key *k = map_get(&w->keys, text);
    if (k)
        return k;
    k = mem_new(struct world_key);
    *k = (struct world_key){.kind = e->service_kind,
                            .user = mem_str(e->user),
                            .name = mem_str(e->name),
                            .allocation_id = e->request->allocation_id};
    map_set(&w->keys, text, k);
    return k;
}

static void free_key(void *p)
{
    struct world_key *k = p;
    for (size_t i = 0; i < k->n_open; i++)
        free(k->open[i]);
    free(k->open);
    free(k->user);
    free(k->name);
    free(k);
}

/** The key under which a container is open; *at is its place among them. NULL: it is not. */
static struct world_key *key_of(const struct world *w, const char *container_id, size_t *at)
{
    for (MAP_EACH (&w->keys, slot)) {
        struct world_key *k = slot->value;
        for (*at = 0; *at < k->n_open; ++*at) {
            if (strcmp(k->open[*at], container_id) == 0)
                return k;
        }
    }
    return NULL;
}

static void close_at(struct world_key *k, size_t at)
{
    free(k->open[at]);
    memmove(k->open + at, k->open + at + 1, (k->n_open - at - 1) * sizeof *k->open);
    k->n_open--;
}

static void drop_last(struct world *w, struct world_key *k)
{
    sim_cancel(w->sim, k->open[k->n_open - 1], w->now_ms);
    close_at(k, k->n_open - 1);
}

static void open_one(struct world *w, struct world_key *k, const struct sim_ask *like)
{
    struct sim_ask ask = *like;
    k->open = mem_resize(k->open, k->n_open + 1, sizeof *k->open);
    ask.id = k->open[k->n_open++] =
        mem_fmt("container%s_02_%06" PRIu64, strchr(ask.application, '_'), ++w->n_named);
    sim_request(w->sim, &ask, w->now_ms);
}

/** A container that is held is confirmed; one that is not there has no other of its name. */
static void confirm(struct world *w, const struct sim_ask *ask)
{
    const struct sim_container *c = sim_find(w->sim, ask->id);
    bool is_lost = !c || (c->state == SIM_ENDED && (c->cause == SIM_LOST || c->cause == SIM_PREEMPTED));
    if (is_lost)
        world_push(w, (struct eng_event){.kind = EV_LOST, .container_id = ask->id, .text = "none"});
    else
        sim_request(w->sim, ask, w->now_ms);
}

void world_ask_by_key(struct world *w, const struct eng_effect *e, const struct sim_ask *ask)
{
    if (!e->request->allocation_id) {
        confirm(w, ask);
        return;
    }
    struct world_key *k = take_key(w, e);
    while ((int64_t)k->n_open > e->request->n_wanted)
        drop_last(w, k);
    while ((int64_t)k->n_open < e->request->n_wanted)
        open_one(w, k, ask);
}

bool world_take_back(struct world *w, const struct eng_effect *e)
{
    if (!w->is_naming || !e->request->allocation_id)
        return false;
    struct world_key *k = take_key(w, e);
    if (e->request->n_wanted < 0)
        world_violate(w, "%s: %" PRId64 " containers are wanted", e->container_id, e->request->n_wanted);
    while ((int64_t)k->n_open > e->request->n_wanted)
        drop_last(w, k);
    return true;
}

void world_grant(struct world *w, const struct sim_container *c)
{
    size_t at;
    struct world_key *k = key_of(w, c->id, &at);
    struct eng_event ev = {.kind = EV_ALLOCATED, .container_id = c->id, .ip = c->ip, .host = c->node->name};
    if (k) {
        ev.service_kind = k->kind;
        ev.user = k->user;
        ev.name = k->name;
        ev.allocation_id = k->allocation_id;
        close_at(k, at);
    }
    world_push(w, ev);
}

const char *world_waiting(const struct world *w, const char *container_id)
{
    size_t at;
    const struct world_key *k = w->is_naming ? key_of(w, container_id, &at) : NULL;
    const struct eng_service *s = k ? engine_find(w->e, k->kind, k->user, k->name) : NULL;
    const struct eng_ask *a;
    if (!w->is_naming)
        return container_id;
    for (size_t i = 0; s && i < s->n_components; i++) {
        TAILQ_FOREACH (a, &s->components[i]->asks, link) {
            if (a->allocation_id == k->allocation_id && !TAILQ_EMPTY(&a->waiting))
                return TAILQ_FIRST(&a->waiting)->container_id;
        }
    }
    return NULL;
}

void world_forget_keys(struct world *w, enum eng_kind kind, const char *name)
{
    mem_auto const char **texts = map_sorted_keys(&w->keys);
    for (size_t i = 0; texts[i]; i++) {
        struct world_key *k = map_get(&w->keys, texts[i]);
        if (name && (k->kind != kind || strcmp(k->name, name) != 0))
            continue;
        while (k->n_open > 0)
            drop_last(w, k);
        map_remove(&w->keys, texts[i]);
        free_key(k);
    }
}
