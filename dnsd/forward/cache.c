#include "forward/cache.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/map.h"
#include "base/mem.h"

enum { LARGEST_SHARE = 8 };

struct entry {
    TAILQ_ENTRY(entry) order;
    const char *key; /* the map's */
    struct relay_msg *msg;
    int64_t put_ms;
    size_t n_bytes;
};

struct cache {
    struct map by_key;
    TAILQ_HEAD(entry_list, entry) order; /* least recently used first */
    size_t n_bytes, max_bytes;
};

struct cache *cache_new(size_t max_bytes)
{
    struct cache *c = mem_new(struct cache);
    c->by_key = MAP_EMPTY;
    c->max_bytes = max_bytes;
    TAILQ_INIT(&c->order);
    return c;
}

static void drop(struct cache *c, struct entry *e)
{
    TAILQ_REMOVE(&c->order, e, order);
    c->n_bytes -= e->n_bytes;
    map_remove(&c->by_key, e->key);
    free(e->msg);
    free(e);
}

void cache_free(struct cache *c)
{
    if (!c)
        return;
    while (!TAILQ_EMPTY(&c->order))
        drop(c, TAILQ_FIRST(&c->order));
    map_fini(&c->by_key, NULL);
    free(c);
}

/** What an entry costs: itself, its slot twice (the map is half empty after it grew), key and message. */
static size_t cost(const char *key, const struct relay_msg *m)
{
    return sizeof(struct entry) + 2 * sizeof(struct map_slot) + strlen(key) + 1 + sizeof *m + m->len;
}

void cache_put(struct cache *c, const char *key, struct relay_msg *take_msg, int64_t now_ms)
{
    struct entry *old = map_get(&c->by_key, key);
    size_t n_bytes = cost(key, take_msg);
    if (old)
        drop(c, old);
    if (!take_msg->ttl_s || n_bytes > c->max_bytes / LARGEST_SHARE) {
        free(take_msg);
        return;
    }
    while (c->n_bytes + n_bytes > c->max_bytes)
        drop(c, TAILQ_FIRST(&c->order));
    struct entry *e = mem_new(struct entry);
    e->msg = take_msg;
    e->put_ms = now_ms;
    e->n_bytes = n_bytes;
    map_set(&c->by_key, key, e);
    e->key = map_key(&c->by_key, key);
    TAILQ_INSERT_TAIL(&c->order, e, order);
    c->n_bytes += n_bytes;
}

const struct relay_msg *cache_get(struct cache *c, const char *key, int64_t now_ms, uint32_t *age_s)
{
    struct entry *e = map_get(&c->by_key, key);
    if (!e)
        return NULL;
    if (now_ms - e->put_ms >= (int64_t)e->msg->ttl_s * 1000) {
        drop(c, e);
        return NULL;
    }
    TAILQ_REMOVE(&c->order, e, order);
    TAILQ_INSERT_TAIL(&c->order, e, order);
    *age_s = (uint32_t)((now_ms - e->put_ms) / 1000);
    return e->msg;
}

size_t cache_bytes(const struct cache *c)
{
    return c->n_bytes;
}

size_t cache_n_items(const struct cache *c)
{
    return c->by_key.n_items;
}
