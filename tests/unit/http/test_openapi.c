/* lib/http/openapi: what the document says of a route table. */
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

#define THING_PARAMS(X)                                                                                      \
    X(THING_N, "n", HTTP_INT, "3", "How many.", .unit = "things", .min = 1, .max = 7)                        \
    X(THING_KIND, "kind", HTTP_CHOICE, "a", "Which.", .choices = "a|b")                                      \
    X(THING_MATCH, "If-Match", HTTP_TEXT, NULL, "Only then.", .in = HTTP_IN_HEADER)                          \
    X(THING_PAIR, "pair", HTTP_TEXT, NULL, "Who.", .in = HTTP_AS_BASIC)                                      \
    X(THING_KEY, "X-Key", HTTP_TEXT, NULL, "Who, too.", .in = HTTP_AS_KEY)                                   \
    X(THING_ID, "id", HTTP_TEXT, NULL, "Whose.", .in = HTTP_IN_PATH)
enum { HTTP_PARAM_IDS(THING_PARAMS) };

#define DEEP_PARAMS(X)                                                                                       \
    X(DEEP_PATH, "path", HTTP_TEXT, "/", "Of the node.", .in = HTTP_IN_REST)                                 \
    X(DEEP_WORD, "word", HTTP_TEXT, NULL, "A word.")                                                         \
    X(DEEP_DASH, "-word", HTTP_TEXT, NULL, "As word.", .in = HTTP_IN_ALIAS)
enum { HTTP_PARAM_IDS(DEEP_PARAMS) };

static const struct http_schema schemas[] = {
    {"Part", "{\"type\":\"string\"}"},
    {"Thing", "{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/Part\"}}"},
    {"Unused", "{\"type\":\"string\"}"},
    {0}};
static const struct http_route_answer answers[] = {{200, "application/json", "Thing", "The thing."},
                                                   {200, "application/x-ndjson", NULL, "Its changes."},
                                                   {304, NULL, NULL, "As before."},
                                                   {0}};
static const int errors[] = {ERR_NOTFOUND, ERR_EXISTS, ERR_NOTEMPTY, 0};
static const struct http_route rows[] = {
    {"GET", "/v1/{id}/things/*", 0, 0, get_thing, "Read a thing.", .params = HTTP_PARAMS(THING_PARAMS),
     .answers = answers, .errors = errors, .role = "For readers."},
    {"PUT", "/v1/{id}/things/*", HTTP_JSON_IN, 100, put_thing, "Write a thing.", .body = "Thing",
     .answers = answers},
    {"POST", "/once", HTTP_DONE_ONCE, 100, put_thing, "Do a thing.", .answers = answers},
    {"GET", "/bare", 0, 0, bare, .summary = "Nobody described it."},
    {"GET", "/v2/{id}", 0, 0, get_thing, "Read a thing, too.", .answers = answers},
    {"GET", "/deep/*", 0, 0, get_thing, "Read a node.", .params = HTTP_PARAMS(DEEP_PARAMS),
     .answers = answers},
};

static json_t *document(void)
{
    struct http_route_table table = {0};
    http_route_table_add(&table, rows, ARRAY_LEN(rows), NULL);
    const struct http_openapi_def def = {.title = "t",
                                         .version = "1",
                                         .routes = &table,
                                         .schemas = {schemas, http_schemas},
                                         .error_schema = "Problem",
                                         .error_media_type = "application/problem+json"};
    buf_auto struct buf out = BUF_EMPTY;
    http_openapi_write(&def, &out);
    http_route_table_fini(&table);
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
    assert_int_equal(json_object_size(at(doc, "paths")), 6);
    assert_int_equal(json_object_size(at(doc, "paths /v1/{id}/things/{path}")), 2);
    assert_string_equal(json_string_value(at(get, "summary")), "Read a thing.");
    assert_string_equal(json_string_value(at(get, "parameters 0 name")), "id");
    assert_string_equal(json_string_value(at(get, "parameters 1 name")), "path");
    assert_string_equal(json_string_value(at(get, "parameters 1 in")), "path");
    assert_string_equal(json_string_value(at(get, "description")), "For readers.");
    assert_string_equal(json_string_value(at(get, "parameters 0 description")), "Whose.");
    assert_int_equal(json_integer_value(at(get, "parameters 4 schema maximum")), 7);
    assert_int_equal(json_integer_value(at(get, "parameters 4 schema default")), 3);
    assert_string_equal(json_string_value(at(get, "parameters 4 schema x-unit")), "things");
    assert_string_equal(json_string_value(at(get, "parameters 5 schema default")), "a");
    assert_string_equal(json_string_value(at(get, "parameters 5 schema enum 1")), "b");
    assert_string_equal(json_string_value(at(get, "parameters 6 in")), "header");
    assert_null(at(get, "requestBody"));
    assert_true(json_is_true(at(doc, "paths /v1/{id}/things/{path} put requestBody required")));
    assert_non_null(at(doc, "paths /v2/{id} get responses 304"));
    json_decref(doc);
}

/** Who asks, and for whom, is said of each operation; by what a repeat is known, of those that are done once. */
static void test_callers_and_repeats(void **state)
{
    (void)state;
    json_t *doc = document(), *once = at(doc, "paths /once post"), *get = at(doc, "paths /bare get");
    assert_string_equal(json_string_value(at(once, "parameters 0 name")), "user.name");
    assert_string_equal(json_string_value(at(once, "parameters 1 name")), "doAs");
    assert_string_equal(json_string_value(at(once, "parameters 1 in")), "query");
    assert_string_equal(json_string_value(at(once, "parameters 2 name")), "X-Request-Id");
    assert_string_equal(json_string_value(at(once, "parameters 2 in")), "header");
    assert_true(json_is_false(at(once, "parameters 2 required")));
    assert_string_equal(json_string_value(at(once, "responses 200 headers Bobbin-Repeated schema type")),
                        "string");
    assert_non_null(at(once, "responses 304 headers Bobbin-Repeated"));
    assert_int_equal(json_array_size(at(get, "parameters")), 2);
    assert_null(at(doc, "paths /v2/{id} get responses 200 headers"));
    json_decref(doc);
}

/** A client that encodes the '/' of a path parameter cannot name a node below another one: there is a second form. */
static void test_a_rest_has_two_forms(void **state)
{
    (void)state;
    json_t *doc = document(), *in_path = at(doc, "paths /deep/{path} get"),
           *in_query = at(doc, "paths /deep get");
    assert_int_equal(json_array_size(at(in_path, "parameters")), 4); /* path, user.name, doAs, word */
    assert_string_equal(json_string_value(at(in_path, "parameters 0 in")), "path");
    assert_string_equal(json_string_value(at(in_path, "parameters 3 name")), "word");
    assert_int_equal(json_array_size(at(in_query, "parameters")), 4);
    assert_string_equal(json_string_value(at(in_query, "parameters 2 name")), "path");
    assert_string_equal(json_string_value(at(in_query, "parameters 2 in")), "query");
    assert_true(json_is_false(at(in_query, "parameters 2 required")));
    assert_string_equal(json_string_value(at(in_query, "operationId")), "get_deep");
    assert_string_equal(json_string_value(at(in_path, "operationId")), "get_deep_path");
    json_decref(doc);
}

static void test_security_is_an_offer(void **state)
{
    (void)state;
    json_t *doc = document(), *get = at(doc, "paths /v1/{id}/things/{path} get");
    assert_int_equal(json_array_size(at(get, "parameters")), 7); /* what is security is no parameter */
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
    assert_null(at(doc, "components schemas Unused"));
    assert_non_null(at(doc, "components schemas Problem"));
    json_decref(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_become_operations), cmocka_unit_test(test_callers_and_repeats),
        cmocka_unit_test(test_a_rest_has_two_forms), cmocka_unit_test(test_security_is_an_offer),
        cmocka_unit_test(test_answers_and_errors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
