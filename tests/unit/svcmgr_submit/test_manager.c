/* submit/manager.h against a scripted resource manager. */
#include "fake_yarn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "protocols.pb-c.h"
#include "submit/manager.h"

struct rig {
    struct run_loop *loop;
    struct fake_yarn *rm;
    struct submit *submit;
    bool is_done, is_new, has_id, is_closed, has_ended;
    int err, n_changed;
    int32_t id;
    enum submit_state state;
};

static const char *const words[] = {"sleep"};
static const struct submit_def def = {.user = "alice",
                                      .tag = "bobbin:x",
                                      .name = "x",
                                      .type = "t",
                                      .queue = "q",
                                      .memory_mb = 1,
                                      .vcores = 1,
                                      .max_attempts = 1,
                                      .launch = {.words = words, .n_words = 1}};
static const struct yarn_app_id seven = {1700000000000, 7};

static void on_done(void *arg, const struct submit_result *result)
{
    struct rig *r = arg;
    r->is_done = true;
    r->err = result->err;
    r->is_new = result->is_new;
    r->has_id = result->id != NULL;
    r->id = result->id ? result->id->id : 0;
}

static void on_changed(void *arg, const struct submit_report *report)
{
    struct rig *r = arg;
    r->n_changed++;
    r->state = report->state;
    r->has_ended = report->has_ended;
}

static bool is_done(void *arg)
{
    return ((struct rig *)arg)->is_done;
}

static bool has_ended(void *arg)
{
    return ((struct rig *)arg)->has_ended;
}

static bool is_closed(void *arg)
{
    return ((struct rig *)arg)->is_closed;
}

static void on_closed(void *arg)
{
    ((struct rig *)arg)->is_closed = true;
}

static int set_up(void **state)
{
    static struct rig r;
    struct yarn_addresses list = ADDRESSES_EMPTY;
    struct err_info why;
    memset(&r, 0, sizeof r);
    r.loop = run_loop_new();
    r.rm = fake_new(r.loop, FAKE_SIMPLE);
    fake_add_address(r.rm, &list);
    const struct submit_config config = {.addresses = &list, .report_ms = 1000, .max_links = 1};
    assert_int_equal(submit_open(r.loop, &config, &r.submit, &why), 0);
    yarn_addresses_fini(&list);
    *state = &r;
    return 0;
}

static int tear_down(void **state)
{
    struct rig *r = *state;
    submit_close(r->submit, on_closed, r);
    fake_until(r->loop, is_closed, r);
    fake_free(r->rm);
    run_loop_free(r->loop);
    return 0;
}

static void start(struct rig *r)
{
    struct submit_op *op;
    assert_int_equal(submit_start(r->submit, &def, on_done, r, &op, NULL), 0);
}

/* Reports of application 7; state 0: no report. */
static void answer_report(struct rig *r, const char *method, Yarn__ApplicationState state)
{
    struct yarn_id_message id;
    Yarn__ApplicationReport report = YARN__APPLICATION_REPORT__INIT, *reports[] = {&report};
    Yarn__Applications list = YARN__APPLICATIONS__INIT;
    Yarn__ApplicationReportAnswer one = YARN__APPLICATION_REPORT_ANSWER__INIT;
    yarn_app_id_point(&seven, &id);
    report.application_id = &id.app;
    report.has_state = true;
    report.state = state;
    list.reports = reports;
    list.n_reports = state ? 1 : 0;
    one.report = &report;
    int32_t call = fake_want(r->rm, method);
    fake_answer(r->rm, call, strcmp(method, "getApplications") == 0 ? &list.base : &one.base);
}

static void answer_id(struct rig *r)
{
    struct yarn_id_message id;
    Yarn__NewApplication m = YARN__NEW_APPLICATION__INIT;
    yarn_app_id_point(&seven, &id);
    m.application_id = &id.app;
    fake_answer(r->rm, fake_want(r->rm, "getNewApplication"), &m.base);
}

static void not_found(struct rig *r, const char *method)
{
    fake_fail(r->rm, fake_want(r->rm, method), YARN__RPC_STATUS__RPC_ERROR,
              "org.apache.hadoop.yarn.exceptions.ApplicationNotFoundException", "unknown");
}

static void test_new_one_is_submitted_until_it_is_there(void **state)
{
    struct rig *r = *state;
    start(r);
    answer_report(r, "getApplications", 0);
    answer_id(r);
    fake_answer(r->rm, fake_want(r->rm, "submitApplication"), NULL);
    not_found(r, "getApplicationReport");
    fake_answer(r->rm, fake_want(r->rm, "submitApplication"), NULL);
    answer_report(r, "getApplicationReport", YARN__APPLICATION_STATE__APPLICATION_NEW_SAVING);
    answer_report(r, "getApplicationReport", YARN__APPLICATION_STATE__APPLICATION_ACCEPTED);
    fake_until(r->loop, is_done, r);
    assert_int_equal(r->err, 0);
    assert_true(r->is_new);
    assert_int_equal(r->id, 7);
    assert_string_equal(fake_user(r->rm), "alice");
}

static void test_one_with_the_tag_is_adopted(void **state)
{
    struct rig *r = *state;
    start(r);
    answer_report(r, "getApplications", YARN__APPLICATION_STATE__APPLICATION_FAILED);
    fake_until(r->loop, is_done, r);
    assert_int_equal(r->err, 0);
    assert_false(r->is_new);
    assert_int_equal(r->id, 7);
}

static void test_refusal_ends_and_shortage_does_not(void **state)
{
    struct rig *r = *state;
    start(r);
    answer_report(r, "getApplications", 0);
    fake_fail(r->rm, fake_want(r->rm, "getNewApplication"), YARN__RPC_STATUS__RPC_ERROR,
              "java.lang.RuntimeException", "later");
    answer_id(r);
    fake_fail(r->rm, fake_want(r->rm, "submitApplication"), YARN__RPC_STATUS__RPC_ERROR,
              "org.apache.hadoop.yarn.exceptions.InvalidResourceRequestException", "too large");
    fake_until(r->loop, is_done, r);
    assert_int_equal(r->err, ERR_INVALID);
    assert_false(r->has_id);
}

static void test_kill_ends_a_submission_first(void **state)
{
    struct rig *r = *state;
    const struct submit_target target = {"alice", "bobbin:x", NULL};
    start(r);
    int32_t look = fake_want(r->rm, "getApplications");
    submit_kill(r->submit, &target, "why", NULL, NULL);
    fake_want_none(r->rm);
    Yarn__Applications none = YARN__APPLICATIONS__INIT;
    fake_answer(r->rm, look, &none.base);
    fake_until(r->loop, is_done, r);
    assert_int_equal(r->err, ERR_CANCELLED);
    r->is_done = false;
    answer_report(r, "getApplications", 0);
    fake_want_none(r->rm);
}

static void test_finished_has_not_ended_before_its_attempt(void **state)
{
    struct rig *r = *state;
    const struct submit_target target = {"alice", NULL, &seven};
    Yarn__AttemptReport attempt = YARN__ATTEMPT_REPORT__INIT, *reports[] = {&attempt};
    Yarn__Attempts m = YARN__ATTEMPTS__INIT;
    m.reports = reports;
    m.n_reports = 1;
    attempt.has_state = true;
    submit_watch(r->submit, &target, on_changed, r);
    for (int i = 0; i < 2; i++)
        answer_report(r, "getApplicationReport", YARN__APPLICATION_STATE__APPLICATION_FINISHED);
    attempt.state = YARN__ATTEMPT_STATE__ATTEMPT_FINISHING;
    fake_answer(r->rm, fake_want(r->rm, "getApplicationAttempts"), &m.base);
    answer_report(r, "getApplicationReport", YARN__APPLICATION_STATE__APPLICATION_FINISHED);
    attempt.state = YARN__ATTEMPT_STATE__ATTEMPT_FINISHED;
    int32_t call = fake_want(r->rm, "getApplicationAttempts");
    assert_int_equal(r->n_changed, 1);
    fake_answer(r->rm, call, &m.base);
    fake_until(r->loop, has_ended, r);
    assert_int_equal(r->state, SUBMIT_FINISHED);
    fake_want_none(r->rm);
}

static void test_unknown_one_has_ended_the_second_time(void **state)
{
    struct rig *r = *state;
    const struct submit_target target = {"alice", NULL, &seven};
    submit_watch(r->submit, &target, on_changed, r);
    not_found(r, "getApplicationReport");
    int32_t call = fake_want(r->rm, "getApplicationReport");
    assert_int_equal(r->n_changed, 0);
    fake_fail(r->rm, call, YARN__RPC_STATUS__RPC_ERROR,
              "org.apache.hadoop.yarn.exceptions.ApplicationNotFoundException", "unknown");
    fake_until(r->loop, has_ended, r);
    assert_int_equal(r->state, SUBMIT_UNKNOWN);
}

static void test_close_cancels(void **state)
{
    struct rig *r = *state;
    start(r);
    fake_want(r->rm, "getApplications");
    assert_int_equal(tear_down(state), 0);
    assert_true(r->is_done);
    assert_int_equal(r->err, ERR_CANCELLED);
    assert_int_equal(set_up(state), 0);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_new_one_is_submitted_until_it_is_there),
        CASE(test_one_with_the_tag_is_adopted),
        CASE(test_refusal_ends_and_shortage_does_not),
        CASE(test_kill_ends_a_submission_first),
        CASE(test_finished_has_not_ended_before_its_attempt),
        CASE(test_unknown_one_has_ended_the_second_time),
        CASE(test_close_cancels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
