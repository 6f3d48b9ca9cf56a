#include "run/tcp.h"
#include "base/mem.h"
#include "base/obj.h"

#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define TCP_MAGIC   OBJ_MAGIC('R', 'T', 'C', 'P')
#define WRITE_MAGIC OBJ_MAGIC('R', 'T', 'C', 'W')

enum { READ_CHUNK = 65536, KEEP_MAX = 1 << 20, KEEPALIVE_S = 60 };

struct run_tcp {
    struct obj obj;
    uv_tcp_t tcp;
    uv_connect_t connect;
    uv_getaddrinfo_t lookup;
    bool is_looking_up, is_closing, is_tcp_closed;
    size_t turn;
    const char *noun;
    char *name;
    struct buf in;
    const struct run_tcp_ops *ops;
    void *arg;
};

struct tcp_write {
    struct obj obj;
    uv_write_t req;
    struct run_tcp *tcp;
    char *bytes;
};

static void lose(struct run_tcp *c, const char *what, const char *how)
{
    if (c->is_closing)
        return;
    struct err_info why = {0};
    err_set(&why, ERR_UNAVAILABLE, c->name, "%s %s %s: %s", what, c->noun, c->name, how);
    c->ops->lost(c->arg, &why);
}

static void free_when_done(struct run_tcp *c)
{
    if (!c->is_tcp_closed || c->is_looking_up)
        return;
    const struct run_tcp_ops *ops = c->ops;
    void *arg = c->arg;
    buf_fini(&c->in);
    free(c->name);
    obj_fini(&c->obj);
    free(c);
    ops->closed(arg);
}

static void on_closed(uv_handle_t *tcp)
{
    struct run_tcp *c = obj_cast(tcp->data, struct run_tcp, TCP_MAGIC);
    c->is_tcp_closed = true;
    free_when_done(c);
}

void run_tcp_close(struct run_tcp *c)
{
    if (c->is_closing)
        return;
    c->is_closing = true;
    if (c->is_looking_up)
        uv_cancel((uv_req_t *)&c->lookup); /* one that runs already ends by itself; its result is dropped */
    run_handle_close((uv_handle_t *)&c->tcp, on_closed);
}

void run_tcp_close_saying(struct run_tcp *c, const struct buf *last_words)
{
    uv_buf_t piece = uv_buf_init(last_words->bytes, (unsigned)last_words->len);
    uv_try_write((uv_stream_t *)&c->tcp, &piece, 1);
    run_tcp_close(c);
}

const char *run_tcp_name(const struct run_tcp *c)
{
    return c->name;
}

static void on_room(uv_handle_t *tcp, size_t suggested, uv_buf_t *out)
{
    struct run_tcp *c = obj_cast(tcp->data, struct run_tcp, TCP_MAGIC);
    (void)suggested;
    *out = uv_buf_init(buf_room(&c->in, READ_CHUNK), READ_CHUNK);
}

static void on_read(uv_stream_t *tcp, ssize_t n, const uv_buf_t *room)
{
    struct run_tcp *c = obj_cast(tcp->data, struct run_tcp, TCP_MAGIC);
    (void)room;
    if (c->is_closing || n == 0)
        return;
    if (n < 0) {
        lose(c, "connection lost to", n == UV_EOF ? "closed by the server" : uv_strerror((int)n));
        return;
    }
    c->in.len += (size_t)n;
    c->ops->arrived(c->arg, &c->in);
    if (c->in.len == 0 && c->in.cap > KEEP_MAX)
        buf_fini(&c->in);
}

static void on_connect(uv_connect_t *req, int status)
{
    struct run_tcp *c = obj_cast(req->data, struct run_tcp, TCP_MAGIC);
    if (c->is_closing)
        return;
    if (status < 0) {
        lose(c, "cannot connect to", uv_strerror(status));
        return;
    }
    uv_tcp_nodelay(&c->tcp, 1);
    uv_tcp_keepalive(&c->tcp, 1, KEEPALIVE_S);
    int err = uv_read_start((uv_stream_t *)&c->tcp, on_room, on_read);
    if (err < 0) {
        lose(c, "cannot read from", uv_strerror(err));
        return;
    }
    c->ops->opened(c->arg);
}

static void connect_to(struct run_tcp *c, const struct sockaddr *address)
{
    c->connect.data = c;
    int err = uv_tcp_connect(&c->connect, &c->tcp, address, on_connect);
    if (err < 0)
        lose(c, "cannot connect to", uv_strerror(err));
}

/* The turn-th address of a list that is not empty. */
static const struct addrinfo *pick(const struct addrinfo *list, size_t turn)
{
    size_t n = 0;
    for (const struct addrinfo *a = list; a; a = a->ai_next)
        n++;
    const struct addrinfo *chosen = list;
    for (size_t i = turn % n; i > 0; i--)
        chosen = chosen->ai_next;
    return chosen;
}

static void on_lookup(uv_getaddrinfo_t *req, int status, struct addrinfo *found)
{
    struct run_tcp *c = obj_cast(req->data, struct run_tcp, TCP_MAGIC);
    c->is_looking_up = false;
    if (c->is_closing)
        free_when_done(c);
    else if (status < 0 || !found)
        lose(c, "cannot look up the address of", status < 0 ? uv_strerror(status) : "it has none");
    else
        connect_to(c, pick(found, c->turn)->ai_addr);
    uv_freeaddrinfo(found);
}

struct run_tcp *run_tcp_open(struct run_loop *loop, const struct run_tcp_target *target,
                             const struct run_tcp_ops *ops, void *arg)
{
    struct run_tcp *c = mem_new(struct run_tcp);
    obj_init(&c->obj, TCP_MAGIC);
    c->ops = ops;
    c->arg = arg;
    c->turn = target->turn;
    c->noun = target->noun;
    c->name = mem_fmt("%s:%u", target->host, target->port);
    BUG_IF(uv_tcp_init(run_loop_uv(loop), &c->tcp) != 0);
    c->tcp.data = c;
    char port[8];
    snprintf(port, sizeof port, "%u", target->port);
    /* A literal address goes the same way: the resolver answers it without asking anybody. */
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    c->lookup.data = c;
    BUG_IF(uv_getaddrinfo(run_loop_uv(loop), &c->lookup, on_lookup, target->host, port, &hints) != 0);
    c->is_looking_up = true;
    return c;
}

static void on_written(uv_write_t *req, int status)
{
    struct tcp_write *w = obj_cast(req->data, struct tcp_write, WRITE_MAGIC);
    struct run_tcp *c = w->tcp;
    free(w->bytes);
    obj_fini(&w->obj);
    free(w);
    /* What the server sent before it closed may still be there: the read side comes upon the end after it. */
    bool is_for_reader = status == UV_ECANCELED || status == UV_EPIPE || status == UV_ECONNRESET;
    if (status < 0 && !is_for_reader)
        lose(c, "cannot write to", uv_strerror(status));
}

/* What the socket takes right now, as a rule all of it: no request, no copy, no turn of the loop. */
static void write_now(struct run_tcp *c, struct buf *out)
{
    uv_buf_t piece = uv_buf_init(out->bytes, (unsigned)out->len);
    int n = uv_try_write((uv_stream_t *)&c->tcp, &piece, 1);
    if (n > 0)
        buf_drop(out, (size_t)n);
    if (out->len == 0 && out->cap > KEEP_MAX)
        buf_fini(out);
}

size_t run_tcp_unsent(const struct run_tcp *c)
{
    return uv_stream_get_write_queue_size((const uv_stream_t *)&c->tcp);
}

void run_tcp_write(struct run_tcp *c, struct buf *out)
{
    write_now(c, out);
    if (out->len == 0)
        return;
    struct tcp_write *w = mem_new(struct tcp_write);
    obj_init(&w->obj, WRITE_MAGIC);
    w->tcp = c;
    w->req.data = w;
    size_t len = out->len;
    w->bytes = buf_take(out);
    uv_buf_t piece = uv_buf_init(w->bytes, (unsigned)len);
    if (uv_write(&w->req, (uv_stream_t *)&c->tcp, &piece, 1, on_written) == 0)
        return;
    /* Only a socket that is no longer connected refuses at once; the read side reports that. */
    free(w->bytes);
    free(w);
}
