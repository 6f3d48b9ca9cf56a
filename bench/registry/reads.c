/*
 * GETs of records over HTTP/1.1, connections kept: on each of C connections the next request goes when the answer before is
 * here and (RATE > 0) when it is due. Records are those of fill.c, in a jumping order.
 *
 * With RATE 0 it runs as a batch process: it waits its turn instead of taking the processor from the server at each answer, which it
 * would do the more often the slower the server is.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../propagation/times.h"
#include "base/addr.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/obj.h"
#include "base/str.h"
#include "bobbin/error.h"

enum { A_SERVICE = 100, CONNECTIONS_MAX = 256, PIECE = 65536 };

struct connection {
    int fd;
    bool is_busy;
    double start_us;
    struct buf in;
};

struct reads {
    struct connection connections[CONNECTIONS_MAX];
    struct pollfd polls[CONNECTIONS_MAX];
    size_t n_connections;
    int64_t n_records, n_reads, rate; /* reads wanted; a second, 0: as fast as it goes */
    int64_t n_begun, n_done;
    double start_us, *took_us;
};

static int connection_open(struct connection *c, uint16_t port)
{
    struct addr loopback = {AF_INET, {127, 0, 0, 1}};
    struct sockaddr_storage sa;
    socklen_t len = addr_to_sockaddr(&loopback, port, &sa);
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return c->fd < 0 || connect(c->fd, (struct sockaddr *)&sa, len) ||
                   setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int))
               ? ERR_IO
               : 0;
}

static int request_send(struct reads *r, struct connection *c)
{
    long long i = (long long)(r->n_begun++ * 7919 % r->n_records), service = i / A_SERVICE;
    mem_auto char *text =
        mem_fmt("GET /ws/v1/registry/users/u%lld/services/yarn-service/svc%lld/components/"
                "ctr-e50-1451931954322-%04lld-01-%06lld HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\n\r\n",
                service % 100, service, service, i % A_SERVICE);
    size_t len = strlen(text);
    c->is_busy = true;
    c->start_us = times_now_us();
    return send(c->fd, text, len, MSG_NOSIGNAL) == (ssize_t)len ? 0 : ERR_IO;
}

/** Bytes of the whole answer, 0 while it is not known. */
static size_t answer_len(struct buf *in)
{
    static const char name[] = "Content-Length: ";
    const char *head_end = strstr(buf_cstr(in), "\r\n\r\n");
    const char *length = head_end ? strcasestr(in->bytes, name) : NULL;
    return length ? (size_t)(head_end + 4 - in->bytes) + strtoul(length + strlen(name), NULL, 10) : 0;
}

static int answer_read(struct reads *r, struct connection *c)
{
    ssize_t n = recv(c->fd, buf_room(&c->in, PIECE), PIECE, 0);
    if (n <= 0)
        return ERR_IO;
    c->in.len += (size_t)n;
    size_t len = answer_len(&c->in);
    if (!len || c->in.len < len)
        return 0;
    if (c->in.len > len || !str_starts(c->in.bytes, "HTTP/1.1 200 "))
        return ERR_PARSE;
    buf_clear(&c->in);
    c->is_busy = false;
    r->took_us[r->n_done++] = times_now_us() - c->start_us;
    return 0;
}

static bool is_due(const struct reads *r)
{
    double passed_us = times_now_us() - r->start_us;
    return r->n_begun < r->n_reads && (!r->rate || (double)r->n_begun * 1e6 / (double)r->rate <= passed_us);
}

static int turn(struct reads *r)
{
    int err = 0;
    for (size_t i = 0; i < r->n_connections && !err; i++) {
        if (!r->connections[i].is_busy && is_due(r))
            err = request_send(r, &r->connections[i]);
    }
    if (err || poll(r->polls, r->n_connections, r->rate ? 1 : -1) < 0)
        return ERR_IO;
    for (size_t i = 0; i < r->n_connections && !err; i++) {
        if (r->polls[i].revents)
            err = answer_read(r, &r->connections[i]);
    }
    return err;
}

static int run(struct reads *r, uint16_t port)
{
    int err = 0;
    for (size_t i = 0; i < r->n_connections && !err; i++) {
        err = connection_open(&r->connections[i], port);
        r->polls[i] = (struct pollfd){.fd = r->connections[i].fd, .events = POLLIN};
    }
    r->start_us = times_now_us();
    while (!err && r->n_done < r->n_reads)
        err = turn(r);
    return err;
}

int main(int argc, char **argv)
{
    struct reads r = {0};
    int64_t port, n_connections;
    if (argc != 6 || str_to_i64(argv[1], 1, 65535, &port) ||
        str_to_i64(argv[2], 1, 100000000, &r.n_records) || str_to_i64(argv[3], 1, 100000000, &r.n_reads) ||
        str_to_i64(argv[4], 0, 1000000, &r.rate) || str_to_i64(argv[5], 1, CONNECTIONS_MAX, &n_connections)) {
        fprintf(stderr, "usage: %s PORT RECORDS READS RATE CONNECTIONS\n", argv[0]);
        return 2;
    }
    if (!r.rate && sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){0}))
        perror("the client is no batch process");
    r.n_connections = (size_t)n_connections;
    r.took_us = mem_array((size_t)r.n_reads, sizeof *r.took_us);
    int err = run(&r, (uint16_t)port);
    for (size_t i = 0; i < r.n_connections; i++) {
        if (r.connections[i].fd > 0)
            close(r.connections[i].fd);
        buf_fini(&r.connections[i].in);
    }
    if (!err) {
        double took_us = times_now_us() - r.start_us;
        times_print("read", r.took_us, (size_t)r.n_reads);
        printf("read_max_us=%.0f seconds=%.3f\n", r.took_us[r.n_reads - 1], took_us / 1e6);
    }
    free(r.took_us);
    if (err)
        fprintf(stderr, "%s: %s\n", err_text(err), strerror(errno));
    return err_exit_code(err);
}
