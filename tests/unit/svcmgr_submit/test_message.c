/* submit/application.h, submit/am_context.h, submit/report.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "submit/application.h"
#include "submit/report.h"

static void test_tag_names_one_incarnation(void **state)
{
    (void)state;
    const struct submit_key key = {"s", "service", "alice", "web", 1},
                            next = {"s", "service", "alice", "web", 2},
                            shifted = {"s", "service", "alicew", "eb", 1};
    char a[SUBMIT_TAG_ROOM], b[SUBMIT_TAG_ROOM];
    assert_string_equal(submit_tag(&key, a), submit_tag(&key, b));
    assert_int_equal(strlen(a), strlen("bobbin:") + 32);
    assert_string_not_equal(a, submit_tag(&next, b));
    assert_string_not_equal(a, submit_tag(&shifted, b));
}

static void test_expiry(void **state)
{
    (void)state;
    char out[SUBMIT_TIME_ROOM];
    assert_int_equal(submit_expiry(1767323045678, out), 0);
    assert_string_equal(out, "2026-01-02T03:04:05.678+0000");
    assert_int_equal(submit_expiry(0, out), ERR_INVALID);
    assert_int_equal(submit_expiry(INT64_MAX, out), ERR_INVALID);
}

static const char *const words[] = {"./am/svcmgr", "am"};
static const struct submit_variable variables[] = {{"BOBBIN_X", "a b"}};
static const struct submit_resource resources[] = {
    {"am", "hdfs://nn:8020/user/a/x.tar.gz", 7, 9, true, true},
    {"bobbin-site.xml", "http://[::1]:9191/files/t/site", 1, 0, false, false},
    {"c", "hdfs://ns/x", 1, 2, false, false}};
static const struct submit_def def = {.user = "alice",
                                      .tag = "bobbin:x",
                                      .name = "web",
                                      .type = "yarn-service",
                                      .queue = "default",
                                      .lifetime_s = 60,
                                      .memory_mb = 128,
                                      .vcores = 1,
                                      .max_attempts = 20,
                                      .validity_ms = -1,
                                      .keep_containers = true,
                                      .logs = {.include = ".*log"},
                                      .launch = {words, 2, "./am/lib", variables, 1, resources, 3}};

static void test_message(void **state)
{
    (void)state;
    struct arena *a = arena_new(0);
    Yarn__SubmissionContext *m = NULL;
    const char *tags[] = {"name: Web"};
    struct submit_def d = def;
    d.tags = tags;
    d.n_tags = 1;
    assert_int_equal(submit_message(a, &d, &m, NULL), 0);
    assert_string_equal(m->tags[0], "name: web");
    assert_string_equal(m->tags[1], "bobbin:x");
    assert_int_equal(m->timeouts[0]->timeout, 60);
    assert_true(m->keep_containers);
    assert_string_equal(m->log_aggregation->include_pattern, ".*log");
    assert_string_equal(m->am_container_spec->command[0],
                        "LD_LIBRARY_PATH=./am/lib ./am/svcmgr am 1><LOG_DIR>/serviceam-out.txt "
                        "2><LOG_DIR>/serviceam-err.txt");
    Yarn__LocalResource *r = m->am_container_spec->local_resources[0]->value;
    assert_string_equal(r->resource->host, "nn");
    assert_int_equal(r->resource->port, 8020);
    assert_string_equal(r->resource->file, "/user/a/x.tar.gz");
    assert_int_equal(r->type, YARN__LOCAL_RESOURCE_TYPE__ARCHIVE);
    r = m->am_container_spec->local_resources[1]->value;
    assert_string_equal(r->resource->host, "[::1]");
    assert_int_equal(r->resource->port, 9191);
    assert_int_equal(m->am_container_spec->local_resources[2]->value->resource->port, -1);
    arena_free(a);
}

static void expect_refusal(const struct submit_def *d, const char *where)
{
    struct arena *a = arena_new(0);
    Yarn__SubmissionContext *m = NULL;
    struct err_info why;
    assert_int_equal(submit_message(a, d, &m, &why), ERR_INVALID);
    assert_string_equal(why.where, where);
    assert_null(m);
    arena_free(a);
}

static void test_what_a_shell_would_read_is_refused(void **state)
{
    (void)state;
    const char *const bad_words[] = {"./x", "$(id)"};
    const struct submit_variable bad_value = {"A", "`id`"}, bad_name = {"A-B", "x"};
    const struct submit_resource no_url = {"a", "nothing", 0, 0, false, false},
                                 outside = {"../a", "http://h/a", 0, 0, false, false};
    struct submit_def d = def;
    d.launch.words = bad_words;
    expect_refusal(&d, "$(id)");
    d = def;
    d.launch.variables = &bad_value;
    expect_refusal(&d, "A");
    d.launch.variables = &bad_name;
    expect_refusal(&d, "A-B");
    d = def;
    d.launch.n_resources = 1;
    d.launch.resources = &no_url;
    expect_refusal(&d, "a");
    d.launch.resources = &outside;
    expect_refusal(&d, "../a");
    d = def;
    d.tag = "\x01";
    expect_refusal(&d, "tags");
}

static void test_site(void **state)
{
    (void)state;
    struct buf out = BUF_EMPTY;
    const struct submit_option fine = {"a.b", "<&> \xc3\xa4"}, bad = {"c", "\x01"}, no_text = {"d", "\xff"};
    assert_int_equal(submit_site(&fine, 1, &out, NULL), 0);
    assert_non_null(strstr(buf_cstr(&out), "<name>a.b</name><value>&lt;&amp;&gt; \xc3\xa4</value>"));
    size_t len = out.len;
    assert_int_equal(submit_site(&bad, 1, &out, NULL), ERR_INVALID);
    assert_int_equal(submit_site(&no_text, 1, &out, NULL), ERR_INVALID);
    assert_int_equal(out.len, len);
    buf_fini(&out);
}

static void expect_reason(const char *text, const char *expected)
{
    char *reason = submit_reason(text);
    assert_string_equal(reason, expected);
    free(reason);
}

static void test_reason(void **state)
{
    (void)state;
    expect_reason("[Tue Nov 24 17:00:00 +0000 2026] Application is not yet activated. Queue's AM resource "
                  "limit exceeded.  "
                  "Details : AM Partition = x",
                  "Application is not yet activated. Queue's AM resource limit exceeded.");
    expect_reason("N/A", "");
    expect_reason(NULL, "");
    expect_reason("a\n\tb", "a b");
}

static void test_end_is_the_last_attempts(void **state)
{
    (void)state;
    Yarn__AttemptId ids[] = {YARN__ATTEMPT_ID__INIT, YARN__ATTEMPT_ID__INIT};
    Yarn__AttemptReport r[] = {YARN__ATTEMPT_REPORT__INIT, YARN__ATTEMPT_REPORT__INIT},
                        *all[] = {&r[0], &r[1]};
    Yarn__Attempts m = YARN__ATTEMPTS__INIT;
    assert_true(submit_attempts_ended(&m));
    m.reports = all;
    m.n_reports = 2;
    for (int i = 0; i < 2; i++) {
        ids[i].has_attempt = r[i].has_state = true;
        ids[i].attempt = 2 - i;
        r[i].attempt_id = &ids[i];
    }
    r[0].state = YARN__ATTEMPT_STATE__ATTEMPT_FINISHING;
    r[1].state = YARN__ATTEMPT_STATE__ATTEMPT_FAILED;
    assert_false(submit_attempts_ended(&m));
    r[0].state = YARN__ATTEMPT_STATE__ATTEMPT_FINISHED;
    assert_true(submit_attempts_ended(&m));
}

static void test_report_of_no_use(void **state)
{
    (void)state;
    Yarn__ApplicationReport m = YARN__APPLICATION_REPORT__INIT;
    struct submit_report r = {.attempt = 0};
    assert_int_equal(submit_report_read(NULL, &r), ERR_PARSE);
    assert_int_equal(submit_report_read(&m, &r), ERR_PARSE);
    m.has_state = true;
    m.state = (Yarn__ApplicationState)99;
    assert_int_equal(submit_report_read(&m, &r), ERR_PARSE);
}

/* Words of a resource manager 3.4.2. */
static void test_files_that_could_not_be_fetched(void **state)
{
    (void)state;
    struct submit_report r = {
        .state = SUBMIT_FAILED,
        .diagnostics =
            "Application application_1_0001 failed 2 times due to AM Container for "
            "appattempt_1_0001_000002 exited with exitCode: -1000 Failing this attempt.Diagnostics: "
            "pack(FSDownload.java:325)",
    };
    assert_true(submit_report_is_unfetched(&r));
    r.state = SUBMIT_ACCEPTED; /* an attempt of it has */
    assert_false(submit_report_is_unfetched(&r));
    r.state = SUBMIT_FAILED;
    r.diagnostics = "Application application_1_0001 failed 2 times due to AM Container for "
                    "appattempt_1_0001_000002 exited with exitCode: 127 Failing this attempt.Diagnostics: ";
    assert_false(submit_report_is_unfetched(&r));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_that_could_not_be_fetched),
        cmocka_unit_test(test_tag_names_one_incarnation),
        cmocka_unit_test(test_expiry),
        cmocka_unit_test(test_message),
        cmocka_unit_test(test_what_a_shell_would_read_is_refused),
        cmocka_unit_test(test_site),
        cmocka_unit_test(test_reason),
        cmocka_unit_test(test_end_is_the_last_attempts),
        cmocka_unit_test(test_report_of_no_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
