/**
 * What the files of lib/http share about a server and a request; not for users of the library.
 *
 *   server.c   daemon, polling, start and stop      on_target, on_request, on_completed are libmicrohttpd's callbacks
 *   accept.c   the listening socket                 libmicrohttpd gets connections, never the socket
 *   peer.c     connections: whom they come from,
 *              who of them is slow, who is idlest
 *   request.c  reading and checking a request       steps of a request, in order: http_request_open, request_check_head,
 *   body.c     memory of bodies                       http_request_take_body, http_request_check_body, handler, http_reply_send
 *   reply.c    building and sending answers
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
#ifndef HTTP_PRIV_H
#define HTTP_PRIV_H

#include <microhttpd.h>
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
#include "http/route.h"
#include "http/server.h"

#define HTTP_SERVER_MAGIC OBJ_MAGIC('H', 'S', 'R', 'V')
#define HTTP_REQ_MAGIC    OBJ_MAGIC('H', 'R', 'E', 'Q')
#define HTTP_PEER_MAGIC   OBJ_MAGIC('H', 'P', 'E', 'R')

/** Ids of HTTP_METRICS here; in a daemon's table they begin at http_server_def.first_metric. */
enum { METRICS_ENUM(HTTP_METRICS) };

/**
 * Bytes of a refused body that are read and dropped before the client is told without waiting for the rest; as many
 * again are dropped, to let it see the answer (closing with bytes unread would reset the connection), then it is cut.
 */
#define HTTP_DRAIN_MAX ((size_t)1 << 20)

/** Connections at once; their memory is 16 KiB each and more. */
#define HTTP_CONNECTIONS_MAX 16384

enum http_phase { HTTP_READING, HTTP_HANDLING, HTTP_WAITING, HTTP_REPLYING };

/** What a head says of its message itself; texts are libmicrohttpd's, NULL: not said. */
struct http_head {
    const char *host, *origin, *length, *coding; /* of Content-Length, Transfer-Encoding */
    unsigned n_hosts, n_lengths, n_codings;
};

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
    int fd;
    bool is_awaited;      /* in address->idle */
    int64_t moved_ms;     /* last progress of the client */
    struct http_req *req; /* whose body is awaited; NULL: a head is */
    int64_t since_ms;     /* when that head, or the window in which the body's rate is measured, began */
    size_t n_bytes;       /* of the body in that window */
};

struct http_req {
    struct obj obj;
    TAILQ_ENTRY(http_req) link;
    struct http_server *server;  /* NULL: orphan, its connection ended before the promised reply came */
    struct MHD_Connection *conn; /* NULL: orphan, or headers not read yet */
    struct http_peer *peer;      /* as conn */
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
    const struct http_value *values; /* of the route's parameters */
    struct http_pair *elements;      /* of the route's pattern */
    struct http_route_match match;
    struct buf body;
    size_t announced;                /* Content-Length; 0: none */
    TAILQ_ENTRY(http_req) body_link; /* in server->bodies */
    bool is_body_awaited;            /* has memory and is not whole: in that list */
    bool is_refused_raw; /* the answer went past libmicrohttpd; the connection ends with the body */
    bool is_drained;     /* suspended; what still comes of the body is thrown away: in server->drained */
    bool is_cut;         /* the connection was shut down; nothing is taken any more */
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
    uv_poll_t poll, listener; /* libmicrohttpd's epoll; the listening socket */
    int listen_fd;
    bool is_accept_paused;
    int n_handles; /* of libuv, and its requests, that are not closed yet */
    struct addr bound;
    char **hosts; /* names of ours */
    size_t n_hosts;
    uv_getaddrinfo_t canonical;
    struct run_timer *timer;
    struct run_timer *accept_timer; /* the end of a pause in accepting */
    struct run_timer *sweep;        /* looks for slow clients while any is awaited */
    bool is_sweeping;
    struct map addresses;      /* by text: struct http_address */
    struct http_peer *opening; /* whose connection libmicrohttpd is being given */
    size_t n_peers, n_awaited;
    struct http_req_list bodies; /* requests of whose body a part is here; longest without a piece first */
    size_t n_body_bytes, body_budget;
    struct http_req_list drained; /* by body_link */
    struct run_timer *drain;
    struct http_req_list reqs;
    struct http_req_list spare; /* ended, their memory is used again */
    size_t n_spare;
    struct http_route_table routes;
    struct http_server_def def;
    uint16_t port;
    bool in_turn;        /* inside MHD_run */
    uint64_t n_requests; /* begun so far */
    bool stop_asked, stopping;
    int64_t stop_limit_ms; /* monotonic clock */
    void (*stopped)(void *arg);
    void *stopped_arg;
};

/** Count. @param id  of HTTP_METRICS here. Thread: owner. */
void http_server_count(struct http_server *s, int id, int64_t n);
/** The loop's clock, monotonic ms. */
int64_t http_server_now_ms(const struct http_server *s);
/** Let libmicrohttpd run now; not inside its callbacks. */
void http_server_turn(struct http_server *s);

/** Watch a listening socket. @param take_fd  bound and listening [taken] */
void http_accept_start(struct http_server *s, int take_fd);
/** Close the listening socket; http_server_handle_closed is called later. */
void http_accept_stop(struct http_server *s);
/** A handle of the server's is closed; with the last one the server ends. */
void http_server_handle_closed(uv_handle_t *handle);
/** As http_server_handle_closed, of anything that the server waits for at its end. */
void http_server_released(struct http_server *s);

/** Learn the names of ours; the canonical name of this host comes later. */
void http_host_start(struct http_server *s);
/** Forget them. */
void http_host_stop(struct http_server *s);
/** Whether a Host header means us: an address that we are bound to, or one of our names; the port does not matter.
 *  @return 0; ERR_HOST. */
int http_host_check(const struct http_server *s, const char *host, struct err_info *why);

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
/** No more bytes either way: libmicrohttpd sees the end of the connection in its next turn. */
void http_peer_end(struct http_peer *p);
/** Refuse those who are too slow; the callback of server->sweep. */
void http_peer_sweep(void *server);
/**
 * Shut the connection down that has made no progress for longest, of those of the address that has most; its descriptor
 * is free after the next http_server_turn. @return false: there is none, or it is fresh.
 */
bool http_peer_evict(struct http_server *s);

/** Append to a body. @return 0; ERR_UNAVAILABLE: no room, *why says so, the body is as it was. */
int http_body_add(struct http_req *req, const char *bytes, size_t len, struct err_info *why);
/** Whether a body of so many bytes has room now. @return as http_body_add. */
int http_body_announce(struct http_req *req, size_t len, struct err_info *why);
/** Nothing more of the body is awaited; its memory stays. */
void http_body_whole(struct http_req *req);
/** Count a body no more: the request leaves its server. */
void http_body_leave(struct http_req *req);
/** Release the memory of a body. */
void http_body_free(struct http_req *req);
/**
 * Refuse a request while its body comes: the answer is sent past libmicrohttpd, which then rests, and the kernel throws away
 * what still comes, so that who reads the answer after sending sees it, and others are not held up.
 */
void http_body_refuse(struct http_req *req);
/** Throw away what came; the callback of server->drain. */
void http_body_drain(void *server);
/** What the budget is for these limits and routes: one body of the largest size fits. @return bytes. */
size_t http_body_budget(const struct http_limits *limits, const struct http_route_table *routes);

/** See to it that libmicrohttpd runs soon. Thread: owner. */
void http_server_kick(struct http_server *s);

/** A request whose target is known. @param target  raw target, as libmicrohttpd keeps it [borrowed] @return new. */
struct http_req *http_request_new(struct http_server *s, const char *target);
/** Release a request; its closed callback must have been called or dropped. */
void http_request_free(struct http_req *req);
/** Release what is kept for requests to come. */
void http_request_free_spare(struct http_server *s);
/** Call the closed callback, if there is one, and forget it. */
void http_request_closed(struct http_req *req);
/**
 * The headers are here: keep the connection and run the checks that need no body; the outcome is in req->refusal.
 *
 * @param version  text of the request line's last part, in the same buffer as the target   [borrowed]
 * @return true: go on reading; false: the refusal must be sent at once, before the body, and ends the connection.
 */
bool http_request_open(struct http_req *req, struct MHD_Connection *conn, const char *method,
                       const char *version);
/** A piece of the body. @return false: more than is worth reading, the connection is to be cut. */
bool http_request_take_body(struct http_req *req, const char *bytes, size_t len);
/** Refuse a request whose body is awaited, now: its memory is released, the answer sent, the connection shut down. */
void http_request_cut(struct http_req *req, int code, const char *text);
/** The body is whole: the checks that need it. */
void http_request_check_body(struct http_req *req);

/** Suspend the connection of a request. */
void http_request_suspend(struct http_req *req);
/** Resume it if it is suspended. */
void http_request_resume(struct http_req *req);

/** Every public reply function starts here. @return false: nobody waits any more, req may be gone; do nothing. */
bool http_reply_begin(struct http_req *req);
/** Hand the ready reply to libmicrohttpd. @return what libmicrohttpd's handler is to return. */
enum MHD_Result http_reply_send(struct http_req *req);
/** Make an error the ready reply, also where a reply was promised by others. */
void http_reply_set_error(struct http_req *req, int status, int code, const struct err_info *why);
/** Make a response the ready reply and resume; the one way to REPLYING. @param take_response  taken */
void http_reply_set(struct http_req *req, int status, struct MHD_Response *take_response);
/**
 * Write the refusal to the socket past libmicrohttpd, which answers only before or after a body, and end our side of
 * the connection. At most once a request.
 */
void http_reply_refuse_raw(struct http_req *req);
/** Make the answer to a request whose checks failed the ready reply; OPTIONS gets its methods. */
void http_reply_refuse(struct http_req *req);

#endif
