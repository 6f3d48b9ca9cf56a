/**
 * Following the registry: what libbobbin's watch tells becomes commits of the zone set.
 *
 *   reg_watch ──put/deleted──► pending ──progress, synced or 20 ms──► difference of productions ──► one commit
 *
 * A snapshot is gathered aside and published at `synced` as the difference to what is there, so a reconnect never empties a
 * zone. Per path only the packed record is kept (feed/map.h).
 *
 * Thread: owner (the zone set's writer).   Source: ours; design §4.
 */
#ifndef FEED_FOLLOW_H
#define FEED_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bobbin/registry.h"
#include "feed/map.h"
#include "run/loop.h"
#include "zone/zone.h"

struct follow;

struct follow_def {
    struct run_loop *loop;
    struct reg *registry;
    struct zoneset *zones;
    struct map_options map;
    /** A version was published, or the state changed: reclaim, tell who waits. */
    void (*changed)(void *arg);
    void *arg;
};

/** What follow_state tells. */
struct follow_state {
    bool is_ready; /* the first snapshot is published */
    bool is_connected;
    char revision[REG_REVISION_MAX]; /* applied to the zones; "" before the first */
    size_t n_records;                /* paths that have names */
    uint64_t n_left_out;             /* names that could not be formed, since start */
    uint64_t n_commits;
    uint64_t n_unzoned; /* records no zone covers (PTR outside the reverse zones), since start */
};

/** Begin to follow. */
struct follow *follow_start(const struct follow_def *def);
/** Stop and free; the zones stay as they are. NULL is fine. Before reg_close. */
void follow_stop(struct follow *f);
void follow_state(const struct follow *f, struct follow_state *out);

/**
 * Call fn(arg, 0) when everything up to `revision` is in the published zones; ERR_TIMEOUT after timeout_ms; ERR_GONE when
 * the revision is of another store; ERR_CANCELLED at follow_stop. Never before this returns.
 * @return 0; or ERR_PARSE: not a revision, fn is not called.
 */
int follow_when(struct follow *f, const char *revision, int64_t timeout_ms, void (*fn)(void *arg, int err),
                void *arg);
/** Forget the waiting calls of arg: fn is not called. */
void follow_forget(struct follow *f, void *arg);

#endif
