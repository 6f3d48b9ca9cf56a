#include "store/zk/condition.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/path.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define COND_MAGIC   OBJ_MAGIC('Z', 'K', 'I', 'F')
#define PARENT_MAGIC OBJ_MAGIC('Z', 'K', 'I', 'P')

enum {
    ROUNDS_MAX = 50, /* how often other clients may make children of the parent between read and write */
    BATCH_MAX = 64,  /* writes of one multi */
    BATCH_BYTES = 262144,
    FIRST_WRITE = 2, /* of the multi's operations, behind those of the check */
};

struct zkcond {
    struct obj obj;
    TAILQ_ENTRY(zkcond) link; /* of its parent; in no list: it waits for a sync, or is a plain one */
    struct zkcond_set *set;
    struct parent *parent; /* while it is in a batch */
    struct store_op op;    /* path and bytes are ours */
    struct store_call call;
    bool is_synced; /* what is read is as new as anything that any server has returned */
    bool is_plain;  /* we may not write to the parent, or there is none: the version is all that is checked */
    int n_rounds;
};
TAILQ_HEAD(zkcond_list, zkcond);

/* A node whose children are being written; there is one batch at a time. */
struct parent {
    struct obj obj;
    struct zkcond_set *set;
    char *path;
    struct zkcond_list waiting, batch;
    size_t n_asked; /* stats of the batch that are awaited */
    int64_t n_creates;
};

struct zkcond_set {
    struct store *store;
    struct map parents; /* path -> struct parent, while a child of it is being written */
};

static void finish(struct zkcond *w, int err, const struct store_result *r)
{
    w->call.done(w->call.arg, err, r);
    free((char *)w->op.path);
    free((void *)w->op.bytes);
    obj_fini(&w->obj);
    free(w);
}

static void refuse(struct zkcond *w, int err, const char *text)
{
    struct store_result r = {0};
    err_set(&r.why, err, w->op.path, "%s", text);
    finish(w, err, &r);
}

/* Complete one write of a multi that failed as a whole. */
static void finish_failed(struct zkcond *w, int err, const struct err_info *why)
{
    if (w->set->store->is_closing && err != ERR_UNKNOWN_OUTCOME)
        refuse(w, ERR_CANCELLED, err_text(ERR_CANCELLED));
    else
        refuse(w, err, why->text);
}

/* Compare the node that was read with the condition. @return 0: it holds. */
static int judge(const struct zkcond *w, int err, const struct store_stat *stat)
{
    if (err)
        return err;
    if (stat->mzxid != w->op.mzxid)
        return ERR_CONFLICT;
    return w->op.kind == STORE_OP_DELETE && stat->n_children > 0 ? ERR_NOTEMPTY : 0;
}

static bool is_stale_perhaps(const struct zkcond *w, int verdict)
{
    return !w->is_synced && (verdict == ERR_NOTFOUND || verdict == ERR_CONFLICT || verdict == ERR_NOTEMPTY);
}

static void join(struct zkcond *w);

static void on_synced(void *arg, int err, const struct store_result *r)
{
    struct zkcond *w = obj_cast(arg, struct zkcond, COND_MAGIC);
    w->is_synced = true;
    if (err)
        finish(w, err, r);
    else
        join(w);
}

/* It is not to be written like this; nor is it in a list. */
static void turn_away(struct zkcond *w, int verdict, int err, const struct store_result *r)
{
    struct store *s = w->set->store;
    if (s->is_closing)
        refuse(w, ERR_CANCELLED, err_text(ERR_CANCELLED));
    else if (is_stale_perhaps(w, verdict))
        s->ops->sync(s, (struct store_call){on_synced, w});
    else if (err)
        finish(w, err, r);
    else
        refuse(w, verdict,
               verdict == ERR_CONFLICT ? "the data are not those any more" : err_text(ERR_NOTEMPTY));
}

/* ---- without a check of the parent ---- */

static void on_plain_written(void *arg, int err, const struct store_result *r)
{
    finish(obj_cast(arg, struct zkcond, COND_MAGIC), err, r);
}

static void on_plain_node(void *arg, int err, const struct store_result *r)
{
    struct zkcond *w = obj_cast(arg, struct zkcond, COND_MAGIC);
    struct store *s = w->set->store;
    int verdict = judge(w, err, &r->stat);
    if (verdict || s->is_closing) {
        turn_away(w, verdict, err, r);
        return;
    }
    w->op.version = r->stat.version;
    w->op.mzxid = 0;
    s->ops->write(s, &w->op, (struct store_call){on_plain_written, w});
}

static void look_plain(struct zkcond *w)
{
    w->is_plain = true;
    w->set->store->ops->read(w->set->store, STORE_READ_STAT, w->op.path,
                             (struct store_call){on_plain_node, w});
}

/* ---- a batch ---- */

static void begin(struct parent *p);

static void parent_free(struct parent *p)
{
    map_remove(&p->set->parents, p->path);
    free(p->path);
    obj_fini(&p->obj);
    free(p);
}

/* Leave the batch. @return its first write; NULL: it is empty. */
static struct zkcond *batch_pop(struct parent *p)
{
    struct zkcond *w = TAILQ_FIRST(&p->batch);
    if (w)
        TAILQ_REMOVE(&p->batch, w, link);
    return w;
}

/* Once more, before those that came later; the error is that of the check. */
static void batch_again(struct parent *p)
{
    struct zkcond_list spent = TAILQ_HEAD_INITIALIZER(spent);
    struct zkcond *w;
    TAILQ_FOREACH (w, &p->batch, link)
        w->n_rounds++;
    TAILQ_CONCAT(&p->batch, &p->waiting, link);
    TAILQ_CONCAT(&p->waiting, &p->batch, link);
    while ((w = TAILQ_FIRST(&p->waiting)) && w->n_rounds >= ROUNDS_MAX) {
        TAILQ_REMOVE(&p->waiting, w, link);
        TAILQ_INSERT_TAIL(&spent, w, link);
    }
    while ((w = TAILQ_FIRST(&spent))) {
        TAILQ_REMOVE(&spent, w, link);
        refuse(w, ERR_UNAVAILABLE, "other clients keep making nodes beside it; try again");
    }
}

/* One of them was refused, so none was written: the others begin again. */
static void batch_without(struct parent *p, size_t at, int err, const struct store_result *r)
{
    struct zkcond *refused = TAILQ_FIRST(&p->batch);
    while (at--)
        refused = TAILQ_NEXT(refused, link);
    TAILQ_REMOVE(&p->batch, refused, link);
    TAILQ_CONCAT(&p->batch, &p->waiting, link);
    TAILQ_CONCAT(&p->waiting, &p->batch, link);
    finish(refused, err, r);
}

static void on_batch_written(void *arg, int err, const struct store_result *r)
{
    struct parent *p = obj_cast(arg, struct parent, PARENT_MAGIC);
    bool is_of_check = r->failed_op < FIRST_WRITE;
    struct store_result one = *r;
    struct zkcond *w;
    if (err && !is_of_check) {
        batch_without(p, r->failed_op - FIRST_WRITE, err, r);
    } else if (err == ERR_NOTFOUND || err == ERR_EXISTS) {
        batch_again(p);
    } else if (err == ERR_PERMISSION && !p->set->store->is_closing) {
        while ((w = batch_pop(p)))
            look_plain(w);
    }
    for (size_t i = 0; (w = batch_pop(p)); i++) {
        if (err) {
            finish_failed(w, err, &r->why);
            continue;
        }
        one.stat = r->stats[i];
        one.zxid = one.stat.mzxid ? one.stat.mzxid : r->zxid;
        finish(w, 0, &one);
    }
    begin(p);
}

static void write_batch(struct parent *p)
{
    struct store_op ops[BATCH_MAX];
    size_t n = 0;
    struct zkcond *w;
    TAILQ_FOREACH (w, &p->batch, link)
        ops[n++] = w->op;
    if (n)
        zkcond_checked_write(p->set->store, ops, n, p->n_creates, (struct store_call){on_batch_written, p});
    else
        begin(p);
}

static void on_node(void *arg, int err, const struct store_result *r)
{
    struct zkcond *w = obj_cast(arg, struct zkcond, COND_MAGIC);
    struct parent *p = w->parent;
    int verdict = judge(w, err, &r->stat);
    p->n_asked--;
    w->op.version = r->stat.version;
    if (verdict || p->set->store->is_closing) {
        TAILQ_REMOVE(&p->batch, w, link);
        turn_away(w, verdict, err, r);
    }
    if (p->n_asked == 0)
        write_batch(p);
}

/* What ZooKeeper shows as cversion is twice the creates less the children there are, in 32 bits: of many creates it runs over. */
static void on_parent(void *arg, int err, const struct store_result *r)
{
    struct parent *p = obj_cast(arg, struct parent, PARENT_MAGIC);
    p->n_creates = err ? 0 : ((uint32_t)r->stat.cversion + (uint32_t)r->stat.n_children) / 2;
}

static bool is_in_batch(const struct parent *p, const char *path)
{
    const struct zkcond *w;
    TAILQ_FOREACH (w, &p->batch, link) {
        if (strcmp(w->op.path, path) == 0)
            return true;
    }
    return false;
}

/* As many as fit; of one node one only, for what a second one is answered follows from what becomes of the first. */
static void fill_batch(struct parent *p)
{
    struct zkcond *w, *next;
    size_t n = 0, n_bytes = 0;
    for (w = TAILQ_FIRST(&p->waiting); w && n < BATCH_MAX; w = next) {
        next = TAILQ_NEXT(w, link);
        n_bytes += strlen(w->op.path) + w->op.len;
        if (n > 0 && n_bytes > BATCH_BYTES)
            break;
        if (is_in_batch(p, w->op.path))
            continue;
        TAILQ_REMOVE(&p->waiting, w, link);
        TAILQ_INSERT_TAIL(&p->batch, w, link);
        w->parent = p;
        n++;
    }
    p->n_asked = n;
}

/* The parent before the nodes: a child that is made in between is found out. The answers come in this order. */
static void begin(struct parent *p)
{
    struct store *s = p->set->store;
    struct zkcond *w;
    while (s->is_closing && (w = TAILQ_FIRST(&p->waiting))) {
        TAILQ_REMOVE(&p->waiting, w, link);
        refuse(w, ERR_CANCELLED, err_text(ERR_CANCELLED));
    }
    fill_batch(p);
    if (TAILQ_EMPTY(&p->batch)) {
        parent_free(p);
        return;
    }
    s->ops->read(s, STORE_READ_STAT, p->path, (struct store_call){on_parent, p});
    TAILQ_FOREACH (w, &p->batch, link)
        s->ops->read(s, STORE_READ_STAT, w->op.path, (struct store_call){on_node, w});
}

/* Wait for the next batch, which begins at once when there is none. */
static void join(struct zkcond *w)
{
    if (w->is_plain) {
        look_plain(w);
        return;
    }
    mem_auto char *path = path_parent(w->op.path);
    struct parent *p = map_get(&w->set->parents, path);
    bool is_first = !p;
    if (is_first) {
        p = mem_new(struct parent);
        obj_init(&p->obj, PARENT_MAGIC);
        p->set = w->set;
        p->path = mem_str(path);
        TAILQ_INIT(&p->waiting);
        TAILQ_INIT(&p->batch);
        map_set(&w->set->parents, path, p);
    }
    TAILQ_INSERT_TAIL(&p->waiting, w, link);
    if (is_first)
        begin(p);
}

/* ---- the interface ---- */

struct zkcond_set *zkcond_set_new(struct store *s)
{
    struct zkcond_set *set = mem_new(struct zkcond_set);
    set->store = s;
    return set;
}

void zkcond_set_free(struct zkcond_set *set)
{
    BUG_IF(set->parents.n_items != 0);
    map_fini(&set->parents, NULL);
    free(set);
}

void zkcond_start(struct zkcond_set *set, const struct store_op *op, struct store_call call)
{
    struct zkcond *w = mem_new(struct zkcond);
    obj_init(&w->obj, COND_MAGIC);
    w->set = set;
    w->op = *op;
    w->op.path = mem_str(op->path);
    w->op.bytes = op->len ? mem_copy(op->bytes, op->len) : NULL;
    w->call = call;
    w->is_plain = strcmp(op->path, "/") == 0;
    join(w);
}
