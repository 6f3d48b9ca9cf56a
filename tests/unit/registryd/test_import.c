/** Records in an import that are objects: read as people write them, replaced by their canonical text. */
#include "registryd/import.h"
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
    assert_int_equal(json_read(document, strlen(document), &body, NULL), 0);
    int err = import_read_records(body, o, why);
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
        cmocka_unit_test(all_else_stays),
        cmocka_unit_test(what_is_no_record_is_refused_with_its_place),
        cmocka_unit_test(limits_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
