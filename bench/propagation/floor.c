/*
 * What ZooKeeper itself takes: on one connection, set a node's data, wait for the event of the watch on it, read it again (which
 * sets the next watch). Nothing else is done. Each change is timed from before the set until the new data are here.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "bobbin/error.h"
#include "store/zk/wire.h"
#include "../registry/session.h"
#include "times.h"

enum { OP_CREATE = 1, OP_SET_DATA = 5, ALL_PERMISSIONS = 31, ANY_VERSION = -1 };
enum { DATA_LEN = 300, PAUSE_US = 1000 };

struct floor {
    struct session session;
    char *node; /* path of our own */
    int32_t xid;
};

/** Take frames until the one with this xid. @return 0, ERR_IO, ERR_PARSE, or ERR_WRONGSTATE: the server's error. */
static int await(struct floor *f, int32_t xid)
{
    for (;;) {
        struct zkw_bytes frame;
        int err = session_next(&f->session, &frame);
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

static size_t request_begin(struct floor *f, int32_t op)
{
    size_t start = zkw_frame_begin(&f->session.out);
    zkw_put_i32(&f->session.out, ++f->xid);
    zkw_put_i32(&f->session.out, op);
    zkw_put_bytes(&f->session.out, f->node, strlen(f->node));
    return start;
}

static int create(struct floor *f, const char *bytes, size_t len)
{
    size_t start = request_begin(f, OP_CREATE);
    zkw_put_bytes(&f->session.out, bytes, len);
    zkw_put_i32(&f->session.out, 1);
    zkw_put_i32(&f->session.out, ALL_PERMISSIONS);
    zkw_put_bytes(&f->session.out, "world", 5);
    zkw_put_bytes(&f->session.out, "anyone", 6);
    zkw_put_i32(&f->session.out, 0);
    zkw_frame_end(&f->session.out, start);
    int err = session_send(&f->session);
    return err ? err : await(f, f->xid);
}

static int read_and_watch(struct floor *f)
{
    size_t start = request_begin(f, ZKW_GET_DATA);
    buf_add_char(&f->session.out, 1);
    zkw_frame_end(&f->session.out, start);
    int err = session_send(&f->session);
    return err ? err : await(f, f->xid);
}

static int set_and_see(struct floor *f, const char *bytes, size_t len)
{
    size_t start = request_begin(f, OP_SET_DATA);
    zkw_put_bytes(&f->session.out, bytes, len);
    zkw_put_i32(&f->session.out, ANY_VERSION);
    zkw_frame_end(&f->session.out, start);
    int err = session_send(&f->session);
    err = err ? err : await(f, ZKW_XID_NOTICE);
    return err ? err : read_and_watch(f);
}

static int measure(struct floor *f, double *took_us, size_t n_changes)
{
    char bytes[DATA_LEN];
    memset(bytes, 'x', sizeof bytes);
    int err = create(f, bytes, sizeof bytes);
    err = err ? err : read_and_watch(f);
    for (size_t i = 0; i < n_changes && !err; i++) {
        times_sleep_us(PAUSE_US);
        memcpy(bytes, &i, sizeof i);
        double start = times_now_us();
        err = set_and_see(f, bytes, sizeof bytes);
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
    struct floor f = {.node = node};
    mem_auto double *took_us = mem_array((size_t)n_changes, sizeof *took_us);
    int err = session_open(&f.session, (uint16_t)port);
    err = err ? err : measure(&f, took_us, (size_t)n_changes);
    session_fini(&f.session);
    if (err) {
        fprintf(stderr, "%s (%s)\n", err_text(err), strerror(errno));
        return err_exit_code(err);
    }
    times_print("floor", took_us, (size_t)n_changes);
    printf("changes=%lld\n", (long long)n_changes);
    return 0;
}
