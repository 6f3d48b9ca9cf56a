/* submit/package.h: this program as an archive, which is unpacked and run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_it_runs_elsewhere)};
    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        puts("it runs");
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
