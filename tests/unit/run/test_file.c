#include "run/file.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static char top[] = "/tmp/bobbin-test-file-XXXXXX";

static int setup(void **state)
{
    (void)state;
    return mkdtemp(top) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    static const char *const dirs[] = {"/a/b/c", "/a/b", "/a", ""};
    for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
        mem_auto char *dir = mem_fmt("%s%s", top, dirs[i]);
        mem_auto char *file = mem_fmt("%s/file", dir);
        (void)unlink(file);
        (void)rmdir(dir);
    }
    return access(top, F_OK) ? 0 : -1;
}

static void a_directory_is_made_with_those_above_it(void **state)
{
    (void)state;
    mem_auto char *dir = mem_fmt("%s/a/b/c", top);
    mem_auto char *above = mem_fmt("%s/a/b", top);
    struct err_info why = {0};
    struct stat st;
    assert_int_equal(file_make_dir(dir, 0700, &why), 0);
    assert_int_equal(stat(dir, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(stat(above, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(file_make_dir(dir, 0755, &why), 0); /* there already: stays as it is */
    assert_int_equal(stat(dir, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
}

static void a_file_in_the_way_is_named(void **state)
{
    (void)state;
    mem_auto char *file = mem_fmt("%s/file", top);
    mem_auto char *below = mem_fmt("%s/x/y", file);
    mem_auto char *blocked = mem_fmt("%s/x", file);
    struct err_info why = {0};
    assert_int_equal(file_write(file, "text", 4, &why), 0);
    assert_int_equal(file_make_dir(below, 0755, &why), ERR_IO);
    assert_string_equal(why.where, blocked);
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    mem_auto char *file = mem_fmt("%s/file", top);
    mem_auto char *none = mem_fmt("%s/none", top);
    buf_auto struct buf text = BUF_EMPTY;
    struct err_info why = {0};
    assert_int_equal(file_write(file, "old", 3, &why), 0);
    assert_int_equal(file_write(file, "newer", 5, &why), 0);
    assert_int_equal(file_read(file, &text, &why), 0);
    assert_string_equal(buf_cstr(&text), "newer");
    assert_int_equal(file_read(none, &text, &why), ERR_NOTFOUND);
}

static void a_directory_has_one_owner(void **state)
{
    (void)state;
    struct err_info why;
    int first, second;
    mem_auto char *pid = mem_fmt("%s/pid", top),
                  *want = mem_fmt("the store is in use by process %d", (int)getpid());
    assert_int_equal(file_lock_dir(top, "store", &first, &why), 0);
    assert_int_equal(file_lock_dir(top, "store", &second, &why), ERR_WRONGSTATE);
    assert_int_equal(second, -1);
    assert_string_equal(why.text, want);
    assert_string_equal(why.where, top);
    close(first);
    assert_int_equal(file_lock_dir(top, "store", &second, &why), 0);
    close(second);
    unlink(pid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_directory_is_made_with_those_above_it),
        cmocka_unit_test(a_file_in_the_way_is_named),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(a_directory_has_one_owner),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
