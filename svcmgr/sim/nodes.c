#include "sim/nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

#define NAME_PREFIX "node-"
#define GPU_BITS    63

static void room_add(struct sim_room *to, const struct sim_room *r)
{
    to->memory_mb += r->memory_mb;
    to->vcores += r->vcores;
    for (size_t i = 0; i < SIM_TYPES_MAX; i++)
        to->amounts[i] += r->amounts[i];
}

static void room_subtract(struct sim_room *from, const struct sim_room *r)
{
    from->memory_mb -= r->memory_mb;
    from->vcores -= r->vcores;
    for (size_t i = 0; i < SIM_TYPES_MAX; i++)
        from->amounts[i] -= r->amounts[i];
}

/** Number of a group's rack: that of the first group with the same. */
static size_t rack_of(struct sim_nodes *nodes, const struct sim_script *script, size_t group, size_t *racks)
{
    const char *rack = script->groups[group].rack;

    for (size_t i = 0; i < group; i++) {
        const char *other = script->groups[i].rack;
        if (rack && other ? strcmp(rack, other) == 0 : rack == other)
            return racks[i];
    }
    return nodes->n_racks++;
}

static void add_group(struct sim_nodes *nodes, const struct sim_script *script, size_t group, size_t rack)
{
    const struct sim_group *g = &script->groups[group];

    for (int64_t k = 0; k < g->n; k++) {
        struct sim_node *node = &nodes->list[nodes->n];
        *node = (struct sim_node){.label = g->label,
                                  .rack = g->rack,
                                  .has = {.memory_mb = g->memory_mb, .vcores = g->vcores},
                                  .index = nodes->n++,
                                  .rack_index = rack,
                                  .group = group};
        memcpy(node->has.amounts, g->amounts, sizeof node->has.amounts);
        snprintf(node->name, sizeof node->name, NAME_PREFIX "%05zu", nodes->n);
        room_add(&nodes->has, &node->has);
    }
}

void sim_nodes_init(struct sim_nodes *nodes, const struct sim_script *script)
{
    size_t racks[SIM_GROUPS_MAX], n = 0;

    for (size_t i = 0; i < script->n_groups; i++)
        n += (size_t)script->groups[i].n;
    *nodes = (struct sim_nodes){.list = mem_array(n, sizeof(struct sim_node))};
    for (size_t i = 0; i < script->n_groups; i++) {
        racks[i] = rack_of(nodes, script, i, racks);
        add_group(nodes, script, i, racks[i]);
    }
}

void sim_nodes_fini(struct sim_nodes *nodes)
{
    free(nodes->list);
    map_fini(&nodes->excluded, NULL);
    *nodes = (struct sim_nodes){0};
}

static bool has_label(const struct sim_node *node, const char *label)
{
    return !label || !*label || (node->label && strcmp(node->label, label) == 0);
}

static bool fits(const struct sim_room *wanted, const struct sim_room *has)
{
    bool fits_all = wanted->memory_mb <= has->memory_mb && wanted->vcores <= has->vcores;

    for (size_t i = 0; fits_all && i < SIM_TYPES_MAX; i++)
        fits_all = wanted->amounts[i] <= has->amounts[i];
    return fits_all;
}

static bool has_room(const struct sim_node *node, const struct sim_room *wanted)
{
    struct sim_room left = node->has;

    room_subtract(&left, &node->used);
    return !node->is_down && fits(wanted, &left);
}

void sim_nodes_exclude(struct sim_nodes *nodes, const char *application, const char *node, bool excluded)
{
    mem_auto char *key = mem_fmt("%s %s", application, node);

    if (excluded)
        map_set(&nodes->excluded, key, nodes);
    else
        map_remove(&nodes->excluded, key);
}

static bool is_excluded(const struct sim_nodes *nodes, const struct sim_node *node, const char *application)
{
    if (!application || !nodes->excluded.n_items)
        return false;
    mem_auto char *key = mem_fmt("%s %s", application, node->name);
    return map_get(&nodes->excluded, key) != NULL;
}

/** How a node's GPUs keep a container from it that must have certain ones. */
static enum sim_lack lack_of_gpus(const struct sim_node *node, int64_t mask)
{
    int64_t n = node->has.amounts[SIM_GPU_TYPE];
    bool has_all = n >= GPU_BITS || !(mask >> n);

    return !has_all ? SIM_LACKS_SIZE : mask & node->gpus ? SIM_LACKS_ROOM : SIM_LACKS_NOTHING;
}

int64_t sim_nodes_take_gpus(struct sim_node *node, int64_t n, int64_t mask)
{
    int64_t taken = mask;

    for (int i = 0; !mask && n > 0 && i < GPU_BITS; i++) {
        if (node->gpus >> i & 1)
            continue;
        taken |= (int64_t)1 << i;
        n--;
    }
    node->gpus |= taken;
    return taken;
}

void sim_nodes_give_gpus(struct sim_node *node, int64_t gpus)
{
    node->gpus &= ~gpus;
}

/** What keeps a container from a node. */
static enum sim_lack lack_of(const struct sim_nodes *nodes, const struct sim_node *node,
                             const struct sim_want *want, const struct spec_constraint **by)
{
    if (!has_label(node, want->label))
        return SIM_LACKS_LABEL;
    if (!fits(&want->room, &node->has))
        return SIM_LACKS_SIZE;
    if (!has_room(node, &want->room) || is_excluded(nodes, node, want->application))
        return SIM_LACKS_ROOM;
    enum sim_lack gpus = lack_of_gpus(node, want->gpu_mask);
    if (gpus != SIM_LACKS_NOTHING)
        return gpus;
    const struct spec_constraint *c =
        want->tag ? sim_tag_forbids(want->tag, want->needs, want->groups, node) : NULL;
    *by = c ? c : *by;
    return c ? SIM_LACKS_CONSTRAINT : SIM_LACKS_NOTHING;
}

struct sim_node *sim_nodes_place(struct sim_nodes *nodes, const struct sim_want *want, enum sim_lack *lack,
                                 const struct spec_constraint **by)
{
    *by = NULL;
    *lack = want->host ? SIM_LACKS_ROOM : SIM_LACKS_LABEL;
    for (size_t i = 0; i < nodes->n; i++) {
        struct sim_node *node = &nodes->list[(nodes->next + i) % nodes->n];
        if (want->host && strcmp(want->host, node->name) != 0)
            continue;
        enum sim_lack here = lack_of(nodes, node, want, by);
        if (here == SIM_LACKS_NOTHING) {
            *lack = here;
            nodes->next = (node->index + 1) % nodes->n;
            sim_nodes_take(nodes, node, &want->room);
            return node;
        }
        *lack = here > *lack ? here : *lack;
    }
    return NULL;
}

void sim_nodes_take(struct sim_nodes *nodes, struct sim_node *node, const struct sim_room *wanted)
{
    room_add(&node->used, wanted);
    room_add(&nodes->used, wanted);
}

void sim_nodes_give(struct sim_nodes *nodes, struct sim_node *node, const struct sim_room *wanted)
{
    room_subtract(&node->used, wanted);
    room_subtract(&nodes->used, wanted);
}

struct sim_node *sim_nodes_find(const struct sim_nodes *nodes, const char *name)
{
    int64_t number = 0;
    bool is_node = name && str_starts(name, NAME_PREFIX) &&
                   !str_to_i64(name + strlen(NAME_PREFIX), 1, (int64_t)nodes->n, &number);

    return is_node ? &nodes->list[number - 1] : NULL;
}

char *sim_lack_text(enum sim_lack lack, const char *lacking)
{
    static const char *const texts[] = {
        [SIM_LACKS_NOTHING] = "nothing is missing",
        [SIM_LACKS_ROOM] = "no node has room now",
        [SIM_LACKS_LABEL] = "no node has its label",
        [SIM_LACKS_SIZE] = "no node is large enough",
        [SIM_LACKS_CONSTRAINT] = "it forbids every node that has room",
    };
    bool is_type = lack == SIM_LACKS_SIZE && lacking;
    return is_type ? mem_fmt("no node has %s", lacking) : mem_str(texts[lack]);
}
