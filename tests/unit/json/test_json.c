#include "base/obj.h"
#include "json/json.h"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void documents_come_back_compact(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {" { \"b\" : [ 1 , 2.5 , null , true ] , \"a\" : \"\\u00e4\" } ",
         "{\"b\":[1,2.5,null,true],\"a\":\"\xc3\xa4\"}"},
        {"5", "5"},
        {"\"x\"", "\"x\""},
        {"null", "null"},
        {"[]", "[]"},
        {"{\"k\":1,\"k\":2}", "{\"k\":2}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        json_auto json_t *v = NULL;
        buf_auto struct buf out = BUF_EMPTY;
        struct err_info why;
        assert_int_equal(json_read(rows[i][0], strlen(rows[i][0]), &v, &why), 0);
        json_write(v, &out);
        assert_string_equal(out.bytes, rows[i][1]);
    }
}

static void pretty_text_is_indented_by_two(void **state)
{
    (void)state;
    json_auto json_t *v = NULL;
    buf_auto struct buf out = BUF_EMPTY;
    assert_int_equal(json_read("{\"a\":[1]}", 9, &v, NULL), 0);
    json_write_pretty(v, &out);
    assert_string_equal(out.bytes, "{\n  \"a\": [\n    1\n  ]\n}");
}

static void errors_name_the_place(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"{\n  \"a\": x\n}", "2:8"}, {"", "1:0"},         {"[1,]", "1:4"},        {"{} {}", "1:4"},
        {"\"\x01\"", "1:1"},         {"\"\xff\"", "1:1"}, {"\"\\u0000\"", "1:8"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        json_t *v = NULL;
        struct err_info why;
        print_message("row %zu\n", i);
        assert_int_equal(json_read(rows[i][0], strlen(rows[i][0]), &v, &why), ERR_JSON);
        assert_null(v);
        assert_string_equal(why.where, rows[i][1]);
        assert_true(why.text[0] != 0);
        assert_null(strpbrk(why.text, "\n\r\x01"));
    }
}

static void depth_is_bounded(void **state)
{
    (void)state;
    char deep[100001];
    memset(deep, '[', sizeof deep - 1);
    deep[sizeof deep - 1] = 0;
    json_t *v = NULL;
    assert_int_equal(json_read(deep, sizeof deep - 1, &v, NULL), ERR_JSON);
    assert_null(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_come_back_compact),
        cmocka_unit_test(pretty_text_is_indented_by_two),
        cmocka_unit_test(errors_name_the_place),
        cmocka_unit_test(depth_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
