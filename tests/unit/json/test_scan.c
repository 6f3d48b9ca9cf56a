#include "base/buf.h"
#include "base/mem.h"
#include "base/obj.h"
#include "json/scan.h"

#include <stdio.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { DEPTH = 8 };

/* All tokens as one line: "{ k:a i:1 }", ended by "." or "!line:col". */
static char *tokens_of(const char *text, size_t len, int max_depth)
{
    static const char *const names[] = {
        [JS_OBJECT] = "{",  [JS_OBJECT_END] = "}", [JS_ARRAY] = "[",    [JS_ARRAY_END] = "]",
        [JS_KEY] = "k:",    [JS_STRING] = "s:",    [JS_INTEGER] = "i:", [JS_REAL] = "r:",
        [JS_TRUE] = "true", [JS_FALSE] = "false",  [JS_NULL] = "null"};
    buf_auto struct buf out = BUF_EMPTY;
    mem_auto char *exact = mem_copy(text, len); /* no NUL behind: the sanitizer sees a read too far */
    struct js s;
    js_init(&s, exact, len, max_depth);
    enum js_token t;
    while ((t = js_next(&s)) > JS_END) {
        buf_addf(&out, "%s", names[t]);
        if (t >= JS_KEY && t <= JS_REAL)
            buf_add(&out, s.text.bytes, s.text.len);
        buf_add_char(&out, ' ');
    }
    if (t == JS_END)
        buf_add_char(&out, '.');
    else
        buf_addf(&out, "!%s", s.why.where);
    assert_int_equal(js_next(&s), t);
    js_fini(&s);
    return buf_take(&out);
}

struct row {
    const char *text, *tokens;
};

static void check_rows(const struct row *rows, size_t n_rows)
{
    for (size_t i = 0; i < n_rows; i++) {
        print_message("%s\n", rows[i].text);
        mem_auto char *got = tokens_of(rows[i].text, strlen(rows[i].text), DEPTH);
        assert_string_equal(got, rows[i].tokens);
    }
}

static void accepted_documents(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"{}", "{ } ."},
        {"[]", "[ ] ."},
        {" \t\r\n[ 1 , \"a\" ,null]", "[ i:1 s:a null ] ."},
        {"{\"a\":1,\"b\":{\"c\":[true,false]}}", "{ k:a i:1 k:b { k:c [ true false ] } } ."},
        {"{\"a\":1,\"a\":2}", "{ k:a i:1 k:a i:2 } ."},
        {"[0,-0,12,-7,1.50,1e5,1E+5,-2.5e-3,123456789012345678901234567890]",
         "[ i:0 i:-0 i:12 i:-7 r:1.50 r:1e5 r:1E+5 r:-2.5e-3 i:123456789012345678901234567890 ] ."},
        {"5", "i:5 ."},
        {"null \"x\"", "null ."},
        {"{} garbage", "{ } ."},
        {"{}{}", "{ } ."},
        {"\"a\"b", "s:a ."},
    };
    check_rows(rows, ARRAY_LEN(rows));
}

static void refused_documents(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"", "!1:1"},
        {"  ", "!1:3"},
        {"\xef\xbb\xbf{}", "!1:1"},
        {"{\"a\":1", "{ k:a i:1 !1:7"},
        {"{\"a\"", "{ k:a !1:5"},
        {"{\"a\":", "{ k:a !1:6"},
        {"{\"a\" 1}", "{ k:a !1:6"},
        {"{", "{ !1:2"},
        {"[", "[ !1:2"},
        {"[1", "[ i:1 !1:3"},
        {"[1,]", "[ i:1 !1:4"},
        {"[,1]", "[ !1:2"},
        {"{\"a\":1,}", "{ k:a i:1 !1:8"},
        {"{1:2}", "{ !1:2"},
        {"[1}", "[ i:1 !1:3"},
        {"{\"a\":1]", "{ k:a i:1 !1:7"},
        {"]", "!1:1"},
        {"['a']", "[ !1:2"},
        {"[/*c*/1]", "[ !1:2"},
        {"[NaN]", "[ !1:2"},
        {"[007]", "[ !1:2"},
        {"[-01]", "[ !1:2"},
        {"[+7]", "[ !1:2"},
        {"[1.]", "[ !1:4"},
        {"[.5]", "[ !1:2"},
        {"[1e]", "[ !1:4"},
        {"[-]", "[ !1:3"},
        {"[1.2.3]", "[ !1:5"},
        {"[1a]", "[ !1:3"},
        {"[truex]", "[ !1:6"},
        {"[tru]", "[ !1:2"},
        {"[TRUE]", "[ !1:2"},
        {"[\"a", "[ !1:4"},
        {"[\"a\n\"]", "[ !1:4"},
        {"[\"\t\"]", "[ !1:3"},
        {"[\"\\x\"]", "[ !1:3"},
        {"[\"\\u12G4\"]", "[ !1:3"},
        {"[\"\\u12", "[ !1:3"},
        {"[\"\\", "[ !1:3"},
        {"[1 2]", "[ i:1 !1:4"},
        {"{\n \"\xc3\xa4\": x}", "{ k:\xc3\xa4 !2:7"},
    };
    check_rows(rows, ARRAY_LEN(rows));
}

static void strings_are_decoded(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "s:\"\\/\b\f\n\r\t ."},
        {"\"\\u0041\\u00e4\\u20AC\"", "s:A\xc3\xa4\xe2\x82\xac ."},
        {"\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\x7f\"", "s:\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\x7f ."},
        {"\"\\uD83D\\uDE00\"", "s:\xf0\x9f\x98\x80 ."},
        /* lone halves stay, in 3-byte form */
        {"\"\\ud83d\"", "s:\xed\xa0\xbd ."},
        {"\"\\ude00x\"", "s:\xed\xb8\x80x ."},
        {"\"\\ud83d\\n\"", "s:\xed\xa0\xbd\n ."},
        {"\"\\ud83d\\ud83d\\ude00\"", "s:\xed\xa0\xbd\xf0\x9f\x98\x80 ."},
        /* what is not UTF-8 becomes U+FFFD, as many as Java makes of it */
        {"\"a\xff\x62\"", "s:a\xef\xbf\xbd"
                          "b ."},
        {"\"\xc3\"", "s:\xef\xbf\xbd ."},
        {"\"\xc0\x80\"", "s:\xef\xbf\xbd\xef\xbf\xbd ."},
        {"\"\xe2\x82\"", "s:\xef\xbf\xbd ."},
        {"\"\xe0\x80\x80\"", "s:\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd ."},
        {"\"\xed\xa0\x80\"", "s:\xef\xbf\xbd ."},
        {"\"\xf0\x9f\x98\"", "s:\xef\xbf\xbd ."},
        {"\"\xf4\x90\x80\x80\"", "s:\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd ."},
    };
    check_rows(rows, ARRAY_LEN(rows));
}

static void text_may_hold_nul(void **state)
{
    (void)state;
    struct js s;
    js_init(&s, "\"a\\u0000b\"", 10, DEPTH);
    assert_int_equal(js_next(&s), JS_STRING);
    assert_int_equal(s.text.len, 3);
    assert_memory_equal(s.text.bytes, "a\0b", 3);
    js_fini(&s);
    mem_auto char *raw = tokens_of("\"a\0b\"", 5, DEPTH);
    assert_string_equal(raw, "!1:3");
    mem_auto char *behind = tokens_of("{}\0\0", 4, DEPTH);
    assert_string_equal(behind, "{ } .");
}

static void depth_limit_is_exact(void **state)
{
    (void)state;
    static const struct {
        int levels, limit, last;
    } rows[] = {{0, 0, JS_END},       {1, 0, JS_ERROR},       {1, 1, JS_END},          {2, 1, JS_ERROR},
                {1002, 1002, JS_END}, {1003, 1002, JS_ERROR}, {200000, 200000, JS_END}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        buf_auto struct buf text = BUF_EMPTY;
        for (int n = 0; n < rows[i].levels; n++)
            buf_add_char(&text, '[');
        buf_add_char(&text, '1');
        for (int n = 0; n < rows[i].levels; n++)
            buf_add_char(&text, ']');
        struct js s;
        js_init(&s, text.bytes, text.len, rows[i].limit);
        enum js_token t;
        while ((t = js_next(&s)) > JS_END)
            ;
        print_message("%d levels, %d allowed\n", rows[i].levels, rows[i].limit);
        assert_int_equal(t, rows[i].last);
        if (t == JS_ERROR)
            assert_string_equal(s.why.text, "JSON is too deeply nested");
        js_fini(&s);
    }
}

static void skip_passes_one_value(void **state)
{
    (void)state;
    static const char *const values[] = {
        "1", "\"x\"", "null", "[]", "{}", "[[1],{\"a\":[2]}]", "{\"k\":{\"k\":[]}}"};
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        mem_auto char *text = mem_fmt("{\"a\":%s,\"b\":7}", values[i]);
        struct js s;
        print_message("%s\n", text);
        js_init(&s, text, strlen(text), DEPTH);
        assert_int_equal(js_next(&s), JS_OBJECT);
        assert_int_equal(js_next(&s), JS_KEY);
        assert_int_equal(js_skip(&s), 0);
        assert_int_equal(js_next(&s), JS_KEY);
        assert_string_equal(s.text.bytes, "b");
        js_fini(&s);
    }
}

static void skip_reports_bad_text(void **state)
{
    (void)state;
    static const char *const texts[] = {"[1,", "{\"a\"}", "", "[[[[[[[[[1]]]]]]]]]"};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct js s;
        js_init(&s, texts[i], strlen(texts[i]), DEPTH);
        assert_int_equal(js_skip(&s), ERR_JSON);
        assert_int_equal(s.why.code, ERR_JSON);
        struct err_info why = {0};
        assert_int_equal(js_check(texts[i], strlen(texts[i]), DEPTH, &why), ERR_JSON);
        assert_string_equal(why.where, s.why.where);
        js_fini(&s);
    }
    assert_int_equal(js_check("[[1]] more", strlen("[[1]] more"), DEPTH, NULL), 0);
    struct js s;
    js_init(&s, "[]", 2, DEPTH);
    assert_int_equal(js_next(&s), JS_ARRAY);
    assert_int_equal(js_skip(&s), ERR_JSON);
    js_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepted_documents),    cmocka_unit_test(refused_documents),
        cmocka_unit_test(strings_are_decoded),   cmocka_unit_test(text_may_hold_nul),
        cmocka_unit_test(depth_limit_is_exact),  cmocka_unit_test(skip_passes_one_value),
        cmocka_unit_test(skip_reports_bad_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
