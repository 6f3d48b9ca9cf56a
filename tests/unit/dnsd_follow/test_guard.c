/* The outage shield: which removals are held, and what lets them go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "follow/guard.h"

enum { SHARE = 50, MIN = 4 };

static int make(void **state)
{
    struct guard_limits limits = {SHARE, MIN};
    *state = guard_new(&limits);
    return 0;
}

static int drop(void **state)
{
    guard_free(*state);
    return 0;
}

/* A commit of the removals /0 to /n-1. @return how many of them were held. */
static unsigned remove_n(struct guard *g, int64_t now_ms, size_t n_records, unsigned n)
{
    unsigned n_held = 0;
    if (guard_begin(g, now_ms, n_records, n))
        guard_count(g, n);
    for (unsigned i = 0; i < n; i++) {
        char path[16];
        snprintf(path, sizeof path, "/%u", i);
        n_held += guard_holds(g, path, true);
    }
    return n_held;
}

static void more_than_the_share_is_held(void **state)
{
    static const struct {
        size_t n_records;
        unsigned n, n_held;
    } rows[] = {
        {10, 5, 0},                          /* the share itself is allowed */
        {10, 6, 6}, {10, 10, 10}, {4, 3, 0}, /* fewer than min_records */
        {4, 4, 4},  {100, 50, 0}, {100, 51, 51},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct guard_limits limits = {SHARE, MIN};
        struct guard *g = guard_new(&limits);
        assert_int_equal(remove_n(g, 0, rows[i].n_records, rows[i].n), rows[i].n_held);
        assert_int_equal(guard_n_held(g), rows[i].n_held);
        assert_int_equal(guard_n_new(g), rows[i].n_held);
        guard_free(g);
    }
}

static void a_share_of_0_holds_nothing(void **state)
{
    struct guard_limits limits = {0, 0};
    struct guard *g = guard_new(&limits);
    (void)state;
    assert_false(guard_begin(g, 0, 10, 10));
    assert_int_equal(remove_n(g, 0, 10, 10), 0);
    guard_free(g);
}

/** Removals within two seconds count together, against the records that were there at the first of them. */
static void what_goes_bit_by_bit_counts_together(void **state)
{
    struct guard *g = *state;
    assert_int_equal(remove_n(g, 0, 10, 3), 0);
    assert_int_equal(remove_n(g, GUARD_WINDOW_MS, 7, 2), 0);
    assert_int_equal(remove_n(g, GUARD_WINDOW_MS, 5, 1), 1);
    assert_int_equal(remove_n(g, GUARD_WINDOW_MS + 1, 5, 2),
                     1); /* a new window: /0 is held already, /1 is the first of it */
}

static void waiting_removals_count_though_they_are_not_made_yet(void **state)
{
    struct guard *g = *state;
    assert_true(guard_begin(g, 0, 10, 6));
    guard_count(g, 6);
    assert_true(guard_holds(g, "/0", true));
    assert_int_equal(guard_n_held(g), 1);
}

static void only_removals_are_held(void **state)
{
    struct guard *g = *state;
    assert_true(guard_begin(g, 0, 4, 10));
    guard_count(g, 4);
    assert_false(guard_holds(g, "/new", false));
    assert_true(guard_holds(g, "/old", true));
    assert_true(guard_is_held(g, "/old") && !guard_is_held(g, "/new"));
}

/** While it is held a path stays held, whatever the share is then; a record at it ends that. */
static void a_record_that_returns_is_not_held(void **state)
{
    struct guard *g = *state;
    assert_int_equal(remove_n(g, 0, 4, 4), 4);
    assert_false(guard_begin(g, 10 * GUARD_WINDOW_MS, 100, 1));
    assert_true(guard_holds(g, "/0", true));
    assert_int_equal(guard_n_new(g), 0);
    assert_false(guard_holds(g, "/0", false));
    guard_returned(g, "/1");
    assert_int_equal(guard_n_held(g), 2);
    assert_false(guard_is_held(g, "/0") || guard_is_held(g, "/1"));
    assert_false(guard_holds(g, "/0", true));
}

struct caller {
    unsigned n_calls;
    size_t n_records;
};

static void on_released(void *arg, size_t n_records)
{
    struct caller *c = arg;
    c->n_calls++;
    c->n_records = n_records;
}

static void nothing_held_is_released_at_once(void **state)
{
    struct caller c = {0, 7};
    assert_false(guard_release(*state, on_released, &c));
    assert_true(c.n_calls == 1 && c.n_records == 0);
}

static void a_release_is_answered_when_its_commit_is_published(void **state)
{
    struct guard *g = *state;
    struct caller c = {0, 0}, later = {0, 0};
    struct map released;
    remove_n(g, 0, 4, 4);
    assert_true(guard_release(g, on_released, &c));
    assert_int_equal(guard_n_held(g), 0);
    guard_answer(g); /* of a commit that began before it */
    assert_int_equal(c.n_calls, 0);
    guard_take_released(g, &released);
    assert_int_equal(released.n_items, 4);
    assert_non_null(map_get(&released, "/3"));
    map_fini(&released, NULL);
    remove_n(g, 0, 4, 1);
    assert_true(guard_release(g, on_released, &later)); /* the next commit's */
    guard_answer(g);
    assert_true(c.n_calls == 1 && c.n_records == 4 && later.n_calls == 0);
    guard_take_released(g, &released);
    guard_answer(g);
    assert_true(later.n_calls == 1 && later.n_records == 1);
    map_fini(&released, NULL);
}

/** Two releases before one commit: it makes both. */
static void a_commit_takes_all_releases_before_it(void **state)
{
    struct guard *g = *state;
    struct caller first = {0, 0}, second = {0, 0}, gone = {0, 0};
    struct map released;
    remove_n(g, 0, 4, 4);
    guard_release(g, on_released, &first);
    guard_release(g, on_released, &gone); /* nothing is held any more */
    assert_int_equal(gone.n_calls, 1);
    assert_true(guard_begin(g, 0, 4, 4));
    guard_count(g, 4);
    guard_holds(g, "/other", true);
    guard_release(g, on_released, &second);
    guard_take_released(g, &released);
    assert_int_equal(released.n_items, 5);
    guard_answer(g);
    assert_true(first.n_calls == 1 && second.n_calls == 1);
    map_fini(&released, NULL);
}

static void who_was_forgotten_is_not_called(void **state)
{
    struct guard *g = *state;
    struct caller c = {0, 0};
    struct map released;
    remove_n(g, 0, 4, 4);
    guard_release(g, on_released, &c);
    guard_forget(g, &c);
    guard_take_released(g, &released);
    guard_answer(g);
    assert_int_equal(c.n_calls, 0);
    assert_int_equal(released.n_items, 4); /* the release stays */
    map_fini(&released, NULL);
}

static void after_a_release_the_window_begins_anew(void **state)
{
    struct guard *g = *state;
    assert_int_equal(remove_n(g, 0, 10, 6), 6);
    guard_restart(g);
    assert_true(guard_begin(g, 1, 20, 5));
    guard_count(g, 5);
    assert_false(guard_holds(g, "/other", true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_than_the_share_is_held),
        cmocka_unit_test(a_share_of_0_holds_nothing),
        cmocka_unit_test_setup_teardown(what_goes_bit_by_bit_counts_together, make, drop),
        cmocka_unit_test_setup_teardown(waiting_removals_count_though_they_are_not_made_yet, make, drop),
        cmocka_unit_test_setup_teardown(only_removals_are_held, make, drop),
        cmocka_unit_test_setup_teardown(a_record_that_returns_is_not_held, make, drop),
        cmocka_unit_test_setup_teardown(nothing_held_is_released_at_once, make, drop),
        cmocka_unit_test_setup_teardown(a_release_is_answered_when_its_commit_is_published, make, drop),
        cmocka_unit_test_setup_teardown(a_commit_takes_all_releases_before_it, make, drop),
        cmocka_unit_test_setup_teardown(who_was_forgotten_is_not_called, make, drop),
        cmocka_unit_test_setup_teardown(after_a_release_the_window_begins_anew, make, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
