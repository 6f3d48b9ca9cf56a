/** What Slider applications run: definitions of the engine and their rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "json/json.h"
#include "slider/conf.h"
#include "slider/definition.h"

/** An application as its documents make it. */
struct made {
    json_t *resources, *app_conf, *package;
    struct slider_model model;
    struct slider_documents docs;
};

static json_t *resolved_of(const char *text)
{
    struct err_info why;
    json_auto json_t *tree = NULL;
    if (slider_conf_read(text, strlen(text), &tree, &why))
        fail_msg("%s: %s", why.where, why.text);
    return slider_conf_resolve(tree);
}

static void make(struct made *m, const char *resources, const char *app_conf, const char *package)
{
    struct err_info why;
    *m = (struct made){.resources = resolved_of(resources), .app_conf = resolved_of(app_conf)};
    if (package)
        assert_int_equal(json_read(package, strlen(package), &m->package, &why), 0);
    if (slider_model_read(m->resources, NULL, &m->model, &why))
        fail_msg("%s: %s", why.where, why.text);
    m->docs = (struct slider_documents){
        .name = "app", .resources = m->resources, .app_conf = m->app_conf, .package = m->package};
}

static void unmake(struct made *m)
{
    json_decref(m->resources);
    json_decref(m->app_conf);
    json_decref(m->package);
    slider_model_fini(&m->model);
}

#define RESOURCES(global, options)                                                                           \
    "{\"global\":{" global "},\"components\":{\"w\":{\"yarn.role.priority\":\"3\","                          \
    "\"yarn.component.instances\":\"2\"" options "}}}"

static void an_application_is_a_definition(void **state)
{
    (void)state;
    struct made m;
    make(&m,
         RESOURCES(
             "\"yarn.container.failure.window.hours\":\"1\"",
             ",\"yarn.memory\":\"max\",\"yarn.vcores\":\"99\",\"yarn.container.failure.threshold\":\"0x7\","
             "\"yarn.component.placement.policy\":\"4\",\"yarn.label.expression\":\"gpu\""),
         "{\"global\":{\"env.HOME\":\"{$conf:@//site/global/home}/x\",\"site.global.home\":\"/h\","
         "\"site.hbase-site.a.b\":\"1\",\"launch_command\":\"run {$conf:@//site/hbase-site/a.b} "
         "{$conf:@//site/no/no}\",\"site.global.app_version\":\"2\"},\"components\":{\"w\":{}}}",
         NULL);
    struct err_info why;
    assert_int_equal(slider_definition_check(&m.docs, &m.model, &why), 0);
    json_auto json_t *doc =
        slider_definition_make(&m.docs, &m.model, &(struct slider_limits){.memory_mb = 4096, .vcores = 8});
    buf_auto struct buf text = BUF_EMPTY;
    json_write(doc, &text);
    assert_string_equal(
        buf_cstr(&text),
        "{\"name\":\"app\",\"version\":\"2\",\"components\":[{\"name\":\"w\",\"number_of_containers\":2,"
        "\"resource\":{\"cpus\":8,\"memory\":\"4096\"},\"configuration\":{\"properties\":{"
        "\"yarn.service.container-failure-per-component.threshold\":\"7\","
        "\"yarn.service.failure-count-reset.window\":\"3600\"},\"env\":{\"HOME\":\"/h/x\"},"
        "\"files\":[{\"type\":\"XML\",\"dest_file\":\"hbase-site.xml\",\"properties\":{\"a.b\":\"1\"}}]},"
        "\"launch_command\":\"run 1 "
        "{$conf:@//site/no/no}\",\"placement_policy\":{\"label\":\"gpu\",\"constraints\":"
        "[{\"type\":\"ANTI_AFFINITY\",\"scope\":\"NODE\",\"target_tags\":[\"w\"]}]}}]}");
    struct spec_service *spec = NULL;
    assert_int_equal(spec_read(text.bytes, text.len, &spec, NULL, &why), 0);
    spec_free(spec);
    unmake(&m);
}

static void a_package_names_files(void **state)
{
    (void)state;
    struct made m;
    make(&m, RESOURCES("", ""),
         "{\"global\":{\"launch_command\":\"x\",\"site.zoo.port\":\"1\",\"site.other.a\":\"b\"},"
         "\"components\":{\"w\":{}}}",
         "{\"components\":{},\"configFiles\":{\"zoo\":{\"type\":\"PROPERTIES\",\"fileName\":\"zoo.cfg\"}},"
         "\"files\":[{\"type\":\"ARCHIVE\",\"src_file\":\"/p.zip\",\"dest_file\":\"definition\"}]}");
    json_auto json_t *doc = slider_definition_make(&m.docs, &m.model, &(struct slider_limits){0});
    const json_t *w = json_array_get(json_object_get(doc, "components"), 0);
    mem_auto char *files =
        json_dumps(json_object_get(json_object_get(w, "configuration"), "files"), JSON_COMPACT);
    assert_string_equal(
        files, "[{\"type\":\"PROPERTIES\",\"dest_file\":\"zoo.cfg\",\"properties\":{\"port\":\"1\"}},"
               "{\"type\":\"XML\",\"dest_file\":\"other.xml\",\"properties\":{\"a\":\"b\"}},"
               "{\"type\":\"ARCHIVE\",\"src_file\":\"/p.zip\",\"dest_file\":\"definition\"}]");
    unmake(&m);
}

static void what_is_not_normalized_is_asked_for_as_it_is(void **state)
{
    (void)state;
    struct made m;
    make(&m, RESOURCES("", ",\"yarn.memory\":\"9999\",\"yarn.resource.normalization.enabled\":\"false\""),
         "{}", NULL);
    json_auto json_t *doc =
        slider_definition_make(&m.docs, &m.model, &(struct slider_limits){.memory_mb = 4096, .vcores = 8});
    const json_t *w = json_array_get(json_object_get(doc, "components"), 0);
    assert_string_equal(json_string_value(json_object_get(json_object_get(w, "resource"), "memory")), "9999");
    unmake(&m);
}

static void priorities_and_placement_are_rules(void **state)
{
    (void)state;
    struct made m;
    struct eng_rules *rules = NULL;
    struct err_info why;
    make(
        &m,
        RESOURCES("", ",\"yarn.component.placement.policy\":\"3\",\"yarn.placement.escalate.seconds\":\"7\""),
        "{}", NULL);
    assert_int_equal(slider_definition_rules(&m.docs, &m.model, &rules, &why), 0);
    const struct eng_component_rules *r = eng_rules_of(rules, "w");
    assert_int_equal(r->priority, 3);
    assert_true(r->is_strict);
    assert_true(r->forgets_nodes);
    assert_int_equal(r->escalate_ms, 7000);
    eng_rules_free(rules);
    unmake(&m);
}

static void anti_affine_ones_are_asked_for_one_by_one(void **state)
{
    (void)state;
    for (int policy = 0; policy < 8; policy++) {
        struct made m;
        struct eng_rules *rules = NULL;
        struct err_info why;
        mem_auto char *resources =
            mem_fmt(RESOURCES("", ",\"yarn.component.placement.policy\":\"%d\""), policy);
        make(&m, resources, "{}", NULL);
        assert_int_equal(slider_definition_rules(&m.docs, &m.model, &rules, &why), 0);
        assert_int_equal(eng_rules_of(rules, "w")->one_by_one, (policy & 4) != 0);
        eng_rules_free(rules);
        unmake(&m);
    }
}

#define ATTRIBUTE "\"service.record.attribute."

/** Those of the application master are its own and those of all, whether it is named or not. */
static void attributes_of_records_are_rules(void **state)
{
    (void)state;
    static const struct {
        const char *app_conf, *of_all, *of_w;
    } rows[] = {
        {"{}", "none", "none"},
        {"{\"global\":{" ATTRIBUTE "a\":\"1\",\"site.global.x\":\"2\"}}", "{\"a\":\"1\"}", "{\"a\":\"1\"}"},
        {"{\"global\":{" ATTRIBUTE "a\":\"1\"},\"components\":{\"slider-appmaster\":{" ATTRIBUTE "m\":\"2\"},"
         "\"w\":{" ATTRIBUTE "a\":\"3\"," ATTRIBUTE "\":\"4\"}}}",
         "{\"a\":\"1\",\"m\":\"2\"}", "{\"a\":\"3\"}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct made m;
        struct eng_rules *rules = NULL;
        struct err_info why;
        make(&m, RESOURCES("", ""), rows[i].app_conf, NULL);
        assert_int_equal(slider_definition_rules(&m.docs, &m.model, &rules, &why), 0);
        mem_auto char *of_all = json_dumps(rules->attributes, JSON_COMPACT | JSON_SORT_KEYS);
        mem_auto char *of_w = json_dumps(eng_rules_of(rules, "w")->attributes, JSON_COMPACT | JSON_SORT_KEYS);
        assert_string_equal(of_all ? of_all : "none", rows[i].of_all);
        assert_string_equal(of_w ? of_w : "none", rows[i].of_w);
        eng_rules_free(rules);
        unmake(&m);
    }
}

static void a_short_life_is_of_the_resources(void **state)
{
    (void)state;
    static const struct {
        const char *option;
        int rc;
        int64_t ms;
    } rows[] = {{"", 0, 60000},
                {"\"internal.container.failure.shortlife\":\"010\"", 0, 8000},
                {"\"internal.container.failure.shortlife\":\"0\"", 0, 0},
                {"\"internal.container.failure.shortlife\":\"-1\"", ERR_INVALID, 0},
                {"\"internal.container.failure.shortlife\":\"1m\"", ERR_INVALID, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct made m;
        struct eng_rules *rules = NULL;
        struct err_info why;
        mem_auto char *resources = mem_fmt(RESOURCES("%s", ""), rows[i].option);
        make(&m, resources, "{}", NULL);
        assert_int_equal(slider_definition_rules(&m.docs, &m.model, &rules, &why), rows[i].rc);
        assert_true(!rules == (rows[i].rc != 0));
        if (rules)
            assert_int_equal(rules->short_life_ms, rows[i].ms);
        eng_rules_free(rules);
        unmake(&m);
    }
}

static void a_package_has_the_last_word(void **state)
{
    (void)state;
    static const struct {
        const char *package, *part;
    } rows[] = {
        {"{\"components\":{\"w\":{\"exec\":\"x\",\"min\":3}}}", "3 or more"},
        {"{\"components\":{\"w\":{\"exec\":\"x\",\"max\":\"1\"}}}", "1 or less"},
        {"{\"components\":{\"w\":{\"exec\":\"x\",\"category\":\"CLIENT\"}}}", "client"},
        {"{\"components\":{\"v\":{\"exec\":\"x\"}}}", "none of the application's package"},
        {"{\"components\":{}}", "launch_command"},
        {"{\"components\":{\"w\":{\"exec\":\"x\",\"min\":1,\"max\":2}}}", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct made m;
        struct err_info why = {0};
        make(&m, RESOURCES("", ""), "{}", rows[i].package);
        int rc = slider_definition_check(&m.docs, &m.model, &why);
        if (rows[i].part ? rc != ERR_INVALID || !strstr(why.text, rows[i].part) : rc != 0)
            fail_msg("%s: %d: %s", rows[i].package, rc, why.text);
        unmake(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_application_is_a_definition),
        cmocka_unit_test(a_package_names_files),
        cmocka_unit_test(what_is_not_normalized_is_asked_for_as_it_is),
        cmocka_unit_test(priorities_and_placement_are_rules),
        cmocka_unit_test(anti_affine_ones_are_asked_for_one_by_one),
        cmocka_unit_test(attributes_of_records_are_rules),
        cmocka_unit_test(a_short_life_is_of_the_resources),
        cmocka_unit_test(a_package_has_the_last_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
