/* lib/http/params: what a query is by the rows of a route, and the words of a refusal. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "base/obj.h"
#include "http/params.h"
#include "run/options.h"

#define PARAMS(X)                                                                                            \
    X(P_FLAG, "flag", HTTP_BOOL, "true", "A flag.")                                                          \
    X(P_N, "n", HTTP_INT, HTTP_DEFAULT_MAX, "A number.", .min = 2, .max_key = "some.option")                 \
    X(P_OPEN, "open", HTTP_INT, NULL, "A number.", .min = 1)                                                 \
    X(P_ONE, "one", HTTP_INT, NULL, "One.", .min = 1, .max = 1)                                              \
    X(P_TIME, "time", HTTP_TIME, "2m", "A time.")                                                            \
    X(P_SOON, "soon", HTTP_TIME, NULL, "A short time.", .min = 10, .max = 5000)                              \
    X(P_WORD, "word", HTTP_CHOICE, "b", "A word.", .choices = "a|b|ccc")                                     \
    X(P_TEXT, "text", HTTP_TEXT, NULL, "A text.")                                                            \
    X(P_HEADER, "X-Header", HTTP_TEXT, NULL, "A header.", .in = HTTP_IN_HEADER)
#define NEEDED(X)                                                                                            \
    X(NEEDED_WORD, "word", HTTP_CHOICE, NULL, "says what to do", .choices = "go", .is_required = true)
enum { HTTP_PARAM_IDS(PARAMS) };
enum { HTTP_PARAM_IDS(NEEDED) };

static const struct opt_def defs[] = {{"some.option", OPT_INT, "", "50", 1, 100, OPT_FIXED, "A number."}};

/** A query read by a table. *arena is to be freed after the values were looked at. */
static int read_by(const struct http_param *rows, bool is_strict, const char *query, struct arena **arena,
                   struct http_value out[P_HEADER + 1], struct err_info *why)
{
    struct http_param_set set;
    struct http_pair *pairs;
    const struct http_value *values;
    buf_auto struct buf errors = BUF_EMPTY;
    struct options *options = options_read(defs, ARRAY_LEN(defs), NULL, NULL, &errors);
    http_params_init(&set, rows, is_strict, options);
    *arena = arena_new(0);
    int rc = http_params_split(*arena, query, &pairs, why);
    rc = rc ? rc : http_params_read(&set, *arena, pairs, &values, why);
    if (rc == 0 && set.n)
        memcpy(out, values, set.n * sizeof *values);
    http_params_fini(&set);
    options_free(options);
    return rc;
}

static void test_defaults(void **state)
{
    (void)state;
    struct http_value v[P_HEADER + 1];
    struct err_info why;
    struct arena *arena;
    assert_int_equal(read_by(HTTP_PARAMS(PARAMS), true, NULL, &arena, v, &why), 0);
    const int64_t numbers[] = {[P_FLAG] = 1, [P_N] = 50, [P_TIME] = 120000, [P_WORD] = 1, [P_HEADER] = 0};
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        assert_int_equal(v[i].n, numbers[i]);
        assert_false(v[i].is_given);
    }
    assert_null(v[P_TEXT].text);
    arena_free(arena);
}

static void test_values(void **state)
{
    (void)state;
    static const struct {
        const char *query;
        int id;
        int64_t n;
        const char *text;
    } cases[] = {
        {"flag=FALSE", P_FLAG, 0, "FALSE"},
        {"flag", P_FLAG, 1, ""},
        {"n=2", P_N, 2, "2"},
        {"n=50&n=51", P_N, 50, "50"}, /* the first counts */
        {"open=9223372036854775807", P_OPEN, INT64_MAX, "9223372036854775807"},
        {"time=3", P_TIME, 3000, "3"},
        {"soon=10ms", P_SOON, 10, "10ms"},
        {"word=ccc", P_WORD, 2, "ccc"},
        {"&&text=a%26+b&", P_TEXT, 0, "a& b"},
        {"text=&user.name=x&DOAS=y", P_TEXT, 0, ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct http_value v[P_HEADER + 1];
        struct err_info why;
        struct arena *arena;
        if (read_by(HTTP_PARAMS(PARAMS), true, cases[i].query, &arena, v, &why))
            fail_msg("%s is refused: %s", cases[i].query, why.text);
        assert_int_equal(v[cases[i].id].n, cases[i].n);
        assert_string_equal(v[cases[i].id].text, cases[i].text);
        assert_true(v[cases[i].id].is_given);
        arena_free(arena);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *query, *where, *text;
    } cases[] = {
        {"flag=no", "flag", "query parameter flag is \"no\": send true or false"},
        {"n=51", "n", "query parameter n is \"51\": send an integer from 2 to 50, the value of some.option"},
        {"n=1", "n", "query parameter n is \"1\": send an integer from 2 to 50, the value of some.option"},
        {"n=", "n", "query parameter n is \"\": send an integer from 2 to 50, the value of some.option"},
        {"open=0", "open", "query parameter open is \"0\": send an integer of at least 1"},
        {"open=9223372036854775808", "open",
         "query parameter open is \"9223372036854775808\": send an integer of at least 1"},
        {"one=2", "one", "query parameter one is \"2\": send an integer of 1"},
        {"time=soon", "time", "query parameter time is \"soon\": send a time such as 10, 500ms or 2m"},
        {"soon=6", "soon",
         "query parameter soon is \"6\": send a time such as 10, 500ms or 2m from 10ms to 5000ms"},
        {"word=B", "word", "query parameter word is \"B\": send a or b or ccc"},
        {"word=a|b", "word", "query parameter word is \"a|b\": send a or b or ccc"},
        {"word=", "word", "query parameter word is \"\": send a or b or ccc"},
        {"wrod=a", "wrod",
         "\"wrod\" is no query parameter here, did you mean \"word\"? Send only flag, n, open, one, time, "
         "soon, word, text"},
        {"TEXT=a", "TEXT",
         "\"TEXT\" is no query parameter here, did you mean \"text\"? Send only flag, n, open, one, time, "
         "soon, word, text"},
        {"X-Header=a", "X-Header",
         "\"X-Header\" is no query parameter here: send only flag, n, open, one, time, soon, word, text"},
        {"t=%zz", "t", "query parameter is not percent-encoded UTF-8 text"},
        {"t=%00", "t", "query parameter is not percent-encoded UTF-8 text"},
        {"%ff=t", "%ff", "query parameter is not percent-encoded UTF-8 text"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct http_value v[P_HEADER + 1];
        struct err_info why;
        struct arena *arena;
        assert_int_equal(read_by(HTTP_PARAMS(PARAMS), true, cases[i].query, &arena, v, &why), ERR_USAGE);
        assert_string_equal(why.where, cases[i].where);
        assert_string_equal(why.text, cases[i].text);
        arena_free(arena);
    }
}

static void test_unknown_where_it_may_be(void **state)
{
    (void)state;
    struct http_value v[P_HEADER + 1];
    struct err_info why;
    struct arena *arena;
    assert_int_equal(read_by(HTTP_PARAMS(PARAMS), false, "else=1&n=3", &arena, v, &why), 0);
    assert_int_equal(v[P_N].n, 3);
    arena_free(arena);
    assert_int_equal(read_by(NULL, false, "else=1", &arena, v, &why), 0);
    arena_free(arena);
    assert_int_equal(read_by(NULL, true, "else=1", &arena, v, &why), ERR_USAGE);
    assert_string_equal(why.text, "\"else\" is no query parameter here: this request takes none");
    arena_free(arena);
    assert_int_equal(read_by(NULL, true, "username=1", &arena, v, &why), ERR_USAGE);
    assert_string_equal(why.text, "\"username\" is no query parameter here, did you mean \"user.name\"? This "
                                  "request takes none");
    arena_free(arena);
}

static void test_required(void **state)
{
    (void)state;
    static const char *const queries[] = {NULL, "", "else=1", "Word=go"};
    struct http_value v[P_HEADER + 1];
    struct err_info why;
    struct arena *arena;
    for (size_t i = 0; i < ARRAY_LEN(queries); i++) {
        assert_int_equal(read_by(HTTP_PARAMS(NEEDED), false, queries[i], &arena, v, &why), ERR_USAGE);
        assert_string_equal(why.text, "query parameter word is missing: send go. Says what to do.");
        assert_string_equal(why.where, "word");
        arena_free(arena);
    }
    assert_int_equal(read_by(HTTP_PARAMS(NEEDED), false, "word=go", &arena, v, &why), 0);
    assert_string_equal(v[NEEDED_WORD].text, "go");
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults), cmocka_unit_test(test_values),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_unknown_where_it_may_be),
        cmocka_unit_test(test_required),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
