/**
 * Own writes of single nodes under way, so that a follower need not read back what this process has just written.
 *
 *     begin ──► UNDER WAY ──notice──► NOTICED ──answer──► emitted
 *                   └──answer──► ANSWERED ──notice──► emitted
 *     anything else that happens to the path, or a second write to it: dropped, and read as if others had written
 *
 * The answer of a create or set has the node's stat, the request its data; the notice on the following session gives its place
 * in the order of all changes. A first notice of the kind since the write began is that of the write itself or of an
 * earlier one; whatever comes after it is read. So what is emitted is at worst a little ahead, and never stays wrong.
 * Thread: owner for everything.   Source: ours.
 */
#ifndef STORE_ZK_OWN_H
#define STORE_ZK_OWN_H

#include <sys/queue.h>

#include "base/map.h"
#include "base/obj.h"
#include "store/store.h"

struct zko;

struct zko_ops {
    /** The node is like this. */
    void (*node)(void *arg, const char *path, const struct store_stat *stat, const char *bytes, size_t len);
    /** The node was noticed to have changed and is to be read. zxid: the notice came after everything up to there. */
    void (*reread)(void *arg, const char *path, int64_t zxid);
    /** A writer's answer, not a notice, has caused a noticed write to be emitted or read. */
    void (*settled)(void *arg);
};

struct zko_set {
    struct map by_path;
    size_t n_answered;
    TAILQ_HEAD(zko_list, zko) noticed; /* oldest first */
    const struct zko_ops *ops;
    void *arg;
};

/** Ready for use; ops and arg are the caller's to set. */
void zko_init(struct zko_set *set);
/** Drop all without reading; those under way are dead, and freed by their writers. */
void zko_clear(struct zko_set *set);

/**
 * A write leaves.
 *
 * @param kind  of the notice it will bring: ZKW_CREATED or ZKW_CHANGED
 * @return to be ended with zko_done or zko_failed; NULL: read it as others' writes.
 */
struct zko *zko_begin(struct zko_set *set, const char *path, int32_t kind);
/** The write was carried out. Also when the set was cleared, or is gone. */
void zko_done(struct zko *take_own, const struct store_stat *stat, const char *bytes, size_t len);
/** It was not, or that is unknown. Likewise. */
void zko_failed(struct zko *take_own);

/**
 * A notice of a path.
 *
 * @param seen_zxid  number up to which all notices had come before this one
 * @return whether it was that of an own write: the write was emitted, or will be. Else the path's write, if any, is dropped.
 */
bool zko_notice(struct zko_set *set, const char *path, int32_t kind, int64_t seen_zxid);
/** Something about this path must come after it: if its write was noticed and not emitted, it is read now. */
void zko_expedite(struct zko_set *set, const char *path);
/** The node is gone. */
void zko_forget(struct zko_set *set, const char *path);
/** A write of this path was noticed and is not emitted yet. */
bool zko_is_noticed(const struct zko_set *set, const char *path);
/** All own writes that were noticed up to this number have been emitted; INT64_MAX: all. */
int64_t zko_floor(const struct zko_set *set);
/** All notices up to this number have come: what was answered before it will not be noticed any more. */
void zko_applied(struct zko_set *set, int64_t zxid);

#endif
