/*
 * A transaction collects edits by name (touches). Applying them goes through three steps:
 *   1 names, deepest first: merge each with its node; a node that is added or deleted touches its parent,
 *     a visible change touches the apex of its zone (serial);
 *   2 shards are split until they are small enough for the new number of nodes;
 *   3 each shard with changed nodes is made anew.
 * A large transaction applies what it has every FLUSH_EDITS edits, so its memory stays bounded.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "bobbin/error.h"
#include "wire/rdata.h"
#include "zone/find.h"
#include "zone/merge.h"
#include "zone/set.h"

enum {
    FLUSH_EDITS = 65536,
    TTL_MAX_S = 0x7fffffff,
    CACHE_LINE = 64,
    FETCHED_TOUCHES = 32, /* more would evict the first */
    FETCHED_BYTES = 3072, /* what most shards have */
};

/** A name that a transaction touches. */
struct zone_touch {
    struct zone_touch *next_hash, *next_level;
    struct zone_edit *edits, **edits_end;
    uint32_t n_edits;
    uint32_t hash;
    uint16_t zone;
    uint8_t len, rel_len, n_labels;
    bool is_changed;
    uint8_t hold; /* enum node_hold: of the last zone_tx_hold */
    int64_t more_children;
    const struct zone_node *made; /* NULL: the node is deleted */
    const uint8_t *name;          /* whole name, lower case */
};

struct zone_tx {
    struct zone_build build;
    struct arena *arena;
    struct zone_touch **buckets;
    uint32_t bucket_mask;
    uint32_t n_touches, n_edits;
    struct zone_touch *levels[NAME_LABELS_MAX + 1]; /* by number of labels */
    struct node_outcome outcome;
    uint32_t n_zones_changed;
    uint64_t n_nodes_changed;
};

static void tx_clear(struct zone_tx *tx)
{
    arena_free(tx->arena);
    tx->arena = arena_new(16384);
    free(tx->buckets);
    tx->bucket_mask = 63;
    tx->buckets = mem_array(tx->bucket_mask + 1, sizeof *tx->buckets);
    tx->n_touches = tx->n_edits = 0;
    memset(tx->levels, 0, sizeof tx->levels);
}

struct zone_tx *zone_tx_begin(struct zoneset *set)
{
    BUG_IF(set->has_tx);
    set->has_tx = true;
    struct zone_tx *tx = mem_new(struct zone_tx);
    build_begin(&tx->build, set, set->newest->n_zones);
    tx_clear(tx);
    return tx;
}

static void tx_free(struct zone_tx *tx)
{
    tx->build.set->has_tx = false;
    arena_free(tx->arena);
    free(tx->buckets);
    free(tx);
}

void zone_tx_abort(struct zone_tx *tx)
{
    build_abort(&tx->build);
    tx_free(tx);
}

static void grow_buckets(struct zone_tx *tx)
{
    uint32_t mask = tx->bucket_mask * 4 + 3;
    struct zone_touch **buckets = mem_array(mask + 1u, sizeof *buckets);
    for (uint32_t i = 0; i <= tx->bucket_mask; i++) {
        for (struct zone_touch *t = tx->buckets[i], *next; t; t = next) {
            next = t->next_hash;
            t->next_hash = buckets[t->hash & mask];
            buckets[t->hash & mask] = t;
        }
    }
    free(tx->buckets);
    tx->buckets = buckets;
    tx->bucket_mask = mask;
}

/** Prefetch the shard of a name, which the commit reads whole, while the next edit is prepared. */
static void fetch_shard(const struct zone_tx *tx, uint32_t hash)
{
    const struct zone_version *v = tx->build.next;
    const char *shard = (const char *)shard_at(v, shard_index(v, hash));
    if (tx->n_touches > FETCHED_TOUCHES || !shard)
        return;
    for (size_t at = 0; at < FETCHED_BYTES; at += CACHE_LINE)
        __builtin_prefetch(shard + at);
}

/** The touch of a name, made when it is not there. @param key hashed. */
static struct zone_touch *touch_get(struct zone_tx *tx, const struct zone *z, const struct name_key *key)
{
    uint32_t hash = node_hash(z->number, key->hash[0]);
    for (struct zone_touch *t = tx->buckets[hash & tx->bucket_mask]; t; t = t->next_hash)
        if (t->hash == hash && t->zone == z->number && t->len == key->len &&
            !memcmp(t->name, key->lower, t->len))
            return t;
    if (tx->n_touches > tx->bucket_mask)
        grow_buckets(tx);
    struct zone_touch *t = arena_new_obj(tx->arena, struct zone_touch);
    t->edits_end = &t->edits;
    t->hash = hash;
    t->zone = z->number;
    t->len = key->len;
    t->rel_len = (uint8_t)(key->len - z->apex_len);
    t->n_labels = key->n_labels;
    t->name = (uint8_t *)arena_strn(tx->arena, (const char *)key->lower, key->len);
    t->next_hash = tx->buckets[hash & tx->bucket_mask];
    tx->buckets[hash & tx->bucket_mask] = t;
    t->next_level = tx->levels[t->n_labels];
    tx->levels[t->n_labels] = t;
    tx->n_touches++;
    fetch_shard(tx, hash);
    return t;
}

static struct zone_touch *touch_name(struct zone_tx *tx, const struct zone *z, const uint8_t *name)
{
    struct name_key key;
    BUG_IF(name_key_read(name, NAME_MAX_LEN, &key) < 0);
    name_key_hash(&key, tx->build.next->seed);
    return touch_get(tx, z, &key);
}

/** The zone differs for readers: raise its serial, once a version. */
static void mark_changed(struct zone_tx *tx, struct zone *z)
{
    if (z->changed_in == tx->build.next->number)
        return;
    z->changed_in = tx->build.next->number;
    z->serial++;
    tx->n_zones_changed++;
    touch_name(tx, z, z->apex);
}

static int64_t cuts_of(const struct zone_node *n)
{
    return n && n->flags & (NODE_CUT | NODE_DNAME);
}

/** Account for a merged node in its zone, and touch its parent when it was added or deleted. */
static void settle_node(struct zone_tx *tx, struct zone *z, const struct zone_touch *t,
                        const struct zone_node *old)
{
    int64_t came = (t->made != NULL) - (old != NULL);
    tx->build.next->n_nodes += (uint64_t)came;
    z->n_nodes += (uint64_t)came;
    z->n_cuts += (uint64_t)(cuts_of(t->made) - cuts_of(old));
    if (came && t->rel_len)
        touch_name(tx, z, t->name + t->name[0] + 1)->more_children += came;
}

/** A CNAME gave way to other records, or came back. */
static void notify_alias(const struct zoneset *set, const struct zone_touch *t, const struct zone_node *old)
{
    bool was_hidden = old && old->flags & NODE_NO_ALIAS,
         is_hidden = t->made && t->made->flags & NODE_NO_ALIAS;
    if (was_hidden != is_hidden)
        set->aliases.change(set->aliases.owner, t->name, is_hidden);
}

static void merge_touch(struct zone_tx *tx, struct zone_touch *t, struct buf *scratch)
{
    struct zone_version *v = tx->build.next;
    struct zone *z = &v->zones[t->zone];
    const struct zone_node *old =
        shard_find(shard_at(v, shard_index(v, t->hash)), t->hash, t->zone, t->name, t->rel_len);
    mem_auto struct zone_edit **edits = mem_array(t->n_edits, sizeof *edits);
    size_t n = 0;
    for (struct zone_edit *edit = t->edits; edit; edit = edit->next)
        edits[n++] = edit;
    node_sort_edits(edits, n);
    struct node_change change = {
        .old = old,
        .edits = edits,
        .n_edits = n,
        .more_children = t->more_children,
        .hold = (enum node_hold)t->hold,
        .hash = t->hash,
        .zone = t->zone,
        .rel_len = t->rel_len,
        .is_apex = !t->rel_len,
        .hides_alias = tx->build.set->aliases.change != NULL,
        .name = t->name,
        .watcher = &tx->build.set->watcher,
    };
    struct node_outcome o = {0};
    node_merge(&change, scratch, &o);
    z->n_rrs += o.n_added - o.n_removed;
    tx->outcome.n_added += o.n_added;
    tx->outcome.n_removed += o.n_removed;
    tx->outcome.n_missing += o.n_missing;
    if (o.is_visible)
        mark_changed(tx, z);
    bool is_serial = !t->rel_len && z->changed_in == v->number && scratch->len;
    if (is_serial)
        node_put_serial((struct zone_node *)(void *)scratch->bytes, z->serial);
    t->is_changed = o.is_changed || o.is_visible || is_serial;
    if (!t->is_changed)
        return;
    t->made = NULL;
    if (scratch->len)
        t->made = memcpy(arena_alloc(tx->arena, scratch->len), scratch->bytes, scratch->len);
    settle_node(tx, z, t, old);
    notify_alias(tx->build.set, t, old);
    tx->n_nodes_changed++;
}

/** Step 1. Touching a shallower name, or the apex, while a level is worked on is what makes this one pass. */
static void merge_all(struct zone_tx *tx)
{
    buf_auto struct buf scratch = BUF_EMPTY;
    for (unsigned level = NAME_LABELS_MAX + 1; level-- > 0;) {
        struct zone_touch *t;
        while ((t = tx->levels[level])) {
            tx->levels[level] = t->next_level;
            merge_touch(tx, t, &scratch);
        }
    }
}

/** Order of addresses, to walk a shard and a list of its nodes side by side. */
static int compare_addresses(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t) * (const struct zone_node *const *)a,
              y = (uintptr_t) * (const struct zone_node *const *)b;
    return (x > y) - (x < y);
}

/** Step 3 for one shard: old nodes that were not touched, then the new form of those that were. */
static void remake_shard(struct zone_tx *tx, uint32_t index, struct zone_touch *const *touches, size_t n)
{
    const struct zone_shard *s = shard_at(tx->build.next, index);
    mem_auto const struct zone_node **gone = mem_array(n, sizeof *gone);
    mem_auto const struct zone_node **keep = mem_array(n + (s ? s->n_nodes : 0), sizeof *keep);
    size_t n_gone = 0, n_keep = 0, next = 0;
    for (size_t i = 0; i < n; i++) {
        const struct zone_touch *t = touches[i];
        const struct zone_node *old = shard_find(s, t->hash, t->zone, t->name, t->rel_len);
        if (old)
            gone[n_gone++] = old;
        if (t->made)
            keep[n_keep++] = t->made;
    }
    qsort(gone, n_gone, sizeof *gone, compare_addresses);
    if (s) {
        for (SHARD_EACH_NODE(s, node)) {
            if (next < n_gone && gone[next] == node)
                next++;
            else
                keep[n_keep++] = node;
        }
    }
    build_put_shard(&tx->build, index, shard_new(keep, n_keep, tx->build.next->number));
}

struct placed_touch {
    struct zone_touch *touch;
    uint32_t shard;
};

static int compare_placed(const void *a, const void *b)
{
    uint32_t x = ((const struct placed_touch *)a)->shard, y = ((const struct placed_touch *)b)->shard;
    return (x > y) - (x < y);
}

/** Step 3. */
static void remake_shards(struct zone_tx *tx)
{
    mem_auto struct placed_touch *placed = mem_array(tx->n_touches, sizeof *placed);
    mem_auto struct zone_touch **group = mem_array(tx->n_touches, sizeof *group);
    size_t n = 0;
    for (uint32_t i = 0; i <= tx->bucket_mask; i++)
        for (struct zone_touch *t = tx->buckets[i]; t; t = t->next_hash)
            if (t->is_changed)
                placed[n++] = (struct placed_touch){t, shard_index(tx->build.next, t->hash)};
    qsort(placed, n, sizeof *placed, compare_placed);
    for (size_t i = 0, n_group; i < n; i += n_group) {
        for (n_group = 0; i + n_group < n && placed[i + n_group].shard == placed[i].shard; n_group++)
            group[n_group] = placed[i + n_group].touch;
        remake_shard(tx, placed[i].shard, group, n_group);
    }
}

static void tx_apply(struct zone_tx *tx)
{
    merge_all(tx);
    build_grow(&tx->build, tx->build.next->n_nodes);
    remake_shards(tx);
}

void zone_tx_apply(struct zone_tx *tx)
{
    tx_apply(tx);
    tx_clear(tx);
}

uint32_t zone_tx_n_edits(const struct zone_tx *tx)
{
    return tx->n_edits;
}

/** The zone of a record. @return NULL: none. */
static struct zone *zone_of(struct zone_tx *tx, int zone, const struct name_key *key)
{
    struct zone_version *v = tx->build.next;
    struct zone_hit hit;
    if (zone == ZONE_BY_NAME) {
        zone_find(v, key, false, &hit);
        return hit.zone ? &v->zones[hit.zone->number] : NULL;
    }
    if (zone < 0 || (uint32_t)zone >= v->n_zones || !name_is_within(key->lower, v->zones[zone].apex))
        return NULL;
    return &v->zones[zone];
}

static void apply_many(struct zone_tx *tx)
{
    if (tx->n_edits == FLUSH_EDITS)
        zone_tx_apply(tx);
}

static int tx_edit(struct zone_tx *tx, int zone, const struct zone_rr *rr, bool is_add)
{
    struct name_key key;
    if (name_key_read(rr->owner, NAME_MAX_LEN, &key) < 0 || rr->ttl_s > TTL_MAX_S ||
        !dns_type_is_data(rr->type) || rdata_check(rr->type, rr->rdata, rr->rdlen))
        return ERR_PARSE;
    name_key_hash(&key, tx->build.next->seed);
    const struct zone *z = zone_of(tx, zone, &key);
    if (!z)
        return ERR_NOTFOUND;
    struct zone_touch *t = touch_get(tx, z, &key);
    struct zone_edit *edit = arena_alloc(tx->arena, sizeof *edit + rr->rdlen);
    edit->sequence = tx->n_edits++;
    edit->ttl_s = rr->ttl_s;
    edit->type = rr->type;
    edit->rdlen = rr->rdlen;
    edit->is_add = is_add;
    memcpy(edit->rdata, rr->rdata, rr->rdlen);
    *t->edits_end = edit;
    t->edits_end = &edit->next;
    t->n_edits++;
    apply_many(tx);
    return 0;
}

int zone_tx_add(struct zone_tx *tx, int zone, const struct zone_rr *rr)
{
    return tx_edit(tx, zone, rr, true);
}

int zone_tx_remove(struct zone_tx *tx, int zone, const struct zone_rr *rr)
{
    return tx_edit(tx, zone, rr, false);
}

int zone_tx_hold(struct zone_tx *tx, int zone, const uint8_t *owner, bool is_held)
{
    struct name_key key;
    if (name_key_read(owner, NAME_MAX_LEN, &key) < 0)
        return ERR_PARSE;
    name_key_hash(&key, tx->build.next->seed);
    const struct zone *z = zone_of(tx, zone, &key);
    if (!z)
        return ERR_NOTFOUND;
    touch_get(tx, z, &key)->hold = is_held ? NODE_HOLD_BEGINS : NODE_HOLD_ENDS;
    tx->n_edits++;
    apply_many(tx);
    return 0;
}

void zone_tx_raise_serial(struct zone_tx *tx, int zone, uint32_t serial)
{
    struct zone *z = &tx->build.next->zones[zone];
    if (!zone_serial_rises(z->serial, serial))
        return;
    bool is_counted = z->changed_in == tx->build.next->number;
    z->serial = is_counted ? serial : serial - 1;
    if (is_counted)
        touch_name(tx, z, z->apex);
    else
        mark_changed(tx, z);
}

void zone_tx_commit(struct zone_tx *tx, unsigned flags, struct zone_commit *done)
{
    struct zoneset *set = tx->build.set;
    tx_apply(tx);
    bool is_change = tx->n_nodes_changed || flags != tx->build.next->flags;
    tx->build.next->flags = flags;
    if (is_change)
        build_publish(&tx->build);
    else
        build_abort(&tx->build);
    if (done)
        *done = (struct zone_commit){
            .version = set->newest->number,
            .n_zones = tx->n_zones_changed,
            .n_added = tx->outcome.n_added,
            .n_removed = tx->outcome.n_removed,
            .n_missing = tx->outcome.n_missing,
        };
    tx_free(tx);
}
