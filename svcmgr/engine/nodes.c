/** The nodes of the cluster: see nodes.h. The cluster reports all of them at each start, so that none is stored. */
#include "engine/nodes.h"

#include <stdlib.h>
#include <string.h>

#include "engine/places.h"
#include "engine/step.h"

#define NODE_WORD(token, word) word,
static const char *const state_words[] = {ENG_NODE_STATES(NODE_WORD) NULL};

const char *eng_node_state_word(enum eng_node_state s)
{
    BUG_IF((size_t)s >= ARRAY_LEN(state_words) - 1);
    return state_words[s];
}

static const struct fld ports_flds[] = {
    FLD_I64("first", struct eng_ports, first, 0),
    FLD_I64("last", struct eng_ports, last, 0),
};
static const struct fld_type ports_type = {"ports", sizeof(struct eng_ports), ports_flds,
                                           ARRAY_LEN(ports_flds), NULL};

static void node_defaults(void *object)
{
    *(struct eng_node *)object = (struct eng_node){0};
}

static const struct fld node_flds[] = {
    FLD_STR("host", struct eng_node, host, 0),
    FLD_STR("rack", struct eng_node, rack, 0),
    FLD_STR("http_address", struct eng_node, http_address, 0),
    FLD_STR("health", struct eng_node, health, 0),
    FLD_ENUM("state", struct eng_node, state, 0, state_words),
    FLD_STRS("labels", struct eng_node, labels, 0),
    FLD_I64("memory_mb", struct eng_node, memory_mb, 0),
    FLD_I64("vcores", struct eng_node, vcores, 0),
    FLD_I64("n_gpus", struct eng_node, n_gpus, 0),
    FLD_I64("gpu_mask", struct eng_node, gpu_mask, 0),
    FLD_LIST("ports", struct eng_node, ports, 0, &ports_type),
    FLD_I64("updated_ms", struct eng_node, updated_ms, 0),
};
static const struct fld_type node_type = {"node", sizeof(struct eng_node), node_flds, ARRAY_LEN(node_flds),
                                          node_defaults};

struct eng_node *eng_node_copy(const struct eng_node *node)
{
    return fld_copy(&node_type, node);
}

void eng_node_free(struct eng_node *node)
{
    fld_free(&node_type, node);
}

void nodes_copy(struct engine *to, const struct engine *from)
{
    for (MAP_EACH (&from->nodes, it))
        map_set(&to->nodes, it->key, eng_node_copy(it->value));
    to->n_nodes_down = from->n_nodes_down;
}

static void free_value(void *node)
{
    fld_free(&node_type, node);
}

void nodes_fini(struct engine *e)
{
    map_fini(&e->nodes, free_value);
    e->n_nodes_down = 0;
}

/* ---- reports ---- */

/** Forget the node that does not run for the longest time. */
static void forget_oldest_down(struct engine *e)
{
    const struct eng_node *oldest = NULL;
    for (MAP_EACH (&e->nodes, slot)) {
        const struct eng_node *n = slot->value;
        bool is_older = !oldest || n->updated_ms < oldest->updated_ms ||
                        (n->updated_ms == oldest->updated_ms && strcmp(n->host, oldest->host) < 0);
        if (n->state != NODE_RUNNING && is_older)
            oldest = n;
    }
    eng_node_free(map_remove(&e->nodes, oldest->host));
    e->n_nodes_down--;
}

static bool is_any_failing(const struct engine *e)
{
    for (MAP_EACH (&e->services, slot)) {
        const struct eng_service *s = slot->value;
        if (s->places.failing)
            return true;
    }
    return false;
}

/** Nodes were lost or came: what services avoid is decided anew, in steps of their own. */
static void judge_everywhere(struct step *st)
{
    if (!is_any_failing(st->e))
        return; /* nearly always: many nodes come at once, and sorting all services for each takes long */
    mem_auto const struct eng_service **list = engine_list(st->e, NULL);
    for (size_t i = 0; list[i]; i++) {
        struct eng_service *s = (struct eng_service *)list[i];
        if (!s->places.failing)
            continue;
        s->places.due_ms = st->now_ms;
        step_wake(st, s);
    }
}

void nodes_event(struct step *st, const struct eng_event *ev)
{
    struct engine *e = st->e;
    struct eng_node *node = eng_node_copy(ev->node);
    node->updated_ms = st->wall_ms;
    struct eng_node *old = map_set(&e->nodes, node->host, node);
    bool was_down = old && old->state != NODE_RUNNING, is_down = node->state != NODE_RUNNING;
    bool is_change = !old || was_down != is_down;
    if (is_change)
        step_note(st, NULL, "node %s is %s", node->host, eng_node_state_word(node->state));
    e->n_nodes_down += (size_t)is_down;
    e->n_nodes_down -= (size_t)was_down;
    eng_node_free(old);
    if (e->n_nodes_down > NODES_DOWN_MAX)
        forget_oldest_down(e);
    if (is_change)
        judge_everywhere(st);
}

/* ---- reading ---- */

const struct eng_node *engine_node(const struct engine *e, const char *host)
{
    return map_get(&e->nodes, host);
}

const struct eng_node **engine_nodes(const struct engine *e)
{
    mem_auto const char **keys = map_sorted_keys(&e->nodes);
    const struct eng_node **list = mem_array(e->nodes.n_items + 1, sizeof list[0]);
    for (size_t i = 0; keys[i]; i++)
        list[i] = map_get(&e->nodes, keys[i]);
    return list;
}

bool node_takes(const struct eng_node *node, const char *label)
{
    if (node->state != NODE_RUNNING)
        return false;
    if (!label || !label[0])
        return true;
    for (size_t i = 0; i < node->n_labels; i++) {
        if (strcmp(node->labels[i], label) == 0)
            return true;
    }
    return false;
}
