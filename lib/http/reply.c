#include "http/http_priv.h"

#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "json/writer.h"

#define PROBLEM_JSON "application/problem+json"
/** Seconds after which a client that gets a 503 may retry. */
#define RETRY_AFTER_S "1"

/* ---- headers ---- */

void http_reply_header(struct http_req *req, const char *name, const char *value)
{
    struct http_pair *pair = arena_new_obj(req->arena, struct http_pair);
    char *clean = arena_str(req->arena, value);
    for (char *c = clean; *c; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    }
    pair->name = name;
    pair->value = clean;
    pair->next = req->reply_headers;
    req->reply_headers = pair;
}

static bool has_reply_header(const struct http_req *req, const char *name)
{
    for (const struct http_pair *h = req->reply_headers; h; h = h->next) {
        if (strcasecmp(h->name, name) == 0)
            return true;
    }
    return false;
}

/* ---- the ready reply ---- */

/** Say that the connection ends, behind the other headers, when the server stops. */
static void add_close(struct http_req *req)
{
    struct http_pair **end = &req->reply_headers;
    if (!req->server->stopping || has_reply_header(req, "Connection"))
        return;
    while (*end)
        end = &(*end)->next;
    *end = arena_new_obj(req->arena, struct http_pair);
    **end = (struct http_pair){.name = "Connection", .value = "close"};
}

/**
 * A proxy keeps connections for its next requests, and one that meets our close is lost: a write is not sent again. It is asked to
 * drop them first, well before the shorter of the limits after which we do.
 */
static void set_keep_alive(struct http_req *req)
{
    const struct http_server_def *def = &req->server->def;
    int64_t idle_ms = def->limits.head_timeout_ms < def->send_timeout_ms ? def->limits.head_timeout_ms
                                                                         : def->send_timeout_ms;
    bool is_kept = req->exchange.head.forwarded_host && !has_reply_header(req, "Connection");
    req->exchange.keep_alive_s = is_kept ? (unsigned)(idle_ms * 2 / 3 / 1000) : 0;
}

bool http_reply_begin(struct http_req *req)
{
    (void)obj_cast(req, struct http_req, HTTP_REQ_MAGIC);
    bool is_promised = req->promised;
    req->promised = false;
    if (!req->server) {
        BUG_IF(!is_promised);
        http_request_free(req);
        return false;
    }
    if (is_promised && (req->exchange.reply || req->phase == HTTP_REPLYING))
        return false; /* the server stops and has answered already */
    req->closed = NULL;
    return true;
}

static void answer_repeats(struct http_replay *r)
{
    struct http_req *req;
    while ((req = http_replay_next_waiting(r)))
        http_reply_repeat(req);
    http_replay_settle(r);
}

static void set_body(struct http_req *req, int status, const char *media_type, struct buf *take_body)
{
    bool has_no_body = status < 200 || status == 204 || status == 304;
    BUG_IF(req->phase == HTTP_REPLYING);
    if (take_body && has_no_body)
        buf_fini(take_body);
    add_close(req);
    set_keep_alive(req);
    req->status = status;
    req->n_sent = take_body && strcmp(req->method, "HEAD") != 0 ? take_body->len : 0;
    struct http_replay *kept = http_replay_keep(req, status, media_type, take_body);
    http_replay_stop_waiting(req);
    http_mhd_reply(&req->exchange, status, has_no_body ? NULL : media_type, req->reply_headers, take_body);
    http_request_resume(req);
    if (kept)
        answer_repeats(kept);
}

void http_reply_set_stream(struct http_req *req, int status, const char *media_type,
                           ssize_t (*read)(void *arg, char *bytes, size_t max))
{
    BUG_IF(req->phase == HTTP_REPLYING);
    add_close(req);
    set_keep_alive(req);
    req->status = status;
    http_mhd_reply_stream(&req->exchange, status, media_type, req->reply_headers, read, req);
    http_request_resume(req);
}

void http_reply_set_upgrade(struct http_req *req, const char *protocol)
{
    BUG_IF(req->phase == HTTP_REPLYING);
    req->status = 101;
    http_mhd_reply_upgrade(&req->exchange, protocol, req->reply_headers);
    http_request_resume(req);
}

void http_reply(struct http_req *req, int status, const char *media_type, struct buf *take_body)
{
    if (http_reply_begin(req))
        set_body(req, status, media_type, take_body);
    else if (take_body)
        buf_fini(take_body);
}

void http_reply_later(struct http_req *req, void (*closed)(void *arg), void *arg)
{
    BUG_IF(req->phase != HTTP_HANDLING);
    if (req->exchange.reply)
        return; /* answered already, while the handler ran */
    req->phase = HTTP_WAITING;
    req->closed = closed;
    req->closed_arg = arg;
    req->promised = closed == NULL;
}

/* ---- errors ---- */

/** A member whose text may hold pieces of what a client sent, cut anywhere: bytes that are not UTF-8 become U+FFFD. */
static void add_text(struct jw *w, const char *key, const char *text)
{
    buf_auto struct buf clean = BUF_EMPTY;
    size_t len = strlen(text), n = 0;
    for (size_t i = 0; i < len; i += n) {
        uint32_t cp = 0;
        n = utf8_next(text + i, len - i, &cp);
        if (n)
            buf_add(&clean, text + i, n);
        else
            buf_add_str(&clean, "\xEF\xBF\xBD");
        n += n == 0;
    }
    jw_kstr(w, key, buf_cstr(&clean));
}

static void write_problem(int status, int code, const struct err_info *why, struct buf *out)
{
    struct jw w = jw_on(out);
    mem_auto char *type = mem_fmt("urn:bobbin:error:%s", err_type(code));
    jw_object(&w);
    jw_kstr(&w, "type", type);
    jw_kstr(&w, "title", err_text(code));
    jw_kint(&w, "status", status);
    add_text(&w, "detail", why && why->text[0] ? why->text : err_text(code));
    if (why && why->where[0])
        add_text(&w, "where", why->where);
    if (err_exception(code)[0])
        jw_kstr(&w, "exception", err_exception(code));
    jw_object_end(&w);
}

/** Write an error in the server's dialect. @return its media type. */
static const char *write_error(struct http_req *req, int status, int code, const struct err_info *why,
                               struct buf *out)
{
    if (req->server->def.write_error)
        return req->server->def.write_error(req, code, why, out);
    write_problem(status, code, why, out);
    return PROBLEM_JSON;
}

void http_reply_set_error(struct http_req *req, int status, int code, const struct err_info *why)
{
    buf_auto struct buf body = BUF_EMPTY;
    const char *media_type = write_error(req, status, code, why, &body);
    req->error = code;
    if (status == 401 && !has_reply_header(req, "WWW-Authenticate"))
        http_reply_header(req, "WWW-Authenticate", "Basic realm=\"bobbin\"");
    if (status == 503 && !has_reply_header(req, "Retry-After"))
        http_reply_header(req, "Retry-After", RETRY_AFTER_S);
    set_body(req, status, media_type, &body);
}

void http_reply_error_status(struct http_req *req, int status, int code, const struct err_info *why)
{
    if (http_reply_begin(req))
        http_reply_set_error(req, status, code, why);
}

void http_reply_error(struct http_req *req, int code, const struct err_info *why)
{
    http_reply_error_status(req, err_http_status(code), code, why);
}

/* ---- repeats ---- */

void http_reply_repeat(struct http_req *req)
{
    const struct http_kept_answer *kept = http_replay_answer(req->replay);
    struct buf body = BUF_EMPTY;
    struct err_info why;
    req->replay = NULL;
    http_reply_header(req, "Bobbin-Repeated", "true");
    if (!kept->status) {
        int code = err_set(&why, ERR_UNKNOWN_OUTCOME, NULL,
                           "a request with this X-Request-Id was taken before, and what came of it is not "
                           "known: read what it "
                           "writes, and send it again with another X-Request-Id if it was not done");
        http_reply_set_error(req, err_http_status(code), code, &why);
        return;
    }
    for (const struct http_pair *h = kept->headers; h; h = h->next)
        http_reply_header(req, arena_str(req->arena, h->name), h->value);
    if (kept->has_lost_body) {
        http_reply_header(req, "Warning", "299 - \"the body of this answer was too large to be kept\"");
        req->error = kept->error;
        set_body(req, kept->status, NULL, NULL);
        return;
    }
    if (kept->body.len)
        buf_add(&body, kept->body.bytes, kept->body.len);
    req->error = kept->error;
    set_body(req, kept->status, kept->media_type, &body);
}

void http_reply_found(struct http_req *req)
{
    struct http_replay *r = req->replay;
    (void)http_replay_lose(req);
    req->replay = r;
    http_reply_repeat(req);
    answer_repeats(r);
}

void http_reply_leave(struct http_req *req)
{
    http_replay_stop_waiting(req);
    struct http_replay *r = http_replay_lose(req);
    if (r)
        answer_repeats(r);
}

/* ---- refusals of the checks before a handler ---- */

/** Headers that go with a refusal: what is allowed, when to come again. */
static void add_remedy(struct http_req *req)
{
    if (req->refusal == ERR_UNAVAILABLE)
        http_reply_header(req, "Retry-After", "1");
    if (req->refusal != ERR_METHOD)
        return;
    buf_auto struct buf allow = BUF_EMPTY;
    http_route_allow(&req->server->routes, req->path, &allow);
    http_reply_header(req, "Allow", buf_cstr(&allow));
}

void http_reply_refuse(struct http_req *req)
{
    add_remedy(req);
    if (req->refusal == ERR_METHOD && strcmp(req->method, "OPTIONS") == 0)
        set_body(req, 204, NULL, NULL);
    else
        http_reply_set_error(req, err_http_status(req->refusal), req->refusal, &req->refusal_why);
}

void http_reply_refuse_past(struct http_req *req)
{
    buf_auto struct buf body = BUF_EMPTY;
    int status = err_http_status(req->refusal);
    req->is_refused_past = true;
    add_remedy(req);
    const char *media_type = write_error(req, status, req->refusal, &req->refusal_why, &body);
    req->status = status;
    req->error = req->refusal;
    req->n_sent = body.len;
    http_mhd_reply_past(req->peer->fd, status, media_type, req->reply_headers, &body);
}
