#include <string.h>

#include "http/http_priv.h"
#include "http/openapi.h"

/** Whom the common routes speak of; set once before a server starts. */
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
    http_reply(req, 200, "text/plain; charset=utf-8", &body);
}

static void get_readyz(struct http_req *req, void *app)
{
    (void)app;
    BUG_IF(common_daemon == NULL);
    const char *reason = daemon_not_ready_reason(common_daemon);
    if (reason) {
        struct err_info why;
        err_set(&why, ERR_WRONGSTATE, NULL, "not ready: %s", reason);
        http_reply_error(req, ERR_WRONGSTATE, &why);
        return;
    }
    buf_auto struct buf body = BUF_EMPTY;
    buf_add_str(&body, "ready\n");
    http_reply(req, 200, "text/plain; charset=utf-8", &body);
}

static void get_metrics(struct http_req *req, void *app)
{
    (void)app;
    BUG_IF(common_daemon == NULL);
    buf_auto struct buf body = BUF_EMPTY;
    metrics_write(daemon_metrics(common_daemon), &body);
    http_reply(req, 200, "application/openmetrics-text; version=1.0.0; charset=utf-8", &body);
}

static void get_version(struct http_req *req, void *app)
{
    (void)app;
    BUG_IF(common_daemon == NULL);
    buf_auto struct buf body = BUF_EMPTY;
    daemon_version_json(common_daemon, &body);
    http_reply(req, 200, "application/json", &body);
}

/* ---- /openapi.json ---- */

static const struct http_schema version_schema = {"Version",
                                                  "{\"type\":\"object\",\"required\":[\"name\",\"version\"],"
                                                  "\"additionalProperties\":{\"type\":\"string\"}}",
                                                  NULL};
static const struct http_schema openapi_schema = {
    "OpenApi", "{\"type\":\"object\",\"required\":[\"openapi\",\"info\",\"paths\"]}", NULL};
static const struct http_doc_answer healthz_answers[] = {{200, "text/plain; charset=utf-8", NULL, "It runs."},
                                                         {0}};
static const struct http_doc_answer readyz_answers[] = {
    {200, "text/plain; charset=utf-8", NULL, "It is ready."}, {0}};
static const struct http_doc_answer metrics_answers[] = {
    {200, "application/openmetrics-text; version=1.0.0; charset=utf-8", NULL, "The metrics."}, {0}};
static const struct http_doc_answer version_answers[] = {
    {200, "application/json", &version_schema, "The facts."}, {0}};
static const struct http_doc_answer openapi_answers[] = {
    {200, "application/json", &openapi_schema, "This document."}, {0}};
static const int readyz_errors[] = {ERR_WRONGSTATE, 0};

static void get_openapi(struct http_req *req, void *app);

static const struct http_doc common_docs[] = {
    {get_healthz, NULL, NULL, healthz_answers, NULL}, {get_readyz, NULL, NULL, readyz_answers, readyz_errors},
    {get_metrics, NULL, NULL, metrics_answers, NULL}, {get_version, NULL, NULL, version_answers, NULL},
    {get_openapi, NULL, NULL, openapi_answers, NULL},
};

static void get_openapi(struct http_req *req, void *app)
{
    (void)app;
    BUG_IF(common_daemon == NULL);
    const struct http_server *s = req->server;
    buf_auto struct buf body = BUF_EMPTY, sample = BUF_EMPTY;
    bool is_dialect = s->def.write_error != NULL;
    struct openapi_def def = {
        .title = daemon_name(common_daemon),
        .version = BOBBIN_VERSION,
        .tables = &s->tables,
        .docs = {s->def.docs, common_docs},
        .n_docs = {s->def.n_docs, ARRAY_LEN(common_docs)},
        .error_schema = s->def.error_schema ? s->def.error_schema : &http_problem_schema,
        .error_media_type =
            is_dialect ? s->def.write_error(req, ERR_INVALID, NULL, &sample) : "application/problem+json",
    };
    openapi_write(&def, &body);
    http_reply(req, 200, "application/json", &body);
}

const struct http_route http_common_routes[] = {
    {"GET", "/healthz", 0, 0, get_healthz, "Tell that the program runs."},
    {"GET", "/readyz", 0, 0, get_readyz, "Tell whether the program is ready, else why not."},
    {"GET", "/metrics", 0, 0, get_metrics, "Metrics in the OpenMetrics text form."},
    {"GET", "/version", 0, 0, get_version, "Name, version and facts of the running program."},
    {"GET", "/openapi.json", 0, 0, get_openapi, "This interface as an OpenAPI document."},
};
const size_t http_common_n_routes = ARRAY_LEN(http_common_routes);
