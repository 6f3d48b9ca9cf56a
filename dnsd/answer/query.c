#include "answer/query.h"

#include <string.h>

#include "answer/response.h"
#include "answer/special.h"
#include "wire/rdata.h"
#include "zone/find.h"

enum { UDP_MIN = 512, UDP_DEFAULT = 1232, TCP_MAX = 65535, MAX_CHAIN = 8, FLAG_RD = 0x0100 };

/*
 *   check      refuse what is no query for zone data: opcode, EDNS version, cookie, class, meta types
 *   find zone  zone_find: exact name, wildcard, missing, delegation, DNAME
 *   answer     the set asked for, or CNAME and again for its target
 *   authority  SOA of a negative answer, NS of a delegation
 *   additional addresses of SRV, MX and NS targets
 *   finish     OPT, flags, rcode
 */

void answer_read(struct answer *a, const uint8_t *msg, size_t len, bool is_tcp, const struct zone_version *v)
{
    a->msg = msg;
    a->is_tcp = is_tcp;
    a->is_tls = false;
    a->secrets = NULL;
    a->guard = NULL;
    a->cookie = ANSWER_COOKIE_NONE;
    a->hand_off = ANSWER_HERE;
    a->rcode = DNS_NOERROR;
    a->is_truncated = false;
    a->place.zone = NULL;
    a->n_more = 0;
    a->more_of = NULL;
    query_read(msg, len, &a->q);
    if (!a->q.has_question)
        return;
    name_key_hash(&a->q.name, zone_version_seed(v));
    zone_fetch_page(v, &a->q.name, &a->place);
}

/** Steps for a name, and one for the targets of its node; then the first three for those names. */
enum { FETCH_SHARD, FETCH_SLOT, FETCH_NODE, FETCH_TARGETS };

/** @return whether there may be a node; known with FETCH_NODE. */
static bool fetch_place(const struct zone_version *v, struct zone_place *place, unsigned step)
{
    if (step == FETCH_NODE)
        return zone_fetch_node(place);
    if (step == FETCH_SHARD)
        zone_fetch_shard(v, place);
    else
        zone_fetch_slot(place);
    return true;
}

static void fetch_targets(struct answer *a, const struct zone_version *v)
{
    struct wire_set set;
    struct name_key key;
    const struct zone_node *node = zone_fetched_node(&a->place, a->q.name.lower, a->q.name.len);
    if (!node || !zone_node_set(node, a->q.qtype, &set))
        return;
    a->more_of = set.wire;
    size_t name_at = WIRE_RR_HEADER + dns_type(set.type)->head;
    const uint8_t *rr = set.wire;
    for (uint32_t i = 0; i < set.n_rrs && i < ANSWER_MAX_MORE; i++) {
        if (name_key_read(rr + name_at, NAME_MAX_LEN, &key) < 0)
            return;
        name_key_hash(&key, zone_version_seed(v));
        zone_fetch_page(v, &key, &a->more[a->n_more++]);
        rr += WIRE_RR_HEADER + wire_get16(rr + 10);
    }
}

bool answer_fetch(struct answer *a, const struct zone_version *v, unsigned step)
{
    if (!a->place.zone)
        return false;
    if (a->n_more) {
        for (unsigned i = 0; i < a->n_more; i++)
            fetch_place(v, &a->more[i], step - a->more_step);
        return step - a->more_step < FETCH_NODE;
    }
    a->more_step = (uint8_t)(step + 1);
    if (step == FETCH_TARGETS) {
        fetch_targets(a, v);
        return a->n_more;
    }
    if (fetch_place(v, &a->place, step))
        return step < FETCH_NODE || dns_type(a->q.qtype)->can & DNS_TARGETS;
    a->n_more = ZONE_N_AROUND;
    zone_fetch_around(v, &a->q.name, &a->place, a->more);
    return true;
}

static size_t response_limit(const struct answer *a, const struct answer_options *opts, size_t cap)
{
    size_t limit = a->is_tcp ? TCP_MAX : UDP_MIN;
    size_t udp_max = opts->udp_max ? opts->udp_max : UDP_DEFAULT;
    if (!a->is_tcp && a->q.has_edns && a->q.edns_size > limit)
        limit = a->q.edns_size < udp_max ? a->q.edns_size : udp_max;
    if (limit < UDP_MIN)
        limit = UDP_MIN;
    return limit < cap ? limit : cap;
}

/** Hand AXFR and IXFR off, if there is a transfer server; refuse malformed ones (RFC 5936 2.2.1, 4.2). */
static uint16_t check_transfer(struct response *r)
{
    struct zone_hit hit;
    if (r->a->q.qtype == DNS_AXFR && !r->a->is_tcp)
        return DNS_FORMERR;
    zone_find(r->v, &r->a->q.name, false, &hit);
    if (!hit.zone || hit.apex_label != 0)
        return DNS_NOTAUTH;
    if (r->opts->can_transfer)
        r->a->hand_off = ANSWER_TRANSFER;
    return DNS_REFUSED;
}

/** Over UDP the source address may be forged: a client without a good cookie gets BADCOOKIE or TC, and no data (RFC 7873 5.2.3). */
static uint16_t check_cookie(struct response *r)
{
    struct answer *a = r->a;
    if (!r->opts->needs_cookie || a->is_tcp || a->cookie == ANSWER_COOKIE_GOOD)
        return DNS_NOERROR;
    if (a->cookie == ANSWER_COOKIE_UNKNOWN)
        return DNS_BADCOOKIE;
    a->is_truncated = true;
    return DNS_NOERROR;
}

static uint16_t check_question(struct response *r)
{
    const struct query *q = &r->a->q;
    if (q->qclass == DNS_CH)
        return special_chaos(r);
    if (q->qclass != DNS_IN)
        return DNS_REFUSED;
    switch (dns_type(q->qtype)->use) {
    case DNS_USE_TRANSFER: return check_transfer(r);
    case DNS_USE_META: return DNS_NOTIMP;
    default: return DNS_NOERROR;
    }
}

/** The checks before any zone is read. @return NOERROR: continue, unless a->is_truncated. */
static uint16_t check(struct response *r)
{
    const struct query *q = &r->a->q;
    if (q->opcode != DNS_QUERY)
        return DNS_NOTIMP;
    if (q->verdict != QUERY_OK)
        return DNS_FORMERR;
    if (q->has_edns && q->edns_version > 0)
        return DNS_BADVERS;
    uint16_t rcode = check_cookie(r);
    if (rcode != DNS_NOERROR || r->a->is_truncated || !q->has_question)
        return rcode;
    return check_question(r);
}

/** Does the client want an answer of another server (RFC 1034 4.3.1)? Without RD it asks what we know ourselves. */
static bool wants_recursion(const struct response *r)
{
    return r->a->q.flags & FLAG_RD;
}

/** No zone contains the name: hand it off to the forwarder, or refuse it. A chain that leaves our zones ends (RFC 1034 4.3.2 3a). */
static uint16_t answer_outside(struct response *r)
{
    uint16_t rcode;
    if (r->n_links)
        return DNS_NOERROR;
    if (r->opts->has_empty_zones && special_empty_zone(r, &rcode))
        return rcode;
    if (r->opts->can_forward && wants_recursion(r))
        r->a->hand_off = ANSWER_FORWARD;
    r->opt.ede = DNS_EDE_NOT_AUTHORITATIVE;
    return DNS_REFUSED;
}

static uint16_t answer_missing(struct response *r, const struct zone_hit *hit)
{
    if (!response_negative(r, hit))
        return DNS_SERVFAIL;
    if (!r->n_links && r->opts->can_fall_through && zone_is_dynamic(hit->zone) && wants_recursion(r))
        r->a->hand_off = ANSWER_FALL_THROUGH;
    return DNS_NXDOMAIN;
}

/** A name that exists, itself or by wildcard. Sets r->target when a CNAME leads on. */
static uint16_t answer_node(struct response *r, const struct zone_hit *hit)
{
    struct wire_set set;
    uint16_t qtype = r->a->q.qtype;
    if (zone_node_is_held(hit->node))
        response_held(r);
    if (qtype == DNS_ANY)
        return response_any(r, hit) ? DNS_NOERROR : DNS_SERVFAIL;
    if (zone_node_set(hit->node, qtype, &set)) {
        response_answer(r, &set);
        return DNS_NOERROR;
    }
    if (zone_node_set(hit->node, DNS_CNAME, &set)) {
        response_cname(r, &set);
        return DNS_NOERROR;
    }
    return response_negative(r, hit) ? DNS_NOERROR : DNS_SERVFAIL;
}

/** At or below a delegation. Only DS is answered from above the cut (RFC 4035 3.1.4.1). */
static uint16_t answer_cut(struct response *r, const struct zone_hit *hit)
{
    if (r->a->q.qtype == DNS_DS && hit->label == 0)
        return answer_node(r, hit);
    response_referral(r, hit);
    return DNS_NOERROR;
}

static uint16_t answer_hit(struct response *r, const struct zone_hit *hit)
{
    if (hit->match == ZONE_OUTSIDE)
        return answer_outside(r);
    if (!response_use_zone(r, hit->zone))
        return DNS_SERVFAIL;
    switch (hit->match) {
    case ZONE_MISSING: return answer_missing(r, hit);
    case ZONE_CUT: return answer_cut(r, hit);
    case ZONE_DNAME: return response_dname(r, hit) ? DNS_NOERROR : DNS_YXDOMAIN;
    default: return answer_node(r, hit);
    }
}

/** Names of a chain: offsets in the message. */
struct chain {
    uint16_t names[MAX_CHAIN + 1];
};

/** Is the target a name that the chain has been at? Then its sets are in the answer, once (RFC 2181 5). */
static bool is_loop(const struct response *r, const struct chain *c)
{
    for (unsigned i = 0; i <= r->n_links; i++)
        if (wr_names_match(r->w.msg, c->names[i], r->target.lower))
            return true;
    return false;
}

/**
 * Follow the alias that was written last: look its target up, and the target's; the last name decides the rcode (RFC 6604). A name
 * that the client may not see ends the chain as one outside our zones does.
 *
 * @param c      names of the chain up to that of the alias                      [in,out]
 * @param rcode  of the alias
 */
static uint16_t follow_chain(struct response *r, struct chain *c, uint16_t rcode)
{
    while (r->has_target && !r->a->is_truncated && r->n_links < MAX_CHAIN && !is_loop(r, c)) {
        struct zone_hit hit;
        r->name = &r->target;
        r->has_target = false;
        c->names[++r->n_links] = r->owner_off;
        zone_find(r->v, r->name, r->a->q.qtype == DNS_DS, &hit);
        if (hit.match != ZONE_OUTSIDE && !response_shows(r, r->target.lower)) {
            r->opt.ede = DNS_EDE_PROHIBITED;
            return rcode;
        }
        rcode = answer_hit(r, &hit);
    }
    return rcode;
}

/** Look the name up, and what it is an alias of. */
static uint16_t answer_question(struct response *r)
{
    struct zone_hit hit;
    struct chain c;
    r->name = &r->a->q.name;
    if (r->a->q.qtype == DNS_DS)
        zone_find(r->v, r->name, true, &hit);
    else
        zone_find_placed(r->v, r->name, &r->a->place, &hit);
    uint16_t rcode = answer_hit(r, &hit);
    if (!r->has_target)
        return rcode;
    c.names[0] = WR_OWNER_QUESTION;
    return follow_chain(r, &c, rcode);
}

size_t answer_write(struct answer *a, const struct zone_version *v, const struct answer_options *opts,
                    uint8_t *out, size_t cap)
{
    struct response r;
    if (a->q.verdict == QUERY_DROP)
        return 0;
    size_t limit = response_limit(a, opts, cap);
    response_begin(&r, a, v, opts, out, limit);
    a->rcode = check(&r);
    bool is_for_zones = a->q.has_question && a->q.qclass == DNS_IN && !a->is_truncated;
    if (a->rcode == DNS_NOERROR && is_for_zones)
        a->rcode = answer_question(&r);
    response_additional(&r);
    if (a->is_truncated && a->is_tcp)
        response_too_large(&r, limit);
    return response_finish(&r);
}

size_t answer_write_empty(struct answer *a, const struct zone_version *v, const struct answer_options *opts,
                          uint8_t *out, size_t cap)
{
    struct response r;
    response_begin(&r, a, v, opts, out, response_limit(a, opts, cap));
    a->rcode = DNS_NOERROR;
    a->is_truncated = true;
    return response_finish(&r);
}

size_t answer_write_prohibited(struct answer *a, const struct zone_version *v,
                               const struct answer_options *opts, uint8_t *out, size_t cap)
{
    struct response r;
    if (a->q.verdict == QUERY_DROP)
        return 0;
    response_begin(&r, a, v, opts, out, response_limit(a, opts, cap));
    r.opt.ede = DNS_EDE_PROHIBITED;
    a->rcode = DNS_REFUSED;
    a->is_truncated = false;
    a->hand_off = ANSWER_HERE;
    return response_finish(&r);
}

/** Aliases up to the first whose target is in a zone of ours. @return how many; 0: none is. */
static unsigned links_to_us(const struct zone_version *v, const struct answer_links *links)
{
    for (unsigned i = 0; i < links->n; i++) {
        struct name_key key;
        struct zone_hit hit;
        name_key_read(links->items[i].target, NAME_MAX_LEN, &key);
        name_key_hash(&key, zone_version_seed(v));
        zone_find(v, &key, false, &hit);
        if (hit.match != ZONE_OUTSIDE)
            return i + 1;
    }
    return 0;
}

/** Write the aliases of another server, up to the last one or the first that cannot be followed. */
static void put_links(struct response *r, const struct answer_links *links, unsigned n, struct chain *c)
{
    uint8_t rr[WIRE_RR_HEADER + NAME_MAX_LEN];
    for (r->n_links = 0;; r->n_links++) {
        const struct answer_link *link = &links->items[r->n_links];
        size_t len = (size_t)name_len(link->target, NAME_MAX_LEN);
        wire_put16(rr, 0xc000u | WR_OWNER_QUESTION);
        wire_put16(rr + 2, DNS_CNAME);
        wire_put16(rr + 4, DNS_IN);
        wire_put32(rr + 6, link->ttl_s);
        wire_put16(rr + 10, (unsigned)len);
        memcpy(rr + WIRE_RR_HEADER, link->target, len);
        struct wire_set set = {rr, (uint32_t)(WIRE_RR_HEADER + len), 1, DNS_CNAME, UINT32_MAX, 0};
        c->names[r->n_links] = r->owner_off;
        response_cname(r, &set);
        if (r->n_links + 1 == n || r->a->is_truncated || is_loop(r, c))
            return;
        r->name = &r->target;
    }
}

size_t answer_write_links(struct answer *a, const struct zone_version *v, const struct answer_options *opts,
                          const struct answer_links *links, uint8_t *out)
{
    enum { RA = 0x80 };
    struct response r;
    struct chain c;
    unsigned n = links_to_us(v, links);
    if (!n)
        return 0;
    size_t limit = response_limit(a, opts, TCP_MAX);
    response_begin(&r, a, v, opts, out, limit);
    put_links(&r, links, n, &c);
    a->rcode = follow_chain(&r, &c, DNS_NOERROR);
    response_additional(&r);
    if (a->is_truncated && a->is_tcp)
        response_too_large(&r, limit);
    r.is_aa = false; /* the first name is not ours */
    size_t len = response_finish(&r);
    out[3] |= RA;
    return len;
}
