/**
 * The cluster of one host: each container is a child of its own container-shim.
 *
 *   <dir>/containers/<id>/           see shim/wire.h, and `allocation`: the container as text; work/ is its user's
 *   <dir>/containers/<id>/staging/   ours alone: what the next launch will have as work/
 *   <dir>/users                      the owners' uids, see local_users.h; only with user_range
 *   <dir>/logs/<application>/<id>/   its user's: stdout.txt[.N], stderr.txt[.N]; kept after the container, see keep_logs_ms
 *
 * A loopback address belongs to one container at a time: a request for an address that is in use waits until that
 * container has gone. Requests are served in order; one that does not fit waits, and later ones that fit overtake it.
 *
 * Thread: owner; files are made and removed on libuv's pool.   Source: ours.
 */
#ifndef CLUSTER_LOCAL_H
#define CLUSTER_LOCAL_H

#include "cluster/cluster.h"
#include "run/options.h"

/** What keeps a container to its size; strings are copied. */
struct local_limits {
    enum { LIMITS_OFF, LIMITS_AUTO, LIMITS_REQUIRED } cgroups;
    const char *delegated_dir; /* v2 directory to use, or NULL: look for v1 controllers, then for v2 */
    const char *mount_path;    /* where the hierarchies are, or NULL: look in mountinfo */
    const char *hierarchy;     /* below each: "/hadoop-yarn" */
    bool memory_is_enforced, cpu_is_strict;
    int64_t pids_max; /* processes and threads of a container; 0: no limit */
};

struct local_options {
    const char *dir;        /* absolute */
    const char *shim_path;  /* container-shim */
    int64_t memory_mb;      /* 0: the machine's */
    int64_t vcores;         /* 0: four for each processor of the machine */
    const char *label;      /* of this host; NULL or "": none */
    const char *hostname;   /* NULL: the machine's */
    const char *run_user;   /* whom containers run as when we are root */
    const char *user_range; /* uids of which each owner gets one, checked; NULL or "": all run as run_user */
    struct local_limits limits;
    int64_t grace_ms; /* between SIGTERM and SIGKILL when a container is released */
    /* log directories of released containers are removed after this time, see local_logs.h */
    int64_t keep_logs_ms;
    const char *source_dirs;   /* absolute directories, separated by commas, beneath which sources must lie */
    int64_t source_max_bytes;  /* of all sources of one launch together */
    int64_t source_timeout_ms; /* for reading them */
    int64_t log_dir_bytes;     /* most that the output of one container takes; 0: no limit */
    int64_t log_files;         /* files that each output is kept in, from 1 */
};

/**
 * Open the cluster of this host. Strings are copied.
 *
 * @param ops  callbacks, all required                                              [borrowed, lives on]
 * @return 0; ERR_CONFIG: no such user, no shim there, no cgroups where they are required; ERR_IO: a directory cannot be made.
 */
int cluster_local_open(struct run_loop *loop, const struct local_options *options,
                       const struct cluster_ops *ops, void *ops_arg, struct cluster **out,
                       struct err_info *why);

/**
 * Check what cluster_local_open would refuse, but for directories and cgroups, which only making them can show.
 *
 * @param o        of the program                                                   [borrowed]
 * @param options  dir, shim_path, run_user, user_range and source_dirs are looked at [borrowed]
 * @param report   errors are appended                                              [in,out]
 */
void cluster_local_check(const struct options *o, const struct local_options *options,
                         struct opt_report *report);

/** What is enforced on containers: "cgroup v1: memory, pids", or "none". Borrowed. */
const char *cluster_local_enforced(struct cluster *c);

#endif
