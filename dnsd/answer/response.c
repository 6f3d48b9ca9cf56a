#include "answer/response.h"

#include <string.h>

#include "wire/rdata.h"
#include "zone/find.h"

enum { FLAG_QR = 0x8000, FLAG_OPCODE = 0x7800, FLAG_AA = 0x0400, FLAG_TC = 0x0200, FLAG_RD = 0x0100 };
/* Question, OPT and all options always fit into 512 octets. */
enum { EDE_OPTION_LEN = 6, NSID_MAX = 64, PADDING_BLOCK = 468 };

/** Options that were asked for (RFC 7873, RFC 7828 over TCP, RFC 8467 over TLS). */
static void begin_options(struct response *r)
{
    struct answer *a = r->a;
    const struct query *q = &a->q;
    if (q->cookie_len && a->secrets) {
        bool is_good = cookie_check(a->secrets, &a->client, q->cookie, q->cookie_len, r->cookie);
        a->cookie = is_good ? ANSWER_COOKIE_GOOD : ANSWER_COOKIE_UNKNOWN;
        r->opt.cookie = r->cookie;
    }
    r->opt.has_keepalive = q->wants_keepalive && a->is_tcp;
    r->opt.keepalive_100ms = r->opts->keepalive_100ms;
    r->opt.padding_block = q->wants_padding && a->is_tls ? PADDING_BLOCK : 0;
}

bool response_shows(const struct response *r, const uint8_t *name)
{
    const struct answer_guard *guard = r->a->guard;
    return !guard || guard->allows(guard, name);
}

void response_begin(struct response *r, struct answer *a, const struct zone_version *v,
                    const struct answer_options *opts, uint8_t *out, size_t limit)
{
    bool wants_nsid = a->q.wants_nsid && opts->nsid && opts->nsid_len <= NSID_MAX;
    r->a = a;
    r->v = v;
    r->opts = opts;
    r->has_target = r->is_aa = r->has_additional = r->needs_glue = false;
    r->n_links = 0;
    r->owner_off = WR_OWNER_QUESTION;
    r->zone = NULL;
    r->opt = (struct wr_opt){
        .size = opts->udp_max ? opts->udp_max : 1232,
        .is_dnssec = a->q.wants_dnssec,
        .ede = DNS_EDE_NONE,
        .nsid = wants_nsid ? opts->nsid : NULL,
        .nsid_len = opts->nsid_len,
    };
    wr_begin(&r->w, out, limit);
    if (a->q.has_question)
        wr_question(&r->w, a->msg + WIRE_HEADER_LEN, a->q.question_len);
    if (!a->q.has_edns)
        return;
    if (a->q.verdict == QUERY_OK && (a->q.cookie_len || a->q.wants_keepalive || a->q.wants_padding))
        begin_options(r);
    r->opt_reserved = wr_opt_len(&r->opt) + EDE_OPTION_LEN;
    r->w.cap -= r->opt_reserved;
}

void response_too_large(struct response *r, size_t limit)
{
    response_begin(r, r->a, r->v, r->opts, r->w.msg, limit);
    r->opt.ede = DNS_EDE_OTHER;
    r->opt.ede_text = "the records of this name and type are more than one message holds";
    r->a->is_truncated = false;
    r->a->rcode = DNS_SERVFAIL;
}

bool response_use_zone(struct response *r, const struct zone *zone)
{
    unsigned flags = zone_version_flags(r->v);
    r->zone = zone;
    if (zone_is_dynamic(zone) && !(flags & ZONE_READY)) {
        r->is_aa = false;
        r->opt.ede = DNS_EDE_NOT_READY;
        return false;
    }
    if (zone_is_dynamic(zone) && flags & ZONE_STALE)
        r->opt.ede = DNS_EDE_STALE;
    r->is_aa = true;
    return true;
}

void response_held(struct response *r)
{
    r->opt.ede = DNS_EDE_STALE;
    r->opt.ede_text = "a record of this name is gone, and its removal is held";
}

static void put(struct response *r, enum wr_section section, const struct wire_set *set)
{
    if (wr_rrset_at(&r->w, section, r->owner_off, set))
        r->a->is_truncated = true;
}

/** Rotation: the id of the query chooses the first record, so that threads share nothing. */
static uint32_t rotation(const struct response *r, const struct wire_set *set)
{
    return set->n_rrs > 1 && !r->opts->keep_order ? r->a->q.id % set->n_rrs : 0;
}

void response_answer(struct response *r, const struct wire_set *set)
{
    struct wire_set turned = *set;
    size_t at = r->w.len;
    turned.first = rotation(r, set);
    put(r, WR_ANSWER, &turned);
    if (dns_type(set->type)->can & DNS_TARGETS) {
        r->targets = turned;
        r->targets_at = at;
        r->has_additional = true;
    }
}

/** Continue with the name in the last record of the message, `rdata` as it is stored. */
static void follow(struct response *r, const uint8_t *rdata, size_t owner_off)
{
    if (r->a->is_truncated)
        return;
    r->owner_off = (uint16_t)owner_off;
    r->has_target = name_key_read(rdata, NAME_MAX_LEN, &r->target) > 0;
    if (r->has_target)
        name_key_hash(&r->target, zone_version_seed(r->v));
}

void response_cname(struct response *r, const struct wire_set *set)
{
    struct wire_set one = *set;
    one.n_rrs = 1;
    one.len = WIRE_RR_HEADER + (uint32_t)wire_get16(set->wire + 10);
    size_t at = r->w.len;
    put(r, WR_ANSWER, &one);
    follow(r, set->wire + WIRE_RR_HEADER, at + WIRE_RR_HEADER);
}

bool response_dname(struct response *r, const struct zone_hit *hit)
{
    struct wire_set dname;
    uint8_t cname[WIRE_RR_HEADER + NAME_MAX_LEN];
    if (!zone_node_set(hit->node, DNS_DNAME, &dname))
        return false;
    uint8_t owner[NAME_MAX_LEN];
    memcpy(owner, r->name->lower + r->name->start[hit->label],
           (size_t)r->name->len - r->name->start[hit->label]);
    if (wr_rrset(&r->w, WR_ANSWER, owner, &dname))
        r->a->is_truncated = true;
    size_t before = r->name->start[hit->label], target_len = wire_get16(dname.wire + 10);
    if (before + target_len > NAME_MAX_LEN)
        return false;
    memcpy(cname, dname.wire, WIRE_RR_HEADER);
    wire_put16(cname + 2, DNS_CNAME);
    wire_put16(cname + 10, (unsigned)(before + target_len));
    memcpy(cname + WIRE_RR_HEADER, r->name->lower, before);
    memcpy(cname + WIRE_RR_HEADER + before, dname.wire + WIRE_RR_HEADER, target_len);
    struct wire_set set = {cname, (uint32_t)(WIRE_RR_HEADER + before + target_len), 1, DNS_CNAME, UINT32_MAX,
                           0};
    response_cname(r, &set);
    return true;
}

bool response_any(struct response *r, const struct zone_hit *hit)
{
    struct wire_set set;
    unsigned n = 0, n_put = 0;
    for (; zone_node_nth_set(hit->node, n, &set) && (n == 0 || r->a->is_tcp); n++)
        n_put += wr_rrset_at(&r->w, WR_ANSWER, r->owner_off, &set) == 0;
    r->a->is_truncated = n > 0 && n_put == 0;
    return n > 0 || response_negative(r, hit);
}

bool response_negative(struct response *r, const struct zone_hit *hit)
{
    struct wire_set soa;
    const struct zone_node *apex = zone_find_apex(r->v, hit->zone);
    if (!apex || !zone_node_set(apex, DNS_SOA, &soa)) {
        r->is_aa = false;
        return false;
    }
    soa.ttl_max_s = wire_get32(soa.wire + soa.len - 4);
    if (r->n_links) {
        if (wr_rrset(&r->w, WR_AUTHORITY, zone_apex(hit->zone), &soa))
            r->a->is_truncated = true;
        return true;
    }
    r->owner_off = (uint16_t)(WR_OWNER_QUESTION + r->name->start[hit->apex_label]);
    put(r, WR_AUTHORITY, &soa);
    return true;
}

void response_referral(struct response *r, const struct zone_hit *hit)
{
    struct wire_set set;
    const uint8_t *owner = r->name->lower + r->name->start[hit->label];
    r->is_aa = r->n_links > 0;
    if (!zone_node_set(hit->node, DNS_NS, &set))
        return;
    r->targets_at = r->w.len;
    if (wr_rrset(&r->w, WR_AUTHORITY, owner, &set))
        r->a->is_truncated = true;
    r->targets = set;
    r->has_additional = r->needs_glue = true;
}

/** The node of a name, or NULL. A referral's glue lies below the cut; other targets are looked up as names. */
static const struct zone_node *find_target(const struct response *r, const uint8_t *name)
{
    struct name_key key;
    struct zone_hit hit;
    if (name_key_read(name, NAME_MAX_LEN, &key) < 0)
        return NULL;
    name_key_hash(&key, zone_version_seed(r->v));
    if (r->needs_glue) {
        const struct zone_node *glue = zone_find_glue(r->v, r->zone, &key);
        if (glue)
            return glue;
    }
    zone_find(r->v, &key, false, &hit);
    bool is_usable = hit.match == ZONE_EXACT || hit.match == ZONE_WILDCARD;
    if (is_usable && zone_is_dynamic(hit.zone) && !(zone_version_flags(r->v) & ZONE_READY))
        return NULL;
    return is_usable ? hit.node : NULL;
}

/** The node of a prefetched target in lower case, in a zone without cuts: needs no second look-up. */
static const struct zone_node *fetched_target(const struct response *r, uint32_t index, const uint8_t *name,
                                              size_t len)
{
    const struct answer *a = r->a;
    if (r->targets.wire != a->more_of || index >= a->n_more)
        return NULL;
    const struct zone_place *place = &a->more[index];
    if (!place->zone || zone_has_cuts(place->zone) || !(zone_version_flags(r->v) & ZONE_READY))
        return NULL;
    return zone_fetched_node(place, name, len);
}

/** The node of a target; NULL: there is none, or none that the client may see. */
static const struct zone_node *target_node(const struct response *r, uint32_t index, const uint8_t *name,
                                           size_t len)
{
    struct name_key key;
    if (r->a->guard && (name_key_read(name, NAME_MAX_LEN, &key) < 0 || !response_shows(r, key.lower)))
        return NULL;
    const struct zone_node *node = fetched_target(r, index, name, len);
    return node ? node : find_target(r, name);
}

/** Offset of the rdata of a record in the message. @param at offset of the record. */
static size_t rdata_at(const uint8_t *msg, size_t at)
{
    while (msg[at] && msg[at] < 0xc0)
        at += msg[at] + 1u;
    return at + (msg[at] ? 2 : 1) + WIRE_RR_HEADER - 2;
}

/** Write the addresses of a target whose name is in the message: at `at`, or where a pointer there leads. */
static void put_addresses(struct response *r, const uint8_t *target, size_t at, const struct zone_node *node)
{
    static const uint16_t types[] = {DNS_A, DNS_AAAA};
    const uint8_t *msg = r->w.msg;
    struct wire_set set;
    while (msg[at] >= 0xc0)
        at = wire_get16(msg + at) & WR_POINTER_MAX;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (!zone_node_set(node, types[i], &set))
            continue;
        int failed = at <= WR_POINTER_MAX ? wr_rrset_at(&r->w, WR_ADDITIONAL, (uint16_t)at, &set)
                                          : wr_rrset(&r->w, WR_ADDITIONAL, target, &set);
        if (failed && r->needs_glue)
            r->a->is_truncated = true;
    }
}

static bool node_is_new(const struct zone_node *node, const struct zone_node **seen, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (seen[i] == node)
            return false;
    return true;
}

/** Walks the set in the message and the stored set side by side: the first has the offsets, the other the names. */
void response_additional(struct response *r)
{
    const struct zone_node *seen[RESPONSE_MAX_TARGETS];
    const struct wire_set *set = &r->targets;
    unsigned n_seen = 0;
    if (!r->has_additional || r->a->is_truncated)
        return;
    size_t at = r->targets_at, name_at = dns_type(set->type)->head;
    const uint8_t *rr = wire_set_record(set, set->first);
    for (uint32_t i = 0, index = set->first; i < set->n_rrs && n_seen < RESPONSE_MAX_TARGETS; i++) {
        size_t rdata_len = wire_get16(rr + 10);
        const uint8_t *name = rr + WIRE_RR_HEADER + name_at;
        const struct zone_node *node = target_node(r, index, name, rdata_len - name_at);
        at = rdata_at(r->w.msg, at);
        bool is_new = node && (r->needs_glue || node_is_new(node, seen, n_seen));
        /* A referral has each target once, and needs the glue of all (RFC 9471). */
        if (is_new && !r->needs_glue)
            seen[n_seen++] = node;
        if (is_new)
            put_addresses(r, name, at + name_at, node);
        at += wire_get16(r->w.msg + at - 2);
        index = index + 1 < set->n_rrs ? index + 1 : 0;
        rr = index ? rr + WIRE_RR_HEADER + rdata_len : set->wire;
    }
}

/** Records come before the text of the extended error, for which no room is reserved. */
static void put_opt(struct response *r)
{
    if (wr_opt_put(&r->w, &r->opt) == 0)
        return;
    r->opt.ede_text = NULL;
    wr_opt_put(&r->w, &r->opt);
}

size_t response_finish(struct response *r)
{
    struct answer *a = r->a;
    unsigned flags = FLAG_QR | (a->q.flags & (FLAG_OPCODE | FLAG_RD)) | (a->rcode & 15u);
    if (r->is_aa)
        flags |= FLAG_AA;
    if (a->is_truncated)
        flags |= FLAG_TC;
    if (a->q.has_edns) {
        r->w.cap += r->opt_reserved;
        r->opt.rcode_high = (uint8_t)(a->rcode >> 4);
        put_opt(r);
    }
    return wr_finish(&r->w, a->q.id, (uint16_t)flags);
}
