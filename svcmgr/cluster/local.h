/**
 * The cluster of one host: each container is a child of its own container-shim.
 *
 *   <dir>/containers/<id>/           see shim/wire.h, and `allocation`: the container as text; work/ is its user's
 *   <dir>/containers/<id>/staging/   ours alone: what the next launch will have as work/
 *   <dir>/cache/<uid>/               what was fetched for that user: localizer/localizer.h; only svcmgr enters cache/
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
#include "fs/place.h"
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
    const char *dir;                /* absolute */
    const char *shim_path;          /* container-shim */
    const char *localizer_path;     /* container-localizer; NULL: beside container-shim */
    int64_t memory_mb;              /* 0: the machine's */
    int64_t vcores;                 /* 0: four for each processor of the machine */
    const char *label;              /* of this host; NULL or "": none */
    const struct spec_needs *types; /* amounts of other resource types that it has; NULL: none */
    const char *devices;            /* of those types, see local_devices_init; NULL: none */
    const char *hostname;           /* NULL: the machine's */
    const char *run_user;           /* whom containers run as when we are root */
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
    const char *runtime;       /* path of podman or docker; NULL: looked for in PATH, and there may be none */
    const char *runtime_args;  /* of each call, separated by blanks */
    const char *ro_mounts, *rw_mounts; /* absolute directories, separated by commas, that images may mount */
    int64_t pull_timeout_ms;
    int64_t fetch_timeout_ms;                       /* for reading them, when there is a URL or an archive */
    int64_t archive_max_bytes, archive_max_entries; /* what may come out of the archives of one launch */
    int64_t archive_max_ratio;                      /* bytes that may come out for each byte of an archive */
    /* of what was fetched; the least recently used leaves, but nothing that is in use */
    int64_t cache_max_bytes;
    int64_t cache_fresh_s; /* what was fetched, or asked for, later than this is not asked for again */
    struct fs_conf fs;     /* where HDFS is; its options live on */
};

/**
 * Open the cluster of this host. Strings are copied.
 *
 * @param ops  callbacks, all required                                              [borrowed, lives on]
 * @return 0; ERR_CONFIG: no such user, no shim or localizer there, no cgroups where they are required; ERR_IO: a directory cannot be made.
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

/** The program that runs images, podman or docker. @return absolute path, borrowed; NULL: there is none */
const char *cluster_local_runtime(struct cluster *c);
/** What is enforced on containers: "cgroup v1: memory, pids", or "none". Borrowed. */
const char *cluster_local_enforced(struct cluster *c);

#endif
