/** What runs where: no constraint of a running container is violated. The containers are counted anew each time, by nothing that the cluster decides by. */
#include <string.h>

#include "base/obj.h"
#include "spec/needs.h"
#include "world.h"

#define PLACED_MAGIC OBJ_MAGIC('P', 'L', 'C', 'D')

/** The containers of a component beside one of them. */
struct placed {
    struct obj obj;
    const struct sim_container *one;
    int64_t n, n_here[SPEC_N_SCOPES]; /* on a node; in the same scope */
};

/** Both are of the component, under the same constraints: another definition may have others. */
static bool is_like(const struct sim_container *c, const struct sim_container *one)
{
    return c->node && c->tag == one->tag &&
           strcmp(c->needs->constraints[0].name, one->needs->constraints[0].name) == 0;
}

static void count(void *arg, const struct sim_container *c)
{
    struct placed *p = obj_cast(arg, struct placed, PLACED_MAGIC);
    const struct sim_node *node = p->one->node;
    if (!is_like(c, p->one))
        return;
    p->n++;
    p->n_here[SCOPE_NODE] += c->node == node;
    p->n_here[SCOPE_RACK] += c->node->rack_index == node->rack_index;
}

static void check_constraint(struct world *w, const struct placed *p, const struct spec_constraint *c)
{
    const struct sim_group *group = &w->script->groups[p->one->node->group];
    int64_t n_here = p->n_here[c->scope];
    bool is_split = c->is_together && n_here != p->n;
    if (n_here > c->max || is_split || !spec_constraint_allows(c, group->attributes, group->label))
        world_violate(w, "%s on %s violates %s: %lld of %lld are there", p->one->id, p->one->node->name,
                      c->name, (long long)n_here, (long long)p->n);
}

void world_check_placed(struct world *w, const struct sim_container *one)
{
    struct placed p = {{PLACED_MAGIC}, one, 0, {0}};
    if (!one->tag || !one->node)
        return;
    sim_each(w->sim, count, &p);
    for (size_t i = 0; i < one->needs->n_constraints; i++)
        check_constraint(w, &p, &one->needs->constraints[i]);
}
