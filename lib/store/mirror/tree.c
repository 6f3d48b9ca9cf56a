/* Nodes of a mirror. */
#include "store/mirror/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/path.h"

/** What malloc adds to a piece, for the estimate. */
enum { MALLOC_HEAD = 16 };

/** Data of a node without any; most inner nodes have none. */
static const char no_data[1] = "";

/* ---- finding ---- */

struct mirror_item *mirror_item_of(const struct mirror_node *node)
{
    return (struct mirror_item *)(uintptr_t)node;
}

/** Order of len bytes at `name` against a NUL-terminated text, as strcmp. */
static int name_compare(const char *name, size_t len, const char *other)
{
    int order = strncmp(name, other, len);
    return order ? order : (other[len] ? -1 : 0);
}

struct mirror_item *mirror_child_next(const struct mirror_item *item, const char *after, size_t len)
{
    struct mirror_item *at = item->children, *best = NULL;
    while (at) {
        if (name_compare(after, len, at->name) < 0) {
            best = at;
            at = at->left;
        } else {
            at = at->right;
        }
    }
    return best;
}

/** The nearest existing item on the way to a path; *rest: the first element missing, NULL when the path exists. */
static struct mirror_item *descend(const struct mirror_tree *t, const char *path, const char **rest,
                                   size_t *rest_len)
{
    struct mirror_item *at = t->root;
    *rest = NULL;
    for (const char *name = path + 1; *name;) {
        size_t len = (size_t)(strchrnul(name, '/') - name);
        struct mirror_item *child =
            t->places ? mirror_places_find(t->places, path, (size_t)(name + len - path)) : NULL;
        if (!child) {
            *rest = name;
            *rest_len = len;
            return at;
        }
        at = child;
        name += len + (name[len] == '/');
    }
    return at;
}

struct mirror_item *mirror_tree_find(const struct mirror_tree *t, const char *path)
{
    if (!path[1])
        return t->root;
    return t->places ? mirror_places_find(t->places, path, strlen(path)) : NULL;
}

/** The next item that is not below this one. */
static struct mirror_item *after_subtree(const struct mirror_item *top, const struct mirror_item *item)
{
    while (item != top && item->node.parent) {
        const struct mirror_item *parent = mirror_item_of(item->node.parent);
        struct mirror_item *next = mirror_child_next(parent, item->name, strlen(item->name));
        if (next)
            return next;
        item = parent;
    }
    return NULL;
}

struct mirror_item *mirror_tree_walk(const struct mirror_item *top, const struct mirror_item *item)
{
    struct mirror_item *child = mirror_child_next(item, "", 0);
    return child ? child : after_subtree(top, item);
}

struct mirror_item *mirror_tree_after(const struct mirror_tree *t, const char *path)
{
    const char *rest = NULL;
    size_t rest_len = 0;
    if (!t->root)
        return NULL;
    struct mirror_item *item = descend(t, path, &rest, &rest_len);
    if (!rest)
        return mirror_tree_walk(t->root, item);
    struct mirror_item *next = mirror_child_next(item, rest, rest_len);
    return next ? next : after_subtree(t->root, item);
}

/* ---- treap: the hash is the priority, so that the order of names does not decide its shape ---- */

/** Cut a treap in two: names smaller than `name`, and greater ones. */
static void treap_split(struct mirror_item *at, const char *name, struct mirror_item **smaller,
                        struct mirror_item **greater)
{
    while (at) {
        if (strcmp(at->name, name) < 0) {
            *smaller = at;
            smaller = &at->right;
            at = at->right;
        } else {
            *greater = at;
            greater = &at->left;
            at = at->left;
        }
    }
    *smaller = NULL;
    *greater = NULL;
}

/** Join two treaps, every name of the first smaller than every one of the second. */
static struct mirror_item *treap_join(struct mirror_item *smaller, struct mirror_item *greater)
{
    struct mirror_item *root = NULL, **at = &root;
    while (smaller && greater) {
        if (smaller->hash > greater->hash) {
            *at = smaller;
            at = &smaller->right;
            smaller = smaller->right;
        } else {
            *at = greater;
            at = &greater->left;
            greater = greater->left;
        }
    }
    *at = smaller ? smaller : greater;
    return root;
}

static void treap_insert(struct mirror_item **at, struct mirror_item *item)
{
    while (*at && (*at)->hash >= item->hash)
        at = strcmp(item->name, (*at)->name) < 0 ? &(*at)->left : &(*at)->right;
    treap_split(*at, item->name, &item->left, &item->right);
    *at = item;
}

static void treap_remove(struct mirror_item **at, struct mirror_item *item)
{
    while (*at != item) {
        BUG_IF(!*at);
        at = strcmp(item->name, (*at)->name) < 0 ? &(*at)->left : &(*at)->right;
    }
    *at = treap_join(item->left, item->right);
}

/* ---- changing ---- */

struct mirror_item *mirror_tree_add(struct mirror_tree *t, struct mirror_item *parent, const char *path)
{
    const char *name = path_name(path);
    size_t size = sizeof(struct mirror_item) + strlen(name) + 1;
    struct mirror_item *item = mem_zalloc(size);
    memcpy(item->name, name, strlen(name) + 1);
    item->node.name = item->name;
    item->node.data = no_data;
    if (parent) {
        item->node.parent = &parent->node;
        if (!t->places)
            t->places = mirror_places_new();
        t->n_place_bytes += mirror_places_add(t->places, item, path); /* gives the hash */
        treap_insert(&parent->children, item);
        parent->node.stat.n_children++;
    } else {
        BUG_IF(t->root);
        t->root = item;
    }
    t->n_nodes++;
    t->n_bytes += size + MALLOC_HEAD;
    return item;
}

static size_t data_size(const struct mirror_item *item)
{
    return item->node.data == no_data ? 0 : item->node.stat.data_len + 1 + MALLOC_HEAD;
}

static size_t item_size(const struct mirror_item *item)
{
    return sizeof *item + strlen(item->name) + 1 + MALLOC_HEAD + data_size(item);
}

const char *mirror_tree_set_data(struct mirror_tree *t, struct mirror_item *item, const char *bytes,
                                 size_t len)
{
    const char *old = item->node.data;
    t->n_bytes -= data_size(item);
    item->note = 0;
    item->node.data = len ? mem_strn(bytes, len) : no_data;
    item->node.stat.data_len = (uint32_t)len;
    t->n_bytes += data_size(item);
    return old;
}

void mirror_data_free(const char *take_bytes)
{
    if (take_bytes != no_data)
        free((void *)(uintptr_t)take_bytes);
}

void mirror_tree_remove(struct mirror_tree *t, struct mirror_item *item)
{
    BUG_IF(item->children);
    if (item->node.parent) {
        struct mirror_item *parent = mirror_item_of(item->node.parent);
        treap_remove(&parent->children, item);
        t->n_place_bytes -= mirror_places_remove(t->places, item);
        parent->node.stat.n_children--;
    } else {
        t->root = NULL;
    }
    t->n_nodes--;
    t->n_bytes -= item_size(item);
}

void mirror_item_free(struct mirror_item *item)
{
    mirror_data_free(item->node.data);
    free(item);
}

/** Put an item on the list; nobody needs its parent pointer any more. */
static void discard(struct mirror_item *item, struct mirror_garbage *garbage)
{
    if (!item)
        return;
    item->node.parent = garbage->first ? &garbage->first->node : NULL;
    garbage->first = item;
}

void mirror_tree_discard(struct mirror_tree *t, struct mirror_garbage *garbage)
{
    discard(t->root, garbage);
    garbage->n_bytes += t->n_bytes;
    mirror_places_free(t->places);
    t->places = NULL;
    t->n_place_bytes = 0;
    t->root = NULL;
    t->n_nodes = 0;
    t->n_bytes = 0;
}

bool mirror_garbage_free(struct mirror_garbage *garbage, size_t n)
{
    struct mirror_item *item;
    for (; n && (item = garbage->first); n--) {
        garbage->first = item->node.parent ? mirror_item_of(item->node.parent) : NULL;
        discard(item->left, garbage);
        discard(item->right, garbage);
        discard(item->children, garbage);
        garbage->n_bytes -= item_size(item);
        mirror_item_free(item);
    }
    return garbage->first != NULL;
}

void mirror_tree_fini(struct mirror_tree *t)
{
    struct mirror_garbage garbage = {0};
    mirror_tree_discard(t, &garbage);
    mirror_garbage_free(&garbage, SIZE_MAX);
}
