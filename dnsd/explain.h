/**
 * The part of GET /explain that reads the zones: the names that an answer passes, and the zones' records of each. api_explain.c reads
 * the registry's records, and writes both.
 * Thread: owner.   Source: RFC 1034 4.3.2, RFC 4592, RFC 6672; the sentences: ours.
 */
#ifndef DNSD_EXPLAIN_H
#define DNSD_EXPLAIN_H

#include "json/writer.h"
#include "zone/find.h"

/** The name that was asked for, and the aliases that are followed. */
#define EXPLAIN_LINKS 9

/** A name that the answer passes: the one asked for, or the target of an alias. */
struct explain_link {
    uint8_t name[NAME_MAX_LEN];
    /** Of the records that answer for it: the name itself, a wildcard, a delegation, a DNAME. */
    uint8_t owner[NAME_MAX_LEN];
    struct zone_hit hit;
};

struct explain_chain {
    struct explain_link links[EXPLAIN_LINKS];
    unsigned n_links;
    uint16_t qtype;
    bool is_too_long; /* the last name, with a DNAME put in its place */
};

/** Follow a name. @param name wire name [borrowed]. @param out borrows from the version [out]. */
void explain_follow(const struct zone_version *v, const uint8_t *name, uint16_t qtype,
                    struct explain_chain *out);
/** Does the answer pass records of this owner? @param owner wire name [borrowed]. */
bool explain_is_on_way(const struct explain_chain *c, const uint8_t *owner);
/** Write `match`, `zone` and `rrsets` of the name that was asked for, and `chain`: the same of each name, and `because`. */
void explain_write_chain(const struct explain_chain *c, struct jw *w);

#endif
