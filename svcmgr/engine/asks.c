/**
 * What is asked of the cluster: one request for all instances of a component that may be placed alike, with a count.
 *
 *     component ── ask (priority 2, allocation id 17, any host)    wanted 3: hello-4, hello-7, hello-8, the oldest first
 *               └─ ask (priority 2, allocation id 23, host n5)     wanted 1: hello-2
 *
 * Counts are absolute: a cluster replaces what it knows of a key by what it is sent, so that everything can be sent again
 * (EV_RESYNC). A container that comes for a key is that of its oldest instance. What was taken back may come all the same: it
 * is given back, and n_cancelling says how many of these may be on their way.
 *
 * An instance without a container is in an ask exactly while it is REQUESTED (instances.c), which keeps the key in its document: after a restart the
 * same instances ask under the same keys.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/component.h"
#include "engine/documents.h"
#include "engine/places.h"
#include "engine/service.h"
#include "engine/step.h"

static struct eng_ask *find(const struct eng_component *c, int64_t allocation_id)
{
    struct eng_ask *a;
    TAILQ_FOREACH (a, &c->asks, link) {
        if (a->allocation_id == allocation_id)
            return a;
    }
    return NULL;
}

/** That for a node; host NULL: for any. */
static struct eng_ask *find_host(const struct eng_component *c, const char *host)
{
    struct eng_ask *a;
    TAILQ_FOREACH (a, &c->asks, link) {
        if (host && a->host ? strcmp(a->host, host) == 0 : host == a->host)
            return a;
    }
    return NULL;
}

static struct eng_ask *new_ask(struct eng_component *c, int64_t allocation_id, const char *host)
{
    struct eng_ask *a = mem_new(struct eng_ask);
    a->allocation_id = allocation_id;
    a->host = mem_str(host);
    a->component = c;
    TAILQ_INIT(&a->waiting);
    TAILQ_INSERT_TAIL(&c->asks, a, link);
    return a;
}

static void free_ask(struct eng_ask *a)
{
    TAILQ_REMOVE(&a->component->asks, a, link);
    free(a->host);
    free(a);
}

/** The place of an instance among those that wait: by the time at which it asked; it is at the end but while documents are loaded. */
static void insert(struct eng_ask *a, struct eng_instance *inst)
{
    struct eng_instance *before = TAILQ_LAST(&a->waiting, eng_instance_list);
    while (before && (before->asked_ms > inst->asked_ms ||
                      (before->asked_ms == inst->asked_ms && before->index > inst->index)))
        before = TAILQ_PREV(before, eng_instance_list, ask_link);
    if (before)
        TAILQ_INSERT_AFTER(&a->waiting, before, inst, ask_link);
    else
        TAILQ_INSERT_HEAD(&a->waiting, inst, ask_link);
}

void ask_join(struct eng_instance *inst)
{
    struct eng_component *c = inst->component;
    if (inst->is_held)
        return; /* asked for once more after a restart: the cluster gave it before */
    struct eng_ask *a = inst->ask_id ? find(c, inst->ask_id) : find_host(c, inst->wish);
    if (!a)
        a = new_ask(c, inst->ask_id ? inst->ask_id : inst->request_id, inst->wish);
    inst->ask_id = a->allocation_id;
    inst->ask = a;
    insert(a, inst);
    a->n_wanted++;
}

void ask_leave(struct eng_instance *inst)
{
    struct eng_ask *a = inst->ask;
    TAILQ_REMOVE(&a->waiting, inst, ask_link);
    inst->ask = NULL;
    inst->ask_id = 0;
    a->n_wanted--;
    if (a->host && a->n_wanted == 0 && a->n_cancelling == 0)
        free_ask(a); /* there may be as many as nodes */
}

void asks_free(struct eng_component *c)
{
    while (!TAILQ_EMPTY(&c->asks))
        free_ask(TAILQ_FIRST(&c->asks));
}

int64_t eng_ask_priority(const struct eng_ask *a)
{
    const struct eng_service *s = a->component->service;
    int64_t given = eng_rules_of(s->rules, a->component->name)->priority;
    for (size_t i = 0; i < s->n_components; i++) {
        if (s->components[i] == a->component)
            return given > 0 ? given : (int64_t)i + 1;
    }
    return given;
}

int64_t eng_ask_since_ms(const struct eng_ask *a)
{
    const struct eng_instance *oldest = TAILQ_FIRST(&a->waiting);
    return oldest ? oldest->asked_ms : 0;
}

bool ask_is_for(const struct eng_component *c, const char *host)
{
    const struct eng_ask *a = find_host(c, host);
    return a && a->n_wanted > 0;
}

/* ---- effects ---- */

static struct eng_request *request_of(const struct step *st, const struct eng_instance *inst)
{
    const struct eng_component *c = inst->component;
    struct eng_request *r = mem_new(struct eng_request);
    if (inst->ask) {
        r->priority = eng_ask_priority(inst->ask);
        r->allocation_id = inst->ask->allocation_id;
        r->n_wanted = inst->ask->n_wanted;
    }
    r->memory_mb = spec_memory_mb(c->spec);
    r->vcores = c->spec->resource->cpus;
    r->queue = mem_str(c->service->spec->queue ? c->service->spec->queue : st->e->cfg.queue);
    r->label = mem_str(json_string_value(json_object_get(c->spec->placement_policy, "label")));
    r->host = mem_str(inst->ask ? inst->ask->host : NULL);
    r->ip = mem_str(inst->ip);
    r->component = mem_str(c->name);
    r->instance = mem_str(inst->name);
    r->needs = spec_needs_new(c->spec);
    return r;
}

void ask_emit(struct step *st, struct eng_instance *inst)
{
    step_emit_container(st, EFF_REQUEST, inst)->request = request_of(st, inst);
}

void ask_cancel(struct step *st, struct eng_instance *inst)
{
    struct eng_request *r = request_of(st, inst);
    if (inst->ask) {
        r->n_wanted--; /* it leaves */
        inst->ask->n_cancelling++;
    }
    step_emit_container(st, EFF_CANCEL_REQUEST, inst)->request = r;
}

/* ---- answers ---- */

static struct eng_ask *ask_of(const struct eng_service *s, int64_t allocation_id)
{
    for (size_t i = 0; s && i < s->n_components; i++) {
        struct eng_ask *a = find(s->components[i], allocation_id);
        if (a)
            return a;
    }
    return NULL;
}

static struct eng_instance *oldest(const struct eng_service *s, int64_t allocation_id)
{
    struct eng_ask *a = ask_of(s, allocation_id);
    struct eng_instance *inst = a ? TAILQ_FIRST(&a->waiting) : NULL;
    if (a && !inst && a->n_cancelling > 0)
        a->n_cancelling--; /* one of those that were taken back */
    return inst;
}

/* ---- after a loss of all requests ---- */

void asks_resync(struct step *st, const struct eng_event *ev)
{
    mem_auto char *key = service_key(ev->service_kind, ev->user, ev->name);
    struct eng_service *s = map_get(&st->e->services, key);
    if (!s)
        return;
    s->is_resyncing = true;
    s->resynced = (struct eng_walk){0};
    application_resync(st, s);
    places_resync(s);
    step_affect(st, s);
}

void asks_settle(struct step *st, struct eng_service *s)
{
    struct eng_instance *inst;
    for (size_t n = 0; s->is_resyncing && n < STEP_INSTANCES; n++) {
        if (!(inst = instances_next(s, &s->resynced)))
            s->is_resyncing = false;
        else if (inst->state == INST_REQUESTED)
            ask_emit(st, inst);
        else if (inst->state == INST_RELEASING)
            step_emit_container(st, EFF_STOP, inst);
    }
}

struct eng_instance *ask_adopt_name(struct step *st, const struct eng_event *ev)
{
    const struct eng_service *s =
        ev->user && ev->name ? engine_find(st->e, ev->service_kind, ev->user, ev->name) : NULL;
    struct eng_instance *inst = s && ev->allocation_id ? oldest(s, ev->allocation_id) : NULL;
    if (!inst)
        return NULL;
    map_remove(&st->e->containers, inst->container_id);
    free(inst->container_id);
    inst->container_id = mem_str(ev->container_id);
    map_set(&st->e->containers, inst->container_id, inst);
    return inst;
}
