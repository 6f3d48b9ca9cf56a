/**
 * The real container-shim, driven as svcmgr drives it: exits are typed, a stop has its grace, nothing is left behind,
 * and a shim outlives who started it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
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
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "shim/wire.h"
#include "tree_kit.h"

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
    ssize_t n = read(fd, text, sizeof text - 1);
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
    assert_non_null(fgets(line, sizeof line, b->lines));
    assert_int_equal(shim_exit_read(line, e), 0);
    mem_auto char *file = read_text(b, SHIM_EXIT_FILE);
    assert_non_null(file);
    assert_string_equal(file, line);
}

static void ask_status(struct box *b, struct shim_status *s)
{
    char line[SHIM_LINE_MAX];

    say(b, "status\n");
    assert_non_null(fgets(line, sizeof line, b->lines));
    assert_int_equal(shim_status_read(line, s), 0);
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
    assert_int_equal(kit_remove_tree(b->dir), 0);
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

static void output_environment_and_directory_are_as_asked(void **state)
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

    snprintf(name.sun_path, sizeof name.sun_path, "/proc/self/fd/%d/%s", dir, SHIM_SOCKET_FILE);
    int failed = connect(fd, (struct sockaddr *)&name, sizeof name);
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
    while (!before.pid) { /* The first status is the shim's alone. */
        mem_auto char *running = await_line(&b, SHIM_RUNNING_FILE);
        assert_int_equal(shim_status_read(running, &before), 0);
        assert_int_equal(strlen(before.boot), SHIM_BOOT_MAX - 1);
    }
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

/* ---- whose rights ---- */

static bool set_nobody(struct shim_launch *l)
{
    const struct passwd *nobody = getpwnam("nobody");

    if (geteuid() || !nobody)
        return false;
    l->user = (struct shim_user){.is_set = true,
                                 .uid = nobody->pw_uid,
                                 .gid = nobody->pw_gid,
                                 .groups = {nobody->pw_gid},
                                 .n_groups = 1};
    assert_int_equal(chown(l->work_dir, nobody->pw_uid, nobody->pw_gid), 0);
    assert_int_equal(chown(l->log_dir, nobody->pw_uid, nobody->pw_gid), 0);
    return true;
}

/** Run what was made, to its end. @return what it wrote; free() */
static char *output_of(struct box *b, struct shim_launch *take_l)
{
    struct shim_exit e;

    write_launch(b, take_l);
    start_with(b, "wait\n");
    hear_exit(b, &e);
    assert_string_equal(e.text, "");
    return read_text(b, "logs/" SHIM_STDOUT_FILE);
}

static void as_root_it_becomes_the_user(void **state)
{
    (void)state;
    struct box b;
    struct shim_launch l;

    make_box(&b, &l, "id -u; id -G; touch ../stolen 2>/dev/null || echo refused", 0);
    bool is_root = set_nobody(&l);
    mem_auto char *wanted = mem_fmt("%u\n%u\nrefused\n", l.user.uid, l.user.gid);
    mem_auto char *out = output_of(&b, &l);
    end_box(&b);
    if (!is_root)
        skip(); /* Only root can become another user. */
    assert_string_equal(out, wanted);
}

static void no_process_ever_gets_more_rights(void **state)
{
    (void)state;
    for (int as_nobody = 0; as_nobody < 2; as_nobody++) {
        struct box b;
        struct shim_launch l;
        make_box(&b, &l, "grep NoNewPrivs /proc/self/status", 0);
        if (as_nobody)
            set_nobody(&l);
        mem_auto char *out = output_of(&b, &l);
        assert_string_equal(out, "NoNewPrivs:\t1\n");
        end_box(&b);
    }
}

/** What a starter may have: a strict mask, signals blocked and ignored, a descriptor that survives an exec. */
static void a_process_inherits_nothing_of_its_starter(void **state)
{
    (void)state;
    struct box b;
    struct shim_launch l;
    sigset_t blocked, before;

    make_box(&b, &l,
             "umask; ls /proc/$$/fd; env | cut -d= -f1 | sort | tr '\\n' ' "
             "'; echo\n"
             "grep -E '^Sig(Blk|Ign)' /proc/$$/status | cut -f2; cut -d' ' -f7 /proc/$$/stat",
             0);
    mode_t mask = umask(077);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    signal(SIGUSR2, SIG_IGN);
    assert_int_equal(dup2(STDERR_FILENO, 100), 100);
    mem_auto char *out = output_of(&b, &l);
    close(100);
    signal(SIGUSR2, SIG_DFL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    umask(mask);
    assert_string_equal(out, "0022\n0\n1\n2\nPATH PWD \n0000000000000000\n0000000000000000\n0\n");
    end_box(&b);
}

static void the_session_keyring_is_left(void **state)
{
    (void)state;
    struct box b;
    struct shim_launch l;

    make_box(&b, &l, "cat /proc/keys; echo end", 0);
    if (!set_nobody(&l) || syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 ||
        syscall(SYS_add_key, "user", "secret-of-svcmgr", "x", 1, KEY_SPEC_SESSION_KEYRING) < 0) {
        shim_launch_fini(&l);
        end_box(&b);
        skip(); /* Not root, or a kernel without keyrings. */
    }
    mem_auto char *out = output_of(&b, &l);
    assert_non_null(strstr(out, "end\n"));
    assert_null(strstr(out, "secret-of-svcmgr"));
    end_box(&b);
}

static void a_protection_from_lack_of_memory_is_not_inherited(void **state)
{
    (void)state;
    struct box b;
    struct shim_launch l;
    int fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);

    assert_true(fd >= 0);
    if (write(fd, "-100", 4) != 4) {
        close(fd);
        skip(); /* It takes CAP_SYS_RESOURCE. */
    }
    make_box(&b, &l, "cat /proc/self/oom_score_adj", 0);
    mem_auto char *out = output_of(&b, &l);
    assert_int_equal(write(fd, "0", 1), 1);
    close(fd);
    assert_string_equal(out, "0\n");
    end_box(&b);
}

/** As the user: a directory that only he may write is written, another's is not, whoever we are. */
static void log_files_are_opened_with_the_rights_of_the_user(void **state)
{
    (void)state;
    struct box b;
    struct shim_launch l;
    struct shim_exit e;

    make_box(&b, &l, "echo harm", 0);
    mem_auto char *log = mem_fmt("%s/%s", l.log_dir, SHIM_STDOUT_FILE);
    int fd =
        open(log, O_WRONLY | O_CREAT, 0600); /* Root's file, which the user has moved into his directory. */
    assert_true(fd >= 0);
    close(fd);
    bool is_root = set_nobody(&l);
    write_launch(&b, &l);
    start_with(&b, "wait\n");
    hear_exit(&b, &e);
    mem_auto char *out = read_text(&b, "logs/" SHIM_STDOUT_FILE);
    end_box(&b);
    if (!is_root)
        skip(); /* Only root can become another user. */
    assert_int_equal(e.kind, SHIM_NOT_STARTED);
    assert_string_equal(e.text, "log files");
    assert_int_equal(e.code, EACCES);
    assert_string_equal(out, "");
}

/* ---- limits ---- */

/** Give the container a cgroup of its own in these v1 hierarchies. @return false: none can be made here */
static bool set_cgroups(struct shim_launch *l, const char *const *kinds, char dirs[][96])
{
    static int n;
    bool can = true;

    n++;
    for (size_t i = 0; kinds[i]; i++) {
        snprintf(dirs[i], 96, "/sys/fs/cgroup/%s/bobbin-test-%d-%d", kinds[i], (int)getpid(), n);
        can = can && !mkdir(dirs[i], 0755) && !rmdir(dirs[i]);
        shim_launch_cgroup(l, kinds[i], dirs[i]);
    }
    return can;
}

static void assert_gone(const char *const *kinds, char dirs[][96])
{
    for (size_t i = 0; kinds[i]; i++)
        assert_int_equal(access(dirs[i], F_OK), -1);
}

static void run_limited(struct box *b, struct shim_launch *l, struct shim_exit *e)
{
    write_launch(b, l);
    start_with(b, "wait\n");
    hear_exit(b, e);
}

static void more_memory_than_asked_for_is_an_end_that_says_so(void **state)
{
    (void)state;
    static const char *const kinds[] = {"memory", "freezer", NULL};
    char dirs[SHIM_CGROUPS_MAX][96];
    struct box b;
    struct shim_launch l;
    struct shim_exit e;

    make_box(&b, &l, "x=$(head -c 200000000 /dev/zero | tr '\\0' x)", 0);
    l.memory_bytes = 32 << 20;
    if (!set_cgroups(&l, kinds, dirs)) {
        shim_launch_fini(&l);
        end_box(&b);
        skip();
    }
    run_limited(&b, &l, &e);
    assert_int_equal(e.kind, SHIM_SIGNALLED);
    assert_int_equal(e.code, SIGKILL);
    assert_string_equal(e.text,
                        "its memory limit of 32 MB was reached and the kernel killed a process of it");
    assert_gone(kinds, dirs);
    end_box(&b);
}

static void more_processes_than_allowed_are_not_made(void **state)
{
    (void)state;
    static const char *const kinds[] = {"pids", NULL};
    char dirs[SHIM_CGROUPS_MAX][96];
    struct box b;
    struct shim_launch l;
    struct shim_exit e;

    make_box(&b, &l, "i=0; while [ $i -lt 50 ]; do sleep 1000 & i=$((i+1)); echo $i; done", 0);
    l.pids_max = 10;
    if (!set_cgroups(&l, kinds, dirs)) {
        shim_launch_fini(&l);
        end_box(&b);
        skip();
    }
    run_limited(&b, &l, &e);
    assert_string_equal(e.text, "its limit of 10 processes and threads was reached");
    mem_auto char *out = read_text(&b, "logs/" SHIM_STDOUT_FILE);
    assert_string_equal(out, "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    assert_gone(kinds, dirs);
    end_box(&b);
}

/** What makes others faster than they are looked for is held still first. */
static void what_forks_without_end_is_ended(void **state)
{
    (void)state;
    static const char *const kinds[] = {"pids", "freezer", NULL};
    char dirs[SHIM_CGROUPS_MAX][96];
    struct box b;
    struct shim_launch l;
    struct shim_exit e;

    make_box(&b, &l,
             "f() { trap '' TERM; while :; do f & sleep 0.01; done; }; setsid sh -c 'exit 0'; f & f & exit 4",
             0);
    l.pids_max = 60;
    if (!set_cgroups(&l, kinds, dirs)) {
        shim_launch_fini(&l);
        end_box(&b);
        skip();
    }
    run_limited(&b, &l, &e);
    assert_int_equal(e.code, 4);
    assert_gone(kinds, dirs);
    end_box(&b);
}

static void required_cgroups_that_cannot_be_made_are_no_start(void **state)
{
    (void)state;
    struct box b;
    struct shim_launch l;
    struct shim_exit e;

    for (int required = 0; required < 2; required++) {
        make_box(&b, &l, "exit 0", 0);
        shim_launch_cgroup(&l, "memory", "/no/such/hierarchy/c");
        l.cgroups_required = required;
        run_limited(&b, &l, &e);
        assert_int_equal(e.kind, required ? SHIM_NOT_STARTED : SHIM_EXITED);
        mem_auto char *log = read_text(&b, SHIM_LOG_FILE);
        assert_non_null(strstr(log, "cgroup /no/such/hierarchy/c is not made: No such file or directory"));
        end_box(&b);
    }
}

/* ---- output ---- */

static void output_has_a_bound_and_keeps_what_came_last(void **state)
{
    (void)state;
    struct box b;
    struct shim_launch l;
    static const char *const names[] = {"stdout.txt.2", "stdout.txt.1", "stdout.txt"};
    buf_auto struct buf all = BUF_EMPTY;

    make_box(&b, &l, "i=1000; while [ $i -lt 1400 ]; do echo a-line-$i; i=$((i+1)); done", 0);
    l.log_bytes = 1000;
    l.log_files = 3;
    free(output_of(&b, &l));
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        mem_auto char *name = mem_fmt("logs/%s", names[i]);
        mem_auto char *text = read_text(&b, name);
        assert_non_null(text);
        assert_true(strlen(text) <= 1000);
        buf_add_str(&all, text);
    }
    mem_auto char *older = read_text(&b, "logs/stdout.txt.3");
    assert_null(older);
    /* whole lines, the last ones, none missing between the files */
    assert_true(all.len > 1000 && all.len % strlen("a-line-1000\n") == 0);
    long at = 1400 - (long)(all.len / strlen("a-line-1000\n"));
    for (const char *p = buf_cstr(&all); *p; p = strchr(p, '\n') + 1)
        assert_int_equal(strtol(p + strlen("a-line-"), NULL, 10), at++);
    assert_int_equal(at, 1400);
    end_box(&b);
}

static void a_line_longer_than_a_file_is_cut(void **state)
{
    (void)state;
    struct box b;
    struct shim_launch l;

    make_box(&b, &l, "head -c 5000 /dev/zero | tr '\\0' x", 0);
    l.log_bytes = 1000;
    l.log_files = 1;
    mem_auto char *out = output_of(&b, &l);
    assert_int_equal(strspn(out, "x"), 1000);
    assert_int_equal(strlen(out), 1000);
    end_box(&b);
}

/** A container that puts something in the way of the rotation passes no bound, and nothing of another's is touched. */
static void a_rotation_that_is_hindered_keeps_the_bound(void **state)
{
    (void)state;
    struct box b;
    struct shim_launch l;

    make_box(
        &b, &l,
        "mkdir -p ../logs/stdout.txt.1/full; i=0; while [ $i -lt 400 ]; do echo a-line; i=$((i+1)); done; "
        "chmod a-w ../logs; while [ $i -lt 800 ]; do echo b-line; i=$((i+1)); done",
        0);
    l.log_bytes = 1000;
    l.log_files = 2;
    bool is_root = set_nobody(&l);
    mem_auto char *out = output_of(&b, &l);
    assert_true(strlen(out) <= 1000);
    assert_non_null(strstr(out, "b-line"));
    if (is_root)
        assert_null(strstr(out, "a-line"));
    end_box(&b);
}

static void the_user_may_open_his_output_by_name(void **state)
{
    (void)state;
    struct box b;
    struct shim_launch l;

    make_box(&b, &l, "echo one > /dev/stdout; echo two > /proc/self/fd/1", 0);
    set_nobody(&l);
    mem_auto char *out = output_of(&b, &l);
    assert_string_equal(out, "one\ntwo\n");
    end_box(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exits_are_typed),
        cmocka_unit_test(what_cannot_start_says_why),
        cmocka_unit_test(output_environment_and_directory_are_as_asked),
        cmocka_unit_test(log_files_never_lead_elsewhere),
        cmocka_unit_test(more_memory_than_asked_for_is_an_end_that_says_so),
        cmocka_unit_test(more_processes_than_allowed_are_not_made),
        cmocka_unit_test(what_forks_without_end_is_ended),
        cmocka_unit_test(required_cgroups_that_cannot_be_made_are_no_start),
        cmocka_unit_test(output_has_a_bound_and_keeps_what_came_last),
        cmocka_unit_test(a_line_longer_than_a_file_is_cut),
        cmocka_unit_test(a_rotation_that_is_hindered_keeps_the_bound),
        cmocka_unit_test(the_user_may_open_his_output_by_name),
        cmocka_unit_test(a_stop_lets_the_process_finish),
        cmocka_unit_test(grace_ends_with_a_kill),
        cmocka_unit_test(a_second_stop_shortens_the_grace),
        cmocka_unit_test(nothing_is_left_behind),
        cmocka_unit_test(killing_the_shim_kills_the_process),
        cmocka_unit_test(the_starter_may_die),
        cmocka_unit_test(rubbish_on_the_socket_drops_only_that_client),
        cmocka_unit_test(as_root_it_becomes_the_user),
        cmocka_unit_test(no_process_ever_gets_more_rights),
        cmocka_unit_test(a_process_inherits_nothing_of_its_starter),
        cmocka_unit_test(the_session_keyring_is_left),
        cmocka_unit_test(a_protection_from_lack_of_memory_is_not_inherited),
        cmocka_unit_test(log_files_are_opened_with_the_rights_of_the_user),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
