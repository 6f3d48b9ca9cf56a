/*
 * The ZooKeeper backend with the real C client against a scripted server: lost answers, sessions that end, numbers of
 * deletes, no server at all.
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

/* Requests that only the C client sends; the numbers are the protocol's. */
#define OP_DELETE  ((enum zkw_op)2)
#define OP_CREATE2 ((enum zkw_op)15)
#define OP_CLOSE   ((enum zkw_op) - 11)
enum { ERR_NODE_EXISTS = -110, TIMEOUT_MS = 30000, N_CALLS = 4 };

struct call {
    struct obj obj;
    struct rig *rig;
    bool is_done;
    int err;
    int64_t zxid;
    size_t order;
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

/* The client closes its session in good order, if it has one. */
static void close_store(struct rig *r, bool is_connected)
{
    store_close(r->store, on_closed, r);
    if (is_connected) {
        fake_reply(r->fake, fake_want(r->fake, OP_CLOSE, NULL), 99, 0, NULL);
        fake_hang_up(r->fake);
    }
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
    fake_reply(r->fake, fake_want(r->fake, OP_CLOSE, NULL), 21, 0, NULL);
    fake_hang_up(r->fake);
    fake_until(r->fake, rig_is_closed, r);
    assert_int_equal(r->calls[0].err, 0);
    assert_int_equal(r->calls[0].zxid, 20);
}

static void delete_has_the_number_of_the_surviving_ancestor(void **state)
{
    struct rig *r = *state;
    open_store(r, fake_address(r->fake), TIMEOUT_MS);
    store_delete(r->store, "/a/b", -1, on_done, &r->calls[0]);
    fake_reply(r->fake, fake_want(r->fake, OP_DELETE, "/r/a/b"), 20, 0, NULL);
    fake_reply(r->fake, fake_want(r->fake, ZKW_EXISTS, "/r/a"), 21, ZKW_NO_NODE, NULL);
    fake_reply(r->fake, fake_want(r->fake, ZKW_EXISTS, "/r"), 22, ZKW_NO_NODE, NULL);
    reply_stat(r, fake_want(r->fake, ZKW_EXISTS, "/"), 22);
    assert_int_equal(finished(r, 0)->err, 0);
    assert_int_equal(r->calls[0].zxid, 22);
    close_store(r, true);
}

static void completions_keep_the_order_of_the_calls(void **state)
{
    struct rig *r = *state;
    open_store(r, fake_address(r->fake), TIMEOUT_MS);
    store_delete(r->store, "/a", -1, on_done, &r->calls[0]);
    create(r, 1, "/b");
    fake_reply(r->fake, fake_want(r->fake, OP_DELETE, "/r/a"), 20, 0, NULL);
    reply_created(r, fake_want(r->fake, OP_CREATE2, "/r/b"), "/r/b", 21);
    int32_t stat = fake_want(r->fake, ZKW_EXISTS, "/r");
    fake_want_none(r->fake);
    assert_int_equal(r->n_done, 0);
    reply_stat(r, stat, 21);
    assert_int_equal(finished(r, 0)->order, 0);
    assert_int_equal(finished(r, 1)->order, 1);
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
        CASE(delete_has_the_number_of_the_surviving_ancestor),
        CASE(completions_keep_the_order_of_the_calls),
        CASE(expired_session_is_replaced_and_the_call_made_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
