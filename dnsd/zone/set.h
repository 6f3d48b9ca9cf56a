/**
 * The zone set and the building of versions. For the files of this folder.
 *
 * A version that is being built is private to the writer; shards and pages whose `born` is its number are its own and may be
 * changed or released at once, all others are shared with published versions and are copied first. What it replaces
 * is listed in `dead` and moves to the set's waiting list when the version is published.
 */
#ifndef ZONE_SET_H
#define ZONE_SET_H

#include <stdatomic.h>

#include "zone/shard.h"

/** Memory that no version from `until` on uses. */
struct zone_dead {
    void *memory;
    size_t size;
    uint64_t until;
};

struct zone_dead_list {
    struct zone_dead *items;
    size_t n_items, cap, first; /* items before first are gone */
};

struct zoneset {
    _Atomic(struct zone_version *) current;
    struct zone_dead_list waiting;
    size_t waiting_bytes, version_bytes;
    uint8_t **apexes; /* n_zones of the current version */
    bool has_tx;
    struct zone_watcher watcher;
};

/** A version under construction. */
struct zone_build {
    struct zoneset *set;
    struct zone_version *next;
    struct zone_dead_list dead;
    size_t made_bytes, dead_bytes;
};

/** Begin a copy of the current version with room for n_zones zones. */
void build_begin(struct zone_build *b, struct zoneset *set, uint32_t n_zones);
/** Put a shard (taken, may be NULL) in place of another. */
void build_put_shard(struct zone_build *b, uint32_t index, struct zone_shard *take_shard);
/** Split shards until there is one for SHARD_NODES of n_nodes nodes. */
void build_grow(struct zone_build *b, uint64_t n_nodes);
/** List memory that the next version does not use; it was born in version `born`. */
void build_retire(struct zone_build *b, void *memory, size_t size, uint64_t born);
/** Publish. */
void build_publish(struct zone_build *b);
/** Release everything that was made. */
void build_abort(struct zone_build *b);

#endif
