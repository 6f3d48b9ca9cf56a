/** What a request would do: see plan.h. */
#include "engine/plan.h"

#include <stdlib.h>
#include <string.h>

#include "engine/component.h"
#include "engine/documents.h"
#include "engine/instance.h"
#include "engine/places.h"
#include "engine/service.h"
#include "engine/step.h"

#define COPY_TRIES  200
#define EVENTS_MAX  10000 /* of one plan, and for each of its instances EVENTS_EACH */
#define EVENTS_EACH 100
#define IDLE_MAX    1000 /* pauses that pass while nothing becomes of any instance */
#define REQUEST     1    /* its token */
#define NO_HOST     "localhost"

#define PLANNED_WORD(token, word) word,
static const char *const planned_words[] = {ENG_PLANNED(PLANNED_WORD)};

/** Instances on their way to somewhere; what waits for a request, a dependency or room does not count. */
#define STATES_ON_THE_WAY                                                                                    \
    (STATE_BIT(INST_REQUESTED) | STATE_BIT(INST_ALLOCATED) | STATE_BIT(INST_LAUNCHED) |                      \
     STATE_BIT(INST_RUNNING) | STATE_BIT(INST_DRAINING) | STATE_BIT(INST_UPGRADING) |                        \
     STATE_BIT(INST_EXITED) | STATE_BIT(INST_RELEASING) | STATE_BIT(INST_RECOVERING))

/** What becomes of an instance, so far. */
struct record {
    struct eng_planned_step step; /* the first member */
    bool is_acted;                /* something does */
};

struct eng_plan {
    enum eng_kind kind;
    char *user, *name;
    struct engine *e; /* the copy */
    /* of the copying */
    struct eng_walk walk;
    int64_t change; /* of the service when it was begun; 0: there was none */
    int n_tries;
    /* of the running */
    char *host; /* of containers that may be anywhere */
    int64_t now_ms, began_ms, wall_ms;
    int64_t timer_ms; /* of the service; 0: none */
    struct eng_effects effects;
    size_t noted, next; /* of them: whose step is known; the first that is to be carried out */
    int64_t n_events;
    int n_idle;
    char *cause;                /* what has happened last that something may follow from; NULL: the request */
    struct eng_effect answered; /* its answer */
    char *version_before;
    struct map known;        /* instance -> struct record */
    struct record **records; /* of those that were there, in their order, then of new ones */
    size_t n_records;
    struct eng_planned_step **steps; /* room for all: first those that something becomes of, in that order */
    size_t n_steps;
    bool is_whole;
};

const char *eng_planned_word(enum eng_planned action)
{
    BUG_IF((size_t)action >= ARRAY_LEN(planned_words));
    return planned_words[action];
}

/* ---- the copy ---- */

static struct eng_service *own_service(const struct eng_plan *p)
{
    mem_auto char *key = service_key(p->kind, p->user, p->name);
    return map_get(&p->e->services, key);
}

/** What is common to all services, and what it shares with others. */
static struct engine *copy_engine(const struct engine *from, const char *user)
{
    struct engine *to = NULL;
    struct engine_config cfg = from->cfg;
    cfg.role = ROLE_WHOLE;
    cfg.submits = false;
    BUG_IF(engine_new(&cfg, &to, NULL) != 0);
    to->cluster_ts = from->cluster_ts;
    to->next_app = from->next_app;
    to->next_ticket = from->next_ticket;
    to->stored = to->resumed = true;
    nodes_copy(to, from);
    addresses_copy(&to->addresses, &from->addresses);
    quota_copy(to, from);
    homes_copy(to, from, user);
    return to;
}

/** The service without its instances. It counts for quotas already. */
static void copy_service(struct engine *to, const struct eng_service *s)
{
    struct eng_service *copy = fld_copy(&eng_service_type, s);
    BUG_IF(service_link(copy, NULL) != 0);
    copy->n_counted = s->n_counted;
    copy->counted_queue = mem_str(s->counted_queue);
    copy->published = s->published;
    copy->is_registry_resumed = true;
    services_add(to, copy);
}

static struct record *add_record(struct eng_plan *p, const char *instance, const char *component,
                                 const char *from)
{
    struct record *r = mem_new(struct record);
    r->step.instance = mem_str(instance);
    r->step.component = mem_str(component);
    r->step.from = mem_str(from);
    p->records = mem_resize(p->records, p->n_records + 1, sizeof p->records[0]);
    p->records[p->n_records++] = r;
    map_set(&p->known, instance, r);
    return r;
}

/** An effect of before, whose answer is outstanding. */
static void expect(struct eng_plan *p, enum eng_effect_kind kind, const char *container_id)
{
    struct eng_effects one = {.items = mem_new(struct eng_effect), .n = 1, .cap = 1};
    one.items[0].kind = kind;
    one.items[0].container_id = mem_str(container_id);
    eng_effects_move(&one, &p->effects);
}

/** What it waits for comes: that was asked for before. */
static void expect_outstanding(struct eng_plan *p, const struct eng_instance *inst)
{
    switch (inst->state) {
    case INST_REQUESTED: expect(p, EFF_REQUEST, inst->container_id); break;
    case INST_ALLOCATED:
    case INST_LAUNCHED:
    case INST_RECOVERING:
    case INST_UPGRADING: expect(p, EFF_LAUNCH, inst->container_id); break;
    case INST_RUNNING: expect(p, EFF_PROBE_START, inst->container_id); break;
    case INST_RELEASING: expect(p, EFF_STOP, inst->container_id); break;
    case INST_PENDING:
    case INST_READY:
    case INST_DRAINING:
    case INST_EXITED:
    case INST_SUCCEEDED:
    case INST_FAILED:
    case INST_STOPPED: break;
    }
}

static void copy_instance(struct eng_plan *p, const struct eng_instance *inst)
{
    struct eng_instance *copy = fld_copy(&eng_instance_type, inst);
    BUG_IF(instance_link(own_service(p), copy, NULL) != 0);
    copy->published = inst->published;
    copy->record_unready = inst->record_unready;
    if (copy->container_id)
        map_set(&p->e->containers, copy->container_id, copy);
    if (copy->container_id && copy->state != INST_REQUESTED)
        places_allocated(NULL, copy);
    if (copy->container_id)
        expect_outstanding(p, copy);
    add_record(p, inst->name, inst->component->name, inst->container_id ? inst->version : NULL);
}

static void forget_copy(struct eng_plan *p)
{
    for (size_t i = 0; i < p->n_records; i++) {
        struct eng_planned_step *step = &p->records[i]->step;
        free(step->instance);
        free(step->component);
        free(step->from);
        free(step->to);
        free(step->after);
        free(p->records[i]);
    }
    mem_free_ptr(&p->records);
    p->n_records = 0;
    map_fini(&p->known, NULL);
    eng_effects_fini(&p->effects);
    engine_free(p->e);
    p->e = NULL;
}

static void begin_copy(struct eng_plan *p, const struct engine *e)
{
    const struct eng_service *s = engine_find(e, p->kind, p->user, p->name);
    forget_copy(p);
    p->e = copy_engine(e, p->user);
    p->walk = (struct eng_walk){0};
    p->change = s ? s->change : 0;
    p->n_tries++;
    free(p->version_before);
    p->version_before = mem_str(s ? s->spec->version : NULL);
    if (s)
        copy_service(p->e, s);
}

struct eng_plan *eng_plan_new(const struct engine *e, enum eng_kind kind, const char *user, const char *name)
{
    struct eng_plan *p = mem_new(struct eng_plan);
    p->kind = kind;
    p->user = mem_str(user);
    p->name = mem_str(name);
    begin_copy(p, e);
    return p;
}

int eng_plan_copy(struct eng_plan *p, const struct engine *e, size_t n)
{
    const struct eng_service *s = engine_find(e, p->kind, p->user, p->name);
    if ((s ? s->change : 0) != p->change) {
        if (p->n_tries == COPY_TRIES)
            return ERR_UNAVAILABLE;
        begin_copy(p, e);
        return 2;
    }
    for (size_t i = 0; s && i < n; i++) {
        const struct eng_instance *inst = instances_next(s, &p->walk);
        if (!inst)
            return 1;
        copy_instance(p, inst);
    }
    return s ? 0 : 1;
}

/* ---- the world where everything goes well ---- */

static void take_answer(struct eng_plan *p, struct eng_effect *e)
{
    if (e->answer->token != REQUEST || p->answered.answer)
        return;
    p->answered = *e;
    *e = (struct eng_effect){.kind = EFF_NOTE};
}

static void step(struct eng_plan *p, struct eng_event ev)
{
    const struct eng_time now = {
        .now_ms = p->now_ms, .wall_ms = p->wall_ms + p->now_ms - p->began_ms, .random = 1};
    ev.service_kind = p->kind;
    p->n_events++;
    engine_step(p->e, &ev, now, &p->effects);
}

static void set_cause(struct eng_plan *p, char *take_cause)
{
    free(p->cause);
    p->cause = take_cause;
}

/** The step of an instance that something becomes of now. */
static struct eng_planned_step *act(struct eng_plan *p, const char *instance, const char *component)
{
    struct record *r = map_get(&p->known, instance);
    if (!r)
        r = add_record(p, instance, component, NULL);
    p->n_idle = 0;
    if (r->is_acted)
        return &r->step; /* it has its place */
    r->is_acted = true;
    r->step.after = mem_str(p->cause);
    r->step.at_ms = p->now_ms - p->began_ms;
    p->steps = mem_resize(p->steps, p->n_records, sizeof p->steps[0]);
    p->steps[p->n_steps++] = &r->step;
    return &r->step;
}

static const struct eng_instance *holder(const struct eng_plan *p, const char *container_id)
{
    return container_id ? map_get(&p->e->containers, container_id) : NULL;
}

/** The record of one that drains is withdrawn: its turn has come. */
static void note_drain(struct eng_plan *p, const struct eng_effect *e)
{
    const struct eng_instance *inst = holder(p, e->container_id);
    if (inst && inst->state == INST_DRAINING)
        act(p, inst->name, inst->component->name)->drain_s =
            spec_prop_int(inst->component->spec, PROP_DRAIN, 0);
}

static void note_request(struct eng_plan *p, const struct eng_effect *e)
{
    struct eng_planned_step *step = act(p, e->request->instance, e->request->component);
    step->action = step->from ? PLANNED_REPLACE : PLANNED_CREATE;
}

static void note_end(struct eng_plan *p, const struct eng_effect *e, enum eng_planned action)
{
    const struct eng_instance *inst = holder(p, e->container_id);
    if (inst && map_get(&p->known, inst->name))
        act(p, inst->name, inst->component->name)->action = action;
}

static void note_one(struct eng_plan *p, const struct eng_effect *e)
{
    switch (e->kind) {
    case EFF_UNPUBLISH: note_drain(p, e); break;
    case EFF_REQUEST: note_request(p, e); break;
    case EFF_REINIT: note_end(p, e, PLANNED_REINIT); break;
    case EFF_STOP: note_end(p, e, PLANNED_STOP); break;
    default: break;
    }
}

/** What the last step wants done follows from the last cause. */
static void note(struct eng_plan *p)
{
    for (; p->noted < p->effects.n; p->noted++)
        note_one(p, &p->effects.items[p->noted]);
}

/** An instance that has come to where it was to be is what others wait for. */
static void note_ready(struct eng_plan *p, const char *container_id)
{
    const struct eng_instance *inst = holder(p, container_id);
    if (inst && inst->state == INST_READY)
        set_cause(p, mem_fmt("%s is READY", inst->name));
}

static void answer_process(struct eng_plan *p, const struct eng_effect *e)
{
    const struct eng_instance *inst = holder(p, e->container_id);
    mem_auto char *host = mem_str(inst && inst->bare_host ? inst->bare_host : NO_HOST);
    if (inst)
        step(p, (struct eng_event){.kind = EV_RUNNING,
                                   .container_id = e->container_id,
                                   .attempt = inst->attempt,
                                   .ip = inst->ip ? inst->ip : "127.0.0.1",
                                   .host = host});
    note_ready(p, e->container_id);
}

static void answer_stop(struct eng_plan *p, const struct eng_effect *e)
{
    const struct eng_instance *inst = holder(p, e->container_id);
    mem_auto char *cause = inst ? mem_fmt("%s has ended", inst->name) : NULL;
    step(p, (struct eng_event){.kind = EV_EXITED,
                               .container_id = e->container_id,
                               .exit = eng_exit_of(CAUSE_STOPPED, 0, NULL)});
    if (cause)
        set_cause(p, mem_str(cause));
}

/** A host where containers of a service may be. free(); NULL: there is none */
static char *find_host(const struct engine *e, const struct eng_service *s)
{
    mem_auto const struct eng_node **nodes = engine_nodes(e);
    for (size_t i = 0; nodes[i]; i++) {
        if (nodes[i]->state == NODE_RUNNING && !(s && eng_service_is_excluded(s, nodes[i]->host)))
            return mem_str(nodes[i]->host);
    }
    return nodes[0] ? NULL : mem_str(NO_HOST);
}

static void answer_request(struct eng_plan *p, const struct eng_effect *e)
{
    const char *host = e->request && e->request->host ? e->request->host : p->host;
    if (host)
        step(p, (struct eng_event){.kind = EV_ALLOCATED,
                                   .user = p->user,
                                   .name = p->name,
                                   .container_id = e->container_id,
                                   .host = host});
}

static void answer_application(struct eng_plan *p, const struct eng_effect *e, enum eng_event_kind kind)
{
    step(p, (struct eng_event){.kind = kind,
                               .user = p->user,
                               .name = p->name,
                               .incarnation = e->application->incarnation,
                               .exit = eng_exit_of(CAUSE_STOPPED, 0, NULL)});
}

static void answer_timer(struct eng_plan *p, const struct eng_effect *e)
{
    bool is_own = e->name && strcmp(e->name, p->name) == 0 && strcmp(e->user, p->user) == 0;
    if (!is_own)
        return;
    p->timer_ms = e->at_ms;
    if (!e->at_ms || e->at_ms > p->now_ms)
        return;
    p->timer_ms = 0;
    step(p, (struct eng_event){.kind = EV_TIMER, .user = p->user, .name = p->name});
}

static void carry_out(struct eng_plan *p, struct eng_effect *e)
{
    struct eng_event ev = {.container_id = e->container_id, .user = p->user, .name = p->name};
    switch (e->kind) {
    case EFF_REQUEST: answer_request(p, e); break;
    case EFF_LAUNCH:
    case EFF_REINIT: answer_process(p, e); break;
    case EFF_STOP: answer_stop(p, e); break;
    case EFF_PROBE_START:
        ev.kind = EV_PROBE;
        ev.ready = true;
        step(p, ev);
        note_ready(p, e->container_id);
        break;
    case EFF_SYNC:
        ev.kind = EV_SYNCED;
        step(p, ev);
        break;
    case EFF_FETCH:
        ev.kind = EV_FETCHED;
        step(p, ev);
        break;
    case EFF_SUBMIT: answer_application(p, e, EV_SUBMITTED); break;
    case EFF_FINISH: answer_application(p, e, EV_APP_ENDED); break;
    case EFF_PUBLISH:
    case EFF_UNPUBLISH:
    case EFF_PURGE:
    case EFF_ENDED: step(p, (struct eng_event){.kind = EV_RECORD, .ticket = e->ticket}); break;
    case EFF_ANSWER: take_answer(p, e); break;
    case EFF_TIMER: answer_timer(p, e); break;
    case EFF_PERSIST:
    case EFF_CANCEL_REQUEST:
    case EFF_RELEASE:
    case EFF_PROBE_STOP:
    case EFF_EXCLUDE:
    case EFF_SET_LIFETIME:
    case EFF_NOTE: break;
    }
}

void eng_plan_free(struct eng_plan *p)
{
    if (!p)
        return;
    forget_copy(p);
    eng_effect_fini(&p->answered);
    free(p->steps);
    free(p->cause);
    free(p->host);
    free(p->version_before);
    free(p->user);
    free(p->name);
    free(p);
}

/* ---- running ---- */

/** A service of the user that it waits for, as it is now; it stays so. */
static void copy_dependencies(struct eng_plan *p, const struct engine *from, const struct spec_service *spec)
{
    for (size_t i = 0; spec && i < spec->n_dependencies; i++) {
        const struct eng_service *s = engine_find(from, p->kind, p->user, spec->dependencies[i]);
        if (s && !engine_find(p->e, p->kind, p->user, s->name))
            copy_service(p->e, s);
    }
}

void eng_plan_begin(struct eng_plan *p, const struct engine *e, const struct eng_event *ev,
                    struct eng_time now)
{
    struct eng_service *s = own_service(p);
    struct eng_event as = *ev;
    p->now_ms = p->began_ms = now.now_ms;
    p->wall_ms = now.wall_ms;
    p->host = find_host(p->e, s);
    copy_dependencies(p, e, s ? s->spec : NULL);
    copy_dependencies(p, e, ev->take_spec);
    as.token = REQUEST;
    p->noted = p->effects.n; /* what was asked for before */
    step(p, as);
    note(p);
}

/** Something is under way that time brings on. */
static bool is_moving(const struct eng_plan *p)
{
    const struct eng_service *s = own_service(p);
    if (!s || !eng_service_is_live(s))
        return false;
    if (s->state == SVC_FINISHING || s->state == SVC_BACKOFF || s->state == SVC_SUBMITTING)
        return true;
    for (size_t i = 0; i < s->n_components; i++) {
        const struct eng_component *c = s->components[i];
        if (component_count(c, STATES_ON_THE_WAY) + c->n_forth + c->n_back + c->n_removing > 0)
            return true;
    }
    return false;
}

/** It may not come to rest at all. */
static bool is_too_long(const struct eng_plan *p)
{
    return p->n_events >= EVENTS_MAX + EVENTS_EACH * (int64_t)p->n_records;
}

/** The next pause passes. @return false: there is none, or nothing waits for it */
static bool pass_time(struct eng_plan *p)
{
    if (!p->timer_ms || !is_moving(p) || p->n_idle++ == IDLE_MAX)
        return false;
    int64_t pause_ms = p->timer_ms > p->now_ms ? p->timer_ms - p->now_ms : 0;
    p->now_ms += pause_ms;
    p->timer_ms = 0;
    step(p, (struct eng_event){.kind = EV_TIMER, .user = p->user, .name = p->name});
    note(p);
    return true;
}

/** What each instance would run then. */
static void end(struct eng_plan *p)
{
    const struct eng_service *s = own_service(p);
    p->steps = mem_resize(p->steps, p->n_records + 1, sizeof p->steps[0]);
    for (size_t i = 0; i < p->n_records; i++) {
        struct eng_planned_step *step = &p->records[i]->step;
        if (!p->records[i]->is_acted)
            p->steps[p->n_steps++] = step;
        const struct eng_instance *inst = s ? eng_service_instance(s, step->instance) : NULL;
        step->to = mem_str(inst && inst->container_id ? inst->version : NULL);
    }
    p->is_whole = !is_too_long(p) && p->n_idle <= IDLE_MAX;
}

bool eng_plan_run(struct eng_plan *p, size_t n)
{
    for (size_t i = 0; i < n && !is_too_long(p); i++) {
        if (p->next == p->effects.n) {
            eng_effects_fini(&p->effects);
            p->next = p->noted = 0;
            if (pass_time(p))
                continue;
            end(p);
            return true;
        }
        struct eng_effect e = p->effects.items[p->next];
        p->effects.items[p->next++] = (struct eng_effect){.kind = EFF_NOTE};
        carry_out(p, &e);
        note(p);
        eng_effect_fini(&e);
    }
    if (!is_too_long(p))
        return false;
    end(p);
    return true;
}

/* ---- what came of it ---- */

const struct eng_answer *eng_plan_answer(const struct eng_plan *p)
{
    return p->answered.answer;
}

const struct eng_planned_step *const *eng_plan_steps(const struct eng_plan *p, size_t *n)
{
    *n = p->n_steps;
    return (const struct eng_planned_step *const *)p->steps;
}

const struct eng_service *eng_plan_service(const struct eng_plan *p)
{
    return own_service(p);
}

const char *eng_plan_version_before(const struct eng_plan *p)
{
    return p->version_before;
}

bool eng_plan_is_whole(const struct eng_plan *p)
{
    return p->is_whole;
}
