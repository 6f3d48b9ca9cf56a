/** What is kept of containers that have ended: see past.h. */
#include "engine/past.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "engine/component.h"
#include "engine/documents.h"
#include "engine/instance.h"
#include "engine/policy.h"
#include "engine/step.h"

struct eng_pasts {
    struct eng_past *items[PAST_MAX]; /* a ring */
    size_t first, n;
    struct map failures; /* name of a component → struct eng_past, owned: its last failure */
};

static void past_free(void *object)
{
    struct eng_past *p = object;
    if (!p)
        return;
    free(p->container_id);
    free(p->component);
    free(p->version);
    free(p->host);
    free(p->node_http);
    fld_free(&eng_exit_type, p->exit);
    free(p);
}

void pasts_free(struct eng_service *s)
{
    if (!s->pasts)
        return;
    for (size_t i = 0; i < s->pasts->n; i++)
        past_free(s->pasts->items[(s->pasts->first + i) % PAST_MAX]);
    map_fini(&s->pasts->failures, past_free);
    free(s->pasts);
    s->pasts = NULL;
}

static struct eng_past *past_of(const struct step *st, const struct eng_instance *inst,
                                const struct eng_exit *x)
{
    struct eng_past *p = mem_new(struct eng_past);
    p->container_id = mem_str(inst->container_id);
    p->component = mem_str(inst->component->name);
    p->version = mem_str(inst->version);
    p->host = mem_str(inst->bare_host);
    p->node_http = mem_str(inst->node_http);
    p->allocated_ms = inst->allocated_ms;
    p->placing = inst->placing;
    p->launched_ms = inst->launched_ms;
    p->is_released = !x;
    p->exit = x ? exit_copy(x) : NULL;
    p->ended_ms = x && x->ended_ms ? x->ended_ms : st->wall_ms;
    return p;
}

static void push(struct eng_pasts *all, struct eng_past *take_p)
{
    struct eng_past **slot = &all->items[(all->first + all->n) % PAST_MAX];
    if (all->n == PAST_MAX) {
        past_free(*slot);
        all->first = (all->first + 1) % PAST_MAX;
    } else {
        all->n++;
    }
    *slot = take_p;
}

void pasts_add(const struct step *st, const struct eng_instance *inst, const struct eng_exit *x)
{
    struct eng_service *s = inst->component->service;
    if (!policy_of(s->kind)->remembers_containers || !inst->container_id)
        return;
    if (!s->pasts)
        s->pasts = mem_new(struct eng_pasts);
    push(s->pasts, past_of(st, inst, x));
    enum eng_blame blame = x ? eng_exit_blame(x) : BLAME_NOBODY;
    if (blame != BLAME_NOBODY && blame != BLAME_CLUSTER)
        past_free(map_set(&s->pasts->failures, inst->component->name, past_of(st, inst, x)));
}

const struct eng_past *eng_service_past(const struct eng_service *s, size_t i)
{
    return s->pasts && i < s->pasts->n ? s->pasts->items[(s->pasts->first + i) % PAST_MAX] : NULL;
}

bool pasts_has(const struct eng_service *s, const char *container_id)
{
    for (size_t i = 0; s->pasts && i < s->pasts->n; i++) {
        if (strcmp(eng_service_past(s, i)->container_id, container_id) == 0)
            return true;
    }
    return false;
}

const struct eng_instance *eng_component_failing(const struct eng_component *c)
{
    const struct eng_instance *found = NULL;
    for (int rank = RANK_FAILED; !found && rank > RANK_NONE; rank--)
        found = component_latest_failure(c, (enum failure_rank)rank);
    return found;
}

const struct eng_past *eng_component_last_failure(const struct eng_component *c)
{
    return c->service->pasts ? map_get(&c->service->pasts->failures, c->name) : NULL;
}
