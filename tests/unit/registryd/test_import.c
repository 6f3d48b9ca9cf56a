/** Records in an import that are objects: read as people write them, replaced by their canonical text. */
#include "copy/import.h"
#include "registryd/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/obj.h"
#include "json/json.h"

static const struct opt_def option_rows[] = {OPTIONS_ROWS(REGISTRYD_OPTIONS)};

/* @return error; *out: the record of the first node, as text, or "" */
static int read_first(const char *document, char out[256], struct err_info *why)
{
    buf_auto struct buf errors = BUF_EMPTY;
    struct options *o = options_read(option_rows, ARRAY_LEN(option_rows), NULL, NULL, &errors);
    json_auto json_t *body = NULL;
    int err = import_read(document, strlen(document), o, &body, why);
    const json_t *record = json_object_get(json_array_get(json_object_get(body, "nodes"), 0), "record");
    strcpy(out, json_is_string(record) ? json_string_value(record) : "");
    options_free(o);
    return err;
}

static void objects_become_canonical(void **state)
{
    struct err_info why = {0};
    char got[256];
    (void)state;
    assert_int_equal(
        read_first("{\"nodes\":[{\"path\":\"/a\",\"record\":{\"gone\":null,\"external\":[],\"b\":7}}]}", got,
                   &why),
        0);
    assert_string_equal(got, "{\"type\":\"JSONServiceRecord\",\"external\":[],\"internal\":[],\"b\":\"7\"}");
}

/* A PUT takes numbers of any length, as the text that they are; so does an import, wherever the record stands. */
static void numbers_keep_their_text(void **state)
{
    static const char *const documents[] = {
        "{\"nodes\":[{\"path\":\"/a\",\"record\":{\"external\":[],\"n\":123456789012345678901234567890}}]}",
        "{\"nodes\":[{\"record\" :\n {\"n\":123456789012345678901234567890,\"external\":[]} "
        ",\"path\":\"/a\"}]}",
        "{\"nodes\":[],\"nodes\":[{\"record\":7,\"re\\u0063ord\":{\"n\":123456789012345678901234567890,"
        "\"external\":[]}},"
        "[{\"record\":{}}],{\"x\":{\"record\":{}}},7]}"};
    struct err_info why = {0};
    char got[256];
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(documents); i++) {
        assert_int_equal(read_first(documents[i], got, &why), 0);
        assert_string_equal(got, "{\"type\":\"JSONServiceRecord\",\"external\":[],\"internal\":[],"
                                 "\"n\":\"123456789012345678901234567890\"}");
    }
}

/* Of a member that stands twice the last one counts, whatever the first was. */
static void an_object_that_does_not_count_is_not_read(void **state)
{
    static const char *const documents[] = {
        "{\"nodes\":[{\"path\":\"/a\",\"record\":{\"external\":5},\"record\":\"text\"}]}",
        "{\"nodes\":[{\"record\":{\"external\":5}}],\"nodes\":[{\"path\":\"/a\",\"record\":\"text\"}]}"};
    struct err_info why = {0};
    char got[256];
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(documents); i++) {
        assert_int_equal(read_first(documents[i], got, &why), 0);
        assert_string_equal(got, "text");
    }
}

static void what_is_no_json_is_refused_with_its_place(void **state)
{
    static const struct {
        const char *document, *where;
    } rows[] = {
        {"", "1:"},
        {"{\"nodes\":[{\"record\":{\"a\":}}]}", "1:"},
        {"{\"nodes\":[{\"record\":{\n}}],\n\n x}", "4:"},
        {"{\"nodes\":[{\"record\":{\n\"\\u00e9\":1,\n\"external\":[]}}]} x", "3:"},
        {"{\"nodes\":[{\"record\":{\"external\":[]}", "1:"},
        {"{\"nodes\":[{\"path\":\"/a\"},\n{\"acl\":123456789012345678901234567890}]}", "2:"},
    };
    char got[256];
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err_info why = {0};
        assert_int_equal(read_first(rows[i].document, got, &why), ERR_JSON);
        assert_memory_equal(why.where, rows[i].where, strlen(rows[i].where));
        assert_true(why.text[0] != 0);
    }
}

static void all_else_stays(void **state)
{
    static const char *const documents[] = {
        "{\"nodes\":[{\"path\":\"/a\",\"record\":\" {\\\"external\\\":1} \"}]}", "{\"nodes\":7}", "{}", "[]",
        "{\"nodes\":[5,{\"path\":5}]}"};
    struct err_info why = {0};
    char got[256];
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(documents); i++) {
        assert_int_equal(read_first(documents[i], got, &why), 0);
        assert_string_equal(got, i == 0 ? " {\"external\":1} " : "");
    }
}

static void what_is_no_record_is_refused_with_its_place(void **state)
{
    struct err_info why = {0};
    char got[256];
    (void)state;
    assert_int_equal(read_first("{\"nodes\":[{\"path\":\"/a\",\"record\":{}}]}", got, &why), ERR_RECORD);
    assert_string_equal(why.where, "/a");
    assert_int_equal(
        read_first("{\"nodes\":[{\"path\":\"/a\",\"record\":{\"internal\":[{\"api\":\"x\"}]}}]}", got, &why),
        ERR_RECORD);
    assert_non_null(strstr(why.text, "/internal/0"));
}

static void limits_hold(void **state)
{
    char document[8192] =
        "{\"nodes\":[{\"path\":\"/a\",\"record\":{\"external\":[{\"addressType\":\"uri\",\"protocol\":\"x\","
        "\"addresses\":[],\"api\":\"",
         got[256];
    struct err_info why = {0};
    size_t len = strlen(document);
    (void)state;
    memset(document + len, 'x', 2049);
    strcpy(document + len + 2049, "\"}]}}]}");
    assert_int_equal(read_first(document, got, &why), ERR_RECORD);
    assert_non_null(strstr(why.text, "hadoop.registry.endpoint.max-api"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_become_canonical),
        cmocka_unit_test(numbers_keep_their_text),
        cmocka_unit_test(an_object_that_does_not_count_is_not_read),
        cmocka_unit_test(what_is_no_json_is_refused_with_its_place),
        cmocka_unit_test(all_else_stays),
        cmocka_unit_test(what_is_no_record_is_refused_with_its_place),
        cmocka_unit_test(limits_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
