/** What is asked of the resource manager: one entry a key, absolute. See yarn_priv.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/yarn_priv.h"

#define RACK             "/default-rack"
#define EXPLAIN_MS       3000
#define EXPLAIN_AGAIN_MS 60000 /* each is a write of the state */

static char *key_of(int64_t priority, int64_t allocation_id)
{
    return mem_fmt("%" PRId64 "/%" PRId64, priority, allocation_id);
}

void yarn_ask_free(void *p)
{
    struct yarn_ask *a = obj_cast(p, struct yarn_ask, YARN_ASK_MAGIC);

    obj_fini(&a->obj);
    free(a->label);
    free(a->host);
    free(a->component);
    free(a->waits_id);
    spec_needs_free(a->needs);
    free(a);
}

static void set_text(char **slot, const char *text)
{
    char *copy = mem_str(text && *text ? text : NULL);

    free(*slot);
    *slot = copy;
}

static void report(struct on_yarn *y, const char *container_id, enum eng_wait why, const char *name,
                   const char *text)
{
    const struct eng_waiting waiting = {.why = why, .name = (char *)name, .text = (char *)text};

    y->cluster.ops->waits(y->cluster.ops_arg, container_id, &waiting);
}

/** What can never be met is not sent, as it would fail everything that is sent with it. @return it is */
static bool is_too_large(struct on_yarn *y, struct yarn_ask *a)
{
    if (y->max_memory_mb <= 0 || (a->memory_mb <= y->max_memory_mb && a->vcores <= y->max_vcores))
        return false;
    mem_auto char *text =
        mem_fmt("%" PRId64 " MB and %" PRId64 " vcores are wanted, the largest container of the cluster has "
                "%" PRId64 " MB and %" PRId64 " vcores",
                a->memory_mb, a->vcores, y->max_memory_mb, y->max_vcores);
    report(y, a->waits_id, WAIT_RESOURCE, NULL, text);
    return true;
}

struct yarn_ask *yarn_ask_find(struct on_yarn *y, int64_t priority, int64_t allocation_id)
{
    mem_auto char *key = key_of(priority, allocation_id);

    return map_get(&y->asks, key);
}

void yarn_asks_set(struct on_yarn *y, const struct cluster_ask *ask)
{
    mem_auto char *key = key_of(ask->priority, ask->allocation_id);
    struct yarn_ask *a = map_get(&y->asks, key);

    if (!a) {
        a = mem_new(struct yarn_ask);
        obj_init(&a->obj, YARN_ASK_MAGIC);
        a->priority = ask->priority;
        a->allocation_id = ask->allocation_id;
        map_set(&y->asks, key, a);
    }
    if (ask->n_wanted > a->n_wanted || a->n_wanted == 0)
        a->since_ms = run_now_ms();
    a->reported_ms = a->again_ms = 0;
    a->n_wanted = ask->n_wanted;
    a->memory_mb = ask->memory_mb;
    a->vcores = ask->vcores;
    set_text(&a->label, ask->label);
    set_text(&a->host, ask->host);
    set_text(&a->component, ask->component ? ask->component : "");
    set_text(&a->waits_id, ask->container_id);
    spec_needs_free(a->needs);
    a->needs = spec_needs_copy(ask->needs);
    a->is_refused = is_too_large(y, a);
    a->is_dirty = !a->is_refused;
    yarn_beat_soon(y);
}

void yarn_asks_granted(struct on_yarn *y, int64_t priority, int64_t request_id)
{
    struct yarn_ask *a = yarn_ask_find(y, priority, yarn_round_allocation(request_id));

    if (!a)
        return;
    if (a->n_wanted > 0)
        a->n_wanted--;
    if (!yarn_ask_is_placed(a))
        return;
    yarn_round_granted(a, request_id);
    a->is_dirty = a->n_wanted > 0; /* the next step may be due */
}

void yarn_asks_resync(struct on_yarn *y)
{
    for (MAP_EACH (&y->asks, slot)) {
        struct yarn_ask *a = slot->value;
        a->is_dirty = !a->is_refused && a->n_wanted > 0;
        a->round.is_sent = false;
    }
}

bool yarn_asks_wait(const struct on_yarn *y)
{
    for (MAP_EACH (&y->asks, slot)) {
        const struct yarn_ask *a = slot->value;
        if (a->n_wanted > 0 && !a->is_refused && run_now_ms() >= a->again_ms)
            return true;
    }
    return false;
}

bool yarn_asks_are_dirty(const struct on_yarn *y)
{
    for (MAP_EACH (&y->asks, slot)) {
        if (((const struct yarn_ask *)slot->value)->is_dirty)
            return true;
    }
    return false;
}

void yarn_asks_explain(struct on_yarn *y)
{
    for (MAP_EACH (&y->asks, slot)) {
        struct yarn_ask *a = slot->value;
        bool is_late = run_now_ms() - a->since_ms >= EXPLAIN_MS;
        bool is_known = a->reported_ms && run_now_ms() - a->reported_ms < EXPLAIN_AGAIN_MS;
        if (a->n_wanted == 0 || a->is_refused || !is_late || is_known)
            continue;
        if (yarn_ask_is_placed(a)) {
            yarn_rounds_explain(y, a);
            continue;
        }
        bool is_full = y->limit_memory_mb < a->memory_mb || y->limit_vcores < a->vcores;
        mem_auto char *text =
            is_full
                ? mem_fmt("the queue has %" PRId64 " MB and %" PRId64 " vcores left for this application, "
                          "%" PRId64 " MB and %" PRId64 " vcores are wanted",
                          y->limit_memory_mb, y->limit_vcores, a->memory_mb, a->vcores)
                : mem_fmt("no node%s%s has had %" PRId64 " MB and %" PRId64 " vcores free so far",
                          a->label ? " with the label " : "", a->label ? a->label : "", a->memory_mb,
                          a->vcores);
        a->reported_ms = run_now_ms();
        report(y, a->waits_id, WAIT_RESOURCE, NULL, text);
    }
}

/* ---- messages ---- */

Yarn__Resource *yarn_ask_resource(struct arena *a, const struct yarn_ask *ask)
{
    Yarn__Resource *r = arena_alloc(a, sizeof *r);

    yarn__resource__init(r);
    r->has_memory = r->has_virtual_cores = true;
    r->memory = ask->memory_mb;
    r->virtual_cores = (int32_t)ask->vcores;
    size_t n = ask->needs ? ask->needs->n_amounts : 0;
    r->values = arena_alloc(a, (n + 1) * sizeof *r->values);
    for (size_t i = 0; i < n; i++) {
        Yarn__ResourceInformation *v = r->values[r->n_values++] = arena_alloc(a, sizeof *v);
        yarn__resource_information__init(v);
        v->key = ask->needs->amounts[i].type;
        v->units = (char *)"";
        v->has_value = v->has_type = true;
        v->value = ask->needs->amounts[i].n;
        v->type = YARN__RESOURCE_TYPE__COUNTABLE;
    }
    return r;
}

static void add_request(struct arena *a, Yarn__Allocate *m, const struct yarn_ask *ask, const char *name,
                        bool is_relaxed)
{
    Yarn__ResourceRequest *r = arena_alloc(a, sizeof *r);

    yarn__resource_request__init(r);
    r->priority = arena_alloc(a, sizeof *r->priority);
    yarn__priority__init(r->priority);
    r->priority->has_priority = true;
    r->priority->priority = (int32_t)ask->priority;
    r->resource_name = (char *)name;
    r->capability = yarn_ask_resource(a, ask);
    r->has_n_containers = r->has_relax_locality = r->has_allocation_request_id = true;
    r->n_containers = (int32_t)ask->n_wanted;
    r->relax_locality = is_relaxed;
    r->allocation_request_id = ask->allocation_id;
    if (ask->label && !strcmp(name, "*"))
        r->node_label = ask->label;
    m->asks[m->n_asks++] = r;
}

void yarn_asks_write(struct on_yarn *y, struct arena *a, Yarn__Allocate *m)
{
    m->asks = arena_alloc(a, (3 * y->asks.n_items + 1) * sizeof *m->asks);
    m->scheduling_requests = arena_alloc(a, (y->asks.n_items + 1) * sizeof *m->scheduling_requests);
    for (MAP_EACH (&y->asks, slot)) {
        struct yarn_ask *ask = slot->value;
        bool is_dirty = ask->is_dirty;
        ask->is_dirty = false;
        if (yarn_ask_is_placed(ask))
            yarn_round_write(y, a, m, ask);
        if (!is_dirty || yarn_ask_is_placed(ask))
            continue;
        ask->is_flying = true;
        if (ask->host) {
            add_request(a, m, ask, ask->host, true);
            add_request(a, m, ask, RACK, false);
        }
        add_request(a, m, ask, "*", !ask->host);
    }
}

void yarn_asks_sent(struct on_yarn *y)
{
    mem_auto const char **keys = map_sorted_keys(&y->asks);

    for (size_t i = 0; keys[i]; i++) {
        struct yarn_ask *a = map_get(&y->asks, keys[i]);
        a->round.is_sent = a->round.is_sent || a->is_flying;
        a->is_flying = false;
        if (a->n_wanted == 0 && !a->is_dirty && yarn_round_is_over(y, a)) {
            map_remove(&y->asks, keys[i]);
            yarn_ask_free(a);
        }
    }
}

void yarn_asks_failed(struct on_yarn *y)
{
    for (MAP_EACH (&y->asks, slot)) {
        struct yarn_ask *a = slot->value;
        a->is_dirty = a->is_dirty || a->is_flying;
        a->is_flying = false;
    }
}

void yarn_asks_refused(struct on_yarn *y, const char *why)
{
    for (MAP_EACH (&y->asks, slot)) {
        struct yarn_ask *a = slot->value;
        if (!a->is_flying)
            continue;
        a->is_refused = true;
        a->is_flying = false;
        report(y, a->waits_id, a->label ? WAIT_LABEL : WAIT_RESOURCE, a->label, why);
    }
}
