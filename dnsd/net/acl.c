#include "net/acl.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/mem.h"
#include "base/network.h"
#include "base/obj.h"
#include "base/str.h"
#include "bobbin/error.h"

/** An address as a number of 128 bits; of IPv4 the upper 96 are 0. */
struct number {
    uint64_t high, low;
};

struct range {
    struct number first, last;
};

enum { IPV4, IPV6, N_FAMILIES };

/** Ranges of each family: disjoint, ascending. */
struct ranges {
    size_t n_items[N_FAMILIES];
    struct range *items[N_FAMILIES];
};

struct zone_acl {
    uint8_t apex[NAME_MAX_LEN];
    size_t len;
    struct ranges ranges;
};

struct acl {
    struct acl *older; /* in force before */
    bool has_all;      /* all is set */
    struct ranges all;
    size_t n_zones;
    struct zone_acl zones[ACL_ZONES_MAX]; /* longest name first */
};

struct acls {
    _Atomic(const struct acl *) current;
    struct acl *newest; /* of all that were in force */
};

static int compare(struct number a, struct number b)
{
    if (a.high != b.high)
        return a.high < b.high ? -1 : 1;
    return a.low == b.low ? 0 : a.low < b.low ? -1 : 1;
}

static uint64_t read_octets(const uint8_t *p, unsigned n)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < n; i++)
        v = v << 8 | p[i];
    return v;
}

static struct number ipv6_number(const uint8_t *p)
{
    return (struct number){read_octets(p, 8), read_octets(p + 8, 8)};
}

static struct number addr_number(const struct addr *a)
{
    return a->family == AF_INET ? (struct number){0, read_octets(a->bytes, 4)} : ipv6_number(a->bytes);
}

/** The last n of 64 bits set. */
static uint64_t low_bits(unsigned n)
{
    return n >= 64 ? UINT64_MAX : ((uint64_t)1 << n) - 1;
}

static struct range network_range(const struct network *n)
{
    unsigned n_free = (n->addr.family == AF_INET ? 32 : 128) - n->n_bits;
    struct number mask = {n_free > 64 ? low_bits(n_free - 64) : 0, low_bits(n_free)};
    struct number a = addr_number(&n->addr);
    return (struct range){{a.high & ~mask.high, a.low & ~mask.low}, {a.high | mask.high, a.low | mask.low}};
}

static int compare_ranges(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    return compare(x->first, y->first);
}

/** Merge ranges that overlap. @return how many are left. */
static size_t merge(struct range *items, size_t n)
{
    size_t n_out = 0;
    qsort(items, n, sizeof *items, compare_ranges);
    for (size_t i = 0; i < n; i++)
        if (!n_out || compare(items[i].first, items[n_out - 1].last) > 0)
            items[n_out++] = items[i];
        else if (compare(items[i].last, items[n_out - 1].last) > 0)
            items[n_out - 1].last = items[i].last;
    return n_out;
}

static int ranges_read(const char *list, struct ranges *out, struct err_info *why)
{
    static const struct list_kind kind = {"network", "ADDRESS/BITS", ACL_NETWORKS_MAX, sizeof(struct network),
                                          network_read};
    mem_auto struct network *networks = mem_array(ACL_NETWORKS_MAX, sizeof *networks);
    size_t n;
    int err = list_read(list, &kind, networks, &n, why);
    if (err)
        return err;
    if (!n)
        return err_set(why, ERR_INVALID, list, "there is no network in the list");
    for (int f = 0; f < N_FAMILIES; f++)
        out->items[f] = mem_array(n, sizeof *out->items[f]);
    for (size_t i = 0; i < n; i++) {
        int f = networks[i].addr.family == AF_INET ? IPV4 : IPV6;
        out->items[f][out->n_items[f]++] = network_range(&networks[i]);
    }
    for (int f = 0; f < N_FAMILIES; f++)
        out->n_items[f] = merge(out->items[f], out->n_items[f]);
    return 0;
}

static int zone_read(const char *text, struct zone_acl *out, struct err_info *why)
{
    const char *sign = strchr(text, '=');
    mem_auto char *name = sign ? mem_strn(text, (size_t)(sign - text)) : NULL;
    mem_auto char *trimmed = name ? str_trim(name) : NULL;
    int len = trimmed ? name_from_text(trimmed, strlen(trimmed), out->apex) : ERR_PARSE;
    if (len < 0)
        return err_set(why, ERR_INVALID, text, "\"%s\" is no ZONE=NETWORK,NETWORK", text);
    out->len = (size_t)len;
    return ranges_read(sign + 1, &out->ranges, why);
}

static int compare_zones(const void *a, const void *b)
{
    const struct zone_acl *x = a, *y = b;
    return x->len == y->len ? 0 : x->len > y->len ? -1 : 1;
}

static bool has_zone(const struct acl *acl, const uint8_t *apex)
{
    for (size_t i = 0; i + 1 < acl->n_zones; i++)
        if (name_equal(acl->zones[i].apex, apex))
            return true;
    return false;
}

static int zones_read(const char *zones, struct acl *out, struct err_info *why)
{
    char *field;
    int err = 0;
    for (size_t i = 0; !err && zones && (field = str_field(zones, ';', i)); i++) {
        if (*field && out->n_zones == ACL_ZONES_MAX)
            err = err_set(why, ERR_INVALID, field, "more than %d zones", ACL_ZONES_MAX);
        else if (*field)
            err = zone_read(field, &out->zones[out->n_zones++], why);
        if (*field && !err && has_zone(out, out->zones[out->n_zones - 1].apex))
            err = err_set(why, ERR_INVALID, field, "the zone has a list already");
        free(field);
    }
    qsort(out->zones, out->n_zones, sizeof *out->zones, compare_zones);
    return err;
}

int acl_read(const char *networks, const char *zones, struct acl **out, struct err_info *why)
{
    struct acl *acl = mem_new(struct acl);
    acl->has_all = networks && *networks;
    int err = acl->has_all ? ranges_read(networks, &acl->all, why) : 0;
    err = err ? err : zones_read(zones, acl, why);
    bool is_needed = acl->has_all || acl->n_zones;
    if (!err)
        *out = is_needed ? acl : NULL;
    if (err || !is_needed)
        acl_free(acl);
    return err;
}

static void ranges_fini(struct ranges *r)
{
    for (int f = 0; f < N_FAMILIES; f++)
        free(r->items[f]);
}

void acl_free(struct acl *acl)
{
    if (!acl)
        return;
    ranges_fini(&acl->all);
    for (size_t i = 0; i < acl->n_zones; i++)
        ranges_fini(&acl->zones[i].ranges);
    free(acl);
}

static bool ranges_hold(const struct ranges *r, int family, struct number a)
{
    const struct range *items = r->items[family];
    size_t from = 0, to = r->n_items[family];
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (compare(items[middle].last, a) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from < r->n_items[family] && compare(items[from].first, a) <= 0;
}

/** The list for a name; NULL: all may ask for it. @param name  in lower case; NULL: the list for all names counts [borrowed] */
static const struct ranges *ranges_for(const struct acl *acl, const uint8_t *name)
{
    for (size_t i = 0; name && i < acl->n_zones; i++)
        if (name_is_within(name, acl->zones[i].apex))
            return &acl->zones[i].ranges;
    return acl->has_all ? &acl->all : NULL;
}

/** @param r  NULL: all clients are in it */
static bool has_client(const struct ranges *r, const struct sockaddr_storage *client)
{
    if (!r)
        return true;
    if (client->ss_family == AF_INET) {
        const struct sockaddr_in *in = (const void *)client;
        return ranges_hold(r, IPV4, (struct number){0, ntohl(in->sin_addr.s_addr)});
    }
    const struct in6_addr *in6 = &((const struct sockaddr_in6 *)(const void *)client)->sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(in6))
        return ranges_hold(r, IPV4, (struct number){0, read_octets(in6->s6_addr + 12, 4)});
    return ranges_hold(r, IPV6, ipv6_number(in6->s6_addr));
}

bool acl_allows(const struct acl *acl, const struct sockaddr_storage *client, const struct query *q)
{
    return has_client(ranges_for(acl, q->has_question ? q->name.lower : NULL), client);
}

static bool guard_allows(const struct answer_guard *guard, const uint8_t *name)
{
    const struct acl_guard *g = (const struct acl_guard *)guard;
    return has_client(ranges_for(g->acl, name), g->client);
}

const struct answer_guard *acl_guard(const struct acl *acl, const struct sockaddr_storage *client,
                                     struct acl_guard *out)
{
    if (!acl || !acl->n_zones)
        return NULL;
    *out = (struct acl_guard){{guard_allows}, acl, client};
    return &out->guard;
}

struct acls *acls_new(struct acl *take_first)
{
    struct acls *s = mem_new(struct acls);
    acls_set(s, take_first);
    return s;
}

void acls_free(struct acls *s)
{
    struct acl *acl = s ? s->newest : NULL;
    while (acl) {
        struct acl *older = acl->older;
        acl_free(acl);
        acl = older;
    }
    free(s);
}

void acls_set(struct acls *s, struct acl *take_next)
{
    if (take_next) {
        take_next->older = s->newest;
        s->newest = take_next;
    }
    atomic_store_explicit(&s->current, take_next, memory_order_release);
}

const struct acl *acls_current(const struct acls *s)
{
    return atomic_load_explicit(&s->current, memory_order_acquire);
}
