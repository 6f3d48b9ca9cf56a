#include "http/http_priv.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/** A connection younger than this is not taken for idle: its first request is on the way. */
#define FRESH_MS 1000
/** How often slow clients are looked for, unless a limit is shorter. */
#define SWEEP_MS     1000
#define SWEEP_MIN_MS 20

static const char slow_head[] =
    "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/* ---- who is awaited ---- */

static uint64_t sweep_every_ms(const struct http_limits *limits)
{
    int64_t least =
        limits->body_window_ms < limits->head_timeout_ms ? limits->body_window_ms : limits->head_timeout_ms;
    int64_t every = least / 4 < SWEEP_MS ? least / 4 : SWEEP_MS;
    return (uint64_t)(every > SWEEP_MIN_MS ? every : SWEEP_MIN_MS);
}

static void await_client(struct http_peer *p)
{
    struct http_server *s = p->server;
    p->moved_ms = http_server_now_ms(s);
    if (p->is_awaited)
        TAILQ_REMOVE(&p->address->idle, p, link);
    else
        s->n_awaited++;
    if (!s->is_sweeping)
        run_timer_start(s->sweep, sweep_every_ms(&s->def.limits), sweep_every_ms(&s->def.limits));
    s->is_sweeping = true;
    p->is_awaited = true;
    TAILQ_INSERT_TAIL(&p->address->idle, p, link);
}

void http_peer_await_head(struct http_peer *p)
{
    await_client(p);
    p->req = NULL;
    p->since_ms = p->moved_ms;
}

void http_peer_await_body(struct http_peer *p, struct http_req *req)
{
    await_client(p);
    p->req = req;
    p->since_ms = p->moved_ms;
    p->n_bytes = 0;
}

void http_peer_moved(struct http_peer *p, size_t n)
{
    await_client(p);
    p->n_bytes += n;
}

void http_peer_served(struct http_peer *p)
{
    p->req = NULL;
    if (!p->is_awaited)
        return;
    p->is_awaited = false;
    TAILQ_REMOVE(&p->address->idle, p, link);
    p->server->n_awaited--;
}

/* ---- connections ---- */

struct http_peer *http_peer_new(struct http_server *s, int fd, const struct addr *from)
{
    struct http_peer *p = mem_new(struct http_peer);
    obj_init(&p->obj, HTTP_PEER_MAGIC);
    p->server = s;
    p->fd = fd;
    p->address = map_get(&s->addresses, addr_text(from, p->address_text));
    if (!p->address) {
        p->address = mem_new(struct http_address);
        TAILQ_INIT(&p->address->idle);
        map_set(&s->addresses, p->address_text, p->address);
    }
    p->address->n_peers++;
    s->n_peers++;
    http_server_count(s, M_HTTP_CONNECTIONS, 1);
    http_peer_await_head(p);
    return p;
}

void http_peer_free(struct http_peer *p)
{
    struct http_server *s = p->server;
    http_peer_served(p);
    s->n_peers--;
    http_server_count(s, M_HTTP_CONNECTIONS, -1);
    if (--p->address->n_peers == 0) {
        map_remove(&s->addresses, p->address_text);
        free(p->address);
    }
    obj_fini(&p->obj);
    free(p);
}

size_t http_peer_count(const struct http_server *s, const struct addr *from)
{
    char text[ADDR_TEXT_MAX];
    const struct http_address *address = map_get(&s->addresses, addr_text(from, text));
    return address ? address->n_peers : 0;
}

/* ---- slow clients ---- */

void http_peer_end(struct http_peer *p)
{
    struct http_req *req = p->req;
    (void)shutdown(p->fd, SHUT_RDWR);
    if (!req)
        return;
    req->is_cut = true;
    http_body_whole(req);
    http_request_resume(req);
}

static void end_head(struct http_peer *p)
{
    /* A client that cannot take some bytes now sees the end only. */
    (void)send(p->fd, slow_head, sizeof slow_head - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    http_peer_end(p);
}

void http_request_cut(struct http_req *req, int code, const char *text)
{
    struct http_server *s = req->server;
    bool is_told = req->refusal != 0;
    if (!is_told)
        req->refusal = err_set(&req->refusal_why, code, NULL, "%s", text);
    http_body_free(req);
    if (!req->is_refused_raw)
        http_reply_refuse_raw(req);
    if (code == ERR_SLOW)
        http_server_count(s, M_HTTP_SLOW, 1);
    http_peer_end(req->peer);
}

static void check_head(struct http_peer *p, int64_t now_ms)
{
    if (now_ms - p->since_ms < p->server->def.limits.head_timeout_ms)
        return;
    http_server_count(p->server, M_HTTP_SLOW, 1);
    end_head(p);
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
        http_peer_end(p); /* there was time to read the refusal */
    } else if (is_slow(p, took_ms)) {
        mem_auto char *text = mem_fmt("the body comes more slowly than %lld bytes a second (%sbody.min-rate)",
                                      (long long)limits->body_min_rate, limits->prefix);
        http_request_cut(p->req, ERR_SLOW, text);
    }
}

void http_peer_sweep(void *arg)
{
    struct http_server *s = obj_cast(arg, struct http_server, HTTP_SERVER_MAGIC);
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

/* ---- room for others ---- */

/** Of the address that has most connections, so that nobody else loses one to it. */
static struct http_peer *idlest(const struct http_server *s)
{
    const struct http_address *most = NULL;
    for (MAP_EACH (&s->addresses, slot)) {
        const struct http_address *address = slot->value;
        if (!TAILQ_EMPTY(&address->idle) && (!most || address->n_peers > most->n_peers))
            most = address;
    }
    return most ? TAILQ_FIRST(&most->idle) : NULL;
}

bool http_peer_evict(struct http_server *s)
{
    struct http_peer *p = idlest(s);
    if (!p || http_server_now_ms(s) - p->moved_ms < FRESH_MS)
        return false;
    http_server_count(s, M_HTTP_EVICTED, 1);
    if (p->req)
        http_request_cut(p->req, ERR_UNAVAILABLE,
                         "the connection made no progress, and its descriptor was needed");
    else
        http_peer_end(p);
    http_peer_served(p);
    return true;
}
