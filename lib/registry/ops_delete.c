/**
 * Deleting a node, with what is below it if asked. See ops_inside.h.
 *
 * Each node below is a `doomed`: deleted straight away, which is right for leaves; one that has children lists them,
 * hands them out one after the other, and is deleted again when all are gone:
 *
 *     DELETE ──NOTEMPTY──► LIST ──► EXPAND ──all children gone──► DELETE …
 *
 * `waiting` is a stack, so the walk goes deep first and holds one list of names a level.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "registry/ops_inside.h"

#define DOOMED_MAGIC OBJ_MAGIC('D', 'O', 'O', 'M')
#define FLYING_MAX   64
#define DEPTH_MAX    512
/** How often new children may appear in a node that is being deleted. */
#define ROUNDS_MAX 10

enum doomed_step { DOOMED_DELETE, DOOMED_LIST, DOOMED_EXPAND };

struct doomed {
    struct obj obj;
    struct op *op;
    struct doomed *parent; /* NULL: the node asked for */
    char *path;
    enum doomed_step step;
    char *names; /* EXPAND: of children, each ended by NUL, an empty one at the end */
    const char *next_name;
    size_t n_open; /* children handed out and not gone yet */
    int depth, n_rounds;
    TAILQ_ENTRY(doomed) waiting, all;
};

static void walk(struct op *op);

static struct doomed *doom(struct op *op, struct doomed *parent, char *take_path)
{
    struct doomed *d = mem_new(struct doomed);

    obj_init(&d->obj, DOOMED_MAGIC);
    d->op = op;
    d->parent = parent;
    d->path = take_path;
    d->depth = parent ? parent->depth + 1 : 0;
    TAILQ_INSERT_TAIL(&op->all, d, all);
    return d;
}

static void doomed_free(struct doomed *d)
{
    TAILQ_REMOVE(&d->op->all, d, all);
    free(d->path);
    free(d->names);
    obj_fini(&d->obj);
    free(d);
}

static void wait_for_step(struct doomed *d, enum doomed_step step)
{
    d->step = step;
    TAILQ_INSERT_HEAD(&d->op->waiting, d, waiting);
}

static void fail(struct op *op, int err, const struct err_info *why)
{
    if (op->failed)
        return;
    op->failed = err;
    op->failed_why = *why;
}

/** The node is gone, by us or by others. */
static void doomed_gone(struct doomed *d)
{
    struct doomed *parent = d->parent;

    doomed_free(d);
    if (parent && --parent->n_open == 0 && !*parent->next_name)
        wait_for_step(parent, DOOMED_DELETE);
}

static void on_doomed_deleted(void *arg, int err, const struct store_result *r)
{
    struct doomed *d = obj_cast(arg, struct doomed, DOOMED_MAGIC);
    struct op *op = d->op;

    op->n_flying--;
    if (err == 0 || err == ERR_NOTFOUND) {
        op->result.changed = op->result.changed || err == 0;
        if (r->zxid > op->result.zxid)
            op->result.zxid = r->zxid;
        doomed_gone(d);
    } else if (err == ERR_NOTEMPTY && d->n_rounds++ < ROUNDS_MAX) {
        wait_for_step(d, DOOMED_LIST);
    } else if (err == ERR_UNKNOWN_OUTCOME && d->parent && d->n_rounds++ < ROUNDS_MAX) {
        wait_for_step(d, DOOMED_DELETE); /* whoever deleted it: below the node nothing is to stay */
    } else {
        fail(op, err, &r->why);
    }
    walk(op);
}

static void take_names(struct doomed *d, const struct store_result *r)
{
    struct buf names = BUF_EMPTY;

    for (size_t i = 0; i < r->n_children; i++)
        buf_add(&names, r->children[i], strlen(r->children[i]) + 1);
    free(d->names);
    d->names = buf_take(&names);
    d->next_name = d->names;
    wait_for_step(d, r->n_children ? DOOMED_EXPAND : DOOMED_DELETE);
}

static void on_doomed_listed(void *arg, int err, const struct store_result *r)
{
    struct doomed *d = obj_cast(arg, struct doomed, DOOMED_MAGIC);
    struct op *op = d->op;

    op->n_flying--;
    if (err == ERR_NOTFOUND) {
        doomed_gone(d);
    } else if (err) {
        fail(op, err, &r->why);
    } else if (d->depth >= DEPTH_MAX) {
        struct err_info why;

        fail(op, err_set(&why, ERR_LIMIT, d->path, "more than %d levels to delete", DEPTH_MAX), &why);
    } else {
        take_names(d, r);
    }
    walk(op);
}

/** Hand out the next child of the node on top of the stack. */
static struct doomed *expand(struct doomed *d)
{
    const char *name = d->next_name;
    bool root = strcmp(d->path, "/") == 0;

    d->next_name += strlen(name) + 1;
    d->n_open++;
    if (!*d->next_name)
        TAILQ_REMOVE(&d->op->waiting, d, waiting);
    return doom(d->op, d, mem_fmt("%s/%s", root ? "" : d->path, name));
}

/** Delete the node itself, if the condition holds. */
static void delete_meant(struct op *op, STORE_DONE, void *arg)
{
    if (op->cond.kind == REG_IF_MZXID)
        store_delete_if(op->rs->store, op->path, op->cond.mzxid, done, arg);
    else
        store_delete(op->rs->store, op->path, -1, done, arg);
}

static void launch(struct op *op)
{
    struct doomed *d = TAILQ_FIRST(&op->waiting);

    if (d->step == DOOMED_EXPAND)
        d = expand(d);
    else
        TAILQ_REMOVE(&op->waiting, d, waiting);
    op->n_flying++;
    if (d->step == DOOMED_LIST)
        store_children(op->rs->store, d->path, on_doomed_listed, d);
    else if (d->parent)
        store_delete(op->rs->store, d->path, -1, on_doomed_deleted, d);
    else
        delete_meant(op, on_doomed_deleted, d);
}

static void walk(struct op *op)
{
    while (!op->failed && op->n_flying < FLYING_MAX && !TAILQ_EMPTY(&op->waiting))
        launch(op);
    if (op->n_flying > 0)
        return;
    while (!TAILQ_EMPTY(&op->all))
        doomed_free(TAILQ_FIRST(&op->all));
    op->result.why = op->failed_why;
    op_finish(op, op->failed);
}

/* ---- the node itself ---- */

static void on_deleted(void *arg, int err, const struct store_result *r)
{
    struct op *op = obj_cast(arg, struct op, OP_MAGIC);

    if (err == ERR_NOTEMPTY && op->recursive) {
        TAILQ_INIT(&op->waiting);
        TAILQ_INIT(&op->all);
        wait_for_step(doom(op, NULL, mem_str(op->path)), DOOMED_LIST);
        walk(op);
    } else if (err == ERR_NOTFOUND && op->cond.kind != REG_IF_NONE) {
        op_refuse(op, ERR_CONFLICT, "there is no such node");
    } else if (err == 0 || err == ERR_NOTFOUND) {
        op->result.changed = err == 0;
        op->result.zxid = r->zxid;
        op_finish(op, 0);
    } else {
        op_finish_store(op, err, r);
    }
}

void op_delete(struct op *op)
{
    delete_meant(op, on_deleted, op);
}
