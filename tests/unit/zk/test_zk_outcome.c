/* What is known of a write whose answer was lost: the table of zk_outcome.h, row by row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "store/zk/outcome.h"

enum { FLOOR = 100, BEFORE = 90, SINCE = 110 };

#define CREATE                                                                                               \
    {                                                                                                        \
        STORE_OP_CREATE, "/a", "mine", 4, -1, NULL, 0, NULL                                                  \
    }
#define SET(version)                                                                                         \
    {                                                                                                        \
        STORE_OP_SET, "/a", "mine", 4, (version), NULL, 0, NULL                                              \
    }
#define SET_OVER(made, version)                                                                              \
    {                                                                                                        \
        STORE_OP_SET, "/a", "mine", 4, -1, NULL, 0, &(const struct store_seen)                               \
        {                                                                                                    \
            (made), (version)                                                                                \
        }                                                                                                    \
    }
#define DELETE                                                                                               \
    {                                                                                                        \
        STORE_OP_DELETE, "/a", NULL, 0, -1, NULL, 0, NULL                                                    \
    }
#define ABSENT(pzxid)                                                                                        \
    {                                                                                                        \
        .ancestor_pzxid = (pzxid)                                                                            \
    }
#define NODE(c, m, v, data, n)                                                                               \
    {                                                                                                        \
        .is_there = true, .stat = {.czxid = (c), .mzxid = (m), .version = (v)}, .bytes = (data), .len = (n), \
        .ancestor_pzxid = INT64_MAX                                                                          \
    }

struct row {
    const char *what;
    struct store_op write;
    struct zkq_node node;
    enum zkq_outcome outcome;
};

static const struct row rows[] = {
    {"nothing came or went", CREATE, ABSENT(BEFORE), ZKQ_NOT_DONE},
    {"nothing came or went, the floor itself", CREATE, ABSENT(FLOOR), ZKQ_NOT_DONE},
    {"something came or went", CREATE, ABSENT(FLOOR + 1), ZKQ_UNKNOWN},
    {"nobody knows of the parent", CREATE, ABSENT(INT64_MAX), ZKQ_UNKNOWN},
    {"there was no such node", SET(-1), ABSENT(BEFORE), ZKQ_NOT_DONE},
    {"it may have been deleted since", SET(-1), ABSENT(SINCE), ZKQ_UNKNOWN},
    {"there was nothing to delete", DELETE, ABSENT(BEFORE), ZKQ_NOT_DONE},
    {"deleted, by whom?", DELETE, ABSENT(SINCE), ZKQ_UNKNOWN},

    {"it was there before", CREATE, NODE(BEFORE, BEFORE, 0, NULL, 0), ZKQ_NOT_DONE},
    {"it was there before and was set since", CREATE, NODE(BEFORE, SINCE, 1, "mine", 4), ZKQ_NOT_DONE},
    {"made with our data, by whom?", CREATE, NODE(SINCE, SINCE, 0, "mine", 4), ZKQ_UNKNOWN},
    {"made with others, after ours was deleted?", CREATE, NODE(SINCE, SINCE, 0, "other", 5), ZKQ_UNKNOWN},

    {"still the data of before", SET(-1), NODE(BEFORE, BEFORE, 3, "old", 3), ZKQ_NOT_DONE},
    {"still the data of before, the same as ours", SET(3), NODE(BEFORE, FLOOR, 3, "mine", 4), ZKQ_NOT_DONE},
    {"our data, set since", SET(-1), NODE(BEFORE, SINCE, 4, "mine", 4), ZKQ_DONE},
    {"our data in a node made since, and ours before?", SET(-1), NODE(SINCE, SINCE, 0, "mine", 4),
     ZKQ_UNKNOWN},
    {"our data, the only set since we saw it", SET_OVER(BEFORE, 3), NODE(BEFORE, SINCE, 4, "mine", 4),
     ZKQ_DONE},
    {"our data, another set between", SET_OVER(BEFORE, 3), NODE(BEFORE, SINCE, 5, "mine", 4), ZKQ_UNKNOWN},
    {"our data, in another node than we saw", SET_OVER(BEFORE - 1, 3), NODE(BEFORE, SINCE, 4, "mine", 4),
     ZKQ_UNKNOWN},
    {"our data, in a node that we did not see", SET_OVER(-1, 0), NODE(BEFORE, SINCE, 1, "mine", 4),
     ZKQ_UNKNOWN},
    {"others' data, over what we saw", SET_OVER(BEFORE, 3), NODE(BEFORE, SINCE, 4, "other", 5), ZKQ_UNKNOWN},
    {"others' data, over ours?", SET(-1), NODE(BEFORE, SINCE, 4, "other", 5), ZKQ_UNKNOWN},
    {"data that are hidden from us", SET(-1), NODE(BEFORE, SINCE, 4, NULL, 0), ZKQ_UNKNOWN},

    {"our step, or another's with the same data", SET(3), NODE(BEFORE, SINCE, 4, "mine", 4), ZKQ_UNKNOWN},
    {"another's step", SET(3), NODE(BEFORE, SINCE, 4, "other", 5), ZKQ_NOT_DONE},
    {"a step further", SET(3), NODE(BEFORE, SINCE, 5, "other", 5), ZKQ_UNKNOWN},
    {"our version was never there", SET(7), NODE(BEFORE, SINCE, 5, "other", 5), ZKQ_NOT_DONE},
    {"a step whose data are hidden", SET(3), NODE(BEFORE, SINCE, 4, NULL, 0), ZKQ_UNKNOWN},
    {"another node by now", SET(3), NODE(SINCE, SINCE, 0, "other", 5), ZKQ_UNKNOWN},

    {"it is still that node", DELETE, NODE(BEFORE, SINCE, 4, "other", 5), ZKQ_NOT_DONE},
    {"another node by now", DELETE, NODE(SINCE, SINCE, 0, "other", 5), ZKQ_UNKNOWN},
    {"a check",
     {STORE_OP_CHECK, "/a", NULL, 0, 3, NULL, 0, NULL},
     NODE(BEFORE, BEFORE, 0, NULL, 0),
     ZKQ_UNKNOWN},
};

static void each_row(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        enum zkq_outcome outcome = zkq_judge(&rows[i].write, FLOOR, &rows[i].node);
        if (outcome != rows[i].outcome)
            fail_msg("%s: %d instead of %d", rows[i].what, outcome, rows[i].outcome);
    }
}

static void check_write(const struct zkr *r, size_t i, const struct store_op *expected)
{
    struct store_op found;
    assert_true(zkr_write(r, i, &found));
    assert_int_equal(found.kind, expected->kind);
    assert_string_equal(found.path, expected->path);
    assert_int_equal(found.version, expected->version);
    assert_int_equal(found.len, expected->len);
    if (expected->len)
        assert_memory_equal(found.bytes, expected->bytes, expected->len);
}

/* A request says again what it was made from. */
static void requests_are_read_back(void **state)
{
    (void)state;
    const struct store_acl_entry entries[] = {{STORE_ALL, "world", "anyone"}, {STORE_READ, "digest", "a:b"}};
    const struct store_acl acl = {entries, ARRAY_LEN(entries)};
    const struct store_op ops[] = {{STORE_OP_CREATE, "/a", "made", 4, -1, &acl, 0, NULL},
                                   {STORE_OP_SET, "/b", "set", 3, 7, NULL, 0, NULL},
                                   {STORE_OP_CHECK, "/", NULL, 0, 2, NULL, 0, NULL},
                                   {STORE_OP_DELETE, "/c", NULL, 0, -1, NULL, 0, NULL}};
    struct zkr multi, one;
    zkr_make_multi(&multi, "/r", ops, ARRAY_LEN(ops));
    for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
        check_write(&multi, i, &ops[i]);
        zkr_make_write(&one, "/r", &ops[i]);
        check_write(&one, 0, &ops[i]);
        zkr_fini(&one);
    }
    zkr_fini(&multi);
    struct store_op ignored;
    zkr_make_sync(&one, "/r", "/");
    assert_false(zkr_write(&one, 0, &ignored));
    zkr_fini(&one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_row), cmocka_unit_test(requests_are_read_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
