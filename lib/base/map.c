#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <pthread.h>

static uint64_t key0, key1;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

static void key_make(void)
{
    uint64_t k[2];
    BUG_IF(getrandom(k, sizeof k, 0) != (ssize_t)sizeof k);
    key0 = k[0];
    key1 = k[1];
}

static inline uint64_t rotl(uint64_t x, int b)
{
    return x << b | x >> (64 - b);
}

static inline void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = rotl(v[1], 13) ^ v[0];
    v[0] = rotl(v[0], 32);
    v[2] += v[3];
    v[3] = rotl(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotl(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotl(v[1], 17) ^ v[2];
    v[2] = rotl(v[2], 32);
}

/* The `left` (fewer than 8) bytes at b, the first in the lowest place; they are the last of n. */
static inline uint64_t last_bytes(const unsigned char *b, size_t left, size_t n)
{
    uint64_t word = 0;
    if (n >= 8 && left) { /* read with those before them, which are then pushed out */
        memcpy(&word, b + left - 8, 8);
        return le64toh(word) >> (8 * (8 - left));
    }
    for (size_t i = 0; i < left; i++)
        word |= (uint64_t)b[i] << (8 * i);
    return word;
}

uint64_t sum_bytes(uint64_t sum, const void *p, size_t n)
{
    const unsigned char *b = p;
    for (size_t i = 0; i < n; i++)
        sum = (sum ^ b[i]) * 0x100000001b3u;
    return sum;
}

uint64_t hash_bytes(const void *p, size_t n)
{
    pthread_once(&key_once, key_make);
    uint64_t v[4] = {key0 ^ 0x736f6d6570736575ULL, key1 ^ 0x646f72616e646f6dULL, key0 ^ 0x6c7967656e657261ULL,
                     key1 ^ 0x7465646279746573ULL};
    const unsigned char *b = p;
    uint64_t word;
    size_t left = n;
    for (; left >= 8; left -= 8, b += 8) {
        memcpy(&word, b, 8);
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
    }
    word = (uint64_t)n << 56 | last_bytes(b, left, n);
    v[3] ^= word;
    sip_round(v);
    v[0] ^= word;
    v[2] ^= 0xff;
    sip_round(v);
    sip_round(v);
    sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* Tables of up to this size move at once; larger ones so many slots for each new key. */
#define MOVE_AT_ONCE 1024
#define MOVE_SLOTS   8

static void free_slots(struct map_slot *slots, size_t cap, void (*free_value)(void *))
{
    for (size_t i = 0; i < cap; i++)
        if (slots[i].key) {
            if (free_value)
                free_value(slots[i].value);
            free(slots[i].key);
        }
    free(slots);
}

void map_fini(struct map *m, void (*free_value)(void *))
{
    free_slots(m->slots, m->cap, free_value);
    free_slots(m->old, m->old_cap, free_value);
    *m = MAP_EMPTY;
}

static struct map_slot *find_in(struct map_slot *slots, size_t cap, const char *key, size_t n, uint32_t hash)
{
    for (size_t i = hash & (cap - 1);; i = (i + 1) & (cap - 1)) {
        struct map_slot *s = &slots[i];
        if (!s->key && !s->dead)
            return NULL;
        if (s->key && s->hash == hash && strncmp(s->key, key, n) == 0 && !s->key[n])
            return s;
    }
}

static struct map_slot *find(const struct map *m, const char *key, size_t n, uint32_t hash)
{
    struct map_slot *s = m->cap ? find_in(m->slots, m->cap, key, n, hash) : NULL;
    if (!s && m->old)
        s = find_in(m->old, m->old_cap, key, n, hash);
    return s;
}

/** The slot for a key that is not there. */
static struct map_slot *free_slot(struct map *m, uint32_t hash)
{
    size_t i = hash & (m->cap - 1);
    while (m->slots[i].key)
        i = (i + 1) & (m->cap - 1);
    if (m->slots[i].dead)
        m->n_dead--;
    return &m->slots[i];
}

/** Move items out of at most n slots of the old table. */
static void move(struct map *m, size_t n)
{
    for (; n > 0 && m->old_at < m->old_cap; n--, m->old_at++) {
        struct map_slot *s = &m->old[m->old_at];
        if (!s->key)
            continue;
        *free_slot(m, s->hash) = *s;
        *s = (struct map_slot){.dead = true}; /* those behind it are still found */
    }
    if (m->old_at < m->old_cap)
        return;
    free(m->old);
    m->old = NULL;
    m->old_cap = m->old_at = 0;
}

/** A table with room for as many again; at most half of it is in use when all have moved, so they have before it is full. */
static void grow(struct map *m)
{
    size_t cap = m->cap ? m->cap : 8;
    while ((m->n_items + 1) * 2 > cap)
        cap *= 2;
    move(m, m->old_cap);
    m->old = m->slots;
    m->old_cap = m->cap;
    m->slots = mem_array(cap, sizeof *m->slots);
    m->cap = cap;
    m->n_dead = 0;
    if (m->old_cap <= MOVE_AT_ONCE)
        move(m, m->old_cap);
}

void *map_getn(const struct map *m, const char *key, size_t n)
{
    struct map_slot *s = find(m, key, n, (uint32_t)hash_bytes(key, n));
    return s ? s->value : NULL;
}

void *map_get(const struct map *m, const char *key)
{
    return map_getn(m, key, strlen(key));
}

const char *map_key(const struct map *m, const char *key)
{
    size_t n = strlen(key);
    struct map_slot *s = find(m, key, n, (uint32_t)hash_bytes(key, n));
    return s ? s->key : NULL;
}

void *map_set(struct map *m, const char *key, void *value)
{
    BUG_IF(!value);
    size_t n = strlen(key);
    uint32_t hash = (uint32_t)hash_bytes(key, n);
    struct map_slot *s = find(m, key, n, hash);
    if (s) {
        void *old = s->value;
        s->value = value;
        return old;
    }
    if ((m->n_items + m->n_dead + 1) * 4 > m->cap * 3)
        grow(m);
    move(m, MOVE_SLOTS);
    *free_slot(m, hash) = (struct map_slot){mem_strn(key, n), value, hash, false};
    m->n_items++;
    return NULL;
}

static bool is_old(const struct map *m, const struct map_slot *s)
{
    return m->old && s >= m->old && s < m->old + m->old_cap;
}

void *map_remove(struct map *m, const char *key)
{
    size_t n = strlen(key);
    struct map_slot *s = find(m, key, n, (uint32_t)hash_bytes(key, n));
    if (!s)
        return NULL;
    void *value = s->value;
    free(s->key);
    *s = (struct map_slot){NULL, NULL, 0, true};
    m->n_items--;
    m->n_dead += !is_old(m, s);
    return value;
}

/** Slot i of both tables, the old one before the other. */
static struct map_slot *slot_at(const struct map *m, size_t i)
{
    return i < m->old_cap ? &m->old[i] : &m->slots[i - m->old_cap];
}

void *map_take(struct map *m, size_t *at)
{
    for (; *at < m->old_cap + m->cap; (*at)++) {
        struct map_slot *s = slot_at(m, *at);
        if (!s->key)
            continue;
        free(s->key);
        s->key = NULL;
        m->n_items--;
        return s->value;
    }
    map_fini(m, NULL);
    *at = 0;
    return NULL;
}

struct map_slot *map_next(const struct map *m, struct map_slot *it)
{
    size_t from = !it             ? 0
                  : is_old(m, it) ? (size_t)(it - m->old) + 1
                                  : m->old_cap + (size_t)(it - m->slots) + 1;
    for (size_t i = from; i < m->old_cap + m->cap; i++)
        if (slot_at(m, i)->key)
            return slot_at(m, i);
    return NULL;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char **map_sorted_keys(const struct map *m)
{
    const char **keys = mem_array(m->n_items + 1, sizeof *keys);
    size_t n = 0;
    for (MAP_EACH (m, slot))
        keys[n++] = slot->key;
    qsort(keys, n, sizeof *keys, by_bytes);
    return keys;
}
