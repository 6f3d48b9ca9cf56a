/**
 * How one instance comes to another revision of its component: in its container, which it keeps with name and address.
 *
 *     READY ──upgrade_move──> (DRAINING) ──EFF_REINIT──> UPGRADING ──running──> RUNNING ──ready──> READY ──steady──> it is over
 *                                                                                 │ ended, or not ready in time
 *                                                                                 └──> FAILED_UPGRADE
 *
 * One that has no process is only marked: its next start is by the new revision. What the cluster or we have ended says nothing
 * about a revision: the instance starts again, still on its way.
 */
#include <stdlib.h>

#include "engine/component.h"
#include "engine/instance.h"
#include "engine/operation.h"
#include "engine/step.h"

#define MOVABLE (STATES_UP | STATE_BIT(INST_EXITED) | STATE_BIT(INST_PENDING) | STATE_BIT(INST_REQUESTED))

/** By when the process of a new revision is ready; 0: no limit. */
static int64_t patience_ms(const struct eng_instance *inst)
{
    return 1000 * spec_prop_int(instance_spec(inst), PROP_UPGRADE_READY, 0);
}

enum eng_upgrade eng_instance_upgrade(const struct eng_instance *inst)
{
    const struct eng_component *c = inst->component;
    const struct eng_operation *op = c->service->operation;
    bool is_up = STATE_BIT(inst->state) & (STATES_UP | STATE_BIT(INST_LAUNCHED));
    if (inst->upgrade == UPGRADE_MOVING && is_up && inst->revision == inst->goal)
        return UPGRADE_REINITIALIZED;
    if (inst->upgrade != UPGRADE_NONE || !c->next_revision || !op || op->kind == OPERATION_STOP)
        return inst->upgrade;
    bool is_moved = inst->goal == c->next_revision;
    return is_moved == (op->kind == OPERATION_UPGRADE) ? UPGRADE_NONE : UPGRADE_NEEDED;
}

bool upgrade_is_movable(const struct eng_instance *inst)
{
    bool has_failed = inst->upgrade == UPGRADE_FAILED && inst->state == INST_FAILED;
    return !inst->removing && (has_failed || (STATE_BIT(inst->state) & MOVABLE));
}

/** It may not stay where it is, whatever it runs. */
static bool is_evicted(const struct eng_instance *inst)
{
    return inst->bare_host && eng_service_is_excluded(inst->component->service, inst->bare_host);
}

bool upgrade_waits_for_reinit(const struct eng_instance *inst)
{
    bool is_moved = inst->upgrade == UPGRADE_MOVING && inst->revision != inst->goal;
    return (is_moved || inst->is_restarting) && !inst->removing && !is_evicted(inst);
}

void upgrade_reinit(struct step *st, struct eng_instance *inst)
{
    instance_stop_probe(st, inst);
    instance_unpublish(st, inst);
    inst->drain = DRAIN_NONE;
    inst->is_restarting = false;
    instance_set_due(inst, 0);
    inst->attempt++;
    instance_enter(inst, INST_UPGRADING);
    instance_take_revision(inst);
    wait_set(&inst->wait, &(struct eng_waiting){.why = WAIT_REINIT, .name = inst->version});
    step_emit_container(st, EFF_REINIT, inst)->launch = launch_new(st->e, inst);
    step_touch_instance(st, inst);
}

void upgrade_restart(struct step *st, struct eng_instance *inst)
{
    switch (inst->state) {
    case INST_READY:
    case INST_RUNNING:
        inst->n_restarts++;
        if (drain_ms(inst) > 0) {
            inst->is_restarting = true;
            drain_begin(st, inst);
        } else {
            upgrade_reinit(st, inst);
        }
        return;
    case INST_PENDING:
    case INST_EXITED:
        instance_set_due(inst, 0);
        step_touch_instance(st, inst);
        return;
    case INST_REQUESTED:
    case INST_ALLOCATED:
    case INST_LAUNCHED:
    case INST_UPGRADING:
    case INST_DRAINING:
    case INST_RECOVERING:
    case INST_RELEASING:
    case INST_SUCCEEDED:
    case INST_FAILED:
    case INST_STOPPED: return;
    }
}

void upgrade_move(struct step *st, struct eng_instance *inst, int64_t goal)
{
    instance_set_goal(inst, goal, UPGRADE_MOVING);
    step_touch_instance(st, inst);
    if (STATE_BIT(inst->state) & STATES_UP) {
        if (drain_ms(inst) > 0)
            drain_begin(st, inst);
        else
            upgrade_reinit(st, inst);
        return;
    }
    if (inst->state == INST_FAILED)
        instance_enter(inst, INST_PENDING);
    if (inst->state == INST_PENDING || inst->state == INST_EXITED)
        instance_set_due(inst, 0);
}

void upgrade_take_back(struct step *st, struct eng_instance *inst)
{
    instance_set_goal(inst, inst->revision, UPGRADE_NONE);
    step_touch_instance(st, inst);
    if (inst->state == INST_DRAINING && !is_evicted(inst))
        drain_take_back(st, inst);
}

void upgrade_running(struct step *st, struct eng_instance *inst)
{
    if (inst->upgrade == UPGRADE_MOVING && patience_ms(inst) > 0)
        instance_set_due(inst, st->now_ms + patience_ms(inst));
}

static void be_done(struct step *st, struct eng_instance *inst)
{
    instance_set_due(inst, 0);
    instance_set_goal(inst, inst->goal, UPGRADE_NONE);
    step_touch_instance(st, inst);
}

void upgrade_ready(struct step *st, struct eng_instance *inst)
{
    int64_t steady_ms = 1000 * spec_prop_int(instance_spec(inst), PROP_UPGRADE_STEADY, 0);
    if (inst->upgrade == UPGRADE_NONE || inst->revision != inst->goal)
        return;
    if (inst->upgrade != UPGRADE_MOVING || steady_ms == 0) {
        be_done(st, inst);
        return;
    }
    instance_set_due(inst, st->now_ms + steady_ms);
    step_touch_instance(st, inst);
}

/** The operation hears of it when the service is settled. */
static void fail(struct step *st, struct eng_instance *inst, const char *text)
{
    struct eng_operation *op = inst->component->service->operation;
    instance_set_goal(inst, inst->goal, UPGRADE_FAILED);
    step_note(st, inst->component->service, "instance %s failed to run version %s: %s", inst->name,
              inst->version, text);
    history_record(st, inst->component->service, inst->name, eng_upgrade_word(UPGRADE_FAILED), text);
    if (!op->why)
        op->why = mem_fmt("instance %s: %s", inst->name, text);
    step_touch(st, inst->component->service);
    step_touch_instance(st, inst);
}

bool upgrade_is_tried(const struct eng_instance *inst, const struct eng_exit *x)
{
    const struct eng_component *c = inst->component;
    bool is_own = x->origin == ORIGIN_PROCESS || x->origin == ORIGIN_CONTAINER;
    return is_own && inst->upgrade == UPGRADE_MOVING && c->next_revision && c->service->operation &&
           inst->goal == c->next_revision && inst->revision == inst->goal;
}

void upgrade_ended(struct step *st, struct eng_instance *inst, const char *text)
{
    instance_enter(inst, INST_FAILED);
    wait_clear(&inst->wait);
    fail(st, inst, text);
}

void upgrade_due(struct step *st, struct eng_instance *inst)
{
    bool is_up = STATE_BIT(inst->state) & STATES_UP;
    if (!is_up || inst->upgrade != UPGRADE_MOVING || inst->due_ms > st->now_ms)
        return;
    if (inst->state == INST_READY) {
        be_done(st, inst);
        return;
    }
    instance_set_due(inst, 0);
    if (inst->component->next_revision && inst->goal == inst->component->next_revision)
        fail(st, inst, "its process is not ready in time");
}
