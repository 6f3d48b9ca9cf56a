#include "shim/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/backoff.h"
#include "base/mem.h"
#include "base/obj.h"
#include "exec/frame.h"
#include "shim/descendants.h"
#include "shim/exec_image.h"
#include "shim/exec_wire.h"
#include "shim/payload.h"

#define N_OUTPUTS       2                      /* standard output, or the terminal; standard error */
#define OUT_FULL        (4 * EXEC_PAYLOAD_MAX) /* with so much to be sent nothing more is read from the command */
#define CREDIT_EVERY    (EXEC_WINDOW / 4)
#define HANGUP_MS       1000 /* between SIGHUP and SIGKILL when the client has left */
#define LEFTOVER_MS     250  /* the same for what outlives the command */
#define KILL_RETRY_MS   50
#define KILL_RETRY_MAX  1000
#define RUNTIME_END_MS  10000 /* for a container runtime to notice the end */
#define LAST_OUTPUT_MS  500   /* for the last octets of a terminal, when no process is left */
#define LINGER_MS       2000  /* for the client to take the last frame */
#define KEEP_IDLE_S     30    /* of silence, then the kernel asks whether the client is there … */
#define KEEP_INTERVAL_S 10
#define KEEP_TRIES      3
#define SAYS_TWICE      2 /* the end of file: behind a line that has no end, and at the begin of one */

/** What runs when the client named no command. */
#define SHELL "exec \"$(command -v bash || echo sh)\""

enum phase { PHASE_RUNNING, PHASE_ENDING, PHASE_FLUSHING };

struct session {
    struct shim_launch launch;
    struct exec_ask ask;
    char mark[EXEC_MARK_MAX]; /* of an image's processes */
    int signal_fd;
    int in_fd;              /* standard input, or the terminal; -1: closed */
    int out_fds[N_OUTPUTS]; /* -1: it has ended, or there is none */
    int slave_fd; /* of the terminal, while the command runs: who closes its own last would hang it up for itself */
    struct buf received; /* from the client: of a frame that is not whole */
    struct buf in;       /* on its way to in_fd, at most EXEC_WINDOW */
    struct buf out;      /* on its way to the client */
    uint32_t n_window;   /* octets that the client may send now */
    uint32_t n_credit;   /* taken from `in` and not said to the client yet */
    bool is_in_over;     /* the end of the input came */
    bool is_client_gone, is_svcmgr_gone;
    bool is_sent; /* all was said, and our side of the connection is shut */
    enum phase phase;
    pid_t pid;      /* of the command; 0: it has ended, or never ran */
    bool has_child; /* some process of ours is left */
    bool is_empty;  /* nothing of the command is left */
    int code;       /* exit code for the client */
    int64_t kill_at_ms, kill_retry_ms;
    int64_t runtime_kill_ms; /* of an image: then the runtime itself is killed */
    int64_t last_output_ms;  /* no process was left then; 0: not yet */
    int64_t linger_ms;       /* until then the client is waited for; 0: not yet */
};

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static bool is_image(const struct session *s)
{
    return s->launch.runtime != NULL;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/** The terminal has one descriptor for both directions. */
static void close_in(struct session *s)
{
    if (!s->ask.has_terminal)
        close_fd(&s->in_fd);
    s->in_fd = -1;
    buf_clear(&s->in);
}

static void close_outputs(struct session *s)
{
    if (s->out_fds[0] == s->in_fd)
        close_in(s);
    for (size_t i = 0; i < N_OUTPUTS; i++)
        close_fd(&s->out_fds[i]);
    close_fd(&s->slave_fd);
}

/* ---- signals ---- */

/** To all processes that the command has started, and itself. */
static void signal_all(const struct session *s, int signal)
{
    if (is_image(s))
        exec_image_signal(s->mark, signal);
    else
        descendants_signal(signal);
}

/** A signal of the client: for the group of the command, or the processes of an image. */
static void forward_signal(const struct session *s, int signal)
{
    if (signal < 1 || signal >= NSIG || !s->pid)
        return;
    if (is_image(s))
        exec_image_signal(s->mark, signal);
    else
        kill(-s->pid, signal);
}

/** Nobody is there any more, or the command has ended: what is left has to end. */
static void begin_end(struct session *s)
{
    if (s->phase != PHASE_RUNNING)
        return;
    bool is_hangup = s->pid != 0;
    s->phase = PHASE_ENDING;
    s->kill_retry_ms = KILL_RETRY_MS;
    s->kill_at_ms = now_ms() + (is_hangup ? HANGUP_MS : LEFTOVER_MS);
    s->runtime_kill_ms = now_ms() + RUNTIME_END_MS;
    if (is_hangup) {
        close_in(s);
        close_outputs(s); /* Of a terminal the kernel says so, too. */
    }
    if (is_hangup && is_image(s))
        kill(-s->pid, SIGHUP); /* The call itself, which may not have started anything yet. */
    if (is_hangup || s->has_child) {
        signal_all(s, SIGHUP);
        signal_all(s, SIGCONT);
    }
}

static void kill_when_due(struct session *s)
{
    int64_t now = now_ms();

    if (s->phase != PHASE_ENDING || s->is_empty || now < s->kill_at_ms)
        return;
    signal_all(s, SIGKILL); /* One may fork while the list is read: again until none is left. */
    if (is_image(s) && now >= s->runtime_kill_ms)
        descendants_signal(SIGKILL);
    s->kill_at_ms = now + s->kill_retry_ms;
    s->kill_retry_ms = backoff_next(s->kill_retry_ms, KILL_RETRY_MS, KILL_RETRY_MAX);
}

/* ---- what the client says ---- */

static void say_error(struct session *s, const char *text)
{
    exec_frame_put(&s->out, EXEC_ERROR, text, strlen(text));
}

static void send_out(struct session *s)
{
    ssize_t n = send(EXEC_CLIENT_FD, s->out.bytes, s->out.len, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (n > 0)
        buf_drop(&s->out, (size_t)n);
    else if (n < 0 && errno != EAGAIN && errno != EINTR)
        s->is_client_gone = true;
}

/** Of a terminal the end of file is a character, which ends a read when it is at the begin of a line. */
static void end_input(struct session *s)
{
    struct termios t;

    s->is_in_over = true;
    if (s->ask.has_terminal && s->in_fd >= 0 && !tcgetattr(s->in_fd, &t))
        for (int i = 0; i < SAYS_TWICE; i++)
            buf_add_char(&s->in, (char)t.c_cc[VEOF]);
}

/** @return false: the client does not keep to the protocol. */
static bool take_input(struct session *s, const struct exec_frame *f)
{
    if (s->is_in_over || f->len > s->n_window)
        return false;
    s->n_window -= (uint32_t)f->len;
    if (!f->len)
        end_input(s);
    else if (s->in_fd >= 0)
        buf_add(&s->in, f->payload, f->len);
    else
        s->n_credit += (uint32_t)f->len; /* Nobody reads it: as a pipe without a reader, but for a signal. */
    return true;
}

static void set_size(const struct session *s, unsigned rows, unsigned columns)
{
    const struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns};

    if (s->ask.has_terminal && s->out_fds[0] >= 0)
        ioctl(s->out_fds[0], TIOCSWINSZ, &size);
}

static bool take_frame(struct session *s, const struct exec_frame *f)
{
    switch (f->kind) {
    case EXEC_STDIN: return take_input(s, f);
    case EXEC_RESIZE: set_size(s, f->rows, f->columns); return true;
    case EXEC_SIGNAL: forward_signal(s, (int)f->number); return true;
    default: return false;
    }
}

static void take_frames(struct session *s)
{
    size_t at = 0;
    struct exec_frame f;
    int n;

    while ((n = exec_frame_read(s->received.bytes + at, s->received.len - at, EXEC_CLIENT, &f)) > 0 &&
           take_frame(s, &f))
        at += (size_t)n;
    buf_drop(&s->received, at);
    if (n == 0)
        return;
    say_error(s, "the client does not keep to the protocol of exec sessions");
    send_out(s);
    s->is_client_gone = true;
}

static void hear_client(struct session *s)
{
    ssize_t n =
        recv(EXEC_CLIENT_FD, buf_room(&s->received, EXEC_PAYLOAD_MAX), EXEC_PAYLOAD_MAX, MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        s->is_client_gone = true;
        return;
    }
    if (s->phase == PHASE_FLUSHING)
        return; /* Read, so that the connection ends without a reset, and of no use any more. */
    s->received.len += (size_t)n;
    take_frames(s);
}

/* ---- octets on their way ---- */

static void give_credit(struct session *s)
{
    bool is_due = s->n_credit >= CREDIT_EVERY || !s->in.len;

    if (!is_due || !s->n_credit || s->is_in_over || s->out.len >= OUT_FULL)
        return;
    exec_frame_put_number(&s->out, EXEC_CREDIT, s->n_credit);
    s->n_window += s->n_credit;
    s->n_credit = 0;
}

static void write_input(struct session *s)
{
    ssize_t n = s->in.len ? write(s->in_fd, s->in.bytes, s->in.len) : 0;

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n < 0) {
        s->n_credit += (uint32_t)s->in.len;
        close_in(s);
    } else {
        s->n_credit += (uint32_t)n;
        buf_drop(&s->in, (size_t)n);
    }
}

/** @return false: nothing more is there now. */
static bool read_output(struct session *s, size_t i)
{
    char bytes[EXEC_PAYLOAD_MAX];
    ssize_t n = read(s->out_fds[i], bytes, sizeof bytes);

    if (n > 0) {
        exec_frame_put(&s->out, i ? EXEC_STDERR : EXEC_STDOUT, bytes, (size_t)n);
        return true;
    }
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    /* The end; of a terminal it is EIO: nobody has it open any more. */
    if (s->out_fds[i] == s->in_fd)
        close_in(s);
    close_fd(&s->out_fds[i]);
    return false;
}

/* ---- the end ---- */

static void command_ended(struct session *s, int wait_status)
{
    s->pid = 0;
    close_fd(&s->slave_fd);
    s->code = WIFSIGNALED(wait_status) ? EXEC_SIGNAL_BASE + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

static void reap(struct session *s)
{
    int wait_status;
    pid_t pid;

    while ((pid = waitpid(-1, &wait_status, WNOHANG)) > 0)
        if (pid == s->pid)
            command_ended(s, wait_status);
    s->has_child = pid == 0;
}

/** The helper of a runtime outlives the command, and may; when nobody is there it is waited for, as it may be starting the command. */
static bool is_process_left(const struct session *s)
{
    if (!is_image(s))
        return s->has_child;
    bool is_hangup = s->is_client_gone || s->is_svcmgr_gone;
    return s->pid || (is_hangup && s->has_child && now_ms() < s->runtime_kill_ms) ||
           exec_image_signal(s->mark, 0);
}

/** Whether all output was read. What is in a pipe is there when its writers have ended; a terminal takes a moment more. */
static bool is_output_over(struct session *s)
{
    bool is_over = true;

    if (!s->last_output_ms)
        s->last_output_ms = now_ms() + LAST_OUTPUT_MS;
    for (size_t i = 0; i < N_OUTPUTS; i++) {
        while (s->out_fds[i] >= 0 && s->out.len < OUT_FULL && read_output(s, i))
            continue;
        bool may_come = s->out_fds[i] >= 0 &&
                        (s->out.len >= OUT_FULL || (s->ask.has_terminal && now_ms() < s->last_output_ms));
        is_over = is_over && !may_come;
    }
    return is_over;
}

/** Take the next step towards the end, if it is time. */
static void advance(struct session *s)
{
    if (!s->pid || s->is_client_gone || s->is_svcmgr_gone)
        begin_end(s);
    if (s->phase == PHASE_ENDING && !s->is_empty)
        s->is_empty = !is_process_left(s);
    if (s->is_empty && s->phase == PHASE_ENDING && is_output_over(s)) {
        close_outputs(s);
        close_in(s);
        exec_frame_put_number(&s->out, EXEC_EXIT, (uint32_t)s->code);
        s->phase = PHASE_FLUSHING;
    }
    if (s->phase == PHASE_FLUSHING && !s->out.len && !s->is_sent) {
        s->is_sent = true;
        s->linger_ms = now_ms() + LINGER_MS;
        shutdown(EXEC_CLIENT_FD, SHUT_WR);
    }
}

static bool is_over(const struct session *s)
{
    return s->phase == PHASE_FLUSHING &&
           (s->is_client_gone || s->is_svcmgr_gone || (s->is_sent && now_ms() >= s->linger_ms));
}

/* ---- the loop ---- */

/** When something is due without an event; ms from now; -1: nothing. */
static int idle_ms(const struct session *s)
{
    int64_t now = now_ms(), at = 0;

    if (s->phase == PHASE_ENDING && s->is_empty)
        at = s->last_output_ms > now ? s->last_output_ms : 0;
    else if (s->phase == PHASE_ENDING)
        at = s->kill_at_ms;
    else if (s->is_sent)
        at = s->linger_ms;
    return !at ? -1 : at > now ? (int)(at - now) : 0;
}

enum { P_CLIENT, P_CONTROL, P_SIGNAL, P_IN, P_OUT, N_POLLED = P_OUT + N_OUTPUTS };

static void wait_for_events(const struct session *s, struct pollfd polled[N_POLLED])
{
    bool is_full = s->out.len >= OUT_FULL;
    bool is_heard = !s->is_client_gone;

    polled[P_CLIENT] = (struct pollfd){is_heard ? EXEC_CLIENT_FD : -1, POLLIN, 0};
    if (s->out.len)
        polled[P_CLIENT].events |= POLLOUT;
    polled[P_CONTROL] = (struct pollfd){s->is_svcmgr_gone ? -1 : EXEC_CONTROL_FD, POLLIN, 0};
    polled[P_SIGNAL] = (struct pollfd){s->signal_fd, POLLIN, 0};
    polled[P_IN] = (struct pollfd){s->in.len ? s->in_fd : -1, POLLOUT, 0};
    for (size_t i = 0; i < N_OUTPUTS; i++)
        polled[P_OUT + i] = (struct pollfd){is_full ? -1 : s->out_fds[i], POLLIN, 0};
    if (poll(polled, N_POLLED, idle_ms(s)) < 0)
        for (size_t i = 0; i < N_POLLED; i++)
            polled[i].revents = 0;
}

static void serve_once(struct session *s)
{
    struct pollfd polled[N_POLLED];
    struct signalfd_siginfo got;
    char none;

    wait_for_events(s, polled);
    while (polled[P_SIGNAL].revents && read(s->signal_fd, &got, sizeof got) == (ssize_t)sizeof got)
        s->is_svcmgr_gone = s->is_svcmgr_gone || got.ssi_signo == SIGTERM;
    if (polled[P_CONTROL].revents && recv(EXEC_CONTROL_FD, &none, 1, MSG_DONTWAIT) <= 0)
        s->is_svcmgr_gone = true;
    if (polled[P_CLIENT].revents & ~POLLOUT)
        hear_client(s);
    if (polled[P_IN].revents && s->in_fd >= 0)
        write_input(s);
    for (size_t i = 0; i < N_OUTPUTS; i++)
        if (polled[P_OUT + i].revents && s->out_fds[i] >= 0)
            read_output(s, i);
    if (s->is_in_over && !s->in.len && !s->ask.has_terminal)
        close_fd(&s->in_fd);
    give_credit(s);
    if (s->out.len && !s->is_client_gone)
        send_out(s);
    reap(s);
    if (s->is_svcmgr_gone && s->phase == PHASE_RUNNING)
        say_error(s, "svcmgr or the container has ended the session");
    kill_when_due(s);
    advance(s);
}

/* ---- the begin ---- */

static void set_up_client(void)
{
    int on = 1, idle = KEEP_IDLE_S, interval = KEEP_INTERVAL_S, tries = KEEP_TRIES;

    /* A client that vanished without a word is noticed. These fail only where the connection is no TCP. */
    setsockopt(EXEC_CLIENT_FD, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(EXEC_CLIENT_FD, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(EXEC_CLIENT_FD, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    setsockopt(EXEC_CLIENT_FD, IPPROTO_TCP, TCP_KEEPCNT, &tries, sizeof tries);
    setsockopt(EXEC_CLIENT_FD, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static void set_up(struct session *s)
{
    s->in_fd = s->out_fds[0] = s->out_fds[1] = s->slave_fd = -1;
    s->n_window = EXEC_WINDOW;
    for (int fd = 0; fd <= EXEC_CLIENT_FD; fd++)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    close_range(EXEC_CLIENT_FD + 1, ~0u, 0);
    s->signal_fd = payload_parent_signals();
    set_up_client();
}

static int read_ask(struct session *s, struct err_info *why)
{
    buf_auto struct buf bytes = BUF_EMPTY;
    ssize_t n;

    do {
        n = read(EXEC_ASK_FD, buf_room(&bytes, 65536), 65536);
        bytes.len += n > 0 ? (size_t)n : 0;
    } while (n > 0 && bytes.len <= EXEC_ASK_MAX);
    if (n < 0 || bytes.len > EXEC_ASK_MAX)
        return err_set(why, ERR_IO, NULL, "the request cannot be read");
    return exec_ask_read(buf_cstr(&bytes), bytes.len, &s->ask, why);
}

static int open_terminal(struct session *s, struct payload *p)
{
    const struct winsize size = {.ws_row = (unsigned short)s->ask.rows,
                                 .ws_col = (unsigned short)s->ask.columns};

    if (openpty(&s->in_fd, &s->slave_fd, NULL, NULL, &size))
        return -1;
    s->out_fds[0] = s->in_fd;
    for (size_t i = 0; i < ARRAY_LEN(p->stdio); i++)
        p->stdio[i] = s->slave_fd;
    p->has_terminal = true;
    fcntl(s->slave_fd, F_SETFD, FD_CLOEXEC);
    if (s->launch.user.is_set && !is_image(s) && fchown(s->slave_fd, s->launch.user.uid, (gid_t)-1))
        return -1;
    return fcntl(s->in_fd, F_SETFD, FD_CLOEXEC) || fcntl(s->in_fd, F_SETFL, O_NONBLOCK) ? -1 : 0;
}

static int open_pipes(struct session *s, struct payload *p)
{
    int *ours[] = {&s->in_fd, &s->out_fds[0], &s->out_fds[1]};
    int fds[2];

    for (size_t i = 0; i < ARRAY_LEN(ours); i++) {
        if (pipe2(fds, O_CLOEXEC))
            return -1;
        *ours[i] = fds[i == 0];
        p->stdio[i] = fds[i != 0];
        if (fcntl(*ours[i], F_SETFL, O_NONBLOCK))
            return -1;
    }
    return 0;
}

static void close_theirs(struct payload *p)
{
    for (size_t i = 0; !p->has_terminal && i < ARRAY_LEN(p->stdio); i++)
        close_fd(&p->stdio[i]);
}

/** The environment of the launch, with the client's kind of terminal. Borrowed strings, but *term. mem */
static char **environment(const struct session *s, char **term)
{
    char **env = mem_array(s->launch.n_env + 2, sizeof *env);
    size_t n = 0;

    *term = s->ask.term ? mem_fmt("TERM=%s", s->ask.term) : NULL;
    for (size_t i = 0; i < s->launch.n_env; i++)
        if (!*term || strncmp(s->launch.env[i], "TERM=", strlen("TERM=")))
            env[n++] = s->launch.env[i];
    env[n] = *term;
    return env;
}

static int start_command(struct session *s, struct payload *p, struct payload_failure *fail)
{
    mem_auto char *term = NULL;
    mem_auto char **env = environment(s, &term);
    char *runtime_words[] = {(char *)"sh", (char *)"-c", NULL, NULL};

    p->has_session = true;
    if (!is_image(s)) {
        p->words = s->ask.words;
        p->env = env;
        return payload_start(&s->launch, p, &s->pid, fail);
    }
    mem_auto char *call = exec_image_call(&s->launch, &s->ask, s->mark);
    runtime_words[2] = call;
    p->words = runtime_words;
    return payload_start(&s->launch, p, &s->pid, fail);
}

static void default_command(struct exec_ask *ask)
{
    if (ask->n_words)
        return;
    exec_ask_word(ask, "sh");
    exec_ask_word(ask, "-c");
    exec_ask_word(ask, SHELL);
}

/** @return false: it did not start, and the client gets to know why. */
static bool start(struct session *s)
{
    struct payload payload = {.stdio = {-1, -1, -1}};
    struct payload_failure fail = {.error = 0};
    struct err_info why = {0};

    s->code = EXEC_NOT_EXECUTABLE;
    if (read_ask(s, &why) || payload_read_launch(&s->launch, &why)) {
        say_error(s, why.text);
        return false;
    }
    default_command(&s->ask);
    exec_image_mark(s->mark);
    buf_add(&s->received, s->ask.early.bytes, s->ask.early.len);
    int failed = s->signal_fd < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) ||
                 (s->ask.has_terminal ? open_terminal(s, &payload) : open_pipes(s, &payload));
    if (failed)
        fail = (struct payload_failure){.step = "terminal or pipes", .error = errno};
    else
        failed = start_command(s, &payload, &fail);
    close_theirs(&payload);
    if (!failed)
        return true;
    if (fail.is_of_command && (fail.error == ENOENT || fail.error == ENOTDIR))
        s->code = EXEC_NOT_FOUND;
    mem_auto char *text =
        mem_fmt("%.200s: %s", fail.is_of_command ? s->ask.words[0] : fail.step, strerror(fail.error));
    say_error(s, text);
    return false;
}

int exec_run(void)
{
    static struct session s;

    set_up(&s);
    if (start(&s))
        take_frames(&s);
    else
        close_outputs(&s);
    reap(&s);
    advance(&s);
    while (!is_over(&s))
        serve_once(&s);
    if (s.out.len && !s.is_client_gone)
        send_out(&s); /* svcmgr has gone: as far as it goes. */
    close_outputs(&s);
    shim_launch_fini(&s.launch);
    exec_ask_fini(&s.ask);
    buf_fini(&s.received);
    buf_fini(&s.in);
    buf_fini(&s.out);
    return s.code;
}
