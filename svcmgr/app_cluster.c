#include <stdlib.h>

#include "base/mem.h"
#include "svcmgr/app.h"
#include "svcmgr/events.h"

LOG_DECLARE(SVCMGR_EVENTS)

/* ---- reports of the cluster ---- */

/** Its texts are borrowed. */
static struct eng_exit exit_of(const struct cluster_exit *x, char *last_stderr)
{
    static const int kinds[] = {
        [CLUSTER_EXIT_CODE] = EXIT_CODE,
        [CLUSTER_EXIT_SIGNAL] = EXIT_SIGNAL,
        [CLUSTER_EXIT_NOT_STARTED] = EXIT_LAUNCH,
        [CLUSTER_EXIT_LOST] = EXIT_LOST,
    };
    struct eng_exit e = {kinds[x->kind], x->code, (char *)x->text, x->ended_ms, last_stderr};

    if (x->was_stopped && x->kind != CLUSTER_EXIT_LOST)
        e.kind = EXIT_STOPPED;
    return e;
}

static void on_allocated(void *arg, const struct cluster_container *c)
{
    struct app *a = obj_cast(arg, struct app, APP_MAGIC);
    struct eng_event ev = {.kind = EV_ALLOCATED, .container_id = c->id, .ip = c->ip, .host = c->hostname};

    app_event(a, &ev);
}

static void on_waits(void *arg, const char *container_id, const char *reason)
{
    struct app *a = obj_cast(arg, struct app, APP_MAGIC);
    struct eng_event ev = {.kind = EV_WAITING, .container_id = container_id, .text = reason};

    app_event(a, &ev);
}

static void on_address_taken(void *arg, const char *container_id, const char *ip)
{
    struct app *a = obj_cast(arg, struct app, APP_MAGIC);
    struct eng_event ev = {.kind = EV_ADDRESS, .container_id = container_id, .ip = ip};

    app_event(a, &ev);
}

static void on_started(void *arg, const struct cluster_container *c)
{
    struct app *a = obj_cast(arg, struct app, APP_MAGIC);
    struct eng_event ev = {
        .kind = EV_RUNNING, .container_id = c->id, .attempt = c->attempt, .ip = c->ip, .host = c->hostname};

    app_event(a, &ev);
}

static void on_exited(void *arg, const struct cluster_container *c)
{
    struct app *a = obj_cast(arg, struct app, APP_MAGIC);
    bool was_ending = map_remove(&a->ending, c->id) != NULL;
    mem_auto char *id = mem_str(c->id);
    mem_auto char *last_stderr = mem_str(c->last_stderr);
    struct cluster_exit x = c->exit;
    struct eng_event ev = {
        .kind = EV_EXITED, .container_id = id, .attempt = c->attempt, .exit = exit_of(&x, last_stderr)};

    metric_add(daemon_metrics(a->daemon), M_EXITS, 1);
    if (was_ending) {
        ev.attempt = 0;
    } else if (x.kind == CLUSTER_EXIT_LOST) {
        ev.kind = EV_LOST;
        ev.text = x.text;
    }
    if (was_ending || x.kind == CLUSTER_EXIT_LOST)
        cluster_release(a->cluster, id);
    app_event(a, &ev);
}

static const enum eng_found found[] = {
    [CLUSTER_ALLOCATED] = FOUND_RUNNING, [CLUSTER_STARTING] = FOUND_RUNNING,
    [CLUSTER_RUNNING] = FOUND_RUNNING,   [CLUSTER_RECOVERING] = FOUND_UNKNOWN,
    [CLUSTER_EXITED] = FOUND_EXITED,
};

static void on_recovered(void *arg, const struct cluster_container *c)
{
    struct app *a = obj_cast(arg, struct app, APP_MAGIC);
    const struct eng_instance *instance = NULL;
    bool is_stopped = c->state == CLUSTER_EXITED && map_get(&a->ending, c->id);
    struct eng_event ev = {
        .kind = EV_RECOVERED, .container_id = c->id, .attempt = c->attempt, .ip = c->ip, .host = c->hostname};

    if (!engine_find_container(a->engine, c->id, &instance)) {
        cluster_release(a->cluster, c->id);
        return;
    }
    if (is_stopped) {
        on_exited(a, c); /* The stop came while its state was unknown. */
        return;
    }
    ev.found = found[c->state];
    if (c->state == CLUSTER_EXITED)
        ev.exit = exit_of(&c->exit, c->last_stderr);
    app_event(a, &ev);
}

static void on_degraded(void *arg, const char *reason)
{
    struct app *a = obj_cast(arg, struct app, APP_MAGIC);

    if (reason)
        log_emit(&ev_containers_recovering, LOG_STR("reason", reason));
    else
        log_emit0(&ev_containers_known);
    free(a->degraded);
    a->degraded = reason ? mem_fmt("recovering containers: %s", reason) : NULL;
    app_report_ready(a);
}

static void on_recovery_done(void *arg)
{
    app_resume(obj_cast(arg, struct app, APP_MAGIC));
}

const struct cluster_ops app_cluster_ops = {
    .allocated = on_allocated,
    .waits = on_waits,
    .address_taken = on_address_taken,
    .started = on_started,
    .exited = on_exited,
    .recovered = on_recovered,
    .recovery_done = on_recovery_done,
    .degraded = on_degraded,
};

/* ---- reports of probes and registry ---- */

void app_probe_result(void *arg, const char *container_id, int64_t attempt, bool ready, const char *text)
{
    struct app *a = obj_cast(arg, struct app, APP_MAGIC);
    struct eng_event ev = {
        .kind = EV_PROBE, .container_id = container_id, .attempt = attempt, .ready = ready, .text = text};

    app_event(a, &ev);
}

void app_record_done(void *arg, int64_t ticket, int code, const char *text)
{
    struct app *a = obj_cast(arg, struct app, APP_MAGIC);
    struct eng_event ev = {.kind = EV_RECORD, .ticket = ticket, .code = code, .text = text};

    app_event(a, &ev);
}

void app_records_restored(void *arg, size_t n, const char *path)
{
    struct app *a = obj_cast(arg, struct app, APP_MAGIC);

    metric_add(daemon_metrics(a->daemon), M_RECORDS_RESTORED, (int64_t)n);
    log_emit(&ev_records_restored, LOG_INT("records", n), LOG_STR("path", path));
}

void app_registry_changed(void *arg)
{
    app_report_ready(obj_cast(arg, struct app, APP_MAGIC));
}

void app_registry_back(void *arg)
{
    struct app *a = obj_cast(arg, struct app, APP_MAGIC);
    struct eng_event ev = {.kind = EV_REGISTRY};

    app_event(a, &ev);
}
