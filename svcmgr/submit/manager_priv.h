/**
 * What the operations of manager.h have in common: the link of a user, one call at a time, pauses, and an end.
 * Thread: owner.   Source: ours.
 */
#ifndef SUBMIT_MANAGER_PRIV_H
#define SUBMIT_MANAGER_PRIV_H

#include <sys/queue.h>

#include "base/map.h"
#include "submit/manager.h"
#include "yarn/calls.h"

enum { OP_QUICK_MS = 200, OP_PAUSE_MAX_MS = 5000, OP_CALL_TIMEOUT_MS = 30000 };

struct submit_link {
    struct submit *owner;
    char *user;
    struct yarn_link *link;
    size_t n_ops; /* calls under way */
    int64_t used_ms;
};

TAILQ_HEAD(submit_op_list, submit_op);

struct submit {
    struct obj obj;
    struct run_loop *loop;
    struct submit_config config;
    struct yarn_addresses addresses;
    struct map links; /* struct submit_link by user */
    struct submit_op_list ops;
    size_t n_watched, n_closing;
    bool is_closed;
    struct run_timer *end; /* of closing without links */
    void (*closed)(void *arg);
    void *closed_arg;
};

/** A kind of operation. */
struct op_kind {
    /** Start the next call, or end. */
    void (*step)(struct submit_op *op);
    /** Read the answer of the call. */
    void (*answer)(struct submit_op *op, const struct yarn_answer *a);
    /** Release what is the kind's own, without a callback. */
    void (*release)(struct submit_op *op);
};

struct submit_op {
    struct obj obj;
    const struct op_kind *kind;
    struct submit *owner;
    TAILQ_ENTRY(submit_op) link;
    char *user, *tag; /* tag: NULL when the id is known from the begin */
    struct yarn_app_id id;
    bool has_id, is_calling, is_new;
    struct submit_link *at; /* of the call under way */
    struct yarn_call call;
    struct run_timer *timer;
    int64_t pause_ms;
    struct err_info why; /* of the last failure */
    submit_done *done;
    void *arg;
};

#define OP_MAGIC OBJ_MAGIC('S', 'O', 'P', 'R')

/** Make the common part; kind's struct begins with it. It steps on the next turn. */
void op_init(struct submit_op *op, struct submit *s, const struct op_kind *kind,
             const struct submit_target *target);
/** The user's link for the next call; NULL: there is none, and the operation is tried again by itself. */
struct yarn_link *op_link(struct submit_op *op);
/** The call, ready to be started. */
struct yarn_call *op_call(struct submit_op *op);
/** What starting the call returned; a failure is dealt with. */
void op_started(struct submit_op *op, int err, const struct err_info *why);
/** Step again after a pause. */
void op_wait(struct submit_op *op, int64_t ms);
/** The same after a failure that may pass: the pause doubles. */
void op_retry(struct submit_op *op, const struct err_info *why);
/** Try again, or end with a refusal. */
void op_fail(struct submit_op *op, const struct err_info *why);
/** Release it, then call done. */
void op_end(struct submit_op *op, int err, const struct err_info *why);

/** Ask for the applications with the operation's tag. */
void op_look(struct submit_op *op);
/** Read the answer: the one that lives, else the last one. @return NULL: there is none. Borrowed from m. */
const Yarn__ApplicationReport *op_found(const Yarn__Applications *m);
/** Ask for the report of the operation's application. */
void op_report(struct submit_op *op);

/** The submission of this tag that is under way; or NULL. */
struct submit_op *start_find(const struct submit *s, const char *user, const char *tag);
/** Have it end without submitting, or after its submission. */
void start_give_up(struct submit_op *op);

#endif
