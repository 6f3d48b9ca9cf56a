/** Constraints of a component as steps and expressions of YARN: svcmgr/cluster/yarn_place.h. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "base/obj.h"
#include "cluster/yarn_place.h"

static const struct spec_constraint apart = {.name = (char *)"c", .max = 1};
static const struct spec_constraint together = {.name = (char *)"c", .max = INT64_MAX, .is_together = true};
static const struct spec_constraint few = {.name = (char *)"c", .max = 3};
static const struct spec_constraint groups = {.name = (char *)"c", .min = 3, .max = 4};
static const struct spec_constraint nowhere = {.name = (char *)"c", .max = 0};

static const struct {
    const struct spec_constraint *constraint;
    int64_t held[2];
    size_t n_nodes;
    int64_t n_wanted;
    struct yarn_place expected; /* blocked: is looked at as is or is not */
} steps[] = {
    {&apart, {0}, 0, 3, {.n = 3}},
    {&apart, {1, 1}, 2, 1, {.n = 1}},
    {&together, {0}, 0, 3, {.n = 1, .is_first = true}},
    {&together, {1}, 1, 2, {.n = 2}},
    {&few, {3}, 1, 7, {.n = 7}},
    {&nowhere, {0}, 0, 1, {.n = 0, .blocked = &nowhere}},
    {&groups, {0}, 0, 5, {.n = 1, .minimum = PLACE_BEGIN, .min = 3}},
    {&groups, {1}, 1, 4, {.n = 2, .minimum = PLACE_FILL, .min = 3}},
    {&groups, {2, 1}, 2, 2, {.n = 2, .minimum = PLACE_FILL, .min = 3}},
    {&groups, {3}, 1, 2, {.n = 2, .minimum = PLACE_MORE, .min = 3}},
    {&groups, {3}, 1, 3, {.n = 1, .minimum = PLACE_BEGIN, .min = 3}},
    {&groups, {0}, 0, 2, {.n = 0, .minimum = PLACE_MORE, .min = 3, .blocked = &groups}},
};

static void steps_follow_what_is_held(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        struct spec_constraint copy = *steps[i].constraint;
        const struct spec_needs needs = {.constraints = &copy, .n_constraints = 1};
        const struct yarn_place p =
            yarn_place_step(&needs, steps[i].held, steps[i].n_nodes, steps[i].n_wanted);
        bool is_blocked = steps[i].expected.blocked != NULL;
        if (p.n != steps[i].expected.n || !yarn_place_is_same(&p, &steps[i].expected) ||
            (p.blocked != NULL) != is_blocked)
            fail_msg("row %zu: n %lld first %d minimum %d min %lld blocked %d", i, (long long)p.n, p.is_first,
                     p.minimum, (long long)p.min, p.blocked != NULL);
    }
}

/* ---- expressions, by what is sent ---- */

struct row {
    const struct spec_constraint *constraints;
    size_t n;
    struct yarn_place place;
    const char *label, *expected;
};

/** Text of a message: "node 0..0 tag(self)=t", AND and OR as words. */
static char *text_of(const Yarn__PlacementConstraint *c)
{
    char *text = mem_str("");

    if (c->composite) {
        for (size_t i = 0; i < c->composite->n_children; i++) {
            mem_auto char *child = text_of(c->composite->children[i]);
            bool is_and = c->composite->type == YARN__COMPOSITE_TYPE__COMPOSITE_AND;
            char *longer = mem_fmt("%s%s%s", text, i == 0 ? "(" : is_and ? " AND " : " OR ", child);
            free(text);
            text = longer;
        }
        char *closed = mem_fmt("%s)", text);
        free(text);
        return closed;
    }
    free(text);
    text = mem_fmt("%s %d..%d", c->simple->scope, c->simple->min_cardinality, c->simple->max_cardinality);
    for (size_t i = 0; i < c->simple->n_targets; i++) {
        const Yarn__ConstraintTarget *t = c->simple->targets[i];
        bool is_tag = t->type == YARN__CONSTRAINT_TARGET_TYPE__TARGET_ALLOCATION_TAG;
        assert_int_equal(t->n_values, 1);
        assert_true(is_tag || c->simple->attribute_operator == YARN__NODE_ATTRIBUTE_OPERATOR__EQ);
        char *longer = mem_fmt("%s %s %s=%s", text, is_tag ? "tag" : "node", t->key, t->values[0]);
        free(text);
        text = longer;
    }
    return text;
}

static void check(const struct row *r)
{
    struct arena *arena = arena_new(0);
    const struct spec_needs needs = {.constraints = (struct spec_constraint *)r->constraints,
                                     .n_constraints = r->n};
    const Yarn__PlacementConstraint *c = yarn_place_expression(arena, &needs, &r->place, "web", r->label);
    mem_auto char *text = text_of(c);

    assert_string_equal(text, r->expected);
    arena_free(arena);
}

static void expressions_bound_what_is_there_before(void **state)
{
    const struct spec_constraint rack = {.scope = SCOPE_RACK, .max = 2};
    const struct spec_constraint both[] = {apart, rack};
    const struct row rows[] = {
        {&apart, 1, {0}, NULL, "node 0..0 tag self=web"},
        {&few, 1, {0}, NULL, "node 0..2 tag self=web"},
        {&rack, 1, {0}, NULL, "rack 0..1 tag self=web"},
        {&together, 1, {.is_first = true}, NULL, "node 0..2147483647 tag self=web"},
        {&together, 1, {0}, NULL, "node 1..2147483647 tag self=web"},
        {&groups, 1, {.minimum = PLACE_FILL, .min = 3}, NULL, "node 1..2 tag self=web"},
        {&groups, 1, {.minimum = PLACE_MORE, .min = 3}, NULL, "node 3..3 tag self=web"},
        {&groups,
         1,
         {.minimum = PLACE_BEGIN, .min = 3},
         NULL,
         "(node 0..0 tag self=web OR node 3..3 tag self=web)"},
        {both,
         2,
         {0},
         "gpu",
         "(node 0..0 tag self=web node yarn_node_partition/=gpu AND rack 0..1 tag self=web)"},
        {&groups,
         1,
         {.minimum = PLACE_BEGIN, .min = 3},
         "gpu",
         "((node 0..0 tag self=web OR node 3..3 tag self=web) AND node 0..2147483647 tag self=web node "
         "yarn_node_partition/=gpu)"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check(&rows[i]);
}

static void nodes_are_chosen_by_attributes_and_partitions(void **state)
{
    json_t *attributes = json_pack("{s:[s], s:[s,s]}", "os", "linux", "nm.yarn.io/cpu", "a", "b");
    json_t *partitions = json_pack("[s]", "gpu");
    const struct spec_constraint c = {.max = 1, .attributes = attributes, .partitions = partitions};
    const struct row row = {&c,
                            1,
                            {0},
                            NULL,
                            "(node 0..0 tag self=web node yarn_node_partition/=gpu node os=linux AND (node "
                            "0..0 node nm.yarn.io/cpu=a OR node 0..0 node nm.yarn.io/cpu=b))"};

    (void)state;
    check(&row);
    json_decref(attributes);
    json_decref(partitions);
}

/** The octets of an anti-affinity, as PlacementConstraintProto has its fields. */
static void octets_are_those_of_yarn(void **state)
{
    static const uint8_t expected[] = {0x0a, 0x19, 0x0a, 0x04, 'n',  'o',  'd',  'e',  0x12,
                                       0x0d, 0x08, 0x02, 0x12, 0x04, 's',  'e',  'l',  'f',
                                       0x1a, 0x03, 'w',  'e',  'b',  0x18, 0x00, 0x20, 0x00};
    struct arena *arena = arena_new(0);
    const struct spec_needs needs = {.constraints = (struct spec_constraint *)&apart, .n_constraints = 1};
    const struct yarn_place place = {.n = 1};
    const Yarn__PlacementConstraint *c = yarn_place_expression(arena, &needs, &place, "web", NULL);
    uint8_t octets[64];

    (void)state;
    assert_int_equal(yarn__placement_constraint__get_packed_size(c), sizeof expected);
    yarn__placement_constraint__pack(c, octets);
    assert_memory_equal(octets, expected, sizeof expected);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_follow_what_is_held),
        cmocka_unit_test(expressions_bound_what_is_there_before),
        cmocka_unit_test(nodes_are_chosen_by_attributes_and_partitions),
        cmocka_unit_test(octets_are_those_of_yarn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
