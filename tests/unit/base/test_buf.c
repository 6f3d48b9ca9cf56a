#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void empty_buffer_is_an_empty_string(void **state)
{
    (void)state;
    buf_auto struct buf b = BUF_EMPTY;
    assert_string_equal(buf_cstr(&b), "");
    buf_clear(&b);
    buf_drop(&b, 0);
    buf_add(&b, NULL, 0);
    assert_string_equal(buf_cstr(&b), "");
    assert_int_equal(b.len, 0);
}

static void appending_keeps_a_terminator(void **state)
{
    (void)state;
    buf_auto struct buf b = BUF_EMPTY;
    for (int i = 0; i < 1000; i++) {
        buf_add_char(&b, (char)('a' + i % 26));
        assert_int_equal(b.bytes[b.len], 0);
    }
    assert_int_equal(b.len, 1000);
    assert_int_equal(b.bytes[999], 'a' + 999 % 26);
    buf_clear(&b);
    assert_string_equal(b.bytes, "");
}

static void formats_short_and_long(void **state)
{
    (void)state;
    buf_auto struct buf b = BUF_EMPTY;
    buf_addf(&b, "%d-%s", 7, "x");
    assert_string_equal(b.bytes, "7-x");
    buf_add_i64(&b, -42);
    assert_string_equal(b.bytes, "7-x-42");
    buf_drop(&b, 3);
    buf_addf(&b, "%300s|", "y");
    assert_int_equal(b.len, 3 + 301);
    assert_string_equal(b.bytes + b.len - 3, " y|");
    /* One byte around the size of the first try. */
    for (int width = 254; width <= 258; width++) {
        buf_clear(&b);
        buf_addf(&b, "%*d", width, 5);
        assert_int_equal(b.len, width);
        assert_int_equal(b.bytes[width - 1], '5');
        assert_int_equal(b.bytes[width], 0);
    }
}

static void drop_moves_the_rest_to_the_front(void **state)
{
    (void)state;
    buf_auto struct buf b = BUF_EMPTY;
    buf_add_str(&b, "abcdef");
    buf_drop(&b, 2);
    assert_string_equal(b.bytes, "cdef");
    buf_drop(&b, 4);
    assert_string_equal(b.bytes, "");
}

static void room_is_terminated_when_it_is_used_up(void **state)
{
    (void)state;
    buf_auto struct buf b = BUF_EMPTY;
    char *to = buf_room(&b, 100);
    assert_string_equal(buf_cstr(&b), "");
    memset(to, 'z', 100);
    b.len += 100;
    assert_int_equal(strlen(b.bytes), 100);
}

static void take_hands_the_bytes_over(void **state)
{
    (void)state;
    struct buf b = BUF_EMPTY;
    char *none = buf_take(&b);
    assert_string_equal(none, "");
    free(none);
    buf_add(&b, "a\0b", 3);
    char *bytes = buf_take(&b);
    assert_memory_equal(bytes, "a\0b", 4);
    assert_null(b.bytes);
    assert_int_equal(b.len, 0);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_buffer_is_an_empty_string),
        cmocka_unit_test(appending_keeps_a_terminator),
        cmocka_unit_test(formats_short_and_long),
        cmocka_unit_test(drop_moves_the_rest_to_the_front),
        cmocka_unit_test(room_is_terminated_when_it_is_used_up),
        cmocka_unit_test(take_hands_the_bytes_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
