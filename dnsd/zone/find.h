/**
 * Looking names up in a version. Every look-up goes through zone_find(): it picks the zone and finds the node of the name.
 * The readers' side of zone.h: pure, writes nothing.
 *
 * Source: RFC 1034 4.3.2, RFC 4592 3.3 (wildcards), RFC 6672 (DNAME), RFC 8020.
 */
#ifndef ZONE_FIND_H
#define ZONE_FIND_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/name.h"
#include "wire/write.h"
#include "zone/zone.h"

struct zone_node;
struct zone_shard;
struct zone;

enum zone_match {
    ZONE_OUTSIDE,  /* no zone contains the name */
    ZONE_EXACT,    /* node: the name itself, maybe an empty non-terminal */
    ZONE_WILDCARD, /* node: `*` of the closest encloser; the answer's owner is the name asked for */
    ZONE_MISSING,  /* the name does not exist */
    ZONE_CUT,      /* node: delegation at or above the name, below the apex */
    ZONE_DNAME,    /* node: DNAME above the name */
};

struct zone_hit {
    enum zone_match match;
    const struct zone *zone;      /* NULL only with ZONE_OUTSIDE */
    const struct zone_node *node; /* NULL with ZONE_OUTSIDE and ZONE_MISSING */
    /* Closest encloser with WILDCARD and MISSING; NULL: the zone has no apex yet. */
    const struct zone_node *encloser;
    uint8_t label; /* label of the key where node's name begins (WILDCARD: where the encloser's begins) */
    uint8_t apex_label; /* label of the key where the zone's apex begins */
};

/**
 * Find a name.
 *
 * @param key       hashed with zone_version_seed                                [borrowed]
 * @param hit       filled                                                       [out]
 * @param is_above  look in the zone above the one whose apex this name is, where there is one (DS: RFC 4035 3.1.4.1)
 * Thread: any, under the rules of zoneset_current.   Source: RFC 1034 4.3.2.
 */
void zone_find(const struct zone_version *v, const struct name_key *key, bool is_above, struct zone_hit *hit);

/** The node of exactly this name in this zone, cuts disregarded (glue), or NULL. Thread: any. */
const struct zone_node *zone_find_glue(const struct zone_version *v, const struct zone *zone,
                                       const struct name_key *key);

/** The node of a zone's apex, or NULL when it has no record yet. Thread: any. */
const struct zone_node *zone_find_apex(const struct zone_version *v, const struct zone *zone);

/** Seed for name_key_hash. Thread: any. */
uint64_t zone_version_seed(const struct zone_version *v);

/** Is the zone filled from the registry? Thread: any. */
bool zone_is_dynamic(const struct zone *zone);
/** Apex of a zone: lower case wire name. Thread: any. */
const uint8_t *zone_apex(const struct zone *zone);

/**
 * The RRset of a type at a node.
 *
 * @param set  filled when there is one: ttl_max_s UINT32_MAX, first 0           [out]
 * @return whether there is one.   Thread: any.
 */
bool zone_node_set(const struct zone_node *node, uint16_t type, struct wire_set *set);

/** Does the node have a CNAME that is hidden, since it has other records? Thread: any. Source: ours. */
bool zone_node_hides_alias(const struct zone_node *node);
/** Is the node's name held (zone_tx_hold)? Thread: any. Source: ours. */
bool zone_node_is_held(const struct zone_node *node);
/** The n-th RRset of a node, n from 0. As zone_node_set. */
bool zone_node_nth_set(const struct zone_node *node, unsigned n, struct wire_set *set);

/** The place of a name, to fetch it into the cache ahead of zone_find: four steps, each run over a whole batch so that its
 *  memory has arrived before the next step and the waits overlap. */
struct zone_place {
    const struct zone *zone;        /* NULL: no zone contains the name, nothing to fetch */
    const struct zone_shard *shard; /* after step 2; NULL: it is empty */
    uint32_t hash;
    uint8_t apex_label; /* label of the key where the zone's apex begins */
};

/** Step 1: the pointer to the shard. @param key hashed; @param place filled [out]. Thread: any. */
void zone_fetch_page(const struct zone_version *v, const struct name_key *key, struct zone_place *place);
/** Step 2: the head of the shard. Thread: any. */
void zone_fetch_shard(const struct zone_version *v, struct zone_place *place);
/** Step 3: the slot. Thread: any. */
void zone_fetch_slot(const struct zone_place *place);
/** Step 4: the node. @return whether there may be one; if not, the name is missing. Thread: any. */
bool zone_fetch_node(const struct zone_place *place);
/**
 * The node of exactly the name of a place, cuts disregarded.
 *
 * @param place  after step 2                                                    [borrowed]
 * @param name   wire name that step 1 was done for, len octets                  [borrowed]
 * @return the node; NULL: there is none, or the name is not in lower case.   Thread: any.
 */
const struct zone_node *zone_fetched_node(const struct zone_place *place, const uint8_t *name, size_t len);

/** Has the zone a delegation or DNAME, so that a node does not decide alone? Thread: any. Source: RFC 1034 4.3.2. */
bool zone_has_cuts(const struct zone *zone);

/** Places that a look-up of a missing name reads. */
enum { ZONE_ABOVE, ZONE_STAR, ZONE_N_AROUND };
/**
 * Step 1 for the name above a missing one and for the wildcard there; steps 2 to 4 follow for each.
 *
 * @param place   of the missing name                                            [borrowed]
 * @param around  ZONE_N_AROUND places, by ZONE_*; without zone where there is nothing to fetch  [out]
 * Thread: any.   Source: RFC 4592 3.3.1.
 */
void zone_fetch_around(const struct zone_version *v, const struct name_key *key,
                       const struct zone_place *place, struct zone_place *around);

/** As zone_find with is_above false, for a key whose place is known. @param place of step 1, of the same version and key
 *  [borrowed]. Thread: any. */
void zone_find_placed(const struct zone_version *v, const struct name_key *key,
                      const struct zone_place *place, struct zone_hit *hit);

#endif
