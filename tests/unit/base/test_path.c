#include "base/path.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const struct {
    const char *path, *parent, *name;
    size_t parent_len;
} cases[] = {
    {"/a/b/c", "/a/b", "c", 4}, {"/a", "/", "a", 1},      {"/", "/", "", 1},    {"a/b", "a", "b", 1},
    {"a", ".", "a", 0},         {"/a/b/", "/a/b", "", 4}, {"//a", "/", "a", 1}, {"./a", ".", "a", 1},
};

static void a_path_is_its_parent_and_its_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mem_auto char *parent = path_parent(cases[i].path);
        assert_string_equal(parent, cases[i].parent);
        assert_string_equal(path_name(cases[i].path), cases[i].name);
        assert_ptr_equal(path_name_in(cases[i].path, strlen(cases[i].path)), path_name(cases[i].path));
        assert_int_equal(path_parent_len(cases[i].path), cases[i].parent_len);
    }
}

static void a_path_may_end_before_its_text_does(void **state)
{
    (void)state;
    static const char path[] = "/a/bc/d";
    assert_ptr_equal(path_name_in(path, strlen("/a/bc")), path + 3);
    assert_ptr_equal(path_name_in(path, strlen("/a")), path + 1);
    assert_ptr_equal(path_name_in(path, strlen("/a/")), path + 3);
    assert_ptr_equal(path_name_in(path + 1, strlen("a")), path + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_is_its_parent_and_its_name),
        cmocka_unit_test(a_path_may_end_before_its_text_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
