#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/obj.h"
#include "exec.h"
#include "exec/frame.h"

#define FULL       (4 * EXEC_PAYLOAD_MAX) /* of a direction: then nothing more is taken for it */
#define WRITE_MAX  4096 /* a pipe that poll calls writable takes so much without holding us up */
#define N_OUTPUTS  2
#define ROWS       24
#define COLUMNS    80
#define ERROR_TEXT "bobbin: "

/* All that may end us, or that is the command's to judge. */
static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT};

struct relay {
    struct exec_relay *def;
    int signal_fd;
    struct termios before; /* of our terminal */
    bool is_raw;
    struct buf to_server, outputs[N_OUTPUTS];
    uint32_t credit; /* octets that the server takes now */
    bool is_input_over;
    bool is_ended; /* the last frame came, or a signal for us */
    int code, err; /* when it has ended */
    struct err_info *why;
};

static void end(struct relay *r, int code)
{
    r->is_ended = true;
    r->code = code;
}

static void fail(struct relay *r, int err, const char *text)
{
    r->is_ended = true;
    r->err = err_set(r->why, err, NULL, "%s", text);
}

/* ---- our terminal ---- */

void exec_terminal_size(unsigned short *rows, unsigned short *columns)
{
    struct winsize size = {0};
    bool is_known = !ioctl(STDIN_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col;

    *rows = is_known ? size.ws_row : ROWS;
    *columns = is_known ? size.ws_col : COLUMNS;
}

static void make_raw(struct relay *r)
{
    struct termios raw = r->before;

    cfmakeraw(&raw);
    r->is_raw = !tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
}

static void restore(struct relay *r)
{
    if (r->is_raw)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &r->before);
    r->is_raw = false;
}

/* ---- to the server ---- */

static void send_size(struct relay *r)
{
    unsigned short rows, columns;

    exec_terminal_size(&rows, &columns);
    exec_frame_put_size(&r->to_server, rows, columns);
}

static void read_input(struct relay *r)
{
    char bytes[EXEC_PAYLOAD_MAX];
    ssize_t n = read(STDIN_FILENO, bytes, r->credit < sizeof bytes ? r->credit : sizeof bytes);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    n = n < 0 ? 0 : n; /* A terminal that has gone: it is the end. */
    r->is_input_over = !n;
    r->credit -= (uint32_t)n;
    exec_frame_put(&r->to_server, EXEC_STDIN, bytes, (size_t)n);
}

static void send_frames(struct relay *r)
{
    ssize_t n = send(r->def->fd, r->to_server.bytes, r->to_server.len, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (n > 0)
        buf_drop(&r->to_server, (size_t)n);
    else if (n < 0 && errno != EAGAIN && errno != EINTR)
        buf_clear(&r->to_server); /* Why is in what it has sent, or in the end of the connection. */
}

static void take_signal(struct relay *r, int signal)
{
    if (signal == SIGCONT && r->is_raw)
        make_raw(r); /* Who has stopped us may have had the terminal. */
    if (signal == SIGWINCH || signal == SIGCONT) {
        if (r->def->has_terminal)
            send_size(r);
        return;
    }
    if (r->def->has_terminal)
        end(r, EXEC_SIGNAL_BASE + signal); /* What a terminal says comes as a key. */
    else
        exec_frame_put_number(&r->to_server, EXEC_SIGNAL, (uint32_t)signal);
}

static void take_signals(struct relay *r)
{
    struct signalfd_siginfo got;

    while (read(r->signal_fd, &got, sizeof got) == (ssize_t)sizeof got)
        take_signal(r, (int)got.ssi_signo);
}

/* ---- from the server ---- */

/** A sentence, on a line of its own; nobody's control characters. */
static void print_error(struct relay *r, const struct exec_frame *f)
{
    struct buf *out = &r->outputs[1];

    buf_add_str(out, ERROR_TEXT);
    for (size_t i = 0; i < f->len; i++)
        buf_add_char(out, (unsigned char)f->payload[i] < ' ' || f->payload[i] == 0x7f ? '?' : f->payload[i]);
    buf_add_str(out, r->is_raw ? "\r\n" : "\n");
}

static void take_frame(struct relay *r, const struct exec_frame *f)
{
    switch (f->kind) {
    case EXEC_STDOUT: buf_add(&r->outputs[0], f->payload, f->len); break;
    case EXEC_STDERR: buf_add(&r->outputs[1], f->payload, f->len); break;
    case EXEC_CREDIT: r->credit += f->number; break;
    case EXEC_ERROR: print_error(r, f); break;
    case EXEC_EXIT: end(r, (int)f->number); break;
    default: break; /* exec_frame_read gives none of the client's. */
    }
}

static void take_frames(struct relay *r)
{
    struct buf *in = &r->def->rest;
    struct exec_frame f;
    size_t at = 0;
    int n = 0;

    while (!r->is_ended && in->len &&
           (n = exec_frame_read(in->bytes + at, in->len - at, EXEC_SERVER, &f)) > 0) {
        take_frame(r, &f);
        at += (size_t)n;
    }
    buf_drop(in, at);
    if (n < 0)
        fail(r, ERR_PARSE, "what came from the server is no frame of an exec session");
}

static void hear_server(struct relay *r)
{
    struct buf *in = &r->def->rest;
    ssize_t n = recv(r->def->fd, buf_room(in, EXEC_PAYLOAD_MAX), EXEC_PAYLOAD_MAX, MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        fail(r, ERR_UNAVAILABLE, "the connection to svcmgr has ended, and the command with it");
        return;
    }
    in->len += (size_t)n;
    take_frames(r);
}

static void write_output(struct relay *r, int i)
{
    struct buf *b = &r->outputs[i];
    ssize_t n = write(i ? STDERR_FILENO : STDOUT_FILENO, b->bytes, b->len < WRITE_MAX ? b->len : WRITE_MAX);

    if (n > 0)
        buf_drop(b, (size_t)n);
    if (n >= 0 || errno == EAGAIN || errno == EINTR)
        return;
    buf_clear(b);
    if (errno == EPIPE)
        end(r, EXEC_SIGNAL_BASE + SIGPIPE); /* As any program whose reader has gone. */
    else
        fail(r, ERR_IO, "the output of the command cannot be written");
}

/* ---- the loop ---- */

enum { P_SERVER, P_SIGNAL, P_INPUT, P_OUTPUT, N_POLLED = P_OUTPUT + N_OUTPUTS };

static size_t n_unwritten(const struct relay *r)
{
    return r->outputs[0].len + r->outputs[1].len;
}

static void serve_once(struct relay *r)
{
    bool wants_input = !r->is_input_over && r->credit && r->to_server.len < FULL;
    bool is_heard = !r->is_ended && n_unwritten(r) < FULL;
    struct pollfd polled[N_POLLED] = {
        [P_SERVER] = {r->is_ended ? -1 : r->def->fd, is_heard ? POLLIN : 0, 0},
        [P_SIGNAL] = {r->signal_fd, POLLIN, 0},
        [P_INPUT] = {wants_input && !r->is_ended ? STDIN_FILENO : -1, POLLIN, 0},
        [P_OUTPUT] = {r->outputs[0].len ? STDOUT_FILENO : -1, POLLOUT, 0},
        [P_OUTPUT + 1] = {r->outputs[1].len ? STDERR_FILENO : -1, POLLOUT, 0},
    };

    if (r->to_server.len)
        polled[P_SERVER].events |= POLLOUT;
    else if (!is_heard)
        polled[P_SERVER].fd = -1; /* Its end is noticed when there is room for what comes before. */
    if (poll(polled, N_POLLED, -1) < 0)
        return;
    if (polled[P_SIGNAL].revents)
        take_signals(r);
    if (polled[P_INPUT].revents)
        read_input(r);
    if (r->to_server.len)
        send_frames(r);
    for (int i = 0; i < N_OUTPUTS; i++)
        if (polled[P_OUTPUT + i].revents)
            write_output(r, i);
    if (is_heard && polled[P_SERVER].revents & ~POLLOUT)
        hear_server(r);
}

/** A signal that ends us ends it at once; the end of the command only when all that it wrote is written. */
static bool is_over(const struct relay *r)
{
    return r->is_ended && (r->err || !n_unwritten(r) || r->code == EXEC_SIGNAL_BASE + SIGPIPE);
}

static void begin(struct relay *r)
{
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        sigaddset(&set, signals[i]);
    sigprocmask(SIG_BLOCK, &set,
                NULL); /* Not before: while the connection is made they end us, as any program. */
    r->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (r->def->has_terminal && r->def->passes_input && !tcgetattr(STDIN_FILENO, &r->before))
        make_raw(r);
    if (r->is_raw)
        send_size(r); /* It may have changed since the request. */
    if (!r->def->passes_input) {
        r->is_input_over = true;
        exec_frame_put(&r->to_server, EXEC_STDIN, NULL, 0);
    }
    take_frames(r);
}

int exec_relay_run(struct exec_relay *def, int *code, struct err_info *why)
{
    struct relay r = {.def = def, .credit = EXEC_WINDOW, .why = why};

    begin(&r);
    while (!is_over(&r))
        serve_once(&r);
    restore(&r);
    close(r.signal_fd);
    buf_fini(&r.to_server);
    for (size_t i = 0; i < N_OUTPUTS; i++)
        buf_fini(&r.outputs[i]);
    buf_fini(&def->rest);
    *code = r.code;
    return r.err;
}
