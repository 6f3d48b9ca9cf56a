#include "feed/snapshot.h"
#include "feed/events.h"
#include "feed/file.h"
#include "base/mem.h"
#include "base/obj.h"

#include <stdlib.h>
#include <string.h>

#define SNAPSHOTS_MAGIC OBJ_MAGIC('S', 'N', 'A', 'P')
#define HEAD            "bobbin dnsd snapshot 2\n"
#define HEAD_LEN        (sizeof HEAD - 1)

static void put64(uint8_t *p, uint64_t v)
{
    for (int i = 0; i < 8; i++)
        p[i] = (uint8_t)(v >> (56 - 8 * i));
}

static uint64_t get(const uint8_t *p, int n)
{
    uint64_t v = 0;
    for (int i = 0; i < n; i++)
        v = v << 8 | p[i];
    return v;
}

/* FNV-1a over eight octets at a time: finds damage, not malice. */
static uint64_t sum(const uint8_t *p, size_t n)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (; n >= 8; n -= 8, p += 8)
        h = (h ^ get(p, 8)) * 0x100000001b3u;
    for (; n; n--, p++)
        h = (h ^ *p) * 0x100000001b3u;
    return h;
}

/* ---- reading ---- */

struct block {
    const char *path, *bytes;
    size_t path_len, len;
};

/* One record. @return octets; 0: cut short, or not one. */
static size_t read_record(const uint8_t *p, size_t left, struct block *b)
{
    if (left < 8)
        return 0;
    b->path_len = (size_t)get(p, 4);
    b->len = (size_t)get(p + 4, 4);
    b->path = (const char *)p + 8;
    b->bytes = b->path + b->path_len;
    bool fits = b->path_len <= left - 8 && b->len <= left - 8 - b->path_len;
    /* Both end with a NUL: what reads them runs from string to string. */
    return fits && b->path_len && b->len && !b->path[b->path_len - 1] && !b->bytes[b->len - 1]
               ? 8 + b->path_len + b->len
               : 0;
}

static int damaged(const char *path, struct err_info *why)
{
    return err_set(why, ERR_PARSE, path, "the snapshot is damaged or of another version; it is left alone");
}

/* Check all records (f NULL), or restore them. */
static int each_record(const uint8_t *p, size_t left, uint64_t n, struct follow *f)
{
    struct block b;
    for (; n; n--) {
        size_t used = read_record(p, left, &b);
        if (!used)
            return ERR_PARSE;
        if (f)
            follow_restore(f, b.path, b.bytes, b.len);
        p += used;
        left -= used;
    }
    return left ? ERR_PARSE : 0;
}

int snapshot_restore(const char *path, struct follow *f, struct err_info *why)
{
    buf_auto struct buf text = BUF_EMPTY;
    int err = file_read(path, &text, why);
    if (err)
        return err;
    const uint8_t *p = (const uint8_t *)buf_cstr(&text);
    if (text.len < HEAD_LEN + 24 || memcmp(p, HEAD, HEAD_LEN) != 0 ||
        get(p + text.len - 8, 8) != sum(p, text.len - 8))
        return damaged(path, why);
    int64_t age_ms = run_wall_ms() - (int64_t)get(p + HEAD_LEN, 8);
    uint64_t n = get(p + HEAD_LEN + 8, 8);
    const uint8_t *records = p + HEAD_LEN + 16;
    size_t len = text.len - HEAD_LEN - 24;
    if (each_record(records, len, n, NULL))
        return damaged(path, why);
    if (!n)
        return err_set(why, ERR_NOTFOUND, path, "the snapshot is empty");
    each_record(records, len, n, f);
    follow_restored(f, age_ms > 0 ? age_ms : 0);
    return 0;
}

/* ---- writing ---- */

struct snapshots {
    struct obj obj;
    struct run_loop *loop;
    struct follow *follow;
    char *path;
    int64_t interval_ms;
    struct run_timer *timer;
    bool is_dirty;
    struct follow_walk *walk; /* gathering, or NULL */
    bool is_writing;          /* `bytes` is the pool's */
    uv_work_t work;
    struct buf bytes;
    uint64_t n_records;
    int err;
    struct err_info why;
    void (*stopped)(void *arg); /* set: ends when nothing is under way */
    void *stopped_arg;
};

static void go_on(struct snapshots *s);

static void on_record(void *arg, const char *path, const char *packed, size_t len)
{
    struct snapshots *s = obj_cast(arg, struct snapshots, SNAPSHOTS_MAGIC);
    uint8_t head[8];
    size_t path_len = strlen(path) + 1;
    put64(head, (uint64_t)path_len << 32 | len);
    buf_add(&s->bytes, head, sizeof head);
    buf_add(&s->bytes, path, path_len);
    buf_add(&s->bytes, packed, len);
    s->n_records++;
}

static void run_write(uv_work_t *work)
{
    struct snapshots *s = obj_cast(work->data, struct snapshots, SNAPSHOTS_MAGIC);
    uint8_t tail[8];
    put64(tail, sum((const uint8_t *)s->bytes.bytes, s->bytes.len));
    buf_add(&s->bytes, tail, sizeof tail);
    s->err = file_write(s->path, s->bytes.bytes, s->bytes.len, &s->why);
}

static void on_written(uv_work_t *work, int status)
{
    struct snapshots *s = obj_cast(work->data, struct snapshots, SNAPSHOTS_MAGIC);
    BUG_IF(status);
    s->is_writing = false;
    buf_fini(&s->bytes);
    if (s->err)
        log_emit(&ev_snapshot_failed, LOG_ERR(&s->why));
    go_on(s);
}

static void on_gathered(void *arg, int err)
{
    struct snapshots *s = obj_cast(arg, struct snapshots, SNAPSHOTS_MAGIC);
    s->walk = NULL;
    BUG_IF(err); /* the follower stops after us */
    put64((uint8_t *)s->bytes.bytes + HEAD_LEN + 8, s->n_records);
    s->is_writing = true;
    s->work.data = s;
    BUG_IF(uv_queue_work(run_loop_uv(s->loop), &s->work, run_write, on_written));
}

static const struct follow_walk_ops walk_ops = {.record = on_record, .done = on_gathered};

static void gather(struct snapshots *s)
{
    struct follow_state state;
    uint8_t numbers[16] = {0};
    follow_state(s->follow, &state);
    s->is_dirty = false;
    s->n_records = 0;
    put64(numbers, (uint64_t)(run_wall_ms() - state.stale_ms));
    buf_add(&s->bytes, HEAD, HEAD_LEN);
    buf_add(&s->bytes, numbers, sizeof numbers);
    s->walk = follow_walk_start(s->follow, &walk_ops, s);
}

static void end(struct snapshots *s)
{
    void (*stopped)(void *arg) = s->stopped;
    void *arg = s->stopped_arg;
    run_timer_free(s->timer);
    free(s->path);
    obj_fini(&s->obj);
    free(s);
    stopped(arg);
}

/* Nothing is under way: end, write what is new, or wait. A first scan that is not through has nothing new. */
static void go_on(struct snapshots *s)
{
    struct follow_state state;
    follow_state(s->follow, &state);
    if (s->stopped && s->is_dirty && state.is_synced)
        gather(s);
    else if (s->stopped)
        end(s);
    else
        run_timer_start(s->timer, (uint64_t)s->interval_ms, 0);
}

static void on_timer(void *arg)
{
    struct snapshots *s = obj_cast(arg, struct snapshots, SNAPSHOTS_MAGIC);
    struct follow_state state;
    if (s->walk || s->is_writing)
        return;
    follow_state(s->follow, &state);
    if (s->is_dirty && state.is_synced && !s->stopped)
        gather(s);
    else
        go_on(s);
}

struct snapshots *snapshots_new(struct run_loop *loop, struct follow *f, const char *path,
                                int64_t interval_ms)
{
    struct snapshots *s = mem_new(struct snapshots);
    obj_init(&s->obj, SNAPSHOTS_MAGIC);
    s->loop = loop;
    s->follow = f;
    s->path = mem_str(path);
    s->interval_ms = interval_ms;
    s->timer = run_timer_new(loop, on_timer, s);
    run_timer_start(s->timer, (uint64_t)interval_ms, 0);
    return s;
}

void snapshots_changed(struct snapshots *s)
{
    s->is_dirty = true;
}

void snapshots_stop(struct snapshots *s, void (*stopped)(void *arg), void *arg)
{
    s->stopped = stopped;
    s->stopped_arg = arg;
    if (!s->walk && !s->is_writing)
        run_timer_start(s->timer, 0, 0);
}
