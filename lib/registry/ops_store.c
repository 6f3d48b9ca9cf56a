/**
 * Operations over a store: life of an operation, reads, mknode, bind, set-up. See ops_store.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "registry/ops_priv.h"

/** What Hadoop's client leaves in a node it makes without data: its own address. */
#define LOCAL_ADDRESS "127.0.0.1"
/** How often set and create may chase a node that others make and delete. */
#define ROUNDS_MAX 3

/* ---- life ---- */

struct reg_store *reg_store_new(struct run_loop *loop, struct store *s, enum reg_names names,
                                const struct store_acl *acl)
{
    struct reg_store *rs = mem_new(struct reg_store);

    rs->loop = loop;
    rs->store = s;
    rs->names = names;
    rs->acl = acl;
    return rs;
}

void reg_store_set_realm(struct reg_store *rs, const char *realm)
{
    rs->realm = realm;
}

void reg_store_free(struct reg_store *rs)
{
    if (!rs)
        return;
    rs->released = true;
    if (rs->n_ops == 0)
        free(rs);
}

struct op *op_new(struct reg_store *rs, const char *path, REG_STORE_DONE, void *arg)
{
    struct op *op = mem_new(struct op);

    obj_init(&op->obj, OP_MAGIC);
    op->rs = rs;
    op->done = done;
    op->arg = arg;
    op->err = reg_path_normal(path, &op->path, &op->result.why);
    rs->n_ops++;
    return op;
}

void op_finish(struct op *op, int err)
{
    struct reg_store *rs = op->rs;

    op->done(op->arg, err, &op->result);
    free(op->path);
    free(op->read_bytes);
    acl_fini(&op->acl);
    obj_fini(&op->obj);
    free(op);
    if (--rs->n_ops == 0 && rs->released)
        free(rs);
}

void op_finish_store(struct op *op, int err, const struct store_result *r)
{
    op->result.why = r->why;
    if (err && op->result.why.code == 0)
        err_set(&op->result.why, err, op->path, "%s", err_text(err));
    op_finish(op, err);
}

void op_refuse(struct op *op, int err, const char *text)
{
    err_set(&op->result.why, err, op->path, "%s", text);
    op_finish(op, err);
}

static void finish_posted(void *arg)
{
    struct op *op = obj_cast(arg, struct op, OP_MAGIC);

    op_finish(op, op->err);
}

void op_finish_later(struct op *op, int err)
{
    op->err = err;
    run_post(op->rs->loop, finish_posted, op);
}

/* ---- reads ---- */

static void take_stat(struct op *op, const struct store_result *r)
{
    op->result.stat = r->stat;
    op->result.data = r->data;
    op->result.data_len = r->data_len;
}

static void on_resolved(void *arg, int err, const struct store_result *r)
{
    struct op *op = obj_cast(arg, struct op, OP_MAGIC);
    struct reg_record *record = NULL;

    if (err) {
        op_finish_store(op, err, r);
        return;
    }
    take_stat(op, r);
    err = reg_record_read(r->data, r->data_len, REG_STRICT, &record, &op->result.why);
    op->result.record = record;
    op_finish(op, err);
    reg_record_free(record);
}

void reg_store_resolve(struct reg_store *rs, const char *path, REG_STORE_DONE, void *arg)
{
    struct op *op = op_new(rs, path, done, arg);

    if (op->err)
        op_finish_later(op, op->err);
    else
        store_get(rs->store, op->path, on_resolved, op);
}

static void on_read_children(void *arg, int err, const struct store_result *r)
{
    struct op *op = obj_cast(arg, struct op, OP_MAGIC);

    if (err) {
        op_finish_store(op, err, r);
        return;
    }
    op->result.children = r->children;
    op->result.n_children = r->n_children;
    op->result.data = op->read_bytes;
    op_finish(op, 0);
}

static void on_read_data(void *arg, int err, const struct store_result *r)
{
    struct op *op = obj_cast(arg, struct op, OP_MAGIC);

    if (err) {
        op_finish_store(op, err, r);
        return;
    }
    take_stat(op, r);
    if (r->stat.n_children == 0) {
        op_finish(op, 0);
        return;
    }
    op->read_bytes = mem_strn(r->data ? r->data : "", r->data_len);
    store_children(op->rs->store, op->path, on_read_children, op);
}

static void on_read_synced(void *arg, int err, const struct store_result *r)
{
    struct op *op = obj_cast(arg, struct op, OP_MAGIC);

    if (err)
        op_finish_store(op, err, r);
    else
        store_get(op->rs->store, op->path, on_read_data, op);
}

void reg_store_read(struct reg_store *rs, const char *path, REG_STORE_DONE, void *arg)
{
    struct op *op = op_new(rs, path, done, arg);

    if (op->err)
        op_finish_later(op, op->err);
    else
        store_sync(rs->store, on_read_synced, op);
}

static void on_stat(void *arg, int err, const struct store_result *r)
{
    struct op *op = obj_cast(arg, struct op, OP_MAGIC);

    op->result.stat = r->stat;
    op->result.children = r->children;
    op->result.n_children = r->n_children;
    op_finish_store(op, err, r);
}

void reg_store_stat(struct reg_store *rs, const char *path, REG_STORE_DONE, void *arg)
{
    struct op *op = op_new(rs, path, done, arg);

    if (op->err)
        op_finish_later(op, op->err);
    else
        store_stat(rs->store, op->path, on_stat, op);
}

void reg_store_list(struct reg_store *rs, const char *path, REG_STORE_DONE, void *arg)
{
    struct op *op = op_new(rs, path, done, arg);

    if (op->err)
        op_finish_later(op, op->err);
    else
        store_children(rs->store, op->path, on_stat, op);
}

static void on_exists(void *arg, int err, const struct store_result *r)
{
    struct op *op = obj_cast(arg, struct op, OP_MAGIC);

    op->result.stat = r->stat;
    op->result.changed = err == 0;
    if (err == 0 || err == ERR_NOTFOUND)
        op_finish(op, 0);
    else
        op_finish_store(op, err, r);
}

void reg_store_exists(struct reg_store *rs, const char *path, REG_STORE_DONE, void *arg)
{
    struct op *op = op_new(rs, path, done, arg);

    if (op->err)
        op_finish_later(op, op->err);
    else
        store_stat(rs->store, op->path, on_exists, op);
}

/* ---- mknode ---- */

static void finish_written(struct op *op, bool made, const struct store_result *r)
{
    op->result.changed = made;
    op->result.stat = r->stat;
    op->result.zxid = r->zxid;
    op_finish(op, 0);
}

static void finish_create_failed(struct op *op, int err, const struct store_result *r)
{
    if (err != ERR_PATH || op->bad_element.code == 0) {
        op_finish_store(op, err, r);
        return;
    }
    op->result.why = op->bad_element;
    op_finish(op, err);
}

static void on_mknode_created(struct op *op, int err, const struct store_result *r)
{
    if (err == ERR_EXISTS)
        op_finish(op, 0);
    else if (err)
        finish_create_failed(op, err, r);
    else
        finish_written(op, true, r);
}

/** The nodes it makes get these entries too, unless all nodes are open. */
static void add_entries(struct op *op, const struct store_acl *more)
{
    if (!op->rs->acl || !more || !more->n_entries)
        return;
    acl_add_all(&op->acl, op->rs->acl);
    acl_add_all(&op->acl, more);
}

void reg_store_make_home(struct reg_store *rs, const char *path, const char *user, REG_STORE_DONE, void *arg)
{
    acl_auto struct acl_list more = {{NULL, 0}};
    mem_auto char *id = acl_principal(user, rs->realm);

    acl_add(&more, STORE_READ | STORE_WRITE | STORE_CREATE | STORE_DELETE, "sasl", id);
    reg_store_mknode_for(rs, path, false, &more.acl, done, arg);
}

void reg_store_mknode(struct reg_store *rs, const char *path, bool create_parents, REG_STORE_DONE, void *arg)
{
    reg_store_mknode_for(rs, path, create_parents, NULL, done, arg);
}

void reg_store_mknode_for(struct reg_store *rs, const char *path, bool create_parents,
                          const struct store_acl *more, REG_STORE_DONE, void *arg)
{
    struct op *op = op_new(rs, path, done, arg);

    add_entries(op, more);
    op->flags = create_parents ? REG_CREATE_PARENTS : 0;
    op->bytes = LOCAL_ADDRESS;
    op->len = strlen(LOCAL_ADDRESS);
    if (op->err)
        op_finish_later(op, op->err);
    else
        op_create(op, on_mknode_created);
}

/* ---- bind ---- */

static void bind_set(struct op *op);

static void on_bind_created(struct op *op, int err, const struct store_result *r)
{
    /* Who may not make it may still be let to overwrite it, if it is there against all appearance. */
    bool may_be_there = err == ERR_EXISTS || (err == ERR_PERMISSION && op->n_rounds == 0);

    if (err == ERR_EXISTS && op->cond.kind == REG_IF_ABSENT)
        op_refuse(op, ERR_CONFLICT, "there is a node already");
    else if (may_be_there && (op->flags & REG_OVERWRITE) && op->cond.kind == REG_IF_NONE &&
             op->n_rounds < ROUNDS_MAX)
        bind_set(op);
    else if (err)
        finish_create_failed(op, err, r);
    else
        finish_written(op, true, r);
}

static void on_bind_set(void *arg, int err, const struct store_result *r)
{
    struct op *op = obj_cast(arg, struct op, OP_MAGIC);

    if (err == 0)
        finish_written(op, false, r);
    else if (err == ERR_NOTFOUND && op->cond.kind != REG_IF_NONE)
        op_refuse(op, ERR_CONFLICT, "there is no such node");
    else if (err == ERR_NOTFOUND)
        op_create(op, on_bind_created);
    else
        op_finish_store(op, err, r);
}

static void bind_set(struct op *op)
{
    op->n_rounds++;
    if (op->cond.kind == REG_IF_MZXID)
        store_set_if(op->rs->store, op->path, op->bytes, op->len, op->cond.mzxid, on_bind_set, op);
    else
        store_set(op->rs->store, op->path, op->bytes, op->len, -1, on_bind_set, op);
}

void reg_store_bind(struct reg_store *rs, const char *path, const struct reg_store_binding *binding,
                    REG_STORE_DONE, void *arg)
{
    struct op *op = op_new(rs, path, done, arg);
    bool may_set =
        binding->cond.kind == REG_IF_NONE && binding->flags & REG_OVERWRITE && !binding->seems_missing;

    add_entries(op, binding->more);
    op->flags = binding->flags;
    op->cond = binding->cond;
    op->bytes = binding->record->bytes;
    op->len = binding->record->len;
    if (op->err)
        op_finish_later(op, op->err);
    else if (op->cond.kind == REG_IF_MZXID || op->cond.kind == REG_IF_EXISTS || may_set)
        bind_set(op);
    else
        op_create(op, on_bind_created);
}

/* ---- delete ---- */

void reg_store_delete(struct reg_store *rs, const char *path, bool recursive,
                      const struct reg_store_cond *cond, REG_STORE_DONE, void *arg)
{
    struct op *op = op_new(rs, path, done, arg);

    op->recursive = recursive;
    op->cond = cond ? *cond : (struct reg_store_cond){REG_IF_NONE, 0};
    if (!op->err && op->cond.kind == REG_IF_ABSENT)
        op->err = err_set(&op->result.why, ERR_INVALID, op->path, "what is absent cannot be deleted");
    if (op->err)
        op_finish_later(op, op->err);
    else
        op_delete(op);
}

/* ---- set-up ---- */

static const char *const standard_paths[] = {"/", "/users", "/services"};

static void setup_next(struct op *op);

static void setup_done(struct op *op)
{
    if ((size_t)++op->n_rounds == ARRAY_LEN(standard_paths))
        op_finish(op, 0);
    else
        setup_next(op);
}

/* Who may not make it may find it made. */
static void on_setup_checked(void *arg, int err, const struct store_result *r)
{
    struct op *op = obj_cast(arg, struct op, OP_MAGIC);

    mem_auto char *text =
        mem_fmt("it is missing, and the store does not let us make it: %s", op->result.why.text);

    if (err == ERR_NOTFOUND)
        op_refuse(op, ERR_PERMISSION, text);
    else if (err)
        op_finish_store(op, err, r);
    if (err)
        return;
    op->result.why = (struct err_info){0};
    setup_done(op);
}

static void on_setup_created(struct op *op, int err, const struct store_result *r)
{
    if (err == ERR_PERMISSION) {
        op->result.why = r->why; /* why it may not */
        store_stat(op->rs->store, op->path, on_setup_checked, op);
        return;
    }
    if (err && err != ERR_EXISTS) {
        op_finish_store(op, err, r);
        return;
    }
    op->result.changed = op->result.changed || err == 0;
    if (!err)
        op->result.zxid = r->zxid;
    setup_done(op);
}

static void setup_next(struct op *op)
{
    free(op->path);
    op->path = mem_str(standard_paths[op->n_rounds]);
    op_create(op, on_setup_created);
}

void reg_store_setup(struct reg_store *rs, REG_STORE_DONE, void *arg)
{
    struct op *op = op_new(rs, "/", done, arg);

    op->bytes = LOCAL_ADDRESS;
    op->len = strlen(LOCAL_ADDRESS);
    setup_next(op);
}
