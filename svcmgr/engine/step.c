/** Effects, tickets and persistence of one step: see step.h. */
#include "engine/documents.h"
#include "engine/instance.h"
#include "engine/places.h"
#include "engine/registry.h"
#include "engine/service.h"
#include "engine/step.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "engine/document.h"
#include "json/writer.h"

/* Most steps have no more; a larger piece of memory costs an allocator far more than a small one. */
#define EFFECTS_FIRST 4

static struct eng_effect *effects_add(struct eng_effects *list)
{
    if (list->n == list->cap) {
        list->cap = list->cap ? 2 * list->cap : EFFECTS_FIRST;
        list->items = mem_resize(list->items, list->cap, sizeof list->items[0]);
    }
    struct eng_effect *e = &list->items[list->n++];
    *e = (struct eng_effect){0};
    return e;
}

static void request_free(struct eng_request *r)
{
    if (!r)
        return;
    free(r->queue);
    free(r->label);
    free(r->host);
    free(r->ip);
    free(r->component);
    free(r->instance);
    spec_needs_free(r->needs);
    free(r);
}

static void record_free(struct eng_record *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->n_ports; i++)
        free(r->ports[i].name);
    free(r->ports);
    free(r->url);
    free(r->slider_root);
    free(r->description);
    free(r->yarn_id);
    free(r->persistence);
    free(r->ip);
    free(r->hostname);
    free(r->component);
    json_decref(r->attributes);
    free(r);
}

static void answer_free(struct eng_answer *a)
{
    if (!a)
        return;
    free(a->name);
    free(a->app_id);
    free(a->version);
    free(a->component);
    free(a->reason);
    free(a->user);
    free(a->host);
    free(a->parent);
    free(a->quota);
    free(a);
}

void eng_effect_fini(struct eng_effect *e)
{
    free(e->user);
    free(e->name);
    free(e->key);
    free(e->bytes);
    free(e->container_id);
    free(e->path);
    free(e->text);
    request_free(e->request);
    application_free(e->application);
    launch_free(e->launch);
    probe_free(e->probe);
    record_free(e->record);
    answer_free(e->answer);
    for (size_t i = 0; i < e->n_paths; i++)
        free(e->paths[i]);
    free(e->paths);
    *e = (struct eng_effect){0};
}

void eng_effects_fini(struct eng_effects *list)
{
    for (size_t i = 0; i < list->n; i++)
        eng_effect_fini(&list->items[i]);
    free(list->items);
    *list = (struct eng_effects){0};
}

void eng_effects_move(struct eng_effects *from, struct eng_effects *to)
{
    if (to->n == 0) {
        free(to->items);
        *to = *from;
        *from = (struct eng_effects){0};
        return;
    }
    size_t n = to->n + from->n;
    if (n > to->cap) {
        to->cap = n > 2 * to->cap ? n : 2 * to->cap;
        to->items = mem_resize(to->items, to->cap, sizeof to->items[0]);
    }
    if (from->n > 0)
        memcpy(to->items + to->n, from->items, from->n * sizeof from->items[0]);
    to->n = n;
    free(from->items);
    *from = (struct eng_effects){0};
}

struct eng_effect *step_emit(struct step *st, enum eng_effect_kind kind, const struct eng_service *s)
{
    struct eng_effect *e = effects_add(&st->rest);
    e->kind = kind;
    e->service_kind = s ? s->kind : KIND_SERVICE;
    e->user = mem_str(s ? s->user : NULL);
    e->name = mem_str(s ? s->name : NULL);
    return e;
}

struct eng_effect *step_emit_container(struct step *st, enum eng_effect_kind kind,
                                       const struct eng_instance *inst)
{
    struct eng_effect *e = step_emit(st, kind, inst->component->service);
    e->container_id = mem_str(inst->container_id);
    return e;
}

void step_note(struct step *st, const struct eng_service *s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    step_emit(st, EFF_NOTE, s)->text = mem_vfmt(fmt, ap);
    va_end(ap);
}

void step_affect(struct step *st, struct eng_service *s)
{
    for (size_t i = 0; i < st->n_affected; i++) {
        if (st->affected[i] == s)
            return;
    }
    st->affected = mem_resize(st->affected, st->n_affected + 1, sizeof(struct eng_service *));
    st->affected[st->n_affected++] = s;
}

void step_touch(struct step *st, struct eng_service *s)
{
    s->dirty = true;
    step_affect(st, s);
}

void step_want(struct step *st, struct eng_service *s)
{
    s->is_wanted_dirty = true;
    step_affect(st, s);
}

struct eng_answer *step_answer(struct step *st, uint64_t token, enum eng_outcome outcome,
                               const struct eng_service *s)
{
    struct eng_answer *a = mem_new(struct eng_answer);
    a->token = token;
    a->outcome = outcome;
    if (s) {
        a->state = s->state;
        a->name = mem_str(s->name);
        a->app_id = mem_str(s->app_id);
        a->version = mem_str(s->spec->version);
    }
    step_emit(st, EFF_ANSWER, s)->answer = a;
    return a;
}

void step_touch_instance(struct step *st, struct eng_instance *inst)
{
    struct eng_service *s = inst->component->service;
    if (!inst->dirty) {
        st->n_changed++;
        inst->dirty = true;
        TAILQ_INSERT_TAIL(&s->dirty_instances, inst, dirty_link);
    }
    step_affect(st, s);
}

bool step_is_full(const struct step *st)
{
    return st->is_continued || st->n_changed >= STEP_INSTANCES;
}

void step_wake(struct step *st, struct eng_service *s)
{
    if (s->timer_ms && s->timer_ms <= st->now_ms)
        return; /* it is on its way */
    s->timer_ms = st->now_ms;
    step_emit(st, EFF_TIMER, s)->at_ms = st->now_ms;
}

static bool depends_on(const struct eng_service *s, enum eng_kind kind, const char *user, const char *name)
{
    bool found = false;
    for (size_t i = 0; i < s->spec->n_dependencies; i++)
        found = found || strcmp(s->spec->dependencies[i], name) == 0;
    return found && s->kind == kind && strcmp(s->user, user) == 0;
}

void step_wake_waiting(struct step *st, enum eng_kind kind, const char *user, const char *name)
{
    struct eng_service *s;
    TAILQ_FOREACH (s, &st->e->waiting, waiting_link) {
        if (depends_on(s, kind, user, name))
            step_wake(st, s);
    }
}

/* ---- persistence ---- */

/** A document that is deleted unless it gets bytes. [borrowed until the next one] */
static struct eng_effect *persist_nothing(struct step *st, char *take_key, const struct eng_service *s)
{
    struct eng_effect *e = effects_add(&st->persists);
    e->kind = EFF_PERSIST;
    e->service_kind = s ? s->kind : KIND_SERVICE;
    e->user = mem_str(s ? s->user : NULL);
    e->name = mem_str(s ? s->name : NULL);
    e->key = take_key;
    return e;
}

static void persist_document(struct step *st, char *take_key, struct buf *take_text,
                             const struct eng_service *s)
{
    struct eng_effect *e = persist_nothing(st, take_key, s);
    e->len = take_text->len;
    e->bytes = buf_take(take_text);
}

void step_store(struct step *st, char *take_key, const struct fld_type *type, const void *object,
                const struct eng_service *s)
{
    struct buf text = BUF_EMPTY;
    if (!type) {
        persist_nothing(st, take_key, s);
        return;
    }
    document_write(type, object, &text);
    persist_document(st, take_key, &text, s);
}

void step_store_value(struct step *st, char *take_key, const json_t *value)
{
    struct buf text = BUF_EMPTY;
    if (!value) {
        persist_nothing(st, take_key, NULL);
        return;
    }
    document_write_value(value, &text);
    persist_document(st, take_key, &text, NULL);
}

static void persist_engine(struct step *st)
{
    struct buf text = BUF_EMPTY;
    struct jw w = jw_on(&text);
    jw_object(&w);
    jw_kint(&w, "format", DOCUMENT_FORMAT);
    jw_kint(&w, "cluster_ts", st->e->cluster_ts);
    jw_kint(&w, "next_app", st->e->next_app);
    jw_object_end(&w);
    persist_document(st, mem_str("engine"), &text, NULL);
    st->e->stored = true;
}

void step_forget_instance(struct step *st, const struct eng_instance *inst)
{
    mem_auto char *key = instance_document_key(inst->component->service, inst->name);
    step_forget_document(st, key, inst->component->service);
}

void step_forget_document(struct step *st, const char *key, const struct eng_service *s)
{
    persist_nothing(st, mem_str(key), s);
    st->n_changed++;
    step_affect(st, (struct eng_service *)s);
}

/** Remove a destroyed service: its documents go, then the object. Its instances went before. */
static void persist_removal(struct step *st, struct eng_service *s)
{
    step_store(st, definition_document_key(s), NULL, NULL, s);
    step_store(st, service_document_key(s), NULL, NULL, s);
    step_store(st, gone_document_key(s, NULL), NULL, NULL, s);
    if (s->has_runs)
        step_store(st, runs_document_key(s), NULL, NULL, s);
    history_forget(st, s);
    step_store(st, place_document_key(s, NULL), NULL, NULL, s);
    service_answer_destroyers(st, s, OUT_DESTROYED);
    services_remove(st->e, s);
    service_free(s);
}

/** An application master writes what it makes of the definition beside, as that is its manager's. */
static void persist_wanted(struct step *st, struct eng_service *s)
{
    if (st->e->cfg.role == ROLE_MASTER)
        step_store(st, runs_document_key(s), &eng_runs_type, s, s);
    else
        step_store(st, definition_document_key(s), &eng_wanted_type, s, s);
    s->is_wanted_dirty = false;
}

static void persist_service(struct step *st, struct eng_service *s)
{
    if (s->is_wanted_dirty)
        persist_wanted(st, s);
    if (s->dirty)
        step_store(st, service_document_key(s), &eng_is_type, s, s);
    s->dirty = s->is_handing_over = false;
}

/** Of a service that is away only what is wanted is ours. */
static void persist_away(struct step *st, struct eng_service *s)
{
    if (s->is_wanted_dirty)
        persist_wanted(st, s);
    s->dirty = false;
}

/** A document that is as it was is not written: after a restart those of all instances whose process still runs. */
static void persist_instance(struct step *st, const struct eng_service *s, struct eng_instance *inst)
{
    struct buf text = BUF_EMPTY;
    document_write(&eng_instance_type, inst, &text);
    uint64_t hash = hash_bytes(text.bytes, text.len);
    if (hash == inst->stored_hash) {
        buf_fini(&text);
        return;
    }
    inst->stored_hash = hash;
    persist_document(st, instance_document_key(s, inst->name), &text, s);
}

static void persist_instances(struct step *st, struct eng_service *s)
{
    struct eng_instance *inst;
    while ((inst = TAILQ_FIRST(&s->dirty_instances))) {
        TAILQ_REMOVE(&s->dirty_instances, inst, dirty_link);
        inst->dirty = false;
        persist_instance(st, s, inst);
    }
}

void step_persist(struct step *st)
{
    if (st->engine_dirty)
        persist_engine(st);
    for (size_t i = 0; i < st->n_affected; i++) {
        struct eng_service *s = st->affected[i];
        if (engine_is_away(st->e, s)) {
            persist_away(st, s);
            continue;
        }
        if (s->destroying && !eng_service_is_live(s) && !s->purge_wanted && service_is_empty(s) &&
            backlog_is_empty(s) && s->places.n == 0) {
            persist_removal(st, s);
            continue;
        }
        persist_service(st, s);
        persist_instances(st, s);
        backlog_persist(st, s);
        history_persist(st, s);
        places_persist(st, s);
    }
}
