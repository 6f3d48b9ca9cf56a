/**
 * The parts of a response, for answer/query.c, which decides which of them to write. Each writes whole RRsets; a set that does
 * not fit sets TC (answer, authority, glue of a referral) or is left out (additional).
 *
 * Pure. Thread: one response, one thread.   Source: RFC 2181 9, RFC 9471.
 */
#ifndef ANSWER_RESPONSE_H
#define ANSWER_RESPONSE_H

#include "answer/query.h"
#include "wire/rdata.h"
#include "wire/write.h"

struct zone;
struct zone_hit;

/** Targets that get address records at most. */
#define RESPONSE_MAX_TARGETS 16

struct response {
    struct answer *a;
    const struct zone_version *v;
    const struct answer_options *opts;
    struct wr w;
    struct wr_opt opt;
    size_t opt_reserved;         /* octets reserved for it */
    uint8_t cookie[COOKIE_LEN];  /* of opt, when the query had one */
    const struct name_key *name; /* of this look-up: the question's, or target */
    struct name_key target;      /* where a CNAME or DNAME leads */
    bool has_target;
    bool is_aa;
    bool has_additional;     /* targets is set */
    bool needs_glue;         /* targets are those of a referral */
    unsigned n_links;        /* aliases followed */
    uint16_t owner_off;      /* offset of `name` in the message */
    struct wire_set targets; /* set whose targets get addresses, rotated as it was written */
    size_t targets_at;       /* where it begins in the message */
    const struct zone *zone; /* zone of the last name */
};

/** Whether the guard of the answer lets the client see a name of our zones. @param name  wire name in lower case [borrowed] */
bool response_shows(const struct response *r, const uint8_t *name);
/** Begin: question, flags, room for OPT. @param limit octets that the response may have, at least 512. */
void response_begin(struct response *r, struct answer *a, const struct zone_version *v,
                    const struct answer_options *opts, uint8_t *out, size_t limit);
/** Answer from this zone. @return false: the zone is not ready (EDE 14 is set). */
bool response_use_zone(struct response *r, const struct zone *zone);
/** The answer has a name that is held (zone_tx_hold): EDE 3, with a text where there is room. Source: RFC 8914 4.4. */
void response_held(struct response *r);
/** Answer section: this set, rotated. */
void response_answer(struct response *r, const struct wire_set *set);
/** Answer section: a CNAME; sets target. */
void response_cname(struct response *r, const struct wire_set *set);
/** Answer section: DNAME and the CNAME made from it (RFC 6672); sets target. @return false: the name becomes too long. */
bool response_dname(struct response *r, const struct zone_hit *hit);
/** Answer to ANY: the first set over UDP, all that fit over TCP (RFC 8482). @return false: as response_negative. */
bool response_any(struct response *r, const struct zone_hit *hit);
/** Authority section: SOA with the negative TTL (RFC 2308). @return false: the zone has no SOA. */
bool response_negative(struct response *r, const struct zone_hit *hit);
/** Authority section: NS of a delegation; its glue becomes additional. */
void response_referral(struct response *r, const struct zone_hit *hit);
/** Additional section: addresses of targets, as far as they fit. */
void response_additional(struct response *r);
/**
 * Begin again with SERVFAIL and EDE 0: the set does not fit into any message. A part of it is no answer (RFC 2181 9), and TC
 * over TCP would make clients repeat the query for ever.
 *
 * @param limit  as for response_begin
 */
void response_too_large(struct response *r, size_t limit);
/** OPT and header. @return octets. */
size_t response_finish(struct response *r);

#endif
