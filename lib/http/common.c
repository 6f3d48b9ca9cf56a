#include <string.h>

#include "http/http_priv.h"
#include "http/negotiate.h"
#include "http/openapi.h"
#include "json/writer.h"
#include "run/log.h"
#include "run/process.h"

#define TEXT    "text/plain; charset=utf-8"
#define METRICS "text/plain; version=0.0.4; charset=utf-8"
#define OPEN    "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define JSON    "application/json"

#define LOG_LEVEL_PARAMS(X)                                                                                  \
    X(LOG_LEVEL_LEVEL, "level", HTTP_CHOICE, NULL, "Least important level that is logged from now on.",      \
      .choices = LOG_LEVELS, .is_required = true)
enum { HTTP_PARAM_IDS(LOG_LEVEL_PARAMS) };

#define COMMON_EVENTS(X) X(log_level_changed, LOG_INFO, "Events below this level are not logged from now on.")
LOG_DECLARE(COMMON_EVENTS)

/** The daemon that the common routes describe; set once before a server starts. */
static struct daemon *common_daemon;

void http_common_daemon(struct daemon *d)
{
    common_daemon = d;
}

static void get_healthz(struct http_req *req, void *app)
{
    (void)app;
    buf_auto struct buf body = BUF_EMPTY;
    buf_add_str(&body, "ok\n");
    http_reply(req, 200, TEXT, &body);
}

static void get_readyz(struct http_req *req, void *app)
{
    (void)app;
    BUG_IF(common_daemon == NULL);
    const char *reason = daemon_not_ready_reason(common_daemon);
    buf_auto struct buf body = BUF_EMPTY, outages = BUF_EMPTY;
    outages_write(daemon_outages(common_daemon), reason ? "; " : "\n", &outages);
    if (reason) {
        struct err_info why;
        err_set(&why, ERR_WRONGSTATE, NULL, "not ready: %s%s%s", reason, outages.len ? "; " : "",
                buf_cstr(&outages));
        http_reply_error(req, ERR_WRONGSTATE, &why);
        return;
    }
    buf_addf(&body, "ready\n%s%s", buf_cstr(&outages), outages.len ? "\n" : "");
    http_reply(req, 200, TEXT, &body);
}

static void get_metrics(struct http_req *req, void *app)
{
    (void)app;
    BUG_IF(common_daemon == NULL);
    static const struct http_form forms[] = {
        [METRICS_TEXT] = {"text/plain", "0.0.4"},
        [METRICS_OPENMETRICS] = {"application/openmetrics-text", "1.0.0 0.0.1"}};
    enum metrics_format format =
        (enum metrics_format)http_negotiate(http_header(req, "Accept"), forms, ARRAY_LEN(forms));
    buf_auto struct buf body = BUF_EMPTY;
    process_collect(daemon_metrics(common_daemon));
    metrics_write(daemon_metrics(common_daemon), format, &body);
    http_reply(req, 200, format == METRICS_OPENMETRICS ? OPEN : METRICS, &body);
}

static void reply_log_level(struct http_req *req)
{
    struct buf body = BUF_EMPTY;
    struct jw w = jw_on(&body);
    jw_object(&w);
    jw_kstr(&w, "level", log_level_name(log_level()));
    jw_object_end(&w);
    http_reply(req, 200, JSON, &body);
}

static void get_log_level(struct http_req *req, void *app)
{
    (void)app;
    reply_log_level(req);
}

static int may_set_log_level(struct http_req *req, void *app, struct err_info *why)
{
    const struct http_server_def *def = &req->server->def;
    return def->may_administer ? def->may_administer(req, app, why) : http_check_local(req, why);
}

/* The change is said while the more talkative of both levels is in force. */
static void post_log_level(struct http_req *req, void *app)
{
    (void)app;
    enum log_level before = log_level(), level = (enum log_level)http_param_choice(req, LOG_LEVEL_LEVEL);
    if (level > before)
        log_set_level(level);
    if (level != before)
        log_emit(&ev_log_level_changed, LOG_STR("level", log_level_name(level)),
                 LOG_STR("before", log_level_name(before)), LOG_STR("user", http_user(req)));
    log_set_level(level);
    reply_log_level(req);
}

static void get_version(struct http_req *req, void *app)
{
    (void)app;
    BUG_IF(common_daemon == NULL);
    buf_auto struct buf body = BUF_EMPTY;
    daemon_version_json(common_daemon, &body);
    http_reply(req, 200, JSON, &body);
}

static void get_openapi(struct http_req *req, void *app)
{
    (void)app;
    BUG_IF(common_daemon == NULL);
    const struct http_server *s = req->server;
    buf_auto struct buf body = BUF_EMPTY, sample = BUF_EMPTY;
    bool is_dialect = s->def.write_error != NULL;
    struct http_openapi_def def = {
        .title = daemon_name(common_daemon),
        .version = BOBBIN_VERSION,
        .routes = &s->routes,
        .schemas = {s->def.schemas, http_schemas},
        .error_schema = s->def.error_schema ? s->def.error_schema : "Problem",
        .error_media_type =
            is_dialect ? s->def.write_error(req, ERR_INVALID, NULL, &sample) : "application/problem+json",
    };
    http_openapi_write(&def, &body);
    http_reply(req, 200, JSON, &body);
}

const struct http_route http_common_routes[] = {
    {"GET", "/healthz", HTTP_STRICT_QUERY, 0, get_healthz, "Answer as long as the program runs.",
     .answers = HTTP_ANSWERS({200, TEXT, NULL, "It runs."})},
    {"GET", "/readyz", HTTP_STRICT_QUERY, 0, get_readyz,
     "Say whether the program is ready, else why not; and what it needs and cannot reach, since when and "
     "why.",
     .answers =
         HTTP_ANSWERS({200, TEXT, NULL, "It is ready; a line follows for each outage of what it needs."}),
     .errors = HTTP_ERRORS(ERR_WRONGSTATE)},
    {"GET", "/metrics", HTTP_STRICT_QUERY, 0, get_metrics,
     "Metrics, in the text form of Prometheus that Accept prefers.",
     .answers = HTTP_ANSWERS({200, METRICS, NULL, "The metrics."}, {200, OPEN, NULL, "The metrics."})},
    {"GET", "/log-level", HTTP_STRICT_QUERY, 0, get_log_level, "Read the level of the log.",
     .answers = HTTP_ANSWERS({200, JSON, "LogLevel", "The level."})},
    {"POST", "/log-level", HTTP_STRICT_QUERY, 0, post_log_level,
     "Change the level of the log until the next start.", .params = HTTP_PARAMS(LOG_LEVEL_PARAMS),
     .role = "Only from the daemon's own host; in a secure registry only for system accounts.",
     .check = may_set_log_level, .answers = HTTP_ANSWERS({200, JSON, "LogLevel", "The level from now on."}),
     .errors = HTTP_ERRORS(ERR_PERMISSION)},
    {"GET", "/version", HTTP_STRICT_QUERY, 0, get_version, "Name, version and facts of the running program.",
     .answers = HTTP_ANSWERS({200, JSON, "Version", "The facts."})},
    {"GET", "/openapi.json", HTTP_STRICT_QUERY, 0, get_openapi, "This interface as an OpenAPI document.",
     .answers = HTTP_ANSWERS({200, JSON, "OpenApi", "This document."})},
};
const size_t http_common_n_routes = ARRAY_LEN(http_common_routes);
