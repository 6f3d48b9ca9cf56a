/**
 * The instance machine.
 *
 *   PENDING ─request─> REQUESTED ─allocated─> ALLOCATED ─launched─> LAUNCHED ─running─> RUNNING <─probe─> READY
 *      ^                                          ^ retry                                  │ process ended
 *      │                                          └────────── EXITED <─retry here──────────┤ (from ALLOCATED on)
 *      ├──new container, by restart policy────────────────────────────────────────────────┤
 *      │                                          SUCCEEDED | FAILED <─no restart─────────┘
 *      └──(kept)── RELEASING <─drop── ALLOCATED, LAUNCHED, RUNNING, READY;  STOPPED or gone when the container ended
 *                      ^──seconds── DRAINING <─drop── RUNNING, READY;  back to RUNNING when it is taken back (drain.c)
 *
 *   RUNNING, READY ─another revision─> UPGRADING ─running─> RUNNING;  FAILED when it ends before it is ready (upgrade.c)
 *
 *   LAUNCHED, RUNNING, READY ─restart, not reported yet─> RECOVERING ─running─> RUNNING;  lost when the time is over (recover.c)
 *
 * From REQUESTED and ALLOCATED it goes back to PENDING, for another address, when another program of the host has its own.
 * What follows an end is the policy's decision (policy.h): the process again in its container, a new container, or none.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"
#include "engine/policy.h"
#include "engine/component.h"
#include "engine/instance.h"
#include "engine/operation.h"
#include "engine/places.h"
#include "engine/registry.h"
#include "engine/service.h"
#include "engine/step.h"

void instance_wait(struct eng_instance *inst, enum eng_wait why, const char *text)
{
    wait_set(&inst->wait, &(struct eng_waiting){.why = why, .text = (char *)text});
}

/** It waits for its next start, which is at due_ms. */
static void wait_for_start(const struct step *st, struct eng_instance *inst, enum eng_wait why,
                           const char *text)
{
    wait_set(&inst->wait,
             &(struct eng_waiting){.why = why, .n = inst->due_ms - st->now_ms, .text = (char *)text});
}

static void set_text(char **slot, const char *text)
{
    char *copy = mem_str(text);
    free(*slot);
    *slot = copy;
}

bool instance_holds_process(const struct eng_instance *inst)
{
    if (gang_is_held(inst))
        return false;
    return inst->state == INST_ALLOCATED || inst->state == INST_LAUNCHED || inst->state == INST_RUNNING ||
           inst->state == INST_READY || inst->state == INST_UPGRADING || inst->state == INST_DRAINING ||
           inst->state == INST_RECOVERING || inst->state == INST_RELEASING;
}

static void touch(struct step *st, struct eng_instance *inst)
{
    step_touch_instance(st, inst);
}

/* ---- asking for a container ---- */

static void forget_retries(struct eng_instance *inst)
{
    inst->n_retries = 0;
    json_decref(inst->retry_times);
    inst->retry_times = NULL;
}

/** The name that we give the container of a request, until the cluster gives it another. free() */
static char *container_name(const struct engine *e, const struct eng_service *s, int64_t request_id)
{
    return mem_fmt("container_%lld_%04lld_01_%06lld", (long long)e->cluster_ts, (long long)s->app_seq,
                   (long long)request_id);
}

void instance_request(struct step *st, struct eng_instance *inst)
{
    struct eng_service *s = inst->component->service;
    bool has_address = address_take(st->e, inst);
    if (!has_address || !ports_take(st->e, inst)) {
        instance_set_due(inst, st->now_ms + ADDRESS_RETRY_MS);
        wait_set(&inst->wait, &(struct eng_waiting){.why = has_address ? WAIT_PORT : WAIT_ADDRESS,
                                                    .name = (char *)st->e->cfg.address_net});
        return;
    }
    inst->request_id = s->next_container++;
    inst->container_id = container_name(st->e, s, inst->request_id);
    map_set(&st->e->containers, inst->container_id, inst);
    inst->is_held = inst->is_migrating = false;
    inst->asked_ms = st->now_ms;
    set_text(&inst->wish, places_wish(st->e, inst));
    instance_enter(inst, INST_REQUESTED);
    inst->attempt = 0;
    inst->launched_ms = inst->gpus = 0;
    forget_retries(inst);
    inst->n_containers++;
    totals_requested(inst);
    int64_t escalate_ms = inst->wish ? places_escalate_ms(inst) : 0;
    instance_set_due(inst, escalate_ms ? st->now_ms + escalate_ms : 0);
    wait_set(&inst->wait,
             &(struct eng_waiting){.why = inst->wish ? WAIT_NODE : WAIT_ALLOCATION, .name = inst->wish});
    ask_emit(st, inst);
    step_touch(st, s); /* next_container */
    touch(st, inst);
}

/* ---- launch ---- */

void instance_take_revision(struct eng_instance *inst)
{
    const struct eng_component *c = inst->component;
    if (!c->next_revision || inst->goal != c->next_revision)
        instance_set_goal(inst, c->revision, inst->upgrade);
    inst->revision = inst->goal;
    set_text(&inst->version, instance_version(inst));
}

static void launch(struct step *st, struct eng_instance *inst)
{
    instance_enter(inst, INST_ALLOCATED);
    inst->running_ms = 0;
    instance_set_due(inst, 0);
    instance_take_revision(inst);
    instance_wait(inst, WAIT_START, NULL);
    step_emit_container(st, EFF_LAUNCH, inst)->launch = launch_new(st->e, inst);
    touch(st, inst);
}

void instance_launch(struct step *st, struct eng_instance *inst)
{
    if (inst->is_in_gang)
        gang_leave(inst);
    inst->attempt++;
    if (!inst->launched_ms)
        inst->launched_ms = st->wall_ms;
    launch(st, inst);
}

/** Its container waits for those of the others. */
static void hold(struct step *st, struct eng_instance *inst)
{
    instance_enter(inst, INST_ALLOCATED);
    gang_join(inst);
    instance_wait(inst, WAIT_GANG, NULL);
    touch(st, inst);
}

static void on_allocated(struct step *st, struct eng_instance *inst, const struct eng_event *ev)
{
    if (inst->state != INST_REQUESTED)
        return; /* asked twice around a restart */
    set_text(&inst->bare_host, ev->host);
    set_text(&inst->node_http, ev->node_http);
    if (ev->ip && !inst->ip)
        set_text(&inst->ip, ev->ip); /* stored before the process starts, so it is the same after a restart */
    if (ev->node_ip && instance_spec(inst)->task)
        set_text(&inst->ip, ev->node_ip);
    inst->gpus = ev->gpus;
    places_allocated(st, inst);
    inst->is_held = true;
    if (policy_of_component(inst->component)->remembers_nodes)
        inst->placing = inst->is_relaxed ? PLACING_ESCALATED : inst->wish ? PLACING_PLACED : PLACING_OPEN;
    inst->is_relaxed = false;
    instance_set_due(inst, 0);
    mem_free_ptr(&inst->wish); /* after it was taken out of the heap of due times */
    inst->allocated_ms = st->wall_ms;
    if (gang_holds(inst->component->service))
        hold(st, inst);
    else
        instance_launch(st, inst);
}

static void on_launched(struct step *st, struct eng_instance *inst)
{
    if (inst->state != INST_ALLOCATED && inst->state != INST_UPGRADING)
        return;
    instance_enter(inst, INST_LAUNCHED);
    instance_wait(inst, WAIT_CONTAINER_ADDRESS, NULL);
    touch(st, inst);
}

/* ---- running, ready ---- */

void instance_publish(struct step *st, struct eng_instance *inst)
{
    struct eng_record *r = mem_new(struct eng_record);
    r->description = mem_str(inst->name);
    r->yarn_id = mem_str(inst->container_id);
    r->persistence = mem_str("container");
    r->ip = mem_strn(inst->ip, strcspn(inst->ip, ","));
    r->hostname = mem_str(inst->hostname);
    r->component = mem_str(inst->component->name);
    r->ports = ports_of(inst, &r->n_ports);
    r->is_unready = inst->record_unready;
    r->attributes =
        json_incref(eng_rules_of(inst->component->service->rules, inst->component->name)->attributes);
    /* The same container may have lost its record before: no repetition of that deletes this one. */
    backlog_keep_record(st, inst->component->service, inst->container_id);
    step_registry(st, EFF_PUBLISH, inst->component->service, inst->container_id)->record = r;
    inst->published = true;
    instance_set_unpublished(inst, false);
}

void instance_start_probe(struct step *st, struct eng_instance *inst)
{
    struct eng_probe *probe = probe_new(st->e, inst);
    if (!probe) {
        instance_enter(inst, INST_READY);
        wait_clear(&inst->wait);
        upgrade_ready(st, inst);
        return;
    }
    instance_wait(inst, WAIT_FIRST_PROBE, NULL);
    step_emit_container(st, EFF_PROBE_START, inst)->probe = probe;
    upgrade_running(st, inst);
}

void instance_running(struct step *st, struct eng_instance *inst, const struct eng_event *ev)
{
    bool starting =
        inst->state == INST_ALLOCATED || inst->state == INST_LAUNCHED || inst->state == INST_UPGRADING;
    if (!starting) {
        if (inst->state == INST_READY)
            wait_clear(&inst->wait); /* It was not known for a time whether it runs. */
        return;
    }
    const char *host = ev->host ? ev->host : inst->bare_host;
    bool moved = ev->ip && inst->ip && strcmp(ev->ip, inst->ip) != 0;
    if (moved)
        addresses_mark(&st->e->addresses, inst->ip, false);
    if (ev->ip)
        set_text(&inst->ip, ev->ip);
    if (!inst->ip || !host) {
        on_launched(st, inst);
        return;
    }
    set_text(&inst->hostname, host);
    if (!inst->bare_host)
        set_text(&inst->bare_host, host);
    instance_enter(inst, INST_RUNNING);
    inst->running_ms = st->now_ms;
    totals_started(st, inst);
    instance_start_probe(st, inst);
    /* One that was taken over counts as ready until a probe says otherwise: names stay through a restart. */
    inst->record_unready = inst->state != INST_READY && !inst->recovered;
    instance_publish(st,
                     inst); /* also after a relaunch: the record may have gone with an earlier life of us */
    touch(st, inst);
}

static void on_probe(struct step *st, struct eng_instance *inst, const struct eng_event *ev)
{
    bool up = inst->state == INST_RUNNING || inst->state == INST_READY;
    if (!up || (ev->attempt && ev->attempt != inst->attempt))
        return;
    instance_enter(inst, ev->ready ? INST_READY : INST_RUNNING);
    if (ev->ready) {
        wait_clear(&inst->wait);
        upgrade_ready(st, inst);
    } else {
        instance_wait(inst, WAIT_READINESS, ev->text ? ev->text : "the probe fails");
    }
    if (inst->record_unready == ev->ready) {
        inst->record_unready = !ev->ready;
        instance_publish(st, inst);
    }
    step_affect(st, inst->component->service); /* probed anew after a restart: nothing to store */
}

/* ---- the end of a process ---- */

/** The longest pause between an end and the next start. */
int64_t instance_longest_pause_ms(const struct step *st, const struct eng_instance *inst)
{
    int64_t max = spec_prop_int(inst->component->spec, PROP_RETRY_INTERVAL, st->e->cfg.retry_interval_ms);
    return max > BACKOFF_LEAST_MS ? max : BACKOFF_LEAST_MS;
}

/** When the next start may be, doubling from start to start. */
static int64_t next_start_ms(struct step *st, struct eng_instance *inst)
{
    int64_t max = instance_longest_pause_ms(st, inst);
    if (inst->running_ms > 0 && st->now_ms - inst->running_ms >= BACKOFF_RESET_MS)
        inst->backoff_ms = 0;
    int64_t delay = inst->backoff_ms > 0 ? inst->backoff_ms : BACKOFF_FIRST_MS;
    delay = delay < max ? delay : max;
    inst->backoff_ms = backoff_next(delay, BACKOFF_FIRST_MS, max);
    return st->now_ms + delay;
}

void instance_stop_probe(struct step *st, struct eng_instance *inst)
{
    if (inst->state == INST_RUNNING || inst->state == INST_READY)
        step_emit_container(st, EFF_PROBE_STOP, inst);
}

/** Delete the record of the instance; it is remembered until the registry has said that it is gone. */
void instance_unpublish(struct step *st, struct eng_instance *inst)
{
    struct eng_service *s = inst->component->service;
    if (!inst->published)
        return;
    inst->published = false;
    backlog_unpublish(st, s, inst->container_id);
}

/** The container is gone: forget it. */
static void forget_container(struct step *st, struct eng_instance *inst)
{
    instance_unpublish(st, inst);
    places_left(st, inst);
    service_report_ended(st, inst->component->service, inst->container_id);
    map_remove(&st->e->containers, inst->container_id);
    free(inst->last_container_id);
    free(inst->last_node_http);
    inst->last_container_id = inst->container_id;
    inst->last_node_http = inst->node_http;
    inst->container_id = inst->node_http = NULL;
    inst->running_ms = 0;
    touch(st, inst);
}

static void keep_exit(const struct step *st, struct eng_instance *inst, const struct eng_exit *x)
{
    instance_set_exit(inst, x, x->ended_ms ? x->ended_ms : st->wall_ms);
}

static void be_final(struct step *st, struct eng_instance *inst, enum eng_instance_state state)
{
    struct eng_end end = {0};
    struct eng_service *s = inst->component->service;
    instance_enter(inst, state);
    inst->completed_ms = st->wall_ms;
    wait_clear(&inst->wait);
    if (policy_of(s->kind)->decide_end(s, inst, &end))
        service_end(st, s, &end);
}

/** After the container is gone: a new one, or the end, as its policy decided. */
static void act(struct step *st, struct eng_instance *inst, enum eng_verdict verdict, struct eng_end *end,
                const char *text)
{
    switch (verdict) {
    case VERDICT_SUCCEEDED: be_final(st, inst, INST_SUCCEEDED); break;
    case VERDICT_FAILED: be_final(st, inst, INST_FAILED); break;
    case VERDICT_END:
        instance_enter(inst, INST_FAILED);
        inst->completed_ms = st->wall_ms;
        inst->component->state = COMP_FAILED;
        service_end(st, inst->component->service, end);
        break;
    case VERDICT_RETRY:
    case VERDICT_RESTART:
        instance_enter(inst, INST_PENDING);
        inst->n_restarts++;
        instance_set_due(inst, next_start_ms(st, inst));
        wait_for_start(st, inst, WAIT_RESTART, text);
        break;
    }
}

/** A process ended, or its container did. kept: the container is still held. */
static void process_ended(struct step *st, struct eng_instance *inst, const struct eng_exit *x, bool kept)
{
    char text[EXIT_TEXT_MAX];
    struct eng_end end = {0};
    enum eng_verdict verdict;
    exit_describe(x, text, sizeof text);
    step_note(st, inst->component->service, "instance %s in %s ended: %s", inst->name, inst->container_id,
              text);
    history_record(st, inst->component->service, inst->name, eng_exit_cause_word(x->cause), text);
    instance_stop_probe(st, inst);
    keep_exit(st, inst, x);
    totals_ended(st, inst, x);
    touch(st, inst);
    if (upgrade_is_tried(inst, x)) {
        if (kept)
            step_emit_container(st, EFF_RELEASE, inst);
        forget_container(st, inst);
        upgrade_ended(st, inst, text);
        return;
    }
    verdict = policy_of_component(inst->component)->decide_exit(st, inst, x, kept, &end);
    if (verdict == VERDICT_RETRY) {
        instance_enter(inst, INST_EXITED);
        inst->n_restarts++;
        instance_set_due(inst, next_start_ms(st, inst));
        wait_for_start(st, inst, WAIT_RETRY, text);
        return;
    }
    int64_t since = inst->running_ms;
    if (kept)
        step_emit_container(st, EFF_RELEASE, inst);
    forget_container(st, inst);
    inst->running_ms = since; /* the back-off asks how long it ran */
    if (policy_of_component(inst->component)->is_node_failure(x))
        places_failed(st, inst);
    act(st, inst, verdict, &end, text);
}

/** The service ended before it did: it is final, and keeps its number. */
static void be_stopped(struct step *st, struct eng_instance *inst)
{
    struct eng_exit x = eng_exit_of(CAUSE_APPLICATION_ENDED, 0, NULL);
    x.origin = ORIGIN_US;
    keep_exit(st, inst, &x);
    addresses_mark(&st->e->addresses, inst->ip, false);
    mem_free_ptr(&inst->ip);
    ports_give_back(st->e, inst);
    wait_clear(&inst->wait);
    instance_enter(inst, INST_STOPPED);
    inst->completed_ms = st->wall_ms;
    touch(st, inst);
}

/** It was moved by request, which its policy judges as an exit. */
static void migrated(struct step *st, struct eng_instance *inst)
{
    char text[EXIT_TEXT_MAX];
    struct eng_end end = {0};
    const struct eng_exit x = eng_exit_of(CAUSE_MIGRATED, 0, NULL);
    inst->is_migrating = false;
    inst->drain = DRAIN_NONE;
    exit_describe(&x, text, sizeof text);
    keep_exit(st, inst, &x);
    act(st, inst, policy_of_component(inst->component)->decide_exit(st, inst, &x, false, &end), &end, text);
}

/** The container of a dropped instance has ended. */
static void released(struct step *st, struct eng_instance *inst)
{
    totals_released(st, inst);
    forget_container(st, inst);
    if (inst->removing) {
        component_forget(st, inst->component, inst);
        return;
    }
    if (inst->component->service->state == SVC_FINISHING) {
        be_stopped(st, inst);
        return;
    }
    if (inst->is_migrating) {
        migrated(st, inst);
        return;
    }
    instance_set_exit(inst, NULL, 0);   /* of a container before that one */
    instance_enter(inst, INST_PENDING); /* it was taken back meanwhile, or is replaced */
    inst->drain = DRAIN_NONE;
    instance_set_due(inst, 0);
    inst->backoff_ms = 0;
}

/** Nothing has run in its container. One that was held is gone, and a cluster that names containers gives no other of its name. */
static void ask_again(struct step *st, struct eng_instance *inst)
{
    if (!inst->is_held) {
        instance_wait(inst, WAIT_ALLOCATION, NULL);
        ask_emit(st, inst);
        return;
    }
    forget_container(st, inst);
    instance_enter(inst, INST_PENDING);
    instance_set_due(inst, 0);
    wait_clear(&inst->wait);
}

void instance_exited(struct step *st, struct eng_instance *inst, const struct eng_event *ev)
{
    if (inst->state == INST_DRAINING && ev->attempt && ev->attempt != inst->attempt)
        return; /* of an earlier start */
    if (inst->state == INST_RELEASING || inst->state == INST_DRAINING) {
        /* It ended by itself, or a restart has forgotten the request to stop: the container is still held. */
        if (ev->kind == EV_EXITED && ev->attempt)
            step_emit_container(st, EFF_RELEASE, inst);
        released(st, inst);
        return;
    }
    bool known = inst->state == INST_EXITED && ev->kind == EV_EXITED; /* that process has ended before */
    if (ev->attempt && (ev->attempt != inst->attempt || known))
        return; /* of an earlier start */
    if (inst->state == INST_REQUESTED && !inst->attempt) {
        ask_again(st, inst);
        return;
    }
    if (ev->kind == EV_LOST) {
        struct eng_exit x = eng_exit_of(CAUSE_LOST, ev->exit.raw, ev->text);
        x.ended_ms = ev->exit.ended_ms;
        x.last_stderr = ev->exit.last_stderr;
        process_ended(st, inst, &x, false);
        return;
    }
    process_ended(st, inst, &ev->exit, ev->attempt != 0);
}

/* ---- dropping ---- */

void instance_stop(struct step *st, struct eng_instance *inst)
{
    instance_stop_probe(st, inst);
    instance_unpublish(st, inst);
    step_emit_container(st, EFF_STOP, inst);
    instance_enter(inst, INST_RELEASING);
    instance_wait(inst, WAIT_STOP, NULL);
    touch(st, inst);
}

void instance_drop(struct step *st, struct eng_instance *inst, bool remove)
{
    if (remove)
        instance_set_removing(inst, true);
    touch(st, inst);
    switch (inst->state) {
    case INST_REQUESTED:
        ask_cancel(st, inst);
        if (!inst->attempt) /* else a process ran in it before a restart: the container may be held */
            break;
        /* fall through */
    case INST_EXITED:
        step_emit_container(st, EFF_RELEASE, inst);
        instance_unpublish(st, inst);
        service_report_ended(st, inst->component->service, inst->container_id);
        break;
    case INST_RUNNING:
    case INST_READY:
        if (drain_ms(inst) > 0 && inst->component->service->state != SVC_FINISHING)
            drain_begin(st, inst);
        else
            instance_stop(st, inst);
        return;
    case INST_DRAINING:
        if (inst->component->service->state == SVC_FINISHING)
            drain_stop(st, inst);
        return;
    case INST_ALLOCATED:
    case INST_LAUNCHED:
    case INST_UPGRADING:
    case INST_RECOVERING: instance_stop(st, inst); return;
    case INST_RELEASING: return;
    case INST_PENDING:
    case INST_SUCCEEDED:
    case INST_FAILED:
    case INST_STOPPED: break;
    }
    component_forget(st, inst->component, inst);
}

void instance_evict(struct step *st, struct eng_instance *inst)
{
    bool is_going = inst->state == INST_RELEASING || inst->state == INST_DRAINING;
    if (is_going || !inst->container_id || inst->state == INST_REQUESTED)
        return;
    inst->is_migrating = policy_of_component(inst->component)->judges_moves;
    if (inst->state != INST_EXITED) {
        instance_drop(st, inst, false);
        return;
    }
    step_emit_container(st, EFF_RELEASE, inst);
    released(st, inst);
}

void instance_put_down(struct step *st, struct eng_instance *inst)
{
    switch (inst->state) {
    case INST_REQUESTED:
        ask_cancel(st, inst);
        if (!inst->attempt) {
            map_remove(&st->e->containers, inst->container_id);
            mem_free_ptr(&inst->container_id);
            be_stopped(st, inst);
            break;
        }
        /* fall through */
    case INST_EXITED:
        step_emit_container(st, EFF_RELEASE, inst);
        forget_container(st, inst);
        be_stopped(st, inst);
        break;
    case INST_PENDING: be_stopped(st, inst); break;
    case INST_DRAINING: drain_stop(st, inst); break;
    case INST_ALLOCATED:
    case INST_LAUNCHED:
    case INST_UPGRADING:
    case INST_RECOVERING:
    case INST_RUNNING:
    case INST_READY: instance_stop(st, inst); break;
    case INST_RELEASING:
    case INST_SUCCEEDED:
    case INST_FAILED:
    case INST_STOPPED: break;
    }
}

/* ---- waiting, another address ---- */

/** A request or launch waits, or whether it runs is not known now. */
static void on_waiting(struct step *st, struct eng_instance *inst, const struct eng_event *ev)
{
    bool asks =
        inst->state == INST_REQUESTED || inst->state == INST_ALLOCATED || inst->state == INST_UPGRADING;
    enum eng_wait why = ev->wait ? ev->wait : asks ? WAIT_RESOURCE : WAIT_RECOVERY;
    wait_set(&inst->wait, &(struct eng_waiting){.why = why,
                                                .name = (char *)ev->lacking,
                                                .text = (char *)(ev->text ? ev->text : "no host has room")});
    if (st->e->cfg.role == ROLE_MASTER) /* its manager reads it */
        step_touch_instance(st, inst);
}

/** The request is over before a container came: as if it had not been made. */
static void unrequest(struct step *st, struct eng_instance *inst)
{
    map_remove(&st->e->containers, inst->container_id);
    mem_free_ptr(&inst->container_id);
    inst->n_containers--;
}

void instance_escalate_due(struct step *st, struct eng_instance *inst)
{
    if (inst->state != INST_REQUESTED || !inst->wish)
        return;
    ask_cancel(st, inst);
    unrequest(st, inst);
    inst->is_relaxed = true;
    instance_enter(inst, INST_PENDING);
    instance_set_due(inst, 0);
    touch(st, inst);
}

/** A container of another program of this host has its address: a new container, with another one. */
static void on_address(struct step *st, struct eng_instance *inst, const struct eng_event *ev)
{
    bool is_asked = inst->state == INST_REQUESTED || inst->state == INST_ALLOCATED;
    if (!is_asked || !inst->ip || !ev->ip || strcmp(inst->ip, ev->ip) != 0)
        return;
    step_note(st, inst->component->service, "address %s of instance %s is another program's; it gets another",
              inst->ip, inst->name);
    if (inst->state == INST_ALLOCATED) {
        step_emit_container(st, EFF_RELEASE, inst);
        forget_container(st, inst);
    } else {
        unrequest(st, inst);
    }
    addresses_avoid(&st->e->addresses, inst->ip);
    mem_free_ptr(&inst->ip);
    ports_give_back(st->e, inst);
    instance_enter(inst, INST_PENDING);
    instance_set_due(inst, 0);
    wait_clear(&inst->wait);
    touch(st, inst);
}

/* ---- events ---- */

void instance_event(struct step *st, const struct eng_event *ev)
{
    struct eng_instance *inst = map_get(&st->e->containers, ev->container_id);
    if (!inst && ev->kind == EV_ALLOCATED)
        inst = ask_adopt_name(st, ev);
    if (!inst) {
        strays_event(st, ev);
        return;
    }
    step_affect(st, inst->component->service);
    if (inst->unresumed && st->e->resumed)
        instance_resume(st, inst);
    if (map_get(&st->e->containers, ev->container_id) != inst)
        return; /* it was given up just now */
    switch (ev->kind) {
    case EV_ALLOCATED: on_allocated(st, inst, ev); break;
    case EV_WAITING: on_waiting(st, inst, ev); break;
    case EV_ADDRESS: on_address(st, inst, ev); break;
    case EV_LAUNCHED: on_launched(st, inst); break;
    case EV_RUNNING:
        if (ev->attempt && ev->attempt != inst->attempt)
            break;
        if (inst->state == INST_RECOVERING)
            instance_recovered(st, inst, ev); /* FOUND_RUNNING is the default */
        else
            instance_running(st, inst, ev);
        break;
    case EV_EXITED:
    case EV_LOST: instance_exited(st, inst, ev); break;
    case EV_PROBE: on_probe(st, inst, ev); break;
    case EV_SYNCED: drain_synced(st, inst, ev); break;
    default: instance_recovered(st, inst, ev); break;
    }
}
