/* One svcmgr of a state is active, the others stand by: they forward requests to it and take over when it has gone. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "faces/services.h"
#include "faces/services_routes.h"
#include "svcmgr/app.h"
#include "svcmgr/app_forward.h"
#include "svcmgr/events.h"
#include "svcmgr/options.h"

LOG_DECLARE(SVCMGR_EVENTS)

#define FORWARDED          "Bobbin-Forwarded"
#define FORWARD_TIMEOUT_MS (SERVICES_WAIT_MAX_MS + 15000)
#define OPEN_AGAIN_MS      200
#define RENEWS_PER_LEASE   3
#define RETRY_AFTER_S      "1"

/* ---- forwarding ---- */

/** 503 with the URL of the active svcmgr and why it gave no answer. */
static void reply_who(struct app *a, struct http_req *req, const char *what)
{
    struct err_info why = {0};

    err_set(&why, ERR_UNAVAILABLE, NULL, "this svcmgr stands by; the active one is %s (%s): %s",
            a->active_url && a->active_url[0] ? a->active_url : "at an unknown address",
            a->active_place && a->active_place[0] ? a->active_place : "place unknown", what);
    http_reply_header(req, "Retry-After", RETRY_AFTER_S);
    http_reply_error(req, ERR_UNAVAILABLE, &why);
}

static void on_failed(struct app *a, struct http_req *req, const char *who, int code, const char *text)
{
    (void)who;
    bool is_known = code == ERR_UNAVAILABLE || code == ERR_LIMIT || code == ERR_TOOBIG;
    reply_who(a, req, is_known ? text : "it did not answer, and whether it did what was asked is not known");
}

/** The same request at the active one, in the name of the same user. */
static void forward(struct http_req *req, void *face)
{
    struct app *a = obj_cast(obj_cast(face, struct face, FACE_MAGIC)->app, struct app, APP_MAGIC);

    if (http_header(req, "Upgrade")) {
        reply_who(a, req, "a connection that is upgraded is not forwarded: ask that one");
        return;
    }
    if (http_header(req, FORWARDED) || !a->active_url || !a->active_url[0]) {
        reply_who(a, req, "nothing is known of it yet");
        return;
    }
    mem_auto char *url = mem_fmt("%s%s", a->active_url, http_raw_path(req));
    app_forward_start(app_forward_new(a, req,
                                      &(struct forward_def){.url = url,
                                                            .user = http_user(req),
                                                            .header = FORWARDED ": 1",
                                                            .timeout_ms = FORWARD_TIMEOUT_MS,
                                                            .failed = on_failed}));
}

static const struct http_route_answer forward_answers[] = {
    {200, "application/json;charset=utf-8", NULL, "What the active one answers."}, {0}};
static const int forward_errors[] = {ERR_UNAVAILABLE, 0};

/** The routes of the API; each request is forwarded to the active svcmgr. */
static void open_standby_api(struct app *a)
{
    struct http_server_def def = {.n_routes = 0};
    const struct http_route *routes = app_api_routes(a, &def.n_routes);
    a->standby_routes = mem_array(def.n_routes, sizeof *a->standby_routes);
    for (size_t i = 0; i < def.n_routes; i++) {
        a->standby_routes[i] = routes[i];
        a->standby_routes[i].handle = forward;
        a->standby_routes[i].answers = forward_answers;
        a->standby_routes[i].errors = forward_errors;
    }
    def.routes = a->standby_routes;
    app_listen(a, &def);
}

/* ---- standing by ---- */

static void set_text(char **slot, const char *text)
{
    char *copy = mem_str(text);

    free(*slot);
    *slot = copy;
}

static void stand_by(struct app *a, const struct state_holder *holder, const char *refused)
{
    bool is_news = !a->is_standby || strcmp(a->active_url, holder->url) != 0;

    set_text(&a->active_url, holder->url);
    set_text(&a->active_place, holder->place);
    if (is_news)
        log_emit(&ev_svcmgr_standby, LOG_STR("active", holder->url), LOG_STR("place", holder->place),
                 LOG_STR("stays", refused ? refused : ""));
    if (a->is_standby)
        return;
    a->is_standby = true;
    daemon_version_fact(a->daemon, "role", "standby");
    open_standby_api(a);
    if (a->server)
        daemon_ready(a->daemon, NULL);
}

static void on_standing_by(void *arg, const struct state_holder *holder, const char *refused)
{
    struct app *a = obj_cast(arg, struct app, APP_MAGIC);

    if (!a->is_ending)
        stand_by(a, holder, refused);
}

/* ---- becoming active ---- */

static void on_renew(void *arg)
{
    app_renew(obj_cast(arg, struct app, APP_MAGIC));
}

static void become_active(struct app *a)
{
    if (a->is_ending)
        return;
    a->is_standby = false;
    mem_free_ptr(&a->standby_routes);
    daemon_version_fact(a->daemon, "role", "active");
    metric_set(daemon_metrics(a->daemon), M_ACTIVE, 1);
    daemon_ready(a->daemon, "loading the state");
    app_load(a);
}

void app_keep_lease(struct app *a)
{
    uint64_t ms = (uint64_t)opt_ms(daemon_options(a->daemon), OPT_LEASE) / RENEWS_PER_LEASE;

    a->role_timer = run_timer_new(a->loop, on_renew, a);
    run_timer_start(a->role_timer, ms, ms);
}

static void on_standby_stopped(void *arg)
{
    struct app *a = obj_cast(arg, struct app, APP_MAGIC);

    a->is_stopping_standby = false;
    if (a->is_ending)
        daemon_stopped(a->daemon); /* stop_api waits for it. */
    else
        become_active(a);
}

static void on_claimed(void *arg, int err, const struct err_info *why)
{
    struct app *a = obj_cast(arg, struct app, APP_MAGIC);

    if (a->is_ending)
        return;
    if (err) {
        app_fail(a, err, why);
    } else if (a->server) {
        a->is_stopping_standby = true;
        http_server_stop(a->server, on_standby_stopped, a);
        a->server = NULL;
    } else {
        become_active(a);
    }
}

/** Where others reach our API, on a host of this name. free() */
static char *own_url(const struct app *a, const char *host)
{
    const char *address = opt_text(daemon_options(a->daemon), OPT_ADDRESS), *port = strrchr(address, ':');
    bool is_any = str_starts(address, "0.0.0.0:") || str_starts(address, "[::]:");

    return is_any ? mem_fmt("http://%s%s", host, port) : mem_fmt("http://%s", address);
}

char *app_own_url(const struct app *a)
{
    char name[256] = "localhost";
    const char *host = opt_text(daemon_options(a->daemon), OPT_HOSTNAME);

    if (!host && !gethostname(name, sizeof name - 1))
        host = name;
    return own_url(a, host ? host : name);
}

static void claim(struct app *a)
{
    const struct options *o = daemon_options(a->daemon);
    char name[256] = "localhost";
    const char *host = opt_text(o, OPT_HOSTNAME);

    if (!host && !gethostname(name, sizeof name - 1))
        host = name;
    mem_auto char *url = own_url(a, host ? host : name);
    /* containers of YARN are of no host: any svcmgr may go on with them */
    mem_auto char *place =
        a->role == ROLE_MANAGER ? mem_str("yarn") : mem_fmt("%s:%s", host ? host : name, a->dir);
    const struct state_holder self = {.url = url, .place = place, .lease_ms = opt_ms(o, OPT_LEASE)};
    state_claim(a->state, &self, opt_text(o, OPT_TAKE_FROM), on_standing_by, on_claimed, a);
}

/** The embedded store was in use: is it still? */
static void open_again(void *arg)
{
    struct app *a = obj_cast(arg, struct app, APP_MAGIC);
    struct err_info why = {0};

    int err = state_open(a->loop, a->state_url, NULL, &a->state, &why);
    if (err == ERR_WRONGSTATE) {
        struct state_holder holder = state_holder_of(a->state_url);
        stand_by(a, &holder, NULL);
        free((char *)holder.url);
        free((char *)holder.place);
        return;
    }
    run_timer_free(a->role_timer);
    a->role_timer = NULL;
    if (err)
        app_fail(a, err, &why);
    else
        claim(a);
}

void app_recover(struct app *a)
{
    if (a->state) {
        claim(a);
        return;
    }
    a->role_timer = run_timer_new(a->loop, open_again, a);
    run_timer_start(a->role_timer, 0, OPEN_AGAIN_MS);
}

void app_drop_standby(struct app *a)
{
    run_timer_free(a->role_timer);
    a->role_timer = NULL;
    mem_free_ptr(&a->active_url);
    mem_free_ptr(&a->active_place);
    mem_free_ptr(&a->standby_routes);
}
