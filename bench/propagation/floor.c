/*
 * What ZooKeeper itself takes: on one connection, set a node's data, wait for the event of the watch on it, read it again (which
 * sets the next watch). Nothing else is done. Each change is timed from before the set until the new data are here.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/addr.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "bobbin/error.h"
#include "store/zk_wire.h"
#include "times.h"

enum {
    OP_CREATE = 1,
    OP_SET_DATA = 5,
    ALL_PERMISSIONS = 31,
    SESSION_MS = 30000,
    ANY_VERSION = -1,
    FRAME_MAX = 1 << 20
};
enum { DATA_LEN = 300, PAUSE_US = 1000 };

struct session {
    int fd;
    char *node; /* path of our own */
    int32_t xid;
    struct buf out, in;
    size_t n_used; /* of `in` */
};

static int session_send(struct session *s)
{
    size_t at = 0;
    while (at < s->out.len) {
        ssize_t n = send(s->fd, s->out.bytes + at, s->out.len - at, MSG_NOSIGNAL);
        if (n < 0)
            return ERR_IO;
        at += (size_t)n;
    }
    buf_clear(&s->out);
    return 0;
}

/** Next frame; its bytes are valid until the next call. */
static int session_next(struct session *s, struct zkw_bytes *frame)
{
    char bytes[65536];
    buf_drop(&s->in, s->n_used);
    s->n_used = 0;
    for (;;) {
        int64_t used = zkw_frame_next(s->in.bytes, s->in.len, FRAME_MAX, frame);
        if (used < 0)
            return ERR_PARSE;
        s->n_used = (size_t)used;
        if (used)
            return 0;
        ssize_t n = recv(s->fd, bytes, sizeof bytes, 0);
        if (n <= 0)
            return ERR_IO;
        buf_add(&s->in, bytes, (size_t)n);
    }
}

/** Take frames until the one with this xid. @return 0, ERR_IO, ERR_PARSE, or ERR_WRONGSTATE: the server's error. */
static int session_await(struct session *s, int32_t xid)
{
    for (;;) {
        struct zkw_bytes frame;
        int err = session_next(s, &frame);
        if (err)
            return err;
        struct zkw_in in = zkw_in_make(frame.at, frame.len);
        struct zkw_header header = zkw_get_header(&in);
        if (header.err != ZKW_OK && header.xid != ZKW_XID_NOTICE)
            return ERR_WRONGSTATE;
        if (header.xid == xid)
            return 0;
    }
}

static size_t request_begin(struct session *s, int32_t op)
{
    size_t start = zkw_frame_begin(&s->out);
    zkw_put_i32(&s->out, ++s->xid);
    zkw_put_i32(&s->out, op);
    zkw_put_bytes(&s->out, s->node, strlen(s->node));
    return start;
}

static int create(struct session *s, const char *bytes, size_t len)
{
    size_t start = request_begin(s, OP_CREATE);
    zkw_put_bytes(&s->out, bytes, len);
    zkw_put_i32(&s->out, 1);
    zkw_put_i32(&s->out, ALL_PERMISSIONS);
    zkw_put_bytes(&s->out, "world", 5);
    zkw_put_bytes(&s->out, "anyone", 6);
    zkw_put_i32(&s->out, 0);
    zkw_frame_end(&s->out, start);
    int err = session_send(s);
    return err ? err : session_await(s, s->xid);
}

static int read_and_watch(struct session *s)
{
    size_t start = request_begin(s, ZKW_GET_DATA);
    buf_add_char(&s->out, 1);
    zkw_frame_end(&s->out, start);
    int err = session_send(s);
    return err ? err : session_await(s, s->xid);
}

static int set_and_see(struct session *s, const char *bytes, size_t len)
{
    size_t start = request_begin(s, OP_SET_DATA);
    zkw_put_bytes(&s->out, bytes, len);
    zkw_put_i32(&s->out, ANY_VERSION);
    zkw_frame_end(&s->out, start);
    int err = session_send(s);
    err = err ? err : session_await(s, ZKW_XID_NOTICE);
    return err ? err : read_and_watch(s);
}

static int session_open(struct session *s, uint16_t port)
{
    struct addr loopback = {AF_INET, {127, 0, 0, 1}};
    struct sockaddr_storage sa;
    struct zkw_hello hello = {.timeout_ms = SESSION_MS, .password_len = 16};
    struct zkw_bytes frame;
    socklen_t len = addr_to_sockaddr(&loopback, port, &sa);
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s->fd < 0 || connect(s->fd, (struct sockaddr *)&sa, len) ||
        setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int)))
        return ERR_IO;
    zkw_put_hello(&s->out, &hello);
    int err = session_send(s);
    err = err ? err : session_next(s, &frame);
    return err ? err : zkw_get_hello(frame, &hello);
}

static int measure(struct session *s, double *took_us, size_t n_changes)
{
    char bytes[DATA_LEN];
    memset(bytes, 'x', sizeof bytes);
    int err = create(s, bytes, sizeof bytes);
    err = err ? err : read_and_watch(s);
    for (size_t i = 0; i < n_changes && !err; i++) {
        times_sleep_us(PAUSE_US);
        memcpy(bytes, &i, sizeof i);
        double start = times_now_us();
        err = set_and_see(s, bytes, sizeof bytes);
        took_us[i] = times_now_us() - start;
    }
    return err;
}

int main(int argc, char **argv)
{
    int64_t port, n_changes;
    if (argc != 3 || str_to_i64(argv[1], 1, 65535, &port) || str_to_i64(argv[2], 1, 10000000, &n_changes)) {
        fprintf(stderr, "usage: %s PORT CHANGES     of a ZooKeeper server on 127.0.0.1\n", argv[0]);
        return 2;
    }
    mem_auto char *node = mem_fmt("/floor-%d", getpid());
    struct session s = {.fd = -1, .node = node};
    mem_auto double *took_us = mem_array((size_t)n_changes, sizeof *took_us);
    int err = session_open(&s, (uint16_t)port);
    err = err ? err : measure(&s, took_us, (size_t)n_changes);
    if (s.fd >= 0)
        close(s.fd);
    buf_fini(&s.out);
    buf_fini(&s.in);
    if (err) {
        fprintf(stderr, "%s (%s)\n", err_text(err), strerror(errno));
        return err_exit_code(err);
    }
    times_print("floor", took_us, (size_t)n_changes);
    printf("changes=%lld\n", (long long)n_changes);
    return 0;
}
