#include "wire/rdata.h"

#include <stdio.h>
#include <string.h>

#include "bobbin/error.h"
#include "wire/name.h"

size_t rdata_put_name(const uint8_t *name, uint8_t *out)
{
    size_t len = (size_t)name_len(name, NAME_MAX_LEN);
    memcpy(out, name, len);
    return len;
}

size_t rdata_put_soa(const struct rdata_soa *soa, uint8_t *out)
{
    size_t len = rdata_put_name(soa->mname, out);
    len += rdata_put_name(soa->rname, out + len);
    wire_put32(out + len, soa->serial);
    wire_put32(out + len + 4, soa->refresh_s);
    wire_put32(out + len + 8, soa->retry_s);
    wire_put32(out + len + 12, soa->expire_s);
    wire_put32(out + len + 16, soa->minimum_s);
    return len + 20;
}

size_t rdata_put_srv(uint16_t priority, uint16_t weight, uint16_t port, const uint8_t *target, uint8_t *out)
{
    wire_put16(out, priority);
    wire_put16(out + 2, weight);
    wire_put16(out + 4, port);
    return 6 + rdata_put_name(target, out + 6);
}

int rdata_put_string(const void *text, size_t n, uint8_t *out)
{
    if (n > 255)
        return ERR_TOOBIG;
    out[0] = (uint8_t)n;
    memcpy(out + 1, text, n);
    return (int)n + 1;
}

static int check_soa(const uint8_t *rdata, size_t len)
{
    int mname = name_len(rdata, len);
    if (mname < 0)
        return ERR_PARSE;
    int rname = name_len(rdata + mname, len - (size_t)mname);
    if (rname < 0)
        return ERR_PARSE;
    return (size_t)(mname + rname) + 20 == len ? 0 : ERR_PARSE;
}

static int check_strings(const uint8_t *rdata, size_t len)
{
    size_t at = 0;
    while (at < len)
        at += rdata[at] + 1u;
    return len > 0 && at == len ? 0 : ERR_PARSE;
}

int rdata_name_offset(uint16_t type)
{
    switch (type) {
    case DNS_NS:
    case DNS_CNAME:
    case DNS_PTR:
    case DNS_DNAME: return 0;
    case DNS_MX: return 2;
    case DNS_SRV: return 6;
    default: return -1;
    }
}

int rdata_check(uint16_t type, const uint8_t *rdata, size_t len)
{
    int name_at = rdata_name_offset(type);
    if (len > RDATA_MAX)
        return ERR_PARSE;
    if (name_at >= 0) {
        size_t at = (size_t)name_at;
        if (len <= at)
            return ERR_PARSE;
        return name_len(rdata + at, len - at) == (int)(len - at) ? 0 : ERR_PARSE;
    }
    switch (type) {
    case DNS_A: return len == 4 ? 0 : ERR_PARSE;
    case DNS_AAAA: return len == 16 ? 0 : ERR_PARSE;
    case DNS_SOA: return check_soa(rdata, len);
    case DNS_TXT: return check_strings(rdata, len);
    default: return 0;
    }
}

bool rdata_is_compressible(uint16_t type)
{
    return type == DNS_NS || type == DNS_CNAME || type == DNS_SOA || type == DNS_PTR || type == DNS_MX;
}

const char *dns_type_text(uint16_t type, char out[16])
{
    static const struct {
        uint16_t number;
        const char *text;
    } types[] = {
#define DNS_TYPE_ROW(token, number, text) {number, text},
        DNS_TYPES(DNS_TYPE_ROW)
#undef DNS_TYPE_ROW
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].number == type)
            return types[i].text;
    snprintf(out, 16, "TYPE%u", type);
    return out;
}
