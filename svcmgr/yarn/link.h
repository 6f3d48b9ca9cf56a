/**
 * A link to one server of YARN, or to several of which one is active: calls are given to it, answers come back; connections come and
 * go meanwhile.
 *
 *               a call                     opened               authenticated
 *     IDLE ──────────────► CONNECTING ──────────────► AUTHENTICATING ─────────► UP
 *      ▲  ▲                    │  ▲                        │                     │ no calls for idle_ms: IDLE
 *      │  └─ no calls ─┐       │  │ pause over, calls wait │                     │
 *      │               WAITING ◄──┴────────────────────────┴─────────────────────┘ lost, refused, or standby
 *
 * A connection that is lost is made again as long as calls wait: at once when it had brought answers, else to the next server, and after
 * a round of all with a pause that doubles. A server that says it is on standby is left for the next one, and the call goes with it;
 * one that says it is not ready is asked again after a pause.
 *
 * Calls are multiplexed: each has an id of its connection, answers come in any order. A call ends exactly once, at its deadline at the
 * latest:
 *
 *     answered       its message, or the exception of the server as a code of ours (failure.h)
 *     ERR_AUTH       the server refuses our identity; every call that waits ends with it
 *     ERR_UNAVAILABLE, ERR_TIMEOUT   its time is over: no server was reached (the reason of the last failure), or none answered
 *     ERR_UNKNOWN_OUTCOME            its connection was lost after it had left, and it is not repeatable (methods.h)
 *     ERR_TOOBIG     its answer is longer than answer_max
 *     ERR_PARSE      its answer is malformed
 *     ERR_CANCELLED  the link was closed
 *
 * A call that is repeatable, or that had not left us, is sent again by itself. `failure->is_not_done` says that no server has carried
 * a failed call out.
 *
 * Bounds: calls under way (max_calls) and the octets of their requests (queue_max), octets of a request and of an answer, memory of an
 * answer's message (four times answer_max).
 * A ping goes out when calls wait for longer than ping_ms.
 *
 * Thread: owner for everything.   Source: Hadoop IPC, version 9; ours.
 */
#ifndef YARN_LINK_H
#define YARN_LINK_H

#include <sys/queue.h>

#include "base/heap.h"
#include "base/obj.h"
#include "run/loop.h"
#include "yarn/address.h"
#include "yarn/failure.h"
#include "yarn/methods.h"
#include "yarn/sasl.h"

struct yarn_link;

/** Who we are. Kerberos is refused when a link is opened. */
enum yarn_auth { YARN_AUTH_SIMPLE, YARN_AUTH_TOKEN, YARN_AUTH_KERBEROS };

struct yarn_link_config {
    const char *noun;     /* of its servers, for errors: "resource manager" [static]      */
    const char *protocol; /* yarn_client_protocol …                                       */
    enum yarn_auth auth;
    const char *user;               /* SIMPLE: whom to act as; the server believes it     */
    const struct yarn_token *token; /* TOKEN                                              */
    struct sasl_wish wish;          /* TOKEN                                              */
    int64_t connect_timeout_ms;     /* look-up, connect and authentication of one server  */
    int64_t call_timeout_ms;        /* of a call that has none of its own                 */
    int64_t ping_ms, idle_ms;
    int64_t pause_min_ms, pause_max_ms; /* after a round of all servers; doubles, with jitter */
    size_t request_max, answer_max;     /* octets of a frame                              */
    size_t max_calls, queue_max;        /* calls under way, and the octets of their requests */
    /** A server was reached (why NULL), or could not be reached, or refused us; for outages. NULL: none. */
    void (*reach)(void *arg, const char *server, const struct err_info *why);
    void *reach_arg;
};

/** Hadoop's values, or ours where it has none. */
#define YARN_LINK_DEFAULTS                                                                                   \
    .wish = {{SASL_AUTHENTICATION, SASL_INTEGRITY}}, .connect_timeout_ms = 20000, .call_timeout_ms = 120000, \
    .ping_ms = 60000, .idle_ms = 10000, .pause_min_ms = 100, .pause_max_ms = 5000, .request_max = 16 << 20,  \
    .answer_max = 64 << 20, .max_calls = 1024, .queue_max = 64 << 20

struct yarn_answer {
    const struct yarn_method *method;
    const char *server;                 /* "host:port" of who answered; "" : nobody did     */
    const ProtobufCMessage *message;    /* of the method's type; NULL: it failed            */
    const struct yarn_failure *failure; /* NULL: it did not                                 */
};

TAILQ_HEAD(yarn_call_list, yarn_call);

/** A call; the caller's storage, {0} before the first three, which stays until done was called or the call was cancelled. */
struct yarn_call {
    struct obj obj; /* the link's, as all that stands behind timeout_ms */
    /** Called once, from a later turn of the loop; may start, cancel and close anything. The answer lives until it returns. */
    void (*done)(void *arg, const struct yarn_answer *answer);
    void *arg;
    int64_t timeout_ms; /* from now to its end, all tries together; 0: the link's */
    struct yarn_link *owner;
    struct yarn_call_list *home; /* NULL: not under way */
    TAILQ_ENTRY(yarn_call) link;
    struct heap_node due;
    const struct yarn_method *method;
    struct buf body;
    int32_t id, n_sent;
    uint64_t begin; /* octets of the connection before it */
    int64_t deadline_ms, retry_ms, sent_ms;
    bool is_maybe_done;  /* it has left us, and nobody has said that it was not carried out */
    bool was_maybe_done; /* the same before it was sent the last time */
};

/**
 * Make a link; nothing is connected before the first call.
 *
 * @param config     copied, but for noun and protocol
 * @param addresses  at least one [copied]
 * @param out        yarn_link_close frees it                                    [out]
 * @param why        filled on error                                             [out]
 * @return 0; ERR_INVALID: no address, no user or no token; ERR_UNSUPPORTED: Kerberos.
 */
int yarn_link_open(struct run_loop *loop, const struct yarn_link_config *config,
                   const struct yarn_addresses *addresses, struct yarn_link **out, struct err_info *why);
/** End every call with ERR_CANCELLED before this returns, free everything; then, on a later turn, closed(arg). */
void yarn_link_close(struct yarn_link *l, void (*closed)(void *arg), void *arg);
/** Authenticate with this token from now on; a connection that is up stays. Only for YARN_AUTH_TOKEN. @param token [copied] */
void yarn_link_set_token(struct yarn_link *l, const struct yarn_token *token);
/** Whether a connection is up and authenticated. */
bool yarn_link_is_up(const struct yarn_link *l);

/**
 * Start a call; calls.h has a function of each method.
 *
 * @param method   id of a method of the link's protocol
 * @param request  of the method's type, complete                                [borrowed]
 * @param call     not under way; done, arg, timeout_ms are set                  [lives until done]
 * @param why      filled on error; may be NULL                                  [out]
 * @return 0; ERR_LIMIT: max_calls or queue_max is reached; ERR_TOOBIG: the request is longer than request_max. done is not called then.
 */
int yarn_call_start(struct yarn_link *l, int method, const ProtobufCMessage *request, struct yarn_call *call,
                    struct err_info *why);
/** Give a call up: done is not called. Whether the server carries it out is unknown. Nothing when it is not under way. */
void yarn_call_cancel(struct yarn_call *call);

#endif
