/**
 * An instance that is to be stopped while the service runs on loses its clients first, where its component asks for it
 * (yarn.service.drain.seconds): its record is withdrawn, the DNS servers confirm that they answer without it, and for
 * some seconds it serves those who still know its address.
 *
 *     READY ──instance_drop──> RECORD ──deleted──> SYNC ──confirmed──> PAUSE ──seconds──> RELEASING
 *                                │ not in time or refused ──────────────> │
 *
 * Each phase ends by itself, so a registry or a DNS server that is away delays a stop for a bounded time.
 */
#include "engine/component.h"
#include "engine/instance.h"
#include "engine/operation.h"
#include "engine/step.h"

#define RECORD_MAX_MS 10000
#define SYNC_MAX_MS   30000 /* longer than who carries EFF_SYNC out may need */

int64_t drain_ms(const struct eng_instance *inst)
{
    return inst->published ? 1000 * spec_prop_int(inst->component->spec, PROP_DRAIN, 0) : 0;
}

static void enter(struct step *st, struct eng_instance *inst, enum eng_drain phase, int64_t ms)
{
    inst->drain = phase;
    instance_set_due(inst, st->now_ms + ms);
    step_touch_instance(st, inst);
}

static void pause_clients(struct step *st, struct eng_instance *inst)
{
    int64_t seconds = spec_prop_int(inst->component->spec, PROP_DRAIN, 0);
    enter(st, inst, DRAIN_PAUSE, 1000 * seconds);
    wait_set(&inst->wait, &(struct eng_waiting){.why = WAIT_DRAIN_CLIENTS, .n = seconds});
}

static void sync_names(struct step *st, struct eng_instance *inst)
{
    enter(st, inst, DRAIN_SYNC, SYNC_MAX_MS);
    instance_wait(inst, WAIT_DRAIN_SYNC, NULL);
    step_emit_container(st, EFF_SYNC, inst);
}

void drain_begin(struct step *st, struct eng_instance *inst)
{
    instance_stop_probe(st, inst);
    instance_enter(inst, INST_DRAINING);
    enter(st, inst, DRAIN_RECORD, RECORD_MAX_MS);
    instance_wait(inst, WAIT_DRAIN_RECORD, NULL);
    instance_unpublish(st, inst);
}

void drain_unpublished(struct step *st, struct eng_instance *inst, bool is_deleted)
{
    if (inst->state != INST_DRAINING || inst->drain != DRAIN_RECORD)
        return;
    if (is_deleted)
        sync_names(st, inst);
    else
        pause_clients(st, inst);
}

/** Names may lead to it still. Recorded once for all instances that this concerns, until a sync is confirmed again. */
static void go_on_unconfirmed(struct step *st, struct eng_instance *inst, const char *why)
{
    struct eng_service *s = inst->component->service;
    if (!s->is_unsynced)
        history_record(st, s, inst->name, "drained without confirmation", why);
    s->is_unsynced = true;
    step_note(st, s, "%s is drained though names may lead to it still: %s", inst->name, why);
    pause_clients(st, inst);
}

void drain_synced(struct step *st, struct eng_instance *inst, const struct eng_event *ev)
{
    if (inst->state != INST_DRAINING || inst->drain != DRAIN_SYNC)
        return;
    if (ev->code) {
        go_on_unconfirmed(st, inst, ev->text ? ev->text : err_text(ev->code));
        return;
    }
    inst->component->service->is_unsynced = false;
    pause_clients(st, inst);
}

void drain_stop(struct step *st, struct eng_instance *inst)
{
    inst->drain = DRAIN_NONE;
    inst->is_restarting = false;
    instance_set_due(inst, 0);
    instance_stop(st, inst);
}

void drain_take_back(struct step *st, struct eng_instance *inst)
{
    inst->drain = DRAIN_NONE;
    inst->is_restarting = false;
    instance_set_due(inst, 0);
    instance_enter(inst, INST_RUNNING);
    instance_start_probe(st, inst);
    instance_publish(st, inst);
    step_touch_instance(st, inst);
}

void drain_due(struct step *st, struct eng_instance *inst)
{
    if (inst->state != INST_DRAINING || inst->due_ms > st->now_ms)
        return;
    if (inst->drain == DRAIN_PAUSE && upgrade_waits_for_reinit(inst)) {
        upgrade_reinit(st, inst);
        return;
    }
    if (inst->drain == DRAIN_PAUSE) {
        drain_stop(st, inst);
        return;
    }
    go_on_unconfirmed(st, inst,
                      inst->drain == DRAIN_RECORD
                          ? "the registry has not deleted its record"
                          : "a DNS server has not confirmed that it answers without it");
}

void drain_resume(struct step *st, struct eng_instance *inst)
{
    if (inst->drain == DRAIN_SYNC)
        step_emit_container(st, EFF_SYNC, inst);
}
