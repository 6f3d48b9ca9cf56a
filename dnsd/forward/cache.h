/**
 * The cache of upstream answers, by TTL. Its size in octets is bounded; the least recently used answer is evicted first.
 *
 * Pure; the caller brings the time. Thread: one cache, one thread.   Source: RFC 1034 4.3.3, RFC 2308 5, RFC 9520.
 */
#ifndef FORWARD_CACHE_H
#define FORWARD_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "forward/relay.h"

struct cache;

/** A new cache. @param max_bytes bound in octets, bookkeeping included; 0: it stays empty. @return release with cache_free.
 *  Thread: any. Source: ours. */
struct cache *cache_new(size_t max_bytes);
/** Release. NULL is fine. Thread: the cache's. Source: ours. */
void cache_free(struct cache *c);

/**
 * Put an answer in place of the one with this key, for ttl_s seconds from now. An answer with ttl_s 0, or one larger than an
 * eighth of the cache, is released at once.
 *
 * @param key       what it answers                                              [borrowed]
 * @param take_msg  the answer                                                   [taken]
 * @param now_ms    any clock that does not go back
 * Thread: the cache's.   Source: ours.
 */
void cache_put(struct cache *c, const char *key, struct relay_msg *take_msg, int64_t now_ms);

/**
 * Find an answer that has not expired.
 *
 * @param age_s  whole seconds since it was put                                  [out]
 * @return the answer, valid until the next call; or NULL: there is none, or it has expired.
 * Thread: the cache's.   Source: ours.
 */
const struct relay_msg *cache_get(struct cache *c, const char *key, int64_t now_ms, uint32_t *age_s);

/** Octets in use, and answers in the cache. Thread: the cache's. Source: ours. */
size_t cache_bytes(const struct cache *c);
size_t cache_n_items(const struct cache *c);

#endif
