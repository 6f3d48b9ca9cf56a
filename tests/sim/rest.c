/** What must hold when nothing fails any more and all has come to rest. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "engine/document.h"
#include "engine/component.h"
#include "engine/documents.h"
#include "engine/step.h"
#include "world.h"

#define REST_MS (20 * 60 * 1000) /* longer than every pause, deadline and lifetime of the shapes */

/* ---- documents ---- */

/** Readiness and what it waits for are not stored when they change: they are found again. */
static void dump_instance(const struct eng_instance *inst, struct buf *out)
{
    struct eng_instance as = *inst;
    as.wait = NULL;
    if (STATE_BIT(inst->state) & STATES_UP)
        as.state = INST_RUNNING;
    document_write(&eng_instance_type, &as, out);
    buf_add_char(out, '\n');
}

static void dump_service(const struct eng_service *s, struct buf *out)
{
    const struct eng_instance *inst;
    document_write(&eng_wanted_type, s, out);
    buf_add_char(out, '\n');
    document_write(&eng_is_type, s, out);
    buf_add_char(out, '\n');
    for (size_t i = 0; i < s->n_components; i++) {
        TAILQ_FOREACH (inst, &s->components[i]->instances, link)
            dump_instance(inst, out);
    }
    for (size_t i = 0; i < s->places.n; i++) {
        document_write(&eng_place_type, s->places.items[i], out);
        buf_add_char(out, '\n');
    }
}

/** All that is stored of an engine, as one text. */
static void dump(const struct engine *e, struct buf *out)
{
    mem_auto const struct eng_service **list = engine_list(e, NULL);
    for (size_t i = 0; list[i]; i++) {
        dump_service(list[i], out);
    }
}

/** The first line of a that is another one in b. */
static void say_difference(struct world *w, const struct buf *a, const struct buf *b)
{
    size_t at = 0, line = 0;
    while (at < a->len && at < b->len && a->bytes[at] == b->bytes[at]) {
        line = a->bytes[at] == '\n' ? at + 1 : line;
        at++;
    }
    size_t from = at > line + 80 ? at - 80 : line;
    world_violate(w, "memory and store differ: %.160s | %.160s", from < a->len ? a->bytes + from : "",
                  from < b->len ? b->bytes + from : "");
}

void world_check_documents(struct world *w)
{
    struct err_info why = {0};
    struct engine *loaded = NULL;
    buf_auto struct buf live = BUF_EMPTY, stored = BUF_EMPTY;
    if (w->up_ms || !TAILQ_EMPTY(&w->steps) || engine_new(&w->cfg, &loaded, &why))
        return;
    mem_auto const char **keys = map_sorted_keys(&w->documents);
    for (size_t i = 0; keys[i]; i++) {
        const char *text = map_get(&w->documents, keys[i]);
        if (engine_load(loaded, keys[i], text, strlen(text), &why))
            world_violate(w, "%s cannot be loaded: %s", keys[i], why.text);
    }
    dump(w->e, &live);
    dump(loaded, &stored);
    if (live.len != stored.len || (live.len && memcmp(live.bytes, stored.bytes, live.len) != 0))
        say_difference(w, &live, &stored);
    engine_free(loaded);
}

/* ---- services ---- */

struct rest {
    struct world *w;
    struct map records; /* paths that should be there */
    size_t n_held;      /* containers that the engine holds */
    size_t n_unplaced;  /* requests for which a constraint leaves no place */
};

/** It waits for a service that is not there, or ended: it may wait for ever. */
static bool may_wait(const struct eng_service *s)
{
    return s->state == SVC_ACCEPTED && s->spec->n_dependencies > 0;
}

/** A service that it depends on is not STABLE. */
static bool lacks_service(const struct world *w, const struct eng_service *s)
{
    for (size_t i = 0; i < s->spec->n_dependencies; i++) {
        const struct eng_service *d = engine_find(w->e, s->kind, s->user, s->spec->dependencies[i]);
        if (!d || d->state != SVC_STABLE)
            return true;
    }
    return false;
}

/** A component that a restart has left without a process waits for such a service. */
static bool waits_for_service(const struct world *w, const struct eng_service *s)
{
    for (size_t i = 0; i < s->n_components; i++) {
        if (s->components[i]->state == COMP_WAITING && lacks_service(w, s))
            return true;
    }
    return false;
}

static void check_component(struct rest *r, const struct eng_service *s, const struct eng_component *c)
{
    struct world *w = r->w;
    int64_t wanted = c->spec->number_of_containers;
    int64_t n = 0;
    const struct eng_instance *inst;
    if (c->state == COMP_WAITING) {
        if (c->spec->n_dependencies == 0 && !(c->is_back && lacks_service(w, s)))
            world_violate(w, "%s: component %s waits for nothing", s->name, c->name);
        return;
    }
    TAILQ_FOREACH (inst, &c->instances, link) {
        enum eng_instance_state state = inst->state;
        bool is_at_rest = state == INST_READY || (STATE_BIT(state) & STATES_FINAL) != 0;
        n++;
        bool has_node = inst->bare_host && inst->container_id && state != INST_REQUESTED;
        if (has_node && eng_service_is_excluded(s, inst->bare_host))
            world_violate(w, "%s: %s is on %s, which is excluded", s->name, inst->name, inst->bare_host);
        /* under one key it is said of the oldest only */
        bool is_said = inst->wait && (inst->wait->why == WAIT_PLACEMENT || w->is_naming);
        bool is_unplaced = state == INST_REQUESTED && is_said && c->spec->placement_policy;
        r->n_unplaced += is_unplaced;
        if ((!is_at_rest && !is_unplaced) || inst->removing)
            world_violate(w, "%s: %s is %s for ever", s->name, inst->name, eng_instance_state_word(state));
        if (s->kind == KIND_SERVICE && c->spec->restart_policy == RESTART_ALWAYS &&
            (STATE_BIT(state) & STATES_FINAL))
            world_violate(w, "%s: %s is %s, it should be started again", s->name, inst->name,
                          eng_instance_state_word(state));
    }
    if (n != wanted)
        world_violate(w, "%s: component %s has %lld instances, %lld are wanted", s->name, c->name,
                      (long long)n, (long long)wanted);
}

static void check_service(struct rest *r, const struct eng_service *s)
{
    struct world *w = r->w;
    if (s->destroying)
        world_violate(w, "%s is never destroyed", s->name);
    if (s->state == SVC_FINISHING)
        world_violate(w, "%s is finishing for ever", s->name);
    if (!eng_service_is_live(s) || may_wait(s))
        return;
    size_t n_before = r->n_unplaced;
    for (size_t i = 0; i < s->n_components; i++)
        check_component(r, s, s->components[i]);
    /* an upgrade, and its cancel, end when every instance is ready */
    bool may_upgrade = r->n_unplaced > n_before || waits_for_service(w, s);
    if (s->state != SVC_STABLE && s->state != SVC_STARTED && !(s->state == SVC_UPGRADING && may_upgrade))
        world_violate(w, "%s is %s for ever", s->name, eng_service_state_word(s->state));
}

/* ---- containers and records ---- */

static void note_held(void *arg, const struct eng_container_ref *c)
{
    struct rest *r = arg;
    const struct sim_container *held = sim_find(r->w->sim, c->instance->container_id);
    r->n_held++;
    if (!held)
        world_violate(r->w, "%s holds %s, which is no container", c->instance->name,
                      c->instance->container_id);
    else if (sim_has_process(held) != c->process)
        world_violate(r->w, "%s: a process %s in %s", c->instance->name, c->process ? "is missing" : "runs",
                      c->instance->container_id);
}

static void check_known(void *arg, const struct sim_container *c)
{
    struct rest *r = arg;
    const struct eng_instance *inst = NULL;
    bool is_open = r->w->is_naming && c->state == SIM_ASKED;
    if (!is_open && !engine_find_container(r->w->e, c->id, &inst))
        world_violate(r->w, "%s is forgotten", c->id);
}

static void want_record(struct rest *r, const struct eng_service *s, const char *container_id)
{
    mem_auto char *path = engine_record_path(s, container_id);
    const char *id = map_get(&r->w->records, path), *wanted = container_id ? container_id : s->app_id;
    map_set(&r->records, path, r);
    if (!id)
        world_violate(r->w, "%s has no record", path);
    else if (strcmp(id, wanted) != 0)
        world_violate(r->w, "the record %s is of %s, not of %s", path, id, wanted);
}

static void want_records(struct rest *r, const struct eng_service *s)
{
    if (!eng_service_is_live(s))
        return;
    const struct eng_instance *inst;
    want_record(r, s, NULL);
    for (size_t i = 0; i < s->n_components; i++) {
        TAILQ_FOREACH (inst, &s->components[i]->instances, link) {
            if (STATE_BIT(inst->state) & STATES_UP)
                want_record(r, s, inst->container_id);
        }
    }
}

static void check_records(struct rest *r)
{
    mem_auto const char **paths = map_sorted_keys(&r->w->records);
    for (size_t i = 0; paths[i]; i++) {
        if (!map_get(&r->records, paths[i]))
            world_violate(r->w, "the record %s is of nothing that runs", paths[i]);
    }
}

static void check_nothing_waits(struct world *w)
{
    if (!TAILQ_EMPTY(&w->steps) || queue_first(&w->events) || !TAILQ_EMPTY(&w->asked))
        world_violate(w, "it does not come to rest");
    if (w->awaited.n_items) {
        mem_auto const char **tokens = map_sorted_keys(&w->awaited);
        world_violate(w, "request %s is never answered", tokens[0]);
    }
}

void world_check_rest(struct world *w)
{
    struct rest r = {.w = w};
    size_t n_in_cluster, n_waiting;
    world_heal(w);
    world_run(w, w->now_ms + REST_MS);
    world_cancel_upgrades(w);
    world_run(w, w->now_ms + REST_MS);
    if (w->violation[0])
        return;
    check_nothing_waits(w);
    mem_auto const struct eng_service **list = engine_list(w->e, NULL);
    for (size_t i = 0; list[i]; i++) {
        check_service(&r, list[i]);
        want_records(&r, list[i]);
    }
    engine_containers(w->e, note_held, &r);
    sim_each(w->sim, check_known, &r);
    sim_count(w->sim, &n_in_cluster, &n_waiting);
    if (n_in_cluster != r.n_held || n_waiting != r.n_unplaced)
        world_violate(w, "the cluster has %zu containers and %zu requests, the engine holds %zu",
                      n_in_cluster, n_waiting, r.n_held);
    check_records(&r);
    world_check_documents(w);
    map_fini(&r.records, NULL);
}
