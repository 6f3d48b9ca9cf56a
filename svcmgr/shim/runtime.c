#include "shim/runtime.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"

/* A container that is stopped while its runtime makes it is not known yet: so often a stop is tried, twice a second. */
#define STOP_TRIES "1 2 3 4 5 6 7 8 9 10"

static _Noreturn void become_shell(const struct shim_launch *l, char *command)
{
    char *argv[] = {(char *)"sh", (char *)"-c", command, NULL};
    char *none[] = {NULL};
    sigset_t no_signals;
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

    sigemptyset(&no_signals);
    sigprocmask(SIG_SETMASK, &no_signals, NULL);
    signal(SIGPIPE, SIG_DFL);
    if (null_fd >= 0 && dup2(null_fd, STDIN_FILENO) >= 0 && dup2(null_fd, STDOUT_FILENO) >= 0)
        execve("/bin/sh", argv, l->env ? l->env : none);
    _exit(127);
}

static pid_t run(const struct shim_launch *l, char *command)
{
    pid_t pid = fork();

    if (!pid)
        become_shell(l, command);
    return pid;
}

pid_t runtime_stop(const struct shim_launch *l, int64_t grace_ms)
{
    mem_auto char *command =
        mem_fmt("for i in " STOP_TRIES "; do %s stop -t %" PRId64 " %s && exit; sleep 0.5; done", l->runtime,
                (grace_ms + 999) / 1000, l->runtime_id);

    return run(l, command);
}

pid_t runtime_signal(const struct shim_launch *l, int signal)
{
    mem_auto char *command = mem_fmt("exec %s kill --signal %d %s", l->runtime, signal, l->runtime_id);

    return run(l, command);
}

pid_t runtime_remove(const struct shim_launch *l)
{
    mem_auto char *command = mem_fmt("exec %s rm -f %s", l->runtime, l->runtime_id);

    return run(l, command);
}
