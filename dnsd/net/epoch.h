/**
 * Which zone versions may still be read. Each reader has a cell in a cache line of its own; it stores the number of the
 * version that was current when it began, and 0 when it is done (parked in the kernel). The writer publishes a version,
 * then asks for the oldest number any cell holds: what was replaced before that version can be released.
 *
 * Why it is safe: a reader stores its cell, then loads the version pointer; the writer stores the pointer, then loads the
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

/** Cells for up to n readers. Release with epoch_free. Thread: writer. */
struct epoch *epoch_new(unsigned n_cells);
/** Release; no reader may be inside. NULL is fine. Thread: writer. */
void epoch_free(struct epoch *e);
/** The n-th cell, 0..n_cells-1. Thread: any. */
struct epoch_cell *epoch_cell(struct epoch *e, unsigned n);
/** Begin to read: the current version of the set, safe to use until epoch_leave. Not nested. Thread: the cell's. */
const struct zone_version *epoch_enter(struct epoch_cell *cell, const struct zoneset *set);
/** Done: nothing of the version may be touched after this. Thread: the cell's. */
void epoch_leave(struct epoch_cell *cell);
/** Oldest version number that a reader may hold; UINT64_MAX when none reads. Thread: writer. */
uint64_t epoch_oldest(const struct epoch *e);

#endif
