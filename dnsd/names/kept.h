/**
 * What the feed keeps of each registry record, in little room: there is one for every container of the cluster.
 *
 *     prefix "/users/root/services/yarn-service/web/components/ctr-e50-1451931954322-0001-01-"    shared, counted
 *       └─ kept   rest "000001" | packed block of names/map.h, without the id that the path tells already
 *
 * A path is cut behind its last '/', or behind the last '-' of an element "ctr-…", since the containers of an application
 * differ in what follows. The yarn:id of such a container is its element with "container" for "ctr" and '_' for '-'
 * (Hadoop's encodeYarnID); where a packed block says so, the field is left out and put back when the block is read.
 *
 * A set finds kept records by path and numbers them with places that do not change while they are in it, so that it can be
 * walked while it changes:
 *
 *     slots (open addressing, place + 1) ──► places ──► kept
 *
 * Thread: owner.   Source: ours; Hadoop RegistryPathUtils (names of containers).
 */
#ifndef NAMES_KEPT_H
#define NAMES_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/map.h"

/** One record. */
struct kept;

/** Beginnings of paths that kept records share. All zero: none. Empty again when every kept record is freed. */
struct kept_prefixes {
    struct map by_text;
};

/**
 * Keep a record.
 *
 * @param path    registry path                                                  [copied]
 * @param packed  len octets of map_pack: NUL-terminated fields, at least one    [copied]
 * @return new; kept_free releases it, or the set that took it.   Thread: owner.   Source: ours.
 */
struct kept *kept_new(struct kept_prefixes *prefixes, const char *path, const char *packed, size_t len);
/** Release one that is in no set. NULL is fine. @param prefixes those of kept_new. Thread: owner. Source: ours. */
void kept_free(struct kept_prefixes *prefixes, struct kept *take_kept);
/** Same path and same block? Of the same prefixes. Thread: owner. Source: ours. */
bool kept_equal(const struct kept *a, const struct kept *b);
/** The first field of its block. Thread: owner. Source: ours. */
const char *kept_kind(const struct kept *k);

/** Path and block of a kept record, written out. */
struct kept_text {
    struct buf bytes;
    const char *path, *packed;
    size_t len; /* of packed */
};
/** Write out. @param out all zero at first; its buffer is used again, what it points to is valid until the next call or
 *  kept_text_fini [in,out]. Thread: owner. Source: ours. */
void kept_read(const struct kept *k, struct kept_text *out);
/** Release. */
void kept_text_fini(struct kept_text *t);
#define kept_text_auto __attribute__((cleanup(kept_text_fini)))

/** Kept records by path. All zero: empty. */
struct kept_set {
    struct kept **places; /* n_places; NULL: free */
    uint32_t *slots;      /* n_slots, a power of two; place + 1, or 0 */
    uint32_t *free;       /* places that are free */
    uint32_t n_places, cap, n_slots, n_free;
    size_t n_items;
};

/** Release all. The set is empty and usable again. @param prefixes of all records in it. Thread: owner. Source: ours. */
void kept_set_fini(struct kept_set *s, struct kept_prefixes *prefixes);
/** The record of a path, or NULL. @param prefixes of all records in it. Thread: owner. Source: ours. */
struct kept *kept_get(const struct kept_set *s, const struct kept_prefixes *prefixes, const char *path);
/** The record with the same path as another, or NULL. Thread: owner. Source: ours. */
struct kept *kept_like(const struct kept_set *s, const struct kept *k);
/** Make room for so many records at once, so that none of the next ones waits for it. Thread: owner. Source: ours. */
void kept_set_room(struct kept_set *s, size_t n_items);
/** Put a record in. @return the one of the same path whose place it takes: the caller's now; or NULL. Thread: owner. */
struct kept *kept_put(struct kept_set *s, struct kept *take_kept);
/** Take the record with the same path out: the caller's now; NULL: there is none. Thread: owner. */
struct kept *kept_take(struct kept_set *s, const struct kept *k);
/** The record at a place, or NULL. @param place 0..n_places-1. Thread: owner. */
static inline struct kept *kept_at(const struct kept_set *s, uint32_t place)
{
    return s->places[place];
}

#endif
