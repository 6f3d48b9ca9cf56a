/**
 * The nodes of a mirror: a tree of which every node holds its children in a treap, ordered by name.
 *
 *     root ── children (treap) ──► users ── children ──► alice …
 *                    /  \             /  \
 *                 left  right      left  right                  (siblings, by byte order of the name)
 *
 * Beside the treaps, which give the order, there is one hash table of all children (places.h), which finds them by path.
 * About 160 bytes a node beside its name and data. Thread: owner.   Source: treaps: Seidel and Aragon 1996.
 */
#ifndef STORE_MIRROR_TREE_H
#define STORE_MIRROR_TREE_H

#include "base/buf.h"
#include "store/mirror/mirror.h"
#include "store/mirror/places.h"

struct mirror_item {
    struct mirror_node node; /* first: a node is its item */
    struct mirror_item *left, *right, *children;
    uint64_t hash;            /* of the path, 0 of the root: mirror_places'; the priority in the treap, too */
    uint32_t note : 8;        /* of the data; see mirror_node_note */
    uint32_t generation : 24; /* of the full read that saw it last */
    char name[];
};

struct mirror_tree {
    struct mirror_item *root;
    size_t n_nodes, n_bytes;
    size_t n_place_bytes;         /* of places, not in n_bytes */
    struct mirror_places *places; /* every item but the root; NULL: none yet */
};

/** Items of discarded trees, not freed yet; linked through what were their parent pointers. */
struct mirror_garbage {
    struct mirror_item *first;
    size_t n_bytes;
};

struct mirror_item *mirror_item_of(const struct mirror_node *node);
/** First child whose name is greater than the len bytes at `after`, or NULL. O(log n). */
struct mirror_item *mirror_child_next(const struct mirror_item *item, const char *after, size_t len);
/** Item at a path or NULL. */
struct mirror_item *mirror_tree_find(const struct mirror_tree *t, const char *path);
/** First item after a path in path order, whether there is one at the path or not; or NULL. */
struct mirror_item *mirror_tree_after(const struct mirror_tree *t, const char *path);
/** Item after this one below `top` (included), in path order; or NULL. */
struct mirror_item *mirror_tree_walk(const struct mirror_item *top, const struct mirror_item *item);

/** Add an item without data or stat. @param parent  of the path; NULL: the path is "/", of which there is none yet */
struct mirror_item *mirror_tree_add(struct mirror_tree *t, struct mirror_item *parent, const char *path);
/** Put a copy of new data in place. @return the old data, for mirror_data_free; never NULL. */
const char *mirror_tree_set_data(struct mirror_tree *t, struct mirror_item *item, const char *bytes,
                                 size_t len);
/** Release what mirror_tree_set_data gave back. */
void mirror_data_free(const char *take_bytes);
/** Take an item without children out of the tree; it stays readable, with its parent pointer, until mirror_item_free. */
void mirror_tree_remove(struct mirror_tree *t, struct mirror_item *item);
void mirror_item_free(struct mirror_item *item);
/** Free everything; the tree is empty and usable again. */
void mirror_tree_fini(struct mirror_tree *t);
/** Empty a tree in constant time: its items become garbage. */
void mirror_tree_discard(struct mirror_tree *t, struct mirror_garbage *garbage);
/** Free at most n of them. @return whether any is left. */
bool mirror_garbage_free(struct mirror_garbage *garbage, size_t n);

#endif
