#include "net/epoch.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/obj.h"
#include "zone/zone.h"

enum { CACHE_LINE = 64 };

/** The number of a version that may be read, or OUTSIDE. */
struct epoch_cell {
    _Alignas(CACHE_LINE) _Atomic uint64_t version;
};

struct epoch {
    struct epoch_cell *cells;
    unsigned n_cells;
};

enum { OUTSIDE = 0, ANY_VERSION = 1 };

struct epoch *epoch_new(unsigned n_cells)
{
    struct epoch *e = mem_new(struct epoch);
    struct epoch_cell *cells = aligned_alloc(CACHE_LINE, (size_t)n_cells * sizeof *cells);
    BUG_IF(!cells);
    e->cells = cells;
    e->n_cells = n_cells;
    for (unsigned i = 0; i < n_cells; i++)
        atomic_init(&cells[i].version, OUTSIDE);
    return e;
}

void epoch_free(struct epoch *e)
{
    if (!e)
        return;
    BUG_IF(epoch_oldest(e) != UINT64_MAX);
    free(e->cells);
    free(e);
}

struct epoch_cell *epoch_cell(struct epoch *e, unsigned n)
{
    BUG_IF(n >= e->n_cells);
    return &e->cells[n];
}

const struct zone_version *epoch_enter(struct epoch_cell *cell, const struct zoneset *set)
{
    /* Protect every version first; then load one, which cannot be released any more, and protect only that. */
    atomic_store(&cell->version, ANY_VERSION);
    const struct zone_version *v = zoneset_current(set);
    atomic_store_explicit(&cell->version, zone_version_number(v), memory_order_release);
    return v;
}

void epoch_leave(struct epoch_cell *cell)
{
    atomic_store_explicit(&cell->version, OUTSIDE, memory_order_release);
}

uint64_t epoch_oldest(const struct epoch *e)
{
    uint64_t oldest = UINT64_MAX;
    for (unsigned i = 0; i < e->n_cells; i++) {
        uint64_t version = atomic_load(&e->cells[i].version);
        if (version != OUTSIDE && version < oldest)
            oldest = version;
    }
    return oldest;
}
