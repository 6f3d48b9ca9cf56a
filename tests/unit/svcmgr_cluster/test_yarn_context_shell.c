/** What a process on a node sees of commands and variables: the node manager's script is written and run by bash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "cluster/yarn_context_shell.h"

static char dir[] = "/tmp/yarn-context-XXXXXX";

/** What a node manager makes of a text. free() */
static char *replaced(const char *text)
{
    const char *const marks[][2] = {
        {"<LOG_DIR>", dir}, {"<CPS>", ":"}, {"<ADD_OPENS>", ""}, {"{{", "$"}, {"}}", ""}};
    char *now = mem_str(text);

    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        buf_auto struct buf out = BUF_EMPTY;
        for (const char *p = now; *p; p++) {
            bool is_mark = str_starts(p, marks[i][0]);
            buf_add(&out, is_mark ? marks[i][1] : p, is_mark ? strlen(marks[i][1]) : 1);
            p += is_mark ? strlen(marks[i][0]) - 1 : 0;
        }
        free(now);
        now = buf_take(&out);
    }
    return now;
}

static char *contents(const char *name)
{
    mem_auto char *path = mem_fmt("%s/%s", dir, name);
    buf_auto struct buf out = BUF_EMPTY;
    FILE *f = fopen(path, "r");

    assert_non_null(f);
    for (int ch; (ch = fgetc(f)) != EOF;)
        buf_add_char(&out, (char)ch);
    fclose(f);
    return buf_take(&out);
}

static void run(const char *shell, const char *script)
{
    mem_auto char *path = mem_fmt("%s/script", dir),
                  *line = mem_fmt("cd %s && env -i %s ./script", dir, shell);
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fputs(script, f);
    fclose(f);
    (void)!system(line);
}

static void run_on_node(const char *env, const char *command)
{
    mem_auto char *text = yarn_context_command(command, true), *last = replaced(text);
    mem_auto char *script = mem_fmt("%s\nexec /bin/bash -c \"%s\"\n", env, last);

    run("/bin/bash", script);
}

static const char *const nasty[] = {"plain",
                                    "a  b",
                                    "'\"`\\",
                                    "$HOME $(id) ${x:-${y}}",
                                    "a\nb\n",
                                    "{{X}} }} {{{ }}}",
                                    "<CPS><ADD_OPENS>",
                                    "\xc3\xa9\xe2\x82\xac",
                                    "!! # ~ *",
                                    "\\$ \\\\\" \\n",
                                    ""};

static void commands_arrive_as_they_are(void **state)
{
    static const char *const commands[] = {
        "printf '%s|' '{{X}}' '}}' '<CPS>' \"$0\"",
        "x='a b'; printf '%s|' \"$x\" \"${y:-${x}}\" `printf c` $(printf d)",
        "printf '\\\\n\"%s' \"\\$x\\\"\" # comment",
        "printf a\nprintf b >&2\nf() { printf '%s' \"$1\"; }; f '\xe2\x82\xac'",
        "printf a; printf b; (exit 3); printf $?"};
    (void)state;

    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        run_on_node("", commands[i]);
        mem_auto char *out = contents("stdout.txt"), *err = contents("stderr.txt");
        mem_auto char *direct = mem_fmt("exec 1>%s/direct.out 2>%s/direct.err\n%s", dir, dir, commands[i]);
        char *const argv[] = {(char *)"/bin/sh", (char *)"-c", direct, NULL};
        pid_t pid = fork();
        if (pid == 0) {
            char *const none[] = {NULL};
            execve("/bin/sh", argv, none);
            _exit(127);
        }
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        mem_auto char *want_out = contents("direct.out"), *want_err = contents("direct.err");
        if (i > 0)
            assert_string_equal(out, want_out);
        else
            assert_string_equal(out, "{{X}}|}}|<CPS>|/bin/bash|");
        assert_string_equal(err, want_err);
    }
}

static void values_are_literal(void **state)
{
    (void)state;

    for (size_t i = 0; i < ARRAY_LEN(nasty); i++) {
        char *value = NULL;
        assert_int_equal(yarn_context_variable("K", nasty[i], &value, NULL), 0);
        mem_auto char *last = replaced(value), *env = mem_fmt("export K=\"%s\"", last);
        free(value);
        run_on_node(env, "printf %s \"$K\"");
        mem_auto char *out = contents("stdout.txt");
        assert_string_equal(out, nasty[i]);
    }
}

static void the_nodes_directories_are_live(void **state)
{
    char *value = NULL;
    (void)state;

    assert_int_equal(yarn_context_variable("K", "$PWD:${PWD}/x:$PWDX:<LOG_DIR>", &value, NULL), 0);
    mem_auto char *last = replaced(value), *env = mem_fmt("export K=\"%s\"", last);
    free(value);
    run_on_node(env, "printf %s \"$K\"");
    mem_auto char *out = contents("stdout.txt"), *want = mem_fmt("%s:%s/x:$PWDX:%s", dir, dir, dir);
    assert_string_equal(out, want);
}

static void names(void **state)
{
    struct err_info why = {0};
    char *value = (char *)"";
    (void)state;

    assert_int_equal(yarn_context_variable("a.b", "1", &value, &why), ERR_UNSUPPORTED);
    assert_non_null(strstr(why.text, "a.b"));
    assert_int_equal(yarn_context_variable("1a", "1", &value, &why), ERR_UNSUPPORTED);
    assert_int_equal(yarn_context_variable("YARN_CONTAINER_RUNTIME_X", "$(id)", &value, &why),
                     ERR_UNSUPPORTED);
    assert_int_equal(yarn_context_variable("USER", "eve", &value, &why), 0);
    assert_null(value);
}

/** As launch_plan gives it, between the double quotes of the API: framework-launcher 12.3. */
static void entry_points_of_tasks(void **state)
{
    static const struct {
        const char *entry;
        int code;
    } cases[] = {{"X=3; exit $X", 0},
                 {"X=3; exit \\$X", 3},
                 {"bash -c \\\"exit 3\\\"", 3},
                 {"bash -c \"exit 3\"", 0},
                 {"bash -c \"(exit 3)\"", 2},
                 {"./missing", 127},
                 {"trap \\\"\\\" TERM; exit 5", 5},
                 {"exit `echo 6`", 6}};
    (void)state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        mem_auto char *given =
            mem_fmt("exec /bin/bash -c \"%s 1><LOG_DIR>/stdout 2><LOG_DIR>/stderr\"", cases[i].entry);
        mem_auto char *text = yarn_context_command(given, false), *last = replaced(text);
        mem_auto char *path = mem_fmt("%s/script", dir);
        mem_auto char *line = mem_fmt("cd %s && env -i PATH=$PATH /bin/bash ./script 2>/dev/null", dir);
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fprintf(f, "exec /bin/bash -c \"%s\"\n", last);
        fclose(f);
        int status = system(line);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != cases[i].code)
            fail_msg("%s: %d", cases[i].entry, WEXITSTATUS(status));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_arrive_as_they_are),    cmocka_unit_test(values_are_literal),
        cmocka_unit_test(the_nodes_directories_are_live), cmocka_unit_test(names),
        cmocka_unit_test(entry_points_of_tasks),
    };

    if (!mkdtemp(dir))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    mem_auto char *line = mem_fmt("rm -r %s", dir);
    return system(line) ? 1 : failed;
}
