/**
 * The packed records: of every record in the registry what DNS needs of it, in as few octets as possible, because there is
 * one for each container of the cluster.
 *
 *     prefix "/users/root/services/yarn-service/web/components/ctr-e50-1451931954322-0001-01-"    shared, counted
 *       └─ packed   rest "000001" | block of names/map.h, without the id that the path implies
 *
 * A path is cut behind its last '/', or behind the last '-' of an element "ctr-…", because the containers of an application
 * differ only in what follows. The yarn:id of such a container is its element with "container" for "ctr" and '_' for '-'
 * (Hadoop's encodeYarnID). Where the id of the block is that one, packed_new leaves the field out and packed_read restores
 * it.
 *
 * A set finds packed records by path and gives each a place, an index that stays the same while the record is in the set, so
 * that the set can be walked while it changes:
 *
 *     slots (open addressing, place + 1) ──► places ──► packed
 *
 * Thread: owner.   Source: ours; Hadoop RegistryPathUtils (names of containers).
 */
#ifndef NAMES_PACKED_H
#define NAMES_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/map.h"

/** One record. */
struct packed;

/** Prefixes of paths that packed records share. All zero: none. Empty again when every packed record is freed. */
struct packed_prefixes {
    struct map by_text;
};

/**
 * Pack a record.
 *
 * @param path    registry path                                                  [copied]
 * @param packed  len octets of map_pack: NUL-terminated fields, at least one    [copied]
 * @return new; packed_free releases it, or the set that took it.   Thread: owner.   Source: ours.
 */
struct packed *packed_new(struct packed_prefixes *prefixes, const char *path, const char *packed, size_t len);
/** Release one that is in no set. NULL is fine. @param prefixes those of packed_new. Thread: owner. Source: ours. */
void packed_free(struct packed_prefixes *prefixes, struct packed *take_packed);
/** Same path and same block? Of the same prefixes. Thread: owner. Source: ours. */
bool packed_equal(const struct packed *a, const struct packed *b);
/** The first field of its block. Thread: owner. Source: ours. */
const char *packed_kind(const struct packed *k);
/** Is the record held, though it is gone (guard.h)? A new one is not; packed_equal disregards it. Thread: owner. Source: ours. */
bool packed_is_held(const struct packed *k);
/** Set that. Thread: owner. Source: ours. */
void packed_set_held(struct packed *k, bool is_held);

/** Path and block of a packed record, in full. */
struct packed_text {
    struct buf bytes;
    const char *path, *packed;
    size_t len; /* of packed */
};
/** Unpack. @param out all zero at first; its buffer is used again, what it points to is valid until the next call or
 *  packed_text_fini [in,out]. Thread: owner. Source: ours. */
void packed_read(const struct packed *k, struct packed_text *out);
/** Release. */
void packed_text_fini(struct packed_text *t);
#define packed_text_auto __attribute__((cleanup(packed_text_fini)))

/** Packed records by path. All zero: empty. */
struct packed_set {
    struct packed **places; /* n_places; NULL: free */
    uint32_t *slots;        /* n_slots, a power of two; place + 1, or 0 */
    uint32_t *free;         /* places that are free */
    uint32_t n_places, cap, n_slots, n_free;
    size_t n_items;
};

/** Release all. The set is empty and usable again. @param prefixes of all records in it. Thread: owner. Source: ours. */
void packed_set_fini(struct packed_set *s, struct packed_prefixes *prefixes);
/** The record of a path, or NULL. @param prefixes of all records in it. Thread: owner. Source: ours. */
struct packed *packed_get(const struct packed_set *s, const struct packed_prefixes *prefixes,
                          const char *path);
/** The record with the same path as another, or NULL. Thread: owner. Source: ours. */
struct packed *packed_like(const struct packed_set *s, const struct packed *k);
/** Make room for so many records at once, so that none of the next ones waits for it. Thread: owner. Source: ours. */
void packed_set_room(struct packed_set *s, size_t n_items);
/** Put a record in. @return the one of the same path whose place it takes: the caller's now; or NULL. Thread: owner. */
struct packed *packed_put(struct packed_set *s, struct packed *take_packed);
/** Take the record with the same path out: the caller's now; NULL: there is none. Thread: owner. */
struct packed *packed_take(struct packed_set *s, const struct packed *k);
/** The record at a place, or NULL. @param place 0..n_places-1. Thread: owner. */
static inline struct packed *packed_at(const struct packed_set *s, uint32_t place)
{
    return s->places[place];
}

#endif
