/**
 * container-shim: keeps one container. svcmgr starts it in the container's directory (wire.h) and may die and come back
 * as it likes; the shim stays until nothing of the container is left, and then writes the exit file.
 *
 *   RUNNING --stop--> STOPPING (SIGTERM to the group) --grace over--> (SIGKILL to the group)
 *      |                  |
 *      +---- the process ended ----> ENDING: leftovers get SIGTERM, then SIGKILL ----> no child left: exit file, end
 *
 * It sleeps until something happens. What is left is known from waitpid: while it says that there is a child, and only
 * then, /proc is read, with a growing pause between two looks.
 *
 * As `container-shim exec` it is something else: the parent of a command that is executed in a container, see exec.h.
 *
 * Source: ours; prctl(2) PR_SET_CHILD_SUBREAPER.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/backoff.h"
#include "base/str.h"
#include "shim/cgroup.h"
#include "shim/descendants.h"
#include "shim/exec.h"
#include "shim/output.h"
#include "shim/payload.h"
#include "shim/runtime.h"
#include "shim/wire.h"

#define N_CLIENTS         16
#define LEFTOVER_MS       250 /* between SIGTERM and SIGKILL for what outlives the process; YARN's own figure */
#define KILL_RETRY_MS     50   /* after the first SIGKILL to what is left; doubles … */
#define KILL_RETRY_MAX    1000 /* … up to this */
#define FIRST_OUTPUT_AT   2    /* in the poll table: after the listener and the signals */
#define FIRST_CLIENT_AT   (FIRST_OUTPUT_AT + OUTPUT_N)
#define SHELL_SIGNAL_BASE 128  /* a shell hands the signal of its child on as a code from there */
#define EXIT_RETRY_MS     1000 /* between two tries to write the exit file */

#define RUNTIME_STOP_MS                                                                                      \
    2000 /* more than the grace that a container runtime is given to end a container by itself */
#define RUNTIME_END_MS 10000 /* for it to clean up after a container */

enum phase { PHASE_RUNNING, PHASE_STOPPING, PHASE_ENDING };

struct client {
    int fd; /* -1: free */
    bool wants_exit;
    size_t len;
    char line[64];
};

struct shim {
    struct shim_launch launch;
    struct shim_status status;
    struct shim_exit exit;
    enum phase phase;
    int64_t kill_at_ms; /* monotonic; 0: no deadline */
    int64_t kill_retry_ms;
    int listen_fd, signal_fd;
    bool is_removed; /* the container runtime was asked to remove the container */
    int address_fd;  /* claim of the container's address, held while a process may use it; -1: none */
    struct outputs outputs;
    struct client clients[N_CLIENTS];
};

static int64_t clock_ms(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- files ---- */

/** Write `name` so that it is there whole, or not at all. @param is_durable  also after a loss of power @return it is there */
static bool write_file(const char *name, const char *text, size_t len, mode_t mode, bool is_durable)
{
    char aside[64];

    snprintf(aside, sizeof aside, "%s.new", name);
    int fd = open(aside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    bool is_written = fd >= 0 && write(fd, text, len) == (ssize_t)len && (!is_durable || !fsync(fd));
    if (fd >= 0)
        close(fd);
    if (!is_written || rename(aside, name)) {
        fprintf(stderr, "file %s is not written: %s\n", name, strerror(errno));
        return false;
    }
    if (!is_durable)
        return true;
    int dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0 || fsync(dir))
        fprintf(stderr, "directory is not synced: %s\n", strerror(errno));
    if (dir >= 0)
        close(dir);
    return true;
}

/* ---- the control socket ---- */

static void drop_client(struct client *c)
{
    close(c->fd);
    *c = (struct client){.fd = -1};
}

static void send_line(struct client *c, const char *line, size_t len)
{
    if (send(c->fd, line, len, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)len)
        drop_client(c);
}

static void take_client(struct shim *s, int fd)
{
    for (size_t i = 0; i < N_CLIENTS; i++) {
        if (s->clients[i].fd >= 0)
            continue;
        s->clients[i] = (struct client){.fd = fd};
        return;
    }
    close(fd);
}

static int listen_here(void)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};

    /* A relative name: the directory may be longer than the 108 bytes of sun_path. */
    snprintf(name.sun_path, sizeof name.sun_path, "%s", SHIM_SOCKET_FILE);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    unlink(SHIM_SOCKET_FILE);
    mode_t mask = umask(0177);
    int failed = bind(fd, (struct sockaddr *)&name, sizeof name) || listen(fd, N_CLIENTS);
    umask(mask);
    if (!failed)
        return fd;
    close(fd);
    return -1;
}

/* ---- stopping ---- */

/** The process is our child and not reaped: its number is still its own, and so is its group's. */
static void signal_group(const struct shim *s, int signal)
{
    kill(s->status.pid, signal);
    kill(-s->status.pid, signal);
}

/** The polite end: of a container by its runtime, which knows the image's own signal. */
static void ask_to_end(const struct shim *s, int64_t grace_ms)
{
    if (s->launch.runtime)
        runtime_stop(&s->launch, grace_ms);
    else
        signal_group(s, SIGTERM);
}

static void begin_stop(struct shim *s, int64_t grace_ms)
{
    int64_t kill_at = clock_ms(CLOCK_MONOTONIC) + grace_ms + (s->launch.runtime ? RUNTIME_STOP_MS : 0);

    s->status.stopping = true;
    s->exit.was_stopped = true;
    if (s->phase == PHASE_RUNNING) {
        s->phase = PHASE_STOPPING;
        s->kill_at_ms = kill_at;
        ask_to_end(s, grace_ms);
    } else if (s->launch.runtime && s->kill_at_ms > kill_at) {
        ask_to_end(s, grace_ms);
    }
    if (s->kill_at_ms > kill_at)
        s->kill_at_ms = kill_at; /* A second stop may only shorten the grace. */
}

static void payload_ended(struct shim *s, int wait_status)
{
    s->exit.ended_ms = clock_ms(CLOCK_REALTIME);
    s->exit.kind = WIFSIGNALED(wait_status) ? SHIM_SIGNALLED : SHIM_EXITED;
    s->exit.code = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
    s->phase = PHASE_ENDING;
    s->kill_retry_ms = KILL_RETRY_MS;
}

/** The process has ended and left others behind: they get what is left of a stop's grace, else a short one. */
static void begin_leftovers(struct shim *s)
{
    if (s->launch.runtime) { /* Its own helpers, which end by themselves. */
        s->kill_at_ms = clock_ms(CLOCK_MONOTONIC) + RUNTIME_END_MS;
        return;
    }
    if (!s->kill_at_ms)
        s->kill_at_ms = clock_ms(CLOCK_MONOTONIC) + LEFTOVER_MS;
    descendants_signal(SIGTERM);
}

/** Nothing is left of the container but what its runtime keeps. @return whether a process of the runtime removes that now */
static bool remove_by_runtime(struct shim *s)
{
    if (!s->launch.runtime || s->is_removed)
        return false;
    s->is_removed = true;
    s->kill_at_ms = clock_ms(CLOCK_MONOTONIC) + RUNTIME_END_MS;
    return runtime_remove(&s->launch) > 0;
}

/** @return false: no child is left. */
static bool reap(struct shim *s)
{
    bool has_ended = false;

    for (;;) {
        int wait_status;
        pid_t pid = waitpid(-1, &wait_status, WNOHANG);
        if (pid == s->status.pid) {
            payload_ended(s, wait_status);
            has_ended = true;
        }
        if (pid > 0)
            continue;
        bool is_left = pid == 0 || errno != ECHILD;
        if (has_ended && is_left)
            begin_leftovers(s);
        return is_left || (s->phase == PHASE_ENDING && remove_by_runtime(s));
    }
}

/* ---- commands and signals ---- */

static void send_signal(const struct shim *s, int signal)
{
    if (s->phase == PHASE_ENDING)
        return;
    if (s->launch.runtime)
        runtime_signal(&s->launch, signal);
    else
        signal_group(s, signal);
}

static void obey(struct shim *s, struct client *c, const char *line)
{
    char out[SHIM_LINE_MAX];
    int64_t grace_ms, signal;

    if (!strcmp(line, "status"))
        send_line(c, out, shim_status_write(&s->status, out));
    else if (!strcmp(line, "wait"))
        c->wants_exit = true;
    else if (str_starts(line, "stop ") && !str_to_i64(line + 5, 0, INT32_MAX, &grace_ms))
        begin_stop(s, grace_ms);
    else if (str_starts(line, "signal ") && !str_to_i64(line + 7, 1, NSIG - 1, &signal))
        send_signal(s, (int)signal);
    else
        drop_client(c);
}

static void hear(struct shim *s, struct client *c)
{
    ssize_t n = recv(c->fd, c->line + c->len, sizeof c->line - 1 - c->len, MSG_DONTWAIT);

    if (n <= 0) {
        if (n == 0 || (errno != EAGAIN && errno != EINTR))
            drop_client(c);
        return;
    }
    c->len += (size_t)n;
    char *end;
    while (c->fd >= 0 && (end = memchr(c->line, '\n', c->len))) {
        char line[sizeof c->line];
        size_t len = (size_t)(end - c->line);
        memcpy(line, c->line, len);
        line[len] = '\0';
        c->len -= len + 1;
        memmove(c->line, end + 1, c->len);
        obey(s, c, line);
    }
    if (c->len == sizeof c->line - 1)
        drop_client(c);
}

static void hear_signals(struct shim *s)
{
    struct signalfd_siginfo got;

    while (read(s->signal_fd, &got, sizeof got) == (ssize_t)sizeof got)
        if (got.ssi_signo == SIGTERM)
            begin_stop(s, s->launch.grace_ms);
}

static void kill_when_due(struct shim *s)
{
    int64_t now = clock_ms(CLOCK_MONOTONIC);

    if (!s->kill_at_ms || now < s->kill_at_ms)
        return;
    if (s->phase == PHASE_ENDING) {
        if (!cgroups_kill(s->launch.cgroups, s->launch.n_cgroups))
            descendants_signal(SIGKILL); /* One may fork while the list is read: again until none is left. */
        s->kill_at_ms = now + s->kill_retry_ms;
        s->kill_retry_ms = backoff_next(s->kill_retry_ms, KILL_RETRY_MS, KILL_RETRY_MAX);
        return;
    }
    signal_group(s, SIGKILL);
    s->kill_at_ms = now + KILL_RETRY_MAX;
}

/** How long nothing is due; -1: for ever. */
static int64_t idle_ms(const struct shim *s)
{
    int64_t wait_ms = s->kill_at_ms ? s->kill_at_ms - clock_ms(CLOCK_MONOTONIC) : -1;

    return s->kill_at_ms && wait_ms < 0 ? 0 : wait_ms;
}

static void serve_once(struct shim *s, int64_t wait_ms)
{
    struct pollfd polled[FIRST_CLIENT_AT + N_CLIENTS];

    polled[0] = (struct pollfd){s->listen_fd, POLLIN, 0};
    polled[1] = (struct pollfd){s->signal_fd, POLLIN, 0};
    for (size_t i = 0; i < OUTPUT_N; i++)
        polled[FIRST_OUTPUT_AT + i] = (struct pollfd){s->outputs.items[i].pipe_fd, POLLIN, 0};
    for (size_t i = 0; i < N_CLIENTS; i++)
        polled[FIRST_CLIENT_AT + i] = (struct pollfd){s->clients[i].fd, POLLIN, 0};
    if (poll(polled, FIRST_CLIENT_AT + N_CLIENTS, (int)wait_ms) < 0)
        return;
    for (size_t i = 0; i < OUTPUT_N; i++)
        if (polled[FIRST_OUTPUT_AT + i].revents)
            output_take(&s->outputs, &s->outputs.items[i]);
    for (size_t i = 0; i < N_CLIENTS; i++)
        if (polled[FIRST_CLIENT_AT + i].revents)
            hear(s, &s->clients[i]);
    if (polled[1].revents)
        hear_signals(s);
    if (polled[0].revents) {
        int fd = accept4(s->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0)
            take_client(s, fd);
    }
}

/* ---- the whole way ---- */

static void set_up(struct shim *s)
{
    struct stat born;

    for (size_t i = 0; i < N_CLIENTS; i++)
        s->clients[i].fd = -1;
    for (size_t i = 0; i < OUTPUT_N; i++)
        s->outputs.items[i].pipe_fd = s->outputs.items[i].file_fd = -1;
    s->outputs.dir_fd = -1;
    /* Before anything else is opened: the number would be taken then. */
    if (!fstat(SHIM_BORN_FD, &born) && S_ISSOCK(born.st_mode) && !fcntl(SHIM_BORN_FD, F_SETFD, FD_CLOEXEC))
        take_client(s, SHIM_BORN_FD);
    fcntl(SHIM_LOCK_FD, F_SETFD, FD_CLOEXEC); /* Held until we end, and not inherited. */
    bool has_claim = !fstat(SHIM_ADDRESS_FD, &born) && S_ISSOCK(born.st_mode) &&
                     !fcntl(SHIM_ADDRESS_FD, F_SETFD, FD_CLOEXEC);
    s->address_fd = has_claim ? SHIM_ADDRESS_FD : -1;
    /* Nothing else of the starter's is ours, nor the container's. */
    close_range(has_claim ? SHIM_ADDRESS_FD + 1 : SHIM_ADDRESS_FD, ~0u, 0);
    s->signal_fd = payload_parent_signals();
}

/** Say who we are before there is a process: whoever finds us dead looks for what we left by that. */
static void report_identity(struct shim *s)
{
    struct shim_proc proc;
    char line[SHIM_LINE_MAX];

    s->status.shim = getpid();
    if (!shim_proc_read(getpid(), &proc))
        s->status.shim_start = proc.start;
    if (shim_boot_id(s->status.boot))
        fprintf(stderr, "the boot's id cannot be read: %s\n", strerror(errno));
    write_file(SHIM_RUNNING_FILE, line, shim_status_write(&s->status, line), 0644, false);
}

static int start_payload(struct shim *s)
{
    struct payload_failure fail = {.error = 0};
    struct payload payload = {.stdio = {-1}};
    int *stdio = &payload.stdio[STDOUT_FILENO];

    if (outputs_open(&s->outputs, &s->launch, stdio)) {
        s->exit.code = errno;
        snprintf(s->exit.text, sizeof s->exit.text, "log files");
        return ERR_IO;
    }
    int err = payload_start(&s->launch, &payload, &s->status.pid, &fail);
    for (size_t i = 0; i < OUTPUT_N; i++)
        close(stdio[i]);
    if (!err)
        return 0;
    s->exit.code = fail.error;
    snprintf(s->exit.text, sizeof s->exit.text, "%s", fail.step);
    return ERR_IO;
}

static int start(struct shim *s)
{
    struct err_info why = {0};
    struct shim_proc proc = {0};
    char line[SHIM_LINE_MAX];

    s->exit.kind = SHIM_NOT_STARTED;
    s->listen_fd = listen_here();
    if (s->listen_fd < 0 || s->signal_fd < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)) {
        s->exit.code = errno;
        snprintf(s->exit.text, sizeof s->exit.text, "control socket");
        return ERR_IO;
    }
    if (payload_read_launch(&s->launch, &why)) {
        s->exit.code = EINVAL;
        snprintf(s->exit.text, sizeof s->exit.text, "launch file: %.140s", why.text);
        return ERR_IO;
    }
    report_identity(s);
    if (cgroups_make(&s->launch)) {
        s->exit.code = errno;
        snprintf(s->exit.text, sizeof s->exit.text, "cgroup, which yarn.service.local.cgroups requires");
        return ERR_IO;
    }
    if (start_payload(s))
        return ERR_IO;
    s->status.started_ms = s->exit.started_ms = clock_ms(CLOCK_REALTIME);
    if (!shim_proc_read(s->status.pid, &proc))
        s->status.pid_start = proc.start;
    write_file(SHIM_RUNNING_FILE, line, shim_status_write(&s->status, line), 0644, false);
    return 0;
}

/** @return whether a client has received it. */
static bool report_exit(struct shim *s, const char *line, size_t len)
{
    bool is_received = false;

    for (size_t i = 0; i < N_CLIENTS; i++) {
        struct client *c = &s->clients[i];
        if (c->fd < 0 || !c->wants_exit)
            continue;
        send_line(c, line, len);
        is_received = is_received || c->fd >= 0;
    }
    return is_received;
}

/** By SIGKILL, and not by us. */
static bool was_killed(const struct shim_exit *e)
{
    bool is_kill = e->kind == SHIM_SIGNALLED ? e->code == SIGKILL : e->code == SHELL_SIGNAL_BASE + SIGKILL;

    return is_kill && !e->was_stopped;
}

/** Commands that are executed in the container end with it; one that came in meanwhile, too. */
static void leave_cgroups(const struct shim *s)
{
    int failed = -1;

    for (int i = 0; failed && i < 2; i++) {
        cgroups_kill(s->launch.cgroups, s->launch.n_cgroups);
        failed = cgroups_remove(s->launch.cgroups, s->launch.n_cgroups);
    }
    if (failed)
        fprintf(stderr, "a cgroup is not removed: %s\n", strerror(errno));
}

static void finish(struct shim *s)
{
    char line[SHIM_LINE_MAX];

    if (s->address_fd >= 0)
        close(s->address_fd); /* Before anybody hears of the end: the next container may have it at once. */
    outputs_close(&s->outputs);
    if (s->outputs.tail_len)
        write_file(SHIM_TAIL_FILE, s->outputs.tail, s->outputs.tail_len, 0600, false);
    if (s->exit.kind != SHIM_NOT_STARTED)
        s->exit.was_memory =
            cgroups_say(&s->launch, s->exit.text, sizeof s->exit.text) && was_killed(&s->exit);
    leave_cgroups(s);
    if (!s->exit.ended_ms)
        s->exit.ended_ms = clock_ms(CLOCK_REALTIME);
    size_t len = shim_exit_write(&s->exit, line);
    /* Without disk space for the file we stay until there is some, or until a client has received it. */
    bool is_kept = write_file(SHIM_EXIT_FILE, line, len, 0644, true);
    while (!is_kept && !report_exit(s, line, len)) {
        serve_once(s, EXIT_RETRY_MS);
        is_kept = write_file(SHIM_EXIT_FILE, line, len, 0644, true);
    }
    unlink(SHIM_SOCKET_FILE);
    close(s->listen_fd);
    /* Commands that came in with the end are still heard, so that a `wait` gets its answer. */
    for (size_t i = 0; i < N_CLIENTS; i++)
        if (s->clients[i].fd >= 0)
            hear(s, &s->clients[i]);
    if (is_kept)
        report_exit(s, line, len);
    shim_launch_fini(&s->launch);
}

int main(int argc, char **argv)
{
    static struct shim s;

    if (argc == 2 && !strcmp(argv[1], "exec"))
        return exec_run();
    if (argc > 1) {
        fprintf(stderr, "%s takes no arguments but exec: svcmgr starts it in a container's directory\n",
                argv[0]);
        return err_exit_code(ERR_USAGE);
    }
    set_up(&s);
    if (!start(&s)) {
        while (reap(&s)) {
            serve_once(&s, idle_ms(&s));
            kill_when_due(&s);
        }
    }
    finish(&s);
    return 0;
}
