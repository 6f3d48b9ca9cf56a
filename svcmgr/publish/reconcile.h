/**
 * The records that svcmgr keeps in the registry, followed there: one that somebody else has deleted or overwritten is put back.
 *
 *     wanted ──PUT taken (revision n)──► written ──the feed shows it──► stands
 *        ▲                                  │                            │ deleted, overwritten, not in a new snapshot
 *        │                                  ▼                            ▼
 *        └────lost(path, record)──── the feed has come to n, and shows something else
 *
 * One watch follows the lowest path that is above all of them: the services of one user, or /users when there are several. A
 * snapshot after a loss of the registry shows what went meanwhile, also when it is another store that answers now.
 * The first time a record is put back at once, then after 1, 2, 4 … 300 s, so that two writers that want different things do
 * not fight; a record that has stood for ten minutes begins anew.
 *
 * Memory: a copy of each record that is kept. Thread: owner.   Source: ours; YARN services API 7.
 */
#ifndef PUBLISH_RECONCILE_H
#define PUBLISH_RECONCILE_H

#include <stddef.h>
#include <stdint.h>

#include "bobbin/registry.h"
#include "run/loop.h"

struct reconcile;

struct reconcile_def {
    struct run_loop *loop;
    struct reg *reg; /* outlives it */
    /** A record that was written is not there any more, or not like this. It counts as wanted again: write it, then reconcile_written.
     *  version: of reconcile_want. */
    void (*lost)(void *arg, const char *path, const struct reg_record *record, uint64_t version);
    /** All that was lost this time was told: n > 0 of them, among them this path. */
    void (*told)(void *arg, size_t n, const char *path);
    /** The registry is heard again after it was lost, or it is another one by now. */
    void (*back)(void *arg);
    void *arg;
};

/** Nothing is followed before the first reconcile_want or reconcile_forget_below. Free with reconcile_free, before the registry is closed. */
struct reconcile *reconcile_new(const struct reconcile_def *def);
/**
 * This record is to stand at this path; it is on its way there.
 *
 * @param record  copied
 * @return its version, for reconcile_written: a later one of the same path has another.
 */
uint64_t reconcile_want(struct reconcile *r, const char *path, const struct reg_record *record);
/** The registry has taken this version, as this revision ("" when that is not known). Another version than the last is nothing. */
void reconcile_written(struct reconcile *r, const char *path, uint64_t version, const char *revision);
/** It is not to stand any more. */
void reconcile_forget(struct reconcile *r, const char *path);
/** Nothing is to stand there, nor below. It is followed all the same: `back` says when to ask again for what was refused. */
void reconcile_forget_below(struct reconcile *r, const char *path);
/** Records that are to stand. */
size_t reconcile_n(const struct reconcile *r);
/** Free; nothing is told any more. NULL is fine. Not inside lost, told or back. */
void reconcile_free(struct reconcile *r);

#endif
