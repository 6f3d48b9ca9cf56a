/**
 * Connection to a container-shim: starts one, or adopts one that runs, and reports how it ends.
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
    /** The connection has ended; the last call. NULL: no exit was reported over it, which proves nothing: shim_autopsy. */
    void (*ended)(void *arg, const struct shim_exit *e);
};

/** Descriptors that a shim inherits: its standard error and its lock; -1: not open. */
struct shim_files {
    int log, lock;
    int address; /* claim of its address; -1: it has none of its own */
};
#define SHIM_FILES_NONE ((struct shim_files){-1, -1, -1})

/**
 * Open them for a container. The lock and the claim are held from here on.
 *
 * @param dir    container directory, absolute                                       [borrowed]
 * @param ip     address to claim; NULL: none                                        [borrowed]
 * @param files  what shim_files_close closes; all -1 on error                       [out]
 * @return 0; ERR_NOSPC, ERR_LIMIT: a resource is short, or an earlier shim has not quite ended: try again; ERR_EXISTS: the
 *         address is another container's of this host; ERR_IO.
 * Thread: any; it may wait for the disk.   Source: ours.
 */
int shim_files_open(const char *dir, const char *ip, struct shim_files *files, struct err_info *why);
/** Close what is open; all are -1 afterwards. Thread: any. */
void shim_files_close(struct shim_files *files);

/** What a shim is started with. */
struct shim_start {
    const char *shim_path;    /* the program */
    const char *dir;          /* container directory, absolute, with its launch file */
    struct shim_files *files; /* of shim_files_open; closed here whatever happens, the shim has its own */
};

/**
 * Start a shim.
 *
 * @param start  all borrowed
 * @return 0; ERR_NOSPC, ERR_LIMIT: a resource is short, try again; ERR_IO: it cannot be started.
 */
int shim_link_spawn(struct run_loop *loop, const struct shim_start *start, const struct shim_link_ops *ops,
                    void *arg, struct shim_link **out, struct err_info *why);
/** Give a spawned shim the limit of descriptors that svcmgr was started with; what the shim runs has it in its launch file.
 *  @param why  filled on failure [out] @return 0, also when the shim has ended; ERR_IO: it keeps svcmgr's limit. */
int shim_link_give_first_fdlimit(const struct shim_link *link, struct err_info *why);
/**
 * Connect to the shim that runs in a directory.
 *
 * @return 0; ERR_NOTFOUND: nobody listens there, which proves nothing: shim_autopsy; ERR_LIMIT: a descriptor, memory or a place
 *         in its queue is missing, try again; ERR_IO: it cannot be said.
 */
int shim_link_adopt(struct run_loop *loop, const char *dir, const struct shim_link_ops *ops, void *arg,
                    struct shim_link **out, struct err_info *why);
/** Ask for the end: SIGTERM, SIGKILL after grace_ms. */
void shim_link_stop(struct shim_link *link, int64_t grace_ms);
/** Have a signal sent to the container's processes. */
void shim_link_signal(struct shim_link *link, int signal);
/**
 * Kill a shim that does not answer: our own child, or, adopted, who listens on the socket when the running file of the
 * directory names it. Nothing else is signalled. ops->ended comes when it is dead.
 *
 * @param dir  container directory, absolute                                        [borrowed]
 * @param why  why not                                                              [out]
 * @return 0; or as shim_kill.
 */
int shim_link_kill(const struct shim_link *link, const char *dir, struct err_info *why);
/** Close and free; the shim keeps running. No callback comes afterwards. NULL is fine. */
void shim_link_close(struct shim_link *link);

#endif
