#include "http/http_priv.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"

/** Requests that are kept for the next ones. */
enum { SPARE_MAX = 64 };

static struct http_req *request_memory(struct http_server *s)
{
    struct http_req *req = TAILQ_FIRST(&s->spare);
    if (!req) {
        req = mem_new(struct http_req);
        req->arena = arena_new(0);
        return req;
    }
    TAILQ_REMOVE(&s->spare, req, link);
    s->n_spare--;
    struct arena *arena = req->arena;
    memset(req, 0, offsetof(struct http_req, refusal_why));
    req->arena = arena;
    return req;
}

struct http_req *http_request_new(struct http_server *s, const char *target, size_t len)
{
    struct http_req *req = request_memory(s);
    obj_init(&req->obj, HTTP_REQ_MAGIC);
    req->server = s;
    req->app = s->def.app;
    req->static_user = arena_str(req->arena, s->def.static_user);
    req->caller = req->static_user;
    req->target = arena_strn(req->arena, target, len);
    http_mhd_exchange_init(&req->exchange);
    TAILQ_INSERT_TAIL(&s->reqs, req, link);
    return req;
}

void http_request_free(struct http_req *req)
{
    struct http_server *s = req->server;
    BUG_IF(req->closed != NULL);
    if (s)
        TAILQ_REMOVE(&s->reqs, req, link);
    http_mhd_exchange_fini(&req->exchange);
    http_body_free(req);
    obj_fini(&req->obj);
    if (s && s->n_spare < SPARE_MAX) {
        arena_reset(req->arena);
        TAILQ_INSERT_HEAD(&s->spare, req, link);
        s->n_spare++;
        return;
    }
    arena_free(req->arena);
    free(req);
}

void http_request_free_spare(struct http_server *s)
{
    struct http_req *req;
    while ((req = TAILQ_FIRST(&s->spare))) {
        TAILQ_REMOVE(&s->spare, req, link);
        arena_free(req->arena);
        free(req);
    }
    s->n_spare = 0;
}

void http_request_closed(struct http_req *req)
{
    void (*closed)(void *arg) = req->closed;
    req->closed = NULL;
    req->stream_over = true;
    if (closed)
        closed(req->closed_arg);
}

void http_request_orphan(struct http_req *req)
{
    http_body_leave(req);
    TAILQ_REMOVE(&req->server->reqs, req, link);
    req->server = NULL;
    req->peer = NULL;
}

void http_request_resume(struct http_req *req)
{
    if (http_mhd_resume(&req->exchange))
        http_poll_kick(req->server);
}

struct http_req *http_request_of(struct http_exchange *x)
{
    return obj_cast(container_of(x, struct http_req, exchange), struct http_req, HTTP_REQ_MAGIC);
}

/* ---- what handlers read ---- */

static const char *pair_find(const struct http_pair *pair, const char *name)
{
    for (; pair; pair = pair->next) {
        if (strcmp(pair->name, name) == 0)
            return pair->value;
    }
    return NULL;
}

const char *http_method(const struct http_req *req)
{
    return req->method;
}

const char *http_raw_path(const struct http_req *req)
{
    return req->path;
}

const char *http_path_raw(const struct http_req *req, const char *name)
{
    return pair_find(req->elements, name);
}

const char *http_path_param(const struct http_req *req)
{
    size_t rest = req->match.route->params.rest;
    return rest < req->match.route->params.n && req->values[rest].is_given ? req->values[rest].text : NULL;
}

int http_path_element(struct http_req *req, const char *name, char **out, struct err_info *why)
{
    const char *raw = http_path_raw(req, name);
    BUG_IF(raw == NULL);
    size_t raw_len = strlen(raw);
    mem_auto char *text = mem_alloc(raw_len + 1);
    int64_t n = str_unpercent(raw, raw_len, text);
    if (n < 0)
        return err_set(why, ERR_PATH, raw, "bad percent escape in a path element");
    if (!utf8_valid(text, (size_t)n))
        return err_set(why, ERR_PATH, raw, "path element is not UTF-8");
    for (int64_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < ' ' || c == 0x7f || c == '/')
            return err_set(why, ERR_PATH, raw, "path element contains %s",
                           c == '/' ? "an encoded '/'" : "a control character");
    }
    *out = text;
    text = NULL;
    return 0;
}

const char *http_query(const struct http_req *req, const char *name)
{
    return pair_find(req->query, name);
}

const char *http_query_nth(const struct http_req *req, const char *name, size_t i)
{
    const struct http_pair *pair = req->query;
    while (pair && (strcmp(pair->name, name) != 0 || i--))
        pair = pair->next;
    return pair ? pair->value : NULL;
}

const char *http_query_name(const struct http_req *req, size_t i)
{
    const struct http_pair *pair = req->query;
    while (pair && i--)
        pair = pair->next;
    return pair ? pair->name : NULL;
}

static void add_encoded(struct buf *url, const char *text)
{
    for (; *text; text++) {
        bool is_plain = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') ||
                        (*text >= '0' && *text <= '9') || strchr("-._~", *text);
        if (is_plain)
            buf_add_char(url, *text);
        else
            buf_addf(url, "%%%02X", (unsigned char)*text);
    }
}

void http_query_add(struct buf *url, const char *name, const char *value)
{
    buf_add_char(url, memchr(url->bytes, '?', url->len) ? '&' : '?');
    add_encoded(url, name);
    buf_add_char(url, '=');
    add_encoded(url, value);
}

void http_query_copy(const struct http_req *req, struct buf *url)
{
    for (const struct http_pair *pair = req->query; pair; pair = pair->next)
        http_query_add(url, pair->name, pair->value);
}

/** Value of a query parameter. */
static const struct http_value *param_value(const struct http_req *req, int id)
{
    const struct http_param_set *set = &req->match.route->params;
    BUG_IF(id < 0 || (size_t)id >= set->n ||
           (set->rows[id].in != HTTP_IN_QUERY && set->rows[id].in != HTTP_IN_ALIAS));
    return &req->values[id];
}

static int64_t param_number(const struct http_req *req, int id, enum http_param_type type)
{
    const struct http_value *value = param_value(req, id);
    BUG_IF(req->match.route->params.rows[id].type != type);
    return value->n;
}

bool http_param_given(const struct http_req *req, int id)
{
    return param_value(req, id)->is_given;
}

const char *http_param_text(const struct http_req *req, int id)
{
    return param_value(req, id)->text;
}

bool http_param_bool(const struct http_req *req, int id)
{
    return param_number(req, id, HTTP_BOOL);
}

int64_t http_param_int(const struct http_req *req, int id)
{
    return param_number(req, id, HTTP_INT);
}

int64_t http_param_ms(const struct http_req *req, int id)
{
    return param_number(req, id, HTTP_TIME);
}

int http_param_choice(const struct http_req *req, int id)
{
    return (int)param_number(req, id, HTTP_CHOICE);
}

const char *http_header(const struct http_req *req, const char *name)
{
    return http_mhd_header(&req->exchange, name);
}

const char *http_body(const struct http_req *req, size_t *len)
{
    if (len)
        *len = req->body.len;
    return req->body.len ? req->body.bytes : "";
}

void *http_app(const struct http_req *req)
{
    return req->app;
}
