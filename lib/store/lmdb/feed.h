/**
 * The events of an LMDB store for its follower: one full read in slices, then the changes of every commit in order.
 *
 *     store_follow ─► writer thread begins a read transaction at revision n, between two commits
 *                  ─► thread pool reads a slice ─► loop delivers it ─► next slice …     (begin, node…, end n)
 *     commits after n wait in `held` until then                                          (node, gone…, applied)
 *
 * Thread: owner; the thread pool only reads the snapshot.   Source: ours.
 */
#ifndef STORE_LMDB_FEED_H
#define STORE_LMDB_FEED_H

#include "store/lmdb/writer.h"

struct lmdb_feed;

/** A feed; nothing happens before the first snapshot. `again(arg)` asks for a snapshot (LMDB_WRITE_FOLLOW). */
struct lmdb_feed *lmdb_feed_new(const struct lmdb_tree *tree, struct run_loop *loop, void (*again)(void *arg),
                                void *arg);
/** Set the follower, once. */
void lmdb_feed_follow(struct lmdb_feed *f, const struct store_follow_ops *ops, void *arg);
/** Take a snapshot batch: its read transaction and result. */
void lmdb_feed_snapshot(struct lmdb_feed *f, struct lmdb_batch *batch);
/** Take the changes of a batch of writes. */
void lmdb_feed_commit(struct lmdb_feed *f, struct lmdb_batch *batch);
/** Deliver nothing any more; stopped(arg) runs, now or later, when no thread reads for it. */
void lmdb_feed_stop(struct lmdb_feed *f, void (*stopped)(void *arg));
/** Free; after stopped. */
void lmdb_feed_free(struct lmdb_feed *f);

#endif
