/* The writer thread of an LMDB file. */
#include "store/lmdb/writer.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "run/degraded.h"

#define WRITER_MAGIC  OBJ_MAGIC('L', 'W', 'R', 'T')
#define MESSAGE_MAGIC OBJ_MAGIC('L', 'M', 'S', 'G')

/** What one commit takes at most: bounds the memory of a transaction and the time the loop needs for the batch. */
enum { GROUP_WRITES_MAX = 256, GROUP_BYTES_MAX = 4 << 20 };

struct lmdb_writer {
    struct obj obj;
    const struct lmdb_tree *tree;
    char *file; /* of the store */
    struct run_loop *loop;
    void (*on_batch)(void *arg, struct lmdb_batch *batch);
    void *arg;
    pthread_t thread;
    pthread_mutex_t lock; /* guards queue and is_stopping */
    pthread_cond_t wake;
    struct lmdb_write_list queue;
    bool is_stopping;
    bool is_followed; /* of the thread */
    struct buf scratch;
};

/** A batch on its way to the loop. */
struct message {
    struct obj obj;
    struct lmdb_writer *writer;
    struct lmdb_batch batch;
};

/* ---- writes ---- */

static void acl_copy(struct arena *a, const struct store_acl **acl)
{
    if (!*acl)
        return;
    struct store_acl *copy = arena_new_obj(a, struct store_acl);
    struct store_acl_entry *entries = arena_alloc(a, ((*acl)->n_entries + 1) * sizeof *entries);
    for (size_t i = 0; i < (*acl)->n_entries; i++) {
        const struct store_acl_entry *entry = &(*acl)->entries[i];
        entries[i] =
            (struct store_acl_entry){entry->perms, arena_str(a, entry->scheme), arena_str(a, entry->id)};
    }
    *copy = (struct store_acl){entries, (*acl)->n_entries};
    *acl = copy;
}

struct lmdb_write *lmdb_write_new(enum lmdb_write_kind kind, const struct store_op *ops, size_t n_ops,
                                  struct store_call call)
{
    struct arena *a = arena_new(0);
    struct lmdb_write *write = arena_new_obj(a, struct lmdb_write);
    *write = (struct lmdb_write){.kind = kind, .arena = a, .n_ops = n_ops, .call = call};
    write->ops = arena_alloc(a, (n_ops + 1) * sizeof *write->ops);
    for (size_t i = 0; i < n_ops; i++) {
        struct store_op *op = &write->ops[i];
        *op = ops[i];
        op->path = arena_str(a, ops[i].path);
        op->bytes = op->len ? arena_strn(a, ops[i].bytes, op->len) : "";
        acl_copy(a, &op->acl);
        write->n_bytes += op->len;
    }
    return write;
}

void lmdb_write_free(struct lmdb_write *write)
{
    arena_free(write->arena);
}

/* ---- thread: carrying out ---- */

static void apply(struct lmdb_txn *t, struct lmdb_write *write)
{
    write->failed_op = 0;
    if (write->kind == LMDB_WRITE_ACL)
        write->err = lmdb_txn_set_acl(t, write->ops[0].path, write->ops[0].acl, &write->effect);
    else if (write->n_ops == 1)
        write->err = lmdb_txn_apply(t, &write->ops[0], &write->effect);
    else
        write->err = lmdb_txn_multi(t, write->ops, write->n_ops, &write->effect, &write->failed_op);
}

/** Report that the disk has no room for the store, or has room again. @param rc  of LMDB; 0: the commit succeeded */
static void report_room(const struct lmdb_writer *w, int rc)
{
    if (rc == 0)
        degraded_over(w->file);
    else
        degraded_report(rc == MDB_MAP_FULL ? ENOSPC : rc, w->file);
}

/**
 * Carry out all writes of the list in one transaction.
 * @return 0: each has its own result, changes and zxid are in the batch; or ERR_IO, ERR_NOSPC: nothing has happened.
 */
static int group_try(struct lmdb_writer *w, struct lmdb_write_list *writes, struct lmdb_batch *batch)
{
    struct lmdb_change_list changes = STAILQ_HEAD_INITIALIZER(changes);
    struct lmdb_txn t;
    int err = lmdb_txn_begin(&t, w->tree, &w->scratch);
    if (err) {
        batch->lmdb_rc = t.lmdb_rc;
        return err;
    }
    t.changes = w->is_followed ? &changes : NULL;
    struct lmdb_write *write;
    STAILQ_FOREACH (write, writes, link) {
        apply(&t, write);
        if (t.is_broken) {
            err = write->err;
            break;
        }
    }
    if (err || !t.is_changed)
        lmdb_txn_abort(&t);
    else
        err = lmdb_txn_commit(&t);
    if (err || t.is_changed)
        report_room(w, err ? t.lmdb_rc : 0);
    if (err) {
        batch->lmdb_rc = t.lmdb_rc;
        lmdb_changes_free(&changes);
        return err;
    }
    batch->zxid = t.zxid;
    STAILQ_CONCAT(&batch->changes, &changes);
    return 0;
}

/** One transaction for all; when LMDB fails, one for each, so that a write that does not fit fails alone. */
static void group_write(struct lmdb_writer *w, struct lmdb_write_list *writes, struct lmdb_batch *batch)
{
    if (group_try(w, writes, batch) == 0) {
        STAILQ_CONCAT(&batch->writes, writes);
        return;
    }
    struct lmdb_write *write;
    while ((write = STAILQ_FIRST(writes))) {
        struct lmdb_write_list one = STAILQ_HEAD_INITIALIZER(one);
        STAILQ_REMOVE_HEAD(writes, link);
        STAILQ_INSERT_TAIL(&one, write, link);
        int err = group_try(w, &one, batch);
        if (err) {
            write->err = err;
            write->lmdb_rc = batch->lmdb_rc;
        }
        STAILQ_CONCAT(&batch->writes, &one);
    }
}

/** A read transaction for the follower, at a point between two groups. */
static void snapshot_begin(struct lmdb_writer *w, struct lmdb_batch *batch)
{
    batch->kind = LMDB_BATCH_SNAPSHOT;
    batch->lmdb_rc = mdb_txn_begin(w->tree->env, NULL, MDB_RDONLY, &batch->snapshot);
    batch->err = lmdb_err(batch->lmdb_rc);
    if (batch->err)
        return;
    batch->err = lmdb_tree_zxid(w->tree, batch->snapshot, &batch->zxid);
    if (batch->err) {
        mdb_txn_abort(batch->snapshot);
        batch->snapshot = NULL;
        return;
    }
    w->is_followed = true;
}

/* ---- thread: queue ---- */

/** Wait for work. Moves one group, or a single LMDB_WRITE_FOLLOW, to `out`. @return false: stopped and queue empty. */
static bool group_take(struct lmdb_writer *w, struct lmdb_write_list *out)
{
    size_t n_writes = 0, n_bytes = 0;
    struct lmdb_write *write;
    pthread_mutex_lock(&w->lock);
    while (STAILQ_EMPTY(&w->queue) && !w->is_stopping)
        pthread_cond_wait(&w->wake, &w->lock);
    while ((write = STAILQ_FIRST(&w->queue)) && n_writes < GROUP_WRITES_MAX && n_bytes < GROUP_BYTES_MAX) {
        bool is_follow = write->kind == LMDB_WRITE_FOLLOW;
        if (is_follow && n_writes)
            break;
        STAILQ_REMOVE_HEAD(&w->queue, link);
        STAILQ_INSERT_TAIL(out, write, link);
        n_writes++;
        n_bytes += write->n_bytes;
        if (is_follow)
            break;
    }
    pthread_mutex_unlock(&w->lock);
    return n_writes > 0;
}

static void deliver(void *arg)
{
    struct message *m = obj_cast(arg, struct message, MESSAGE_MAGIC);
    struct lmdb_writer *w = m->writer;
    w->on_batch(w->arg, &m->batch);
    obj_fini(&m->obj);
    free(m);
}

static struct message *message_new(struct lmdb_writer *w, enum lmdb_batch_kind kind)
{
    struct message *m = mem_new(struct message);
    obj_init(&m->obj, MESSAGE_MAGIC);
    m->writer = w;
    m->batch.kind = kind;
    STAILQ_INIT(&m->batch.writes);
    STAILQ_INIT(&m->batch.changes);
    return m;
}

static void *writer_main(void *arg)
{
    struct lmdb_writer *w = obj_cast(arg, struct lmdb_writer, WRITER_MAGIC);
    struct lmdb_write_list group = STAILQ_HEAD_INITIALIZER(group);
    while (group_take(w, &group)) {
        struct message *m = message_new(w, LMDB_BATCH_WRITES);
        if (STAILQ_FIRST(&group)->kind == LMDB_WRITE_FOLLOW) {
            STAILQ_CONCAT(&m->batch.writes, &group);
            snapshot_begin(w, &m->batch);
        } else {
            group_write(w, &group, &m->batch);
        }
        run_post(w->loop, deliver, m);
    }
    run_post(w->loop, deliver, message_new(w, LMDB_BATCH_ENDED));
    return NULL;
}

/* ---- owner ---- */

struct lmdb_writer *lmdb_writer_start(const struct lmdb_tree *tree, struct run_loop *loop,
                                      void (*on_batch)(void *arg, struct lmdb_batch *batch), void *arg)
{
    struct lmdb_writer *w = mem_new(struct lmdb_writer);
    obj_init(&w->obj, WRITER_MAGIC);
    w->tree = tree;
    const char *dir = NULL;
    BUG_IF(mdb_env_get_path(tree->env, &dir) != 0);
    w->file = mem_fmt("%s/data.mdb", dir);
    w->loop = loop;
    w->on_batch = on_batch;
    w->arg = arg;
    STAILQ_INIT(&w->queue);
    BUG_IF(pthread_mutex_init(&w->lock, NULL) || pthread_cond_init(&w->wake, NULL));
    BUG_IF(pthread_create(&w->thread, NULL, writer_main, w));
    return w;
}

void lmdb_writer_put(struct lmdb_writer *w, struct lmdb_write *take_write)
{
    pthread_mutex_lock(&w->lock);
    BUG_IF(w->is_stopping);
    STAILQ_INSERT_TAIL(&w->queue, take_write, link);
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
}

void lmdb_writer_stop(struct lmdb_writer *w)
{
    pthread_mutex_lock(&w->lock);
    w->is_stopping = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
}

void lmdb_writer_free(struct lmdb_writer *w)
{
    BUG_IF(pthread_join(w->thread, NULL));
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->lock);
    buf_fini(&w->scratch);
    free(w->file);
    obj_fini(&w->obj);
    free(w);
}
