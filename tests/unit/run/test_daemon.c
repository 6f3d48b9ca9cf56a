#include "base/buf.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define MAX_ARGS    8
#define PATIENCE_MS 20000

/* A run of the subject; what it writes is collected in `out` (stdout) and `err` (stderr). */
struct subject {
    pid_t pid;
    int out_fd, err_fd;
    struct buf out, err;
};

static void subject_start(struct subject *s, const char *const *args)
{
    int out[2], err[2];
    char *argv[MAX_ARGS + 2] = {(char *)SUBJECT};
    for (size_t i = 0; i < MAX_ARGS && args[i]; i++)
        argv[i + 1] = (char *)args[i];
    assert_int_equal(pipe(out), 0);
    assert_int_equal(pipe(err), 0);
    *s = (struct subject){.out_fd = out[0], .err_fd = err[0]};
    s->pid = fork();
    if (s->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failed test leaves nothing behind */
        dup2(out[1], STDOUT_FILENO);
        dup2(err[1], STDERR_FILENO);
        for (int i = 0; i < 2; i++) {
            close(out[i]);
            close(err[i]);
        }
        execv(SUBJECT, argv);
        _exit(127);
    }
    close(out[1]);
    close(err[1]);
}

/* Take what one of the pipes has. @return false at the end of both. */
static bool pump(struct subject *s)
{
    struct pollfd fds[] = {{s->out_fd, POLLIN, 0}, {s->err_fd, POLLIN, 0}};
    struct buf *bufs[] = {&s->out, &s->err};
    int *own[] = {&s->out_fd, &s->err_fd};
    if (s->out_fd < 0 && s->err_fd < 0)
        return false;
    assert_true(poll(fds, 2, PATIENCE_MS) > 0);
    for (int i = 0; i < 2; i++) {
        char piece[4096];
        if (!fds[i].revents)
            continue;
        ssize_t n = read(fds[i].fd, piece, sizeof piece);
        assert_true(n >= 0);
        buf_add(bufs[i], piece, (size_t)n);
        if (n > 0)
            continue;
        close(*own[i]);
        *own[i] = -1;
    }
    return true;
}

static void subject_await(struct subject *s, const struct buf *where, const char *text)
{
    while (!where->bytes || !strstr(where->bytes, text))
        if (!pump(s))
            fail_msg("\"%s\" did not come; stdout: %s stderr: %s", text, buf_cstr(&s->out),
                     buf_cstr(&s->err));
}

/* Read the rest. @return exit code. */
static int subject_end(struct subject *s)
{
    int status = 0;
    while (pump(s))
        ;
    assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
    if (!WIFEXITED(status))
        fail_msg("ended by signal %d: %s", WTERMSIG(status), buf_cstr(&s->err));
    return WEXITSTATUS(status);
}

static void subject_fini(struct subject *s)
{
    buf_fini(&s->out);
    buf_fini(&s->err);
}

#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define UP                                                                                                   \
    "first up\nsecond up\n{\"name\":\"subject\",\"version\":\"" BOBBIN_VERSION                               \
    "\",\"store\":\"zk\"}\nready after starting\n"
#define DOWN "second down\nfirst down\n"

static void signals_stop_it_in_reverse_order(void **state)
{
    (void)state;
    static const int numbers[] = {SIGTERM, SIGINT};
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        struct subject s;
        subject_start(&s, ARGS("--log-format=json"));
        subject_await(&s, &s.out, "ready after");
        kill(s.pid, numbers[i]);
        assert_int_equal(subject_end(&s), 0);
        assert_string_equal(s.out.bytes, UP DOWN);
        assert_non_null(strstr(s.err.bytes, "\"event\":\"daemon_stopped\""));
        subject_fini(&s);
    }
}

static void failing_part_takes_the_others_down(void **state)
{
    (void)state;
    struct subject s;
    subject_start(&s, ARGS("-D", "s.fail=true"));
    assert_int_equal(subject_end(&s), 28);
    assert_string_equal(s.out.bytes, "first up\nfirst down\n");
    assert_non_null(strstr(
        s.err.bytes, " error daemon_start_failed part=second error=\"fails by request\" where=s.fail "));
    subject_fini(&s);
}

static void a_part_may_end_the_program(void **state)
{
    (void)state;
    struct subject s;
    subject_start(&s, ARGS("-Ds.quit=true"));
    assert_int_equal(subject_end(&s), 26);
    assert_string_equal(s.out.bytes, UP DOWN);
    subject_fini(&s);
}

static void lines_that_only_print(void **state)
{
    (void)state;
    static const struct {
        const char *args[4];
        int code;
        const char *out, *err; /* beginnings */
    } rows[] = {
        {{"-t"}, 0, "configuration is fine\n", ""},
        {{"-t", "-Ds.port=x", "-Ds.min=10"},
         3,
         "",
         "-D: s.port: x is wrong; wanted: integer in 0 to 9\n-D: s.min: 10 is"},
        {{"-t", "-Ds.min=2"}, 3, "", "-D: s.min: larger than s.port\n"},
        {{"-t", "-Ds.word=odd"}, 0, "configuration is fine\n", "warning: -D: s.word: an odd word\n"},
        {{"-t", "-Ds.word=wrong", "-Ds.min=2"},
         3,
         "",
         "-D: s.min: larger than s.port\n-D: s.word: /some/file:3: a wrong\\nword\n"},
        {{"--config", "/nonexistent/dir", "-t"}, 3, "", "/nonexistent/dir: is not a directory"},
        {{"--version"}, 0, "subject " BOBBIN_VERSION "\n", ""},
        {{"--help"}, 0, "usage: subject ", ""},
        {{"--show-defaults"}, 0, "s.fail=false\n", ""},
        {{"--nope"}, 2, "", "subject: --nope: unknown switch\n"},
    };
    unsetenv("HADOOP_CONF_DIR");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct subject s;
        print_message("%s\n", rows[i].args[0]);
        subject_start(&s, rows[i].args);
        assert_int_equal(subject_end(&s), rows[i].code);
        assert_true(str_starts(buf_cstr(&s.out), rows[i].out));
        assert_true(str_starts(buf_cstr(&s.err), rows[i].err));
        subject_fini(&s);
    }
}

static void wrong_configuration_ends_a_start(void **state)
{
    (void)state;
    struct subject s;
    subject_start(&s, ARGS("-Ds.port=x"));
    assert_int_equal(subject_end(&s), 3);
    assert_string_equal(buf_cstr(&s.out), "");
    assert_non_null(strstr(s.err.bytes, " error config_error error=\"-D: s.port: x is wrong"));
    subject_fini(&s);
}

static void warnings_are_logged_at_a_start(void **state)
{
    (void)state;
    struct subject s;
    subject_start(&s, ARGS("-Ds.word=odd"));
    subject_await(&s, &s.out, "ready after");
    kill(s.pid, SIGTERM);
    assert_int_equal(subject_end(&s), 0);
    assert_non_null(strstr(s.err.bytes, " warn config_warning warning=\"-D: s.word: an odd word\""));
    subject_fini(&s);
}

static void write_conf(const char *dir, const char *word, const char *port)
{
    mem_auto char *path = mem_fmt("%s/core-site.xml", dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f,
            "<configuration><property><name>s.word</name><value>%s</value></property>"
            "<property><name>s.port</name><value>%s</value></property></configuration>",
            word, port);
    assert_int_equal(fclose(f), 0);
}

static void hangup_reads_reloadable_options_again(void **state)
{
    (void)state;
    char dir[] = "/tmp/test_daemon.XXXXXX";
    assert_non_null(mkdtemp(dir));
    mem_auto char *path = mem_fmt("%s/core-site.xml", dir);
    struct subject s;
    write_conf(dir, "one", "1");
    subject_start(&s, ARGS("--config", dir));
    subject_await(&s, &s.out, "ready after");

    write_conf(dir, "two", "2");
    kill(s.pid, SIGHUP);
    subject_await(&s, &s.out, "word two port 1\n");
    subject_await(&s, &s.err, "config_reloaded");
    assert_non_null(strstr(s.err.bytes, " warn config_kept keys=s.port "));

    write_conf(dir, "three", "many");
    kill(s.pid, SIGHUP);
    subject_await(&s, &s.err, "config_reload_failed");
    kill(s.pid, SIGTERM);
    assert_int_equal(subject_end(&s), 0);
    assert_null(strstr(s.out.bytes, "three"));
    subject_fini(&s);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(dir), 0);
}

static void next_notice(int fd, char *out, size_t room)
{
    struct pollfd p = {fd, POLLIN, 0};
    assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
    ssize_t n = recv(fd, out, room - 1, 0);
    assert_true(n >= 0);
    out[n] = 0;
}

static void service_manager_is_reported(void **state)
{
    (void)state;
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    socklen_t len = sizeof at.sun_family; /* the kernel picks an abstract name */
    char name[sizeof at.sun_path + 1] = "@", notice[256];
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, len), 0);
    len = sizeof at;
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    memcpy(name + 1, at.sun_path + 1, len - sizeof at.sun_family - 1);
    setenv("NOTIFY_SOCKET", name, 1);
    struct subject s;
    subject_start(&s, ARGS("-Ds.word=x"));
    unsetenv("NOTIFY_SOCKET");
    next_notice(fd, notice, sizeof notice);
    assert_string_equal(notice, "READY=1\nSTATUS=ready");
    subject_await(&s, &s.out, "ready after");
    kill(s.pid, SIGHUP);
    next_notice(fd, notice, sizeof notice);
    assert_true(str_starts(notice, "RELOADING=1\nMONOTONIC_USEC="));
    next_notice(fd, notice, sizeof notice);
    assert_string_equal(notice, "READY=1");
    kill(s.pid, SIGTERM);
    next_notice(fd, notice, sizeof notice);
    assert_string_equal(notice, "STOPPING=1");
    assert_int_equal(subject_end(&s), 0);
    subject_fini(&s);
    close(fd);
}

/* The subject inherits a low soft limit and raises it to the hard one before its first part starts. */
static void limit_of_descriptors_is_raised(void **state)
{
    (void)state;
    struct rlimit before, limit;
    struct subject s;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    limit = (struct rlimit){256, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    subject_start(&s, ARGS("--log-format=json"));
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    subject_await(&s, &s.out, "first up");
    assert_int_equal(prlimit(s.pid, RLIMIT_NOFILE, NULL, &limit), 0);
    assert_int_equal(limit.rlim_cur, before.rlim_max);
    assert_int_equal(limit.rlim_max, before.rlim_max);
    subject_await(&s, &s.out, "ready after");
    kill(s.pid, SIGTERM);
    assert_int_equal(subject_end(&s), 0);
    assert_non_null(strstr(s.err.bytes, "\"event\":\"fdlimit_raised\""));
    subject_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signals_stop_it_in_reverse_order),
        cmocka_unit_test(failing_part_takes_the_others_down),
        cmocka_unit_test(a_part_may_end_the_program),
        cmocka_unit_test(lines_that_only_print),
        cmocka_unit_test(wrong_configuration_ends_a_start),
        cmocka_unit_test(warnings_are_logged_at_a_start),
        cmocka_unit_test(hangup_reads_reloadable_options_again),
        cmocka_unit_test(service_manager_is_reported),
        cmocka_unit_test(limit_of_descriptors_is_raised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
