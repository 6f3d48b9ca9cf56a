#include <string.h>

#include "base/obj.h"
#include "http/server.h"

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

const struct http_route http_common_routes[] = {
    {"GET", "/healthz", 0, 0, get_healthz, "Tell that the program runs."},
    {"GET", "/readyz", 0, 0, get_readyz, "Tell whether the program is ready, else why not."},
    {"GET", "/metrics", 0, 0, get_metrics, "Metrics in the OpenMetrics text form."},
    {"GET", "/version", 0, 0, get_version, "Name, version and facts of the running program."},
};
const size_t http_common_n_routes = ARRAY_LEN(http_common_routes);
