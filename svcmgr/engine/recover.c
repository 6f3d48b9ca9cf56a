/**
 * After a restart: what the cluster reports of the containers that were held, and what was outstanding.
 *
 *     engine_load … ──EV_RECOVERED for each container──> EV_RESUME ──> instance_resume of each instance
 *
 * A process that ran is RECOVERING while it is not known whether it still runs: the cluster says so (UNKNOWN), or it may report
 * containers later than EV_RESUME (engine_config.late_reports), until the deadline of the service. Nothing takes its place
 * meanwhile, and its record stays.
 */
#include <stdlib.h>

#include "engine/component.h"
#include "engine/instance.h"
#include "engine/step.h"

#define IS_STARTED (STATE_BIT(INST_LAUNCHED) | STATES_UP)

/** For how long a container may be reported after EV_RESUME; 0: it is lost. */
static int64_t patience_ms(const struct step *st, const struct eng_instance *inst)
{
    if (!st->e->cfg.late_reports)
        return 0;
    int64_t ms = spec_prop_int(inst->component->spec, PROP_RECOVERY, 0);
    return ms > 0 ? ms : 0;
}

/** Whether its process runs is not known. due_ms 0: the cluster promised to say it. */
static void be_recovering(struct step *st, struct eng_instance *inst, int64_t due_ms)
{
    bool is_explained = inst->state == INST_RECOVERING && inst->wait; /* the cluster has said what it lacks */
    instance_enter(inst, INST_RECOVERING);
    instance_set_due(inst, due_ms);
    if (!is_explained)
        instance_wait(inst, WAIT_RECOVERY, "the cluster has not reported the container yet");
    step_touch_instance(st, inst);
}

static void give_up(struct step *st, struct eng_instance *inst)
{
    instance_exited(st, inst, &(struct eng_event){.kind = EV_LOST, .text = "not found after a restart"});
}

static void found_running(struct step *st, struct eng_instance *inst, const struct eng_event *ev)
{
    int64_t since_ms = inst->running_ms;
    if (inst->state == INST_RELEASING) {
        inst->recovered = false; /* stopped again by EV_RESUME */
        return;
    }
    if (inst->state == INST_DRAINING)
        return;
    if (inst->state == INST_UPGRADING && ev->attempt && ev->attempt < inst->attempt) {
        inst->recovered = false; /* the process before: replaced by EV_RESUME */
        return;
    }
    instance_enter(inst, INST_LAUNCHED);
    instance_set_due(inst, 0);
    inst->published = false; /* written again: it may have been lost with us */
    inst->attempt = ev->attempt ? ev->attempt : inst->attempt;
    instance_running(st, inst, ev);
    inst->running_ms = since_ms ? since_ms : inst->running_ms;
}

static void found_ended(struct step *st, struct eng_instance *inst, const struct eng_event *ev)
{
    struct eng_event as = *ev;
    as.kind = ev->found == FOUND_EXITED ? EV_EXITED : EV_LOST;
    bool is_older = ev->attempt && ev->attempt < inst->attempt;
    bool never_launched = (inst->state == INST_ALLOCATED && (as.kind == EV_LOST || is_older)) ||
                          (inst->state == INST_UPGRADING && is_older);
    inst->recovered = !never_launched && !st->e->resumed; /* EV_RESUME resets it */
    if (!never_launched)
        instance_exited(st, inst, &as);
}

/** Its node may be another daemon by now, on another port. */
static void take_node(struct step *st, struct eng_instance *inst, const struct eng_event *ev)
{
    bool is_known = ev->node_http && inst->node_http && strcmp(ev->node_http, inst->node_http) == 0;
    if (!ev->node_http || is_known)
        return;
    free(inst->node_http);
    inst->node_http = mem_str(ev->node_http);
    step_touch_instance(st, inst);
}

static void on_recovered(struct step *st, struct eng_instance *inst, const struct eng_event *ev)
{
    inst->recovered = true;
    take_node(st, inst, ev);
    bool is_over = ev->found == FOUND_EXITED && !ev->attempt; /* the container has ended, too */
    if (!is_over && (inst->state == INST_EXITED || inst->state == INST_REQUESTED))
        return; /* requested again by EV_RESUME */
    if (gang_is_held(inst) && ev->found == FOUND_RUNNING)
        return; /* the container is there, and nothing in it */
    if (ev->found == FOUND_UNKNOWN && (STATE_BIT(inst->state) & (IS_STARTED | STATE_BIT(INST_RECOVERING))))
        be_recovering(st, inst, 0);
    else if (ev->found == FOUND_RUNNING)
        found_running(st, inst, ev);
    else if (ev->found != FOUND_UNKNOWN)
        found_ended(st, inst, ev);
}

void instance_recovered(struct step *st, struct eng_instance *inst, const struct eng_event *ev)
{
    on_recovered(st, inst, ev);
    bool is_gone = map_get(&st->e->containers, ev->container_id) != inst;
    if (!st->e->resumed || ev->found == FOUND_UNKNOWN || is_gone)
        return;
    /* It was not known when EV_RESUME came: what that would have done is done now. */
    if (inst->state == INST_ALLOCATED || inst->state == INST_RELEASING || inst->state == INST_UPGRADING)
        instance_resume(st, inst);
    inst->recovered = false;
}

void instance_recover_due(struct step *st, struct eng_instance *inst)
{
    if (inst->state == INST_RECOVERING && inst->due_ms && inst->due_ms <= st->now_ms)
        give_up(st, inst);
}

/** It was not reported by EV_RESUME. */
static void resume_started(struct step *st, struct eng_instance *inst)
{
    int64_t latest_ms = st->now_ms + patience_ms(st, inst);
    bool is_given = inst->state == INST_RECOVERING && inst->due_ms && inst->due_ms < latest_ms;
    if (latest_ms == st->now_ms)
        give_up(st, inst);
    else if (!is_given)
        be_recovering(st, inst, latest_ms);
}

void instance_resume(struct step *st, struct eng_instance *inst)
{
    bool was_recovered = inst->recovered;
    inst->recovered = inst->unresumed = false;
    int64_t latest_ms = st->now_ms + instance_longest_pause_ms(st, inst);
    bool waits = inst->state == INST_PENDING || inst->state == INST_EXITED;
    if (waits && inst->due_ms > latest_ms)
        instance_set_due(
            inst, latest_ms); /* written by a version that computed with a wall clock, which was set since */
    switch (inst->state) {
    case INST_ALLOCATED:
        if (was_recovered)
            return;
        inst->attempt -= !gang_is_held(inst); /* else it was not counted yet */
        instance_enter(inst, INST_REQUESTED);
        ask_emit(st, inst);
        step_touch_instance(st, inst);
        break;
    case INST_EXITED:
        instance_enter(inst, INST_REQUESTED);
        ask_emit(st, inst);
        step_touch_instance(st, inst);
        break;
    case INST_REQUESTED: ask_emit(st, inst); break;
    case INST_LAUNCHED:
    case INST_RUNNING:
    case INST_READY:
    case INST_RECOVERING:
        if (!was_recovered)
            resume_started(st, inst);
        break;
    case INST_DRAINING:
        if (was_recovered || patience_ms(st, inst) > 0)
            drain_resume(st, inst);
        else
            give_up(st, inst);
        break;
    case INST_UPGRADING:
        if (!was_recovered)
            step_emit_container(st, EFF_REINIT, inst)->launch = launch_new(st->e, inst);
        break;
    case INST_RELEASING: step_emit_container(st, EFF_STOP, inst); break;
    case INST_PENDING:
    case INST_SUCCEEDED:
    case INST_FAILED:
    case INST_STOPPED: break;
    }
}
