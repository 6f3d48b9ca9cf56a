#include "fake_zk.h"
#include "base/mem.h"
#include "base/obj.h"

#include <signal.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <cmocka.h>

#define FAKE_MAGIC OBJ_MAGIC('F', 'A', 'K', 'E')
#define PEER_MAGIC OBJ_MAGIC('P', 'E', 'E', 'R')

enum { PATIENCE_MS = 20000, FRAME_MAX = 1 << 20, QUIET_TURNS = 20 };

struct request {
    TAILQ_ENTRY(request) link;
    int32_t xid, op;
    char *path;
    struct buf body; /* of a multi */
};

struct peer {
    struct obj obj;
    uv_tcp_t tcp;
    struct fake_zk *fake;
    struct buf in;
    bool has_said_hello;
};

struct fake_zk {
    struct obj obj;
    struct run_loop *loop;
    uv_tcp_t listener;
    char *address;
    struct peer *peer;
    enum fake_hello hello;
    int32_t timeout_ms;
    struct zkw_hello seen;
    size_t n_hellos, chunk;
    TAILQ_HEAD(, request) requests;
    struct buf wanted; /* body of the last multi that was wanted */
    struct buf out;
    bool is_corked, is_hanging_up;
    struct run_timer *pump;
};

static void on_peer_closed(uv_handle_t *tcp)
{
    struct peer *p = obj_cast(tcp->data, struct peer, PEER_MAGIC);
    buf_fini(&p->in);
    obj_fini(&p->obj);
    free(p);
}

static void drop_peer(struct fake_zk *z)
{
    if (z->peer)
        run_handle_close((uv_handle_t *)&z->peer->tcp, on_peer_closed);
    z->peer = NULL;
    buf_clear(&z->out);
    z->is_hanging_up = false;
}

/* Send a piece a turn of the loop, so that the other side can see it alone. */
static void on_pump(void *arg)
{
    struct fake_zk *z = obj_cast(arg, struct fake_zk, FAKE_MAGIC);
    if (!z->peer || z->is_corked)
        return;
    if (z->out.len > 0) {
        size_t n = z->chunk && z->chunk < z->out.len ? z->chunk : z->out.len;
        uv_buf_t piece = uv_buf_init(z->out.bytes, (unsigned)n);
        int sent = uv_try_write((uv_stream_t *)&z->peer->tcp, &piece, 1);
        if (sent > 0)
            buf_drop(&z->out, (size_t)sent);
    }
    if (z->out.len > 0)
        run_timer_start(z->pump, 1, 0);
    else if (z->is_hanging_up)
        drop_peer(z);
}

static void push(struct fake_zk *z)
{
    run_timer_start(z->pump, 0, 0);
}

static void answer_hello(struct fake_zk *z, struct zkw_bytes frame)
{
    struct zkw_in in = zkw_in_make(frame.at, frame.len);
    zkw_get_i32(&in);
    z->seen = (struct zkw_hello){.last_zxid = zkw_get_i64(&in), .timeout_ms = zkw_get_i32(&in)};
    z->seen.session = zkw_get_i64(&in);
    z->seen.password_len = zkw_get_bytes(&in).len;
    z->n_hellos++;
    z->peer->has_said_hello = true;
    if (z->hello == FAKE_REFUSE) {
        drop_peer(z);
        return;
    }
    bool is_expired = z->hello == FAKE_EXPIRE;
    static const char password[FAKE_PASSWORD_LEN] = "secret";
    size_t start = zkw_frame_begin(&z->out);
    zkw_put_i32(&z->out, 0);
    zkw_put_i32(&z->out, is_expired ? 0 : z->timeout_ms);
    zkw_put_i64(&z->out, is_expired ? 0 : FAKE_SESSION);
    zkw_put_bytes(&z->out, password, sizeof password);
    zkw_frame_end(&z->out, start);
    z->is_hanging_up = is_expired;
    push(z);
}

static void keep_request(struct fake_zk *z, struct zkw_bytes frame)
{
    struct zkw_in in = zkw_in_make(frame.at, frame.len);
    struct request *r = mem_new(struct request);
    r->xid = zkw_get_i32(&in);
    r->op = zkw_get_i32(&in);
    struct zkw_bytes path = r->op == ZKW_MULTI ? (struct zkw_bytes){NULL, 0} : zkw_get_bytes(&in);
    r->path = path.at ? mem_strn(path.at, path.len) : NULL;
    if (r->op == ZKW_MULTI)
        buf_add(&r->body, in.at, (size_t)(in.end - in.at));
    TAILQ_INSERT_TAIL(&z->requests, r, link);
}

static void on_room(uv_handle_t *tcp, size_t suggested, uv_buf_t *out)
{
    struct peer *p = obj_cast(tcp->data, struct peer, PEER_MAGIC);
    (void)suggested;
    *out = uv_buf_init(buf_room(&p->in, 4096), 4096);
}

static void on_read(uv_stream_t *tcp, ssize_t n, const uv_buf_t *room)
{
    struct peer *p = obj_cast(tcp->data, struct peer, PEER_MAGIC);
    struct fake_zk *z = p->fake;
    (void)room;
    if (z->peer != p)
        return;
    if (n < 0) {
        drop_peer(z);
        return;
    }
    p->in.len += (size_t)n;
    struct zkw_bytes frame;
    int64_t used;
    while (z->peer == p && (used = zkw_frame_next(p->in.bytes, p->in.len, FRAME_MAX, &frame)) > 0) {
        if (p->has_said_hello)
            keep_request(z, frame);
        else
            answer_hello(z, frame);
        buf_drop(&p->in, (size_t)used);
    }
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct fake_zk *z = obj_cast(listener->data, struct fake_zk, FAKE_MAGIC);
    assert_int_equal(status, 0);
    drop_peer(z);
    struct peer *p = mem_new(struct peer);
    obj_init(&p->obj, PEER_MAGIC);
    p->fake = z;
    p->tcp.data = p;
    z->peer = p;
    assert_int_equal(uv_tcp_init(run_loop_uv(z->loop), &p->tcp), 0);
    assert_int_equal(uv_accept(listener, (uv_stream_t *)&p->tcp), 0);
    assert_int_equal(uv_tcp_nodelay(&p->tcp, 1), 0);
    assert_int_equal(uv_read_start((uv_stream_t *)&p->tcp, on_room, on_read), 0);
}

struct fake_zk *fake_new(struct run_loop *loop)
{
    struct fake_zk *z = mem_new(struct fake_zk);
    struct sockaddr_in at;
    int len = sizeof at;
    signal(SIGPIPE, SIG_IGN); /* as the daemons do: a connection that is cut is an error of write */
    obj_init(&z->obj, FAKE_MAGIC);
    z->loop = loop;
    z->timeout_ms = 10000;
    z->listener.data = z;
    z->pump = run_timer_new(loop, on_pump, z);
    TAILQ_INIT(&z->requests);
    assert_int_equal(uv_ip4_addr("127.0.0.1", 0, &at), 0);
    assert_int_equal(uv_tcp_init(run_loop_uv(loop), &z->listener), 0);
    assert_int_equal(uv_tcp_bind(&z->listener, (struct sockaddr *)&at, 0), 0);
    assert_int_equal(uv_listen((uv_stream_t *)&z->listener, 8, on_connection), 0);
    assert_int_equal(uv_tcp_getsockname(&z->listener, (struct sockaddr *)&at, &len), 0);
    z->address = mem_fmt("127.0.0.1:%d", ntohs(at.sin_port));
    return z;
}

static void on_listener_closed(uv_handle_t *listener)
{
    struct fake_zk *z = obj_cast(listener->data, struct fake_zk, FAKE_MAGIC);
    struct request *r;
    while ((r = TAILQ_FIRST(&z->requests))) {
        TAILQ_REMOVE(&z->requests, r, link);
        free(r->path);
        buf_fini(&r->body);
        free(r);
    }
    buf_fini(&z->wanted);
    buf_fini(&z->out);
    free(z->address);
    obj_fini(&z->obj);
    free(z);
}

void fake_free(struct fake_zk *z)
{
    drop_peer(z);
    run_timer_free(z->pump);
    run_handle_close((uv_handle_t *)&z->listener, on_listener_closed);
}

const char *fake_address(const struct fake_zk *z)
{
    return z->address;
}

void fake_set_hello(struct fake_zk *z, enum fake_hello what, int32_t timeout_ms)
{
    z->hello = what;
    z->timeout_ms = timeout_ms;
}

void fake_set_chunk(struct fake_zk *z, size_t n)
{
    z->chunk = n;
}

struct zkw_hello fake_hello_seen(const struct fake_zk *z)
{
    return z->seen;
}

size_t fake_n_hellos(const struct fake_zk *z)
{
    return z->n_hellos;
}

void fake_until(struct fake_zk *z, bool (*is_so)(void *arg), void *arg)
{
    int64_t end = run_now_ms() + PATIENCE_MS;
    while (!is_so(arg)) {
        if (run_now_ms() > end)
            fail_msg("waited %d ms in vain", PATIENCE_MS);
        uv_run(run_loop_uv(z->loop), UV_RUN_ONCE);
    }
}

static bool has_request(void *arg)
{
    struct fake_zk *z = obj_cast(arg, struct fake_zk, FAKE_MAGIC);
    return !TAILQ_EMPTY(&z->requests);
}

int32_t fake_want(struct fake_zk *z, enum zkw_opcode op, const char *path)
{
    fake_until(z, has_request, z);
    struct request *r = TAILQ_FIRST(&z->requests);
    int32_t xid = r->xid;
    if (r->op != (int32_t)op || strcmp(r->path ? r->path : "", path ? path : "") != 0)
        fail_msg("expected request %d %s, got %d %s", op, path ? path : "", r->op, r->path ? r->path : "");
    TAILQ_REMOVE(&z->requests, r, link);
    buf_fini(&z->wanted);
    z->wanted = r->body;
    free(r->path);
    free(r);
    return xid;
}

bool fake_wanted_has(const struct fake_zk *z, const char *text)
{
    return z->wanted.len && memmem(z->wanted.bytes, z->wanted.len, text, strlen(text));
}

static void on_tick(void *arg)
{
    (void)arg; /* only there so that a turn takes a millisecond at most, however late it begins */
}

void fake_want_none(struct fake_zk *z)
{
    struct run_timer *tick = run_timer_new(z->loop, on_tick, NULL);
    run_timer_start(tick, 1, 1);
    for (int i = 0; i < QUIET_TURNS; i++)
        uv_run(run_loop_uv(z->loop), UV_RUN_ONCE);
    run_timer_free(tick);
    const struct request *r = TAILQ_FIRST(&z->requests);
    if (r)
        fail_msg("request %d %s was not expected", r->op, r->path ? r->path : "");
}

void fake_reply(struct fake_zk *z, int32_t xid, int64_t zxid, int32_t err, const struct buf *body)
{
    size_t start = zkw_frame_begin(&z->out);
    zkw_put_i32(&z->out, xid);
    zkw_put_i64(&z->out, zxid);
    zkw_put_i32(&z->out, err);
    if (body)
        buf_add(&z->out, body->bytes, body->len);
    zkw_frame_end(&z->out, start);
    push(z);
}

void fake_notice(struct fake_zk *z, int32_t kind, const char *path)
{
    buf_auto struct buf body = BUF_EMPTY;
    zkw_put_i32(&body, kind);
    zkw_put_i32(&body, 3);
    zkw_put_bytes(&body, path, strlen(path));
    fake_reply(z, ZKW_XID_NOTICE, -1, 0, &body);
}

void fake_raw(struct fake_zk *z, const void *bytes, size_t len)
{
    buf_add(&z->out, bytes, len);
    push(z);
}

void fake_cork(struct fake_zk *z)
{
    z->is_corked = true;
}

void fake_uncork(struct fake_zk *z)
{
    z->is_corked = false;
    push(z);
}

void fake_hang_up(struct fake_zk *z)
{
    z->is_hanging_up = true;
    push(z);
}

void fake_put_stat(struct buf *out, int64_t zxid, int32_t n_children, size_t len)
{
    zkw_put_i64(out, zxid); /* czxid */
    zkw_put_i64(out, zxid); /* mzxid */
    zkw_put_i64(out, 0);    /* ctime */
    zkw_put_i64(out, 0);    /* mtime */
    zkw_put_i32(out, 0);    /* version */
    zkw_put_i32(out, 0);    /* cversion */
    zkw_put_i32(out, 0);    /* aversion */
    zkw_put_i64(out, 0);    /* ephemeralOwner */
    zkw_put_i32(out, (int32_t)len);
    zkw_put_i32(out, n_children);
    zkw_put_i64(out, zxid); /* pzxid */
}

void fake_put_data(struct buf *out, const char *data, int64_t zxid, int32_t n_children)
{
    zkw_put_bytes(out, data, data ? strlen(data) : 0);
    fake_put_stat(out, zxid, n_children, data ? strlen(data) : 0);
}

void fake_put_names(struct buf *out, const char *const *names, int64_t zxid)
{
    int32_t n = 0;
    while (names[n])
        n++;
    zkw_put_i32(out, n);
    for (int32_t i = 0; i < n; i++)
        zkw_put_bytes(out, names[i], strlen(names[i]));
    fake_put_stat(out, zxid, n, 0);
}
