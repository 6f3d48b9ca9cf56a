#include "base/str.h"
#include "base/mem.h"
#include "base/obj.h"
#include "bobbin/error.h"

#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define UNTOUCHED 4711

static void integers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t min, max;
        int err;
        int64_t value;
    } rows[] = {
        {"0", 0, 9, 0, 0},
        {"-5", -5, 5, 0, -5},
        {"5", -5, 5, 0, 5},
        {"6", -5, 5, ERR_PARSE, 0},
        {"-6", -5, 5, ERR_PARSE, 0},
        {"9223372036854775807", INT64_MIN, INT64_MAX, 0, INT64_MAX},
        {"9223372036854775808", INT64_MIN, INT64_MAX, ERR_PARSE, 0},
        {"-9223372036854775808", INT64_MIN, INT64_MAX, 0, INT64_MIN},
        {"", 0, 9, ERR_PARSE, 0},
        {"-", -9, 9, ERR_PARSE, 0},
        {"+1", 0, 9, ERR_PARSE, 0},
        {" 1", 0, 9, ERR_PARSE, 0},
        {"1 ", 0, 9, ERR_PARSE, 0},
        {"0x1", 0, 9, ERR_PARSE, 0},
        {"- 1", -9, 9, ERR_PARSE, 0},
        {"1.0", 0, 9, ERR_PARSE, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t v = UNTOUCHED;
        print_message("\"%s\"\n", rows[i].text);
        assert_int_equal(str_to_i64(rows[i].text, rows[i].min, rows[i].max, &v), rows[i].err);
        assert_true(v == (rows[i].err ? UNTOUCHED : rows[i].value));
    }
}

static void durations(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t bare, value; /* -1: refused */
    } rows[] = {
        {"500ms", 1000, 500},
        {"10s", 1, 10000},
        {"2m", 1, 120000},
        {"1h", 1, 3600000},
        {"1d", 1, 86400000},
        {"7", 1000, 7000},
        {"7", 1, 7},
        {"0", 1, 0},
        {"", 1, -1},
        {"s", 1, -1},
        {"-1s", 1, -1},
        {"1 s", 1, -1},
        {"1S", 1, -1},
        {"1sec", 1, -1},
        {"1.5s", 1, -1},
        {"99999999999999d", 1, -1},
        {"99999999999999999999", 1, -1},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t v = UNTOUCHED;
        print_message("\"%s\"\n", rows[i].text);
        assert_int_equal(str_to_ms(rows[i].text, rows[i].bare, &v), rows[i].value < 0 ? ERR_PARSE : 0);
        assert_true(v == (rows[i].value < 0 ? UNTOUCHED : rows[i].value));
    }
}

static void sizes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value; /* -1: refused */
    } rows[] = {
        {"4096", 4096},     {"64k", 65536}, {"64K", 65536}, {"1M", 1048576},
        {"2G", 2147483648}, {"0", 0},       {"1T", -1},     {"k", -1},
        {"", -1},           {"-1", -1},     {"1kB", -1},    {"9999999999G", -1},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t v = UNTOUCHED;
        print_message("\"%s\"\n", rows[i].text);
        assert_int_equal(str_to_bytes(rows[i].text, &v), rows[i].value < 0 ? ERR_PARSE : 0);
        assert_true(v == (rows[i].value < 0 ? UNTOUCHED : rows[i].value));
    }
}

static void booleans(void **state)
{
    (void)state;
    bool v = false;
    assert_int_equal(str_to_bool(" TRUE\n", &v), 0);
    assert_true(v);
    assert_int_equal(str_to_bool("False", &v), 0);
    assert_false(v);
    v = true;
    assert_int_equal(str_to_bool("yes", &v), ERR_PARSE);
    assert_int_equal(str_to_bool("", &v), ERR_PARSE);
    assert_int_equal(str_to_bool("1", &v), ERR_PARSE);
    assert_true(v);
}

static void pieces_of_text(void **state)
{
    (void)state;
    assert_true(str_starts("abc", "ab"));
    assert_true(str_starts("abc", ""));
    assert_false(str_starts("ab", "abc"));
    assert_true(str_ends("abc", "bc"));
    assert_false(str_ends("c", "bc"));
    mem_auto char *t = str_trim(" \t\r\n a b \v\f");
    assert_string_equal(t, "a b");
    mem_auto char *blank = str_trim("  ");
    assert_string_equal(blank, "");
    char mixed[] = "AbC-\xc3\x84Z";
    str_lower(mixed);
    assert_string_equal(mixed, "abc-\xc3\x84z");
}

static void fields(void **state)
{
    (void)state;
    static const char *const want[] = {"a", "b c", "", "d"};
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        mem_auto char *f = str_field(" a , b c,,d", ',', i);
        assert_string_equal(f, want[i]);
    }
    assert_null(str_field(" a , b c,,d", ',', 4));
    assert_true(str_has_field(" a , b c,,d", ',', "b c") && str_has_field("d", ',', "d"));
    assert_false(str_has_field("ab,c", ',', "a") || str_has_field(NULL, ',', "a"));
    mem_auto char *whole = str_field("", ',', 0);
    assert_string_equal(whole, "");
}

static void utf8_sequences(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n, len;
        uint32_t cp;
    } rows[] = {
        {"A", 1, 1, 'A'},
        {"\0", 1, 1, 0},
        {"\x7f", 1, 1, 0x7f},
        {"\xc2\x80", 2, 2, 0x80},
        {"\xdf\xbf", 2, 2, 0x7ff},
        {"\xe0\xa0\x80", 3, 3, 0x800},
        {"\xed\x9f\xbf", 3, 3, 0xd7ff},
        {"\xee\x80\x80", 3, 3, 0xe000},
        {"\xef\xbf\xbf", 3, 3, 0xffff},
        {"\xf0\x90\x80\x80", 4, 4, 0x10000},
        {"\xf4\x8f\xbf\xbf", 4, 4, 0x10ffff},
        /* not UTF-8: overlong, surrogate, beyond the last one, lone continuation, cut off */
        {"\xc0\x80", 2, 0, 0},
        {"\xc1\xbf", 2, 0, 0},
        {"\xe0\x9f\xbf", 3, 0, 0},
        {"\xf0\x8f\xbf\xbf", 4, 0, 0},
        {"\xed\xa0\x80", 3, 0, 0},
        {"\xed\xbf\xbf", 3, 0, 0},
        {"\xf4\x90\x80\x80", 4, 0, 0},
        {"\xf8\x88\x80\x80", 4, 0, 0},
        {"\xff", 1, 0, 0},
        {"\x80", 1, 0, 0},
        {"\xc2", 1, 0, 0},
        {"\xe2\x82", 2, 0, 0},
        {"\xe2\x28\xa1", 3, 0, 0},
        {"", 0, 0, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint32_t cp = 0;
        print_message("row %zu\n", i);
        assert_int_equal(utf8_next(rows[i].bytes, rows[i].n, &cp), rows[i].len);
        if (!rows[i].len)
            continue;
        assert_int_equal(cp, rows[i].cp);
        char back[4];
        assert_int_equal(utf8_put(back, cp), rows[i].len);
        assert_memory_equal(back, rows[i].bytes, rows[i].len);
    }
    assert_true(utf8_valid("a\xc3\xa4\xe2\x82\xac", 6));
    assert_false(utf8_valid("a\xc3", 2));
    assert_true(utf8_valid("", 0));
    /* Whole words of ASCII are passed over; what is wrong stands before, in, between and after them. */
    char text[25];
    for (size_t at = 0; at < sizeof text - 1; at++) {
        memset(text, 'a', sizeof text);
        assert_true(utf8_valid(text, sizeof text));
        memcpy(text + at, "\xc3\xa4", 2);
        assert_true(utf8_valid(text, sizeof text));
        text[at] = '\xa4';
        assert_false(utf8_valid(text, sizeof text));
    }
}

static void visible_text(void **state)
{
    (void)state;
    static const char bad[] = {0, ' ', 0x1f, 0x7f, (char)0x80, (char)0xff};
    char text[19];
    assert_true(str_is_visible("", 0));
    for (size_t at = 0; at < sizeof text; at++) {
        memset(text, at % 2 ? '!' : '~', sizeof text);
        assert_true(str_is_visible(text, sizeof text));
        for (size_t i = 0; i < sizeof bad; i++) {
            text[at] = bad[i];
            assert_false(str_is_visible(text, sizeof text));
            assert_true(str_is_visible(text, at));
        }
    }
}

static void integers_written(void **state)
{
    (void)state;
    static const struct {
        int64_t value;
        const char *text;
    } rows[] = {{0, "0"},
                {7, "7"},
                {-1, "-1"},
                {1234567890, "1234567890"},
                {INT64_MAX, "9223372036854775807"},
                {INT64_MIN, "-9223372036854775808"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char text[STR_I64_MAX + 1];
        size_t len = str_put_i64(text, rows[i].value);
        assert_int_equal(len, strlen(rows[i].text));
        assert_memory_equal(text, rows[i].text, len);
    }
}

static void percent_escapes(void **state)
{
    (void)state;
    static const struct {
        const char *in;
        int64_t len; /* < 0: refused */
        const char *out;
    } rows[] = {
        {"", 0, ""},
        {"abc", 3, "abc"},
        {"%41b%2f", 3, "Ab/"},
        {"a%00b", 3, "a\0b"},
        {"%e2%82%AC", 3, "\xe2\x82\xac"},
        {"+", 1, "+"},
        {"%", ERR_PARSE, ""},
        {"%4", ERR_PARSE, ""},
        {"%4g", ERR_PARSE, ""},
        {"a%%", ERR_PARSE, ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char out[32];
        print_message("\"%s\"\n", rows[i].in);
        int64_t len = str_unpercent(rows[i].in, strlen(rows[i].in), out);
        assert_int_equal(len, rows[i].len);
        if (len >= 0)
            assert_memory_equal(out, rows[i].out, (size_t)len + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers),
        cmocka_unit_test(durations),
        cmocka_unit_test(sizes),
        cmocka_unit_test(booleans),
        cmocka_unit_test(pieces_of_text),
        cmocka_unit_test(fields),
        cmocka_unit_test(utf8_sequences),
        cmocka_unit_test(percent_escapes),
        cmocka_unit_test(integers_written),
        cmocka_unit_test(visible_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
