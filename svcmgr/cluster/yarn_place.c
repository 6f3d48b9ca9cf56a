/** Constraints as expressions of YARN: see yarn_place.h. */
#include "cluster/yarn_place.h"

#include "base/buf.h"
#include "base/obj.h"

#define ANY_NUMBER INT32_MAX
#define NAMESPACE  "self"
#define PARTITION  "yarn_node_partition/"

char *yarn_place_names(const struct spec_needs *needs)
{
    char *all = mem_str("");

    for (size_t i = 0; i < needs->n_constraints; i++) {
        char *longer = mem_fmt("%s%s%s", all, i ? ", " : "", needs->constraints[i].name);
        free(all);
        all = longer;
    }
    return all;
}

/* ---- steps ---- */

static const struct spec_constraint *largest_minimum(const struct spec_needs *needs)
{
    const struct spec_constraint *largest = NULL;

    for (size_t i = 0; i < needs->n_constraints; i++) {
        const struct spec_constraint *c = &needs->constraints[i];
        if (c->scope == SCOPE_NODE && c->min > 1 && (!largest || c->min > largest->min))
            largest = c;
    }
    return largest;
}

static void step_of_minimum(struct yarn_place *p, const struct spec_constraint *c, const int64_t *held,
                            size_t n_nodes)
{
    int64_t n_missing = 0;
    bool has_full = false;

    p->min = c->min;
    for (size_t i = 0; i < n_nodes; i++) {
        if (held[i] < c->min)
            n_missing += c->min - held[i];
        else
            has_full = true;
    }
    if (n_missing > 0) {
        p->minimum = PLACE_FILL;
        p->n = p->n < n_missing ? p->n : n_missing;
    } else if (p->n >= c->min) {
        p->minimum = PLACE_BEGIN;
        p->n = 1;
    } else {
        p->minimum = PLACE_MORE;
        p->blocked = has_full ? p->blocked : c;
    }
}

struct yarn_place yarn_place_step(const struct spec_needs *needs, const int64_t *held, size_t n_nodes,
                                  int64_t n_wanted)
{
    const struct spec_constraint *minimum = largest_minimum(needs);
    struct yarn_place p = {.n = n_wanted};

    for (size_t i = 0; i < needs->n_constraints; i++) {
        if (needs->constraints[i].is_together && n_nodes == 0)
            p.is_first = true;
        if (needs->constraints[i].max <= 0)
            p.blocked = &needs->constraints[i];
    }
    if (minimum)
        step_of_minimum(&p, minimum, held, n_nodes);
    if (p.is_first)
        p.n = 1;
    if (p.blocked)
        p.n = 0;
    return p;
}

bool yarn_place_is_same(const struct yarn_place *a, const struct yarn_place *b)
{
    return a->is_first == b->is_first && a->minimum == b->minimum && a->min == b->min;
}

/* ---- expressions ---- */

/** A list of constraints that all must hold, and the simple one that takes what it can. */
struct expression {
    struct arena *arena;
    const char *tag, *scope;
    int32_t min, max;
    Yarn__PlacementConstraint **all;
    size_t n;
};

static Yarn__PlacementConstraint *new_simple(const struct expression *e)
{
    Yarn__PlacementConstraint *c = arena_alloc(e->arena, sizeof *c);
    Yarn__SimpleConstraint *s = arena_alloc(e->arena, sizeof *s);

    yarn__placement_constraint__init(c);
    yarn__simple_constraint__init(s);
    c->simple = s;
    s->scope = (char *)e->scope;
    s->has_min_cardinality = s->has_max_cardinality = true;
    s->min_cardinality = e->min;
    s->max_cardinality = e->max;
    return c;
}

static void add_target(struct arena *a, Yarn__PlacementConstraint *c, Yarn__ConstraintTargetType type,
                       const char *key, const char *value)
{
    Yarn__SimpleConstraint *s = c->simple;
    Yarn__ConstraintTarget *t = arena_alloc(a, sizeof *t);
    Yarn__ConstraintTarget **longer = arena_alloc(a, (s->n_targets + 1) * sizeof *longer);

    yarn__constraint_target__init(t);
    t->type = type;
    t->key = (char *)key;
    t->values = arena_alloc(a, sizeof(char *));
    t->values[t->n_values++] = (char *)value;
    for (size_t i = 0; i < s->n_targets; i++)
        longer[i] = s->targets[i];
    longer[s->n_targets++] = t;
    s->targets = longer;
    if (type == YARN__CONSTRAINT_TARGET_TYPE__TARGET_NODE_ATTRIBUTE) {
        s->has_attribute_operator = true;
        s->attribute_operator = YARN__NODE_ATTRIBUTE_OPERATOR__EQ;
    }
}

static Yarn__PlacementConstraint *compose(struct arena *a, Yarn__CompositeType type,
                                          Yarn__PlacementConstraint **children, size_t n)
{
    Yarn__PlacementConstraint *c = arena_alloc(a, sizeof *c);

    if (n == 1)
        return children[0];
    yarn__placement_constraint__init(c);
    c->composite = arena_alloc(a, sizeof *c->composite);
    yarn__composite_constraint__init(c->composite);
    c->composite->type = type;
    c->composite->children = children;
    c->composite->n_children = n;
    return c;
}

static void add(struct expression *e, Yarn__PlacementConstraint *c)
{
    Yarn__PlacementConstraint **longer = arena_alloc(e->arena, (e->n + 1) * sizeof *longer);

    for (size_t i = 0; i < e->n; i++)
        longer[i] = e->all[i];
    longer[e->n++] = c;
    e->all = longer;
}

static Yarn__PlacementConstraint *with_tag(struct expression *e, int64_t min, int64_t max)
{
    e->min = (int32_t)(min < ANY_NUMBER ? min : ANY_NUMBER);
    e->max = (int32_t)(max < ANY_NUMBER ? max : ANY_NUMBER);
    Yarn__PlacementConstraint *c = new_simple(e);
    add_target(e->arena, c, YARN__CONSTRAINT_TARGET_TYPE__TARGET_ALLOCATION_TAG, NAMESPACE, e->tag);
    return c;
}

/** A node with one of several values: a resource manager looks at the first value of a target only. */
static void add_values(struct expression *e, Yarn__PlacementConstraint *simple, const char *key,
                       const json_t *values)
{
    size_t n = json_is_array(values) ? json_array_size(values) : 1;
    Yarn__PlacementConstraint **each = arena_alloc(e->arena, (n + 1) * sizeof *each);
    size_t n_each = 0;

    for (size_t i = 0; i < n; i++) {
        const char *value =
            json_string_value(json_is_array(values) ? json_array_get(values, i) : (json_t *)values);
        if (value && n == 1)
            add_target(e->arena, simple, YARN__CONSTRAINT_TARGET_TYPE__TARGET_NODE_ATTRIBUTE, key, value);
        if (!value || n == 1)
            continue;
        each[n_each] = new_simple(e);
        add_target(e->arena, each[n_each++], YARN__CONSTRAINT_TARGET_TYPE__TARGET_NODE_ATTRIBUTE, key, value);
    }
    if (n_each > 0)
        add(e, compose(e->arena, YARN__COMPOSITE_TYPE__COMPOSITE_OR, each, n_each));
}

/** How many may be in a scope before: where one minimum counts it replaces what the others say of a beginning. */
static Yarn__PlacementConstraint *numbers(struct expression *e, const struct spec_constraint *c,
                                          const struct yarn_place *p)
{
    int64_t max = c->max == INT64_MAX ? INT64_MAX : c->max - 1;
    int64_t min = c->is_together && !p->is_first ? 1 : 0;
    bool is_of_min = c->scope == SCOPE_NODE && c->min > 1;

    if (is_of_min && p->minimum == PLACE_FILL)
        return with_tag(e, 1, p->min - 1 < max ? p->min - 1 : max);
    if (is_of_min && p->minimum == PLACE_MORE)
        return with_tag(e, p->min, max);
    if (is_of_min && p->minimum == PLACE_BEGIN) {
        Yarn__PlacementConstraint **two = arena_alloc(e->arena, 2 * sizeof *two);
        two[0] = with_tag(e, 0, 0);
        two[1] = with_tag(e, p->min, max);
        return compose(e->arena, YARN__COMPOSITE_TYPE__COMPOSITE_OR, two, 2);
    }
    return with_tag(e, min, max);
}

static void add_constraint(struct expression *e, const struct spec_constraint *c, const struct yarn_place *p,
                           const char *label)
{
    const char *name;
    json_t *values;

    e->scope = c->scope == SCOPE_RACK ? "rack" : "node";
    Yarn__PlacementConstraint *simple = numbers(e, c, p);
    add(e, simple);
    if (!simple->simple) { /* of two: what a node must be goes beside them */
        simple = with_tag(e, 0, ANY_NUMBER);
        if (label || c->attributes || c->partitions)
            add(e, simple);
    }
    if (label)
        add_target(e->arena, simple, YARN__CONSTRAINT_TARGET_TYPE__TARGET_NODE_ATTRIBUTE, PARTITION, label);
    if (c->partitions)
        add_values(e, simple, PARTITION, c->partitions);
    json_object_foreach(c->attributes, name, values) add_values(e, simple, name, values);
}

Yarn__PlacementConstraint *yarn_place_expression(struct arena *a, const struct spec_needs *needs,
                                                 const struct yarn_place *place, const char *tag,
                                                 const char *label)
{
    struct expression e = {.arena = a, .tag = tag};

    for (size_t i = 0; i < needs->n_constraints; i++)
        add_constraint(&e, &needs->constraints[i], place, i == 0 ? label : NULL);
    return compose(a, YARN__COMPOSITE_TYPE__COMPOSITE_AND, e.all, e.n);
}
