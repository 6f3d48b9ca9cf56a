/* The session against a scripted server: what arrives in pieces, too long, out of order, or not at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/obj.h"
#include "fake_zk.h"
#include "store/zk/session.h"

#define RIG_MAGIC OBJ_MAGIC('R', 'I', 'G', ' ')

enum { SESSION_MS = 400, TIMEOUT_MS = 10000 };

struct rig {
    struct obj obj;
    struct run_loop *loop;
    struct fake_zk *fake;
    struct zks *session;
    size_t n_up, n_resumed, n_down, n_done, n_not_done, n_notices;
    size_t want_up, want_down, want_done, want_hellos;
    int32_t err;
    int64_t zxid;
    size_t body_len;
    char *last_notice;
    struct err_info why;
    struct zks_request requests[2];
    bool is_closed;
};

static void on_up(void *arg, bool is_resumed)
{
    struct rig *r = obj_cast(arg, struct rig, RIG_MAGIC);
    r->n_up++;
    r->n_resumed += is_resumed;
}

static void on_down(void *arg, const struct err_info *why)
{
    struct rig *r = obj_cast(arg, struct rig, RIG_MAGIC);
    r->n_down++;
    r->why = *why;
}

static void on_notice(void *arg, int32_t kind, const char *path)
{
    struct rig *r = obj_cast(arg, struct rig, RIG_MAGIC);
    r->n_notices++;
    free(r->last_notice);
    r->last_notice = mem_fmt("%d %s", kind, path);
}

static void on_drained(void *arg)
{
    obj_cast(arg, struct rig, RIG_MAGIC);
}

static const struct zks_ops ops = {on_up, on_down, on_notice, on_drained};

static void on_done(void *arg, const struct zks_reply *reply)
{
    struct rig *r = obj_cast(arg, struct rig, RIG_MAGIC);
    r->n_done++;
    r->n_not_done += reply->is_not_done;
    r->err = reply->err;
    r->zxid = reply->zxid;
    r->body_len = (size_t)(reply->body.end - reply->body.at);
}

static bool is_as_wanted(void *arg)
{
    struct rig *r = obj_cast(arg, struct rig, RIG_MAGIC);
    return r->n_up >= r->want_up && r->n_down >= r->want_down && r->n_done >= r->want_done &&
           fake_n_hellos(r->fake) >= r->want_hellos;
}

static void run(struct rig *r)
{
    fake_until(r->fake, is_as_wanted, r);
}

static void run_up(struct rig *r, size_t n)
{
    r->want_up = n;
    run(r);
}

static void run_down(struct rig *r, size_t n)
{
    r->want_down = n;
    run(r);
}

static void run_done(struct rig *r, size_t n)
{
    r->want_done = n;
    run(r);
}

static int32_t ask(struct rig *r, size_t i, const char *path)
{
    r->requests[i] = (struct zks_request){.done = on_done, .arg = r};
    zks_send(r->session, &r->requests[i], ZKW_GET_DATA, path);
    zks_flush(r->session);
    return fake_want(r->fake, ZKW_GET_DATA, path);
}

/* A request that has not left us was not done; of one that has nobody knows. */
static void lost_request_says_whether_it_had_left(void **state)
{
    struct rig *r = *state;
    run_up(r, 1);
    ask(r, 0, "/left");
    r->requests[1] = (struct zks_request){.done = on_done, .arg = r};
    zks_send(r->session, &r->requests[1], ZKW_GET_DATA, "/still-here");
    zks_abandon(r->session, "the cable was cut");
    assert_int_equal(r->n_done, 2);
    assert_int_equal(r->err, ZKW_CONNECTION_LOSS);
    assert_false(r->requests[0].is_not_done);
    assert_true(r->requests[1].is_not_done);
    assert_int_equal(r->n_not_done, 1);
}

static void refused_for_its_session_was_not_done(void **state)
{
    static const int32_t numbers[] = {ZKW_SESSION_EXPIRED, ZKW_SESSION_MOVED};
    struct rig *r = *state;
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        run_up(r, i + 1);
        fake_reply(r->fake, ask(r, 0, "/a"), 5, numbers[i], NULL);
        run_done(r, i + 1);
        assert_int_equal(r->n_not_done, i + 1);
    }
}

static int set_up_as(void **state, bool catches_up)
{
    struct rig *r = mem_new(struct rig);
    obj_init(&r->obj, RIG_MAGIC);
    r->loop = run_loop_new();
    r->fake = fake_new(r->loop);
    const struct zks_config config = {
        .servers = fake_address(r->fake),
        .session_timeout_ms = SESSION_MS,
        .attempt_timeout_ms = TIMEOUT_MS,
        .pause_min_ms = 1,
        .pause_max_ms = 10,
        .frame_max = 4 << 20,
        .catches_up = catches_up,
    };
    assert_int_equal(zks_open(r->loop, &config, &ops, r, &r->session, NULL), 0);
    *state = r;
    return 0;
}

static int set_up(void **state)
{
    return set_up_as(state, false);
}

static int set_up_catching_up(void **state)
{
    return set_up_as(state, true);
}

static void on_closed(void *arg)
{
    obj_cast(arg, struct rig, RIG_MAGIC)->is_closed = true;
}

static bool rig_is_closed(void *arg)
{
    return obj_cast(arg, struct rig, RIG_MAGIC)->is_closed;
}

static int tear_down(void **state)
{
    struct rig *r = *state;
    zks_close(r->session, on_closed, r);
    fake_until(r->fake, rig_is_closed, r);
    fake_free(r->fake);
    run_loop_free(r->loop);
    free(r->last_notice);
    free(r);
    return 0;
}

static void frames_arrive_a_byte_at_a_time(void **state)
{
    struct rig *r = *state;
    fake_set_chunk(r->fake, 1);
    run_up(r, 1);
    buf_auto struct buf body = BUF_EMPTY;
    fake_put_data(&body, "value", 5, 0);
    int32_t xid = ask(r, 0, "/a");
    fake_notice(r->fake, ZKW_CHANGED, "/a");
    fake_reply(r->fake, xid, 42, 0, &body);
    run_done(r, 1);
    assert_int_equal(r->zxid, 42);
    assert_int_equal(r->body_len, body.len);
    assert_string_equal(r->last_notice, "3 /a");
    assert_int_equal(r->n_down, 0);
}

static void frames_of_megabytes_are_taken(void **state)
{
    struct rig *r = *state;
    run_up(r, 1);
    buf_auto struct buf body = BUF_EMPTY;
    memset(buf_room(&body, 3 << 20), 'x', 3 << 20);
    body.len += 3 << 20;
    fake_reply(r->fake, ask(r, 0, "/large"), 1, 0, &body);
    run_done(r, 1);
    assert_int_equal(r->err, 0);
    assert_int_equal(r->body_len, 3 << 20);
}

static void longer_frames_end_the_connection(void **state)
{
    struct rig *r = *state;
    run_up(r, 1);
    ask(r, 0, "/a");
    fake_raw(r->fake, "\x7f\xff\xff\xff", 4);
    run_down(r, 1);
    assert_int_equal(r->err, ZKW_CONNECTION_LOSS);
    assert_non_null(strstr(r->why.text, "longer"));
    run_up(r, 2);
}

static void closed_within_a_frame_is_resumed(void **state)
{
    struct rig *r = *state;
    run_up(r, 1);
    fake_reply(r->fake, ask(r, 0, "/a"), 77, ZKW_NO_NODE, NULL);
    run_done(r, 1);
    assert_int_equal(r->err, ZKW_NO_NODE);
    ask(r, 0, "/b");
    ask(r, 1, "/c");
    fake_raw(r->fake, "\0\0\0\x20half a frame", 16);
    fake_hang_up(r->fake);
    run_down(r, 1);
    assert_int_equal(r->n_done, 3);
    assert_int_equal(r->err, ZKW_CONNECTION_LOSS);
    run_up(r, 2);
    assert_int_equal(r->n_resumed, 1);
    assert_int_equal(fake_hello_seen(r->fake).session, FAKE_SESSION);
    assert_int_equal(fake_hello_seen(r->fake).last_zxid, 77);
    assert_int_equal(fake_hello_seen(r->fake).password_len, FAKE_PASSWORD_LEN);
}

static void expired_session_is_replaced(void **state)
{
    struct rig *r = *state;
    run_up(r, 1);
    fake_set_hello(r->fake, FAKE_EXPIRE, 0);
    fake_hang_up(r->fake);
    r->want_hellos = 2;
    run_down(r, 1);
    fake_set_hello(r->fake, FAKE_ACCEPT, TIMEOUT_MS);
    run_up(r, 2);
    assert_int_equal(fake_hello_seen(r->fake).session, 0);
    assert_int_equal(r->n_resumed, 0);
    assert_int_equal(r->n_down, 1);
}

/* Somebody who knows its id and password has closed the session, and the server has left our connection open. */
static void a_reply_that_the_session_is_over_ends_the_connection(void **state)
{
    static const int32_t errors[] = {ZKW_SESSION_EXPIRED, ZKW_SESSION_MOVED};
    struct rig *r = *state;
    run_up(r, 1);
    for (size_t i = 0; i < ARRAY_LEN(errors); i++) {
        r->err = 0;
        fake_reply(r->fake, ask(r, 0, "/a"), 7, errors[i], NULL);
        run_down(r, i + 1);
        assert_int_equal(r->n_done, i + 1);
        assert_int_equal(r->err, ZKW_CONNECTION_LOSS);
        assert_non_null(strstr(r->why.text, "the session has ended"));
        run_up(r, i + 2);
    }
}

static void replies_must_be_in_order(void **state)
{
    struct rig *r = *state;
    run_up(r, 1);
    ask(r, 0, "/a");
    int32_t second = ask(r, 1, "/b");
    fake_reply(r->fake, second, 1, ZKW_NO_NODE, NULL);
    run_down(r, 1);
    assert_int_equal(r->n_done, 2);
    assert_int_equal(r->err, ZKW_CONNECTION_LOSS);
    assert_non_null(strstr(r->why.text, "out of order"));
}

static void silence_is_answered_with_pings_then_given_up(void **state)
{
    struct rig *r = *state;
    fake_set_hello(r->fake, FAKE_ACCEPT, 300);
    run_up(r, 1);
    int32_t xid = fake_want(r->fake, ZKW_PING, NULL);
    assert_int_equal(xid, ZKW_XID_PING);
    fake_reply(r->fake, xid, 5, 0, NULL);
    fake_want(r->fake, ZKW_PING, NULL);
    run_down(r, 1);
    assert_non_null(strstr(r->why.text, "two thirds"));
}

/* After a reply of number 99 no server takes us any more, until it is forgotten. */
static void be_refused_for_long(struct rig *r)
{
    run_up(r, 1);
    fake_reply(r->fake, ask(r, 0, "/a"), 99, ZKW_NO_NODE, NULL);
    run_done(r, 1);
    fake_set_hello(r->fake, FAKE_REFUSE, 0);
    fake_hang_up(r->fake);
    r->want_hellos = 3;
    run_down(r, 1);
    assert_int_equal(fake_hello_seen(r->fake).last_zxid, 99);
    while (fake_hello_seen(r->fake).last_zxid != 0) {
        r->want_hellos = fake_n_hellos(r->fake) + 1;
        run(r);
    }
    assert_int_equal(fake_hello_seen(r->fake).session, 0);
    fake_set_hello(r->fake, FAKE_ACCEPT, TIMEOUT_MS);
}

static void put_synced(struct buf *body)
{
    zkw_put_bytes(body, "/", 1);
}

static void an_older_ensemble_is_accepted_in_the_end(void **state)
{
    struct rig *r = *state;
    buf_auto struct buf synced = BUF_EMPTY;
    put_synced(&synced);
    be_refused_for_long(r);
    fake_reply(r->fake, fake_want(r->fake, ZKW_SYNC, "/"), 7, 0, &synced);
    run_up(r, 2);
    assert_int_equal(r->n_resumed, 0);
    fake_reply(r->fake, ask(r, 0, "/a"), 7, ZKW_NO_NODE, NULL);
    run_done(r, 2);
    assert_int_equal(r->zxid, 7);
}

static void a_server_that_lags_catches_up_before_it_is_read(void **state)
{
    struct rig *r = *state;
    buf_auto struct buf synced = BUF_EMPTY;
    put_synced(&synced);
    be_refused_for_long(r);
    fake_want(r->fake, ZKW_SYNC, "/");
    fake_want_none(r->fake);
    assert_int_equal(r->n_up, 1);
    fake_hang_up(r->fake);
    fake_reply(r->fake, fake_want(r->fake, ZKW_SYNC, "/"), 99, 0, &synced);
    run_up(r, 2);
    size_t n_resumed = r->n_resumed;
    fake_hang_up(r->fake);
    run_up(r, 3); /* an ordinary loss afterwards: nothing is to be caught up with */
    fake_want_none(r->fake);
    assert_int_equal(r->n_resumed, n_resumed + 1);
    assert_int_equal(fake_hello_seen(r->fake).last_zxid, 99);
}

static void a_server_that_cannot_catch_up_is_left(void **state)
{
    struct rig *r = *state;
    buf_auto struct buf synced = BUF_EMPTY;
    put_synced(&synced);
    be_refused_for_long(r);
    fake_reply(r->fake, fake_want(r->fake, ZKW_SYNC, "/"), 7, ZKW_NO_NODE, NULL);
    fake_reply(r->fake, fake_want(r->fake, ZKW_SYNC, "/"), 7, 0, &synced);
    run_up(r, 2);
    assert_int_equal(r->n_done, 1);
}

static void the_first_server_catches_up_where_that_is_asked_for(void **state)
{
    struct rig *r = *state;
    buf_auto struct buf synced = BUF_EMPTY;
    put_synced(&synced);
    int32_t xid = fake_want(r->fake, ZKW_SYNC, "/");
    assert_int_equal(r->n_up, 0);
    fake_reply(r->fake, xid, 7, 0, &synced);
    run_up(r, 1);
    fake_hang_up(r->fake);
    run_up(r, 2);
    fake_want_none(r->fake);
}

static void bad_server_list_is_refused(void **state)
{
    struct rig *r = *state;
    const struct zks_config config = {.servers = "host:none"};
    struct zks *session = NULL;
    struct err_info why = {0};
    assert_int_equal(zks_open(r->loop, &config, &ops, r, &session, &why), ERR_INVALID);
    assert_null(session);
    assert_non_null(strstr(why.text, "host:none"));
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(lost_request_says_whether_it_had_left),
        CASE(refused_for_its_session_was_not_done),
        CASE(frames_arrive_a_byte_at_a_time),
        CASE(frames_of_megabytes_are_taken),
        CASE(longer_frames_end_the_connection),
        CASE(closed_within_a_frame_is_resumed),
        CASE(expired_session_is_replaced),
        CASE(a_reply_that_the_session_is_over_ends_the_connection),
        CASE(replies_must_be_in_order),
        CASE(silence_is_answered_with_pings_then_given_up),
        CASE(an_older_ensemble_is_accepted_in_the_end),
        CASE(a_server_that_lags_catches_up_before_it_is_read),
        CASE(a_server_that_cannot_catch_up_is_left),
        cmocka_unit_test_setup_teardown(the_first_server_catches_up_where_that_is_asked_for,
                                        set_up_catching_up, tear_down),
        CASE(bad_server_list_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
