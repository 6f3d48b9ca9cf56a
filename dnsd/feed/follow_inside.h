/**
 * The follower's parts: follow.c hears the watch and begins and ends, follow_commit.c turns what is pending into commits,
 * follow_wait.c calls who waits for a revision, follow_walk.c visits all records in slices. Internal to dnsd/feed.
 * Thread: owner.   Source: ours.
 */
#ifndef FEED_FOLLOW_INSIDE_H
#define FEED_FOLLOW_INSIDE_H

#include <sys/queue.h>

#include "base/map.h"
#include "base/obj.h"
#include "feed/follow.h"
#include "feed/hosts.h"
#include "feed/kept.h"
#include "feed/pool.h"
#include "feed/trim.h"

#define FOLLOW_MAGIC OBJ_MAGIC('F', 'O', 'L', 'W')

/** Longest time that a change waits for others to share its commit. */
#define COMMIT_DELAY_MS 20
/** Removals within this time count together. */
#define GUARD_WINDOW_MS 2000

/** What is to become of a path. */
struct pending {
    int64_t due_ms;
    struct kept *kept; /* NULL: it has no record any more */
};

/** A revision that is published when the delayed deletes before it are. */
struct mark {
    TAILQ_ENTRY(mark) link;
    int64_t due_ms;
    char revision[REG_REVISION_MAX];
};

struct follow {
    struct obj obj;
    struct follow_def def;
    struct reg_watch *watch;
    struct hosts *hosts;
    struct pools pools;
    struct kept_prefixes prefixes; /* of all that is kept below */
    struct kept_set records;       /* what the zones hold */
    struct kept_set snapshot;      /* being gathered, or from disk and not yet published */
    struct map pending;            /* path -> struct pending: what the next commits change */
    struct map held;               /* paths whose removal is held */
    struct kept_text text, before; /* of the record that is worked on */
    bool in_snapshot;
    bool has_put; /* a record came since on_drained */
    struct trim *trim;
    struct run_timer *commit_timer, *wait_timer, *stale_timer;
    int64_t commit_at_ms;   /* commit_timer; INT64_MAX: stopped */
    int64_t last_delay_ms;  /* when the last delayed delete is due */
    int64_t stale_since_ms; /* while it is stale */
    struct {
        int64_t since_ms;
        size_t n_base, n_gone;
    } guard;
    TAILQ_HEAD(mark_list, mark) marks;
    TAILQ_HEAD(waiter_list, waiter) waiters;
    TAILQ_HEAD(walk_list, follow_walk) walks;
    struct follow_state state;
};

/** This is to become of a path. @param take_kept NULL: its record goes. */
void follow_pending_put(struct follow *f, const char *path, int64_t due_ms, struct kept *take_kept);
/** Forget all that is pending. */
void follow_pending_clear(struct follow *f);
/** Publish what is due now. */
void follow_commit(struct follow *f);
/** Publish f->snapshot in place of what there was; it is empty then. */
void follow_commit_snapshot(struct follow *f);
/** Commit at this time at the latest. */
void follow_commit_at(struct follow *f, int64_t at_ms);
/** New addresses of a host: produce its records again. For hosts_def. */
void follow_host_changed(void *arg, const char *host);
/** ZONE_* of the next version. */
unsigned follow_flags(const struct follow *f);

/** Everything up to this revision is published: tell who waits. */
void follow_published(struct follow *f, const char *revision);
/** Call waiters that are settled, and start the timer for the others. */
void follow_serve(struct follow *f);
/** Call all waiters with ERR_CANCELLED. */
void follow_cancel_waiters(struct follow *f);

/** End all walks with ERR_CANCELLED. */
void follow_cancel_walks(struct follow *f);

#endif
