/**
 * Epochs: which zone versions may still be read. Each reader has a cell in a cache line of its own; it stores the number of the
 * version that was current when it began, and 0 when it is done (parked in the kernel). The writer publishes a version, then
 * takes the oldest number of all cells: memory that was replaced before that version can be released.
 *
 * Proof: a reader stores its cell, then loads the version pointer; the writer stores the pointer, then loads the
 * cells; all four are sequentially consistent, so either the writer sees the cell or the reader sees the new pointer.
 *
 * Thread: a cell belongs to one thread; epoch_oldest to the writer.   Source: ours, after epoch-based reclamation.
 */
#ifndef NET_EPOCH_H
#define NET_EPOCH_H

#include <stdint.h>

struct epoch;
struct epoch_cell;
struct zoneset;
struct zone_version;

/** Cells for up to n readers. @return release with epoch_free. Thread: writer. Source: ours. */
struct epoch *epoch_new(unsigned n_cells);
/** Release; no reader may be inside. NULL is fine. Thread: writer. Source: ours. */
void epoch_free(struct epoch *e);
/** The n-th cell, 0..n_cells-1. @return borrowed. Thread: any. Source: ours. */
struct epoch_cell *epoch_cell(struct epoch *e, unsigned n);
/** Begin to read: the current version of the set, safe to use until epoch_leave. Not nested. Thread: the cell's. Source:
 *  ours. */
const struct zone_version *epoch_enter(struct epoch_cell *cell, const struct zoneset *set);
/** End reading: the version is no longer safe to use. Thread: the cell's. Source: ours. */
void epoch_leave(struct epoch_cell *cell);
/** Oldest version number that a reader may hold; UINT64_MAX when none reads. Thread: writer. Source: ours. */
uint64_t epoch_oldest(const struct epoch *e);

#endif
