/** Configuration trees of Slider and their options. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "slider/conf.h"
#include "json/json.h"

static json_t *read_tree(const char *text)
{
    json_t *tree = NULL;
    struct err_info why;
    if (slider_conf_read(text, strlen(text), &tree, &why))
        fail_msg("%s: %s", why.where, why.text);
    return tree;
}

static void a_tree_is(const json_t *tree, const char *expected)
{
    buf_auto struct buf text = BUF_EMPTY;
    json_write(tree, &text);
    assert_string_equal(buf_cstr(&text), expected);
}

#define SCHEMA "\"schema\":\"http://example.org/specification/v2.0.0\""

static void an_empty_tree_gets_all_members(void **state)
{
    (void)state;
    json_auto json_t *tree = read_tree("{}");
    a_tree_is(tree, "{" SCHEMA ",\"metadata\":{},\"global\":{},\"credentials\":{},\"components\":{}}");
}

static void options_are_texts_as_they_were_written(void **state)
{
    (void)state;
    json_auto json_t *tree = read_tree("{\"components\":{\"w\":{\"a\":5,\"b\":true,\"c\":1.50,\"d\":\"x\","
                                       "\"e\":1e3,\"f\":false}},\"more\":[{}],"
                                       "\"global\":{\"g\":-0},\"metadata\":{\"n\":5,\"l\":[null,{\"x\":1}]},"
                                       "\"credentials\":{\"jceks://a\":[\"k\"]}}");
    a_tree_is(tree,
              "{" SCHEMA ",\"metadata\":{\"n\":5,\"l\":[null,{\"x\":1}]},\"global\":{\"g\":\"-0\"},"
              "\"credentials\":{\"jceks://a\":[\"k\"]},\"components\":{\"w\":{\"a\":\"5\",\"b\":\"true\","
              "\"c\":\"1.50\",\"d\":\"x\",\"e\":\"1e3\",\"f\":\"false\"}}}");
}

static void counters_of_a_live_view_are_left_out(void **state)
{
    (void)state;
    json_auto json_t *tree = read_tree(
        "{\"components\":{\"w\":{\"yarn.component.instances\":\"2\",\"yarn.component.instances.actual\":"
        "\"1\","
        "\"yarn.component.instances.requesting\":\"1\",\"yarn.component.instances.releasing\":\"0\","
        "\"yarn.component.instances.failed\":\"0\",\"yarn.component.instances.completed\":\"0\","
        "\"yarn.component.instances.started\":\"1\"}}}");
    assert_int_equal(json_object_size(slider_conf_component(tree, "w")), 1);
}

struct wrong {
    const char *text;
    int code;
    const char *where;
};

static void a_wrong_shape_is_named_by_its_place(void **state)
{
    (void)state;
    static const struct wrong rows[] = {
        {"", ERR_JSON, NULL},
        {"null", ERR_JSON, ""},
        {"[]", ERR_JSON, ""},
        {"{\"global\":", ERR_JSON, NULL},
        {"{\"global\":null}", ERR_JSON, "/global"},
        {"{\"global\":[]}", ERR_JSON, "/global"},
        {"{\"global\":{\"a\":null}}", ERR_JSON, "/global/a"},
        {"{\"components\":null}", ERR_JSON, "/components"},
        {"{\"components\":{\"w\":null}}", ERR_JSON, "/components/w"},
        {"{\"components\":{\"w\":{\"a\":{}}}}", ERR_JSON, "/components/w/a"},
        {"{\"components\":{\"w\":{\"a\":[1]}}}", ERR_JSON, "/components/w/a"},
        {"{\"metadata\":1}", ERR_JSON, "/metadata"},
        {"{\"credentials\":{\"u\":\"k\"}}", ERR_JSON, "/credentials"},
        {"{\"credentials\":{\"u\":[1]}}", ERR_JSON, "/credentials"},
        {"{\"schema\":1}", ERR_JSON, "/schema"},
        {"{\"schema\":\"v1\"}", ERR_INVALID, "/schema"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *tree = NULL;
        struct err_info why = {0};
        int rc = slider_conf_read(rows[i].text, strlen(rows[i].text), &tree, &why);
        if (rc != rows[i].code || (rows[i].where && strcmp(why.where, rows[i].where) != 0))
            fail_msg("%s: %d at %s: %s", rows[i].text, rc, why.where, why.text);
        assert_null(tree);
        assert_true(strlen(why.text) > 0);
    }
}

static void too_many_components_are_refused(void **state)
{
    (void)state;
    buf_auto struct buf text = BUF_EMPTY;
    buf_add_str(&text, "{\"components\":{");
    for (int i = 0; i <= SLIDER_COMPONENTS_MAX; i++)
        buf_addf(&text, "%s\"c%d\":{}", i ? "," : "", i);
    buf_add_str(&text, "}}");
    json_t *tree = NULL;
    struct err_info why;
    assert_int_equal(slider_conf_read(text.bytes, text.len, &tree, &why), ERR_INVALID);
    assert_string_equal(why.where, "/components");
}

static void nesting_is_bounded(void **state)
{
    (void)state;
    buf_auto struct buf text = BUF_EMPTY;
    buf_add_str(&text, "{\"metadata\":{\"a\":");
    for (int i = 0; i < 100000; i++)
        buf_add_char(&text, '[');
    json_t *tree = NULL;
    struct err_info why;
    assert_int_equal(slider_conf_read(text.bytes, text.len, &tree, &why), ERR_JSON);
}

/** The example of 4.1. */
static void components_inherit_global_options(void **state)
{
    (void)state;
    json_auto json_t *tree = read_tree("{\"global\":{\"g1\":\"a\",\"g2\":\"b\"},\"components\":{\"simple\":{}"
                                       ",\"master\":{\"name\":\"m\",\"g1\":\"x\"}}}");
    json_auto json_t *resolved = slider_conf_resolve(tree);
    json_auto json_t *again = slider_conf_resolve(resolved);
    a_tree_is(
        resolved,
        "{" SCHEMA ",\"metadata\":{},\"global\":{\"g1\":\"a\",\"g2\":\"b\"},\"credentials\":{},"
        "\"components\":{\"simple\":{\"g1\":\"a\",\"g2\":\"b\"},\"master\":{\"name\":\"m\",\"g1\":\"x\","
        "\"g2\":\"b\"}}}");
    assert_true(json_equal(resolved, again));
    assert_int_equal(json_object_size(slider_conf_component(tree, "simple")), 0);
}

static void integers_are_decoded_as_java_does(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {{"0", 0},     {"7", 7},      {"-2", -2},  {"+3", 3},
                {"0x10", 16}, {"0XfF", 255}, {"#1a", 26}, {"-#a", -10},
                {"010", 8},   {"-010", -8},  {"00", 0},   {"9223372036854775807", INT64_MAX}};
    static const char *const bad[] = {
        "", " 1", "1 ", "x", "0x", "08", "1.5", "--1", "0x0x1", "# 1", "0 1", "+", "9223372036854775808"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        int64_t value = 99;
        if (slider_decode(good[i].text, &value) || value != good[i].value)
            fail_msg("%s is %lld", good[i].text, (long long)value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int64_t value = 99;
        if (!slider_decode(bad[i], &value) || value != 99)
            fail_msg("\"%s\" is %lld", bad[i], (long long)value);
    }
}

static void spans_are_the_sum_of_their_parts(void **state)
{
    (void)state;
    json_auto json_t *tree = read_tree("{\"global\":{\"w.hours\":\"1\",\"w.seconds\":\"5\",\"n.days\":\"-1\","
                                       "\"far.days\":\"99999999\",\"x.hours\":\"a\"}}");
    int64_t s = 0;
    struct err_info why;
    assert_int_equal(slider_conf_span(tree, NULL, "w", 7, &s, &why), 0);
    assert_int_equal(s, 3605);
    assert_int_equal(slider_conf_span(tree, NULL, "none", 7, &s, &why), 0);
    assert_int_equal(s, 7);
    assert_int_equal(slider_conf_span(tree, NULL, "n", 7, &s, &why), ERR_INVALID);
    assert_string_equal(why.where, "/global/n.days");
    assert_int_equal(slider_conf_span(tree, NULL, "far", 7, &s, &why), ERR_INVALID);
    assert_int_equal(slider_conf_span(tree, NULL, "x", 7, &s, &why), ERR_INVALID);
    assert_int_equal(s, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_tree_gets_all_members),
        cmocka_unit_test(options_are_texts_as_they_were_written),
        cmocka_unit_test(counters_of_a_live_view_are_left_out),
        cmocka_unit_test(a_wrong_shape_is_named_by_its_place),
        cmocka_unit_test(too_many_components_are_refused),
        cmocka_unit_test(nesting_is_bounded),
        cmocka_unit_test(components_inherit_global_options),
        cmocka_unit_test(integers_are_decoded_as_java_does),
        cmocka_unit_test(spans_are_the_sum_of_their_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
