/**
 * The component machine: how many instances, when they may start, what the component is called.
 *
 *     WAITING ──every dependency is ready──> FLEXING <──instance lost, not ready, flexed──┐
 *                                              │ every wanted instance is up              │
 *                                              └───────────────────────────────────> STABLE
 *     FLEXING, STABLE ──all instances ended (ON_FAILURE, NEVER)──> SUCCEEDED | FAILED
 */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "engine/step.h"

int64_t component_count(const struct eng_component *c, unsigned state_mask)
{
    int64_t n = 0;
    for (size_t i = 0; i < c->n_instances; i++)
        n += (state_mask & STATE_BIT(c->instances[i]->state)) != 0;
    return n;
}

struct eng_component *component_of(const struct eng_service *s, const char *name)
{
    for (size_t i = 0; i < s->n_components; i++) {
        if (strcmp(s->components[i]->name, name) == 0)
            return s->components[i];
    }
    return NULL;
}

/** Position of the first instance whose number is not smaller. */
static size_t position_of(const struct eng_component *c, int64_t index)
{
    size_t low = 0, high = c->n_instances;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->instances[middle]->index < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct eng_instance *component_instance(const struct eng_component *c, int64_t index)
{
    size_t i = position_of(c, index);
    return i < c->n_instances && c->instances[i]->index == index ? c->instances[i] : NULL;
}

struct eng_component *component_of_instance(const struct eng_service *s, const char *instance, int64_t *index)
{
    const char *dash = strrchr(instance, '-');
    if (!dash || str_to_i64(dash + 1, 0, INT64_MAX, index))
        return NULL;
    mem_auto char *name = mem_strn(instance, (size_t)(dash - instance));
    return component_of(s, name);
}

/* ---- number of instances ---- */

void component_forget(struct step *st, struct eng_component *c, struct eng_instance *inst)
{
    size_t i = position_of(c, inst->index);
    BUG_IF(i >= c->n_instances || c->instances[i] != inst);
    memmove(&c->instances[i], &c->instances[i + 1], (c->n_instances - i - 1) * sizeof(c->instances[0]));
    c->n_instances--;
    if (inst->container_id)
        map_remove(&st->e->containers, inst->container_id);
    pool_mark(&st->e->pool, inst->ip, false);
    step_forget_instance(st, inst);
    fld_free(&eng_instance_type, inst);
}

static bool is_decommissioned(const struct eng_component *c, const char *instance)
{
    for (size_t i = 0; i < c->spec->n_decommissioned_instances; i++) {
        if (strcmp(c->spec->decommissioned_instances[i], instance) == 0)
            return true;
    }
    return false;
}

void component_insert(struct eng_component *c, struct eng_instance *take_inst)
{
    c->instances = mem_resize(c->instances, c->n_instances + 1, sizeof(c->instances[0]));
    size_t i = c->n_instances++;
    for (; i > 0 && c->instances[i - 1]->index > take_inst->index; i--)
        c->instances[i] = c->instances[i - 1];
    c->instances[i] = take_inst;
    take_inst->component = c;
}

/** Add the instance with the lowest free number; one that is just being removed is taken back. */
static void add_instance(struct step *st, struct eng_component *c, int64_t *from)
{
    for (int64_t n = *from;; n++) {
        struct eng_instance *there = component_instance(c, n);
        mem_auto char *name = mem_fmt("%s-%lld", c->name, (long long)n);
        if ((there && !there->removing) || is_decommissioned(c, name))
            continue;
        *from = n + 1;
        if (there) {
            there->removing = false;
            step_touch_instance(st, there);
            return;
        }
        struct eng_instance *inst = fld_new(&eng_instance_type);
        inst->index = n;
        inst->name = mem_str(name);
        inst->state = INST_PENDING;
        component_insert(c, inst);
        step_touch_instance(st, inst);
        return;
    }
}

/** Instances that are meant to stay. */
static int64_t n_kept(const struct eng_component *c)
{
    int64_t n = 0;
    for (size_t i = 0; i < c->n_instances; i++)
        n += !c->instances[i]->removing;
    return n;
}

static struct eng_instance *highest_kept(const struct eng_component *c)
{
    for (size_t i = c->n_instances; i > 0; i--) {
        if (!c->instances[i - 1]->removing)
            return c->instances[i - 1];
    }
    return NULL;
}

void component_resize(struct step *st, struct eng_component *c)
{
    int64_t wanted = c->spec->number_of_containers, n = n_kept(c), from = 0;
    for (; n < wanted; n++)
        add_instance(st, c, &from);
    for (; n > wanted; n--)
        instance_drop(st, highest_kept(c), true);
}

/* ---- dependencies and start ---- */

bool component_ready_for_dependents(const struct eng_component *c)
{
    int64_t wanted = c->spec->number_of_containers;
    switch (c->spec->restart_policy) {
    case RESTART_ON_FAILURE: return component_count(c, STATE_BIT(INST_SUCCEEDED)) >= wanted;
    case RESTART_NEVER: return component_count(c, STATES_FINAL) >= wanted;
    default: return component_count(c, STATE_BIT(INST_READY)) >= wanted;
    }
}

/** The first dependency that is not ready, or NULL. */
static const struct eng_component *unready_dependency(const struct eng_component *c)
{
    for (size_t i = 0; i < c->spec->n_dependencies; i++) {
        const struct eng_component *d = component_of(c->service, c->spec->dependencies[i]);
        if (d && !component_ready_for_dependents(d))
            return d;
    }
    return NULL;
}

static void explain_dependency(struct eng_component *c, const struct eng_component *d)
{
    for (size_t i = 0; i < c->n_instances; i++)
        instance_set_wait(c->instances[i], "dependency: component %s has %lld of %lld instances ready",
                          d->name, (long long)component_count(d, STATE_BIT(INST_READY) | STATES_FINAL),
                          (long long)d->spec->number_of_containers);
}

void component_advance(struct step *st, struct eng_component *c)
{
    if (!st->e->resumed)
        return;
    if (c->state == COMP_WAITING) {
        const struct eng_component *d = unready_dependency(c);
        if (d) {
            explain_dependency(c, d);
            return;
        }
        c->state = COMP_FLEXING;
        step_touch(st, c->service);
    }
    for (size_t i = 0; i < c->n_instances; i++) {
        struct eng_instance *inst = c->instances[i];
        bool due = inst->due_ms <= st->now_ms;
        if (inst->state == INST_PENDING && due)
            instance_request(st, inst);
        else if (inst->state == INST_EXITED && due)
            instance_retry(st, inst);
    }
}

/* ---- state ---- */

bool component_is_finished(const struct eng_component *c)
{
    int64_t wanted = c->spec->number_of_containers;
    switch (c->spec->restart_policy) {
    case RESTART_ON_FAILURE: return component_count(c, STATE_BIT(INST_SUCCEEDED)) >= wanted;
    case RESTART_NEVER: return component_count(c, STATES_FINAL) >= wanted;
    default: return false;
    }
}

static int state_now(const struct eng_component *c)
{
    int64_t wanted = c->spec->number_of_containers;
    if (c->state == COMP_WAITING)
        return COMP_WAITING;
    if (component_is_finished(c))
        return component_count(c, STATE_BIT(INST_SUCCEEDED)) >= wanted ? COMP_SUCCEEDED : COMP_FAILED;
    if (c->spec->restart_policy == RESTART_ALWAYS)
        return component_count(c, STATE_BIT(INST_READY)) == wanted ? COMP_STABLE : COMP_FLEXING;
    return component_count(c, STATES_UP | STATES_FINAL) >= wanted ? COMP_STABLE : COMP_FLEXING;
}

void component_recompute(struct step *st, struct eng_component *c)
{
    int now = state_now(c);
    if (now == c->state)
        return;
    step_note(st, c->service, "component %s: %s to %s", c->name,
              eng_component_state_word((enum eng_component_state)c->state),
              eng_component_state_word((enum eng_component_state)now));
    c->state = now;
}

/* ---- failures ---- */

bool component_count_failure(struct step *st, struct eng_component *c)
{
    int64_t window_s = spec_property_int(c->spec, "yarn.service.failure-count-reset.window", 21600);
    int64_t limit = spec_property_int(c->spec, "yarn.service.container-failure-per-component.threshold", 10);
    if (c->window_end_ms <= st->now_ms) {
        c->n_failures = 0;
        c->window_end_ms = st->now_ms + window_s * 1000;
    }
    c->n_failures++;
    step_touch(st, c->service);
    return c->n_failures > limit;
}
