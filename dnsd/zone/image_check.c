#include "zone/image_priv.h"
#include "zone/merge.h"
#include "wire/rdata.h"

/* Check every record of a set: its head, and its rdata, which readers do not check again. */
static bool check_records(const struct zone_rrset *set)
{
    const uint8_t *p = set->wire;
    size_t left = set->len;
    uint16_t type = set->len >= WIRE_RR_HEADER ? set_type(set) : 0;
    for (uint32_t i = 0; i < set_n_rrs(set); i++) {
        if (left < WIRE_RR_HEADER)
            return false;
        size_t rdlen = wire_get16(p + 10);
        bool is_head = wire_get16(p) == (0xc000u | WR_OWNER_QUESTION) && wire_get16(p + 2) == type &&
                       wire_get16(p + 4) == DNS_IN && wire_get32(p + 6) <= INT32_MAX;
        if (!is_head || rdlen > left - WIRE_RR_HEADER || rdata_check(type, p + WIRE_RR_HEADER, rdlen))
            return false;
        p += WIRE_RR_HEADER + rdlen;
        left -= WIRE_RR_HEADER + rdlen;
    }
    return set_n_rrs(set) && !left;
}

/* Check a set. @param left octets available. @return its octets; 0: malformed. */
static size_t check_set(const struct zone_rrset *set, size_t left)
{
    if (left < sizeof *set || set->len > left - sizeof *set)
        return 0;
    size_t size = sizeof *set + pad4(set->len);
    size_t counts = set_has_counts(set) ? (size_t)set_n_rrs(set) * sizeof(struct zone_count) : 0;
    return size <= left && counts <= left - size && check_records(set) ? size + counts : 0;
}

static bool check_name(const struct zone_node *n, const struct zone *z)
{
    size_t at = 0;
    while (at < n->rel_len) {
        if (!n->rel[at] || n->rel[at] > 63)
            return false;
        at += 1u + n->rel[at];
    }
    return at == n->rel_len && at + z->apex_len <= NAME_MAX_LEN;
}

/* Check a node. @param left octets available. @return its octets; 0: malformed. */
static size_t check_node(const struct zone_node *n, size_t left, const struct zone_version *v)
{
    if (left < sizeof *n || n->size > left || n->size % 4 || n->size < sizeof *n + pad4(n->rel_len) ||
        n->zone >= v->n_zones || !check_name(n, &v->zones[n->zone]))
        return 0;
    size_t sets = n->size - sizeof *n - pad4(n->rel_len);
    for (const struct zone_rrset *set = node_first_set(n); sets; set = set_next(set)) {
        size_t used = check_set(set, sets);
        if (!used)
            return 0;
        sets -= used;
    }
    return (n->flags & ~(NODE_NO_ALIAS | NODE_HELD)) == node_flags(n, !n->rel_len) ? n->size : 0;
}

/* Each node has its slot and there is no other slot: then every slot leads to a node, and searches end. */
static bool check_slots(const struct zone_shard *s)
{
    uint32_t n_used = 0;
    for (uint32_t i = 0; i <= s->slot_mask; i++)
        n_used += s->slots[i] != 0;
    if (n_used != s->n_nodes || n_used > s->slot_mask)
        return false;
    for (SHARD_EACH_NODE(s, n))
        if (!shard_has_slot(s, n))
            return false;
    return true;
}

uint64_t image_shard_check(const struct image_shard *image)
{
    const struct zone_shard *s = image->shard;
    size_t head = offsetof(struct zone_shard, slots);
    if (image->size < head || s->size != image->size || s->size % 4 || s->slot_mask & (s->slot_mask + 1) ||
        s->slot_mask >= (s->size - head) / sizeof *s->slots)
        return 0;
    size_t left = s->size - head - (s->slot_mask + 1ul) * sizeof *s->slots;
    const struct zone_node *n = shard_first_node(s);
    uint32_t n_nodes = 0;
    for (; left; n = node_next(n)) {
        size_t used = check_node(n, left, image->v);
        if (!used || shard_index(image->v, n->hash) != image->index)
            return 0;
        left -= used;
        n_nodes++;
    }
    return n_nodes == s->n_nodes && check_slots(s) ? n_nodes : 0;
}
