#include "zone/merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "wire/rdata.h"

enum { SOA_NUMBERS_LEN = 20, LARGE_SET = 64 /* records from which splicing is cheaper than merging */ };

/** A record of the set that is being made. */
struct record {
    const uint8_t *rdata;
    uint16_t rdlen;
    uint32_t ttl_s;
    uint32_t count;
};

struct record_list {
    struct record *records;
    size_t n;
};

static int compare_rdata(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len)
{
    int order = memcmp(a, b, a_len < b_len ? a_len : b_len);
    return order ? order : (a_len > b_len) - (a_len < b_len);
}

static int compare_edits(const void *pa, const void *pb)
{
    const struct zone_edit *a = *(struct zone_edit *const *)pa, *b = *(struct zone_edit *const *)pb;
    if (a->type != b->type)
        return a->type < b->type ? -1 : 1;
    int order = compare_rdata(a->rdata, a->rdlen, b->rdata, b->rdlen);
    return order ? order : (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

static int compare_sequence(const void *pa, const void *pb)
{
    const struct zone_edit *a = *(struct zone_edit *const *)pa, *b = *(struct zone_edit *const *)pb;
    return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

void node_sort_edits(struct zone_edit **edits, size_t n_edits)
{
    if (n_edits > 1)
        qsort(edits, n_edits, sizeof *edits, compare_edits);
}

/** Records of a stored set. */
static struct record_list records_of(const struct zone_rrset *set)
{
    size_t n = set ? set_n_rrs(set) : 0;
    struct record_list list = {mem_array(n, sizeof(struct record)), n};
    if (!set)
        return list;
    const uint8_t *rr = set->wire;
    for (size_t i = 0; i < n; i++) {
        struct record *r = &list.records[i];
        r->rdlen = wire_get16(rr + 10);
        r->rdata = rr + WIRE_RR_HEADER;
        r->ttl_s = set_has_counts(set) ? set_counts(set)[i].ttl_s : wire_get32(rr + 6);
        r->count = set_has_counts(set) ? set_counts(set)[i].n : 1;
        rr += WIRE_RR_HEADER + r->rdlen;
    }
    return list;
}

/** Apply the n edits on one record. @param r count 0 when it is new. */
static void apply_edits(struct record *r, struct zone_edit *const *edits, size_t n, struct node_outcome *o)
{
    uint32_t before = r->count;
    for (size_t i = 0; i < n; i++) {
        if (!edits[i]->is_add && r->count == 0) {
            o->n_missing++;
        } else if (!edits[i]->is_add) {
            r->count--;
            o->is_changed = true;
        } else {
            if (r->count == 0 || edits[i]->ttl_s < r->ttl_s)
                r->ttl_s = edits[i]->ttl_s;
            r->count++;
            o->is_changed = true;
        }
    }
    o->n_added += !before && r->count;
    o->n_removed += before && !r->count;
    o->is_visible |= !before != !r->count;
}

/** Number of edits at edits[0] that are about the same record. */
static size_t same_record(struct zone_edit *const *edits, size_t n)
{
    size_t i = 1;
    while (i < n && !compare_rdata(edits[0]->rdata, edits[0]->rdlen, edits[i]->rdata, edits[i]->rdlen))
        i++;
    return i;
}

/** Merge sorted old records with sorted edits. */
static struct record_list merge_records(const struct record_list *old, struct zone_edit *const *edits,
                                        size_t n_edits, struct node_outcome *o)
{
    struct record_list out = {mem_array(old->n + n_edits, sizeof(struct record)), 0};
    size_t i = 0, at = 0;
    while (i < old->n || at < n_edits) {
        int order = 1;
        if (i < old->n)
            order = at < n_edits ? compare_rdata(old->records[i].rdata, old->records[i].rdlen,
                                                 edits[at]->rdata, edits[at]->rdlen)
                                 : -1;
        if (order < 0) {
            out.records[out.n++] = old->records[i++];
            continue;
        }
        struct record r = {edits[at]->rdata, edits[at]->rdlen, edits[at]->ttl_s, 0};
        if (order == 0)
            r = old->records[i++];
        size_t n = same_record(edits + at, n_edits - at);
        apply_edits(&r, edits + at, n, o);
        at += n;
        if (r.count)
            out.records[out.n++] = r;
    }
    return out;
}

static bool same_soa(const struct record *a, const struct record *b)
{
    if (a->rdlen != b->rdlen)
        return false;
    size_t names = (size_t)a->rdlen - SOA_NUMBERS_LEN; /* the serial follows the names, and is not compared */
    return !memcmp(a->rdata, b->rdata, names) &&
           !memcmp(a->rdata + names + 4, b->rdata + names + 4, SOA_NUMBERS_LEN - 4);
}

/** The last SOA added replaces the stored one; only the stored one can be removed. */
static struct record_list merge_soa(const struct record_list *old, struct zone_edit **edits, size_t n_edits,
                                    struct node_outcome *o)
{
    struct record_list out = {mem_array(1, sizeof(struct record)), 0};
    struct record now = old->n ? old->records[0] : (struct record){.count = 0};
    qsort(edits, n_edits, sizeof *edits, compare_sequence);
    for (size_t i = 0; i < n_edits; i++) {
        struct record given = {edits[i]->rdata, edits[i]->rdlen, edits[i]->ttl_s, 1};
        if (edits[i]->is_add)
            now = given;
        else if (now.count && same_soa(&now, &given))
            now.count = 0;
    }
    if (now.count)
        out.records[out.n++] = now;
    bool is_same = old->n == out.n;
    if (is_same && now.count)
        is_same = same_soa(&old->records[0], &now) && old->records[0].ttl_s == now.ttl_s;
    if (is_same && out.n)
        out.records[0] =
            old->records[0]; /* with the serial that is served; the caller's is that of a file, say */
    if (is_same)
        return out;
    o->is_visible = o->is_changed = true;
    o->n_added += out.n;
    o->n_removed += old->n;
    return out;
}

static void put_record(struct buf *out, uint16_t type, uint32_t ttl_s, const struct record *r)
{
    uint8_t *p = (uint8_t *)buf_room(out, WIRE_RR_HEADER + (size_t)r->rdlen);
    wire_put16(p, 0xc000u | WR_OWNER_QUESTION);
    wire_put16(p + 2, type);
    wire_put16(p + 4, DNS_IN);
    wire_put32(p + 6, ttl_s);
    wire_put16(p + 10, r->rdlen);
    memcpy(p + WIRE_RR_HEADER, r->rdata, r->rdlen);
    out->len += WIRE_RR_HEADER + (size_t)r->rdlen;
}

static void put_padding(struct buf *out)
{
    static const uint8_t zeros[4];
    buf_add(out, zeros, pad4(out->len) - out->len);
}

/** Append a set. @return its TTL. */
static uint32_t put_set(struct buf *out, uint16_t type, const struct record_list *list)
{
    uint32_t ttl_s = UINT32_MAX;
    bool has_counts = false;
    for (size_t i = 0; i < list->n; i++)
        if (list->records[i].ttl_s < ttl_s)
            ttl_s = list->records[i].ttl_s;
    for (size_t i = 0; i < list->n; i++)
        has_counts |= list->records[i].count != 1 || list->records[i].ttl_s != ttl_s;
    size_t head = out->len;
    struct zone_rrset set = {(uint32_t)list->n << 1 | has_counts, 0};
    buf_add(out, &set, sizeof set);
    for (size_t i = 0; i < list->n; i++)
        put_record(out, type, ttl_s, &list->records[i]);
    set.len = (uint32_t)(out->len - head - sizeof set);
    memcpy(out->bytes + head, &set, sizeof set);
    put_padding(out);
    for (size_t i = 0; has_counts && i < list->n; i++) {
        struct zone_count count = {list->records[i].ttl_s, list->records[i].count};
        buf_add(out, &count, sizeof count);
    }
    return ttl_s;
}

static void notify(const struct node_change *c, bool is_gain, struct zone_rr set, const struct record *r)
{
    set.rdata = r->rdata;
    set.rdlen = r->rdlen;
    c->watcher->change(c->watcher->owner, c->zone, is_gain, &set);
}

/** A set as readers see it, before or after a merge. */
struct seen {
    const struct record_list *list;
    uint32_t ttl_s;
};

/** Notify the watcher of records that readers lose and gain: with another TTL the whole set, else those in one list only. */
static void notify_changes(const struct node_change *c, uint16_t type, struct seen before, struct seen after)
{
    struct zone_rr lost = {.owner = c->name, .type = type, .ttl_s = before.ttl_s};
    struct zone_rr gained = {.owner = c->name, .type = type, .ttl_s = after.ttl_s};
    size_t i = 0, k = 0;
    while (i < before.list->n || k < after.list->n) {
        const struct record *b = &before.list->records[i], *a = &after.list->records[k];
        int order = i == before.list->n ? 1 : -1;
        if (i < before.list->n && k < after.list->n)
            order = compare_rdata(b->rdata, b->rdlen, a->rdata, a->rdlen);
        bool is_kept = order == 0 && before.ttl_s == after.ttl_s;
        if (order <= 0 && !is_kept)
            notify(c, false, lost, b);
        if (order >= 0 && !is_kept)
            notify(c, true, gained, a);
        i += order <= 0;
        k += order >= 0;
    }
}

/** Number of records before `rdata` in a sorted set of equal sizes. @param is_found whether the set has it [out] */
static size_t find_record(const struct zone_rrset *set, size_t rdlen, const uint8_t *rdata, bool *is_found)
{
    size_t low = 0, high = set_n_rrs(set), stride = WIRE_RR_HEADER + rdlen;
    *is_found = false;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = memcmp(set->wire + middle * stride + WIRE_RR_HEADER, rdata, rdlen);
        if (order == 0) {
            *is_found = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/**
 * Can the edits be spliced into a large set of equal records? They can when each edits a record of its own, and neither
 * counts nor TTLs are needed before or after.
 */
static bool can_splice(const struct zone_rrset *old, struct zone_edit *const *edits, size_t n_edits)
{
    uint16_t type = edits[0]->type;
    if (!old || dns_type(type)->form != DNS_RDATA_FIXED || set_has_counts(old) || set_n_rrs(old) < LARGE_SET)
        return false;
    size_t n = set_n_rrs(old);
    uint32_t ttl_s = wire_get32(old->wire + 6);
    for (size_t i = 0; i < n_edits; i++) {
        bool is_found;
        find_record(old, edits[i]->rdlen, edits[i]->rdata, &is_found);
        bool is_alone = i == 0 || memcmp(edits[i - 1]->rdata, edits[i]->rdata, edits[i]->rdlen) != 0;
        if (!is_alone || is_found == edits[i]->is_add || (edits[i]->is_add && edits[i]->ttl_s != ttl_s))
            return false;
        n = edits[i]->is_add ? n + 1 : n - 1;
    }
    return n > 0;
}

/** Splice: copy a large set without the removed records and with the added ones. One instance more costs one copy. */
static void splice_set(const struct node_change *c, const struct zone_rrset *old,
                       struct zone_edit *const *edits, size_t n_edits, struct buf *out,
                       struct node_outcome *o)
{
    uint16_t type = edits[0]->type;
    size_t stride = WIRE_RR_HEADER + (size_t)edits[0]->rdlen, at = 0;
    uint32_t ttl_s = wire_get32(old->wire + 6);
    size_t head = out->len;
    struct zone_rrset set = {0, 0};
    buf_room(out, sizeof set + old->len + n_edits * stride + 4);
    buf_add(out, &set, sizeof set);
    for (size_t i = 0; i < n_edits; i++) {
        struct record r = {edits[i]->rdata, edits[i]->rdlen, ttl_s, 1};
        bool is_found;
        size_t place = find_record(old, r.rdlen, r.rdata, &is_found);
        buf_add(out, old->wire + at * stride, (place - at) * stride);
        at = place + is_found;
        if (!is_found)
            put_record(out, type, ttl_s, &r);
        if (c->watcher->change)
            notify(c, !is_found, (struct zone_rr){.owner = c->name, .type = type, .ttl_s = ttl_s}, &r);
        o->n_added += !is_found;
        o->n_removed += is_found;
    }
    buf_add(out, old->wire + at * stride, old->len - at * stride);
    set.len = (uint32_t)(out->len - head - sizeof set);
    set.n_rrs_and_counts = (uint32_t)(set.len / stride) << 1;
    memcpy(out->bytes + head, &set, sizeof set);
    put_padding(out);
    o->is_visible = o->is_changed = true;
}

static void merge_set(const struct node_change *c, const struct zone_rrset *old, struct zone_edit **edits,
                      size_t n_edits, struct buf *out, struct node_outcome *o)
{
    uint16_t type = edits[0]->type;
    if (can_splice(old, edits, n_edits)) {
        splice_set(c, old, edits, n_edits, out, o);
        return;
    }
    struct record_list before = records_of(old);
    struct record_list after =
        type == DNS_SOA ? merge_soa(&before, edits, n_edits, o) : merge_records(&before, edits, n_edits, o);
    uint32_t old_ttl_s = old ? wire_get32(old->wire + 6) : 0, ttl_s = 0;
    if (after.n) {
        ttl_s = put_set(out, type, &after);
        o->is_visible |= !old || ttl_s != old_ttl_s;
    }
    if (c->watcher->change && type != DNS_SOA)
        notify_changes(c, type, (struct seen){&before, old_ttl_s}, (struct seen){&after, ttl_s});
    free(before.records);
    free(after.records);
}

static size_t same_type(struct zone_edit *const *edits, size_t n)
{
    size_t i = 1;
    while (i < n && edits[i]->type == edits[0]->type)
        i++;
    return i;
}

/** Sets of a node are sorted by type. */
static void merge_sets(const struct node_change *c, struct buf *out, struct node_outcome *o)
{
    const struct zone_rrset *set = c->old ? node_first_set(c->old) : NULL;
    const struct zone_rrset *end = c->old ? node_end(c->old) : NULL;
    size_t at = 0;
    while (set < end || at < c->n_edits) {
        if (set < end && (at == c->n_edits || set_type(set) < c->edits[at]->type)) {
            const struct zone_rrset *next = set_next(set);
            buf_add(out, set, (size_t)((const uint8_t *)next - (const uint8_t *)set));
            set = next;
            continue;
        }
        size_t n = same_type(c->edits + at, c->n_edits - at);
        const struct zone_rrset *old = set < end && set_type(set) == c->edits[at]->type ? set : NULL;
        merge_set(c, old, c->edits + at, n, out, o);
        set = old ? set_next(set) : set;
        at += n;
    }
}

uint8_t node_flags(const struct zone_node *n, bool is_apex)
{
    uint8_t flags = 0;
    for (NODE_EACH_SET(n, set)) {
        if (set_type(set) == DNS_NS && !is_apex)
            flags |= NODE_CUT;
        if (set_type(set) == DNS_DNAME)
            flags |= NODE_DNAME;
    }
    return flags;
}

static bool has_alias_beside_data(const struct zone_node *n)
{
    bool has_alias = false, has_data = false;
    for (NODE_EACH_SET(n, set)) {
        has_alias |= set_type(set) == DNS_CNAME;
        has_data |= set_type(set) != DNS_CNAME;
    }
    return has_alias && has_data;
}

static uint8_t held_flag(const struct node_change *c)
{
    if (c->hold == NODE_HOLD_STAYS)
        return c->old ? c->old->flags & NODE_HELD : 0;
    return c->hold == NODE_HOLD_BEGINS ? NODE_HELD : 0;
}

void node_merge(const struct node_change *c, struct buf *out, struct node_outcome *o)
{
    struct zone_node head = {.hash = c->hash, .zone = c->zone, .rel_len = c->rel_len};
    int64_t n_children = (c->old ? c->old->n_children : 0) + c->more_children;
    BUG_IF(n_children < 0 || n_children > UINT32_MAX);
    head.n_children = (uint32_t)n_children;
    buf_clear(out);
    buf_add(out, &head, sizeof head);
    buf_add(out, c->name, c->rel_len);
    put_padding(out);
    size_t empty_len = out->len;
    merge_sets(c, out, o);
    o->is_changed |= c->more_children != 0;
    if (out->len == empty_len && !n_children) {
        buf_clear(out);
        return;
    }
    struct zone_node *made = (struct zone_node *)(void *)out->bytes;
    made->size = (uint32_t)out->len;
    made->flags = node_flags(made, c->is_apex);
    if (c->hides_alias && has_alias_beside_data(made))
        made->flags |= NODE_NO_ALIAS;
    made->flags |= held_flag(c);
    o->is_changed |= c->old && (made->flags ^ c->old->flags) & NODE_HELD;
}

void node_put_serial(struct zone_node *n, uint32_t serial)
{
    for (NODE_EACH_SET(n, set)) {
        if (set_type(set) != DNS_SOA)
            continue;
        uint8_t *rr = (uint8_t *)(uintptr_t)set->wire;
        wire_put32(rr + WIRE_RR_HEADER + wire_get16(rr + 10) - 20, serial);
    }
}
