/* submit/package.h: this program as an archive, which is unpacked and run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "submit/package.h"

static void test_it_runs_elsewhere(void **state)
{
    (void)state;
    char dir[] = "/tmp/submit-package-XXXXXX", line[64] = "";
    struct submit_package first, again;
    struct submit_parts *parts = submit_parts_new();
    struct err_info why;
    assert_non_null(mkdtemp(dir));
    assert_int_equal(submit_package_make(parts, dir, &first, &why), 0);
    assert_int_equal(submit_package_make(parts, dir, &again, &why), 0);
    assert_string_equal(first.path, again.path);
    mem_auto char *command =
        mem_fmt("cd %s && tar xzf %s && ls lib/libuv.so.1 >ls && ! ls lib | grep -q '^libc[.]so' && "
                "LD_LIBRARY_PATH=./lib ./svcmgr --version",
                dir, first.path);
    FILE *f = popen(command, "r");
    assert_non_null(fgets(line, sizeof line, f));
    assert_int_equal(pclose(f), 0);
    assert_string_equal(line, "it runs\n");
    mem_auto char *removal = mem_fmt("rm -r %s", dir);
    assert_int_equal(system(removal), 0);
    assert_int_equal(submit_package_make(parts, dir, &first, &why), ERR_IO);
    submit_package_fini(&first);
    submit_package_fini(&again);
    submit_parts_free(parts);
}

struct rig {
    char dir[32];
    struct submit_parts *parts;
};

static int set_up(void **state)
{
    struct rig *r = mem_new(struct rig);
    strcpy(r->dir, "/tmp/submit-package-XXXXXX");
    assert_non_null(mkdtemp(r->dir));
    r->parts = submit_parts_new();
    *state = r;
    return 0;
}

static int tear_down(void **state)
{
    struct rig *r = *state;
    mem_auto char *removal = mem_fmt("rm -r %s", r->dir);
    assert_int_equal(system(removal), 0);
    submit_parts_free(r->parts);
    free(r);
    return 0;
}

/* @return inode of the archive: another one when it was made again */
static ino_t make_one(struct rig *r, struct submit_package *out)
{
    struct stat st;
    assert_int_equal(submit_package_make(r->parts, r->dir, out, NULL), 0);
    assert_int_equal(stat(out->path, &st), 0);
    assert_int_equal(st.st_size, out->size);
    return st.st_ino;
}

static void append(const char *path, const char *text)
{
    FILE *f = fopen(path, "a");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void test_the_same_files_are_packed_once(void **state)
{
    struct rig *r = *state;
    struct submit_package first, again;
    ino_t inode = make_one(r, &first);
    assert_int_equal(make_one(r, &again), inode);
    assert_string_equal(first.hash, again.hash);
    assert_string_equal(first.path, again.path);
    submit_package_fini(&again);
    submit_package_fini(&first);
}

static void test_an_archive_that_is_damaged_is_made_again(void **state)
{
    struct rig *r = *state;
    struct submit_package first, again, gone;
    ino_t inode = make_one(r, &first);
    append(first.path, "x");
    assert_int_not_equal(make_one(r, &again), inode);
    assert_int_equal(again.size, first.size);
    assert_int_equal(unlink(again.path), 0);
    make_one(r, &gone);
    assert_string_equal(gone.path, first.path);
    submit_package_fini(&gone);
    submit_package_fini(&again);
    submit_package_fini(&first);
}

static void test_other_files_are_packed(void **state)
{
    struct rig *r = *state;
    struct submit_package first, again;
    mem_auto char *made = mem_fmt("%s/made", r->dir);
    ino_t inode = make_one(r, &first);
    append(made, "lib/libother.so 1 2 3 4.000000005 6.000000007\n");
    ino_t other = make_one(r, &again);
    assert_int_not_equal(other, inode);
    submit_package_fini(&again);
    assert_int_equal(make_one(r, &again), other);
    submit_package_fini(&again);
    submit_package_fini(&first);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_runs_elsewhere),
        CASE(test_the_same_files_are_packed_once),
        CASE(test_an_archive_that_is_damaged_is_made_again),
        CASE(test_other_files_are_packed),
    };
    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        puts("it runs");
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
