#include "base/obj.h"
#include "run/args.h"

#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define MAX_ARGS 8

static int read_args(const char *const *words, struct args *out, struct err_info *why)
{
    char *argv[MAX_ARGS + 2] = {(char *)"prog"};
    int argc = 1;
    for (; words[argc - 1]; argc++)
        argv[argc] = (char *)words[argc - 1];
    return args_read(argc, argv, out, why);
}

static void accepted_lines(void **state)
{
    (void)state;
    static const struct {
        const char *words[MAX_ARGS];
        enum args_action action;
        const char *config_dir, *first_set;
        enum log_level level;
        enum log_format format;
    } rows[] = {
        {{NULL}, ARGS_RUN, NULL, NULL, LOG_INFO, LOG_TEXT},
        {{"--config", "/c", "-D", "a=b", "-t"}, ARGS_TEST, "/c", "a=b", LOG_INFO, LOG_TEXT},
        {{"--config=/c", "-Da=b", "-D", "c=d"}, ARGS_RUN, "/c", "a=b", LOG_INFO, LOG_TEXT},
        {{"--log-level", "debug", "--log-format=json"}, ARGS_RUN, NULL, NULL, LOG_DEBUG, LOG_JSON},
        {{"--log-level=error"}, ARGS_RUN, NULL, NULL, LOG_ERROR, LOG_TEXT},
        {{"--show-defaults"}, ARGS_SHOW_DEFAULTS, NULL, NULL, LOG_INFO, LOG_TEXT},
        {{"--version"}, ARGS_VERSION, NULL, NULL, LOG_INFO, LOG_TEXT},
        {{"-t", "--strict"}, ARGS_TEST, NULL, NULL, LOG_INFO, LOG_TEXT},
        {{"-h"}, ARGS_HELP, NULL, NULL, LOG_INFO, LOG_TEXT},
    };
    unsetenv("HADOOP_CONF_DIR");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct args a;
        struct err_info why;
        print_message("row %zu\n", i);
        assert_int_equal(read_args(rows[i].words, &a, &why), 0);
        assert_int_equal(a.action, rows[i].action);
        assert_int_equal(a.level, rows[i].level);
        assert_int_equal(a.format, rows[i].format);
        assert_int_equal(!a.config_dir, !rows[i].config_dir);
        if (a.config_dir)
            assert_string_equal(a.config_dir, rows[i].config_dir);
        assert_int_equal(!a.sets[0], !rows[i].first_set);
        if (a.sets[0])
            assert_string_equal(a.sets[0], rows[i].first_set);
        assert_null(a.sets[a.n_sets]);
        args_fini(&a);
    }
}

static void refused_lines(void **state)
{
    (void)state;
    static const struct {
        const char *words[MAX_ARGS];
        const char *where;
    } rows[] = {
        {{"--nonsense"}, "--nonsense"},
        {{"-x"}, "-x"},
        {{"--config"}, "--config"},
        {{"-D"}, "-D"},
        {{"--log-level", "loud"}, "--log-level"},
        {{"--log-format=xml"}, "--log-format"},
        {{"operand"}, "operand"},
        {{"--test=1"}, "--test=1"},
        {{"--strict"}, "--strict"},
        {{"--strict", "--man"}, "--strict"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct args a;
        struct err_info why;
        print_message("%s\n", rows[i].words[0]);
        assert_int_equal(read_args(rows[i].words, &a, &why), ERR_USAGE);
        assert_string_equal(why.where, rows[i].where);
        args_fini(&a);
    }
}

static void directory_comes_from_the_environment(void **state)
{
    (void)state;
    struct args a;
    setenv("HADOOP_CONF_DIR", "/env", 1);
    assert_int_equal(read_args((const char *[]){NULL}, &a, NULL), 0);
    assert_string_equal(a.config_dir, "/env");
    args_fini(&a);
    assert_int_equal(read_args((const char *[]){"--config", "/arg", NULL}, &a, NULL), 0);
    assert_string_equal(a.config_dir, "/arg");
    args_fini(&a);
    setenv("HADOOP_CONF_DIR", "", 1);
    assert_int_equal(read_args((const char *[]){NULL}, &a, NULL), 0);
    assert_null(a.config_dir);
    args_fini(&a);
}

static void help_names_every_switch(void **state)
{
    (void)state;
    static const char *const words[] = {"usage: regd ", "Does it.",        "--config=DIR", "-D KEY=VALUE",
                                        "-t, --test",   "--show-defaults", "--log-level",  "--log-format",
                                        "--version",    "-h, --help"};
    buf_auto struct buf out = BUF_EMPTY;
    args_help("regd", "Does it.", &out);
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        assert_non_null(strstr(out.bytes, words[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepted_lines),
        cmocka_unit_test(refused_lines),
        cmocka_unit_test(directory_comes_from_the_environment),
        cmocka_unit_test(help_names_every_switch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
