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
#define OP_DELETE    ((enum zkw_opcode)2)
#define OP_SET       ((enum zkw_opcode)5)
#define OP_EXISTS    ((enum zkw_opcode)3)
#define OP_GET_DATA  ((enum zkw_opcode)4)
#define OP_SYNC      ((enum zkw_opcode)9)
#define OP_MULTI     ((enum zkw_opcode)14)
#define OP_CREATE2   ((enum zkw_opcode)15)
#define OP_ADD_WATCH ((enum zkw_opcode)106)
#define OP_CLOSE     ((enum zkw_opcode) - 11)
enum {
    ERR_NO_NODE = -101,
    ERR_NODE_EXISTS = -110,
    ERR_NOT_EMPTY = -111,
    ERR_MULTI_FAILED = -2,
    ERR_THROTTLED = -127
};
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

static bool has_hellos(void *arg)
{
    struct rig *r = obj_cast(arg, struct rig, RIG_MAGIC);
    return fake_n_hellos(r->fake) >= r->want_hellos;
}

enum { FLOOR = 50, BEFORE = 40, SINCE = 60, VERSION = 0 /* of each node of the fake */ };

/* The session has seen everything up to FLOOR; what is sent from now on is younger. */
static void see_floor(struct rig *r)
{
    buf_auto struct buf synced = BUF_EMPTY;
    store_sync(r->store, on_done, &r->calls[N_CALLS - 1]);
    zkw_put_bytes(&synced, "/r", 2);
    fake_reply(r->fake, fake_want(r->fake, OP_SYNC, "/r"), FLOOR, 0, &synced);
    struct call *c = finished(r, N_CALLS - 1);
    assert_int_equal(c->err, 0);
    free(c->text);
    c->text = NULL;
    c->is_done = false;
    r->n_done = 0;
}

static void reply_synced(struct rig *r)
{
    buf_auto struct buf synced = BUF_EMPTY;
    zkw_put_bytes(&synced, "/r", 2);
    fake_reply(r->fake, fake_want(r->fake, OP_SYNC, "/r"), SINCE, 0, &synced);
}

/* The answer to what is asked of a node next: its stat, or that it is not there. */
static void reply_exists(struct rig *r, const char *path, int64_t made)
{
    int32_t xid = fake_want(r->fake, OP_EXISTS, path);
    if (made)
        reply_stat(r, xid, made);
    else
        fake_reply(r->fake, xid, SINCE, ERR_NO_NODE, NULL);
}

/* A create whose answer is lost. */
static void lose_create(struct rig *r)
{
    open_store(r, fake_address(r->fake), TIMEOUT_MS);
    see_floor(r);
    create(r, 0, "/a/b");
    fake_want(r->fake, OP_CREATE2, "/r/a/b");
    fake_hang_up(r->fake);
    reply_synced(r);
}

static void lost_create_that_was_not_done_is_made_again(void **state)
{
    struct rig *r = *state;
    lose_create(r);
    reply_exists(r, "/r/a/b", 0);
    reply_exists(r, "/r/a", BEFORE);
    reply_created(r, fake_want(r->fake, OP_CREATE2, "/r/a/b"), "/r/a/b", SINCE);
    assert_int_equal(finished(r, 0)->err, 0);
    assert_int_equal(r->calls[0].zxid, SINCE);
    assert_int_equal(fake_n_hellos(r->fake), 2);
    assert_int_equal(fake_hello_seen(r->fake).session, FAKE_SESSION);
    close_store(r, true);
}

static void lost_create_of_what_was_there_says_so(void **state)
{
    struct rig *r = *state;
    lose_create(r);
    reply_exists(r, "/r/a/b", BEFORE);
    fake_reply(r->fake, fake_want(r->fake, OP_CREATE2, "/r/a/b"), SINCE, ERR_NODE_EXISTS, NULL);
    assert_int_equal(finished(r, 0)->err, ERR_EXISTS);
    close_store(r, true);
}

static void lost_create_of_what_is_there_now_is_unknown(void **state)
{
    struct rig *r = *state;
    lose_create(r);
    reply_exists(r, "/r/a/b", SINCE);
    assert_int_equal(finished(r, 0)->err, ERR_UNKNOWN_OUTCOME);
    assert_true(strncmp(r->calls[0].text, "/a/b: ", 6) == 0);
    fake_want_none(r->fake);
    close_store(r, true);
}

static void ancestors_are_asked_up_to_one_that_is_there(void **state)
{
    struct rig *r = *state;
    lose_create(r);
    reply_exists(r, "/r/a/b", 0);
    reply_exists(r, "/r/a", 0);
    reply_exists(r, "/r", BEFORE);
    fake_reply(r->fake, fake_want(r->fake, OP_CREATE2, "/r/a/b"), SINCE, ERR_NO_NODE, NULL);
    assert_int_equal(finished(r, 0)->err, ERR_NOTFOUND);
    close_store(r, true);
}

static void lose_delete(struct rig *r)
{
    open_store(r, fake_address(r->fake), TIMEOUT_MS);
    see_floor(r);
    store_delete(r->store, "/a", -1, on_done, &r->calls[0]);
    fake_want(r->fake, OP_DELETE, "/r/a");
    fake_hang_up(r->fake);
    reply_synced(r);
}

static void lost_delete_of_what_is_gone_is_unknown(void **state)
{
    struct rig *r = *state;
    lose_delete(r);
    reply_exists(r, "/r/a", 0);
    reply_exists(r, "/r", SINCE);
    assert_int_equal(finished(r, 0)->err, ERR_UNKNOWN_OUTCOME);
    fake_want_none(r->fake);
    close_store(r, true);
}

/* Somebody else made the node anew: it must not go. */
static void lost_delete_of_another_node_is_not_made_again(void **state)
{
    struct rig *r = *state;
    lose_delete(r);
    reply_exists(r, "/r/a", SINCE);
    assert_int_equal(finished(r, 0)->err, ERR_UNKNOWN_OUTCOME);
    fake_want_none(r->fake);
    close_store(r, true);
}

/* The data of a node made by one number and set by SINCE. */
static void reply_set(struct rig *r, const char *data, int64_t made)
{
    buf_auto struct buf body = BUF_EMPTY, stat = BUF_EMPTY;
    fake_put_stat(&stat, SINCE, 0, strlen(data));
    zkw_put_bytes(&body, data, strlen(data));
    zkw_put_i64(&body, made);
    buf_add(&body, stat.bytes + sizeof made, stat.len - sizeof made);
    fake_reply(r->fake, fake_want(r->fake, OP_GET_DATA, "/r/a"), SINCE, 0, &body);
}

static void lost_set(struct rig *r, const char *now, int64_t made, const struct store_seen *seen)
{
    open_store(r, fake_address(r->fake), TIMEOUT_MS);
    see_floor(r);
    if (seen)
        store_set_over(r->store, "/a", "mine", 4, seen, on_done, &r->calls[0]);
    else
        store_set(r->store, "/a", "mine", 4, -1, on_done, &r->calls[0]);
    fake_want(r->fake, OP_SET, "/r/a");
    fake_hang_up(r->fake);
    reply_synced(r);
    reply_set(r, now, made);
}

static void lost_set_whose_data_are_there_is_done(void **state)
{
    struct rig *r = *state;
    lost_set(r, "mine", BEFORE, NULL);
    assert_int_equal(finished(r, 0)->err, 0);
    assert_int_equal(r->calls[0].zxid, SINCE);
    fake_want_none(r->fake);
    close_store(r, true);
}

/* It may have been done before the node was deleted, which another client has made again with the same data. */
static void lost_set_whose_data_are_another_nodes_is_unknown(void **state)
{
    struct rig *r = *state;
    lost_set(r, "mine", SINCE, NULL);
    assert_int_equal(finished(r, 0)->err, ERR_UNKNOWN_OUTCOME);
    fake_want_none(r->fake);
    close_store(r, true);
}

/* Two clients set the same data: the number is that of one of them. */
static void lost_set_over_what_was_not_seen_is_unknown(void **state)
{
    struct rig *r = *state;
    lost_set(r, "mine", BEFORE, &(const struct store_seen){.czxid = BEFORE, .version = 3});
    assert_int_equal(finished(r, 0)->err, ERR_UNKNOWN_OUTCOME);
    fake_want_none(r->fake);
    close_store(r, true);
}

static void lost_set_over_what_was_seen_is_done(void **state)
{
    struct rig *r = *state;
    lost_set(r, "mine", BEFORE, &(const struct store_seen){.czxid = BEFORE, .version = VERSION - 1});
    assert_int_equal(finished(r, 0)->err, 0);
    assert_int_equal(r->calls[0].zxid, SINCE);
    fake_want_none(r->fake);
    close_store(r, true);
}

/* A newer value is not overwritten with an older one. */
static void lost_set_under_another_is_unknown(void **state)
{
    struct rig *r = *state;
    lost_set(r, "another's", BEFORE, NULL);
    assert_int_equal(finished(r, 0)->err, ERR_UNKNOWN_OUTCOME);
    fake_want_none(r->fake);
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

static void lose_multi(struct rig *r)
{
    const struct store_op ops[] = {{STORE_OP_CREATE, "/a/made", "x", 1, -1, NULL, 0, NULL},
                                   {STORE_OP_CHECK, "/a", NULL, 0, 3, NULL, 0, NULL},
                                   {STORE_OP_DELETE, "/a/gone", NULL, 0, -1, NULL, 0, NULL}};
    open_store(r, fake_address(r->fake), TIMEOUT_MS);
    see_floor(r);
    store_multi(r->store, ops, ARRAY_LEN(ops), on_done, &r->calls[0]);
    fake_want(r->fake, OP_MULTI, NULL);
    fake_hang_up(r->fake);
    reply_synced(r);
    reply_exists(r, "/r/a/made", 0);
    reply_exists(r, "/r/a", SINCE);
}

/* Each operation is judged by itself, each from its own node on upwards. */
static void lost_multi_is_unknown_when_no_operation_proves_anything(void **state)
{
    struct rig *r = *state;
    lose_multi(r);
    reply_exists(r, "/r/a/gone", 0);
    reply_exists(r, "/r/a", SINCE);
    assert_int_equal(finished(r, 0)->err, ERR_UNKNOWN_OUTCOME);
    fake_want_none(r->fake);
    close_store(r, true);
}

static void lost_multi_is_made_again_when_one_operation_was_not_done(void **state)
{
    struct rig *r = *state;
    lose_multi(r);
    reply_exists(r, "/r/a/gone", BEFORE);
    buf_auto struct buf body = BUF_EMPTY;
    put_failure(&body, ERR_NODE_EXISTS);
    put_failure(&body, ERR_MULTI_FAILED);
    put_failure(&body, ERR_MULTI_FAILED);
    put_result(&body, -1, -1);
    fake_reply(r->fake, fake_want(r->fake, OP_MULTI, NULL), SINCE, 0, &body);
    assert_int_equal(finished(r, 0)->err, ERR_EXISTS);
    close_store(r, true);
}

/* What comes after a write in question waits for the answer. */
static void nothing_overtakes_a_write_in_question(void **state)
{
    struct rig *r = *state;
    lose_create(r);
    store_set(r->store, "/a/b", "later", 5, -1, on_done, &r->calls[1]);
    reply_exists(r, "/r/a/b", 0);
    reply_exists(r, "/r/a", BEFORE);
    reply_created(r, fake_want(r->fake, OP_CREATE2, "/r/a/b"), "/r/a/b", SINCE);
    reply_stat(r, fake_want(r->fake, OP_SET, "/r/a/b"), SINCE + 1);
    assert_int_equal(finished(r, 1)->err, 0);
    assert_int_equal(r->calls[0].order, 0);
    close_store(r, true);
}

static void lost_too_often_is_unknown(void **state)
{
    struct rig *r = *state;
    open_store(r, fake_address(r->fake), TIMEOUT_MS);
    create(r, 0, "/a");
    fake_want(r->fake, OP_CREATE2, "/r/a");
    fake_hang_up(r->fake);
    for (int i = 0; i < 3; i++) {
        fake_want(r->fake, OP_SYNC, "/r");
        fake_hang_up(r->fake);
    }
    assert_int_equal(finished(r, 0)->err, ERR_UNKNOWN_OUTCOME);
    store_close(r->store, on_closed, r);
    fake_until(r->fake, rig_is_closed, r);
}

static void lost_read_is_made_again_and_then_unavailable(void **state)
{
    struct rig *r = *state;
    open_store(r, fake_address(r->fake), TIMEOUT_MS);
    store_stat(r->store, "/a", on_done, &r->calls[0]);
    for (int i = 0; i < 4; i++) {
        fake_want(r->fake, OP_EXISTS, "/r/a");
        fake_hang_up(r->fake);
    }
    assert_int_equal(finished(r, 0)->err, ERR_UNAVAILABLE);
    store_close(r->store, on_closed, r);
    fake_until(r->fake, rig_is_closed, r);
}

static void close_says_of_a_write_in_question_that_it_is_one(void **state)
{
    struct rig *r = *state;
    open_store(r, fake_address(r->fake), TIMEOUT_MS);
    create(r, 0, "/a");
    fake_want(r->fake, OP_CREATE2, "/r/a");
    fake_set_hello(r->fake, FAKE_REFUSE, TIMEOUT_MS);
    fake_hang_up(r->fake);
    r->want_hellos = 2;
    fake_until(r->fake, has_hellos, r);
    store_close(r->store, on_closed, r);
    fake_until(r->fake, rig_is_closed, r);
    assert_int_equal(r->calls[0].err, ERR_UNKNOWN_OUTCOME);
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
    see_floor(r);
    for (size_t i = 0; i < N_CALLS; i++)
        create(r, i, "/a");
    for (size_t i = 0; i < N_CALLS; i++)
        fake_want(r->fake, OP_CREATE2, "/r/a");
    fake_hang_up(r->fake);
    for (size_t i = 0; i < N_CALLS; i++)
        reply_synced(r);
    for (size_t i = 0; i < N_CALLS; i++)
        reply_exists(r, "/r/a", 0);
    for (size_t i = 0; i < N_CALLS; i++)
        reply_exists(r, "/r", BEFORE);
    for (size_t i = 0; i < N_CALLS; i++)
        reply_created(r, fake_want(r->fake, OP_CREATE2, "/r/a"), "/r/a", 20 + (int64_t)i);
    for (size_t i = 0; i < N_CALLS; i++) {
        assert_int_equal(finished(r, i)->order, i);
        assert_int_equal(r->calls[i].zxid, 20 + i);
    }
    close_store(r, true);
}

static void multi(struct rig *r, size_t i)
{
    const struct store_op ops[] = {{STORE_OP_SET, "/a", "x", 1, -1, NULL, 0, NULL},
                                   {STORE_OP_DELETE, "/b", NULL, 0, -1, NULL, 0, NULL},
                                   {STORE_OP_CHECK, "/c", NULL, 0, 3, NULL, 0, NULL}};
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

/* What a server shows as cversion has run over; the name of a sequential node has not. */
static void check_of_a_parent_with_many_creates_has_their_number(void **state)
{
    struct rig *r = *state;
    enum { CVERSION_AT = 36 };
    buf_auto struct buf parent = BUF_EMPTY;
    buf_auto struct buf done = BUF_EMPTY;
    open_store(r, fake_address(r->fake), TIMEOUT_MS);
    store_delete_if(r->store, "/a", 20, on_done, &r->calls[0]);
    fake_put_stat(&parent, 10, 1, 0);
    memcpy(parent.bytes + CVERSION_AT, "\x80\0\0\1", 4); /* 2 * (2^30 + 1) - 1 */
    fake_reply(r->fake, fake_want(r->fake, OP_EXISTS, "/r"), 20, 0, &parent);
    reply_stat(r, fake_want(r->fake, OP_EXISTS, "/r/a"), 20);
    int32_t xid = fake_want(r->fake, OP_MULTI, NULL);
    assert_true(fake_wanted_has(r->fake, "/r/bobbin-check-1073741825"));
    put_result(&done, 1, 0);
    zkw_put_bytes(&done, "/r/c", 4);
    put_result(&done, 2, 0);
    put_result(&done, 2, 0);
    put_result(&done, -1, -1);
    fake_reply(r->fake, xid, 21, 0, &done);
    assert_int_equal(finished(r, 0)->err, 0);
    assert_int_equal(r->calls[0].zxid, 21);
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

static void reply_without_sense_ends_the_connection_and_the_read_is_made_again(void **state)
{
    struct rig *r = *state;
    open_store(r, fake_address(r->fake), TIMEOUT_MS);
    store_stat(r->store, "/a", on_done, &r->calls[0]);
    fake_reply(r->fake, fake_want(r->fake, OP_EXISTS, "/r/a"), 20, 0, NULL);
    reply_exists(r, "/r/a", 21);
    assert_int_equal(finished(r, 0)->err, 0);
    assert_int_equal(fake_n_hellos(r->fake), 2);
    close_store(r, true);
}

static void expired_session_is_replaced_and_the_call_made_again(void **state)
{
    struct rig *r = *state;
    open_store(r, fake_address(r->fake), TIMEOUT_MS);
    see_floor(r);
    create(r, 0, "/a");
    fake_want(r->fake, OP_CREATE2, "/r/a");
    fake_set_hello(r->fake, FAKE_EXPIRE, TIMEOUT_MS);
    fake_hang_up(r->fake);
    r->want_hellos = 2;
    fake_until(r->fake, has_hellos, r);
    fake_set_hello(r->fake, FAKE_ACCEPT, TIMEOUT_MS);
    reply_synced(r);
    reply_exists(r, "/r/a", 0);
    reply_exists(r, "/r", BEFORE);
    reply_created(r, fake_want(r->fake, OP_CREATE2, "/r/a"), "/r/a", SINCE);
    assert_int_equal(finished(r, 0)->err, 0);
    assert_int_equal(r->calls[0].zxid, SINCE);
    assert_int_equal(fake_hello_seen(r->fake).session, 0);
    close_store(r, true);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

/* ---- without calls ---- */

static void open_only_followed(struct rig *r, bool catches_up)
{
    const struct store_options options = {
        .session_timeout_ms = TIMEOUT_MS,
        .only_follows = true,
        .catches_up = catches_up,
    };
    mem_auto char *url = mem_fmt("zk://%s/r", fake_address(r->fake));
    struct err_info why = {0};
    assert_int_equal(store_open(r->loop, url, &options, &r->store, &why), 0);
}

static void ignore_begin(void *arg, const char *store_id)
{
    (void)arg;
    (void)store_id;
}

static void ignore_node(void *arg, const char *path, const struct store_stat *stat, const char *bytes,
                        size_t len)
{
    (void)arg;
    (void)path;
    (void)stat;
    (void)bytes;
    (void)len;
}

static void ignore_number(void *arg, int64_t zxid)
{
    (void)arg;
    (void)zxid;
}

static void ignore_gone(void *arg, const char *path, int64_t zxid)
{
    (void)arg;
    (void)path;
    (void)zxid;
}

static void ignore_lost(void *arg, const struct err_info *why)
{
    (void)arg;
    (void)why;
}

static const struct store_follow_ops ignore = {ignore_begin,  ignore_node,   ignore_gone,
                                               ignore_number, ignore_number, ignore_lost};

static void what_is_only_followed_has_one_session(void **state)
{
    struct rig *r = *state;
    open_only_followed(r, false);
    store_follow(r->store, &ignore, NULL);
    fake_want(r->fake, OP_ADD_WATCH, "/r");
    fake_want(r->fake, OP_GET_DATA, "/r");
    fake_want_none(r->fake);
    close_store(r, false);
    assert_int_equal(fake_n_hellos(r->fake), 1);
}

static void a_server_to_follow_catches_up_with_its_leader_first(void **state)
{
    struct rig *r = *state;
    buf_auto struct buf synced = BUF_EMPTY;
    zkw_put_bytes(&synced, "/", 1);
    open_only_followed(r, true);
    store_follow(r->store, &ignore, NULL);
    int32_t xid = fake_want(r->fake, OP_SYNC, "/");
    fake_want_none(r->fake);
    fake_reply(r->fake, xid, 7, 0, &synced);
    fake_want(r->fake, OP_ADD_WATCH, "/r");
    fake_want(r->fake, OP_GET_DATA, "/r");
    close_store(r, false);
}

static void what_is_not_even_followed_has_none(void **state)
{
    struct rig *r = *state;
    open_only_followed(r, false);
    fake_want_none(r->fake);
    close_store(r, false);
    assert_int_equal(fake_n_hellos(r->fake), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_is_only_followed_has_one_session),
        CASE(a_server_to_follow_catches_up_with_its_leader_first),
        CASE(what_is_not_even_followed_has_none),
        CASE(lost_create_that_was_not_done_is_made_again),
        CASE(lost_create_of_what_was_there_says_so),
        CASE(lost_create_of_what_is_there_now_is_unknown),
        CASE(ancestors_are_asked_up_to_one_that_is_there),
        CASE(lost_delete_of_what_is_gone_is_unknown),
        CASE(lost_delete_of_another_node_is_not_made_again),
        CASE(lost_set_whose_data_are_there_is_done),
        CASE(lost_set_whose_data_are_another_nodes_is_unknown),
        CASE(lost_set_over_what_was_not_seen_is_unknown),
        CASE(lost_set_over_what_was_seen_is_done),
        CASE(lost_set_under_another_is_unknown),
        CASE(lost_multi_is_unknown_when_no_operation_proves_anything),
        CASE(lost_multi_is_made_again_when_one_operation_was_not_done),
        CASE(nothing_overtakes_a_write_in_question),
        CASE(lost_too_often_is_unknown),
        CASE(lost_read_is_made_again_and_then_unavailable),
        CASE(close_says_of_a_write_in_question_that_it_is_one),
        CASE(no_server_is_unavailable_and_named),
        CASE(close_cancels_what_was_not_sent),
        CASE(close_waits_for_what_was_sent),
        CASE(changes_have_their_numbers),
        CASE(replies_come_in_the_order_of_the_calls),
        CASE(multi_that_failed_names_its_operation),
        CASE(multi_that_succeeded_has_the_number_of_its_reply),
        CASE(check_of_a_parent_with_many_creates_has_their_number),
        CASE(throttled_call_is_made_again_on_the_same_connection),
        CASE(reply_without_sense_ends_the_connection_and_the_read_is_made_again),
        CASE(expired_session_is_replaced_and_the_call_made_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
