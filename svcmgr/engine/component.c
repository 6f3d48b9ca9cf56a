/**
 * The component machine: how many instances, when they may start, what the component is called.
 *
 *     WAITING ──every dependency is ready──> FLEXING <──instance lost, not ready, flexed──┐
 *                                              │ every wanted instance is up              │
 *                                              └───────────────────────────────────> STABLE
 *     FLEXING, STABLE ──all instances ended (ON_FAILURE, NEVER)──> SUCCEEDED | FAILED
 *     WAITING, FLEXING, STABLE ──the service has ended──> STOPPED
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
    memmove(&c->instances[i], &c->instances[i + 1], (c->n_instances - i - 1) * sizeof c->instances[0]);
    c->n_instances--;
    if (inst->container_id)
        map_remove(&st->e->containers, inst->container_id);
    addresses_mark(&st->e->addresses, inst->ip, false);
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
    c->instances = mem_resize(c->instances, c->n_instances + 1, sizeof c->instances[0]);
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

static void drop_decommissioned(struct step *st, struct eng_component *c)
{
    for (size_t i = c->n_instances; c->spec->n_decommissioned_instances && i > 0; i--) {
        struct eng_instance *inst = c->instances[i - 1];
        if (!inst->removing && !step_is_full(st) && is_decommissioned(c, inst->name))
            instance_drop(st, inst, true);
    }
}

void component_resize(struct step *st, struct eng_component *c)
{
    int64_t wanted = c->spec->number_of_containers, n, from = 0;
    drop_decommissioned(st, c);
    n = n_kept(c);
    for (; n < wanted && !step_is_full(st); n++)
        add_instance(st, c, &from);
    for (; n > wanted && !step_is_full(st); n--)
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

/** Containers that the placement constraints still allow on the one host. @return INT64_MAX: any number */
static int64_t placement_room(const struct engine *e, const struct eng_component *c)
{
    struct spec_placement p;
    int64_t n_held = 0;
    if (!e->cfg.one_host)
        return INT64_MAX;
    spec_placement_one_host(c->spec, &p);
    if (c->spec->number_of_containers < p.min)
        return 0;
    if (p.max == INT64_MAX)
        return INT64_MAX;
    for (size_t i = 0; i < c->n_instances; i++)
        n_held += c->instances[i]->container_id != NULL;
    return p.max > n_held ? p.max - n_held : 0;
}

/** Until another of the component's containers is gone, or more are wanted. */
static void wait_for_placement(struct eng_instance *inst)
{
    struct spec_placement p;
    inst->due_ms = 0;
    if (inst->wait && str_starts(inst->wait, "placement: "))
        return;
    spec_placement_one_host(inst->component->spec, &p);
    if (inst->component->spec->number_of_containers < p.min)
        instance_set_wait(inst, "placement: min_cardinality is %lld and fewer containers are wanted",
                          (long long)p.min);
    else
        instance_set_wait(inst, "placement: the constraints of %s allow %lld on a node, the cluster has one",
                          inst->component->name, (long long)p.max);
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
    int64_t room = placement_room(st->e, c);
    for (size_t i = 0; i < c->n_instances; i++) {
        struct eng_instance *inst = c->instances[i];
        bool due = inst->due_ms <= st->now_ms && (inst->dirty || !step_is_full(st));
        if (inst->state == INST_PENDING && due && room-- <= 0)
            wait_for_placement(inst);
        else if (inst->state == INST_PENDING && due)
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

/* ---- health ---- */

void component_watch_health(struct step *st, struct eng_component *c)
{
    if (spec_prop_int(c->spec, PROP_HEALTH_PERCENT, -1) <= 0)
        return;
    int64_t delay_ms = 1000 * spec_prop_int(c->spec, PROP_HEALTH_INIT, 0) + HEALTH_DELAY_MS;
    c->health_from_ms = st->now_ms + delay_ms;
    step_touch(st, c->service);
}

/** Percent of the wanted instances that are ready or have ended well; 100 where nothing is wanted, or nothing more. */
static double health_of(const struct eng_component *c)
{
    int64_t wanted = c->spec->number_of_containers;
    if (wanted == 0 || c->state == COMP_WAITING || component_is_finished(c))
        return 100;
    return 100.0 * (double)component_count(c, STATE_BIT(INST_READY) | STATE_BIT(INST_SUCCEEDED)) /
           (double)wanted;
}

char *component_check_health(struct step *st, struct eng_component *c)
{
    int64_t percent = spec_prop_int(c->spec, PROP_HEALTH_PERCENT, -1);
    if (percent <= 0)
        return NULL;
    if (c->health_from_ms == 0) /* it was started by a version that knew no threshold */
        component_watch_health(st, c);
    if (c->health_due_ms == 0)
        c->health_due_ms = c->health_from_ms;
    if (st->now_ms < c->health_due_ms)
        return NULL;
    c->health_due_ms = st->now_ms + 1000 * spec_prop_int(c->spec, PROP_HEALTH_POLL, 10);
    double health = health_of(c);
    if (health >= (double)percent) {
        c->health_below_ms = 0;
        return NULL;
    }
    if (c->health_below_ms == 0)
        c->health_below_ms = st->now_ms;
    int64_t window_s = spec_prop_int(c->spec, PROP_HEALTH_WINDOW, 0);
    int64_t since_ms = st->now_ms - c->health_below_ms;
    if (since_ms <= 1000 * window_s)
        return NULL;
    return mem_fmt("Service is being killed because container health for component %s was %.2f%% "
                   "(health threshold = %lld%%) for %lld secs (threshold window = %lld secs)",
                   c->name, health, (long long)percent, (long long)(since_ms / 1000), (long long)window_s);
}

/* ---- failures ---- */

bool component_count_failure(struct step *st, struct eng_component *c)
{
    int64_t window_s = spec_prop_int(c->spec, PROP_WINDOW, 0);
    int64_t limit = spec_prop_int(c->spec, PROP_THRESHOLD, 0);
    if (c->window_end_ms <= st->now_ms) {
        c->n_failures = 0;
        c->window_end_ms = st->now_ms + window_s * 1000;
    }
    c->n_failures++;
    step_touch(st, c->service);
    return c->n_failures > limit && spec_prop_int(c->spec, PROP_HEALTH_PERCENT, -1) <= 0;
}
