#include "tap/frames.h"

#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "base/backoff.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/obj.h"
#include "run/loop.h"
#include "tap/events.h"
#include "wire/rdata.h"

#define FRAMES_MAGIC OBJ_MAGIC('F', 'R', 'M', 'S')

enum {
    CONTROL_ACCEPT = 1,
    CONTROL_START,
    CONTROL_STOP,
    CONTROL_READY,
    CONTROL_FINISH,
    FIELD_CONTENT_TYPE = 1,
    CONTROL_MAX = 512,
    LENGTH = 4, /* octets of a number */
    PAUSE_FIRST_MS = 100,
    PAUSE_MAX_MS = 10000,
    ANSWER_MS = 5000, /* a collector that does not answer READY is left after so long */
    FINISH_MS = 500,
};

enum state { AWAY, CONNECTING, GREETING, OPEN, CLOSING, ENDED };

struct frames {
    struct obj obj;
    struct frames_def def;
    char *path, *content_type;
    enum state state;
    struct run_timer *timer; /* the pause, or the wait for an answer */
    int64_t pause_ms;
    int64_t opened_ms; /* when the collector accepted what is sent */
    bool is_reported;  /* that no collector listens */
    uv_pipe_t pipe;
    bool has_pipe, is_writing;
    uv_connect_t connect;
    uv_write_t write;
    struct buf queue, sent; /* sent: what the write in flight borrows */
    struct buf in;
    void (*ended)(void *arg);
    void *arg;
};

static void try_later(struct frames *f);

/* ---- control frames ---- */

static void add_number(struct buf *out, uint32_t n)
{
    wire_put32((uint8_t *)buf_room(out, LENGTH), n);
    out->len += LENGTH;
}

/** Queue a control frame: the escape, its length, its type, and for some the content type. */
static void add_control(struct frames *f, uint32_t type)
{
    size_t n = strlen(f->content_type);
    bool has_type = type == CONTROL_READY || type == CONTROL_START;
    add_number(&f->queue, 0);
    add_number(&f->queue, (uint32_t)(LENGTH + (has_type ? 2 * LENGTH + n : 0)));
    add_number(&f->queue, type);
    if (!has_type)
        return;
    add_number(&f->queue, FIELD_CONTENT_TYPE);
    add_number(&f->queue, (uint32_t)n);
    buf_add(&f->queue, f->content_type, n);
}

/** Does the collector accept our content type? Without one in the frame it accepts any. */
static bool accepts(const struct frames *f, const uint8_t *fields, size_t len)
{
    bool has_any = false;
    while (len >= 2 * LENGTH && wire_get32(fields) == FIELD_CONTENT_TYPE) {
        size_t n = wire_get32(fields + LENGTH);
        fields += 2 * LENGTH;
        len -= 2 * LENGTH;
        if (n > len)
            return false;
        if (n == strlen(f->content_type) && !memcmp(fields, f->content_type, n))
            return true;
        has_any = true;
        fields += n;
        len -= n;
    }
    return !has_any && !len;
}

/* ---- the connection ---- */

static void free_frames(struct frames *f)
{
    run_timer_free(f->timer);
    buf_fini(&f->queue);
    buf_fini(&f->sent);
    buf_fini(&f->in);
    free(f->path);
    free(f->content_type);
    obj_fini(&f->obj);
    void (*ended)(void *arg) = f->ended;
    void *arg = f->arg;
    free(f);
    ended(arg);
}

static void on_closed(uv_handle_t *handle)
{
    struct frames *f = obj_cast(handle->data, struct frames, FRAMES_MAGIC);
    f->has_pipe = f->is_writing = false;
    if (f->state == ENDED)
        free_frames(f);
    else
        try_later(f);
}

/** The connection is of no use any more: close it; on_closed decides how to go on. */
static void leave(struct frames *f, enum state state)
{
    bool is_closing = f->state == AWAY || f->state == ENDED;
    f->state = state;
    if (is_closing && f->has_pipe)
        return;
    run_timer_stop(f->timer);
    if (f->has_pipe)
        run_handle_close((uv_handle_t *)&f->pipe, on_closed);
    else if (state == ENDED)
        free_frames(f);
}

static void lost(struct frames *f, int err)
{
    if (!f->is_reported)
        log_emit(&ev_dnstap_away, LOG_STR("socket", f->path), LOG_STR("error", uv_strerror(err)));
    f->is_reported = true;
    if (f->state == OPEN && run_now_ms() - f->opened_ms >= PAUSE_MAX_MS)
        f->pause_ms = 0;
    leave(f, f->state == CLOSING || f->state == ENDED ? ENDED : AWAY);
}

static void on_written(uv_write_t *write, int status)
{
    struct frames *f = obj_cast(write->data, struct frames, FRAMES_MAGIC);
    f->is_writing = false;
    buf_clear(&f->sent);
    if (f->state == AWAY || f->state == ENDED)
        return;
    if (status)
        lost(f, status);
    else
        frames_flush(f);
}

void frames_flush(struct frames *f)
{
    if (!f->queue.len || f->is_writing || f->state < GREETING || f->state == ENDED)
        return;
    struct buf empty = f->sent;
    f->sent = f->queue;
    f->queue = empty;
    uv_buf_t out = uv_buf_init(f->sent.bytes, (unsigned)f->sent.len);
    f->write.data = f;
    f->is_writing = true;
    int err = uv_write(&f->write, (uv_stream_t *)&f->pipe, &out, 1, on_written);
    if (!err)
        return;
    f->is_writing = false;
    lost(f, err);
}

/** A control frame of the collector: its type and fields. */
static void take_control(struct frames *f, const uint8_t *p, size_t len)
{
    uint32_t type = len >= LENGTH ? wire_get32(p) : 0;
    if (f->state == CLOSING && type == CONTROL_FINISH) {
        leave(f, ENDED);
    } else if (f->state == GREETING && type == CONTROL_ACCEPT && accepts(f, p + LENGTH, len - LENGTH)) {
        run_timer_stop(f->timer);
        f->state = OPEN;
        f->opened_ms = run_now_ms();
        f->is_reported = false;
        log_emit(&ev_dnstap_connected, LOG_STR("socket", f->path));
        add_control(f, CONTROL_START);
        frames_flush(f);
    } else {
        lost(f, UV_EPROTO);
    }
}

/** Take the whole control frames; a collector sends nothing else. */
static void take_octets(struct frames *f)
{
    while (f->in.len >= 2 * LENGTH && f->state >= GREETING && f->state != ENDED) {
        const uint8_t *p = (const uint8_t *)f->in.bytes;
        size_t len = wire_get32(p + LENGTH);
        if (wire_get32(p) || len > CONTROL_MAX) {
            lost(f, UV_EPROTO);
            return;
        }
        if (f->in.len < 2 * LENGTH + len)
            return;
        take_control(f, p + 2 * LENGTH, len);
        buf_drop(&f->in, 2 * LENGTH + len);
    }
}

static void on_room(uv_handle_t *handle, size_t wanted, uv_buf_t *out)
{
    struct frames *f = obj_cast(handle->data, struct frames, FRAMES_MAGIC);
    (void)wanted;
    *out = uv_buf_init(buf_room(&f->in, CONTROL_MAX), CONTROL_MAX);
}

static void on_octets(uv_stream_t *stream, ssize_t n, const uv_buf_t *room)
{
    struct frames *f = obj_cast(stream->data, struct frames, FRAMES_MAGIC);
    (void)room;
    if (f->state == AWAY || f->state == ENDED || !n)
        return;
    if (n < 0) {
        lost(f, (int)n);
        return;
    }
    f->in.len += (size_t)n;
    take_octets(f);
}

static void on_connected(uv_connect_t *connect, int status)
{
    struct frames *f = obj_cast(connect->data, struct frames, FRAMES_MAGIC);
    if (f->state != CONNECTING)
        return;
    if (!status)
        status = uv_read_start((uv_stream_t *)&f->pipe, on_room, on_octets);
    if (status) {
        lost(f, status);
        return;
    }
    f->state = GREETING;
    run_timer_start(f->timer, ANSWER_MS, 0);
    add_control(f, CONTROL_READY);
    frames_flush(f);
}

static void begin(struct frames *f)
{
    buf_clear(&f->queue);
    buf_clear(&f->sent);
    buf_clear(&f->in);
    BUG_IF(uv_pipe_init(run_loop_uv(f->def.loop), &f->pipe, 0));
    f->pipe.data = f;
    f->connect.data = f;
    f->has_pipe = true;
    f->state = CONNECTING;
    uv_pipe_connect(&f->connect, &f->pipe, f->path, on_connected);
}

static void on_timer(void *arg)
{
    struct frames *f = obj_cast(arg, struct frames, FRAMES_MAGIC);
    if (f->state == AWAY)
        begin(f);
    else
        lost(f, UV_ETIMEDOUT);
}

static void try_later(struct frames *f)
{
    f->pause_ms = backoff_next(f->pause_ms, PAUSE_FIRST_MS, PAUSE_MAX_MS);
    run_timer_start(f->timer, (uint64_t)f->pause_ms, 0);
}

struct frames *frames_new(const struct frames_def *def)
{
    struct frames *f = mem_new(struct frames);
    obj_init(&f->obj, FRAMES_MAGIC);
    f->def = *def;
    f->path = mem_str(def->path);
    f->content_type = mem_str(def->content_type);
    f->queue = f->sent = f->in = BUF_EMPTY;
    f->timer = run_timer_new(def->loop, on_timer, f);
    begin(f);
    return f;
}

bool frames_take(const struct frames *f)
{
    return f->state == OPEN && f->queue.len < f->def.queue_max;
}

bool frames_send(struct frames *f, struct buf *take_frame)
{
    bool is_taken = frames_take(f);
    if (is_taken) {
        add_number(&f->queue, (uint32_t)take_frame->len);
        buf_add(&f->queue, take_frame->bytes, take_frame->len);
    }
    buf_clear(take_frame);
    return is_taken;
}

void frames_stop(struct frames *f, void (*ended)(void *arg), void *arg)
{
    f->ended = ended;
    f->arg = arg;
    if (f->state != OPEN) {
        leave(f, ENDED);
        return;
    }
    f->state = CLOSING;
    f->is_reported = true; /* an end without FINISH is no outage */
    run_timer_start(f->timer, FINISH_MS, 0);
    add_control(f, CONTROL_STOP);
    frames_flush(f);
}
