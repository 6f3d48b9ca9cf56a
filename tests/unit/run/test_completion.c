/** Rows of bash completion: what a placeholder stands for, and the rows of an option table. tests/e2e/test_completion.py has the use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/obj.h"
#include "run/completion.h"

static void test_a_placeholder_is_words_or_a_mark(void **state)
{
    static const struct {
        const char *placeholder, *kind;
    } rows[] = {{"table|json", "table json"},
                {"seed|hadoop-3", "seed hadoop-3"},
                {"DIR", "<dir>"},
                {"FILE", "<file>"},
                {"[FILE|-]", "<file>"},
                {"ID:PASSWORD|@FILE", "<any>"},
                {"NAME", "<any>"},
                {"|", "<any>"},
                {"", "<any>"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        buf_auto struct buf out = BUF_EMPTY;
        completion_kind(rows[i].placeholder, &out);
        assert_string_equal(buf_cstr(&out), rows[i].kind);
    }
}

static void test_keys_and_the_values_that_are_words(void **state)
{
    static const struct opt_def defs[] = {
        {"a.size", OPT_INT, "", "1", 0, 9, OPT_FIXED, "Size."},
        {"a.mode", OPT_ENUM, "strict|compat", "strict", 0, 0, OPT_FIXED, "Mode."},
        {"a.on", OPT_BOOL, "", "true", 0, 0, OPT_FIXED, "On."},
    };
    buf_auto struct buf out = BUF_EMPTY;

    (void)state;
    completion_keys(&out, "prog", defs, ARRAY_LEN(defs));
    assert_string_equal(buf_cstr(&out), "_bobbin_key_values['prog a.mode']='strict compat'\n"
                                        "_bobbin_key_values['prog a.on']='true false'\n"
                                        "_bobbin_keys['prog']='a.size a.mode a.on'\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_placeholder_is_words_or_a_mark),
        cmocka_unit_test(test_keys_and_the_values_that_are_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
