/**
 * Hash map from a string to a pointer; copies its keys, does not own its values. Iteration is in no order; use
 * map_sorted_keys() where order matters. Open addressing, load at most 3/4, keyed hash (a peer that picks names
 * cannot make chains). A large map grows piece by piece: each new key moves a few items to the larger table, so that no call
 * takes long, and until all have moved a key is looked for in both.
 *
 *     old    ░░░░░░░░▓▓▓▓▓▓▓▓       ░ moved   ▓ not yet: from `old_at` on
 *     slots  ▓ ▓▓  ▓ ▓   ▓▓ ▓  ▓ ▓▓  ▓▓ ▓
 *
 * Thread: one map, one thread.   Source: ours.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_slot {
    char *key; /* NULL: never used or removed */
    void *value;
    uint32_t hash;
    bool dead;
};

struct map {
    struct map_slot *slots;
    size_t cap, n_items, n_dead; /* n_items: in both tables; n_dead: in slots */
    struct map_slot *old;        /* NULL: all have moved */
    size_t old_cap, old_at;
};

#define MAP_EMPTY ((struct map){.slots = NULL})

/** Release the map; `free_value` (may be NULL) is called for each value. The map is empty and usable again. */
void map_fini(struct map *m, void (*free_value)(void *));
/** Value of a key, or NULL. */
void *map_get(const struct map *m, const char *key);
/** As map_get, for n bytes of key. */
void *map_getn(const struct map *m, const char *key, size_t n);
/** The map's own copy of a key, unchanged until the key is removed; NULL: it is not there. */
const char *map_key(const struct map *m, const char *key);
/** Set key to value (not NULL); returns the value that was there before, or NULL. */
void *map_set(struct map *m, const char *key, void *value);
/** Remove a key; returns its value, or NULL when it was not there. */
void *map_remove(struct map *m, const char *key);
/**
 * Empty a map piece by piece: take out an item, whichever comes next.
 *
 * @param at  where the last call came to; 0 at first. Nothing else is done with the map meanwhile     [in,out]
 * @return its value; or NULL: the map is empty and its memory released, *at is 0.
 */
void *map_take(struct map *m, size_t *at);
/** Array of all keys in byte order, ended by NULL; free() the array, not the keys. Valid until the map changes. */
const char **map_sorted_keys(const struct map *m);

/** for (MAP_EACH(m, slot)) uses slot->key and slot->value; do not add inside; map_remove of any key is fine. */
#define MAP_EACH(m, it)                                                                                      \
    struct map_slot *it = map_next((m), NULL);                                                               \
    it;                                                                                                      \
    it = map_next((m), it)
struct map_slot *map_next(const struct map *m, struct map_slot *it);

/** Keyed 64-bit hash of bytes (SipHash-1-3 with a per-process key). Thread: any. */
uint64_t hash_bytes(const void *p, size_t n);
/** Sum over bytes that is the same in every process: finds differences, not malice. @param sum SUM_START, or of what stands before.
 *  Thread: any. Source: FNV-1a. */
uint64_t sum_bytes(uint64_t sum, const void *p, size_t n);
#define SUM_START 0xcbf29ce484222325u

#endif
