#include "follow/snapshot.h"
#include "follow/events.h"
#include "run/file.h"
#include "run/task.h"
#include "follow/image_file.h"
#include "follow/timestamp.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/obj.h"

#include <stdlib.h>
#include <string.h>

#define SNAPSHOTS_MAGIC OBJ_MAGIC('S', 'N', 'A', 'P')
#define RESTORE_MAGIC   OBJ_MAGIC('R', 'S', 'T', 'R')
#define HEAD            "bobbin dnsd snapshot 3\n"
#define HEAD_2          "bobbin dnsd snapshot 2\n" /* without boot */
#define HEAD_LEN        (sizeof HEAD - 1)
#define NUMBERS_LEN     16 /* time of day and number of records: of both versions */
#define BOOT_LEN        (8 + RUN_BOOT_ID_LEN)

/** Records that are restored at once: some 20 us of packing them. */
#define STEP_RECORDS 16
/** Records are gathered in pieces of this size, a multiple of 8: one block that grows would be copied while the loop waits. */
#define PIECE_BYTES 65536
/** The pause after a write is at least this many times its duration. */
#define REST 19

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
static uint64_t sum_on(uint64_t h, const uint8_t *p, size_t n)
{
    for (; n >= 8; n -= 8, p += 8)
        h = (h ^ get(p, 8)) * 0x100000001b3u;
    for (; n; n--, p++)
        h = (h ^ *p) * 0x100000001b3u;
    return h;
}

/* ---- reading ---- */

struct snapshot_restore {
    struct obj obj;
    struct run_loop *loop;
    struct follow *follow; /* NULL: cancelled */
    char *path;
    uv_work_t work;
    struct buf text;
    uint64_t n_left; /* records */
    size_t at;
    int64_t age_ms;
    int err;
    struct err_info why;
    struct run_task *task;
    void (*done)(void *arg, int err, const struct err_info *why);
    void *arg;
};

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
    /* Both end with a NUL: their readers go from string to string. */
    return fits && b->path_len && b->len && !b->path[b->path_len - 1] && !b->bytes[b->len - 1]
               ? 8 + b->path_len + b->len
               : 0;
}

static int damaged(const char *path, struct err_info *why)
{
    return err_set(why, ERR_PARSE, path, "the snapshot is damaged or of another version; it is left alone");
}

static int check_records(const uint8_t *p, size_t left, uint64_t n)
{
    struct block b;
    for (; n; n--) {
        size_t used = read_record(p, left, &b);
        if (!used)
            return ERR_PARSE;
        p += used;
        left -= used;
    }
    return left ? ERR_PARSE : 0;
}

/* The header. @return its octets; 0: it is none. */
static size_t read_head(const uint8_t *p, size_t len, struct timestamp *made, uint64_t *n_records)
{
    size_t n = HEAD_LEN + NUMBERS_LEN;
    bool is_2 = len >= n && memcmp(p, HEAD_2, HEAD_LEN) == 0;
    if (!is_2 && (len < n + BOOT_LEN || memcmp(p, HEAD, HEAD_LEN) != 0))
        return 0;
    *made = (struct timestamp){.wall_ms = (int64_t)get(p + HEAD_LEN, 8)};
    *n_records = get(p + HEAD_LEN + 8, 8);
    if (is_2)
        return n;
    made->boot_ms = (int64_t)get(p + n, 8);
    memcpy(made->boot, p + n + 8, sizeof made->boot - 1);
    return n + BOOT_LEN;
}

/* Read and check all of it, so that restoring cannot fail. */
static int read_snapshot(struct snapshot_restore *r)
{
    int err = file_read(r->path, &r->text, &r->why);
    if (err)
        return err;
    const uint8_t *p = (const uint8_t *)buf_cstr(&r->text);
    size_t len = r->text.len;
    if (len < 8 || get(p + len - 8, 8) != sum_on(SUM_START, p, len - 8))
        return damaged(r->path, &r->why);
    struct timestamp made, now;
    r->at = read_head(p, len - 8, &made, &r->n_left);
    if (!r->at || check_records(p + r->at, len - r->at - 8, r->n_left))
        return damaged(r->path, &r->why);
    timestamp_ago(0, &now);
    r->age_ms = timestamp_age_ms(&made, &now);
    return r->n_left ? 0 : err_set(&r->why, ERR_NOTFOUND, r->path, "the snapshot is empty");
}

static void restore_free(struct snapshot_restore *r)
{
    run_task_free(r->task);
    buf_fini(&r->text);
    free(r->path);
    obj_fini(&r->obj);
    free(r);
}

static void run_drop(uv_work_t *work)
{
    struct snapshot_restore *r = obj_cast(work->data, struct snapshot_restore, RESTORE_MAGIC);
    buf_fini(&r->text);
}

static void on_dropped(uv_work_t *work, int status)
{
    BUG_IF(status);
    restore_free(obj_cast(work->data, struct snapshot_restore, RESTORE_MAGIC));
}

/* The text is freed on a thread of the pool: the kernel takes long to unmap it. */
static void restore_end(struct snapshot_restore *r)
{
    if (!r->err)
        follow_restored(r->follow, r->age_ms);
    r->done(r->arg, r->err, &r->why);
    run_task_free(r->task);
    r->task = NULL;
    r->work.data = r;
    BUG_IF(uv_queue_work(run_loop_uv(r->loop), &r->work, run_drop, on_dropped));
}

static bool on_step(void *arg)
{
    struct snapshot_restore *r = obj_cast(arg, struct snapshot_restore, RESTORE_MAGIC);
    const uint8_t *p = (const uint8_t *)r->text.bytes;
    for (int n = 0; n < STEP_RECORDS && r->n_left; n++, r->n_left--) {
        struct block b;
        r->at += read_record(p + r->at, r->text.len - 8 - r->at, &b);
        follow_restore(r->follow, b.path, b.bytes, b.len);
    }
    if (r->n_left)
        return true;
    restore_end(r);
    return false;
}

static void run_read(uv_work_t *work)
{
    struct snapshot_restore *r = obj_cast(work->data, struct snapshot_restore, RESTORE_MAGIC);
    r->err = read_snapshot(r);
}

static void on_read(uv_work_t *work, int status)
{
    struct snapshot_restore *r = obj_cast(work->data, struct snapshot_restore, RESTORE_MAGIC);
    BUG_IF(status);
    r->work.data = NULL;
    if (!r->follow) {
        restore_free(r);
        return;
    }
    if (r->err) {
        restore_end(r);
        return;
    }
    follow_restore_room(r->follow, r->n_left);
    run_task_now(r->task);
}

struct snapshot_restore *snapshot_restore_start(const struct snapshot_restore_def *def)
{
    struct snapshot_restore *r = mem_new(struct snapshot_restore);
    obj_init(&r->obj, RESTORE_MAGIC);
    r->loop = def->loop;
    r->follow = def->follow;
    r->path = mem_str(def->path);
    r->done = def->done;
    r->arg = def->arg;
    r->task = run_task_new(def->loop, on_step, r);
    r->work.data = r;
    BUG_IF(uv_queue_work(run_loop_uv(def->loop), &r->work, run_read, on_read));
    return r;
}

void snapshot_restore_cancel(struct snapshot_restore *r)
{
    if (!r)
        return;
    run_task_free(r->task);
    r->task = NULL;
    r->follow = NULL;
    if (!r->work.data) /* else on_read frees it */
        restore_free(r);
}

/* ---- writing ---- */

struct snapshots {
    struct obj obj;
    struct snapshots_def def;
    char *path, *image_path;
    struct run_timer *timer;
    const struct zone_version *v; /* that is being written; NULL: none */
    struct zone_image_about about;
    int64_t began_ms, rest_ms; /* rest: after the last write */
    bool is_dirty;
    struct walk *walk; /* gathering, or NULL */
    bool is_writing;   /* the pool's thread has the pieces */
    uv_work_t work;
    struct buf *pieces; /* n_pieces, all full but the last */
    size_t n_pieces;
    uint64_t n_records;
    int err;
    struct err_info why;
    void (*stopped)(void *arg); /* set: ends when nothing is under way */
    void *stopped_arg;
};

static void go_on(struct snapshots *s);

static void add(struct snapshots *s, const void *bytes, size_t len)
{
    const char *p = bytes;
    while (len) {
        struct buf *last = s->n_pieces ? &s->pieces[s->n_pieces - 1] : NULL;
        if (!last || last->len == PIECE_BYTES) {
            s->pieces = mem_resize(s->pieces, s->n_pieces + 1, sizeof *s->pieces);
            last = &s->pieces[s->n_pieces++];
            *last = (struct buf)BUF_EMPTY;
            buf_room(last, PIECE_BYTES);
        }
        size_t n = len < PIECE_BYTES - last->len ? len : PIECE_BYTES - last->len;
        buf_add(last, p, n);
        p += n;
        len -= n;
    }
}

static void on_record(void *arg, const char *path, const char *packed, size_t len)
{
    struct snapshots *s = obj_cast(arg, struct snapshots, SNAPSHOTS_MAGIC);
    uint8_t head[8];
    size_t path_len = strlen(path) + 1;
    put64(head, (uint64_t)path_len << 32 | len);
    add(s, head, sizeof head);
    add(s, path, path_len);
    add(s, packed, len);
    s->n_records++;
}

/* Write the pieces and free them, on a thread of the pool: there may be hundreds of megabytes. */
static int write_records(struct snapshots *s)
{
    uint8_t tail[8];
    uint64_t h = SUM_START;
    struct file_out *out = file_out_open(s->path, 0644, &s->why);
    for (size_t i = 0; i < s->n_pieces; i++) {
        struct buf *piece = &s->pieces[i];
        h = sum_on(h, (const uint8_t *)piece->bytes, piece->len);
        if (out)
            file_out_put(out, piece->bytes, piece->len);
        buf_fini(piece);
    }
    mem_free_ptr(&s->pieces);
    s->n_pieces = 0;
    put64(tail, h);
    if (!out)
        return s->why.code;
    file_out_put(out, tail, sizeof tail);
    return file_out_end(out, &s->why);
}

static void run_write(uv_work_t *work)
{
    struct snapshots *s = obj_cast(work->data, struct snapshots, SNAPSHOTS_MAGIC);
    s->err = write_records(s);
    if (!s->err && s->v)
        s->err = image_file_write(s->image_path, s->v, &s->about, &s->why);
}

static void on_written(uv_work_t *work, int status)
{
    struct snapshots *s = obj_cast(work->data, struct snapshots, SNAPSHOTS_MAGIC);
    BUG_IF(status);
    s->is_writing = false;
    s->v = NULL;
    s->rest_ms = (run_now_ms() - s->began_ms) * REST;
    if (s->err)
        log_emit(&ev_snapshot_failed, LOG_ERR(&s->why));
    go_on(s);
}

static void on_gathered(void *arg, int err)
{
    struct snapshots *s = obj_cast(arg, struct snapshots, SNAPSHOTS_MAGIC);
    s->walk = NULL;
    BUG_IF(err); /* the follower stops later */
    put64((uint8_t *)s->pieces->bytes + HEAD_LEN + 8, s->n_records);
    s->is_writing = true;
    s->work.data = s;
    BUG_IF(uv_queue_work(run_loop_uv(s->def.loop), &s->work, run_write, on_written));
}

static const struct walk_ops walk_ops = {.record = on_record, .done = on_gathered};

static void add_head(struct snapshots *s, const struct timestamp *made)
{
    uint8_t numbers[NUMBERS_LEN] = {0}, boot_ms[8];
    put64(numbers, (uint64_t)made->wall_ms); /* the number of records follows when all are gathered */
    put64(boot_ms, (uint64_t)made->boot_ms);
    add(s, HEAD, HEAD_LEN);
    add(s, numbers, sizeof numbers);
    add(s, boot_ms, sizeof boot_ms);
    add(s, made->boot, sizeof made->boot);
}

static void gather(struct snapshots *s)
{
    struct follow_state state;
    struct timestamp made;
    follow_state(s->def.follow, &state);
    s->is_dirty = false;
    s->n_records = 0;
    s->began_ms = run_now_ms();
    timestamp_ago(state.stale_ms, &made);
    s->about = image_file_about(&made, s->def.likeness(s->def.arg), state.n_records + state.n_nameless);
    s->v = zoneset_is_frozen(s->def.zones) ? NULL : zoneset_current(s->def.zones);
    add_head(s, &made);
    s->walk = follow_walk_start(s->def.follow, &walk_ops, s);
}

static void end(struct snapshots *s)
{
    void (*stopped)(void *arg) = s->stopped;
    void *arg = s->stopped_arg;
    run_timer_free(s->timer);
    free(s->path);
    free(s->image_path);
    obj_fini(&s->obj);
    free(s);
    stopped(arg);
}

/* Nothing is under way: end, write what has changed, or wait. Before the registry was read nothing has. */
static void go_on(struct snapshots *s)
{
    struct follow_state state;
    follow_state(s->def.follow, &state);
    if (s->stopped && s->is_dirty && state.is_synced)
        gather(s);
    else if (s->stopped)
        end(s);
    else
        run_timer_start(s->timer,
                        (uint64_t)(s->rest_ms > s->def.interval_ms ? s->rest_ms : s->def.interval_ms), 0);
}

static void on_timer(void *arg)
{
    struct snapshots *s = obj_cast(arg, struct snapshots, SNAPSHOTS_MAGIC);
    struct follow_state state;
    if (s->walk || s->is_writing)
        return;
    follow_state(s->def.follow, &state);
    if (s->is_dirty && state.is_synced && !s->stopped)
        gather(s);
    else
        go_on(s);
}

struct snapshots *snapshots_new(const struct snapshots_def *def)
{
    struct snapshots *s = mem_new(struct snapshots);
    obj_init(&s->obj, SNAPSHOTS_MAGIC);
    s->def = *def;
    s->path = mem_str(def->path);
    s->image_path = snapshot_image_path(def->path);
    s->timer = run_timer_new(def->loop, on_timer, s);
    run_timer_start(s->timer, (uint64_t)def->interval_ms, 0);
    return s;
}

char *snapshot_image_path(const char *path)
{
    return mem_fmt("%s.zones", path);
}

uint64_t snapshots_oldest_version(const struct snapshots *s)
{
    return s && s->v ? zone_version_number(s->v) : UINT64_MAX;
}

void snapshots_changed(struct snapshots *s)
{
    if (s && !s->stopped)
        s->is_dirty = true;
}

void snapshots_stop(struct snapshots *s, void (*stopped)(void *arg), void *arg)
{
    s->stopped = stopped;
    s->stopped_arg = arg;
    if (!s->walk && !s->is_writing)
        run_timer_start(s->timer, 0, 0);
}
