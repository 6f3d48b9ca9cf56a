/**
 * A ZooKeeper session on one libuv socket: it connects, sends pings, reconnects, and passes requests and notices. Its users
 * are follow.h (following a tree) and zk.c (writes and strong reads).
 *
 *     WAITING ──timer──► RESOLVING ──► CONNECTING ──► HELLO ──► (AUTH ──►) UP ──► (connection lost) WAITING
 *        ▲                   └──────────────┴───────────┴───────────┴── failed or too late: next server, after a round a pause
 *
 * AUTH is there with Kerberos only: the SASL exchange of sasl.h, before `up` and before any request.
 *
 * Servers are tried in turn from a random one on. A lost connection is taken up again with the session's id and
 * password; when the server answers that it has expired, a new session is opened. A reply with that error ends the connection: a
 * server may leave one open whose session another client, which knows its id and password, has closed. Either way the session's watches are
 * gone: they lived in the server that was left. The last zxid seen goes with every connect, so a server that is behind
 * what was seen refuses us; when that has been the only answer for longer than the session timeout, the ensemble itself
 * is older (restored, or made anew) and the session starts from nothing. Then the server catches up with its leader (sync)
 * before `up`: what is read afterwards is older only if the ensemble is, not because that server lags.
 *
 * A request that was lost with its connection was not done when its last byte never left us (a server acts on whole requests
 * only), or when the reply is that the session has expired or moved. The outcome of any other is unknown: outcome.h.
 *
 * Thread: owner for everything.   Source: ZooKeeper Programmer's Guide, sessions.
 */
#ifndef STORE_ZK_SESSION_H
#define STORE_ZK_SESSION_H

#include <sys/queue.h>

#include "run/loop.h"
#include "store/zk/wire.h"

struct zks;

struct zks_config {
    const char *role;           /* what it is for, in the log: "following", "writing" [static] */
    const char *servers;        /* "host:port,host:port" */
    int64_t session_timeout_ms; /* asked for; the server may give another */
    int64_t attempt_timeout_ms; /* look-up, connect and hello of one server */
    int64_t pause_min_ms;       /* after a round of all servers; doubles, with jitter */
    int64_t pause_max_ms;
    const char *digest; /* "id:password" to authenticate with, first thing on each connection; NULL: not */
    const struct store_kerberos *kerberos; /* the same by SASL, before anything else; NULL: not */
    size_t frame_max;                      /* longest frame accepted, bytes; 0: 64 MiB */
    enum store_side side;                  /* of link */
    void (*link)(void *arg, enum store_side side,
                 const struct err_info *why); /* of store_options; NULL: none */
    void *link_arg;
    bool catches_up; /* the first session's server catches up with its leader, too */
};

struct zks_reply {
    int32_t err;  /* ZKW_OK, or the protocol's error; ZKW_CONNECTION_LOSS: no answer will come */
    int64_t zxid; /* what the server had applied when it answered; 0 at ZKW_CONNECTION_LOSS */
    struct zkw_in body;
    /* ZKW_CONNECTION_LOSS: no server has carried it out, nor will one; false: that is unknown */
    bool is_not_done;
};

/** A request under way; the caller's storage, which stays until done was called. */
struct zks_request {
    TAILQ_ENTRY(zks_request) link;
    int32_t xid;
    uint64_t end;     /* its last byte, counted from the first of the connection */
    bool is_not_done; /* as in the reply */
    void (*done)(void *arg, const struct zks_reply *reply);
    void *arg;
};

struct zks_ops {
    /** Connected. resumed: the same session as before. No watch is set, no request under way. */
    void (*up)(void *arg, bool resumed);
    /** The connection is lost, or could not be made at first; every request was answered with ZKW_CONNECTION_LOSS.
     *  Called once until the next up. */
    void (*down)(void *arg, const struct err_info *why);
    /** A notice: kind is ZKW_CREATED …; path is ZooKeeper's, NUL-terminated. */
    void (*notice)(void *arg, int32_t kind, const char *path);
    /** All replies and notices that had arrived have been passed. */
    void (*drained)(void *arg);
};

/**
 * Make a session and begin to connect.
 *
 * @param ops, arg  called from a later turn of the loop on                       [borrowed, live until closed]
 * @return 0; or ERR_INVALID with *why filled (server list).
 * Thread: owner.   Source: ours.
 */
int zks_open(struct run_loop *loop, const struct zks_config *config, const struct zks_ops *ops, void *arg,
             struct zks **out, struct err_info *why);
/** End the session and free everything; then, on a later turn, closed(arg). Requests under way are answered with
 *  ZKW_CONNECTION_LOSS before this returns; ops are not called any more. */
void zks_close(struct zks *s, void (*closed)(void *arg), void *arg);

/** Drop this connection, because the server cannot do what is needed; text is the reason for `down`. The next
 *  server is tried after the longest pause. Nothing when it is not up. */
void zks_abandon(struct zks *s, const char *text);
/** Whether requests can be sent. */
bool zks_is_up(const struct zks *s);
/** The highest zxid that any reply has named: what is sent now gets a higher one. 0: none yet. */
int64_t zks_seen(const struct zks *s);
/** How often the session has started from nothing: numbers of before then mean nothing any more. */
uint64_t zks_n_restarts(const struct zks *s);
/** Ask; only while it is up. Requests are answered in order. They leave with the next zks_flush, which the session does
 *  by itself after `up` and `drained`. path: as for zkw_put_request. */
void zks_send(struct zks *s, struct zks_request *request, enum zkw_opcode opcode, const char *path);
/** As zks_send, with a body that was made before (zkw_put_made). [borrowed] */
void zks_send_made(struct zks *s, struct zks_request *request, enum zkw_opcode opcode,
                   const struct buf *body);
/** Send what was asked since the last flush; nothing, when there is none or the session is down. */
void zks_flush(struct zks *s);

#endif
