#include "http/http_priv.h"

#include <string.h>
#include <strings.h>

#include "run/log.h"

/** Bytes of what a client sent that a line has. */
#define PATH_MAX_BYTES  512
#define QUERY_MAX_BYTES 256
#define NAME_MAX_BYTES  128

#define REQUEST_EVENTS(X)                                                                                    \
    X(http_write, LOG_INFO, "Answered a request that may change something.")                                 \
    X(http_read, LOG_DEBUG, "Answered a read.")
LOG_DECLARE(REQUEST_EVENTS)

/** Fields of a line, of which some are there only when the request has them. */
struct line {
    struct log_field fields[16];
    size_t n;
};

static void add(struct line *line, struct log_field field)
{
    BUG_IF(line->n == ARRAY_LEN(line->fields));
    line->fields[line->n++] = field;
}

/** Source: RFC 9110 9.2.1. */
static bool is_read(const struct http_req *req)
{
    const struct http_route_bound *route = req->match.route;
    const char *method = req->method;
    if (route && route->row->flags & HTTP_NO_WRITE)
        return true;
    return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 || strcmp(method, "OPTIONS") == 0;
}

/** The beginning of a text. */
static const char *cut(struct http_req *req, const char *text, size_t max)
{
    if (strnlen(text, max + 1) <= max)
        return text;
    return arena_fmt(req->arena, "%.*s…", (int)max, text);
}

/** The path; of a request that was refused before its target was read, the target without its query, which may hold secrets. */
static const char *path_of(struct http_req *req)
{
    return req->path ? req->path : arena_strn(req->arena, req->target, strcspn(req->target, "?"));
}

static void add_text(struct http_req *req, struct line *line, const char *name, const char *text, size_t max)
{
    if (text && *text)
        add(line, LOG_STR(name, cut(req, text, max)));
}

/** Whether the value of a parameter may be logged: one that the route does not know may be a secret, as a delegation token is. */
static bool is_public(const struct http_req *req, const char *name)
{
    const struct http_param_set *set = req->match.route ? &req->match.route->params : NULL;
    for (size_t i = 0; set && i < set->n; i++) {
        if (strcmp(set->rows[i].name, name) == 0)
            return !set->rows[i].is_private;
    }
    return false;
}

/** The query without who asks; of what is private, or not known to the route, the names only. */
static const char *query_text(struct http_req *req)
{
    buf_auto struct buf text = BUF_EMPTY;
    for (const struct http_pair *p = req->query; p && text.len <= QUERY_MAX_BYTES; p = p->next) {
        if (text.len)
            buf_add_char(&text, '&');
        buf_add_str(&text, p->name);
        if (!is_public(req, p->name))
            buf_add_str(&text, "=?");
        else if (*p->value)
            buf_addf(&text, "=%s", p->value);
    }
    return arena_str(req->arena, buf_cstr(&text));
}

static const char *reply_header(const struct http_req *req, const char *name)
{
    for (const struct http_pair *h = req->reply_headers; h; h = h->next) {
        if (strcasecmp(h->name, name) == 0)
            return h->value;
    }
    return NULL;
}

static void emit(struct http_req *req, const struct log_event *ev, int64_t took_us)
{
    struct line line = {.n = 0};
    const char *user = req->caller;
    add(&line, LOG_STR("method", cut(req, req->method, NAME_MAX_BYTES)));
    add(&line, LOG_STR("path", cut(req, path_of(req), PATH_MAX_BYTES)));
    add_text(req, &line, "query", query_text(req), QUERY_MAX_BYTES);
    add(&line, LOG_STR("user", cut(req, log_text(user), NAME_MAX_BYTES)));
    add_text(req, &line, "do_as", req->do_as, NAME_MAX_BYTES);
    add(&line, LOG_STR("peer", req->peer ? req->peer->address_text : ""));
    add(&line, LOG_INT("status", req->status));
    add(&line, LOG_STR("result", req->status ? err_name(req->error) : "CLIENT_LEFT"));
    add(&line, LOG_INT("in_bytes", req->body.len + req->n_dropped));
    add(&line, LOG_INT("out_bytes", req->n_sent));
    add(&line, LOG_INT("took_us", took_us));
    add_text(req, &line, "revision", reply_header(req, "Bobbin-Revision"), NAME_MAX_BYTES);
    add_text(req, &line, "request_id", req->request_id, NAME_MAX_BYTES);
    log_write(ev, line.fields, line.n);
}

/* ---- the histogram ---- */

/** The series of a route and a class of statuses, made at its first request. */
static struct metric_series *series_of(struct http_req *req)
{
    struct http_server *s = req->server;
    bool is_routed = req->match.route && req->refusal != ERR_NOROUTE && req->refusal != ERR_METHOD;
    const struct http_route_bound *route = is_routed ? req->match.route : NULL;
    size_t class = (size_t)(req->status / 100) % HTTP_STATUS_CLASSES;
    struct metric_series **at =
        &s->durations[route ? (size_t)(route - s->routes.routes) : s->routes.n].of[class];
    if (!*at) {
        mem_auto char *labels =
            mem_fmt("route=\"%s\",method=\"%s\",code=\"%zuxx\"", route ? route->row->pattern : "none",
                    route ? route->row->method : "any", class);
        *at = metric_series(s->def.metrics, s->def.first_metric + M_HTTP_DURATION, labels);
    }
    return *at;
}

void http_request_log(struct http_req *req)
{
    if (!req->method)
        return; /* the connection ended within the head */
    int64_t took_us = run_now_us() - req->begun_us;
    const struct log_event *ev = is_read(req) ? &ev_http_read : &ev_http_write;
    if (req->status && !req->stream.read && !req->upgrade.begun && req->server->def.metrics)
        metric_series_observe(series_of(req), took_us);
    if (log_is_on(ev->level))
        emit(req, ev, took_us);
}
