/**
 * Binary heap of nodes that know their place: the least key is found at once, and any node can be moved or taken out in
 * O(log n). A node is a member of the struct it stands for (container_of); the heap owns its own array, not the nodes.
 *
 *     struct job { struct heap_node due; … };
 *
 *     heap_set(&jobs, &job->due, at_ms, job->number);              // put in, or moved
 *     struct heap_node *first = heap_first(&jobs);
 *     struct job *next = first ? container_of(first, struct job, due) : NULL;
 *
 * Nodes of one key come in the order of their ranks: what comes first never hangs on the history of the heap, as long as no two
 * nodes have one key and one rank.
 *
 * Thread: one heap, one thread.   Source: ours.
 */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Begins as {0}: in no heap. Read only outside of heap.c. */
struct heap_node {
    int64_t key;
    uint64_t rank; /* order of those with one key */
    size_t place;  /* in the array, from 1; 0: it is in no heap */
};

struct heap {
    struct heap_node **nodes;
    size_t n_nodes, cap;
};

#define HEAP_EMPTY ((struct heap){NULL, 0, 0})

/** Release the array; the nodes still in it are in no heap any more. The heap is empty and usable again. */
void heap_fini(struct heap *h);
/**
 * Put a node in, or give one that is there another key.
 *
 * @param node  in this heap or in none                                           [kept until it is taken out]
 * @param key   any number: the least one is first
 * @param rank  among nodes of one key: the least one is first
 */
void heap_set(struct heap *h, struct heap_node *node, int64_t key, uint64_t rank);
/** Take a node out. @return false: it was in no heap, nothing is done. */
bool heap_remove(struct heap *h, struct heap_node *node);
/** The node of the least key and rank; NULL: the heap is empty. */
struct heap_node *heap_first(const struct heap *h);
/** Whether a node is in a heap. */
static inline bool heap_has(const struct heap_node *node)
{
    return node->place != 0;
}

#endif
