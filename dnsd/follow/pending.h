/**
 * What is to become of paths with the next commits, and the revisions that those commits reach.
 *
 *   pending_put ────► now ───────────────────────pending_take_now────► a commit's batch
 *   pending_delay ──► late, in the order of their due times ──pending_take_due──▲
 *                       └── the same path is put: replaced, it was never away
 *   pending_mark: a revision; reached when the deletes before it are
 *
 * A delete is delayed so that a create of the same path replaces it: its names never vanish in between.
 *
 * Thread: owner.   Source: ours.
 */
#ifndef FOLLOW_PENDING_H
#define FOLLOW_PENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/map.h"
#include "bobbin/registry.h"
#include "names/packed.h"

/** What is to become of a path. */
struct change {
    TAILQ_ENTRY(change) link; /* among the late ones */
    int64_t due_ms;           /* of a late one */
    bool is_removal;          /* a late one that takes names away */
    struct packed *packed;    /* NULL: it has no record any more */
    char path[];
};

/** A change that is nowhere yet. @param take_packed NULL: the record goes. Free with change_free. Thread: owner. Source: ours. */
struct change *change_new(const char *path, struct packed *take_packed);
/** Release one, with its record. NULL is fine. @param prefixes those of the record. Thread: owner. Source: ours. */
void change_free(struct packed_prefixes *prefixes, struct change *take_c);

struct pending;

/** Nothing is pending. @param prefixes those of all records; outlives it [borrowed]. Free with pending_free. Thread: owner.
 *  Source: ours. */
struct pending *pending_new(struct packed_prefixes *prefixes);
/** Release. NULL is fine. Thread: owner. Source: ours. */
void pending_free(struct pending *p);
/** Forget all changes and marks. Thread: owner. Source: ours. */
void pending_clear(struct pending *p);

/** The next commit changes this path; what was pending for it is replaced. @param take_packed NULL: its record goes. Thread: owner.
 *  Source: ours. */
void pending_put(struct pending *p, const char *path, struct packed *take_packed);
/**
 * The record of this path goes later, unless one is put before that; what was pending for it is replaced.
 *
 * @param due_ms      never before one that was given earlier
 * @param is_removal  it takes names away
 * Thread: owner.   Source: ours.
 */
void pending_delay(struct pending *p, const char *path, int64_t due_ms, bool is_removal);

/** Is no change pending? Thread: owner. Source: ours. */
bool pending_is_empty(const struct pending *p);
/** Are there changes, and does every one wait for its due time? Thread: owner. Source: ours. */
bool pending_is_late(const struct pending *p);
/** When the first late one is due; INT64_MAX: there is none. Thread: owner. Source: ours. */
int64_t pending_due_ms(const struct pending *p);
/** Number of late ones that take names away. Thread: owner. Source: ours. */
size_t pending_n_removals(const struct pending *p);

/** A commit takes what is there now. @return path -> struct change: the caller's. Thread: owner. Source: ours. */
struct map pending_take_now(struct pending *p);
/** It takes a late one, too, that is due. @return the caller's; NULL: there is none. Thread: owner. Source: ours. */
struct change *pending_take_due(struct pending *p, int64_t now_ms);

/** Everything up to this revision is published when the changes that are pending now are. @param revision as the registry gives it
 *  [copied]. Thread: owner. Source: ours. */
void pending_mark(struct pending *p, const char *revision);
/** Take the marks that a commit of what is due now reaches. @param revision of the last of them, or "" [out]. Thread: owner.
 *  Source: ours. */
void pending_take_marks(struct pending *p, int64_t now_ms, char revision[REG_REVISION_MAX]);
/** Forget the marks. Thread: owner. Source: ours. */
void pending_drop_marks(struct pending *p);

#endif
