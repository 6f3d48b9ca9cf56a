/* When answers are stale and when they expire, over a clock that is only numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "follow/freshness.h"
#include "zone/zone.h"

enum { MAX_MS = 1000 };

/** What a reader of the zones, of /readyz and of /stats sees. */
static void expect(const struct freshness *f, int64_t now_ms, unsigned flags, int64_t stale_ms)
{
    assert_int_equal(freshness_flags(f), flags);
    assert_int_equal(freshness_stale_ms(f, now_ms), stale_ms);
    assert_int_equal(freshness_unready(f) == NULL, (flags & ZONE_READY) != 0);
}

/** Connected and read completely, at time 0. */
static struct freshness current(void)
{
    struct freshness f;
    freshness_init(&f, MAX_MS);
    assert_true(freshness_connected(&f, true, 0));
    freshness_reset(&f, 0);
    freshness_published(&f, false, false, 0);
    expect(&f, 0, ZONE_READY, 0);
    return f;
}

static void before_the_first_snapshot_nothing_is_answered(void **state)
{
    struct freshness f;
    (void)state;
    freshness_init(&f, MAX_MS);
    expect(&f, 5, 0, 0);
    assert_true(freshness_connected(&f, true, 5));
    freshness_reset(&f, 6);
    expect(&f, 5000, 0, 0);
    assert_int_equal(freshness_left_ms(&f, 5000), -1);
    freshness_published(&f, false, false, 5000);
    expect(&f, 6000, ZONE_READY, 0);
    assert_int_equal(freshness_left_ms(&f, 6000), -1);
}

static void a_registry_that_is_lost_makes_answers_stale_then_expired(void **state)
{
    struct freshness f = current();
    (void)state;
    assert_true(freshness_connected(&f, false, 100));
    assert_false(freshness_connected(&f, false, 200));
    expect(&f, 300, ZONE_READY | ZONE_STALE, 200);
    assert_int_equal(freshness_left_ms(&f, 300), MAX_MS - 200);
    freshness_check(&f, 100 + MAX_MS - 1);
    expect(&f, 100 + MAX_MS - 1, ZONE_READY | ZONE_STALE, MAX_MS - 1);
    freshness_check(&f, 100 + MAX_MS);
    assert_int_equal(freshness_left_ms(&f, 100 + MAX_MS), 0);
    expect(&f, 100 + MAX_MS, 0, MAX_MS);
    assert_true(freshness_connected(&f, true, 2000));
    expect(&f, 2000, ZONE_READY, 0);
}

static void without_a_bound_answers_never_expire(void **state)
{
    struct freshness f = current();
    (void)state;
    f.max_ms = 0;
    freshness_connected(&f, false, 100);
    freshness_check(&f, INT64_MAX / 4);
    assert_int_equal(freshness_left_ms(&f, INT64_MAX / 4), -1);
    assert_int_equal(freshness_flags(&f), ZONE_READY | ZONE_STALE);
}

static void each_reason_alone_makes_answers_stale(void **state)
{
    struct freshness f = current();
    (void)state;
    freshness_store(&f, true, 10);
    expect(&f, 30, ZONE_READY | ZONE_STALE, 20);
    freshness_store(&f, false, 40);
    expect(&f, 40, ZONE_READY, 0);

    assert_true(freshness_frozen(&f, true, 50));
    assert_false(freshness_frozen(&f, true, 55));
    expect(&f, 60, ZONE_READY | ZONE_STALE, 10);
    assert_true(freshness_frozen(&f, false, 70));
    expect(&f, 70, ZONE_READY, 0);

    freshness_reset(&f, 80);
    expect(&f, 90, ZONE_READY | ZONE_STALE, 10);
    freshness_published(&f, false, false, 95);
    expect(&f, 95, ZONE_READY, 0);
}

/** The age counts from the first reason, until none is left. */
static void reasons_that_overlap_are_one_age(void **state)
{
    struct freshness f = current();
    (void)state;
    freshness_store(&f, true, 100);
    freshness_connected(&f, false, 200);
    freshness_store(&f, false, 300);
    expect(&f, 400, ZONE_READY | ZONE_STALE, 300);
    freshness_frozen(&f, true, 500);
    freshness_connected(&f, true, 600);
    expect(&f, 700, ZONE_READY | ZONE_STALE, 600);
    freshness_frozen(&f, false, 800);
    expect(&f, 800, ZONE_READY, 0);
}

/** A registry that is back and sends a snapshot first was away all the time; one that was heard since was not. */
static void a_snapshot_right_after_the_return_keeps_the_age(void **state)
{
    struct freshness f = current();
    (void)state;
    freshness_connected(&f, false, 100);
    freshness_connected(&f, true, 400);
    freshness_reset(&f, 410);
    expect(&f, 500, ZONE_READY | ZONE_STALE, 400);
    freshness_published(&f, false, false, 600);
    expect(&f, 600, ZONE_READY, 0);

    freshness_connected(&f, false, 1000);
    freshness_connected(&f, true, 1100);
    freshness_heard(&f);
    freshness_reset(&f, 1200);
    expect(&f, 1250, ZONE_READY | ZONE_STALE, 50);
}

static void what_is_on_disk_is_as_old_as_it_says(void **state)
{
    struct freshness f;
    (void)state;
    freshness_init(&f, MAX_MS);
    freshness_image(&f, 300, 0);
    assert_false(f.is_filled);
    expect(&f, 10, ZONE_READY | ZONE_STALE, 310);
    freshness_restored(&f, 400, 20);
    freshness_published(&f, true, false, 30);
    assert_true(f.is_filled && !f.is_synced);
    expect(&f, 40, ZONE_READY | ZONE_STALE, 420);
    freshness_connected(&f, true, 50);
    freshness_reset(&f, 60);
    expect(&f, 70, ZONE_READY | ZONE_STALE, 450);
    freshness_published(&f, false, false, 80);
    expect(&f, 80, ZONE_READY, 0);
}

static void an_image_that_is_too_old_is_not_answered_from(void **state)
{
    struct freshness f;
    (void)state;
    freshness_init(&f, MAX_MS);
    freshness_image(&f, MAX_MS, 0);
    expect(&f, 0, 0, MAX_MS);
}

/** A snapshot that is published while the registry begins the next one is old already. */
static void a_snapshot_that_was_overtaken_is_still_behind(void **state)
{
    struct freshness f = current();
    (void)state;
    freshness_reset(&f, 100);
    freshness_published(&f, false, true, 200);
    expect(&f, 200, ZONE_READY | ZONE_STALE, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_the_first_snapshot_nothing_is_answered),
        cmocka_unit_test(a_registry_that_is_lost_makes_answers_stale_then_expired),
        cmocka_unit_test(without_a_bound_answers_never_expire),
        cmocka_unit_test(each_reason_alone_makes_answers_stale),
        cmocka_unit_test(reasons_that_overlap_are_one_age),
        cmocka_unit_test(a_snapshot_right_after_the_return_keeps_the_age),
        cmocka_unit_test(what_is_on_disk_is_as_old_as_it_says),
        cmocka_unit_test(an_image_that_is_too_old_is_not_answered_from),
        cmocka_unit_test(a_snapshot_that_was_overtaken_is_still_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
