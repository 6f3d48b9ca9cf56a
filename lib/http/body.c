#include "http/http_priv.h"

static void account(struct http_server *s, size_t before, size_t after)
{
    s->n_body_bytes += after - before;
    http_server_count(s, M_HTTP_BODY_BYTES, (int64_t)after - (int64_t)before);
}

void http_body_grow(struct http_req *req, size_t cap)
{
    struct buf *b = &req->body;
    account(req->server, b->cap, cap);
    b->bytes = mem_resize(b->bytes, cap, 1);
    b->cap = cap;
}

void http_body_append(struct http_req *req, const char *bytes, size_t len)
{
    buf_add(&req->body, bytes, len);
    http_body_whole(req);
    TAILQ_INSERT_TAIL(&req->server->bodies, req, body_link);
    req->is_body_awaited = true;
}

static void drain_leave(struct http_req *req)
{
    struct http_server *s = req->server;
    req->is_drained = false;
    TAILQ_REMOVE(&s->drained, req, body_link);
    if (TAILQ_EMPTY(&s->drained))
        run_timer_stop(s->drain);
}

void http_body_whole(struct http_req *req)
{
    if (req->is_drained)
        drain_leave(req);
    if (!req->is_body_awaited)
        return;
    req->is_body_awaited = false;
    TAILQ_REMOVE(&req->server->bodies, req, body_link);
}

void http_body_leave(struct http_req *req)
{
    http_body_whole(req);
    account(req->server, req->body.cap, 0);
}

void http_body_free(struct http_req *req)
{
    if (req->server)
        http_body_leave(req);
    buf_fini(&req->body);
}
