#include "zone/shard.h"

#include <string.h>

#include "base/mem.h"
#include "base/obj.h"

enum { SLOT_OFFSET_BITS = 26, SLOT_OFFSET_MASK = (1 << SLOT_OFFSET_BITS) - 1 };

static inline uint32_t hash_tag(uint32_t hash)
{
    return hash & ~(uint32_t)SLOT_OFFSET_MASK;
}

static inline uint32_t hash_slot(uint32_t hash, uint32_t mask)
{
    return hash >> 16 & mask;
}

static void shard_insert(struct zone_shard *s, uint32_t hash, size_t offset)
{
    uint32_t i = hash_slot(hash, s->slot_mask);
    while (s->slots[i])
        i = (i + 1) & s->slot_mask;
    s->slots[i] = hash_tag(hash) | (uint32_t)(offset / 4);
}

struct zone_shard *shard_new(const struct zone_node *const *nodes, size_t n_nodes, uint64_t born)
{
    if (!n_nodes)
        return NULL;
    size_t n_slots = 2;
    while (n_slots * 2 < n_nodes * 3)
        n_slots *= 2;
    size_t size = offsetof(struct zone_shard, slots) + n_slots * sizeof(uint32_t);
    size_t at = size;
    for (size_t i = 0; i < n_nodes; i++)
        size += nodes[i]->size;
    BUG_IF(size / 4 > SLOT_OFFSET_MASK);
    struct zone_shard *s = mem_alloc(size);
    s->born = born;
    s->size = (uint32_t)size;
    s->n_nodes = (uint32_t)n_nodes;
    s->slot_mask = (uint32_t)n_slots - 1;
    memset(s->slots, 0, n_slots * sizeof(uint32_t));
    for (size_t i = 0; i < n_nodes; i++) {
        memcpy((uint8_t *)s + at, nodes[i], nodes[i]->size);
        shard_insert(s, nodes[i]->hash, at);
        at += nodes[i]->size;
    }
    return s;
}

const struct zone_node *shard_find(const struct zone_shard *s, uint32_t hash, unsigned zone,
                                   const uint8_t *rel, size_t rel_len)
{
    if (!s)
        return NULL;
    for (uint32_t i = hash_slot(hash, s->slot_mask); s->slots[i]; i = (i + 1) & s->slot_mask) {
        if (hash_tag(s->slots[i]) != hash_tag(hash))
            continue;
        size_t offset = (size_t)(s->slots[i] & SLOT_OFFSET_MASK) * 4;
        const struct zone_node *n = (const struct zone_node *)(const void *)((const uint8_t *)s + offset);
        if (n->hash == hash && n->zone == zone && n->rel_len == rel_len && !memcmp(n->rel, rel, rel_len))
            return n;
    }
    return NULL;
}

bool shard_has_slot(const struct zone_shard *s, const struct zone_node *n)
{
    uint32_t slot = hash_tag(n->hash) | (uint32_t)(((const uint8_t *)n - (const uint8_t *)s) / 4);
    uint32_t i = hash_slot(n->hash, s->slot_mask);
    while (s->slots[i] && s->slots[i] != slot)
        i = (i + 1) & s->slot_mask;
    return s->slots[i] != 0;
}

void shard_fetch_slot(const struct zone_shard *s, uint32_t hash)
{
    __builtin_prefetch(&s->slots[hash_slot(hash, s->slot_mask)]);
}

bool shard_fetch_node(const struct zone_shard *s, uint32_t hash)
{
    for (uint32_t i = hash_slot(hash, s->slot_mask); s->slots[i]; i = (i + 1) & s->slot_mask) {
        if (hash_tag(s->slots[i]) != hash_tag(hash))
            continue;
        const uint8_t *node = (const uint8_t *)s + (size_t)(s->slots[i] & SLOT_OFFSET_MASK) * 4;
        __builtin_prefetch(node);
        __builtin_prefetch(node + 64);
        __builtin_prefetch(node + 128);
        return true;
    }
    return false;
}
