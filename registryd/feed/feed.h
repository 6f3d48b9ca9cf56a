/**
 * The change feed: turns the mirror's ordered changes into lines of the ring and serves followers from it.
 *
 *   mirror listener ──► ring of lines ──► follower 1 (sequence number, phase)
 *                                    └──► follower 2 …
 *
 * A follower's phases (the drawing is checked against enum feed_phase by a test):
 *
 *   HELLO ──► SNAPSHOT ──► CATCH_UP ──► LIVE ──► ENDING
 *     └────────(since)─────────────────►┘
 *
 * Several registries of one store accept each other's revisions. A follower whose revision is ahead of this registry, because
 * its ZooKeeper server is behind, waits before HELLO, behind_ms at most.
 *
 * The memory of a follower is bounded: a slice of lines and one line more. A follower that reads nothing falls off the ring, which
 * is bounded by its bytes, and gets `gone` when it reads again; after 30 s without reading its connection is closed
 * (http/server.h).
 *
 * Thread: owner.   Source: ours; docs/registry-rest.md.
 */
#ifndef FEED_FEED_H
#define FEED_FEED_H

#include <stddef.h>
#include <stdint.h>

#include "http/server.h"
#include "run/loop.h"
#include "run/outage.h"
#include "run/metrics.h"
#include "store/mirror/mirror.h"

struct feed;

struct feed_def {
    struct run_loop *loop;
    struct mirror *mirror;
    struct metrics *metrics;
    const struct outage *store_outage; /* why the mirror may not be ready            [borrowed] */
    size_t ring_bytes;
    int64_t progress_ms; /* longest time without a line */
    /* how long a follower waits for its revision; 0: not, no other registry has this store */
    int64_t behind_ms;
};

/** Whether the registry can be read at all. @return 0; ERR_UNAVAILABLE: it is not loaded yet, *why says what is in the way. */
int feed_check_ready(const struct feed *f, struct err_info *why);
struct feed *feed_new(const struct feed_def *def);
/** After the HTTP server has stopped: no follower is left. */
void feed_free(struct feed *f);

/** Bytes of recent changes held. */
size_t feed_ring_bytes(const struct feed *f);
/** Bytes held for the followers themselves: what they have not taken yet. */
size_t feed_follower_bytes(const struct feed *f);

/** Octets of a padded line, its newline included. Apache Knox passes what is longer than a quarter of its responseBuffer on at once. */
enum { FEED_PADDED_LINE = 320 };

struct feed_request {
    const char *path;   /* "/" or "/a/b": only this node and what is below [borrowed] */
    const char *since;  /* revision text or NULL */
    int64_t timeout_ms; /* 0: unbounded */
    int64_t max;        /* end at the first resumable place after so many changes; 0: unbounded */
    bool is_padded;     /* every line has FEED_PADDED_LINE octets or more: proxies pass short ones on late */
};

/**
 * Answer req with a stream, or with the error: ERR_UNAVAILABLE (the mirror is not complete yet, or the store is away and the
 * revision above what was applied before), ERR_GONE (another store, a revision not held, or above the store's own: it did
 * not come within behind_ms), ERR_PARSE (malformed revision).
 */
void feed_serve(struct feed *f, struct http_req *req, const struct feed_request *what);

#endif
