/** The last lines of standard error as text: cluster/shim_tail.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/obj.h"
#include "cluster/shim_tail.h"

static const struct {
    const char *bytes;
    bool is_cut;
    const char *text; /* NULL: none */
} rows[] = {
    {"", false, NULL},
    {"\n\n", false, NULL},
    {"one", false, "one"},
    {"one\ntwo\n", false, "one\ntwo"},
    {"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n", false, "3\n4\n5\n6\n7\n8\n9\n10\n11\n12"},
    {"f a line\ntwo\n", true, "two"},
    {"one long line", true, "one long line"},
    {"a\tb\r\nc\r\n", false, "a\tb\nc"},
    {"\x1b[31;1mred\x1b[0m", false, "red"},
    {"\x1b]0;title\x07", false, "?]0;title?"},
    {"a\x01\x7f"
     "b\xc2\x9b",
     false, "a??b?"},
    {"gr\xc3\xbc\xc3\x9f"
     "e",
     false,
     "gr\xc3\xbc\xc3\x9f"
     "e"},
    {"\xbc\xff\xc3", false, "???"},
    {"\x1b[", false, "?["},
};

static void bytes_become_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        mem_auto char *text = shim_tail_text(rows[i].bytes, strlen(rows[i].bytes), rows[i].is_cut);
        if (!rows[i].text)
            assert_null(text);
        else
            assert_string_equal(text ? text : "(none)", rows[i].text);
    }
}

static void a_nul_is_a_control_character(void **state)
{
    (void)state;
    mem_auto char *text = shim_tail_text("a\0b", 3, false);
    assert_string_equal(text, "a?b");
}

static void a_container_without_the_file_said_nothing(void **state)
{
    (void)state;
    assert_null(shim_tail_read("/nonexistent"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_become_text),
        cmocka_unit_test(a_nul_is_a_control_character),
        cmocka_unit_test(a_container_without_the_file_said_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
