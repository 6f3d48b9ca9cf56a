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

struct operation *operation_new(struct reg_store *rs, const char *path, REG_STORE_DONE, void *arg)
{
    struct operation *o = mem_new(struct operation);

    obj_init(&o->obj, OPERATION_MAGIC);
    o->rs = rs;
    o->done = done;
    o->arg = arg;
    o->err = reg_path_normal(path, &o->path, &o->result.why);
    rs->n_ops++;
    return o;
}

void operation_finish(struct operation *o, int err)
{
    struct reg_store *rs = o->rs;

    o->done(o->arg, err, &o->result);
    free(o->path);
    free(o->read_bytes);
    acl_fini(&o->acl);
    acl_fini(&o->home_acl);
    obj_fini(&o->obj);
    free(o);
    if (--rs->n_ops == 0 && rs->released)
        free(rs);
}

void operation_finish_store(struct operation *o, int err, const struct store_result *r)
{
    o->result.why = r->why;
    if (err && o->result.why.code == 0)
        err_set(&o->result.why, err, o->path, "%s", err_text(err));
    operation_finish(o, err);
}

void operation_refuse(struct operation *o, int err, const char *text)
{
    err_set(&o->result.why, err, o->path, "%s", text);
    operation_finish(o, err);
}

static void finish_posted(void *arg)
{
    struct operation *o = obj_cast(arg, struct operation, OPERATION_MAGIC);

    operation_finish(o, o->err);
}

void operation_finish_later(struct operation *o, int err)
{
    o->err = err;
    run_post(o->rs->loop, finish_posted, o);
}

/* ---- reads ---- */

static void take_stat(struct operation *o, const struct store_result *r)
{
    o->result.stat = r->stat;
    o->result.data = r->data;
    o->result.data_len = r->data_len;
}

static void on_resolved(void *arg, int err, const struct store_result *r)
{
    struct operation *o = obj_cast(arg, struct operation, OPERATION_MAGIC);
    struct reg_record *record = NULL;

    if (err) {
        operation_finish_store(o, err, r);
        return;
    }
    take_stat(o, r);
    err = reg_record_read(r->data, r->data_len, REG_STRICT, &record, &o->result.why);
    o->result.record = record;
    operation_finish(o, err);
    reg_record_free(record);
}

void reg_store_resolve(struct reg_store *rs, const char *path, REG_STORE_DONE, void *arg)
{
    struct operation *o = operation_new(rs, path, done, arg);

    if (o->err)
        operation_finish_later(o, o->err);
    else
        store_get(rs->store, o->path, on_resolved, o);
}

static void on_read_children(void *arg, int err, const struct store_result *r)
{
    struct operation *o = obj_cast(arg, struct operation, OPERATION_MAGIC);

    if (err) {
        operation_finish_store(o, err, r);
        return;
    }
    o->result.children = r->children;
    o->result.n_children = r->n_children;
    o->result.data = o->read_bytes;
    operation_finish(o, 0);
}

static void on_read_data(void *arg, int err, const struct store_result *r)
{
    struct operation *o = obj_cast(arg, struct operation, OPERATION_MAGIC);

    if (err) {
        operation_finish_store(o, err, r);
        return;
    }
    take_stat(o, r);
    if (r->stat.n_children == 0) {
        operation_finish(o, 0);
        return;
    }
    o->read_bytes = mem_strn(r->data ? r->data : "", r->data_len);
    store_children(o->rs->store, o->path, on_read_children, o);
}

static void on_read_synced(void *arg, int err, const struct store_result *r)
{
    struct operation *o = obj_cast(arg, struct operation, OPERATION_MAGIC);

    if (err)
        operation_finish_store(o, err, r);
    else
        store_get(o->rs->store, o->path, on_read_data, o);
}

void reg_store_read(struct reg_store *rs, const char *path, REG_STORE_DONE, void *arg)
{
    struct operation *o = operation_new(rs, path, done, arg);

    if (o->err)
        operation_finish_later(o, o->err);
    else
        store_sync(rs->store, on_read_synced, o);
}

static void on_stat(void *arg, int err, const struct store_result *r)
{
    struct operation *o = obj_cast(arg, struct operation, OPERATION_MAGIC);

    o->result.stat = r->stat;
    o->result.children = r->children;
    o->result.n_children = r->n_children;
    operation_finish_store(o, err, r);
}

void reg_store_stat(struct reg_store *rs, const char *path, REG_STORE_DONE, void *arg)
{
    struct operation *o = operation_new(rs, path, done, arg);

    if (o->err)
        operation_finish_later(o, o->err);
    else
        store_stat(rs->store, o->path, on_stat, o);
}

void reg_store_list(struct reg_store *rs, const char *path, REG_STORE_DONE, void *arg)
{
    struct operation *o = operation_new(rs, path, done, arg);

    if (o->err)
        operation_finish_later(o, o->err);
    else
        store_children(rs->store, o->path, on_stat, o);
}

static void on_exists(void *arg, int err, const struct store_result *r)
{
    struct operation *o = obj_cast(arg, struct operation, OPERATION_MAGIC);

    o->result.stat = r->stat;
    o->result.changed = err == 0;
    if (err == 0 || err == ERR_NOTFOUND)
        operation_finish(o, 0);
    else
        operation_finish_store(o, err, r);
}

void reg_store_exists(struct reg_store *rs, const char *path, REG_STORE_DONE, void *arg)
{
    struct operation *o = operation_new(rs, path, done, arg);

    if (o->err)
        operation_finish_later(o, o->err);
    else
        store_stat(rs->store, o->path, on_exists, o);
}

/* ---- mknode ---- */

static void finish_written(struct operation *o, bool made, const struct store_result *r)
{
    o->result.changed = made;
    o->result.stat = r->stat;
    o->result.zxid = r->zxid;
    operation_finish(o, 0);
}

static void finish_create_failed(struct operation *o, int err, const struct store_result *r)
{
    if (err != ERR_PATH || o->bad_element.code == 0) {
        operation_finish_store(o, err, r);
        return;
    }
    o->result.why = o->bad_element;
    operation_finish(o, err);
}

static void on_mknode_created(struct operation *o, int err, const struct store_result *r)
{
    if (err == ERR_EXISTS)
        operation_finish(o, 0);
    else if (err)
        finish_create_failed(o, err, r);
    else
        finish_written(o, true, r);
}

/** The nodes it makes get these entries too, unless all nodes are open. */
static void add_entries(struct operation *o, const struct store_acl *more)
{
    if (!o->rs->acl || !more || !more->n_entries)
        return;
    acl_add_all(&o->acl, o->rs->acl);
    acl_add_all(&o->acl, more);
}

void operation_add_home_user(const struct operation *o, const char *user, struct acl_list *acl)
{
    mem_auto char *id = acl_principal(user, o->rs->realm);

    acl_add(acl, STORE_READ | STORE_WRITE | STORE_CREATE | STORE_DELETE, "sasl", id);
}

static void mknode_begin(struct operation *o, bool create_parents)
{
    o->flags = create_parents ? REG_CREATE_PARENTS : 0;
    o->bytes = LOCAL_ADDRESS;
    o->len = strlen(LOCAL_ADDRESS);
    if (o->err)
        operation_finish_later(o, o->err);
    else
        operation_create(o, on_mknode_created);
}

void reg_store_make_home(struct reg_store *rs, const char *path, const char *user, REG_STORE_DONE, void *arg)
{
    struct operation *o = operation_new(rs, path, done, arg);
    acl_auto struct acl_list more = {{NULL, 0}};

    operation_add_home_user(o, user, &more);
    add_entries(o, &more.acl);
    o->names_user = true;
    mknode_begin(o, false);
}

void reg_store_mknode(struct reg_store *rs, const char *path, bool create_parents, REG_STORE_DONE, void *arg)
{
    reg_store_mknode_for(rs, path, create_parents, NULL, done, arg);
}

void reg_store_mknode_for(struct reg_store *rs, const char *path, bool create_parents,
                          const struct store_acl *more, REG_STORE_DONE, void *arg)
{
    struct operation *o = operation_new(rs, path, done, arg);

    add_entries(o, more);
    mknode_begin(o, create_parents);
}

/* ---- bind ---- */

static void bind_set(struct operation *o);

static void on_bind_created(struct operation *o, int err, const struct store_result *r)
{
    /* Who may not make it may still be let to overwrite it, if it is there against all appearance. */
    bool may_be_there = err == ERR_EXISTS || (err == ERR_PERMISSION && o->n_rounds == 0);

    if (err == ERR_EXISTS && o->cond.kind == REG_IF_ABSENT)
        operation_refuse(o, ERR_CONFLICT, "there is a node already");
    else if (may_be_there && (o->flags & REG_OVERWRITE) && o->cond.kind == REG_IF_NONE &&
             o->n_rounds < ROUNDS_MAX)
        bind_set(o);
    else if (err)
        finish_create_failed(o, err, r);
    else
        finish_written(o, true, r);
}

static void on_bind_set(void *arg, int err, const struct store_result *r)
{
    struct operation *o = obj_cast(arg, struct operation, OPERATION_MAGIC);

    if (err == 0)
        finish_written(o, false, r);
    else if (err == ERR_NOTFOUND && o->cond.kind != REG_IF_NONE)
        operation_refuse(o, ERR_CONFLICT, "there is no such node");
    else if (err == ERR_NOTFOUND)
        operation_create(o, on_bind_created);
    else
        operation_finish_store(o, err, r);
}

static void bind_set(struct operation *o)
{
    o->n_rounds++;
    if (o->cond.kind == REG_IF_MZXID)
        store_set_if(o->rs->store, o->path, o->bytes, o->len, o->cond.mzxid, on_bind_set, o);
    else
        operation_write(o, STORE_OP_SET, NULL, on_bind_set, o);
}

void reg_store_bind(struct reg_store *rs, const char *path, const struct reg_store_binding *binding,
                    REG_STORE_DONE, void *arg)
{
    struct operation *o = operation_new(rs, path, done, arg);
    bool may_set = binding->cond.kind == REG_IF_NONE && binding->flags & REG_OVERWRITE && binding->seen;

    add_entries(o, binding->more);
    o->flags = binding->flags;
    o->cond = binding->cond;
    o->seen = binding->seen ? (struct store_seen){binding->seen->czxid, binding->seen->version}
                            : (struct store_seen){.czxid = -1};
    o->bytes = binding->record->bytes;
    o->len = binding->record->len;
    o->lease = binding->lease;
    if (!o->err && o->lease && o->cond.kind == REG_IF_MZXID)
        o->err = err_set(&o->result.why, ERR_INVALID, o->path, "a lease with a condition on the data");
    if (o->err)
        operation_finish_later(o, o->err);
    else if (o->cond.kind == REG_IF_MZXID || o->cond.kind == REG_IF_EXISTS || may_set)
        bind_set(o);
    else
        operation_create(o, on_bind_created);
}

/* ---- delete ---- */

void reg_store_delete(struct reg_store *rs, const char *path, bool recursive,
                      const struct reg_store_cond *cond, REG_STORE_DONE, void *arg)
{
    struct operation *o = operation_new(rs, path, done, arg);

    o->recursive = recursive;
    o->cond = cond ? *cond : (struct reg_store_cond){REG_IF_NONE, 0};
    if (!o->err && o->cond.kind == REG_IF_ABSENT)
        o->err = err_set(&o->result.why, ERR_INVALID, o->path, "what is absent cannot be deleted");
    if (o->err)
        operation_finish_later(o, o->err);
    else
        operation_delete(o);
}

/* ---- set-up ---- */

static const char *const standard_paths[] = {"/", "/users", "/services"};

static void setup_next(struct operation *o);

static void setup_done(struct operation *o)
{
    if ((size_t)++o->n_rounds == ARRAY_LEN(standard_paths))
        operation_finish(o, 0);
    else
        setup_next(o);
}

/* Who may not make it may find it made. */
static void on_setup_checked(void *arg, int err, const struct store_result *r)
{
    struct operation *o = obj_cast(arg, struct operation, OPERATION_MAGIC);

    mem_auto char *text =
        mem_fmt("it is missing, and the store does not let us make it: %s", o->result.why.text);

    if (err == ERR_NOTFOUND)
        operation_refuse(o, ERR_PERMISSION, text);
    else if (err)
        operation_finish_store(o, err, r);
    if (err)
        return;
    o->result.why = (struct err_info){0};
    setup_done(o);
}

static void on_setup_created(struct operation *o, int err, const struct store_result *r)
{
    if (err == ERR_PERMISSION) {
        o->result.why = r->why; /* why it may not */
        store_stat(o->rs->store, o->path, on_setup_checked, o);
        return;
    }
    if (err && err != ERR_EXISTS) {
        operation_finish_store(o, err, r);
        return;
    }
    o->result.changed = o->result.changed || err == 0;
    if (!err)
        o->result.zxid = r->zxid;
    setup_done(o);
}

static void setup_next(struct operation *o)
{
    free(o->path);
    o->path = mem_str(standard_paths[o->n_rounds]);
    operation_create(o, on_setup_created);
}

void reg_store_setup(struct reg_store *rs, REG_STORE_DONE, void *arg)
{
    struct operation *o = operation_new(rs, "/", done, arg);

    o->bytes = LOCAL_ADDRESS;
    o->len = strlen(LOCAL_ADDRESS);
    setup_next(o);
}
