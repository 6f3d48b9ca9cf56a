/*
 * Own writes that are not read back: notice and answer in either order, and everything that makes them ordinary changes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "store/zk/own.h"
#include "store/zk/wire.h"

#define RIG_MAGIC OBJ_MAGIC('R', 'I', 'G', 'O')

struct rig {
    struct obj obj;
    struct zko_set set;
    struct buf emitted;
};

static void on_node(void *arg, const char *path, const struct store_stat *stat, const char *bytes, size_t len)
{
    struct rig *r = obj_cast(arg, struct rig, RIG_MAGIC);
    buf_addf(&r->emitted, "%s=%.*s@%d ", path, (int)len, bytes, (int)stat->mzxid);
}

static void on_reread(void *arg, const char *path, int64_t zxid)
{
    struct rig *r = obj_cast(arg, struct rig, RIG_MAGIC);
    buf_addf(&r->emitted, "read %s after %d ", path, (int)zxid);
}

static void on_settled(void *arg)
{
    buf_addf(&obj_cast(arg, struct rig, RIG_MAGIC)->emitted, "settled ");
}

static const struct zko_ops ops = {on_node, on_reread, on_settled};

static int set_up(void **state)
{
    struct rig *r = mem_new(struct rig);
    obj_init(&r->obj, RIG_MAGIC);
    zko_init(&r->set);
    r->set.ops = &ops;
    r->set.arg = r;
    *state = r;
    return 0;
}

static int tear_down(void **state)
{
    struct rig *r = *state;
    zko_clear(&r->set);
    buf_fini(&r->emitted);
    free(r);
    return 0;
}

static void done(struct zko *own, int64_t zxid, const char *data)
{
    const struct store_stat stat = {.czxid = 1, .mzxid = zxid};
    zko_done(own, &stat, data, strlen(data));
}

static void assert_emitted(struct rig *r, const char *text)
{
    assert_string_equal(buf_cstr(&r->emitted), text);
    buf_clear(&r->emitted);
}

static void notice_then_answer(void **state)
{
    struct rig *r = *state;
    struct zko *own = zko_begin(&r->set, "/a", ZKW_CHANGED);
    assert_true(zko_floor(&r->set) == INT64_MAX);
    assert_true(zko_notice(&r->set, "/a", ZKW_CHANGED, 4));
    assert_true(zko_is_noticed(&r->set, "/a"));
    assert_int_equal(zko_floor(&r->set), 4);
    assert_emitted(r, "");
    done(own, 5, "new");
    assert_emitted(r, "/a=new@5 settled ");
    assert_true(zko_floor(&r->set) == INT64_MAX);
    assert_false(zko_notice(&r->set, "/a", ZKW_CHANGED, 5));
}

static void answer_then_notice(void **state)
{
    struct rig *r = *state;
    done(zko_begin(&r->set, "/a", ZKW_CREATED), 5, "new");
    assert_emitted(r, "");
    assert_true(zko_notice(&r->set, "/a", ZKW_CREATED, 4));
    assert_emitted(r, "/a=new@5 ");
    assert_false(zko_notice(&r->set, "/a", ZKW_CHANGED, 5));
}

static void second_notice_is_read(void **state)
{
    struct rig *r = *state;
    struct zko *own = zko_begin(&r->set, "/a", ZKW_CHANGED);
    assert_true(zko_notice(&r->set, "/a", ZKW_CHANGED, 4));
    assert_false(zko_notice(&r->set, "/a", ZKW_CHANGED, 4));
    done(own, 5, "old by now");
    assert_emitted(r, "");
}

static void notice_of_another_kind_is_read(void **state)
{
    struct rig *r = *state;
    struct zko *own = zko_begin(&r->set, "/a", ZKW_CHANGED);
    assert_false(zko_notice(&r->set, "/a", ZKW_CREATED, 4));
    assert_false(zko_notice(&r->set, "/a", ZKW_CHANGED, 4));
    done(own, 5, "x");
    assert_emitted(r, "");
}

static void second_write_makes_both_ordinary(void **state)
{
    struct rig *r = *state;
    struct zko *own = zko_begin(&r->set, "/a", ZKW_CHANGED);
    assert_true(zko_notice(&r->set, "/a", ZKW_CHANGED, 4));
    assert_null(zko_begin(&r->set, "/a", ZKW_CHANGED));
    assert_emitted(r, "read /a after 4 settled ");
    assert_false(zko_notice(&r->set, "/a", ZKW_CHANGED, 6));
    done(own, 5, "x");
    assert_emitted(r, "");
}

static void failed_write_is_read_if_it_was_noticed(void **state)
{
    struct rig *r = *state;
    struct zko *own = zko_begin(&r->set, "/a", ZKW_CHANGED);
    assert_true(zko_notice(&r->set, "/a", ZKW_CHANGED, 4));
    zko_failed(own);
    assert_emitted(r, "read /a after 4 settled ");
    zko_failed(zko_begin(&r->set, "/a", ZKW_CHANGED));
    assert_emitted(r, "");
    assert_false(zko_notice(&r->set, "/a", ZKW_CHANGED, 4));
}

static void deleted_node_is_not_emitted(void **state)
{
    struct rig *r = *state;
    struct zko *own = zko_begin(&r->set, "/a", ZKW_CREATED);
    assert_true(zko_notice(&r->set, "/a", ZKW_CREATED, 4));
    zko_forget(&r->set, "/a");
    assert_true(zko_floor(&r->set) == INT64_MAX);
    assert_false(zko_notice(&r->set, "/a", ZKW_CREATED, 6));
    done(own, 5, "x");
    assert_emitted(r, "");
}

static void expediting_reads_what_was_noticed(void **state)
{
    struct rig *r = *state;
    struct zko *own = zko_begin(&r->set, "/a", ZKW_CREATED);
    zko_expedite(&r->set, "/a");
    assert_true(zko_notice(&r->set, "/a", ZKW_CREATED, 4));
    zko_expedite(&r->set, "/a");
    assert_emitted(r, "read /a after 4 ");
    done(own, 5, "x");
    assert_emitted(r, "");
}

static void answer_without_notice_is_forgotten_in_time(void **state)
{
    struct rig *r = *state;
    done(zko_begin(&r->set, "/hidden", ZKW_CHANGED), 5, "x");
    zko_applied(&r->set, 4);
    zko_applied(&r->set, 5);
    assert_false(zko_notice(&r->set, "/hidden", ZKW_CHANGED, 7));
    assert_emitted(r, "");
}

static void cleared_set_emits_nothing(void **state)
{
    struct rig *r = *state;
    struct zko *under_way = zko_begin(&r->set, "/a", ZKW_CHANGED);
    struct zko *noticed = zko_begin(&r->set, "/b", ZKW_CHANGED);
    done(zko_begin(&r->set, "/c", ZKW_CHANGED), 5, "x");
    assert_true(zko_notice(&r->set, "/b", ZKW_CHANGED, 4));
    zko_clear(&r->set);
    assert_true(zko_floor(&r->set) == INT64_MAX);
    done(under_way, 6, "x");
    zko_failed(noticed);
    assert_emitted(r, "");
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(notice_then_answer),
        CASE(answer_then_notice),
        CASE(second_notice_is_read),
        CASE(notice_of_another_kind_is_read),
        CASE(second_write_makes_both_ordinary),
        CASE(failed_write_is_read_if_it_was_noticed),
        CASE(deleted_node_is_not_emitted),
        CASE(expediting_reads_what_was_noticed),
        CASE(answer_without_notice_is_forgotten_in_time),
        CASE(cleared_set_emits_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
