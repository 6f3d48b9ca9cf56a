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
        struct route_match m;
        buf_auto struct buf spans = BUF_EMPTY;
        bool fits = route_fits(cases[i].pattern, cases[i].path, &m);
        if (fits != cases[i].fits)
            fail_msg("pattern %s and path %s: fits is %d", cases[i].pattern, cases[i].path, fits);
        for (size_t k = 0; fits && k < m.n_spans; k++)
            buf_addf(&spans, "%.*s=%.*s;", (int)m.spans[k].name_len, m.spans[k].name, (int)m.spans[k].len,
                     m.spans[k].text);
        assert_string_equal(buf_cstr(&spans), cases[i].spans);
    }
}

static const struct http_route first[] = {
    {"GET", "/n/*", 0, 0, NULL, "star"},       {"PUT", "/n/*", 0, 0, NULL, "put"},
    {"GET", "/v/{id}", 0, 0, NULL, "element"}, {"GET", "/v/fixed", 0, 0, NULL, "shadowed"},
    {"HEAD", "/own", 0, 0, NULL, "own head"},  {"GET", "/own", 0, 0, NULL, "own get"},
};
static const struct http_route second[] = {
    {"GET", "/healthz", 0, 0, NULL, "health"},
    {"POST", "/v/{id}", 0, 0, NULL, "post"},
};
static const struct route_tables tables = {{first, second}, {ARRAY_LEN(first), ARRAY_LEN(second)}};

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
        struct route_match m;
        int rc = route_find(&tables, cases[i].method, cases[i].path, &m);
        if (rc != cases[i].rc)
            fail_msg("%s %s gives %s", cases[i].method, cases[i].path, err_name(rc));
        if (rc == 0)
            assert_string_equal(m.route->summary, cases[i].summary);
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
        route_allow(&tables, cases[i].path, &allow);
        assert_string_equal(buf_cstr(&allow), cases[i].allow);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fits),
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_allow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
