/**
 * Services whose definitions are put (eng_policy.is_put): frameworks of the FrameworkLauncher API.
 *
 *     EV_REDEFINE ──unknown, or being destroyed──> made ──(it is wanted to be stopped)──> STOPPED at once, with an exit
 *         ├──another version──> everything ends and starts anew (backoff.c); requests about the version before are forgotten
 *         └──the same version──> in place; of what has ended only what is wanted changes
 *
 *     ended ──retain_ms later, unless its rules keep it──> destroyed
 *
 * Their names are of all users together. What a request asks for stands in the document of what is wanted, so that it can be read
 * back at once, whatever is done about it. Source: framework-launcher 4.6, 5.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/away.h"
#include "engine/component.h"
#include "engine/documents.h"
#include "engine/instance.h"
#include "engine/operation.h"
#include "engine/orders.h"
#include "engine/places.h"
#include "engine/policy.h"
#include "engine/service.h"
#include "engine/step.h"

static bool is_put(const struct eng_service *s)
{
    return policy_of(s->kind)->is_put;
}

/* ---- names ---- */

static struct eng_service *named(const struct engine *e, const char *name)
{
    struct eng_service *s = map_get(&e->frameworks, name);
    return s && !s->destroying ? s : NULL;
}

void framework_add(struct engine *e, struct eng_service *s)
{
    const struct eng_service *other = named(e, s->name);
    if (is_put(s) && (!other || !s->destroying))
        map_set(&e->frameworks, s->name, s);
}

void framework_remove(struct engine *e, const struct eng_service *s)
{
    if (map_get(&e->frameworks, s->name) == s)
        map_remove(&e->frameworks, s->name);
}

const struct eng_service *engine_find_framework(const struct engine *e, const char *name)
{
    return named(e, name);
}

const char *eng_service_title(const struct eng_service *s)
{
    const struct eng_rules *rules = eng_service_wanted_rules(s);
    return rules && rules->title ? rules->title : s->name;
}

const char *eng_component_title(const struct eng_component *c)
{
    const char *title = eng_rules_of(c->service->rules, c->name)->title;
    return title ? title : c->name;
}

/* ---- what is wanted ---- */

struct spec_service *framework_wanted(struct eng_service *s)
{
    return s->next_spec ? s->next_spec : s->spec;
}

const struct spec_service *eng_service_wanted(const struct eng_service *s)
{
    return s->next_spec ? s->next_spec : s->spec;
}

const struct eng_rules *eng_service_wanted_rules(const struct eng_service *s)
{
    return s->next_spec ? s->next_rules : s->rules;
}

void framework_record(struct step *st, struct eng_service *s, const struct eng_event *ev)
{
    if (!policy_of(s->kind)->keeps_request)
        return;
    if (!s->first_request_ms)
        s->first_request_ms = st->wall_ms;
    s->last_request_ms = st->wall_ms;
    bool is_master = st->e->cfg.role == ROLE_MASTER; /* orders do not have it: orders_follow */
    bool is_given =
        ev->kind == EV_CREATE || ev->kind == EV_REDEFINE || (ev->kind == EV_DECOMMISSION && ev->value);
    if (is_given && !is_master) {
        json_decref(s->request);
        s->request = ev->value ? json_deep_copy(ev->value) : NULL;
    }
    step_want(st, s);
}

void framework_want_stopped(struct step *st, struct eng_service *s, bool is_stopped)
{
    if (!is_put(s) || s->is_wanted_stopped == is_stopped)
        return;
    s->is_wanted_stopped = is_stopped;
    step_want(st, s);
}

void framework_end_unlaunched(struct step *st, struct eng_service *s)
{
    const struct eng_exit x = eng_exit_of(CAUSE_STOPPED, 0, NULL);
    service_take_id(st, s);
    service_keep_exit(st, s, &x, NULL);
    mem_free_ptr(&s->diagnostics);
    s->launch_ms = s->launched_ms = 0;
    service_set_state(st, s, SVC_STOPPED);
    s->ended_ms = s->completed_ms = st->wall_ms;
    s->final_ms = st->now_ms;
    step_touch(st, s);
}

/* ---- a definition is put ---- */

static void drop(const struct eng_event *ev)
{
    spec_free(ev->take_spec);
    eng_rules_free(ev->take_rules);
}

static bool lacks_component(struct step *st, const struct eng_event *ev, const struct eng_service *s)
{
    const struct spec_service *wanted = eng_service_wanted(s);
    for (size_t i = 0; i < wanted->n_components; i++) {
        if (spec_component(ev->take_spec, wanted->components[i]->name))
            continue;
        step_answer(st, ev->token, OUT_LACKS_COMPONENT, s)->component = mem_str(wanted->components[i]->name);
        return true;
    }
    return false;
}

/** What waits is replaced by another definition of the same version. */
static void replace_next(struct eng_service *s, const struct eng_event *ev)
{
    spec_free(s->next_spec);
    eng_rules_free(s->next_rules);
    s->next_spec = ev->take_spec;
    s->next_rules = ev->take_rules;
}

/** The same version. Of what runs components may be added; what does not run is shown as it was. */
static void put_in_place(struct step *st, struct eng_service *s, const struct eng_event *ev)
{
    if (s->next_spec) {
        replace_next(s, ev);
        return;
    }
    service_take_rules(st->e, s, ev->take_rules);
    if (service_is_running(s))
        revision_redefine(st, s, ev->take_spec);
    else
        revision_take_definition(st, s, ev->take_spec);
}

void framework_put_execution(struct step *st, const struct eng_event *ev, struct eng_service *s)
{
    bool is_stopped = ev->save || parents_stop(st->e, s);
    if (!is_put(s) || st->e->cfg.role == ROLE_MASTER)
        return;
    framework_want_stopped(st, s, is_stopped);
    if (s->next_spec)
        s->is_next_stopped = is_stopped;
    else if (is_stopped)
        service_stop_by_request(st, s, ev->user);
}

void framework_put_over(struct step *st, const struct eng_event *ev, struct eng_service *s)
{
    const struct quota_ask ask = {ev->token, s->kind, s->user, ev->take_spec, s};
    bool is_anew = policy_of(s->kind)->change(s, ev->take_spec) == CHANGE_RESTART;
    bool has_parent =
        st->e->cfg.role == ROLE_MASTER || parents_allow(st, ev); /* a master knows no other service */
    if (!has_parent || (!is_anew && lacks_component(st, ev, s)) || !quota_allows(st, &ask)) {
        drop(ev);
        return;
    }
    if (is_anew)
        backoff_renew(st, s, ev);
    else
        put_in_place(st, s, ev);
    framework_record(st, s, ev);
    framework_put_execution(st, ev, s);
    step_answer(st, ev->token, OUT_REDEFINED, s);
}

/** One that is being destroyed is made anew in its place, as soon as nothing is left of it. */
static void put_again(struct step *st, const struct eng_event *ev, struct eng_service *s)
{
    const struct quota_ask ask = {ev->token, s->kind, s->user, ev->take_spec, s};
    if (!parents_allow(st, ev) || !quota_allows(st, &ask)) {
        drop(ev);
        return;
    }
    s->destroying = false;
    s->first_request_ms = 0;
    map_set(&st->e->frameworks, s->name, s);
    service_answer_destroyers(st, s, OUT_DESTROYED);
    backoff_renew(st, s, ev);
    framework_record(st, s, ev);
    framework_put_execution(st, ev, s);
    step_answer(st, ev->token, OUT_REDEFINED, s);
}

void framework_put(struct step *st, const struct eng_event *ev)
{
    mem_auto char *key = service_key(ev->service_kind, ev->user, ev->take_spec->name);
    struct eng_service *s = named(st->e, ev->take_spec->name);
    if (s && strcmp(s->user, ev->user) != 0) {
        step_answer(st, ev->token, OUT_TAKEN, s)->user = mem_str(s->user);
        drop(ev);
        return;
    }
    s = map_get(&st->e->services, key);
    if (!s)
        service_create(st, ev);
    else if (s->destroying)
        put_again(st, ev, s);
    else if (engine_is_away(st->e, s))
        away_request(st, ev, s);
    else
        framework_put_over(st, ev, s);
}

/* ---- requests to move ---- */

static struct eng_migration *migration_of(const struct eng_service *s, const char *container_id, size_t *at)
{
    for (*at = 0; *at < s->n_migrations; ++*at) {
        if (strcmp(s->migrations[*at]->container_id, container_id) == 0)
            return s->migrations[*at];
    }
    return NULL;
}

static void remove_migration(struct eng_service *s, size_t at)
{
    fld_free(&eng_migration_type, s->migrations[at]);
    memmove(&s->migrations[at], &s->migrations[at + 1], (--s->n_migrations - at) * sizeof s->migrations[0]);
}

static void set_migration(struct eng_service *s, const char *container_id, const json_t *value)
{
    size_t at = 0;
    struct eng_migration *m = migration_of(s, container_id, &at);
    if (!value) {
        if (m)
            remove_migration(s, at);
        return;
    }
    if (!m) {
        m = fld_new(&eng_migration_type);
        m->container_id = mem_str(container_id);
        s->migrations = mem_resize(s->migrations, s->n_migrations + 1, sizeof s->migrations[0]);
        s->migrations[s->n_migrations++] = m;
    }
    json_decref(m->value);
    m->value = json_deep_copy(value);
}

void framework_migrate(struct step *st, const struct eng_event *ev, struct eng_service *s)
{
    if (ev->value && s->n_migrations + ev->n_names > MIGRATIONS_MAX) {
        step_answer(st, ev->token, OUT_TOO_MANY_MIGRATIONS, s)->n_old = MIGRATIONS_MAX;
        return;
    }
    for (size_t i = 0; i < ev->n_names; i++)
        set_migration(s, ev->names[i], ev->value);
    step_touch(st, s);
    step_answer(st, ev->token, OUT_MIGRATING, s)->n_new = (int64_t)ev->n_names;
}

void framework_settle_migrations(struct step *st, struct eng_service *s)
{
    while (s->n_migrations > 0 && !step_is_full(st)) {
        struct eng_instance *inst = map_get(&st->e->containers, s->migrations[0]->container_id);
        bool is_held =
            inst && inst->component->service == s && !inst->removing && inst->state != INST_REQUESTED;
        if (is_held) {
            places_moved(st, inst);
            instance_evict(st, inst);
        }
        remove_migration(s, 0);
        step_touch(st, s);
    }
}

void framework_forget_migrations(struct step *st, struct eng_service *s)
{
    if (s->n_migrations > 0)
        step_touch(st, s);
    while (s->n_migrations > 0)
        remove_migration(s, s->n_migrations - 1);
}

static void show_migration(json_t *out, const char *container_id, const json_t *value)
{
    if (value)
        json_object_set(out, container_id, (json_t *)value);
    else
        json_object_del(out, container_id);
}

json_t *eng_service_migrations(const struct eng_service *s)
{
    json_t *out = json_object();
    for (size_t i = 0; i < s->n_migrations; i++)
        show_migration(out, s->migrations[i]->container_id, s->migrations[i]->value);
    for (size_t i = 0; i < s->n_orders; i++) {
        const struct eng_order *o = s->orders[i];
        for (size_t k = 0; o->kind == EV_MIGRATE && o->number > s->n_ordered && k < o->n_names; k++)
            show_migration(out, o->names[k], o->value);
    }
    return out;
}

/* ---- what has ended is collected ---- */

int64_t framework_collect_ms(const struct engine *e, const struct eng_service *s)
{
    bool is_collected = is_put(s) && e->cfg.retain_ms > 0 && e->cfg.role != ROLE_MASTER && s->final_ms > 0 &&
                        !s->destroying && !(s->rules && s->rules->is_kept);
    return is_collected ? s->final_ms + e->cfg.retain_ms : 0;
}

void framework_collect(struct step *st, struct eng_service *s)
{
    int64_t due_ms = framework_collect_ms(st->e, s);
    if (due_ms && due_ms <= st->now_ms)
        service_destroy(st, s, "it ended long ago");
}
