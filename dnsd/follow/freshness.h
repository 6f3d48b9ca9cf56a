/**
 * How fresh the answers are: is the registry heard, since when may what is answered be old, and is it too old to be answered.
 *
 *   nothing ──image, restored──► stale ──published──► current ◄──► stale ──max_ms──► expired
 *      └──────────────published──────────────────────────▲
 *
 * Answers are stale while any of these holds: the registry is not heard, it was never read since the start, it reports that its
 * store is away, it is being read again, or readers are kept at an older version (frozen). The age counts from the first of
 * them; one that was over and returns before anything was heard keeps its age.
 *
 * Every event comes with the time; no timer, no clock, no log: freshness_left_ms says when to call freshness_check.
 *
 * Pure. Thread: owner.   Source: RFC 8767 (stale answers), RFC 8914 (EDE 3); ours.
 */
#ifndef FOLLOW_FRESHNESS_H
#define FOLLOW_FRESHNESS_H

#include <stdbool.h>
#include <stdint.h>

struct freshness {
    int64_t max_ms;    /* from this age on nothing is answered; 0: never */
    int64_t since_ms;  /* of what is answered; valid while it is stale, and while is_just_back */
    bool is_ready;     /* there is something to answer from: a snapshot of the registry, or what is on disk */
    bool is_filled;    /* the zones hold it; until then an image of them is answered from */
    bool is_connected; /* the registry is heard */
    bool is_store_away; /* the registry reports that its store is away */
    bool is_synced;     /* the registry was read completely since the start */
    bool is_behind;     /* the registry is being read again: what is answered is from before that */
    bool is_frozen;     /* readers are kept at an older version */
    bool is_expired;    /* stale for longer than max_ms */
    bool is_just_back;  /* connected, and nothing was heard since */
};

/** Nothing is known yet. @param max_ms 0: answers never expire. Thread: owner. Source: ours. */
void freshness_init(struct freshness *f, int64_t max_ms);

/** An image of the zones of this age is answered from. Thread: owner. Source: ours. */
void freshness_image(struct freshness *f, int64_t age_ms, int64_t now_ms);
/** Records of this age were read from disk; freshness_published follows. Thread: owner. Source: ours. */
void freshness_restored(struct freshness *f, int64_t age_ms, int64_t now_ms);
/** The registry is heard, or no longer. @return false: that was known. Thread: owner. Source: ours. */
bool freshness_connected(struct freshness *f, bool is_connected, int64_t now_ms);
/** The registry sent a change or a mark. Thread: owner. Source: ours. */
void freshness_heard(struct freshness *f);
/** The store of the registry is away, or back. Thread: owner. Source: ours. */
void freshness_store(struct freshness *f, bool is_away, int64_t now_ms);
/** The registry begins a snapshot: what is answered is from before it. Thread: owner. Source: ours. */
void freshness_reset(struct freshness *f, int64_t now_ms);
/** Readers are kept at an older version, or no longer. @return false: that was known. Thread: owner. Source: ours. */
bool freshness_frozen(struct freshness *f, bool is_frozen, int64_t now_ms);
/**
 * A snapshot is published with the version that is being made.
 *
 * @param is_restored  it is the one on disk, not the registry's
 * @param is_behind    the registry has begun another one since
 * Thread: owner.   Source: ours.
 */
void freshness_published(struct freshness *f, bool is_restored, bool is_behind, int64_t now_ms);
/** Time has passed: expire what is too old. Thread: owner. Source: ours. */
void freshness_check(struct freshness *f, int64_t now_ms);

/** Do the zones hold what the registry had earlier, or may have had? Thread: owner. Source: ours. */
bool freshness_is_stale(const struct freshness *f);
/** Age of what is answered in ms; 0: it is current. Thread: owner. Source: ours. */
int64_t freshness_stale_ms(const struct freshness *f, int64_t now_ms);
/** Time until the answers expire in ms; 0: they have expired; -1: they do not. Thread: owner. Source: ours. */
int64_t freshness_left_ms(const struct freshness *f, int64_t now_ms);
/** ZONE_* flags of the next version: answered at all, and with EDE 3 (Stale Answer). Thread: owner. Source: RFC 8914 4.4. */
unsigned freshness_flags(const struct freshness *f);
/** Why nothing is answered, for /readyz; NULL: names are answered. Static. Thread: owner. Source: ours. */
const char *freshness_unready(const struct freshness *f);

#endif
