/**
 * Following the registry: the changes that libbobbin's watch brings become commits of the zone set.
 *
 *   reg_watch ──put/deleted──► pending ──progress, synced or 20 ms──► difference of the RRs ──► one commit
 *                                 │ deletes wait up to coalesce_ms for a create of the same path
 *                                 └─ too many would vanish at once ──► held by the guard until follow_release
 *
 * A snapshot of the registry is gathered aside and published after `synced` as the difference to what is there, so a reconnect
 * never empties a zone; until then what is there is stale. A large difference is made in steps (follow/writer.h); the state,
 * `changed` and who waits for a revision learn of it when it is published.
 *
 * The parts, each of which can be read and tested alone: records.h (what the zones hold), pending.h (what is to change), guard.h (the
 * outage shield), freshness.h (stale and expired, drawn there), waiters.h (/sync), walk.h. follow_priv.h is the driver.
 *
 * Thread: owner (the zone set's writer).   Source: ours.
 */
#ifndef FOLLOW_FOLLOW_H
#define FOLLOW_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bobbin/registry.h"
#include "follow/guard.h"
#include "follow/records.h"
#include "follow/walk.h"
#include "follow/writer.h"
#include "names/map.h"
#include "run/loop.h"
#include "run/metrics.h"
#include "run/outage.h"
#include "zone/zone.h"

struct follow;

struct follow_def {
    struct run_loop *loop;
    struct reg *registry;
    struct zoneset *zones;
    struct writer *writer;   /* of these zones                                       [borrowed] */
    struct map_options map;  /* addresses is set by the follower */
    int64_t coalesce_ms;     /* how long a delete waits for a create of the same path; 0: not */
    int64_t host_refresh_ms; /* between two questions about one host name; at least 1000 */
    int64_t stale_max_ms;    /* what is older is answered SERVFAIL; 0: never */
    struct guard_limits guard;
    struct metrics *metrics;        /* with the row below; NULL: none                       [borrowed] */
    int propagation;                /* METRIC_HISTOGRAM: from a change of the feed to the published version */
    struct outage *registry_outage; /* no registry is heard                           [borrowed] */
    struct outage *host_outage;     /* the resolver of host names fails           [borrowed] */
    struct outage *store_outage;    /* the registry reports that its store is away    [borrowed] */
    /** A version was published, or the state changed: reclaim, report readiness. */
    void (*changed)(void *arg);
    void *arg;
};

/** A copy of the follower's state. */
struct follow_state {
    bool is_ready;     /* there is something to answer from: a snapshot of the registry, or the one on disk */
    bool is_filled;    /* the zones hold it; until then an image of them is answered from */
    bool is_connected; /* the registry is heard */
    bool is_store_away;  /* the registry reports that its store is away: what it sends may be old */
    bool is_synced;      /* the registry was read completely since the start */
    bool is_behind;      /* the registry is being read again: what is answered is from before that */
    bool is_frozen;      /* readers are kept at an older version than the newest: see follow_frozen */
    bool is_expired;     /* stale for longer than stale_max_ms */
    const char *unready; /* why nothing is answered; NULL: names are answered. Static */
    int64_t stale_ms;    /* age of what is answered; 0: it is current */
    char revision[REG_REVISION_MAX]; /* answered from; "" before the first */
    size_t n_records;                /* paths that have names */
    size_t n_nameless;               /* paths with a record that has none */
    size_t n_held;                   /* removals held back */
    uint64_t n_left_out;             /* names that could not be formed, since start */
    uint64_t n_commits;
    uint64_t n_unzoned; /* records no zone covers (PTR outside the reverse zones), since start */
};

/** A follower that knows nothing and hears nothing yet. @param def copied. Free with follow_stop. Thread: owner. Source: ours. */
struct follow *follow_new(const struct follow_def *def);
/**
 * An image of the zones is answered from until records are there; it has no records of its own.
 *
 * @param age_ms  of its content
 * @return ZONE_* flags to publish it with.   Thread: owner, before follow_restored.   Source: ours.
 */
unsigned follow_image(struct follow *f, int64_t age_ms);
/** So many records of a snapshot on disk come now. Thread: owner. Source: ours. */
void follow_restore_room(struct follow *f, size_t n_records);
/** One record of a snapshot on disk; before follow_restored. @param packed len octets of map_pack [copied]. Thread: owner.
 *  Source: ours. */
void follow_restore(struct follow *f, const char *path, const char *packed, size_t len);
/** Publish what was restored, which is `age_ms` old: at once when it is little, else in steps. Before follow_begin. Thread: owner.
 *  Source: ours. */
void follow_restored(struct follow *f, int64_t age_ms);
/** Begin to follow. Once. Thread: owner. Source: ours. */
void follow_begin(struct follow *f);
/** Stop and free; the zones stay as they are. NULL is fine. Before reg_close. Thread: owner. Source: ours. */
void follow_stop(struct follow *f);
/** Readers are, or are no longer, kept at an older version for so long that the answers are stale. Thread: owner. Source: ours. */
void follow_frozen(struct follow *f, bool is_frozen);
/** Readers see the newest version (again): who waits for it is called. Thread: owner. Source: ours. */
void follow_visible(struct follow *f);
/** The state now. @param out filled [out]. Thread: owner. Source: ours. */
void follow_state(const struct follow *f, struct follow_state *out);
/** Options with which names are made. Borrowed. Thread: owner. Source: ours. */
const struct map_options *follow_map_options(const struct follow *f);

/**
 * Let removals that are held happen.
 *
 * @param fn  called with their number when they are in the newest version, maybe before this returns; not after follow_forget or
 *            follow_stop
 * Thread: owner.   Source: ours.
 */
void follow_release(struct follow *f, void (*fn)(void *arg, size_t n_records), void *arg);
/** Is the removal of this path held? Thread: owner. Source: ours. */
bool follow_is_held(const struct follow *f, const char *path);
/** What became of a record at a shared name. @param rr its owner in any case [borrowed]. Thread: owner. Source: ours. */
enum shared_state follow_shared_state(const struct follow *f, const struct zone_rr *rr, bool is_ready);
/** records_rezone_part of the follower's records, in a transaction of its writer. Thread: owner. Source: ours. */
bool follow_rezone_part(struct follow *f, struct zone_tx *tx, const struct records_move *move,
                        uint32_t *cursor);

/**
 * Call fn(arg, 0) when readers see everything up to `revision`; ERR_TIMEOUT after timeout_ms; ERR_GONE when the revision is of another
 * store; ERR_CANCELLED at follow_stop. Never before this returns. Removals that are held count as done.
 * @return 0; or ERR_PARSE: not a revision, fn is not called.   Thread: owner.   Source: ours.
 */
int follow_when(struct follow *f, const char *revision, int64_t timeout_ms, void (*fn)(void *arg, int err),
                void *arg);
/** Forget the calls of arg that follow_when and follow_release were asked for. Thread: owner. Source: ours. */
void follow_forget(struct follow *f, void *arg);

/** walk_start over the follower's records; done gets ERR_CANCELLED at follow_stop. Thread: owner. Source: ours. */
struct walk *follow_walk_start(struct follow *f, const struct walk_ops *ops, void *arg);

#endif
