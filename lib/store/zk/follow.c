#include "store/zk/follow.h"
#include "store/zk/reads.h"
#include "base/mem.h"
#include "base/path.h"
#include "run/log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLLOW_MAGIC OBJ_MAGIC('Z', 'K', 'F', 'O')

#define ZKF_EVENTS(X)                                                                                        \
    X(zk_root_missing, LOG_WARN, "The root of the tree does not exist in ZooKeeper; waiting for it.")        \
    X(zk_node_hidden, LOG_WARN, "A node's ACL does not let us read it; it is followed without its data.")
LOG_DECLARE(ZKF_EVENTS)

enum { MARK_INTERVAL_MS = 1000 };

enum zkf_phase { ZKF_DOWN, ZKF_MISSING, ZKF_READING, ZKF_LIVE, ZKF_CLOSED };

struct zkf {
    struct obj obj;
    struct zks *session;
    struct zkreads reads;
    enum zkf_phase phase;
    char *root;
    const struct store_follow_ops *ops;
    void *arg;
    bool is_begun;               /* READING: begin was emitted */
    int64_t czxid;               /* of the root that was begun with last */
    bool has_store_id, has_root; /* the follower has got a store and its root */
    struct map known;            /* READING: path -> &is_delivered or &is_listed */
    struct buf gone;             /* paths, each with its NUL: deleted, not emitted yet */
    struct zko_set own;          /* LIVE: own writes, not to be read back */
    struct map dirty;            /* nodes whose children changed in this batch of notices */
    bool has_news, is_mark_out;  /* notices in this batch / a mark is queued or under way */
    bool is_mark_wanted;         /* another is wanted after it */
    int64_t seen_zxid;           /* highest in a reply's header */
    int64_t mark_floor;          /* seen_zxid when the mark was queued */
    int64_t applied_zxid;        /* last that was emitted as applied */
    struct run_timer *timer;
    void (*closed)(void *arg);
    void *closed_arg;
};

/* Values of `known`. */
static char is_delivered, is_listed;

/* ---- emitting ---- */

static void emit_node(struct zkf *f, const char *path, const struct store_stat *stat, const char *bytes,
                      size_t len)
{
    if (f->phase != ZKF_CLOSED)
        f->ops->node(f->arg, path, stat, bytes, len);
}

/* Emit what was deleted before a reply with this number in its header. */
static void emit_gone(struct zkf *f, int64_t zxid)
{
    buf_auto struct buf gone = f->gone;
    f->gone = BUF_EMPTY;
    for (size_t at = 0; at < gone.len && f->phase != ZKF_CLOSED; at += strlen(gone.bytes + at) + 1)
        f->ops->gone(f->arg, gone.bytes + at, zxid);
}

static void add_gone(struct zkf *f, const char *path)
{
    buf_add(&f->gone, path, strlen(path) + 1);
}

/* A stat that was asked for alone; data that are on their way bring their own. */
static void emit_stat(struct zkf *f, const char *path, const struct store_stat *stat)
{
    if (!zkreads_awaits_data(&f->reads, path) && !zko_is_noticed(&f->own, path))
        emit_node(f, path, stat, NULL, 0);
}

/* ---- paths ---- */

/* Path within the store of a path of ZooKeeper's, or NULL when it lies outside. */
static const char *inside(const struct zkf *f, const char *full)
{
    size_t n = strlen(f->root);
    if (strncmp(full, f->root, n) != 0 || (full[n] != '/' && full[n] != 0))
        return NULL;
    return full[n] ? full + n : "/";
}

static bool is_root(const char *path)
{
    return strcmp(path, "/") == 0;
}

/* ---- phases ---- */

static void forget_work(struct zkf *f)
{
    zkreads_clear(&f->reads);
    zko_clear(&f->own);
    map_fini(&f->known, NULL);
    map_fini(&f->dirty, NULL);
    buf_clear(&f->gone);
    f->is_mark_out = f->is_mark_wanted = f->has_news = false;
}

static void read_root(struct zkf *f)
{
    f->phase = ZKF_READING;
    f->is_begun = false;
    zkreads_add(&f->reads, ZKREAD_DATA, "/", true);
}

static void start_reading(struct zkf *f)
{
    forget_work(f);
    read_root(f);
}

static void add_mark(struct zkf *f)
{
    if (f->is_mark_out) {
        f->is_mark_wanted = true;
        return;
    }
    f->is_mark_out = true;
    f->is_mark_wanted = false;
    f->mark_floor = f->seen_zxid;
    zkreads_add(&f->reads, ZKREAD_MARK, "/", false);
}

static void lose_root(struct zkf *f)
{
    forget_work(f);
    f->phase = ZKF_MISSING;
    log_emit(&ev_zk_root_missing, LOG_STR("path", f->root[0] ? f->root : "/"));
    if (f->has_root)
        add_gone(f, "/");
    f->has_root = false;
    add_mark(f);
}

static void begin(struct zkf *f, const struct store_stat *root)
{
    char store_id[STORE_REVISION_MAX];
    snprintf(store_id, sizeof store_id, "%" PRIx64, (uint64_t)root->czxid);
    f->is_begun = f->has_root = f->has_store_id = true;
    f->czxid = root->czxid;
    f->ops->begin(f->arg, store_id);
}

static void applied(struct zkf *f, int64_t zxid)
{
    if (zxid <= f->applied_zxid || !f->has_store_id)
        return;
    f->applied_zxid = zxid;
    f->ops->applied(f->arg, zxid);
}

/* ---- replies ---- */

static void add_children(struct zkf *f, const char *path, const struct store_stat *stat)
{
    if (f->phase != ZKF_READING)
        return;
    map_set(&f->known, path, stat->n_children > 0 ? &is_delivered : &is_listed);
    if (stat->n_children > 0)
        zkreads_add(&f->reads, ZKREAD_CHILDREN, path, true);
}

static void got_data(struct zkf *f, const struct zkread *read, struct zkw_in body)
{
    struct zkw_bytes bytes = zkw_get_bytes(&body);
    struct store_stat stat;
    zkw_get_stat(&body, &stat);
    if (body.is_bad) {
        zks_abandon(f->session, "its answer to getData is malformed");
        return;
    }
    if (f->phase == ZKF_READING && !f->is_begun)
        begin(f, &stat);
    emit_node(f, read->path, &stat, bytes.at ? bytes.at : "", bytes.len);
    if (read->is_of_full_read)
        add_children(f, read->path, &stat);
}

static void got_stat(struct zkf *f, const struct zkread *read, struct zkw_in body)
{
    struct store_stat stat;
    zkw_get_stat(&body, &stat);
    if (body.is_bad) {
        zks_abandon(f->session, "its answer to exists is malformed");
        return;
    }
    if (read->kind == ZKREAD_STAT) {
        emit_stat(f, read->path, &stat);
        return;
    }
    stat.data_len = 0;
    if (f->phase == ZKF_READING && !f->is_begun)
        begin(f, &stat);
    emit_node(f, read->path, &stat, "", 0);
    if (read->is_of_full_read)
        add_children(f, read->path, &stat);
}

static void got_children(struct zkf *f, const struct zkread *read, struct zkw_in body)
{
    int32_t n = zkw_get_i32(&body);
    struct zkw_in names = body;
    for (int32_t i = 0; i < n && !body.is_bad; i++)
        zkw_get_bytes(&body);
    names.end = body.at;
    struct store_stat stat;
    zkw_get_stat(&body, &stat);
    if (body.is_bad) {
        zks_abandon(f->session, "its answer to getChildren2 is malformed");
        return;
    }
    emit_stat(f, read->path, &stat);
    if (f->phase != ZKF_READING)
        return;
    map_set(&f->known, read->path, &is_listed);
    zkreads_add_listing(&f->reads, read->path, names, n);
}

/* The tree that was followed is no longer there, or another one, or one has come. @return whether that is so. */
static bool is_other_tree(struct zkf *f, const struct zks_reply *reply)
{
    struct zkw_in body = reply->body;
    struct store_stat stat = {0};
    if (reply->err == ZKW_OK)
        zkw_get_stat(&body, &stat);
    if (reply->err != ZKW_OK) {
        if (f->phase == ZKF_MISSING)
            return false;
        lose_root(f);
        return true;
    }
    if (f->phase != ZKF_MISSING && stat.czxid == f->czxid)
        return false;
    start_reading(f);
    return true;
}

static void got_mark(struct zkf *f, const struct zks_reply *reply)
{
    f->is_mark_out = false;
    if (is_other_tree(f, reply))
        return;
    bool is_quiet = zkreads_is_idle(&f->reads) && !f->has_news;
    int64_t zxid = is_quiet ? reply->zxid : f->mark_floor;
    if (zxid > zko_floor(&f->own))
        zxid = zko_floor(&f->own); /* the rest is emitted when the write's reply is here */
    if (f->phase == ZKF_READING) {
        f->phase = ZKF_LIVE;
        map_fini(&f->known, NULL);
        f->applied_zxid = zxid;
        f->ops->end(f->arg, zxid);
    } else {
        applied(f, zxid);
    }
    /* With news in this batch the mark is added when the batch is over. */
    if ((f->is_mark_wanted || !is_quiet) && !f->has_news && f->phase != ZKF_CLOSED)
        add_mark(f);
}

/* The node is not there, or may not be read. */
static void got_refusal(struct zkf *f, const struct zkread *read, const struct zks_reply *reply)
{
    if (reply->err == ZKW_NO_NODE && is_root(read->path)) {
        lose_root(f);
    } else if (reply->err == ZKW_NO_NODE) {
        f->ops->gone(f->arg, read->path, reply->zxid);
    } else if (read->kind == ZKREAD_DATA) {
        log_emit(&ev_zk_node_hidden, LOG_STR("path", read->path));
        zkreads_add(&f->reads, ZKREAD_HIDDEN, read->path, read->is_of_full_read);
    } else if (read->kind == ZKREAD_CHILDREN) {
        map_set(&f->known, read->path, &is_listed);
    } else if (is_root(read->path)) {
        zks_abandon(f->session, "the root of the tree may not be read");
    }
}

static void on_read_done(void *arg, const struct zkread *read, const struct zks_reply *reply)
{
    struct zkf *f = obj_cast(arg, struct zkf, FOLLOW_MAGIC);
    if (f->phase == ZKF_CLOSED)
        return;
    if (reply->zxid > f->seen_zxid)
        f->seen_zxid = reply->zxid;
    zko_applied(&f->own, reply->zxid);
    emit_gone(f, reply->zxid);
    if (f->phase == ZKF_CLOSED)
        return;
    if (read->kind == ZKREAD_MARK && (reply->err == ZKW_OK || reply->err == ZKW_NO_NODE))
        got_mark(f, reply);
    else if (read->kind == ZKREAD_WATCH && reply->err != ZKW_OK)
        zks_abandon(f->session, "it refuses persistent recursive watches; ZooKeeper 3.6 or later is needed");
    else if (reply->err == ZKW_NO_NODE || reply->err == ZKW_NO_AUTH)
        got_refusal(f, read, reply);
    else if (reply->err != ZKW_OK)
        zks_abandon(f->session, "it cannot read");
    else if (read->kind == ZKREAD_DATA)
        got_data(f, read, reply->body);
    else if (read->kind == ZKREAD_CHILDREN)
        got_children(f, read, reply->body);
    else if (read->kind == ZKREAD_STAT || read->kind == ZKREAD_HIDDEN)
        got_stat(f, read, reply->body);
}

/* ---- notices ---- */

/* The full read will come to the children of this node later. */
static bool will_be_listed(const struct zkf *f, const char *path)
{
    return f->phase == ZKF_READING && map_get(&f->known, path) != &is_listed;
}

static void on_root_notice(struct zkf *f, int32_t kind)
{
    if (kind == ZKW_DELETED)
        lose_root(f);
    else if (kind == ZKW_CREATED)
        start_reading(f);
    else if (kind == ZKW_CHANGED && f->phase == ZKF_LIVE && !zkreads_is_queued(&f->reads, "/", ZKREAD_DATA))
        zkreads_add(&f->reads, ZKREAD_DATA, "/", false);
    else if (kind == ZKW_CHANGED && f->phase == ZKF_READING && f->is_begun)
        zkreads_add(&f->reads, ZKREAD_DATA, "/", false);
}

/* Whether the notice is that of an own write, which is emitted. Not when something that precedes it must be emitted first. */
static bool is_own_write(struct zkf *f, const char *path, int32_t kind, const char *awaited)
{
    if (f->gone.len == 0 && !zkreads_awaits_data(&f->reads, awaited))
        return zko_notice(&f->own, path, kind, f->seen_zxid);
    zko_forget(&f->own, path);
    return false;
}

static void on_created(struct zkf *f, const char *path, const char *parent)
{
    if (will_be_listed(f, parent))
        return;
    zkreads_void(&f->reads, path);
    if (f->phase == ZKF_READING)
        map_set(&f->known, path, &is_listed);
    zko_expedite(&f->own, parent);
    if (!is_own_write(f, path, ZKW_CREATED, parent))
        zkreads_add(&f->reads, ZKREAD_DATA, path, false);
    map_set(&f->dirty, parent, f);
}

static void on_deleted(struct zkf *f, const char *path, const char *parent)
{
    zkreads_void(&f->reads, path);
    zko_forget(&f->own, path);
    map_remove(&f->known, path);
    add_gone(f, path);
    if (!will_be_listed(f, parent))
        map_set(&f->dirty, parent, f);
}

static void on_changed(struct zkf *f, const char *path)
{
    bool will_be_read = f->phase == ZKF_READING && !map_get(&f->known, path);
    if (is_own_write(f, path, ZKW_CHANGED, path))
        return;
    if (!will_be_read && !zkreads_is_queued(&f->reads, path, ZKREAD_DATA))
        zkreads_add(&f->reads, ZKREAD_DATA, path, false);
}

static void on_notice(void *arg, int32_t kind, const char *full)
{
    struct zkf *f = obj_cast(arg, struct zkf, FOLLOW_MAGIC);
    const char *path = inside(f, full);
    if (!path || f->phase == ZKF_CLOSED)
        return;
    f->has_news = true;
    if (is_root(path)) {
        on_root_notice(f, kind);
        return;
    }
    if (f->phase == ZKF_MISSING)
        return;
    mem_auto char *parent = path_parent(path);
    if (kind == ZKW_CREATED)
        on_created(f, path, parent);
    else if (kind == ZKW_DELETED)
        on_deleted(f, path, parent);
    else if (kind == ZKW_CHANGED)
        on_changed(f, path);
}

/* Ask once for the stat of each node whose children changed. */
static void ask_dirty(struct zkf *f)
{
    for (MAP_EACH (&f->dirty, slot))
        zko_expedite(&f->own, slot->key);
    for (MAP_EACH (&f->dirty, slot))
        if (!zkreads_is_queued(&f->reads, slot->key, ZKREAD_DATA) &&
            !zkreads_is_queued(&f->reads, slot->key, ZKREAD_STAT))
            zkreads_add(&f->reads, ZKREAD_STAT, slot->key, false);
    map_fini(&f->dirty, NULL);
}

static void on_drained(void *arg)
{
    struct zkf *f = obj_cast(arg, struct zkf, FOLLOW_MAGIC);
    if (f->phase == ZKF_CLOSED)
        return;
    ask_dirty(f);
    bool is_read = f->phase == ZKF_READING && f->is_begun && !zkreads_is_reading(&f->reads);
    if (f->phase == ZKF_READING ? is_read && !f->is_mark_out : f->has_news)
        add_mark(f);
    f->has_news = false;
    zkreads_pump(&f->reads);
}

/* ---- the session ---- */

static void on_up(void *arg, bool is_resumed)
{
    struct zkf *f = obj_cast(arg, struct zkf, FOLLOW_MAGIC);
    (void)is_resumed; /* either way the server has none of our watches, and changes were missed */
    f->seen_zxid = 0;
    forget_work(f);
    zkreads_add(&f->reads, ZKREAD_WATCH, "/", false);
    read_root(f);
    zkreads_pump(&f->reads);
    zks_flush(f->session);
}

static void on_down(void *arg, const struct err_info *why)
{
    struct zkf *f = obj_cast(arg, struct zkf, FOLLOW_MAGIC);
    forget_work(f);
    f->phase = ZKF_DOWN;
    f->ops->lost(f->arg, why);
}

static void on_timer(void *arg)
{
    struct zkf *f = obj_cast(arg, struct zkf, FOLLOW_MAGIC);
    if ((f->phase != ZKF_LIVE && f->phase != ZKF_MISSING) || f->is_mark_out)
        return;
    add_mark(f);
    zkreads_pump(&f->reads);
    zks_flush(f->session);
}

/* ---- own writes ---- */

static void on_own_node(void *arg, const char *path, const struct store_stat *stat, const char *bytes,
                        size_t len)
{
    emit_node(obj_cast(arg, struct zkf, FOLLOW_MAGIC), path, stat, bytes, len);
}

static void on_own_reread(void *arg, const char *path, int64_t zxid)
{
    struct zkf *f = obj_cast(arg, struct zkf, FOLLOW_MAGIC);
    zkreads_add(&f->reads, ZKREAD_DATA, path, false);
    if (zxid < f->mark_floor)
        f->mark_floor = zxid; /* a mark that is under way stands before this read */
}

static void on_own_settled(void *arg)
{
    struct zkf *f = obj_cast(arg, struct zkf, FOLLOW_MAGIC);
    if (!f->is_mark_out)
        add_mark(f);
    zkreads_pump(&f->reads);
    zks_flush(f->session);
}

static const struct zko_ops own_ops = {on_own_node, on_own_reread, on_own_settled};

struct zko *zkf_write_begins(struct zkf *f, const char *path, bool is_create)
{
    if (f->phase != ZKF_LIVE || is_root(path) || zkreads_awaits_data(&f->reads, path))
        return NULL;
    return zko_begin(&f->own, path, is_create ? ZKW_CREATED : ZKW_CHANGED);
}

static const struct zks_ops session_ops = {on_up, on_down, on_notice, on_drained};

void zkf_mark_every(struct zkf *f, int64_t interval_ms)
{
    run_timer_start(f->timer, (uint64_t)interval_ms, (uint64_t)interval_ms);
}

int zkf_open(struct run_loop *loop, const struct zks_config *config, const char *root,
             const struct store_follow_ops *ops, void *arg, struct zkf **out, struct err_info *why)
{
    struct zkf *f = mem_new(struct zkf);
    obj_init(&f->obj, FOLLOW_MAGIC);
    int err = zks_open(loop, config, &session_ops, f, &f->session, why);
    if (err != 0) {
        free(f);
        return err;
    }
    f->root = mem_str(root);
    f->ops = ops;
    f->arg = arg;
    zko_init(&f->own);
    f->own.ops = &own_ops;
    f->own.arg = f;
    zkreads_init(&f->reads);
    f->reads.session = f->session;
    f->reads.root = f->root;
    f->reads.done = on_read_done;
    f->reads.arg = f;
    f->timer = run_timer_new(loop, on_timer, f);
    zkf_mark_every(f, MARK_INTERVAL_MS);
    *out = f;
    return 0;
}

static void on_session_closed(void *arg)
{
    struct zkf *f = obj_cast(arg, struct zkf, FOLLOW_MAGIC);
    void (*closed)(void *) = f->closed;
    void *closed_arg = f->closed_arg;
    forget_work(f);
    buf_fini(&f->gone);
    zkreads_fini(&f->reads);
    free(f->root);
    obj_fini(&f->obj);
    free(f);
    closed(closed_arg);
}

void zkf_close(struct zkf *f, void (*closed)(void *arg), void *arg)
{
    BUG_IF(f->phase == ZKF_CLOSED);
    f->phase = ZKF_CLOSED;
    zko_clear(&f->own);
    f->closed = closed;
    f->closed_arg = arg;
    run_timer_free(f->timer);
    zks_close(f->session, on_session_closed, f);
}
