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

void map_fini(struct map *m, void (*free_value)(void *))
{
    for (size_t i = 0; i < m->cap; i++)
        if (m->slots[i].key) {
            if (free_value)
                free_value(m->slots[i].value);
            free(m->slots[i].key);
        }
    free(m->slots);
    *m = MAP_EMPTY;
}

static struct map_slot *find(const struct map *m, const char *key, size_t n, uint32_t hash)
{
    if (!m->cap)
        return NULL;
    for (size_t i = hash & (m->cap - 1);; i = (i + 1) & (m->cap - 1)) {
        struct map_slot *s = &m->slots[i];
        if (!s->key && !s->dead)
            return NULL;
        if (s->key && s->hash == hash && strlen(s->key) == n && memcmp(s->key, key, n) == 0)
            return s;
    }
}

static void grow(struct map *m)
{
    struct map old = *m;
    size_t cap = old.cap ? old.cap : 8;
    while ((old.n_items + 1) * 2 > cap)
        cap *= 2;
    m->slots = mem_array(cap, sizeof *m->slots);
    m->cap = cap;
    m->n_dead = 0;
    for (size_t i = 0; i < old.cap; i++) {
        if (!old.slots[i].key)
            continue;
        size_t j = old.slots[i].hash & (cap - 1);
        while (m->slots[j].key)
            j = (j + 1) & (cap - 1);
        m->slots[j] = old.slots[i];
    }
    free(old.slots);
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
    size_t i = hash & (m->cap - 1);
    while (m->slots[i].key)
        i = (i + 1) & (m->cap - 1);
    if (m->slots[i].dead)
        m->n_dead--;
    m->slots[i] = (struct map_slot){mem_strn(key, n), value, hash, false};
    m->n_items++;
    return NULL;
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
    m->n_dead++;
    return value;
}

void *map_take(struct map *m, size_t *at)
{
    for (; *at < m->cap; (*at)++) {
        struct map_slot *s = &m->slots[*at];
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
    for (size_t i = it ? (size_t)(it - m->slots) + 1 : 0; i < m->cap; i++)
        if (m->slots[i].key)
            return &m->slots[i];
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
    for (size_t i = 0; i < m->cap; i++)
        if (m->slots[i].key)
            keys[n++] = m->slots[i].key;
    qsort(keys, n, sizeof *keys, by_bytes);
    return keys;
}
