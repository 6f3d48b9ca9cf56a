/**
 * The component machine: how many instances, when they may start, what the component is called.
 *
 *     WAITING ──every dependency is ready──> FLEXING <──instance lost, not ready, flexed──┐
 *                                              │ every wanted instance is up              │
 *                                              └───────────────────────────────────> STABLE
 *     FLEXING, STABLE ──an operation moves its instances──> UPGRADING ──all moved and ready, or it is over──> STABLE, FLEXING
 *     FLEXING, STABLE ──all instances ended (ON_FAILURE, NEVER)──> SUCCEEDED | FAILED
 *     FLEXING, STABLE ──nothing of it survived a restart, and it has dependencies──> WAITING
 *     WAITING, FLEXING, STABLE ──the service has ended──> STOPPED
 */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "engine/policy.h"
#include "engine/component.h"
#include "engine/documents.h"
#include "engine/instance.h"
#include "engine/operation.h"
#include "engine/places.h"
#include "engine/service.h"
#include "engine/step.h"

struct eng_component *component_of(const struct eng_service *s, const char *name)
{
    for (size_t i = 0; i < s->n_components; i++) {
        if (strcmp(s->components[i]->name, name) == 0)
            return s->components[i];
    }
    return NULL;
}

struct eng_component *component_of_instance(const struct eng_service *s, const char *instance, int64_t *index)
{
    const char *dash = strrchr(instance, '-');
    if (!dash || str_to_i64(dash + 1, 0, INT64_MAX, index))
        return NULL;
    mem_auto char *name = mem_strn(instance, (size_t)(dash - instance));
    struct eng_component *c = component_of(s, name);
    if (c)
        *index -= c->first_number;
    return c;
}

/* ---- number of instances ---- */

void component_forget(struct step *st, struct eng_component *c, struct eng_instance *inst)
{
    BUG_IF(inst->component != c);
    component_remove(inst);
    places_left(st, inst);
    if (inst->container_id)
        map_remove(&st->e->containers, inst->container_id);
    addresses_mark(&st->e->addresses, inst->ip, false);
    ports_give_back(st->e, inst);
    step_forget_instance(st, inst);
    fld_free(&eng_instance_type, inst);
}

/** The number is used in this incarnation: the next one begins beyond it, where names are unique over all of them. */
static void note_number(struct step *st, struct eng_component *c, int64_t index)
{
    if (!c->spec->unique_component_support || index < c->n_numbers)
        return;
    c->n_numbers = index + 1;
    step_touch(st, c->service);
}

static bool is_decommissioned(const struct eng_component *c, const char *instance)
{
    for (size_t i = 0; i < c->spec->n_decommissioned_instances; i++) {
        if (strcmp(c->spec->decommissioned_instances[i], instance) == 0)
            return true;
    }
    return false;
}

/** Add the instance with the lowest free number; one that is just being removed is taken back. */
static void add_instance(struct step *st, struct eng_component *c)
{
    for (;; c->lowest_free++) {
        int64_t n = c->lowest_free;
        struct eng_instance *there = component_instance(c, n);
        mem_auto char *name = mem_fmt("%s-%lld", c->name, (long long)(c->first_number + n));
        if ((there && !there->removing) || is_decommissioned(c, name))
            continue;
        if (there) {
            instance_set_removing(there, false);
            step_touch_instance(st, there);
            if (there->state == INST_DRAINING)
                drain_take_back(st, there);
            return;
        }
        struct eng_instance *inst = fld_new(&eng_instance_type);
        inst->index = n;
        inst->name = mem_str(name);
        inst->goal = c->revision;
        inst->created_ms = st->wall_ms;
        component_insert(c, inst);
        note_number(st, c, n);
        step_touch_instance(st, inst);
        return;
    }
}

/** Instances that are too many, in the order of the policy, as far as the step may. */
static void drop_surplus(struct step *st, struct eng_component *c, size_t n)
{
    struct eng_instance *surplus[STEP_INSTANCES];
    size_t most = n < STEP_INSTANCES ? n : STEP_INSTANCES;
    size_t n_found = policy_of_component(c)->pick_surplus(c, surplus, most);
    for (size_t i = 0; i < n_found && !step_is_full(st); i++)
        instance_drop(st, surplus[i], true);
}

/** The list only grows: what was dropped for it is gone. */
static void drop_decommissioned(struct step *st, struct eng_component *c)
{
    for (; c->n_decommissioned < c->spec->n_decommissioned_instances && !step_is_full(st);
         c->n_decommissioned++) {
        const char *name = c->spec->decommissioned_instances[c->n_decommissioned];
        int64_t index = -1;
        component_of_instance(c->service, name, &index);
        struct eng_instance *inst = component_instance(c, index);
        if (inst && !inst->removing)
            instance_drop(st, inst, true);
    }
}

void component_resize(struct step *st, struct eng_component *c)
{
    int64_t wanted = c->spec->number_of_containers;
    drop_decommissioned(st, c);
    while (component_n_kept(c) < wanted && !step_is_full(st))
        add_instance(st, c);
    if (component_n_kept(c) > wanted)
        drop_surplus(st, c, (size_t)(component_n_kept(c) - wanted));
}

/* ---- dependencies and start ---- */

bool component_ready_for_dependents(const struct eng_component *c)
{
    int64_t wanted = c->spec->number_of_containers;
    switch (policy_of_component(c)->restart(c)) {
    case RESTART_ON_FAILURE: return component_count(c, STATE_BIT(INST_SUCCEEDED)) >= wanted;
    case RESTART_NEVER: return component_count(c, STATES_FINAL) >= wanted;
    case RESTART_ALWAYS: break;
    }
    return component_count(c, STATE_BIT(INST_READY)) >= wanted;
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

static void wait_for_component(struct eng_component *c, const struct eng_component *d)
{
    wait_set(&c->wait, &(struct eng_waiting){.why = WAIT_COMPONENT,
                                             .name = d->name,
                                             .n = component_count(d, STATE_BIT(INST_READY) | STATES_FINAL),
                                             .of = d->spec->number_of_containers});
}

/** Containers that the placement constraints still allow on the one host. @return INT64_MAX: any number */
static int64_t placement_room(const struct engine *e, const struct eng_component *c)
{
    struct spec_placement p;
    int64_t n_held;
    if (!e->cfg.one_host)
        return INT64_MAX;
    spec_placement_one_host(c->spec, &p);
    if (c->spec->number_of_containers < p.min)
        return 0;
    if (p.max == INT64_MAX)
        return INT64_MAX;
    n_held = (int64_t)c->n_instances - component_count(c, STATES_FINAL | STATE_BIT(INST_PENDING));
    return p.max > n_held ? p.max - n_held : 0;
}

/** How many may be asked for now where there is room for so many: of a component whose containers come one after the other one, or none. */
static int64_t turn_of(const struct eng_component *c, int64_t room)
{
    bool is_asked = component_count(c, STATE_BIT(INST_REQUESTED)) > 0;
    if (!eng_rules_of(c->service->rules, c->name)->one_by_one || room <= 0)
        return room;
    return is_asked ? 0 : 1;
}

/** Until the container that is asked for has come. */
static void wait_for_turn(struct eng_instance *inst)
{
    instance_set_due(inst, 0);
    instance_set_unplaced(inst, true);
    if (!inst->wait || inst->wait->why != WAIT_TURN)
        wait_set(&inst->wait, &(struct eng_waiting){.why = WAIT_TURN});
}

/** Until another of the component's containers is gone, or more are wanted. */
static void wait_for_placement(struct eng_instance *inst)
{
    struct spec_placement p;
    instance_set_due(inst, 0);
    instance_set_unplaced(inst, true);
    spec_placement_one_host(inst->component->spec, &p);
    bool too_few = inst->component->spec->number_of_containers < p.min;
    enum eng_wait why = too_few ? WAIT_PLACEMENT_MIN : WAIT_PLACEMENT;
    if (inst->wait && inst->wait->why == why)
        return;
    mem_auto char *name = spec_constraint_name(inst->component->spec, too_few ? p.min_by : p.max_by);
    mem_auto char *text =
        too_few ? NULL : mem_fmt("it allows %lld on a node, and the cluster has one", (long long)p.max);
    wait_set(&inst->wait, &(struct eng_waiting){.why = why, .name = name, .text = text, .n = p.min});
}

void component_due(struct step *st, struct eng_component *c)
{
    struct eng_instance *inst;
    while ((inst = component_next_end(c)) && inst->due_ms <= st->now_ms &&
           (inst->dirty || !step_is_full(st))) {
        drain_due(st, inst);
        upgrade_due(st, inst);
        instance_recover_due(st, inst);
        instance_escalate_due(st, inst);
    }
}

/** Start what is due, the earliest first, as far as the step may. */
static void start_due(struct step *st, struct eng_component *c)
{
    int64_t placeable = placement_room(st->e, c), room = turn_of(c, placeable);
    struct eng_instance *inst;
    for (int64_t n = room; n > 0 && (inst = component_unplaced(c)); n--)
        instance_set_unplaced(inst, false);
    while ((inst = component_next_start(c)) && inst->due_ms <= st->now_ms &&
           (inst->dirty || !step_is_full(st))) {
        bool is_held_back = inst->state == INST_PENDING && room-- <= 0;
        if (is_held_back && placeable == INT64_MAX)
            wait_for_turn(inst);
        else if (is_held_back)
            wait_for_placement(inst);
        else if (inst->state == INST_PENDING)
            instance_request(st, inst);
        else
            instance_launch(st, inst);
    }
}

void component_come_back(struct step *st, struct eng_component *c)
{
    int64_t n_pending = component_count(c, STATE_BIT(INST_PENDING));
    bool depends = c->spec->n_dependencies + c->service->spec->n_dependencies > 0;
    bool is_steady = c->state == COMP_WAITING || c->state == COMP_FLEXING || c->state == COMP_STABLE;
    if (!depends || !is_steady || n_pending == 0 ||
        n_pending + component_count(c, STATES_FINAL) < (int64_t)c->n_instances)
        return;
    c->is_back = true;
    c->state = COMP_WAITING;
    step_touch(st, c->service);
}

/** Once they are there the whole service begins, as it does at first. */
static bool awaits_services(struct step *st, struct eng_component *c)
{
    struct eng_service *s = c->service;
    if (!c->is_back)
        return false;
    if (service_awaits_service(st, s, &c->wait))
        return true;
    for (size_t i = 0; i < s->n_components; i++)
        s->components[i]->is_back = false;
    return false;
}

void component_advance(struct step *st, struct eng_component *c)
{
    if (!st->e->resumed || c->service->unresumed)
        return;
    if (c->state == COMP_WAITING) {
        const struct eng_component *d = unready_dependency(c);
        if (awaits_services(st, c))
            return;
        if (d) {
            wait_for_component(c, d);
            return;
        }
        wait_clear(&c->wait);
        c->state = COMP_FLEXING;
        step_touch(st, c->service);
    }
    start_due(st, c);
}

/* ---- state ---- */

bool component_is_finished(const struct eng_component *c)
{
    int64_t wanted = c->spec->number_of_containers;
    switch (policy_of_component(c)->restart(c)) {
    case RESTART_ON_FAILURE: return component_count(c, STATE_BIT(INST_SUCCEEDED)) >= wanted;
    case RESTART_NEVER: return component_count(c, STATES_FINAL) >= wanted;
    case RESTART_ALWAYS: break;
    }
    return false;
}

static enum eng_component_state state_now(const struct eng_component *c)
{
    int64_t wanted = c->spec->number_of_containers;
    if (c->state == COMP_WAITING)
        return COMP_WAITING;
    if (component_is_finished(c))
        return component_count(c, STATE_BIT(INST_SUCCEEDED)) >= wanted ? COMP_SUCCEEDED : COMP_FAILED;
    if (!component_is_upgraded(c))
        return COMP_UPGRADING;
    if (policy_of_component(c)->restart(c) == RESTART_ALWAYS)
        return component_count(c, STATE_BIT(INST_READY)) == wanted ? COMP_STABLE : COMP_FLEXING;
    /* One that runs and has not passed its readiness check is not stable, whatever its policy. */
    return component_count(c, STATE_BIT(INST_READY) | STATES_FINAL) >= wanted ? COMP_STABLE : COMP_FLEXING;
}

void component_recompute(struct step *st, struct eng_component *c)
{
    enum eng_component_state now = state_now(c);
    if (now == c->state)
        return;
    step_note(st, c->service, "component %s: %s to %s", c->name, eng_component_state_word(c->state),
              eng_component_state_word(now));
    c->state = now;
    step_touch(st, c->service);
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

int64_t component_count_failure(struct step *st, struct eng_component *c)
{
    int64_t window_s = spec_prop_int(c->spec, PROP_WINDOW, 0);
    if (c->window_end_ms <= st->now_ms) {
        c->n_failures = 0;
        c->window_end_ms = st->now_ms + window_s * 1000;
    }
    c->n_failures++;
    step_touch(st, c->service);
    return c->n_failures;
}

void component_take_stored(struct eng_component *c, const struct eng_component *stored)
{
    c->state = stored->state;
    c->n_failures = stored->n_failures;
    c->n_start_failures = stored->n_start_failures;
    c->totals = stored->totals;
    c->window_end_ms = stored->window_end_ms;
    c->health_from_ms = stored->health_from_ms;
    c->revision = stored->revision;
    c->next_revision = stored->next_revision;
    c->last_revision = stored->last_revision;
    c->moves_all = stored->moves_all;
    c->first_number = stored->first_number;
    c->n_numbers = stored->n_numbers;
    c->n_at_end = stored->n_at_end;
    c->retired = stored->retired;
    c->n_decommissioned = 0;
}
