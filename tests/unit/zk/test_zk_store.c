/*
 * The ZooKeeper backend against a scripted server: lost answers, sessions that end, numbers of changes, multis, replies
 * that make no sense, no server at all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/obj.h"
#include "fake_zk.h"

#define RIG_MAGIC  OBJ_MAGIC('R', 'I', 'G', 'S')
#define CALL_MAGIC OBJ_MAGIC('C', 'A', 'L', 'L')

/* Numbers of the protocol. */
#define OP_DELETE  ((enum zkw_op)2)
#define OP_SET     ((enum zkw_op)5)
#define OP_SYNC    ((enum zkw_op)9)
#define OP_MULTI   ((enum zkw_op)14)
#define OP_CREATE2 ((enum zkw_op)15)
#define OP_CLOSE   ((enum zkw_op) - 11)
enum { ERR_NODE_EXISTS = -110, ERR_NOT_EMPTY = -111, ERR_MULTI_FAILED = -2, ERR_THROTTLED = -127 };
enum { TIMEOUT_MS = 30000, N_CALLS = 4 };

struct call {
    struct obj obj;
    struct rig *rig;
    bool is_done;
    int err;
    int64_t zxid;
    size_t order, failed_op;
    char *text;
};

struct rig {
    struct obj obj;
    struct run_loop *loop;
    struct fake_zk *fake;
    struct store *store;
    struct call calls[N_CALLS];
    size_t n_done;
    bool is_closed;
    size_t want_hellos;
};

static void on_done(void *arg, int err, const struct store_result *r)
{
    struct call *c = obj_cast(arg, struct call, CALL_MAGIC);
    assert_false(c->is_done);
    c->is_done = true;
    c->err = err;
    c->zxid = r->zxid;
    c->failed_op = r->failed_op;
    c->order = c->rig->n_done++;
    c->text = mem_fmt("%s: %s", r->why.where, r->why.text);
}

static bool call_is_done(void *arg)
{
    return obj_cast(arg, struct call, CALL_MAGIC)->is_done;
}

static struct call *finished(struct rig *r, size_t i)
{
    fake_until(r->fake, call_is_done, &r->calls[i]);
    return &r->calls[i];
}

static void open_store(struct rig *r, const char *servers, int64_t connect_timeout_ms)
{
    const struct store_options options = {
        .session_timeout_ms = TIMEOUT_MS,
        .connect_timeout_ms = connect_timeout_ms,
        .retry_times = 3,
        .retry_interval_ms = 1,
        .retry_ceiling_ms = 10,
    };
    mem_auto char *url = mem_fmt("zk://%s/r", servers);
    struct err_info why = {0};
    assert_int_equal(store_open(r->loop, url, &options, &r->store, &why), 0);
}

static int set_up(void **state)
{
    struct rig *r = mem_new(struct rig);
    obj_init(&r->obj, RIG_MAGIC);
    r->loop = run_loop_new();
    r->fake = fake_new(r->loop);
    fake_set_hello(r->fake, FAKE_ACCEPT, TIMEOUT_MS);
    for (size_t i = 0; i < N_CALLS; i++) {
        obj_init(&r->calls[i].obj, CALL_MAGIC);
        r->calls[i].rig = r;
    }
    *state = r;
    return 0;
}

static void on_closed(void *arg)
{
    obj_cast(arg, struct rig, RIG_MAGIC)->is_closed = true;
}

static bool rig_is_closed(void *arg)
{
    return obj_cast(arg, struct rig, RIG_MAGIC)->is_closed;
}

/* The session is closed in good order, if there is one. */
static void close_store(struct rig *r, bool is_connected)
{
    store_close(r->store, on_closed, r);
    if (is_connected)
        fake_want(r->fake, OP_CLOSE, NULL);
    fake_until(r->fake, rig_is_closed, r);
}

static int tear_down(void **state)
{
    struct rig *r = *state;
    fake_free(r->fake);
    run_loop_free(r->loop);
    for (size_t i = 0; i < N_CALLS; i++)
        free(r->calls[i].text);
    free(r);
    return 0;
}

static void reply_stat(struct rig *r, int32_t xid, int64_t made)
{
    buf_auto struct buf body = BUF_EMPTY;
    fake_put_stat(&body, made, 0, 0);
    fake_reply(r->fake, xid, made, 0, &body);
}

static void reply_created(struct rig *r, int32_t xid, const char *path, int64_t made)
{
    buf_auto struct buf body = BUF_EMPTY;
    zkw_put_bytes(&body, path, strlen(path));
    fake_put_stat(&body, made, 0, 0);
    fake_reply(r->fake, xid, made, 0, &body);
}

static void create(struct rig *r, size_t i, const char *path)
{
    store_create(r->store, path, "x", 1, NULL, on_done, &r->calls[i]);
}

static void lost_create_is_made_again(void **state)
{
    struct rig *r = *state;
    open_store(r, fake_address(r->fake), TIMEOUT_MS);
    create(r, 0, "/a");
    fake_want(r->fake, OP_CREATE2, "/r/a");
    fake_hang_up(r->fake);
    fake_reply(r->fake, fake_want(r->fake, OP_CREATE2, "/r/a"), 20, ERR_NODE_EXISTS, NULL);
    assert_int_equal(finished(r, 0)->err, ERR_EXISTS);
    assert_true(strncmp(r->calls[0].text, "/a: ", 4) == 0);
    assert_int_equal(fake_n_hellos(r->fake), 2);
    assert_int_equal(fake_hello_seen(r->fake).session, FAKE_SESSION);
    close_store(r, true);
}

static void lost_too_often_is_unavailable(void **state)
{
    struct rig *r = *state;
    open_store(r, fake_address(r->fake), TIMEOUT_MS);
    create(r, 0, "/a");
    for (int i = 0; i < 4; i++) {
        fake_want(r->fake, OP_CREATE2, "/r/a");
        fake_hang_up(r->fake);
    }
    assert_int_equal(finished(r, 0)->err, ERR_UNAVAILABLE);
    store_close(r->store, on_closed, r);
    fake_until(r->fake, rig_is_closed, r);
}

static void no_server_is_unavailable_and_named(void **state)
{
    struct rig *r = *state;
    open_store(r, "127.0.0.1:1", 50);
    create(r, 0, "/a");
    store_get(r->store, "/b", on_done, &r->calls[1]);
    assert_int_equal(finished(r, 0)->err, ERR_UNAVAILABLE);
    assert_int_equal(finished(r, 1)->err, ERR_UNAVAILABLE);
    assert_non_null(strstr(r->calls[0].text, "127.0.0.1:1"));
    close_store(r, false);
}

static void close_cancels_what_was_not_sent(void **state)
{
    struct rig *r = *state;
    open_store(r, "127.0.0.1:1", 50);
    create(r, 0, "/a");
    close_store(r, false);
    assert_true(r->calls[0].is_done);
    assert_int_equal(r->calls[0].err, ERR_CANCELLED);
}

static void close_waits_for_what_was_sent(void **state)
{
    struct rig *r = *state;
    open_store(r, fake_address(r->fake), TIMEOUT_MS);
    create(r, 0, "/a");
    int32_t xid = fake_want(r->fake, OP_CREATE2, "/r/a");
    store_close(r->store, on_closed, r);
    fake_want_none(r->fake);
    reply_created(r, xid, "/r/a", 20);
    fake_want(r->fake, OP_CLOSE, NULL);
    fake_until(r->fake, rig_is_closed, r);
    assert_int_equal(r->calls[0].err, 0);
    assert_int_equal(r->calls[0].zxid, 20);
}

static void changes_have_their_numbers(void **state)
{
    struct rig *r = *state;
    open_store(r, fake_address(r->fake), TIMEOUT_MS);
    store_delete(r->store, "/a/b", -1, on_done, &r->calls[0]);
    store_set(r->store, "/a", "x", 1, -1, on_done, &r->calls[1]);
    store_sync(r->store, on_done, &r->calls[2]);
    fake_reply(r->fake, fake_want(r->fake, OP_DELETE, "/r/a/b"), 20, 0, NULL);
    reply_stat(r, fake_want(r->fake, OP_SET, "/r/a"), 21);
    buf_auto struct buf synced = BUF_EMPTY;
    zkw_put_bytes(&synced, "/r", 2);
    fake_reply(r->fake, fake_want(r->fake, OP_SYNC, "/r"), 22, 0, &synced);
    assert_int_equal(finished(r, 2)->err, 0);
    assert_int_equal(r->calls[2].zxid, 0);
    assert_int_equal(r->calls[0].zxid, 20);
    assert_int_equal(r->calls[1].zxid, 21);
    close_store(r, true);
}

static void replies_come_in_the_order_of_the_calls(void **state)
{
    struct rig *r = *state;
    open_store(r, fake_address(r->fake), TIMEOUT_MS);
    for (size_t i = 0; i < N_CALLS; i++)
        create(r, i, "/a");
    for (size_t i = 0; i < N_CALLS; i++)
        fake_want(r->fake, OP_CREATE2, "/r/a");
    fake_hang_up(r->fake);
    for (size_t i = 0; i < N_CALLS; i++)
        reply_created(r, fake_want(r->fake, OP_CREATE2, "/r/a"), "/r/a", 20 + (int64_t)i);
    for (size_t i = 0; i < N_CALLS; i++) {
        assert_int_equal(finished(r, i)->order, i);
        assert_int_equal(r->calls[i].zxid, 20 + i);
    }
    close_store(r, true);
}

static void put_result(struct buf *out, int32_t type, int32_t err)
{
    zkw_put_i32(out, type);
    buf_add_char(out, type == -1 && err == -1);
    zkw_put_i32(out, err);
}

static void put_failure(struct buf *out, int32_t err)
{
    put_result(out, -1, err);
    zkw_put_i32(out, err);
}

static void multi(struct rig *r, size_t i)
{
    const struct store_op ops[] = {{STORE_OP_SET, "/a", "x", 1, -1, NULL},
                                   {STORE_OP_DELETE, "/b", NULL, 0, -1, NULL},
                                   {STORE_OP_CHECK, "/c", NULL, 0, 3, NULL}};
    store_multi(r->store, ops, ARRAY_LEN(ops), on_done, &r->calls[i]);
}

static void multi_that_failed_names_its_operation(void **state)
{
    struct rig *r = *state;
    open_store(r, fake_address(r->fake), TIMEOUT_MS);
    multi(r, 0);
    buf_auto struct buf body = BUF_EMPTY;
    put_failure(&body, 0);
    put_failure(&body, ERR_NOT_EMPTY);
    put_failure(&body, ERR_MULTI_FAILED);
    put_result(&body, -1, -1);
    fake_reply(r->fake, fake_want(r->fake, OP_MULTI, NULL), 20, 0, &body);
    assert_int_equal(finished(r, 0)->err, ERR_NOTEMPTY);
    assert_int_equal(r->calls[0].failed_op, 1);
    assert_true(strncmp(r->calls[0].text, "/b: ", 4) == 0);
    close_store(r, true);
}

static void multi_that_succeeded_has_the_number_of_its_reply(void **state)
{
    struct rig *r = *state;
    open_store(r, fake_address(r->fake), TIMEOUT_MS);
    multi(r, 0);
    buf_auto struct buf body = BUF_EMPTY;
    put_result(&body, 5, 0);
    fake_put_stat(&body, 20, 0, 1);
    put_result(&body, 2, 0);
    put_result(&body, 13, 0);
    put_result(&body, -1, -1);
    fake_reply(r->fake, fake_want(r->fake, OP_MULTI, NULL), 20, 0, &body);
    assert_int_equal(finished(r, 0)->err, 0);
    assert_int_equal(r->calls[0].zxid, 20);
    close_store(r, true);
}

static void throttled_call_is_made_again_on_the_same_connection(void **state)
{
    struct rig *r = *state;
    open_store(r, fake_address(r->fake), TIMEOUT_MS);
    create(r, 0, "/a");
    fake_reply(r->fake, fake_want(r->fake, OP_CREATE2, "/r/a"), 20, ERR_THROTTLED, NULL);
    reply_created(r, fake_want(r->fake, OP_CREATE2, "/r/a"), "/r/a", 21);
    assert_int_equal(finished(r, 0)->err, 0);
    assert_int_equal(r->calls[0].zxid, 21);
    assert_int_equal(fake_n_hellos(r->fake), 1);
    close_store(r, true);
}

static void reply_without_sense_ends_the_connection_and_the_call_is_made_again(void **state)
{
    struct rig *r = *state;
    open_store(r, fake_address(r->fake), TIMEOUT_MS);
    create(r, 0, "/a");
    fake_reply(r->fake, fake_want(r->fake, OP_CREATE2, "/r/a"), 20, 0, NULL);
    reply_created(r, fake_want(r->fake, OP_CREATE2, "/r/a"), "/r/a", 21);
    assert_int_equal(finished(r, 0)->err, 0);
    assert_int_equal(fake_n_hellos(r->fake), 2);
    close_store(r, true);
}

static bool has_hellos(void *arg)
{
    struct rig *r = obj_cast(arg, struct rig, RIG_MAGIC);
    return fake_n_hellos(r->fake) >= r->want_hellos;
}

static void expired_session_is_replaced_and_the_call_made_again(void **state)
{
    struct rig *r = *state;
    open_store(r, fake_address(r->fake), TIMEOUT_MS);
    create(r, 0, "/a");
    fake_want(r->fake, OP_CREATE2, "/r/a");
    fake_set_hello(r->fake, FAKE_EXPIRE, TIMEOUT_MS);
    fake_hang_up(r->fake);
    r->want_hellos = 2;
    fake_until(r->fake, has_hellos, r);
    fake_set_hello(r->fake, FAKE_ACCEPT, TIMEOUT_MS);
    reply_created(r, fake_want(r->fake, OP_CREATE2, "/r/a"), "/r/a", 30);
    assert_int_equal(finished(r, 0)->err, 0);
    assert_int_equal(r->calls[0].zxid, 30);
    assert_int_equal(fake_hello_seen(r->fake).session, 0);
    close_store(r, true);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(lost_create_is_made_again),
        CASE(lost_too_often_is_unavailable),
        CASE(no_server_is_unavailable_and_named),
        CASE(close_cancels_what_was_not_sent),
        CASE(close_waits_for_what_was_sent),
        CASE(changes_have_their_numbers),
        CASE(replies_come_in_the_order_of_the_calls),
        CASE(multi_that_failed_names_its_operation),
        CASE(multi_that_succeeded_has_the_number_of_its_reply),
        CASE(throttled_call_is_made_again_on_the_same_connection),
        CASE(reply_without_sense_ends_the_connection_and_the_call_is_made_again),
        CASE(expired_session_is_replaced_and_the_call_made_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
