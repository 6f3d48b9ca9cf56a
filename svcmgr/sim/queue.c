#include "sim/queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define SERVE_MISSES 64 /* requests in a row without room after which the others are not looked at */

void sim_serve_soon(struct sim *s)
{
    if (!heap_has(&s->serve.node) && (!TAILQ_EMPTY(&s->waiting) || !TAILQ_EMPTY(&s->bound)))
        sim_set_due(s, &s->serve, 0);
}

static struct sim_box_list *queue_of(struct sim *s, const struct sim_box *b)
{
    bool is_never = b->lack == SIM_LACKS_LABEL || b->lack == SIM_LACKS_SIZE;

    return is_never ? &s->never : b->tag ? &s->bound : &s->waiting;
}

/** Name of what it lacks; NULL: of nothing. */
static const char *lacking(const struct sim_box *b, enum sim_lack lack, const struct spec_constraint *by)
{
    switch (lack) {
    case SIM_LACKS_CONSTRAINT: return by->name;
    case SIM_LACKS_LABEL: return b->pub.label;
    case SIM_LACKS_SIZE: return b->pub.missing;
    case SIM_LACKS_ROOM:
    case SIM_LACKS_NOTHING: break;
    }
    return NULL;
}

/** What it lacks is reported when that changes. It is in no queue. */
static void set_lack(struct sim *s, struct sim_box *b, enum sim_lack lack, const struct spec_constraint *by)
{
    const char *name = lacking(b, lack, by);
    bool is_same =
        b->lack == lack && (name && b->lacking ? strcmp(name, b->lacking) == 0 : name == b->lacking);

    if (is_same)
        return;
    char *copy = mem_str(name);
    free(b->lacking);
    b->lacking = copy;
    b->lack = lack;
    sim_set_due(s, &b->life, 0);
}

static void enqueue(struct sim *s, struct sim_box *b, enum sim_lack lack, const struct spec_constraint *by)
{
    b->pub.state = SIM_ASKED;
    set_lack(s, b, lack, by);
    TAILQ_INSERT_TAIL(queue_of(s, b), b, link);
    s->n_waiting++;
}

static void dequeue(struct sim *s, struct sim_box *b)
{
    TAILQ_REMOVE(queue_of(s, b), b, link);
    s->n_waiting--;
}

static int64_t gpu_mask_of(const struct sim_box *b)
{
    const struct spec_needs *needs = b->pub.needs;
    int64_t mask = 0;

    for (size_t i = 0; needs && i < needs->n_amounts; i++)
        mask |= needs->amounts[i].mask;
    return mask;
}

void sim_settle_at(struct sim *s, struct sim_box *b, struct sim_node *node)
{
    b->place = &s->places[node->index];
    b->pub.node = node;
    b->pub.gpus = sim_nodes_take_gpus(node, b->pub.room.amounts[SIM_GPU_TYPE], gpu_mask_of(b));
    TAILQ_INSERT_TAIL(&b->place->boxes, b, link);
    if (b->tag)
        sim_tag_count(b->tag, node, 1);
}

static void grant(struct sim *s, struct sim_box *b, struct sim_node *node)
{
    sim_settle_at(s, b, node);
    b->pub.state = SIM_GRANTED;
    b->lack = SIM_LACKS_NOTHING;
    sim_set_due(s, &b->life, sim_box_span(s, b, SIM_DRAW_ALLOCATE, s->script->allocate));
}

static struct sim_node *find_node(struct sim *s, const struct sim_box *b, enum sim_lack *lack,
                                  const struct spec_constraint **by)
{
    const struct sim_want want = {.room = b->pub.room,
                                  .host = b->pub.host,
                                  .label = b->pub.label,
                                  .application = b->pub.application,
                                  .tag = b->tag,
                                  .needs = b->pub.needs,
                                  .groups = b->groups,
                                  .gpu_mask = gpu_mask_of(b)};

    *by = NULL;
    *lack = SIM_LACKS_SIZE;
    return b->pub.missing ? NULL : sim_nodes_place(&s->nodes, &want, lack, by);
}

/** @return whether it has a node now */
bool sim_try_place(struct sim *s, struct sim_box *b)
{
    enum sim_lack lack;
    const struct spec_constraint *by;
    struct sim_node *node = find_node(s, b, &lack, &by);

    if (node)
        grant(s, b, node);
    else
        enqueue(s, b, lack, by);
    if (b->tag)
        sim_serve_soon(s); /* others of its component may go where it is, or are enough now */
    return node != NULL;
}

void sim_request(struct sim *s, const struct sim_ask *ask, int64_t now_ms)
{
    struct sim_box *b = sim_box_find(s, ask->id);

    sim_advance(s, now_ms);
    if (!b) {
        sim_try_place(s, sim_box_new(s, ask));
    } else if (b->pub.state != SIM_ASKED && b->pub.state != SIM_GRANTED) {
        b->repeated = SIM_EV_ALLOCATED;
        sim_set_due(s, &b->repeat, 0);
    }
}

void sim_exclude(struct sim *s, const char *application, const char *node, bool excluded, int64_t now_ms)
{
    sim_advance(s, now_ms);
    sim_nodes_exclude(&s->nodes, application, node, excluded);
    sim_serve_soon(s);
}

/** Requests that waited, in their order: each that fits now gets its node. */
static void serve_waiting(struct sim *s)
{
    size_t n_misses = 0, n = s->n_waiting;
    struct sim_box_list missed = TAILQ_HEAD_INITIALIZER(missed);
    struct sim_box *b;

    while (n-- > 0 && n_misses < SERVE_MISSES && (b = TAILQ_FIRST(&s->waiting))) {
        enum sim_lack lack;
        const struct spec_constraint *by;
        struct sim_node *node = find_node(s, b, &lack, &by);
        TAILQ_REMOVE(&s->waiting, b, link);
        if (!node) {
            n_misses++;
            TAILQ_INSERT_TAIL(&missed, b, link);
            continue;
        }
        s->n_waiting--;
        grant(s, b, node);
    }
    TAILQ_CONCAT(&missed, &s->waiting, link);
    TAILQ_CONCAT(&s->waiting, &missed, link);
}

/** Those with constraints: of each component the first that fits nowhere speaks for the others, so that a pass costs little. */
static void serve_bound(struct sim *s)
{
    struct sim_box *b, *next;
    bool is_again = false;

    sim_tags_pass(&s->tags);
    for (b = TAILQ_FIRST(&s->bound); b; b = next) {
        enum sim_lack lack;
        const struct spec_constraint *by;
        next = TAILQ_NEXT(b, link);
        if (!b->pub.host && sim_tag_has_missed(&s->tags, b->tag))
            continue;
        struct sim_node *node = find_node(s, b, &lack, &by);
        if (node) {
            dequeue(s, b);
            grant(s, b, node);
            is_again = true;
        } else {
            sim_tag_miss(&s->tags, b->tag);
            set_lack(s, b, lack, by);
        }
    }
    if (is_again)
        sim_serve_soon(s);
}

void sim_serve(struct sim *s)
{
    serve_waiting(s);
    serve_bound(s);
}

void sim_leave_place(struct sim *s, struct sim_box *b)
{
    TAILQ_REMOVE(&b->place->boxes, b, link);
    if (b->tag)
        sim_tag_count(b->tag, b->place->node, -1);
    sim_nodes_give(&s->nodes, b->place->node, &b->pub.room);
    sim_nodes_give_gpus(b->place->node, b->pub.gpus);
    b->pub.gpus = 0;
    b->place = NULL;
    b->pub.node = NULL;
    sim_serve_soon(s);
}

static void drop(struct sim *s, struct sim_box *b)
{
    sim_clear_due(s, &b->life);
    sim_clear_due(s, &b->readiness);
    sim_clear_due(s, &b->repeat);
    if (b->place)
        sim_leave_place(s, b);
    else
        dequeue(s, b);
    if (b->tag)
        sim_tag_leave(&s->tags, b->tag);
    map_remove(&s->boxes, b->pub.id);
    sim_box_free(b);
}

void sim_cancel(struct sim *s, const char *id, int64_t now_ms)
{
    struct sim_box *b = sim_box_find(s, id);

    sim_advance(s, now_ms);
    if (b && (b->pub.state == SIM_ASKED || b->pub.state == SIM_GRANTED))
        drop(s, b);
}

void sim_release(struct sim *s, const char *id, int64_t now_ms)
{
    struct sim_box *b = sim_box_find(s, id);

    sim_advance(s, now_ms);
    if (b)
        drop(s, b);
}
