/* The life of a link: lost connections, other servers, pauses, deadlines, pings, idleness. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "link_rig.h"

#define NEW_APPLICATION "getNewApplication"
#define REGISTER        "registerApplicationMaster"
#define ALLOCATE        "allocate"
#define STANDBY         "org.apache.hadoop.ipc.StandbyException"
#define NOT_READY       "org.apache.hadoop.yarn.exceptions.NMNotYetReadyException"

static void repeatable_call_is_sent_again(void **state)
{
    struct rig *r = *state;
    rig_open(r, FAKE_SIMPLE, 1, yarn_client_protocol);
    rig_call(r, 0);
    fake_want(r->fakes[0], NEW_APPLICATION);
    assert_int_equal(fake_wanted_retries(r->fakes[0]), 0);
    fake_hang_up(r->fakes[0]);
    rig_answer(r, 0, fake_want(r->fakes[0], NEW_APPLICATION), 1);
    assert_int_equal(fake_wanted_retries(r->fakes[0]), 1);
    rig_run(r, 1);
    assert_int_equal(r->calls[0].app, 1);
    assert_int_equal(r->n_missing, 1);
}

/* A second registration is refused, so nobody but the caller can decide. */
static void call_that_may_have_been_done_is_not_sent_again(void **state)
{
    struct rig *r = *state;
    rig_open(r, FAKE_TOKEN, 1, yarn_master_protocol);
    rig_register(r, 0);
    fake_want(r->fakes[0], REGISTER);
    fake_hang_up(r->fakes[0]);
    rig_run(r, 1);
    rig_expect(r, 0, ERR_UNKNOWN_OUTCOME, "the connection was lost before an answer came");
    assert_false(r->calls[0].is_not_done);
    fake_want_none(r->fakes[0]);
}

static void connection_that_answered_is_made_again_at_once(void **state)
{
    struct rig *r = *state;
    r->config.pause_min_ms = r->config.pause_max_ms = RIG_TIMEOUT_MS * 10;
    rig_open(r, FAKE_SIMPLE, 1, yarn_client_protocol);
    rig_call(r, 0);
    rig_answer(r, 0, fake_want(r->fakes[0], NEW_APPLICATION), 1);
    rig_run(r, 1);
    rig_call(r, 1);
    fake_want(r->fakes[0], NEW_APPLICATION);
    fake_hang_up(r->fakes[0]);
    rig_answer(r, 0, fake_want(r->fakes[0], NEW_APPLICATION), 2);
    rig_run(r, 2);
    assert_int_equal(r->calls[1].app, 2);
    assert_int_equal(r->n_missing, 0);
}

static void standby_is_left_and_every_call_goes_along(void **state)
{
    struct rig *r = *state;
    rig_open(r, FAKE_TOKEN, 2, yarn_master_protocol);
    rig_register(r, 0);
    fake_fail(r->fakes[0], fake_want(r->fakes[0], REGISTER), YARN__RPC_STATUS__RPC_ERROR, STANDBY,
              "on standby");
    fake_answer(r->fakes[1], fake_want(r->fakes[1], REGISTER), NULL);
    rig_run(r, 1);
    assert_int_equal(r->calls[0].code, 0);
    rig_allocate(r, 1);
    fake_answer(r->fakes[1], fake_want(r->fakes[1], ALLOCATE), NULL);
    rig_run(r, 2);
    assert_int_equal(fake_n_connections(r->fakes[0]), 1);
    assert_int_equal(fake_n_connections(r->fakes[1]), 1);
}

/* It had answered before: then the next connection would go to the same server. */
static void active_server_that_becomes_standby_is_left(void **state)
{
    struct rig *r = *state;
    rig_open(r, FAKE_SIMPLE, 2, yarn_client_protocol);
    rig_call(r, 0);
    rig_answer(r, 0, fake_want(r->fakes[0], NEW_APPLICATION), 1);
    rig_run(r, 1);
    rig_call(r, 0);
    fake_fail(r->fakes[0], fake_want(r->fakes[0], NEW_APPLICATION), YARN__RPC_STATUS__RPC_FATAL, STANDBY,
              "now on standby");
    rig_answer(r, 1, fake_want(r->fakes[1], NEW_APPLICATION), 2);
    rig_run(r, 2);
    assert_int_equal(r->calls[0].app, 2);
    assert_non_null(strstr(r->missing, "now on standby"));
}

/* Of the connection, not of a call: what it carried was not done. */
static void refusal_by_a_standby_is_no_answer(void **state)
{
    struct rig *r = *state;
    rig_open(r, FAKE_TOKEN, 2, yarn_master_protocol);
    rig_register(r, 0);
    fake_want(r->fakes[0], REGISTER);
    fake_fail(r->fakes[0], FRAME_CALL_REFUSED, YARN__RPC_STATUS__RPC_FATAL, STANDBY, "on standby");
    fake_answer(r->fakes[1], fake_want(r->fakes[1], REGISTER), NULL);
    rig_run(r, 1);
    assert_int_equal(r->calls[0].code, 0);
}

/* A standby does not listen at all. */
static void server_that_does_not_listen_is_passed_over(void **state)
{
    struct rig *r = *state;
    rig_open(r, FAKE_SIMPLE, 2, yarn_client_protocol);
    fake_shut(r->fakes[0]);
    rig_call(r, 0);
    rig_answer(r, 1, fake_want(r->fakes[1], NEW_APPLICATION), 1);
    rig_run(r, 1);
    assert_int_equal(r->calls[0].app, 1);
    assert_int_equal(r->n_missing, 1);
    assert_int_equal(r->n_reached, 1);
}

static void server_that_dies_is_left_for_the_other(void **state)
{
    struct rig *r = *state;
    rig_open(r, FAKE_SIMPLE, 2, yarn_client_protocol);
    rig_call(r, 0);
    rig_answer(r, 0, fake_want(r->fakes[0], NEW_APPLICATION), 1);
    rig_run(r, 1);
    rig_call(r, 1);
    fake_want(r->fakes[0], NEW_APPLICATION);
    fake_shut(r->fakes[0]);
    rig_answer(r, 1, fake_want(r->fakes[1], NEW_APPLICATION), 2);
    rig_run(r, 2);
    assert_int_equal(r->calls[1].app, 2);
}

static void server_that_is_not_ready_is_asked_again(void **state)
{
    struct rig *r = *state;
    rig_open(r, FAKE_TOKEN, 1, yarn_master_protocol);
    rig_register(r, 0);
    for (int i = 0; i < 3; i++)
        fake_fail(r->fakes[0], fake_want(r->fakes[0], REGISTER), YARN__RPC_STATUS__RPC_ERROR, NOT_READY,
                  "wait");
    fake_answer(r->fakes[0], fake_want(r->fakes[0], REGISTER), NULL);
    assert_int_equal(fake_wanted_retries(r->fakes[0]), 3);
    rig_run(r, 1);
    assert_int_equal(r->calls[0].code, 0);
    assert_int_equal(fake_n_connections(r->fakes[0]), 1);
}

static void fatal_error_of_a_call_ends_it_and_the_connection(void **state)
{
    struct rig *r = *state;
    rig_open(r, FAKE_SIMPLE, 1, yarn_client_protocol);
    rig_call(r, 0);
    rig_call(r, 1);
    int32_t id = fake_want(r->fakes[0], NEW_APPLICATION);
    fake_want(r->fakes[0], NEW_APPLICATION);
    fake_fail(r->fakes[0], id, YARN__RPC_STATUS__RPC_FATAL, "org.apache.hadoop.ipc.RpcServerException",
              "what is this");
    rig_run(r, 1);
    rig_expect(r, 0, ERR_INTERNAL, "what is this");
    rig_answer(r, 0, fake_want(r->fakes[0], NEW_APPLICATION), 2);
    rig_run(r, 2);
    assert_int_equal(r->calls[1].app, 2);
}

/* ---- time ---- */

static void call_that_reaches_nobody_ends_with_the_reason(void **state)
{
    struct rig *r = *state;
    r->config.call_timeout_ms = 400;
    rig_open(r, FAKE_SIMPLE, 2, yarn_client_protocol);
    fake_shut(r->fakes[0]);
    fake_shut(r->fakes[1]);
    rig_call(r, 0);
    rig_run(r, 1);
    rig_expect(r, 0, ERR_UNAVAILABLE, "cannot connect to resource manager 127.0.0.1:");
    assert_true(r->calls[0].is_not_done);
    assert_true(r->n_missing >= 2);
}

static void silent_server_is_left_at_the_deadline(void **state)
{
    struct rig *r = *state;
    rig_open(r, FAKE_SIMPLE, 1, yarn_client_protocol);
    r->calls[0].call.timeout_ms = 400;
    rig_call(r, 0);
    rig_call(r, 1);
    fake_want(r->fakes[0], NEW_APPLICATION);
    fake_want(r->fakes[0], NEW_APPLICATION);
    rig_run(r, 1);
    rig_expect(r, 0, ERR_TIMEOUT, "getNewApplication has no answer after 400 ms");
    assert_false(r->calls[0].is_not_done);
    rig_answer(r, 0, fake_want(r->fakes[0], NEW_APPLICATION), 2);
    rig_run(r, 2);
    assert_int_equal(r->calls[1].app, 2);
    assert_int_equal(fake_n_connections(r->fakes[0]), 2);
}

/* The server answers others: the connection is good, only this answer is late. */
static void late_answer_is_ignored(void **state)
{
    struct rig *r = *state;
    rig_open(r, FAKE_SIMPLE, 1, yarn_client_protocol);
    r->calls[0].call.timeout_ms = 1000;
    rig_call(r, 0);
    rig_call(r, 1);
    int32_t late = fake_want(r->fakes[0], NEW_APPLICATION);
    int64_t sent_ms = run_now_ms();
    int32_t other = fake_want(r->fakes[0], NEW_APPLICATION);
    while (run_now_ms() <= sent_ms + 1)
        fake_want_none(r->fakes[0]);
    rig_answer(r, 0, other, 2);
    rig_run(r, 2);
    rig_expect(r, 0, ERR_TIMEOUT, "no answer");
    rig_answer(r, 0, late, 1);
    rig_call(r, 2);
    rig_answer(r, 0, fake_want(r->fakes[0], NEW_APPLICATION), 3);
    rig_run(r, 3);
    assert_int_equal(r->calls[2].app, 3);
    assert_int_equal(fake_n_connections(r->fakes[0]), 1);
}

static void held_call_ends_at_its_deadline(void **state)
{
    struct rig *r = *state;
    r->config.call_timeout_ms = 400;
    r->config.pause_min_ms = r->config.pause_max_ms = RIG_TIMEOUT_MS;
    rig_open(r, FAKE_TOKEN, 1, yarn_master_protocol);
    rig_register(r, 0);
    fake_fail(r->fakes[0], fake_want(r->fakes[0], REGISTER), YARN__RPC_STATUS__RPC_ERROR, NOT_READY, "wait");
    rig_run(r, 1);
    rig_expect(r, 0, ERR_TIMEOUT, "no answer");
    assert_true(r->calls[0].is_not_done);
}

static void server_that_does_not_authenticate_in_time_is_left(void **state)
{
    struct rig *r = *state;
    r->config.connect_timeout_ms = 200;
    rig_open(r, FAKE_TOKEN, 2, yarn_master_protocol);
    fake_set_mode(r->fakes[0], FAKE_SILENT);
    rig_register(r, 0);
    fake_answer(r->fakes[1], fake_want(r->fakes[1], REGISTER), NULL);
    rig_run(r, 1);
    assert_int_equal(r->calls[0].code, 0);
    assert_non_null(strstr(r->missing, "it does not authenticate us in time"));
}

static bool has_pinged(void *arg)
{
    struct rig *r = arg;
    return fake_n_pings(r->fakes[0]) >= 2;
}

static void long_call_is_accompanied_by_pings(void **state)
{
    struct rig *r = *state;
    r->config.ping_ms = 10;
    rig_open(r, FAKE_INTEGRITY, 1, yarn_master_protocol);
    rig_allocate(r, 0);
    int32_t id = fake_want(r->fakes[0], ALLOCATE);
    fake_until(r->loop, has_pinged, r);
    fake_answer(r->fakes[0], id, NULL);
    rig_run(r, 1);
    assert_int_equal(r->calls[0].code, 0);
}

static bool is_alone(void *arg)
{
    struct rig *r = arg;
    return !fake_is_connected(r->fakes[0]) && !yarn_link_is_up(r->link);
}

static void idle_connection_is_closed_and_made_again(void **state)
{
    struct rig *r = *state;
    r->config.idle_ms = 20;
    rig_open(r, FAKE_SIMPLE, 1, yarn_client_protocol);
    assert_int_equal(fake_n_connections(r->fakes[0]), 0);
    rig_call(r, 0);
    rig_answer(r, 0, fake_want(r->fakes[0], NEW_APPLICATION), 1);
    rig_run(r, 1);
    fake_until(r->loop, is_alone, r);
    rig_call(r, 1);
    rig_answer(r, 0, fake_want(r->fakes[0], NEW_APPLICATION), 2);
    rig_run(r, 2);
    assert_int_equal(fake_n_connections(r->fakes[0]), 2);
    assert_int_equal(r->n_missing, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_CASE(repeatable_call_is_sent_again),
        RIG_CASE(call_that_may_have_been_done_is_not_sent_again),
        RIG_CASE(connection_that_answered_is_made_again_at_once),
        RIG_CASE(standby_is_left_and_every_call_goes_along),
        RIG_CASE(active_server_that_becomes_standby_is_left),
        RIG_CASE(refusal_by_a_standby_is_no_answer),
        RIG_CASE(server_that_does_not_listen_is_passed_over),
        RIG_CASE(server_that_dies_is_left_for_the_other),
        RIG_CASE(server_that_is_not_ready_is_asked_again),
        RIG_CASE(fatal_error_of_a_call_ends_it_and_the_connection),
        RIG_CASE(call_that_reaches_nobody_ends_with_the_reason),
        RIG_CASE(silent_server_is_left_at_the_deadline),
        RIG_CASE(late_answer_is_ignored),
        RIG_CASE(held_call_ends_at_its_deadline),
        RIG_CASE(server_that_does_not_authenticate_in_time_is_left),
        RIG_CASE(long_call_is_accompanied_by_pings),
        RIG_CASE(idle_connection_is_closed_and_made_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
