/**
 * The heap after a large change. Reading a registry leaves much free memory inside the heap, of what was gathered and of tables
 * that were outgrown, and what is used lies in millions of small pages, each to be looked up by the processor when something
 * in it is read. A second after a large change a thread of the pool gives free memory back to the system, then has it lay what
 * is in use together in large pages, where hardly anything is free between.
 *
 * Only the heap of brk(2), so a program with much to settle keeps to one arena (heap_one_arena). A system without
 * MADV_COLLAPSE (Linux before 6.1) goes on with small pages.
 *
 * Thread: owner; the work is the pool's.   Source: ours; malloc_trim(3), madvise(2).
 */
#ifndef RUN_HEAP_H
#define RUN_HEAP_H

#include <stddef.h>

#include "run/loop.h"

struct heap;

/** What one thread allocates, another one keeps or frees: arenas of their own would mostly hold holes. First thing in main.
 *  Thread: the only one. Source: ours; mallopt(3). */
void heap_one_arena(void);
/** Nothing to do yet. Free with heap_free. Thread: owner. Source: ours. */
struct heap *heap_new(struct run_loop *loop);
/** Release; what is under way goes on by itself. NULL is fine. Thread: owner. Source: ours. */
void heap_free(struct heap *h);
/** So many records came, went or moved at once: when they are many, the heap is settled a second later (readers of the version before have
 *  left then). Thread: owner. Source: ours. */
void heap_mind(struct heap *h, size_t n_records);
/** Settle it now. Thread: any. Source: ours. */
void heap_settle(void);

#endif
