/**
 * An incarnation of a service: from its launch, through the services that it waits for, to the last container that ends.
 *
 * The drawing of its states is in service.c.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/away.h"
#include "engine/policy.h"
#include "engine/component.h"
#include "engine/documents.h"
#include "engine/instance.h"
#include "engine/operation.h"
#include "engine/places.h"
#include "engine/registry.h"
#include "engine/service.h"
#include "engine/step.h"

/* ---- start ---- */

static void wait_for_service(struct engine *e, struct eng_service *s)
{
    if (!s->is_waiting)
        TAILQ_INSERT_TAIL(&e->waiting, s, waiting_link);
    s->is_waiting = true;
}

void service_stop_waiting(struct engine *e, struct eng_service *s)
{
    if (s->is_waiting)
        TAILQ_REMOVE(&e->waiting, s, waiting_link);
    s->is_waiting = false;
}

void service_set_state(struct step *st, struct eng_service *s, enum eng_service_state state)
{
    if (s->state == state)
        return;
    step_note(st, s, "service %s: %s to %s", s->name, eng_service_state_word(s->state),
              eng_service_state_word(state));
    s->state = state;
    bool is_over = state == SVC_SUCCEEDED || state == SVC_FAILED || state == SVC_STOPPED;
    s->completed_ms = is_over ? st->wall_ms : 0;
    s->final_ms = is_over ? st->now_ms : 0;
    quota_count(st->e, s);
    if (state != SVC_STARTED) /* after a restart its components may wait: service_awaits_service */
        service_stop_waiting(st->e, s);
    if (state == SVC_STABLE) /* others may start, in steps of their own */
        step_wake_waiting(st, s->kind, s->user, s->name);
    if (state != SVC_FINISHING) /* its reason comes: service_finish */
        history_record(st, s, s->name, eng_service_state_word(state), s->diagnostics);
    step_touch(st, s);
}

static void forget_exit(struct eng_service *s)
{
    fld_free(&eng_exit_type, s->exit);
    s->exit = NULL;
    mem_free_ptr(&s->trigger);
}

/** Number in the name of its first instance: where names are unique, one that no incarnation before has used. */
static int64_t first_number_of(const struct eng_service *s, const struct spec_component *spec)
{
    const struct eng_component *before = component_of(s, spec->name);

    return before && spec->unique_component_support ? before->first_number + before->n_numbers : 0;
}

static void build_components(struct eng_service *s)
{
    mem_auto size_t *order = mem_array(s->spec->n_components + 1, sizeof(size_t));
    policy_of(s->kind)->start_order(s, order);
    struct eng_component **list = mem_array(s->spec->n_components + 1, sizeof list[0]);
    for (size_t i = 0; i < s->spec->n_components; i++) {
        const struct spec_component *spec = s->spec->components[order[i]];
        list[i] = fld_new(&eng_component_type);
        list[i]->name = mem_str(spec->name);
        list[i]->state = COMP_WAITING;
        list[i]->first_number = first_number_of(s, spec);
    }
    components_free(s);
    s->components = list;
    s->n_components = s->spec->n_components;
    BUG_IF(service_link(s, NULL) != 0);
}

/** Lifetimes beyond some thousand years are all the same. */
int64_t service_lifetime_ms(int64_t lifetime_s)
{
    return 1000 * (lifetime_s < LIFETIME_MAX_S ? lifetime_s : LIFETIME_MAX_S);
}

static void set_lifetime(struct step *st, struct eng_service *s)
{
    if (s->spec->lifetime > 0)
        s->lifetime_end_ms = st->now_ms + service_lifetime_ms(s->spec->lifetime);
}

/** The dialect that the service was made in; of an earlier version's service the engine's own. */
const struct dialect *service_dialect(const struct engine *e, const struct eng_service *s)
{
    const struct dialect *d = s->dialect ? dialect_find(s->dialect) : NULL;
    return d ? d : e->cfg.dialect;
}

void service_take_id(struct step *st, struct eng_service *s)
{
    struct engine *e = st->e;
    s->incarnation++;
    s->app_seq = e->next_app++;
    st->engine_dirty = true;
    services_set_application(
        e, s, mem_fmt("application_%lld_%04lld", (long long)e->cluster_ts, (long long)s->app_seq));
    step_want(st, s);
}

void service_launch(struct step *st, struct eng_service *s)
{
    struct engine *e = st->e;
    service_take_id(st, s);
    s->next_container = 2; /* number 1 is the master's in a YARN cluster */
    s->launch_ms = st->wall_ms;
    s->begun_ms = st->now_ms;
    s->started_ms = s->launched_ms = s->ended_ms = s->lifetime_end_ms = s->retry_ms = 0;
    s->purge_wanted = false;
    s->purge_ticket = 0;
    mem_free_ptr(&s->diagnostics);
    forget_exit(s);
    fld_free(&eng_roll_type, s->roll);
    s->roll = NULL;
    failure_forget(s);
    pasts_free(s);
    strays_forget(s);
    map_fini(&s->refused, free); /* what is gone and not confirmed stays: the purge below may fail */
    build_components(s);
    if (!service_dialect(e, s)->lifetime_from_started)
        set_lifetime(st, s);
    s->has_application = s->is_lifetime_set = false;
    s->n_ordered = s->last_order;
    s->gang_due_ms = 0;
    service_set_state(st, s, SVC_ACCEPTED);
    places_begin(st, s);
    step_registry(st, EFF_PURGE, s, NULL); /* nothing of an earlier run stays, also what we do not know of */
    if (e->cfg.role != ROLE_MANAGER)       /* its application master does */
        service_publish(st, s);
    step_touch(st, s);
}

bool service_awaits_service(struct step *st, struct eng_service *s, struct eng_waiting **wait)
{
    bool is_looked_after = st->e->cfg.role == ROLE_MASTER; /* the manager submitted it when they were there */
    for (size_t i = 0; !is_looked_after && i < s->spec->n_dependencies; i++) {
        const struct eng_service *d = engine_find(st->e, s->kind, s->user, s->spec->dependencies[i]);
        if (d && d->state == SVC_STABLE && !d->unresumed)
            continue;
        const char *what = !d ? "not there" : d->unresumed ? "looked at" : eng_service_state_word(d->state);
        wait_set(wait, &(struct eng_waiting){
                           .why = WAIT_SERVICE, .name = s->spec->dependencies[i], .text = (char *)what});
        wait_for_service(st->e, s);
        return true;
    }
    return false;
}

void service_try_start(struct step *st, struct eng_service *s)
{
    if (service_awaits_service(st, s, &s->wait))
        return;
    wait_clear(&s->wait);
    if (!application_submit(st, s))
        service_begin(st, s);
}

void service_begin(struct step *st, struct eng_service *s)
{
    wait_clear(&s->wait);
    service_set_state(st, s, SVC_STARTED);
    s->started_ms = st->wall_ms;
    if (!s->launched_ms)
        s->launched_ms = st->wall_ms;
    if (service_dialect(st->e, s)->lifetime_from_started && s->lifetime_end_ms == 0)
        set_lifetime(st, s);
    for (size_t i = 0; i < s->n_components; i++)
        component_watch_health(st, s->components[i]);
}

/* ---- end ---- */

/** What is put shows for how many instances it ended, unless it ended before there was any. */
static void keep_counts(struct eng_service *s)
{
    bool has_any = false;
    for (size_t i = 0; i < s->n_components; i++)
        has_any = has_any || s->components[i]->n_instances > 0;
    for (size_t i = 0; i < s->n_components && policy_of(s->kind)->is_put; i++)
        s->components[i]->n_at_end = has_any ? s->components[i]->spec->number_of_containers : 0;
}

void service_keep_exit(const struct step *st, struct eng_service *s, const struct eng_exit *x,
                       const struct eng_instance *trigger)
{
    fld_free(&eng_exit_type, s->exit);
    s->exit = exit_copy(x);
    if (!s->exit->ended_ms)
        s->exit->ended_ms = st->wall_ms;
    free(s->trigger);
    s->trigger = mem_str(trigger ? trigger->name : NULL);
    keep_counts(s);
}

/** Where a stop is an exit: that. Who stops what is still shown as waiting has seen no launch. */
static void keep_stop(const struct step *st, struct eng_service *s)
{
    const struct eng_exit x = eng_exit_of(CAUSE_STOPPED, 0, NULL);
    if (!policy_of(s->kind)->is_put)
        return;
    service_keep_exit(st, s, &x, NULL);
    if (st->now_ms - s->begun_ms < ENG_WAITING_MS)
        s->launched_ms = 0;
}

void service_finish(struct step *st, struct eng_service *s, enum eng_service_state end_state,
                    const char *diagnostics)
{
    if (engine_is_away(st->e, s)) {
        away_stop(st, s, diagnostics);
        return;
    }
    if (s->state == SVC_FINISHING)
        return;
    operation_stop(st, s);
    roll_stop(st, s);
    service_set_state(st, s, SVC_FINISHING);
    s->end_state = end_state;
    s->is_finish_sent = false;
    s->put_down = (struct eng_walk){0};
    s->gang_due_ms = 0;
    s->force_ms = st->now_ms + FORCE_AFTER_MS;
    wait_clear(&s->wait);
    mem_free_ptr(&s->diagnostics);
    s->diagnostics = mem_str(diagnostics);
    failure_keep(s);
    if (end_state == SVC_STOPPED)
        keep_stop(st, s);
    history_record(st, s, s->name, eng_service_state_word(SVC_FINISHING), diagnostics);
    if (diagnostics)
        step_note(st, s, "service %s: %s", s->name, diagnostics);
}

void service_stop_for_good(struct step *st, struct eng_service *s)
{
    s->end_state = SVC_STOPPED;
    forget_exit(s);
    keep_stop(st, s);
    step_touch(st, s);
}

void service_end(struct step *st, struct eng_service *s, struct eng_end *end)
{
    mem_auto char *text = end->text;
    end->text = NULL;
    if (s->state == SVC_FINISHING)
        return;
    service_keep_exit(st, s, &end->exit, end->trigger);
    service_finish(st, s, end->state, text);
}

void service_take_rules(struct engine *e, struct eng_service *s, struct eng_rules *take_rules)
{
    parents_remove(e, s);
    eng_rules_free(s->rules);
    s->rules = take_rules;
    parents_add(e, s);
}

bool service_is_running(const struct eng_service *s)
{
    return eng_service_is_live(s) && s->state != SVC_FINISHING && s->state != SVC_BACKOFF;
}

/** Each becomes final where it is, as far as the step may; none comes back meanwhile. */
static void put_down_all(struct step *st, struct eng_service *s)
{
    struct eng_instance *inst;
    for (size_t n = 0; n < STEP_INSTANCES && !step_is_full(st); n++) {
        if (!(inst = instances_next(s, &s->put_down))) {
            s->is_putting_down = false;
            return;
        }
        instance_put_down(st, inst);
    }
    s->is_putting_down = true;
}

/** Take out of service what is in it, as far as the step may. */
static void drop_all(struct step *st, struct eng_service *s)
{
    for (size_t i = s->n_components; i > 0; i--) {
        struct eng_component *c = s->components[i - 1];
        while (component_n_kept(c) > 0 && !step_is_full(st))
            instance_drop(st, component_highest_kept(c), true);
        while (component_next_end(c) && !step_is_full(st)) /* its clients are not waited for any more */
            instance_drop(st, component_next_end(c), true);
    }
}

static size_t n_left(const struct eng_service *s, unsigned but_states)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_components; i++)
        n += s->components[i]->n_instances - (size_t)component_count(s->components[i], but_states);
    return n;
}

bool service_is_empty(const struct eng_service *s)
{
    return n_left(s, 0) == 0;
}

bool service_clear_instances(struct step *st, struct eng_service *s)
{
    drop_all(st, s);
    return service_is_empty(s);
}

static void stop_by_force(struct step *st, struct eng_service *s)
{
    struct eng_instance *inst;
    if (!s->is_forcing)
        s->forced = (struct eng_walk){0};
    s->is_forcing = true;
    for (size_t n = 0; n < STEP_INSTANCES; n++) {
        if (!(inst = instances_next(s, &s->forced))) {
            s->is_forcing = false;
            s->force_ms = st->now_ms + FORCE_AFTER_MS; /* again, until all have ended */
            return;
        }
        if (inst->container_id)
            step_emit_container(st, EFF_STOP, inst)->force = true;
    }
    s->force_ms = st->now_ms; /* the next step continues */
}

void service_settle_finishing(struct step *st, struct eng_service *s)
{
    bool keeps = policy_of(s->kind)->keeps_instances;
    if (keeps)
        put_down_all(st, s);
    else
        drop_all(st, s);
    if (n_left(s, keeps ? STATES_FINAL : 0) > 0) {
        if (s->force_ms && s->force_ms <= st->now_ms)
            stop_by_force(st, s);
        return;
    }
    if (!application_finish(st, s))
        return;
    for (size_t i = 0; i < s->n_components; i++) {
        struct eng_component *c = s->components[i];
        if (c->state != COMP_SUCCEEDED && c->state != COMP_FAILED)
            c->state = COMP_STOPPED;
    }
    s->force_ms = s->lifetime_end_ms = s->started_ms = 0;
    s->ended_ms = st->wall_ms;
    s->is_putting_down = false; /* all are final, whoever came to them */
    if (!backoff_begin(st, s))
        service_set_state(st, s, s->end_state);
    operation_stopped(st, s);
    service_report_ended(st, s, s->app_id);
    places_end(st, s);
    service_purge(st, s);
}
