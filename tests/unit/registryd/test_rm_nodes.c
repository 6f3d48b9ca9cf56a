/* Which nodes have registered, and whether a container that is not listed has ended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cleanup/rm_nodes.h"

#define EXPIRY_MS 1000

static int set_up(void **state)
{
    *state = rm_nodes_new(EXPIRY_MS, 0);
    return 0;
}

static int tear_down(void **state)
{
    rm_nodes_free(*state);
    return 0;
}

/* A poll in which these nodes ("a b") are registered, and that does not count. */
static void glance(struct rm_nodes *n, const char *ids, int64_t now_ms)
{
    struct map set = MAP_EMPTY;
    int64_t count = 0;
    for (size_t i = 0; *ids; i++, count++) {
        mem_auto char *id = str_field(ids, ' ', i);
        if (!id)
            break;
        map_set(&set, id, n);
    }
    bool wants = rm_nodes_wants_list(n, count, now_ms);
    rm_nodes_saw(n, count, wants ? &set : NULL, now_ms);
    map_fini(&set, NULL);
}

/* The same, and it counts. */
static void see(struct rm_nodes *n, const char *ids, int64_t now_ms)
{
    glance(n, ids, now_ms);
    rm_nodes_commit(n);
}

/* What may be missed: 'a', 'b', or 'c' for a container of that node, '?' for one of a node that is not known. */
static const char *missed(const struct rm_nodes *n)
{
    static char text[8];
    char *at = text;
    static const char *const nodes[] = {"a", "b", "c", NULL};
    for (size_t i = 0; i < 4; i++) {
        if (rm_nodes_may_miss(n, nodes[i]))
            *at++ = nodes[i] ? nodes[i][0] : '?';
    }
    *at = 0;
    return text;
}

static void ids_are_compared_not_counted(void **state)
{
    struct rm_nodes *n = *state;
    see(n, "a b", 1);
    assert_string_equal(missed(n), "abc?");
    rm_nodes_restart(n, 0);
    assert_string_equal(missed(n), "");
    see(n, "a c", 2);
    assert_string_equal(missed(n), "ac");
    see(n, "a b c", 3);
    assert_string_equal(missed(n), "abc?");
    see(n, "a c", 4); /* it goes again: the time is not over */
    assert_string_equal(missed(n), "ac");
}

static void the_time_begins_when_nodes_register(void **state)
{
    struct rm_nodes *n = *state;
    see(n, "a b", 1);
    rm_nodes_restart(n, 0);
    see(n, "", 2);
    see(n, "", 5 * EXPIRY_MS);
    assert_string_equal(missed(n), "");
    see(n, "c", 6 * EXPIRY_MS);
    see(n, "c", 7 * EXPIRY_MS - 1);
    assert_string_equal(missed(n), "c");
    see(n, "c", 7 * EXPIRY_MS);
    assert_string_equal(missed(n), "abc?");
}

static void each_node_that_comes_back_begins_it_anew(void **state)
{
    struct rm_nodes *n = *state;
    see(n, "a b c", 1);
    rm_nodes_restart(n, 0);
    see(n, "a", 10);
    see(n, "a c", 900);
    see(n, "a", 950);
    see(n, "a c", 1800); /* it came back before: that is no news */
    assert_string_equal(missed(n), "ac");
    see(n, "a c", 1899);
    assert_string_equal(missed(n), "ac");
    see(n, "a c", 1900);
    assert_string_equal(missed(n), "abc?");
}

/* registryd has just been started: it knows no node of before. */
static void without_a_past_only_the_time_counts(void **state)
{
    struct rm_nodes *n = *state;
    rm_nodes_restart(n, 400);
    see(n, "a b", 100);
    assert_string_equal(missed(n), "ab");
    see(n, "a b", 699);
    assert_string_equal(missed(n), "ab");
    see(n, "a b", 700);
    assert_string_equal(missed(n), "abc?");
    rm_nodes_restart(n, 5 * EXPIRY_MS);
    assert_string_equal(missed(n), "");
    see(n, "a b", 800);
    assert_string_equal(missed(n), "abc?");
}

static void a_second_restart_remembers_who_is_missing(void **state)
{
    struct rm_nodes *n = *state;
    see(n, "a b", 1);
    rm_nodes_restart(n, 0);
    see(n, "a", 2);
    rm_nodes_restart(n, 0);
    see(n, "a c", 3);
    assert_string_equal(missed(n), "ac");
    see(n, "a b", 4);
    assert_string_equal(missed(n), "ab?");
}

static void the_list_is_asked_for_when_it_matters(void **state)
{
    struct rm_nodes *n = *state;
    assert_true(rm_nodes_wants_list(n, 2, 1));
    see(n, "a b", 1);
    assert_false(rm_nodes_wants_list(n, 2, 2));
    assert_true(rm_nodes_wants_list(n, 3, 2));
    assert_true(rm_nodes_wants_list(n, 2, 1 + RM_NODES_LIST_MS));
    rm_nodes_restart(n, 0);
    assert_false(rm_nodes_wants_list(n, 0, 2));
    assert_true(rm_nodes_wants_list(n, 2, 2));
    rm_nodes_saw(n, 2, NULL, 2); /* it did not come */
    assert_string_equal(missed(n), "");
    see(n, "a b", 3);
    assert_string_equal(missed(n), "ab?");
    rm_nodes_saw(n, 2, NULL, 4);
    assert_string_equal(missed(n), "");
    rm_nodes_saw(n, 2, NULL, 3 + EXPIRY_MS);
    assert_string_equal(missed(n), "abc?");
}

/* The RM is started while it is being asked: the poll sees its new nodes, and is discarded. */
static void a_poll_that_does_not_count_forgets_nobody(void **state)
{
    struct rm_nodes *n = *state;
    see(n, "a b", 1);
    glance(n, "", 2);
    glance(n, "c", 3);
    rm_nodes_restart(n, 0);
    see(n, "a c", 4);
    assert_string_equal(missed(n), "ac");
    see(n, "a b c", 5);
    assert_string_equal(missed(n), "abc?");
}

/* A node is shown before its containers are. */
static void a_node_settles_first(void **state)
{
    rm_nodes_free(*state);
    struct rm_nodes *n = *state = rm_nodes_new(EXPIRY_MS, 100);
    see(n, "a b", 1);
    rm_nodes_restart(n, 0);
    see(n, "a", 10);
    see(n, "a b", 109);
    assert_string_equal(missed(n), "");
    see(n, "a b", 110);
    assert_string_equal(missed(n), "a");
    see(n, "a b", 209);
    assert_string_equal(missed(n), "ab?");
    see(n, "b", 210);
    see(n, "a b", 220); /* it has come once more */
    assert_string_equal(missed(n), "b");
    see(n, "a b", 320);
    assert_string_equal(missed(n), "ab?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
        CASE(ids_are_compared_not_counted),
        CASE(the_time_begins_when_nodes_register),
        CASE(each_node_that_comes_back_begins_it_anew),
        CASE(without_a_past_only_the_time_counts),
        CASE(a_second_restart_remembers_who_is_missing),
        CASE(the_list_is_asked_for_when_it_matters),
        CASE(a_poll_that_does_not_count_forgets_nobody),
        CASE(a_node_settles_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
