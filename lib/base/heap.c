#include "base/heap.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/obj.h"

/* Places count from 1, so that the children of place p are at 2p and 2p + 1, and 0 is no place. */

static bool is_before(const struct heap_node *a, const struct heap_node *b)
{
    return a->key != b->key ? a->key < b->key : a->rank < b->rank;
}

static void put(struct heap *h, struct heap_node *node, size_t place)
{
    h->nodes[place - 1] = node;
    node->place = place;
}

static struct heap_node *at(const struct heap *h, size_t place)
{
    return h->nodes[place - 1];
}

static void rise(struct heap *h, struct heap_node *node)
{
    size_t place = node->place;
    for (; place > 1 && is_before(node, at(h, place / 2)); place /= 2)
        put(h, at(h, place / 2), place);
    put(h, node, place);
}

static void sink(struct heap *h, struct heap_node *node)
{
    size_t place = node->place;
    for (;;) {
        size_t child = 2 * place;
        if (child < h->n_nodes && is_before(at(h, child + 1), at(h, child)))
            child++;
        if (child > h->n_nodes || !is_before(at(h, child), node))
            break;
        put(h, at(h, child), place);
        place = child;
    }
    put(h, node, place);
}

static void settle(struct heap *h, struct heap_node *node)
{
    rise(h, node);
    sink(h, node);
}

void heap_fini(struct heap *h)
{
    for (size_t i = 0; i < h->n_nodes; i++)
        h->nodes[i]->place = 0;
    free(h->nodes);
    *h = HEAP_EMPTY;
}

void heap_set(struct heap *h, struct heap_node *node, int64_t key, uint64_t rank)
{
    if (!heap_has(node)) {
        if (h->n_nodes == h->cap) {
            h->cap = h->cap ? 2 * h->cap : 4;
            h->nodes = mem_resize(h->nodes, h->cap, sizeof(struct heap_node *));
        }
        put(h, node, ++h->n_nodes);
    }
    BUG_IF(node->place > h->n_nodes || at(h, node->place) != node); /* it is in another heap */
    node->key = key;
    node->rank = rank;
    settle(h, node);
}

bool heap_remove(struct heap *h, struct heap_node *node)
{
    if (!heap_has(node))
        return false;
    BUG_IF(node->place > h->n_nodes || at(h, node->place) != node);
    struct heap_node *last = at(h, h->n_nodes--);
    if (last != node) {
        put(h, last, node->place);
        settle(h, last);
    }
    node->place = 0;
    return true;
}

struct heap_node *heap_first(const struct heap *h)
{
    return h->n_nodes ? h->nodes[0] : NULL;
}
