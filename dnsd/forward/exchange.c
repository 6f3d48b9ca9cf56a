#include "forward/exchange.h"

#include <stdlib.h>
#include <uv.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/obj.h"
#include "bobbin/error.h"
#include "forward/relay.h"
#include "forward/upstreams.h"
#include "run/loop.h"
#include "wire/rdata.h"

#define EXCHANGE_MAGIC OBJ_MAGIC('X', 'C', 'H', 'G')

enum { UDP_ROOM = 4096, TCP_STEP = 4096, TCP_PREFIX = 2, STRAYS_MAX = 16 };

struct exchange {
    struct obj obj;
    struct exchange_def def;
    union {
        uv_handle_t handle;
        uv_udp_t udp;
        uv_tcp_t tcp;
    } uv;
    uv_connect_t connect;
    uv_write_t write;
    uint8_t prefix[TCP_PREFIX];
    struct run_timer *timer;
    unsigned n_strays;
    int failed; /* what the timer reports: ERR_TIMEOUT, or the error of the start */
    struct buf in;
};

static void on_closed(uv_handle_t *handle)
{
    struct exchange *x = obj_cast(handle->data, struct exchange, EXCHANGE_MAGIC);
    buf_fini(&x->in);
    obj_fini(&x->obj);
    free(x);
}

void exchange_cancel(struct exchange *x)
{
    if (!x)
        return;
    run_timer_free(x->timer);
    x->timer = NULL;
    run_handle_close(&x->uv.handle, on_closed);
}

/** End: close first, because done may stop the loop; `msg` lives until on_closed. */
static void finish(struct exchange *x, int err, const uint8_t *msg, size_t len)
{
    exchange_cancel(x);
    x->def.done(x->def.arg, err, msg, len);
}

static void on_timer(void *arg)
{
    struct exchange *x = obj_cast(arg, struct exchange, EXCHANGE_MAGIC);
    finish(x, x->failed, NULL, 0);
}

/** An error inside exchange_start: the timer reports it, because done is never called from inside. */
static void fail_soon(struct exchange *x)
{
    x->failed = ERR_UNAVAILABLE;
    run_timer_start(x->timer, 0, 0);
}

static void on_room(uv_handle_t *handle, size_t wanted, uv_buf_t *out)
{
    struct exchange *x = obj_cast(handle->data, struct exchange, EXCHANGE_MAGIC);
    (void)wanted;
    size_t n = x->def.is_tcp ? TCP_STEP : UDP_ROOM;
    *out = uv_buf_init(buf_room(&x->in, n), (unsigned)n);
}

static enum relay_match match(const struct exchange *x, const uint8_t *msg, size_t len)
{
    return relay_match(x->def.query, x->def.query_len, msg, len);
}

/* ---- UDP ---- */

static void on_datagram(uv_udp_t *udp, ssize_t n, const uv_buf_t *in, const struct sockaddr *from,
                        unsigned flags)
{
    struct exchange *x = obj_cast(udp->data, struct exchange, EXCHANGE_MAGIC);
    const uint8_t *msg = (const uint8_t *)in->base;
    if (!x->timer || (!n && !from)) /* ended, or nothing more to read */
        return;
    if (n < 0) {
        finish(x, ERR_UNAVAILABLE, NULL, 0);
        return;
    }
    enum relay_match found = flags & UV_UDP_PARTIAL ? RELAY_OTHER : match(x, msg, (size_t)n);
    if (found == RELAY_ANSWER || (found == RELAY_OTHER_CASE && x->def.takes_any_case)) {
        finish(x, 0, msg, (size_t)n);
        return;
    }
    x->def.stray(x->def.arg);
    if (found == RELAY_OTHER_CASE || ++x->n_strays == STRAYS_MAX)
        finish(x, found == RELAY_OTHER_CASE ? ERR_CONFLICT : ERR_LIMIT, NULL, 0);
}

static void start_udp(struct exchange *x, uv_loop_t *loop)
{
    uv_buf_t out = uv_buf_init((char *)(uintptr_t)x->def.query, (unsigned)x->def.query_len);
    BUG_IF(uv_udp_init(loop, &x->uv.udp));
    x->uv.handle.data = x;
    if (uv_udp_connect(&x->uv.udp, (const struct sockaddr *)&x->def.to->sa) ||
        uv_udp_recv_start(&x->uv.udp, on_room, on_datagram) || uv_udp_try_send(&x->uv.udp, &out, 1, NULL) < 0)
        fail_soon(x);
}

/* ---- TCP ---- */

static void on_octets(uv_stream_t *stream, ssize_t n, const uv_buf_t *room)
{
    struct exchange *x = obj_cast(stream->data, struct exchange, EXCHANGE_MAGIC);
    (void)room;
    if (!x->timer || !n)
        return;
    if (n < 0) {
        finish(x, ERR_UNAVAILABLE, NULL, 0);
        return;
    }
    x->in.len += (size_t)n;
    const uint8_t *p = (const uint8_t *)x->in.bytes;
    if (x->in.len < TCP_PREFIX || x->in.len - TCP_PREFIX < wire_get16(p))
        return;
    if (match(x, p + TCP_PREFIX, wire_get16(p)) != RELAY_OTHER)
        finish(x, 0, p + TCP_PREFIX, wire_get16(p));
    else
        finish(x, ERR_UNAVAILABLE, NULL, 0);
}

static void on_written(uv_write_t *write, int status)
{
    struct exchange *x = obj_cast(write->data, struct exchange, EXCHANGE_MAGIC);
    if (status && x->timer)
        finish(x, ERR_UNAVAILABLE, NULL, 0);
}

static void on_connected(uv_connect_t *connect, int status)
{
    struct exchange *x = obj_cast(connect->data, struct exchange, EXCHANGE_MAGIC);
    if (!x->timer)
        return;
    wire_put16(x->prefix, (unsigned)x->def.query_len);
    uv_buf_t out[] = {uv_buf_init((char *)x->prefix, TCP_PREFIX),
                      uv_buf_init((char *)(uintptr_t)x->def.query, (unsigned)x->def.query_len)};
    uv_stream_t *stream = (uv_stream_t *)&x->uv.tcp;
    x->write.data = x;
    if (status || uv_read_start(stream, on_room, on_octets) ||
        uv_write(&x->write, stream, out, 2, on_written))
        finish(x, ERR_UNAVAILABLE, NULL, 0);
}

static void start_tcp(struct exchange *x, uv_loop_t *loop)
{
    BUG_IF(uv_tcp_init(loop, &x->uv.tcp));
    x->uv.handle.data = x;
    x->connect.data = x;
    if (uv_tcp_connect(&x->connect, &x->uv.tcp, (const struct sockaddr *)&x->def.to->sa, on_connected))
        fail_soon(x);
}

struct exchange *exchange_start(const struct exchange_def *def)
{
    struct exchange *x = mem_new(struct exchange);
    obj_init(&x->obj, EXCHANGE_MAGIC);
    x->def = *def;
    x->in = BUF_EMPTY;
    x->failed = ERR_TIMEOUT;
    x->timer = run_timer_new(def->loop, on_timer, x);
    run_timer_start(x->timer, def->timeout_ms, 0);
    if (def->is_tcp)
        start_tcp(x, run_loop_uv(def->loop));
    else
        start_udp(x, run_loop_uv(def->loop));
    return x;
}
