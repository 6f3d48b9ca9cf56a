#include "names/emit.h"
#include "base/str.h"
#include "bobbin/error.h"
#include "wire/rdata.h"

#include <string.h>
#include <sys/socket.h>

/* ---- names ---- */

/* UTF-8 to one octet a character. @return length; or ERR_PARSE beyond U+00FF or when it does not fit. */
static int to_octets(const char *text, char *out, size_t room)
{
    size_t left = strlen(text), n = 0;
    while (left) {
        uint32_t cp;
        size_t k = utf8_next(text, left, &cp);
        if (!k || cp > 0xff || n == room)
            return ERR_PARSE;
        out[n++] = (char)cp;
        text += k;
        left -= k;
    }
    return (int)n;
}

int emit_name(struct emit *e, const char *text, const uint8_t *rest, uint8_t *out)
{
    char octets[NAME_TEXT_MAX];
    int n = to_octets(text, octets, sizeof octets);
    int len = n > 0 ? name_join(octets, (size_t)n, rest, out) : ERR_PARSE;
    if (len < 0)
        e->n_left_out++;
    return len;
}

/* ---- records ---- */

static struct zone_rr make_rr(const struct emit *e, const uint8_t *owner, uint16_t type, const uint8_t *rdata,
                              size_t len)
{
    const struct map_type_ttl *t = &e->options->type_ttls[dns_type(type)->ttl];
    uint32_t ttl_s = t->is_set && !e->has_own_ttl ? t->ttl_s : e->ttl_s;
    return (struct zone_rr){owner, type, ttl_s, rdata, (uint16_t)len};
}

static void put_shared(struct emit *e, const struct zone_rr *rr, bool is_ready)
{
    const struct map_sink *sink = e->sink;
    if (sink->shared)
        sink->shared(sink->arg, rr, is_ready);
    else
        sink->rr(sink->arg, rr);
}

void emit_rr(struct emit *e, const uint8_t *owner, uint16_t type, const uint8_t *rdata, size_t len)
{
    struct zone_rr rr = make_rr(e, owner, type, rdata, len);
    e->sink->rr(e->sink->arg, &rr);
}

void emit_shared_rr(struct emit *e, const uint8_t *owner, uint16_t type, const uint8_t *rdata, size_t len,
                    bool is_ready)
{
    struct zone_rr rr = make_rr(e, owner, type, rdata, len);
    put_shared(e, &rr, is_ready);
}

void emit_none(const struct emit *e, const uint8_t *owner, uint16_t type, const char *reason)
{
    if (e->sink->none)
        e->sink->none(e->sink->arg, owner, type, reason);
}

/* ---- addresses ---- */

/* A or AAAA of an address, and the mapped AAAA. @param mapped room for its rdata. @return their number. */
static size_t address_rrs(const struct emit *e, const uint8_t *owner, const struct addr *a,
                          uint8_t mapped[16], struct zone_rr out[2])
{
    bool is_v4 = a->family == AF_INET;
    out[0] = make_rr(e, owner, is_v4 ? DNS_A : DNS_AAAA, a->bytes, is_v4 ? 4 : 16);
    if (!is_v4 || !e->options->has_mapped_aaaa)
        return 1;
    memset(mapped, 0, 10);
    memset(mapped + 10, 0xff, 2);
    memcpy(mapped + 12, a->bytes, 4);
    out[1] = make_rr(e, owner, DNS_AAAA, mapped, 16);
    return 2;
}

void emit_addresses(struct emit *e, const uint8_t *owner, const struct addresses *a)
{
    uint8_t mapped[16];
    struct zone_rr rrs[2];
    for (size_t i = 0; i < a->n_items; i++) {
        size_t n = address_rrs(e, owner, &a->items[i], mapped, rrs);
        for (size_t k = 0; k < n; k++)
            e->sink->rr(e->sink->arg, &rrs[k]);
    }
}

void emit_shared_addresses(struct emit *e, const uint8_t *owner, const struct addresses *a, bool is_ready)
{
    uint8_t mapped[16];
    struct zone_rr rrs[2];
    for (size_t i = 0; i < a->n_items; i++) {
        size_t n = address_rrs(e, owner, &a->items[i], mapped, rrs);
        for (size_t k = 0; k < n; k++)
            put_shared(e, &rrs[k], is_ready);
    }
}

/* ---- texts ---- */

void emit_txt(struct emit *e, const uint8_t *owner, const char *first, const char *second)
{
    uint8_t rdata[512];
    size_t len = 0;
    const char *strings[] = {first, second};
    for (size_t i = 0; i < 2; i++) {
        int n = strings[i] ? rdata_put_string(strings[i], strlen(strings[i]), rdata + len) : 0;
        if (n < 0)
            e->n_left_out++;
        else
            len += (size_t)n;
    }
    if (len)
        emit_rr(e, owner, DNS_TXT, rdata, len);
}
