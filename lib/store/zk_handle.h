/**
 * One handle of the ZooKeeper C client after another: opened and closed on libuv's worker threads (both can block: name
 * look-up, a last message), replaced when its session has expired. Its own threads only post messages to the owner loop.
 *
 *     zkh_open ──► opening ──► handle ──connected──► up ◄──► down (the client reconnects by itself)
 *                    ▲                                │
 *                    └── closing ◄── session expired ─┘
 *
 * Thread: owner for everything, where nothing else is said.   Source: ours.
 */
#ifndef STORE_ZK_HANDLE_H
#define STORE_ZK_HANDLE_H

#include <stdbool.h>
#include <zookeeper/zookeeper.h>

#include "bobbin/error.h"
#include "run/loop.h"

struct zkh;

struct zkh_ops {
    /** Connected: zkh_get gives the handle. */
    void (*up)(void *arg);
    /** The connection is lost. Completions of what was under way still come. */
    void (*down)(void *arg, const struct err_info *why);
    /** The handle is gone with its threads; completions that have not come will never come. It follows `down`, if up. */
    void (*gone)(void *arg);
};

/**
 * Begin to open a handle.
 *
 * @param servers     "host:port,host:port"                                      [copied]
 * @param timeout_ms  session timeout asked for
 * @param digest      "id:password" to authenticate with, or NULL              [copied]
 * @param ops         told from a later turn of the loop on                      [borrowed, live until closed]
 */
struct zkh *zkh_open(struct run_loop *loop, const char *servers, int timeout_ms, const char *digest,
                     const struct zkh_ops *ops, void *arg);
/** Close the handle on another thread; then `gone` if there was one, and closed(arg). Never blocks. */
void zkh_close(struct zkh *h, void (*closed)(void *arg), void *arg);
/** The handle while it is connected, else NULL. */
zhandle_t *zkh_get(const struct zkh *h);

#endif
