#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "svcmgr/app.h"
#include "svcmgr/app_master.h"
#include "svcmgr/events.h"

LOG_DECLARE(SVCMGR_EVENTS)

/* ---- reports of the cluster ---- */

/** Its texts are borrowed. */
static struct eng_exit exit_of(const struct cluster_exit *x, char *last_stderr)
{
    bool is_ours = x->was_stopped && x->cause != CAUSE_LOST;

    return (struct eng_exit){.origin = is_ours ? ORIGIN_US : x->origin,
                             .cause = is_ours ? CAUSE_STOPPED : x->cause,
                             .raw = x->raw,
                             .text = (char *)x->text,
                             .ended_ms = x->ended_ms,
                             .last_stderr = last_stderr};
}

static void on_allocated(void *arg, const struct cluster_container *c)
{
    struct app *a = obj_cast(arg, struct app, APP_MAGIC);
    struct eng_event ev = {.kind = EV_ALLOCATED,
                           .container_id = c->id,
                           .ip = c->ip,
                           .node_ip = c->node_ip,
                           .host = c->hostname,
                           .node_http = c->node_http,
                           .gpus = c->gpus,
                           .allocation_id = c->allocation_id};

    if (c->allocation_id && a->own) { /* the only service that asks */
        ev.service_kind = a->own->kind;
        ev.user = a->own->user;
        ev.name = a->own->name;
    }
    app_event(a, &ev);
}

static void on_waits(void *arg, const char *container_id, const struct eng_waiting *why)
{
    struct app *a = obj_cast(arg, struct app, APP_MAGIC);
    struct eng_event ev = {.kind = EV_WAITING,
                           .container_id = container_id,
                           .wait = why->why,
                           .lacking = why->name,
                           .text = why->text};

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
    if (app_reinit_exited(a, c->id))
        return;
    bool was_ending = map_remove(&a->ending, c->id) != NULL;
    mem_auto char *id = mem_str(c->id);
    mem_auto char *last_stderr = mem_str(c->last_stderr);
    struct cluster_exit x = c->exit;
    struct eng_event ev = {
        .kind = EV_EXITED, .container_id = id, .attempt = c->attempt, .exit = exit_of(&x, last_stderr)};

    bool is_over = was_ending || x.is_gone || eng_exit_took_container(x.cause);

    metric_add(daemon_metrics(a->daemon), M_EXITS, 1);
    if (is_over)
        ev.attempt = 0;
    if (!was_ending && x.cause == CAUSE_LOST) {
        ev.kind = EV_LOST;
        ev.text = x.text;
    }
    if (is_over)
        cluster_release(a->cluster, id);
    app_event(a, &ev);
}

static const enum eng_found found[] = {
    [CLUSTER_STARTING] = FOUND_RUNNING,
    [CLUSTER_RUNNING] = FOUND_RUNNING,
    [CLUSTER_RECOVERING] = FOUND_UNKNOWN,
    [CLUSTER_EXITED] = FOUND_EXITED,
};

static void on_recovered(void *arg, const struct cluster_container *c)
{
    struct app *a = obj_cast(arg, struct app, APP_MAGIC);
    const struct eng_instance *instance = NULL;
    bool is_stopped = c->state == CLUSTER_EXITED && map_get(&a->ending, c->id);
    struct eng_event ev = {.kind = EV_RECOVERED,
                           .container_id = c->id,
                           .attempt = c->attempt,
                           .ip = c->ip,
                           .host = c->hostname,
                           .node_http = c->node_http};

    if (!engine_find_container(a->engine, c->id, &instance)) {
        cluster_release(a->cluster, c->id);
        return;
    }
    if (c->state == CLUSTER_EXITED && app_reinit_exited(a, c->id))
        return;
    if (is_stopped) {
        on_exited(a, c); /* The stop came while its state was unknown. */
        return;
    }
    if (c->state == CLUSTER_ALLOCATED)
        return; /* It has no process: EV_RESUME asks for it again. */
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

/** By its word; a word that is not known is a node that takes no containers. */
static enum eng_node_state node_state(const char *word)
{
    for (int s = NODE_RUNNING; s <= NODE_SHUTDOWN; s++) {
        if (word && !strcmp(word, eng_node_state_word((enum eng_node_state)s)))
            return (enum eng_node_state)s;
    }
    return NODE_UNHEALTHY;
}

static void on_node(void *arg, const struct cluster_node *n)
{
    struct app *a = obj_cast(arg, struct app, APP_MAGIC);
    mem_auto struct eng_ports *ports = mem_array(n->n_ports + 1, sizeof *ports);
    mem_auto struct eng_ports **list = mem_array(n->n_ports + 1, sizeof(struct eng_ports *));
    struct eng_node node = {.host = (char *)n->host,
                            .rack = (char *)n->rack,
                            .http_address = (char *)n->http_address,
                            .health = (char *)n->health,
                            .state = node_state(n->state),
                            .labels = (char **)n->labels,
                            .n_labels = n->n_labels,
                            .memory_mb = n->memory_mb,
                            .vcores = n->vcores,
                            .n_gpus = n->n_gpus,
                            .gpu_mask = n->gpu_mask,
                            .ports = list,
                            .n_ports = n->n_ports};
    struct eng_event ev = {.kind = EV_NODE, .node = &node};

    for (size_t i = 0; i < n->n_ports; i++) {
        ports[i] = (struct eng_ports){n->ports[i][0], n->ports[i][1]};
        list[i] = &ports[i];
    }
    app_event(a, &ev);
}

static void on_recovery_done(void *arg)
{
    app_resume(obj_cast(arg, struct app, APP_MAGIC));
}

static void on_over(void *arg, const struct err_info *why)
{
    app_master_over(obj_cast(arg, struct app, APP_MAGIC), why);
}

const struct cluster_ops app_cluster_ops = {
    .allocated = on_allocated,
    .waits = on_waits,
    .address_taken = on_address_taken,
    .started = on_started,
    .exited = on_exited,
    .probed = app_probe_result,
    .recovered = on_recovered,
    .node = on_node,
    .recovery_done = on_recovery_done,
    .degraded = on_degraded,
    .over = on_over,
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

/* ---- DNS ---- */

bool app_revision(void *arg, char *out)
{
    return publish_revision(obj_cast(arg, struct app, APP_MAGIC)->publish, out);
}

void app_dns_synced(void *arg, const char *container_id, int code, const char *text)
{
    struct app *a = obj_cast(arg, struct app, APP_MAGIC);
    struct eng_event ev = {.kind = EV_SYNCED, .container_id = container_id, .code = code, .text = text};

    app_event(a, &ev);
}

void app_dns_changed(void *arg, const char *url, const struct err_info *why)
{
    (void)obj_cast(arg, struct app, APP_MAGIC);
    if (why)
        log_emit(&ev_dns_sync_away, LOG_STR("url", url), LOG_ERR(why));
    else
        log_emit(&ev_dns_sync_back, LOG_STR("url", url));
}
