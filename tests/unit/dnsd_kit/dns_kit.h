/** Records and queries in text, for the tests of dnsd. */
#ifndef DNS_KIT_H
#define DNS_KIT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/addr.h"
#include "wire/name.h"
#include "wire/rdata.h"
#include "zone/zone.h"

/** A record that owns its bytes. */
struct kit_rr {
    uint8_t owner[NAME_MAX_LEN];
    uint8_t rdata[512];
    struct zone_rr rr;
};

static inline const uint8_t *kit_name(const char *text)
{
    static uint8_t names[8][NAME_MAX_LEN];
    static unsigned next;
    uint8_t *out = names[next++ % 8];
    if (name_from_text(text, strlen(text), out) < 0)
        fail_msg("not a name: %s", text);
    return out;
}

static inline size_t kit_rdata(uint16_t type, const char *text, uint8_t *out)
{
    struct addr a;
    unsigned p, w, port;
    char target[256];
    switch (type) {
    case DNS_A:
    case DNS_AAAA:
        assert_int_equal(addr_read(text, &a), 0);
        memcpy(out, a.bytes, type == DNS_A ? 4 : 16);
        return type == DNS_A ? 4 : 16;
    case DNS_SRV:
        assert_int_equal(sscanf(text, "%u %u %u %255s", &p, &w, &port, target), 4);
        return rdata_put_srv((uint16_t)p, (uint16_t)w, (uint16_t)port, kit_name(target), out);
    case DNS_MX:
        assert_int_equal(sscanf(text, "%u %255s", &p, target), 2);
        wire_put16(out, p);
        return 2 + rdata_put_name(kit_name(target), out + 2);
    case DNS_SOA: {
        struct rdata_soa soa = {kit_name(text), kit_name(text), 999, 3600, 600, 86400, 30};
        return rdata_put_soa(&soa, out);
    }
    case DNS_TXT: return (size_t)rdata_put_string(text, strlen(text), out);
    default: return rdata_put_name(kit_name(text), out);
    }
}

static inline struct zone_rr *kit_rr(struct kit_rr *k, const char *owner, uint16_t type, uint32_t ttl_s,
                                     const char *text)
{
    memcpy(k->owner, kit_name(owner), NAME_MAX_LEN);
    k->rr = (struct zone_rr){k->owner, type, ttl_s, k->rdata, 0};
    k->rr.rdlen = (uint16_t)kit_rdata(type, text, k->rdata);
    return &k->rr;
}

static inline void kit_add(struct zone_tx *tx, const char *owner, uint16_t type, uint32_t ttl_s,
                           const char *text)
{
    struct kit_rr k;
    assert_int_equal(zone_tx_add(tx, ZONE_BY_NAME, kit_rr(&k, owner, type, ttl_s, text)), 0);
}

static inline void kit_remove(struct zone_tx *tx, const char *owner, uint16_t type, const char *text)
{
    struct kit_rr k;
    assert_int_equal(zone_tx_remove(tx, ZONE_BY_NAME, kit_rr(&k, owner, type, 0, text)), 0);
}

/** A query message with RD; edns_size 0: no OPT. @return its length. */
static inline size_t kit_query(uint8_t *out, uint16_t id, const char *name, uint16_t type, uint16_t edns_size)
{
    memset(out, 0, 12);
    wire_put16(out, id);
    out[2] = 1;
    out[5] = 1;
    size_t len = 12 + rdata_put_name(kit_name(name), out + 12);
    wire_put16(out + len, type);
    wire_put16(out + len + 2, DNS_IN);
    len += 4;
    if (edns_size) {
        static const uint8_t opt[11] = {0, 0, DNS_OPT};
        memcpy(out + len, opt, sizeof opt);
        wire_put16(out + len + 3, edns_size);
        out[11] = 1;
        len += sizeof opt;
    }
    return len;
}

/** Follow a possibly compressed name to text. @return octets it takes at `at`. */
static inline size_t kit_read_name(const uint8_t *msg, size_t len, size_t at, char out[NAME_TEXT_MAX])
{
    uint8_t name[NAME_MAX_LEN];
    size_t n = 0, used = 0, here = at;
    for (;;) {
        assert_true(here < len);
        uint8_t label = msg[here];
        if (label >= 0xc0) {
            used = used ? used : here + 2 - at;
            size_t to = wire_get16(msg + here) & 0x3fffu;
            assert_true(to < here); /* pointers lead backwards, so this ends */
            here = to;
            continue;
        }
        assert_true(n + label + 1u <= sizeof name && here + label < len);
        memcpy(name + n, msg + here, label + 1u);
        n += label + 1u;
        here += label + 1u;
        if (!label)
            break;
    }
    name_to_text(name, out);
    return used ? used : here - at;
}

/** Rdata as text. */
static inline void kit_rdata_text(const uint8_t *msg, size_t len, size_t at, uint16_t type, size_t rdlen,
                                  char *out)
{
    struct addr a = {.family = type == DNS_A ? AF_INET : AF_INET6};
    switch (type) {
    case DNS_A:
    case DNS_AAAA:
        memcpy(a.bytes, msg + at, rdlen);
        addr_text(&a, out);
        return;
    case DNS_SRV: {
        char target[NAME_TEXT_MAX];
        kit_read_name(msg, len, at + 6, target);
        sprintf(out, "%u %u %u %s", wire_get16(msg + at), wire_get16(msg + at + 2), wire_get16(msg + at + 4),
                target);
        return;
    }
    case DNS_SOA: {
        char mname[NAME_TEXT_MAX], rname[NAME_TEXT_MAX];
        size_t n = kit_read_name(msg, len, at, mname);
        n += kit_read_name(msg, len, at + n, rname);
        sprintf(out, "%s serial %u", mname, wire_get32(msg + at + n));
        return;
    }
    case DNS_TXT: sprintf(out, "\"%.*s\"", msg[at], (const char *)msg + at + 1); return;
    case DNS_NS:
    case DNS_CNAME:
    case DNS_PTR:
    case DNS_DNAME: kit_read_name(msg, len, at, out); return;
    default: sprintf(out, "\\# %zu", rdlen); return;
    }
}

/** OPT as text. @return where the text ends. */
static inline char *kit_opt_text(const uint8_t *rr, char *p)
{
    p += sprintf(p, "opt %u %u%s", wire_get16(rr + 2), rr[4], rr[6] & 0x80 ? " do" : "");
    size_t rdlen = wire_get16(rr + 8);
    for (size_t o = 0; o < rdlen; o += 4u + wire_get16(rr + 12 + o)) {
        unsigned option = wire_get16(rr + 10 + o);
        p += option == 15 ? sprintf(p, " ede %u", wire_get16(rr + 14 + o)) : sprintf(p, " option %u", option);
    }
    return p + sprintf(p, "\n");
}

/**
 * A response as text, one fact a line: "NOERROR aa tc", then "S owner ttl TYPE rdata" with S an (answer), au, ad; then
 * "opt size rcode_high [do] [ede N]". Free it.
 */
static inline char *kit_text(const uint8_t *msg, size_t len)
{
    static const char *const rcodes[] = {"NOERROR", "FORMERR",  "SERVFAIL", "NXDOMAIN", "NOTIMP",
                                         "REFUSED", "YXDOMAIN", "7",        "8",        "NOTAUTH"};
    static const char *const sections[] = {"an", "au", "ad"};
    char *out = calloc(1, 1 << 20), *p = out;
    assert_true(len >= 12 && msg[2] & 0x80);
    p += sprintf(p, "%s%s%s%s\n", (msg[3] & 15) < 10 ? rcodes[msg[3] & 15] : "?", msg[2] & 4 ? " aa" : "",
                 msg[2] & 2 ? " tc" : "", msg[3] & 0x80 ? " ra" : "");
    size_t at = 12;
    char name[NAME_TEXT_MAX], rdata[2 * NAME_TEXT_MAX], type[16];
    if (wire_get16(msg + 4))
        at += kit_read_name(msg, len, at, name) + 4;
    for (unsigned s = 0; s < 3; s++) {
        for (unsigned n = wire_get16(msg + 6 + 2 * s); n; n--) {
            at += kit_read_name(msg, len, at, name);
            const uint8_t *rr = msg + at;
            uint16_t t = wire_get16(rr);
            size_t rdlen = wire_get16(rr + 8);
            at += 10;
            assert_true(at + rdlen <= len);
            if (t == DNS_OPT) {
                p = kit_opt_text(rr, p);
            } else {
                kit_rdata_text(msg, len, at, t, rdlen, rdata);
                p += sprintf(p, "%s %s %u %s %s\n", sections[s], name, wire_get32(rr + 4),
                             dns_type_text(t, type), rdata);
            }
            at += rdlen;
        }
    }
    assert_int_equal(at, len);
    return out;
}

#endif
