/**
 * The instances of a component, so that no event costs as much as there are of them: in the order of their numbers, found by
 * number, counted by state, and in heaps of those that something is due of.
 *
 *     by_index   [0][1][2][ ][4] …        instances   0 ─ 1 ─ 2 ─ 4      n_in[READY] 3, n_in[PENDING] 1
 *                                         starts      4 (PENDING, at 12:00:05)
 *                                         ends        DRAINING, RECOVERING: until when
 *                                         failures    by rank: those whose last process has failed, the latest first
 *                                         unplaced    PENDING, due, and the placement constraints leave no room
 *
 * The state, the due time, the goal and `removing` of an instance change here and nowhere else (tests/shape).
 */
#include <stdlib.h>

#include "base/mem.h"
#include "engine/component.h"
#include "engine/documents.h"
#include "engine/instance.h"
#include "engine/step.h"

/** The heap that an instance is in; NULL: none. */
static struct heap *heap_of(const struct eng_instance *inst)
{
    struct eng_component *c = inst->component;
    bool is_start = inst->state == INST_PENDING || inst->state == INST_EXITED;
    bool is_end = (inst->state == INST_REQUESTED && inst->wish) || inst->state == INST_DRAINING ||
                  inst->state == INST_RECOVERING ||
                  ((STATE_BIT(inst->state) & STATES_UP) && inst->upgrade == UPGRADE_MOVING);
    if (is_start)
        return inst->unplaced ? &c->unplaced : &c->starts;
    return is_end && inst->due_ms ? &c->ends : NULL;
}

/** Where the operation on its component has it. */
static void count_upgrade(const struct eng_instance *inst, int64_t by)
{
    struct eng_component *c = inst->component;
    bool is_moved = c->next_revision && inst->goal == c->next_revision;
    if (inst->removing)
        return;
    c->n_moved += is_moved ? by : 0;
    c->n_forth += inst->upgrade == UPGRADE_MOVING && is_moved ? by : 0;
    c->n_back += inst->upgrade == UPGRADE_MOVING && !is_moved ? by : 0;
    c->n_failed_upgrades += inst->upgrade == UPGRADE_FAILED ? by : 0;
}

static void count(const struct eng_instance *inst, int64_t by)
{
    struct eng_component *c = inst->component;
    c->n_in[inst->state] += by;
    c->n_removing += inst->removing ? by : 0;
    count_upgrade(inst, by);
}

/** Before a change of what it is counted and sorted by. */
static void leave(struct eng_instance *inst)
{
    if (heap_has(&inst->due))
        heap_remove(heap_of(inst), &inst->due);
    if (heap_has(&inst->failure))
        heap_remove(&inst->component->failures[failure_rank(inst)], &inst->failure);
    count(inst, -1);
}

/** After it. */
static void join(struct eng_instance *inst)
{
    inst->unplaced = inst->unplaced && inst->state == INST_PENDING;
    if (heap_of(inst))
        heap_set(heap_of(inst), &inst->due, inst->due_ms, (uint64_t)inst->index);
    enum failure_rank rank = failure_rank(inst);
    if (rank != RANK_NONE)
        heap_set(&inst->component->failures[rank], &inst->failure, -inst->last_exit->ended_ms,
                 (uint64_t)inst->index);
    count(inst, 1);
}

void instance_enter(struct eng_instance *inst, enum eng_instance_state state)
{
    if (inst->ask && state != INST_REQUESTED)
        ask_leave(inst);
    if (inst->is_in_gang && state != INST_ALLOCATED)
        gang_leave(inst);
    leave(inst);
    inst->state = state;
    join(inst);
    if (state == INST_REQUESTED && !inst->ask)
        ask_join(inst);
}

void instance_set_due(struct eng_instance *inst, int64_t due_ms)
{
    leave(inst);
    inst->due_ms = due_ms;
    join(inst);
}

void instance_set_goal(struct eng_instance *inst, int64_t goal, enum eng_upgrade upgrade)
{
    leave(inst);
    inst->goal = goal;
    inst->upgrade = upgrade;
    join(inst);
}

void instance_set_exit(struct eng_instance *inst, const struct eng_exit *x, int64_t ended_ms)
{
    leave(inst);
    fld_free(&eng_exit_type, inst->last_exit);
    inst->last_exit = x ? exit_copy(x) : NULL;
    if (x)
        inst->last_exit->ended_ms = ended_ms;
    join(inst);
}

void instance_set_unplaced(struct eng_instance *inst, bool unplaced)
{
    leave(inst);
    inst->unplaced = unplaced;
    join(inst);
}

void instance_set_removing(struct eng_instance *inst, bool removing)
{
    struct eng_component *c = inst->component;
    leave(inst);
    inst->removing = removing;
    join(inst);
    if (removing && inst->index < c->lowest_free)
        c->lowest_free = inst->index;
    if (!removing && inst->index >= c->staying_end)
        c->staying_end = inst->index + 1;
}

void instance_set_unpublished(struct eng_instance *inst, bool unpublished)
{
    struct eng_service *s = inst->component->service;
    if (unpublished && !inst->is_unpublished)
        TAILQ_INSERT_TAIL(&s->unpublished, inst, unpublished_link);
    if (!unpublished && inst->is_unpublished)
        TAILQ_REMOVE(&s->unpublished, inst, unpublished_link);
    inst->is_unpublished = unpublished;
}

int64_t component_count(const struct eng_component *c, unsigned state_mask)
{
    int64_t n = 0;
    for (unsigned state = 0; state < ARRAY_LEN(c->n_in); state++)
        n += state_mask & STATE_BIT(state) ? c->n_in[state] : 0;
    return n;
}

struct eng_instance *component_instance(const struct eng_component *c, int64_t index)
{
    return index >= 0 && (size_t)index < c->n_by_index ? c->by_index[index] : NULL;
}

/** The one after which an instance of this number comes; NULL: it is the first. */
static struct eng_instance *predecessor(const struct eng_component *c, int64_t index)
{
    struct eng_instance *last = TAILQ_LAST(&c->instances, eng_instance_list);
    if (!last || last->index < index)
        return last;
    while (--index >= 0) {
        if (c->by_index[index])
            return c->by_index[index];
    }
    return NULL;
}

static void make_room(struct eng_component *c, int64_t index)
{
    size_t old = c->n_by_index, n = old ? old : 4;
    BUG_IF(index < 0 || index > ENG_INDEX_MAX);
    while (n <= (size_t)index)
        n *= 2;
    if (n == old)
        return;
    c->by_index = mem_resize(c->by_index, n, sizeof(struct eng_instance *));
    for (size_t i = old; i < n; i++)
        c->by_index[i] = NULL;
    c->n_by_index = n;
}

void component_insert(struct eng_component *c, struct eng_instance *take_inst)
{
    struct eng_instance *before = predecessor(c, take_inst->index);
    make_room(c, take_inst->index);
    if (before)
        TAILQ_INSERT_AFTER(&c->instances, before, take_inst, link);
    else
        TAILQ_INSERT_HEAD(&c->instances, take_inst, link);
    c->by_index[take_inst->index] = take_inst;
    c->n_instances++;
    take_inst->component = c;
    join(take_inst);
    if (take_inst->index < c->next_move)
        c->next_move = take_inst->index;
    if (take_inst->state == INST_REQUESTED)
        ask_join(take_inst);
    if (gang_is_held(take_inst))
        gang_join(take_inst);
    if (!take_inst->removing && take_inst->index >= c->staying_end)
        c->staying_end = take_inst->index + 1;
}

void component_remove(struct eng_instance *inst)
{
    struct eng_component *c = inst->component;
    struct eng_service *s = c->service;
    leave(inst);
    if (inst->ask)
        ask_leave(inst);
    if (inst->is_in_gang)
        gang_leave(inst);
    TAILQ_REMOVE(&c->instances, inst, link);
    instance_set_unpublished(inst, false);
    if (inst->dirty)
        TAILQ_REMOVE(&s->dirty_instances, inst, dirty_link);
    c->by_index[inst->index] = NULL;
    c->n_instances--;
    if (inst->index < c->lowest_free)
        c->lowest_free = inst->index;
}

void component_free(struct eng_component *c)
{
    struct eng_instance *inst;
    asks_free(c);
    heap_fini(&c->starts);
    heap_fini(&c->ends);
    heap_fini(&c->unplaced);
    for (size_t rank = 0; rank < ARRAY_LEN(c->failures); rank++)
        heap_fini(&c->failures[rank]);
    while ((inst = TAILQ_FIRST(&c->instances))) {
        TAILQ_REMOVE(&c->instances, inst, link);
        fld_free(&eng_instance_type, inst);
    }
    free(c->by_index);
    fld_free(&eng_component_type, c);
}

struct eng_instance *component_highest(const struct eng_component *c)
{
    return TAILQ_LAST(&c->instances, eng_instance_list);
}

int64_t component_n_kept(const struct eng_component *c)
{
    return (int64_t)c->n_instances - c->n_removing;
}

struct eng_instance *component_highest_kept(struct eng_component *c)
{
    for (; c->staying_end > 0; c->staying_end--) {
        struct eng_instance *inst = component_instance(c, c->staying_end - 1);
        if (inst && !inst->removing)
            return inst;
    }
    return NULL;
}

static struct eng_instance *first_of(const struct heap *h)
{
    struct heap_node *first = heap_first(h);
    return first ? container_of(first, struct eng_instance, due) : NULL;
}

struct eng_instance *component_next_start(const struct eng_component *c)
{
    return first_of(&c->starts);
}

struct eng_instance *component_next_end(const struct eng_component *c)
{
    return first_of(&c->ends);
}

struct eng_instance *component_unplaced(const struct eng_component *c)
{
    return first_of(&c->unplaced);
}

struct eng_instance *component_latest_failure(const struct eng_component *c, enum failure_rank rank)
{
    struct heap_node *first = heap_first(&c->failures[rank]);
    return first ? container_of(first, struct eng_instance, failure) : NULL;
}

struct eng_instance *instances_next(const struct eng_service *s, struct eng_walk *walk)
{
    for (; walk->component < s->n_components; walk->component++, walk->index = 0) {
        const struct eng_component *c = s->components[walk->component];
        const struct eng_instance *last = TAILQ_LAST(&c->instances, eng_instance_list);
        while (last && walk->index <= last->index) {
            struct eng_instance *inst = component_instance(c, walk->index++);
            if (inst)
                return inst;
        }
    }
    return NULL;
}
