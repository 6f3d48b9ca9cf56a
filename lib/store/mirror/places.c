/* Hash table of a mirror's children. */
#include "store/mirror/places.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/path.h"
#include "store/mirror/tree.h"

enum { SHARD_BITS = 10, N_SHARDS = 1 << SHARD_BITS, SLOTS_LEAST = 4 };

/** The hash stands beside the item, so that an item is touched only when it is the one. */
struct slot {
    uint64_t hash;
    struct mirror_item *item; /* NULL: empty */
};

struct shard {
    struct slot *slots;
    uint32_t n_slots, n_items; /* n_slots is 0 or a power of two */
};

struct mirror_places {
    struct shard shards[N_SHARDS];
};

struct mirror_places *mirror_places_new(void)
{
    return mem_new(struct mirror_places);
}

void mirror_places_free(struct mirror_places *p)
{
    for (size_t i = 0; p && i < N_SHARDS; i++)
        free(p->shards[i].slots);
    free(p);
}

static struct shard *shard_of(const struct mirror_places *p, uint64_t hash)
{
    return (struct shard *)(uintptr_t)&p->shards[hash & (N_SHARDS - 1)];
}

static uint32_t first_slot(const struct shard *s, uint64_t hash)
{
    return (uint32_t)(hash >> SHARD_BITS) & (s->n_slots - 1);
}

static void slot_put(struct shard *s, struct slot slot)
{
    uint32_t i = first_slot(s, slot.hash);
    while (s->slots[i].item)
        i = (i + 1) & (s->n_slots - 1);
    s->slots[i] = slot;
}

static void shard_grow(struct shard *s)
{
    struct shard old = *s;
    s->n_slots = old.n_slots ? old.n_slots * 2 : SLOTS_LEAST;
    s->slots = mem_array(s->n_slots, sizeof *s->slots);
    for (uint32_t i = 0; i < old.n_slots; i++) {
        if (old.slots[i].item)
            slot_put(s, old.slots[i]);
    }
    free(old.slots);
}

size_t mirror_places_add(struct mirror_places *p, struct mirror_item *item, const char *path)
{
    item->hash = hash_bytes(path, strlen(path));
    struct shard *s = shard_of(p, item->hash);
    uint32_t before = s->n_slots;
    if ((s->n_items + 1) * 4 > s->n_slots * 3)
        shard_grow(s);
    slot_put(s, (struct slot){item->hash, item});
    s->n_items++;
    return (s->n_slots - before) * sizeof *s->slots;
}

/** Whether an item whose search begins at slot `first` is found no more when slot `gap`, on the way to `at`, is empty. */
static bool is_cut_off(uint32_t first, uint32_t gap, uint32_t at)
{
    return gap < at ? first <= gap || first > at : first <= gap && first > at;
}

size_t mirror_places_remove(struct mirror_places *p, const struct mirror_item *item)
{
    struct shard *s = shard_of(p, item->hash);
    uint32_t mask = s->n_slots - 1, gap = first_slot(s, item->hash);
    while (s->slots[gap].item != item) {
        BUG_IF(!s->slots[gap].item);
        gap = (gap + 1) & mask;
    }
    for (uint32_t at = (gap + 1) & mask; s->slots[at].item; at = (at + 1) & mask) {
        if (!is_cut_off(first_slot(s, s->slots[at].hash), gap, at))
            continue;
        s->slots[gap] = s->slots[at];
        gap = at;
    }
    s->slots[gap].item = NULL;
    if (--s->n_items)
        return 0;
    size_t freed = s->n_slots * sizeof *s->slots;
    free(s->slots);
    *s = (struct shard){0};
    return freed;
}

struct mirror_item *mirror_places_find(const struct mirror_places *p, const char *path, size_t len)
{
    uint64_t hash = hash_bytes(path, len);
    const struct shard *s = shard_of(p, hash);
    if (!s->n_slots)
        return NULL;
    const char *name = path_name_in(path, len);
    size_t name_len = (size_t)(path + len - name);
    for (uint32_t i = first_slot(s, hash); s->slots[i].item; i = (i + 1) & (s->n_slots - 1)) {
        struct mirror_item *item = s->slots[i].item;
        if (s->slots[i].hash != hash)
            continue;
        mem_prefetch(item, sizeof *item + name_len);
        if (strncmp(item->name, name, name_len) == 0 && !item->name[name_len])
            return item;
    }
    return NULL;
}
