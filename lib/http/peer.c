#include "http/http_priv.h"

#include <stdlib.h>

/** How often slow clients are looked for, unless a limit is shorter. */
#define SWEEP_MS     1000
#define SWEEP_MIN_MS 20

/* ---- clients that are awaited ---- */

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
    p->is_local = addr_is_loopback(from);
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

struct http_peer *http_peer_idlest(const struct http_server *s)
{
    const struct http_address *most = NULL;
    for (MAP_EACH (&s->addresses, slot)) {
        const struct http_address *address = slot->value;
        if (!TAILQ_EMPTY(&address->idle) && (!most || address->n_peers > most->n_peers))
            most = address;
    }
    return most ? TAILQ_FIRST(&most->idle) : NULL;
}
