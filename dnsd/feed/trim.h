/**
 * Free memory back to the system. Reading a registry leaves much free memory behind inside the heap, of what was gathered and
 * of shards that were outgrown; the allocator keeps it unless it is told not to.
 *
 * Thread: owner; the work is the pool's.   Source: ours; malloc_trim(3).
 */
#ifndef FEED_TRIM_H
#define FEED_TRIM_H

#include <stddef.h>

#include "run/loop.h"

struct trim;

/** Nothing to do yet. Free with trim_free. Thread: owner. Source: ours. */
struct trim *trim_new(struct run_loop *loop);
/** Release; what is under way goes on by itself. NULL is fine. Thread: owner. Source: ours. */
void trim_free(struct trim *t);
/** So many records were published at once: when they are many, trim when readers have left the version before. Thread: owner.
 *  Source: ours. */
void trim_mind(struct trim *t, size_t n_records);

#endif
