#include <stdlib.h>

#include "faces/services.h"
#include "svcmgr/app.h"
#include "svcmgr/events.h"
#include "svcmgr/options.h"

LOG_DECLARE(SVCMGR_EVENTS)

static void fail(struct app *a, int err, const struct err_info *why)
{
    const struct log_event start_failed = {"start_failed", LOG_ERROR, "svcmgr cannot start."};

    log_emit(&start_failed, LOG_STR("code", err_name(err)), LOG_ERR(why));
    daemon_quit(a->daemon, err);
}

static void open_api(struct app *a)
{
    const struct options *o = daemon_options(a->daemon);
    struct err_info why = {0};
    const struct http_server_def def = {
        .listen = opt_text(o, OPT_ADDRESS),
        .listen_key = "yarn.service.api-server.address",
        .allow_remote = opt_bool(o, OPT_REMOTE),
        .allow_remote_key = "yarn.service.api-server.allow-remote",
        .static_user = a->user,
        .routes = services_routes,
        .n_routes = services_n_routes,
        .more_routes = http_common_routes,
        .n_more_routes = http_common_n_routes,
        .app = &a->face,
        .write_error = services_write_error,
        .docs = services_docs,
        .n_docs = services_n_docs,
        .error_schema = &services_status_schema,
    };

    http_common_daemon(a->daemon);
    int err = http_server_start(a->loop, &def, &a->server, &why);
    if (err) {
        fail(a, err, &why);
        return;
    }
    daemon_ready(a->daemon, NULL);
    log_emit(&ev_svcmgr_ready, LOG_INT("port", http_server_port(a->server)),
             LOG_STR("cluster", cluster_name(a->cluster)), LOG_STR("dialect", opt_text(o, OPT_DIALECT)));
}

void app_resume(struct app *a)
{
    struct eng_event ev = {.kind = EV_RESUME};

    if (a->is_ending)
        return;
    app_event(a, &ev);
    open_api(a);
}

static void on_document(void *arg, const char *key, const char *bytes, size_t len)
{
    struct app *a = obj_cast(arg, struct app, APP_MAGIC);
    struct err_info why = {0};

    if (!engine_load(a->engine, key, bytes, len, &why))
        return;
    log_emit(&ev_state_bad, LOG_STR("key", key), LOG_ERR(&why));
    a->is_loaded_badly = true;
}

static void on_loaded(void *arg, int err, const struct err_info *why)
{
    struct app *a = obj_cast(arg, struct app, APP_MAGIC);
    struct err_info bad = {0};

    if (a->is_ending)
        return;
    if (!err && a->is_loaded_badly) {
        /* Going on would take the containers of that service for nobody's, and end them. */
        err = err_set(&bad, ERR_WRONGSTATE, opt_text(daemon_options(a->daemon), OPT_STATE_STORE),
                      "A stored document cannot be read; repair or remove it.");
        why = &bad;
    }
    if (err)
        fail(a, err, why);
    else
        cluster_recover(a->cluster);
}

void app_recover(struct app *a)
{
    state_load(a->state, on_document, on_loaded, a);
}
