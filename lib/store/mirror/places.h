/**
 * A hash table from path to item, for one mirror tree. A look-up touches the shard, a slot or its neighbour, and the item,
 * however deep the path is; a walk through treaps of a hundred children touches ten items a level.
 *
 *     path ──► hash ──► shard (lower bits) ──► slots: [hash item, -, hash item, …]   open addressing, at most three quarters full
 *
 * An item's hash is that of its path, with a secret key, so two paths have the same one with a probability of 2^-64, and no client
 * can choose such paths. A look-up compares the hash and the last name. There are many shards because a shard grows in one
 * turn of the loop, which must be short with any number of items. 21 to 43 bytes an item.
 * Thread: owner.   Source: ours; Knuth, The Art of Computer Programming 6.4, algorithm R (removing).
 */
#ifndef STORE_MIRROR_PLACES_H
#define STORE_MIRROR_PLACES_H

#include <stddef.h>

struct mirror_item;
struct mirror_places;

/** An empty table. Free with mirror_places_free. */
struct mirror_places *mirror_places_new(void);
/** Free the table, not the items; NULL is fine. */
void mirror_places_free(struct mirror_places *p);
/** Add an item that has a parent; none of this parent has its name. @param path  of the item. @return bytes that the table has grown by. */
size_t mirror_places_add(struct mirror_places *p, struct mirror_item *item, const char *path);
/** Take an added item out. @return bytes that the table has become smaller by. */
size_t mirror_places_remove(struct mirror_places *p, const struct mirror_item *item);
/** The item whose absolute path, not "/", is the len bytes at `path`; or NULL. */
struct mirror_item *mirror_places_find(const struct mirror_places *p, const char *path, size_t len);

#endif
