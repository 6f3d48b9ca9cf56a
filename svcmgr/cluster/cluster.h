/**
 * A cluster gives containers to svcmgr. One interface, several kinds: local (processes of this host), sim (nobody's processes), yarn
 * (node managers of YARN, for the application master of one service).
 *
 *   cluster_request --> allocated --> cluster_launch --> started --> exited
 *         |  waits                                                     |
 *         +-> (reason)            cluster_launch again, or cluster_release: the container is gone
 *
 * The caller names containers; a name is never used again after its release. YARN names them itself: a request is of a key
 * (cluster_ask.allocation_id) with a number that is absolute, and allocated() says which key a container is for. Every callback comes from the owner loop,
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
#include "engine/exit.h"
#include "engine/wait.h"
#include "run/loop.h"

struct cluster;
struct spec_needs;

enum cluster_state {
    CLUSTER_ALLOCATED,
    CLUSTER_STARTING,
    CLUSTER_RUNNING,
    CLUSTER_RECOVERING, /* it may run or have ended: not known yet, and nothing replaces it */
    CLUSTER_EXITED
};

/** How a container's process ended. */
struct cluster_exit {
    enum eng_exit_origin origin;
    enum eng_exit_cause cause; /* LOST: how it ended is unknown, as its shim or its host died */
    int64_t raw;               /* as in struct eng_exit */
    bool was_stopped;          /* cluster_stop or cluster_release came before */
    bool is_gone;       /* the container has ended with its process: nothing can be launched in it again */
    int64_t started_ms; /* wall clock; 0: never ran */
    int64_t ended_ms;
    char text[384]; /* sentence for a person */
};

struct cluster_container {
    const char *id;             /* "container_1700000000000_0001_01_000002" */
    const char *application_id; /* "application_1700000000000_0001" */
    const char *ip;             /* NULL: not known yet */
    const char *node_ip;        /* of its node, where that is known before ip; else NULL */
    const char *hostname;       /* what becomes yarn:hostname */
    const char *node_http;      /* "host:port" of the pages of its node; NULL: it has none */
    const char *work_dir;       /* absolute; NULL: known on the node only */
    const char *log_dir;
    const char *run_user; /* user its process runs as */
    int64_t memory_mb, vcores;
    int64_t gpus;          /* a bit for each of the node's GPUs that it has; 0: none */
    int64_t allocated_ms;  /* wall clock */
    int64_t started_ms;    /* wall clock; 0: not running */
    int64_t pid;           /* local only, else 0 */
    int64_t attempt;       /* of the last launch; 0: never launched, or the cluster does not know */
    int64_t allocation_id; /* key that it was asked for by, where the cluster names containers; else 0 */
    enum cluster_state state;
    struct cluster_exit exit; /* when CLUSTER_EXITED */
    /* last lines of its standard error: UTF-8, no control characters but \n and \t; NULL: none are known */
    char *last_stderr;
};

/** What is asked for. Strings are copied. */
struct cluster_ask {
    const char *container_id;
    const char *application_id;
    int64_t memory_mb, vcores;
    const char *label;     /* of a host; NULL or "": any */
    const char *ip;        /* address it must have, or NULL: the cluster's choice */
    const char *host;      /* the only node it may be on; NULL: any */
    const char *component; /* that it is of */
    /* where the cluster names containers: of this key n_wanted containers are wanted now, whatever was asked before; a lower priority comes
     * first. allocation_id 0: the one container_id, which is held, is asked for once more after a restart */
    int64_t priority, allocation_id, n_wanted;
    const struct spec_needs *needs; /* resources beside memory and cores, constraints; NULL: none. Copied */
};

struct json_t;
struct spec_file;

/** A file to be there when the process starts. */
struct cluster_file {
    const char *path;  /* relative to the working directory, no "..", directories are made */
    const char *bytes; /* content, or NULL: `source` is read */
    size_t len;
    /* absolute path or URI of a file, see fs/place.h; read with the rights of the process's user, from HDFS as the owner */
    const char *source;
    const struct json_t *values; /* of placeholders in the source's text; NULL: it is copied as it is */
    const char *mount;           /* absolute path in the image where it is mounted read-only; NULL: nowhere */
    bool is_archive;             /* path is a directory, and gets what the archive `source` has */
    /* source is a file, a directory, or an archive by its name (fs_is_archive): files are read-only and may be executed, mode 0500 */
    bool is_source;
    /* with values: source is of its type, its properties come over it; NULL: source is a text */
    const struct spec_file *config;
};

/** An image whose files the command sees, instead of those of the host. */
struct cluster_image {
    const char *id;       /* "nginx:latest" */
    const char *hostname; /* NULL: the host's */
    const char *mounts;   /* of the caller: see SPEC_MOUNTS_ENV; NULL: none */
    bool is_privileged;   /* it has all rights of the host's root */
    bool has_entry_point; /* the command is words for the image's own entry point, not for its shell */
};

/** What to run. Everything is copied. */
struct cluster_launch {
    int64_t attempt;                   /* from 1; echoed in the container */
    const char *owner;                 /* user of the service */
    const struct cluster_image *image; /* NULL: the command is run on the host */
    /* for /bin/sh -c, with an image for its sh; "" with an image: what the image itself says; output goes to stdout.txt and stderr.txt in the log directory */
    const char *command;
    bool is_task;           /* of a task: where its output goes is said in the command */
    const char *const *env; /* "NAME=value", NULL-terminated; the whole environment */
    const struct cluster_file *files;
    size_t n_files;
    const char *instance; /* whom it is for, see cluster_last_container; or NULL */
    const char *service;  /* name of the owner's service, see cluster_is_of; or NULL */
};

/** A node of the cluster. Texts are borrowed; NULL, 0: not known. */
struct cluster_node {
    const char *host;          /* as in cluster_container.hostname */
    const char *rack;          /* "/default-rack" */
    const char *http_address;  /* "host:port" of its own pages */
    const char *health;        /* why it is unhealthy */
    const char *state;         /* "RUNNING", "UNHEALTHY", "LOST", …: the resource manager's word */
    const char *const *labels; /* partitions it belongs to, n_labels of them */
    size_t n_labels;
    int64_t memory_mb, vcores;
    int64_t n_gpus;
    int64_t gpu_mask;          /* a bit for each GPU */
    const int64_t (*ports)[2]; /* first and last port of ranges for containers, n_ports of them */
    size_t n_ports;
};

/** What a container uses. */
struct cluster_usage {
    bool is_known;        /* else it runs nothing now */
    int64_t cpu_ms;       /* of all cores since the start of its processes */
    int64_t memory_bytes; /* resident; what processes share counts in each */
    int64_t n_processes;
};

/** A command to be executed in a container, beside its process. */
struct cluster_exec {
    const char *const *words; /* n_words of them; none: a shell */
    size_t n_words;
    bool has_terminal;
    int64_t rows, columns; /* of the terminal */
    const char *term;      /* its TERM; NULL: not known */
    int fd; /* connection to who talks to it, in frames (lib/exec/frame.h) [borrowed: the session has its own] */
    const char *early; /* early_len octets that came by it already */
    size_t early_len;
};

/** A command that is executed. */
struct cluster_session;

struct cluster_capacity {
    int64_t memory_mb, vcores, used_memory_mb, used_vcores;
    int64_t max_memory_mb, max_vcores; /* of one container; 0: not known */
    size_t n_containers, n_waiting;
};

struct cluster_ops {
    /** A request is fulfilled. */
    void (*allocated)(void *arg, const struct cluster_container *c);
    /** A request, a launch or a recovery waits, for this reason (WAIT_NONE: its text says all); called again when it changes. */
    void (*waits)(void *arg, const char *container_id, const struct eng_waiting *why);
    /**
     * Another program of the host has the address that was asked for. Instead of allocated(): the request is over; instead of
     * started(): nothing was begun, the container is to be released. Ask again, with another address.
     */
    void (*address_taken)(void *arg, const char *container_id, const char *ip);
    void (*started)(void *arg, const struct cluster_container *c);
    /** The process and all it left is gone; launch again or release. c->exit is filled. */
    void (*exited)(void *arg, const struct cluster_container *c);
    /** One container of an earlier life of the program, in any state; one that is RECOVERING comes again when it is known. */
    void (*recovered)(void *arg, const struct cluster_container *c);
    /** The cluster has this node, or it has changed. Each is reported before recovery_done. */
    void (*node)(void *arg, const struct cluster_node *node);
    /** All containers and nodes have been reported. */
    void (*recovery_done)(void *arg);
    /** cluster_probe: the first result for a launch, and every change. text says why it is not ready; NULL: it is. */
    void (*probed)(void *arg, const char *container_id, int64_t attempt, bool is_ready, const char *text);
    /** Containers cannot be looked after for lack of something of ours (reason), or can again (NULL). */
    void (*degraded)(void *arg, const char *reason);
    /** Our part is over, as the cluster says (another attempt runs the application, or it has ended): nothing may be done any more. */
    void (*over)(void *arg, const struct err_info *why);
};

/** A process may run in a container of this state. Thread: any. */
static inline bool cluster_state_is_live(enum cluster_state s)
{
    return s == CLUSTER_STARTING || s == CLUSTER_RUNNING || s == CLUSTER_RECOVERING;
}

/** What a kind of cluster implements; members as the functions below. */
struct cluster_kind {
    const char *name;
    void (*recover)(struct cluster *c);
    void (*request)(struct cluster *c, const struct cluster_ask *ask);
    void (*cancel)(
        struct cluster *c,
        const char *container_id); /* NULL: the cluster names containers, their number is what counts */
    int (*launch)(struct cluster *c, const char *container_id, const struct cluster_launch *launch,
                  struct err_info *why);
    /* NULL: the process is ended, then another one is launched in the container */
    int (*reinit)(struct cluster *c, const char *container_id, const struct cluster_launch *launch,
                  struct err_info *why);
    void (*stop)(struct cluster *c, const char *container_id, int64_t grace_ms);
    void (*release)(struct cluster *c, const char *container_id);
    void (*exclude)(struct cluster *c, const char *application_id, const char *host, bool excluded);
    const struct cluster_container *(*find)(struct cluster *c, const char *container_id);
    bool (*probe)(struct cluster *c, const char *container_id); /* NULL: its processes have to be asked */
    void (*unprobe)(struct cluster *c, const char *container_id);
    char *(*log_dir)(struct cluster *c, const char *container_id);
    char *(*last_container)(struct cluster *c, const char *application_id, const char *instance);
    bool (*is_of)(struct cluster *c, const char *application_id, const char *owner, const char *service);
    void (*capacity)(struct cluster *c, struct cluster_capacity *out);
    void (*look)(struct cluster *c, const char *owner, const char *const *paths, size_t n,
                 void (*done)(void *arg, const bool *absent, const struct err_info *problem), void *arg);
    /* NULL: there are no processes */
    int (*signal)(struct cluster *c, const char *container_id, int signal, struct err_info *why);
    void (*usage)(struct cluster *c, const char *const *ids, size_t n,
                  void (*done)(void *arg, const struct cluster_usage *usage), void *arg);
    int (*exec)(struct cluster *c, const char *container_id, const struct cluster_exec *what,
                void (*done)(void *arg, int code), void *arg, struct cluster_session **out,
                struct err_info *why);
    void (*exec_end)(struct cluster_session *s);
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
 * Find what runs from an earlier life: `recovered` for each container, then `recovery_done`. Once, before any request. A
 * container of which nothing is known within seconds is reported as RECOVERING.
 */
void cluster_recover(struct cluster *c);
/** Ask for one container. One that is held already is allocated() again; a request that waits is left as it is. */
void cluster_request(struct cluster *c, const struct cluster_ask *ask);
/** Take a request back; one that is unknown or fulfilled already is left alone. */
void cluster_cancel(struct cluster *c, const char *container_id);
/**
 * Run the command in a container that is allocated or has exited. Each launch begins with a clean working directory, in which
 * the files are laid anew; a source that cannot be read is an exit, CAUSE_LAUNCH with the reason.
 * @return 0: started() or exited() will come, after waits() for as long as there is a lack of something; ERR_NOTFOUND: no such
 *         container; ERR_WRONGSTATE: it runs already; ERR_INVALID: a
 *         file's path leaves the working directory. Nothing was begun on error.
 */
int cluster_launch(struct cluster *c, const char *container_id, const struct cluster_launch *launch,
                   struct err_info *why);
/** The cluster can replace the process of a container by itself: cluster_reinit. */
bool cluster_reinits(const struct cluster *c);
/** As cluster_launch, of a container whose process runs: that is ended first, and nothing is reported of its end. */
int cluster_reinit(struct cluster *c, const char *container_id, const struct cluster_launch *launch,
                   struct err_info *why);
/** The cluster names its containers: cluster_ask.allocation_id. */
bool cluster_names_containers(const struct cluster *c);
/** End the process politely, then by force after grace_ms; exited() comes. A container that does not run: nothing. */
void cluster_stop(struct cluster *c, const char *container_id, int64_t grace_ms);
/** Give a container back: what runs is ended, then its directory goes; no callback speaks of it any more. */
void cluster_release(struct cluster *c, const char *container_id);
/** Place no container of the application on a node any more, or again; what is there stays. Nothing when it is so already. */
void cluster_exclude(struct cluster *c, const char *application_id, const char *host, bool excluded);
/** A container by id, or NULL when there is none (or it was released). [borrowed] */
const struct cluster_container *cluster_find(struct cluster *c, const char *container_id);
/**
 * Report the readiness of a container's process, where the cluster knows it: probed() comes from now on until cluster_unprobe or its end.
 * @return false: the cluster does not know it, the process has to be asked; nothing was begun.
 */
bool cluster_probe(struct cluster *c, const char *container_id);
/** No probed() about this container any more. Unknown ones are fine. */
void cluster_unprobe(struct cluster *c, const char *container_id);
/**
 * Directory on this host of a container's output, of one that has been released as well, for as long as it is kept.
 * @return absolute path, free(); NULL: there is none, or the id is no container's.
 */
char *cluster_log_dir(struct cluster *c, const char *container_id);
/** The last container that was launched for an instance (cluster_launch.instance) and has logs. @return free(); NULL: none. */
char *cluster_last_container(struct cluster *c, const char *application_id, const char *instance);
/** An application with kept logs was of this service (cluster_launch.owner, .service), which may be gone or run another one now. */
bool cluster_is_of(struct cluster *c, const char *application_id, const char *owner, const char *service);
/** "application_1700000000000_0001" of "container_1700000000000_0001_01_000002". @return free(); NULL: no such id. Thread: any. */
char *cluster_application_of(const char *container_id);
/** What there is and what is used. */
void cluster_capacity(struct cluster *c, struct cluster_capacity *out);
/**
 * Find out which files could be sources of a launch, with the rights its process would have.
 *
 * @param owner  user of the service                                                 [borrowed for the call]
 * @param paths  n of them, as cluster_file.source; another one is absent                       [borrowed for the call]
 * @param done   called once, also when the cluster closes. absent[i]: there is no such file as far as that user can see;
 *               NULL: unknown, for the reason in *problem. problem->code: 0, or the first problem of those that are there:
 *               ERR_INVALID for one that is no plain file, too large, or not his to read; where: that one of paths. Both borrowed for the call.
 */
void cluster_look(struct cluster *c, const char *owner, const char *const *paths, size_t n,
                  void (*done)(void *arg, const bool *absent, const struct err_info *problem), void *arg);
/**
 * Send a signal to the processes of a container; of one of an image to the first.
 * @return 0: it will be sent; ERR_NOTFOUND: there is no such container; ERR_WRONGSTATE: nothing runs in it; ERR_UNSUPPORTED: nor
 *         in any other of this cluster.
 */
int cluster_signal(struct cluster *c, const char *container_id, int signal, struct err_info *why);
/**
 * Measure what containers use.
 *
 * @param ids   n of them; unknown ones are is_known false                           [borrowed for the call]
 * @param done  called once, later, n usages in the order of ids; NULL: the cluster closes, or has no processes
 *              [borrowed for the call]
 */
void cluster_usage(struct cluster *c, const char *const *ids, size_t n,
                   void (*done)(void *arg, const struct cluster_usage *usage), void *arg);
/**
 * Execute a command in a container that runs, with the rights, environment, working directory and limits of its process. It ends with
 * that process, with the cluster, and with us, and leaves nothing behind.
 *
 * @param what  all borrowed for the call; NULL: only ask whether it could be done now
 * @param done  called once, later, also when the cluster closes: the exit code as the client got it
 * @param out   valid until done                                                    [out]
 * @return 0; ERR_NOTFOUND: there is no such container; ERR_WRONGSTATE: nothing runs in it; ERR_LIMIT: too many are executed in it, or
 *         a descriptor or process is missing; ERR_UNSUPPORTED: nothing runs in any of this cluster; ERR_IO.
 */
int cluster_exec(struct cluster *c, const char *container_id, const struct cluster_exec *what,
                 void (*done)(void *arg, int code), void *arg, struct cluster_session **out,
                 struct err_info *why);
/** End a session: what it started gets SIGHUP, then SIGKILL; done is called when nothing is left. @param s  of cluster_exec, not done yet */
void cluster_exec_end(struct cluster *c, struct cluster_session *s);
/** Drop all requests, end and release everything; done(arg) when no process is left. No other callback comes. */
void cluster_stop_all(struct cluster *c, void (*done)(void *arg), void *arg);
/** Close; containers keep running. closed(arg) is the last call. */
void cluster_close(struct cluster *c, void (*closed)(void *arg), void *arg);

#endif
