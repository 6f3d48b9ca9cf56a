#include "http/http_priv.h"

#include <string.h>

/** How long a request of a gateway may wait for its answer. Source: Knox gives up after 20 s of silence. */
#define ANSWER_MS 14000
/** Before that, in the same time, comes what is called when it is late; and looks for both. */
#define LATE_SHARE 7
#define LOOK_SHARE 56

static int64_t answer_ms(const struct http_server *s)
{
    return s->def.answer_ms ? s->def.answer_ms : ANSWER_MS;
}

static bool is_read(const struct http_req *req)
{
    bool is_safe = strcmp(req->method, "GET") == 0 || strcmp(req->method, "HEAD") == 0;
    return is_safe || (req->match.route && req->match.route->row->flags & HTTP_NO_WRITE);
}

/** Whether no handler has had it yet. */
static bool has_not_begun(const struct http_req *req)
{
    return req->is_caller_open || http_replay_is_asked(req);
}

/** What a gateway's client learns. @return ERR_* */
static int say_why(const struct http_req *req, struct err_info *why)
{
    int s = (int)(answer_ms(req->server) / 1000);
    if (is_read(req))
        return err_set(why, ERR_UNAVAILABLE, NULL,
                       "there is no answer after %d s, and a gateway waits no longer: ask again", s);
    if (has_not_begun(req))
        return err_set(
            why, ERR_UNAVAILABLE, NULL,
            "after %d s this has not begun, and a gateway waits no longer: nothing was done, ask again", s);
    return err_set(
        why, ERR_UNKNOWN_OUTCOME, NULL,
        "there is no answer after %d s, and a gateway waits no longer: this may be done, now or later; "
        "read what it writes before you send it again",
        s);
}

/** Its owner loses it; what it does goes on. */
static void refuse(struct http_req *req)
{
    struct err_info why;
    int code = say_why(req, &why);
    http_request_closed(req);
    http_reply_set_error(req, err_http_status(code), code, &why);
}

static void leave(struct http_req *req)
{
    if (req->is_guarded)
        TAILQ_REMOVE(&req->server->guarded, req, guard_link);
    req->is_guarded = false;
}

static void look_at(struct http_req *req, int64_t now_ms)
{
    int64_t limit_ms = answer_ms(req->server), age_ms = now_ms - req->waits_since_ms;
    void (*late)(void *arg) = req->late;
    if (req->exchange.reply || req->phase != HTTP_WAITING) {
        leave(req);
    } else if (late && age_ms >= limit_ms - limit_ms / LATE_SHARE) {
        req->late = NULL; /* Also when it is too late: the loop may have been held up. */
        late(req->closed_arg);
    } else if (age_ms >= limit_ms) {
        leave(req);
        refuse(req);
    }
}

static void look_soon(struct http_server *s)
{
    run_timer_start(s->guard, (uint64_t)(answer_ms(s) / LOOK_SHARE + 1), 0);
}

void http_guard_look(void *server)
{
    struct http_server *s = obj_cast(server, struct http_server, HTTP_SERVER_MAGIC);
    int64_t now_ms = http_server_now_ms(s);
    struct http_req *req, *next;
    for (req = TAILQ_FIRST(&s->guarded); req; req = next) {
        next = TAILQ_NEXT(req, guard_link);
        look_at(req, now_ms);
    }
    if (!TAILQ_EMPTY(&s->guarded))
        look_soon(s);
}

void http_guard_begin(struct http_req *req)
{
    struct http_server *s = req->server;
    if (req->phase != HTTP_WAITING || req->exchange.reply || !http_header(req, "X-Forwarded-Context"))
        return;
    if (TAILQ_EMPTY(&s->guarded))
        look_soon(s);
    req->waits_since_ms = http_server_now_ms(s);
    req->is_guarded = true;
    TAILQ_INSERT_TAIL(&s->guarded, req, guard_link);
}

void http_guard_end(struct http_req *req)
{
    leave(req);
}

void http_reply_if_late(struct http_req *req, void (*late)(void *arg))
{
    BUG_IF(req->phase != HTTP_WAITING && !req->exchange.reply);
    req->late = late;
}
