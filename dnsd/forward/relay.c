#include "forward/relay.h"

#include <string.h>

#include "base/mem.h"
#include "bobbin/error.h"
#include "wire/rdata.h"
#include "wire/write.h"

enum {
    FLAG_QR = 0x8000,
    FLAG_OPCODE = 0x7800,
    FLAG_TC = 0x0200,
    FLAG_RD = 0x0100,
    FLAG_RA = 0x0080,
    FLAG_CD = 0x0010,
    RCODE_MASK = 15,
    TYPE_SIG = 24,            /* SIG(0), RFC 2931 */
    UPSTREAM_UDP_SIZE = 1232, /* RFC 9715 */
    UDP_MIN = 512,
    OPT_LEN = 11,      /* of a query's, which has no options */
    TTL_FAILURE_S = 1, /* RFC 9520 3.2 */
    RR_FIXED = 10,     /* type, class, TTL, rdlength */
};

/* ---- queries ---- */

static size_t question_len(const uint8_t *query)
{
    return (size_t)name_len(query + WIRE_HEADER_LEN, NAME_MAX_LEN) + 4;
}

size_t relay_make_query(const struct query *q, const uint8_t *msg, uint8_t *out)
{
    struct wr w;
    struct wr_opt opt = {.size = UPSTREAM_UDP_SIZE, .is_dnssec = q->wants_dnssec, .ede = DNS_EDE_NONE};
    wr_begin(&w, out, RELAY_QUERY_MAX);
    wr_question(&w, msg + WIRE_HEADER_LEN, q->question_len);
    wr_opt_put(&w, &opt);
    return wr_finish(&w, 0, (uint16_t)(FLAG_RD | (q->flags & FLAG_CD)));
}

void relay_set_id(uint8_t *query, uint16_t id)
{
    wire_put16(query, id);
}

void relay_set_case(uint8_t *query, const uint8_t *random)
{
    uint8_t *name = query + WIRE_HEADER_LEN;
    /* Octets of length are 1..63 here, no letters: they need no exception. */
    for (size_t i = 0, n = question_len(query) - 4; i < n; i++) {
        bool is_letter = (name[i] | 0x20) >= 'a' && (name[i] | 0x20) <= 'z';
        bool is_upper = random && random[i / 8] >> i % 8 & 1;
        if (is_letter)
            name[i] = (uint8_t)(is_upper ? name[i] & ~0x20 : name[i] | 0x20);
    }
}

size_t relay_set_edns(uint8_t *query, bool has_edns)
{
    wire_put16(query + 10, has_edns);
    return WIRE_HEADER_LEN + question_len(query) + (has_edns ? OPT_LEN : 0);
}

/* ---- answers ---- */

/** State of the scan of an answer. */
struct scan {
    const uint8_t *msg;
    size_t len, at;
    uint16_t qtype;
    bool has_type;      /* a record of the type that was asked for */
    bool has_soa;       /* negative_ttl_s is set */
    bool is_cut;        /* at an OPT, TSIG or SIG(0) record */
    uint32_t ttl_s;     /* lowest of the records */
    uint32_t soa_ttl_s; /* RFC 2308 5: of the SOA in the authority section */
    uint8_t rcode_high; /* of the OPT record */
    size_t additional_at;
    uint16_t counts[WR_N_SECTIONS];
};

enum relay_match relay_match(const uint8_t *query, size_t query_len, const uint8_t *msg, size_t len)
{
    size_t n = question_len(query);
    if (len < WIRE_HEADER_LEN || query_len < WIRE_HEADER_LEN + n || wire_get16(query) != wire_get16(msg))
        return RELAY_OTHER;
    unsigned flags = wire_get16(msg + 2);
    if (!(flags & FLAG_QR) || flags & FLAG_OPCODE || wire_get16(msg + 4) != 1)
        return RELAY_OTHER;
    const uint8_t *asked = query + WIRE_HEADER_LEN, *said = msg + WIRE_HEADER_LEN;
    if (name_len(said, len - WIRE_HEADER_LEN) != (int)n - 4 || len < WIRE_HEADER_LEN + n)
        return RELAY_OTHER;
    if (!name_equal(asked, said) || memcmp(asked + n - 4, said + n - 4, 4))
        return RELAY_OTHER;
    return memcmp(asked, said, n) ? RELAY_OTHER_CASE : RELAY_ANSWER;
}

/** Step over a name at s->at that ends at `end` or before; its pointers must lead backwards to whole names. */
static int scan_name(struct scan *s, size_t end)
{
    size_t at = s->at, limit = end, name_octets = 0;
    bool is_pointed = false;
    for (;;) {
        if (at >= limit)
            return ERR_PARSE;
        unsigned octet = s->msg[at];
        bool is_pointer = octet >= 0xc0;
        size_t step = is_pointer ? 2 : octet + 1u;
        if ((!is_pointer && octet > NAME_LABEL_MAX) || limit - at < step)
            return ERR_PARSE;
        if (!is_pointed)
            s->at = at + step;
        if (!is_pointer) {
            name_octets += step;
            at += step;
        } else {
            size_t to = wire_get16(s->msg + at) & WR_POINTER_MAX;
            if (to < WIRE_HEADER_LEN || to >= at)
                return ERR_PARSE;
            limit = at; /* each pointer leads to before itself: there is no loop */
            at = to;
            is_pointed = true;
        }
        if (name_octets > NAME_MAX_LEN)
            return ERR_PARSE;
        if (!octet)
            return 0;
    }
}

/** Names in rdata may be compressed; they must be whole and lead backwards, because the end of the message is cut. */
static int scan_rdata_names(struct scan *s, uint16_t type, size_t end)
{
    const struct dns_type *t = dns_type(type);
    if (t->form != DNS_RDATA_NAMES)
        return 0;
    s->at += t->head;
    for (unsigned i = 0; i < t->n_names; i++)
        if (s->at > end || scan_name(s, end))
            return ERR_PARSE;
    return s->at + t->tail == end ? 0 : ERR_PARSE;
}

static uint32_t read_ttl(const uint8_t *p)
{
    uint32_t ttl_s = wire_get32(p);
    return ttl_s > INT32_MAX ? 0 : ttl_s; /* RFC 2181 8 */
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/** Note what a record says about the TTL of the answer. @param rr type and what follows it; end of its rdata */
static void note_record(struct scan *s, enum wr_section section, const uint8_t *rr, size_t end)
{
    uint16_t type = wire_get16(rr);
    uint32_t ttl_s = read_ttl(rr + 4);
    s->ttl_s = least(s->ttl_s, ttl_s);
    if (section == WR_ANSWER && (type == s->qtype || s->qtype == DNS_ANY))
        s->has_type = true;
    if (section != WR_AUTHORITY || type != DNS_SOA)
        return;
    s->has_soa = true;
    s->soa_ttl_s = least(ttl_s, wire_get32(s->msg + end - 4));
}

/** One record. At the first that is not relayed s->is_cut is set and s->at stays before it. */
static int scan_record(struct scan *s, enum wr_section section)
{
    size_t begin = s->at;
    if (scan_name(s, s->len) || s->len - s->at < RR_FIXED)
        return ERR_PARSE;
    const uint8_t *rr = s->msg + s->at;
    uint16_t type = wire_get16(rr);
    size_t rdlen = wire_get16(rr + 8);
    s->at += RR_FIXED;
    if (s->len - s->at < rdlen)
        return ERR_PARSE;
    size_t end = s->at + rdlen;
    if (type == DNS_OPT || type == DNS_TSIG || (type == TYPE_SIG && section == WR_ADDITIONAL)) {
        s->is_cut = true;
        s->rcode_high = type == DNS_OPT ? rr[4] : 0;
        s->at = begin;
        return section == WR_ADDITIONAL ? 0 : ERR_PARSE;
    }
    if (scan_rdata_names(s, type, end))
        return ERR_PARSE;
    s->at = end;
    note_record(s, section, rr, end);
    s->counts[section]++;
    return 0;
}

static int scan_records(struct scan *s)
{
    for (int section = WR_ANSWER; section < WR_N_SECTIONS; section++) {
        unsigned n = wire_get16(s->msg + 6 + 2 * section);
        if (section == WR_ADDITIONAL)
            s->additional_at = s->at;
        for (unsigned i = 0; i < n && !s->is_cut; i++)
            if (scan_record(s, (enum wr_section)section))
                return ERR_PARSE;
    }
    return 0;
}

/** Is it a negative answer? A referral is not: it has no SOA. */
static bool is_negative(const struct scan *s, unsigned rcode)
{
    return rcode == DNS_NXDOMAIN || (rcode == DNS_NOERROR && !s->has_type && s->has_soa);
}

/** How long to cache the answer. A negative one without SOA is not cached (RFC 2308 5), nor is a referral. */
static uint32_t cache_s(const struct scan *s, unsigned rcode)
{
    if (rcode == DNS_SERVFAIL)
        return TTL_FAILURE_S;
    if (is_negative(s, rcode))
        return s->has_soa ? least(s->ttl_s, s->soa_ttl_s) : 0;
    return rcode == DNS_NOERROR && s->counts[WR_ANSWER] ? s->ttl_s : 0;
}

static struct relay_msg *new_msg(const struct scan *s, unsigned rcode)
{
    struct relay_msg *m = mem_alloc(sizeof *m + s->at);
    *m = (struct relay_msg){.ttl_s = cache_s(s, rcode),
                            .rcode = (uint8_t)rcode,
                            .is_negative = is_negative(s, rcode),
                            .ede = DNS_EDE_NONE,
                            .additional_at = s->additional_at,
                            .len = s->at};
    memcpy(m->bytes, s->msg, s->at);
    wire_put16(m->bytes + 2, FLAG_QR | rcode);
    for (int i = 0; i < WR_N_SECTIONS; i++)
        wire_put16(m->bytes + 6 + 2 * i, s->counts[i]);
    return m;
}

int relay_read(const uint8_t *query, size_t query_len, const uint8_t *msg, size_t len, struct relay_msg **out)
{
    if (relay_match(query, query_len, msg, len) == RELAY_OTHER)
        return ERR_PARSE;
    if (wire_get16(msg + 2) & FLAG_TC)
        return ERR_TOOBIG;
    struct scan s = {.msg = msg, .len = len, .ttl_s = UINT32_MAX};
    s.at = WIRE_HEADER_LEN + question_len(query);
    s.qtype = wire_get16(msg + s.at - 4);
    if (scan_records(&s) || s.rcode_high)
        return ERR_PARSE;
    *out = new_msg(&s, wire_get16(msg + 2) & RCODE_MASK);
    return 0;
}

struct relay_msg *relay_failure(const uint8_t *query, size_t query_len, int ede)
{
    size_t len = WIRE_HEADER_LEN + question_len(query);
    struct scan s = {.msg = query, .len = query_len, .at = len, .additional_at = len};
    struct relay_msg *m = new_msg(&s, DNS_SERVFAIL);
    m->ede = ede;
    return m;
}

/* ---- responses ---- */

static uint32_t client_ttl(uint32_t ttl_s, const struct relay_client *c)
{
    ttl_s = least(ttl_s, c->ttl_most_s);
    return ttl_s > c->age_s ? ttl_s - c->age_s : 0;
}

static size_t after_name(const uint8_t *msg, size_t at)
{
    while (msg[at] && msg[at] < 0xc0)
        at += msg[at] + 1u;
    return at + (msg[at] ? 2 : 1);
}

/** Lower the TTLs of n records, which relay_read has checked. */
static void age_records(uint8_t *msg, size_t at, unsigned n, const struct relay_client *c)
{
    for (; n; n--) {
        at = after_name(msg, at);
        wire_put32(msg + at + 4, client_ttl(read_ttl(msg + at + 4), c));
        at += RR_FIXED + wire_get16(msg + at + 8);
    }
}

static size_t response_limit(const struct relay_client *c)
{
    if (c->is_tcp)
        return RELAY_RESPONSE_MAX;
    if (!c->query->has_edns || c->query->edns_size < UDP_MIN)
        return UDP_MIN;
    return c->query->edns_size < c->udp_max ? c->query->edns_size : c->udp_max;
}

/**
 * Copy as many sections as fit.
 *
 * @param room  octets without OPT
 * @return false: records are missing that the client needs.
 */
static bool copy_sections(struct wr *w, const struct relay_msg *m, size_t room)
{
    bool is_whole = m->len <= room;
    size_t len = is_whole ? m->len : m->additional_at;
    if (len > room)
        return false;
    memcpy(w->msg + w->len, m->bytes + w->len, len - w->len);
    w->len = len;
    for (int i = 0; i < (is_whole ? WR_N_SECTIONS : WR_ADDITIONAL); i++)
        w->counts[i] = wire_get16(m->bytes + 6 + 2 * i);
    /* Without an answer the additional section may be what a referral needs (RFC 9471). */
    return is_whole || w->counts[WR_ANSWER];
}

/** The OPT record of a response to a client that sent one. */
static struct wr_opt response_opt(const struct relay_msg *m, const struct relay_client *c)
{
    const struct query *q = c->query;
    return (struct wr_opt){.size = c->udp_max,
                           .is_dnssec = q->wants_dnssec,
                           .ede = m->ede,
                           .cookie = c->cookie,
                           .nsid = q->wants_nsid ? c->nsid : NULL,
                           .nsid_len = c->nsid_len,
                           .has_keepalive = q->wants_keepalive && c->is_tcp,
                           .keepalive_100ms = c->keepalive_100ms,
                           .padding_block = q->wants_padding && c->is_tls ? RELAY_PADDING_BLOCK : 0};
}

/** Uncompress a name of an answer, which relay_read has checked; the question is the client's, case and all. @return false: it is too long. */
static bool copy_name(const struct relay_msg *m, const struct relay_client *c, size_t at,
                      uint8_t out[NAME_MAX_LEN])
{
    size_t records_at = WIRE_HEADER_LEN + c->query->question_len;
    for (size_t len = 0;;) {
        while (m->bytes[at] >= 0xc0)
            at = wire_get16(m->bytes + at) & WR_POINTER_MAX;
        size_t step = m->bytes[at] + 1u;
        if (len + step > NAME_MAX_LEN)
            return false;
        memcpy(out + len, (at < records_at ? c->msg : m->bytes) + at, step);
        if (step == 1)
            return true;
        len += step;
        at += step;
    }
}

/** Find the CNAME of a name in the answer section. @return offset of what follows its owner; 0: there is none. */
static size_t find_cname(const struct relay_msg *m, const struct relay_client *c, const uint8_t *owner)
{
    uint8_t name[NAME_MAX_LEN];
    size_t at = WIRE_HEADER_LEN + question_len(m->bytes);
    for (unsigned n = wire_get16(m->bytes + 6); n; n--) {
        size_t rr = after_name(m->bytes, at);
        bool is_cname = wire_get16(m->bytes + rr) == DNS_CNAME && wire_get16(m->bytes + rr + 2) == DNS_IN;
        if (is_cname && copy_name(m, c, at, name) && name_equal(name, owner))
            return rr;
        at = rr + RR_FIXED + wire_get16(m->bytes + rr + 8);
    }
    return 0;
}

unsigned relay_links(const struct relay_msg *m, const struct relay_client *c,
                     uint8_t names[ANSWER_LINKS_MAX][NAME_MAX_LEN], struct answer_links *out)
{
    const uint8_t *owner = m->bytes + WIRE_HEADER_LEN;
    uint16_t qtype = c->query->qtype;
    size_t rr;
    out->n = 0;
    while (qtype != DNS_CNAME && qtype != DNS_ANY && (rr = find_cname(m, c, owner))) {
        if (out->n == ANSWER_LINKS_MAX || !copy_name(m, c, rr + RR_FIXED, names[out->n])) {
            out->n = 0;
            break;
        }
        owner = names[out->n];
        out->items[out->n++] = (struct answer_link){client_ttl(read_ttl(m->bytes + rr + 4), c), owner};
    }
    return out->n;
}

size_t relay_write(const struct relay_msg *m, const struct relay_client *c, uint8_t *out)
{
    struct wr w;
    struct wr_opt opt = response_opt(m, c);
    size_t limit = response_limit(c), opt_len = c->query->has_edns ? wr_opt_len(&opt) : 0;
    wr_begin(&w, out, RELAY_RESPONSE_MAX);
    wr_question(&w, c->msg + WIRE_HEADER_LEN, c->query->question_len);
    size_t records_at = w.len;
    unsigned flags = FLAG_QR | FLAG_RA | (c->query->flags & (FLAG_RD | FLAG_CD)) | m->rcode;
    if (!copy_sections(&w, m, limit - opt_len))
        flags |= FLAG_TC;
    age_records(out, records_at, (unsigned)w.counts[0] + w.counts[1] + w.counts[2], c);
    if (c->query->has_edns)
        wr_opt_put(&w, &opt);
    return wr_finish(&w, c->query->id, (uint16_t)flags);
}
