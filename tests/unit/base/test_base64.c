/* The vectors of RFC 4648 10, and what is no base64. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/base64.h"
#include "bobbin/error.h"

static const struct {
    const char *bytes;
    size_t n;
    const char *text;
} pairs[] = {
    {"", 0, ""},
    {"f", 1, "Zg=="},
    {"fo", 2, "Zm8="},
    {"foo", 3, "Zm9v"},
    {"foob", 4, "Zm9vYg=="},
    {"fooba", 5, "Zm9vYmE="},
    {"foobar", 6, "Zm9vYmFy"},
    {"\0\xff\xfe", 3, "AP/+"},
};
#define N_PAIRS (sizeof pairs / sizeof pairs[0])

static void test_both_ways(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_PAIRS; i++) {
        buf_auto struct buf text = BUF_EMPTY, bytes = BUF_EMPTY;
        base64_put(&text, pairs[i].bytes, pairs[i].n);
        assert_string_equal(buf_cstr(&text), pairs[i].text);
        assert_int_equal(base64_get(pairs[i].text, strlen(pairs[i].text), &bytes), 0);
        assert_int_equal(bytes.len, pairs[i].n);
        if (bytes.len)
            assert_memory_equal(bytes.bytes, pairs[i].bytes, bytes.len);
    }
}

static void test_refused(void **state)
{
    static const char *const bad[] = {
        "Zg", "Zg=", "Z===", "====", "Zg==Zg==", "Z!==", "Zh==", "Zm9=", "Zm 9", "=AAA"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        buf_auto struct buf bytes = BUF_EMPTY;
        if (base64_get(bad[i], strlen(bad[i]), &bytes) != ERR_PARSE)
            fail_msg("\"%s\" was taken", bad[i]);
        assert_int_equal(bytes.len, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_both_ways), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
