/**
 * Reconciles the registry with the records that svcmgr wants there: follows them in the change feed, and reports each that another
 * client has deleted or overwritten, so that it is written again.
 *
 *     wanted ──PUT taken (revision n)──► written ──the feed shows it──► stands
 *        ▲                                  │                            │ deleted, overwritten, not in a new snapshot
 *        │                                  ▼                            ▼
 *        └────lost(path, record)──── the feed has come to n, and shows something else
 *
 * One watch follows the lowest path that is above all of them: the services of one user, or /users when there are several. The
 * snapshot after a loss of the registry shows what was removed meanwhile, also when another store answers now.
 * The first time a record is put back at once, then after 1, 2, 4 … 300 s, so that two writers that want different records do
 * not fight; a record that has stood for ten minutes begins anew.
 *
 * Memory: a copy of each wanted record. Thread: owner.   Source: ours; YARN services API 7.
 */
#ifndef PUBLISH_RECONCILE_H
#define PUBLISH_RECONCILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bobbin/registry.h"
#include "run/loop.h"

struct reconcile;

struct reconcile_def {
    struct run_loop *loop;
    struct reg *reg; /* outlives it */
    /** Followed from the beginning, so that an outage is noticed before anything is wanted; NULL: nothing [copied]. */
    const char *home;
    bool is_held; /* nothing is followed before reconcile_begin */
    /** A written record is gone or differs. It counts as wanted again: write it, then call reconcile_written.
     *  version: of reconcile_want. */
    void (*lost)(void *arg, const char *path, const struct reg_record *record, uint64_t version);
    /** Follows a round of lost: n > 0 of them, this path among them. */
    void (*restored)(void *arg, size_t n, const char *path);
    /** The registry answers again, or is another one. */
    void (*back)(void *arg);
    /** The registry is heard; also when a snapshot of it is complete. */
    void (*heard)(void *arg);
    /** A try to reach it has failed; as reg_watch_ops. */
    void (*failed)(void *arg, const char *url, const struct err_info *why);
    void *arg;
};

/** Without a home nothing is followed before the first reconcile_want or reconcile_forget_below. Free with reconcile_free, before the registry is closed. */
struct reconcile *reconcile_new(const struct reconcile_def *def);
/** Begin to follow, after is_held: what was wanted until then may stand already, and the first snapshot shows it. */
void reconcile_begin(struct reconcile *r);
/** A snapshot of the feed was complete, once at least. */
bool reconcile_is_synced(const struct reconcile *r);
/**
 * Whether the feed shows this version of a record that was not written: then it counts as written. Only for what was not written, deleted or
 * purged before the snapshot: the feed may be behind those.
 */
bool reconcile_stands(struct reconcile *r, const char *path, uint64_t version);
/**
 * This record is to stand at this path; it is on its way there.
 *
 * @param record  copied
 * @return its version, for reconcile_written: a later one of the same path has another.
 */
uint64_t reconcile_want(struct reconcile *r, const char *path, const struct reg_record *record);
/** The registry has taken this version, as this revision ("" when that is not known). Ignores a version that is not the last. */
void reconcile_written(struct reconcile *r, const char *path, uint64_t version, const char *revision);
/** It is not to stand any more. */
void reconcile_forget(struct reconcile *r, const char *path);
/** Nothing is to stand there, nor below, from now on; what was there is released step by step. It is followed all the same: `back` comes when a refused change may be asked for again. */
void reconcile_forget_below(struct reconcile *r, const char *path);
/** The registry refuses this version, as it would again. Ignores a version that is not the last. @param why  its words [copied] */
void reconcile_refused(struct reconcile *r, const char *path, uint64_t version, const char *why);
/** A record that is to stand and was not taken yet. */
struct reconcile_wait {
    int64_t since_ms;    /* wall clock */
    int64_t lasts_ms;    /* how long, whatever the wall clock did */
    const char *refusal; /* the registry refuses it, with these words; NULL: it has not answered [borrowed] */
};
/** Whether that is so of the record at this path. @param out  filled when it is */
bool reconcile_waits(const struct reconcile *r, const char *path, struct reconcile_wait *out);
/** The revision that the feed has come to, in REG_REVISION_MAX bytes. @return false: to none yet */
bool reconcile_revision(const struct reconcile *r, char *out);
/** Free; no callback comes any more. NULL is fine. Not inside lost, restored or back. */
void reconcile_free(struct reconcile *r);

#endif
