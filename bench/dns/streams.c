/*
 * Asks questions over TCP: C connections, each with W questions open, all sent as soon as answers make room (RFC 7766
 * 6.2.1.1: pipelining). With a number of questions a connection, each connection is closed after so many and opened anew.
 */
#include <errno.h>
#include <stdbool.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "arguments.h"
#include "questions.h"

#include "base/mem.h"
#include "wire/rdata.h"

enum { MAX_STREAMS = 256, MAX_WINDOW = 64, IN_MAX = 256 << 10, DEAD_MS = 5000 };

struct stream {
    int fd; /* -1: closed */
    unsigned n_open;
    uint64_t n_asked; /* on this connection */
    size_t out_at, out_len, in_len;
    uint8_t out[MAX_WINDOW * (QUESTION_MAX + 2)];
    uint8_t in[IN_MAX];
};

struct load {
    struct questions questions;
    size_t next_question;
    struct sockaddr_storage server;
    socklen_t server_len;
    unsigned n_streams, window;
    uint64_t a_connection; /* questions; 0: without end */
    double seconds;
    struct stream *streams;
    uint64_t n_answered, n_connections, rcodes[16];
};

static double now_s(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/** Close at once: a connection that ends in order keeps its port for a minute, and ports are few. */
static void stream_close(struct stream *s)
{
    struct linger at_once = {1, 0};
    setsockopt(s->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(s->fd);
    s->fd = -1;
}

static int stream_open(struct load *l, struct stream *s)
{
    int one = 1;
    s->fd = socket(l->server.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    s->n_open = 0;
    s->n_asked = 0;
    s->out_at = s->out_len = s->in_len = 0;
    if (s->fd < 0)
        return -1;
    setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(s->fd, (struct sockaddr *)&l->server, l->server_len) && errno != EINPROGRESS)
        return -1;
    l->n_connections++;
    return 0;
}

/** Fill the window and send what the kernel takes. */
static int stream_send(struct load *l, struct stream *s)
{
    if (s->out_at == s->out_len)
        s->out_at = s->out_len = 0;
    while (!s->out_at && s->n_open < l->window && (!l->a_connection || s->n_asked < l->a_connection)) {
        size_t q = l->next_question++ % l->questions.n;
        wire_put16(s->out + s->out_len, l->questions.lens[q]);
        memcpy(s->out + s->out_len + 2, l->questions.items[q], l->questions.lens[q]);
        s->out_len += l->questions.lens[q] + 2u;
        s->n_open++;
        s->n_asked++;
    }
    if (s->out_at == s->out_len)
        return 0;
    ssize_t n = send(s->fd, s->out + s->out_at, s->out_len - s->out_at, MSG_NOSIGNAL);
    s->out_at += n > 0 ? (size_t)n : 0;
    return n < 0 && errno != EAGAIN && errno != ENOTCONN ? -1 : 0;
}

/** Count the whole answers that are there. */
static void stream_count(struct load *l, struct stream *s)
{
    size_t at = 0;
    while (s->in_len - at >= 14 && s->in_len - at - 2 >= wire_get16(s->in + at)) {
        l->rcodes[s->in[at + 5] & 15]++;
        l->n_answered++;
        s->n_open--;
        at += 2u + wire_get16(s->in + at);
    }
    memmove(s->in, s->in + at, s->in_len - at);
    s->in_len -= at;
}

static int stream_receive(struct load *l, struct stream *s)
{
    ssize_t n = recv(s->fd, s->in + s->in_len, sizeof s->in - s->in_len, 0);
    if (n <= 0)
        return n < 0 && errno == EAGAIN ? 0 : -1;
    s->in_len += (size_t)n;
    stream_count(l, s);
    return 0;
}

/** @return 0; or -1: the server ended a connection, or does not answer. */
static int turn(struct load *l)
{
    struct pollfd fds[MAX_STREAMS];
    for (unsigned i = 0; i < l->n_streams; i++) {
        struct stream *s = &l->streams[i];
        bool is_over = s->fd >= 0 && l->a_connection && s->n_asked == l->a_connection && !s->n_open;
        if (is_over)
            stream_close(s);
        if ((s->fd < 0 && stream_open(l, s)) || stream_send(l, s))
            return -1;
        fds[i] = (struct pollfd){s->fd, (short)(POLLIN | (s->out_at < s->out_len ? POLLOUT : 0)), 0};
    }
    if (poll(fds, l->n_streams, DEAD_MS) <= 0)
        return -1;
    for (unsigned i = 0; i < l->n_streams; i++)
        if (fds[i].revents & (POLLIN | POLLERR | POLLHUP) && stream_receive(l, &l->streams[i]))
            return -1;
    return 0;
}

static int read_arguments(struct load *l, int argc, char **argv)
{
    struct arguments a = {.numbers = {8, 16, 5, 0}}; /* streams, window, seconds, questions a connection */
    static const int64_t highest[] = {MAX_STREAMS, MAX_WINDOW, 86400, 1000000};
    if (arguments_read(argc, argv, highest, &a))
        return -1;
    l->server = a.server;
    l->server_len = a.server_len;
    l->n_streams = (unsigned)a.numbers[0];
    l->window = (unsigned)a.numbers[1];
    l->seconds = (double)a.numbers[2];
    l->a_connection = (uint64_t)a.numbers[3];
    return 0;
}

/** @return 0; or -1 with errno. */
static int run(struct load *l)
{
    double start = now_s();
    l->streams = mem_array(l->n_streams, sizeof *l->streams);
    for (unsigned i = 0; i < l->n_streams; i++)
        l->streams[i].fd = -1;
    int failed = 0;
    while (!failed && now_s() - start < l->seconds)
        failed = turn(l);
    l->seconds = now_s() - start;
    for (unsigned i = 0; i < l->n_streams; i++)
        if (l->streams[i].fd >= 0)
            close(l->streams[i].fd);
    free(l->streams);
    return failed;
}

int main(int argc, char **argv)
{
    mem_auto struct load *l = mem_new(struct load);
    if (read_arguments(l, argc, argv)) {
        fprintf(stderr,
                "usage: %s ADDRESS PORT FILE [CONNECTIONS 8 [WINDOW 16 [SECONDS 5 [QUESTIONS A CONNECTION: "
                "no end]]]]\n"
                "FILE holds \"name TYPE [+edns]\" lines; output is one line of name=value\n",
                argv[0]);
        return 2;
    }
    if (questions_read(argv[3], &l->questions)) {
        perror(argv[3]);
        return 4;
    }
    int failed = run(l);
    if (failed)
        perror("a connection failed");
    else
        printf("answered=%llu lost=0 seconds=%.2f rate_qps=%.0f connections=%llu noerror=%llu servfail=%llu "
               "nxdomain=%llu\n",
               (unsigned long long)l->n_answered, l->seconds, (double)l->n_answered / l->seconds,
               (unsigned long long)l->n_connections, (unsigned long long)l->rcodes[0],
               (unsigned long long)l->rcodes[2], (unsigned long long)l->rcodes[3]);
    questions_fini(&l->questions);
    return failed ? 4 : 0;
}
