/**
 * The snapshot on disk: the packed record of every path, so that the next start answers at once although the registry is
 * away. It is written whole, beside and in place, from time to time and at the end; reading checks its sum.
 *
 *     "bobbin dnsd snapshot 2\n"  wall time ms (8)  number of records (8)  records  sum (8)
 *     record: length of path (4)  length of block (4)  path  block                        numbers in network order
 *
 * A path may stand in it twice (it changed while it was written): the later one counts.
 *
 * Thread: owner; writing happens on a thread of the pool.   Source: ours.
 */
#ifndef FEED_SNAPSHOT_H
#define FEED_SNAPSHOT_H

#include <stdint.h>

#include "bobbin/error.h"
#include "feed/follow.h"

/**
 * Read a snapshot into a new follower.
 *
 * @param f      nothing was restored to it yet                                  [in,out]
 * @return 0: restored and published; ERR_NOTFOUND: there is none, or it is empty: all
 *         it could answer is NXDOMAIN; ERR_IO, ERR_PARSE (not a snapshot, or damaged): f is as it
 *         was, *why says which file.   Thread: owner, while starting: waits for the disk.   Source: ours.
 */
int snapshot_restore(const char *path, struct follow *f, struct err_info *why);

struct snapshots;
/** Writes `path` every interval_ms while there is something new. @param path copied. Free with snapshots_stop. Thread: owner. */
struct snapshots *snapshots_new(struct run_loop *loop, struct follow *f, const char *path,
                                int64_t interval_ms);
/** Something has changed. Thread: owner. */
void snapshots_changed(struct snapshots *s);
/** Write what is new, release, then call stopped from the loop. Before follow_stop. Thread: owner. */
void snapshots_stop(struct snapshots *s, void (*stopped)(void *arg), void *arg);

#endif
