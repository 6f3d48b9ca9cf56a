#include "names/members.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"

#include <stdlib.h>
#include <string.h>

struct member {
    struct member *child[2]; /* those before it, those behind it */
    uint64_t hash;
    uint32_t ttl_s; /* the lowest that it came with */
    uint32_t n;     /* contributions */
    uint16_t rdlen;
    uint8_t rdata[];
};

/* ---- the order ---- */

static uint64_t hash_of(const struct zone_rr *rr)
{
    uint8_t lower[NAME_MAX_LEN];
    uint64_t h = sum_bytes(SUM_START, lower, name_lower(rr->owner, lower));
    h = sum_bytes(h, rr->rdata, rr->rdlen);
    h = (h ^ h >> 33) *
        0xff51afd7ed558ccdu; /* addresses that follow each other are to be far apart (MurmurHash3) */
    h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53u;
    return h ^ h >> 33;
}

/* Where a hash and rdata are, seen from a member: < 0 before it, 0 at it. */
static int compare(uint64_t hash, const uint8_t *rdata, uint16_t rdlen, const struct member *m)
{
    if (hash != m->hash)
        return hash < m->hash ? -1 : 1;
    return rdlen != m->rdlen ? (int)rdlen - m->rdlen : memcmp(rdata, m->rdata, rdlen);
}

static int compare_members(const struct member *a, const struct member *b)
{
    return compare(a->hash, a->rdata, a->rdlen, b);
}

/* ---- the tree ---- */

/* Where the member with this rdata is, or would be. */
static struct member **find(struct members *m, uint64_t hash, const struct zone_rr *rr)
{
    struct member **at = &m->root;
    int order;
    while (*at && (order = compare(hash, rr->rdata, rr->rdlen, *at)))
        at = &(*at)->child[order > 0];
    return at;
}

/* The neighbour of a member in the tree. @param side 0: the one before, 1: the one behind. @return NULL: there is none */
static struct member *neighbour(const struct members *m, const struct member *of, int side)
{
    struct member *found = NULL, *at = m->root;
    while (at) {
        int order = compare_members(of, at);
        bool is_beyond = side ? order < 0 : order > 0;
        found = is_beyond ? at : found;
        at = at->child[side ? !is_beyond : is_beyond];
    }
    return found;
}

static struct member *end(const struct members *m, int side)
{
    struct member *at = m->root;
    while (at && at->child[side])
        at = at->child[side];
    return at;
}

/* Take the member at a place out. */
static void unlink_at(struct member **at)
{
    struct member *gone = *at, **next = &gone->child[1];
    if (!gone->child[0] || !gone->child[1]) {
        *at = gone->child[!gone->child[0]];
        return;
    }
    while ((*next)->child[0])
        next = &(*next)->child[0];
    struct member *heir = *next;
    *next = heir->child[1];
    memcpy(heir->child, gone->child, sizeof heir->child);
    *at = heir;
}

void members_fini(struct members *m)
{
    while (m->root) {
        struct member *top = m->root, *left = top->child[0];
        if (left) { /* rotate: no recursion, however deep it is */
            top->child[0] = left->child[1];
            left->child[1] = top;
            m->root = left;
        } else {
            m->root = top->child[1];
            free(top);
        }
    }
    *m = (struct members){.n_items = 0};
}

/* ---- what is published ---- */

static bool is_shown(const struct members *m, const struct member *one)
{
    return !m->last || compare_members(one, m->last) <= 0;
}

static void emit(const struct members_edit *e, const struct member *one, bool is_add, uint32_t n)
{
    struct zone_rr rr = {e->about.owner, e->about.type, one->ttl_s, one->rdata, one->rdlen};
    for (uint32_t i = 0; e->is_published && i < n; i++)
        e->rr(e->arg, &rr, is_add);
}

static struct member *member_new(uint64_t hash, const struct zone_rr *rr)
{
    struct member *one = mem_alloc(sizeof *one + rr->rdlen);
    *one = (struct member){.hash = hash, .ttl_s = rr->ttl_s, .rdlen = rr->rdlen};
    memcpy(one->rdata, rr->rdata, rr->rdlen);
    return one;
}

/* A member comes. With as many published as may be, the last of them gives way when it is before that. */
static void come(struct members *m, const struct members_edit *e, struct member **at, struct member *take_one)
{
    bool is_full = e->max && m->n_items >= e->max;
    if (is_full && !m->last)
        m->last = end(m, 1);
    *at = take_one;
    m->n_items++;
    if (!is_full || compare_members(take_one, m->last) > 0)
        return;
    struct member *hidden = m->last;
    m->last = neighbour(m, hidden, 0);
    emit(e, hidden, false, hidden->n);
}

void members_add(struct members *m, const struct members_edit *e, const struct zone_rr *rr)
{
    uint64_t hash = hash_of(rr);
    struct member **at = find(m, hash, rr), *one = *at;
    if (!one) {
        one = member_new(hash, rr);
        come(m, e, at, one);
    }
    one->ttl_s = rr->ttl_s < one->ttl_s ? rr->ttl_s : one->ttl_s;
    one->n++;
    if (is_shown(m, one))
        emit(e, one, true, 1);
}

/* A member goes. The first that was not published takes the place of one that was. */
static void leave(struct members *m, const struct members_edit *e, struct member **at)
{
    struct member *gone = *at, *next = m->last && is_shown(m, gone) ? neighbour(m, m->last, 1) : NULL;
    unlink_at(at);
    m->n_items--;
    if (next) {
        m->last = next;
        emit(e, next, true, next->n);
    }
    if (m->last && m->n_items <= e->max)
        m->last = NULL;
    free(gone);
}

void members_remove(struct members *m, const struct members_edit *e, const struct zone_rr *rr)
{
    struct member **at = find(m, hash_of(rr), rr), *one = *at;
    BUG_IF(!one);
    if (is_shown(m, one))
        emit(e, one, false, 1);
    if (!--one->n)
        leave(m, e, at);
}

void members_publish(const struct members *m, const struct members_edit *e, bool is_add)
{
    for (const struct member *one = end(m, 0); one && is_shown(m, one); one = neighbour(m, one, 1))
        emit(e, one, is_add, one->n);
}

bool members_has(const struct members *m, const struct zone_rr *rr)
{
    struct members copy = *m;
    const struct member *one = *find(&copy, hash_of(rr), rr);
    return one && is_shown(m, one);
}
