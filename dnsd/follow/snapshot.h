/**
 * The state on disk from which the next start answers although the registry is away: two files, each replaced as a whole (run/file.h),
 * from time to time and at the end:
 *
 *     PATH         the packed record of every path
 *     PATH.zones   an image of the zones made of them (follow/image_file.h), which is answered from until the records are read
 *
 *     "bobbin dnsd snapshot 3\n"  wall time ms (8)  number of records (8)  time since boot ms (8)  boot id (96)  records  sum (8)
 *     record: length of path (4)  length of block (4)  path  block                        numbers in network order
 *
 * The times and the boot id date the content (follow/timestamp.h). Version 2 has neither time since boot nor boot id; it is still read. A
 * path that changed during the write is there twice: the later one counts. Reading checks the sum, which is an FNV-1a over words of
 * eight octets. Writing takes at most a twentieth of the time, however short the interval is.
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
    /** 0: restored, and published or about to be; ERR_NOTFOUND: there is none, or it is empty and could only answer NXDOMAIN; ERR_IO,
     *  ERR_PARSE (not a snapshot, or damaged): the follower is unchanged, *why names the file. */
    void (*done)(void *arg, int err, const struct err_info *why);
    void *arg;
};
/** Read a snapshot into a new follower: from the disk on a thread of the pool, then as a task of the loop; done is called last. @param def
 *  copied. @return the restore, until done is called. Thread: owner. Source: ours. */
struct snapshot_restore *snapshot_restore_start(const struct snapshot_restore_def *def);
/** Forget it: done is not called. Before follow_stop. NULL is fine. Thread: owner. Source: ours. */
void snapshot_restore_cancel(struct snapshot_restore *r);
/** Path of the image beside a snapshot; free(). Thread: any. Source: ours. */
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
/** Write the state of the follower every interval_ms when it has changed. @param def copied. Free with snapshots_stop. Thread: owner.
 *  Source: ours. */
struct snapshots *snapshots_new(const struct snapshots_def *def);
/** The state has changed. NULL is fine. Thread: owner. Source: ours. */
void snapshots_changed(struct snapshots *s);
/** Number of the version that is being written; UINT64_MAX: none. NULL is fine. Thread: owner. Source: ours. */
uint64_t snapshots_oldest_version(const struct snapshots *s);
/** Write what has changed, release, then call stopped from the loop. Before follow_stop. Thread: owner. Source: ours. */
void snapshots_stop(struct snapshots *s, void (*stopped)(void *arg), void *arg);

#endif
