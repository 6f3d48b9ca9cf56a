#include <string.h>

#include "http/http_priv.h"
#include "http/openapi.h"

#define TEXT    "text/plain; charset=utf-8"
#define METRICS "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define JSON    "application/json"

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
    buf_auto struct buf body = BUF_EMPTY;
    metrics_write(daemon_metrics(common_daemon), &body);
    http_reply(req, 200, METRICS, &body);
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
    {"GET", "/healthz", 0, 0, get_healthz, "Answer as long as the program runs.",
     .answers = HTTP_ANSWERS({200, TEXT, NULL, "It runs."})},
    {"GET", "/readyz", 0, 0, get_readyz,
     "Say whether the program is ready, else why not; and what it needs and cannot reach, since when and "
     "why.",
     .answers =
         HTTP_ANSWERS({200, TEXT, NULL, "It is ready; a line follows for each outage of what it needs."}),
     .errors = HTTP_ERRORS(ERR_WRONGSTATE)},
    {"GET", "/metrics", 0, 0, get_metrics, "Metrics in the OpenMetrics text form.",
     .answers = HTTP_ANSWERS({200, METRICS, NULL, "The metrics."})},
    {"GET", "/version", 0, 0, get_version, "Name, version and facts of the running program.",
     .answers = HTTP_ANSWERS({200, JSON, "Version", "The facts."})},
    {"GET", "/openapi.json", 0, 0, get_openapi, "This interface as an OpenAPI document.",
     .answers = HTTP_ANSWERS({200, JSON, "OpenApi", "This document."})},
};
const size_t http_common_n_routes = ARRAY_LEN(http_common_routes);
