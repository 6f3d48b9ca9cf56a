/** What became of a container whose files a newer version has written is not known: it is neither ended nor replaced. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/obj.h"
#include "cluster/shim_autopsy.h"
#include "tree_kit.h"

static void put(const char *dir, const char *name, const char *text)
{
    mem_auto char *path = mem_fmt("%s/%s", dir, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static void files_of_a_newer_version_are_not_judged(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
    } files[] = {{SHIM_EXIT_FILE, "exit format=3 how=well\n"},
                 {SHIM_RUNNING_FILE, "status format=3 who=knows\n"}};

    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        char dir[] = "/tmp/autopsy-test-XXXXXX";
        struct shim_exit e = {.code = 77};
        struct err_info why = {0};
        assert_non_null(mkdtemp(dir));
        put(dir, files[i].name, files[i].text);
        assert_int_equal(shim_autopsy(dir, &e, &why), ERR_UNAVAILABLE);
        assert_int_equal(e.code, 77);
        assert_non_null(strstr(why.where, files[i].name));
        assert_non_null(strstr(why.text, "newer version"));
        assert_int_equal(kit_remove_tree(dir), 0);
    }
}

static void the_exit_file_of_an_older_version_is_read(void **state)
{
    (void)state;
    char dir[] = "/tmp/autopsy-test-XXXXXX";
    struct shim_exit e;
    struct err_info why = {0};
    assert_non_null(mkdtemp(dir));
    put(dir, SHIM_EXIT_FILE, "exit kind=exited code=3 stopped=0 started_ms=1 ended_ms=2 text=\n");
    assert_int_equal(shim_autopsy(dir, &e, &why), 0);
    assert_int_equal(e.kind, SHIM_EXITED);
    assert_int_equal(e.code, 3);
    assert_int_equal(kit_remove_tree(dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_a_newer_version_are_not_judged),
        cmocka_unit_test(the_exit_file_of_an_older_version_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
