#include "http/http_priv.h"

#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/str.h"
#include "json/writer.h"

#define PROBLEM_JSON "application/problem+json"
/** Seconds after which whoever gets a 503 may ask again. */
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

static void add_headers(const struct http_req *req, struct MHD_Response *response)
{
    for (const struct http_pair *h = req->reply_headers; h; h = h->next) {
        bool is_added = !*h->value || MHD_add_response_header(response, h->name, h->value) == MHD_YES;
        BUG_IF(!is_added);
    }
    if (req->server->stopping && !has_reply_header(req, MHD_HTTP_HEADER_CONNECTION))
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
}

/* ---- the ready reply ---- */

void http_reply_set(struct http_req *req, int status, struct MHD_Response *take_response)
{
    BUG_IF(req->reply != NULL || req->phase == HTTP_REPLYING);
    add_headers(req, take_response);
    req->reply = take_response;
    req->reply_status = status;
    http_request_resume(req);
}

enum MHD_Result http_reply_send(struct http_req *req)
{
    struct MHD_Response *response = req->reply;
    req->reply = NULL;
    req->phase = HTTP_REPLYING;
    enum MHD_Result is_queued = MHD_queue_response(req->conn, (unsigned)req->reply_status, response);
    MHD_destroy_response(response);
    return is_queued;
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
    if (is_promised && (req->reply || req->phase == HTTP_REPLYING))
        return false; /* the server stops and has answered already */
    req->closed = NULL;
    return true;
}

static void set_body(struct http_req *req, int status, const char *media_type, struct buf *take_body)
{
    bool has_no_body = status < 200 || status == 204 || status == 304;
    if (take_body && has_no_body)
        buf_fini(take_body);
    size_t len = take_body ? take_body->len : 0;
    struct MHD_Response *response =
        len ? MHD_create_response_from_buffer(len, buf_take(take_body), MHD_RESPMEM_MUST_FREE)
            : MHD_create_response_from_buffer(0, (void *)(uintptr_t) "", MHD_RESPMEM_PERSISTENT);
    if (take_body)
        buf_fini(take_body);
    BUG_IF(response == NULL);
    if (media_type && !has_no_body)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, media_type);
    http_reply_set(req, status, response);
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
    if (req->reply)
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
    if (status == 401 && !has_reply_header(req, MHD_HTTP_HEADER_WWW_AUTHENTICATE))
        http_reply_header(req, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Basic realm=\"bobbin\"");
    if (status == 503 && !has_reply_header(req, MHD_HTTP_HEADER_RETRY_AFTER))
        http_reply_header(req, MHD_HTTP_HEADER_RETRY_AFTER, RETRY_AFTER_S);
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

/* ---- refusals of the checks before a handler ---- */

/** Headers that go with a refusal: what is allowed, when to come again. */
static void add_remedy(struct http_req *req)
{
    if (req->refusal == ERR_UNAVAILABLE)
        http_reply_header(req, MHD_HTTP_HEADER_RETRY_AFTER, "1");
    if (req->refusal != ERR_METHOD)
        return;
    buf_auto struct buf allow = BUF_EMPTY;
    http_route_allow(&req->server->routes, req->path, &allow);
    http_reply_header(req, MHD_HTTP_HEADER_ALLOW, buf_cstr(&allow));
}

void http_reply_refuse(struct http_req *req)
{
    add_remedy(req);
    if (req->refusal == ERR_METHOD && strcmp(req->method, "OPTIONS") == 0)
        set_body(req, 204, NULL, NULL);
    else
        http_reply_set_error(req, err_http_status(req->refusal), req->refusal, &req->refusal_why);
}

void http_reply_refuse_raw(struct http_req *req)
{
    buf_auto struct buf body = BUF_EMPTY, text = BUF_EMPTY;
    int status = err_http_status(req->refusal);
    req->is_refused_raw = true;
    add_remedy(req);
    const char *media_type = write_error(req, status, req->refusal, &req->refusal_why, &body);
    buf_addf(&text, "HTTP/1.1 %d %s\r\nConnection: close\r\n", status,
             MHD_get_reason_phrase_for((unsigned)status));
    for (const struct http_pair *h = req->reply_headers; h; h = h->next)
        buf_addf(&text, "%s: %s\r\n", h->name, h->value);
    buf_addf(&text, "Content-Type: %s\r\nContent-Length: %zu\r\n\r\n", media_type, body.len);
    buf_add(&text, body.bytes, body.len);
    const union MHD_ConnectionInfo *conn =
        MHD_get_connection_info(req->conn, MHD_CONNECTION_INFO_CONNECTION_FD);
    /* The connection ends in any case; a client that cannot take a few hundred bytes now just sees that. */
    (void)send(conn->connect_fd, text.bytes, text.len, MSG_DONTWAIT | MSG_NOSIGNAL);
    (void)shutdown(conn->connect_fd, SHUT_WR);
}
