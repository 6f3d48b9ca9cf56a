/** Tasks of frameworks: ports, environment and files of a launch, and the end for a source that is missing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine_kit.h"
#include "json/json.h"

#define TASK                                                                                                 \
    "{\"name\":\"f\",\"version\":\"1\",\"components\":[{\"name\":\"w\",\"number_of_containers\":%d,"         \
    "\"launch_command\":\"run ${USER} {{X}}\",\"resource\":{\"cpus\":1,\"memory\":\"64\",\"additional\":{"   \
    "\"yarn.io/"                                                                                             \
    "gpu\":{\"value\":1}}},\"configuration\":{\"env\":{\"FRAMEWORK_NAME\":\"A~b\"}},\"task\":{%s}}]}"

/** Make a framework of n tasks. */
static void make(struct kit *k, int n, const char *task)
{
    mem_auto char *text = mem_fmt(TASK, n, task);
    json_auto json_t *doc = NULL;
    struct err_info why;
    void *spec = NULL;
    if (json_read(text, strlen(text), &doc, &why) || fld_read(&spec_service_type, doc, &spec, &why))
        fail_msg("%s", why.text);
    k->service_kind = KIND_LAUNCHER;
    kit_ask(k, (struct eng_event){
                   .kind = EV_CREATE, .name = "f", .take_spec = spec, .take_rules = eng_rules_new()});
}

static const struct eng_launch *launch_of(const struct kit *k)
{
    return kit_last(k, EFF_LAUNCH)->launch;
}

static const char *env_of(const struct kit *k, const char *name)
{
    const struct eng_launch *l = launch_of(k);
    const char *value = NULL;
    for (size_t i = 0; i < l->n_env; i++)
        value = strcmp(l->env[i].name, name) == 0 ? l->env[i].value : value;
    return value;
}

static void a_task_gets_its_ports(void **state)
{
    (void)state;
    struct kit k;
    int a, b, c;
    char rest;
    kit_start(&k, "seed");
    make(&k, 1,
         "\"ports\":[{\"label\":\"s.x\",\"start\":40,\"count\":2},{\"label\":\"d1\",\"count\":2},{\"label\":"
         "\"d2\"}]");
    const char *text = env_of(&k, "CONTAINER_PORTS");
    if (sscanf(text, "s.x:40,41;d1:%d,%d;d2:%d%c", &a, &b, &c, &rest) != 4 || rest != ';')
        fail_msg("%s", text);
    assert_true(2000 <= a && a < b && b < c);
    mem_auto char *shown = eng_task_ports_text(kit_instance(&k, "f", "w-0"));
    assert_string_equal(shown, text);
    mem_auto char *before = mem_str(text);
    kit_crash(&k);
    kit_recover(&k);
    mem_auto char *after = eng_task_ports_text(kit_instance(&k, "f", "w-0"));
    assert_string_equal(after, before);
    kit_end(&k);
}

/** The address is that of each: the numbers may be the same. */
static void tasks_may_have_the_same_ports(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    make(&k, 2, "\"same_ports\":true,\"ports\":[{\"label\":\"d\",\"count\":3}]");
    mem_auto char *first = eng_task_ports_text(kit_instance(&k, "f", "w-0"));
    mem_auto char *second = eng_task_ports_text(kit_instance(&k, "f", "w-1"));
    assert_string_equal(first, second);
    kit_end(&k);
}

/** Every number is another one where all have one address, and free again with its task. */
static void tasks_of_one_address_share_no_port(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    k.cfg.address_net = NULL;
    kit_crash(&k);
    kit_recover(&k);
    make(&k, 2, "\"ports\":[{\"label\":\"d\",\"count\":6384}]");
    mem_auto char *first = eng_task_ports_text(kit_instance(&k, "f", "w-0"));
    mem_auto char *second = eng_task_ports_text(kit_instance(&k, "f", "w-1"));
    assert_true(strlen(first) > 30000 && strlen(second) > 30000);
    kit_flex(&k, "f", "w", 3);
    assert_int_equal(kit_state(&k, "f", "w-2"), INST_PENDING);
    kit_end(&k);
}

static void a_task_without_any(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    make(&k, 1, "");
    const struct eng_launch *l = launch_of(&k);
    assert_string_equal(env_of(&k, "CONTAINER_PORTS"), "");
    assert_string_equal(env_of(&k, "TASK_INDEX"), "0");
    assert_string_equal(env_of(&k, "FRAMEWORK_NAME"), "A~b");
    assert_string_equal(env_of(&k, "HADOOP_USER_NAME"), "alice");
    assert_string_equal(env_of(&k, "APP_ID"), kit_service(&k, "f")->app_id);
    assert_null(env_of(&k, "LC_ALL"));
    assert_true(l->is_task);
    assert_string_equal(l->command, "run ${USER} {{X}}");
    assert_int_equal(l->n_files, 0);
    kit_end(&k);
}

static void sources_are_files_by_their_base_names(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    make(&k, 2, "\"sources\":[\"/a/b.zip\",\"hdfs://h/c/\",\"/\"],\"has_ip_list\":true");
    const struct eng_launch *l = launch_of(&k);
    const char *const names[] = {"b.zip", "c", "", SPEC_IP_LIST_FILE};
    assert_int_equal(l->n_files, 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(l->files[i].name, names[i]);
    assert_int_equal(l->files[0].mode, FILE_SOURCE);
    assert_string_equal(l->files[1].src, "hdfs://h/c/");
    mem_auto char *list =
        mem_fmt("%s\n%s\n", kit_instance(&k, "f", "w-0")->ip, kit_instance(&k, "f", "w-1")->ip);
    assert_string_equal(l->files[3].bytes, list);
    kit_end(&k);
}

static void gpus_come_with_the_container(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    k.obey = false;
    make(&k, 1, "\"gpu_mask\":4");
    const struct eng_effect *ask = kit_last(&k, EFF_REQUEST);
    assert_int_equal(ask->request->needs->amounts[0].mask, 4);
    mem_auto char *id = mem_str(ask->container_id);
    kit_step(&k,
             (struct eng_event){
                 .kind = EV_ALLOCATED, .container_id = id, .host = "n", .node_ip = "10.1.2.3", .gpus = 4});
    assert_string_equal(env_of(&k, "CONTAINER_IP"), "10.1.2.3");
    kit_crash(&k);
    assert_int_equal(kit_instance(&k, "f", "w-0")->gpus, 4);
    kit_end(&k);
}

/** Whatever the completion policy says, and however often a task may be tried. */
static void a_missing_source_ends_the_application(void **state)
{
    (void)state;
    struct kit k;
    kit_start(&k, "seed");
    make(&k, 2, "");
    kit_exit(&k, "f", "w-0", eng_exit_of(CAUSE_SOURCE, 0, "no such file"));
    const struct eng_service *s = kit_service(&k, "f");
    assert_int_equal(s->state, SVC_FAILED);
    assert_int_equal(s->exit->cause, CAUSE_SOURCE);
    assert_null(s->trigger);
    kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_gets_its_ports),
        cmocka_unit_test(tasks_may_have_the_same_ports),
        cmocka_unit_test(tasks_of_one_address_share_no_port),
        cmocka_unit_test(a_task_without_any),
        cmocka_unit_test(sources_are_files_by_their_base_names),
        cmocka_unit_test(gpus_come_with_the_container),
        cmocka_unit_test(a_missing_source_ends_the_application),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
