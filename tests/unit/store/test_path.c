/* Paths and revisions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "store/store_backend.h"

static void path_rules(void **state)
{
    static const struct {
        const char *path;
        int err;
    } rows[] = {
        {"/", 0},
        {"/a", 0},
        {"/a/b.c/d-e/...", 0},
        {"/with space/\xc3\xa9/\xe6\xbc\xa2", 0},
        {"/\xe7\xbf\xbf", 0}, /* U+7FFF */
        {"/\xef\xa4\x80", 0}, /* U+F900: first after the refused range */
        {"/\xef\xbf\xaf", 0}, /* U+FFEF */
        {"", ERR_PATH},
        {"a", ERR_PATH},
        {"a/b", ERR_PATH},
        {"//", ERR_PATH},
        {"/a//b", ERR_PATH},
        {"/a/", ERR_PATH},
        {"/.", ERR_PATH},
        {"/..", ERR_PATH},
        {"/a/./b", ERR_PATH},
        {"/a/../b", ERR_PATH},
        {"/a\x1f", ERR_PATH},
        {"/a\x7f", ERR_PATH},
        {"/\xc2\x9f", ERR_PATH},         /* U+009F */
        {"/\xee\x80\x80", ERR_PATH},     /* U+E000 */
        {"/\xef\xa3\xbf", ERR_PATH},     /* U+F8FF */
        {"/\xef\xbf\xb0", ERR_PATH},     /* U+FFF0 */
        {"/\xf0\x9f\x98\x80", ERR_PATH}, /* U+1F600: a surrogate pair in Java */
        {"/\xed\xa0\x80", ERR_PATH},     /* a bare surrogate */
        {"/\xc0\xaf", ERR_PATH},         /* overlong '/' */
        {"/a\xff", ERR_PATH},
        {"/cut\xc3", ERR_PATH},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err_info why = {0};
        int err = store_path_check(rows[i].path, &why);
        if (err != rows[i].err)
            fail_msg("row %zu: %s: %s", i, err_name(err), why.text);
        assert_int_equal(why.code, rows[i].err);
        assert_int_equal(why.text[0] != '\0', rows[i].err != 0);
    }
}

static void element_length(void **state)
{
    (void)state;
    char path[600];
    memset(path, 'x', sizeof path);
    path[0] = '/';
    path[256] = '\0';
    assert_int_equal(store_path_check(path, NULL), 0);
    path[256] = 'x';
    path[257] = '\0';
    assert_int_equal(store_path_check(path, NULL), ERR_PATH);
    path[256] = '/';
    path[257] = 'x';
    path[512] = '\0';
    assert_int_equal(store_path_check(path, NULL), 0);
}

static void revision_text(void **state)
{
    (void)state;
    char text[STORE_REVISION_MAX], id[STORE_REVISION_MAX];
    int64_t n = 0;
    assert_string_equal(store_revision_text("5f3a9c21b04477de", 17, text), "5f3a9c21b04477de.17");
    assert_int_equal(store_revision_read(text, id, &n), 0);
    assert_string_equal(id, "5f3a9c21b04477de");
    assert_int_equal(n, 17);
    store_revision_text("ffffffffffffffff", INT64_MAX, text);
    assert_int_equal(store_revision_read(text, id, &n), 0);
    assert_true(n == INT64_MAX);
}

static void revision_refusals(void **state)
{
    static const char *const rows[] = {
        "",
        ".",
        "a",
        "a.",
        ".5",
        "a.-1",
        "a.+1",
        "a.1x",
        "a.1.2",
        "a. 1",
        "x/y.1",
        "5f3a 9c.1",
        "a.99999999999999999999",
        "0123456789012345678901234567890123456789012345678901234567890123456789.1"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char id[STORE_REVISION_MAX] = "before";
        int64_t n = -5;
        if (store_revision_read(rows[i], id, &n) != ERR_PARSE)
            fail_msg("accepted: %s", rows[i]);
        assert_string_equal(id, "before");
        assert_int_equal(n, -5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(path_rules),
        cmocka_unit_test(element_length),
        cmocka_unit_test(revision_text),
        cmocka_unit_test(revision_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
