/**
 * The real container-shim, driven as svcmgr drives it: exits are typed, a stop has its grace, nothing is left behind,
 * and a shim outlives who started it.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <pwd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "shim/wire.h"

#define DEADLINE_MS 20000

struct box {
    char *dir;   /* the container's directory */
    pid_t shim;  /* our child, 0: not started or not ours */
    int control; /* the connection it was born with, -1 */
    FILE *lines;
};

static void pause_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

/* ---- a container's directory ---- */

static char *in_dir(const struct box *b, const char *name)
{
    return mem_fmt("%s/%s", b->dir, name);
}

static char *read_text(const struct box *b, const char *name)
{
    mem_auto char *path = in_dir(b, name);
    char text[4096];
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        return NULL;
    ssize_t n = read(fd, text, sizeof(text) - 1);
    close(fd);
    assert_true(n >= 0);
    return mem_strn(text, (size_t)n);
}

static void make_box(struct box *b, struct shim_launch *l, const char *command, size_t long_name)
{
    char base[] = "/tmp/shim-test-XXXXXX";

    *b = (struct box){.control = -1};
    assert_non_null(mkdtemp(base));
    b->dir = mem_str(base);
    while (strlen(b->dir) < long_name) {
        char *deeper = mem_fmt("%s/a-directory-with-a-rather-long-name", b->dir);
        free(b->dir);
        b->dir = deeper;
        assert_int_equal(mkdir(b->dir, 0755), 0);
    }
    *l = (struct shim_launch){.command = mem_str(command), .grace_ms = 1000};
    l->work_dir = in_dir(b, "work");
    l->log_dir = in_dir(b, "logs");
    assert_int_equal(mkdir(l->work_dir, 0755), 0);
    assert_int_equal(mkdir(l->log_dir, 0755), 0);
    shim_launch_env(l, "PATH", "/usr/bin:/bin");
}

static void write_launch(const struct box *b, struct shim_launch *take_l)
{
    buf_auto struct buf bytes = BUF_EMPTY;
    mem_auto char *path = in_dir(b, SHIM_LAUNCH_FILE);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    shim_launch_write(take_l, &bytes);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes.bytes, bytes.len), (ssize_t)bytes.len);
    close(fd);
    shim_launch_fini(take_l);
}

static _Noreturn void become_shim(const struct box *b, int control)
{
    char *argv[] = {(char *)"container-shim", NULL};
    mem_auto char *log = in_dir(b, SHIM_LOG_FILE);
    int log_fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0644);

    if (chdir(b->dir) || setsid() < 0 || dup2(log_fd, STDERR_FILENO) < 0)
        _exit(99);
    if (control >= 0 && dup2(control, SHIM_BORN_FD) < 0)
        _exit(99);
    for (int fd = control >= 0 ? SHIM_BORN_FD + 1 : SHIM_BORN_FD; fd < 64; fd++)
        close(fd);
    execv(SHIM_PATH, argv);
    _exit(99);
}

static void say(const struct box *b, const char *line)
{
    assert_int_equal(send(b->control, line, strlen(line), MSG_NOSIGNAL), (ssize_t)strlen(line));
}

/** @param first  said before there is a shim that hears it: one with a short command is gone soon after it has begun */
static void start_with(struct box *b, const char *first)
{
    int pair[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    b->control = pair[0];
    say(b, first);
    b->shim = fork();
    assert_true(b->shim >= 0);
    if (!b->shim)
        become_shim(b, pair[1]);
    close(pair[1]);
    b->lines = fdopen(pair[0], "r");
}

static void box_with(struct box *b, const char *command, const char *first)
{
    struct shim_launch l;
    make_box(b, &l, command, 0);
    write_launch(b, &l);
    start_with(b, first);
}

static void box_of(struct box *b, const char *command)
{
    box_with(b, command, "");
}

static void hear_exit(struct box *b, struct shim_exit *e)
{
    char line[SHIM_LINE_MAX];
    struct pollfd p = {b->control, POLLIN, 0};

    assert_int_equal(poll(&p, 1, DEADLINE_MS), 1);
    assert_non_null(fgets(line, sizeof(line), b->lines));
    assert_int_equal(shim_exit_read(line, e), 0);
    mem_auto char *file = read_text(b, SHIM_EXIT_FILE);
    assert_non_null(file);
    assert_string_equal(file, line);
}

static void ask_status(struct box *b, struct shim_status *s)
{
    char line[SHIM_LINE_MAX];

    say(b, "status\n");
    assert_non_null(fgets(line, sizeof(line), b->lines));
    assert_int_equal(shim_status_read(line, s), 0);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

static void end_box(struct box *b)
{
    char *slash = strchr(b->dir + strlen("/tmp/"), '/');

    if (b->lines)
        fclose(b->lines);
    if (b->shim > 0)
        assert_int_equal(waitpid(b->shim, NULL, 0), b->shim);
    if (slash)
        *slash = '\0';
    assert_int_equal(nftw(b->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
    free(b->dir);
}

/** Content of a file of one line that the payload writes, once it is whole. free() */
static char *await_line(const struct box *b, const char *name)
{
    for (int64_t ms = 0; ms < DEADLINE_MS; ms += 5) {
        char *text = read_text(b, name);
        if (text && strchr(text, '\n'))
            return text;
        free(text);
        pause_ms(5);
    }
    fail_msg("%s/%s did not come", b->dir, name);
    return NULL;
}

static bool is_alive(pid_t pid)
{
    struct shim_proc p;
    return !shim_proc_read(pid, &p) && p.state != 'Z';
}

static void await_death(pid_t pid)
{
    for (int64_t ms = 0; ms < DEADLINE_MS && is_alive(pid); ms += 5)
        pause_ms(5);
    assert_false(is_alive(pid));
}

/* ---- exits are typed ---- */

static void exits_are_typed(void **state)
{
    (void)state;
    static const struct {
        const char *command;
        enum shim_exit_kind kind;
        int code;
    } cases[] = {
        {"exit 0", SHIM_EXITED, 0},
        {"exit 7", SHIM_EXITED, 7},
        {"kill -SEGV $$", SHIM_SIGNALLED, SIGSEGV},
        {"kill -9 $$", SHIM_SIGNALLED, 9},
        {"no-such-program", SHIM_EXITED, 127},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct box b;
        struct shim_exit e;
        box_with(&b, cases[i].command, "wait\n");
        hear_exit(&b, &e);
        assert_int_equal(e.kind, cases[i].kind);
        assert_int_equal(e.code, cases[i].code);
        assert_false(e.was_stopped);
        assert_true(e.started_ms > 1500000000000 && e.ended_ms >= e.started_ms);
        end_box(&b);
    }
}

static void what_cannot_start_says_why(void **state)
{
    (void)state;
    struct box b;
    struct shim_launch l;
    struct shim_exit e;

    make_box(&b, &l, "true", 0);
    assert_int_equal(rmdir(l.work_dir), 0);
    write_launch(&b, &l);
    start_with(&b, "wait\n");
    hear_exit(&b, &e);
    assert_int_equal(e.kind, SHIM_NOT_STARTED);
    assert_int_equal(e.code, ENOENT);
    assert_string_equal(e.text, "working directory");
    end_box(&b);
}

static void output_environment_and_directory_are_as_told(void **state)
{
    (void)state;
    struct box b;
    struct shim_launch l;
    struct shim_exit e;

    make_box(&b, &l, "echo out $A; echo err >&2; pwd; env | grep -c SHIM_TEST_LEAK", 0);
    mem_auto char *work = mem_str(l.work_dir);
    shim_launch_env(&l, "A", "b c");
    write_launch(&b, &l);
    setenv("SHIM_TEST_LEAK", "1", 1);
    start_with(&b, "wait\n");
    hear_exit(&b, &e);
    mem_auto char *out = read_text(&b, "logs/" SHIM_STDOUT_FILE);
    mem_auto char *err = read_text(&b, "logs/" SHIM_STDERR_FILE);
    mem_auto char *wanted = mem_fmt("out b c\n%s\n0\n", work);
    assert_string_equal(out, wanted);
    assert_string_equal(err, "err\n");
    end_box(&b);
}

static void log_files_never_lead_elsewhere(void **state)
{
    (void)state;
    struct box b;
    struct shim_launch l;
    struct shim_exit e;

    make_box(&b, &l, "echo harm", 0);
    mem_auto char *link = mem_fmt("%s/%s", l.log_dir, SHIM_STDOUT_FILE);
    mem_auto char *victim = in_dir(&b, "victim");
    assert_int_equal(symlink(victim, link), 0);
    write_launch(&b, &l);
    start_with(&b, "wait\n");
    hear_exit(&b, &e);
    assert_int_equal(e.kind, SHIM_NOT_STARTED);
    assert_string_equal(e.text, "log files");
    assert_int_equal(access(victim, F_OK), -1);
    end_box(&b);
}

/* ---- stopping ---- */

static void a_stop_lets_the_process_finish(void **state)
{
    (void)state;
    struct box b;
    struct shim_exit e;

    box_of(&b, "trap 'exit 3' TERM; echo up > up; while :; do sleep 0.05; done");
    free(await_line(&b, "work/up"));
    say(&b, "wait\nstop 15000\n");
    hear_exit(&b, &e);
    assert_int_equal(e.kind, SHIM_EXITED);
    assert_int_equal(e.code, 3);
    assert_true(e.was_stopped);
    assert_true(e.ended_ms - e.started_ms < 14000);
    end_box(&b);
}

static void grace_ends_with_a_kill(void **state)
{
    (void)state;
    struct box b;
    struct shim_exit e;

    box_of(&b, "trap '' TERM; echo up > up; while :; do sleep 0.05; done");
    free(await_line(&b, "work/up"));
    say(&b, "wait\nstop 200\n");
    hear_exit(&b, &e);
    assert_int_equal(e.kind, SHIM_SIGNALLED);
    assert_int_equal(e.code, SIGKILL);
    assert_true(e.was_stopped);
    end_box(&b);
}

static void a_second_stop_shortens_the_grace(void **state)
{
    (void)state;
    struct box b;
    struct shim_exit e;

    box_of(&b, "trap '' TERM; echo up > up; while :; do sleep 0.05; done");
    free(await_line(&b, "work/up"));
    say(&b, "wait\nstop 600000\n");
    say(&b, "stop 0\n");
    hear_exit(&b, &e);
    assert_int_equal(e.code, SIGKILL);
    end_box(&b);
}

static void nothing_is_left_behind(void **state)
{
    (void)state;
    struct box b;
    struct shim_exit e;
    static const char *const files[] = {"work/group", "work/escaped", "work/deaf"};

    box_with(&b,
             "sh -c 'echo $$ > group; exec sleep 1000' &\n"
             "setsid sh -c 'echo $$ > escaped; exec sleep 1000' &\n"
             "setsid sh -c 'trap \"\" TERM; echo $$ > deaf; while :; do sleep 0.05; done' &\n"
             "while ! [ -s group -a -s escaped -a -s deaf ]; do sleep 0.01; done; exit 5",
             "wait\n");
    hear_exit(&b, &e);
    assert_int_equal(e.kind, SHIM_EXITED);
    assert_int_equal(e.code, 5);
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        mem_auto char *text = await_line(&b, files[i]);
        assert_false(is_alive((pid_t)atol(text)));
    }
    end_box(&b);
}

/* ---- who dies with whom ---- */

static void killing_the_shim_kills_the_process(void **state)
{
    (void)state;
    struct box b;
    struct shim_status s;

    box_of(&b, "echo up > up; exec sleep 1000");
    free(await_line(&b, "work/up"));
    ask_status(&b, &s);
    assert_int_equal(s.shim, b.shim);
    assert_true(is_alive(s.pid));
    kill(b.shim, SIGKILL);
    await_death(s.pid);
    mem_auto char *exit_text = read_text(&b, SHIM_EXIT_FILE);
    assert_null(exit_text);
    end_box(&b);
}

static int connect_long(const struct box *b)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int dir = open(b->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(name.sun_path, sizeof(name.sun_path), "/proc/self/fd/%d/%s", dir, SHIM_SOCKET_FILE);
    int failed = connect(fd, (struct sockaddr *)&name, sizeof(name));
    close(dir);
    assert_int_equal(failed, 0);
    return fd;
}

static void the_starter_may_die(void **state)
{
    (void)state;
    struct box b;
    struct shim_launch l;
    struct shim_status before = {0}, after = {0};
    struct shim_exit e;

    /* given: a shim in a directory too long for sun_path, whose starter was killed */
    make_box(&b, &l, "echo up > up; exec sleep 1000", 200);
    write_launch(&b, &l);
    pid_t starter = fork();
    assert_true(starter >= 0);
    if (!starter) {
        if (!fork())
            become_shim(&b, -1);
        pause();
        _exit(0);
    }
    free(await_line(&b, "work/up"));
    mem_auto char *running = await_line(&b, SHIM_RUNNING_FILE);
    assert_int_equal(shim_status_read(running, &before), 0);
    kill(starter, SIGKILL);
    assert_int_equal(waitpid(starter, NULL, 0), starter);

    /* when: somebody else connects */
    b.control = connect_long(&b);
    b.lines = fdopen(b.control, "r");
    ask_status(&b, &after);

    /* then: it is the same process, and it obeys */
    assert_int_equal(after.pid, before.pid);
    assert_int_equal(after.pid_start, before.pid_start);
    assert_true(is_alive(after.pid));
    say(&b, "wait\nstop 5000\n");
    hear_exit(&b, &e);
    assert_int_equal(e.kind, SHIM_SIGNALLED);
    assert_int_equal(e.code, SIGTERM);
    await_death(after.shim);
    end_box(&b);
}

static void rubbish_on_the_socket_drops_only_that_client(void **state)
{
    (void)state;
    struct box b;
    struct shim_status s;
    struct shim_exit e;
    char byte;

    box_of(&b, "echo up > up; exec sleep 1000");
    free(await_line(&b, "work/up"));
    int other = connect_long(&b);
    assert_int_equal(send(other, "explode now\n", 12, MSG_NOSIGNAL), 12);
    assert_int_equal(recv(other, &byte, 1, 0), 0);
    close(other);
    ask_status(&b, &s);
    assert_true(is_alive(s.pid));
    say(&b, "wait\nstop 5000\n");
    hear_exit(&b, &e);
    end_box(&b);
}

static void as_root_it_becomes_the_user(void **state)
{
    (void)state;
    const struct passwd *nobody = getpwnam("nobody");
    struct box b;
    struct shim_launch l;
    struct shim_exit e;

    if (geteuid() || !nobody)
        skip();
    make_box(&b, &l,
             "id -u; id -G; grep NoNewPrivs /proc/self/status; touch ../stolen 2>/dev/null || echo refused",
             0);
    l.switch_user = true;
    l.uid = nobody->pw_uid;
    l.gid = nobody->pw_gid;
    l.groups[l.n_groups++] = nobody->pw_gid;
    mem_auto char *wanted = mem_fmt("%u\n%u\nNoNewPrivs:\t1\nrefused\n", nobody->pw_uid, nobody->pw_gid);
    write_launch(&b, &l);
    start_with(&b, "wait\n");
    hear_exit(&b, &e);
    mem_auto char *out = read_text(&b, "logs/" SHIM_STDOUT_FILE);
    assert_string_equal(out, wanted);
    end_box(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exits_are_typed),
        cmocka_unit_test(what_cannot_start_says_why),
        cmocka_unit_test(output_environment_and_directory_are_as_told),
        cmocka_unit_test(log_files_never_lead_elsewhere),
        cmocka_unit_test(a_stop_lets_the_process_finish),
        cmocka_unit_test(grace_ends_with_a_kill),
        cmocka_unit_test(a_second_stop_shortens_the_grace),
        cmocka_unit_test(nothing_is_left_behind),
        cmocka_unit_test(killing_the_shim_kills_the_process),
        cmocka_unit_test(the_starter_may_die),
        cmocka_unit_test(rubbish_on_the_socket_drops_only_that_client),
        cmocka_unit_test(as_root_it_becomes_the_user),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
