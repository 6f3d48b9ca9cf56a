#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "zone/set.h"

static size_t n_pages(const struct zone_version *v)
{
    return (v->n_shards + PAGE_SHARDS - 1) / PAGE_SHARDS;
}

static size_t version_size(uint32_t n_zones)
{
    return sizeof(struct zone_version) + n_zones * sizeof(struct zone);
}

static void garbage_add(struct zone_garbage_list *list, struct zone_garbage item)
{
    if (list->n_items == list->cap) {
        list->cap = list->cap ? list->cap * 2 : 16;
        list->items = mem_resize(list->items, list->cap, sizeof *list->items);
    }
    list->items[list->n_items++] = item;
}

void build_begin(struct zone_build *b, struct zoneset *set, uint32_t n_zones)
{
    const struct zone_version *now = set->newest;
    *b = (struct zone_build){.set = set};
    b->next = mem_alloc(version_size(n_zones));
    memcpy(b->next, now, version_size(now->n_zones));
    b->next->number = (now->number > set->last_number ? now->number : set->last_number) + 1;
    b->next->pages = mem_copy(now->pages, n_pages(now) * sizeof *now->pages);
}

void build_retire(struct zone_build *b, void *memory, size_t size, uint64_t born)
{
    if (born == b->next->number) {
        b->made_bytes -= size;
        free(memory);
        return;
    }
    b->garbage_bytes += size;
    garbage_add(&b->garbage, (struct zone_garbage){memory, size, born, NULL});
}

/** The page, as the build's own. */
static struct zone_page *own_page(struct zone_build *b, uint32_t page)
{
    struct zone_page *p = b->next->pages[page];
    if (p->born == b->next->number)
        return p;
    struct zone_page *copy = mem_copy(p, sizeof *p);
    copy->born = b->next->number;
    b->made_bytes += sizeof *copy;
    build_retire(b, p, sizeof *p, p->born);
    b->next->pages[page] = copy;
    return copy;
}

void build_put_shard(struct zone_build *b, uint32_t index, struct zone_shard *take_shard)
{
    struct zone_page *page = own_page(b, index / PAGE_SHARDS);
    struct zone_shard *old = page->shards[index % PAGE_SHARDS];
    if (old)
        build_retire(b, old, old->size, old->born);
    page->shards[index % PAGE_SHARDS] = take_shard;
    b->made_bytes += take_shard ? take_shard->size : 0;
}

static void add_shard_place(struct zone_build *b)
{
    struct zone_version *v = b->next;
    if (v->n_shards % PAGE_SHARDS == 0) {
        size_t n = n_pages(v);
        v->pages = mem_resize(v->pages, n + 1, sizeof *v->pages);
        v->pages[n] = mem_new(struct zone_page);
        v->pages[n]->born = v->number;
        b->made_bytes += sizeof(struct zone_page);
    }
    v->n_shards++;
    while (v->n_shards > v->shard_mask)
        v->shard_mask = v->shard_mask * 2 + 1;
}

/** Split one shard into two (see shard.h). */
static void split_one(struct zone_build *b)
{
    struct zone_version *v = b->next;
    uint32_t fresh = v->n_shards, old = fresh - (v->shard_mask + 1) / 2;
    const struct zone_shard *s = shard_at(v, old);
    add_shard_place(b);
    if (!s)
        return;
    const struct zone_node **sides[2];
    size_t n_sides[2] = {0, 0};
    for (int i = 0; i < 2; i++)
        sides[i] = mem_array(s->n_nodes, sizeof *sides[i]);
    for (SHARD_EACH_NODE(s, n)) {
        int side = shard_index(v, n->hash) == fresh;
        sides[side][n_sides[side]++] = n;
    }
    struct zone_shard *stays = shard_new(sides[0], n_sides[0], v->number);
    build_put_shard(b, fresh, shard_new(sides[1], n_sides[1], v->number));
    build_put_shard(b, old, stays);
    free(sides[0]);
    free(sides[1]);
}

void build_grow(struct zone_build *b, uint64_t n_nodes)
{
    while (b->next->n_shards < n_nodes / SHARD_NODES)
        split_one(b);
}

/* Collect the garbage of the newest version: readers may still use it, or it was never published. */
static void garbage_collect(struct zoneset *set, struct zone_garbage_list *garbage)
{
    uint64_t current = atomic_load(&set->current)->number;
    for (size_t i = 0; i < garbage->n_items; i++) {
        struct zone_garbage item = garbage->items[i];
        if (item.version > current) {
            free(item.memory);
            continue;
        }
        item.version = set->newest->number;
        garbage_add(&set->waiting, item);
        set->waiting_bytes += item.size;
    }
    free(garbage->items);
}

void build_publish(struct zone_build *b)
{
    struct zoneset *set = b->set;
    struct zone_version *old = set->newest;
    build_retire(b, old->pages, n_pages(old) * sizeof *old->pages, old->number);
    build_retire(b, old, version_size(old->n_zones), old->number);
    b->made_bytes += n_pages(b->next) * sizeof *b->next->pages + version_size(b->next->n_zones);
    set->newest = b->next;
    set->version_bytes += b->made_bytes - b->garbage_bytes;
    garbage_collect(set, &b->garbage);
    zoneset_publish(set);
}

bool zoneset_publish(struct zoneset *set)
{
    struct zone_version *current = atomic_load(&set->current), *newest = set->newest;
    unsigned flags = atomic_load(&newest->flags);
    if (current == newest)
        return true;
    if (set->gate.may_publish && !set->gate.may_publish(set->gate.owner, newest)) {
        /* Records of the newer version do not make it ready. */
        atomic_store(&current->flags, atomic_load(&current->flags) & ZONE_READY ? flags : 0);
        return false;
    }
    atomic_store(&set->current, newest);
    if (set->image.memory) {
        set->image.version = newest->number;
        garbage_add(&set->waiting, set->image);
        set->waiting_bytes += set->image.size;
        set->image.memory = NULL;
    }
    return true;
}

bool zoneset_is_frozen(const struct zoneset *set)
{
    return atomic_load(&set->current) != set->newest;
}

void build_abort(struct zone_build *b)
{
    struct zone_version *v = b->next;
    for (size_t i = 0; i < n_pages(v); i++) {
        struct zone_page *page = v->pages[i];
        if (page->born != v->number)
            continue;
        for (size_t k = 0; k < PAGE_SHARDS; k++)
            if (page->shards[k] && page->shards[k]->born == v->number)
                free(page->shards[k]);
        free(page);
    }
    free(v->pages);
    free(v);
    free(b->garbage.items);
}

size_t zoneset_reclaim(struct zoneset *set, uint64_t oldest)
{
    return zoneset_reclaim_some(set, oldest, SIZE_MAX);
}

size_t zoneset_reclaim_some(struct zoneset *set, uint64_t oldest, size_t n_max)
{
    struct zone_garbage_list *w = &set->waiting;
    uint64_t current = atomic_load(&set->current)->number;
    size_t before = w->first;
    oldest = oldest < current ? oldest : current;
    for (; w->first < w->n_items && w->items[w->first].version <= oldest && w->first - before < n_max;
         w->first++) {
        const struct zone_garbage *item = &w->items[w->first];
        set->waiting_bytes -= item->size;
        (item->release ? item->release : free)(item->memory);
    }
    size_t n = w->first - before;
    if (w->first == w->n_items) {
        free(w->items);
        *w = (struct zone_garbage_list){NULL, 0, 0, 0};
    } else if (w->first > w->n_items / 2) {
        memmove(w->items, w->items + w->first, (w->n_items - w->first) * sizeof *w->items);
        w->n_items -= w->first;
        w->first = 0;
    }
    return n;
}
