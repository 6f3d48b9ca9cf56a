/**
 * Zones: the names and records that dnsd answers from.
 *
 * A *zone set* holds every zone of the process (registry zone, reverse zones, master files). Its content is an immutable
 * *version*: readers take the current version and never wait, one writer makes the next one:
 *
 *     struct zone_tx *tx = zone_tx_begin(set);
 *     zone_tx_remove(tx, ZONE_BY_NAME, &old_rr);        edits: the difference of two wanted sets
 *     zone_tx_add(tx, ZONE_BY_NAME, &new_rr);
 *     struct zone_commit done;
 *     zone_tx_commit(tx, ZONE_READY, &done);            readers see all of it or nothing
 *     zoneset_reclaim(set, net_oldest_version(net));    memory that no reader can reach any more
 *
 * A version is an array of shards, each one block of memory with some SHARD_NODES names (zone/shard.h draws it). A commit
 * makes new shards for the names it touched and shares the others, so its cost follows the change, not the zone.
 *
 * Records are counted per (owner, type, rdata): a record added twice stays until it is removed twice. Its TTL is the
 * lowest it was added with; the TTL of a set is the lowest of its records (RFC 2181 5.2). Names that only have names
 * below them (empty non-terminals) exist and are answered NODATA (RFC 4592 2.2.2).
 *
 * A gate may hold a new version back: readers stay at the current version, and the writer continues from the newest one.
 *
 * The serial of a zone rises by one with each commit that changes the zone's records. It replaces the serial of the SOA
 * record that the caller adds (and may replace by adding another).
 *
 * Thread: everything named zone_tx_* and zoneset_* belongs to one writer thread, except zoneset_current. Versions are
 * read by any thread that holds an epoch (net/epoch.h), or by the writer until it reclaims.
 * Source: ours; RFC 1034 4.3.2, RFC 4592, RFC 1982.
 */
#ifndef ZONE_ZONE_H
#define ZONE_ZONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/name.h"

struct zoneset;
struct zone_version;
struct zone_tx;

/** Kind of a zone. REGISTRY and REVERSE are dynamic: SERVFAIL until the version is ZONE_READY. */
enum zone_kind {
    ZONE_REGISTRY,
    ZONE_REVERSE,
    ZONE_FILE,
    ZONE_GONE, /* retired, without names; its number is used again when its apex is added again */
};

/** Flags of a version, given at commit. */
enum {
    ZONE_READY = 1, /* the registry was read completely once */
    ZONE_STALE = 2, /* the registry cannot be reached now: answers carry EDE 3 */
};

/** Zone argument: the zone with the longest apex that contains the owner. */
#define ZONE_BY_NAME (-1)

/** One record, as callers give it. */
struct zone_rr {
    const uint8_t *owner; /* wire name, uncompressed, any case                   [borrowed] */
    uint16_t type;
    uint32_t ttl_s;       /* 0..2^31-1 */
    const uint8_t *rdata; /* wire form, names uncompressed                       [borrowed] */
    uint16_t rdlen;
};

/**
 * Notified of every record that readers gain or lose, SOAs excepted: the input of an IXFR journal. A changed TTL is a loss of
 * all records of the set and a gain of all. Called on the writer's thread while records are added and at commit; calls of a
 * transaction that is aborted are void. `rr` is valid during the call; no zone function may be called.
 */
struct zone_watcher {
    void (*change)(void *owner, unsigned zone, bool is_gain, const struct zone_rr *rr); /* NULL: no watcher */
    void *owner;
};

/** Asked with each new version, and by zoneset_publish: may it be published? All zero: always. The call changes nothing. */
struct zone_gate {
    bool (*may_publish)(void *owner, const struct zone_version *next);
    void *owner;
};

/**
 * CNAMEs that give way: one beside other records is not seen by readers, as though it were not there (RFC 1034 3.6.2); it comes back when
 * they go. All zero: readers see both.
 */
struct zone_aliases {
    /** A name has such a CNAME now, or has none any more; called as a zone_watcher is. NULL: readers see both. */
    void (*change)(void *owner, const uint8_t *name, bool is_hidden);
    void *owner;
};

struct zoneset_options {
    uint64_t hash_seed; /* random per process; any value is correct */
    struct zone_watcher watcher;
    struct zone_aliases aliases;
};

/**
 * A zone set without zones; its current version is empty and not ready.
 *
 * @param opts  NULL: all zero                                                   [borrowed]
 * @return the set; release with zoneset_free.   Thread: writer.   Source: ours.
 */
struct zoneset *zoneset_new(const struct zoneset_options *opts);

/** Release the set with all versions. No reader, and no open transaction, may be left. NULL is fine. Thread: writer. */
void zoneset_free(struct zoneset *set);

/**
 * Declare a zone. It is published at once, without records: until its SOA is added, queries for it get SERVFAIL.
 * No transaction may be open.
 *
 * @param apex    wire name, any case                                            [borrowed]
 * @param serial  serial of its first commit that changes something
 * @return number of the zone, 0 and up; ERR_EXISTS: the set has this apex; ERR_PARSE: not a name; ERR_LIMIT: 65535 zones.
 * Thread: writer.   Source: ours.
 */
int zoneset_add_zone(struct zoneset *set, const uint8_t *apex, enum zone_kind kind, uint32_t serial);

/** Number of the zone with exactly this apex in the newest version, or ERR_NOTFOUND. Thread: writer. */
int zoneset_zone(const struct zoneset *set, const uint8_t *apex);

/** Number of the zone of the newest version with the longest apex that contains a name, or ERR_NOTFOUND. Thread: writer. Source:
 *  RFC 1034 4.3.2. */
int zoneset_zone_of(const struct zoneset *set, const uint8_t *name);

/**
 * Remove a zone: its names belong to the zone above from now on, or to none. No transaction may be open.
 *
 * @param zone  number of a zone whose records were all removed
 * Thread: writer.   Source: ours.
 */
void zoneset_retire_zone(struct zoneset *set, int zone);

/** Begin a transaction, one at a time. @return end it with zone_tx_commit or zone_tx_abort. Thread: writer. Source: ours. */
struct zone_tx *zone_tx_begin(struct zoneset *set);

/**
 * Count one more contribution of a record.
 *
 * @param zone  number of the zone, or ZONE_BY_NAME
 * @param rr    record; copied                                                   [borrowed]
 * @return 0; ERR_NOTFOUND: no zone contains the owner (or not this zone); ERR_PARSE: owner or rdata malformed, TTL too
 *         large, or a type that cannot be stored (OPT, meta types); the transaction is unchanged and may continue.
 * Thread: writer.   Source: RFC 2181 5.
 */
int zone_tx_add(struct zone_tx *tx, int zone, const struct zone_rr *rr);

/**
 * Remove one contribution of a record; the record is deleted with the last one. `ttl_s` is ignored. A record that does not
 * exist is counted in zone_commit.n_missing. Results, thread and source as zone_tx_add.
 */
int zone_tx_remove(struct zone_tx *tx, int zone, const struct zone_rr *rr);

/**
 * Mark a name as held, or end that: its answers carry EDE 3, because a record that it has is gone from the registry. The mark goes
 * with the last record of the name; neither its records nor the serial change by it, and transfers do not have it.
 *
 * @param zone   number of the zone, or ZONE_BY_NAME
 * @param owner  wire name, any case; one without records stays without          [borrowed]
 * @return 0; ERR_NOTFOUND: no zone contains it (or not this zone); ERR_PARSE: not a name. The transaction may continue.
 * Thread: writer.   Source: RFC 8914 4.4; ours.
 */
int zone_tx_hold(struct zone_tx *tx, int zone, const uint8_t *owner, bool is_held);

/**
 * Does a serial rise from one to the other? Within 2^31 (RFC 1982), less what may be added to it before a secondary sees it: from a rise of
 * just 2^31 - 1 the next change would go back.   Thread: any.   Source: RFC 1982 3.2.
 */
static inline bool zone_serial_rises(uint32_t from, uint32_t to)
{
    return to != from && to - from < (1u << 31) - (1u << 16);
}

/** Give a zone this serial at the commit if it rises to that. @param zone number of a zone. Thread: writer.
 *  Source: ours. */
void zone_tx_raise_serial(struct zone_tx *tx, int zone, uint32_t serial);

/** Edits since the transaction began, or since zone_tx_apply. Thread: that of the transaction. Source: ours. */
uint32_t zone_tx_n_edits(const struct zone_tx *tx);
/** Edits that make zone_tx_apply worth its cost; a transaction applies far larger numbers by itself. */
#define ZONE_TX_PART 32768

/**
 * Apply the edits to the version under construction, so that zone_tx_commit has only the rest to do. The transaction belongs
 * to the calling thread until this returns; readers, zoneset_current and zoneset_reclaim may run concurrently.
 *
 * Thread: any one, handed over by the writer and back to it.   Source: ours.
 */
void zone_tx_apply(struct zone_tx *tx);

/** What a commit did. */
struct zone_commit {
    uint64_t version;   /* number of the version that is the newest now */
    uint32_t n_zones;   /* zones whose content, and so serial, changed */
    uint64_t n_added;   /* records that readers gain */
    uint64_t n_removed; /* records that readers lose */
    uint64_t n_missing; /* removals of records that did not exist: a bug of the caller, without effect */
};

/**
 * Publish everything since zone_tx_begin as one new version, and end the transaction. When nothing changed, neither
 * records, counts nor flags, no version is made. A version that the gate holds back gives its flags to the current one,
 * but does not make it ready.
 *
 * @param flags  ZONE_READY, ZONE_STALE or 0: of the new version
 * @param done   filled; may be NULL                                             [out]
 * Cannot fail.   Thread: writer.   Source: RFC 1982, ours.
 */
void zone_tx_commit(struct zone_tx *tx, unsigned flags, struct zone_commit *done);

/** Discard everything since zone_tx_begin, and end the transaction. Thread: writer. Source: ours. */
void zone_tx_abort(struct zone_tx *tx);

/** The published version. Thread: any that holds an epoch, see net/epoch.h; the writer at any time until it reclaims. Source:
 *  ours. */
const struct zone_version *zoneset_current(const struct zoneset *set);
/** The version made last: the current one, unless the gate holds it back. Thread: writer. Source: ours. */
const struct zone_version *zoneset_newest(const struct zoneset *set);

/** Set the gate of new versions. @param gate copied; its owner lives on. Thread: writer. Source: ours. */
void zoneset_gate(struct zoneset *set, const struct zone_gate *gate);
/** Publish the newest version if the gate permits it. @return whether it is the current one now. Thread: writer. Source: ours. */
bool zoneset_publish(struct zoneset *set);
/** Is the current version older than the newest? Thread: writer. Source: ours. */
bool zoneset_is_frozen(const struct zoneset *set);

/**
 * Release the memory that only versions older than `oldest` use.
 *
 * @param oldest  number of the oldest version that a reader may hold (epoch_oldest); UINT64_MAX: there is no reader. The current
 *                version stays in any case
 * @return objects released.   Thread: writer.   Source: ours.
 */
size_t zoneset_reclaim(struct zoneset *set, uint64_t oldest);
/** As zoneset_reclaim, at most n_max objects, because a large change leaves thousands. @return objects released; n_max: there may
 *  be more. Thread: writer. Source: ours. */
size_t zoneset_reclaim_some(struct zoneset *set, uint64_t oldest, size_t n_max);

/** Memory of the set: of the newest version, and of garbage that waits for zoneset_reclaim. Thread: writer. Source: ours. */
struct zoneset_memory {
    size_t version_bytes, waiting_bytes;
    size_t n_shards;
};
void zoneset_memory(const struct zoneset *set, struct zoneset_memory *out);

/** Number of a version: rises by one with each publication. Thread: any. */
uint64_t zone_version_number(const struct zone_version *v);
/** ZONE_* flags of a version. Thread: any. */
unsigned zone_version_flags(const struct zone_version *v);

/** One zone of a version. */
struct zone_info {
    const uint8_t *apex; /* lower case wire name                                 [borrowed from the set] */
    enum zone_kind kind;
    uint32_t serial;
    uint64_t n_nodes; /* names, empty non-terminals and apex included */
    uint64_t n_rrs;
};

/** Number of the zone with exactly this apex, or ERR_NOTFOUND. Thread: any. */
int zone_version_zone(const struct zone_version *v, const uint8_t *apex);
/** Zones of a version. Thread: any. */
unsigned zone_version_n_zones(const struct zone_version *v);
/** @param zone 0..zone_version_n_zones()-1.  Thread: any. */
void zone_version_info(const struct zone_version *v, unsigned zone, struct zone_info *out);

/** Receives the records of a dump, one by one. */
struct zone_visitor {
    /** @param rr valid during the call only; `ttl_s` is that of its set. @return 0 to continue, anything else to stop. */
    int (*visit)(void *owner, const struct zone_rr *rr);
    void *owner;
};

/**
 * Visit every record of a zone: the SOA first, then the others, set by set, in no order of names.
 *
 * @param zone  0..zone_version_n_zones()-1
 * @return 0; or what the visitor stopped with.   Thread: any, under the rules of zoneset_current.   Source: ours.
 */
int zone_dump(const struct zone_version *v, unsigned zone, const struct zone_visitor *visitor);

/**
 * As zone_dump, some names at a time: call until *cursor is ZONE_DUMP_END, keeping the version.
 *
 * @param cursor  0 at first                                                     [in,out]
 * @return 0; or what the visitor stopped with: do not continue then.   Thread: as zone_dump.   Source: ours.
 */
#define ZONE_DUMP_END UINT64_MAX
int zone_dump_part(const struct zone_version *v, unsigned zone, uint64_t *cursor,
                   const struct zone_visitor *visitor);

#endif
