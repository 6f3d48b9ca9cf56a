#include "base/backoff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void pauses_double_up_to_the_ceiling(void **state)
{
    (void)state;
    static const int64_t expected[] = {100, 200, 400, 800, 1000, 1000};
    int64_t pause_ms = 0;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        pause_ms = backoff_next(pause_ms, 100, 1000);
        assert_int_equal(pause_ms, expected[i]);
    }
    assert_int_equal(backoff_next(0, 100, 1000), 100); /* after a success */
}

static void no_pause_is_longer_than_the_ceiling(void **state)
{
    (void)state;
    assert_int_equal(backoff_next(0, 100, 30), 30);
    assert_int_equal(backoff_next(5000, 100, 1000), 1000); /* the ceiling was lowered meanwhile */
    assert_int_equal(backoff_next(INT64_MAX, 1, INT64_MAX), INT64_MAX);
}

static void chance_stays_within_its_bounds(void **state)
{
    (void)state;
    int64_t longest[4] = {0};
    for (size_t i = 0; i < 4000; i++) {
        uint64_t n_failed = i % 4;
        int64_t pause_ms = backoff_random(n_failed, 100, 1000);
        assert_in_range(pause_ms, 100, n_failed < 3 ? 100 * ((2 << n_failed) - 1) : 1000);
        longest[n_failed] = pause_ms > longest[n_failed] ? pause_ms : longest[n_failed];
    }
    assert_int_equal(longest[0], 100);
    assert_true(longest[1] < longest[2] && longest[2] < longest[3]); /* but with a probability of 10^-60 */
    assert_int_equal(backoff_random(UINT64_MAX, 7, 7), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pauses_double_up_to_the_ceiling),
        cmocka_unit_test(no_pause_is_longer_than_the_ceiling),
        cmocka_unit_test(chance_stays_within_its_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
