/**
 * HTTP/1.1 server: libmicrohttpd behind a route table, driven by the owner loop (its epoll descriptor is polled by
 * libuv), so handlers run on the loop and need no locks. No handler holds the loop longer than 1 ms.
 *
 *     static const struct http_route routes[] = {
 *         {"GET", "/ws/v1/registry/…", .handle = api_get, .summary = "Read a node.", .params = HTTP_PARAMS(GET_PARAMS), …},
 *         {"PUT", "/ws/v1/registry/…", HTTP_JSON_IN, 1 << 20, api_put, "Bind a record.", …},
 *     };
 *
 * A row is all there is to say of a route: from it requests are matched, parsed and refused, and /openapi.json is made.
 *
 * A pattern element `{name}` matches one raw path element, a final `*` matches the rest (also empty). The path is
 * matched RAW: libmicrohttpd's unescaping is switched off; a handler decodes each element itself (http_path_element).
 * A trailing slash is ignored except under `*`. HEAD is answered by GET's route without the body. A path with no row is
 * ERR_NOROUTE; a path whose rows lack the method is ERR_METHOD with Allow; OPTIONS is answered with Allow.
 *
 * Checks before a handler runs, in this order: a target with a NUL, blank or control character or that is not UTF-8
 * (ERR_PATH); a Host that is none of ours (ERR_HOST); a query that is not percent-encoded UTF-8 text or encodes a NUL (ERR_USAGE); route; foreign Origin
 * (ERR_ORIGIN); a caller who may not act for the user of doAs (ERR_IMPERSONATION, http/proxy_users.h); body larger than the row's limit (ERR_TOOBIG); a body that is not application/json where HTTP_JSON_IN
 * says so (ERR_MEDIATYPE), or an empty one (ERR_JSON); the query parameters of the row (ERR_USAGE, http/params.h); the row's own check of the head;
 * room for the body (ERR_UNAVAILABLE, Retry-After).
 * They run when the head is here, before 100 Continue, as far as the head says. A refused body is read and dropped up to
 * 1 MiB; past that, and where there is no room, the refusal is sent while the client still sends.
 *
 * A gateway sends a write again when its answer does not come in time, with the same X-Request-Id and perhaps without its body. Of a row
 * with HTTP_DONE_ONCE such a repeat is answered as the first was: within 60 s of that answer, from the same user, by the same method, path,
 * query and conditions, with the same body or none; while the first is being done it waits. A 503 that says that nothing was done is not kept. At
 * most 2048 requests and 16 MiB are kept, in the process and, where it has http_server_def.repeats, by others too (http/repeats.h); of an answer
 * larger than 256 KiB status and headers are. One that is lost is ERR_UNKNOWN_OUTCOME to a repeat.
 *
 * What clients hold is bounded by http/limits.h: bodies share a budget of memory; a head or a body that comes too slowly is
 * ERR_SLOW (408) and the end of the connection; connections of one address are counted. When descriptors are short the
 * connection without progress for longest, of the address that has most, makes room for a new one.
 *
 * Errors are application/problem+json: {"type":"urn:bobbin:error:<type>","title","status","detail","where","exception"}.
 *
 * Each request is one event of the log when it is over: at info what may change something (http_write), at debug reads (http_read).
 * Parameters of the query that its row does not name are logged by name only, headers and bodies not at all but for X-Request-Id.
 *
 * A client that leaves is noticed when bytes are sent to it, not while a connection waits: a stream sends a heartbeat,
 * a later reply has a time limit of its own.
 *
 * Thread: owner for everything.   Source: RFC 9110, RFC 9112, RFC 9457; ours.
 */
#ifndef HTTP_SERVER_H
#define HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "bobbin/error.h"
#include "http/limits.h"
#include "http/params.h"
#include "run/daemon.h"
#include "run/loop.h"

struct http_server;
struct http_req;
struct http_repeats_ops;
struct options;

enum http_route_flag {
    HTTP_JSON_IN = 1,       /* a body must be there (ERR_JSON), and be application/json */
    HTTP_JSON_OPTIONAL = 2, /* as HTTP_JSON_IN, but an empty body needs no media type */
    HTTP_STRICT_QUERY = 4,  /* refuses query parameters that no row of `params` names */
    HTTP_NO_WRITE = 8,      /* changes nothing that lasts, whatever the method: logged as a read */
    HTTP_DONE_ONCE = 16     /* a repeat within 60 s gets the first answer: see above */
};

/** A named JSON Schema, a file NAME.json of the program's folder of schemas (cmake/bobbin.cmake: bobbin_schemas). */
struct http_schema {
    const char *name;
    const char *json; /* text of the schema object; others are referred to as "#/components/schemas/NAME" */
};

/** An answer of a handler other than an error of the table in error.h. */
struct http_route_answer {
    int status;
    const char *media_type; /* NULL: without body */
    const char *schema;     /* its name; NULL: no JSON, or any */
    const char *prose;      /* one sentence */
};

/** The answers of a row, ended as it wants them. */
#define HTTP_ANSWERS(...)                                                                                    \
    (const struct http_route_answer[])                                                                       \
    {                                                                                                        \
        __VA_ARGS__,                                                                                         \
        {                                                                                                    \
            0                                                                                                \
        }                                                                                                    \
    }
/** The errors of a row, ended as it wants them. */
#define HTTP_ERRORS(...)                                                                                     \
    (const int[])                                                                                            \
    {                                                                                                        \
        __VA_ARGS__, 0                                                                                       \
    }

/** A route. The first six members suffice; those behind them describe it further. */
struct http_route {
    const char *method;  /* "GET", "PUT", … */
    const char *pattern; /* "/a/{x}/b", "/a/" followed by a star */
    unsigned flags;      /* enum http_route_flag */
    size_t max_body;     /* bytes; 0: no body allowed; with max_body_key how many times the option's value */
    void (*handle)(struct http_req *req, void *app);
    const char *summary; /* one sentence, for OpenAPI and docs */
    /** Option of the program from which the body's limit follows, named when a body is larger; NULL: none. */
    const char *max_body_key;
    const char *body;                        /* name of the schema of the body; NULL: any JSON, or no body */
    const struct http_param *params;         /* HTTP_PARAMS(…); NULL: none */
    const struct http_route_answer *answers; /* HTTP_ANSWERS(…); NULL: not described */
    const int *errors;                       /* HTTP_ERRORS(ERR_…) of the handler; NULL: none */
    const char *role;                        /* who may, one sentence; NULL: everybody */
    /**
     * Check of the head before the first byte of the body is taken (and before 100 Continue); NULL: none. Parameters can
     * be read. @return 0: go on; ERR_* with *why filled: the request is refused.
     */
    int (*check)(struct http_req *req, void *app, struct err_info *why);
};

struct http_server_def {
    const char *listen; /* "127.0.0.1:9192"; port 0: any free one */
    /** Option that holds `listen`, named when the address cannot be used; NULL: none [borrowed]. */
    const char *listen_key;
    bool allow_remote; /* else a non-loopback address is refused with ERR_CONFIG naming the option */
    /** Option behind allow_remote, named in that error; NULL: none [borrowed] */
    const char *allow_remote_key;
    /** What everybody may do who reaches an address that is not loopback: "read the zones", for the warning of http_server_check
     *  [borrowed]. */
    const char *remote_may;
    /** A client that takes or sends nothing for so long is dropped; ms, rounded up to seconds; 0: 30000 */
    int64_t send_timeout_ms;
    /** How long the answer of an HTTP_DONE_ONCE is kept for its repeats; ms; 0: 60000 */
    int64_t repeat_ms;
    /** When a request of a gateway is refused that has no answer: see http_reply_if_late; ms; 0: 14000 */
    int64_t answer_ms;
    /** Who knows such writes of other processes (http/repeats.h), and what its claim gets; NULL: nobody [borrowed]. */
    const struct http_repeats_ops *repeats;
    void *repeats_arg;
    struct http_limits limits; /* what clients may hold */
    /** Of a table with HTTP_METRICS, which begin at first_metric; NULL: none [borrowed]. */
    struct metrics *metrics;
    int first_metric;
    /** Options of the program, for rows that name one; NULL: none does [borrowed]. */
    const struct options *options;
    /**
     * Who may change how the daemon runs (POST /log-level). NULL: callers on this host (http_check_local).
     * @return 0; ERR_* with *why filled.
     */
    int (*may_administer)(struct http_req *req, void *app, struct err_info *why);
    /** Called when the parameters or the check of a row refuse a request; NULL: nobody counts them. */
    void (*refused)(void *app);
    const char *static_user;         /* caller when no user.name is given [borrowed] */
    const struct http_route *routes; /* [borrowed] */
    size_t n_routes;
    const struct http_route *more_routes; /* a second table (http_common_routes), or NULL */
    size_t n_more_routes;
    void *app;
    /** Error body writer of a dialect, or NULL for problem+json. Appends body, returns media type (static). */
    const char *(*write_error)(struct http_req *req, int code, const struct err_info *why, struct buf *body);
    const struct http_schema *schemas; /* that `routes` name, ended by a name NULL; NULL: none [borrowed] */
    const char *error_schema; /* name of the schema of what write_error writes; NULL: Problem [borrowed] */
};

/**
 * Listen and serve.
 *
 * @param loop  loop that drives it                                              [borrowed, outlives the server]
 * @param def   copied; listen is needed during the call only, the other pointers are borrowed until the stop
 * @param out   the server; http_server_stop releases it                         [out]
 * @param why   filled on failure                                                [out]
 * @return 0; ERR_ADDRINUSE: something listens there; ERR_CONFIG: no address of this host, no host:port, or not loopback
 *         and not allowed; ERR_IO: the system refused. Nothing is left behind.
 * Thread: owner.   Source: ours.
 */
int http_server_start(struct run_loop *loop, const struct http_server_def *def, struct http_server **out,
                      struct err_info *why);
/**
 * Check what http_server_start would refuse, but for what only a socket can show; warn of an address that is open to other hosts.
 *
 * @param o       options of the program                                         [borrowed]
 * @param def     listen, listen_key and allow_remote_key, allow_remote and remote_may are set   [borrowed]
 * @param report  errors and warnings are appended                               [in,out]
 * Thread: any.   Source: ours.
 */
void http_server_check(const struct options *o, const struct http_server_def *def, struct opt_report *report);
/**
 * Stop listening, finish what is open, release the server. Closed callbacks of streams and of waiting requests are
 * called, streams get a proper end, waiting clients a 503; answers on their way have 3 s, then connections are cut.
 *
 * @param s        server; not used any more by the caller, except replies promised without closed   [owned, taken]
 * @param stopped  called from the loop when all is released, never inside this call; NULL: nobody waits
 * @param arg      handed to stopped
 * Thread: owner, also inside a handler.   Source: ours.
 */
void http_server_stop(struct http_server *s, void (*stopped)(void *arg), void *arg);
/** Port that is listened on. @param s  a started server [borrowed] @return 1..65535. Thread: owner. Source: ours. */
uint16_t http_server_port(const struct http_server *s);

/* ---- reading a request: all results are borrowed and valid until the request ends; owner thread; source: ours ---- */

/** Method as sent. @param req  a request [borrowed] @return "GET", "HEAD", … */
const char *http_method(const struct http_req *req);
/** Raw path as sent, without query, scheme and host. @param req  a request [borrowed] @return UTF-8, starts with '/'. */
const char *http_raw_path(const struct http_req *req);
/**
 * Raw text of a pattern element.
 *
 * @param req   a request                                                        [borrowed]
 * @param name  "x" of {x}, or "*" for the final star                            [borrowed]
 * @return undecoded text, "" for an empty rest; NULL when the pattern has no such element.
 */
const char *http_path_raw(const struct http_req *req, const char *name);
/**
 * The query parameter in place of the final star: the HTTP_IN_REST of the route's table.
 *
 * @param req  a request, in its handler and its check only                      [borrowed]
 * @return decoded text; NULL: not sent, or the route has no such row. When it was sent, the star is empty.
 */
const char *http_path_param(const struct http_req *req);
/**
 * A pattern element, percent-decoded.
 *
 * @param req   a request                                                        [borrowed]
 * @param name  "x" of {x}; the pattern must have it                             [borrowed]
 * @param out   UTF-8 text; free()                                               [out]
 * @param why   filled on failure; where is the raw element                      [out]
 * @return 0; ERR_PATH: bad escape, or a decoded NUL, '/' or control character, or not UTF-8; *out unchanged.
 */
int http_path_element(struct http_req *req, const char *name, char **out, struct err_info *why);
/**
 * Query parameter by name, decoded ('+' is a blank), whether a row names it or not; the first of several.
 *
 * @param req   a request                                                        [borrowed]
 * @param name  decoded name                                                     [borrowed]
 * @return UTF-8 text; NULL when absent, "" when without value.
 */
const char *http_query(const struct http_req *req, const char *name);
/**
 * One of several query parameters of the same name, decoded, whether a row names it or not.
 *
 * @param req   a request                                                        [borrowed]
 * @param name  decoded name                                                     [borrowed]
 * @param i     0: the first one, in the order of the request
 * @return UTF-8 text, "" when without value; NULL: there are no more.
 */
const char *http_query_nth(const struct http_req *req, const char *name, size_t i);
/**
 * Name of a query parameter, for handlers that refuse unknown ones.
 *
 * @param req  a request                                                         [borrowed]
 * @param i    0: the first one, in the order of the request
 * @return decoded name, UTF-8; NULL: there are no more.
 */
const char *http_query_name(const struct http_req *req, size_t i);
/** Append a query parameter to a URL, behind '?' or '&', both texts percent-encoded. @param url  [in,out] @param name, value  [borrowed] */
void http_query_add(struct buf *url, const char *name, const char *value);
/** Append all query parameters of a request to a URL, in their order. @param url  [in,out] */
void http_query_copy(const struct http_req *req, struct buf *url);
/* Query parameters by their id in the table that the route's row names, in its handler and its check only. Another type than the
 * row's, or an id that the row does not have, is a BUG. Absent and without default: NULL, false, 0. */

/** Whether the request has it. @param req  a request [borrowed] @param id  of the table */
bool http_param_given(const struct http_req *req, int id);
/** Text of one of any type, decoded. @param req  a request [borrowed] @param id  of the table
 *  @return UTF-8 text, "" when without value; or NULL. */
const char *http_param_text(const struct http_req *req, int id);
/** Value of an HTTP_BOOL. @param req  a request [borrowed] @param id  of the table */
bool http_param_bool(const struct http_req *req, int id);
/** Value of an HTTP_INT. @param req  a request [borrowed] @param id  of the table */
int64_t http_param_int(const struct http_req *req, int id);
/** Value of an HTTP_TIME. @param req  a request [borrowed] @param id  of the table @return ms. */
int64_t http_param_ms(const struct http_req *req, int id);
/** Value of an HTTP_CHOICE. @param req  a request [borrowed] @param id  of the table @return index among the choices. */
int http_param_choice(const struct http_req *req, int id);
/**
 * Header of the request.
 *
 * @param req   a request                                                        [borrowed]
 * @param name  in any case                                                      [borrowed]
 * @return text of the first such header, bytes as sent; NULL when absent.
 */
const char *http_header(const struct http_req *req, const char *name);
/**
 * Body of the request.
 *
 * @param req  a request                                                         [borrowed]
 * @param len  bytes; NULL: not wanted                                           [out]
 * @return the bytes, followed by a NUL; "" when there is no body.
 */
const char *http_body(const struct http_req *req, size_t *len);
/** In whose name a request is, without authentication: doAs of the query, when the caller may act for that user; else the caller: user.name,
 *  else the static user. Both names, in any case, are no parameters for http_query. @param req  a request [borrowed]
 *  @return UTF-8 text; NULL when none is there. */
const char *http_user(const struct http_req *req);
/** Whether the request comes from this host. @param req  a request [borrowed] @param why  filled on failure [out]
 *  @return 0: its connection does, from a loopback address, and no proxy speaks for others through it; ERR_PERMISSION. */
int http_check_local(const struct http_req *req, struct err_info *why);
/** Address of the other end of the connection, as "127.0.0.1". @param req  a request [borrowed] */
const char *http_peer_address(const struct http_req *req);
/** Whether the request names its user, so that http_user is not the static user. @param req  a request [borrowed] */
bool http_user_is_named(const struct http_req *req);
/** The app pointer of the server. @param req  a request [borrowed] @return what http_server_def.app was. */
void *http_app(const struct http_req *req);

/* ---- answering: exactly one of these per request, now or later, always on the loop; source: ours ---- */

/**
 * Add a header to the answer to come. A 401 without WWW-Authenticate gets one for Basic.
 *
 * @param req    a request that is not answered                                  [in,out]
 * @param name   header name, a constant; not Content-Length or Transfer-Encoding   [borrowed until the answer has gone]
 * @param value  text; control characters become '?', "" adds nothing            [borrowed]
 * Thread: owner.
 */
void http_reply_header(struct http_req *req, const char *name, const char *value);
/**
 * Send an answer. A handler may go on reading req until it returns; after a later reply req must not be used.
 *
 * @param req         a request that is not answered                             [in,out]
 * @param status      HTTP status, 200..599; 204 and 304 go without body and type
 * @param media_type  Content-Type; NULL: none                                   [borrowed]
 * @param take_body   body, left empty; NULL: empty                              [taken]
 * Thread: owner.
 */
void http_reply(struct http_req *req, int status, const char *media_type, struct buf *take_body);
/**
 * Send the error of a table row, with its status.
 *
 * @param req   a request that is not answered                                   [in,out]
 * @param code  ERR_*
 * @param why   detail and where; bytes that are not UTF-8 are replaced; may be NULL   [borrowed]
 * Thread: owner.
 */
void http_reply_error(struct http_req *req, int code, const struct err_info *why);
/**
 * As http_reply_error with another status than the row's.
 *
 * @param req     a request that is not answered                                 [in,out]
 * @param status  HTTP status, 400..599
 * @param code    ERR_*
 * @param why     as in http_reply_error                                         [borrowed]
 * Thread: owner.
 */
void http_reply_error_status(struct http_req *req, int status, int code, const struct err_info *why);
/**
 * The handler cannot answer yet: one of the reply functions will be called later. Without effect when the handler has
 * answered already.
 *
 * @param req     the handler's request                                          [in,out]
 * @param closed  called once, instead of needing a reply, when the server stops or the connection ends: afterwards req
 *                must not be used. NULL only if the later reply is certain: req then lives until it comes, and a reply
 *                to a vanished client or a stopped server is dropped silently.
 * @param arg     handed to closed
 * Thread: owner, inside the handler.
 */
void http_reply_later(struct http_req *req, void (*closed)(void *arg), void *arg);

/**
 * Say what is to be called when the answer to a gateway is late. A gateway gives up after 20 s (Knox), so each request that came through one
 * (X-Forwarded-Context) and still waits is refused after 14 s: a write by ERR_UNKNOWN_OUTCOME, for it goes on; a read by ERR_UNAVAILABLE; closed is
 * called as when the connection ends. late comes 2 s before, and may answer that it lasts.
 *
 * @param req   of which http_reply_later was just called                        [in,out]
 * @param late  called at most once, with the arg of http_reply_later
 * Thread: owner, inside the handler.
 */
void http_reply_if_late(struct http_req *req, void (*late)(void *arg));

/** A body produced over time. */
struct http_stream_ops {
    /** Fill up to max bytes of buf. @return bytes; 0: nothing now (sleep until http_stream_wake); -1: end. */
    ssize_t (*read)(void *arg, char *buf, size_t max);
    /** The stream is over, for whatever reason; req must not be used any more. Called exactly once. */
    void (*closed)(void *arg);
};
/**
 * Start a chunked answer; its head is sent at once. HEAD gets the head only. A client that takes nothing for 30 s
 * (http_server_def.send_timeout_ms) is dropped; one that sleeps because there is nothing to read is not.
 *
 * @param req         a request that is not answered; a closed of http_reply_later is forgotten     [in,out]
 * @param status      HTTP status, 200..599
 * @param media_type  Content-Type; NULL: none                                   [borrowed]
 * @param ops         copied
 * @param arg         handed to ops
 * Thread: owner.
 */
void http_stream_start(struct http_req *req, int status, const char *media_type,
                       const struct http_stream_ops *ops, void *arg);
/** There is something to read again; harmless when the stream is awake, also inside read.
 *  @param req  a stream that is not closed [in,out] Thread: owner. */
void http_stream_wake(struct http_req *req);

/** A connection that leaves HTTP. */
struct http_upgrade_ops {
    /**
     * 101 was sent, the connection speaks the other protocol.
     * @param fd     the server's, not blocking: may be used, or given to another process, until http_upgrade_end or closed
     * @param early  len bytes that came behind the request                      [borrowed for the call]
     */
    void (*begun)(void *arg, int fd, const char *early, size_t len);
    /** The client left before begun, or the server stops and closes the connection; req must not be used any more. Not called after
     *  http_upgrade_end. */
    void (*closed)(void *arg);
};
/** Whether a request asks for an upgrade to this protocol, in HTTP/1.1. @param req  a request [borrowed] @param protocol  a token
 *  @return by its headers Upgrade and Connection.   Source: RFC 9110 7.8. */
bool http_wants_upgrade(const struct http_req *req, const char *protocol);
/**
 * Answer 101: the connection speaks another protocol from then on. It counts as one of its address until its end.
 *
 * @param req       a request with http_wants_upgrade; as in http_stream_start   [in,out]
 * @param protocol  of the answer's Upgrade header                               [borrowed]
 * @param ops       copied
 * @param arg       handed to ops
 * Thread: owner.   Source: RFC 9110 7.8, 15.2.2.
 */
void http_upgrade_start(struct http_req *req, const char *protocol, const struct http_upgrade_ops *ops,
                        void *arg);
/** Close the connection of http_upgrade_start, also inside begun. @param req  not used any more Thread: owner. */
void http_upgrade_end(struct http_req *req);

/* ---- /healthz /readyz /metrics /version /log-level /openapi.json for every daemon ---- */

/** Rows for http_server_def.more_routes. They do not use the app pointer but the daemon named below. */
extern const struct http_route http_common_routes[];
extern const size_t http_common_n_routes;
/** Tell the common routes which daemon they speak of; before http_server_start.
 *  @param d  the one daemon of this process [borrowed, outlives the server] Thread: owner. Source: ours. */
void http_common_daemon(struct daemon *d);

#endif
