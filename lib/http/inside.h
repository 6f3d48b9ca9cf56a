/**
 * What the files of lib/http share about a server and a request; not for users of the library.
 *
 *   server.c   daemon, polling, start and stop      on_target, on_request, on_completed are libmicrohttpd's callbacks
 *   request.c  reading and checking a request       steps of a request, in order: request_open, request_check_head,
 *   reply.c    building and sending answers           request_take_body, request_check_body, handler, reply_send
 *   stream.c   bodies produced over time
 *
 * Phases of a request:
 *
 *     READING --whole request here--> HANDLING --reply--> REPLYING --completed--> freed
 *                                        |                   ^
 *                                        +--later--> WAITING-+        (suspended while WAITING)
 *
 * A stream is in REPLYING too; its connection is suspended whenever its reader has nothing.
 * Thread: owner for everything.   Source: libmicrohttpd 0.9.75; ours.
 */
#ifndef HTTP_INSIDE_H
#define HTTP_INSIDE_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <uv.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/obj.h"
#include "http/route.h"
#include "http/server.h"

#define HTTP_SERVER_MAGIC OBJ_MAGIC('H', 'S', 'R', 'V')
#define HTTP_REQ_MAGIC    OBJ_MAGIC('H', 'R', 'E', 'Q')

/**
 * Bytes of a refused body that are read and dropped before the client is told without waiting for the rest; as many
 * again are dropped, to let it see the answer (closing with bytes unread would reset the connection), then it is cut.
 */
#define HTTP_DRAIN_MAX ((size_t)1 << 20)

enum http_phase { HTTP_READING, HTTP_HANDLING, HTTP_WAITING, HTTP_REPLYING };

struct http_pair {
    const char *name, *value;
    struct http_pair *next;
};

/** What a head says of its message itself; texts are libmicrohttpd's, NULL: not said. */
struct http_head {
    const char *host, *origin, *length, *coding; /* of Content-Length, Transfer-Encoding */
    unsigned n_hosts, n_lengths, n_codings;
};

struct http_req {
    struct obj obj;
    TAILQ_ENTRY(http_req) link;
    struct http_server *server;  /* NULL: orphan, its connection ended before the promised reply came */
    struct MHD_Connection *conn; /* NULL: orphan, or headers not read yet */
    struct arena *arena;
    enum http_phase phase;
    void *app;
    const char *static_user;

    struct http_head head;
    const char *method;
    const char *target_at; /* where libmicrohttpd keeps the target; only compared */
    char *target;          /* raw path and query, copied; cut at the end of the path once that is known */
    const char *path;      /* raw path, in target */
    struct http_pair *query;
    struct http_pair *elements; /* of the route's pattern */
    struct route_match match;
    struct buf body;
    bool is_refused_raw; /* the answer went past libmicrohttpd; the connection ends with the body */
    size_t n_dropped;    /* bytes of a refused body that were read */

    int refusal; /* ERR_* found before the handler; the body is read and dropped */

    struct http_pair *reply_headers;
    struct MHD_Response *reply; /* ready, not handed over yet */
    int reply_status;
    bool promised; /* reply_later without closed: req lives until that reply */
    bool suspended;
    void (*closed)(void *arg);
    void *closed_arg;

    struct http_stream_ops stream;
    void *stream_arg;
    bool stream_over; /* no read any more */
    bool stream_woken;

    struct err_info
        refusal_why; /* last, and not cleared for the next request: filled when there is a refusal */
};

TAILQ_HEAD(http_req_list, http_req);

struct http_server {
    struct obj obj;
    struct run_loop *loop;
    struct MHD_Daemon *mhd;
    uv_poll_t poll;
    struct run_timer *timer;
    struct http_req_list reqs;
    struct http_req_list spare; /* ended, their memory is used again */
    size_t n_spare;
    struct route_tables tables;
    struct http_server_def def;
    uint16_t port;
    bool in_turn;        /* inside MHD_run */
    uint64_t n_requests; /* begun so far */
    bool stop_asked, stopping;
    int64_t stop_limit_ms; /* monotonic clock */
    void (*stopped)(void *arg);
    void *stopped_arg;
};

/** See to it that libmicrohttpd runs soon. Thread: owner. */
void server_kick(struct http_server *s);

/** A request whose target is known. @param target  raw target, as libmicrohttpd keeps it [borrowed] @return new. */
struct http_req *request_new(struct http_server *s, const char *target);
/** Release a request; its closed callback must have been called or dropped. */
void request_free(struct http_req *req);
/** Release what is kept for requests to come. */
void request_free_spare(struct http_server *s);
/** Call the closed callback, if there is one, and forget it. */
void request_closed(struct http_req *req);
/**
 * The headers are here: keep the connection and run the checks that need no body; the outcome is in req->refusal.
 *
 * @param version  text of the request line's last part, in the same buffer as the target   [borrowed]
 * @return true: go on reading; false: the refusal must be sent at once, before the body, and ends the connection.
 */
bool request_open(struct http_req *req, struct MHD_Connection *conn, const char *method, const char *version);
/** A piece of the body. @return false: more than is worth reading, the connection is to be cut. */
bool request_take_body(struct http_req *req, const char *bytes, size_t len);
/** The body is whole: the checks that need it. */
void request_check_body(struct http_req *req);

/** Suspend the connection of a request. */
void request_suspend(struct http_req *req);
/** Resume it if it is suspended. */
void request_resume(struct http_req *req);

/** Every public reply function starts here. @return false: nobody waits any more, req may be gone; do nothing. */
bool reply_begin(struct http_req *req);
/** Hand the ready reply to libmicrohttpd. @return what libmicrohttpd's handler is to return. */
enum MHD_Result reply_send(struct http_req *req);
/** Make an error the ready reply, also where a reply was promised by others. */
void reply_set_error(struct http_req *req, int status, int code, const struct err_info *why);
/** Make a response the ready reply and resume; the one way to REPLYING. @param take_response  taken */
void reply_set(struct http_req *req, int status, struct MHD_Response *take_response);
/**
 * Write the refusal to the socket past libmicrohttpd, which answers only before or after a body, and end our side of
 * the connection. At most once a request.
 */
void reply_refuse_raw(struct http_req *req);
/** Make the answer to a request whose checks failed the ready reply; OPTIONS gets its methods. */
void reply_refuse(struct http_req *req);

#endif
