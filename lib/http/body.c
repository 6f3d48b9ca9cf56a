#include "http/http_priv.h"

#include <errno.h>
#include <sys/socket.h>

/** First memory of a body; it grows by doubling, to what was announced or allowed at most. */
#define BODY_FIRST ((size_t)4096)
/** Bodies up to here have the whole budget, larger ones three quarters of it: small requests find room beside large ones. */
#define BODY_SMALL ((size_t)65536)
/** A body of which nothing came for so long makes room for others. */
#define STALLED_MS 1000
/** How often bodies are thrown away, how many of them, and how much of one in a call: some 50 us of the loop at most. */
#define DRAIN_EVERY_MS 5
#define DRAIN_BATCH    50
#define DRAIN_PIECE    ((size_t)1 << 20)

size_t http_body_budget(const struct http_limits *limits, const struct http_route_table *routes)
{
    size_t largest = 0;
    for (size_t i = 0; i < routes->n; i++) {
        if (routes->routes[i].max_body > largest)
            largest = routes->routes[i].max_body;
    }
    size_t least = largest + largest / 2; /* three quarters of it are more than the body and its NUL */
    return limits->body_budget > least ? limits->body_budget : least;
}

static void account(struct http_server *s, size_t before, size_t after)
{
    s->n_body_bytes += after - before;
    http_server_count(s, M_HTTP_BODY_BYTES, (int64_t)after - (int64_t)before);
}

/** Bodies that stalled make room. @param cap  of the body that is to grow by `more` bytes */
static bool make_room(struct http_req *req, size_t cap, size_t more)
{
    struct http_server *s = req->server;
    size_t share = cap <= BODY_SMALL ? s->body_budget : s->body_budget - s->body_budget / 4;
    while (s->n_body_bytes + more > share) {
        struct http_req *first = TAILQ_FIRST(&s->bodies);
        if (!first || first == req || http_server_now_ms(s) - first->peer->moved_ms < STALLED_MS)
            return false;
        http_request_cut(first, ERR_SLOW, "nothing of the body came for a second, and its room was needed");
    }
    return true;
}

static int no_room(struct http_req *req, struct err_info *why)
{
    const struct http_limits *limits = &req->server->def.limits;
    http_server_count(req->server, M_HTTP_BODIES_REFUSED, 1);
    return err_set(
        why, ERR_UNAVAILABLE, NULL,
        "the bodies of other requests take all the room there is (%sbody.budget): try again in a moment",
        limits->prefix);
}

int http_body_announce(struct http_req *req, size_t len, struct err_info *why)
{
    return make_room(req, len + 1, len + 1) ? 0 : no_room(req, why);
}

/** Memory for a body of `need` bytes; in steps that grow, so that few are copied. */
static bool grow(struct http_req *req, size_t need, size_t limit)
{
    struct buf *b = &req->body;
    size_t cap = b->cap ? b->cap * 2 : BODY_FIRST;
    cap = cap < limit ? cap : limit;
    cap = cap > need ? cap : need;
    if (!make_room(req, cap, cap - b->cap)) {
        cap = need;
        if (!make_room(req, cap, cap - b->cap))
            return false;
    }
    account(req->server, b->cap, cap);
    b->bytes = mem_resize(b->bytes, cap, 1);
    b->cap = cap;
    return true;
}

int http_body_add(struct http_req *req, const char *bytes, size_t len, struct err_info *why)
{
    struct http_server *s = req->server;
    size_t need = req->body.len + len + 1;
    size_t limit = (req->announced ? req->announced : req->match.route->max_body) + 1;
    if (need > req->body.cap && !grow(req, need, limit))
        return no_room(req, why);
    buf_add(&req->body, bytes, len);
    http_body_whole(req);
    TAILQ_INSERT_TAIL(&s->bodies, req, body_link);
    req->is_body_awaited = true;
    return 0;
}

/* ---- bodies that nobody wants ---- */

void http_body_refuse(struct http_req *req)
{
    struct http_server *s = req->server;
    http_reply_refuse_raw(req);
    http_request_suspend(req);
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

void http_body_drain(void *arg)
{
    struct http_server *s = obj_cast(arg, struct http_server, HTTP_SERVER_MAGIC);
    const struct http_req *last = TAILQ_LAST(&s->drained, http_req_list);
    struct http_req *req;
    bool goes_on = true;
    for (int n = 0; goes_on && n < DRAIN_BATCH && (req = TAILQ_FIRST(&s->drained)); n++) {
        goes_on = req != last;
        TAILQ_REMOVE(&s->drained, req, body_link);
        TAILQ_INSERT_TAIL(&s->drained, req, body_link);
        if (!drain_one(req))
            http_peer_end(req->peer);
    }
}

static void drain_leave(struct http_req *req)
{
    struct http_server *s = req->server;
    req->is_drained = false;
    TAILQ_REMOVE(&s->drained, req, body_link);
    if (TAILQ_EMPTY(&s->drained))
        run_timer_stop(s->drain);
}

/* ---- the end of a body ---- */

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
