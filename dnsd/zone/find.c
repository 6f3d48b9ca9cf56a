#include "zone/find.h"

#include <string.h>

#include "wire/rdata.h"
#include "zone/shard.h"

/** The zone whose apex is the longest suffix of the key that starts at label `from` or later, or NULL. */
static const struct zone *pick_zone(const struct zone_version *v, const struct name_key *key, unsigned from,
                                    unsigned *apex_label)
{
    const struct zone_table *t = v->table;
    for (unsigned i = from; i <= key->n_labels; i++) {
        unsigned n_labels = key->n_labels - i;
        if (!(t->label_counts >> (n_labels < 63 ? n_labels : 63) & 1))
            continue;
        const uint8_t *suffix = key->lower + key->start[i];
        size_t len = (size_t)key->len - key->start[i];
        for (uint32_t s = (uint32_t)key->hash[i] & t->mask; t->slots[s]; s = (s + 1) & t->mask) {
            const struct zone *z = &v->zones[t->slots[s] - 1];
            if (z->apex_hash == key->hash[i] && z->apex_len == len && !memcmp(z->apex, suffix, len)) {
                *apex_label = i;
                return z;
            }
        }
    }
    return NULL;
}

static const struct zone_node *get_node(const struct zone_version *v, const struct zone *z,
                                        const struct name_key *key, unsigned label, unsigned apex_label)
{
    uint32_t hash = node_hash(z->number, key->hash[label]);
    size_t rel_len = (size_t)key->start[apex_label] - key->start[label];
    return shard_find(shard_at(v, shard_index(v, hash)), hash, z->number, key->lower + key->start[label],
                      rel_len);
}

/** A delegation or DNAME on the way from the apex down to the name: first one met decides (RFC 1034 4.3.2 3b, RFC 6672). */
static bool find_cut(const struct zone_version *v, const struct name_key *key, struct zone_hit *hit)
{
    for (unsigned i = hit->apex_label + 1u; i-- > 0;) {
        const struct zone_node *n = get_node(v, hit->zone, key, i, hit->apex_label);
        if (!n)
            return false;
        bool is_dname = n->flags & NODE_DNAME && i > 0;
        if (!(n->flags & NODE_CUT) && !is_dname)
            continue;
        hit->match = n->flags & NODE_CUT ? ZONE_CUT : ZONE_DNAME;
        hit->node = n;
        hit->label = (uint8_t)i;
        return true;
    }
    return false;
}

static const uint8_t star[2] = {1, '*'};

/** Ancestors of an existing name exist, so the closest encloser is found by bisection; mostly it is the name above. */
static void find_encloser(const struct zone_version *v, const struct name_key *key, struct zone_hit *hit)
{
    unsigned missing = 0, there = hit->apex_label, middle = 1;
    hit->encloser = get_node(v, hit->zone, key, there, hit->apex_label);
    for (; hit->encloser && missing + 1 < there; middle = (missing + there) / 2) {
        const struct zone_node *n = get_node(v, hit->zone, key, middle, hit->apex_label);
        if (!n) {
            missing = middle;
            continue;
        }
        there = middle;
        hit->encloser = n;
    }
    hit->label = (uint8_t)there;
}

static const struct zone_node *find_wildcard(const struct zone_version *v, const struct name_key *key,
                                             const struct zone_hit *hit)
{
    uint8_t rel[NAME_MAX_LEN + 2];
    size_t len = (size_t)key->start[hit->apex_label] - key->start[hit->label];
    memcpy(rel, star, 2);
    memcpy(rel + 2, key->lower + key->start[hit->label], len);
    uint32_t hash = node_hash(hit->zone->number, name_hash_label(star, key->hash[hit->label]));
    return shard_find(shard_at(v, shard_index(v, hash)), hash, hit->zone->number, rel, len + 2);
}

/** Look into the zone of a hit, if there is one. */
static void find_in_zone(const struct zone_version *v, const struct name_key *key, struct zone_hit *hit)
{
    if (!hit->zone || (hit->zone->n_cuts && find_cut(v, key, hit)))
        return;
    hit->node = get_node(v, hit->zone, key, 0, hit->apex_label);
    if (hit->node) {
        hit->match = ZONE_EXACT;
        return;
    }
    find_encloser(v, key, hit);
    hit->node = hit->encloser ? find_wildcard(v, key, hit) : NULL;
    hit->match = hit->node ? ZONE_WILDCARD : ZONE_MISSING;
}

void zone_find(const struct zone_version *v, const struct name_key *key, bool is_above, struct zone_hit *hit)
{
    unsigned apex_label = 0;
    const struct zone *z = pick_zone(v, key, 0, &apex_label);
    if (z && is_above && apex_label == 0 && key->n_labels > 0) {
        const struct zone *above = pick_zone(v, key, 1, &apex_label);
        z = above ? above : z;
    }
    *hit = (struct zone_hit){.match = ZONE_OUTSIDE, .zone = z, .apex_label = (uint8_t)apex_label};
    find_in_zone(v, key, hit);
}

void zone_find_placed(const struct zone_version *v, const struct name_key *key,
                      const struct zone_place *place, struct zone_hit *hit)
{
    *hit = (struct zone_hit){.match = ZONE_OUTSIDE, .zone = place->zone, .apex_label = place->apex_label};
    find_in_zone(v, key, hit);
}

const struct zone_node *zone_find_glue(const struct zone_version *v, const struct zone *zone,
                                       const struct name_key *key)
{
    if (key->n_labels < zone->n_labels)
        return NULL;
    unsigned apex_label = (unsigned)key->n_labels - zone->n_labels;
    if (memcmp(key->lower + key->start[apex_label], zone->apex, zone->apex_len))
        return NULL;
    return get_node(v, zone, key, 0, apex_label);
}

const struct zone_node *zone_find_apex(const struct zone_version *v, const struct zone *zone)
{
    uint32_t hash = node_hash(zone->number, zone->apex_hash);
    return shard_find(shard_at(v, shard_index(v, hash)), hash, zone->number, zone->apex, 0);
}

uint64_t zone_version_seed(const struct zone_version *v)
{
    return v->seed;
}

bool zone_is_dynamic(const struct zone *zone)
{
    return zone->kind == ZONE_REGISTRY || zone->kind == ZONE_REVERSE;
}

bool zone_has_cuts(const struct zone *zone)
{
    return zone->n_cuts > 0;
}

const uint8_t *zone_apex(const struct zone *zone)
{
    return zone->apex;
}

static void fill_set(const struct zone_rrset *rrs, struct wire_set *set)
{
    set->wire = rrs->wire;
    set->len = rrs->len;
    set->n_rrs = set_n_rrs(rrs);
    set->type = set_type(rrs);
    set->ttl_max_s = UINT32_MAX;
    set->first = 0;
}

bool zone_node_set(const struct zone_node *node, uint16_t type, struct wire_set *set)
{
    for (NODE_EACH_SET(node, rrs)) {
        if (set_type(rrs) != type)
            continue;
        if (type == DNS_CNAME && node->flags & NODE_NO_ALIAS)
            return false;
        fill_set(rrs, set);
        return true;
    }
    return false;
}

bool zone_node_hides_alias(const struct zone_node *node)
{
    return node->flags & NODE_NO_ALIAS;
}

bool zone_node_is_held(const struct zone_node *node)
{
    return node->flags & NODE_HELD;
}

bool zone_node_nth_set(const struct zone_node *node, unsigned n, struct wire_set *set)
{
    for (NODE_EACH_SET(node, rrs)) {
        if ((set_type(rrs) == DNS_CNAME && node->flags & NODE_NO_ALIAS) || n-- > 0)
            continue;
        fill_set(rrs, set);
        return true;
    }
    return false;
}

static void fetch_page(const struct zone_version *v, uint64_t suffix_hash, struct zone_place *place)
{
    place->hash = node_hash(place->zone->number, suffix_hash);
    uint32_t index = shard_index(v, place->hash);
    __builtin_prefetch(&v->pages[index / PAGE_SHARDS]->shards[index % PAGE_SHARDS]);
}

void zone_fetch_page(const struct zone_version *v, const struct name_key *key, struct zone_place *place)
{
    unsigned apex_label = 0;
    place->shard = NULL;
    place->zone = pick_zone(v, key, 0, &apex_label);
    place->apex_label = (uint8_t)apex_label;
    if (place->zone)
        fetch_page(v, key->hash[0], place);
}

void zone_fetch_around(const struct zone_version *v, const struct name_key *key,
                       const struct zone_place *place, struct zone_place *around)
{
    for (unsigned i = 0; i < ZONE_N_AROUND; i++)
        around[i] = (struct zone_place){.zone = place->apex_label ? place->zone : NULL};
    if (!around->zone)
        return;
    fetch_page(v, key->hash[1], &around[ZONE_ABOVE]);
    fetch_page(v, name_hash_label(star, key->hash[1]), &around[ZONE_STAR]);
}

void zone_fetch_shard(const struct zone_version *v, struct zone_place *place)
{
    if (!place->zone)
        return;
    place->shard = shard_at(v, shard_index(v, place->hash));
    __builtin_prefetch(place->shard);
}

void zone_fetch_slot(const struct zone_place *place)
{
    if (place->shard)
        shard_fetch_slot(place->shard, place->hash);
}

bool zone_fetch_node(const struct zone_place *place)
{
    return place->shard && shard_fetch_node(place->shard, place->hash);
}

const struct zone_node *zone_fetched_node(const struct zone_place *place, const uint8_t *name, size_t len)
{
    return shard_find(place->shard, place->hash, place->zone->number, name, len - place->zone->apex_len);
}
