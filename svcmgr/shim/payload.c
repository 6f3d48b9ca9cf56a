#include "shim/payload.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "shim/cgroup.h"
#include "shim/rights.h"

#define PAYLOAD_UMASK 022

/** What the steps of becoming the payload have in common. */
struct setup {
    const struct shim_launch *l;
    const struct payload *p;
};

/** One step of becoming the payload, in the child. @return 0, or -1 with errno. */
struct setup_step {
    const char *name;
    int (*run)(struct setup *s);
};

static int own_group(struct setup *s)
{
    if (!s->p->has_session)
        return setpgid(0, 0);
    if (setsid() < 0)
        return -1;
    return s->p->has_terminal ? ioctl(s->p->stdio[0], TIOCSCTTY, 0) : 0;
}

static int set_stdio(struct setup *s)
{
    const int *stdio = s->p->stdio;
    int in = stdio[0] < 0 ? open("/dev/null", O_RDONLY | O_CLOEXEC) : stdio[0];

    if (in < 0 || dup2(in, STDIN_FILENO) < 0)
        return -1;
    return dup2(stdio[2], STDERR_FILENO) < 0 || dup2(stdio[1], STDOUT_FILENO) < 0 ? -1 : 0;
}

static int enter_work_dir(struct setup *s)
{
    return chdir(s->l->work_dir);
}

static int set_rlimits(struct setup *s)
{
    for (size_t i = 0; i < s->l->n_rlimits; i++) {
        const struct shim_rlimit *r = &s->l->rlimits[i];
        struct rlimit limit = {(rlim_t)r->soft, (rlim_t)r->hard};
        if (setrlimit((__rlimit_resource_t)r->resource, &limit))
            return -1;
    }
    return 0;
}

static int write_text(const char *dir, const char *file, const char *text)
{
    mem_auto char *path = mem_fmt("%s/%s", dir, file);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    size_t len = strlen(text);
    ssize_t n = write(fd, text, len);
    int error = errno;
    close(fd);
    errno = error;
    return n == (ssize_t)len ? 0 : -1;
}

static int enter_cgroup(struct setup *s)
{
    return cgroups_enter(s->l);
}

/** svcmgr may be protected from the kernel's choice when memory is short; a container is not. */
static int reset_oom_score(struct setup *s)
{
    char text[16] = "";
    int fd = open("/proc/self/oom_score_adj", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

    (void)s;
    if (fd >= 0)
        close(fd);
    if (n < 0)
        return -1;
    return text[0] == '-' ? write_text("/proc/self", "oom_score_adj", "0") : 0;
}

static int leave_keyring(struct setup *s)
{
    return rights_leave_keyring(&s->l->user);
}

static int set_file_mask(struct setup *s)
{
    (void)s;
    umask(PAYLOAD_UMASK);
    return 0;
}

static int reset_signals(struct setup *s)
{
    sigset_t none;

    (void)s;
    for (int sig = 1; sig < NSIG; sig++)
        signal(sig, SIG_DFL); /* KILL, STOP and libc's own refuse: they have their default anyway. */
    sigemptyset(&none);
    return sigprocmask(SIG_SETMASK, &none, NULL);
}

static int switch_user(struct setup *s)
{
    return s->l->runtime ? 0 : rights_take(&s->l->user); /* A runtime is ours: it switches what it runs. */
}

/* After switch_user: a change of credentials clears it. */
static int die_with_shim(struct setup *s)
{
    (void)s;
    return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

static int run_command(struct setup *s)
{
    char *argv[] = {(char *)"sh", (char *)"-c", s->l->command, NULL};
    char *none[] = {NULL};
    char **env = s->p->env ? s->p->env : s->l->env ? s->l->env : none;

    environ = env; /* In whose PATH execvp looks. */
    if (s->p->words)
        execvp(s->p->words[0], s->p->words);
    else
        execve("/bin/sh", argv, env);
    return -1;
}

static const struct setup_step setup_steps[] = {
    {"process group", own_group},
    {"working directory", enter_work_dir},
    {"resource limits", set_rlimits},
    {"cgroup", enter_cgroup},
    {"out-of-memory score", reset_oom_score},
    {"session keyring", leave_keyring},
    {"file mode mask", set_file_mask},
    {"signals", reset_signals},
    {"switch of user", switch_user},
    {"parent death signal", die_with_shim},
    {"standard output", set_stdio},
    {"command", run_command},
};

static _Noreturn void become_payload(const struct shim_launch *l, const struct payload *p, pid_t shim,
                                     int report_fd)
{
    struct payload_failure fail = {.error = 0};
    struct setup s = {.l = l, .p = p};

    for (size_t i = 0; i < sizeof setup_steps / sizeof setup_steps[0]; i++) {
        if (getppid() != shim)
            _exit(127);
        if (setup_steps[i].run(&s)) {
            fail.error = errno;
            fail.is_of_command = setup_steps[i].run == run_command;
            snprintf(fail.step, sizeof fail.step, "%s", setup_steps[i].name);
            break;
        }
    }
    ssize_t n = write(report_fd, &fail, sizeof fail);
    _exit(n == (ssize_t)sizeof fail ? 126 : 125);
}

int payload_parent_signals(void)
{
    sigset_t wanted;

    setsid(); /* Fails when we lead a session already, which is as good. */
    signal(SIGHUP, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGCHLD);
    sigaddset(&wanted, SIGTERM);
    sigprocmask(SIG_BLOCK, &wanted, NULL);
    return signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
}

int payload_read_launch(struct shim_launch *l, struct err_info *why)
{
    buf_auto struct buf bytes = BUF_EMPTY;
    int fd = open(SHIM_LAUNCH_FILE, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return err_set(why, ERR_IO, SHIM_LAUNCH_FILE, "%s", strerror(errno));
    ssize_t n;
    do {
        n = read(fd, buf_room(&bytes, 65536), 65536);
        bytes.len += n > 0 ? (size_t)n : 0;
    } while (n > 0 && bytes.len <= SHIM_LAUNCH_MAX);
    int error = errno;
    close(fd);
    if (n < 0)
        return err_set(why, ERR_IO, SHIM_LAUNCH_FILE, "%s", strerror(error));
    if (bytes.len > SHIM_LAUNCH_MAX)
        return err_set(why, ERR_TOOBIG, SHIM_LAUNCH_FILE, "the launch file is larger than %d bytes",
                       SHIM_LAUNCH_MAX);
    return shim_launch_read(buf_cstr(&bytes), bytes.len, l, why);
}

static int fail_here(struct payload_failure *fail, const char *step)
{
    fail->error = errno;
    snprintf(fail->step, sizeof fail->step, "%s", step);
    return ERR_IO;
}

int payload_start(const struct shim_launch *l, const struct payload *p, pid_t *pid,
                  struct payload_failure *fail)
{
    int pipe_fds[2];
    pid_t shim = getpid();

    if (pipe2(pipe_fds, O_CLOEXEC))
        return fail_here(fail, "pipe");
    pid_t child = fork();
    if (!child)
        become_payload(l, p, shim, pipe_fds[1]);
    int fork_errno = errno;
    close(pipe_fds[1]);
    if (child < 0) {
        close(pipe_fds[0]);
        errno = fork_errno;
        return fail_here(fail, "fork");
    }
    struct payload_failure report;
    ssize_t n;
    do
        n = read(pipe_fds[0], &report, sizeof report);
    while (n < 0 && errno == EINTR);
    close(pipe_fds[0]);
    if (n == (ssize_t)sizeof report) {
        waitpid(child, NULL, 0);
        *fail = report;
        return ERR_IO;
    }
    *pid = child; /* The pipe was closed by exec (or by a death that waitpid will report). */
    return 0;
}
