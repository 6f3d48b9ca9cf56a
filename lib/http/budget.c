#include "http/http_priv.h"

/** First memory of a body; it grows by doubling, to what was announced or allowed at most. */
#define BODY_FIRST ((size_t)4096)
/** Bodies up to here have the whole budget, larger ones three quarters of it: small requests find room beside large ones. */
#define BODY_SMALL ((size_t)65536)
/** A body of which nothing came for so long makes room for others. */
#define STALLED_MS 1000

size_t http_budget_size(const struct http_limits *limits, const struct http_route_table *routes)
{
    size_t largest = 0;
    for (size_t i = 0; i < routes->n; i++) {
        if (routes->routes[i].max_body > largest)
            largest = routes->routes[i].max_body;
    }
    size_t least = largest + largest / 2; /* three quarters of it are more than the body and its NUL */
    return limits->body_budget > least ? limits->body_budget : least;
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
        http_disconnect(first, ERR_SLOW, "nothing of the body came for a second, and its room was needed");
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

int http_budget_announce(struct http_req *req, size_t len, struct err_info *why)
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
    http_body_grow(req, cap);
    return true;
}

int http_budget_add(struct http_req *req, const char *bytes, size_t len, struct err_info *why)
{
    size_t need = req->body.len + len + 1;
    size_t limit = (req->announced ? req->announced : req->match.route->max_body) + 1;
    if (need > req->body.cap && !grow(req, need, limit))
        return no_room(req, why);
    http_body_append(req, bytes, len);
    return 0;
}
