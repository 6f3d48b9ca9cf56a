/** Effects, tickets and persistence of one step: see step.h. */
#include "engine/step.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "json/writer.h"

static struct eng_effect *effects_add(struct eng_effects *list)
{
    if (list->n == list->cap) {
        list->cap = list->cap ? 2 * list->cap : 16;
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
    free(r->ip);
    free(r->component);
    free(r->instance);
    free(r);
}

static void record_free(struct eng_record *r)
{
    if (!r)
        return;
    free(r->description);
    free(r->yarn_id);
    free(r->persistence);
    free(r->ip);
    free(r->hostname);
    free(r->component);
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
    launch_free(e->launch);
    probe_free(e->probe);
    record_free(e->record);
    answer_free(e->answer);
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

struct eng_answer *step_answer(struct step *st, uint64_t token, enum eng_outcome outcome,
                               const struct eng_service *s)
{
    struct eng_answer *a = mem_new(struct eng_answer);
    a->token = token;
    a->outcome = outcome;
    if (s) {
        a->state = (enum eng_service_state)s->state;
        a->name = mem_str(s->name);
        a->app_id = mem_str(s->app_id);
        a->version = mem_str(s->spec->version);
    }
    step_emit(st, EFF_ANSWER, s)->answer = a;
    return a;
}

void step_touch_instance(struct step *st, struct eng_instance *inst)
{
    st->n_changed += !inst->dirty;
    inst->dirty = true;
    inst->component->service->has_dirty_instances = true;
    step_affect(st, inst->component->service);
}

bool step_is_full(const struct step *st)
{
    return st->n_changed >= STEP_INSTANCES;
}

void step_wake(struct step *st, struct eng_service *s)
{
    if (s->timer_ms && s->timer_ms <= st->now_ms)
        return; /* it is on its way */
    s->timer_ms = st->now_ms;
    step_emit(st, EFF_TIMER, s)->at_ms = st->now_ms;
}

void step_wake_waiting(struct step *st)
{
    for (MAP_EACH (&st->e->services, slot)) {
        struct eng_service *s = slot->value;
        if (s->state == SVC_ACCEPTED)
            step_wake(st, s);
    }
}

/* ---- registry tickets ---- */

void ticket_fini(struct ticket *t)
{
    free(t->user);
    free(t->name);
    free(t->container_id);
    free(t->ended_id);
    *t = (struct ticket){0};
}

struct eng_effect *step_registry(struct step *st, enum eng_effect_kind kind, const struct eng_service *s,
                                 const char *container_id)
{
    struct engine *e = st->e;
    struct eng_effect *effect = step_emit(st, kind, s);
    effect->container_id = mem_str(container_id);
    effect->path = engine_record_path(s, container_id);
    effect->ticket = ++e->next_ticket;
    e->tickets = mem_resize(e->tickets, e->n_tickets + 1, sizeof(struct ticket));
    e->tickets[e->n_tickets++] = (struct ticket){.number = effect->ticket,
                                                 .kind = kind,
                                                 .user = mem_str(s->user),
                                                 .name = mem_str(s->name),
                                                 .container_id = mem_str(container_id)};
    return effect;
}

bool step_take_ticket(struct step *st, int64_t number, struct ticket *out)
{
    struct engine *e = st->e;
    for (size_t i = 0; i < e->n_tickets; i++) {
        if (e->tickets[i].number != number)
            continue;
        *out = e->tickets[i];
        e->tickets[i] = e->tickets[--e->n_tickets];
        return true;
    }
    return false;
}

void tickets_undo(struct engine *e, const char *user, const char *name, int64_t number)
{
    size_t n = 0;
    for (size_t i = 0; i < e->n_tickets; i++) {
        struct ticket *t = &e->tickets[i];
        if (t->number > number && strcmp(t->user, user) == 0 && strcmp(t->name, name) == 0)
            ticket_fini(t);
        else
            e->tickets[n++] = *t;
    }
    e->n_tickets = n;
}

/* ---- persistence ---- */

/** A document that is deleted unless it gets bytes. [borrowed until the next one] */
static struct eng_effect *persist_nothing(struct step *st, char *take_key, const struct eng_service *s)
{
    struct eng_effect *e = effects_add(&st->persists);
    e->kind = EFF_PERSIST;
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

static void persist_engine(struct step *st)
{
    struct buf text = BUF_EMPTY;
    struct jw w = jw_on(&text);
    jw_object(&w);
    jw_kint(&w, "cluster_ts", st->e->cluster_ts);
    jw_kint(&w, "next_app", st->e->next_app);
    jw_object_end(&w);
    persist_document(st, mem_str("engine"), &text, NULL);
    st->e->stored = true;
}

void step_forget_instance(struct step *st, const struct eng_instance *inst)
{
    persist_nothing(st, instance_document_key(inst->component->service, inst->name),
                    inst->component->service);
    st->n_changed++;
    step_affect(st, inst->component->service);
}

/** Remove a destroyed service: its document goes, then the object. Its instances went before. */
static void persist_removal(struct step *st, struct eng_service *s)
{
    mem_auto char *key = service_key(s->user, s->name);
    persist_nothing(st, service_document_key(s), s);
    map_remove(&st->e->services, key);
    homes_remove(st->e, s);
    service_free(s);
}

static void persist_service(struct step *st, struct eng_service *s)
{
    struct buf text = BUF_EMPTY;
    s->dirty = false;
    fld_write_text(&eng_service_type, s, &text);
    persist_document(st, service_document_key(s), &text, s);
}

static void persist_instances(struct step *st, struct eng_component *c)
{
    for (size_t i = 0; i < c->n_instances; i++) {
        struct eng_instance *inst = c->instances[i];
        struct buf text = BUF_EMPTY;
        if (!inst->dirty)
            continue;
        inst->dirty = false;
        fld_write_text(&eng_instance_type, inst, &text);
        persist_document(st, instance_document_key(c->service, inst->name), &text, c->service);
    }
}

void step_persist(struct step *st)
{
    if (st->engine_dirty)
        persist_engine(st);
    for (size_t i = 0; i < st->n_affected; i++) {
        struct eng_service *s = st->affected[i];
        if (s->destroying && !eng_service_is_live(s) && !s->purge_wanted) {
            persist_removal(st, s);
            continue;
        }
        if (s->dirty)
            persist_service(st, s);
        for (size_t k = 0; s->has_dirty_instances && k < s->n_components; k++)
            persist_instances(st, s->components[k]);
        s->has_dirty_instances = false;
    }
}
