/* Answers of a resource manager in all the shapes in which they come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/obj.h"
#include "base/mem.h"
#include "cleanup/rm_poll_read.h"

static void info(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int err;
        bool is_active;
        int64_t id, started;
    } rows[] = {
        {"{\"clusterInfo\":{\"id\":5,\"startedOn\":7,\"haState\":\"ACTIVE\"}}", 0, true, 5, 7},
        {"{\"id\":\"5\",\"startedOn\":\"7\",\"haState\":\"ACTIVE\"}", 0, true, 5, 7},
        {"{\"clusterInfo\":{\"startedOn\":7,\"haState\":\"STANDBY\"}}", 0, false, 7, 7},
        {"{\"clusterInfo\":{\"id\":5,\"haState\":\"ACTIVE\"}}", ERR_JSON, false, 0, 0},
        {"{\"clusterInfo\":{\"id\":5,\"startedOn\":7}}", ERR_JSON, false, 0, 0},
        {"{\"clusterInfo\":null}", ERR_JSON, false, 0, 0},
        {"[]", ERR_JSON, false, 0, 0},
        {"<html>", ERR_JSON, false, 0, 0},
        {"", ERR_JSON, false, 0, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rm_info got = {0};
        int err = rm_read_info(rows[i].text, strlen(rows[i].text), &got, NULL);
        if (err != rows[i].err || got.is_active != rows[i].is_active || got.cluster_id != rows[i].id ||
            got.started_on != rows[i].started)
            fail_msg("%s: %s", rows[i].text, err_name(err));
    }
}

static void states(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        enum rm_state state;
    } rows[] = {{"NEW", RM_STATE_ALIVE},           {"ACCEPTED", RM_STATE_ALIVE},
                {"RUNNING", RM_STATE_RUNNING},     {"FINISHING", RM_STATE_ENDING},
                {"FINAL_SAVING", RM_STATE_ENDING}, {"KILLING", RM_STATE_ENDING},
                {"FINISHED", RM_STATE_ENDED},      {"FAILED", RM_STATE_ENDED},
                {"KILLED", RM_STATE_ENDED},        {"SOMETHING_NEW", RM_STATE_ALIVE}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        buf_auto struct buf text = BUF_EMPTY;
        enum rm_state got;
        char word[32];
        buf_addf(&text, "{\"state\":\"%s\"}", rows[i].word);
        assert_int_equal(rm_read_state(text.bytes, text.len, &got, word, NULL), 0);
        assert_string_equal(word, rows[i].word);
        if (got != rows[i].state)
            fail_msg("%s is %d", rows[i].word, (int)got);
    }
    enum rm_state got;
    char word[32];
    assert_int_equal(rm_read_state("{\"state\":null}", 14, &got, word, NULL), ERR_JSON);
    assert_int_equal(rm_read_state("{\"state\":\"\"}", 12, &got, word, NULL), ERR_JSON);
}

static void not_found(void **state)
{
    (void)state;
    static const char own[] = "{\"RemoteException\":{\"exception\":\"NotFoundException\",\"message\":\"x\"}}";
    static const char other[] = "{\"RemoteException\":{\"exception\":\"ForbiddenException\"}}";
    assert_true(rm_read_not_found(own, sizeof own - 1));
    assert_false(rm_read_not_found(other, sizeof other - 1));
    assert_false(rm_read_not_found("<html>404</html>", 16));
    assert_false(rm_read_not_found("{}", 2));
    assert_false(rm_read_not_found("", 0));
}

static void note_app(void *arg, const struct rm_listed *app)
{
    buf_addf(arg, "%s/%s%s ", app->id, app->user, app->is_ended ? "!" : "");
}

static void note_time(void *arg, const struct rm_listed *app)
{
    buf_addf(arg, "%lld ", (long long)app->finished_ms);
}

static void apps(void **state)
{
    (void)state;
    static const struct {
        const char *text, *expected;
        int err;
    } rows[] = {
        {"{\"apps\":{}}", "", 0},
        {"{\"apps\":null}", "", 0},
        {"{\"apps\":{\"app\":null}}", "", 0},
        {"{\"apps\":{\"app\":[]}}", "", 0},
        {"{\"apps\":{\"app\":[{\"id\":\"a\",\"user\":\"u\"},{\"id\":\"b\"},{\"user\":\"v\"}]}}", "a/u b/ ",
         0},
        {"{\"apps\":{\"app\":{\"id\":\"a\",\"user\":\"u\",\"resourceSecondsMap\":{\"entry\":{\"key\":1},"
         "\"entry\":{\"key\":2}}}}}",
         "a/u ", 0},
        {"{\"apps\":{\"app\":[{\"id\":\"a\",\"state\":\"RUNNING\"},{\"id\":\"b\",\"state\":\"KILLED\"}]}}",
         "a/ b/! ", 0},
        {"{\"apps\":{\"app\":7}}", "", ERR_JSON},
        {"{\"apps\":[]}", "", ERR_JSON},
        {"{\"app\":[{\"id\":\"a\"}]}", "a/ ", 0},
        {"{\"status\":\"starting\"}", "", ERR_JSON},
        {"null", "", ERR_JSON},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        buf_auto struct buf got = BUF_EMPTY;
        int err = rm_read_apps(rows[i].text, strlen(rows[i].text), note_app, &got, NULL);
        if (err != rows[i].err || strcmp(buf_cstr(&got), rows[i].expected) != 0)
            fail_msg("%s: %s \"%s\"", rows[i].text, err_name(err), buf_cstr(&got));
    }
}

static void finish_times(void **state)
{
    (void)state;
    static const char text[] = "{\"apps\":{\"app\":[{\"id\":\"a\",\"finishedTime\":1700000000123},"
                               "{\"id\":\"b\",\"finishedTime\":\"7\"},{\"id\":\"c\",\"finishedTime\":0},"
                               "{\"id\":\"d\",\"finishedTime\":null}]}}";
    buf_auto struct buf got = BUF_EMPTY;
    assert_int_equal(rm_read_apps(text, sizeof text - 1, note_time, &got, NULL), 0);
    assert_string_equal(buf_cstr(&got), "1700000000123 7 0 0 ");
}

static void metrics(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t n_nodes, n_ended; /* n_nodes -1: ERR_JSON */
    } rows[] = {
        {"{\"clusterMetrics\":{\"activeNodes\":3,\"appsCompleted\":4,\"appsFailed\":2,\"appsKilled\":1}}", 3,
         7},
        {"{\"activeNodes\":\"3\",\"appsCompleted\":\"4\",\"appsFailed\":\"0\",\"appsKilled\":\"0\"}", 3, 4},
        {"{\"clusterMetrics\":{\"activeNodes\":0}}", 0, -1},
        {"{\"clusterMetrics\":{\"activeNodes\":3,\"appsCompleted\":4,\"appsFailed\":null,\"appsKilled\":1}}",
         3, -1},
        {"{\"clusterMetrics\":{\"appsCompleted\":4}}", -1, 0},
        {"{}", -1, 0},
        {"[", -1, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rm_metrics got = {-1, 0};
        int err = rm_read_metrics(rows[i].text, strlen(rows[i].text), &got, NULL);
        if ((err == ERR_JSON) != (rows[i].n_nodes < 0) || got.n_nodes != rows[i].n_nodes ||
            got.n_ended_apps != rows[i].n_ended)
            fail_msg("%s: %s", rows[i].text, err_name(err));
    }
}

static void attempts(void **state)
{
    (void)state;
    static const char two[] =
        "{\"appAttempts\":{\"appAttempt\":["
        "{\"appAttemptId\":\"appattempt_1_0001_000002\",\"appAttemptState\":\"RUNNING\"},"
        "{\"appAttemptId\":\"appattempt_1_0001_000001\",\"appAttemptState\":\"KILLED\"}]}}";
    static const char strange[] =
        "{\"appAttempts\":{\"appAttempt\":[{\"id\":1,\"appAttemptState\":\"KILLED\"}]}}";
    struct rm_attempts list;
    assert_int_equal(rm_read_attempts(two, sizeof two - 1, &list, NULL), 0);
    assert_int_equal(list.n_items, 2);
    assert_true(list.items[0].number == 1 && list.items[0].is_ended && !list.items[0].is_running);
    assert_true(list.items[1].number == 2 && !list.items[1].is_ended && list.items[1].is_running);
    rm_attempts_fini(&list);
    assert_int_equal(rm_read_attempts(strange, sizeof strange - 1, &list, NULL), ERR_JSON);
}

static void containers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t n;
        int err;
    } rows[] = {
        {"{}", 0, 0},
        {"{\"container\":null}", 0, 0},
        {"{\"containers\":null}", 0, 0},
        {"{\"container\":{\"containerId\":\"c\"}}", 1, 0},
        {"{\"container\":[{\"containerId\":\"c\"},{\"id\":\"d\"}]}", 2, 0},
        {"{\"containers\":{\"container\":[{\"containerId\":\"c\"}]}}", 1, 0},
        {"{\"container\":[{\"nodeId\":\"n\"}]}", 0, ERR_JSON},
        {"{\"container\":\"c\"}", 0, ERR_JSON},
        {"{\"RemoteException\":{\"exception\":\"x\"}}", 0, ERR_JSON},
        {"{\"containers\":{\"live\":[]}}", 0, ERR_JSON},
        {"{\"containers\":{}}", 0, 0},
        {"[]", 0, ERR_JSON},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct map set = MAP_EMPTY;
        int err = rm_read_containers(rows[i].text, strlen(rows[i].text), &set, NULL);
        if (err != rows[i].err || set.n_items != rows[i].n)
            fail_msg("%s: %s, %zu", rows[i].text, err_name(err), set.n_items);
        map_fini(&set, free);
    }
}

static void hosts(void **state)
{
    (void)state;
    static const char text[] =
        "{\"container\":[{\"containerId\":\"c\",\"assignedNodeId\":\"a:1\",\"nodeId\":\"z:1\"},"
        "{\"id\":\"d\",\"nodeId\":\"b:1\"},{\"id\":\"e\"},{\"id\":\"e\"}]}";
    struct map got = MAP_EMPTY;
    assert_int_equal(rm_read_containers(text, sizeof text - 1, &got, NULL), 0);
    assert_string_equal(map_get(&got, "c"), "a:1");
    assert_string_equal(map_get(&got, "d"), "b:1");
    assert_string_equal(map_get(&got, "e"), "");
    map_fini(&got, free);
}

static void nodes(void **state)
{
    (void)state;
    static const struct {
        const char *text, *expected;
        int err;
    } rows[] = {
        {"{\"nodes\":null}", "", 0},
        {"{\"nodes\":{}}", "", 0},
        {"{\"nodes\":{\"node\":{\"id\":\"a:1\",\"state\":\"RUNNING\"}}}", "a:1 ", 0},
        {"{\"nodes\":{\"node\":[{\"id\":\"b:1\",\"state\":\"UNHEALTHY\"},{\"id\":\"a:1\",\"state\":"
         "\"DECOMMISSIONING\"},"
         "{\"id\":\"c:1\",\"state\":\"LOST\"},{\"id\":\"d:1\",\"state\":\"SHUTDOWN\"},{\"id\":\"e:1\","
         "\"state\":\"NEW\"},"
         "{\"id\":\"f:1\",\"state\":\"REBOOTED\"},{\"id\":\"g:1\",\"state\":\"DECOMMISSIONED\"}]}}",
         "a:1 b:1 ", 0},
        {"{\"nodes\":{\"node\":[{\"id\":\"a:1\"}]}}", "", ERR_JSON},
        {"{\"nodes\":{\"node\":[{\"state\":\"RUNNING\"}]}}", "", ERR_JSON},
        {"{\"nodes\":{\"node\":7}}", "", ERR_JSON},
        {"[]", "", ERR_JSON},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct map set = MAP_EMPTY;
        buf_auto struct buf got = BUF_EMPTY;
        int err = rm_read_nodes(rows[i].text, strlen(rows[i].text), &set, NULL);
        mem_auto const char **keys = map_sorted_keys(&set);
        for (size_t k = 0; keys[k]; k++)
            buf_addf(&got, "%s ", keys[k]);
        if (err != rows[i].err || strcmp(buf_cstr(&got), rows[i].expected) != 0)
            fail_msg("%s: %s \"%s\"", rows[i].text, err_name(err), buf_cstr(&got));
        map_fini(&set, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(info),     cmocka_unit_test(states),       cmocka_unit_test(not_found),
        cmocka_unit_test(apps),     cmocka_unit_test(finish_times), cmocka_unit_test(metrics),
        cmocka_unit_test(attempts), cmocka_unit_test(containers),   cmocka_unit_test(hosts),
        cmocka_unit_test(nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
