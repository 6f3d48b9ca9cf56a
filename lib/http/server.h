/**
 * HTTP/1.1 server: libmicrohttpd behind a route table, driven by the owner loop (its epoll descriptor is polled by
 * libuv), so handlers run on the loop and need no locks. No handler holds the loop longer than 1 ms.
 *
 *     static const struct http_route routes[] = {
 *         {"GET",  "/ws/v1/registry/{path…}", 0, 0, api_get,  "Read a node", …},
 *         {"PUT",  "/ws/v1/registry/{path…}", HTTP_JSON_IN, 1 << 20, api_put,  "Bind a record", …},
 *     };
 *
 * A pattern element `{name}` matches one raw path element, a final `*` matches the rest (also empty). The path is
 * matched RAW: libmicrohttpd's unescaping is switched off; a handler decodes each element itself (http_path_element).
 * A trailing slash is ignored except under `*`. HEAD is answered by GET's route without the body. A path with no row is
 * ERR_NOROUTE; a path whose rows lack the method is ERR_METHOD with Allow; OPTIONS is answered with Allow.
 *
 * Checks before a handler runs: foreign Origin (ERR_ORIGIN); body larger than the row's limit (ERR_TOOBIG); a body
 * that is not application/json where HTTP_JSON_IN says so (ERR_MEDIATYPE).
 * Errors are application/problem+json: {"type":"urn:bobbin:error:<type>","title","status","detail","where","exception"}.
 *
 * Source: RFC 9110, RFC 9457; design §3.
 */
#ifndef HTTP_SERVER_H
#define HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "bobbin/error.h"
#include "run/daemon.h"
#include "run/loop.h"

struct http_server;
struct http_req;

enum http_route_flag {
    HTTP_JSON_IN = 1,       /* a body must be application/json                       */
    HTTP_JSON_OPTIONAL = 2, /* as HTTP_JSON_IN, but an empty body needs no media type */
};

struct http_route {
    const char *method;  /* "GET", "PUT", … */
    const char *pattern; /* "/a/{x}/b", "/a/" followed by a star */
    unsigned flags;      /* enum http_route_flag */
    size_t max_body;     /* bytes; 0: no body allowed */
    void (*handle)(struct http_req *req, void *app);
    const char *summary; /* one sentence, for OpenAPI and docs */
};

struct http_server_def {
    const char *listen; /* "127.0.0.1:9192"; port 0: any free one */
    bool allow_remote;  /* else a non-loopback address is refused with ERR_CONFIG naming the option */
    const char *allow_remote_key; /* option behind allow_remote, for that error's text; NULL: none named [borrowed] */
    int64_t send_timeout_ms; /* a client that takes or sends nothing for so long is dropped; whole seconds; 0: 30000 */
    const char *static_user; /* caller when no user.name is given [borrowed] */
    const struct http_route *routes; /* [borrowed] */
    size_t n_routes;
    const struct http_route *more_routes; /* a second table (http_common_routes), or NULL */
    size_t n_more_routes;
    void *app;
    /** Error body writer of a dialect, or NULL for problem+json. Appends body, returns media type (static). */
    const char *(*write_error)(struct http_req *req, int code, const struct err_info *why, struct buf *body);
};

/**
 * Listen and serve.
 * @return 0; ERR_ADDRINUSE, ERR_CONFIG, ERR_IO with *why filled.   Thread: owner.
 */
int http_server_start(struct run_loop *loop, const struct http_server_def *def, struct http_server **out,
                      struct err_info *why);
/** Stop listening, resume and finish what is open (streams are ended), then call stopped(arg). Thread: owner. */
void http_server_stop(struct http_server *s, void (*stopped)(void *arg), void *arg);
/** Port that is listened on. */
uint16_t http_server_port(const struct http_server *s);

/* ---- reading a request: all borrowed, valid until the request ends ---- */
const char *http_method(const struct http_req *req);
/** Raw path as sent, without query. */
const char *http_raw_path(const struct http_req *req);
/** Raw text of pattern element {name}, or of the final star ("*"); NULL when the pattern has none. */
const char *http_path_raw(const struct http_req *req, const char *name);
/** {name} percent-decoded into *out (free()). @return 0; ERR_PATH: bad escape, or a decoded NUL, '/' or control
 *  character, or not UTF-8; *why names it. */
int http_path_element(struct http_req *req, const char *name, char **out, struct err_info *why);
/** Query parameter, decoded; NULL when absent, "" when without value. */
const char *http_query(const struct http_req *req, const char *name);
/** Query parameter as boolean; absent: def; "" (just the name): true. @return 0 or ERR_USAGE naming it. */
int http_query_bool(const struct http_req *req, const char *name, bool def, bool *out, struct err_info *why);
int http_query_int(const struct http_req *req, const char *name, int64_t def, int64_t min, int64_t max,
                   int64_t *out, struct err_info *why);
/** Duration: bare numbers are seconds. */
int http_query_ms(const struct http_req *req, const char *name, int64_t def_ms, int64_t *out, struct err_info *why);
const char *http_header(const struct http_req *req, const char *name);
const char *http_body(const struct http_req *req, size_t *len);
/** Caller without authentication: user.name of the query, else the static user. */
const char *http_user(const struct http_req *req);
/** The app pointer of the server. */
void *http_app(const struct http_req *req);

/* ---- answering: exactly one of these per request, now or later, always on the loop ---- */

/** Header of the answer to come; copied. */
void http_reply_header(struct http_req *req, const char *name, const char *value);
/** Send. body (may be NULL: empty) is taken and left empty. media_type NULL: no Content-Type. */
void http_reply(struct http_req *req, int status, const char *media_type, struct buf *take_body);
/** Send the error of the table row `code`; why may be NULL. */
void http_reply_error(struct http_req *req, int code, const struct err_info *why);
/** As http_reply_error with another status than the row's. */
void http_reply_error_status(struct http_req *req, int status, int code, const struct err_info *why);
/**
 * The handler cannot answer yet: it will call one of the reply functions later. `closed` is called (once, instead of
 * needing a reply) when the client went away or the server stops: afterwards req must not be used. May be NULL only
 * if the later reply is certain; a reply to a vanished client is then dropped silently.
 */
void http_reply_later(struct http_req *req, void (*closed)(void *arg), void *arg);

/** A body produced over time. */
struct http_stream_ops {
    /** Fill up to max bytes of buf. @return bytes; 0: nothing now (sleep until http_stream_wake); -1: end. */
    ssize_t (*read)(void *arg, char *buf, size_t max);
    /** The stream is over, for whatever reason; req must not be used any more. */
    void (*closed)(void *arg);
};
/** Start a chunked answer. A client that takes nothing for 30 s is dropped. */
void http_stream_start(struct http_req *req, int status, const char *media_type, const struct http_stream_ops *ops,
                       void *arg);
/** There is something to read again. Thread: owner. */
void http_stream_wake(struct http_req *req);

/* ---- /healthz /readyz /metrics /version for every daemon: app of these routes is reached through the daemon ---- */
extern const struct http_route http_common_routes[];
extern const size_t http_common_n_routes;
/** Tell the common routes which daemon they speak of; before http_server_start. */
void http_common_daemon(struct daemon *d);

#endif
