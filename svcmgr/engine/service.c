/**
 * The service machine.
 *
 *     (create) ──save──> STOPPED ──start──> ACCEPTED ──services it depends on are STABLE──> STARTED <──> STABLE
 *                           ^                │  ^ │                                       ^    │            │
 *                           │                │  │ └──the cluster takes applications──> SUBMITTING           │
 *                           │                │  └──it is due── BACKOFF <──by policy──┐    │    │            │
 *                           │                └──stop, destroy, lifetime──> FINISHING <────┴────┴────────────┘
 *                           │                                                   │   (also: by its policy; its application ended)
 *                           └──no container left── STOPPED | SUCCEEDED | FAILED ┘
 *
 * STABLE ──upgrade──> UPGRADING ──the operation is over──> STABLE, STARTED: operation.c.
 * STOPPED, SUCCEEDED and FAILED may be started again or destroyed. A destroyed service goes when its registry subtree
 * is gone.
 */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "engine/away.h"
#include "engine/orders.h"
#include "engine/policy.h"
#include "engine/component.h"
#include "engine/documents.h"
#include "engine/instance.h"
#include "engine/operation.h"
#include "engine/places.h"
#include "engine/registry.h"
#include "engine/service.h"
#include "engine/step.h"

/* ---- permanent refusals of the registry ---- */

/** Of one change: its effect and the container, "" for the service itself. free() */
static char *refusal_key(enum eng_effect_kind kind, const char *container_id)
{
    return mem_fmt("%s %s", eng_effect_word(kind), container_id ? container_id : "");
}

static bool is_refused(const struct eng_service *s, enum eng_effect_kind kind, const char *container_id)
{
    mem_auto char *key = refusal_key(kind, container_id);
    return map_get(&s->refused, key) != NULL;
}

/** text NULL: it is not refused any more. */
static void set_refusal(struct eng_service *s, enum eng_effect_kind kind, const char *container_id,
                        const char *text)
{
    mem_auto char *key = refusal_key(kind, container_id);
    free(text ? map_set(&s->refused, key, mem_str(text)) : map_remove(&s->refused, key));
}

char *eng_service_refusals(const struct eng_service *s)
{
    mem_auto const char **keys = map_sorted_keys(&s->refused);
    if (!keys[0])
        return NULL;
    const char *what = str_starts(keys[0], "EFF_PUBLISH") ? "to write the record" : "to remove the record";
    const char *container_id = strchr(keys[0], ' ') + 1;
    return mem_fmt(
        "The registry refuses %zu changes of this service, first %s of %s: %s. It is asked again when "
        "the record changes, the registry comes back, or svcmgr is started.",
        s->refused.n_items, what, *container_id ? container_id : s->name,
        (const char *)map_get(&s->refused, keys[0]));
}

/* ---- registry ---- */

void service_publish(struct step *st, struct eng_service *s)
{
    struct eng_record *r = mem_new(struct eng_record);
    r->description = mem_str("YarnServiceMaster");
    r->yarn_id = mem_str(s->app_id);
    r->persistence = mem_str("application");
    r->attributes = json_incref(s->rules ? s->rules->attributes : NULL);
    step_registry(st, EFF_PUBLISH, s, NULL)->record = r;
    s->published = true;
}

static void purge_done(struct step *st, struct eng_service *s, int code);

/** Clear the path of a service that has ended. What stands there of another user's is left alone, and written once more: an event
 *  about the application purges below its record, too. */
void service_purge(struct step *st, struct eng_service *s)
{
    struct eng_service *rival = homes_rival(st->e, s);
    step_touch(st, s);
    if (rival) {
        step_note(st, s, "the records of service %s are not purged: those of user %s stand at the same path",
                  s->name, rival->user);
        purge_done(st, s, 0);
        service_publish(st, rival);
        return;
    }
    s->purge_wanted = true;
    s->purge_ticket = step_registry(st, EFF_PURGE, s, NULL)->ticket;
}

void service_report_ended(struct step *st, struct eng_service *s, const char *id)
{
    set_refusal(s, EFF_PUBLISH, id, NULL);
    backlog_report_ended(st, s, id);
}

/** @return false: there is more, in the next step */
static bool publish_instances(struct step *st, struct eng_service *s)
{
    struct eng_instance *inst;
    for (size_t n = 0; (inst = TAILQ_FIRST(&s->unpublished)); n++) {
        if (n == STEP_INSTANCES)
            return false;
        instance_set_unpublished(inst, false);
        if (STATE_BIT(inst->state) & STATES_UP)
            instance_publish(st, inst);
    }
    return true;
}

/** Repeat the registry work that failed. */
static void repeat_registry(struct step *st, struct eng_service *s)
{
    if (s->purge_wanted && !s->purge_ticket && !is_refused(s, EFF_PURGE, NULL))
        service_purge(st, s);
    if (!backlog_repeat(st, s))
        s->retry_ms = st->now_ms; /* the next step continues */
    if (!service_is_running(s))
        return;
    if (!s->published && !is_refused(s, EFF_PUBLISH, NULL))
        service_publish(st, s);
    if (!publish_instances(st, s))
        s->retry_ms = st->now_ms;
}

/** Instances whose record was refused are published with those that failed. */
static void unpublish_refused(const struct engine *e, const struct eng_service *s)
{
    mem_auto const char **keys = map_sorted_keys(&s->refused);
    for (size_t i = 0; keys[i]; i++) {
        struct eng_instance *inst = map_get(&e->containers, strchr(keys[i], ' ') + 1);
        if (inst && str_starts(keys[i], "EFF_PUBLISH ") && !inst->published)
            instance_set_unpublished(inst, true);
    }
}

void service_ask_again(struct step *st, struct eng_service *s)
{
    if (!s->refused.n_items)
        return;
    unpublish_refused(st->e, s);
    map_fini(&s->refused, free);
    backlog_ask_refused(s);
    s->retry_ms = st->now_ms;
    step_wake(st, s);
}

void service_answer_destroyers(struct step *st, struct eng_service *s, enum eng_outcome outcome)
{
    for (size_t i = 0; i < s->n_destroyers; i++)
        step_answer(st, s->destroyers[i], outcome, s);
    s->n_destroyers = 0;
}

static void purge_done(struct step *st, struct eng_service *s, int code)
{
    s->purge_ticket = 0;
    if (code == 0) {
        s->purge_wanted = false;
        map_fini(&s->refused, free);
        backlog_forget(s); /* they were asked for before it, so they were reported before it */
        step_touch(st, s);
        return; /* a destroyed service goes, and with it the answers to its DELETE requests come */
    }
    service_answer_destroyers(st, s, OUT_PURGE_FAILED);
}

/** Repeats a change that failed temporarily; a permanent refusal waits for service_ask_again. */
static void registry_failed(struct step *st, struct eng_service *s, const struct ticket *t,
                            const struct eng_event *ev)
{
    struct eng_instance *inst = t->container_id ? map_get(&st->e->containers, t->container_id) : NULL;
    if (t->kind == EFF_PUBLISH && inst) {
        inst->published = false;
        instance_set_unpublished(inst, ev->code == ERR_UNAVAILABLE);
    }
    if (t->kind == EFF_PUBLISH && !t->container_id)
        s->published = false;
    if (ev->code == ERR_UNAVAILABLE)
        s->retry_ms = st->now_ms + REGISTRY_RETRY_MS;
    else
        set_refusal(s, t->kind, t->container_id, ev->text ? ev->text : err_text(ev->code));
}

/** An answer about the record of a container; one that drains goes on, unless the change is repeated. */
static void unpublished(struct step *st, struct eng_service *s, const struct ticket *t, int code)
{
    struct eng_instance *inst = map_get(&st->e->containers, t->container_id);
    backlog_answered(st, s, t, code);
    if (inst && code != ERR_UNAVAILABLE)
        drain_unpublished(st, inst, code == 0);
}

void service_record(struct step *st, const struct eng_event *ev)
{
    ticket_auto struct ticket *t = tickets_take(st->e, ev->ticket);
    if (!t)
        return;
    mem_auto char *key = service_key(t->service_kind, t->user, t->name);
    struct eng_service *s = map_get(&st->e->services, key);
    if (s && t->kind == EFF_ENDED) {
        backlog_answered(st, s, t, ev->code);
        return;
    }
    if (s && ev->code) {
        step_note(st, s, "%s %s: %s%s%s", eng_effect_word(t->kind),
                  t->container_id ? t->container_id : s->name, err_text(ev->code), ev->text ? ": " : "",
                  ev->text ? ev->text : "");
        registry_failed(st, s, t, ev);
    } else if (s) {
        set_refusal(s, t->kind, t->container_id, NULL);
    }
    if (s && t->kind == EFF_UNPUBLISH)
        unpublished(st, s, t, ev->code);
    if (s && t->kind == EFF_PURGE && t->number == s->purge_ticket)
        purge_done(st, s, ev->code);
    if (s)
        step_affect(st, s);
}

/* ---- while it runs ---- */

/** The service ends by itself when its policy says so. */
static void end_by_itself(struct step *st, struct eng_service *s)
{
    struct eng_end end = {0};
    if (policy_of(s->kind)->decide_end(s, NULL, &end))
        service_end(st, s, &end);
}

static void check_health(struct step *st, struct eng_service *s)
{
    for (size_t i = 0; i < s->n_components; i++) {
        mem_auto char *why = component_check_health(st, s->components[i]);
        if (!why)
            continue;
        s->components[i]->state = COMP_FAILED;
        service_finish(st, s, SVC_FAILED, why);
        return;
    }
}

static void settle_component(struct step *st, struct eng_component *c)
{
    component_resize(st, c);
    revision_restart_final(st, c);
    component_advance(st, c);
    component_recompute(st, c);
}

static void settle_running(struct step *st, struct eng_service *s)
{
    bool stable = true;
    revision_drop_empty(st, s);
    framework_settle_migrations(st, s);
    operation_replace(st, s);
    roll_settle(st, s);
    operation_restart(st, s);
    for (size_t i = 0; i < s->n_components; i++) {
        settle_component(st, s->components[i]);
        enum eng_component_state state = s->components[i]->state;
        stable = stable && state != COMP_WAITING && state != COMP_FLEXING;
    }
    service_set_state(st, s, stable ? SVC_STABLE : SVC_STARTED);
    gang_settle(st, s);
    end_by_itself(st, s);
    if (s->state != SVC_FINISHING)
        check_health(st, s);
}

/** While an operation moves instances the service is neither STARTED nor STABLE, and its health is not looked at. */
static void settle_upgrading(struct step *st, struct eng_service *s)
{
    operation_replace(st, s);
    operation_restart(st, s);
    if (!operation_is_over(s))
        operation_settle(st, s);
    if (operation_is_over(s)) {
        settle_running(st, s);
        return;
    }
    for (size_t i = 0; i < s->n_components; i++)
        settle_component(st, s->components[i]);
    end_by_itself(st, s);
}

static void check_lifetime(struct step *st, struct eng_service *s)
{
    if (s->lifetime_end_ms == 0 || st->now_ms < s->lifetime_end_ms || s->state == SVC_FINISHING ||
        st->e->cfg.role == ROLE_MASTER) /* the cluster and the manager look after it */
        return;
    if (service_dialect(st->e, s)->lifetime_destroys) {
        s->destroying = true;
        step_want(st, s);
    }
    service_finish(st, s, SVC_STOPPED, "lifetime is over");
}

/* ---- after a restart ---- */

void service_resume(struct step *st, struct eng_service *s)
{
    if (engine_is_away(st->e, s)) {
        away_resume(st, s);
        return;
    }
    const char *other = homes_other(st->e, s->user);
    if (other) /* of a state that an earlier version has stored */
        step_note(st, s,
                  "users %s and %s share one registry directory, so their services may replace each other's "
                  "records: "
                  "destroy those of one of them",
                  s->user, other);
    s->unresumed = true;
    quota_count(st->e, s);
    if (s->state == SVC_FINISHING)
        s->force_ms = st->now_ms + FORCE_AFTER_MS;
    step_wake(st, s);
}

/** The records and ends of a service that the registry has not confirmed. */
static void resume_registry(struct step *st, struct eng_service *s)
{
    if (!eng_service_is_live(s) && !s->purge_wanted)
        backlog_forget(s); /* they were purged */
    backlog_resume(s);
    if (!backlog_repeat(st, s))
        s->retry_ms = st->now_ms; /* the next step continues */
    if (service_is_running(s))
        service_publish(st, s);
    if (eng_service_is_live(s))
        places_begin(st, s);
    if ((!eng_service_is_live(s) || s->state == SVC_BACKOFF) && s->purge_wanted && !s->purge_ticket)
        service_purge(st, s);
}

/** All is known of what has survived: what has not starts in order, and services that depend on this one may go on. */
static void come_back(struct step *st, struct eng_service *s)
{
    for (size_t i = 0; i < s->n_components && service_is_running(s); i++)
        component_come_back(st, s->components[i]);
    if (s->state == SVC_STABLE)
        step_wake_waiting(st, s->kind, s->user, s->name);
}

/** Emit again what was outstanding, as far as the step may; the next step continues. */
static void resume_outstanding(struct step *st, struct eng_service *s)
{
    if (!s->is_registry_resumed)
        resume_registry(st, s);
    if (!s->is_registry_resumed)
        application_resume(st, s);
    s->is_registry_resumed = true;
    struct eng_instance *inst;
    for (size_t n = 0; n < STEP_INSTANCES && !step_is_full(st); n++) {
        if (!(inst = instances_next(s, &s->resumed))) {
            s->unresumed = false;
            come_back(st, s);
            return;
        }
        if (inst->unresumed)
            instance_resume(st, inst);
    }
}

/* ---- timer ---- */

static void earlier(int64_t *due, int64_t at)
{
    if (at > 0 && (*due == 0 || at < *due))
        *due = at;
}

static int64_t next_due(const struct engine *e, const struct eng_service *s)
{
    int64_t due = s->retry_ms;
    if (s->n_destroyers > 0)
        earlier(&due, s->destroyers_due_ms);
    if (!eng_service_is_live(s)) {
        earlier(&due, framework_collect_ms(e, s));
        return due;
    }
    earlier(&due, s->state == SVC_FINISHING ? s->force_ms : s->lifetime_end_ms);
    earlier(&due, s->places.due_ms);
    earlier(&due, s->backoff_due_ms);
    earlier(&due, s->state != SVC_FINISHING ? s->gang_due_ms : 0);
    for (size_t i = 0; i < s->n_components; i++) {
        const struct eng_component *c = s->components[i];
        if (s->state != SVC_FINISHING)
            earlier(&due, c->health_due_ms);
        const struct eng_instance *start = c->state != COMP_WAITING ? component_next_start(c) : NULL;
        const struct eng_instance *end = component_next_end(c);
        earlier(&due, start ? start->due_ms : 0);
        earlier(&due, end ? end->due_ms : 0);
    }
    return due;
}

void service_settle(struct step *st, struct eng_service *s)
{
    if (!st->e->resumed)
        return;
    if (engine_is_away(st->e, s)) {
        away_settle(st, s);
        return;
    }
    if (s->unresumed)
        resume_outstanding(st, s);
    orders_carry_out(st, s);
    parents_follow(st, s);
    framework_collect(st, s);
    if (eng_service_is_live(s))
        check_lifetime(st, s);
    else if (s->destroying)
        places_drop(st, s);
    asks_settle(st, s);
    if (s->state == SVC_BACKOFF)
        backoff_settle(st, s);
    if (s->state == SVC_ACCEPTED)
        service_try_start(st, s);
    if (eng_service_is_live(s))
        places_settle(st, s); /* before anything is asked for */
    for (size_t i = 0; s->state != SVC_FINISHING && i < s->n_components; i++)
        component_due(st, s->components[i]);
    if (s->state == SVC_STARTED || s->state == SVC_STABLE)
        settle_running(st, s);
    if (s->state == SVC_UPGRADING)
        settle_upgrading(st, s);
    if (s->state == SVC_FINISHING)
        service_settle_finishing(st, s);
    if (s->destroying && !eng_service_is_live(s))
        service_clear_instances(st, s);
    if (s->retry_ms && s->retry_ms <= st->now_ms) {
        s->retry_ms = 0;
        repeat_registry(st, s);
    }
    if (s->n_destroyers > 0 && s->destroyers_due_ms <= st->now_ms)
        service_answer_destroyers(st, s, eng_service_is_live(s) ? OUT_STILL_RUNNING : OUT_PURGE_FAILED);
    parents_cascade(st, s);
    bool is_settled = backlog_settle(st, s);
    bool goes_on = !is_settled || step_is_full(st) || s->unresumed || s->is_putting_down || s->is_resyncing;
    int64_t due = goes_on ? st->now_ms : next_due(st->e, s);
    if (due == s->timer_ms)
        return;
    s->timer_ms = due;
    step_emit(st, EFF_TIMER, s)->at_ms = due;
}

/* ---- requests ---- */

/** Its records would stand where those of another user are. */
static void refuse_home(struct step *st, const struct eng_event *ev, const char *other)
{
    struct eng_answer *a = step_answer(st, ev->token, OUT_HOME_TAKEN, NULL);
    a->name = mem_str(ev->user);
    a->user = mem_str(other);
}

/** What is only saved counts where the API counts what does not run. */
static bool quota_allows_new(struct step *st, const struct eng_event *ev)
{
    const struct quota_ask ask = {ev->token, ev->service_kind, ev->user, ev->take_spec, NULL};
    return (ev->save && !policy_of(ev->service_kind)->has_task_quota) || quota_allows(st, &ask);
}

static void record_request(struct step *st, struct eng_service *s, const char *what, const char *user)
{
    mem_auto char *why = mem_fmt("by user %s", user);
    history_record(st, s, s->name, what, why);
}

/** Where its name became a label both are said. */
static void record_creation(struct step *st, struct eng_service *s, const char *user)
{
    const char *title = eng_service_title(s);
    bool is_mapped = strcmp(title, s->name) != 0;
    mem_auto char *why = mem_fmt("by user %s%s%s", user, is_mapped ? ", as " : "", is_mapped ? title : "");
    history_record(st, s, s->name, "created", why);
}

void service_create(struct step *st, const struct eng_event *ev)
{
    struct spec_service *spec = ev->take_spec;
    mem_auto char *key = service_key(ev->service_kind, ev->user, spec->name);
    struct eng_service *s = map_get(&st->e->services, key);
    const char *other = homes_other(st->e, ev->user);
    if (s)
        step_answer(st, ev->token, OUT_TAKEN, s)->user = mem_str(s->user);
    else if (other)
        refuse_home(st, ev, other);
    if (s || other || !parents_allow(st, ev) || !quota_allows_new(st, ev)) {
        spec_free(spec);
        eng_rules_free(ev->take_rules);
        return;
    }
    s = fld_new(&eng_service_type);
    s->kind = ev->service_kind;
    s->user = mem_str(ev->user);
    s->name = mem_str(spec->name);
    s->registry_class = mem_str(policy_of(s->kind)->registry_class);
    s->dialect = mem_str(st->e->cfg.dialect->name);
    s->spec = spec;
    s->rules = ev->take_rules;
    s->state = SVC_STOPPED;
    s->is_loaded = true;
    services_add(st->e, s);
    record_creation(st, s, ev->user);
    step_want(st, s);
    step_touch(st, s);
    bool save = ev->save || parents_stop(st->e, s);
    framework_record(st, s, ev);
    framework_want_stopped(st, s, save);
    if (!save)
        service_launch(st, s);
    else if (policy_of(s->kind)->is_put)
        framework_end_unlaunched(st, s);
    step_answer(st, ev->token, save ? OUT_SAVED : OUT_LAUNCHED, s);
}

bool service_stop_by_request(struct step *st, struct eng_service *s, const char *user)
{
    /* it ends by itself: its policy might try again */
    bool might_go_on = s->state == SVC_FINISHING && s->exit && s->end_state != SVC_STOPPED &&
                       policy_of(s->kind)->decide_retry != policy_no_retry;
    bool running = (eng_service_is_live(s) && s->state != SVC_FINISHING) || might_go_on;
    if (backoff_stop(st, s))
        return true;
    if (might_go_on) {
        service_stop_for_good(st, s);
    } else if (running) {
        mem_auto char *why = mem_fmt("Stopped by user %s", user);
        service_finish(st, s, SVC_STOPPED, why);
    }
    return running;
}

static void stop(struct step *st, const struct eng_event *ev, struct eng_service *s)
{
    bool running = service_stop_by_request(st, s, ev->user);
    framework_record(st, s, ev);
    framework_want_stopped(st, s, true);
    step_answer(st, ev->token, running ? OUT_STOPPED : OUT_ALREADY_STOPPED, s);
}

static void start(struct step *st, const struct eng_event *ev, struct eng_service *s)
{
    bool live = eng_service_is_live(s) || s->destroying;
    if (!live && s->app_id && !policy_of(s->kind)->starts_again) {
        framework_record(st, s, ev);
        framework_want_stopped(st, s, false);
        step_answer(st, ev->token, policy_of(s->kind)->is_put ? OUT_RECORDED : OUT_NEEDS_VERSION, s);
        return;
    }
    if (live && policy_of(s->kind)->is_put && !parents_stop(st->e, s)) {
        framework_record(st, s, ev);
        framework_want_stopped(st, s, false);
        s->is_next_stopped = false;
    }
    const struct eng_service *rival = homes_rival(st->e, s);
    if (!live && rival) { /* of a state that an earlier version has stored */
        refuse_home(st, ev, rival->user);
        return;
    }
    if (!live && parents_stop(st->e, s)) {
        step_answer(st, ev->token, OUT_PARENT_STOPPED, s)->parent = mem_str(s->rules->parent->name);
        return;
    }
    const struct quota_ask ask = {ev->token, s->kind, s->user, s->spec, s};
    if (!live && !quota_allows(st, &ask))
        return;
    if (!live) {
        record_request(st, s, "started", ev->user);
        service_launch(st, s);
    }
    step_answer(st, ev->token, live ? OUT_ALREADY_LIVE : OUT_STARTED, s);
}

void service_destroy(struct step *st, struct eng_service *s, const char *why)
{
    s->destroying = true;
    step_want(st, s);
    if (eng_service_is_live(s))
        service_finish(st, s, SVC_STOPPED, why);
    else if (!s->purge_ticket)
        service_purge(st, s);
}

/** It is answered when nothing is left of the service, or that takes long. */
static void await_destruction(struct step *st, const struct eng_event *ev, struct eng_service *s)
{
    if (s->n_destroyers == 0)
        s->destroyers_due_ms = st->now_ms + DESTROY_ANSWER_MS;
    s->destroyers = mem_resize(s->destroyers, s->n_destroyers + 1, sizeof s->destroyers[0]);
    s->destroyers[s->n_destroyers++] = ev->token;
}

static void destroy(struct step *st, const struct eng_event *ev, struct eng_service *s)
{
    record_request(st, s, "destroyed", ev->user);
    if (!ev->save)
        await_destruction(st, ev, s);
    service_destroy(st, s, "destroyed");
    if (ev->save)
        step_answer(st, ev->token, OUT_DESTROYED, s);
}

static void lifetime(struct step *st, const struct eng_event *ev, struct eng_service *s)
{
    if (!eng_service_is_live(s) || s->state == SVC_FINISHING) {
        step_answer(st, ev->token, OUT_ALREADY_STOPPED, s);
        return;
    }
    s->lifetime_end_ms = st->now_ms + service_lifetime_ms(ev->lifetime_s);
    record_request(st, s, "lifetime set", ev->user);
    step_touch(st, s);
    application_set_lifetime(st, s, ev->lifetime_s);
    struct eng_answer *a = step_answer(st, ev->token, OUT_LIFETIME_SET, s);
    a->at_ms = st->wall_ms + service_lifetime_ms(ev->lifetime_s);
    a->n_new = ev->lifetime_s;
}

void service_request(struct step *st, const struct eng_event *ev)
{
    if (ev->kind == EV_CREATE) {
        service_create(st, ev);
        return;
    }
    if (ev->kind == EV_REDEFINE && policy_of(ev->service_kind)->is_put) {
        framework_put(st, ev);
        return;
    }
    mem_auto char *key = service_key(ev->service_kind, ev->user, ev->name);
    struct eng_service *s = map_get(&st->e->services, key);
    if (!s) {
        step_answer(st, ev->token, OUT_NOT_FOUND, NULL)->name = mem_str(ev->name);
        spec_free(ev->take_spec);
        eng_rules_free(ev->take_rules);
        return;
    }
    switch (ev->kind) {
    case EV_STOP: stop(st, ev, s); break;
    case EV_START: start(st, ev, s); break;
    case EV_DESTROY: destroy(st, ev, s); break;
    default:
        if (engine_is_away(st->e, s))
            away_request(st, ev, s);
        else
            service_change(st, ev, s);
    }
}

void service_order(struct step *st, const struct eng_event *ev, struct eng_service *s, const char *why)
{
    if (ev->kind != EV_STOP)
        service_change(st, ev, s);
    else if (service_is_running(s))
        service_finish(st, s, SVC_STOPPED, why);
}

void service_change(struct step *st, const struct eng_event *ev, struct eng_service *s)
{
    switch (ev->kind) {
    case EV_FLEX: service_flex(st, ev, s); break;
    case EV_LIFETIME: lifetime(st, ev, s); break;
    case EV_MIGRATE: framework_migrate(st, ev, s); break;
    case EV_PROGRESS: progress_request(st, ev, s); break;
    case EV_ROLL: roll_request(st, ev, s); break;
    case EV_EXCLUDE: places_request(st, ev, s); break;
    case EV_UPGRADE:
    case EV_MOVE:
    case EV_FINALIZE:
    case EV_CANCEL_UPGRADE:
    case EV_REPLACE:
    case EV_RESTART:
    case EV_REDEFINE: operation_request(st, ev, s); break;
    default: service_decommission(st, ev, s); break;
    }
}
