/*
 * The order in which following emits what it reads, against a scripted server that replies late, or in between.
 * Events are recorded as text: "begin ID", "node PATH DATA" (DATA "-": only the stat), "gone PATH @N", "end N", "applied N",
 * "lost".
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/obj.h"
#include "fake_zk.h"
#include "store/zk/follow.h"

#define RIG_MAGIC OBJ_MAGIC('R', 'I', 'G', 'F')

enum { TIMEOUT_MS = 30000 };

struct rig {
    struct obj obj;
    struct run_loop *loop;
    struct fake_zk *fake;
    struct zkf *follower;
    struct buf emitted; /* "event|event|…" */
    const char *wanted;
    bool is_closed;
};

static void on_begin(void *arg, const char *store_id)
{
    buf_addf(&obj_cast(arg, struct rig, RIG_MAGIC)->emitted, "begin %s|", store_id);
}

static void on_node(void *arg, const char *path, const struct store_stat *stat, const char *bytes, size_t len)
{
    (void)stat;
    buf_addf(&obj_cast(arg, struct rig, RIG_MAGIC)->emitted, "node %s %.*s|", path, bytes ? (int)len : 1,
             bytes ? bytes : "-");
}

static void on_gone(void *arg, const char *path, int64_t zxid)
{
    buf_addf(&obj_cast(arg, struct rig, RIG_MAGIC)->emitted, "gone %s @%" PRId64 "|", path, zxid);
}

static void on_end(void *arg, int64_t zxid)
{
    buf_addf(&obj_cast(arg, struct rig, RIG_MAGIC)->emitted, "end %" PRId64 "|", zxid);
}

static void on_applied(void *arg, int64_t zxid)
{
    buf_addf(&obj_cast(arg, struct rig, RIG_MAGIC)->emitted, "applied %" PRId64 "|", zxid);
}

static void on_lost(void *arg, const struct err_info *why)
{
    (void)why;
    buf_add_str(&obj_cast(arg, struct rig, RIG_MAGIC)->emitted, "lost|");
}

static const struct store_follow_ops ops = {on_begin, on_node, on_gone, on_end, on_applied, on_lost};

static int set_up(void **state)
{
    struct rig *r = mem_new(struct rig);
    obj_init(&r->obj, RIG_MAGIC);
    r->loop = run_loop_new();
    r->fake = fake_new(r->loop);
    const struct zks_config config = {
        .servers = fake_address(r->fake),
        .session_timeout_ms = TIMEOUT_MS,
        .attempt_timeout_ms = TIMEOUT_MS,
        .pause_min_ms = 1,
        .pause_max_ms = 10,
    };
    fake_set_hello(r->fake, FAKE_ACCEPT, TIMEOUT_MS);
    assert_int_equal(zkf_open(r->loop, &config, "/r", &ops, r, &r->follower, NULL), 0);
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

static int tear_down(void **state)
{
    struct rig *r = *state;
    zkf_close(r->follower, on_closed, r);
    fake_until(r->fake, rig_is_closed, r);
    fake_free(r->fake);
    run_loop_free(r->loop);
    buf_fini(&r->emitted);
    free(r);
    return 0;
}

static bool is_emitted(void *arg)
{
    struct rig *r = obj_cast(arg, struct rig, RIG_MAGIC);
    return r->emitted.len >= strlen(r->wanted);
}

/* All events since the last time. */
static void assert_emitted(struct rig *r, const char *wanted)
{
    r->wanted = wanted;
    fake_until(r->fake, is_emitted, r);
    assert_string_equal(buf_cstr(&r->emitted), wanted);
    buf_clear(&r->emitted);
}

static void reply_data(struct rig *r, int32_t xid, int64_t zxid, const char *data, int64_t made,
                       int32_t n_children)
{
    buf_auto struct buf body = BUF_EMPTY;
    fake_put_data(&body, data, made, n_children);
    fake_reply(r->fake, xid, zxid, 0, &body);
}

static void reply_stat(struct rig *r, int32_t xid, int64_t zxid, int64_t made)
{
    buf_auto struct buf body = BUF_EMPTY;
    fake_put_stat(&body, made, 0, 0);
    fake_reply(r->fake, xid, zxid, 0, &body);
}

static void reply_names(struct rig *r, int32_t xid, int64_t zxid, const char *const *names)
{
    buf_auto struct buf body = BUF_EMPTY;
    fake_put_names(&body, names, 10);
    fake_reply(r->fake, xid, zxid, 0, &body);
}

static int32_t want(struct rig *r, enum zkw_opcode op, const char *path)
{
    return fake_want(r->fake, op, path);
}

/* Connect and answer the watch; the root is asked for. @return xid of that. */
static int32_t start(struct rig *r)
{
    fake_reply(r->fake, want(r, ZKW_ADD_WATCH, "/r"), 10, 0, NULL);
    return want(r, ZKW_GET_DATA, "/r");
}

/* A root without children, made by 16, read at 20. */
static void start_empty(struct rig *r)
{
    reply_data(r, start(r), 20, "top", 16, 0);
    reply_stat(r, want(r, ZKW_EXISTS, "/r"), 20, 16);
    assert_emitted(r, "begin 10|node / top|end 20|");
}

static void tree_is_read_parents_first(void **state)
{
    struct rig *r = *state;
    reply_data(r, start(r), 20, "top", 16, 2);
    reply_names(r, want(r, ZKW_GET_CHILDREN2, "/r"), 20, (const char *const[]){"a", "b", NULL});
    int32_t a = want(r, ZKW_GET_DATA, "/r/a");
    int32_t b = want(r, ZKW_GET_DATA, "/r/b");
    reply_data(r, a, 20, "1", 17, 1);
    reply_data(r, b, 20, NULL, 18, 0);
    reply_names(r, want(r, ZKW_GET_CHILDREN2, "/r/a"), 21, (const char *const[]){"c", NULL});
    reply_data(r, want(r, ZKW_GET_DATA, "/r/a/c"), 21, "3", 19, 0);
    reply_stat(r, want(r, ZKW_EXISTS, "/r"), 22, 16);
    assert_emitted(r, "begin 10|node / top|node / -|node /a 1|node /b |node /a -|node /a/c 3|end 22|");
}

static void batch_of_notices_is_read_then_applied(void **state)
{
    struct rig *r = *state;
    start_empty(r);
    fake_cork(r->fake);
    fake_notice(r->fake, ZKW_CREATED, "/r/a");
    fake_notice(r->fake, ZKW_CREATED, "/r/a/b");
    fake_notice(r->fake, ZKW_CHANGED, "/r/a/b");
    fake_uncork(r->fake);
    int32_t a = want(r, ZKW_GET_DATA, "/r/a");
    int32_t b = want(r, ZKW_GET_DATA, "/r/a/b");
    /* The parents' numbers have changed; /r/a brings its own, the root is asked once. */
    int32_t parents[2] = {want(r, ZKW_EXISTS, "/r"), 0};
    int32_t mark = want(r, ZKW_EXISTS, "/r");
    reply_data(r, a, 25, "1", 21, 1);
    reply_data(r, b, 25, "2", 22, 0);
    reply_stat(r, parents[0], 25, 16);
    reply_stat(r, mark, 26, 16);
    assert_emitted(r, "node /a 1|node /a/b 2|node / -|applied 26|");
}

static void reply_from_before_a_recreation_is_dropped(void **state)
{
    struct rig *r = *state;
    start_empty(r);
    fake_notice(r->fake, ZKW_CREATED, "/r/a");
    int32_t old = want(r, ZKW_GET_DATA, "/r/a");
    int32_t parent = want(r, ZKW_EXISTS, "/r");
    int32_t mark = want(r, ZKW_EXISTS, "/r");
    fake_cork(r->fake);
    fake_notice(r->fake, ZKW_DELETED, "/r/a");
    fake_notice(r->fake, ZKW_CREATED, "/r/a");
    reply_data(r, old, 30, "new already", 23, 0);
    reply_stat(r, parent, 30, 16);
    reply_stat(r, mark, 30, 16);
    fake_uncork(r->fake);
    int32_t again = want(r, ZKW_GET_DATA, "/r/a");
    int32_t parent_again = want(r, ZKW_EXISTS, "/r");
    int32_t mark_again = want(r, ZKW_EXISTS, "/r");
    /* With reads outstanding only what was known when the mark was asked for counts as applied: nothing new. */
    assert_emitted(r, "gone /a @30|node / -|");
    reply_data(r, again, 31, "new", 23, 0);
    reply_stat(r, parent_again, 31, 16);
    reply_stat(r, mark_again, 31, 16);
    assert_emitted(r, "node /a new|node / -|applied 31|");
}

static void progress_under_load_is_what_was_surely_read(void **state)
{
    struct rig *r = *state;
    start_empty(r);
    fake_notice(r->fake, ZKW_CREATED, "/r/a");
    reply_data(r, want(r, ZKW_GET_DATA, "/r/a"), 25, "1", 21, 0);
    reply_stat(r, want(r, ZKW_EXISTS, "/r"), 25, 16);
    int32_t mark = want(r, ZKW_EXISTS, "/r");
    assert_emitted(r, "node /a 1|node / -|");
    fake_cork(r->fake);
    fake_notice(r->fake, ZKW_CHANGED, "/r/a");
    reply_stat(r, mark, 27, 16);
    fake_uncork(r->fake);
    int32_t a = want(r, ZKW_GET_DATA, "/r/a");
    int32_t second = want(r, ZKW_EXISTS, "/r");
    fake_cork(r->fake);
    fake_notice(r->fake, ZKW_CHANGED, "/r/a");
    reply_data(r, a, 28, "2", 21, 0);
    reply_stat(r, second, 29, 16);
    fake_uncork(r->fake);
    int32_t last = want(r, ZKW_GET_DATA, "/r/a");
    assert_emitted(r, "node /a 2|applied 27|");
    reply_data(r, last, 30, "3", 21, 0);
    reply_stat(r, want(r, ZKW_EXISTS, "/r"), 30, 16);
    assert_emitted(r, "node /a 3|applied 30|");
}

static void stat_waits_for_awaited_data(void **state)
{
    struct rig *r = *state;
    start_empty(r);
    fake_notice(r->fake, ZKW_CREATED, "/r/a");
    reply_data(r, want(r, ZKW_GET_DATA, "/r/a"), 25, "1", 21, 0);
    int32_t parent = want(r, ZKW_EXISTS, "/r");
    int32_t mark = want(r, ZKW_EXISTS, "/r");
    fake_cork(r->fake);
    fake_notice(r->fake, ZKW_CHANGED, "/r");
    reply_stat(r, parent, 26, 16);
    reply_stat(r, mark, 26, 16);
    fake_uncork(r->fake);
    int32_t root = want(r, ZKW_GET_DATA, "/r");
    assert_emitted(r, "node /a 1|");
    reply_data(r, root, 26, "changed", 16, 1);
    reply_stat(r, want(r, ZKW_EXISTS, "/r"), 26, 16);
    assert_emitted(r, "node / changed|applied 26|");
}

static void notices_of_what_will_be_read_are_left_out(void **state)
{
    struct rig *r = *state;
    reply_data(r, start(r), 20, "top", 16, 1);
    int32_t names = want(r, ZKW_GET_CHILDREN2, "/r");
    fake_cork(r->fake);
    fake_notice(r->fake, ZKW_CREATED, "/r/a");
    fake_notice(r->fake, ZKW_CREATED, "/r/a/b");
    fake_notice(r->fake, ZKW_CHANGED, "/r/x");
    reply_names(r, names, 22, (const char *const[]){"a", "x", NULL});
    fake_uncork(r->fake);
    reply_data(r, want(r, ZKW_GET_DATA, "/r/a"), 22, "1", 21, 0);
    int32_t x = want(r, ZKW_GET_DATA, "/r/x");
    assert_emitted(r, "begin 10|node / top|node / -|node /a 1|");
    /* From here on /r/a has been read: what comes below it is news. */
    fake_notice(r->fake, ZKW_CREATED, "/r/a/c");
    int32_t c = want(r, ZKW_GET_DATA, "/r/a/c");
    int32_t a = want(r, ZKW_EXISTS, "/r/a");
    reply_data(r, x, 23, "9", 17, 0);
    reply_data(r, c, 23, "3", 23, 0);
    reply_stat(r, a, 23, 21);
    reply_stat(r, want(r, ZKW_EXISTS, "/r"), 24, 16);
    assert_emitted(r, "node /x 9|node /a/c 3|node /a -|end 24|");
}

static void node_deleted_while_it_is_listed_is_gone(void **state)
{
    struct rig *r = *state;
    reply_data(r, start(r), 20, "top", 16, 1);
    reply_names(r, want(r, ZKW_GET_CHILDREN2, "/r"), 20, (const char *const[]){"a", NULL});
    int32_t a = want(r, ZKW_GET_DATA, "/r/a");
    fake_cork(r->fake);
    fake_notice(r->fake, ZKW_DELETED, "/r/a");
    fake_reply(r->fake, a, 21, ZKW_NO_NODE, NULL);
    fake_uncork(r->fake);
    reply_stat(r, want(r, ZKW_EXISTS, "/r"), 21, 16);
    reply_stat(r, want(r, ZKW_EXISTS, "/r"), 21, 16);
    assert_emitted(r, "begin 10|node / top|node / -|gone /a @21|node / -|end 21|");
}

static void unreadable_node_is_followed_without_data(void **state)
{
    struct rig *r = *state;
    reply_data(r, start(r), 20, "top", 16, 1);
    reply_names(r, want(r, ZKW_GET_CHILDREN2, "/r"), 20, (const char *const[]){"secret", NULL});
    fake_reply(r->fake, want(r, ZKW_GET_DATA, "/r/secret"), 20, ZKW_NO_AUTH, NULL);
    reply_stat(r, want(r, ZKW_EXISTS, "/r/secret"), 20, 17);
    reply_stat(r, want(r, ZKW_EXISTS, "/r"), 20, 16);
    assert_emitted(r, "begin 10|node / top|node / -|node /secret |end 20|");
}

static void missing_root_is_waited_for(void **state)
{
    struct rig *r = *state;
    fake_reply(r->fake, start(r), 20, ZKW_NO_NODE, NULL);
    fake_reply(r->fake, want(r, ZKW_EXISTS, "/r"), 20, ZKW_NO_NODE, NULL);
    fake_notice(r->fake, ZKW_CREATED, "/r");
    reply_data(r, want(r, ZKW_GET_DATA, "/r"), 31, "top", 31, 0);
    reply_stat(r, want(r, ZKW_EXISTS, "/r"), 31, 31);
    assert_emitted(r, "begin 1f|node / top|end 31|");
}

static void recreated_root_is_another_store(void **state)
{
    struct rig *r = *state;
    start_empty(r);
    fake_notice(r->fake, ZKW_DELETED, "/r");
    fake_reply(r->fake, want(r, ZKW_EXISTS, "/r"), 30, ZKW_NO_NODE, NULL);
    assert_emitted(r, "gone / @30|applied 30|");
    fake_notice(r->fake, ZKW_CREATED, "/r");
    reply_data(r, want(r, ZKW_GET_DATA, "/r"), 32, "other", 32, 0);
    reply_stat(r, want(r, ZKW_EXISTS, "/r"), 32, 32);
    assert_emitted(r, "begin 20|node / other|end 32|");
}

static void progress_comes_without_changes(void **state)
{
    struct rig *r = *state;
    start_empty(r);
    reply_stat(r, want(r, ZKW_EXISTS, "/r"), 40, 16);
    assert_emitted(r, "applied 40|");
}

static void reconnect_reads_again(void **state)
{
    struct rig *r = *state;
    start_empty(r);
    fake_notice(r->fake, ZKW_CREATED, "/r/a");
    want(r, ZKW_GET_DATA, "/r/a");
    want(r, ZKW_EXISTS, "/r");
    want(r, ZKW_EXISTS, "/r");
    fake_hang_up(r->fake);
    reply_data(r, start(r), 50, "top", 16, 0);
    reply_stat(r, want(r, ZKW_EXISTS, "/r"), 50, 16);
    assert_emitted(r, "lost|begin 10|node / top|end 50|");
}

static void server_without_recursive_watches_is_left(void **state)
{
    struct rig *r = *state;
    fake_reply(r->fake, want(r, ZKW_ADD_WATCH, "/r"), 10, ZKW_UNIMPLEMENTED, NULL);
    assert_emitted(r, "lost|");
    want(r, ZKW_GET_DATA, "/r");
    start(r);
}

static void malformed_reply_ends_the_connection(void **state)
{
    struct rig *r = *state;
    buf_auto struct buf body = BUF_EMPTY;
    buf_add(&body, "\0\0\0\1z", 5);
    fake_reply(r->fake, start(r), 20, 0, &body);
    assert_emitted(r, "lost|");
    start(r);
}

static bool has_ended(void *arg)
{
    return strstr(buf_cstr(&obj_cast(arg, struct rig, RIG_MAGIC)->emitted), "end ") != NULL;
}

static void many_children_are_read_in_a_window(void **state)
{
    enum { n = 2500, window = 1000, half = window / 2 };
    struct rig *r = *state;
    buf_auto struct buf body = BUF_EMPTY;
    int32_t xids[n];
    reply_data(r, start(r), 20, "top", 16, n);
    int32_t xid = want(r, ZKW_GET_CHILDREN2, "/r");
    zkw_put_i32(&body, n);
    for (int i = 0; i < n; i++) {
        mem_auto char *name = mem_fmt("n%d", i);
        zkw_put_bytes(&body, name, strlen(name));
    }
    fake_put_stat(&body, 16, n, 0);
    fake_reply(r->fake, xid, 20, 0, &body);
    int n_answered = 0;
    for (int i = 0; i < n; i++) {
        mem_auto char *path = mem_fmt("/r/n%d", i);
        bool is_window_full = i >= window && (i - window) % half == 0;
        if (is_window_full)
            fake_want_none(r->fake);
        for (int k = 0; is_window_full && k < half; k++)
            reply_data(r, xids[n_answered++], 20, "x", 17, 0);
        xids[i] = want(r, ZKW_GET_DATA, path);
    }
    while (n_answered < n)
        reply_data(r, xids[n_answered++], 20, "x", 17, 0);
    reply_stat(r, want(r, ZKW_EXISTS, "/r"), 20, 16);
    fake_until(r->fake, has_ended, r);
    assert_non_null(strstr(buf_cstr(&r->emitted), "node /n2499 x|end 20|"));
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(tree_is_read_parents_first),
        CASE(batch_of_notices_is_read_then_applied),
        CASE(reply_from_before_a_recreation_is_dropped),
        CASE(progress_under_load_is_what_was_surely_read),
        CASE(stat_waits_for_awaited_data),
        CASE(notices_of_what_will_be_read_are_left_out),
        CASE(node_deleted_while_it_is_listed_is_gone),
        CASE(unreadable_node_is_followed_without_data),
        CASE(missing_root_is_waited_for),
        CASE(recreated_root_is_another_store),
        CASE(progress_comes_without_changes),
        CASE(reconnect_reads_again),
        CASE(server_without_recursive_watches_is_left),
        CASE(malformed_reply_ends_the_connection),
        CASE(many_children_are_read_in_a_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
