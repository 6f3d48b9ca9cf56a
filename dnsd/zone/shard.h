/**
 * How a version lies in memory. For the files of this folder; others use zone.h and find.h.
 *
 *     version ─ pages[] ─ page: 64 shard pointers ─ shard: one block
 *
 *     shard   | header | slots: u32 each, tag 6 bits, offset/4 26 bits | node | node | … |
 *     node    | header 16 | name before the apex, padded to 4 | set | set | … |
 *     set     | header 8 | n_rrs records as `struct wire_set` has them, padded to 4 | counts |
 *     counts  only when some record has more than one contribution or a TTL of its own: per record ttl, count
 *
 * Which shard: linear hashing. With n shards and p the largest power of two <= n, a hash goes to h mod 2p when that is
 * below n, else to h mod p; shard n - p is split to make shard n. So a zone grows one shard at a time, and no commit ever
 * rehashes everything. Low bits of the hash choose the shard, bits 16.. the first slot, the top 6 bits are the tag.
 *
 * Some SHARD_NODES names a shard: a commit copies a few shards whole, so small ones make commits cheap; much smaller ones
 * cost memory in headers. (bench/dns/commit measures it.)
 *
 * Source: ours; linear hashing: Litwin 1980.
 */
#ifndef ZONE_SHARD_H
#define ZONE_SHARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/write.h"
#include "zone/zone.h"

#define SHARD_NODES 32
#define PAGE_SHARDS 64

enum {
    NODE_CUT = 1,      /* NS below the apex: answers are referrals */
    NODE_DNAME = 2,    /* names below are redirected */
    NODE_NO_ALIAS = 4, /* its CNAME is beside other records, and hidden */
    NODE_HELD = 8,     /* zone_tx_hold */
};

struct zone_node {
    uint32_t hash;
    uint32_t size; /* octets, header and sets included; a multiple of 4 */
    uint16_t zone;
    uint8_t rel_len; /* octets of the name before the apex */
    uint8_t flags;
    uint32_t n_children; /* nodes one label below */
    uint8_t rel[];
};

struct zone_rrset {
    uint32_t n_rrs_and_counts; /* n_rrs << 1 | has counts */
    uint32_t len;              /* octets of wire */
    uint8_t wire[];
};

/** Bookkeeping of one record, where it is not "one contribution, TTL of the set". */
struct zone_count {
    uint32_t ttl_s, n;
};

struct zone_shard {
    uint64_t born; /* number of the version that made it */
    uint32_t size; /* octets of the block */
    uint32_t n_nodes;
    uint32_t slot_mask;
    uint32_t slots[];
};

struct zone_page {
    uint64_t born;
    struct zone_shard *shards[PAGE_SHARDS];
};

/** Zone numbers by hash of the apex; shared by all versions until a zone is added. */
struct zone_table {
    uint64_t born;         /* number of the version that made it */
    uint64_t label_counts; /* bit n: some apex has n labels (bit 63: 63 or more) */
    uint32_t mask;
    uint16_t slots[]; /* number + 1, or 0 */
};

struct zone {
    const uint8_t *apex; /* lower case; lives as long as the set */
    uint64_t apex_hash;
    uint8_t apex_len, n_labels;
    uint8_t kind;
    uint16_t number;
    uint32_t serial;
    uint64_t changed_in; /* number of the last version that changed it */
    uint64_t n_nodes, n_rrs;
    uint64_t n_cuts; /* nodes with NODE_CUT or NODE_DNAME: 0 spares the search for them */
};

struct zone_version {
    uint64_t number;
    uint64_t seed;
    _Atomic(unsigned) flags; /* of a version that readers see, the writer may change them */
    uint32_t n_shards, shard_mask;
    uint64_t n_nodes;
    const struct zone_table *table;
    struct zone_page **pages;
    uint32_t n_zones;
    struct zone zones[];
};

static inline size_t pad4(size_t n)
{
    return (n + 3) & ~(size_t)3;
}

/** Hash of a node: the same name has another one in each zone. */
static inline uint32_t node_hash(unsigned zone, uint64_t suffix_hash)
{
    uint64_t h = (suffix_hash ^ (zone * 0x9e3779b97f4a7c15u)) * 0xd6e8feb86659fd93u;
    return (uint32_t)(h >> 32);
}

static inline uint32_t shard_index(const struct zone_version *v, uint32_t hash)
{
    uint32_t i = hash & v->shard_mask;
    return i < v->n_shards ? i : i & (v->shard_mask >> 1);
}

static inline const struct zone_shard *shard_at(const struct zone_version *v, uint32_t index)
{
    return v->pages[index / PAGE_SHARDS]->shards[index % PAGE_SHARDS];
}

static inline uint32_t set_n_rrs(const struct zone_rrset *set)
{
    return set->n_rrs_and_counts >> 1;
}

static inline bool set_has_counts(const struct zone_rrset *set)
{
    return set->n_rrs_and_counts & 1;
}

static inline uint16_t set_type(const struct zone_rrset *set)
{
    return (uint16_t)(set->wire[2] << 8 | set->wire[3]);
}

static inline const struct zone_count *set_counts(const struct zone_rrset *set)
{
    return (const struct zone_count *)(const void *)(set->wire + pad4(set->len));
}

static inline const struct zone_rrset *node_first_set(const struct zone_node *n)
{
    return (const struct zone_rrset *)(const void *)(n->rel + pad4(n->rel_len));
}

static inline const struct zone_rrset *set_next(const struct zone_rrset *set)
{
    size_t counts = set_has_counts(set) ? set_n_rrs(set) * sizeof(struct zone_count) : 0;
    return (const struct zone_rrset *)(const void *)(set->wire + pad4(set->len) + counts);
}

static inline const struct zone_rrset *node_end(const struct zone_node *n)
{
    return (const struct zone_rrset *)(const void *)((const uint8_t *)n + n->size);
}

#define NODE_EACH_SET(n, set)                                                                                \
    const struct zone_rrset *set = node_first_set(n);                                                        \
    set < node_end(n);                                                                                       \
    set = set_next(set)

static inline const struct zone_node *shard_first_node(const struct zone_shard *s)
{
    return (const struct zone_node *)(const void *)(s->slots + s->slot_mask + 1);
}

static inline const struct zone_node *node_next(const struct zone_node *n)
{
    return (const struct zone_node *)(const void *)((const uint8_t *)n + n->size);
}

static inline const struct zone_node *shard_end(const struct zone_shard *s)
{
    return (const struct zone_node *)(const void *)((const uint8_t *)s + s->size);
}

#define SHARD_EACH_NODE(s, n)                                                                                \
    const struct zone_node *n = shard_first_node(s);                                                         \
    n < shard_end(s);                                                                                        \
    n = node_next(n)

/**
 * Make a shard of copies of nodes.
 *
 * @param nodes  n_nodes nodes, all different                                    [borrowed]
 * @param born   number of the version being built
 * @return the shard, free() releases it; NULL when n_nodes is 0.   Thread: writer.
 */
struct zone_shard *shard_new(const struct zone_node *const *nodes, size_t n_nodes, uint64_t born);

/**
 * The node with this hash, zone and name, or NULL.
 *
 * @param s    shard, may be NULL (empty)                                        [borrowed]
 * @param rel  rel_len octets of lower case name before the apex                 [borrowed]
 * Thread: any.
 */
const struct zone_node *shard_find(const struct zone_shard *s, uint32_t hash, unsigned zone,
                                   const uint8_t *rel, size_t rel_len);

/** Does the hash of a node of the shard lead to it? There is an empty slot. Thread: any. */
bool shard_has_slot(const struct zone_shard *s, const struct zone_node *n);
/** Fetch the first slot of a hash into the cache. Thread: any. */
void shard_fetch_slot(const struct zone_shard *s, uint32_t hash);
/** Fetch the first node whose tag is the hash's. @return whether there is one. Thread: any. */
bool shard_fetch_node(const struct zone_shard *s, uint32_t hash);

#endif
