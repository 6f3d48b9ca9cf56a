/**
 * The follower's parts: follow.c hears the watch and begins and ends, pending.c keeps what is to change, run.c
 * turns it into commits, records.c makes the difference of one record, waiters.c calls who waits for a revision,
 * walk.c visits all records in slices. Internal to dnsd/feed.
 * Thread: owner.   Source: ours.
 */
#ifndef FOLLOW_FOLLOW_PRIV_H
#define FOLLOW_FOLLOW_PRIV_H

#include <sys/queue.h>

#include "base/map.h"
#include "base/obj.h"
#include "follow/follow.h"
#include "names/hosts.h"
#include "names/packed.h"
#include "names/shared.h"
#include "run/heap.h"

#define FOLLOW_MAGIC OBJ_MAGIC('F', 'O', 'L', 'W')

/** Longest time that a change waits for others to share its commit. */
#define COMMIT_DELAY_MS 20
/** Removals within this time count together. */
#define GUARD_WINDOW_MS 2000

/** What is to become of a path. */
struct pending {
    TAILQ_ENTRY(pending) link; /* in the order in which they are due, when they wait */
    int64_t due_ms;            /* 0: at once */
    struct packed *packed;     /* NULL: it has no record any more */
    bool is_removal;           /* of names; known for those that wait */
    char path[];
};

/** A revision that is published when the delayed deletes before it are. */
struct mark {
    TAILQ_ENTRY(mark) link;
    int64_t due_ms;
    char revision[REG_REVISION_MAX];
};

/** Who waits for a release. */
struct release {
    TAILQ_ENTRY(release) link;
    size_t n_records;
    bool is_under_way; /* the commit that is under way does it */
    void (*fn)(void *arg, size_t n_records);
    void *arg;
};

/** What a commit does, in this order; each step in slices. */
enum run_step {
    RUN_RELEASE, /* removals that are let go */
    RUN_DUE,     /* deletes whose time has come join the batch */
    RUN_MISSING, /* so does what a snapshot would take away */
    RUN_COUNT,   /* removals are counted: the guard decides */
    RUN_TAKE_IN, /* the records of the snapshot */
    RUN_SETTLE,  /* the batch */
    RUN_HOSTS,   /* new addresses of hosts */
    RUN_N_STEPS,
};

/** The commit that is under way, or queued. */
struct run {
    bool is_on, has_begun;
    enum run_step step;
    int64_t until_ms; /* what is due until then */
    struct map batch; /* path -> struct pending */
    struct map_slot *at;
    uint32_t place; /* in records or snapshot */
    size_t n_removals, n_new_held, n_released, n_work;
    bool is_alarm, is_snapshot, is_restored; /* is_restored: the snapshot is the one on disk */
    struct packed_set snapshot;
    struct map released, hosts;
    char synced[REG_REVISION_MAX]; /* revision of the snapshot */
    char marked[REG_REVISION_MAX]; /* of the last mark that is reached, or "" */
};

struct follow {
    struct obj obj;
    struct follow_def def;
    struct reg_watch *watch;
    struct hosts *hosts;
    struct shared_names shared;
    struct packed_prefixes prefixes; /* of all that is kept below */
    struct packed_set records;       /* what the zones hold */
    struct packed_set snapshot;      /* being gathered */
    struct packed_set complete;      /* gathered, not yet published; valid with has_complete */
    struct map pending,
        late; /* path -> struct pending: of the next commit, and deletes that wait for a create */
    TAILQ_HEAD(late_list, pending) late_list;
    size_t n_late_removals;
    struct map held;                 /* paths whose removal is held */
    struct map released;             /* and those that the next commit lets go */
    struct map moved_hosts;          /* names of hosts with new addresses */
    struct packed_text text, before; /* of the record that is worked on */
    bool in_snapshot, has_complete;
    bool has_put; /* a record came since on_drained */
    char complete_revision[REG_REVISION_MAX];
    char newest_revision[REG_REVISION_MAX]; /* of the newest version, when readers do not see that; else "" */
    struct run run;
    bool is_again;     /* a commit after the one that is under way */
    bool is_restoring; /* what is complete is from disk */
    bool is_just_back; /* nothing was heard since the registry is back */
    bool is_refused;   /* the registry does not let it follow, and that was said */
    struct heap *heap;
    struct run_timer *commit_timer, *wait_timer, *stale_timer;
    int64_t commit_at_ms;   /* commit_timer; INT64_MAX: stopped */
    int64_t stale_since_ms; /* while it is stale, and while is_just_back */
    struct {
        int64_t since_ms;
        size_t n_base, n_gone; /* records then; removals since, held or not */
    } guard;
    TAILQ_HEAD(mark_list, mark) marks;
    TAILQ_HEAD(waiter_list, waiter) waiters;
    TAILQ_HEAD(release_list, release) releases;
    TAILQ_HEAD(walk_list, follow_walk) walks;
    struct follow_state state;
};

/** This is to become of a path. @param due_ms 0: at once; else never before one that was given earlier. @param take_packed NULL:
 *  its record goes. */
void follow_pending_put(struct follow *f, const char *path, int64_t due_ms, struct packed *take_packed);
/** Forget all that is pending. */
void follow_pending_clear(struct follow *f);
/** Release one. */
void follow_pending_free(struct follow *f, struct pending *take_p);
/** Is anything pending? */
bool follow_has_pending(const struct follow *f);
/** A delete whose time has come, or NULL; it waits no longer: the caller's. */
struct pending *follow_pending_due(struct follow *f, int64_t now_ms);

/** Publish what is due: at once when it is little, else in slices. What comes meanwhile is the next commit's. */
void follow_commit(struct follow *f);
/** Forget the commit that is under way. */
void follow_run_cancel(struct follow *f);
/** Take note of the marks that a commit of what is due now reaches. @param revision of the last of them, or "" [out] */
void follow_take_marks(struct follow *f, int64_t now_ms, char revision[REG_REVISION_MAX]);
/** A snapshot is published with the commit that is being made: the state tells it from now on. */
void follow_is_synced(struct follow *f);

/** Put a record in place of what its path has; NULL: take it away. @param old packed_get of the path. */
void follow_replace(struct follow *f, struct zone_tx *tx, struct packed *old, struct packed *take_new);
/** Would this change take the names of a record away? Either may be NULL. */
bool follow_is_removal(const struct packed *old, const struct packed *new);
/** Produce the records of a host again, with its new addresses. */
void follow_move_host(struct follow *f, struct zone_tx *tx, const char *host);
/** Commit at this time at the latest. */
void follow_commit_at(struct follow *f, int64_t at_ms);
/** A host has new addresses. For hosts_def. */
void follow_host_changed(void *arg, const char *host);
/** Is what the zones hold no longer, or not yet, what the registry has? */
bool follow_is_stale(const struct follow *f);
/** ZONE_* of the next version. */
unsigned follow_flags(const struct follow *f);

/** Everything up to this revision is in the newest version: tell who waits, when readers see that. */
void follow_published(struct follow *f, const char *revision);
/** Call waiters that are settled, and start the timer for the others. */
void follow_serve(struct follow *f);
/** The commit that begins now does all releases that were asked for. */
void follow_take_releases(struct follow *f);
/** It is published: call who waited for them. */
void follow_serve_releases(struct follow *f);
/** Call all waiters with ERR_CANCELLED; forget the releases. */
void follow_cancel_waiters(struct follow *f);

/** End all walks with ERR_CANCELLED. */
void follow_cancel_walks(struct follow *f);

#endif
