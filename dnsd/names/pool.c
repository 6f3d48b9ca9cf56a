#include "names/pool.h"
#include "base/mem.h"
#include "base/obj.h"
#include "wire/rdata.h"

#include <stdlib.h>
#include <string.h>

/** A record that is not ready, with the number of its contributors. */
struct waiting {
    uint32_t ttl_s, n;
    uint16_t type, rdlen;
    uint8_t *rdata;
};

struct pool {
    unsigned n_ready, n_waiting;
    struct waiting *waiting;
};

static void pool_free(void *arg)
{
    struct pool *p = arg;
    for (unsigned i = 0; i < p->n_waiting; i++)
        free(p->waiting[i].rdata);
    free(p->waiting);
    free(p);
}

void pools_fini(struct pools *p)
{
    map_fini(&p->by_name, pool_free);
}

static const char *key_of(const uint8_t *owner, char text[NAME_TEXT_MAX])
{
    uint8_t lower[NAME_MAX_LEN];
    name_lower(owner, lower);
    return name_to_text(lower, text);
}

static struct waiting *find_waiting(const struct pool *p, const struct zone_rr *rr)
{
    for (unsigned i = 0; i < p->n_waiting; i++) {
        struct waiting *w = &p->waiting[i];
        if (w->type == rr->type && w->rdlen == rr->rdlen && memcmp(w->rdata, rr->rdata, rr->rdlen) == 0)
            return w;
    }
    return NULL;
}

/* Show or hide all that is not ready. */
static void show_waiting(const struct pool *p, const uint8_t *owner, bool is_add,
                         const struct pool_sink *sink)
{
    for (unsigned i = 0; i < p->n_waiting; i++) {
        const struct waiting *w = &p->waiting[i];
        struct zone_rr rr = {owner, w->type, w->ttl_s, w->rdata, w->rdlen};
        for (uint32_t k = 0; k < w->n; k++)
            sink->rr(sink->arg, &rr, is_add);
    }
}

static void change_ready(struct pool *p, const struct zone_rr *rr, bool is_add, const struct pool_sink *sink)
{
    BUG_IF(!is_add && !p->n_ready);
    sink->rr(sink->arg, rr, is_add);
    p->n_ready += is_add ? 1u : -1u;
    if (p->n_ready == is_add)
        show_waiting(p, rr->owner, !is_add, sink);
}

static void add_waiting(struct pool *p, const struct zone_rr *rr)
{
    struct waiting *w = find_waiting(p, rr);
    if (w) {
        w->n++;
        return;
    }
    p->waiting = mem_resize(p->waiting, p->n_waiting + 1u, sizeof *p->waiting);
    w = &p->waiting[p->n_waiting++];
    *w = (struct waiting){.ttl_s = rr->ttl_s, .n = 1, .type = rr->type, .rdlen = rr->rdlen};
    w->rdata = mem_copy(rr->rdata, rr->rdlen);
}

static void change_waiting(struct pool *p, const struct zone_rr *rr, bool is_add,
                           const struct pool_sink *sink)
{
    struct waiting *w = find_waiting(p, rr);
    BUG_IF(!is_add && !w);
    if (is_add) {
        add_waiting(p, rr);
    } else if (!--w->n) {
        free(w->rdata);
        *w = p->waiting[--p->n_waiting];
    }
    if (!p->n_ready)
        sink->rr(sink->arg, rr, is_add);
}

void pools_change(struct pools *p, const struct zone_rr *rr, bool is_ready, bool is_add,
                  const struct pool_sink *sink)
{
    char text[NAME_TEXT_MAX];
    const char *key = key_of(rr->owner, text);
    struct pool *pool = map_get(&p->by_name, key);
    if (!pool) {
        pool = mem_new(struct pool);
        map_set(&p->by_name, key, pool);
    }
    if (is_ready)
        change_ready(pool, rr, is_add, sink);
    else
        change_waiting(pool, rr, is_add, sink);
    if (!pool->n_ready && !pool->n_waiting)
        pool_free(map_remove(&p->by_name, key));
}

unsigned pools_n_ready(const struct pools *p, const uint8_t *owner)
{
    char text[NAME_TEXT_MAX];
    const struct pool *pool = map_get(&p->by_name, key_of(owner, text));
    return pool ? pool->n_ready : 0;
}
