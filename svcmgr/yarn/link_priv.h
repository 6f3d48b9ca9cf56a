/**
 * A link inside: link.c has the connection, queue.c the calls.
 *
 *     waiting ──sent──► sent ──answered──► (done)
 *        ▲  ▲            │ └─ server not ready ─► held ─┐
 *        │  └────────────┼──────── pause is over ───────┘
 *        └── lost, and ──┤
 *            repeatable  └─ lost, and not repeatable ─► failed ─► (done)
 *
 * Thread: owner.   Source: ours.
 */
#ifndef YARN_LINK_PRIV_H
#define YARN_LINK_PRIV_H

#include "run/tcp.h"
#include "yarn/link.h"

#define YARN_LINK_MAGIC OBJ_MAGIC('Y', 'L', 'N', 'K')

enum link_state { LINK_IDLE, LINK_WAITING, LINK_CONNECTING, LINK_AUTHENTICATING, LINK_UP, LINK_CLOSED };

struct yarn_link {
    struct obj obj;
    struct run_loop *loop;
    struct yarn_link_config config; /* user and token are NULL: they are here */
    char *user;
    struct yarn_token token;
    struct yarn_addresses addresses;
    uint8_t client_id[FRAME_CLIENT_ID_LEN];
    enum link_state state;
    struct run_tcp *conn; /* CONNECTING, AUTHENTICATING, UP                      */
    char *server;         /* of conn, or of the one before it; "" at first       */
    size_t n_conns;       /* not freed yet, conn included                        */
    size_t next;          /* address to try next                                 */
    size_t n_attempts;    /* since the last answer                               */
    size_t n_hang_ups;    /* in the middle of SASL, since it last succeeded      */
    bool has_answered;    /* conn has brought an answer                          */
    struct yarn_sasl *sasl;
    struct run_timer *timer; /* pause, attempt, ping and idleness                */
    struct run_timer *due_timer;
    struct heap due;
    struct yarn_call_list waiting, sent, held, failed;
    size_t n_calls, n_octets; /* under way: calls, and of their requests          */
    struct buf out;           /* frames to send                                      */
    struct buf plain;         /* unwrapped, not read yet                             */
    uint64_t n_flushed;       /* octets given to conn                                */
    int32_t next_id;          /* of a call on conn                                   */
    bool is_id_wrapped;
    int64_t heard_ms, written_ms, used_ms;
    struct err_info last; /* why the last attempt failed; code 0: none has since the last answer */
    void (*closed)(void *arg);
    void *closed_arg;
};

/* ---- queue.c ---- */

/** Put a call that is in no list into one; its deadline runs. */
void queue_put(struct yarn_link *l, struct yarn_call_list *list, struct yarn_call *call);
/** Move a call to the end of another list. */
void queue_move(struct yarn_call_list *list, struct yarn_call *call);
/** The call of an id that was sent, or NULL. */
struct yarn_call *queue_find(const struct yarn_link *l, int32_t id);
/** What was sent the last time was not carried out. */
void queue_undo(struct yarn_call *call);
/** End a call with a message. Its callback may close the link. */
void queue_succeed(struct yarn_call *call, const ProtobufCMessage *message);
/** End a call with a failure; is_not_done is the call's. */
void queue_fail(struct yarn_call *call, const struct yarn_failure *failure);
/** End every call that waits, was sent, or is held. @param class_name  Java class or "" */
void queue_fail_all(struct yarn_link *l, const struct err_info *why, const char *class_name);
/** The connection is lost: what can be sent again waits, the rest ends. @param n_left  octets that have left us. */
void queue_settle(struct yarn_link *l, uint64_t n_left, const struct err_info *why);
/** Have a call wait for ms, then be sent again. */
void queue_hold(struct yarn_call *call, int64_t ms);
/**
 * End calls whose deadline has come, and have those sent again whose pause is over.
 * @return whether the server has been silent since one of them was sent: the connection is of no use.
 */
bool queue_expire(struct yarn_link *l);
/** Set the timer to the first deadline or pause. */
void queue_arm(struct yarn_link *l);
/** Whether no call is under way on the connection or waits for it. */
bool queue_is_empty(const struct yarn_link *l);

#endif
