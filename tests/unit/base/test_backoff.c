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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pauses_double_up_to_the_ceiling),
        cmocka_unit_test(no_pause_is_longer_than_the_ceiling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
