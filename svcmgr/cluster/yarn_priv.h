/**
 * Shared by the files of the cluster kind yarn; nothing else includes it. yarn.h has the picture.
 *
 * Thread: owner.   Source: ours.
 */
#ifndef CLUSTER_YARN_PRIV_H
#define CLUSTER_YARN_PRIV_H

#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "cluster/yarn.h"
#include "cluster/yarn_place.h"
#include "spec/needs.h"
#include "yarn/calls.h"

#define YARN_MAGIC      OBJ_MAGIC('C', 'Y', 'R', 'N')
#define YARN_NODE_MAGIC OBJ_MAGIC('C', 'Y', 'N', 'D')
#define YARN_BOX_MAGIC  OBJ_MAGIC('C', 'Y', 'B', 'X')
#define YARN_ASK_MAGIC  OBJ_MAGIC('C', 'Y', 'A', 'S')

struct on_yarn;
struct yarn_node;

/** What a container is asked of its node. */
enum yarn_wish {
    WISH_NOTHING,
    WISH_FOUND,  /* of an earlier attempt: what it does */
    WISH_STARTED /* that its process runs, with its address */
};

/** A container that the resource manager has given us. */
struct yarn_box {
    struct obj obj;
    struct on_yarn *owner;
    struct yarn_node *node;
    struct cluster_container c; /* texts owned */
    struct yarn_container_id id;
    struct yarn_token token;
    enum yarn_wish wish;
    struct yarn_context_call *making; /* its launch context */
    struct yarn_call call;            /* start, re-initialise, stop */
    bool is_calling, is_reinit, was_seen_down, is_launched, is_reported, is_found;
    int64_t running_ms;     /* loop time when its process was seen to run first; 0: not yet */
    struct run_timer *stop; /* grace is over; then the wait for its end is */
    bool is_stopping;
    int64_t attempt; /* of the launch that is under way */
    char *tag;       /* component, where the resource manager keeps it; else NULL */
    bool is_task;    /* that is of a task */
    bool awaits_ip;  /* its allocation was not reported: the address of its node is looked for */
};

/** A node with containers of ours. */
struct yarn_node {
    struct obj obj;
    struct on_yarn *owner;
    char *key, *host; /* "host:port" */
    int32_t port;
    char *ip;                   /* NULL: not known */
    struct yarn_lookup *lookup; /* that looks for it; NULL: none */
    struct yarn_token token;
    bool has_token;
    struct yarn_link *link; /* NULL: not opened yet */
    struct yarn_call poll;
    bool is_polling;
    int64_t pause_ms;
    struct run_timer *timer;
};

/** A scheduling request that was begun for an ask. */
struct yarn_round {
    int64_t id;              /* of the resource manager, see yarn_rounds.c; 0: none was begun */
    int64_t n;               /* containers that it has not brought yet */
    int64_t sent_ms;         /* loop time at which it was sent last */
    struct yarn_place place; /* its step; `blocked` means nothing here */
    bool is_sent;            /* the resource manager has it with this number */
};

/** What is asked for under one key. */
struct yarn_ask {
    struct obj obj;
    int64_t priority, allocation_id, n_wanted;
    int64_t memory_mb, vcores;
    char *label, *host, *component;
    struct spec_needs *needs;
    struct yarn_round round; /* of one with constraints */
    int64_t again_ms;        /* loop time before which it is not asked for again; 0: at once */
    char *waits_id;          /* a container of it, by the engine's name: whom a refusal is reported of */
    int64_t since_ms;        /* loop time at which more began to be wanted */
    int64_t reported_ms;     /* loop time at which its wait was explained last; 0: it was not */
    bool is_dirty, is_refused;
    bool is_flying; /* in the call under way */
};

struct on_yarn {
    struct obj obj;
    struct cluster cluster;
    struct run_loop *loop;
    struct yarn_attempt_id attempt;
    char *host, *tracking_url;
    int rpc_port;
    struct yarn_context_maker *maker;
    struct yarn_link *master;
    struct yarn_token token;
    struct sasl_wish wish;
    struct map boxes; /* container id -> struct yarn_box */
    struct map nodes; /* "host:port" -> struct yarn_node */
    struct map asks;  /* "priority/allocation id" -> struct yarn_ask */
    enum yarn_constraints constraints;
    int64_t n_rounds;    /* begun by this process */
    struct map excluded; /* host -> on_yarn */
    char **news;         /* hosts whose exclusion was not sent yet */
    size_t n_news;
    struct yarn_container_id *releases; /* not acknowledged; the first n_sent_releases were sent */
    size_t n_releases, n_sent_releases;
    /* heartbeats */
    struct yarn_call call;
    struct run_timer *beat, *recovery;
    bool is_calling, is_registered, is_over, is_recovering, is_closing;
    int64_t recovery_until_ms; /* loop time */
    int32_t response_id;
    int64_t limit_memory_mb, limit_vcores; /* headroom; -1: not known */
    int64_t max_memory_mb, max_vcores;     /* largest container; 0: not known */
    /* finish */
    enum yarn_final_status final;
    char *diagnostics;
    bool is_finishing;
    struct run_timer *finish_limit;
    void (*finished)(void *arg);
    void *finished_arg;
    /* close */
    size_t n_links; /* that are closing */
    void (*closed)(void *arg);
    void *closed_arg;
    struct run_timer *end;
};

/* ---- yarn_host.c ---- */
/** Find the address of a container's node, for cluster_container.node_ip. @return false: it comes later, allocated() is called then. */
bool yarn_node_address(struct yarn_box *b);
/** A node goes. */
void yarn_node_forget_lookup(struct yarn_node *n);

/* ---- yarn.c ---- */
struct yarn_box *yarn_box_find(struct on_yarn *y, const struct yarn_container_id *id);
/** A container that is ours from now on. @param m  of the resource manager @return NULL: it is not whole, or known already */
struct yarn_box *yarn_box_new(struct on_yarn *y, const Yarn__Container *m);
/** Report its end, and forget it. */
void yarn_box_ended(struct yarn_box *b, int32_t status, const char *diagnostics);
/** Forget it, without a report. */
void yarn_box_free(struct yarn_box *b);
/** One of an earlier attempt is known now, or not soon: report it. */
void yarn_box_found(struct yarn_box *b);

/* ---- yarn_nodes.c ---- */
struct yarn_node *yarn_node_of(struct on_yarn *y, const Yarn__NodeId *id);
void yarn_node_take_token(struct on_yarn *y, const Yarn__NodeToken *m);
void yarn_node_free(void *node);
/** Its link; NULL: it has no token yet. */
struct yarn_link *yarn_node_link(struct yarn_node *n);
/** Ask it soon for the containers that wait. */
void yarn_node_poll(struct yarn_node *n);
/** Start, or re-initialise, with a context that is made. */
void yarn_box_start(struct yarn_box *b, const struct cluster_launch *launch);
/** Have its node end its process. */
void yarn_box_kill(struct yarn_box *b);

/* ---- yarn_asks.c ---- */
void yarn_asks_set(struct on_yarn *y, const struct cluster_ask *ask);
/** A container came for a key: one less is wanted. @param request_id  as the resource manager names it */
void yarn_asks_granted(struct on_yarn *y, int64_t priority, int64_t request_id);
/** All must be sent again. */
void yarn_asks_resync(struct on_yarn *y);
/** Something is asked for. */
bool yarn_asks_wait(const struct on_yarn *y);
bool yarn_asks_are_dirty(const struct on_yarn *y);
/** Add the requests of those that are dirty: they go with the next call. */
void yarn_asks_write(struct on_yarn *y, struct arena *a, Yarn__Allocate *m);
/** That call succeeded; failed; or was refused because of them, for this reason. */
void yarn_asks_sent(struct on_yarn *y);
void yarn_asks_failed(struct on_yarn *y);
void yarn_asks_refused(struct on_yarn *y, const char *why);
/** Say why those wait that have waited for long. */
void yarn_asks_explain(struct on_yarn *y);
void yarn_ask_free(void *ask);
/** NULL: there is none. */
struct yarn_ask *yarn_ask_find(struct on_yarn *y, int64_t priority, int64_t allocation_id);
/** What one container of it is to have. */
Yarn__Resource *yarn_ask_resource(struct arena *a, const struct yarn_ask *ask);

/* ---- yarn_rounds.c: asks with constraints ---- */
bool yarn_ask_is_placed(const struct yarn_ask *a);
/** Allocation id of the engine in an id that the resource manager names; that of an ask without constraints is the same. */
int64_t yarn_round_allocation(int64_t request_id);
/** Report why one with constraints waits; not more often than each minute. @param c  NULL: all its constraints */
void yarn_round_waits(struct on_yarn *y, struct yarn_ask *a, enum eng_wait why,
                      const struct spec_constraint *c, const char *text);
/** Decide what is due, and add it. */
void yarn_round_write(struct on_yarn *y, struct arena *a, Yarn__Allocate *m, struct yarn_ask *ask);
void yarn_round_granted(struct yarn_ask *a, int64_t request_id);
/** Nothing of it can be taken back any more. */
bool yarn_round_is_over(const struct on_yarn *y, const struct yarn_ask *a);
/** A request, or a part of it, was rejected: it is asked for again later. */
void yarn_rounds_rejected(struct on_yarn *y, const Yarn__Rejection *m);
/** One has waited for long: the handler scheduler says nothing by itself. */
void yarn_rounds_explain(struct on_yarn *y, struct yarn_ask *a);
/** A container has gone: what was rejected is tried again at once. */
void yarn_rounds_room(struct on_yarn *y);
/** The call was refused because of them, for this reason. @return there were some in it */
bool yarn_rounds_refused(struct on_yarn *y, const char *why);

/* ---- yarn_heartbeat.c ---- */
/** Its timers. */
void yarn_heartbeat_init(struct on_yarn *y);
void yarn_register(struct on_yarn *y);
/** A heartbeat is due soon. */
void yarn_beat_soon(struct on_yarn *y);
void yarn_release(struct on_yarn *y, const struct yarn_container_id *id);

#endif
