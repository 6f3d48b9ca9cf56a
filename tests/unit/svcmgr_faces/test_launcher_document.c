/** Request documents of FrameworkLauncher: what is taken, which rule is broken where, what is written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/obj.h"
#include "json/json.h"
#include "launcher/descriptor.h"

#define ROLE(resource, more)                                                                                 \
    "{\"version\":1,\"taskRoles\":{\"w\":{\"taskNumber\":1," more "\"taskService\":{\"version\":1,"          \
    "\"entryPoint\":\"e\",\"sourceLocations\":[\"/"                                                          \
    "s\"],\"resource\":{\"cpuNumber\":1,\"memoryMB\":1" resource "}}}}}"

/** A document read, and its rules. */
struct taken {
    int err;
    struct launcher_descriptor *d;
    struct ldoc_report report;
    struct err_info why;
};

static struct taken take(const char *text)
{
    struct taken t = {.report = LDOC_REPORT_EMPTY};
    json_auto json_t *value = NULL;
    assert_int_equal(json_read(text, strlen(text), &value, &t.why), 0);
    t.err = launcher_descriptor_read(value, &t.d, &t.report, &t.why);
    return t;
}

static void taken_fini(struct taken *t)
{
    launcher_descriptor_free(t->d);
    ldoc_report_fini(&t->report);
}
#define taken_auto __attribute__((cleanup(taken_fini)))

static void an_absent_member_has_its_default(void **state)
{
    (void)state;
    taken_auto struct taken t = take(ROLE("", ""));
    assert_int_equal(t.err, 0);
    assert_int_equal(t.report.n_rules, 0);
    assert_string_equal(t.d->user.name, "default");
    assert_int_equal(t.d->roles[0]->completion.min_failed, 1);
    assert_int_equal(t.d->roles[0]->completion.min_succeeded, LAUNCHER_NULL);
    assert_int_equal(t.d->platform.am_resource.memory_mb, 4096);
}

static void what_is_written_reads_the_same(void **state)
{
    (void)state;
    taken_auto struct taken t = take(ROLE(",\"portDefinitions\":{\"http\":{\"start\":80,\"count\":2}}",
                                          "\"applicationCompletionPolicy\":{\"minFailedTaskCount\":null},"));
    json_auto json_t *once = launcher_descriptor_write(t.d);
    mem_auto char *text = json_dumps(once, JSON_COMPACT);
    taken_auto struct taken again = take(text);
    json_auto json_t *twice = launcher_descriptor_write(again.d);
    assert_int_equal(again.report.n_rules, 0);
    assert_int_equal(again.d->roles[0]->completion.min_failed, LAUNCHER_NULL);
    assert_true(json_equal(once, twice));
}

static void every_broken_rule_is_named(void **state)
{
    static const struct {
        const char *text, *rules;
    } rows[] = {
        {"{}", "version: may not be null\ntaskRoles: may not be null"},
        {"{\"version\":1,\"taskRoles\":{}}", "taskRoles: may not be empty"},
        {"{\"version\":1,\"taskRoles\":{\"w\":null}}", "taskRoles: Map value is null for Map key: [w]"},
        {ROLE(",\"gpuNumber\":2,\"gpuAttribute\":1", ""),
         "taskRoles[w].taskService.resource: GpuNumber [2] is not consistent with GpuAttribute [1(1)]"},
        {ROLE("", "\"scaleUnitNumber\":null,"), "taskRoles[w].scaleUnitNumber: may not be null"},
        {ROLE(",\"portDefinitions\":{\"a\":{\"start\":65535,\"count\":2}}", ""),
         "taskRoles[w].taskService.resource.portDefinitions: Ports [a] end beyond 65535"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        taken_auto struct taken t = take(rows[i].text);
        assert_int_equal(t.err, 0);
        assert_string_equal(buf_cstr(&t.report.rules), rows[i].rules);
    }
}

static void a_value_of_another_type_is_refused_by_its_path(void **state)
{
    static const struct {
        const char *text, *where;
    } rows[] = {
        {"[]", ""},
        {"{\"version\":true}", "version"},
        {"{\"version\":1.5}", "version"},
        {"{\"version\":2147483648}", "version"},
        {"{\"version\":1,\"executionType\":\"stop\"}", "executionType"},
        {ROLE(",\"diskType\":\"1\"", ""), "taskRoles[w].taskService.resource.diskType"},
        {ROLE(",\"diskType\":2", ""), "taskRoles[w].taskService.resource.diskType"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        taken_auto struct taken t = take(rows[i].text);
        assert_int_equal(t.err, ERR_JSON);
        assert_string_equal(t.why.where, rows[i].where);
    }
}

static void texts_numbers_and_ordinals_stand_for_others(void **state)
{
    (void)state;
    taken_auto struct taken t = take(ROLE(",\"diskType\":1,\"diskMB\":\"5\",\"gpuNumber\":2.0",
                                          "\"taskRetryPolicy\":{\"fancyRetryPolicy\":\"true\"},"));
    const struct launcher_role *role = t.d ? t.d->roles[0] : NULL;
    assert_int_equal(t.err, 0);
    assert_int_equal(role->service.resource.disk, LAUNCHER_SSD);
    assert_int_equal(role->service.resource.disk_mb, 5);
    assert_int_equal(role->service.resource.n_gpus, 2);
    assert_true(role->retry.is_fancy);
}

static void a_set_keeps_each_user_once(void **state)
{
    const char *text = "{\"normalAdminUsers\":[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"a\"}]}";
    struct ldoc_report report = LDOC_REPORT_EMPTY;
    struct err_info why;
    json_auto json_t *value = NULL;
    void *object = NULL;
    (void)state;
    assert_int_equal(json_read(text, strlen(text), &value, &why), 0);
    assert_int_equal(ldoc_read(&launcher_acl_type, value, &object, &report, &why), 0);
    assert_int_equal(((struct launcher_acl *)object)->n_admins, 2);
    ldoc_free(&launcher_acl_type, object);
    ldoc_report_fini(&report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_absent_member_has_its_default),
        cmocka_unit_test(what_is_written_reads_the_same),
        cmocka_unit_test(every_broken_rule_is_named),
        cmocka_unit_test(a_value_of_another_type_is_refused_by_its_path),
        cmocka_unit_test(texts_numbers_and_ordinals_stand_for_others),
        cmocka_unit_test(a_set_keeps_each_user_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
