/**
 * Deleting a node, with what is below it if asked. See ops_priv.h.
 *
 * Each node below is a `removal`: deleted straight away, which is right for leaves; one that has children lists them,
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
#include "registry/ops_priv.h"

#define REMOVAL_MAGIC OBJ_MAGIC('R', 'M', 'V', 'L')
#define FLYING_MAX    64
#define DEPTH_MAX     512
/** How often new children may appear in a node that is being deleted. */
#define ROUNDS_MAX 10

enum removal_step { REMOVAL_DELETE, REMOVAL_LIST, REMOVAL_EXPAND };

struct removal {
    struct obj obj;
    struct operation *o;
    struct removal *parent; /* NULL: the node asked for */
    char *path;
    enum removal_step step;
    char *names; /* EXPAND: of children, each ended by NUL, an empty one at the end */
    const char *next_name;
    size_t n_open; /* children handed out and not gone yet */
    int depth, n_rounds;
    TAILQ_ENTRY(removal) waiting, all;
};

static void walk(struct operation *o);

static struct removal *removal_new(struct operation *o, struct removal *parent, char *take_path)
{
    struct removal *m = mem_new(struct removal);

    obj_init(&m->obj, REMOVAL_MAGIC);
    m->o = o;
    m->parent = parent;
    m->path = take_path;
    m->depth = parent ? parent->depth + 1 : 0;
    TAILQ_INSERT_TAIL(&o->all, m, all);
    return m;
}

static void removal_free(struct removal *m)
{
    TAILQ_REMOVE(&m->o->all, m, all);
    free(m->path);
    free(m->names);
    obj_fini(&m->obj);
    free(m);
}

static void wait_for_step(struct removal *m, enum removal_step step)
{
    m->step = step;
    TAILQ_INSERT_HEAD(&m->o->waiting, m, waiting);
}

static void fail(struct operation *o, int err, const struct err_info *why)
{
    if (o->failed)
        return;
    o->failed = err;
    o->failed_why = *why;
}

/** The node is gone, by us or by others. */
static void removal_gone(struct removal *m)
{
    struct removal *parent = m->parent;

    removal_free(m);
    if (parent && --parent->n_open == 0 && !*parent->next_name)
        wait_for_step(parent, REMOVAL_DELETE);
}

static void on_removal_deleted(void *arg, int err, const struct store_result *r)
{
    struct removal *m = obj_cast(arg, struct removal, REMOVAL_MAGIC);
    struct operation *o = m->o;

    o->n_flying--;
    if (err == 0 || err == ERR_NOTFOUND) {
        o->result.changed = o->result.changed || err == 0;
        if (r->zxid > o->result.zxid)
            o->result.zxid = r->zxid;
        removal_gone(m);
    } else if (err == ERR_NOTEMPTY && m->n_rounds++ < ROUNDS_MAX) {
        wait_for_step(m, REMOVAL_LIST);
    } else if (err == ERR_UNKNOWN_OUTCOME && m->parent && m->n_rounds++ < ROUNDS_MAX) {
        wait_for_step(m, REMOVAL_DELETE); /* whoever deleted it: below the node nothing is to stay */
    } else {
        fail(o, err, &r->why);
    }
    walk(o);
}

static void take_names(struct removal *m, const struct store_result *r)
{
    struct buf names = BUF_EMPTY;

    for (size_t i = 0; i < r->n_children; i++)
        buf_add(&names, r->children[i], strlen(r->children[i]) + 1);
    free(m->names);
    m->names = buf_take(&names);
    m->next_name = m->names;
    wait_for_step(m, r->n_children ? REMOVAL_EXPAND : REMOVAL_DELETE);
}

static void on_removal_listed(void *arg, int err, const struct store_result *r)
{
    struct removal *m = obj_cast(arg, struct removal, REMOVAL_MAGIC);
    struct operation *o = m->o;

    o->n_flying--;
    if (err == ERR_NOTFOUND) {
        removal_gone(m);
    } else if (err) {
        fail(o, err, &r->why);
    } else if (m->depth >= DEPTH_MAX) {
        struct err_info why;

        fail(o, err_set(&why, ERR_LIMIT, m->path, "more than %d levels to delete", DEPTH_MAX), &why);
    } else {
        take_names(m, r);
    }
    walk(o);
}

/** Hand out the next child of the node on top of the stack. */
static struct removal *expand(struct removal *m)
{
    const char *name = m->next_name;
    bool root = strcmp(m->path, "/") == 0;

    m->next_name += strlen(name) + 1;
    m->n_open++;
    if (!*m->next_name)
        TAILQ_REMOVE(&m->o->waiting, m, waiting);
    return removal_new(m->o, m, mem_fmt("%s/%s", root ? "" : m->path, name));
}

/** Delete the node itself, if the condition holds. */
static void delete_meant(struct operation *o, STORE_DONE, void *arg)
{
    if (o->cond.kind == REG_IF_MZXID)
        store_delete_if(o->rs->store, o->path, o->cond.mzxid, done, arg);
    else
        store_delete(o->rs->store, o->path, -1, done, arg);
}

static void launch(struct operation *o)
{
    struct removal *m = TAILQ_FIRST(&o->waiting);

    if (m->step == REMOVAL_EXPAND)
        m = expand(m);
    else
        TAILQ_REMOVE(&o->waiting, m, waiting);
    o->n_flying++;
    if (m->step == REMOVAL_LIST)
        store_children(o->rs->store, m->path, on_removal_listed, m);
    else if (m->parent)
        store_delete(o->rs->store, m->path, -1, on_removal_deleted, m);
    else
        delete_meant(o, on_removal_deleted, m);
}

static void walk(struct operation *o)
{
    while (!o->failed && o->n_flying < FLYING_MAX && !TAILQ_EMPTY(&o->waiting))
        launch(o);
    if (o->n_flying > 0)
        return;
    while (!TAILQ_EMPTY(&o->all))
        removal_free(TAILQ_FIRST(&o->all));
    o->result.why = o->failed_why;
    operation_finish(o, o->failed);
}

/* ---- the node itself ---- */

static void on_deleted(void *arg, int err, const struct store_result *r)
{
    struct operation *o = obj_cast(arg, struct operation, OPERATION_MAGIC);

    if (err == ERR_NOTEMPTY && o->recursive) {
        TAILQ_INIT(&o->waiting);
        TAILQ_INIT(&o->all);
        wait_for_step(removal_new(o, NULL, mem_str(o->path)), REMOVAL_LIST);
        walk(o);
    } else if (err == ERR_NOTFOUND && o->cond.kind != REG_IF_NONE) {
        operation_refuse(o, ERR_CONFLICT, "there is no such node");
    } else if (err == 0 || err == ERR_NOTFOUND) {
        o->result.changed = err == 0;
        o->result.zxid = r->zxid;
        operation_finish(o, 0);
    } else {
        operation_finish_store(o, err, r);
    }
}

void operation_delete(struct operation *o)
{
    delete_meant(o, on_deleted, o);
}
