/**
 * Follows a tree in ZooKeeper on a session of its own: a full read, then every change, in an order in which a mirror that
 * applies them is always a state that the tree had.
 *
 *     DOWN ──connected──► READING ──all read──► LIVE
 *                          │    ▲                 │         any ──connection lost──► DOWN
 *              root absent ▼    │ root made       ▼ root deleted
 *                            MISSING ◄────────────┘
 *
 * One persistent recursive watch (ZooKeeper 3.6) is set before anything is read, and all reads go through the same
 * session, so the stream of notices and replies is one order: a reply is the state at its place in it. Hence:
 * - a notice "created" or "deleted" voids every read of that path which is under way: its reply would be a past state, or
 *   come before the node's parent;
 * - while READING, notices of what will be read later anyway are ignored: a node counts as soon as its parent's
 *   children have been listed;
 * - a notice "deleted" is passed on with the next reply, whatever that answers: its header has a number that is not below
 *   the delete's own, which the notice lacks; so no reader sees more than the number covers that it gets;
 * - a stat alone is not passed on while the node's data are awaited, so that data never lag behind their stat;
 * - what this process itself has written is not read back: own.h;
 * - `exists` of the root follows each batch of notices, and every second (zkf_mark_every): when its reply finds nothing outstanding, the
 *   zxid in its header is the applied one; otherwise that of the last reply before it was asked.
 *
 * Thread: owner for everything.   Source: ours.
 */
#ifndef STORE_ZK_FOLLOW_H
#define STORE_ZK_FOLLOW_H

#include "store/zk/own.h"
#include "store/zk/session.h"

struct zkf;

/**
 * Begin to follow.
 *
 * @param config  of the session                                                  [borrowed during the call]
 * @param root    "" for ZooKeeper's own root, else "/a/b"                        [copied]
 * @param ops     called from a later turn of the loop on. lost: also when no server can be reached at first, and when the
 *                server is too old                                               [borrowed, live until closed]
 * @return 0; or ERR_INVALID with *why filled (server list).
 * Thread: owner.   Source: ours.
 */
int zkf_open(struct run_loop *loop, const struct zks_config *config, const char *root,
             const struct store_follow_ops *ops, void *arg, struct zkf **out, struct err_info *why);
/** How often `exists` of the root is asked for when nothing changes. @param interval_ms  > 0 */
void zkf_mark_every(struct zkf *f, int64_t interval_ms);
/**
 * This process writes one node now, in another session.
 *
 * @param path  within the store                                                  [borrowed]
 * @return to be ended with zko_done or zko_failed, also after zkf_close; NULL: the follower reads it back.
 */
struct zko *zkf_write_begins(struct zkf *f, const char *path, bool is_create);
/** Stop and free; then, on a later turn, closed(arg). ops are not called any more. */
void zkf_close(struct zkf *f, void (*closed)(void *arg), void *arg);

#endif
