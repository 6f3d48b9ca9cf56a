/* Answers kept: for how long, and which of them give way. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "forward/cache.h"

static struct relay_msg *msg(uint32_t ttl_s, size_t len)
{
    struct relay_msg *m = mem_zalloc(sizeof *m + len);
    m->ttl_s = ttl_s;
    m->len = len;
    return m;
}

static void is_good_for_its_ttl(void **state)
{
    (void)state;
    uint32_t age_s = 99;
    struct cache *c = cache_new(100000);
    cache_put(c, "a. 1 1", msg(10, 20), 5000);
    assert_null(cache_get(c, "b. 1 1", 5000, &age_s));
    assert_non_null(cache_get(c, "a. 1 1", 5000, &age_s));
    assert_int_equal(age_s, 0);
    assert_non_null(cache_get(c, "a. 1 1", 14999, &age_s));
    assert_int_equal(age_s, 9);
    assert_null(cache_get(c, "a. 1 1", 15000, &age_s));
    assert_int_equal(cache_bytes(c), 0);
    cache_free(c);
}

static void keeps_nothing_of_ttl_0_and_forgets_what_was_there(void **state)
{
    (void)state;
    uint32_t age_s;
    struct cache *c = cache_new(100000);
    cache_put(c, "a", msg(10, 20), 0);
    cache_put(c, "a", msg(0, 20), 0);
    assert_null(cache_get(c, "a", 0, &age_s));
    assert_int_equal(cache_n_items(c), 0);
    cache_free(c);
}

static void newest_answer_counts(void **state)
{
    (void)state;
    uint32_t age_s;
    struct cache *c = cache_new(100000);
    cache_put(c, "a", msg(10, 20), 0);
    size_t n_bytes = cache_bytes(c);
    cache_put(c, "a", msg(100, 20), 5000);
    assert_int_equal(cache_bytes(c), n_bytes);
    assert_int_equal(cache_get(c, "a", 50000, &age_s)->ttl_s, 100);
    assert_int_equal(age_s, 45);
    cache_free(c);
}

static void stays_within_its_room_and_drops_the_unused(void **state)
{
    (void)state;
    enum { ROOM = 20000 };
    char key[32];
    uint32_t age_s;
    struct cache *c = cache_new(ROOM);
    cache_put(c, "used", msg(1000, 100), 0);
    for (int i = 0; i < 1000; i++) {
        snprintf(key, sizeof key, "name-%d", i);
        cache_put(c, key, msg(1000, 100), 0);
        assert_true(cache_bytes(c) <= ROOM);
        assert_non_null(cache_get(c, "used", 0, &age_s));
    }
    assert_true(cache_n_items(c) > 20);
    assert_null(cache_get(c, "name-0", 0, &age_s));
    assert_non_null(cache_get(c, "name-999", 0, &age_s));
    cache_free(c);
}

static void one_answer_does_not_push_out_all_others(void **state)
{
    (void)state;
    uint32_t age_s;
    struct cache *c = cache_new(20000), *none = cache_new(0);
    cache_put(c, "small", msg(1000, 100), 0);
    cache_put(c, "big", msg(1000, 10000), 0);
    assert_null(cache_get(c, "big", 0, &age_s));
    assert_non_null(cache_get(c, "small", 0, &age_s));
    cache_put(none, "small", msg(1000, 12), 0);
    assert_null(cache_get(none, "small", 0, &age_s));
    cache_free(c);
    cache_free(none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_good_for_its_ttl),
        cmocka_unit_test(keeps_nothing_of_ttl_0_and_forgets_what_was_there),
        cmocka_unit_test(newest_answer_counts),
        cmocka_unit_test(stays_within_its_room_and_drops_the_unused),
        cmocka_unit_test(one_answer_does_not_push_out_all_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
