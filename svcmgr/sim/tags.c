#include "sim/tags.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/obj.h"
#include "sim/nodes.h"

struct sim_tag {
    char *key;
    size_t n;                       /* containers that are asked for or held */
    int64_t n_held;                 /* that are on a node */
    int32_t *counts[SPEC_N_SCOPES]; /* by the number of the node, of the rack */
    size_t n_scopes[SPEC_N_SCOPES]; /* of the cluster */
    uint64_t missed;                /* number of the last pass in which one found no node */
};

void sim_tags_init(struct sim_tags *tags, size_t n_nodes, size_t n_racks)
{
    *tags = (struct sim_tags){.n = {[SCOPE_NODE] = n_nodes, [SCOPE_RACK] = n_racks}};
}

static void free_tag(void *value)
{
    struct sim_tag *tag = value;

    for (int s = 0; s < SPEC_N_SCOPES; s++)
        free(tag->counts[s]);
    free(tag->key);
    free(tag);
}

void sim_tags_fini(struct sim_tags *tags)
{
    map_fini(&tags->items, free_tag);
}

struct sim_tag *sim_tag_join(struct sim_tags *tags, const char *application, const char *component)
{
    mem_auto char *key = mem_fmt("%s %s", application ? application : "", component ? component : "");
    struct sim_tag *tag = map_get(&tags->items, key);

    if (!tag) {
        tag = mem_new(struct sim_tag);
        tag->key = mem_str(key);
        for (int s = 0; s < SPEC_N_SCOPES; s++) {
            tag->counts[s] = mem_array(tags->n[s], sizeof *tag->counts[s]);
            tag->n_scopes[s] = tags->n[s];
        }
        map_set(&tags->items, key, tag);
    }
    tag->n++;
    return tag;
}

void sim_tag_leave(struct sim_tags *tags, struct sim_tag *tag)
{
    if (--tag->n > 0)
        return;
    map_remove(&tags->items, tag->key);
    free_tag(tag);
}

static size_t index_of(enum spec_scope scope, const struct sim_node *node)
{
    return scope == SCOPE_NODE ? node->index : node->rack_index;
}

void sim_tag_count(struct sim_tag *tag, const struct sim_node *node, int by)
{
    for (int s = 0; s < SPEC_N_SCOPES; s++)
        tag->counts[s][index_of((enum spec_scope)s, node)] += by;
    tag->n_held += by;
}

int64_t sim_tag_held(const struct sim_tag *tag, enum spec_scope scope, const struct sim_node *node)
{
    return tag->counts[scope][index_of(scope, node)];
}

/** Some scope was begun and has fewer than min: it is filled before another one is begun. */
static bool has_low_scope(const struct sim_tag *tag, const struct spec_constraint *c)
{
    for (size_t i = 0; i < tag->n_scopes[c->scope]; i++) {
        if (tag->counts[c->scope][i] > 0 && tag->counts[c->scope][i] < c->min)
            return true;
    }
    return false;
}

/** A scope without a container of the tag may get the first one. */
static bool may_begin(const struct sim_tag *tag, const struct spec_constraint *c)
{
    bool is_enough = (int64_t)tag->n - tag->n_held >= c->min;

    if (c->is_together && tag->n_held > 0)
        return false;
    return c->min <= 1 || (is_enough && !has_low_scope(tag, c));
}

static bool allows(const struct sim_tag *tag, const struct spec_constraint *c, uint64_t groups,
                   const struct sim_node *node)
{
    int64_t n_held = sim_tag_held(tag, c->scope, node);

    if (!(groups >> node->group & 1))
        return false;
    return n_held > 0 ? n_held < c->max : c->max > 0 && may_begin(tag, c);
}

const struct spec_constraint *sim_tag_forbids(const struct sim_tag *tag, const struct spec_needs *needs,
                                              const uint64_t *groups, const struct sim_node *node)
{
    for (size_t i = 0; needs && i < needs->n_constraints; i++) {
        if (!allows(tag, &needs->constraints[i], groups[i], node))
            return &needs->constraints[i];
    }
    return NULL;
}

uint64_t *sim_tag_groups(const struct spec_needs *needs, const struct sim_script *script)
{
    size_t n = needs ? needs->n_constraints : 0;
    uint64_t *groups = n ? mem_array(n, sizeof *groups) : NULL;

    for (size_t i = 0; i < n; i++) {
        for (size_t g = 0; g < script->n_groups; g++) {
            const struct sim_group *group = &script->groups[g];
            uint64_t bit = (uint64_t)1 << g;
            groups[i] |=
                spec_constraint_allows(&needs->constraints[i], group->attributes, group->label) ? bit : 0;
        }
    }
    return groups;
}

void sim_tags_pass(struct sim_tags *tags)
{
    tags->n_passes++;
}

bool sim_tag_has_missed(const struct sim_tags *tags, const struct sim_tag *tag)
{
    return tag->missed == tags->n_passes && tags->n_passes > 0;
}

void sim_tag_miss(const struct sim_tags *tags, struct sim_tag *tag)
{
    tag->missed = tags->n_passes;
}
