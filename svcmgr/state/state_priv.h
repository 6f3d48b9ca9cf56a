/**
 * Shared by state.c and claim.c; nothing else includes it.
 *
 * Thread: owner.   Source: ours.
 */
#ifndef STATE_STATE_PRIV_H
#define STATE_STATE_PRIV_H

#include "base/map.h"
#include "base/obj.h"
#include "store/store.h"
#include "state/state.h"

#define STATE_MAGIC OBJ_MAGIC('S', 'T', 'A', 'T')
#define WRITER_PATH "/writer"

/** A node of ours as it was read, or as the write under way will leave it. */
struct node {
    int32_t version;
    bool is_gone;
};

struct state {
    struct obj obj;
    struct store *store;
    char *me;       /* in the writer's node: it is ours */
    bool is_shared; /* other processes may have it open, too */
    char *url, *place, *take_from, *process;
    int64_t lease_ms;
    int64_t sent_ms,
        held_until_ms;    /* run_boot_ms: when the writer's node was last sent; when our lease is over */
    int32_t seen_version; /* another's writer's node, and since when it is so; run_boot_ms */
    int64_t seen_ms;
    struct run_timer *look_timer;
    struct run_loop *loop;
    void (*standing_by)(void *arg, const struct state_holder *holder, const char *refused);
    void (*claimed)(void *arg, int err, const struct err_info *why);
    int64_t change;   /* number in the last writer's node that we wrote or tried to write */
    int64_t lost;     /* number of the write whose outcome is asked for */
    struct map known; /* path -> struct node: nodes that are there */
    bool is_busy;
    /* the scan: paths still to read */
    char **todo;
    size_t n_todo;
    void (*one)(void *arg, const char *key, const char *bytes, size_t len);
    void (*loaded)(void *arg, int err, const struct err_info *why);
    STATE_DONE;
    void *done_arg;
    struct store_op *ops; /* of the write under way; paths owned */
    size_t n_ops;
    char *writer;        /* text of the writer's node in it */
    struct map changed;  /* path -> struct node: what they make of it */
    struct err_info why; /* why the write under way failed */
    void (*closed)(void *arg);
    void *closed_arg;
};

/** Node of `path` in a map of nodes. */
void state_set_node(struct map *nodes, const char *path, int32_t version, bool is_gone);
/** New text of the writer's node, with the number of our last change. free() */
char *state_writer_text(struct state *s);
/** The writer's node is ours from when it was sent on. */
void state_hold(struct state *s);
/** The store said of an op that a node is not as it was read. */
bool state_is_of_another(int err);
/** Name of this process for has_ended. free() */
char *state_process_name(void);

#endif
