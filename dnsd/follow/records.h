/**
 * The records that the zones hold, and the RRs that each gives: a change of one record is the difference of what the old one gave
 * and what the new one gives. Per path only the packed record is kept (names/map.h).
 *
 *   records_replace(old, new): RRs of old out, RRs of new in          one transaction of the writer
 *   host has new addresses ──host_changed──► records_move_host: RRs of all that name it out, in again
 *   zone comes or goes ──► records_rezone_part: their RRs from one zone to another
 *
 * Thread: owner.   Source: ours.
 */
#ifndef FOLLOW_RECORDS_H
#define FOLLOW_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "names/packed.h"
#include "names/map.h"
#include "names/shared.h"
#include "run/loop.h"
#include "zone/zone.h"

struct records_def {
    struct run_loop *loop;
    struct zoneset *zones;
    struct map_options map;     /* addresses is set by the records */
    int64_t host_refresh_ms;    /* between two questions about one host name; at least 1000 */
    struct outage *host_outage; /* as struct hosts_def has it; NULL: not reported [borrowed] */
    /** A host that records name has new addresses: call records_move_host in the next transaction. */
    void (*host_changed)(void *arg, const char *host);
    void *arg;
};

/** What records_replace and what it calls has counted. */
struct records_counts {
    size_t n_named;      /* records that have names */
    size_t n_nameless;   /* records that have none */
    uint64_t n_left_out; /* names that could not be formed, since the start */
    uint64_t n_unzoned;  /* RRs that no zone covers (PTR outside the reverse zones), since the start */
};

struct records;

/** None. @param def copied. Free with records_free. Thread: owner. Source: ours. */
struct records *records_new(const struct records_def *def);
/** Release; the zones stay as they are. NULL is fine. Thread: owner. Source: ours. */
void records_free(struct records *r);

/** All of them, to read and to walk. Borrowed. Thread: owner. Source: ours. */
const struct packed_set *records_set(const struct records *r);
/** Prefixes of all packed records of the follower, those that are not in the zones yet among them. Borrowed. Thread: owner.
 *  Source: ours. */
struct packed_prefixes *records_prefixes(struct records *r);
/** The record of a path, or NULL. Borrowed until it is replaced. Thread: owner. Source: ours. */
struct packed *records_get(const struct records *r, const char *path);
/** As counted now. Borrowed. Thread: owner. Source: ours. */
const struct records_counts *records_counts(const struct records *r);
/** Make room for so many at once, so that none of the next ones waits for it. Thread: owner. Source: ours. */
void records_room(struct records *r, size_t n_records);
/** Options with which names are made. Borrowed. Thread: any. Source: ours. */
const struct map_options *records_map_options(const struct records *r);
/** What became of a record at a shared name. @param rr its owner in any case [borrowed]. Thread: owner. Source: ours. */
enum shared_state records_shared_state(const struct records *r, const struct zone_rr *rr, bool is_ready);

/** Would this change take the names of a record away? Either may be NULL. Thread: owner. Source: ours. */
bool records_is_removal(const struct packed *old, const struct packed *new);

/**
 * Put a record in place of what its path has.
 *
 * @param tx        open transaction of the zone set                                        [in,out]
 * @param old       records_get of the path; NULL: there is none
 * @param take_new  of the same path; NULL: the record goes
 * Thread: owner.   Source: ours.
 */
void records_replace(struct records *r, struct zone_tx *tx, struct packed *old, struct packed *take_new);
/** The record of a path is gone, and its removal is held: mark its names (zone_tx_hold) until records_replace of the path. Once is
 *  enough. @param tx open transaction [in,out]. Thread: owner. Source: ours. */
void records_hold(struct records *r, struct zone_tx *tx, struct packed *old);
/** Replace the RRs of all records that name this host, with its new addresses. Thread: owner. Source: ours. */
void records_move_host(struct records *r, struct zone_tx *tx, const char *host);

/** A zone comes or goes, and with it the place of what the registry has within it. */
struct records_move {
    int zone;     /* the zone in question; it is declared */
    int from, to; /* zones that hold these RRs now and then; -1: none */
};

/**
 * Move the RRs of some records.
 *
 * @param tx      open transaction of the zone set                                          [in,out]
 * @param cursor  0 at first                                                                [in,out]
 * @return false: that were all.   Thread: owner.   Source: ours.
 */
bool records_rezone_part(struct records *r, struct zone_tx *tx, const struct records_move *move,
                         uint32_t *cursor);

#endif
