/*
 * A bare pipelined read of a tree in ZooKeeper: the data of every node, the children of those that have any, breadth first,
 * one connection, many requests under way; nothing is kept but the paths that are still to be read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "bobbin/error.h"
#include "session.h"
#include "store/store.h"

/** Requests under way. */
enum { WINDOW = 4096 };

/** A request: to be sent, then under way. Replies come in order. */
struct ask {
    STAILQ_ENTRY(ask) link;
    enum zkw_opcode op;
    char path[];
};
STAILQ_HEAD(asks, ask);

struct scan {
    struct session session;
    struct asks waiting, sent;
    size_t n_sent;
    int32_t xid;
    long long n_nodes, n_bytes; /* bytes: names and data */
};

static void ask_add(struct scan *s, enum zkw_opcode op, const char *parent, const char *name, size_t name_len)
{
    size_t len = strlen(parent);
    const char *slash = name_len ? "/" : "";
    struct ask *a = mem_alloc(sizeof *a + len + name_len + 2);
    a->op = op;
    sprintf(a->path, "%s%s%.*s", parent, slash, (int)name_len, name);
    STAILQ_INSERT_TAIL(&s->waiting, a, link);
}

static int send_more(struct scan *s)
{
    struct ask *a;
    while (s->n_sent < WINDOW && (a = STAILQ_FIRST(&s->waiting))) {
        STAILQ_REMOVE_HEAD(&s->waiting, link);
        zkw_put_request(&s->session.out, ++s->xid, a->op, a->path);
        STAILQ_INSERT_TAIL(&s->sent, a, link);
        s->n_sent++;
    }
    return session_send(&s->session);
}

static void take_data(struct scan *s, const struct ask *a, struct zkw_in *in)
{
    struct store_stat stat;
    struct zkw_bytes data = zkw_get_bytes(in);
    zkw_get_stat(in, &stat);
    s->n_nodes++;
    s->n_bytes += (long long)(data.len + strlen(path_name(a->path)));
    if (stat.n_children)
        ask_add(s, ZKW_GET_CHILDREN2, a->path, "", 0);
}

static void take_children(struct scan *s, const struct ask *a, struct zkw_in *in)
{
    int32_t n = zkw_get_i32(in);
    for (int32_t i = 0; i < n && !in->is_bad; i++) {
        struct zkw_bytes name = zkw_get_bytes(in);
        ask_add(s, ZKW_GET_DATA, a->path, name.at, name.len);
    }
}

static int take_reply(struct scan *s)
{
    struct zkw_bytes frame;
    int err = session_next(&s->session, &frame);
    if (err)
        return err;
    struct zkw_in in = zkw_in_make(frame.at, frame.len);
    struct zkw_header header = zkw_get_header(&in);
    struct ask *a = STAILQ_FIRST(&s->sent);
    STAILQ_REMOVE_HEAD(&s->sent, link);
    s->n_sent--;
    if (header.err != ZKW_OK)
        err = ERR_WRONGSTATE;
    else if (a->op == ZKW_GET_DATA)
        take_data(s, a, &in);
    else
        take_children(s, a, &in);
    free(a);
    return err ? err : (in.is_bad ? ERR_PARSE : 0);
}

static int scan_tree(struct scan *s, const char *root)
{
    int err = 0;
    ask_add(s, ZKW_GET_DATA, root, "", 0);
    while (!err && (s->n_sent || !STAILQ_EMPTY(&s->waiting))) {
        if (s->n_sent < WINDOW / 2)
            err = send_more(s);
        err = err ? err : take_reply(s);
    }
    return err;
}

static void asks_free(struct asks *asks)
{
    struct ask *a;
    while ((a = STAILQ_FIRST(asks))) {
        STAILQ_REMOVE_HEAD(asks, link);
        free(a);
    }
}

int main(int argc, char **argv)
{
    struct scan s = {.session = {.fd = -1}};
    int64_t port;
    STAILQ_INIT(&s.waiting);
    STAILQ_INIT(&s.sent);
    if (argc != 3 || str_to_i64(argv[1], 1, 65535, &port)) {
        fprintf(stderr, "usage: %s PORT ROOT     of a ZooKeeper server on 127.0.0.1\n", argv[0]);
        return 2;
    }
    int err = session_open(&s.session, (uint16_t)port);
    err = err ? err : scan_tree(&s, argv[2]);
    asks_free(&s.waiting);
    asks_free(&s.sent);
    session_fini(&s.session);
    if (err) {
        fprintf(stderr, "%s\n", err_text(err));
        return err_exit_code(err);
    }
    printf("nodes=%lld bytes=%lld\n", s.n_nodes, s.n_bytes);
    return 0;
}
