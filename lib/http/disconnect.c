#include "http/http_priv.h"

#include <errno.h>
#include <sys/socket.h>

/** A connection younger than this is not taken for idle: its first request is on the way. */
#define FRESH_MS 1000
/** How often bodies are thrown away, how many of them, and how much of one in a call: some 50 us of the loop at most. */
#define DRAIN_EVERY_MS 5
#define DRAIN_BATCH    50
#define DRAIN_PIECE    ((size_t)1 << 20)

static const char slow_head[] =
    "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

void http_disconnect_end(struct http_peer *p)
{
    struct http_req *req = p->req;
    (void)shutdown(p->fd, SHUT_RDWR);
    if (!req)
        return;
    req->is_cut = true;
    http_body_whole(req);
    http_request_resume(req);
}

void http_disconnect(struct http_req *req, int code, const char *text)
{
    if (!req->refusal)
        req->refusal = err_set(&req->refusal_why, code, NULL, "%s", text);
    http_body_free(req);
    if (!req->is_refused_past)
        http_reply_refuse_past(req);
    if (code == ERR_SLOW)
        http_server_count(req->server, M_HTTP_SLOW, 1);
    http_disconnect_end(req->peer);
}

/* ---- slow clients ---- */

static void check_head(struct http_peer *p, int64_t now_ms)
{
    if (now_ms - p->since_ms < p->server->def.limits.head_timeout_ms)
        return;
    http_server_count(p->server, M_HTTP_SLOW, 1);
    /* A client that cannot take some bytes now sees the end only. */
    (void)send(p->fd, slow_head, sizeof slow_head - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    http_disconnect_end(p);
    p->since_ms = now_ms;
}

/** Too slow over a window that is over; the next one begins. */
static bool is_slow(struct http_peer *p, int64_t took_ms)
{
    const struct http_limits *limits = &p->server->def.limits;
    bool is = (double)p->n_bytes * 1000 < (double)limits->body_min_rate * (double)took_ms;
    p->since_ms += took_ms;
    p->n_bytes = 0;
    return is;
}

static void check_body(struct http_peer *p, int64_t now_ms)
{
    const struct http_limits *limits = &p->server->def.limits;
    int64_t took_ms = now_ms - p->since_ms;
    if (took_ms < limits->body_window_ms)
        return;
    if (p->req->is_drained) {
        http_disconnect_end(p); /* there was time to read the refusal */
    } else if (is_slow(p, took_ms)) {
        mem_auto char *text = mem_fmt("the body comes more slowly than %lld bytes a second (%sbody.min-rate)",
                                      (long long)limits->body_min_rate, limits->prefix);
        http_disconnect(p->req, ERR_SLOW, text);
    }
}

void http_disconnect_slow(void *server)
{
    struct http_server *s = obj_cast(server, struct http_server, HTTP_SERVER_MAGIC);
    int64_t now_ms = http_server_now_ms(s);
    for (MAP_EACH (&s->addresses, slot)) {
        const struct http_address *address = slot->value;
        struct http_peer *p;
        TAILQ_FOREACH (p, &address->idle, link) {
            if (p->req)
                check_body(p, now_ms);
            else
                check_head(p, now_ms);
        }
    }
}

/* ---- descriptors for new connections ---- */

bool http_disconnect_idlest(struct http_server *s)
{
    struct http_peer *p = http_peer_idlest(s);
    if (!p || http_server_now_ms(s) - p->moved_ms < FRESH_MS)
        return false;
    http_server_count(s, M_HTTP_EVICTED, 1);
    if (p->req)
        http_disconnect(p->req, ERR_UNAVAILABLE,
                        "the connection made no progress, and its descriptor was needed");
    else
        http_disconnect_end(p);
    http_peer_served(p);
    return true;
}

/* ---- bodies that nobody wants ---- */

void http_disconnect_body(struct http_req *req)
{
    struct http_server *s = req->server;
    http_reply_refuse_past(req);
    http_mhd_suspend(&req->exchange);
    if (TAILQ_EMPTY(&s->drained))
        run_timer_start(s->drain, DRAIN_EVERY_MS, DRAIN_EVERY_MS);
    req->is_drained = true;
    TAILQ_INSERT_TAIL(&s->drained, req, body_link);
}

/** @return whether more may come and may be thrown away. */
static bool drain_one(struct http_req *req)
{
    ssize_t n;
    do {
        n = recv(req->peer->fd, NULL, DRAIN_PIECE, MSG_TRUNC | MSG_DONTWAIT);
        if (n > 0) {
            req->n_dropped += (size_t)n;
            http_peer_moved(req->peer, (size_t)n);
        }
    } while (n > 0 && req->n_dropped <= 2 * HTTP_DRAIN_MAX);
    return n < 0 && (errno == EAGAIN || errno == EINTR);
}

void http_disconnect_drain(void *server)
{
    struct http_server *s = obj_cast(server, struct http_server, HTTP_SERVER_MAGIC);
    const struct http_req *last = TAILQ_LAST(&s->drained, http_req_list);
    struct http_req *req;
    bool goes_on = true;
    for (int n = 0; goes_on && n < DRAIN_BATCH && (req = TAILQ_FIRST(&s->drained)); n++) {
        goes_on = req != last;
        TAILQ_REMOVE(&s->drained, req, body_link);
        TAILQ_INSERT_TAIL(&s->drained, req, body_link);
        if (!drain_one(req))
            http_disconnect_end(req->peer);
    }
}
