/** What the FrameworkLauncher API shows of frameworks and their tasks: svcmgr/faces/launcher/{view,walk}.h. */
#include <string.h>

#include "engine_kit.h"
#include "json/json.h"
#include "launcher/view.h"
#include "launcher/walk.h"

#define LATER_MS LAUNCHER_WAITING_MS

static void start(struct kit *k)
{
    kit_start(k, "seed");
    k->service_kind = KIND_LAUNCHER;
}

/** Put framework "f" of n tasks of the role "w", under the kit's rules. */
static int put(struct kit *k, const char *version, int n, bool is_stopped)
{
    mem_auto char *text =
        mem_fmt("{\"name\":\"f\",\"version\":\"%s\",\"description\":\"of a "
                "test\",\"queue\":\"q1\",\"components\":[{\"name\":\"w\",\"number_of_containers\":%d,"
                "\"launch_command\":\"run\",\"resource\":{\"cpus\":1,\"memory\":\"64\",\"additional\":{"
                "\"yarn.io/gpu\":{\"value\":2}}}}]}",
                version, n);
    json_auto json_t *request =
        json_pack("{s:{s:s, s:{s:s}, s:{s:s}, s:{s:{s:{s:i, s:{s:i}}}}}}", "frameworkDescriptor",
                  "description", "of a test", "user", "name", "alice", "platformSpecificParameters", "queue",
                  "q1", "taskRoles", "w", "taskService", "version", 7, "resource", "gpuNumber", 2);
    struct eng_rules *rules = k->rules ? k->rules : eng_rules_new();
    k->rules = NULL;
    return kit_ask(k, (struct eng_event){.kind = EV_REDEFINE,
                                         .name = "f",
                                         .take_spec = kit_spec_of(k, text),
                                         .take_rules = rules,
                                         .value = request,
                                         .save = is_stopped});
}

static struct launcher_look look(void *arg)
{
    const struct kit *k = arg;
    return (struct launcher_look){.e = k->e, .now_ms = k->now_ms, .own_url = "http://h:9191"};
}

/** The whole of a document about "f". @param take_part  as in the walk's definition */
static json_t *walked(struct kit *k, enum launcher_form form, json_t *take_part)
{
    struct launcher_walk *walk = launcher_walk_new(&(struct launcher_walk_def){
        .form = form, .look = look, .arg = k, .name = "f", .take_part = take_part});
    buf_auto struct buf out = BUF_EMPTY;
    while (launcher_walk_next(walk, &out))
        ;
    launcher_walk_free(walk);
    json_t *doc = json_loadb(out.bytes, out.len, 0, NULL);
    if (!doc)
        fail_msg("no JSON: %s", buf_cstr(&out));
    return doc;
}

/** The whole AggregatedFrameworkStatus. */
static json_t *status(struct kit *k)
{
    return walked(k, LAUNCHER_FORM_STATUS, NULL);
}

static const json_t *tasks_of(const json_t *doc)
{
    const json_t *role = json_object_get(json_object_get(doc, "aggregatedTaskRoleStatuses"), "w");
    return json_object_get(json_object_get(role, "taskStatuses"), "taskStatusArray");
}

/** A member of the framework, or of a task, as compact JSON. Static, one at a time. */
static const char *member(const json_t *object, const char *key)
{
    static char text[512];
    const json_t *value = json_object_get(object, key);
    if (!value)
        return "absent";
    json_auto json_t *list = json_pack("[O]", value);
    size_t n = json_dumpb(list, text, sizeof text - 1, JSON_COMPACT);
    text[n < sizeof text ? n - 1 : 0] = '\0';
    return text + 1;
}

static void check(const json_t *object, const char *const *rows)
{
    for (; *rows; rows += 2) {
        if (strcmp(member(object, rows[0]), rows[1]) != 0)
            fail_msg("%s: %s instead of %s", rows[0], member(object, rows[0]), rows[1]);
    }
}

static void check_framework(struct kit *k, const char *const *rows)
{
    json_auto json_t *doc = status(k);
    check(json_object_get(doc, "frameworkStatus"), rows);
}

static void check_task(struct kit *k, size_t index, const char *const *rows)
{
    json_auto json_t *doc = status(k);
    check(json_array_get(tasks_of(doc), index), rows);
}

#define ROWS(...) ((const char *const[]){__VA_ARGS__, NULL})

/** The clock, when no timer of the framework is due. */
static void pass(struct kit *k, int64_t ms)
{
    k->now_ms += ms;
}

static void at_once_it_waits(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    put(&k, "3", 2, false);
    check_framework(&k, ROWS("frameworkName", "\"f\"", "frameworkVersion", "3", "frameworkState",
                             "\"FRAMEWORK_WAITING\"", "applicationId", "null", "applicationProgress", "null",
                             "applicationTrackingUrl", "null", "applicationLaunchedTimestamp", "null",
                             "applicationExitCode", "null", "applicationExitTriggerTaskIndex", "null",
                             "frameworkCompletedTimestamp", "null"));
    json_auto json_t *doc = status(&k);
    assert_string_equal(member(doc, "aggregatedTaskRoleStatuses"), "{}");
    kit_end(&k);
}

static void its_tasks_run(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    put(&k, "1", 3, false);
    pass(&k, LATER_MS);
    check_framework(&k, ROWS("frameworkState", "\"APPLICATION_RUNNING\"", "applicationProgress", "0.0"));
    check_task(&k, 2,
               ROWS("taskIndex", "2", "taskRoleName", "\"w\"", "taskState", "\"CONTAINER_RUNNING\"",
                    "taskServiceStatus", "{\"serviceVersion\":7}", "containerGpus", "0", "containerPorts",
                    "\"\"", "containerHost", "\"node1\"", "containerExitCode", "null",
                    "taskCompletedTimestamp", "null", "containerIsDecommissioning", "null",
                    "containerConnectionLostCount", "0"));
    json_auto json_t *doc = status(&k);
    mem_auto char *id = mem_fmt("\"%s\"", kit_instance(&k, "f", "w-1")->container_id);
    assert_string_equal(member(json_array_get(tasks_of(doc), 1), "containerId"), id);
    kit_end(&k);
}

static void without_tasks_it_waits_for_ever(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    put(&k, "1", 0, false);
    pass(&k, LATER_MS);
    check_framework(&k, ROWS("frameworkState", "\"APPLICATION_WAITING\"", "applicationProgress", "0.0"));
    kit_end(&k);
}

static void a_failed_task_ends_it(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    put(&k, "1", 2, false);
    pass(&k, LATER_MS);
    kit_exit_code(&k, "f", "w-1", 1);
    check_framework(&k, ROWS("frameworkState", "\"FRAMEWORK_COMPLETED\"", "applicationExitCode", "1",
                             "applicationExitType", "\"UNKNOWN\"", "applicationExitTriggerTaskRoleName",
                             "\"w\"", "applicationExitTriggerTaskIndex", "1", "applicationExitDiagnostics",
                             "\"Exit code 1\"", "applicationProgress", "1.0", "applicationExitTriggerMessage",
                             "\"FailedTaskCount 1 has reached MinFailedTaskCount 1 in TaskRole [w]\""));
    check_task(&k, 1,
               ROWS("taskState", "\"TASK_COMPLETED\"", "containerExitCode", "1", "containerExitType",
                    "\"UNKNOWN\"", "containerExitDiagnostics", "\"Exit code 1\""));
    check_task(&k, 0,
               ROWS("taskState", "\"TASK_COMPLETED\"", "containerExitCode", "-7400", "containerExitType",
                    "\"NON_TRANSIENT\"", "containerExitDiagnostics", "null"));
    json_auto json_t *doc = status(&k);
    assert_string_equal(member(json_object_get(doc, "frameworkStatus"), "frameworkRetryPolicyState"),
                        "{\"retriedCount\":0,\"succeededRetriedCount\":0,\"transientNormalRetriedCount\":0,"
                        "\"transientConflictRetriedCount\":0,\"nonTransientRetriedCount\":0,"
                        "\"unKnownRetriedCount\":0}");
    kit_end(&k);
}

static void all_tasks_succeed(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    put(&k, "1", 3, false);
    pass(&k, LATER_MS);
    kit_exit_code(&k, "f", "w-0", 0);
    json_auto json_t *doc = status(&k);
    json_t *progress = json_object_get(json_object_get(doc, "frameworkStatus"), "applicationProgress");
    assert_true((float)json_real_value(progress) == 1.0f / 3.0f);
    check_task(&k, 0,
               ROWS("taskState", "\"TASK_COMPLETED\"", "containerExitCode", "0", "containerExitDescription",
                    "\"Succeeded\"", "containerExitDiagnostics", "\"\""));
    kit_exit_code(&k, "f", "w-1", 0);
    kit_exit_code(&k, "f", "w-2", 0);
    check_framework(&k, ROWS("frameworkState", "\"FRAMEWORK_COMPLETED\"", "applicationExitCode", "0",
                             "applicationExitType", "\"SUCCEEDED\"", "applicationExitDiagnostics", "null",
                             "applicationExitTriggerTaskRoleName", "null", "applicationExitTriggerTaskIndex",
                             "null"));
    kit_end(&k);
}

static void a_stop_is_its_exit(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    put(&k, "1", 2, false);
    pass(&k, LATER_MS);
    kit_request(&k, EV_STOP, "f");
    check_framework(&k, ROWS("frameworkState", "\"FRAMEWORK_COMPLETED\"", "applicationExitCode", "-7351",
                             "applicationExitType", "\"NON_TRANSIENT\"", "applicationExitDiagnostics", "null",
                             "applicationExitTriggerMessage", "null", "applicationProgress", "0.0"));
    check_task(&k, 1, ROWS("taskState", "\"TASK_COMPLETED\"", "containerExitCode", "-7400"));
    kit_end(&k);
}

static void put_to_be_stopped_it_never_runs(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    put(&k, "1", 2, true);
    check_framework(&k, ROWS("frameworkState", "\"FRAMEWORK_COMPLETED\"", "applicationExitCode", "-7351",
                             "applicationLaunchedTimestamp", "null", "applicationTrackingUrl", "null",
                             "applicationProgress", "0.0"));
    json_auto json_t *doc = status(&k);
    assert_true(json_is_string(json_object_get(json_object_get(doc, "frameworkStatus"), "applicationId")));
    kit_end(&k);
}

static void another_version_waits_without_tasks(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    put(&k, "1", 2, false);
    pass(&k, LATER_MS);
    k.obey = false;
    put(&k, "2", 1, false);
    check_framework(&k, ROWS("frameworkVersion", "2", "frameworkState", "\"FRAMEWORK_WAITING\"",
                             "applicationId", "null"));
    json_auto json_t *doc = status(&k);
    assert_string_equal(member(doc, "aggregatedTaskRoleStatuses"), "{}");
    kit_end(&k);
}

static void a_retried_task_has_no_container_and_counts(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    k.rules = eng_rules_new();
    eng_rules_add(k.rules, "w")->retry.max = 2;
    put(&k, "1", 1, false);
    pass(&k, LATER_MS);
    k.obey = false;
    kit_exit_code(&k, "f", "w-0", 1);
    check_task(&k, 0,
               ROWS("taskState", "\"TASK_WAITING\"", "containerId", "null", "containerHost", "null",
                    "containerPorts", "null", "containerGpus", "null", "containerExitCode", "null",
                    "containerLaunchedTimestamp", "null", "taskRetryPolicyState",
                    "{\"retriedCount\":1,\"succeededRetriedCount\":0,\"transientNormalRetriedCount\":0,"
                    "\"transientConflictRetriedCount\":0,\"nonTransientRetriedCount\":0,"
                    "\"unKnownRetriedCount\":1}"));
    kit_end(&k);
}

static void a_summary_adds_up(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    put(&k, "1", 4, false);
    pass(&k, LATER_MS);
    char **names = mem_array(2, sizeof names[0]);
    names[0] = mem_str("f");
    names[1] = mem_str("gone");
    struct launcher_walk *walk = launcher_walk_new(&(struct launcher_walk_def){
        .form = LAUNCHER_FORM_SUMMARIES, .look = look, .arg = &k, .take_names = names, .n_names = 2});
    buf_auto struct buf out = BUF_EMPTY;
    assert_false(launcher_walk_next(walk, &out));
    launcher_walk_free(walk);
    json_auto json_t *doc = json_loadb(out.bytes, out.len, 0, NULL);
    const json_t *list = json_object_get(doc, "summarizedFrameworkInfos");
    assert_int_equal(json_array_size(list), 1);
    check(json_array_get(list, 0),
          ROWS("frameworkName", "\"f\"", "executionType", "\"START\"", "totalGpuNumber", "8",
               "totalTaskNumber", "4", "totalTaskRoleNumber", "1", "queue", "\"q1\"", "userName", "\"alice\"",
               "frameworkDescription", "\"of a test\"", "applicationExitCode", "null"));
    kit_end(&k);
}

#define MANY       2000
#define PIECE_MOST (256 << 10)

static void many_tasks_come_in_pieces(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    put(&k, "1", MANY, false);
    while (kit_service(&k, "f")->components[0]->n_instances < MANY)
        kit_fire(&k, "f");
    pass(&k, LATER_MS);
    struct launcher_walk *walk = launcher_walk_new(
        &(struct launcher_walk_def){.form = LAUNCHER_FORM_STATUS, .look = look, .arg = &k, .name = "f"});
    buf_auto struct buf out = BUF_EMPTY;
    bool has_more = true;
    while (has_more) {
        size_t before = out.len;
        has_more = launcher_walk_next(walk, &out);
        assert_true(out.len - before < PIECE_MOST);
    }
    launcher_walk_free(walk);
    json_auto json_t *doc = json_loadb(out.bytes, out.len, 0, NULL);
    assert_int_equal(json_array_size(tasks_of(doc)), MANY);
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(json_integer_value(json_object_get(json_array_get(tasks_of(doc), i), "taskIndex")),
                         i);
    kit_end(&k);
}

static void of_what_has_ended_as_many_tasks_are_shown_as_it_had(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    put(&k, "1", 3, false);
    pass(&k, LATER_MS);
    kit_exit_code(&k, "f", "w-1", 1);
    check_framework(&k, ROWS("frameworkState", "\"FRAMEWORK_COMPLETED\"", "applicationExitCode", "1"));
    assert_int_equal(kit_service(&k, "f")->components[0]->n_at_end, 3);
    kit_flex(&k, "f", "w", 5);
    json_auto json_t *doc = status(&k);
    assert_int_equal(json_array_size(tasks_of(doc)), 3);
    kit_end(&k);
}

/** The engine makes tasks some at a time. */
static void a_task_that_is_not_made_yet_waits(void **state)
{
    (void)state;
    struct launcher_role_look of = {
        .state = APPLICATION_RUNNING, .role = "w", .service_version = 7, .created_ms = 5};
    buf_auto struct buf out = BUF_EMPTY;
    struct jw w = jw_on(&out);
    launcher_write_unmade_task(&w, &of, 9);
    json_auto json_t *task = json_loadb(out.bytes, out.len, 0, NULL);
    check(task, ROWS("taskIndex", "9", "taskRoleName", "\"w\"", "taskState", "\"TASK_WAITING\"",
                     "taskCreatedTimestamp", "5", "taskCompletedTimestamp", "null", "containerId", "null",
                     "containerGpus", "null", "containerExitCode", "null"));
}

/** The FrameworkExplanation, of lines as a service has them. */
static json_t *explanation(struct kit *k, const char *lines)
{
    const struct launcher_look at = look(k);
    json_auto json_t *list = json_loads(lines, 0, NULL);
    return walked(k, LAUNCHER_FORM_EXPLAIN, launcher_view_explain(&at, kit_service(k, "f"), list));
}

static void names_are_shown_while_it_waits(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    put(&k, "1", 2, false);
    json_auto json_t *doc = explanation(&k, "[]");
    check(doc, ROWS("frameworkName", "\"f\"", "frameworkState", "\"FRAMEWORK_WAITING\"", "frameworkDnsName",
                    "\"f.alice.bobbin.test\"", "explain", "[]"));
    const json_t *role = json_object_get(json_object_get(doc, "taskRoles"), "w");
    check(role, ROWS("taskRoleDnsName", "\"w.f.alice.bobbin.test\"", "portDnsNames", "{}"));
    assert_int_equal(json_array_size(json_object_get(role, "tasks")), 2);
    check(json_array_get(json_object_get(role, "tasks"), 1),
          ROWS("taskIndex", "1", "taskState", "\"CONTAINER_RUNNING\"", "taskDnsName",
               "\"w-1.f.alice.bobbin.test\""));
    kit_end(&k);
}

static void what_waits_is_said_in_the_words_of_frameworks(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    put(&k, "1", 2, false);
    pass(&k, LATER_MS);
    json_auto json_t *doc = explanation(
        &k,
        "[{\"state\":\"STARTED\",\"reason\":\"ended\",\"wait\":\"x\",\"remedy\":\"start the service again\"},"
        "{\"component\":\"w\",\"count\":2,\"instances\":[\"w-0\",\"w-1\"],\"instance\":\"w-0\",\"state\":"
        "\"REQUESTED\","
        "\"reason\":\"resource\",\"wait\":\"y\",\"remedy\":\"z\"},{\"taskRoleName\":\"v\",\"count\":1}]");
    const json_t *list = json_object_get(doc, "explain");
    check(json_array_get(list, 0),
          ROWS("taskRoleName", "absent", "state", "\"APPLICATION_RUNNING\"", "wait", "\"x\"", "remedy",
               "\"put another version of the framework; if it failed, correct the cause first\""));
    check(json_array_get(list, 1), ROWS("taskRoleName", "\"w\"", "count", "2", "taskIndexes", "[0,1]",
                                        "state", "\"CONTAINER_RUNNING\"", "reason", "\"resource\"", "wait",
                                        "\"y\"", "remedy", "\"z\"", "component", "absent"));
    check(json_array_get(list, 2), ROWS("taskRoleName", "\"v\"", "count", "1"));
    kit_end(&k);
}

static void deleted_meanwhile_it_is_broken_off(void **state)
{
    (void)state;
    struct kit k;
    start(&k);
    put(&k, "1", MANY, false);
    pass(&k, LATER_MS);
    struct launcher_walk *walk = launcher_walk_new(
        &(struct launcher_walk_def){.form = LAUNCHER_FORM_STATUS, .look = look, .arg = &k, .name = "f"});
    buf_auto struct buf out = BUF_EMPTY;
    assert_true(launcher_walk_next(walk, &out));
    kit_request(&k, EV_DESTROY, "f");
    assert_false(launcher_walk_next(walk, &out));
    launcher_walk_free(walk);
    json_auto json_t *doc = json_loadb(out.bytes, out.len, 0, NULL);
    assert_null(doc);
    kit_end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_once_it_waits),
        cmocka_unit_test(its_tasks_run),
        cmocka_unit_test(without_tasks_it_waits_for_ever),
        cmocka_unit_test(a_failed_task_ends_it),
        cmocka_unit_test(all_tasks_succeed),
        cmocka_unit_test(a_stop_is_its_exit),
        cmocka_unit_test(put_to_be_stopped_it_never_runs),
        cmocka_unit_test(another_version_waits_without_tasks),
        cmocka_unit_test(a_retried_task_has_no_container_and_counts),
        cmocka_unit_test(a_summary_adds_up),
        cmocka_unit_test(many_tasks_come_in_pieces),
        cmocka_unit_test(of_what_has_ended_as_many_tasks_are_shown_as_it_had),
        cmocka_unit_test(a_task_that_is_not_made_yet_waits),
        cmocka_unit_test(names_are_shown_while_it_waits),
        cmocka_unit_test(what_waits_is_said_in_the_words_of_frameworks),
        cmocka_unit_test(deleted_meanwhile_it_is_broken_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
