/**
 * Asks of components with constraints: scheduling requests. See yarn_priv.h.
 *
 * Of a scheduling request only the number may change, so another step (yarn_place.h) is another request under another id:
 *
 *     id of the resource manager = number of the round << 40 | allocation id of the engine
 *
 *     handler scheduler            a request waits there until it is met; its number is absolute, and 0 takes it back
 *     handler placement-processor  each request is new; it is met or rejected within some heartbeats, and nothing takes it back
 *
 * A container that comes for a request that is over is reported all the same: the engine gives it back.
 */
#include <stdlib.h>
#include <string.h>

#include "cluster/yarn_priv.h"

#define ID_BITS         40
#define AGAIN_MS        3000  /* after a rejection; sooner when a container has gone */
#define ANSWER_LIMIT_MS 30000 /* after which a request of the processor counts as lost */
#define REPORT_AGAIN_MS 60000 /* each is a write of the state */

bool yarn_ask_is_placed(const struct yarn_ask *a)
{
    return a->needs && a->needs->n_constraints > 0;
}

int64_t yarn_round_allocation(int64_t request_id)
{
    return request_id & (((int64_t)1 << ID_BITS) - 1);
}

void yarn_round_waits(struct on_yarn *y, struct yarn_ask *a, enum eng_wait why,
                      const struct spec_constraint *c, const char *text)
{
    mem_auto char *all = yarn_place_names(a->needs);
    bool is_min = why == WAIT_PLACEMENT_MIN;
    const struct eng_waiting waiting = {.why = why,
                                        .name = c ? c->name : all,
                                        .text = is_min ? NULL : (char *)text,
                                        .n = is_min && c ? c->min : 0};

    if (a->reported_ms && run_now_ms() - a->reported_ms < REPORT_AGAIN_MS)
        return;
    a->reported_ms = run_now_ms();
    y->cluster.ops->waits(y->cluster.ops_arg, a->waits_id, &waiting);
}

/** Containers of the component on each node that has some. @return numbers, n_nodes of them; free() */
static int64_t *count_held(const struct on_yarn *y, const char *tag, size_t *n_nodes)
{
    struct map nodes = MAP_EMPTY;
    int64_t *held = mem_array(y->boxes.n_items + 1, sizeof *held);

    *n_nodes = 0;
    for (MAP_EACH (&y->boxes, slot)) {
        const struct yarn_box *b = slot->value;
        if (!b->tag || strcmp(b->tag, tag) != 0 || b->c.state == CLUSTER_EXITED)
            continue;
        int64_t *count = map_get(&nodes, b->node->key);
        if (!count) {
            count = &held[(*n_nodes)++];
            map_set(&nodes, b->node->key, count);
        }
        (*count)++;
    }
    map_fini(&nodes, NULL);
    return held;
}

static struct yarn_place step_of(struct on_yarn *y, struct yarn_ask *a)
{
    size_t n_nodes;
    mem_auto int64_t *held = count_held(y, a->component, &n_nodes);
    struct yarn_place p = {.n = 0};

    if (a->n_wanted == 0)
        return p;
    p = yarn_place_step(a->needs, held, n_nodes, a->n_wanted);
    if (p.blocked) {
        a->again_ms = run_now_ms() + AGAIN_MS;
        yarn_round_waits(y, a, p.minimum == PLACE_MORE ? WAIT_PLACEMENT_MIN : WAIT_PLACEMENT, p.blocked,
                         "max_cardinality allows none");
    }
    return p;
}

static void begin(struct on_yarn *y, struct yarn_ask *a, const struct yarn_place *p)
{
    a->round.id = ++y->n_rounds << ID_BITS | a->allocation_id;
    a->round.place = *p;
    a->round.n = p->n;
    a->round.is_sent = false;
}

/** Its request waits at the resource manager: change the number; another step is another request when this one is taken back. */
static void settle_absolute(struct on_yarn *y, struct yarn_ask *a, const struct yarn_place *p)
{
    struct yarn_round *r = &a->round;
    bool is_same = r->id && yarn_place_is_same(&r->place, p);
    int64_t n = is_same || p->n == 0 ? p->n : 0;

    if (!r->id || (!is_same && r->n == 0)) {
        if (p->n > 0)
            begin(y, a, p);
        return;
    }
    if (n != r->n) {
        r->n = n;
        r->is_sent = false;
    }
}

/** Its request is answered soon: the next one follows when it is. */
static void settle_rounds(struct on_yarn *y, struct yarn_ask *a, const struct yarn_place *p)
{
    bool is_lost = run_now_ms() - a->round.sent_ms > ANSWER_LIMIT_MS;

    if (p->n > 0 && run_now_ms() >= a->again_ms && (a->round.n == 0 || is_lost))
        begin(y, a, p);
}

static void write_one(struct arena *a, Yarn__Allocate *m, const struct yarn_ask *ask)
{
    Yarn__SchedulingRequest *r = arena_alloc(a, sizeof *r);

    yarn__scheduling_request__init(r);
    r->has_allocation_request_id = true;
    r->allocation_request_id = ask->round.id;
    r->priority = arena_alloc(a, sizeof *r->priority);
    yarn__priority__init(r->priority);
    r->priority->has_priority = true;
    r->priority->priority = (int32_t)ask->priority;
    r->execution_type = arena_alloc(a, sizeof *r->execution_type);
    yarn__execution_type_request__init(r->execution_type);
    r->execution_type->has_type = r->execution_type->has_enforce = true;
    r->execution_type->type = YARN__EXECUTION_TYPE__GUARANTEED;
    r->execution_type->enforce = true;
    r->allocation_tags = arena_alloc(a, sizeof(char *));
    r->allocation_tags[r->n_allocation_tags++] = ask->component;
    r->sizing = arena_alloc(a, sizeof *r->sizing);
    yarn__resource_sizing__init(r->sizing);
    r->sizing->has_n_allocations = true;
    r->sizing->n_allocations = (int32_t)ask->round.n;
    r->sizing->resources = yarn_ask_resource(a, ask);
    r->constraint = yarn_place_expression(a, ask->needs, &ask->round.place, ask->component, ask->label);
    m->scheduling_requests[m->n_scheduling_requests++] = r;
}

void yarn_round_write(struct on_yarn *y, struct arena *a, Yarn__Allocate *m, struct yarn_ask *ask)
{
    bool is_between = !ask->round.id || ask->round.is_sent;

    if (y->constraints == YARN_CONSTRAINTS_NONE) {
        ask->is_refused = true;
        yarn_round_waits(
            y, ask, WAIT_PLACEMENT, NULL,
            "yarn.resourcemanager.placement-constraints.handler is disabled for this application master");
        return;
    }
    if (is_between && !ask->is_refused) {
        const struct yarn_place p = step_of(y, ask);
        if (y->constraints == YARN_CONSTRAINTS_SCHEDULER)
            settle_absolute(y, ask, &p);
        else
            settle_rounds(y, ask, &p);
    }
    if (ask->is_refused || !ask->round.id || ask->round.is_sent)
        return;
    ask->is_flying = true;
    ask->round.sent_ms = run_now_ms();
    write_one(a, m, ask);
}

void yarn_round_granted(struct yarn_ask *a, int64_t request_id)
{
    if (a->round.id == request_id && a->round.n > 0)
        a->round.n--;
    a->again_ms = 0;
}

bool yarn_round_is_over(const struct on_yarn *y, const struct yarn_ask *a)
{
    return y->constraints != YARN_CONSTRAINTS_SCHEDULER || a->round.n == 0;
}

void yarn_rounds_rejected(struct on_yarn *y, const Yarn__Rejection *m)
{
    int64_t id = m->request->allocation_request_id;
    int64_t n =
        m->request->sizing && m->request->sizing->has_n_allocations ? m->request->sizing->n_allocations : 0;
    struct yarn_ask *a = yarn_ask_find(y, m->request->priority ? m->request->priority->priority : 0,
                                       yarn_round_allocation(id));
    bool is_room = m->reason == YARN__REJECTION_REASON__COULD_NOT_SCHEDULE_ON_NODE;

    if (!a || a->round.id != id)
        return;
    a->round.n -= n > 0 && n < a->round.n ? n : a->round.n;
    a->again_ms = run_now_ms() + AGAIN_MS;
    mem_auto char *text =
        mem_fmt("%lld more wanted; the resource manager has rejected the request: %s (%s)",
                (long long)a->n_wanted, is_room ? "COULD_NOT_SCHEDULE_ON_NODE" : "COULD_NOT_PLACE_ON_NODE",
                is_room ? "a node that satisfies it has no room" : "no node satisfies it and has the room");
    yarn_round_waits(y, a, WAIT_PLACEMENT, NULL, text);
}

void yarn_rounds_explain(struct on_yarn *y, struct yarn_ask *a)
{
    mem_auto char *text = mem_fmt("no node that satisfies it has had %lld MB and %lld vcores free so far",
                                  (long long)a->memory_mb, (long long)a->vcores);

    if (y->constraints == YARN_CONSTRAINTS_SCHEDULER && a->round.n > 0)
        yarn_round_waits(y, a, WAIT_PLACEMENT, NULL, text);
}

void yarn_rounds_room(struct on_yarn *y)
{
    for (MAP_EACH (&y->asks, slot))
        ((struct yarn_ask *)slot->value)->again_ms = 0;
}

bool yarn_rounds_refused(struct on_yarn *y, const char *why)
{
    bool is_any = false;

    for (MAP_EACH (&y->asks, slot)) {
        struct yarn_ask *a = slot->value;
        if (!a->is_flying || !yarn_ask_is_placed(a))
            continue;
        is_any = a->is_refused = true;
        a->is_flying = false;
        a->reported_ms = 0;
        yarn_round_waits(y, a, WAIT_PLACEMENT, NULL, why);
    }
    return is_any;
}
