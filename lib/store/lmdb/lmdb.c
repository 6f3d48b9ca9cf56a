/*
 * The embedded backend: a tree in an LMDB file.
 *
 *     writes ─► writer.c (one thread, group commits) ─► batch ─► feed.c (follower), then completions
 *     reads  ─► groups on libuv's thread pool, a read transaction each ─► completions
 *
 * A read begins a group of its own while few are under way; those that come meanwhile go together, so that very many reads cost few
 * changes of threads.
 *
 * Neither ever makes the loop wait for the disk, and no reader waits for a writer.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "run/file.h"
#include "store/lmdb/backup.h"
#include "store/lmdb/feed.h"
#include "store/lmdb/tree.h"
#include "store/lmdb/writer.h"
#include "store/store_backend.h"

#define LMDB_MAGIC  OBJ_MAGIC('L', 'M', 'D', 'B')
#define GROUP_MAGIC OBJ_MAGIC('L', 'G', 'R', 'P')
#define COPY_MAGIC  OBJ_MAGIC('L', 'C', 'P', 'Y')

#define MAP_SIZE_DEFAULT ((int64_t)64 << 30)

/** One read slot a thread of libuv's pool, of which there are 1024 at most, and some for snapshots. */
enum { READERS_MAX = 1040 };
#define GROUPS_MAX 4  /* under way: as many as the pool has threads by default */
#define GROUP_MAX  32 /* reads: their completions come in one turn of the loop */

STAILQ_HEAD(read_list, read);

struct lmdb {
    struct store base;
    uint32_t magic;
    struct lmdb_tree tree;
    struct lmdb_writer *writer;
    struct lmdb_feed *feed;
    int lock_fd;
    size_t n_reads;          /* and copies */
    struct read_list asked;  /* in no group yet */
    size_t n_groups;         /* under way */
    bool is_written, is_fed; /* while closing: writer and feed have ended */
};

/** One read: filled by a thread of the pool. */
struct read {
    STAILQ_ENTRY(read) link; /* of those asked for, or of its group */
    struct lmdb *owner;
    enum store_read_kind kind;
    char *path;
    struct store_call call;
    int err, lmdb_rc;
    struct store_stat stat;
    struct buf data;
    struct arena *arena; /* names or ACL */
    const char **children;
    size_t n_children;
    struct store_acl acl;
};

/** Reads of one transaction. */
struct group {
    struct obj obj;
    uv_work_t work;
    struct lmdb *owner;
    struct read_list reads;
};

static struct lmdb *lmdb_of(struct store *s)
{
    struct lmdb *l = container_of(s, struct lmdb, base);
    BUG_IF(l->magic != LMDB_MAGIC);
    return l;
}

static void error_describe(struct err_info *why, int err, int lmdb_rc, const char *path)
{
    if (lmdb_rc)
        err_set(why, err, path, "%s: %s", err_text(err), mdb_strerror(lmdb_rc));
    else if (err == ERR_NOSPC)
        err_set(why, err, path, "the store has grown to the limit of its map");
    else if (err == ERR_IO)
        err_set(why, err, path, "the store's file is damaged");
    else
        err_set(why, err, path, "%s", err_text(err));
}

/* ---- closing ---- */

static void close_progress(struct lmdb *l)
{
    if (!l->base.is_closing || !l->is_written || !l->is_fed || l->n_reads)
        return;
    lmdb_writer_free(l->writer);
    lmdb_feed_free(l->feed);
    mdb_env_close(l->tree.env);
    close(l->lock_fd);
    store_base_closed(&l->base);
}

static void feed_stopped(void *arg)
{
    struct lmdb *l = lmdb_of(obj_cast(arg, struct store, STORE_MAGIC));
    l->is_fed = true;
    close_progress(l);
}

static void lmdb_close(struct store *s)
{
    struct lmdb *l = lmdb_of(s);
    lmdb_writer_stop(l->writer);
    lmdb_feed_stop(l->feed, feed_stopped);
}

static void lmdb_free(struct store *s)
{
    free(s);
}

/* ---- reading ---- */

static int children_read(struct read *r, MDB_txn *txn, uint64_t id, size_t n_expected)
{
    MDB_cursor *cursor = NULL;
    r->lmdb_rc = mdb_cursor_open(txn, r->owner->tree.children, &cursor);
    if (r->lmdb_rc)
        return lmdb_err(r->lmdb_rc);
    r->children = arena_alloc(r->arena, (n_expected + 1) * sizeof *r->children);
    const char *after = "";
    MDB_val name;
    uint64_t child = 0;
    int err = 0;
    while (!(err = lmdb_tree_child_after(cursor, id, after, &name, &child)) && r->n_children < n_expected) {
        after = arena_strn(r->arena, name.mv_data, name.mv_size);
        r->children[r->n_children++] = after;
    }
    mdb_cursor_close(cursor);
    return err == ERR_NOTFOUND && r->n_children == n_expected ? 0 : ERR_IO;
}

static int read_in(struct read *r, MDB_txn *txn)
{
    const struct lmdb_tree *tree = &r->owner->tree;
    uint64_t id = 0;
    struct lmdb_node n;
    int err = lmdb_tree_find(tree, txn, r->path, &id);
    if (!err && lmdb_tree_node(tree, txn, id, &n))
        err = ERR_IO;
    if (err)
        return err;
    r->stat = n.stat;
    switch (r->kind) {
    case STORE_READ_DATA: buf_add(&r->data, n.data, n.stat.data_len); return 0;
    case STORE_READ_STAT: return 0;
    case STORE_READ_CHILDREN:
        r->arena = arena_new(0);
        return children_read(r, txn, id, (size_t)n.stat.n_children);
    case STORE_READ_ACL:
        r->arena = arena_new(0);
        return lmdb_acl_read(n.acl_bytes, n.acl_len, r->arena, &r->acl);
    }
    bug_stop(__FILE__, __LINE__, "kind of read");
}

static void group_work(uv_work_t *work)
{
    struct group *g = obj_cast(work->data, struct group, GROUP_MAGIC);
    MDB_txn *txn = NULL;
    int rc = mdb_txn_begin(g->owner->tree.env, NULL, MDB_RDONLY, &txn);
    struct read *r;
    STAILQ_FOREACH (r, &g->reads, link) {
        r->lmdb_rc = rc;
        r->err = rc ? lmdb_err(rc) : read_in(r, txn);
    }
    if (!rc)
        mdb_txn_abort(txn);
}

static void read_complete(struct read *r)
{
    struct store_result result = {0};
    if (r->err) {
        error_describe(&result.why, r->err, r->lmdb_rc, r->path);
    } else {
        result.stat = r->stat;
        result.children = r->children;
        result.n_children = r->n_children;
        result.acl = r->kind == STORE_READ_ACL ? &r->acl : NULL;
    }
    if (!r->err && r->kind == STORE_READ_DATA) {
        result.data = buf_cstr(&r->data);
        result.data_len = r->data.len;
    }
    r->call.done(r->call.arg, r->err, &result);
    arena_free(r->arena);
    buf_fini(&r->data);
    free(r->path);
    free(r);
}

static void begin_group(struct lmdb *l);

static void group_done(uv_work_t *work, int status)
{
    struct group *g = obj_cast(work->data, struct group, GROUP_MAGIC);
    struct lmdb *l = g->owner;
    struct read *r;
    BUG_IF(status != 0);
    while ((r = STAILQ_FIRST(&g->reads))) {
        STAILQ_REMOVE_HEAD(&g->reads, link);
        read_complete(r);
        l->n_reads--;
    }
    obj_fini(&g->obj);
    free(g);
    l->n_groups--;
    begin_group(l);
    close_progress(l);
}

static void begin_group(struct lmdb *l)
{
    struct read *r;
    if (STAILQ_EMPTY(&l->asked) || l->n_groups == GROUPS_MAX)
        return;
    struct group *g = mem_new(struct group);
    obj_init(&g->obj, GROUP_MAGIC);
    g->owner = l;
    g->work.data = g;
    STAILQ_INIT(&g->reads);
    for (int n = 0; n < GROUP_MAX && (r = STAILQ_FIRST(&l->asked)); n++) {
        STAILQ_REMOVE_HEAD(&l->asked, link);
        STAILQ_INSERT_TAIL(&g->reads, r, link);
    }
    l->n_groups++;
    BUG_IF(uv_queue_work(run_loop_uv(l->base.loop), &g->work, group_work, group_done) != 0);
}

static void lmdb_read(struct store *s, enum store_read_kind kind, const char *path, struct store_call call)
{
    struct lmdb *l = lmdb_of(s);
    struct read *r = mem_new(struct read);
    r->owner = l;
    r->kind = kind;
    r->path = mem_str(path);
    r->call = call;
    l->n_reads++;
    STAILQ_INSERT_TAIL(&l->asked, r, link);
    begin_group(l);
}

/* ---- copying ---- */

/** A backup: made by a thread of the pool. */
struct copy {
    struct obj obj;
    uv_work_t work;
    struct lmdb *owner;
    char *dir;
    struct store_call call;
    int err;
    struct store_result result;
};

static void copy_work(uv_work_t *work)
{
    struct copy *c = obj_cast(work->data, struct copy, COPY_MAGIC);
    c->err = lmdb_backup(&c->owner->tree, c->dir, &c->result.why);
}

static void copy_done(uv_work_t *work, int status)
{
    struct copy *c = obj_cast(work->data, struct copy, COPY_MAGIC);
    struct lmdb *l = c->owner;
    BUG_IF(status != 0);
    c->call.done(c->call.arg, c->err, &c->result);
    free(c->dir);
    obj_fini(&c->obj);
    free(c);
    l->n_reads--;
    close_progress(l);
}

static void lmdb_copy(struct store *s, const char *dir, struct store_call call)
{
    struct lmdb *l = lmdb_of(s);
    struct copy *c = mem_new(struct copy);
    obj_init(&c->obj, COPY_MAGIC);
    c->owner = l;
    c->dir = mem_str(dir);
    c->call = call;
    c->work.data = c;
    l->n_reads++;
    BUG_IF(uv_queue_work(run_loop_uv(l->base.loop), &c->work, copy_work, copy_done) != 0);
}

/* ---- writing ---- */

static void lmdb_write(struct store *s, const struct store_op *op, struct store_call call)
{
    lmdb_writer_put(lmdb_of(s)->writer, lmdb_write_new(LMDB_WRITE_OPS, op, 1, call));
}

static void lmdb_multi(struct store *s, const struct store_op *ops, size_t n_ops, struct store_call call)
{
    lmdb_writer_put(lmdb_of(s)->writer, lmdb_write_new(LMDB_WRITE_OPS, ops, n_ops, call));
}

static void lmdb_set_acl(struct store *s, const char *path, const struct store_acl *acl,
                         struct store_call call)
{
    const struct store_op op = {.path = path, .acl = acl};
    lmdb_writer_put(lmdb_of(s)->writer, lmdb_write_new(LMDB_WRITE_ACL, &op, 1, call));
}

static bool lmdb_has_aside(const struct store *s)
{
    (void)s;
    return true;
}

static void ask_snapshot(void *arg)
{
    struct lmdb *l = lmdb_of(obj_cast(arg, struct store, STORE_MAGIC));
    const struct store_call no_call = {0};
    if (!l->base.is_closing)
        lmdb_writer_put(l->writer, lmdb_write_new(LMDB_WRITE_FOLLOW, NULL, 0, no_call));
}

static void lmdb_follow(struct store *s, const struct store_follow_ops *ops, void *arg)
{
    lmdb_feed_follow(lmdb_of(s)->feed, ops, arg);
}

static void write_complete(struct lmdb_write *write)
{
    struct store_result result = {.failed_op = write->failed_op};
    if (write->err) {
        error_describe(&result.why, write->err, write->lmdb_rc, write->ops[write->failed_op].path);
    } else {
        result.stat = write->effect.stat;
        result.zxid = write->effect.zxid;
    }
    if (write->call.done)
        write->call.done(write->call.arg, write->err, &result);
}

/** The follower gets changes before the writers get their results: a reader of the mirror sees its own write at once. */
static void on_batch(void *arg, struct lmdb_batch *batch)
{
    struct lmdb *l = lmdb_of(obj_cast(arg, struct store, STORE_MAGIC));
    switch (batch->kind) {
    case LMDB_BATCH_WRITES: lmdb_feed_commit(l->feed, batch); break;
    case LMDB_BATCH_SNAPSHOT: lmdb_feed_snapshot(l->feed, batch); break;
    case LMDB_BATCH_ENDED:
        l->is_written = true;
        close_progress(l);
        return;
    }
    struct lmdb_write *write;
    while ((write = STAILQ_FIRST(&batch->writes))) {
        STAILQ_REMOVE_HEAD(&batch->writes, link);
        write_complete(write);
        lmdb_write_free(write);
    }
}

/* ---- opening ---- */

static const struct store_backend_ops lmdb_ops = {
    .kind = "lmdb",
    .read = lmdb_read,
    .write = lmdb_write,
    .set_acl = lmdb_set_acl,
    .multi = lmdb_multi,
    .backup = lmdb_copy,
    .has_aside = lmdb_has_aside,
    .follow = lmdb_follow,
    .close = lmdb_close,
    .free = lmdb_free,
};

/** Make a directory that only this user enters, and what is missing above it. */
static int dir_make(const char *dir, struct err_info *why)
{
    mem_auto char *above = path_parent(dir);
    int err = file_make_dir(above, 0755, why);
    if (err)
        return err;
    if (mkdir(dir, 0700) && errno != EEXIST)
        return err_set(why, ERR_IO, dir, "cannot make the directory: %s", strerror(errno));
    return 0;
}

static int env_open(const char *dir, int64_t map_size, bool no_sync, MDB_env **out, struct err_info *why)
{
    unsigned flags = MDB_NOTLS | (no_sync ? MDB_NOSYNC : 0);
    MDB_env *env = NULL;
    int rc = mdb_env_create(&env);
    if (rc)
        return err_set(why, lmdb_err(rc), dir, "cannot open the store: %s", mdb_strerror(rc));
    rc = mdb_env_set_maxdbs(env, 3);
    if (!rc)
        rc = mdb_env_set_maxreaders(env, READERS_MAX);
    if (!rc)
        rc = mdb_env_set_mapsize(env, (size_t)map_size);
    if (!rc)
        rc = mdb_env_open(env, dir, flags, 0600);
    if (rc) {
        mdb_env_close(env);
        return err_set(why, lmdb_err(rc), dir, "cannot open the store: %s", mdb_strerror(rc));
    }
    *out = env;
    return 0;
}

/** Open the file in a locked directory. */
static int tree_open(const char *dir, const struct store_options *options, struct lmdb_tree *tree,
                     struct err_info *why)
{
    MDB_env *env = NULL;
    int64_t map_size = options->map_size ? options->map_size : MAP_SIZE_DEFAULT;
    if (map_size < LMDB_MAP_MIN)
        return err_set(why, ERR_INVALID, dir, "a map of %" PRId64 " bytes is too small, %d are the least",
                       map_size, LMDB_MAP_MIN);
    int err = env_open(dir, map_size, options->no_sync, &env, why);
    if (err)
        return err;
    err = lmdb_tree_open(tree, env, why);
    if (err)
        mdb_env_close(env);
    return err;
}

int store_lmdb_open(struct run_loop *loop, const char *url, const struct store_options *options,
                    struct store **out, struct err_info *why)
{
    const char *dir = url + strlen("file:");
    struct lmdb_tree tree = {0};
    int lock_fd = -1;
    int err = dir_make(dir, why);
    if (!err)
        err = file_lock_dir(dir, "store", &lock_fd, why);
    if (err)
        return err;
    err = tree_open(dir, options, &tree, why);
    if (err) {
        close(lock_fd);
        return err;
    }
    struct lmdb *l = mem_new(struct lmdb);
    store_base_init(&l->base, &lmdb_ops, loop, url);
    l->magic = LMDB_MAGIC;
    l->tree = tree;
    l->lock_fd = lock_fd;
    STAILQ_INIT(&l->asked);
    l->feed = lmdb_feed_new(&l->tree, loop, ask_snapshot, l);
    l->writer = lmdb_writer_start(&l->tree, loop, on_batch, l);
    *out = &l->base;
    return 0;
}
