#include "names/packed.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/path.h"

#include <stdlib.h>
#include <string.h>

#define CONTAINER_ELEMENT "ctr-"
#define CONTAINER_ID      "container_"

#define LEN_MAX 0x7fffffffu

struct prefix {
    uint32_t n_users, len;
    const char *text; /* the key in by_text */
};

struct packed {
    struct prefix *prefix;
    uint32_t hash;     /* of the whole path */
    uint32_t len : 31; /* octets of the block here */
    uint32_t is_held : 1;
    uint16_t id_at; /* offset in it where the id was left out; 0: nowhere */
    char text[];    /* rest of the path, NUL, block */
};

/* Length of the prefix that a path shares with others. */
static size_t prefix_len(const char *path)
{
    const char *element = path_name(path);
    const char *dash = strncmp(element, CONTAINER_ELEMENT, sizeof CONTAINER_ELEMENT - 1) == 0
                           ? strrchr(element, '-') + 1
                           : element;
    return (size_t)(dash - path);
}

static uint32_t hash_of(const char *path)
{
    return (uint32_t)hash_bytes(path, strlen(path));
}

/* ---- one record ---- */

/* The id of the container that the path names, as Hadoop forms it. @return its length; 0: it names none. */
static size_t put_id(const char *path, struct buf *out)
{
    const char *element = path_name(path);
    size_t at = out->len;
    if (strncmp(element, CONTAINER_ELEMENT, sizeof CONTAINER_ELEMENT - 1) != 0)
        return 0;
    buf_add_str(out, CONTAINER_ID);
    buf_add_str(out, element + sizeof CONTAINER_ELEMENT - 1);
    for (char *p = out->bytes + at; *p; p++)
        if (*p == '-')
            *p = '_';
    return out->len - at;
}

/* Where a field of the block, not its first, is this text; 0: nowhere. */
static uint16_t find_field(const char *packed, size_t len, const char *text)
{
    for (size_t at = strlen(packed) + 1; at < len && at <= UINT16_MAX; at += strlen(packed + at) + 1)
        if (strcmp(packed + at, text) == 0)
            return (uint16_t)at;
    return 0;
}

static struct prefix *prefix_use(struct packed_prefixes *prefixes, const char *path, size_t n)
{
    struct prefix *p = map_getn(&prefixes->by_text, path, n);
    if (!p) {
        mem_auto char *text = mem_strn(path, n);
        p = mem_new(struct prefix);
        p->len = (uint32_t)n;
        map_set(&prefixes->by_text, text, p);
        p->text = map_key(&prefixes->by_text, text);
    }
    p->n_users++;
    return p;
}

struct packed *packed_new(struct packed_prefixes *prefixes, const char *path, const char *packed, size_t len)
{
    BUG_IF(!len || packed[len - 1] || len > LEN_MAX);
    buf_auto struct buf id = BUF_EMPTY;
    size_t n_prefix = prefix_len(path), n_rest = strlen(path + n_prefix) + 1;
    uint16_t id_at = put_id(path, &id) ? find_field(packed, len, id.bytes) : 0;
    size_t n_id = id_at ? id.len + 1 : 0;
    struct packed *k = mem_alloc(offsetof(struct packed, text) + n_rest + len - n_id);
    k->prefix = prefix_use(prefixes, path, n_prefix);
    k->hash = hash_of(path);
    k->len = (uint32_t)(len - n_id) & LEN_MAX;
    k->is_held = false;
    k->id_at = id_at;
    memcpy(k->text, path + n_prefix, n_rest);
    memcpy(k->text + n_rest, packed, id_at);
    memcpy(k->text + n_rest + id_at, packed + id_at + n_id, len - n_id - id_at);
    return k;
}

void packed_free(struct packed_prefixes *prefixes, struct packed *take_packed)
{
    if (!take_packed)
        return;
    struct prefix *p = take_packed->prefix;
    free(take_packed);
    if (--p->n_users)
        return;
    map_remove(&prefixes->by_text, p->text);
    if (!prefixes->by_text.n_items)
        map_fini(&prefixes->by_text, NULL);
    free(p);
}

static const char *block_of(const struct packed *k)
{
    return k->text + strlen(k->text) + 1;
}

static bool same_path(const struct packed *a, const struct packed *b)
{
    return a->hash == b->hash && a->prefix == b->prefix && strcmp(a->text, b->text) == 0;
}

bool packed_equal(const struct packed *a, const struct packed *b)
{
    return same_path(a, b) && a->len == b->len && a->id_at == b->id_at &&
           memcmp(block_of(a), block_of(b), a->len) == 0;
}

const char *packed_kind(const struct packed *k)
{
    return block_of(k);
}

bool packed_is_held(const struct packed *k)
{
    return k->is_held;
}

void packed_set_held(struct packed *k, bool is_held)
{
    k->is_held = is_held;
}

void packed_read(const struct packed *k, struct packed_text *out)
{
    struct buf *b = &out->bytes;
    const char *block = block_of(k);
    buf_clear(b);
    buf_add(b, k->prefix->text, k->prefix->len);
    buf_add(b, k->text, (size_t)(block - k->text));
    size_t packed_at = b->len;
    buf_add(b, block, k->id_at);
    if (k->id_at) {
        buf_auto struct buf id = BUF_EMPTY;
        put_id(b->bytes, &id);
        buf_add(b, id.bytes, id.len + 1);
    }
    buf_add(b, block + k->id_at, k->len - k->id_at);
    out->path = b->bytes;
    out->packed = b->bytes + packed_at;
    out->len = b->len - packed_at;
}

void packed_text_fini(struct packed_text *t)
{
    buf_fini(&t->bytes);
}

/* ---- sets ---- */

void packed_set_fini(struct packed_set *s, struct packed_prefixes *prefixes)
{
    for (uint32_t i = 0; i < s->n_places; i++)
        packed_free(prefixes, s->places[i]);
    free(s->places);
    free(s->slots);
    free(s->free);
    *s = (struct packed_set){.n_items = 0};
}

/* Slot of a record with this path, or the empty one where it would be. There is an empty one. */
static uint32_t find_slot(const struct packed_set *s, const struct packed *k)
{
    uint32_t mask = s->n_slots - 1, i = k->hash & mask;
    while (s->slots[i] && !same_path(s->places[s->slots[i] - 1], k))
        i = (i + 1) & mask;
    return i;
}

static void grow_slots(struct packed_set *s, uint32_t n_slots)
{
    free(s->slots);
    s->n_slots = n_slots;
    s->slots = mem_array(s->n_slots, sizeof *s->slots);
    for (uint32_t place = 0; place < s->n_places; place++) {
        if (!s->places[place])
            continue;
        uint32_t i = s->places[place]->hash & (s->n_slots - 1);
        while (s->slots[i])
            i = (i + 1) & (s->n_slots - 1);
        s->slots[i] = place + 1;
    }
}

static uint32_t new_place(struct packed_set *s)
{
    if (s->n_free)
        return s->free[--s->n_free];
    if (s->n_places == s->cap) {
        s->cap += s->cap / 4 + 16;
        s->places = mem_resize(s->places, s->cap, sizeof *s->places);
    }
    return s->n_places++;
}

struct packed *packed_get(const struct packed_set *s, const struct packed_prefixes *prefixes,
                          const char *path)
{
    size_t n = prefix_len(path);
    const struct prefix *p = map_getn(&prefixes->by_text, path, n);
    uint32_t hash = hash_of(path), mask = s->n_slots - 1;
    if (!p || !s->n_slots)
        return NULL;
    for (uint32_t i = hash & mask; s->slots[i]; i = (i + 1) & mask) {
        struct packed *k = s->places[s->slots[i] - 1];
        if (k->hash == hash && k->prefix == p && strcmp(k->text, path + n) == 0)
            return k;
    }
    return NULL;
}

struct packed *packed_like(const struct packed_set *s, const struct packed *k)
{
    uint32_t found = s->n_slots ? s->slots[find_slot(s, k)] : 0;
    return found ? s->places[found - 1] : NULL;
}

void packed_set_room(struct packed_set *s, size_t n_items)
{
    uint32_t n_slots = s->n_slots ? s->n_slots : 16;
    BUG_IF(n_items > UINT32_MAX / 4);
    while (n_items * 4 > (size_t)n_slots * 3)
        n_slots *= 2;
    if (n_slots != s->n_slots)
        grow_slots(s, n_slots);
    if (s->cap < n_items) {
        s->cap = (uint32_t)n_items;
        s->places = mem_resize(s->places, s->cap, sizeof *s->places);
    }
}

struct packed *packed_put(struct packed_set *s, struct packed *take_packed)
{
    if ((s->n_items + 1) * 4 > (size_t)s->n_slots * 3)
        grow_slots(s, s->n_slots ? s->n_slots * 2 : 16);
    uint32_t *slot = &s->slots[find_slot(s, take_packed)];
    struct packed *old = *slot ? s->places[*slot - 1] : NULL;
    if (!old) {
        *slot = new_place(s) + 1;
        s->n_items++;
    }
    s->places[*slot - 1] = take_packed;
    return old;
}

/* Empty a slot: entries behind it that would no longer be found move up (Knuth 6.4, algorithm R). */
static void clear_slot(struct packed_set *s, uint32_t hole)
{
    uint32_t mask = s->n_slots - 1;
    for (uint32_t i = (hole + 1) & mask; s->slots[i]; i = (i + 1) & mask) {
        uint32_t home = s->places[s->slots[i] - 1]->hash & mask;
        if (((i - home) & mask) < ((i - hole) & mask))
            continue;
        s->slots[hole] = s->slots[i];
        hole = i;
    }
    s->slots[hole] = 0;
}

struct packed *packed_take(struct packed_set *s, const struct packed *k)
{
    uint32_t slot = s->n_slots ? find_slot(s, k) : 0;
    if (!s->n_slots || !s->slots[slot])
        return NULL;
    uint32_t place = s->slots[slot] - 1;
    struct packed *found = s->places[place];
    clear_slot(s, slot);
    s->places[place] = NULL;
    if ((s->n_free & (s->n_free - 1)) == 0)
        s->free = mem_resize(s->free, s->n_free ? s->n_free * 2u : 1u, sizeof *s->free);
    s->free[s->n_free++] = place;
    s->n_items--;
    return found;
}
