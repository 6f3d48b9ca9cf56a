/** See child.h. */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

#define TAIL_BYTES    65536
#define LOOK_EVERY_US 10000

extern char **environ;

/** Our environment without the one variable that would change what a daemon reads. New array. */
static char **make_environment(void)
{
    size_t n = 0, k = 0;

    while (environ[n])
        n++;
    char **env = mem_array(n + 1, sizeof(char *));
    for (size_t i = 0; i < n; i++) {
        if (strncmp(environ[i], "HADOOP_CONF_DIR=", 16) != 0)
            env[k++] = environ[i];
    }
    return env;
}

struct start {
    char *const *argv;
    char **env;
    const char *dir;
    int stdout_fd, stderr_fd, report_fd;
    pid_t parent;
};

/** In the child, between fork and exec: only what is safe there. Reports errno through report_fd when it fails. */
_Noreturn static void become(const struct start *s)
{
    sigset_t none;

    sigemptyset(&none);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    bool is_ready = !prctl(PR_SET_PDEATHSIG, SIGTERM) && getppid() == s->parent && !setpgid(0, 0) &&
                    !sigprocmask(SIG_SETMASK, &none, NULL) && (!s->dir || !chdir(s->dir)) &&
                    dup2(s->stdout_fd, STDOUT_FILENO) >= 0 && dup2(s->stderr_fd, STDERR_FILENO) >= 0;
    int null_fd = open("/dev/null", O_RDONLY);
    if (is_ready && null_fd >= 0 && dup2(null_fd, STDIN_FILENO) >= 0)
        execvpe(s->argv[0], s->argv, s->env);
    int error = errno;
    ssize_t n = write(s->report_fd, &error, sizeof error);
    _exit(n == (ssize_t)sizeof error ? 126 : 127);
}

/** Fork and exec. @return 0 and *pid, once the program runs; errno. */
static int launch(struct start *s, pid_t *pid)
{
    int report[2], error = 0;

    if (pipe2(report, O_CLOEXEC))
        return errno;
    s->report_fd = report[1];
    s->parent = getpid();
    s->env = make_environment();
    *pid = fork();
    if (*pid == 0)
        become(s);
    error = *pid < 0 ? errno : 0;
    close(report[1]);
    free(s->env);
    /* Nothing comes when exec succeeded: the pipe closes. */
    bool has_report = !error && read(report[0], &error, sizeof error) == (ssize_t)sizeof error;
    close(report[0]);
    if (has_report)
        waitpid(*pid, NULL, 0);
    return error;
}

int child_start(const struct child_def *def, struct child *out, struct err_info *why)
{
    int fd = open(def->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

    if (fd < 0)
        return err_set(why, ERR_IO, def->log, "cannot be opened: %s", strerror(errno));
    struct start s = {.argv = def->argv, .dir = def->dir, .stdout_fd = fd, .stderr_fd = fd};
    int error = launch(&s, &out->pid);
    close(fd);
    if (error) {
        out->pid = 0;
        return err_set(why, ERR_IO, def->argv[0], "cannot be started: %s", strerror(error));
    }
    out->name = def->name;
    out->log = mem_str(def->log);
    return 0;
}

bool child_runs(struct child *c)
{
    if (c->pid && waitpid(c->pid, &c->status, WNOHANG) == c->pid)
        c->pid = 0;
    return c->pid != 0;
}

const char *child_end_text(const struct child *c, char out[40])
{
    if (WIFSIGNALED(c->status))
        snprintf(out, 40, "signal %d", WTERMSIG(c->status));
    else
        snprintf(out, 40, "exit code %d", WEXITSTATUS(c->status));
    return out;
}

/** End of the log, whole lines where it is long. */
static void read_tail(const struct child *c, struct buf *out)
{
    FILE *f = c->log ? fopen(c->log, "re") : NULL;

    if (!f)
        return;
    if (fseek(f, -TAIL_BYTES, SEEK_END))
        rewind(f);
    out->len = fread(buf_room(out, TAIL_BYTES), 1, TAIL_BYTES, f);
    out->bytes[out->len] = '\0';
    fclose(f);
}

char *child_last_line(const struct child *c)
{
    struct buf tail = BUF_EMPTY;
    const char *last = "", *last_error = NULL;
    char *line;

    read_tail(c, &tail);
    mem_auto char *text = buf_take(&tail);
    char *rest = text;
    while ((line = strsep(&rest, "\r\n"))) {
        if (line[0])
            last = line;
        if (strstr(line, " error "))
            last_error = line;
    }
    return mem_str(last_error ? last_error : last);
}

void child_end(struct child *c, int64_t limit_ms)
{
    int64_t end_ms = run_now_ms() + limit_ms;

    if (!child_runs(c))
        return;
    kill(c->pid, SIGTERM);
    while (child_runs(c) && run_now_ms() < end_ms)
        usleep(LOOK_EVERY_US);
    if (!child_runs(c))
        return;
    kill(c->pid, SIGKILL);
    waitpid(c->pid, &c->status, 0);
    c->pid = 0;
}

void child_fini(struct child *c)
{
    free(c->log);
    *c = (struct child){0};
}

/* ---- short runs ---- */

/** Wait until the program has ended or the user does not want to wait any more. */
static int await_end(struct wait *w, struct child *c)
{
    while (child_runs(c)) {
        if (wait_event(w, -1)) {
            child_end(c, 0);
            return ERR_CANCELLED;
        }
    }
    return 0;
}

static void read_output(int fd, struct buf *out)
{
    off_t at = 0;
    ssize_t n;

    do {
        n = pread(fd, buf_room(out, TAIL_BYTES), TAIL_BYTES, at);
        if (n > 0) {
            out->len += (size_t)n;
            at += n;
        }
    } while (n > 0);
    out->bytes[out->len] = '\0';
}

int child_run(struct wait *w, char *const *argv, struct buf *out, int *code, struct err_info *why)
{
    struct child c = {.name = argv[0]};
    int fd = memfd_create("output", MFD_CLOEXEC); /* a file never makes the writer wait, as a pipe would */
    int null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    struct start s = {.argv = argv, .stdout_fd = fd, .stderr_fd = null_fd};
    int error = fd < 0 || null_fd < 0 ? errno : launch(&s, &c.pid);
    int err = error ? err_set(why, ERR_IO, argv[0], "cannot be started: %s", strerror(error)) : 0;

    if (!err && await_end(w, &c))
        err = err_set(why, ERR_CANCELLED, argv[0], "interrupted");
    if (!err) {
        read_output(fd, out);
        *code = WIFSIGNALED(c.status) ? 128 + WTERMSIG(c.status) : WEXITSTATUS(c.status);
    }
    if (fd >= 0)
        close(fd);
    if (null_fd >= 0)
        close(null_fd);
    return err;
}
