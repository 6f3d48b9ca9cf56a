/** Amounts of resources with their units, and which nodes a constraint allows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/obj.h"
#include "json/json.h"
#include "spec/needs.h"
#include "spec/spec.h"

static void an_amount_has_a_unit(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t n;
    } rows[] = {
        {"4", 4}, {"0", 0},  {"2Ki", 2048}, {"3k", 3000}, {"1500m", 2}, {"1n", 1},
        {"", -1}, {"x", -1}, {"4 ", -1},    {"4kk", -1},  {"-1", -1},   {"9223372036854775807Pi", INT64_MAX},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (spec_amount_read(rows[i].text) != rows[i].n)
            fail_msg("\"%s\" is %lld", rows[i].text, (long long)spec_amount_read(rows[i].text));
    }
}

static void a_resource_without_a_number_is_no_amount(void **state)
{
    (void)state;
    json_auto json_t *good = json_pack("{s:i,s:s}", "value", 2, "unit", "M");
    json_auto json_t *plain = json_pack("{s:i,s:n}", "value", 2, "unit");
    json_auto json_t *text = json_pack("{s:s}", "value", "2");
    json_auto json_t *unit = json_pack("{s:i,s:i}", "value", 2, "unit", 1);
    assert_int_equal(spec_amount_of(good), 2000000);
    assert_int_equal(spec_amount_of(plain), 2);
    assert_int_equal(spec_amount_of(text), -1);
    assert_int_equal(spec_amount_of(unit), -1);
    assert_int_equal(spec_amount_of(NULL), -1);
}

static struct spec_needs *needs_of(const char *text)
{
    struct spec_component *c = NULL;
    struct err_info why = {0};
    if (spec_read_component(text, strlen(text), &c, NULL, &why))
        fail_msg("%s", why.text);
    struct spec_needs *needs = spec_needs_new(c);
    fld_free(&spec_component_type, c);
    return needs;
}

static void a_component_without_any_needs_nothing(void **state)
{
    (void)state;
    assert_null(needs_of("{\"name\":\"a\",\"resource\":{\"cpus\":1,\"memory\":\"64\"}}"));
    assert_null(spec_needs_copy(NULL));
    spec_needs_free(NULL);
}

/** memory-mb and vcores are the resource's own; a constraint without a name has its place. */
static void constraints_and_amounts_are_read_and_copied(void **state)
{
    (void)state;
    struct spec_needs *first = needs_of(
        "{\"name\":\"a\",\"resource\":{\"additional\":{\"yarn.io/"
        "gpu\":{\"value\":2},\"vcores\":{\"value\":1}}},"
        "\"placement_policy\":{\"constraints\":["
        "{\"type\":\"ANTI_AFFINITY\",\"scope\":\"RACK\",\"node_partitions\":[\"gpu\"]},"
        "{\"name\":\"few\",\"type\":\"AFFINITY_WITH_CARDINALITY\",\"scope\":\"NODE\",\"min_cardinality\":2,"
        "\"max_cardinality\":5,\"node_attributes\":{\"os\":[\"linux\",\"plan9\"]}}]}}");
    struct spec_needs *needs = spec_needs_copy(first);
    spec_needs_free(first);
    json_auto json_t *penguin = json_pack("{s:s}", "os", "linux"), *other = json_pack("{s:s}", "os", "vms");
    assert_int_equal(needs->n_amounts, 1);
    assert_string_equal(needs->amounts[0].type, "yarn.io/gpu");
    assert_int_equal(needs->amounts[0].n, 2);
    assert_int_equal(needs->n_constraints, 2);
    assert_string_equal(needs->constraints[0].name, "constraints/0");
    assert_int_equal(needs->constraints[0].scope, SCOPE_RACK);
    assert_int_equal(needs->constraints[0].max, 1);
    assert_true(spec_constraint_allows(&needs->constraints[0], NULL, "gpu"));
    assert_false(spec_constraint_allows(&needs->constraints[0], NULL, NULL));
    assert_string_equal(needs->constraints[1].name, "few");
    assert_int_equal(needs->constraints[1].min, 2);
    assert_int_equal(needs->constraints[1].max, 5);
    assert_true(spec_constraint_allows(&needs->constraints[1], penguin, NULL));
    assert_false(spec_constraint_allows(&needs->constraints[1], other, NULL));
    assert_false(spec_constraint_allows(&needs->constraints[1], NULL, NULL));
    spec_needs_free(needs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_amount_has_a_unit),
        cmocka_unit_test(a_resource_without_a_number_is_no_amount),
        cmocka_unit_test(a_component_without_any_needs_nothing),
        cmocka_unit_test(constraints_and_amounts_are_read_and_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
