/** The launch file and the lines of a container-shim: what is written is read back, what is foreign is refused. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/obj.h"
#include "shim/exec_wire.h"
#include "shim/wire.h"

#define BOOT "3f0c1c86-7d52-4a63-9c0a-0f2f4c6a1b01"

static void launch_file_survives_a_round_trip(void **state)
{
    (void)state;
    struct shim_launch l = {0}, back = {0};
    buf_auto struct buf bytes = BUF_EMPTY;
    l.command = mem_str("printf '%s\n' \"$A\"\nexit 1");
    l.work_dir = mem_str("/w");
    l.log_dir = mem_str("/l");
    l.memory_bytes = 268435456;
    l.pids_max = 77;
    shim_launch_cgroup(&l, "memory", "/sys/fs/cgroup/memory/c:1");
    shim_launch_cgroup(&l, "pids", "/sys/fs/cgroup/pids/c:1");
    l.user.is_set = true;
    l.user.uid = 65534;
    l.user.gid = 65533;
    l.user.groups[l.user.n_groups++] = 42;
    l.rlimits[l.n_rlimits++] = (struct shim_rlimit){4, 0, 7};
    l.runtime = mem_str("'/usr/bin/podman' '--root' '/x y'");
    l.runtime_id = mem_str("container_1");
    shim_launch_env(&l, "A", "x=y\nz");
    shim_launch_env(&l, "B", "");

    shim_launch_write(&l, &bytes);
    struct err_info why = {0};
    assert_int_equal(shim_launch_read(buf_cstr(&bytes), bytes.len, &back, &why), 0);

    assert_string_equal(back.command, l.command);
    assert_string_equal(back.env[0], "A=x=y\nz");
    assert_string_equal(back.env[1], "B=");
    assert_null(back.env[2]);
    assert_int_equal(back.n_cgroups, 2);
    assert_string_equal(back.cgroups[1].kind, "pids");
    assert_string_equal(back.cgroups[1].dir, "/sys/fs/cgroup/pids/c:1");
    assert_int_equal(back.pids_max, 77);
    assert_true(back.user.is_set);
    assert_int_equal(back.user.uid, 65534);
    assert_int_equal(back.user.gid, 65533);
    assert_int_equal(back.user.n_groups, 1);
    assert_int_equal(back.user.groups[0], 42);
    assert_int_equal(back.rlimits[0].hard, 7);
    assert_int_equal(back.memory_bytes, 268435456);
    assert_string_equal(back.runtime, l.runtime);
    assert_string_equal(back.runtime_id, "container_1");
    shim_launch_fini(&l);
    shim_launch_fini(&back);
}

static void a_request_of_exec_survives_a_round_trip(void **state)
{
    (void)state;
    struct exec_ask ask = {.has_terminal = true, .rows = 24, .columns = 65535}, back = {0};
    buf_auto struct buf bytes = BUF_EMPTY;
    struct err_info why = {0};
    exec_ask_word(&ask, "printf");
    exec_ask_word(&ask, "it's = \n");
    exec_ask_word(&ask, "");
    ask.term = mem_str("xterm");
    buf_add(&ask.early, "\1\0\377", 3);

    exec_ask_write(&ask, &bytes);
    assert_int_equal(exec_ask_read(bytes.bytes, bytes.len, &back, &why), 0);

    assert_int_equal(back.n_words, 3);
    assert_string_equal(back.words[1], "it's = \n");
    assert_string_equal(back.words[2], "");
    assert_null(back.words[3]);
    assert_true(back.has_terminal);
    assert_int_equal(back.rows, 24);
    assert_int_equal(back.columns, 65535);
    assert_string_equal(back.term, "xterm");
    assert_int_equal(back.early.len, 3);
    assert_memory_equal(back.early.bytes, "\1\0\377", 3);
    exec_ask_fini(&ask);
    exec_ask_fini(&back);
    static const char *const bad[] = {"rows=65536", "terminal=2", "early=%", "colour=red", "word"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        assert_int_equal(exec_ask_read(bad[i], strlen(bad[i]) + 1, &back, &why), ERR_PARSE);
        exec_ask_fini(&back);
    }
}

static void bad_launch_files_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t len;
    } cases[] = {
        {"", 0},
        {"command=a\0work_dir=/w\0", 22},           /* no log_dir */
        {"command=a\0work_dir=/w\0log_dir=/l", 32}, /* last record is cut */
        {"command=a\0work_dir=/w\0log_dir=/l\0colour=red\0", 44},
        {"command=a\0work_dir=/w\0log_dir=/l\0uid=-1\0", 40},
        {"command=a\0work_dir=/w\0log_dir=/l\0env=NOVALUE\0", 45},
        {"command=a\0work_dir=/w\0log_dir=/l\0rlimit=1:2\0", 44},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct shim_launch out = {0};
        struct err_info why = {0};
        assert_int_equal(shim_launch_read(cases[i].bytes, cases[i].len, &out, &why), ERR_PARSE);
        assert_null(out.command);
    }
}

static void lines_survive_a_round_trip(void **state)
{
    (void)state;
    char line[SHIM_LINE_MAX];
    struct shim_exit e = {SHIM_NOT_STARTED,   13, true, false, 1700000000001, 1700000000002,
                          "working directory"},
                     e2;
    struct shim_status s = {101, 5551, 102, 5552, 1700000000003, true, BOOT}, s2;

    size_t len = shim_exit_write(&e, line);
    assert_int_equal(len, strlen(line));
    assert_int_equal(shim_exit_read(line, &e2), 0);
    assert_int_equal(e2.kind, SHIM_NOT_STARTED);
    assert_int_equal(e2.code, 13);
    assert_true(e2.was_stopped);
    assert_int_equal(e2.ended_ms, 1700000000002);
    assert_string_equal(e2.text, "working directory");
    assert_false(e2.was_memory);

    e.was_memory = true;
    shim_exit_write(&e, line);
    assert_int_equal(shim_exit_read(line, &e2), 0);
    assert_true(e2.was_memory);
    assert_string_equal(e2.text, "working directory");

    shim_status_write(&s, line);
    assert_int_equal(shim_status_read(line, &s2), 0);
    assert_int_equal(s2.shim, 101);
    assert_int_equal(s2.shim_start, 5551);
    assert_int_equal(s2.pid, 102);
    assert_int_equal(s2.pid_start, 5552);
    assert_true(s2.stopping);
    assert_string_equal(s2.boot, BOOT);
    assert_int_equal(
        shim_status_read("status shim=1 shim_start=2 pid=3 pid_start=4 started_ms=5 stopping=0\n", &s2), 0);
    assert_string_equal(s2.boot, ""); /* a shim of an older version */
}

static void foreign_lines_are_refused(void **state)
{
    (void)state;
    struct shim_exit e;
    struct shim_status s;
    static const char *const lines[] = {"", "\n",
                                        "exit kind=vanished code=1 stopped=0 started_ms=1 ended_ms=2 text=\n",
                                        "exit kind=exited code=1\n", "status shim=1\n"};
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        assert_int_equal(shim_exit_read(lines[i], &e), ERR_PARSE);
        assert_int_equal(shim_status_read(lines[i], &s), ERR_PARSE);
    }
}

/** What versions without a format have written. */
static void what_an_older_version_wrote_is_read(void **state)
{
    (void)state;
    static const char status[] =
        "status shim=101 shim_start=5551 pid=102 pid_start=5552 started_ms=1700000000000 stopping=1 "
        "boot=" BOOT "\n";
    static const char exit_line[] =
        "exit kind=signalled code=9 stopped=1 started_ms=1700000000000 ended_ms=1700000000500 text=a b\n";
    static const char launch[] =
        "command=sleep 1\0work_dir=/w\0log_dir=/l\0cgroups_required=0\0pids_max=7\0cpu_is_strict=0\0"
        "memory_bytes=1048576\0cpu_milli=0\0grace_ms=10000\0log_bytes=0\0log_files=2\0env=A=b";
    struct shim_status s;
    struct shim_exit e;
    struct shim_launch l = {0};

    assert_int_equal(shim_status_read(status, &s), 0);
    assert_int_equal(s.shim, 101);
    assert_int_equal(s.pid_start, 5552);
    assert_true(s.stopping);
    assert_string_equal(s.boot, BOOT);
    assert_int_equal(shim_exit_read(exit_line, &e), 0);
    assert_int_equal(e.kind, SHIM_SIGNALLED);
    assert_int_equal(e.code, 9);
    assert_string_equal(e.text, "a b");
    assert_int_equal(shim_launch_read(launch, sizeof launch, &l, NULL), 0);
    assert_string_equal(l.command, "sleep 1");
    assert_int_equal(l.pids_max, 7);
    shim_launch_fini(&l);
}

static void what_a_newer_version_wrote_is_refused(void **state)
{
    (void)state;
    static const char launch[] = "format=3\0command=a\0work_dir=/w\0log_dir=/l";
    struct shim_status s;
    struct shim_exit e;
    struct shim_launch l = {0};
    struct err_info why = {0};

    assert_int_equal(shim_status_read("status format=3 who=knows\n", &s), ERR_UNSUPPORTED);
    assert_int_equal(shim_exit_read("exit format=3 who=knows\n", &e), ERR_UNSUPPORTED);
    assert_int_equal(shim_launch_read(launch, sizeof launch, &l, &why), ERR_PARSE);
    assert_string_equal(why.where, "format");
    assert_int_equal(shim_status_read("status format=0 shim=1\n", &s), ERR_PARSE);
    assert_int_equal(shim_exit_read("exit format=2\n", &e), ERR_PARSE);
}

static void own_process_is_found_in_proc(void **state)
{
    (void)state;
    struct shim_proc p = {0};

    assert_int_equal(shim_proc_read(getpid(), &p), 0);
    assert_int_equal(p.parent, getppid());
    assert_int_equal(p.group, getpgrp());
    assert_int_equal(p.session, getsid(0));
    assert_true(p.start > 0);
    assert_int_equal(shim_proc_read(0x3fffffff, &p), ERR_NOTFOUND);
}

static void a_boot_has_one_id(void **state)
{
    (void)state;
    char a[SHIM_BOOT_MAX], b[SHIM_BOOT_MAX];

    assert_int_equal(shim_boot_id(a), 0);
    assert_int_equal(shim_boot_id(b), 0);
    assert_int_equal(strlen(a), SHIM_BOOT_MAX - 1);
    assert_string_equal(a, b);
}

/** A number that was given to another process since is not the process. */
static void only_the_process_that_is_meant_gets_a_signal(void **state)
{
    (void)state;
    struct shim_proc p = {0};
    int status;
    pid_t child = fork();

    assert_true(child >= 0);
    if (!child) {
        pause();
        _exit(0);
    }
    assert_int_equal(shim_proc_read(child, &p), 0);
    assert_int_equal(shim_proc_signal(child, p.start - 1, SIGKILL), ERR_NOTFOUND);
    assert_int_equal(shim_proc_signal(child, p.start + 1, SIGKILL), ERR_NOTFOUND);
    assert_int_equal(shim_proc_signal(child, p.start, 0), 0); /* It lives. */
    assert_int_equal(shim_proc_signal(child, p.start, SIGTERM), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    assert_int_equal(shim_proc_signal(child, p.start, 0), ERR_NOTFOUND);
}

/** Without a descriptor nobody can say that a process is gone. */
static void a_lack_of_descriptors_is_no_death(void **state)
{
    (void)state;
    struct rlimit before, none;
    struct shim_proc p = {0};

    assert_int_equal(shim_proc_read(getpid(), &p), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){0, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    int read_err = shim_proc_read(getpid(), &p);
    int signal_err = shim_proc_signal(getpid(), p.start, 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(read_err, ERR_UNAVAILABLE);
    assert_int_equal(signal_err, ERR_UNAVAILABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launch_file_survives_a_round_trip),
        cmocka_unit_test(a_request_of_exec_survives_a_round_trip),
        cmocka_unit_test(bad_launch_files_are_refused),
        cmocka_unit_test(lines_survive_a_round_trip),
        cmocka_unit_test(foreign_lines_are_refused),
        cmocka_unit_test(what_an_older_version_wrote_is_read),
        cmocka_unit_test(what_a_newer_version_wrote_is_refused),
        cmocka_unit_test(own_process_is_found_in_proc),
        cmocka_unit_test(a_boot_has_one_id),
        cmocka_unit_test(only_the_process_that_is_meant_gets_a_signal),
        cmocka_unit_test(a_lack_of_descriptors_is_no_death),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
