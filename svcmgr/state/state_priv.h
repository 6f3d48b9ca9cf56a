/**
 * Shared by the files of this folder; nothing else includes it.
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
/** Last element of the path of an attempt node. */
#define ATTEMPT_NAME "attempt"
/** Of the clock of who runs the service, beside it. */
#define CLOCK_NAME "clock"
/** Of the sessions of an application master: their loss only delays what it writes and what is wanted of it. */
#define STATE_MASTER_TIMEOUT_MS 15000

/** A node of ours as it was read, or as the write under way will leave it. */
struct node {
    int32_t version;
    bool is_gone;
    int64_t zxid; /* of its last change, or a little later: what follows with a higher one is not known yet */
};

struct state {
    struct obj obj;
    struct store *store;
    struct claims *repeats; /* NULL: the store cannot hold them */
    char *me;               /* in the writer's node: it is ours */
    char *writer_path; /* the writer's node: WRITER_PATH, or the attempt node of the service in `scope` */
    char *scope;       /* path of the one service that we run; NULL: all is ours */
    char *definition;  /* with scope: path of what is wanted of it */
    int64_t attempt;   /* with scope: ours */
    char *account;     /* with scope: as given; NULL: anonymous */
    bool (*is_ours)(void *arg, const char *bytes, size_t len); /* with scope: see there */
    void *is_ours_arg;
    int64_t patience_end_ms; /* run_boot_ms: is_ours must have said so by then; 0: it was not asked */
    struct follow *follow;   /* NULL: nobody follows */
    struct store *wanted;    /* with scope and follow: the definition is its root */
    struct taking *taking;   /* state_take_back under way */
    bool is_shared;          /* other processes may have it open, too */
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
    int64_t change;            /* number in the last writer's node that we wrote or tried to write */
    int64_t lost;              /* number of the write whose outcome is asked for */
    struct grant *own;         /* ACL of what we make; NULL: everybody's */
    struct grant *clock_grant; /* ACL of the clock; NULL: as own */
    struct map grants; /* path of a service -> struct grant of its nodes, where somebody else runs it */
    struct map known;  /* path -> struct node: nodes that are there */
    bool is_busy;
    struct load *load; /* under way, see load.c */
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
/** As state_set_node, for a node that the store has shown: with the number of its last change. */
void state_saw_node(struct state *s, const char *path, const struct store_stat *stat);
/** New text of the writer's node, with the number of our last change. free() */
char *state_writer_text(struct state *s);
/** The writer's node is ours from when it was sent on. */
void state_hold(struct state *s);
/** The store said of an op that a node is not as it was read. */
bool state_is_of_another(int err);
/** The path is that of a service, /services/<user>/<name>, or below one: length of the service's part. 0: it is not. */
size_t state_service_part(const char *path);
/** Path of the attempt node of the service that `path` is, or is below of; NULL: of none. free() */
char *state_attempt_path(const char *path);
/** The path is that of an attempt node. */
bool state_is_attempt(const char *path);
/** The path is that of the clock of who runs a service. */
bool state_is_clock(const char *path);
/** The path is that of this service, or below it. */
bool state_is_below(const char *path, const char *service);
/** Read a service's nodes into `known`, its attempt node and its clock left out. one and done as in state_load. */
void state_load_service(struct state *s, const char *path,
                        void (*one)(void *arg, const char *key, const char *bytes, size_t len),
                        void (*done)(void *arg, int err, const struct err_info *why), void *arg);
/** A write that takes the attempt node of a service, at the version in `known`, for `text`. */
void state_write_attempt(struct state *s, const char *path, const char *text, STATE_DONE, void *arg);
/** When the stores are closed. */
void state_follow_free(struct state *s);
/** state_close: it does not wait any more. */
void state_take_back_stop(struct state *s);
/** When the store is closed: one that waited. */
void state_take_back_free(struct state *s);
/** Close the store of the definition, if there is one, then closed(arg). */
void state_follow_close(struct state *s, void (*closed)(void *arg), void *arg);
/** Text of an attempt node that no attempt has taken yet. */
#define STATE_ATTEMPT_NONE "{\"version\":1,\"attempt\":0}"
/** Format of the texts of the writer's node and of attempt nodes. */
#define STATE_WRITER_FORMAT 1
/** Elements of a path that begins with this one are what is wanted. */
#define STATE_DEFINITIONS "/definitions/"
/** Whose the nodes are that we make. @return 0; ERR_IO: account is no id:password. */
int state_access_init(struct state *s, const char *account, const char *manager, struct err_info *why);
void state_access_fini(struct state *s);
/** ACL of a node that we make at this path; NULL: everybody's. [borrowed while open] */
const struct store_acl *state_acl(const struct state *s, const char *path);
/** Name of this process for has_ended. free() */
char *state_process_name(void);

#endif
