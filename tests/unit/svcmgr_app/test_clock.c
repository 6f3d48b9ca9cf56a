/** Engine time over restarts, reboots and time of day that is set: svcmgr/state/clock.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/obj.h"
#include "state/clock.h"

#define WALL_MS 1700000000000
#define HOUR_MS 3600000
#define DAY_MS  86400000

/** A document of this boot, written at `boot_ms` by a clock that began at 1000 ms after it. */
static void written_at(int64_t boot_ms, struct buf *out)
{
    struct clock c;
    clock_begin(&c, 1000, WALL_MS);
    clock_write(&c, boot_ms, out);
}

static void test_begins_as_the_time_of_day(void **state)
{
    (void)state;
    struct clock c;
    clock_begin(&c, 5000, WALL_MS);
    assert_int_equal(clock_now_ms(&c, 5000), WALL_MS);
    assert_int_equal(clock_now_ms(&c, 5250), WALL_MS + 250);
    clock_begin(&c, 5000, -HOUR_MS);
    assert_true(clock_now_ms(&c, 5000) > 0);
}

/** The time of day of the restart is an hour behind, or a day ahead: only the time since boot counts. */
static void test_restart_in_the_same_boot_goes_on_exactly(void **state)
{
    (void)state;
    static const int64_t walls[] = {WALL_MS, WALL_MS - HOUR_MS, WALL_MS + DAY_MS};
    for (size_t i = 0; i < ARRAY_LEN(walls); i++) {
        buf_auto struct buf text = BUF_EMPTY;
        struct clock c;
        written_at(3000, &text);
        clock_begin(&c, 9000, walls[i]);
        assert_int_equal(clock_read(&c, text.bytes, text.len, 9000, NULL), 0);
        assert_int_equal(clock_now_ms(&c, 9000), WALL_MS + 8000);
    }
}

static void test_reboot_goes_on_at_the_last_written_moment(void **state)
{
    (void)state;
    static const int64_t boots[] = {100, 3000, 9000,
                                    DAY_MS}; /* before, at and after the time of the old boot */
    for (size_t i = 0; i < ARRAY_LEN(boots); i++) {
        buf_auto struct buf text = BUF_EMPTY;
        struct clock c;
        written_at(3000, &text);
        char *boot = strstr(text.bytes, "\"boot\":\"");
        assert_non_null(boot);
        boot[8] = boot[8] == 'x' ? 'y' : 'x';
        clock_begin(&c, boots[i], WALL_MS + DAY_MS);
        assert_int_equal(clock_read(&c, text.bytes, text.len, boots[i], NULL), 0);
        assert_int_equal(clock_now_ms(&c, boots[i]), WALL_MS + 2000);
        assert_int_equal(clock_now_ms(&c, boots[i] + 7), WALL_MS + 2007);
    }
}

/** The same boot, but a clock that is behind the written one: another time namespace. It does not go back. */
static void test_never_goes_back(void **state)
{
    (void)state;
    buf_auto struct buf text = BUF_EMPTY;
    struct clock c;
    written_at(3000, &text);
    clock_begin(&c, 500, WALL_MS);
    assert_int_equal(clock_read(&c, text.bytes, text.len, 500, NULL), 0);
    assert_int_equal(clock_now_ms(&c, 500), WALL_MS + 2000);
}

/** Of svcmgr's clock and that of an earlier attempt the one that is ahead counts, in either order. */
static void test_of_two_documents_the_later_time_counts(void **state)
{
    (void)state;
    static const char behind[] = "{\"format\":2,\"boot\":\"x\",\"boot_ms\":7,\"engine_ms\":1700000001000}";
    static const char ahead[] = "{\"format\":2,\"boot\":\"y\",\"boot_ms\":7,\"engine_ms\":1700000002000}";
    static const char *const orders[][2] = {{behind, ahead}, {ahead, behind}};
    for (size_t i = 0; i < ARRAY_LEN(orders); i++) {
        struct clock c;
        clock_begin(&c, 1000, WALL_MS + DAY_MS);
        for (size_t k = 0; k < 2; k++)
            assert_int_equal(clock_read(&c, orders[i][k], strlen(orders[i][k]), 1000, NULL), 0);
        assert_int_equal(clock_now_ms(&c, 1000), 1700000002000);
    }
}

static void test_a_document_that_is_none_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "{",
                                        "[]",
                                        "{}",
                                        "{\"boot\":\"a\",\"boot_ms\":1}",
                                        "{\"boot\":\"a\",\"boot_ms\":1,\"engine_ms\":0}",
                                        "{\"boot\":\"a\",\"boot_ms\":1,\"engine_ms\":\"5\"}",
                                        "{\"boot\":5,\"boot_ms\":1,\"engine_ms\":5}"};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct clock c;
        struct err_info why = {0};
        clock_begin(&c, 1000, WALL_MS);
        if (clock_read(&c, texts[i], strlen(texts[i]), 1000, &why) != ERR_JSON)
            fail_msg("taken for a clock: %s", texts[i]);
        assert_int_equal(clock_now_ms(&c, 1000), WALL_MS);
    }
}

static void test_the_document_of_an_older_version_is_read_and_of_a_newer_one_refused(void **state)
{
    (void)state;
    static const char old[] = "{\"boot\":\"another\",\"boot_ms\":700,\"engine_ms\":1700000123456}";
    static const char newer[] = "{\"format\":3,\"ticks\":7}";
    struct clock c;
    struct err_info why = {0};
    clock_begin(&c, 1000, WALL_MS);
    assert_int_equal(clock_read(&c, old, strlen(old), 1000, &why), 0);
    assert_int_equal(clock_now_ms(&c, 1000), 1700000123456);
    assert_int_equal(clock_read(&c, newer, strlen(newer), 1000, &why), ERR_UNSUPPORTED);
    assert_non_null(strstr(why.text, "format 3"));
    assert_int_equal(clock_now_ms(&c, 1000), 1700000123456);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_begins_as_the_time_of_day),
        cmocka_unit_test(test_restart_in_the_same_boot_goes_on_exactly),
        cmocka_unit_test(test_reboot_goes_on_at_the_last_written_moment),
        cmocka_unit_test(test_never_goes_back),
        cmocka_unit_test(test_of_two_documents_the_later_time_counts),
        cmocka_unit_test(test_a_document_that_is_none_is_refused),
        cmocka_unit_test(test_the_document_of_an_older_version_is_read_and_of_a_newer_one_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
