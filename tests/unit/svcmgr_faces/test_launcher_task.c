/** What a role of a framework comes to as a component. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "json/json.h"
#include "launcher/task.h"

static const char descriptor[] =
    "{\"version\":3,\"platformSpecificParameters\":{\"generateContainerIpList\":true},\"taskRoles\":{\"R.a\":"
    "{\"taskNumber\":2,"
    "\"platformSpecificParameters\":{\"samePortAllocation\":true},\"taskService\":{\"version\":7,"
    "\"entryPoint\":\"run \\\"x\\\"\","
    "\"sourceLocations\":[\" /a/b/ "
    "\",\"hdfs://h/c.zip\",\"rel\"],\"resource\":{\"cpuNumber\":2,\"memoryMB\":512,\"gpuNumber\":2,"
    "\"gpuAttribute\":5,\"portDefinitions\":{\"z\":{\"start\":8080,\"count\":1},\"b\":{\"count\":2},\"a\":{"
    "\"start\":0,\"count\":1},"
    "\"y\":{\"start\":70,\"count\":3}}}}}}}";

static struct launcher_descriptor *read_descriptor(void)
{
    struct ldoc_report report = LDOC_REPORT_EMPTY;
    struct launcher_descriptor *d = NULL;
    json_auto json_t *doc = NULL;
    struct err_info why;

    if (json_read(descriptor, strlen(descriptor), &doc, &why) ||
        launcher_descriptor_read(doc, &d, &report, &why))
        fail_msg("%s", why.text);
    assert_int_equal(report.n_rules, 0);
    ldoc_report_fini(&report);
    return d;
}

static const char *env_of(const struct spec_component *c, const char *name)
{
    return json_string_value(json_object_get(c->configuration->env, name));
}

static void check_env(const struct spec_component *c)
{
    static const char *const wanted[][2] = {
        {"FRAMEWORK_NAME", "F~x"},
        {"FRAMEWORK_VERSION", "3"},
        {"TASK_ROLE_NAME", "R.a"},
        {"TASKROLE_NAME", "R.a"},
        {"SERVICE_NAME", "R.a"},
        {"SERVICE_VERSION", "7"},
        {"LAUNCHER_ADDRESS", "http://h:1"},
        {"ZK_CONNECT_STRING", ""},
        {"AM_VERSION", "0"},
        {"HDFS_ROOT_DIR", "/L"},
        {"HDFS_USER_STORE_ROOT_DIR", "/L/F~x/UserStore"},
        {"HDFS_FRAMEWORK_INFO_FILE", "/L/F~x/FrameworkInfo.json"},
    };

    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        assert_string_equal(env_of(c, wanted[i][0]), wanted[i][1]);
}

static void check_ports(const struct spec_task *task)
{
    static const struct spec_task_ports wanted[] = {
        {(char *)"y", 70, 3}, {(char *)"z", 8080, 1}, {(char *)"a", 0, 1}, {(char *)"b", 0, 2}};

    assert_int_equal(task->n_ports, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(task->ports[i]->label, wanted[i].label);
        assert_int_equal(task->ports[i]->start, wanted[i].start);
        assert_int_equal(task->ports[i]->count, wanted[i].count);
    }
}

static void a_role_becomes_a_component(void **state)
{
    (void)state;
    const struct launcher_task_site site = {
        .address = "http://h:1", .hdfs_root = "/L", .fs_uri = "hdfs://nn:8020/"};
    struct launcher_descriptor *d = read_descriptor();
    struct spec_component *c = fld_new(&spec_component_type);

    launcher_task_fill(&site, "F~x", d, d->roles[0], c);
    assert_string_equal(c->launch_command, "run \"x\"");
    assert_int_equal(c->resource->cpus, 2);
    assert_int_equal(spec_memory_mb(c), 512);
    assert_int_equal(c->task->gpu_mask, 5);
    assert_true(c->task->has_ip_list && c->task->same_ports);
    assert_int_equal(c->task->n_sources, 3);
    assert_string_equal(c->task->sources[0], "hdfs://nn:8020/a/b");
    assert_string_equal(c->task->sources[1], "hdfs://h/c.zip");
    assert_string_equal(c->task->sources[2], "rel");
    check_env(c);
    check_ports(c->task);
    /* What is stored is the same again. */
    json_auto json_t *written = fld_write(&spec_component_type, c), *again = NULL;
    struct spec_component *copy = fld_copy(&spec_component_type, c);
    again = fld_write(&spec_component_type, copy);
    assert_true(json_equal(written, again));
    fld_free(&spec_component_type, copy);
    fld_free(&spec_component_type, c);
    launcher_descriptor_free(d);
}

static void without_hdfs_paths_are_the_hosts(void **state)
{
    (void)state;
    const struct launcher_task_site site = {.fs_uri = "file:///"};
    struct launcher_descriptor *d = read_descriptor();
    struct spec_component *c = fld_new(&spec_component_type);

    launcher_task_fill(&site, "F", d, d->roles[0], c);
    assert_string_equal(c->task->sources[0], "/a/b");
    assert_string_equal(env_of(c, "HDFS_ROOT_DIR"), "");
    fld_free(&spec_component_type, c);
    launcher_descriptor_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_role_becomes_a_component),
        cmocka_unit_test(without_hdfs_paths_are_the_hosts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
