/** Requests that change the number of instances: flex and decommission. */
#include <stdlib.h>
#include <string.h>

#include "engine/policy.h"
#include "engine/component.h"
#include "engine/service.h"
#include "engine/step.h"

bool service_can_change(struct step *st, const struct eng_event *ev, const struct eng_service *s)
{
    if (eng_service_is_live(s) && s->state != SVC_FINISHING)
        return true;
    step_answer(st, ev->token, s->app_id ? OUT_NOT_RUNNING : OUT_NOT_SUBMITTED, s);
    return false;
}

/** The count that is asked for. */
static int64_t wanted_count(const struct eng_flex *f, const struct spec_component *c)
{
    int64_t now = f->relative ? c->number_of_containers : 0;
    return f->count > INT64_MAX - now ? INT64_MAX : now + f->count;
}

/** Most instances that a component may have. */
static int64_t most_of(const struct engine *e, const struct eng_service *s)
{
    int64_t of_kind = policy_of(s->kind)->max_instances, of_config = e->cfg.max_containers;
    return of_kind ? of_kind : of_config ? of_config : SPEC_MAX_CONTAINERS;
}

/** All counts can be applied; else the request is answered. */
static bool check_flex(struct step *st, const struct eng_event *ev, const struct eng_service *s)
{
    int64_t max = most_of(st->e, s);
    for (size_t i = 0; i < ev->n_flex; i++) {
        const struct spec_component *c = spec_component(eng_service_wanted(s), ev->flex[i].component);
        int64_t wanted = c ? wanted_count(&ev->flex[i], c) : -1;
        if (wanted >= 0 && wanted <= max)
            continue;
        bool is_many = wanted > max;
        struct eng_answer *a = step_answer(st, ev->token,
                                           !c        ? OUT_NO_COMPONENT
                                           : is_many ? OUT_TOO_MANY
                                                     : OUT_BAD_COUNT,
                                           s);
        a->component = mem_str(ev->flex[i].component);
        a->n_new = is_many ? wanted : ev->flex[i].count;
        a->n_old = is_many ? max : 0;
        return false;
    }
    return true;
}

void service_forget_failures(struct step *st, struct eng_service *s)
{
    step_touch(st, s);
    for (size_t i = 0; i < s->n_components; i++)
        s->components[i]->n_failures = s->components[i]->n_start_failures = 0;
}

/** The counts as asked for, in order. @return new array: those before, for put_back; free() */
static int64_t *apply(const struct eng_event *ev, struct eng_service *s)
{
    int64_t *before = mem_array(ev->n_flex + 1, sizeof before[0]);
    for (size_t i = 0; i < ev->n_flex; i++) {
        struct spec_component *c = spec_component(framework_wanted(s), ev->flex[i].component);
        before[i] = c->number_of_containers;
        c->number_of_containers = wanted_count(&ev->flex[i], c);
    }
    return before;
}

static void put_back(const struct eng_event *ev, struct eng_service *s, const int64_t *before)
{
    for (size_t i = ev->n_flex; i > 0; i--)
        spec_component(framework_wanted(s), ev->flex[i - 1].component)->number_of_containers = before[i - 1];
}

static void record_count(struct step *st, struct eng_service *s, const struct spec_component *c,
                         int64_t n_old, const char *user)
{
    mem_auto char *why = mem_fmt("%lld to %lld instances, by user %s", (long long)n_old,
                                 (long long)c->number_of_containers, user);
    history_record(st, s, c->name, "flexed", why);
}

void service_flex(struct step *st, const struct eng_event *ev, struct eng_service *s)
{
    if (!policy_of(s->kind)->is_put && !service_can_change(st, ev, s))
        return;
    if (s->state == SVC_UPGRADING) {
        step_answer(st, ev->token, OUT_IS_UPGRADING, s);
        return;
    }
    if (!check_flex(st, ev, s))
        return;
    mem_auto int64_t *before = apply(ev, s);
    const struct quota_ask ask = {ev->token, s->kind, s->user, eng_service_wanted(s), s};
    if (!quota_allows(st, &ask)) {
        put_back(ev, s, before);
        return;
    }
    struct eng_answer changed = {0};
    bool has_changed = false;
    for (size_t i = 0; i < ev->n_flex; i++) {
        changed.n_old = before[i];
        const struct spec_component *c = spec_component(eng_service_wanted(s), ev->flex[i].component);
        changed.n_new = c->number_of_containers;
        has_changed = has_changed || changed.n_old != changed.n_new;
        step_want(st, s);
        record_count(st, s, c, changed.n_old, ev->user);
    }
    if (has_changed && policy_of(s->kind)->flex_forgets_failures)
        service_forget_failures(st, s);
    framework_record(st, s, ev);
    struct eng_answer *a = step_answer(st, ev->token, OUT_FLEXED, s);
    a->component = mem_str(ev->n_flex ? ev->flex[ev->n_flex - 1].component : NULL);
    a->n_old = changed.n_old;
    a->n_new = changed.n_new;
}

/* ---- decommission ---- */

static bool is_listed(const struct spec_component *c, const char *instance)
{
    for (size_t i = 0; i < c->n_decommissioned_instances; i++) {
        if (strcmp(c->decommissioned_instances[i], instance) == 0)
            return true;
    }
    return false;
}

static bool exists(const struct eng_service *s, const char *instance)
{
    int64_t index;
    const struct eng_component *c = component_of_instance(s, instance, &index);
    const struct eng_instance *inst = c ? component_instance(c, index) : NULL;
    return c && (is_listed(c->spec, instance) || (inst && !inst->removing));
}

/** More instances stay than are wanted: a flex has not come to them yet. */
static bool has_surplus(const struct eng_component *c)
{
    size_t n_leaving = (size_t)c->n_removing + c->spec->n_decommissioned_instances - c->n_decommissioned;
    return (int64_t)c->n_instances > c->spec->number_of_containers + (int64_t)n_leaving;
}

/** @param lowers  the count is lowered even if a flex has not come to the instances yet */
static void decommission_one(struct step *st, struct eng_service *s, const char *instance, bool lowers)
{
    int64_t index;
    struct eng_component *c = component_of_instance(s, instance, &index);
    if (is_listed(c->spec, instance))
        return;
    struct spec_component *spec = c->spec;
    if (lowers || !has_surplus(c))
        spec->number_of_containers--;
    spec->decommissioned_instances =
        mem_resize(spec->decommissioned_instances, spec->n_decommissioned_instances + 1,
                   sizeof spec->decommissioned_instances[0]);
    spec->decommissioned_instances[spec->n_decommissioned_instances++] = mem_str(instance);
    step_want(st, s);
}

void service_decommission(struct step *st, const struct eng_event *ev, struct eng_service *s)
{
    if (!service_can_change(st, ev, s))
        return;
    for (size_t i = 0; i < ev->n_names; i++) {
        if (exists(s, ev->names[i]))
            continue;
        step_answer(st, ev->token, OUT_NO_INSTANCE, s)->component = mem_str(ev->names[i]);
        return;
    }
    mem_auto char *why = mem_fmt("by user %s", ev->user);
    for (size_t i = 0; i < ev->n_names; i++) {
        decommission_one(st, s, ev->names[i], ev->value != NULL);
        history_record(st, s, ev->names[i], "decommissioned", why);
    }
    framework_record(st, s, ev);
    step_answer(st, ev->token, OUT_DECOMMISSIONED, s);
}
