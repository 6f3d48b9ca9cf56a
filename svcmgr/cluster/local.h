/**
 * The cluster of one host: each container is a child of its own container-shim.
 *
 *   <dir>/containers/<id>/           see shim/wire.h, and `allocation`: the container as JSON
 *   <dir>/logs/<application>/<id>/   stdout.txt, stderr.txt; kept after the container, see keep_logs_ms
 *
 * A loopback address belongs to one container at a time: a request for an address that is in use waits until that
 * container has gone. Requests are served in order; one that does not fit waits, and later ones that fit overtake it.
 *
 * Thread: owner; files are made and removed on libuv's pool.   Source: ours.
 */
#ifndef CLUSTER_LOCAL_H
#define CLUSTER_LOCAL_H

#include "cluster/cluster.h"

struct local_options {
    const char *dir;        /* absolute */
    const char *shim_path;  /* container-shim */
    int64_t memory_mb;      /* 0: the machine's */
    int64_t vcores;         /* 0: four for each processor of the machine */
    const char *label;      /* of this host; NULL or "": none */
    const char *hostname;   /* NULL: the machine's */
    const char *run_user;   /* whom containers run as when we are root */
    const char *cgroup_dir; /* delegated cgroup v2 directory, or NULL */
    int64_t grace_ms;       /* between SIGTERM and SIGKILL when a container is released */
    int64_t keep_logs_ms;   /* log directories of released containers are removed after this time */
};

/**
 * Open the cluster of this host. Strings are copied.
 *
 * @param ops  callbacks, all required                                              [borrowed, lives on]
 * @return 0; ERR_CONFIG: no such user, no shim there; ERR_IO: a directory cannot be made.
 */
int cluster_local_open(struct run_loop *loop, const struct local_options *options,
                       const struct cluster_ops *ops, void *ops_arg, struct cluster **out,
                       struct err_info *why);

#endif
