/**
 * svcmgr's end of the line to a container-shim: starting one, or finding one that runs, and hearing how it ends.
 *
 * Thread: owner.   Source: shim/wire.h.
 */
#ifndef CLUSTER_SHIM_LINK_H
#define CLUSTER_SHIM_LINK_H

#include "bobbin/error.h"
#include "run/loop.h"
#include "shim/wire.h"

struct shim_link;

struct shim_link_ops {
    /** The process runs. At most once. */
    void (*running)(void *arg, const struct shim_status *s);
    /** Nothing of the container is left; the last call. SHIM_LOST: the shim is gone without an exit file. */
    void (*exited)(void *arg, const struct shim_exit *e);
};

/**
 * Start a shim in a container's directory, where its launch file is.
 *
 * @param dir  container directory, absolute                                        [borrowed]
 * @return 0; ERR_IO: it cannot be started.
 */
int shim_link_spawn(struct run_loop *loop, const char *shim_path, const char *dir,
                    const struct shim_link_ops *ops, void *arg, struct shim_link **out, struct err_info *why);
/** Connect to the shim that runs in a directory. @return 0; ERR_UNAVAILABLE: none does. */
int shim_link_adopt(struct run_loop *loop, const char *dir, const struct shim_link_ops *ops, void *arg,
                    struct shim_link **out);
/** Ask for the end: SIGTERM, SIGKILL after grace_ms. */
void shim_link_stop(struct shim_link *link, int64_t grace_ms);
/** Let go and free; what runs goes on. No callback comes afterwards. NULL is fine. */
void shim_link_close(struct shim_link *link);

/**
 * How the container of a directory ended, when no shim runs in it: from its exit file, else SHIM_LOST, after killing
 * what a dead shim may have left.
 */
void shim_link_autopsy(const char *dir, struct shim_exit *out);

#endif
