/* The full read and the changes that an LMDB store delivers to its follower. */
#include "store/lmdb/feed.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "run/task.h"
#include "store/lmdb/meta.h"

#define FEED_MAGIC OBJ_MAGIC('L', 'F', 'E', 'D')

/** One slice: small enough that delivering it takes well under a millisecond of the loop. */
enum { SLICE_NODES = 256, SLICE_BYTES = 256 << 10, RETRY_MS = 1000 };

/** A node whose children are being read. */
struct frame {
    uint64_t id;
    size_t path_len;
    char last[STORE_NAME_MAX + 1]; /* child that was read last, "" for none */
};

/** The full read. While a slice is being read, a thread of the pool owns all of it. */
struct snapshot {
    MDB_txn *txn; /* NULL: no snapshot is being read */
    MDB_cursor *cursor;
    int64_t zxid;
    struct frame *frames;
    size_t n_frames;
    bool is_begun, is_done;
    struct buf path;
    struct lmdb_change_list slice;
    int err;
};

/** Changes that came while the snapshot was being read. */
struct held {
    STAILQ_ENTRY(held) link;
    struct lmdb_change_list changes;
    int64_t zxid;
};
STAILQ_HEAD(held_list, held);

struct lmdb_feed {
    struct obj obj;
    const struct lmdb_tree *tree;
    struct run_loop *loop;
    void (*again)(void *arg);
    void (*stopped)(void *arg);
    void *arg;
    const struct store_follow_ops *ops; /* NULL: nobody follows */
    void *follower;
    uv_work_t work;
    bool is_busy; /* a thread reads a slice */
    bool is_live; /* the snapshot and all held changes are delivered: changes are delivered at once */
    struct snapshot snapshot;
    struct held_list held;
    struct run_task *catching_up; /* delivers what is held, after the snapshot */
    struct run_timer *retry;
};

/* ---- reading a slice: on the thread pool ---- */

static void frame_push(struct snapshot *s, uint64_t id)
{
    s->frames = mem_resize(s->frames, s->n_frames + 1, sizeof *s->frames);
    struct frame *frame = &s->frames[s->n_frames++];
    frame->id = id;
    frame->path_len = s->path.len;
    frame->last[0] = '\0';
}

/** Read one node whose path is in s->path. @return 0; or ERR_NOTFOUND, ERR_IO. */
static int node_take(struct lmdb_feed *f, uint64_t id, size_t *n_bytes)
{
    struct snapshot *s = &f->snapshot;
    struct lmdb_node n;
    int err = lmdb_tree_node(f->tree, s->txn, id, &n);
    if (err)
        return err;
    struct lmdb_change *change = mem_new(struct lmdb_change);
    change->kind = LMDB_NODE;
    change->path = s->path.len ? mem_strn(s->path.bytes, s->path.len) : mem_str("/");
    change->stat = n.stat;
    change->bytes = mem_strn(n.data, n.stat.data_len);
    STAILQ_INSERT_TAIL(&s->slice, change, link);
    if (n.stat.n_children)
        frame_push(s, id);
    *n_bytes += n.stat.data_len;
    return 0;
}

/** The next node of the tree, depth first. @return 0, s->is_done when there is none; or ERR_IO. */
static int node_next(struct lmdb_feed *f, size_t *n_bytes)
{
    struct snapshot *s = &f->snapshot;
    if (!s->is_begun) {
        s->is_begun = true;
        int err = node_take(f, LMDB_ROOT_ID, n_bytes);
        return err == ERR_NOTFOUND ? 0 : err;
    }
    if (!s->n_frames) {
        s->is_done = true;
        return 0;
    }
    struct frame *frame = &s->frames[s->n_frames - 1];
    MDB_val name;
    uint64_t id = 0;
    int err = lmdb_tree_child_after(s->cursor, frame->id, frame->last, &name, &id);
    s->path.len = frame->path_len;
    if (err == ERR_NOTFOUND) {
        s->n_frames--;
        return 0;
    }
    if (err || name.mv_size > STORE_NAME_MAX)
        return ERR_IO;
    memcpy(frame->last, name.mv_data, name.mv_size);
    frame->last[name.mv_size] = '\0';
    buf_add_char(&s->path, '/');
    buf_add(&s->path, name.mv_data, name.mv_size);
    err = node_take(f, id, n_bytes);
    return err == ERR_NOTFOUND ? ERR_IO : err;
}

static void slice_read(uv_work_t *work)
{
    struct lmdb_feed *f = obj_cast(work->data, struct lmdb_feed, FEED_MAGIC);
    struct snapshot *s = &f->snapshot;
    size_t n_bytes = 0;
    for (size_t n = 0; n < SLICE_NODES && n_bytes < SLICE_BYTES && !s->is_done && !s->err; n++)
        s->err = node_next(f, &n_bytes);
}

/* ---- delivering ---- */

/* zxid: of their commit. */
static void deliver(struct lmdb_feed *f, struct lmdb_change_list *changes, int64_t zxid)
{
    struct lmdb_change *change;
    STAILQ_FOREACH (change, changes, link) {
        if (f->stopped)
            break;
        switch (change->kind) {
        case LMDB_NODE:
            f->ops->node(f->follower, change->path, &change->stat, change->bytes, change->stat.data_len);
            break;
        case LMDB_STAT: f->ops->node(f->follower, change->path, &change->stat, NULL, 0); break;
        case LMDB_GONE: f->ops->gone(f->follower, change->path, zxid); break;
        }
    }
    lmdb_changes_free(changes);
}

static void held_free(struct lmdb_feed *f)
{
    struct held *held;
    while ((held = STAILQ_FIRST(&f->held))) {
        STAILQ_REMOVE_HEAD(&f->held, link);
        lmdb_changes_free(&held->changes);
        free(held);
    }
}

/** Deliver the changes of one held commit; after the last, changes are delivered at once. */
static bool held_step(void *arg)
{
    struct lmdb_feed *f = obj_cast(arg, struct lmdb_feed, FEED_MAGIC);
    struct held *held = STAILQ_FIRST(&f->held);
    if (!held) {
        f->is_live = true;
        return false;
    }
    STAILQ_REMOVE_HEAD(&f->held, link);
    deliver(f, &held->changes, held->zxid);
    if (!f->stopped)
        f->ops->applied(f->follower, held->zxid);
    free(held);
    return !f->stopped;
}

static void snapshot_fini(struct snapshot *s)
{
    if (s->cursor)
        mdb_cursor_close(s->cursor);
    if (s->txn)
        mdb_txn_abort(s->txn);
    lmdb_changes_free(&s->slice);
    buf_fini(&s->path);
    free(s->frames);
    memset(s, 0, sizeof *s);
    STAILQ_INIT(&s->slice);
}

/** The snapshot cannot be read: report that to the follower and begin anew after a pause. */
static void snapshot_fail(struct lmdb_feed *f, int err, int lmdb_rc)
{
    struct err_info why = {0};
    err_set(&why, err, NULL, "cannot read the store: %s",
            lmdb_rc ? mdb_strerror(lmdb_rc) : "the file is damaged");
    snapshot_fini(&f->snapshot);
    held_free(f);
    run_timer_start(f->retry, RETRY_MS, 0);
    f->ops->lost(f->follower, &why);
}

static void slice_start(struct lmdb_feed *f);

static void slice_done(uv_work_t *work, int status)
{
    struct lmdb_feed *f = obj_cast(work->data, struct lmdb_feed, FEED_MAGIC);
    struct snapshot *s = &f->snapshot;
    BUG_IF(status != 0);
    f->is_busy = false;
    if (f->stopped) {
        f->stopped(f->arg);
        return;
    }
    if (s->err) {
        snapshot_fail(f, s->err, 0);
        return;
    }
    deliver(f, &s->slice, s->zxid);
    if (f->stopped)
        return;
    if (!s->is_done) {
        slice_start(f);
        return;
    }
    int64_t zxid = s->zxid;
    snapshot_fini(s);
    f->ops->end(f->follower, zxid);
    if (!f->stopped)
        run_task_now(f->catching_up);
}

static void slice_start(struct lmdb_feed *f)
{
    f->is_busy = true;
    f->work.data = f;
    BUG_IF(uv_queue_work(run_loop_uv(f->loop), &f->work, slice_read, slice_done) != 0);
}

/* ---- owner ---- */

static void ask_again(void *arg)
{
    struct lmdb_feed *f = obj_cast(arg, struct lmdb_feed, FEED_MAGIC);
    f->again(f->arg);
}

struct lmdb_feed *lmdb_feed_new(const struct lmdb_tree *tree, struct run_loop *loop, void (*again)(void *arg),
                                void *arg)
{
    struct lmdb_feed *f = mem_new(struct lmdb_feed);
    obj_init(&f->obj, FEED_MAGIC);
    f->tree = tree;
    f->loop = loop;
    f->again = again;
    f->arg = arg;
    f->retry = run_timer_new(loop, ask_again, f);
    f->catching_up = run_task_new(loop, held_step, f);
    STAILQ_INIT(&f->held);
    STAILQ_INIT(&f->snapshot.slice);
    return f;
}

void lmdb_feed_follow(struct lmdb_feed *f, const struct store_follow_ops *ops, void *arg)
{
    f->ops = ops;
    f->follower = arg;
    f->again(f->arg);
}

void lmdb_feed_snapshot(struct lmdb_feed *f, struct lmdb_batch *batch)
{
    struct snapshot *s = &f->snapshot;
    if (f->stopped) {
        if (batch->snapshot)
            mdb_txn_abort(batch->snapshot);
        return;
    }
    s->txn = batch->snapshot;
    s->zxid = batch->zxid;
    int rc = batch->lmdb_rc;
    if (!batch->err)
        rc = mdb_cursor_open(s->txn, f->tree->children, &s->cursor);
    if (batch->err || rc) {
        snapshot_fail(f, batch->err ? batch->err : lmdb_err(rc), rc);
        return;
    }
    held_free(f);
    f->ops->begin(f->follower, f->tree->store_id);
    if (!f->stopped)
        slice_start(f);
}

void lmdb_feed_commit(struct lmdb_feed *f, struct lmdb_batch *batch)
{
    if (!f->ops || f->stopped || !batch->zxid) {
        lmdb_changes_free(&batch->changes);
    } else if (f->is_live) {
        deliver(f, &batch->changes, batch->zxid);
        f->ops->applied(f->follower, batch->zxid);
    } else {
        struct held *held = mem_new(struct held);
        STAILQ_INIT(&held->changes);
        STAILQ_CONCAT(&held->changes, &batch->changes);
        held->zxid = batch->zxid;
        STAILQ_INSERT_TAIL(&f->held, held, link);
    }
}

void lmdb_feed_stop(struct lmdb_feed *f, void (*stopped)(void *arg))
{
    f->stopped = stopped;
    run_timer_free(f->retry);
    run_task_free(f->catching_up);
    f->retry = NULL;
    f->catching_up = NULL;
    if (!f->is_busy)
        stopped(f->arg);
}

void lmdb_feed_free(struct lmdb_feed *f)
{
    snapshot_fini(&f->snapshot);
    held_free(f);
    obj_fini(&f->obj);
    free(f);
}
