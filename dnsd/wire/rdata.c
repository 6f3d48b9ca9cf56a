#include "wire/rdata.h"

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

/* Head, names, tail, and nothing behind them. */
static int check_names(const struct dns_type *t, const uint8_t *rdata, size_t len)
{
    size_t at = t->head;
    for (unsigned i = 0; i < t->n_names; i++) {
        int n = at < len ? name_len(rdata + at, len - at) : ERR_PARSE;
        if (n < 0)
            return ERR_PARSE;
        at += (size_t)n;
    }
    return at + t->tail == len ? 0 : ERR_PARSE;
}

static int check_strings(const uint8_t *rdata, size_t len)
{
    size_t at = 0;
    while (at < len)
        at += rdata[at] + 1u;
    return len > 0 && at == len ? 0 : ERR_PARSE;
}

int rdata_check(uint16_t type, const uint8_t *rdata, size_t len)
{
    const struct dns_type *t = dns_type(type);
    if (len > RDATA_MAX)
        return ERR_PARSE;
    switch (t->form) {
    case DNS_RDATA_FIXED: return len == t->head ? 0 : ERR_PARSE;
    case DNS_RDATA_NAMES: return check_names(t, rdata, len);
    case DNS_RDATA_STRINGS: return check_strings(rdata, len);
    default: return 0;
    }
}
