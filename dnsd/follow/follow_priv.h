/**
 * The driver: follow.c hears the watch and answers questions about the follower, commit.c makes commits of what came. Only these two
 * see struct follow; they call the objects below, none of which knows of the other:
 *
 *   follow.c ──► commit.c ──► records, pending, guard, freshness, waiters, writer
 *
 * Thread: owner.   Source: ours.
 */
#ifndef FOLLOW_FOLLOW_PRIV_H
#define FOLLOW_FOLLOW_PRIV_H

#include "base/map.h"
#include "base/obj.h"
#include "follow/follow.h"
#include "follow/freshness.h"
#include "follow/pending.h"
#include "follow/waiters.h"

#define FOLLOW_MAGIC OBJ_MAGIC('F', 'O', 'L', 'W')

/** Snapshots on their way to a commit. */
struct intake {
    bool is_open;           /* the registry sends one */
    struct packed_set open; /* what came of it */
    bool is_complete;       /* one waits for a commit, which takes it */
    bool is_restored;       /* that is the one on disk */
    struct packed_set complete;
    char revision[REG_REVISION_MAX]; /* of the complete one */
};

/** The commit that is under way, or queued: see the table in commit.c. */
struct commit {
    bool is_on, has_begun;
    unsigned kind; /* of work: row of the table */
    bool is_in;    /* its begin was called */
    struct map_slot *at;
    uint32_t place; /* in records or snapshot */
    int64_t until_ms;
    int64_t since_us; /* when the first of its changes came, delayed ones left out; 0: there is none */
    struct map batch; /* path -> struct change */
    struct map released, hosts;
    size_t n_removals, n_released;
    bool is_snapshot, is_restored; /* is_restored: the snapshot is the one on disk */
    struct packed_set snapshot;
    struct packed_text text;       /* of the record that is worked on */
    char synced[REG_REVISION_MAX]; /* revision of the snapshot */
    char marked[REG_REVISION_MAX]; /* of the last mark that is reached, or "" */
};

struct follow {
    struct obj obj;
    struct follow_def def;
    struct reg_watch *watch;
    struct records *records;
    struct freshness fresh;
    struct guard *guard;
    struct pending *pending;
    struct waiters *waiters;
    struct walks *walks;
    struct intake intake;
    struct map moved_hosts; /* names of hosts with new addresses */
    struct commit commit;
    bool is_again; /* a commit follows the one that is under way */
    uint64_t n_commits;
    bool has_put;     /* a record came since on_drained */
    int64_t first_us; /* when the first change came that the next commit makes; 0: none did */
    struct run_timer *commit_timer, *age_timer;
    int64_t commit_at_ms; /* commit_timer; INT64_MAX: stopped */
};

/** Publish what is due: at once when it is little, else in steps. What comes meanwhile is the next commit's. Thread: owner. */
void follow_commit(struct follow *f);
/** Commit at this time at the latest. Thread: owner. */
void follow_commit_at(struct follow *f, int64_t at_ms);
/** Forget the commit that is under way. Thread: owner. */
void follow_commit_cancel(struct follow *f);
/** Everything up to this revision is in the newest version: who waits is called when readers see it. Thread: owner. */
void follow_publish(struct follow *f, const char *revision);
/** After a change of freshness, or when age_timer fires: log that answers have expired, or start the timer for when they will. Thread:
 *  owner. */
void follow_watch_age(struct follow *f);

#endif
