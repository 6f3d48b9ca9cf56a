#include "zone/image.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "bobbin/error.h"
#include "wire/rdata.h"
#include "zone/find.h"
#include "zone/image_priv.h"
#include "zone/merge.h"
#include "zone/set.h"

#define IMAGE_OBJ_MAGIC OBJ_MAGIC('Z', 'I', 'M', 'G')

struct zone_image {
    struct obj obj;
    struct zone_image_memory memory;
    struct zone_image_about about;
    struct zone_version *v;
};

#define SUM_PRIME 0x100000001b3u

/* @param len a multiple of 8 */
static uint64_t sum_on(uint64_t sum, const uint8_t *bytes, size_t len)
{
    for (size_t at = 0; at < len; at += 8) {
        uint64_t word;
        memcpy(&word, bytes + at, sizeof word);
        sum = (sum ^ word) * SUM_PRIME;
    }
    return sum;
}

uint64_t zone_image_sum(const uint8_t *bytes, size_t len)
{
    return sum_on(SUM_START, bytes, len - 8);
}

/* ---- writing ---- */

struct output {
    const struct zone_image_sink *sink;
    uint64_t sum;
    int err;
};

/* Octets, and as many zeros as bring them to a multiple of 8. */
static void put(struct output *o, const void *bytes, size_t len)
{
    uint8_t last[8] = {0};
    size_t whole = len & ~(size_t)7;
    if (o->err)
        return;
    memcpy(last, (const uint8_t *)bytes + whole, len - whole);
    o->sum = sum_on(o->sum, bytes, whole);
    o->err = whole ? o->sink->put(o->sink->arg, bytes, whole) : 0;
    if (o->err || whole == len)
        return;
    o->sum = sum_on(o->sum, last, sizeof last);
    o->err = o->sink->put(o->sink->arg, last, sizeof last);
}

static void put_zones(struct output *o, const struct zone_version *v)
{
    for (uint32_t i = 0; i < v->n_zones; i++) {
        const struct zone *z = &v->zones[i];
        uint8_t bytes[sizeof(struct image_zone) + NAME_MAX_LEN + 8] = {0};
        struct image_zone head = {.n_nodes = z->n_nodes,
                                  .n_rrs = z->n_rrs,
                                  .n_cuts = z->n_cuts,
                                  .serial = z->serial,
                                  .kind = z->kind,
                                  .apex_len = z->apex_len};
        memcpy(bytes, &head, sizeof head);
        memcpy(bytes + sizeof head, z->apex, z->apex_len);
        put(o, bytes, sizeof head + z->apex_len);
    }
}

static void put_sizes(struct output *o, const struct zone_version *v)
{
    for (uint32_t i = 0; i < v->n_shards; i += PAGE_SHARDS) {
        uint32_t sizes[PAGE_SHARDS], n = 0;
        for (; n < PAGE_SHARDS && i + n < v->n_shards; n++) {
            const struct zone_shard *s = shard_at(v, i + n);
            sizes[n] = s ? s->size : 0;
        }
        put(o, sizes, n * sizeof *sizes);
    }
}

static size_t zones_len(const struct zone_version *v)
{
    size_t len = 0;
    for (uint32_t i = 0; i < v->n_zones; i++)
        len += sizeof(struct image_zone) + pad8(v->zones[i].apex_len);
    return len;
}

static size_t shards_len(const struct zone_version *v)
{
    size_t len = 0;
    for (uint32_t i = 0; i < v->n_shards; i++)
        len += shard_at(v, i) ? pad8(shard_at(v, i)->size) : 0;
    return len;
}

int zone_image_write(const struct zone_version *v, const struct zone_image_about *about,
                     const struct zone_image_sink *sink)
{
    struct output o = {sink, SUM_START, 0};
    struct image_head head = {.magic = IMAGE_MAGIC,
                              .order = IMAGE_ORDER,
                              .n_zones = v->n_zones,
                              .n_shards = v->n_shards,
                              .zones_len = (uint32_t)zones_len(v),
                              .seed = v->seed,
                              .n_nodes = v->n_nodes,
                              .about = *about};
    head.len = sizeof head + head.zones_len + pad8(v->n_shards * sizeof(uint32_t)) + shards_len(v) + 8;
    put(&o, &head, sizeof head);
    put_zones(&o, v);
    put_sizes(&o, v);
    for (uint32_t i = 0; i < v->n_shards; i++)
        if (shard_at(v, i))
            put(&o, shard_at(v, i), shard_at(v, i)->size);
    uint64_t sum = o.sum;
    put(&o, &sum, sizeof sum);
    return o.err;
}

/* ---- reading ---- */

/* Octets of the head. @return 0: malformed. */
static size_t head_len(const struct image_head *h, size_t len)
{
    size_t n = memcmp(h->magic, IMAGE_MAGIC_1, sizeof IMAGE_MAGIC_1) == 0 ? IMAGE_HEAD_1
               : memcmp(h->magic, IMAGE_MAGIC, sizeof IMAGE_MAGIC) == 0   ? sizeof *h
                                                                          : 0;
    return n && n + 8 <= len ? n : 0;
}

static bool is_head(const struct image_head *h, size_t n, size_t len)
{
    size_t rest = len - n - 8;
    return n && h->order == IMAGE_ORDER && h->len == len && h->n_zones <= UINT16_MAX && h->n_shards &&
           h->zones_len <= rest && h->zones_len % 8 == 0 &&
           h->n_shards <= (rest - h->zones_len) / sizeof(uint32_t) &&
           pad8(h->n_shards * sizeof(uint32_t)) <= rest - h->zones_len;
}

/* Read a zone. @param left octets available. @return its octets; 0: malformed. */
static size_t take_zone(const uint8_t *p, size_t left, struct zone_version *v, uint16_t number)
{
    const struct image_zone *from = (const void *)p;
    struct name_key key;
    size_t size = sizeof *from + (left < sizeof *from ? 0 : pad8(from->apex_len));
    if (size > left || from->kind > ZONE_GONE ||
        name_key_read(from->apex, from->apex_len, &key) != from->apex_len ||
        memcmp(key.lower, from->apex, key.len) != 0)
        return 0;
    name_key_hash(&key, v->seed);
    v->zones[number] = (struct zone){.apex = from->apex,
                                     .apex_hash = key.hash[0],
                                     .apex_len = key.len,
                                     .n_labels = key.n_labels,
                                     .kind = from->kind,
                                     .number = number,
                                     .serial = from->serial,
                                     .n_nodes = from->n_nodes,
                                     .n_rrs = from->n_rrs,
                                     .n_cuts = from->n_cuts};
    return size;
}

static bool take_zones(const uint8_t *p, size_t left, struct zone_version *v)
{
    for (uint32_t i = 0; i < v->n_zones; i++) {
        size_t used = take_zone(p, left, v, (uint16_t)i);
        if (!used)
            return false;
        p += used;
        left -= used;
    }
    return !left;
}

static bool take_shards(uint8_t *p, size_t left, const uint32_t *sizes, struct zone_version *v)
{
    uint64_t n_nodes = 0;
    for (uint32_t i = 0; i < v->n_shards; i++) {
        struct zone_shard *s = (void *)p;
        struct image_shard image = {s, sizes[i], v, i};
        if (!sizes[i])
            continue;
        uint64_t n = pad8(sizes[i]) <= left ? image_shard_check(&image) : 0;
        if (!n)
            return false;
        n_nodes += n;
        v->pages[i / PAGE_SHARDS]->shards[i % PAGE_SHARDS] = s;
        p += pad8(sizes[i]);
        left -= pad8(sizes[i]);
    }
    return !left && n_nodes == v->n_nodes;
}

static struct zone_version *version_new(const struct image_head *h)
{
    struct zone_version *v = mem_zalloc(sizeof *v + h->n_zones * sizeof *v->zones);
    v->seed = h->seed;
    v->n_shards = h->n_shards;
    v->n_nodes = h->n_nodes;
    v->n_zones = h->n_zones;
    v->shard_mask = 1;
    while (v->n_shards > v->shard_mask)
        v->shard_mask = v->shard_mask * 2 + 1;
    size_t n = (v->n_shards + PAGE_SHARDS - 1) / PAGE_SHARDS;
    v->pages = mem_array(n, sizeof *v->pages);
    for (size_t i = 0; i < n; i++)
        v->pages[i] = mem_new(struct zone_page);
    return v;
}

static void version_free(struct zone_version *v)
{
    for (uint32_t i = 0; i < v->n_shards; i += PAGE_SHARDS)
        free(v->pages[i / PAGE_SHARDS]);
    free(v->pages);
    free((void *)(uintptr_t)v->table);
    free(v);
}

struct zone_image *zone_image_read(const struct zone_image_memory *take_memory)
{
    uint8_t *bytes = take_memory->bytes, *end = bytes + take_memory->len;
    const struct image_head *h = (const void *)bytes;
    uint64_t sum;
    if (take_memory->len < IMAGE_HEAD_1 + 8 || take_memory->len % 8)
        return NULL;
    size_t head = head_len(h, take_memory->len);
    if (!is_head(h, head, take_memory->len))
        return NULL;
    memcpy(&sum, end - 8, sizeof sum);
    if (sum != zone_image_sum(bytes, take_memory->len))
        return NULL;
    uint8_t *zones = bytes + head, *sizes = zones + h->zones_len;
    uint8_t *shards = sizes + pad8(h->n_shards * sizeof(uint32_t));
    struct zone_version *v = version_new(h);
    if (!take_zones(zones, h->zones_len, v) ||
        !take_shards(shards, (size_t)(end - 8 - shards), (const void *)sizes, v)) {
        version_free(v);
        return NULL;
    }
    v->table = zone_table_new(v);
    struct zone_image *image = mem_new(struct zone_image);
    *image = (struct zone_image){.memory = *take_memory, .v = v};
    obj_init(&image->obj, IMAGE_OBJ_MAGIC);
    memcpy(&image->about, &h->about, head - offsetof(struct image_head, about));
    image->about.boot[sizeof image->about.boot - 1] = '\0';
    return image;
}

void zone_image_free(struct zone_image *image)
{
    if (!image)
        return;
    version_free(image->v);
    image->memory.release(image->memory.arg, image->memory.bytes, image->memory.len);
    obj_fini(&image->obj);
    free(image);
}

const struct zone_image_about *zone_image_about(const struct zone_image *image)
{
    return &image->about;
}

const struct zone_version *zone_image_version(const struct zone_image *image)
{
    return image->v;
}

void zone_image_set_serial(struct zone_image *image, unsigned zone, uint32_t serial)
{
    struct zone *z = &image->v->zones[zone];
    const struct zone_node *apex = zone_find_apex(image->v, z);
    z->serial = serial;
    if (apex)
        node_put_serial((struct zone_node *)(uintptr_t)apex, serial);
}

/* ---- in a set ---- */

static void release(void *memory)
{
    zone_image_free(obj_cast(memory, struct zone_image, IMAGE_OBJ_MAGIC));
}

void zoneset_use_image(struct zoneset *set, struct zone_image *take_image, unsigned flags)
{
    struct zone_version *v = take_image->v;
    BUG_IF(set->has_tx || set->image.memory || !set->gate.may_publish);
    v->number = set->last_number = set->newest->number + 1;
    atomic_store(&v->flags, flags);
    set->image = (struct zone_garbage){take_image, take_image->memory.len, v->number, release};
    atomic_store(&set->current, v);
}
