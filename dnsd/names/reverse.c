#include "names/reverse.h"
#include "base/addr.h"
#include "base/mem.h"
#include "base/str.h"
#include "wire/name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static const char digits[] = "0123456789abcdef";

struct prefix {
    struct addr addr;
    int bits;
};

static int bad(struct err_info *why, const char *subnet, const char *what)
{
    return err_set(why, ERR_CONFIG, "hadoop.registry.dns.zone-subnet", "\"%s\": %s", subnet, what);
}

/* Bits of a dotted mask; -1 when the ones are not all in front. */
static int mask_bits(const char *mask)
{
    struct addr a;
    if (addr_read(mask, &a) || a.family != AF_INET)
        return -1;
    uint32_t m =
        (uint32_t)a.bytes[0] << 24 | (uint32_t)a.bytes[1] << 16 | (uint32_t)a.bytes[2] << 8 | a.bytes[3];
    int bits = m ? __builtin_clz(~m ? ~m : 1) : 0;
    bits = m == UINT32_MAX ? 32 : bits;
    return bits == 32 || m << bits == 0 ? bits : -1;
}

static int read_prefix(const char *subnet, const char *mask, struct prefix *out, struct err_info *why)
{
    mem_auto char *address = str_field(subnet, '/', 0);
    mem_auto char *length = str_field(subnet, '/', 1);
    int n_dots = 0;
    for (const char *c = address; *c; c++)
        n_dots += *c == '.';
    mem_auto char *whole = n_dots == 2 && !strchr(address, ':') ? mem_fmt("%s.0", address) : mem_str(address);
    int64_t bits = -1;
    if (addr_read(whole, &out->addr))
        return bad(why, subnet, "an address with three or four octets, or an IPv6 prefix, was expected");
    int max = out->addr.family == AF_INET ? 32 : 128;
    if (length && mask)
        return bad(why, subnet, "give either /bits or zone-mask, not both");
    if (length && str_to_i64(length, 1, max, &bits))
        return bad(why, subnet, "the number of bits after / is none");
    if (mask && (out->addr.family != AF_INET || (bits = mask_bits(mask)) < 1))
        return bad(why, mask, "zone-mask is no IPv4 mask, as 255.255.0.0");
    if (bits < 0 && out->addr.family == AF_INET6)
        return bad(why, subnet, "an IPv6 prefix needs /bits");
    out->bits = bits < 0 ? 24 : (int)bits;
    return 0;
}

/* The zone of the first n_octets octets. */
static void emit_v4(const uint8_t *b, int n_octets, const struct reverse_sink *sink)
{
    char text[64];
    uint8_t apex[NAME_MAX_LEN];
    size_t n = 0;
    for (int i = n_octets - 1; i >= 0; i--)
        n += (size_t)snprintf(text + n, sizeof text - n, "%u.", b[i]);
    n += (size_t)snprintf(text + n, sizeof text - n, "in-addr.arpa.");
    if (name_from_text(text, n, apex) > 0)
        sink->zone(sink->arg, apex);
}

/* Every zone of n_octets octets within a prefix of at most that many bits. */
static int each_v4(const struct prefix *p, int n_octets, const struct reverse_sink *sink)
{
    int free_bits = n_octets * 8 - p->bits;
    int count = free_bits > 0 ? 1 << free_bits : 1;
    uint8_t *last_octet, b[4];
    memcpy(b, p->addr.bytes, 4);
    last_octet = &b[n_octets - 1];
    if (free_bits > 0)
        *last_octet = (uint8_t)(*last_octet & ~(count - 1));
    for (int i = 0; i < count; i++, (*last_octet)++)
        emit_v4(b, n_octets, sink);
    return count;
}

static int nibbles_v6(const struct prefix *p, const struct reverse_sink *sink)
{
    char text[80];
    uint8_t apex[NAME_MAX_LEN];
    size_t n = 0;
    for (int i = p->bits / 4 - 1; i >= 0; i--) {
        text[n++] = digits[p->addr.bytes[i / 2] >> (i % 2 ? 0 : 4) & 15];
        text[n++] = '.';
    }
    memcpy(text + n, "ip6.arpa.", 10);
    if (name_from_text(text, n + 9, apex) > 0)
        sink->zone(sink->arg, apex);
    return 1;
}

int reverse_zones(const char *subnet, const char *mask, const struct reverse_sink *sink, struct err_info *why)
{
    struct prefix p;
    int err = read_prefix(subnet, mask, &p, why);
    if (err)
        return err;
    if (p.addr.family == AF_INET6)
        return p.bits % 4 ? bad(why, subnet, "an IPv6 prefix must end on a nibble (a multiple of 4 bits)")
                          : nibbles_v6(&p, sink);
    return each_v4(&p, p.bits > 23 ? 3 : p.bits > 8 ? 2 : 1, sink);
}

/** Most slices of a split subnet: as many zones as a zone set may have. */
#define MAX_SLICES 65536

int reverse_slice(const char *base, int64_t range, int64_t index, struct addr *out)
{
    struct addr a;
    if (range < 0 || range > UINT32_MAX || index < 0 || index > UINT32_MAX || addr_read(base, &a) ||
        a.family != AF_INET)
        return ERR_INVALID;
    uint64_t n =
        (uint64_t)a.bytes[0] << 24 | (uint64_t)a.bytes[1] << 16 | (uint64_t)a.bytes[2] << 8 | a.bytes[3];
    n += (uint64_t)range * (uint64_t)index;
    if (n > UINT32_MAX)
        return ERR_INVALID;
    *out = a;
    for (int i = 0; i < 4; i++)
        out->bytes[i] = (uint8_t)(n >> (24 - 8 * i));
    return 0;
}

int reverse_split(const char *subnet, const char *mask, int64_t range, const struct reverse_sink *sink,
                  struct err_info *why)
{
    struct prefix p;
    struct addr slice;
    char base[ADDR_TEXT_MAX];
    int err = read_prefix(subnet, mask, &p, why);
    if (err)
        return err;
    if (p.addr.family != AF_INET || (!mask && !strchr(subnet, '/')))
        return bad(why, subnet, "split-reverse-zone needs an IPv4 subnet with zone-mask or /bits");
    int64_t n_addresses = (int64_t)1 << (32 - p.bits), n = range ? n_addresses / range : n_addresses;
    if (n > MAX_SLICES)
        return bad(why, subnet, "split-reverse-zone-range gives more than 65536 slices");
    addr_text(&p.addr, base);
    for (int64_t i = 0; i < n; i++) {
        if (reverse_slice(base, range, i, &slice))
            return bad(why, subnet, "the slices pass 255.255.255.255");
        emit_v4(slice.bytes, 3, sink);
    }
    return (int)n;
}

static void ignore(void *arg, const uint8_t *apex)
{
    (void)arg;
    (void)apex;
}

int reverse_check(const char *subnet, const char *mask, struct err_info *why)
{
    struct reverse_sink sink = {ignore, NULL};
    int n = reverse_zones(subnet, mask, &sink, why);
    return n < 0 ? n : 0;
}

int reverse_name(const struct addr *a, uint8_t *out)
{
    char text[80];
    size_t n = 0;
    if (a->family == AF_INET) {
        const uint8_t *b = a->bytes;
        n = (size_t)snprintf(text, sizeof text, "%u.%u.%u.%u.in-addr.arpa.", b[3], b[2], b[1], b[0]);
        return name_from_text(text, n, out);
    }
    for (int i = 15; i >= 0; i--) {
        text[n++] = digits[a->bytes[i] & 15];
        text[n++] = '.';
        text[n++] = digits[a->bytes[i] >> 4];
        text[n++] = '.';
    }
    memcpy(text + n, "ip6.arpa.", 10);
    return name_from_text(text, n + 9, out);
}
