/** Components of Slider's resources documents. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "slider/conf.h"
#include "slider/model.h"
#include "json/json.h"

/** Read a document with components; the result of slider_model_read. */
static int read_model(const char *components, const struct slider_model *known, struct slider_model *out,
                      struct err_info *why)
{
    mem_auto char *text = mem_fmt("{\"components\":{%s}}", components);
    json_auto json_t *tree = NULL;
    assert_int_equal(slider_conf_read(text, strlen(text), &tree, why), 0);
    json_auto json_t *resolved = slider_conf_resolve(tree);
    return slider_model_read(resolved, known, out, why);
}

/** "name:priority*wanted" of each, by priority. */
static void a_model_is(const struct slider_model *m, const char *expected)
{
    buf_auto struct buf text = BUF_EMPTY;
    for (size_t i = 0; i < m->n; i++)
        buf_addf(&text, "%s%s:%lld*%lld", i ? " " : "", m->items[i].name, (long long)m->items[i].priority,
                 (long long)m->items[i].n_wanted);
    assert_string_equal(buf_cstr(&text), expected);
}

#define ROLE(name, priority, n)                                                                              \
    "\"" name "\":{\"yarn.role.priority\":\"" priority "\",\"yarn.component.instances\":\"" n "\"}"
#define GROUP(name, priority, n)                                                                             \
    "\"" name "\":{\"yarn.role.priority\":\"" priority "\",\"yarn.component.instances\":\"" n                \
    "\",\"component.unique.names\":\"True\"}"

static void good(const char *components, const struct slider_model *known, struct slider_model *out)
{
    struct err_info why;
    if (read_model(components, known, out, &why))
        fail_msg("%s: %s", why.where, why.text);
}

static void components_come_by_priority(void **state)
{
    (void)state;
    struct slider_model m;
    good(ROLE("worker", "2", "5") "," ROLE("web", "1", "2") ",\"slider-appmaster\":{}", NULL, &m);
    a_model_is(&m, "web:1*2 worker:2*5");
    assert_int_equal(m.items[0].memory_mb, 256);
    assert_int_equal(m.items[0].vcores, 1);
    slider_model_fini(&m);
}

static void sizes_may_be_the_most_there_is(void **state)
{
    (void)state;
    struct slider_model m;
    good("\"w\":{\"yarn.role.priority\":\"1\",\"yarn.component.instances\":\"010\",\"yarn.memory\":\"max\","
         "\"yarn.vcores\":\"0x2\",\"yarn.component.placement.policy\":\" 4 \"}",
         NULL, &m);
    assert_true(m.items[0].memory_mb == SLIDER_MOST);
    assert_int_equal(m.items[0].vcores, 2);
    assert_int_equal(m.items[0].n_wanted, 8);
    assert_int_equal(m.items[0].placement, SLIDER_PLACE_ANTI_AFFINE);
    slider_model_fini(&m);
}

static void what_a_document_lacks_stays_known(void **state)
{
    (void)state;
    struct slider_model first, second;
    struct err_info why;
    good(ROLE("web", "1", "2") "," ROLE("worker", "2", "5"), NULL, &first);
    good(ROLE("web", "9", "3") "," ROLE("new", "3", "1"), &first, &second);
    a_model_is(&second, "web:1*3 worker:2*0 new:3*1"); /* the priority of web is not read again */
    slider_model_fini(&first);
    assert_int_equal(read_model(ROLE("other", "2", "1"), &second, &first, &why), ERR_INVALID);
    assert_string_equal(why.where, "/components/other/yarn.role.priority");
    slider_model_fini(&second);
}

static void a_group_has_a_component_for_each_instance(void **state)
{
    (void)state;
    struct slider_model three, two, four;
    good(GROUP("name", "5", "3") "," ROLE("web", "1", "1"), NULL, &three);
    a_model_is(&three, "web:1*1 name1:5*1 name2:6*1 name3:7*1");
    assert_string_equal(slider_component_options(&three.items[1]), "name");
    good(GROUP("name", "5", "2") "," ROLE("web", "1", "1"), &three, &two);
    a_model_is(&two, "web:1*1 name1:5*1 name2:6*1 name3:7*0");
    good(GROUP("name", "5", "4") "," ROLE("web", "1", "1"), &two, &four);
    a_model_is(&four, "web:1*1 name1:5*1 name2:6*1 name3:7*1 name4:8*1");
    assert_null(slider_model_find(&four, "name"));
    slider_model_fini(&three);
    slider_model_fini(&two);
    slider_model_fini(&four);
}

static void a_member_whose_priority_is_taken_gets_the_next_free_one(void **state)
{
    (void)state;
    struct slider_model m;
    good(ROLE("web", "6", "1") "," GROUP("name", "5", "3"), NULL, &m);
    a_model_is(&m, "name1:5*1 web:6*1 name2:7*1 name3:8*1");
    slider_model_fini(&m);
}

static void a_wrong_document_is_refused_by_its_option(void **state)
{
    (void)state;
    static const struct {
        const char *components, *where;
    } rows[] = {
        {"\"w\":{\"yarn.component.instances\":\"1\"}", "/components/w/yarn.role.priority"},
        {"\"w\":{\"yarn.role.priority\":\"1\"}", "/components/w/yarn.component.instances"},
        {ROLE("w", "0", "1"), "/components/w/yarn.role.priority"},
        {ROLE("w", "x", "1"), "/components/w/yarn.role.priority"},
        {ROLE("w", "1", "-2"), "/components/w/yarn.component.instances"},
        {ROLE("w", "1", "two"), "/components/w/yarn.component.instances"},
        {ROLE("w", "1", "1") "," ROLE("v", "1", "1"), "/components/v/yarn.role.priority"},
        {"\"w\":{\"yarn.role.priority\":\"1\",\"yarn.component.instances\":\"1\",\"yarn.memory\":\"lots\"}",
         "/components/w/yarn.memory"},
        {"\"w\":{\"yarn.role.priority\":\"1\",\"yarn.component.instances\":\"1\",\"yarn.vcores\":\"0\"}",
         "/components/w/yarn.vcores"},
        {"\"w\":{\"yarn.role.priority\":\"1\",\"yarn.component.instances\":\"1\","
         "\"yarn.component.placement.policy\":\"4x\"}",
         "/components/w/yarn.component.placement.policy"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct slider_model m;
        struct err_info why = {0};
        int rc = read_model(rows[i].components, NULL, &m, &why);
        if (rc != ERR_INVALID || strcmp(why.where, rows[i].where) != 0)
            fail_msg("%s: %d at %s: %s", rows[i].components, rc, why.where, why.text);
        assert_int_equal(m.n, 0);
    }
}

static void the_failure_window_is_checked(void **state)
{
    (void)state;
    struct slider_model m;
    struct err_info why;
    json_auto json_t *tree = NULL;
    const char *text = "{\"global\":{\"yarn.container.failure.window.hours\":\"-1\"},\"components\":{" ROLE(
        "w", "1", "1") "}}";
    assert_int_equal(slider_conf_read(text, strlen(text), &tree, &why), 0);
    json_auto json_t *resolved = slider_conf_resolve(tree);
    assert_int_equal(slider_model_read(resolved, NULL, &m, &why), ERR_INVALID);
    assert_string_equal(why.where, "/global/yarn.container.failure.window.hours");
}

static void foreign_keys_are_named(void **state)
{
    (void)state;
    json_auto json_t *tree = NULL;
    struct err_info why;
    const char *text =
        "{\"global\":{\"site.x\":\"1\"},\"components\":{\"w\":{\"yarn.memory\":\"1\",\"jvm.heap\":\"1\"}}}";
    assert_int_equal(slider_conf_read(text, strlen(text), &tree, &why), 0);
    mem_auto char *resources = slider_resources_warning(tree), *appconf = slider_appconf_warning(tree);
    assert_non_null(strstr(resources, "global/site.x, w/jvm.heap"));
    assert_non_null(strstr(appconf, "w/yarn.memory"));
    json_auto json_t *empty = slider_conf_new();
    assert_null(slider_resources_warning(empty));
    assert_null(slider_appconf_warning(empty));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(components_come_by_priority),
        cmocka_unit_test(sizes_may_be_the_most_there_is),
        cmocka_unit_test(what_a_document_lacks_stays_known),
        cmocka_unit_test(a_group_has_a_component_for_each_instance),
        cmocka_unit_test(a_member_whose_priority_is_taken_gets_the_next_free_one),
        cmocka_unit_test(a_wrong_document_is_refused_by_its_option),
        cmocka_unit_test(the_failure_window_is_checked),
        cmocka_unit_test(foreign_keys_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
