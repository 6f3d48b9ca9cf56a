#include "tap/ring.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"

enum { ALIGN = 8, CACHE_LINE = 64 };

/* Positions count octets since the beginning and never go back; the place of one is its rest by the size. */
struct tap_ring {
    size_t size;
    uint8_t *bytes;
    _Alignas(CACHE_LINE) _Atomic size_t written; /* by the writer */
    _Atomic uint64_t n_lost;                     /* by the writer */
    size_t seen_read;                            /* the writer's: what `read` was when it looked */
    _Alignas(CACHE_LINE) _Atomic size_t read;    /* by the reader */
};

struct tap_ring *tap_ring_new(size_t size)
{
    BUG_IF(size < 4096 || size & (size - 1));
    struct tap_ring *r = aligned_alloc(CACHE_LINE, sizeof *r);
    BUG_IF(!r);
    memset(r, 0, sizeof *r);
    r->size = size;
    r->bytes = mem_zalloc(size);
    return r;
}

void tap_ring_free(struct tap_ring *r)
{
    if (!r)
        return;
    free(r->bytes);
    free(r);
}

static struct tap_entry *entry_at(const struct tap_ring *r, size_t position)
{
    return (struct tap_entry *)(void *)(r->bytes + (position & (r->size - 1)));
}

/** Is there room for n octets at a position? Looks at the reader's mark only when it seems not. */
static bool has_room(struct tap_ring *r, size_t position, size_t n)
{
    if (position + n - r->seen_read <= r->size)
        return true;
    r->seen_read = atomic_load_explicit(&r->read, memory_order_acquire);
    return position + n - r->seen_read <= r->size;
}

bool tap_ring_put(struct tap_ring *r, const struct tap_entry *e, const uint8_t *query,
                  const uint8_t *response)
{
    size_t at = atomic_load_explicit(&r->written, memory_order_relaxed);
    size_t len = (sizeof *e + e->query_len + e->said_len + ALIGN - 1) / ALIGN * ALIGN;
    size_t to_end = r->size - (at & (r->size - 1));
    size_t skipped = to_end < len ? to_end : 0;
    if (!has_room(r, at, skipped + len)) {
        uint64_t n = atomic_load_explicit(&r->n_lost, memory_order_relaxed);
        atomic_store_explicit(&r->n_lost, n + 1, memory_order_relaxed);
        return false;
    }
    if (skipped) { /* at least ALIGN octets: room for the first two fields */
        entry_at(r, at)->len = (uint32_t)skipped;
        entry_at(r, at)->sinks = 0;
        at += skipped;
    }
    struct tap_entry *out = entry_at(r, at);
    uint8_t *octets = (uint8_t *)(out + 1);
    *out = *e;
    out->len = (uint32_t)len;
    if (e->query_len)
        memcpy(octets, query, e->query_len);
    if (e->said_len)
        memcpy(octets + e->query_len, response, e->said_len);
    atomic_store_explicit(&r->written, at + len, memory_order_release);
    return true;
}

const struct tap_entry *tap_ring_oldest(struct tap_ring *r, const uint8_t **query)
{
    size_t at = atomic_load_explicit(&r->read, memory_order_relaxed);
    if (at == atomic_load_explicit(&r->written, memory_order_acquire))
        return NULL;
    const struct tap_entry *e = entry_at(r, at);
    if (!e->sinks) { /* an entry follows: both were published together */
        at += e->len;
        atomic_store_explicit(&r->read, at, memory_order_release);
        e = entry_at(r, at);
    }
    *query = (const uint8_t *)(e + 1);
    return e;
}

void tap_ring_drop(struct tap_ring *r)
{
    size_t at = atomic_load_explicit(&r->read, memory_order_relaxed);
    atomic_store_explicit(&r->read, at + entry_at(r, at)->len, memory_order_release);
}

uint64_t tap_ring_n_lost(const struct tap_ring *r)
{
    return atomic_load_explicit(&r->n_lost, memory_order_relaxed);
}
