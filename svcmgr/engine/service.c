/**
 * The service machine.
 *
 *     (create) ──save──> STOPPED ──start──> ACCEPTED ──services it depends on are STABLE──> STARTED <──> STABLE
 *                           ^                  │                                               │            │
 *                           │                  └──stop, destroy, lifetime──> FINISHING <───────┴────────────┘
 *                           │                                                   │   (also: failure threshold, all ended)
 *                           └──no container left── STOPPED | SUCCEEDED | FAILED ┘
 *
 * STOPPED, SUCCEEDED and FAILED may be started again or destroyed. A destroyed service goes when its registry subtree
 * is gone.
 */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
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
    step_registry(st, EFF_PUBLISH, s, NULL)->record = r;
    s->published = true;
}

static void purge_done(struct step *st, struct eng_service *s, int code);

/** Clear the path of a service that has ended. What stands there of another user's is left alone, and written once more: an event
 *  about the application purges below its record, too. */
static void purge(struct step *st, struct eng_service *s)
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

static void forget_stale(struct eng_service *s, const char *container_id)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_stale; i++) {
        if (!container_id || strcmp(s->stale[i], container_id) == 0)
            free(s->stale[i]);
        else
            s->stale[n++] = s->stale[i];
    }
    s->n_stale = n;
}

static void forget_ended(struct eng_service *s, const char *id)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_ended; i++) {
        if (!id || strcmp(s->ended[i], id) == 0)
            free(s->ended[i]);
        else
            s->ended[n++] = s->ended[i];
    }
    s->n_ended = n;
}

static void emit_ended(struct step *st, const struct eng_service *s, const char *id)
{
    const char *container_id = str_starts(id, "container_") ? id : NULL;
    step_registry(st, EFF_ENDED, s, container_id)->text = mem_str(id);
    st->e->tickets[st->e->n_tickets - 1].ended_id = mem_str(id);
}

void service_report_ended(struct step *st, struct eng_service *s, const char *id)
{
    if (s->n_ended == ENDED_MAX) {
        mem_auto char *oldest = mem_str(s->ended[0]);
        step_note(st, s, "the registry is away for too long to be notified that %s has ended", oldest);
        forget_ended(s, oldest);
    }
    set_refusal(s, EFF_PUBLISH, id, NULL);
    s->ended = mem_resize(s->ended, s->n_ended + 1, sizeof s->ended[0]);
    s->ended[s->n_ended++] = mem_str(id);
    step_touch(st, s);
    emit_ended(st, s, id);
}

void service_forget_stale(struct step *st, struct eng_service *s)
{
    mem_auto char *oldest = mem_str(s->stale[0]);
    step_note(st, s, "the registry is away for too long to delete the record of %s", oldest);
    forget_stale(s, oldest);
}

static bool is_unpublishing(const struct engine *e, const char *container_id)
{
    for (size_t i = 0; i < e->n_tickets; i++) {
        const struct ticket *t = &e->tickets[i];
        if (t->kind == EFF_UNPUBLISH && strcmp(t->container_id, container_id) == 0)
            return true;
    }
    return false;
}

static void publish_instances(struct step *st, struct eng_service *s)
{
    for (size_t i = 0; i < s->n_components; i++) {
        for (size_t k = 0; k < s->components[i]->n_instances; k++) {
            struct eng_instance *inst = s->components[i]->instances[k];
            if (!inst->published && (STATE_BIT(inst->state) & STATES_UP) &&
                !is_refused(s, EFF_PUBLISH, inst->container_id))
                instance_publish(st, inst);
        }
    }
}

/** Repeat the registry work that failed. */
static void repeat_registry(struct step *st, struct eng_service *s)
{
    if (s->purge_wanted && !s->purge_ticket && !is_refused(s, EFF_PURGE, NULL))
        purge(st, s);
    for (size_t i = 0; i < s->n_stale; i++) {
        if (!is_unpublishing(st->e, s->stale[i]) && !is_refused(s, EFF_UNPUBLISH, s->stale[i]))
            step_registry(st, EFF_UNPUBLISH, s, s->stale[i]);
    }
    if (!eng_service_is_live(s) || s->state == SVC_FINISHING)
        return;
    if (!s->published && !is_refused(s, EFF_PUBLISH, NULL))
        service_publish(st, s);
    publish_instances(st, s);
}

void service_ask_again(struct step *st, struct eng_service *s)
{
    if (!s->refused.n_items)
        return;
    map_fini(&s->refused, free);
    s->retry_ms = st->now_ms;
    step_wake(st, s);
}

static void answer_destroyers(struct step *st, struct eng_service *s, enum eng_outcome outcome)
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
        forget_stale(s, NULL);
        forget_ended(s, NULL); /* they were asked for before it, so they were reported before it */
        step_touch(st, s);
    }
    answer_destroyers(st, s, code == 0 ? OUT_DESTROYED : OUT_PURGE_FAILED);
}

/** Repeats a change that failed temporarily; a permanent refusal waits for service_ask_again. */
static void registry_failed(struct step *st, struct eng_service *s, const struct ticket *t,
                            const struct eng_event *ev)
{
    const struct eng_instance *inst = t->container_id ? map_get(&st->e->containers, t->container_id) : NULL;
    if (t->kind == EFF_PUBLISH && inst)
        ((struct eng_instance *)inst)->published = false;
    if (t->kind == EFF_PUBLISH && !t->container_id)
        s->published = false;
    if (ev->code == ERR_UNAVAILABLE)
        s->retry_ms = st->now_ms + REGISTRY_RETRY_MS;
    else
        set_refusal(s, t->kind, t->container_id, ev->text ? ev->text : err_text(ev->code));
}

void service_record(struct step *st, const struct eng_event *ev)
{
    struct ticket t;
    if (!step_take_ticket(st, ev->ticket, &t))
        return;
    mem_auto char *key = service_key(t.user, t.name);
    struct eng_service *s = map_get(&st->e->services, key);
    if (s && t.kind == EFF_ENDED) {
        forget_ended(s, t.ended_id); /* taken, or refused permanently */
        step_touch(st, s);
        ticket_fini(&t);
        return;
    }
    if (s && ev->code) {
        step_note(st, s, "%s %s: %s%s%s", eng_effect_word(t.kind), t.container_id ? t.container_id : s->name,
                  err_text(ev->code), ev->text ? ": " : "", ev->text ? ev->text : "");
        registry_failed(st, s, &t, ev);
    } else if (s) {
        set_refusal(s, t.kind, t.container_id, NULL);
    }
    if (s && t.kind == EFF_UNPUBLISH && ev->code == 0)
        forget_stale(s, t.container_id);
    if (s && t.kind == EFF_PURGE && t.number == s->purge_ticket)
        purge_done(st, s, ev->code);
    if (s)
        step_affect(st, s);
    ticket_fini(&t);
}

/* ---- start ---- */

static void set_state(struct step *st, struct eng_service *s, enum eng_service_state state)
{
    if (s->state == (int)state)
        return;
    step_note(st, s, "service %s: %s to %s", s->name,
              eng_service_state_word((enum eng_service_state)s->state), eng_service_state_word(state));
    s->state = (int)state;
    st->stable_changed = st->stable_changed || state == SVC_STABLE;
    step_touch(st, s);
}

static void free_components(struct eng_service *s)
{
    for (size_t i = 0; i < s->n_components; i++)
        fld_free(&eng_component_type, s->components[i]);
    free(s->components);
    s->components = NULL;
    s->n_components = 0;
}

static void build_components(struct eng_service *s)
{
    mem_auto size_t *order = mem_array(s->spec->n_components + 1, sizeof(size_t));
    BUG_IF(spec_order(s->spec, order, NULL) != 0);
    free_components(s);
    s->components = mem_array(s->spec->n_components + 1, sizeof s->components[0]);
    for (size_t i = 0; i < s->spec->n_components; i++) {
        struct eng_component *c = fld_new(&eng_component_type);
        c->name = mem_str(s->spec->components[order[i]]->name);
        c->state = COMP_WAITING;
        s->components[s->n_components++] = c;
    }
    BUG_IF(service_link(s, NULL) != 0);
}

/** Lifetimes beyond some thousand years are all the same. */
static int64_t lifetime_ms(int64_t lifetime_s)
{
    return 1000 * (lifetime_s < LIFETIME_MAX_S ? lifetime_s : LIFETIME_MAX_S);
}

static void set_lifetime(struct step *st, struct eng_service *s)
{
    if (s->spec->lifetime > 0)
        s->lifetime_end_ms = st->now_ms + lifetime_ms(s->spec->lifetime);
}

static void service_launch(struct step *st, struct eng_service *s)
{
    struct engine *e = st->e;
    s->incarnation++;
    s->app_seq = e->next_app++;
    st->engine_dirty = true;
    free(s->app_id);
    s->app_id = mem_fmt("application_%lld_%04lld", (long long)e->cluster_ts, (long long)s->app_seq);
    s->next_container = 2; /* number 1 is the master's in a YARN cluster */
    s->launch_ms = st->wall_ms;
    s->started_ms = s->lifetime_end_ms = s->retry_ms = 0;
    s->purge_wanted = false;
    s->purge_ticket = 0;
    mem_free_ptr(&s->diagnostics);
    failure_forget(s);
    forget_stale(s, NULL);
    map_fini(&s->refused, free);
    build_components(s);
    if (!e->cfg.dialect->lifetime_from_started)
        set_lifetime(st, s);
    set_state(st, s, SVC_ACCEPTED);
    step_registry(st, EFF_PURGE, s, NULL); /* nothing of an earlier run stays; its failure does no harm */
    service_publish(st, s);
    step_touch(st, s);
}

void service_try_start(struct step *st, struct eng_service *s)
{
    for (size_t i = 0; i < s->spec->n_dependencies; i++) {
        const struct eng_service *d = engine_find(st->e, s->user, s->spec->dependencies[i]);
        if (d && d->state == SVC_STABLE)
            continue;
        free(s->wait);
        s->wait = mem_fmt("dependency: service %s is %s", s->spec->dependencies[i],
                          d ? eng_service_state_word((enum eng_service_state)d->state) : "not there");
        return;
    }
    mem_free_ptr(&s->wait);
    set_state(st, s, SVC_STARTED);
    s->started_ms = st->wall_ms;
    if (st->e->cfg.dialect->lifetime_from_started && s->lifetime_end_ms == 0)
        set_lifetime(st, s);
    for (size_t i = 0; i < s->n_components; i++)
        component_watch_health(st, s->components[i]);
}

/* ---- end ---- */

void service_finish(struct step *st, struct eng_service *s, enum eng_service_state end_state,
                    const char *diagnostics)
{
    if (s->state == SVC_FINISHING)
        return;
    set_state(st, s, SVC_FINISHING);
    s->end_state = (int)end_state;
    s->force_ms = st->now_ms + FORCE_AFTER_MS;
    mem_free_ptr(&s->wait);
    mem_free_ptr(&s->diagnostics);
    s->diagnostics = mem_str(diagnostics);
    failure_keep(s);
    if (diagnostics)
        step_note(st, s, "service %s: %s", s->name, diagnostics);
}

/** Take out of service what is in it, as far as the step may. */
static void drop_all(struct step *st, struct eng_service *s)
{
    for (size_t i = s->n_components; i > 0; i--) {
        struct eng_component *c = s->components[i - 1];
        for (size_t k = c->n_instances; k > 0 && !step_is_full(st); k--) {
            struct eng_instance *inst = c->instances[k - 1];
            if (inst->state != INST_RELEASING || !inst->removing)
                instance_drop(st, inst, true);
        }
    }
}

static void stop_by_force(struct step *st, struct eng_service *s)
{
    s->force_ms = st->now_ms + FORCE_AFTER_MS; /* again, until all have ended */
    for (size_t i = 0; i < s->n_components; i++) {
        for (size_t k = 0; k < s->components[i]->n_instances; k++)
            step_emit_container(st, EFF_STOP, s->components[i]->instances[k])->force = true;
    }
}

static void settle_finishing(struct step *st, struct eng_service *s)
{
    size_t n = 0;
    drop_all(st, s);
    for (size_t i = 0; i < s->n_components; i++)
        n += s->components[i]->n_instances;
    if (n > 0) {
        if (s->force_ms && s->force_ms <= st->now_ms)
            stop_by_force(st, s);
        return;
    }
    for (size_t i = 0; i < s->n_components; i++) {
        struct eng_component *c = s->components[i];
        if (c->state != COMP_SUCCEEDED && c->state != COMP_FAILED)
            c->state = COMP_STOPPED;
    }
    s->force_ms = s->lifetime_end_ms = s->started_ms = 0;
    set_state(st, s, (enum eng_service_state)s->end_state);
    service_report_ended(st, s, s->app_id);
    purge(st, s);
}

/** The service ends by itself when all its components did, or one that speaks for it. */
static void end_by_itself(struct step *st, struct eng_service *s)
{
    bool finished = s->n_components > 0, failed = false;
    for (size_t i = 0; i < s->n_components; i++) {
        struct eng_component *c = s->components[i];
        bool done = c->state == COMP_SUCCEEDED || c->state == COMP_FAILED;
        bool speaks = spec_prop_bool(c->spec, PROP_REPORT_STATE);
        failed = failed || component_count(c, STATE_BIT(INST_FAILED)) > 0;
        if (done && speaks) {
            const char *what = "its component has ended";
            mem_auto char *why = c->state == COMP_FAILED ? failure_end_text(s, what) : mem_str(what);
            service_finish(st, s, c->state == COMP_FAILED ? SVC_FAILED : SVC_SUCCEEDED, why);
            return;
        }
        finished = finished && done;
    }
    mem_auto char *why = failure_end_text(s, "all components have ended");
    if (finished)
        service_finish(st, s, failed ? SVC_FAILED : SVC_SUCCEEDED, why);
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

static void settle_running(struct step *st, struct eng_service *s)
{
    bool stable = true;
    for (size_t i = 0; i < s->n_components; i++) {
        component_resize(st, s->components[i]);
        component_advance(st, s->components[i]);
        component_recompute(st, s->components[i]);
        int state = s->components[i]->state;
        stable = stable && state != COMP_WAITING && state != COMP_FLEXING;
    }
    set_state(st, s, stable ? SVC_STABLE : SVC_STARTED);
    end_by_itself(st, s);
    if (s->state != SVC_FINISHING)
        check_health(st, s);
}

static void check_lifetime(struct step *st, struct eng_service *s)
{
    if (s->lifetime_end_ms == 0 || st->now_ms < s->lifetime_end_ms || s->state == SVC_FINISHING)
        return;
    s->destroying = s->destroying || st->e->cfg.dialect->lifetime_destroys;
    service_finish(st, s, SVC_STOPPED, "lifetime is over");
}

/* ---- after a restart ---- */

void service_resume(struct step *st, struct eng_service *s)
{
    const char *other = homes_other(st->e, s->user);
    if (other) /* of a state that an earlier version has stored */
        step_note(st, s,
                  "users %s and %s share one registry directory, so their services may replace each other's "
                  "records: "
                  "destroy those of one of them",
                  s->user, other);
    s->unresumed = true;
    for (size_t i = 0; i < s->n_components; i++) {
        for (size_t k = 0; k < s->components[i]->n_instances; k++)
            s->components[i]->instances[k]->unresumed = true;
    }
    if (s->state == SVC_FINISHING)
        s->force_ms = st->now_ms + FORCE_AFTER_MS;
    step_wake(st, s);
}

/** The records and ends of a service that the registry has not confirmed. */
static void resume_registry(struct step *st, struct eng_service *s)
{
    for (size_t i = 0; i < s->n_stale; i++)
        step_registry(st, EFF_UNPUBLISH, s, s->stale[i]);
    for (size_t i = 0; i < s->n_ended; i++)
        emit_ended(st, s, s->ended[i]);
    if (eng_service_is_live(s) && s->state != SVC_FINISHING)
        service_publish(st, s);
    if (!eng_service_is_live(s) && s->purge_wanted && !s->purge_ticket)
        purge(st, s);
}

/** Emit again what was outstanding, as far as the step may; the next step continues. */
static void resume_outstanding(struct step *st, struct eng_service *s)
{
    if (!s->is_registry_resumed)
        resume_registry(st, s);
    s->is_registry_resumed = true;
    for (size_t i = s->n_components; i > 0; i--) {
        struct eng_component *c = s->components[i - 1];
        for (size_t k = c->n_instances; k > 0; k--) {
            if (step_is_full(st))
                return;
            if (c->instances[k - 1]->unresumed)
                instance_resume(st, c->instances[k - 1]);
        }
    }
    s->unresumed = false;
}

/* ---- timer ---- */

static void earlier(int64_t *due, int64_t at)
{
    if (at > 0 && (*due == 0 || at < *due))
        *due = at;
}

static int64_t next_due(const struct eng_service *s)
{
    int64_t due = s->retry_ms;
    if (s->n_destroyers > 0)
        earlier(&due, s->destroyers_due_ms);
    if (!eng_service_is_live(s))
        return due;
    earlier(&due, s->state == SVC_FINISHING ? s->force_ms : s->lifetime_end_ms);
    for (size_t i = 0; i < s->n_components; i++) {
        const struct eng_component *c = s->components[i];
        if (s->state != SVC_FINISHING)
            earlier(&due, c->health_due_ms);
        for (size_t k = 0; k < c->n_instances; k++) {
            const struct eng_instance *inst = c->instances[k];
            if (c->state != COMP_WAITING && (inst->state == INST_PENDING || inst->state == INST_EXITED))
                earlier(&due, inst->due_ms);
        }
    }
    return due;
}

void service_settle(struct step *st, struct eng_service *s)
{
    if (!st->e->resumed)
        return;
    if (s->unresumed)
        resume_outstanding(st, s);
    if (eng_service_is_live(s))
        check_lifetime(st, s);
    if (s->state == SVC_ACCEPTED)
        service_try_start(st, s);
    if (s->state == SVC_STARTED || s->state == SVC_STABLE)
        settle_running(st, s);
    if (s->state == SVC_FINISHING)
        settle_finishing(st, s);
    if (s->retry_ms && s->retry_ms <= st->now_ms) {
        s->retry_ms = 0;
        repeat_registry(st, s);
    }
    if (s->n_destroyers > 0 && s->destroyers_due_ms <= st->now_ms)
        answer_destroyers(st, s, eng_service_is_live(s) ? OUT_STILL_RUNNING : OUT_PURGE_FAILED);
    int64_t due = step_is_full(st) ? st->now_ms : next_due(s);
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

static void create(struct step *st, const struct eng_event *ev)
{
    struct spec_service *spec = ev->take_spec;
    mem_auto char *key = service_key(ev->user, spec->name);
    struct eng_service *s = map_get(&st->e->services, key);
    const char *other = homes_other(st->e, ev->user);
    if (s || other) {
        if (s)
            step_answer(st, ev->token, OUT_TAKEN, s);
        else
            refuse_home(st, ev, other);
        spec_free(spec);
        return;
    }
    s = fld_new(&eng_service_type);
    s->kind = KIND_SERVICE;
    s->user = mem_str(ev->user);
    s->name = mem_str(spec->name);
    s->spec = spec;
    s->state = SVC_STOPPED;
    map_set(&st->e->services, key, s);
    homes_add(st->e, s);
    step_touch(st, s);
    if (!ev->save)
        service_launch(st, s);
    step_answer(st, ev->token, ev->save ? OUT_SAVED : OUT_LAUNCHED, s);
}

static void stop(struct step *st, const struct eng_event *ev, struct eng_service *s)
{
    bool running = eng_service_is_live(s) && s->state != SVC_FINISHING;
    if (running) {
        mem_auto char *why = mem_fmt("Stopped by user %s", ev->user);
        service_finish(st, s, SVC_STOPPED, why);
    }
    step_answer(st, ev->token, running ? OUT_STOPPED : OUT_ALREADY_STOPPED, s);
}

static void start(struct step *st, const struct eng_event *ev, struct eng_service *s)
{
    bool live = eng_service_is_live(s) || s->destroying;
    const struct eng_service *rival = homes_rival(st->e, s);
    if (!live && rival) { /* of a state that an earlier version has stored */
        refuse_home(st, ev, rival->user);
        return;
    }
    if (!live)
        service_launch(st, s);
    step_answer(st, ev->token, live ? OUT_ALREADY_LIVE : OUT_STARTED, s);
}

static void destroy(struct step *st, const struct eng_event *ev, struct eng_service *s)
{
    if (s->n_destroyers == 0)
        s->destroyers_due_ms = st->now_ms + DESTROY_ANSWER_MS;
    s->destroyers = mem_resize(s->destroyers, s->n_destroyers + 1, sizeof s->destroyers[0]);
    s->destroyers[s->n_destroyers++] = ev->token;
    s->destroying = true;
    step_touch(st, s);
    if (eng_service_is_live(s))
        service_finish(st, s, SVC_STOPPED, "destroyed");
    else if (!s->purge_ticket)
        purge(st, s);
}

static void lifetime(struct step *st, const struct eng_event *ev, struct eng_service *s)
{
    if (!eng_service_is_live(s) || s->state == SVC_FINISHING) {
        step_answer(st, ev->token, OUT_ALREADY_STOPPED, s);
        return;
    }
    s->lifetime_end_ms = st->now_ms + lifetime_ms(ev->lifetime_s);
    step_touch(st, s);
    struct eng_answer *a = step_answer(st, ev->token, OUT_LIFETIME_SET, s);
    a->at_ms = st->wall_ms + lifetime_ms(ev->lifetime_s);
    a->n_new = ev->lifetime_s;
}

void service_request(struct step *st, const struct eng_event *ev)
{
    if (ev->kind == EV_CREATE) {
        create(st, ev);
        return;
    }
    mem_auto char *key = service_key(ev->user, ev->name);
    struct eng_service *s = map_get(&st->e->services, key);
    if (!s) {
        step_answer(st, ev->token, OUT_NOT_FOUND, NULL)->name = mem_str(ev->name);
        return;
    }
    switch (ev->kind) {
    case EV_FLEX: service_flex(st, ev, s); break;
    case EV_STOP: stop(st, ev, s); break;
    case EV_START: start(st, ev, s); break;
    case EV_DESTROY: destroy(st, ev, s); break;
    case EV_LIFETIME: lifetime(st, ev, s); break;
    default: service_decommission(st, ev, s); break;
    }
}
