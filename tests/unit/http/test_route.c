/* lib/http/route: which row answers which raw path. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "base/mem.h"
#include "base/obj.h"
#include "http/route.h"
#include "run/options.h"

static void test_fits(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *path;
        bool fits;
        const char *spans; /* name=text;… */
    } cases[] = {
        {"/", "/", true, ""},
        {"/", "/a", false, ""},
        {"/a", "/a", true, ""},
        {"/a", "/a/", true, ""},
        {"/a", "/a//", false, ""},
        {"/a", "/ab", false, ""},
        {"/a", "/", false, ""},
        {"/a", "a", false, ""},
        {"/a", "", false, ""},
        {"/a/b", "/a%2Fb", false, ""},
        {"/a/b", "/a/%62", false, ""},
        {"/a/{x}", "/a/b%2Fc", true, "x=b%2Fc;"},
        {"/a/{x}", "/a/b/", true, "x=b;"},
        {"/a/{x}", "/a/", false, ""},
        {"/a/{x}", "/a/b/c", false, ""},
        {"/a/{x}/b/{y}", "/a/1/b/2", true, "x=1;y=2;"},
        {"/a/{x}/b", "/a//b", false, ""},
        {"/a/*", "/a", true, "*=;"},
        {"/a/*", "/a/", true, "*=;"},
        {"/a/*", "/a/b/c/", true, "*=b/c/;"},
        {"/a/*", "/a//", true, "*=/;"},
        {"/a/*", "/ab", false, ""},
        {"/{u}/*", "/x/y", true, "u=x;*=y;"},
        {"/*", "/", true, "*=;"},
        {"/*", "/q", true, "*=q;"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct http_route_match m;
        buf_auto struct buf spans = BUF_EMPTY;
        bool fits = http_route_fits(cases[i].pattern, cases[i].path, &m);
        if (fits != cases[i].fits)
            fail_msg("pattern %s and path %s: fits is %d", cases[i].pattern, cases[i].path, fits);
        for (size_t k = 0; fits && k < m.n_spans; k++)
            buf_addf(&spans, "%.*s=%.*s;", (int)m.spans[k].name_len, m.spans[k].name, (int)m.spans[k].len,
                     m.spans[k].text);
        assert_string_equal(buf_cstr(&spans), cases[i].spans);
    }
}

static const struct http_route first[] = {
    {"GET", "/n/*", 0, 0, NULL, .summary = "star"},
    {"PUT", "/n/*", 0, 0, NULL, .summary = "put"},
    {"GET", "/v/{id}", 0, 0, NULL, .summary = "element"},
    {"GET", "/v/fixed", 0, 0, NULL, .summary = "shadowed"},
    {"HEAD", "/own", 0, 0, NULL, .summary = "own head"},
    {"GET", "/own", 0, 0, NULL, .summary = "own get"},
};
static const struct http_route second[] = {
    {"GET", "/healthz", 0, 0, NULL, .summary = "health"},
    {"POST", "/v/{id}", 0, 0, NULL, .summary = "post"},
};
static struct http_route_table table;

static int setup(void **state)
{
    (void)state;
    http_route_table_add(&table, first, ARRAY_LEN(first), NULL);
    http_route_table_add(&table, second, ARRAY_LEN(second), NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    http_route_table_fini(&table);
    return 0;
}

static void test_find(void **state)
{
    (void)state;
    static const struct {
        const char *method, *path;
        int rc;
        const char *summary;
    } cases[] = {
        {"GET", "/n/a/b", 0, "star"},
        {"PUT", "/n/a", 0, "put"},
        {"HEAD", "/n", 0, "star"},
        {"DELETE", "/n", ERR_METHOD, ""},
        {"GET", "/v/fixed", 0, "element"},
        {"POST", "/v/7", 0, "post"},
        {"get", "/n", ERR_METHOD, ""},
        {"GET", "/healthz/", 0, "health"},
        {"GET", "/nothing", ERR_NOROUTE, ""},
        {"HEAD", "/own", 0, "own head"},
        {"GET", "/own", 0, "own get"},
        {"OPTIONS", "/n", ERR_METHOD, ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct http_route_match m;
        int rc = http_route_find(&table, cases[i].method, cases[i].path, &m);
        if (rc != cases[i].rc)
            fail_msg("%s %s gives %s", cases[i].method, cases[i].path, err_name(rc));
        if (rc == 0)
            assert_string_equal(m.route->row->summary, cases[i].summary);
    }
}

static void test_allow(void **state)
{
    (void)state;
    static const struct {
        const char *path, *allow;
    } cases[] = {
        {"/n/x", "GET, HEAD, PUT, OPTIONS"},
        {"/v/x", "GET, HEAD, POST, OPTIONS"},
        {"/own", "HEAD, GET, OPTIONS"},
        {"/nothing", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        buf_auto struct buf allow = BUF_EMPTY;
        http_route_allow(&table, cases[i].path, &allow);
        assert_string_equal(buf_cstr(&allow), cases[i].allow);
    }
}

#define LIMITED_PARAMS(X)                                                                                    \
    X(LIMITED_N, "n", HTTP_INT, HTTP_DEFAULT_MAX, "A number.", .min = 1, .max_key = "test.n")
enum { HTTP_PARAM_IDS(LIMITED_PARAMS) };

static const struct http_route limited_rows[] = {
    {"PUT", "/l", 0, 3, NULL, "limited", .max_body_key = "test.size", .params = HTTP_PARAMS(LIMITED_PARAMS)}};

static void test_limits_of_options(void **state)
{
    (void)state;
    static const struct opt_def defs[] = {
        {"test.n", OPT_INT, "", "50", 1, 100, OPT_FIXED, "A number."},
        {"test.size", OPT_SIZE, "bytes", "1k", 1, 100000, OPT_FIXED, "A size."}};
    buf_auto struct buf errors = BUF_EMPTY;
    struct options *o = options_read(defs, ARRAY_LEN(defs), NULL, NULL, &errors);
    struct http_route_table limited = {0};
    http_route_table_add(&limited, limited_rows, 1, o);
    assert_int_equal(limited.routes[0].max_body, 3 * 1024);
    assert_int_equal(limited.routes[0].params.rows[LIMITED_N].max, 50);
    assert_int_equal(limited.routes[0].params.defaults[LIMITED_N].n, 50);
    http_route_table_fini(&limited);
    options_free(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fits),
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_allow),
        cmocka_unit_test(test_limits_of_options),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
