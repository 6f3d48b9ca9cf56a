#include "names/shared.h"
#include "base/mem.h"
#include "base/obj.h"
#include "wire/rdata.h"

#include <stdlib.h>
#include <string.h>

#define SHARED_NAME_MAGIC OBJ_MAGIC('S', 'H', 'N', 'M')

/** An unready record, with the number of its contributors. */
struct unready {
    uint32_t ttl_s, n_records;
    uint16_t type, rdlen;
    uint8_t *rdata;
};

struct shared_name {
    struct obj obj;
    unsigned n_ready, n_unready;
    struct unready *unready;
};

static void name_free(void *arg)
{
    struct shared_name *n = obj_cast(arg, struct shared_name, SHARED_NAME_MAGIC);
    for (unsigned i = 0; i < n->n_unready; i++)
        free(n->unready[i].rdata);
    free(n->unready);
    obj_fini(&n->obj);
    free(n);
}

void shared_fini(struct shared_names *names)
{
    map_fini(&names->by_name, name_free);
}

static const char *key_of(const uint8_t *owner, char text[NAME_TEXT_MAX])
{
    uint8_t lower[NAME_MAX_LEN];
    name_lower(owner, lower);
    return name_to_text(lower, text);
}

static struct unready *find_unready(const struct shared_name *n, const struct zone_rr *rr)
{
    for (unsigned i = 0; i < n->n_unready; i++) {
        struct unready *w = &n->unready[i];
        if (w->type == rr->type && w->rdlen == rr->rdlen && memcmp(w->rdata, rr->rdata, rr->rdlen) == 0)
            return w;
    }
    return NULL;
}

/* Add all unready records to the zone, or remove them. */
static void emit_unready(const struct shared_name *n, const uint8_t *owner, bool is_add,
                         const struct shared_sink *sink)
{
    for (unsigned i = 0; i < n->n_unready; i++) {
        const struct unready *w = &n->unready[i];
        struct zone_rr rr = {owner, w->type, w->ttl_s, w->rdata, w->rdlen};
        for (uint32_t k = 0; k < w->n_records; k++)
            sink->rr(sink->arg, &rr, is_add);
    }
}

static void change_ready(struct shared_name *n, const struct zone_rr *rr, bool is_add,
                         const struct shared_sink *sink)
{
    BUG_IF(!is_add && !n->n_ready);
    sink->rr(sink->arg, rr, is_add);
    n->n_ready += is_add ? 1u : -1u;
    if (n->n_ready == is_add)
        emit_unready(n, rr->owner, !is_add, sink);
}

static void add_unready(struct shared_name *n, const struct zone_rr *rr)
{
    struct unready *w = find_unready(n, rr);
    if (w) {
        w->n_records++;
        return;
    }
    n->unready = mem_resize(n->unready, n->n_unready + 1u, sizeof *n->unready);
    w = &n->unready[n->n_unready++];
    *w = (struct unready){.ttl_s = rr->ttl_s, .n_records = 1, .type = rr->type, .rdlen = rr->rdlen};
    w->rdata = mem_copy(rr->rdata, rr->rdlen);
}

static void change_unready(struct shared_name *n, const struct zone_rr *rr, bool is_add,
                           const struct shared_sink *sink)
{
    struct unready *w = find_unready(n, rr);
    BUG_IF(!is_add && !w);
    if (is_add) {
        add_unready(n, rr);
    } else if (!--w->n_records) {
        free(w->rdata);
        *w = n->unready[--n->n_unready];
    }
    if (!n->n_ready)
        sink->rr(sink->arg, rr, is_add);
}

void shared_change(struct shared_names *names, const struct zone_rr *rr, bool is_ready, bool is_add,
                   const struct shared_sink *sink)
{
    char text[NAME_TEXT_MAX];
    const char *key = key_of(rr->owner, text);
    struct shared_name *n = map_get(&names->by_name, key);
    if (!n) {
        n = mem_new(struct shared_name);
        obj_init(&n->obj, SHARED_NAME_MAGIC);
        map_set(&names->by_name, key, n);
    }
    if (is_ready)
        change_ready(n, rr, is_add, sink);
    else
        change_unready(n, rr, is_add, sink);
    if (!n->n_ready && !n->n_unready)
        name_free(map_remove(&names->by_name, key));
}

unsigned shared_n_ready(const struct shared_names *names, const uint8_t *owner)
{
    char text[NAME_TEXT_MAX];
    const struct shared_name *n = map_get(&names->by_name, key_of(owner, text));
    return n ? n->n_ready : 0;
}
