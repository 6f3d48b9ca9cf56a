/* lib/http/openapi: what the document says of a route table and its docs. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <jansson.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "http/openapi.h"

static void get_thing(struct http_req *req, void *app)
{
    (void)req;
    (void)app;
}

static void put_thing(struct http_req *req, void *app)
{
    (void)req;
    (void)app;
}

static void bare(struct http_req *req, void *app)
{
    (void)req;
    (void)app;
}

static const struct http_route rows[] = {
    {"GET", "/v1/{id}/things/*", 0, 0, get_thing, "Read a thing."},
    {"PUT", "/v1/{id}/things/*", HTTP_JSON_IN, 100, put_thing, "Write a thing."},
    {"GET", "/bare", 0, 0, bare, "Nobody described it."},
    {"GET", "/v2/{id}", 0, 0, get_thing, "Read a thing, too."},
};
static const struct http_schema part = {"Part", "{\"type\":\"string\"}", NULL};
static const struct http_schema *const uses_part[] = {&part, NULL};
static const struct http_schema thing = {
    "Thing", "{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/Part\"}}", uses_part};
static const struct http_param params[] = {
    {.name = "n", .kind = HTTP_INT, .prose = "How many.", .min = 1, .max = 7},
    {.name = "kind", .kind = HTTP_CHOICE, .prose = "Which.", .choices = "a|b"},
    {.name = "If-Match", .in = HTTP_IN_HEADER, .prose = "Only then."},
    {.name = "pair", .in = HTTP_AS_BASIC, .prose = "Who."},
    {.name = "X-Key", .in = HTTP_AS_KEY, .prose = "Who, too."},
    {0}};
static const struct http_doc_answer answers[] = {{200, "application/json", &thing, "The thing."},
                                                 {200, "application/x-ndjson", NULL, "Its changes."},
                                                 {304, NULL, NULL, "As before."},
                                                 {0}};
static const int errors[] = {ERR_NOTFOUND, ERR_EXISTS, ERR_NOTEMPTY, 0};
static const struct http_doc docs[] = {{get_thing, params, NULL, answers, errors},
                                       {put_thing, NULL, &thing, answers, NULL}};

static json_t *document(void)
{
    const struct route_tables tables = {{rows, NULL}, {ARRAY_LEN(rows), 0}};
    const struct openapi_def def = {.title = "t",
                                    .version = "1",
                                    .tables = &tables,
                                    .docs = {docs, NULL},
                                    .n_docs = {ARRAY_LEN(docs), 0},
                                    .error_schema = &http_problem_schema,
                                    .error_media_type = "application/problem+json"};
    buf_auto struct buf out = BUF_EMPTY;
    openapi_write(&def, &out);
    json_error_t why;
    json_t *doc = json_loadb(out.bytes, out.len, JSON_REJECT_DUPLICATES, &why);
    if (!doc)
        fail_msg("%s at %d: %s", why.text, why.position, out.bytes);
    return doc;
}

/** Value at a list of keys separated by blanks; a number is an index. */
static json_t *at(json_t *value, const char *keys)
{
    mem_auto char *text = mem_str(keys);
    char *rest = NULL;
    for (char *key = strtok_r(text, " ", &rest); key && value; key = strtok_r(NULL, " ", &rest))
        value =
            json_is_array(value) ? json_array_get(value, (size_t)(*key - '0')) : json_object_get(value, key);
    return value;
}

static void test_rows_become_operations(void **state)
{
    (void)state;
    static const char op[] = "paths /v1/{id}/things/{path} get";
    json_t *doc = document(), *get = at(doc, op);
    assert_int_equal(json_object_size(at(doc, "paths")), 3);
    assert_int_equal(json_object_size(at(doc, "paths /v1/{id}/things/{path}")), 2);
    assert_string_equal(json_string_value(at(get, "summary")), "Read a thing.");
    assert_string_equal(json_string_value(at(get, "parameters 0 name")), "id");
    assert_string_equal(json_string_value(at(get, "parameters 1 name")), "path");
    assert_string_equal(json_string_value(at(get, "parameters 1 in")), "path");
    assert_int_equal(json_integer_value(at(get, "parameters 3 schema maximum")), 7);
    assert_string_equal(json_string_value(at(get, "parameters 4 schema enum 1")), "b");
    assert_string_equal(json_string_value(at(get, "parameters 5 in")), "header");
    assert_null(at(get, "requestBody"));
    assert_true(json_is_true(at(doc, "paths /v1/{id}/things/{path} put requestBody required")));
    assert_non_null(at(doc, "paths /v2/{id} get responses 304"));
    json_decref(doc);
}

static void test_security_is_an_offer(void **state)
{
    (void)state;
    json_t *doc = document(), *get = at(doc, "paths /v1/{id}/things/{path} get");
    assert_int_equal(json_array_size(at(get, "parameters")), 6); /* what is security is no parameter */
    assert_int_equal(json_array_size(at(get, "security")), 3);
    assert_int_equal(json_object_size(at(get, "security 0")), 0); /* nobody must */
    assert_true(json_is_array(at(get, "security 1 pair")));
    assert_true(json_is_array(at(get, "security 2 X-Key")));
    assert_null(at(doc, "paths /v1/{id}/things/{path} put security"));
    assert_string_equal(json_string_value(at(doc, "components securitySchemes pair scheme")), "basic");
    assert_string_equal(json_string_value(at(doc, "components securitySchemes X-Key type")), "apiKey");
    assert_string_equal(json_string_value(at(doc, "components securitySchemes X-Key name")), "X-Key");
    json_decref(doc);
}

static void test_answers_and_errors(void **state)
{
    (void)state;
    json_t *doc = document(), *get = at(doc, "paths /v1/{id}/things/{path} get responses");
    assert_int_equal(json_object_size(at(get, "200 content")), 2);
    assert_string_equal(json_string_value(at(get, "200 content application/json schema $ref")),
                        "#/components/schemas/Thing");
    assert_null(at(get, "304 content"));
    assert_non_null(at(get, "409 content application/problem+json"));
    assert_string_equal(json_string_value(at(get, "409 description")),
                        "path exists already; path has children");
    static const char *const checks[] = {"400", "403", "413", "503"};
    for (size_t i = 0; i < ARRAY_LEN(checks); i++)
        assert_non_null(json_object_get(get, checks[i]));
    assert_null(at(get, "415"));
    assert_non_null(at(doc, "paths /v1/{id}/things/{path} put responses 415"));
    assert_non_null(at(doc, "paths /bare get responses default"));
    assert_null(at(get, "default"));
    assert_non_null(at(doc, "components schemas Part"));
    assert_non_null(at(doc, "components schemas Problem"));
    json_decref(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows_become_operations),
                                       cmocka_unit_test(test_security_is_an_offer),
                                       cmocka_unit_test(test_answers_and_errors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
