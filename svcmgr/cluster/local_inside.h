/**
 * The inside of the local cluster, shared by local*.c. A box is one container of this host:
 *
 *   (asked) -> ALLOCATED -> STARTING: files are laid, the shim starts -> RUNNING -> EXITED -> STARTING …
 *                                  released: stop, wait for the exit, remove the directory, forget
 *
 * Thread: owner, but for what local_files.c does on the pool.   Source: ours.
 */
#ifndef CLUSTER_LOCAL_INSIDE_H
#define CLUSTER_LOCAL_INSIDE_H

#include <dirent.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "base/map.h"
#include "base/obj.h"
#include "cluster/local.h"
#include "cluster/shim_link.h"
#include "run/log.h"

#define LOCAL_MAGIC OBJ_MAGIC('L', 'O', 'C', 'L')
#define BOX_MAGIC   OBJ_MAGIC('C', 'B', 'O', 'X')
#define JOB_MAGIC   OBJ_MAGIC('F', 'J', 'O', 'B')

#define LOCAL_EVENTS(X)                                                                                      \
    X(cluster_opened, LOG_INFO, "The local cluster is open.")                                                \
    X(cluster_dir_hidden, LOG_WARN,                                                                          \
      "Containers cannot open their files by absolute name: their user may not pass this directory.")        \
    X(cluster_no_cgroup, LOG_INFO, "No cgroup directory is delegated: containers have no resource limits.")  \
    X(container_recovered, LOG_INFO, "A container of an earlier life was found.")                            \
    X(container_scrap, LOG_WARN, "A half-made container directory is removed.")                              \
    X(container_not_removed, LOG_WARN, "A container's directory could not be removed whole.")
LOG_DECLARE(LOCAL_EVENTS)

/** A request that waits. */
struct local_ask {
    TAILQ_ENTRY(local_ask) link;
    struct cluster_ask ask; /* strings owned */
    char *reason;           /* told last, or NULL */
};
TAILQ_HEAD(local_ask_list, local_ask);

struct box {
    struct obj obj;
    struct local *local;
    struct cluster_container pub; /* its strings are owned, but hostname and run_user: the cluster's */
    char *dir;
    struct shim_link *link; /* while a shim runs */
    bool is_told;           /* allocated() was called */
    bool has_files;         /* the first launch has laid them */
    bool has_job;           /* something is done on the pool */
    bool is_released;
    bool is_recovering; /* its state is not known yet */
    bool stop_wanted;   /* came while it was starting */
    int64_t stop_grace_ms;
};

struct local {
    struct obj obj;
    struct cluster cluster;
    struct run_loop *loop;
    char *dir, *shim_path, *label, *hostname, *run_user, *cgroup_dir;
    int64_t memory_mb, vcores, used_memory_mb, used_vcores, grace_ms, keep_logs_ms;
    bool switch_user;
    uid_t uid;
    gid_t gid, groups[SHIM_GROUPS_MAX];
    size_t n_groups;
    struct map boxes; /* id -> struct box */
    struct map by_ip; /* address -> struct box */
    struct local_ask_list asks;
    size_t n_asks;
    bool serve_posted;
    bool is_closing;
    size_t n_posts;      /* messages to ourselves under way */
    size_t n_jobs;       /* on the pool */
    size_t n_recovering; /* boxes whose state is not known yet, plus one while the scan runs */
    void (*all_stopped)(void *arg);
    void *all_stopped_arg;
    void (*closed)(void *arg);
    void *closed_arg;
};

/* ---- local.c ---- */

/** The local cluster behind the interface. */
static inline struct local *local_of(struct cluster *c)
{
    return obj_cast(container_of(c, struct local, cluster), struct local, LOCAL_MAGIC);
}
/** Try the waiting requests, soon. */
void local_serve_soon(struct local *l);
/** A new box that is in all books. @param ip may be NULL. */
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
/** Give a box back, whatever it does now. */
void local_box_release(struct box *b);
/** Callbacks of every box's shim_link. */
extern const struct shim_link_ops local_link_ops;
/** Fill pub.exit from what the shim says. */
void local_box_exit(struct box *b, const struct shim_exit *e);

/* ---- local_recover.c ---- */

void local_recover(struct cluster *c);
/** A recovering box's state is known now. */
void local_recovered(struct box *b);

/* ---- local_files.c: what is done on the pool ---- */

struct local_job {
    struct obj obj;
    uv_work_t work;
    struct box *box;
    bool is_removal;
    /* what it needs; owned */
    char *dir, *work_dir, *log_dir, *logs_root, *containers_root;
    char *allocation;
    char *launch;
    size_t launch_len;
    bool lay_files;
    struct cluster_file *files;
    size_t n_files;
    bool switch_user;
    uid_t uid;
    gid_t gid;
    int64_t keep_logs_ms;
    /* how it went */
    int err;
    struct err_info why;
    void (*done)(struct local_job *job);
};

/** Run a job on the pool, then done(job) on the loop; done frees the job with local_job_free. */
void local_job_run(struct local *l, struct local_job *job);
void local_job_free(struct local_job *job);
/** A file's path stays below the working directory. */
bool local_path_is_inside(const char *path);
/** Remove a directory with everything in it, never following links. @return 0; or ERR_IO with the first obstacle. */
int local_remove_tree(const char *path, struct err_info *why);
/**
 * opendir by way of open, whose new descriptor a thread sanitizer knows of (local_files.c says why).
 * @return the open directory, closedir releases; NULL: errno says why.   Thread: any.   Source: ours.
 */
DIR *local_open_dir(const char *path);
/** Make a directory and its parents. @return 0 or ERR_IO. */
int local_make_dirs(const char *path, struct err_info *why);

#endif
