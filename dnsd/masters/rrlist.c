#include "masters/rrlist.h"
#include "base/map.h"
#include "wire/rdata.h"

void rrlist_add(struct rrlist *l, const struct zone_rr *rr)
{
    int owner_len = name_len(rr->owner, NAME_MAX_LEN);
    size_t begin = l->bytes.len;
    uint8_t head[8];
    wire_put16(head, rr->type);
    wire_put32(head + 2, rr->ttl_s);
    wire_put16(head + 6, rr->rdlen);
    buf_add(&l->bytes, head, sizeof head);
    buf_add(&l->bytes, rr->owner, (size_t)owner_len);
    buf_add(&l->bytes, rr->rdata, rr->rdlen);
    l->n_rrs++;
    l->sum = sum_bytes(l->sum, l->bytes.bytes + begin, l->bytes.len - begin);
}

bool rrlist_next(const struct rrlist *l, size_t *at, struct zone_rr *rr)
{
    if (*at == l->bytes.len)
        return false;
    const uint8_t *p = (const uint8_t *)l->bytes.bytes + *at;
    *rr = (struct zone_rr){p + 8, wire_get16(p), wire_get32(p + 2), NULL, wire_get16(p + 6)};
    rr->rdata = rr->owner + name_len(rr->owner, NAME_MAX_LEN);
    *at = (size_t)(rr->rdata + rr->rdlen - (const uint8_t *)l->bytes.bytes);
    return true;
}

void rrlist_each(const struct rrlist *l, void (*fn)(void *arg, const struct zone_rr *rr), void *arg)
{
    struct zone_rr rr;
    for (size_t at = 0; rrlist_next(l, &at, &rr);)
        fn(arg, &rr);
}

void rrlist_fini(struct rrlist *l)
{
    buf_fini(&l->bytes);
    l->n_rrs = 0;
    l->sum = 0;
}
