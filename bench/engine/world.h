/**
 * A world around the engine that does at once what it is asked: every request is allocated, every process runs, every record is
 * written. It measures what the engine needs for its steps, and what these hand to the store.
 */
#ifndef BENCH_WORLD_H
#define BENCH_WORLD_H

#include <sys/queue.h>

#include "base/heap.h"
#include "base/map.h"
#include "engine/engine.h"

/** What the steps of one phase cost. */
struct phase {
    size_t n_steps;
    double engine_us, longest_us;       /* CPU time in engine_step and engine_load */
    size_t n_documents, n_stored_bytes; /* keys and documents */
};

struct world {
    struct engine *e;
    struct engine_config cfg;
    int64_t now_ms;
    struct phase phase;           /* since world_begin */
    bool keeps_documents;         /* for world_restart */
    struct map documents;         /* key → text */
    STAILQ_HEAD(, batch) batches; /* effects that were not carried out yet */
    struct map timers;            /* service → struct timer, owned */
    struct heap due;
    uint64_t token;
};

void world_init(struct world *w, bool keeps_documents);
void world_fini(struct world *w);
/** A new phase: what was measured is forgotten. */
void world_begin(struct world *w);
/** Take an event, and all that follows from it now. */
void world_event(struct world *w, struct eng_event ev);
/** Let time pass until a service's next timer is due. @return false: there is none */
bool world_wait(struct world *w);
/** The engine is loaded anew from its documents; every container still runs. */
void world_restart(struct world *w);

#endif
