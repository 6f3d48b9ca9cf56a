/**
 * What a simulated cluster consists of: its containers, their places on nodes, and the agenda of what comes next. For the files of
 * this folder.
 *
 *     struct sim ── agenda ──> struct sim_due ──> struct sim_box or struct sim_place
 *         │                                           │
 *         ├─ boxes (by id)                            └─ boxes (of one node)
 *         └─ waiting, bound, never: the requests without a node (queue.h)
 *
 * Pure. Thread: one cluster, one thread.   Source: ours.
 */
#ifndef SIM_BOX_H
#define SIM_BOX_H

#include <sys/queue.h>

#include "base/heap.h"
#include "base/map.h"
#include "sim/sim.h"

/** What an item of the agenda is about. */
enum sim_due_kind {
    SIM_DUE_LIFE,
    SIM_DUE_READINESS,
    SIM_DUE_REPEAT,
    SIM_DUE_SERVE,
    SIM_DUE_FAILURE,
    SIM_DUE_MENDED
};

struct sim_due {
    struct heap_node node;
    enum sim_due_kind kind;
    void *owner; /* struct sim_box, struct sim_place, or NULL */
};

/** What a draw is for: with the id and the attempt it makes the number. */
enum sim_draws {
    SIM_DRAW_ALLOCATE,
    SIM_DRAW_START,
    SIM_DRAW_STOP,
    SIM_DRAW_READY,
    SIM_DRAW_LOST,
    SIM_DRAW_REPEATED,
    SIM_DRAW_REPEAT_MS,
    SIM_DRAW_FAILURE_MS,
    SIM_DRAW_FAILURE_LASTS,
    SIM_DRAW_FAILURE_NODE,
    SIM_DRAW_END,                                       /* + 2 * rule: whether, + 1: after */
    SIM_DRAW_UNREADY = SIM_DRAW_END + 2 * SIM_RULES_MAX /* + 3 * rule: whether, + 1: after, + 2: how long */
};

/** A container. */
struct sim_box {
    struct sim_container pub; /* texts owned */
    struct sim_due life, readiness, repeat;
    struct sim_place *place;   /* NULL: SIM_ASKED */
    TAILQ_ENTRY(sim_box) link; /* of its place, or of the requests that wait */
    enum sim_lack lack;        /* as last reported */
    char *lacking;
    struct sim_tag *tag;
    uint64_t *groups; /* of nodes that its constraints allow */
    char *instance;
    bool is_probed, is_readiness_known, is_ready, is_answer_due;
    int64_t ready_ms, unready_from_ms, unready_until_ms; /* of its process */
    enum sim_event_kind repeated;
    int64_t repeated_attempt;
};
TAILQ_HEAD(sim_box_list, sim_box);

/** A node with its containers. */
struct sim_place {
    struct sim_node *node;
    struct sim_box_list boxes;
    struct sim_due mended;
};

struct sim {
    const struct sim_script *script;
    uint64_t seed;
    int64_t now_ms;
    struct heap agenda;
    uint64_t n_set; /* items of the agenda so far: of one time, the first set comes first */
    struct sim_nodes nodes;
    struct sim_tags tags;
    struct sim_place *places;    /* by the index of the node */
    struct map boxes;            /* id -> struct sim_box */
    struct sim_box_list waiting; /* in their order */
    struct sim_box_list bound;   /* those that have constraints, in their order */
    struct sim_box_list never;   /* for which no node is good enough */
    size_t n_waiting;            /* in all of them */
    struct sim_due serve, failure;
    uint32_t n_ips;
    int64_t n_failures;
};

/* ---- what is drawn ---- */

/** Whether what is drawn for the container's attempt is within this share. */
bool sim_box_share(const struct sim *s, const struct sim_box *b, unsigned what, int64_t share_ppm);
/** What is drawn of a span for the container's attempt. @return ms */
int64_t sim_box_span(const struct sim *s, const struct sim_box *b, unsigned what, struct sim_span span);

/* ---- time ---- */

/** It is now_ms, or later already. */
void sim_advance(struct sim *s, int64_t now_ms);
/** Put an item on the agenda, or move it. */
void sim_set_due(struct sim *s, struct sim_due *d, int64_t delay_ms);
/** Take an item off the agenda; one that is not on it is fine. */
void sim_clear_due(struct sim *s, struct sim_due *d);

/* ---- containers ---- */

/** A container by its id, or NULL. [borrowed] */
struct sim_box *sim_box_find(const struct sim *s, const char *id);
/** Enter a container that is asked for; it is at no node and in no queue yet. [borrowed: the cluster owns it] */
struct sim_box *sim_box_new(struct sim *s, const struct sim_ask *ask);
/** Release the memory of one that is in no list any more. */
void sim_box_free(struct sim_box *b);

#endif
