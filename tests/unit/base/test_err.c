#include "bobbin/error.h"
#include "base/obj.h"

#include <stdio.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const int codes[] = {
#define CODE(token, ...) token,
    BOBBIN_ERRORS(CODE)
#undef CODE
};

static void known_codes(void **state)
{
    (void)state;
    assert_string_equal(err_name(0), "OK");
    assert_int_equal(err_http_status(0), 200);
    assert_int_equal(err_exit_code(0), 0);
    assert_string_equal(err_name(ERR_NOTFOUND), "ERR_NOTFOUND");
    assert_string_equal(err_type(ERR_NOTFOUND), "path-not-found");
    assert_int_equal(err_http_status(ERR_NOTFOUND), 404);
    assert_string_equal(err_exception(ERR_NOTFOUND), "PathNotFoundException");
    assert_int_equal(err_from_type("path-not-found"), ERR_NOTFOUND);
    assert_int_equal(err_exit_code(ERR_CONFIG), 3);
}

static void unknown_codes(void **state)
{
    (void)state;
    assert_string_equal(err_name(-12345), "ERR_?");
    assert_int_equal(err_http_status(-12345), 500);
    assert_int_equal(err_exit_code(12345), 70);
    assert_int_equal(err_from_type("no-such-type"), ERR_INTERNAL);
}

/* Scripts distinguish errors by type and exit code. */
static void rows_are_distinct_and_complete(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        print_message("%s\n", err_name(codes[i]));
        assert_true(codes[i] < 0);
        assert_int_equal(err_from_type(err_type(codes[i])), codes[i]);
        assert_true(err_text(codes[i])[0] != 0);
        assert_in_range(err_http_status(codes[i]), 300, 599);
        assert_in_range(err_exit_code(codes[i]), 0, 125);
        for (size_t j = 0; j < i; j++) {
            assert_int_not_equal(codes[i], codes[j]);
            assert_string_not_equal(err_type(codes[i]), err_type(codes[j]));
        }
    }
}

static void set_fills_and_cuts(void **state)
{
    (void)state;
    struct err_info why;
    assert_int_equal(err_set(NULL, ERR_IO, "x", "y"), ERR_IO);
    assert_int_equal(err_set(&why, ERR_IO, NULL, "%s %d", "part", 3), ERR_IO);
    assert_int_equal(why.code, ERR_IO);
    assert_string_equal(why.where, "");
    assert_string_equal(why.text, "part 3");
    err_set(&why, ERR_IO, "f:1:2", "%2000d", 1);
    assert_string_equal(why.where, "f:1:2");
    assert_int_equal(strlen(why.text), sizeof why.text - 1);
}

static void set_may_quote_the_error_it_replaces(void **state)
{
    (void)state;
    struct err_info why;
    err_set(&why, ERR_IO, "place", "inner");
    err_set(&why, ERR_CONFIG, why.where, "outer: %s", why.text);
    assert_string_equal(why.where, "place");
    assert_string_equal(why.text, "outer: inner");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_codes),
        cmocka_unit_test(unknown_codes),
        cmocka_unit_test(rows_are_distinct_and_complete),
        cmocka_unit_test(set_fills_and_cuts),
        cmocka_unit_test(set_may_quote_the_error_it_replaces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
