/**
 * Answers of upstreams, kept as long as they are good and as long as there is room: a bounded number of octets, least
 * recently used first out.
 *
 * Pure; the caller brings the time. Thread: one cache, one thread.   Source: RFC 1034 4.3.3, RFC 2308 5, RFC 9520.
 */
#ifndef FORWARD_CACHE_H
#define FORWARD_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "forward/relay.h"

struct cache;

/** A new cache of at most max_bytes octets, its own bookkeeping included; 0: it keeps nothing. Free with cache_free. */
struct cache *cache_new(size_t max_bytes);
/** Release. NULL is fine. */
void cache_free(struct cache *c);

/**
 * Keep an answer for its ttl_s from now on, in place of what is kept under this key. It is released at once when its ttl_s is
 * 0 or when it alone would take more than an eighth of the room.
 *
 * @param key       what it answers                                              [borrowed]
 * @param take_msg  the answer                                                   [taken]
 * @param now_ms    any clock that does not go back
 * Thread: the cache's.   Source: ours.
 */
void cache_put(struct cache *c, const char *key, struct relay_msg *take_msg, int64_t now_ms);

/**
 * Find an answer that is still good.
 *
 * @param age_s  whole seconds since it was put                                  [out]
 * @return the answer, valid until the next call; or NULL: nothing is kept, or its time is over.
 * Thread: the cache's.   Source: ours.
 */
const struct relay_msg *cache_get(struct cache *c, const char *key, int64_t now_ms, uint32_t *age_s);

/** Octets in use, and answers kept. Thread: the cache's. */
size_t cache_bytes(const struct cache *c);
size_t cache_n_items(const struct cache *c);

#endif
