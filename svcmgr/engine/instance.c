/**
 * The instance machine.
 *
 *   PENDING ─request─> REQUESTED ─allocated─> ALLOCATED ─launched─> LAUNCHED ─running─> RUNNING <─probe─> READY
 *      ^                                          ^ retry                                  │ process ended
 *      │                                          └────────── EXITED <─retry here──────────┤ (from ALLOCATED on)
 *      ├──new container, by restart policy────────────────────────────────────────────────┤
 *      │                                          SUCCEEDED | FAILED <─no restart─────────┘
 *      └──(kept)── RELEASING <─drop── ALLOCATED, LAUNCHED, RUNNING, READY;  STOPPED or gone when the container ended
 *
 * From REQUESTED and ALLOCATED it goes back to PENDING, for another address, when another program of the host has its own.
 * A process that ends with a code other than 0, 137 and 143, or by a signal other than KILL and TERM, is started again
 * in its container unless the policy is NEVER; every other end gives the container back.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"
#include "engine/step.h"

#define EXIT_BY_KILL 137
#define EXIT_BY_TERM 143

void instance_set_wait(struct eng_instance *inst, const char *fmt, ...)
{
    free(inst->wait);
    va_list ap;
    va_start(ap, fmt);
    inst->wait = mem_vfmt(fmt, ap);
    va_end(ap);
}

static void clear_wait(struct eng_instance *inst)
{
    free(inst->wait);
    inst->wait = NULL;
}

static void set_text(char **slot, const char *text)
{
    char *copy = mem_str(text);
    free(*slot);
    *slot = copy;
}

bool instance_holds_process(const struct eng_instance *inst)
{
    return inst->state == INST_ALLOCATED || inst->state == INST_LAUNCHED || inst->state == INST_RUNNING ||
           inst->state == INST_READY || inst->state == INST_RELEASING;
}

static void touch(struct step *st, struct eng_instance *inst)
{
    step_touch_instance(st, inst);
}

/* ---- asking for a container ---- */

static void emit_request(struct step *st, struct eng_instance *inst)
{
    const struct eng_component *c = inst->component;
    struct eng_request *r = mem_new(struct eng_request);
    r->request_id = inst->request_id;
    r->memory_mb = spec_memory_mb(c->spec);
    r->vcores = c->spec->resource->cpus;
    r->queue = mem_str(c->service->spec->queue ? c->service->spec->queue : st->e->cfg.queue);
    r->label = mem_str(json_string_value(json_object_get(c->spec->placement_policy, "label")));
    r->ip = mem_str(inst->ip);
    r->component = mem_str(c->name);
    r->instance = mem_str(inst->name);
    step_emit_container(st, EFF_REQUEST, inst)->request = r;
}

/** Give the instance an address of the network unless it has one. @return false: none is free. */
static bool take_address(struct step *st, struct eng_instance *inst)
{
    if (st->e->addresses.n == 0 || inst->ip)
        return true;
    const struct eng_service *s = inst->component->service;
    mem_auto char *name = mem_fmt("%s/%s/%s", s->user, s->name, inst->name);
    inst->ip = addresses_take(&st->e->addresses, name);
    return inst->ip != NULL;
}

static void forget_retries(struct eng_instance *inst)
{
    inst->n_retries = 0;
    json_decref(inst->retry_times);
    inst->retry_times = NULL;
}

void instance_request(struct step *st, struct eng_instance *inst)
{
    struct eng_service *s = inst->component->service;
    if (!take_address(st, inst)) {
        inst->due_ms = st->now_ms + ADDRESS_RETRY_MS;
        instance_set_wait(inst, "address: none is free in %s", st->e->cfg.address_net);
        return;
    }
    inst->request_id = s->next_container++;
    inst->container_id = mem_fmt("container_%lld_%04lld_01_%06lld", (long long)st->e->cluster_ts,
                                 (long long)s->app_seq, (long long)inst->request_id);
    map_set(&st->e->containers, inst->container_id, inst);
    inst->state = INST_REQUESTED;
    inst->attempt = 0;
    forget_retries(inst);
    inst->n_containers++;
    inst->due_ms = 0;
    instance_set_wait(inst, "container requested");
    emit_request(st, inst);
    step_touch(st, s); /* next_container */
    touch(st, inst);
}

/* ---- launch ---- */

static void launch(struct step *st, struct eng_instance *inst)
{
    inst->state = INST_ALLOCATED;
    inst->running_ms = 0;
    inst->due_ms = 0;
    set_text(&inst->version, inst->component->service->spec->version);
    instance_set_wait(inst, "process is being started");
    step_emit_container(st, EFF_LAUNCH, inst)->launch = launch_new(st->e, inst);
    touch(st, inst);
}

void instance_retry(struct step *st, struct eng_instance *inst)
{
    inst->attempt++;
    launch(st, inst);
}

static void on_allocated(struct step *st, struct eng_instance *inst, const struct eng_event *ev)
{
    if (inst->state != INST_REQUESTED)
        return; /* asked twice around a restart */
    set_text(&inst->bare_host, ev->host);
    inst->allocated_ms = st->wall_ms;
    inst->attempt++;
    launch(st, inst);
}

static void on_launched(struct step *st, struct eng_instance *inst)
{
    if (inst->state != INST_ALLOCATED)
        return;
    inst->state = INST_LAUNCHED;
    instance_set_wait(inst, "address of the container is not known yet");
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
    r->is_unready = inst->record_unready;
    step_registry(st, EFF_PUBLISH, inst->component->service, inst->container_id)->record = r;
    inst->published = true;
}

static void start_probe(struct step *st, struct eng_instance *inst)
{
    struct eng_probe *probe = probe_new(st->e, inst);
    if (!probe) {
        inst->state = INST_READY;
        clear_wait(inst);
        return;
    }
    instance_set_wait(inst, "readiness: not probed yet");
    step_emit_container(st, EFF_PROBE_START, inst)->probe = probe;
}

static void on_running(struct step *st, struct eng_instance *inst, const struct eng_event *ev)
{
    bool starting = inst->state == INST_ALLOCATED || inst->state == INST_LAUNCHED;
    if (!starting) {
        if (inst->state == INST_READY)
            clear_wait(inst); /* It was not known for a time whether it runs. */
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
    inst->state = INST_RUNNING;
    inst->running_ms = st->now_ms;
    start_probe(st, inst);
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
    inst->state = ev->ready ? INST_READY : INST_RUNNING;
    if (ev->ready)
        clear_wait(inst);
    else
        instance_set_wait(inst, "readiness: %s", ev->text ? ev->text : "the probe fails");
    if (inst->record_unready == ev->ready) {
        inst->record_unready = !ev->ready;
        instance_publish(st, inst);
    }
    step_affect(st, inst->component->service); /* probed anew after a restart: nothing to store */
}

/* ---- the end of a process ---- */

/** For how long a retry counts; <= 0: for ever. */
static int64_t retry_validity_ms(const struct spec_component *spec)
{
    int64_t ms = spec_prop_int(spec, PROP_RETRY_VALIDITY, -1);
    return ms > 0 ? ms : spec_prop_int(spec, PROP_RETRY_VALIDITY_LONG, -1);
}

/** Whether the times of retries are kept: only then is their age of interest. */
static bool keeps_retry_times(const struct spec_component *spec)
{
    int64_t max = spec_prop_int(spec, PROP_RETRY_MAX, -1);
    return max > 0 && max <= SPEC_RETRY_TIMES_MAX && retry_validity_ms(spec) > 0;
}

/** Retries in this container that count against retry.max. */
static int64_t n_counted_retries(const struct step *st, struct eng_instance *inst)
{
    const struct spec_component *spec = inst->component->spec;
    if (!keeps_retry_times(spec))
        return inst->n_retries;
    int64_t since_ms = st->now_ms - retry_validity_ms(spec);
    while (json_array_size(inst->retry_times) > 0 &&
           json_integer_value(json_array_get(inst->retry_times, 0)) <= since_ms)
        json_array_remove(inst->retry_times, 0);
    return (int64_t)json_array_size(inst->retry_times);
}

static void count_retry(const struct step *st, struct eng_instance *inst)
{
    inst->n_retries++;
    if (!keeps_retry_times(inst->component->spec))
        return;
    if (!inst->retry_times)
        inst->retry_times = json_array();
    json_array_append_new(inst->retry_times, json_integer(st->now_ms));
}

/** Whether the process is started again in the container that it had. */
static bool retries_here(const struct step *st, struct eng_instance *inst, const struct eng_exit *x)
{
    const struct spec_component *spec = inst->component->spec;
    int64_t max = spec_prop_int(spec, PROP_RETRY_MAX, -1);
    if (spec->restart_policy == RESTART_NEVER || (max >= 0 && n_counted_retries(st, inst) >= max))
        return false;
    if (x->kind == EXIT_SIGNAL)
        return x->value != SIGKILL && x->value != SIGTERM;
    return x->kind == EXIT_CODE && x->value != 0 && x->value != EXIT_BY_KILL && x->value != EXIT_BY_TERM;
}

/** The longest pause between an end and the next start. */
static int64_t longest_pause_ms(const struct step *st, const struct eng_instance *inst)
{
    int64_t max = spec_prop_int(inst->component->spec, PROP_RETRY_INTERVAL, st->e->cfg.retry_interval_ms);
    return max > BACKOFF_LEAST_MS ? max : BACKOFF_LEAST_MS;
}

/** When the next start may be, doubling from start to start. */
static int64_t next_start_ms(struct step *st, struct eng_instance *inst)
{
    int64_t max = longest_pause_ms(st, inst);
    if (inst->running_ms > 0 && st->now_ms - inst->running_ms >= BACKOFF_RESET_MS)
        inst->backoff_ms = 0;
    int64_t delay = inst->backoff_ms > 0 ? inst->backoff_ms : BACKOFF_FIRST_MS;
    delay = delay < max ? delay : max;
    inst->backoff_ms = backoff_next(delay, BACKOFF_FIRST_MS, max);
    return st->now_ms + delay;
}

static void stop_probe(struct step *st, struct eng_instance *inst)
{
    if (inst->state == INST_RUNNING || inst->state == INST_READY)
        step_emit_container(st, EFF_PROBE_STOP, inst);
}

/** Delete the record of the instance; it is remembered until the registry has said that it is gone. */
static void unpublish(struct step *st, struct eng_instance *inst)
{
    struct eng_service *s = inst->component->service;
    if (!inst->published)
        return;
    inst->published = false;
    if (s->n_stale == STALE_MAX)
        service_forget_stale(st, s);
    s->stale = mem_resize(s->stale, s->n_stale + 1, sizeof s->stale[0]);
    s->stale[s->n_stale++] = mem_str(inst->container_id);
    step_touch(st, s);
    step_registry(st, EFF_UNPUBLISH, s, inst->container_id);
}

/** The container is gone: forget it. */
static void forget_container(struct step *st, struct eng_instance *inst)
{
    unpublish(st, inst);
    service_report_ended(st, inst->component->service, inst->container_id);
    map_remove(&st->e->containers, inst->container_id);
    free(inst->last_container_id);
    inst->last_container_id = inst->container_id;
    inst->container_id = NULL;
    inst->running_ms = 0;
    touch(st, inst);
}

static void keep_exit(const struct step *st, struct eng_instance *inst, const struct eng_exit *x)
{
    fld_free(&eng_exit_type, inst->last_exit);
    inst->last_exit = fld_copy(&eng_exit_type, x);
    if (!x->ended_ms)
        inst->last_exit->ended_ms = st->wall_ms;
}

static void fail_service(struct step *st, struct eng_instance *inst)
{
    struct eng_component *c = inst->component;
    long long n = (long long)c->n_failures;
    const struct eng_exit *x = inst->last_exit;
    mem_auto char *why =
        mem_fmt("[COMPONENT %s]: Failed %lld times, exceeded the limit - %lld. Shutting down now... %s",
                c->name, n, n - 1, x && x->kind == EXIT_LAUNCH && x->text ? x->text : "");
    inst->state = INST_FAILED;
    c->state = COMP_FAILED;
    service_finish(st, c->service, SVC_FAILED, why);
}

/** After the container is gone: a new one, or the end, by the restart policy. */
static void decide(struct step *st, struct eng_instance *inst, const struct eng_exit *x, const char *text)
{
    int policy = inst->component->spec->restart_policy;
    if (exit_is_counted(x) && component_count_failure(st, inst->component)) {
        fail_service(st, inst);
        return;
    }
    if (policy == RESTART_NEVER || (policy == RESTART_ON_FAILURE && exit_is_success(x))) {
        inst->state = exit_is_success(x) ? INST_SUCCEEDED : INST_FAILED;
        clear_wait(inst);
        return;
    }
    inst->state = INST_PENDING;
    inst->n_restarts++;
    inst->due_ms = next_start_ms(st, inst);
    instance_set_wait(inst, "restart in %lld ms after: %s", (long long)(inst->due_ms - st->now_ms), text);
}

/** A process ended, or its container did. kept: the container is still held. */
static void process_ended(struct step *st, struct eng_instance *inst, const struct eng_exit *x, bool kept)
{
    char text[EXIT_TEXT_MAX];
    exit_describe(x, text, sizeof text);
    step_note(st, inst->component->service, "instance %s in %s ended: %s", inst->name, inst->container_id,
              text);
    stop_probe(st, inst);
    keep_exit(st, inst, x);
    touch(st, inst);
    if (kept && retries_here(st, inst, x)) {
        inst->state = INST_EXITED;
        inst->n_restarts++;
        count_retry(st, inst);
        inst->due_ms = next_start_ms(st, inst);
        instance_set_wait(inst, "retry in %lld ms after: %s", (long long)(inst->due_ms - st->now_ms), text);
        return;
    }
    int64_t since = inst->running_ms;
    if (kept)
        step_emit_container(st, EFF_RELEASE, inst);
    forget_container(st, inst);
    inst->running_ms = since; /* the back-off asks how long it ran */
    decide(st, inst, x, text);
}

/** The container of a dropped instance has ended. */
static void released(struct step *st, struct eng_instance *inst)
{
    forget_container(st, inst);
    if (inst->removing) {
        component_forget(st, inst->component, inst);
        return;
    }
    fld_free(&eng_exit_type, inst->last_exit); /* of a container before that one */
    inst->last_exit = NULL;
    inst->state = INST_PENDING; /* it was taken back meanwhile */
    inst->due_ms = 0;
    inst->backoff_ms = 0;
}

static void on_exited(struct step *st, struct eng_instance *inst, const struct eng_event *ev)
{
    static const struct eng_exit lost = {.kind = EXIT_LOST};
    if (inst->state == INST_RELEASING) {
        /* It ended by itself, or a restart has forgotten the request to stop: the container is still held. */
        if (ev->kind == EV_EXITED && ev->attempt)
            step_emit_container(st, EFF_RELEASE, inst);
        released(st, inst);
        return;
    }
    bool known = inst->state == INST_EXITED && ev->kind == EV_EXITED; /* that process has ended before */
    if (ev->attempt && (ev->attempt != inst->attempt || known))
        return; /* of an earlier start */
    if (inst->state == INST_REQUESTED) {
        instance_set_wait(inst, "container requested");
        emit_request(st, inst); /* lost before it was reported */
        return;
    }
    if (ev->kind == EV_LOST) {
        struct eng_exit x = lost;
        x.text = (char *)ev->text;
        x.ended_ms = ev->exit.ended_ms;
        x.last_stderr = ev->exit.last_stderr;
        process_ended(st, inst, &x, false);
        return;
    }
    process_ended(st, inst, &ev->exit, ev->attempt != 0);
}

/* ---- dropping ---- */

void instance_drop(struct step *st, struct eng_instance *inst, bool remove)
{
    inst->removing = inst->removing || remove;
    touch(st, inst);
    switch (inst->state) {
    case INST_REQUESTED: step_emit_container(st, EFF_CANCEL, inst); break;
    case INST_EXITED:
        step_emit_container(st, EFF_RELEASE, inst);
        unpublish(st, inst);
        service_report_ended(st, inst->component->service, inst->container_id);
        break;
    case INST_ALLOCATED:
    case INST_LAUNCHED:
    case INST_RUNNING:
    case INST_READY:
        stop_probe(st, inst);
        unpublish(st, inst);
        step_emit_container(st, EFF_STOP, inst);
        inst->state = INST_RELEASING;
        instance_set_wait(inst, "container is being stopped");
        return;
    case INST_RELEASING: return;
    default: break;
    }
    component_forget(st, inst->component, inst);
}

/* ---- after a restart ---- */

static void on_recovered(struct step *st, struct eng_instance *inst, const struct eng_event *ev)
{
    struct eng_event as = *ev;
    inst->recovered = true;
    if (inst->state == INST_EXITED || inst->state == INST_REQUESTED || ev->found == FOUND_UNKNOWN)
        return; /* requested again by EV_RESUME; or another EV_RECOVERED comes */
    if (ev->found == FOUND_RUNNING && inst->state == INST_RELEASING) {
        inst->recovered = false; /* stopped again by EV_RESUME */
    } else if (ev->found == FOUND_RUNNING) {
        int64_t since = inst->running_ms;
        inst->state = INST_LAUNCHED;
        inst->published = false; /* written again: it may have been lost with us */
        inst->attempt = ev->attempt ? ev->attempt : inst->attempt;
        on_running(st, inst, &as);
        inst->running_ms = since ? since : inst->running_ms;
    } else {
        bool started = inst->state != INST_ALLOCATED;
        as.kind = ev->found == FOUND_EXITED ? EV_EXITED : EV_LOST;
        bool older = ev->attempt && ev->attempt < inst->attempt;
        bool never_launched = !started && (as.kind == EV_LOST || older);
        inst->recovered = !never_launched && !st->e->resumed; /* EV_RESUME resets it */
        if (!never_launched)
            on_exited(st, inst, &as);
    }
}

/** One that was UNKNOWN when EV_RESUME came: what that would have done is done now. */
static void on_recovered_late(struct step *st, struct eng_instance *inst, const struct eng_event *ev)
{
    on_recovered(st, inst, ev);
    bool is_gone = map_get(&st->e->containers, ev->container_id) != inst;
    if (ev->found == FOUND_UNKNOWN || is_gone)
        return;
    if (inst->state == INST_ALLOCATED || inst->state == INST_RELEASING)
        instance_resume(st, inst);
    inst->recovered = false;
}

/** A request or launch waits, or whether it runs is not known now. */
static void on_waiting(struct eng_instance *inst, const struct eng_event *ev)
{
    const char *what =
        inst->state == INST_REQUESTED || inst->state == INST_ALLOCATED ? "resource" : "recovering";
    instance_set_wait(inst, "%s: %s", what, ev->text ? ev->text : "no host has room");
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
        map_remove(&st->e->containers, inst->container_id);
        mem_free_ptr(&inst->container_id);
        inst->n_containers--;
    }
    addresses_avoid(&st->e->addresses, inst->ip);
    mem_free_ptr(&inst->ip);
    inst->state = INST_PENDING;
    inst->due_ms = 0;
    clear_wait(inst);
    touch(st, inst);
}

void instance_resume(struct step *st, struct eng_instance *inst)
{
    bool was_recovered = inst->recovered;
    inst->recovered = inst->unresumed = false;
    int64_t latest_ms = st->now_ms + longest_pause_ms(st, inst);
    if (inst->due_ms >
        latest_ms) /* written by a version that computed with a wall clock, which was set since */
        inst->due_ms = latest_ms;
    switch (inst->state) {
    case INST_ALLOCATED:
        if (was_recovered)
            return;
        inst->attempt--;
        inst->state = INST_REQUESTED;
        emit_request(st, inst);
        break;
    case INST_EXITED:
        inst->state = INST_REQUESTED;
        emit_request(st, inst);
        break;
    case INST_REQUESTED: emit_request(st, inst); break;
    case INST_LAUNCHED:
    case INST_RUNNING:
    case INST_READY:
        if (!was_recovered)
            on_exited(st, inst, &(struct eng_event){.kind = EV_LOST, .text = "not found after a restart"});
        break;
    case INST_RELEASING: step_emit_container(st, EFF_STOP, inst); break;
    default: break;
    }
}

/* ---- events ---- */

/** The cluster names its containers itself: the instance that asked takes that name. */
static struct eng_instance *adopt_name(struct step *st, const struct eng_event *ev)
{
    const struct eng_service *s = ev->user && ev->name ? engine_find(st->e, ev->user, ev->name) : NULL;
    for (size_t i = 0; s && ev->request_id && i < s->n_components; i++) {
        for (size_t k = 0; k < s->components[i]->n_instances; k++) {
            struct eng_instance *inst = s->components[i]->instances[k];
            if (inst->state != INST_REQUESTED || inst->request_id != ev->request_id)
                continue;
            map_remove(&st->e->containers, inst->container_id);
            set_text(&inst->container_id, ev->container_id);
            map_set(&st->e->containers, inst->container_id, inst);
            return inst;
        }
    }
    return NULL;
}

/** No instance wants this container: one that is alive is released. */
static void unknown_container(struct step *st, const struct eng_event *ev)
{
    bool running = ev->kind == EV_RUNNING || (ev->kind == EV_RECOVERED && ev->found == FOUND_RUNNING);
    if (ev->kind != EV_ALLOCATED && !running) {
        if (ev->kind != EV_PROBE)
            step_note(st, NULL, "%s for unknown container %s ignored", eng_event_word(ev->kind),
                      ev->container_id);
        return;
    }
    step_emit(st, running ? EFF_STOP : EFF_RELEASE, NULL)->container_id = mem_str(ev->container_id);
}

void instance_event(struct step *st, const struct eng_event *ev)
{
    struct eng_instance *inst = map_get(&st->e->containers, ev->container_id);
    if (!inst && ev->kind == EV_ALLOCATED)
        inst = adopt_name(st, ev);
    if (!inst) {
        unknown_container(st, ev);
        return;
    }
    step_affect(st, inst->component->service);
    if (inst->unresumed)
        instance_resume(st, inst);
    switch (ev->kind) {
    case EV_ALLOCATED: on_allocated(st, inst, ev); break;
    case EV_WAITING: on_waiting(inst, ev); break;
    case EV_ADDRESS: on_address(st, inst, ev); break;
    case EV_LAUNCHED: on_launched(st, inst); break;
    case EV_RUNNING:
        if (!ev->attempt || ev->attempt == inst->attempt)
            on_running(st, inst, ev);
        break;
    case EV_EXITED:
    case EV_LOST: on_exited(st, inst, ev); break;
    case EV_PROBE: on_probe(st, inst, ev); break;
    default:
        if (st->e->resumed)
            on_recovered_late(st, inst, ev);
        else
            on_recovered(st, inst, ev);
        break;
    }
}
