/**
 * What the next start answers from although the registry is away, in two files that are written whole, beside and in place, from time to
 * time and at the end:
 *
 *     PATH         the packed record of every path
 *     PATH.zones   an image of the zones made of them (follow/image_file.h), which is answered from until the records are read
 *
 *     "bobbin dnsd snapshot 3\n"  wall time ms (8)  number of records (8)  time since boot ms (8)  boot id (96)  records  sum (8)
 *     record: length of path (4)  length of block (4)  path  block                        numbers in network order
 *
 * Both times and the boot are of the moment when it was true (follow/timestamp.h). Version 2 has neither time since boot nor boot id; it is
 * still read. A path may stand in it twice (it changed while it was written): the later one counts. Reading checks sums. Writing takes at most a
 * twentieth of the time, however short the interval is.
 *
 * Thread: owner; reading and writing happen on a thread of the pool.   Source: ours.
 */
#ifndef FOLLOW_SNAPSHOT_H
#define FOLLOW_SNAPSHOT_H

#include <stdint.h>

#include "bobbin/error.h"
#include "follow/follow.h"

struct snapshot_restore;
struct snapshot_restore_def {
    struct run_loop *loop;
    struct follow *follow; /* nothing was restored to it yet */
    const char *path;      /* copied */
    /** 0: restored, and published, or about to be; ERR_NOTFOUND: there is none, or it is empty: all it could answer is NXDOMAIN; ERR_IO,
     *  ERR_PARSE (not a snapshot, or damaged): the follower is as it was, *why says which file. */
    void (*done)(void *arg, int err, const struct err_info *why);
    void *arg;
};
/** Read a snapshot into a new follower: from the disk by the pool, then in slices of the loop; done is the end of it. @param def copied.
 *  Thread: owner. Source: ours. */
struct snapshot_restore *snapshot_restore_start(const struct snapshot_restore_def *def);
/** Forget it: done is not called. Before follow_stop. NULL is fine. Thread: owner. Source: ours. */
void snapshot_restore_cancel(struct snapshot_restore *r);
/** Path of the image that stands beside a snapshot; free(). Thread: any. */
char *snapshot_image_path(const char *path);

struct snapshots;
struct snapshots_def {
    struct run_loop *loop;
    struct follow *follow;
    struct zoneset *zones;
    const char *path; /* copied */
    int64_t interval_ms;
    uint64_t (*likeness)(void *arg); /* of an image: see zone/image.h */
    void *arg;
};
/** Writes every interval_ms while there is something new. @param def copied. Free with snapshots_stop. Thread: owner. Source: ours. */
struct snapshots *snapshots_new(const struct snapshots_def *def);
/** Something has changed. NULL is fine. Thread: owner. */
void snapshots_changed(struct snapshots *s);
/** Oldest version that is being written; UINT64_MAX: none. NULL is fine. Thread: owner. */
uint64_t snapshots_oldest_version(const struct snapshots *s);
/** Write what is new, release, then call stopped from the loop. Before follow_stop. Thread: owner. */
void snapshots_stop(struct snapshots *s, void (*stopped)(void *arg), void *arg);

#endif
