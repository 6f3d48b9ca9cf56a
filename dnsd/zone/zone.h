/**
 * Zones: what dnsd answers from.
 *
 * A *zone set* holds every zone of the process (registry zone, reverse zones, master files). Its content at
 * one moment is an immutable *version*; readers take the current version and never wait, one writer makes the next one:
 *
 *     struct zone_tx *tx = zone_tx_begin(set);
 *     zone_tx_remove(tx, ZONE_BY_NAME, &old_rr);        differences of two wanted sets
 *     zone_tx_add(tx, ZONE_BY_NAME, &new_rr);
 *     struct zone_commit done;
 *     zone_tx_commit(tx, ZONE_READY, &done);            readers see all of it or nothing
 *     zoneset_reclaim(set, net_oldest_version(net));    memory that no reader can see any more
 *
 * A version is an array of shards, each one block of memory with some SHARD_NODES names (zone/shard.h draws it). A commit
 * makes new shards for the names it touched and shares the others, so its cost follows the change, not the zone.
 *
 * Records are counted per (owner, type, rdata): a record added twice stays until it is removed twice. Its TTL is the
 * lowest it was added with; the TTL of a set is the lowest of its records (RFC 2181 5.2). Names that only have names
 * below them (empty non-terminals) exist and are answered NODATA (RFC 4592 2.2.2).
 *
 * A gate, when there is one, decides whether readers see a new version: while it says no they stay at the one they had, and the
 * writer goes on from the newest one.
 *
 * The serial of a zone rises by one with each commit that changes what the zone says; the SOA record that the caller
 * adds (and may replace by adding another) is given that serial, whatever it carries.
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

/** What a zone is for. REGISTRY and REVERSE are dynamic: SERVFAIL until the version is ZONE_READY. */
enum zone_kind {
    ZONE_REGISTRY,
    ZONE_REVERSE,
    ZONE_FILE,
    ZONE_GONE, /* retired: no name is in it; its number is used again when its apex comes back */
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
 * Told of every record that readers gain or lose, SOAs excepted: what an IXFR journal is made of. A changed TTL is a loss of
 * all records of the set and a gain of all. Called on the writer's thread while records are added and at commit; what
 * was told of a transaction that is aborted did not happen. `rr` is valid during the call; no zone function may be called.
 */
struct zone_watcher {
    void (*change)(void *owner, unsigned zone, bool is_gain, const struct zone_rr *rr); /* NULL: nobody */
    void *owner;
};

/** Asked with each new version, and by zoneset_publish: may readers see it? All zero: they may. The call changes nothing. */
struct zone_gate {
    bool (*may_publish)(void *owner, const struct zone_version *next);
    void *owner;
};

struct zoneset_options {
    uint64_t hash_seed; /* random per process; any value is correct */
    struct zone_watcher watcher;
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
 * Take a zone away: its names belong to the zone above from now on, or to none. No transaction may be open.
 *
 * @param zone  number of a zone whose records were all removed
 * Thread: writer.   Source: ours.
 */
void zoneset_retire_zone(struct zoneset *set, int zone);

/** Begin a transaction. One at a time. End it with zone_tx_commit or zone_tx_abort. Thread: writer. */
struct zone_tx *zone_tx_begin(struct zoneset *set);

/**
 * Count one more contribution of a record.
 *
 * @param zone  number of the zone, or ZONE_BY_NAME
 * @param rr    record; copied                                                   [borrowed]
 * @return 0; ERR_NOTFOUND: no zone contains the owner (or not this zone); ERR_PARSE: owner or rdata malformed, TTL too
 *         large, or a type that cannot be stored (OPT, meta types); the transaction is unchanged and goes on.
 * Thread: writer.   Source: RFC 2181 5.
 */
int zone_tx_add(struct zone_tx *tx, int zone, const struct zone_rr *rr);

/**
 * Take one contribution of a record away; with the last one the record goes. `ttl_s` is not looked at. A record that is
 * not there is counted in zone_commit.n_missing. Results and thread as zone_tx_add.
 */
int zone_tx_remove(struct zone_tx *tx, int zone, const struct zone_rr *rr);

/** Give a zone this serial at the commit if that is an increase (RFC 1982). @param zone number of a zone. Thread: writer.
 *  Source: ours. */
void zone_tx_raise_serial(struct zone_tx *tx, int zone, uint32_t serial);

/** Records given since the transaction began, or since zone_tx_apply. Thread: that of the transaction. */
uint32_t zone_tx_n_edits(const struct zone_tx *tx);
/** Records from which on zone_tx_apply is worth its cost; a transaction applies by itself what is far above. */
#define ZONE_TX_PART 32768

/**
 * Work what was given into the version that is being made; zone_tx_commit has only the rest to do then. The transaction is
 * the thread's that calls this until it returns; readers, zoneset_current and zoneset_reclaim may go on beside it.
 *
 * Thread: any one, handed over by the writer and back to it.   Source: ours.
 */
void zone_tx_apply(struct zone_tx *tx);

/** What a commit did. */
struct zone_commit {
    uint64_t version;   /* number of the version that is the newest now */
    uint32_t n_zones;   /* zones whose content, and so serial, changed */
    uint64_t n_added;   /* records that are new to readers */
    uint64_t n_removed; /* records that readers no longer see */
    uint64_t n_missing; /* removals of records that were not there: a bug of the caller, harmless here */
};

/**
 * Publish everything since zone_tx_begin as one new version, and end the transaction. When nothing changed, neither
 * records, counts nor flags, no version is made. A version that the gate holds back gives its flags to the one that readers stay
 * at; that one does not become ready by it.
 *
 * @param flags  ZONE_READY, ZONE_STALE or 0: of the new version
 * @param done   filled; may be NULL                                             [out]
 * @return nothing can fail.   Thread: writer.   Source: RFC 1982, ours.
 */
void zone_tx_commit(struct zone_tx *tx, unsigned flags, struct zone_commit *done);

/** Forget everything since zone_tx_begin, and end the transaction. Thread: writer. */
void zone_tx_abort(struct zone_tx *tx);

/** The version that readers see. Thread: any that holds an epoch, see net/epoch.h; the writer at any time until it reclaims. */
const struct zone_version *zoneset_current(const struct zoneset *set);
/** The version that the writer made last: the current one, unless the gate holds readers back. Thread: writer. */
const struct zone_version *zoneset_newest(const struct zoneset *set);

/** Ask this gate from now on, about new versions. @param gate copied; its owner lives on. Thread: writer. Source: ours. */
void zoneset_gate(struct zoneset *set, const struct zone_gate *gate);
/** Ask the gate again. @return whether readers see the newest version now. Thread: writer. Source: ours. */
bool zoneset_publish(struct zoneset *set);
/** Does the gate keep readers at an older version than the newest? Thread: writer. Source: ours. */
bool zoneset_is_frozen(const struct zoneset *set);

/**
 * Release what only versions older than `oldest` use.
 *
 * @param oldest  number of the oldest version that a reader may hold (epoch_oldest); UINT64_MAX: there is no reader. The current
 *                version stays in any case
 * @return objects released.   Thread: writer.   Source: ours.
 */
size_t zoneset_reclaim(struct zoneset *set, uint64_t oldest);
/** As zoneset_reclaim, at most n_max objects: after a large change there are thousands. @return objects released; n_max: there may
 *  be more. Thread: writer. Source: ours. */
size_t zoneset_reclaim_some(struct zoneset *set, uint64_t oldest, size_t n_max);

/** Memory of the set: the newest version's shards, and what waits for zoneset_reclaim. Thread: writer. */
struct zoneset_memory {
    size_t version_bytes, waiting_bytes;
    size_t n_shards;
};
void zoneset_memory(const struct zoneset *set, struct zoneset_memory *out);

/** Number of a version: rises by one with each publication. Thread: any. */
uint64_t zone_version_number(const struct zone_version *v);
/** ZONE_* flags of a version. Thread: any. */
unsigned zone_version_flags(const struct zone_version *v);

/** What a version says about one zone. */
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
    /** @param rr valid during the call only; `ttl_s` is that of its set. @return 0 to go on, anything else to stop. */
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
 * @return 0; or what the visitor stopped with: go on with nothing then.   Thread: as zone_dump.   Source: ours.
 */
#define ZONE_DUMP_END UINT64_MAX
int zone_dump_part(const struct zone_version *v, unsigned zone, uint64_t *cursor,
                   const struct zone_visitor *visitor);

#endif
