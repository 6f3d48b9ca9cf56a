#include "answer/special.h"

#include <string.h>

#include "answer/response.h"
#include "wire/rdata.h"

enum { TEXT_MAX = 255, EMPTY_TTL_S = 10800 };

/** A wire name and its length, from a literal that leaves out the root octet. */
#define WIRE(literal)    (const uint8_t *)(literal), sizeof(literal)
#define IN_ADDR(prefix)  WIRE(prefix "\7in-addr\4arpa")
#define IP6(prefix)      WIRE(prefix "\3ip6\4arpa")
#define PRIVATE_172(net) IN_ADDR("\2" net "\003172")
#define ZERO_4           "\0010\0010\0010\0010"
#define ZERO_16          ZERO_4 ZERO_4 ZERO_4 ZERO_4
#define ZERO_31          ZERO_16 ZERO_4 ZERO_4 ZERO_4 "\0010\0010\0010"

static const struct empty_zone {
    const uint8_t *apex;
    size_t len;
    unsigned n_labels;
} empty_zones[] = {
    {WIRE("\7invalid"), 1},
    {WIRE("\5onion"), 1},
    {IN_ADDR("\0010"), 3},
    {IN_ADDR("\00210"), 3},
    {IN_ADDR("\003127"), 3},
    {IN_ADDR("\003254\003169"), 4},
    {IN_ADDR("\003168\003192"), 4},
    {IN_ADDR("\0012\0010\003192"), 5},
    {IN_ADDR("\003100\00251\003198"), 5},
    {IN_ADDR("\003113\0010\003203"), 5},
    {IN_ADDR("\003255\003255\003255\003255"), 6},
    {PRIVATE_172("16"), 4},
    {PRIVATE_172("17"), 4},
    {PRIVATE_172("18"), 4},
    {PRIVATE_172("19"), 4},
    {PRIVATE_172("20"), 4},
    {PRIVATE_172("21"), 4},
    {PRIVATE_172("22"), 4},
    {PRIVATE_172("23"), 4},
    {PRIVATE_172("24"), 4},
    {PRIVATE_172("25"), 4},
    {PRIVATE_172("26"), 4},
    {PRIVATE_172("27"), 4},
    {PRIVATE_172("28"), 4},
    {PRIVATE_172("29"), 4},
    {PRIVATE_172("30"), 4},
    {PRIVATE_172("31"), 4},
    {IP6("\0010" ZERO_31), 34},
    {IP6("\0011" ZERO_31), 34},
    {IP6("\001d\001f"), 4},
    {IP6("\0018\001e\001f"), 5},
    {IP6("\0019\001e\001f"), 5},
    {IP6("\001a\001e\001f"), 5},
    {IP6("\001b\001e\001f"), 5},
    {IP6("\0018\001b\001d\0010\0011\0010\0010\0012"), 10},
};

static const struct empty_zone localhost_zone = {WIRE("\11localhost"), 1};

static const struct chaos_name {
    const uint8_t *name;
    size_t len;
    bool is_version;
} chaos_names[] = {
    {WIRE("\7version\4bind"), true},
    {WIRE("\7version\6server"), true},
    {WIRE("\2id\6server"), false},
    {WIRE("\10hostname\4bind"), false},
};

/** One record made on the spot, owned by the name at r->owner_off. */
static void put_one(struct response *r, enum wr_section section, unsigned type, const uint8_t *rdata,
                    size_t len)
{
    uint8_t wire[WIRE_RR_HEADER + 2 * NAME_MAX_LEN + 20];
    bool is_text = type == DNS_TXT;
    wire_put16(wire, 0xc000u | WR_OWNER_QUESTION);
    wire_put16(wire + 2, type);
    wire_put16(wire + 4, is_text ? DNS_CH : DNS_IN);
    wire_put32(wire + 6, is_text ? 0 : EMPTY_TTL_S);
    wire_put16(wire + 10, (unsigned)len);
    memcpy(wire + WIRE_RR_HEADER, rdata, len);
    struct wire_set set = {wire, (uint32_t)(WIRE_RR_HEADER + len), 1, (uint16_t)type, UINT32_MAX, 0};
    if (wr_rrset_at(&r->w, section, r->owner_off, &set))
        r->a->is_truncated = true;
}

uint16_t special_chaos(struct response *r)
{
    const struct query *q = &r->a->q;
    uint8_t rdata[TEXT_MAX + 1];
    for (size_t i = 0; i < sizeof chaos_names / sizeof *chaos_names; i++) {
        const struct chaos_name *c = &chaos_names[i];
        const char *text = c->is_version ? r->opts->version : r->opts->identity;
        if (!text || q->name.len != c->len || memcmp(q->name.lower, c->name, c->len))
            continue;
        if (q->qtype != DNS_TXT && q->qtype != DNS_ANY)
            return DNS_REFUSED;
        r->is_aa = true;
        put_one(r, WR_ANSWER, DNS_TXT, rdata, (size_t)rdata_put_string(text, strnlen(text, TEXT_MAX), rdata));
        return DNS_NOERROR;
    }
    return DNS_REFUSED;
}

static bool is_in(const struct name_key *key, const struct empty_zone *z)
{
    if (key->n_labels < z->n_labels)
        return false;
    unsigned at = key->start[key->n_labels - z->n_labels];
    return key->len - at == z->len && !memcmp(key->lower + at, z->apex, z->len);
}

static const struct empty_zone *find_empty_zone(const struct name_key *key)
{
    for (size_t i = 0; i < sizeof empty_zones / sizeof *empty_zones; i++)
        if (is_in(key, &empty_zones[i]))
            return &empty_zones[i];
    return is_in(key, &localhost_zone) ? &localhost_zone : NULL;
}

const uint8_t *special_empty_apex(const struct name_key *key)
{
    const struct empty_zone *z = find_empty_zone(key);
    return z ? z->apex : NULL;
}

/** SOA as RFC 6303 3 gives it: the zone is its own name server. */
static void put_soa(struct response *r, enum wr_section section, const struct empty_zone *z)
{
    uint8_t rdata[2 * NAME_MAX_LEN + 20];
    struct rdata_soa soa = {z->apex,    (const uint8_t *)"\6nobody\7invalid", 1, 3600, 1200, 604800,
                            EMPTY_TTL_S};
    r->owner_off = (uint16_t)(WR_OWNER_QUESTION + r->name->start[r->name->n_labels - z->n_labels]);
    put_one(r, section, DNS_SOA, rdata, rdata_put_soa(&soa, rdata));
}

bool special_empty_zone(struct response *r, uint16_t *rcode)
{
    static const uint8_t loopback[16] = {127, 0, 0, 1}, loopback6[16] = {[15] = 1};
    const struct empty_zone *z = find_empty_zone(r->name);
    uint16_t qtype = r->a->q.qtype;
    if (!z)
        return false;
    bool is_apex = r->name->n_labels == z->n_labels, is_host = z == &localhost_zone;
    r->is_aa = true;
    *rcode = is_apex || is_host ? DNS_NOERROR : DNS_NXDOMAIN;
    if (is_host && (qtype == DNS_A || qtype == DNS_ANY))
        put_one(r, WR_ANSWER, DNS_A, loopback, 4);
    else if (is_host && qtype == DNS_AAAA)
        put_one(r, WR_ANSWER, DNS_AAAA, loopback6, 16);
    else if (is_apex && qtype == DNS_NS)
        put_one(r, WR_ANSWER, DNS_NS, z->apex, z->len);
    else
        put_soa(r, is_apex && (qtype == DNS_SOA || qtype == DNS_ANY) ? WR_ANSWER : WR_AUTHORITY, z);
    return true;
}
