/**
 * Structs and calls shared by the files of lib/http; not for users of the library.
 *
 * A file calls those of the lines below its own, and nothing calls up: libmicrohttpd does by the table of mhd.h, timers by what
 * server.c gave them.
 *
 *     common.c    routes of every daemon              by server.h, as any user of the library
 *     server.c    start, stop, the steps of a request: begin, head, piece, whole, completed
 *     accept.c    the listening socket                libmicrohttpd gets connections, never the socket
 *     guard.c     requests of a gateway are answered before it gives up
 *     check.c     the checks before a handler         of a head, of a piece of the body, of the whole body
 *     budget.c    the memory that all bodies share
 *     disconnect.c  connections that are closed: slow, idle, with a body that is refused
 *     stream.c    bodies produced over time
 *     upgrade.c   connections that leave HTTP
 *     caller.c    in whose name a request is
 *     reply.c     answers
 *     replay.c    answers of writes, kept for their repeats
 *     request_log.c  one event a request, and its time
 *     request.c   a request: its memory, what handlers read of it
 *     poll.c      runs libmicrohttpd when its descriptors are ready
 *     body.c      memory of a body
 *     peer.c      connections: where they come from, whose client is awaited, which is idlest
 *     mhd.c       libmicrohttpd
 *     head.c host.c limits.c negotiate.c openapi.c params.c proxy_users.c route.c      objects and pure functions with headers of their own
 *
 * Phases of a request:
 *
 *     READING --whole request here--> HANDLING --reply--> REPLYING --completed--> freed
 *                                        |                   ^
 *                                        +--later--> WAITING-+        (suspended while WAITING)
 *
 * An upgraded connection is in REPLYING until its end. A stream is in REPLYING too; its connection is suspended whenever its reader has nothing.
 * Thread: owner for everything.   Source: ours.
 */
#ifndef HTTP_PRIV_H
#define HTTP_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <uv.h>

#include "base/addr.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "http/host.h"
#include "http/mhd.h"
#include "http/repeats.h"
#include "http/route.h"
#include "http/server.h"

#define HTTP_SERVER_MAGIC OBJ_MAGIC('H', 'S', 'R', 'V')
#define HTTP_REQ_MAGIC    OBJ_MAGIC('H', 'R', 'E', 'Q')
#define HTTP_PEER_MAGIC   OBJ_MAGIC('H', 'P', 'E', 'R')

/** Ids of HTTP_METRICS here; in a daemon's table they begin at http_server_def.first_metric. */
enum { METRICS_ENUM(HTTP_METRICS) };

/**
 * Bytes of a refused body that are read and dropped before the refusal is sent without waiting for the rest; as many
 * again are dropped, so that the client sees the answer (closing with bytes unread would reset the connection), then it is cut.
 */
#define HTTP_DRAIN_MAX ((size_t)1 << 20)

enum http_phase { HTTP_READING, HTTP_HANDLING, HTTP_WAITING, HTTP_REPLYING };

TAILQ_HEAD(http_peer_list, http_peer);

/** Where connections come from. */
struct http_address {
    size_t n_peers;
    struct http_peer_list idle; /* those whose client is awaited; longest without progress first */
};

/**
 * One connection. While its client is awaited (for a head, or for more of a body) it is in its address's list, and its
 * client can be too slow; while an answer is made or sent it is not.
 */
struct http_peer {
    struct obj obj;
    TAILQ_ENTRY(http_peer) link; /* in address->idle */
    struct http_server *server;
    struct http_address *address;
    char address_text[ADDR_TEXT_MAX];
    bool is_local; /* on this host: it came from a loopback address */
    int fd;
    bool is_awaited;      /* in address->idle */
    int64_t moved_ms;     /* last progress of the client */
    struct http_req *req; /* whose body is awaited; NULL: a head is */
    int64_t since_ms;     /* when that head, or the window in which the body's rate is measured, began */
    size_t n_bytes;       /* of the body in that window */
};

TAILQ_HEAD(http_req_list, http_req);

struct http_replay;
TAILQ_HEAD(http_replay_list, http_replay);

struct http_req {
    struct obj obj;
    TAILQ_ENTRY(http_req) link;
    struct http_exchange exchange;
    struct http_server *server; /* NULL: orphan, its connection ended before the promised reply came */
    struct http_peer *peer;     /* NULL: orphan, or the head is not read yet */
    struct arena *arena;
    enum http_phase phase;
    void *app;
    const char *static_user;
    const char *caller;   /* user.name, else the static user; NULL: neither */
    const char *do_as;    /* doAs as sent; NULL: not sent */
    bool is_caller_named; /* by user.name */
    bool is_caller_open;  /* whether caller may act for do_as is to be looked up, or is just now */

    const char *method;
    const char *request_id;  /* X-Request-Id as sent; NULL: none */
    char *target;            /* raw path and query, copied; cut at the end of the path once that is known */
    const char *path;        /* raw path, in target */
    struct http_pair *query; /* without the names of the caller */
    const struct http_value *values; /* of the route's parameters */
    struct http_pair *elements;      /* of the route's pattern */
    struct http_route_match match;
    struct buf body;
    size_t announced;                /* Content-Length; 0: none */
    TAILQ_ENTRY(http_req) body_link; /* in server->bodies */
    bool is_body_awaited;            /* has memory and is not whole: in that list */
    bool is_refused_past; /* the answer went past libmicrohttpd; the connection ends with the body */
    bool is_drained;      /* suspended; what still comes of the body is thrown away: in server->drained */
    bool is_cut;          /* the connection was shut down; nothing is taken any more */
    size_t n_dropped;     /* bytes of a refused body that were read */

    int refusal; /* ERR_* found before the handler; the body is read and dropped */

    struct http_replay *replay; /* of HTTP_DONE_ONCE: whose answer it makes or gets; NULL: of none */
    TAILQ_ENTRY(http_req) wait_link;
    bool is_repeat_waiting; /* among replay's waiting */

    TAILQ_ENTRY(http_req) guard_link; /* in server->guarded */
    bool is_guarded;                  /* it is there */
    int64_t waits_since_ms;
    void (*late)(void *arg); /* called with closed_arg shortly before it is refused; NULL: nothing is */

    int64_t begun_us; /* when its first line was read */
    int status;       /* of its answer; 0: there is none yet */
    int error;        /* ERR_* that its answer reports, or 0 */
    size_t n_sent;    /* bytes of the answer's body, as far as they were taken */

    struct http_pair *reply_headers;
    bool promised; /* reply_later without closed: req lives until that reply */
    void (*closed)(void *arg);
    void *closed_arg;

    struct http_stream_ops stream;
    void *stream_arg;
    bool stream_over; /* no read any more */
    bool stream_woken;

    struct http_upgrade_ops upgrade; /* begun NULL: it is none */
    void *upgrade_arg;

    /** Last, and not cleared for the next request: filled when there is a refusal. */
    struct err_info refusal_why;
};

/** Classes of statuses, 1xx to 5xx, from 1. */
#define HTTP_STATUS_CLASSES 6

/** Histograms of one route, by class of status; NULL: none was needed yet. */
struct http_durations {
    struct metric_series *of[HTTP_STATUS_CLASSES];
};

struct http_server {
    struct obj obj;
    struct run_loop *loop;
    struct http_mhd *mhd;
    uv_poll_t poll, listener; /* libmicrohttpd's epoll; the listening socket */
    int listen_fd;
    bool is_accept_paused;
    int n_handles; /* of libuv that are not closed yet */
    struct http_host *host;
    struct run_timer *timer;        /* libmicrohttpd's next time-out */
    struct run_timer *accept_timer; /* the end of a pause in accepting */
    struct run_timer *sweep;        /* looks for slow clients while any is awaited */
    bool is_sweeping;
    struct map addresses; /* by text: struct http_address */
    size_t n_peers, n_awaited;
    struct http_req_list bodies; /* requests of whose body a part is here; longest without a piece first */
    size_t n_body_bytes, body_budget;
    struct http_req_list drained; /* by body_link */
    struct run_timer *drain;
    struct http_replay_list replays; /* oldest first */
    struct run_timer *forget;        /* those that are too old */
    bool is_forgetting;              /* it runs */
    size_t n_replays, n_replay_bytes;
    struct http_req_list guarded; /* that a gateway waits for */
    struct run_timer *guard;      /* looks at them while there are any */
    struct http_req_list reqs;
    struct http_req_list spare; /* ended, their memory is used again */
    size_t n_spare;
    struct http_route_table routes;
    struct http_durations *durations; /* one a route, and one for requests without */
    struct http_server_def def;
    uint16_t port;
    bool in_turn;        /* libmicrohttpd runs */
    uint64_t n_requests; /* begun so far */
    bool stop_asked, stopping;
    struct run_timer *stop; /* begins the stop, and ends its time limit */
    /** Asked behind each turn while stopping. @return true: the server has ended, and is touched no more. */
    bool (*is_over)(struct http_server *s);
    void (*stopped)(void *arg);
    void *stopped_arg;
};

/* ---- for all ---- */

/** Count. @param id  of HTTP_METRICS here */
static inline void http_server_count(struct http_server *s, int id, int64_t n)
{
    if (s->def.metrics)
        metric_add(s->def.metrics, s->def.first_metric + id, n);
}

/** The loop's clock, monotonic ms. */
static inline int64_t http_server_now_ms(const struct http_server *s)
{
    return (int64_t)uv_now(run_loop_uv(s->loop));
}

/* ---- peer.c ---- */

/** A connection that was accepted, before libmicrohttpd has it. @return new; its client is awaited. */
struct http_peer *http_peer_new(struct http_server *s, int fd, const struct addr *from);
/** libmicrohttpd has closed the connection, or did not take it. */
void http_peer_free(struct http_peer *p);
/** Connections from an address. */
size_t http_peer_count(const struct http_server *s, const struct addr *from);
/** The client's next head is awaited. */
void http_peer_await_head(struct http_peer *p);
/** The client's head is here and a body is awaited. */
void http_peer_await_body(struct http_peer *p, struct http_req *req);
/** n bytes of the body came. */
void http_peer_moved(struct http_peer *p, size_t n);
/** The client is not awaited any more: it waits for us. */
void http_peer_served(struct http_peer *p);
/** The connection without progress for longest, of the address that has most, so that nobody else loses one to it.
 *  @return NULL: no client is awaited. */
struct http_peer *http_peer_idlest(const struct http_server *s);

/* ---- body.c ---- */

/** Give a body so much memory, which counts at once. @param cap  bytes, a NUL included */
void http_body_grow(struct http_req *req, size_t cap);
/** Append a piece to memory that is there; more is awaited. */
void http_body_append(struct http_req *req, const char *bytes, size_t len);
/** Nothing more of the body is awaited; its memory stays. */
void http_body_whole(struct http_req *req);
/** Count a body no more: the request leaves its server. */
void http_body_leave(struct http_req *req);
/** Release the memory of a body. */
void http_body_free(struct http_req *req);

/* ---- poll.c ---- */

/** Poll libmicrohttpd's descriptor and keep its time-outs. */
void http_poll_start(struct http_server *s);
/** No more turns, and no kick does anything. @param closed  called later, of the poll handle */
void http_poll_stop(struct http_server *s, uv_close_cb closed);
/** Let libmicrohttpd run now; not inside its callbacks. */
void http_poll_run(struct http_server *s);
/** See to it that libmicrohttpd runs soon. */
void http_poll_kick(struct http_server *s);

/* ---- request.c ---- */

/** A request whose target is known. @param target  raw, len bytes [borrowed] @return new. */
struct http_req *http_request_new(struct http_server *s, const char *target, size_t len);
/** The request of an exchange. */
struct http_req *http_request_of(struct http_exchange *x);
/** Release a request; its closed callback must have been called or dropped. */
void http_request_free(struct http_req *req);
/** Its connection has ended, and its answer is promised: it lives on without server until that comes. */
void http_request_orphan(struct http_req *req);
/** Release the memory of ended requests that is there for the next ones. */
void http_request_free_spare(struct http_server *s);
/** Call the closed callback, if there is one, and forget it. */
void http_request_closed(struct http_req *req);
/** Resume its connection if that is suspended. */
void http_request_resume(struct http_req *req);

/* ---- reply.c ---- */

/** Every public reply function starts here. @return false: nobody waits any more, req may be gone; do nothing. */
bool http_reply_begin(struct http_req *req);
/** Make an error the ready reply, also where a reply was promised by others. */
void http_reply_set_error(struct http_req *req, int status, int code, const struct err_info *why);
/** Make a stream the ready reply. @param read  as of http_mhd_reply_stream; its arg is req */
void http_reply_set_stream(struct http_req *req, int status, const char *media_type,
                           ssize_t (*read)(void *arg, char *bytes, size_t max));
/** Make a 101 the ready reply. */
void http_reply_set_upgrade(struct http_req *req, const char *protocol);
/** Answer a request by what req->replay knows, which it leaves. */
void http_reply_repeat(struct http_req *req);
/** The same for the first, which another process has done, and for those who wait with it. */
void http_reply_found(struct http_req *req);
/** A request ends: nobody waits for it, and it waits for nobody. */
void http_reply_leave(struct http_req *req);
/** Make the answer to a request whose checks failed the ready reply; OPTIONS gets its methods. */
void http_reply_refuse(struct http_req *req);
/** The same amid its body, past libmicrohttpd; our side of the connection ends. At most once a request. */
void http_reply_refuse_past(struct http_req *req);

/* ---- upgrade.c ---- */

/** 101 was sent: the connection is the handler's, or, when the server stops, at its end. Parameters as http_mhd_ops.upgraded. */
void http_upgrade_begin(struct http_req *req, int fd, const char *early, size_t len);
/** The server stops: close the connection if it is upgraded. */
void http_upgrade_stop(struct http_req *req);

/* ---- guard.c ---- */

/** See to it that a request that waits is answered before its gateway gives up; does nothing for others. */
void http_guard_begin(struct http_req *req);
/** The request ends. */
void http_guard_end(struct http_req *req);
/** Refuse what waits for too long; the callback of server->guard. */
void http_guard_look(void *server);

/* ---- disconnect.c ---- */

/** No more bytes either way: libmicrohttpd sees the end of the connection in its next turn. */
void http_disconnect_end(struct http_peer *p);
/** Refuse a request whose body is awaited, now: its memory is released, the answer sent, the connection shut down. */
void http_disconnect(struct http_req *req, int code, const char *text);
/** Cut clients that are too slow; the callback of server->sweep. */
void http_disconnect_slow(void *server);
/** Cut the idlest connection; its descriptor is free after the next http_poll_run. @return false: there is none, or it is fresh. */
bool http_disconnect_idlest(struct http_server *s);
/**
 * Refuse a request while its body comes: the answer is sent past libmicrohttpd, which then rests, and the kernel throws away
 * what still comes, so that a client that reads the answer after sending sees it, and others are not held up.
 */
void http_disconnect_body(struct http_req *req);
/** Throw away what came; the callback of server->drain. */
void http_disconnect_drain(void *server);

/* ---- budget.c ---- */

/** The budget for these limits and routes: at least one body of the largest size fits. @return bytes. */
size_t http_budget_size(const struct http_limits *limits, const struct http_route_table *routes);
/** Whether a body of so many bytes has room now. @return 0; ERR_UNAVAILABLE: no room, *why says so. */
int http_budget_announce(struct http_req *req, size_t len, struct err_info *why);
/** Append to a body. @return as http_budget_announce; without room the body is as it was. */
int http_budget_add(struct http_req *req, const char *bytes, size_t len, struct err_info *why);

/* ---- caller.c ---- */

/** Take user.name and doAs, in any case, out of the query; the first of each counts. */
void http_caller_take(struct http_req *req);
/** Whether the caller may act for doAs. @return 0, also when req->is_caller_open; ERR_IMPERSONATION, ERR_USAGE: doAs is empty; the
 *  request's refusal_why is filled. */
int http_caller_check(struct http_req *req);
/** Look groups and hosts up on libuv's pool while the request waits. @param decided  called later unless the request ends before: it is in
 *  HTTP_HANDLING again and its refusal says what came out */
void http_caller_look_up(struct http_req *req, void (*decided)(struct http_req *req));

/* ---- replay.c ---- */

enum http_replay_verdict {
    HTTP_REPLAY_NONE,    /* it is to be done; req->replay, if any, waits for its answer */
    HTTP_REPLAY_AWAITED, /* a repeat of one that is being done */
    HTTP_REPLAY_KNOWN,   /* a repeat of one that is done */
    HTTP_REPLAY_ASKED,   /* whether another process has taken it is being found out */
    HTTP_REPLAY_FAILED   /* that cannot be found out */
};

/**
 * Whether the whole request repeats one that was seen. A repeat without the body that its route wants is refused no more.
 *
 * @param user  in whose name it is; NULL: nobody
 * @param decided  after ASKED, called later unless the request ends before: NONE, KNOWN (http_reply_found), FAILED with *why filled
 */
enum http_replay_verdict http_replay_find(struct http_req *req, const char *user,
                                          void (*decided)(struct http_req *req,
                                                          enum http_replay_verdict verdict,
                                                          const struct err_info *why));
/** Whether a request waits for what other processes say, so that nothing is done yet. */
bool http_replay_is_asked(const struct http_req *req);
/** Whether a request is a write that is kept and whose handler has begun, so that what is done may be done. */
bool http_replay_is_begun(const struct http_req *req);
/** Keep an answer. @return what those who wait are answered by next, then it is settled; NULL: the request was no first. */
struct http_replay *http_replay_keep(struct http_req *req, int status, const char *media_type,
                                     const struct buf *body);
/** Take out one that waits for the answer. @return NULL: there are no more. */
struct http_req *http_replay_next_waiting(struct http_replay *r);
/** The request is answered by somebody else, or ends. */
void http_replay_stop_waiting(struct http_req *req);
/** All who waited are answered: forget what must not be kept, or has no room. The replay may be gone. */
void http_replay_settle(struct http_replay *r);
/** The first ends without an answer: its outcome is not known. @return as http_replay_keep. */
struct http_replay *http_replay_lose(struct http_req *first);
/** Forget what is too old; the callback of server->forget. */
void http_replay_forget(void *server);
/** Release all; no request is left. Other processes go on knowing what was done. */
void http_replay_free_all(struct http_server *s);
/** What is known of one whose answer is not awaited. */
const struct http_kept_answer *http_replay_answer(const struct http_replay *r);

/* ---- check.c ---- */

/** The head is here: run the checks that need no body; the outcome is in req->refusal.
 *  @return true: go on reading; false: the refusal must be sent at once, before the body, and ends the connection. */
bool http_check_head(struct http_req *req);
/** A piece of the body is here: take it, or drop it when the request is refused. */
void http_check_piece(struct http_req *req, const char *bytes, size_t len);
/** The body is whole: the checks that need it. */
void http_check_body(struct http_req *req);

/* ---- request_log.c ---- */

/** A request is over: count its time, and log who asked what, and what became of it. */
void http_request_log(struct http_req *req);

/* ---- accept.c ---- */

/** Watch a listening socket. @param take_fd  bound and listening [taken] */
void http_accept_start(struct http_server *s, int take_fd);
/** Close the listening socket. @param closed  called later, of its handle */
void http_accept_stop(struct http_server *s, uv_close_cb closed);

#endif
