/**
 * libmicrohttpd, wrapped: no other file includes its header or works around it. It calls up by struct http_mhd_ops only.
 *
 *     line ──► begin ─► head ─► piece … ─► whole ─┬─► reply ready: sent ──────────► completed
 *                        │                        └─► suspended ─► resume ─► whole again
 *                        └─► refused before the body: reply ready, sent ──────────► completed
 *
 * A reply of http_mhd_reply_upgrade is sent, then upgraded comes: the socket is the program's until http_mhd_upgrade_end; then completed.
 *
 * Its quirks, and what this file does about each:
 *   - it unescapes targets in place: switched off, they stay raw;
 *   - a NUL cuts the target it shows: found by where the version stands behind it;
 *   - it takes an answer before or behind a body, never amid one: http_mhd_reply_past writes to the socket itself;
 *   - its handler may be called again after an answer is under way, and must say no then: ops->whole returns false;
 *   - it accepts only in its own way: it never has the listening socket, http_mhd_add hands connections over;
 *   - it ends the process when it is stopped while a connection is upgraded: http_mhd_upgrade_end comes before, and a turn;
 *   - it clears one and a half times a connection's memory with each request, which takes the cache from everything else: that
 *     memory is small.
 *
 * Thread: owner, for everything.   Source: libmicrohttpd 0.9.75, microhttpd.h.
 */
#ifndef HTTP_MHD_H
#define HTTP_MHD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/obj.h"
#include "http/head.h"
#include "http/params.h"

/** Connections at once; their memory is 16 KiB each and more. */
#define HTTP_CONNECTIONS_MAX 16384

struct http_mhd;
struct MHD_Connection;
struct MHD_Response;
struct MHD_UpgradeResponseHandle;

/** A request and its answer as libmicrohttpd has them; a member of the request, zero but for obj (http_mhd_exchange_init). */
struct http_exchange {
    struct obj obj;
    struct http_mhd *mhd;        /* set with conn */
    struct MHD_Connection *conn; /* NULL: the head is not read yet, or the connection has ended */
    uintptr_t target_end;        /* where the target ends in memory, its NUL included; only compared */
    struct http_head head;       /* texts are libmicrohttpd's, until completed */
    struct MHD_Response *reply;  /* ready, not handed over yet */
    int status;
    unsigned keep_alive_s; /* seconds of the answer's Keep-Alive; 0: none */
    bool is_suspended;
    ssize_t (*read)(void *arg, char *bytes, size_t max); /* of a stream */
    void *read_arg;
    struct MHD_UpgradeResponseHandle *upgrade; /* from upgraded until http_mhd_upgrade_end; else NULL */
};

/** Calls of libmicrohttpd; x is the exchange that begin has returned. */
struct http_mhd_ops {
    /** A request line was read. @param target  raw, len bytes [borrowed for the call] @return the exchange of a new request. */
    struct http_exchange *(*begin)(void *arg, const char *target, size_t len);
    /** The head is in x->head. @param peer  as given to http_mhd_add
     *  @return true: go on reading; false: a reply is ready, and goes out before the body, which ends the connection. */
    bool (*head)(struct http_exchange *x, void *peer);
    /** A piece of the body. @return false: end the connection. */
    bool (*piece)(struct http_exchange *x, const char *bytes, size_t len);
    /** The body is whole, or a suspended exchange was resumed. When no reply is ready then, it is suspended.
     *  @return false: end the connection. */
    bool (*whole)(struct http_exchange *x);
    /** The head of http_mhd_reply_upgrade was sent. @param fd  the connection, not blocking, closed by http_mhd_upgrade_end
     *  @param early  len bytes that came behind the request [borrowed for the call] */
    void (*upgraded)(struct http_exchange *x, int fd, const char *early, size_t len);
    /** The answer was sent, or the connection has ended: x->conn is NULL, x is forgotten. */
    void (*completed)(struct http_exchange *x);
    /** A connection is closed. @param peer  forgotten */
    void (*closed)(void *peer);
};

/** Start without listening. @param arg of begin @param idle_s  a client that takes or sends nothing for so long is dropped; seconds
 *  @return to be ended with http_mhd_stop; NULL: errno says why. */
struct http_mhd *http_mhd_start(const struct http_mhd_ops *ops, void *arg, unsigned idle_s);
/** Cut all connections (completed and closed are called) and free. */
void http_mhd_stop(struct http_mhd *m);
/** The descriptor that is readable when http_mhd_run has something to do. */
int http_mhd_fd(const struct http_mhd *m);
/** Read, call ops, write; never waits. */
void http_mhd_run(struct http_mhd *m);
/** @param wait_ms  when http_mhd_run is to be called at the latest [out] @return false: not before fd is readable. */
bool http_mhd_timeout(struct http_mhd *m, uint64_t *wait_ms);
/** Hand a connection over. @param take_fd  [taken, also when it is refused] @param peer  for ops @return whether it was taken. */
bool http_mhd_add(struct http_mhd *m, int take_fd, const struct sockaddr *sa, socklen_t sa_len, void *peer);

/** Begin an exchange that begin is to return. @param x  zero */
void http_mhd_exchange_init(struct http_exchange *x);
/** Release a reply that was not handed over. @param x  completed */
void http_mhd_exchange_fini(struct http_exchange *x);
/** The first header of a name, in any case. @return as sent; NULL: there is none, or the connection has ended. */
const char *http_mhd_header(const struct http_exchange *x, const char *name);
/** Take no more from the connection, and call nothing for it. */
void http_mhd_suspend(struct http_exchange *x);
/** The contrary; ops->whole is called when http_mhd_run runs next. @return whether it was suspended. */
bool http_mhd_resume(struct http_exchange *x);

/**
 * Make a reply ready.
 *
 * @param media_type  Content-Type; NULL: none                                    [borrowed for the call]
 * @param headers     others; one whose value is "" is left out                   [borrowed for the call]
 * @param take_body   left empty; NULL: empty                                     [taken]
 */
void http_mhd_reply(struct http_exchange *x, int status, const char *media_type,
                    const struct http_pair *headers, struct buf *take_body);
/**
 * Make a reply ready whose body is read piece by piece.
 *
 * @param read  fills up to max bytes; @return bytes; 0: nothing now, it has suspended the exchange; -1: the end
 * @param arg   for read                                                          [lives until completed]
 */
void http_mhd_reply_stream(struct http_exchange *x, int status, const char *media_type,
                           const struct http_pair *headers,
                           ssize_t (*read)(void *arg, char *bytes, size_t max), void *arg);
/** Make a 101 ready, by which the connection leaves HTTP. @param protocol  of the Upgrade header [borrowed for the call] */
void http_mhd_reply_upgrade(struct http_exchange *x, const char *protocol, const struct http_pair *headers);
/** Close an upgraded connection, if it is one; completed is called when http_mhd_run runs next. @return whether it was. */
bool http_mhd_upgrade_end(struct http_exchange *x);
/** Write an answer to the socket past libmicrohttpd, as far as the socket takes it now, and end our side of the connection.
 *  @param fd  of the connection; the other parameters as in http_mhd_reply, body [borrowed] */
void http_mhd_reply_past(int fd, int status, const char *media_type, const struct http_pair *headers,
                         const struct buf *body);

#endif
