#include "base/mem.h"
#include "base/obj.h"
#include "run/known.h"
#include "tree_kit.h"

#include <stdio.h>
#include <stdlib.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define OWN_OPTIONS(X) X(O_PORT, "t.port", OPT_INT, "", "1", 0, 9, OPT_FIXED, "A port.")
enum { OPTIONS_ENUM(OWN_OPTIONS) };
static const struct opt_def defs[] = {OPTIONS_ROWS(OWN_OPTIONS)};

static const char *const prefixes[] = {"t.", "u.", NULL}, *const none[] = {NULL};
static const char *const names[] = {"t.port", "t.address", NULL}, *const more[] = {"u.colour", NULL};
static const char *const families[] = {"t.ttl.", NULL};
static const struct known_keys below = {prefixes, none, none}, ours = {none, names, families},
                               theirs = {none, more, none};
static const struct known_keys *const known[] = {&below, &ours, &theirs, NULL};

/* What is reported of -D keys and of the same keys in a file. */
static void check(const char *const *sets, const char *dir, bool is_strict, struct opt_report *report)
{
    struct options *o = options_load(defs, ARRAY_LEN(defs), dir, sets, report);
    known_check(o, known, is_strict, report);
    options_free(o);
}

static void known_keys_pass(void **state)
{
    (void)state;
    struct opt_report report = OPT_REPORT_FOR(OPT_FOR_TEST);
    check((const char *const[]){"t.port=2", "t.address=x", "u.colour=x", "t.ttl.web=3", "v.any=x", NULL},
          NULL, true, &report);
    assert_int_equal(report.errors.len, 0);
    assert_int_equal(report.warnings.len, 0);
    opt_report_fini(&report);
}

static void unknown_ones_are_errors_of_the_command_line(void **state)
{
    (void)state;
    struct opt_report report = OPT_REPORT_FOR(OPT_FOR_TEST);
    check((const char *const[]){"u.color=x", "t.prot=2", "t.ttl.=3", "t.quite.another=x", NULL}, NULL, false,
          &report);
    assert_string_equal(buf_cstr(&report.errors),
                        "-D: t.prot: no such key; did you mean t.port?\n"
                        "-D: t.quite.another: no such key; --show-defaults lists them\n"
                        "-D: t.ttl.: no such key; --show-defaults lists them\n"
                        "-D: u.color: no such key; did you mean u.colour?\n");
    assert_int_equal(report.warnings.len, 0);
    opt_report_fini(&report);
}

static void of_a_file_they_are_warnings_unless_strict(void **state)
{
    (void)state;
    char dir[] = "/tmp/test_known.XXXXXX";
    assert_non_null(mkdtemp(dir));
    mem_auto char *path = mem_fmt("%s/core-site.xml", dir);
    mem_auto char *line = mem_fmt("%s:2: t.adress: no such key; did you mean t.address?\n", path);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("<configuration>\n<property><name>t.adress</name><value>x</value></property></configuration>", f);
    assert_int_equal(fclose(f), 0);
    for (int is_strict = 0; is_strict < 2; is_strict++) {
        struct opt_report report = OPT_REPORT_FOR(OPT_FOR_TEST);
        check(NULL, dir, is_strict, &report);
        assert_string_equal(buf_cstr(is_strict ? &report.errors : &report.warnings), line);
        assert_int_equal(is_strict ? report.warnings.len : report.errors.len, 0);
        opt_report_fini(&report);
    }
    kit_remove_tree(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_keys_pass),
        cmocka_unit_test(unknown_ones_are_errors_of_the_command_line),
        cmocka_unit_test(of_a_file_they_are_warnings_unless_strict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
