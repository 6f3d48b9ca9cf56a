/**
 * Shared by local*.c, the local cluster. A box is one container of this host:
 *
 *   (asked) -> ALLOCATED -> STARTING: files are written, the shim starts -> RUNNING -> EXITED -> STARTING …
 *                                  released: stop, wait for the exit, remove the directory, forget
 *
 * After a restart, and when the connection to a shim ends without an exit, a box is RECOVERING: local_look repeats until its
 * shim answers or has certainly ended. Whatever fails for a shortage, the launch too, is retried after a pause (local_wait): a
 * shortage never proves that a container has ended or cannot run.
 *
 * Thread: owner, but for what local_files.c does on the pool.   Source: ours.
 */
#ifndef CLUSTER_LOCAL_PRIV_H
#define CLUSTER_LOCAL_PRIV_H

#include <sys/queue.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/obj.h"
#include "cluster/local.h"
#include "cluster/local_devices.h"
#include "cluster/local_types.h"
#include "cluster/local_users.h"
#include "cluster/shim_autopsy.h"
#include "cluster/shim_link.h"
#include "run/shortage.h"
#include "run/log.h"
#include "shim/sources_wire.h"

#define LOCAL_MAGIC OBJ_MAGIC('L', 'O', 'C', 'L')
#define BOX_MAGIC   OBJ_MAGIC('C', 'B', 'O', 'X')
#define JOB_MAGIC   OBJ_MAGIC('F', 'J', 'O', 'B')

#define LOCAL_EVENTS(X)                                                                                      \
    X(cluster_opened, LOG_INFO, "The local cluster is open.")                                                \
    X(cluster_dir_hidden, LOG_WARN,                                                                          \
      "The user of the containers may not enter this directory, so absolute names of their files fail.")     \
    X(cluster_no_cgroup, LOG_WARN, "No cgroup can be made: the resources of containers are not limited.")    \
    X(cluster_cgroups, LOG_INFO, "Cgroups limit the resources of containers.")                               \
    X(container_fdlimit, LOG_WARN, "A container-shim keeps svcmgr's limit of descriptors.")                  \
    X(container_recovered, LOG_INFO, "A container of the previous run is recovered.")                        \
    X(container_scrap, LOG_WARN, "An incomplete container directory is removed.")                            \
    X(container_nameless, LOG_ERROR,                                                                         \
      "The allocation of a container of the previous run is unreadable; it is recovered by its id alone.")   \
    X(container_waits, LOG_WARN, "A container waits for the end of a shortage.")                             \
    X(recovery_waits, LOG_WARN,                                                                              \
      "A shortage delays the search for containers of the previous run; svcmgr retries.")                    \
    X(container_shim_hangs, LOG_WARN,                                                                        \
      "A container-shim does not end its container in time; svcmgr kills both.")                             \
    X(container_shim_not_killed, LOG_ERROR,                                                                  \
      "A container-shim that does not end its container cannot be killed.")                                  \
    X(exec_hangs, LOG_WARN,                                                                                  \
      "The parent of an executed command does not end it in time; svcmgr kills the parent.")                 \
    X(sources_hang, LOG_WARN, "Reading the source files of a service takes too long; its reader is killed.") \
    X(container_not_in_runtime, LOG_WARN,                                                                    \
      "The container runtime did not remove a container whose shim is dead.")                                \
    X(images_not_swept, LOG_WARN,                                                                            \
      "The container runtime did not name or remove containers that nobody holds.")                          \
    X(container_not_removed, LOG_WARN, "A container's directory could not be removed completely.")
LOG_DECLARE(LOCAL_EVENTS)

/** A request that waits. */
struct local_ask {
    TAILQ_ENTRY(local_ask) link;
    struct cluster_ask ask; /* strings owned */
    char *reason;           /* reported last, or NULL */
};
TAILQ_HEAD(local_ask_list, local_ask);

/** A reader of sources: local_sources.c. */
struct local_reader;
TAILQ_HEAD(local_reader_list, local_reader);

struct local_job;
TAILQ_HEAD(local_job_list, local_job);
TAILQ_HEAD(box_list, box);

/** Commands that are executed in containers: local_exec.c. */
TAILQ_HEAD(cluster_session_list, cluster_session);

/** A process of the container runtime: local_image.c. */
struct image_call;
TAILQ_HEAD(image_call_list, image_call);

/** What runs images. Constant while the cluster is open, but for the calls. */
struct local_images {
    char *program;               /* NULL: there is none */
    char **args;                 /* of each call, NULL-terminated */
    char *words;                 /* program and args for a shell */
    char *ro_mounts, *rw_mounts; /* see spec_mount_is_allowed */
    char *dir;                   /* label of our containers there */
    int64_t pull_timeout_ms;
    struct image_call_list calls;
    struct local_job_list waiting; /* for their turn to look for their image */
    size_t n_looking;
};

struct box {
    struct obj obj;
    struct local *local;
    struct cluster_container pub; /* its strings are owned, but hostname and run_user: the cluster's */
    char *dir;
    struct spec_needs *needs; /* its resources beside memory and cores; NULL: none */
    char *devices;            /* that it holds: local_devices_take */
    struct shim_link *link;   /* while a shim runs */
    pid_t shim;               /* its pid, while the process runs */
    bool has_image;   /* the process is a container runtime: what it runs are children of its helper */
    bool is_reported; /* allocated() was called */
    bool has_job;     /* work is under way on the pool, or in a reader of sources */
    bool is_released;
    bool is_recovering; /* its state is not known yet */
    bool stop_wanted;   /* came while it was starting or recovering */
    int64_t stop_grace_ms;
    struct run_timer *kill_timer; /* from a stop: then the shim itself is killed; NULL: never stopped */
    int64_t kill_at_ms;           /* run_boot_ms; 0: the timer does not run */
    struct local_job *launch_job; /* the present launch, kept until its process runs; NULL: none */
    /* While it waits to do something again, see local_wait: */
    struct run_timer *timer;        /* NULL: it never waited */
    void (*again)(struct box *box); /* NULL: it does not wait */
    int64_t pause_ms;
    bool is_short;               /* it waits for a shortage */
    TAILQ_ENTRY(box) short_link; /* while it does */
    char *reason;                /* reported last, or NULL */
    enum {
        IMAGE_UNKNOWN,
        IMAGE_CLEARING,
        IMAGE_CLEARED
    } image; /* what its dead shim has left in the container runtime */
};

struct local {
    struct obj obj;
    struct cluster cluster;
    struct run_loop *loop;
    char *dir, *shim_path, *localizer_path, *label, *hostname, *run_user;
    char **source_dirs; /* NULL-terminated */
    int64_t source_max_bytes, source_timeout_ms, fetch_timeout_ms;
    struct unpack_limits unpack;
    struct fs_conf fs;
    int64_t cache_max_bytes, cache_fresh_s;
    int64_t memory_mb, vcores, used_memory_mb, used_vcores, grace_ms, keep_logs_ms;
    struct local_types types;
    struct local_devices devices;
    int64_t log_bytes, log_files; /* of one file; of each output */
    struct shim_user user;        /* whom containers run as, when they do not run as their owner's */
    struct local_users *users;    /* a uid for each owner, or NULL */
    struct map boxes;             /* id -> struct box */
    struct map by_ip;             /* address -> struct box */
    struct local_ask_list asks;
    struct map excluded; /* application id -> local: none of its containers may be placed here */
    struct local_reader_list readers;
    struct cluster_session_list sessions; /* whose parent lives */
    struct local_images images;
    size_t n_asks;
    bool serve_posted;
    bool is_closing;
    size_t n_posts;                   /* messages to ourselves under way */
    size_t n_jobs;                    /* on the pool, or waiting for it */
    struct local_job_list unprepared; /* wait for JOB_PREPARE */
    size_t n_preparing;               /* with JOB_PREPARE on the pool */
    size_t n_recovering;              /* boxes whose state is not known yet, plus one while the scan runs */
    /* The scan of containers/ after a start: */
    struct run_timer *recovery_timer; /* its next try, then the time by which all are reported */
    char **scan_ids;                  /* NULL: not read yet */
    size_t scan_at, n_scan;
    bool is_scanning, is_scanned, is_recovered;   /* recovery_done was called */
    struct box_list shorts;                       /* recovering boxes that wait for a shortage */
    bool is_degraded;                             /* degraded() was called with a reason */
    struct local_limits limits;                   /* its strings are not kept */
    struct shim_cgroup cgroups[SHIM_CGROUPS_MAX]; /* dir: above the containers' */
    size_t n_cgroups;
    char *enforced;                /* for a person */
    struct run_timer *sweep_timer; /* of the logs of ended containers */
    int64_t sweep_every_ms;
    bool is_sweeping;
    void (*all_stopped)(void *arg);
    void *all_stopped_arg;
    void (*closed)(void *arg);
    void *closed_arg;
};

/* ---- local.c ---- */

/** The address of containers that have none of their own. */
#define LOCAL_SHARED_IP "127.0.0.1"

/** The local cluster behind the interface. */
static inline struct local *local_of(struct cluster *c)
{
    return obj_cast(container_of(c, struct local, cluster), struct local, LOCAL_MAGIC);
}

/** Try the waiting requests in the next turn of the loop. */
void local_serve_soon(struct local *l);
/** A new box, listed in all maps. */
struct box *local_box_new(struct local *l, const struct cluster_ask *ask);
/** Forget a box that has no link and no job. */
void local_box_free(struct box *b);
/** A pool job or a box is gone: finish a stop_all or close that waits for it. */
void local_check_end(struct local *l);

/* ---- local_box.c: struct cluster_kind's functions of these names ---- */

int local_launch(struct cluster *c, const char *container_id, const struct cluster_launch *launch,
                 struct err_info *why);
void local_stop(struct cluster *c, const char *container_id, int64_t grace_ms);
void local_release(struct cluster *c, const char *container_id);
int local_signal(struct cluster *c, const char *container_id, int signal, struct err_info *why);
/** Release a box, whatever its state. */
void local_box_release(struct box *b);
/** Callbacks of every box's shim_link. */
extern const struct shim_link_ops local_link_ops;
/** Fill pub.exit from a shim's exit line. */
void local_box_exit(struct box *b, const struct shim_exit *e);
/** The box has ended: report it, or continue with its removal. */
void local_box_ended(struct box *b);

/* ---- local_cgroup.c ---- */

/** Find the hierarchies to use, as the limits say. @return 0; ERR_CONFIG: there are none and they are required. */
int local_cgroups_open(struct local *l, const struct local_limits *limits, struct err_info *why);
/** Forget them; containers keep theirs. */
void local_cgroups_close(struct local *l);
/** Write into a launch which cgroups the container gets. */
void local_cgroups_fill(const struct local *l, const char *container_id, struct shim_launch *launch);
/** Kill what a container whose shim is dead has in its cgroups, and remove them. @return false: something is left. */
bool local_cgroups_clear(const struct local *l, const char *container_id);

/* ---- local_sweep.c ---- */

/** Remove expired logs of ended containers periodically, on the pool. */
void local_sweep_start(struct local *l);
/** Sweep soon: a container is released, and the retention of its logs begins. */
void local_sweep_soon(struct local *l);
/** Directory of a container's logs, whether it is held or has ended. @return free(); NULL: it has none. */
char *local_log_dir(struct cluster *c, const char *container_id);
/** Last container of an instance that has logs. @return free(); NULL: there is none. */
char *local_last_container(struct cluster *c, const char *application_id, const char *instance);
bool local_is_of(struct cluster *c, const char *application_id, const char *owner, const char *service);

/* ---- local_wait.c ---- */

/**
 * Call again(b) after a pause, which doubles until local_wait_over.
 * @param again  replaces the one it waited to call before
 * @param err    why it has to wait; a shortage (shortage_is) counts for degraded()
 * @param why    reason, reported when it differs from the one before
 */
void local_wait(struct box *b, void (*again)(struct box *b), int err, const struct err_info *why);
/** End of the wait: the next pause is the first one again. */
void local_wait_over(struct box *b);
/** Something of ours is free again, a descriptor say: one of those that wait for a shortage tries in the next turn of the loop. */
void local_wait_next(struct local *l);
/** degraded(), when it has changed whether something is short. reason: NULL when nothing is. */
void local_report_degraded(struct local *l, const char *reason);

/* ---- local_recover.c ---- */

/** Begin the search for containers of the previous run: struct cluster_kind. */
void local_recover(struct cluster *c);
/** A recovering box's state is known now. */
void local_recovered(struct box *b);
/** Find out the state of a box that is RECOVERING; repeats later while there is no evidence. */
void local_look(struct box *b);

/* ---- local_files.c: what is done on the pool ---- */

/** In a container's directory: only svcmgr enters staging; below it in/ is for copies that a reader makes. */
#define LOCAL_SOURCES_DIR "staging/in"

/** An image that a job's process is started in. Owned texts. */
struct local_image {
    char *id, *hostname, *mounts; /* hostname, mounts: or NULL */
    bool is_privileged, has_entry_point;
    bool is_pulled; /* it was fetched for this launch */
    char *work_dir; /* the image's own; "": it has none; NULL: not known yet */
    char *container_id;
    const struct local_images *images; /* [borrowed] */
};

enum local_job_kind {
    JOB_STAGE, /* make the container's directory and staging/ in it, where the next launch's files come together */
    JOB_PREPARE, /* lay the files, hand them over as a clean work/, write the launch file, take the shim's lock; after JOB_STAGE */
    JOB_REMOVE   /* remove the container's directory, and logs that are too old */
};

struct local_job {
    struct obj obj;
    uv_work_t work;
    TAILQ_ENTRY(local_job) link; /* in unprepared */
    struct box *box;
    enum local_job_kind kind;
    /* what it needs; owned */
    char *dir, *log_dir, *instance;
    char *ip;          /* address to claim, or NULL */
    char *service;     /* "owner/service", or NULL */
    bool lacks_source; /* of a task: it is not there, or cannot be had for good */
    char *allocation, *devices;
    struct shim_launch launch; /* its user is filled in on the pool */
    struct cluster_file *files;
    size_t n_files;
    struct local_image *image;    /* to run the command in, or NULL */
    bool is_runtime_written;      /* launch has the call of the runtime */
    struct sources_ask ask;       /* the files of `files` that have a source, in their order */
    int cache_fd;                 /* of the user's cache from JOB_STAGE on, when ask wants it; else -1 */
    char *owner;                  /* whose service it is */
    struct shim_user user;        /* whom what is laid shall belong to, and who runs */
    struct local_users *users;    /* find the owner's; NULL: user is it [borrowed] */
    struct shim_files shim_files; /* open from JOB_PREPARE until the shim has them */
    /* how it went */
    int err;
    struct err_info why;
    void (*done)(struct local_job *job);
};

/** Run a job on the pool, then done(job) on the loop; done frees the job with local_job_free, or runs it again. Few run JOB_PREPARE at
 *  once, the others wait: each holds descriptors until its done. */
void local_job_run(struct local *l, struct local_job *job, enum local_job_kind kind,
                   void (*done)(struct local_job *job));
/** The job has work elsewhere than on the pool: its box stays until local_job_ended, which calls done(job). */
void local_job_begun(struct local *l, struct local_job *job, void (*done)(struct local_job *job));
/** The work of local_job_begun is over: call done(job). */
void local_job_ended(struct local *l, struct local_job *job);
/** Free a job and what it holds; it is not on the pool. */
void local_job_free(struct local_job *job);
/** Write a file of ours so that it is there whole or not at all. Thread: any. @return 0; ERR_IO, ERR_NOSPC, ERR_LIMIT */
int local_replace_file(const char *dir, const char *name, const char *bytes, size_t len, mode_t mode,
                       struct err_info *why);
/** A file's path stays below the working directory. */
bool local_path_is_inside(const char *path);

/* ---- local_image.c: calls of the container runtime ---- */

/** In a container's directory: its command runs in an image. */
#define LOCAL_IMAGE_FILE "image"

/** Find the runtime as the options say. @return 0; ERR_CONFIG: the one that they name is not there */
int local_images_open(struct local_images *m, const struct local_options *o, struct err_info *why);
/** Kill all calls; done is called for those of a job. */
void local_images_close(struct local *l);
/** Release what local_images_open has made. */
void local_images_fini(struct local_images *m);
/** The job's image with the launch's texts. */
struct local_image *local_image_new(const struct local *l, const struct box *b,
                                    const struct cluster_image *image);
/** Release; NULL is fine. */
void local_image_free(struct local_image *image);
/**
 * See to it that the job's image is on this host, by fetching it when it is not, then done(job) on the loop: job->err is 0, or
 * ERR_TIMEOUT, ERR_IO, ERR_LIMIT or ERR_CANCELLED with *why for the user. Few look at a time, the others wait.
 */
void local_image_find(struct local *l, struct local_job *job, void (*done)(struct local_job *job));
/** Cancel looking for the image of a box, if that is under way: done is called with ERR_CANCELLED, later. */
void local_image_stop(struct local *l, const struct box *b);
/** Whether the last launch of a box was of an image. */
bool local_has_image(const struct box *b);
/** Remove what the dead shim of a box may have left in the runtime. @return it is removed; else it is going to be, look again */
bool local_image_clear(struct box *b);
/** A box goes: no call speaks of it any more. */
void local_image_forget(const struct box *b);
/** Note that images are run here. @return 0; ERR_IO, ERR_NOSPC, ERR_LIMIT. Thread: any. */
int local_images_note_used(const struct local_images *m, struct err_info *why);
/** After the search for containers of the previous run: remove containers of this directory in the runtime that nobody holds. */
void local_images_sweep(struct local *l);

/* ---- local_run.c ---- */

/**
 * Write the call of the runtime into the launch of a job, and the file of the environment that it reads.
 * @return 0; ERR_INVALID: a mount or variable cannot be; ERR_IO, ERR_NOSPC. Thread: any; it looks at files.
 */
int local_run_write(struct local_job *job);

/* ---- local_usage.c ---- */

/** As cluster_usage. */
void local_usage(struct cluster *c, const char *const *ids, size_t n,
                 void (*done)(void *arg, const struct cluster_usage *usage), void *arg);

/* ---- local_exec.c ---- */

/** As cluster_exec. */
int local_exec(struct cluster *c, const char *container_id, const struct cluster_exec *what,
               void (*done)(void *arg, int code), void *arg, struct cluster_session **out,
               struct err_info *why);
/** As cluster_exec_end. */
void local_exec_end(struct cluster_session *s);
/** End the sessions of a container; NULL: of all. done is called for each. */
void local_exec_stop(struct local *l, const struct box *b);

/* ---- local_cache.c ---- */

/** Directory below the cluster's; only svcmgr enters it. */
#define LOCAL_CACHE_DIR "cache"

/**
 * Open a user's cache, making it.
 * @param dir  the cluster's                                                         [borrowed]
 * @return descriptor; -1: *why says so, ERR_IO or a shortage.   Thread: pool.
 */
int local_cache_open(const char *dir, const struct shim_user *user, struct err_info *why);
/**
 * Remove the least recently used contents until those of all users together have at most max_bytes, and what no content
 * belongs to any more. What a localizer has open stays.
 * @param dir  the cluster's                                                         [borrowed]
 * Thread: pool, one at a time.
 */
void local_cache_expire(const char *dir, int64_t max_bytes);

/* ---- local_sources.c ---- */

/**
 * Append a source to what a localizer is asked for.
 * @param ask  with the owner, whom HDFS is asked as                                 [in,out]
 * @param uri  of a caller: see fs/place.h                                           [borrowed]
 * @return 0; or as fs_place_read: nothing was appended.
 */
int local_sources_add(const struct local *l, struct sources_ask *ask, enum source_form form, const char *uri,
                      int64_t max_bytes, struct err_info *why);

/**
 * Have the sources of a staged job read into staging/in by a localizer, a process with the rights of the job's user, then done(job) on the
 * loop: job->err is 0, or ERR_INVALID, ERR_NOSPC, ERR_TIMEOUT, ERR_LIMIT or ERR_IO with *why for the user.
 */
void local_sources_read(struct local *l, struct local_job *job, void (*done)(struct local_job *job));
/** Cancel reading for a box, if it is under way: done is called with ERR_CANCELLED, later. */
void local_sources_stop(struct local *l, const struct box *b);
/** As cluster_look. */
void local_sources_look(struct cluster *c, const char *owner, const char *const *paths, size_t n,
                        void (*done)(void *arg, const bool *absent, const struct err_info *problem),
                        void *arg);
/** Kill all readers; done is called for those of a job. */
void local_sources_close(struct local *l);

#endif
