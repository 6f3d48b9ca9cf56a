#include <stdlib.h>
#include <string.h>

#include "faces/services.h"
#include "faces/services_routes.h"
#include "repeats/claims.h"
#include "svcmgr/app.h"
#include "svcmgr/app_manager.h"
#include "svcmgr/app_nodes.h"
#include "svcmgr/app_master.h"
#include "svcmgr/events.h"
#include "svcmgr/options.h"

LOG_DECLARE(SVCMGR_EVENTS)

void app_fail(struct app *a, int err, const struct err_info *why)
{
    const struct log_event start_failed = {"start_failed", LOG_ERROR, "svcmgr cannot start."};

    log_emit(&start_failed, LOG_STR("code", err_name(err)), LOG_ERR(why));
    daemon_quit(a->daemon, err);
}

void app_report_ready(struct app *a)
{
    bool is_unwritable = outage_lasts(a->state_outage);
    bool is_unpublished = a->publish && outage_lasts(a->registry_outage) && publish_n_pending(a->publish) > 0;
    /* The frame's /readyz adds the reasons of the outages. */
    const char *reason = a->degraded      ? a->degraded
                         : is_unwritable  ? "the state cannot be written"
                         : is_unpublished ? "records are not published"
                                          : NULL;

    if (a->server || reason)
        daemon_ready(a->daemon, reason);
}

static void listen_where(const struct options *o, struct http_server_def *def)
{
    def->listen = opt_text(o, OPT_ADDRESS);
    def->listen_key = "yarn.service.api-server.address";
    def->allow_remote = opt_bool(o, OPT_REMOTE);
    def->allow_remote_key = "yarn.service.api-server.allow-remote";
    def->remote_may = "run programs on this host and stop services in the name of any user";
}

void app_check_listen(const struct options *o, struct opt_report *report)
{
    struct http_server_def def = {0};

    listen_where(o, &def);
    http_server_check(o, &def, report);
}

void app_listen(struct app *a, struct http_server_def *def)
{
    const struct options *o = daemon_options(a->daemon);
    struct err_info why = {0};

    listen_where(o, def);
    def->metrics = daemon_metrics(a->daemon);
    def->first_metric = M_HTTP_CONNECTIONS;
    def->options = o;
    def->static_user = a->user;
    def->more_routes = http_common_routes;
    def->n_more_routes = http_common_n_routes;
    def->app = &a->face;
    def->write_error = app_write_error;
    def->schemas = app_api_schemas(a);
    def->error_schema = "ServiceStatus";
    http_limits_read(o, OPT_HTTP_BODY_BUDGET, "yarn.service.api-server.", &def->limits);
    http_common_daemon(a->daemon);
    int err = http_server_start(a->loop, def, &a->server, &why);
    if (err)
        app_fail(a, err, &why);
}

static void open_api(struct app *a)
{
    struct claims *repeats = state_repeats(a->state);
    struct http_server_def def = {.repeats = repeats ? &claims_ops : NULL, .repeats_arg = repeats};

    def.routes = app_api_routes(a, &def.n_routes);
    app_listen(a, &def);
    if (!a->server)
        return;
    app_report_ready(a);
    log_emit(&ev_svcmgr_ready, LOG_INT("port", http_server_port(a->server)),
             LOG_STR("cluster", cluster_name(a->cluster)),
             LOG_STR("dialect", opt_text(daemon_options(a->daemon), OPT_DIALECT)));
}

void app_resume(struct app *a)
{
    struct eng_event ev = {.kind = EV_RESUME};

    if (a->is_ending)
        return;
    app_event(a, &ev);
    if (a->master)
        app_master_follow(a);
    else
        open_api(a);
    if (a->manager) {
        app_manager_begin(a);
        app_know_nodes(a, NULL, NULL); /* The size "max" of the Slider API is theirs. */
    }
    publish_begin(a->publish);
    app_report_ready(a);
}

static void on_document(void *arg, const char *key, const char *bytes, size_t len)
{
    struct app *a = obj_cast(arg, struct app, APP_MAGIC);
    struct err_info why = {0};

    int err = strcmp(key, CLOCK_KEY) == 0 ? clock_read(&a->clock, bytes, len, run_boot_ms(), &why)
                                          : engine_load(a->engine, key, bytes, len, &why);
    if (!err)
        return;
    log_emit(&ev_state_bad, LOG_STR("key", key), LOG_ERR(&why));
    a->is_loaded_badly = true;
    a->is_newer = a->is_newer || err == ERR_UNSUPPORTED;
}

static void on_loaded(void *arg, int err, const struct err_info *why)
{
    struct app *a = obj_cast(arg, struct app, APP_MAGIC);
    struct err_info bad = {0};

    if (a->is_ending)
        return;
    if (!err && a->is_loaded_badly) {
        /* Without that service its containers would be unknown, and ended. */
        err = err_set(&bad, ERR_WRONGSTATE, opt_text(daemon_options(a->daemon), OPT_STATE_STORE),
                      a->is_newer ? "A newer version has written the state; start that version."
                                  : "A stored document cannot be read; repair or remove it.");
        why = &bad;
    }
    if (err)
        app_fail(a, err, why);
    if (err)
        return;
    if (!a->master)
        app_keep_lease(a);
    cluster_recover(a->cluster);
}

/** Of a master: containers fetch their files from it, and the resource manager is given its URL. */
static void open_master_api(struct app *a)
{
    struct http_server_def def = {0};

    def.routes = app_master_routes(a, &def.n_routes);
    app_listen(a, &def);
}

void app_load(struct app *a)
{
    struct err_info why = {0};
    if (a->master)
        open_master_api(a);
    if (a->master && !a->server)
        return; /* it has failed */
    int err = app_open_parts(a, &why);

    if (err)
        app_fail(a, err, &why);
    else
        state_load(a->state, on_document, on_loaded, a);
}
