#include "shim/payload.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

#define CGROUP_TRIES   50
#define CGROUP_WAIT_MS 10

/** One step of becoming the payload, in the child. @return 0, or -1 with errno. */
struct setup_step {
    const char *name;
    int (*run)(const struct shim_launch *l);
};

static int own_group(const struct shim_launch *l)
{
    (void)l;
    return setpgid(0, 0);
}

static int open_log(const struct shim_launch *l, const char *name, int as_fd)
{
    mem_auto char *path = mem_fmt("%s/%s", l->log_dir, name);
    /* The directory belongs to the container's user: what lies there may be a link to somebody else's file. */
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
    if (fd < 0)
        return -1;
    struct stat st;
    if (fstat(fd, &st))
        return -1;
    if (!S_ISREG(st.st_mode) || st.st_nlink != 1) {
        errno = EINVAL;
        return -1;
    }
    if (fcntl(fd, F_SETFL, O_APPEND))
        return -1;
    if (l->switch_user && fchown(fd, l->uid, l->gid))
        return -1;
    return dup2(fd, as_fd) < 0 ? -1 : 0;
}

static int open_stdio(const struct shim_launch *l)
{
    int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    if (null_fd < 0 || dup2(null_fd, STDIN_FILENO) < 0)
        return -1;
    if (open_log(l, SHIM_STDERR_FILE, STDERR_FILENO))
        return -1;
    return open_log(l, SHIM_STDOUT_FILE, STDOUT_FILENO);
}

static int enter_work_dir(const struct shim_launch *l)
{
    return chdir(l->work_dir);
}

static int set_rlimits(const struct shim_launch *l)
{
    for (size_t i = 0; i < l->n_rlimits; i++) {
        const struct shim_rlimit *r = &l->rlimits[i];
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

static int enter_cgroup(const struct shim_launch *l)
{
    return l->cgroup ? write_text(l->cgroup, "cgroup.procs", "0") : 0;
}

static int reset_signals(const struct shim_launch *l)
{
    sigset_t none;

    (void)l;
    for (int s = 1; s < NSIG; s++)
        signal(s, SIG_DFL); /* KILL, STOP and libc's own refuse: they have their default anyway. */
    sigemptyset(&none);
    return sigprocmask(SIG_SETMASK, &none, NULL);
}

static int switch_user(const struct shim_launch *l)
{
    if (!l->switch_user)
        return 0;
    if (setgroups(l->n_groups, l->groups) || setgid(l->gid) || setuid(l->uid))
        return -1;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/* After switch_user: a change of credentials clears it. */
static int die_with_shim(const struct shim_launch *l)
{
    (void)l;
    return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

static int run_command(const struct shim_launch *l)
{
    char *argv[] = {(char *)"sh", (char *)"-c", l->command, NULL};
    char *none[] = {NULL};

    execve("/bin/sh", argv, l->env ? l->env : none);
    return -1;
}

static const struct setup_step setup_steps[] = {
    {"process group", own_group},
    {"log files", open_stdio},
    {"working directory", enter_work_dir},
    {"resource limits", set_rlimits},
    {"cgroup", enter_cgroup},
    {"signals", reset_signals},
    {"switch of user", switch_user},
    {"parent death signal", die_with_shim},
    {"command /bin/sh", run_command},
};

static _Noreturn void become_payload(const struct shim_launch *l, pid_t shim, int report_fd)
{
    struct payload_failure fail = {.error = 0};

    for (size_t i = 0; i < sizeof(setup_steps) / sizeof(setup_steps[0]); i++) {
        if (getppid() != shim)
            _exit(127);
        if (setup_steps[i].run(l)) {
            fail.error = errno;
            snprintf(fail.step, sizeof(fail.step), "%s", setup_steps[i].name);
            break;
        }
    }
    ssize_t n = write(report_fd, &fail, sizeof(fail));
    _exit(n == (ssize_t)sizeof(fail) ? 126 : 125);
}

static int fail_here(struct payload_failure *fail, const char *step)
{
    fail->error = errno;
    snprintf(fail->step, sizeof(fail->step), "%s", step);
    return ERR_IO;
}

int payload_start(const struct shim_launch *l, pid_t *pid, struct payload_failure *fail)
{
    int pipe_fds[2];
    pid_t shim = getpid();

    if (pipe2(pipe_fds, O_CLOEXEC))
        return fail_here(fail, "pipe");
    pid_t child = fork();
    if (!child)
        become_payload(l, shim, pipe_fds[1]);
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
        n = read(pipe_fds[0], &report, sizeof(report));
    while (n < 0 && errno == EINTR);
    close(pipe_fds[0]);
    if (n == (ssize_t)sizeof(report)) {
        waitpid(child, NULL, 0);
        *fail = report;
        return ERR_IO;
    }
    *pid = child; /* The pipe was closed by exec (or by a death that waitpid will tell). */
    return 0;
}

struct signalling {
    pid_t group, self;
    int signal, n_sent;
};

static void signal_one(void *arg, pid_t pid, const struct shim_proc *proc)
{
    struct signalling *s = arg;

    if (pid == s->self || proc->state == 'Z')
        return;
    /* A subreaper's orphans become its own children: what left group or session is found by its parent. */
    if (proc->group != s->group && proc->session != s->self && proc->parent != s->self)
        return;
    if (!kill(pid, s->signal))
        s->n_sent++;
}

int payload_signal(pid_t group, int signal)
{
    struct signalling s = {group, getpid(), signal, 0};

    if (group > 0)
        kill(-group, signal);
    shim_proc_each(signal_one, &s);
    return s.n_sent;
}

static void set_limit(const char *dir, const char *file, const char *text)
{
    if (write_text(dir, file, text))
        fprintf(stderr, "cgroup limit %s=%s is not set: %s\n", file, text, strerror(errno));
}

bool payload_cgroup_make(const struct shim_launch *l)
{
    char text[64];

    if (!l->cgroup)
        return false;
    if (mkdir(l->cgroup, 0755) && errno != EEXIST) {
        fprintf(stderr, "cgroup %s is not made, there are no limits: %s\n", l->cgroup, strerror(errno));
        return false;
    }
    if (l->memory_bytes) {
        snprintf(text, sizeof(text), "%lld", (long long)l->memory_bytes);
        set_limit(l->cgroup, "memory.max", text);
    }
    if (l->cpu_milli) {
        snprintf(text, sizeof(text), "%lld 100000", (long long)l->cpu_milli * 100);
        set_limit(l->cgroup, "cpu.max", text);
    }
    return true;
}

void payload_cgroup_remove(const struct shim_launch *l)
{
    if (!l->cgroup)
        return;
    if (write_text(l->cgroup, "cgroup.kill", "1"))
        fprintf(stderr, "cgroup.kill: %s\n", strerror(errno));
    /* What was killed there leaves the group only when its parent has reaped it. */
    for (int i = 0; i < CGROUP_TRIES && rmdir(l->cgroup); i++) {
        if (errno != EBUSY)
            break;
        poll(NULL, 0, CGROUP_WAIT_MS);
    }
    if (!access(l->cgroup, F_OK))
        fprintf(stderr, "cgroup %s is not removed: %s\n", l->cgroup, strerror(errno));
}
