/** Stored documents of Slider applications: svcmgr/faces/slider/documents.h, condition.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/obj.h"
#include "json/json.h"
#include "slider/condition.h"
#include "slider/conf.h"
#include "slider/documents.h"

static json_t *json_of(const char *text)
{
    json_t *value = NULL;
    assert_int_equal(json_read(text, strlen(text), &value, NULL), 0);
    return value;
}

/** A service of the Slider API with a stored request; the caller frees the request. */
static struct eng_service service_of(json_t *request)
{
    static struct spec_service spec = {.name = (char *)"web"};
    return (struct eng_service){
        .kind = KIND_SLIDER, .name = (char *)"web", .spec = &spec, .request = request};
}

static void documents_are_read(void **state)
{
    (void)state;
    json_auto json_t *body = json_of(
        "{\"resources\":{\"components\":{\"w\":{\"yarn.memory\":64}}},\"appConf\":{\"global\":{\"a\":true}},"
        "\"package\":{\"name\":\"p\"},\"more\":1}");
    slider_trees_auto struct slider_trees t;
    struct err_info why = {0};
    assert_int_equal(slider_trees_read(body, &t, &why), 0);
    assert_string_equal(slider_conf_option(t.resources, "w", "yarn.memory"), "64");
    assert_string_equal(slider_conf_option(t.app_conf, NULL, "a"), "true");
    assert_int_equal(json_object_size(t.internal), 5);
    assert_non_null(t.package);
}

static void wrong_documents_are_named(void **state)
{
    static const struct {
        const char *text, *where;
    } rows[] = {{"[]", ""},
                {"{}", "/resources"},
                {"{\"resources\":null}", "/resources"},
                {"{\"resources\":{\"components\":{\"w\":null}}}", "/resources/components/w"},
                {"{\"resources\":{},\"appConf\":{\"schema\":\"v1\"}}", "/appConf/schema"},
                {"{\"resources\":{},\"internal\":{\"global\":[]}}", "/internal/global"},
                {"{\"resources\":{},\"package\":1}", "/package"}};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        json_auto json_t *body = json_of(rows[i].text);
        slider_trees_auto struct slider_trees t;
        struct err_info why = {0};
        assert_int_not_equal(slider_trees_read(body, &t, &why), 0);
        assert_string_equal(why.where, rows[i].where);
        assert_null(t.resources);
    }
}

/** What is stored is read back, with the components that are known. */
static void what_is_stored_is_read_back(void **state)
{
    (void)state;
    json_auto json_t *body =
        json_of("{\"resources\":{\"components\":{\"w\":{\"component.unique.names\":\"true\","
                "\"yarn.role.priority\":\"5\",\"yarn.component.instances\":\"2\"}}}}");
    slider_trees_auto struct slider_trees t, again;
    struct slider_model model, known;
    struct err_info why = {0};
    slider_trees_read(body, &t, &why);
    json_auto json_t *resolved = slider_resolved_resources(&t);
    assert_int_equal(slider_model_read(resolved, NULL, &model, &why), 0);
    json_auto json_t *stored = slider_stored(&t, &model);
    const struct eng_service s = service_of(stored);
    slider_trees_of(&s, &again);
    assert_true(json_equal(again.resources, t.resources));
    assert_null(again.next_app_conf);
    slider_known(&s, &known);
    assert_int_equal(known.n, 2);
    const struct slider_component *second = slider_model_find(&known, "w2");
    assert_string_equal(second->group, "w");
    assert_int_equal(second->index, 2);
    assert_int_equal(second->priority, 6);
    slider_model_fini(&model);
    slider_model_fini(&known);
}

/** There is one application master, whatever was put. */
static void the_master_is_one(void **state)
{
    (void)state;
    json_auto json_t *body =
        json_of("{\"resources\":{\"global\":{\"g\":\"1\"},\"components\":{\"" SLIDER_MASTER
                "\":{\"yarn.component.instances\":\"3\"}}}}");
    slider_trees_auto struct slider_trees t;
    struct err_info why = {0};
    slider_trees_read(body, &t, &why);
    json_auto json_t *resources = slider_resolved_resources(&t);
    json_auto json_t *app_conf = slider_resolved_app_conf(&t);
    assert_string_equal(slider_conf_option(resources, SLIDER_MASTER, "yarn.component.instances"), "1");
    assert_string_equal(slider_conf_option(t.resources, SLIDER_MASTER, "yarn.component.instances"), "3");
    assert_non_null(slider_conf_component(app_conf, SLIDER_MASTER));
    assert_null(slider_conf_component(t.app_conf, SLIDER_MASTER));
}

/** A damaged document of the store is read as far as it can be. */
static void what_is_not_stored_is_empty(void **state)
{
    (void)state;
    json_auto json_t *stored = json_of("{\"model\":[1,{\"priority\":2},{\"name\":\"w\"}]}");
    const struct eng_service s = service_of(stored);
    slider_trees_auto struct slider_trees t;
    struct slider_model known;
    slider_trees_of(&s, &t);
    assert_int_equal(json_object_size(t.resources), 5);
    slider_known(&s, &known);
    assert_int_equal(known.n, 1);
    slider_model_fini(&known);
}

static void another_document_has_another_tag(void **state)
{
    (void)state;
    char a[SLIDER_TAG_ROOM], b[SLIDER_TAG_ROOM];
    json_auto json_t *one = json_of("{\"a\":1}");
    json_auto json_t *two = json_of("{\"a\":2}");
    slider_tag(one, a);
    slider_tag(two, b);
    assert_string_not_equal(a, b);
    slider_tag(one, b);
    assert_string_equal(a, b);
    assert_int_equal(strlen(a), 34);
    assert_int_equal(a[0], '"');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_are_read),          cmocka_unit_test(wrong_documents_are_named),
        cmocka_unit_test(what_is_stored_is_read_back), cmocka_unit_test(the_master_is_one),
        cmocka_unit_test(what_is_not_stored_is_empty), cmocka_unit_test(another_document_has_another_tag),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
