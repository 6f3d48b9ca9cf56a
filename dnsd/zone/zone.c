#include "zone/zone.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "bobbin/error.h"
#include "wire/rdata.h"
#include "zone/find.h"
#include "zone/set.h"

enum { MAX_ZONES = 65535 };

static size_t table_size(uint32_t n_slots)
{
    return sizeof(struct zone_table) + n_slots * sizeof(uint16_t);
}

struct zone_table *zone_table_new(const struct zone_version *v)
{
    uint32_t n_slots = 4;
    while (n_slots < v->n_zones * 2)
        n_slots *= 2;
    struct zone_table *t = mem_zalloc(table_size(n_slots));
    t->born = v->number;
    t->mask = n_slots - 1;
    for (uint32_t i = 0; i < v->n_zones; i++) {
        const struct zone *z = &v->zones[i];
        if (z->kind == ZONE_GONE)
            continue;
        t->label_counts |= 1ull << (z->n_labels < 63 ? z->n_labels : 63);
        uint32_t s = (uint32_t)z->apex_hash & t->mask;
        while (t->slots[s])
            s = (s + 1) & t->mask;
        t->slots[s] = (uint16_t)(i + 1);
    }
    return t;
}

struct zoneset *zoneset_new(const struct zoneset_options *opts)
{
    struct zoneset *set = mem_new(struct zoneset);
    struct zone_version *v = mem_new(struct zone_version);
    v->number = 1;
    v->seed = opts ? opts->hash_seed : 0;
    if (opts) {
        set->watcher = opts->watcher;
        set->aliases = opts->aliases;
    }
    v->n_shards = 1;
    v->shard_mask = 1;
    v->pages = mem_array(1, sizeof *v->pages);
    v->pages[0] = mem_new(struct zone_page);
    v->pages[0]->born = v->number;
    v->table = zone_table_new(v);
    atomic_init(&set->current, v);
    set->newest = v;
    set->version_bytes = sizeof *v + sizeof *v->pages + sizeof **v->pages + table_size(v->table->mask + 1);
    return set;
}

void zoneset_free(struct zoneset *set)
{
    if (!set)
        return;
    BUG_IF(set->has_tx);
    struct zone_version *v = set->newest;
    atomic_store(&set->current, v);
    zoneset_reclaim(set, UINT64_MAX);
    if (set->image.memory)
        set->image.release(set->image.memory);
    for (uint32_t i = 0; i < v->n_shards; i++)
        free(v->pages[i / PAGE_SHARDS]->shards[i % PAGE_SHARDS]);
    for (uint32_t i = 0; i < v->n_shards; i += PAGE_SHARDS)
        free(v->pages[i / PAGE_SHARDS]);
    for (uint32_t i = 0; i < v->n_zones; i++)
        free(set->apexes[i]);
    free(set->apexes);
    free(v->pages);
    free((void *)(uintptr_t)v->table);
    free(v);
    free(set);
}

int zone_version_zone(const struct zone_version *v, const uint8_t *apex)
{
    for (uint32_t i = 0; i < v->n_zones; i++)
        if (v->zones[i].kind != ZONE_GONE && name_equal(v->zones[i].apex, apex))
            return (int)i;
    return ERR_NOTFOUND;
}

int zoneset_zone(const struct zoneset *set, const uint8_t *apex)
{
    return zone_version_zone(set->newest, apex);
}

int zoneset_zone_of(const struct zoneset *set, const uint8_t *name)
{
    const struct zone_version *v = set->newest;
    struct name_key key;
    struct zone_hit hit;
    if (name_key_read(name, NAME_MAX_LEN, &key) < 0)
        return ERR_NOTFOUND;
    name_key_hash(&key, v->seed);
    zone_find(v, &key, false, &hit);
    return hit.zone ? hit.zone->number : ERR_NOTFOUND;
}

/** Publish a version with a zone more or less. */
static void publish_zones(struct zone_build *b, const struct zone_version *now)
{
    struct zone_table *table = zone_table_new(b->next);
    b->made_bytes += table_size(table->mask + 1);
    build_retire(b, (void *)(uintptr_t)now->table, table_size(now->table->mask + 1), now->table->born);
    b->next->table = table;
    build_publish(b);
}

/** Revive a retired zone of this apex. @return its number; or ERR_NOTFOUND. */
static int revive(struct zoneset *set, const uint8_t *apex, enum zone_kind kind, uint32_t serial)
{
    const struct zone_version *now = set->newest;
    for (uint32_t i = 0; i < now->n_zones; i++) {
        if (now->zones[i].kind != ZONE_GONE || !name_equal(now->zones[i].apex, apex))
            continue;
        struct zone_build b;
        build_begin(&b, set, now->n_zones);
        struct zone *z = &b.next->zones[i];
        z->kind = (uint8_t)kind;
        if ((int32_t)(serial - 1 - z->serial) > 0)
            z->serial = serial - 1;
        publish_zones(&b, now);
        return (int)i;
    }
    return ERR_NOTFOUND;
}

void zoneset_retire_zone(struct zoneset *set, int zone)
{
    BUG_IF(set->has_tx);
    const struct zone_version *now = set->newest;
    struct zone_build b;
    build_begin(&b, set, now->n_zones);
    b.next->zones[zone].kind = ZONE_GONE;
    publish_zones(&b, now);
}

int zoneset_add_zone(struct zoneset *set, const uint8_t *apex, enum zone_kind kind, uint32_t serial)
{
    BUG_IF(set->has_tx);
    const struct zone_version *now = set->newest;
    struct name_key key;
    if (name_key_read(apex, NAME_MAX_LEN, &key) < 0)
        return ERR_PARSE;
    if (zoneset_zone(set, apex) >= 0)
        return ERR_EXISTS;
    int revived = revive(set, apex, kind, serial);
    if (revived >= 0)
        return revived;
    if (now->n_zones == MAX_ZONES)
        return ERR_LIMIT;
    name_key_hash(&key, now->seed);
    uint32_t number = now->n_zones;
    struct zone_build b;
    build_begin(&b, set, number + 1);
    set->apexes = mem_resize(set->apexes, number + 1u, sizeof *set->apexes);
    set->apexes[number] = mem_copy(key.lower, key.len);
    b.next->n_zones = number + 1;
    b.next->zones[number] = (struct zone){
        .apex = set->apexes[number],
        .apex_hash = key.hash[0],
        .apex_len = key.len,
        .n_labels = key.n_labels,
        .kind = (uint8_t)kind,
        .number = (uint16_t)number,
        .serial = serial - 1,
    };
    publish_zones(&b, now);
    return (int)number;
}

const struct zone_version *zoneset_current(const struct zoneset *set)
{
    return atomic_load(&set->current);
}

const struct zone_version *zoneset_newest(const struct zoneset *set)
{
    return set->newest;
}

void zoneset_gate(struct zoneset *set, const struct zone_gate *gate)
{
    set->gate = *gate;
}

void zoneset_memory(const struct zoneset *set, struct zoneset_memory *out)
{
    out->version_bytes = set->version_bytes;
    out->waiting_bytes = set->waiting_bytes;
    out->n_shards = set->newest->n_shards;
}

uint64_t zone_version_number(const struct zone_version *v)
{
    return v->number;
}

unsigned zone_version_flags(const struct zone_version *v)
{
    return atomic_load_explicit(&v->flags, memory_order_relaxed);
}

unsigned zone_version_n_zones(const struct zone_version *v)
{
    return v->n_zones;
}

void zone_version_info(const struct zone_version *v, unsigned zone, struct zone_info *out)
{
    const struct zone *z = &v->zones[zone];
    *out = (struct zone_info){z->apex, (enum zone_kind)z->kind, z->serial, z->n_nodes, z->n_rrs};
}

/** Visit the records of a set. */
static int dump_set(const struct zone_rrset *set, const uint8_t *owner, const struct zone_visitor *visitor)
{
    const uint8_t *p = set->wire;
    for (uint32_t i = 0; i < set_n_rrs(set); i++) {
        struct zone_rr rr = {
            .owner = owner,
            .type = set_type(set),
            .ttl_s = wire_get32(p + 6),
            .rdata = p + WIRE_RR_HEADER,
            .rdlen = wire_get16(p + 10),
        };
        int stop = visitor->visit(visitor->owner, &rr);
        if (stop)
            return stop;
        p += WIRE_RR_HEADER + rr.rdlen;
    }
    return 0;
}

/** Visit a node's SOA, or all but its SOA. */
static int dump_node(const struct zone_node *n, const struct zone *z, bool is_soa,
                     const struct zone_visitor *visitor)
{
    uint8_t owner[NAME_MAX_LEN];
    memcpy(owner, n->rel, n->rel_len);
    memcpy(owner + n->rel_len, z->apex, z->apex_len);
    for (NODE_EACH_SET(n, set)) {
        bool is_hidden = set_type(set) == DNS_CNAME && n->flags & NODE_NO_ALIAS;
        int stop = !is_hidden && (set_type(set) == DNS_SOA) == is_soa ? dump_set(set, owner, visitor) : 0;
        if (stop)
            return stop;
    }
    return 0;
}

static int dump_shard(const struct zone_shard *s, const struct zone *z, bool is_soa,
                      const struct zone_visitor *visitor)
{
    for (SHARD_EACH_NODE(s, n)) {
        int stop = n->zone == z->number ? dump_node(n, z, is_soa, visitor) : 0;
        if (stop)
            return stop;
    }
    return 0;
}

/** Shards first for the SOA (cursor 0..n-1), then for the rest (n..2n-1). */
int zone_dump_part(const struct zone_version *v, unsigned zone, uint64_t *cursor,
                   const struct zone_visitor *visitor)
{
    enum { SHARDS_A_PART = 4 };
    int stop = 0;
    for (unsigned n = 0; !stop && n < SHARDS_A_PART && *cursor < 2ull * v->n_shards; n++, ++*cursor) {
        const struct zone_shard *s = shard_at(v, (uint32_t)(*cursor % v->n_shards));
        stop = s ? dump_shard(s, &v->zones[zone], *cursor < v->n_shards, visitor) : 0;
    }
    if (stop || *cursor >= 2ull * v->n_shards)
        *cursor = ZONE_DUMP_END;
    return stop;
}

int zone_dump(const struct zone_version *v, unsigned zone, const struct zone_visitor *visitor)
{
    uint64_t cursor = 0;
    int stop = 0;
    while (!stop && cursor != ZONE_DUMP_END)
        stop = zone_dump_part(v, zone, &cursor, visitor);
    return stop;
}
