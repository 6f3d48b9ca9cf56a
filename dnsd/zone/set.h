/**
 * The zone set and the building of versions. For the files of this folder.
 *
 * A version under construction is private to the writer. Shards and pages whose `born` is its number are its own and may be
 * changed or released at once; all others are shared with published versions and are copied first. Replaced ones are garbage:
 * they are listed in `garbage` and move to the set's waiting list with the version. Garbage that was never published, because it
 * was born while the gate held versions back, is released then.
 *
 *     current ◄── readers          newest ◄── the writer continues from here; the same, unless a gate holds it back
 *
 * An image (zone/image.h) that is current meanwhile has a number between those of the versions before and after it.
 */
#ifndef ZONE_SET_H
#define ZONE_SET_H

#include <stdatomic.h>

#include "zone/shard.h"

/** Garbage: memory that the next version does not use, or that waits for its last reader. */
struct zone_garbage {
    void *memory;
    size_t size;
    /* While building: the version it was born in; waiting: the first that does not use it. */
    uint64_t version;
    void (*release)(void *memory); /* NULL: free */
};

struct zone_garbage_list {
    struct zone_garbage *items;
    size_t n_items, cap, first; /* items before first are gone */
};

struct zoneset {
    _Atomic(struct zone_version *) current;
    struct zone_version *newest;
    struct zone_gate gate;
    struct zone_garbage image; /* the image that is current, or memory NULL */
    uint64_t last_number;      /* of the last image that was current */
    struct zone_garbage_list waiting;
    size_t waiting_bytes, version_bytes;
    uint8_t **apexes; /* n_zones of the current version */
    bool has_tx;
    struct zone_watcher watcher;
    struct zone_aliases aliases;
};

/** A version under construction. */
struct zone_build {
    struct zoneset *set;
    struct zone_version *next;
    struct zone_garbage_list garbage;
    size_t made_bytes, garbage_bytes;
};

/** A table of all zones of a version. @return free() releases it. Thread: writer. Source: ours. */
struct zone_table *zone_table_new(const struct zone_version *v);

/** Begin a copy of the current version with room for n_zones zones. */
void build_begin(struct zone_build *b, struct zoneset *set, uint32_t n_zones);
/** Put a shard (taken, may be NULL) in place of another. */
void build_put_shard(struct zone_build *b, uint32_t index, struct zone_shard *take_shard);
/** Split shards until there is one for SHARD_NODES of n_nodes nodes. */
void build_grow(struct zone_build *b, uint64_t n_nodes);
/** List garbage: memory that the next version does not use, born in version `born`, which is not 0. */
void build_retire(struct zone_build *b, void *memory, size_t size, uint64_t born);
/** Make it the newest version, and publish it if the gate permits it. */
void build_publish(struct zone_build *b);
/** Release everything that was made. */
void build_abort(struct zone_build *b);

#endif
