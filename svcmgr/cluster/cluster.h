/**
 * A cluster: whom svcmgr asks for containers. One interface, several kinds: local (processes of this host), later yarn
 * and sim.
 *
 *   cluster_request --> allocated --> cluster_launch --> started --> exited
 *         |  waits                                                     |
 *         +-> (reason)            cluster_launch again, or cluster_release: the container is gone
 *
 * The caller names containers; a name is never used again after its release. Every callback comes from the owner loop,
 * later than the call that caused it, and never after `closed`. Pointers to a container are valid for the callback.
 *
 * Thread: owner for everything.   Source: YARN's resource model.
 */
#ifndef CLUSTER_CLUSTER_H
#define CLUSTER_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bobbin/error.h"
#include "run/loop.h"

struct cluster;

enum cluster_state { CLUSTER_ALLOCATED, CLUSTER_STARTING, CLUSTER_RUNNING, CLUSTER_EXITED };

/** How a container's process ended. */
enum cluster_exit_kind {
    CLUSTER_EXIT_CODE,        /* code: exit code                                            */
    CLUSTER_EXIT_SIGNAL,      /* code: signal number                                        */
    CLUSTER_EXIT_NOT_STARTED, /* code: errno; text names the step                           */
    CLUSTER_EXIT_LOST         /* nobody knows how: its shim or its host died; code 0        */
};

struct cluster_exit {
    enum cluster_exit_kind kind;
    int code;
    bool was_stopped;   /* cluster_stop or cluster_release came before */
    int64_t started_ms; /* wall clock; 0: never ran */
    int64_t ended_ms;
    char text[192]; /* sentence for a person */
};

struct cluster_container {
    const char *id;             /* "container_1700000000000_0001_01_000002" */
    const char *application_id; /* "application_1700000000000_0001" */
    const char *ip;             /* NULL: not known yet */
    const char *hostname;       /* what becomes yarn:hostname */
    const char *work_dir;       /* absolute; NULL: known on the node only */
    const char *log_dir;
    const char *run_user; /* user its process runs as */
    int64_t memory_mb, vcores;
    int64_t allocated_ms; /* wall clock */
    int64_t started_ms;   /* wall clock; 0: not running */
    int64_t pid;          /* local only, else 0 */
    int64_t attempt;      /* of the last launch; 0: never launched */
    enum cluster_state state;
    struct cluster_exit exit; /* when CLUSTER_EXITED */
};

/** What is asked for. Strings are copied. */
struct cluster_ask {
    const char *container_id;
    const char *application_id;
    int64_t memory_mb, vcores;
    const char *label; /* of a host; NULL or "": any */
    const char *ip;    /* address it must have, or NULL: the cluster's choice */
};

/** A file to be there when the process starts. */
struct cluster_file {
    const char *path;  /* relative to the working directory, no "..", directories are made */
    const char *bytes; /* content, or NULL: `source` is copied */
    size_t len;
    const char *source; /* absolute path of a file */
};

/** What to run. Everything is copied. */
struct cluster_launch {
    int64_t attempt;     /* from 1; echoed in the container */
    const char *command; /* for /bin/sh -c; output goes to stdout.txt and stderr.txt in the log directory */
    const char *const *env; /* "NAME=value", NULL-terminated; the whole environment */
    const struct cluster_file *files;
    size_t n_files;
};

struct cluster_capacity {
    int64_t memory_mb, vcores, used_memory_mb, used_vcores;
    size_t n_containers, n_waiting;
};

struct cluster_ops {
    /** A request is fulfilled. */
    void (*allocated)(void *arg, const struct cluster_container *c);
    /** A request waits, for this reason; told again when the reason changes. */
    void (*waits)(void *arg, const char *container_id, const char *reason);
    void (*started)(void *arg, const struct cluster_container *c);
    /** The process and all it left is gone; launch again or release. c->exit is filled. */
    void (*exited)(void *arg, const struct cluster_container *c);
    /** One container of an earlier life of the program, in any state. */
    void (*recovered)(void *arg, const struct cluster_container *c);
    /** All have been told. */
    void (*recovery_done)(void *arg);
};

/** What a kind of cluster implements; members as the functions below. */
struct cluster_kind {
    const char *name;
    void (*recover)(struct cluster *c);
    void (*request)(struct cluster *c, const struct cluster_ask *ask);
    void (*cancel)(struct cluster *c, const char *container_id);
    int (*launch)(struct cluster *c, const char *container_id, const struct cluster_launch *launch,
                  struct err_info *why);
    void (*stop)(struct cluster *c, const char *container_id, int64_t grace_ms);
    void (*release)(struct cluster *c, const char *container_id);
    const struct cluster_container *(*find)(struct cluster *c, const char *container_id);
    void (*capacity)(struct cluster *c, struct cluster_capacity *out);
    void (*stop_all)(struct cluster *c, void (*done)(void *arg), void *arg);
    void (*close)(struct cluster *c, void (*closed)(void *arg), void *arg);
};

/** First member of every kind's own struct. */
struct cluster {
    const struct cluster_kind *kind;
    const struct cluster_ops *ops;
    void *ops_arg;
};

/** "local", … Static. Thread: any.   Source: ours. */
const char *cluster_name(const struct cluster *c);
/**
 * Find what runs from an earlier life: `recovered` for each container, then `recovery_done`. Once, before any request.
 */
void cluster_recover(struct cluster *c);
/** Ask for one container. One that is held already is allocated() again; a request that waits is left as it is. */
void cluster_request(struct cluster *c, const struct cluster_ask *ask);
/** Take a request back; one that is unknown or fulfilled already is left alone. */
void cluster_cancel(struct cluster *c, const char *container_id);
/**
 * Run the command in a container that is allocated or has exited. Files are laid down by the first launch only.
 * @return 0: started() or exited() will come; ERR_NOTFOUND: no such container; ERR_WRONGSTATE: it runs already; ERR_INVALID: a
 *         file's path leaves the working directory. Nothing was begun on error.
 */
int cluster_launch(struct cluster *c, const char *container_id, const struct cluster_launch *launch,
                   struct err_info *why);
/** End the process politely, then by force after grace_ms; exited() comes. A container that does not run: nothing. */
void cluster_stop(struct cluster *c, const char *container_id, int64_t grace_ms);
/** Give a container back: what runs is ended, then its directory goes; no callback speaks of it any more. */
void cluster_release(struct cluster *c, const char *container_id);
/** A container by id, or NULL when there is none (or it was released). [borrowed] */
const struct cluster_container *cluster_find(struct cluster *c, const char *container_id);
/** What there is and what is used. */
void cluster_capacity(struct cluster *c, struct cluster_capacity *out);
/** Drop all requests, end and release everything; done(arg) when no process is left. No other callback comes. */
void cluster_stop_all(struct cluster *c, void (*done)(void *arg), void *arg);
/** Let go of everything and free it; what runs goes on. closed(arg) is the last call. */
void cluster_close(struct cluster *c, void (*closed)(void *arg), void *arg);

#endif
