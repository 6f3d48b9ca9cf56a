/**
 * Records as objects: building, attributes, copies, refusals with their place. Bytes are rows of tests/contract.
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/obj.h"
#include "bobbin/record.h"

static void assert_writes(const struct reg_record *r, const char *expected)
{
    size_t len = 0;
    mem_auto char *bytes = reg_record_write(r, &len);

    assert_string_equal(bytes, expected);
    assert_int_equal(len, strlen(expected));
}

static void test_built_record_is_golden(void **state)
{
    struct reg_record *r = reg_record_new();
    struct reg_endpoint e;

    (void)state;
    reg_record_describe(r, "d");
    reg_endpoint_web(&e, "http://", (const char *[]){"http://a:1/", "http://b:2/", NULL});
    assert_int_equal(reg_record_add_external(r, &e, NULL), 0);
    reg_endpoint_ipc(&e, "classpath:x", "node", 8030);
    assert_int_equal(reg_record_add_internal(r, &e, NULL), 0);
    reg_endpoint_ipc(&e, "classpath:y", NULL, 0);
    assert_int_equal(reg_record_add_internal(r, &e, NULL), 0);
    reg_endpoint_rest(&e, "r", (const char *[]){NULL});
    assert_int_equal(reg_record_add_internal(r, &e, NULL), 0);
    assert_int_equal(reg_record_set(r, "yarn:persistence", "application", NULL), 0);
    assert_int_equal(reg_record_set(r, "yarn:id", "old", NULL), 0);
    assert_int_equal(reg_record_set(r, "yarn:id", "example-0001", NULL), 0);
    assert_int_equal(reg_record_check(r, NULL), 0);
    assert_writes(
        r, "{\"type\":\"JSONServiceRecord\",\"description\":\"d\",\"external\":[{\"api\":\"http://\","
           "\"addressType\":\"uri\",\"protocolType\":\"webui\",\"addresses\":[{\"uri\":\"http://a:1/\"},"
           "{\"uri\":\"http://b:2/\"}]}],\"internal\":[{\"api\":\"classpath:x\",\"addressType\":"
           "\"host/port\",\"protocolType\":\"hadoop/IPC\",\"addresses\":[{\"host\":\"node\",\"port\":"
           "\"8030\"}]},{\"api\":\"classpath:y\",\"addressType\":\"host/port\",\"protocolType\":"
           "\"hadoop/IPC\",\"addresses\":[]},{\"api\":\"r\",\"addressType\":\"uri\",\"protocolType\":"
           "\"REST\",\"addresses\":[]}],\"yarn:id\":\"example-0001\",\"yarn:persistence\":\"application\"}");
    assert_non_null(reg_record_external(r, "http://"));
    assert_null(reg_record_external(r, "classpath:x"));
    assert_string_equal(reg_address_get(&reg_record_internal(r, "classpath:x")->addresses[0], "port"),
                        "8030");
    assert_null(reg_address_get(&reg_record_internal(r, "classpath:x")->addresses[0], "path"));
    reg_record_free(r);
}

static void test_attributes(void **state)
{
    struct reg_record *r = reg_record_new();
    struct err_info why = {0};

    (void)state;
    assert_int_equal(reg_record_set(r, "key", "value", &why), 0);
    assert_int_equal(reg_record_set(r, "intval", "2", &why), 0);
    assert_string_equal(reg_record_get(r, "key"), "value");
    assert_null(reg_record_get(r, "null"));
    assert_int_equal(reg_record_set(r, "key", NULL, &why), ERR_INVALID);
    assert_int_equal(reg_record_set(r, "external", "x", &why), ERR_RECORD);
    assert_int_equal(reg_record_set(r, "type", "x", &why), ERR_RECORD);
    assert_string_equal(reg_record_get(r, "key"), "value");
    reg_record_free(r);
}

static void test_copy_is_equal_and_apart(void **state)
{
    static const char bytes[] =
        "{\"type\":\"JSONServiceRecord\",\"description\":\"d\",\"external\":[{\"api\":\"a\","
        "\"addressType\":\"uri\",\"protocolType\":\"REST\",\"addresses\":[{\"uri\":\"u\","
        "\"n\":null}]}],\"internal\":null,\"k\":\"v\",\"l\":\"w\"}";
    struct reg_record *r = NULL, *copy;
    struct reg_endpoint e;

    (void)state;
    assert_int_equal(reg_record_read(bytes, strlen(bytes), REG_STRICT, &r, NULL), 0);
    copy = reg_record_copy(r);
    assert_true(reg_record_equal(r, copy));
    assert_int_equal(reg_record_set(copy, "k", "other", NULL), 0);
    assert_false(reg_record_equal(r, copy));
    assert_int_equal(reg_record_set(copy, "k", "v", NULL), 0);
    assert_true(reg_record_equal(r, copy));
    reg_endpoint_rest(&e, "b", NULL);
    assert_int_equal(reg_record_add_external(copy, &e, NULL), 0);
    assert_false(reg_record_equal(r, copy));
    assert_string_equal(reg_record_get(r, "k"), "v");
    reg_record_free(copy);
    reg_record_free(r);
}

static void test_check_refuses(void **state)
{
    struct reg_record *r = reg_record_new();
    struct reg_endpoint e = {0};
    struct err_info why = {0};

    (void)state;
    assert_int_equal(reg_record_check(NULL, &why), ERR_RECORD);
    assert_int_equal(reg_record_add_external(r, &e, &why), ERR_RECORD);
    assert_non_null(strstr(why.text, "null API field"));
    assert_int_equal(reg_record_set(r, "bytes", "\xff", NULL), 0);
    assert_int_equal(reg_record_check(r, &why), ERR_RECORD);
    assert_string_equal(why.where, "bytes");
    assert_int_equal(reg_record_set(r, "bytes", "fine", NULL), 0);
    assert_int_equal(reg_record_check(r, &why), 0);
    free(r->type);
    r->type = mem_str("NotAServiceRecordType");
    assert_int_equal(reg_record_check(r, &why), ERR_RECORD);
    assert_non_null(strstr(why.text, "NotAServiceRecordType"));
    reg_record_free(r);
}

static void assert_refused_at(const char *bytes, const char *where)
{
    struct reg_record *r = NULL;
    struct err_info why = {0};

    assert_int_equal(reg_record_read(bytes, strlen(bytes), REG_LENIENT, &r, &why), ERR_RECORD);
    assert_null(r);
    assert_string_equal(why.where, where);
}

static void test_refusals_name_the_place(void **state)
{
    (void)state;
    assert_refused_at(
        "{\"external\":[{\"api\":\"a\",\"addressType\":\"uri\",\"protocolType\":\"p\",\"addresses\":"
        "[{\"uri\":\"x\"},{\"uri\":[1]}]}]}",
        "/external/0/addresses/1/uri");
    assert_refused_at("{\"internal\":[],\"external\":[{\"api\":[]}]}", "/external/0/api");
    assert_refused_at("{\"yarn:id\":\"x\",\"external\":[{\"api\":\"a\",\"addresses\":[]}]}", "/external/0");
    assert_refused_at("{\"external\":\n  [}", "2:4");
}

static void test_locale_does_not_matter(void **state)
{
    static const char bytes[] = "{\"type\":\"JSONServiceRecord\",\"a\":1.50}";
    struct reg_record *r = NULL;

    (void)state;
    setlocale(LC_ALL, "");
    assert_int_equal(reg_record_read(bytes, strlen(bytes), REG_STRICT, &r, NULL), 0);
    assert_string_equal(reg_record_get(r, "a"), "1.5");
    reg_record_free(r);
}

static void test_many_attributes_are_quick(void **state)
{
    enum { N = 50000 };
    char *bytes = mem_alloc((size_t)N * 20 + 100), *at = bytes;
    struct reg_record *r = NULL;
    mem_auto char *written = NULL;

    (void)state;
    at += sprintf(at, "{\"type\":\"JSONServiceRecord\"");
    for (int i = 0; i < N; i++)
        at += sprintf(at, ",\"k%d\":\"v\"", i);
    at += sprintf(at, "}");
    assert_int_equal(reg_record_read(bytes, (size_t)(at - bytes), REG_STRICT, &r, NULL), 0);
    assert_int_equal(r->n_attributes, N);
    written = reg_record_write(r, NULL);
    assert_true(reg_record_equal(r, r));
    reg_record_free(r);
    free(bytes);
}

/** What a record says of how long it stays, and the sentence for the person who wrote it. */
static void test_persistence(void **state)
{
    (void)state;
    static const struct {
        const char *value; /* NULL: none */
        int code;
        const char *text;
    } cases[] = {
        {"permanent", 0, NULL},
        {"application", 0, NULL},
        {"application-attempt", 0, NULL},
        {"application_attempt", 0, NULL},
        {"container", 0, NULL},
        {NULL, ERR_NOTFOUND, "no DNS name"},
        {"aplication", ERR_INVALID, "did you mean \"application\"?"},
        {"Container", ERR_INVALID, "did you mean \"container\"?"},
        {"for ever", ERR_INVALID, "permanent, application, application-attempt or container"},
        {"", ERR_INVALID, "permanent"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct reg_record *r = reg_record_new();
        struct err_info why = {0};
        if (cases[i].value)
            assert_int_equal(reg_record_set(r, "yarn:persistence", cases[i].value, &why), 0);
        assert_int_equal(reg_record_check_persistence(r, &why), cases[i].code);
        if (cases[i].text && !strstr(why.text, cases[i].text))
            fail_msg("%s: %s", cases[i].value, why.text);
        assert_int_equal(reg_record_check(r, &why), 0);
        reg_record_free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_built_record_is_golden),    cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_copy_is_equal_and_apart),   cmocka_unit_test(test_check_refuses),
        cmocka_unit_test(test_refusals_name_the_place),   cmocka_unit_test(test_locale_does_not_matter),
        cmocka_unit_test(test_many_attributes_are_quick), cmocka_unit_test(test_persistence),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
