#include "base/network.h"

#include <string.h>

#include "base/list.h"
#include "base/str.h"
#include "bobbin/error.h"

int network_read(const char *text, void *item)
{
    struct network *out = item;
    char literal[ADDR_TEXT_MAX];
    const char *slash = strchr(text, '/');
    size_t len = slash ? (size_t)(slash - text) : strlen(text);
    int64_t n_bits;
    if (len >= sizeof literal)
        return ERR_PARSE;
    memcpy(literal, text, len);
    literal[len] = 0;
    if (addr_read(literal, &out->addr))
        return ERR_PARSE;
    n_bits = out->addr.family == AF_INET ? 32 : 128;
    if (slash && str_to_i64(slash + 1, 0, n_bits, &n_bits))
        return ERR_PARSE;
    out->n_bits = (unsigned)n_bits;
    return 0;
}

int networks_read(const char *list, struct networks *out, struct err_info *why)
{
    static const struct list_kind kind = {"network", "ADDRESS/BITS", NETWORKS_MAX, sizeof(struct network),
                                          network_read};
    return list_read(list, &kind, out->items, &out->n_items, why);
}

static bool has_prefix(const struct addr *a, const struct network *n)
{
    unsigned n_octets = n->n_bits / 8, rest = n->n_bits % 8;
    if (a->family != n->addr.family || memcmp(a->bytes, n->addr.bytes, n_octets))
        return false;
    return !rest || !((a->bytes[n_octets] ^ n->addr.bytes[n_octets]) >> (8 - rest));
}

bool networks_hold(const struct networks *n, const struct addr *a)
{
    for (size_t i = 0; i < n->n_items; i++)
        if (has_prefix(a, &n->items[i]))
            return true;
    return false;
}
