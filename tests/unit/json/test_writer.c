#include "base/obj.h"
#include "json/writer.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void nesting_puts_commas_and_colons(void **state)
{
    (void)state;
    buf_auto struct buf out = BUF_EMPTY;
    struct jw w = jw_on(&out);
    jw_object(&w);
    jw_kstr(&w, "a", "x");
    jw_kint(&w, "b", INT64_MIN);
    jw_key(&w, "c");
    jw_array(&w);
    jw_bool(&w, true);
    jw_null(&w);
    jw_object(&w);
    jw_object_end(&w);
    jw_array(&w);
    jw_array_end(&w);
    jw_raw(&w, "[1]", 3);
    jw_array_end(&w);
    jw_kbool(&w, "d", false);
    jw_kstr(&w, "e", NULL);
    jw_literal_key(&w, "f g");
    jw_object(&w);
    jw_literal_key(&w, "h");
    jw_int(&w, 1);
    jw_object_end(&w);
    jw_object_end(&w);
    assert_string_equal(out.bytes, "{\"a\":\"x\",\"b\":-9223372036854775808,\"c\":[true,null,{},[],[1]],"
                                   "\"d\":false,\"e\":null,\"f g\":{\"h\":1}}");
}

static void escapes(void **state)
{
    (void)state;
    static const struct {
        const char *in;
        size_t len;
        const char *raw, *escaped; /* with escape_supplementary off and on; NULL: the same */
    } rows[] = {
        {"", 0, "\"\"", NULL},
        {"a/b", 3, "\"a/b\"", NULL},
        {"01234567 !~\x7f[]", 14, "\"01234567 !~\x7f[]\"", NULL},
        {"01234567\x1f", 9, "\"01234567\\u001F\"", NULL},
        {"012\\4567", 8, "\"012\\\\4567\"", NULL},
        {"\"1234567", 8, "\"\\\"1234567\"", NULL},
        {"0123456\n", 8, "\"0123456\\n\"", NULL},
        {"0123456\xc3\xa4", 9, "\"0123456\xc3\xa4\"", NULL},
        {"\"\\", 2, "\"\\\"\\\\\"", NULL},
        {"\b\t\n\f\r", 5, "\"\\b\\t\\n\\f\\r\"", NULL},
        {"\0\x01\x1f\x7f", 4, "\"\\u0000\\u0001\\u001F\x7f\"", NULL},
        {"\xc3\xa4\xe2\x80\xa8", 5, "\"\xc3\xa4\xe2\x80\xa8\"", NULL},
        {"x\xf0\x9f\x98\x80y", 6, "\"x\xf0\x9f\x98\x80y\"", "\"x\\uD83D\\uDE00y\""},
        {"\xf4\x8f\xbf\xbf", 4, "\"\xf4\x8f\xbf\xbf\"", "\"\\uDBFF\\uDFFF\""},
        {"\xed\xa0\xbd", 3, "\"\\uD83D\"", NULL},
        {"\xed\xbf\xbf", 3, "\"\\uDFFF\"", NULL},
        {"a\xff\xc3", 3, "\"a\xef\xbf\xbd\xef\xbf\xbd\"", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (int on = 0; on < 2; on++) {
            buf_auto struct buf out = BUF_EMPTY;
            struct jw w = jw_on(&out);
            w.escape_supplementary = on;
            print_message("row %zu\n", i);
            jw_strn(&w, rows[i].in, rows[i].len);
            assert_string_equal(out.bytes, on && rows[i].escaped ? rows[i].escaped : rows[i].raw);
        }
    }
}

static void keys_are_escaped_too(void **state)
{
    (void)state;
    buf_auto struct buf out = BUF_EMPTY;
    struct jw w = jw_on(&out);
    jw_object(&w);
    jw_keyn(&w, "a\"\0", 3);
    jw_int(&w, 1);
    jw_object_end(&w);
    assert_string_equal(out.bytes, "{\"a\\\"\\u0000\":1}");
}

static void end_without_begin(struct jw *w)
{
    jw_object_end(w);
}

static void key_outside(struct jw *w)
{
    jw_key(w, "k");
}

static void end_after_key(struct jw *w)
{
    jw_object(w);
    jw_key(w, "k");
    jw_object_end(w);
}

static void key_after_key(struct jw *w)
{
    jw_object(w);
    jw_key(w, "k");
    jw_key(w, "k");
}

static void wrong_nesting_is_a_bug(void **state)
{
    (void)state;
    void (*const wrong[])(struct jw *) = {end_without_begin, key_outside, end_after_key, key_after_key};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        pid_t child = fork();
        if (child == 0) {
            struct rlimit no_core = {0, 0};
            setrlimit(RLIMIT_CORE, &no_core);
            signal(SIGABRT, SIG_DFL);
            close(STDERR_FILENO);
            struct buf out = BUF_EMPTY;
            struct jw w = jw_on(&out);
            wrong[i](&w);
            _exit(0);
        }
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nesting_puts_commas_and_colons),
        cmocka_unit_test(escapes),
        cmocka_unit_test(keys_are_escaped_too),
        cmocka_unit_test(wrong_nesting_is_a_bug),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
