/**
 * Writing a node and the node of its lease in one transaction. See ops_priv.h.
 *
 *     multi: write node, make lease ──NOTFOUND of the lease──► make STORE_ASIDE, bucket ──► multi, once more
 *        └──done──► stat of the lease (its czxid is the mzxid of the write), stat of the node ──► completion
 *
 * A multi gives no stats. The lease has a name of its own, so its stat is that of this write; the node may have been written
 * by others since.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "registry/ops_priv.h"

#define LEASED_MAGIC OBJ_MAGIC('L', 'S', 'D', 'W')

/** Index of the lease in the multi. */
enum { OF_NODE, OF_LEASE, N_OPS };

struct leased {
    struct obj obj;
    struct operation *o;
    enum store_op_kind kind;
    const struct store_acl *acl;
    bool has_bucket; /* it was made, or found */
    int64_t zxid;    /* of the lease's making */
    STORE_DONE;
    void *arg;
};

static void leased_finish(struct leased *w, int err, const struct store_result *r)
{
    w->done(w->arg, err, r);
    obj_fini(&w->obj);
    free(w);
}

static void leased_try(struct leased *w);

/* ---- after the write ---- */

static void on_node_stat(void *arg, int err, const struct store_result *r)
{
    struct leased *w = obj_cast(arg, struct leased, LEASED_MAGIC);
    struct store_result made = {.zxid = w->zxid, .stat = {.mzxid = w->zxid, .data_len = (uint32_t)w->o->len}};

    if (!err && r->stat.mzxid == w->zxid)
        made.stat = r->stat;
    leased_finish(w, 0, &made);
}

static void on_lease_stat(void *arg, int err, const struct store_result *r)
{
    struct leased *w = obj_cast(arg, struct leased, LEASED_MAGIC);

    if (!err)
        w->zxid = w->o->result.lease_zxid = r->stat.czxid;
    store_stat(w->o->rs->store, w->o->path, on_node_stat, w);
}

/* ---- the place of the lease ---- */

/** The store does not let us keep the lease: the record was not written either. */
static void refuse_lease(struct leased *w, int err, const struct err_info *why)
{
    struct store_result r = {0};
    int code = err == ERR_PERMISSION                      ? ERR_UNSUPPORTED
               : err == ERR_NOTFOUND || err == ERR_EXISTS ? ERR_UNAVAILABLE
                                                          : err;

    err_set(&r.why, code, w->o->path, "the store takes no lease from registryd, so nothing was written: %s",
            why->text);
    leased_finish(w, code, &r);
}

static void on_bucket_made(void *arg, int err, const struct store_result *r)
{
    struct leased *w = obj_cast(arg, struct leased, LEASED_MAGIC);

    w->has_bucket = true;
    if (err && err != ERR_EXISTS && err != ERR_UNKNOWN_OUTCOME)
        refuse_lease(w, err, &r->why);
    else
        leased_try(w);
}

static void on_aside_made(void *arg, int err, const struct store_result *r)
{
    struct leased *w = obj_cast(arg, struct leased, LEASED_MAGIC);
    const struct reg_store *rs = w->o->rs;

    if (err && err != ERR_EXISTS && err != ERR_UNKNOWN_OUTCOME)
        refuse_lease(w, err, &r->why);
    else
        store_create(rs->store, w->o->lease->bucket, "", 0, rs->acl, on_bucket_made, w);
}

/* ---- the write ---- */

static void on_leased(void *arg, int err, const struct store_result *r)
{
    struct leased *w = obj_cast(arg, struct leased, LEASED_MAGIC);
    struct operation *o = w->o;
    bool is_of_lease = r->failed_op == OF_LEASE;

    if (err == ERR_NOTFOUND && is_of_lease && !w->has_bucket) {
        store_create(o->rs->store, STORE_ASIDE, "", 0, o->rs->acl, on_aside_made, w);
    } else if (err && is_of_lease) {
        refuse_lease(w, err, &r->why);
    } else if (err) {
        leased_finish(w, err, r);
    } else {
        w->zxid = r->zxid;
        store_stat(o->rs->store, o->lease->path, on_lease_stat, w);
    }
}

static void leased_try(struct leased *w)
{
    const struct operation *o = w->o;
    const struct reg_store_lease *lease = o->lease;
    const struct store_op ops[N_OPS] = {
        [OF_NODE] = {w->kind, o->path, o->bytes, o->len, -1, w->acl, 0, NULL},
        [OF_LEASE] = {STORE_OP_CREATE, lease->path, lease->bytes, lease->len, -1, o->rs->acl, 0, NULL}};

    store_multi(o->rs->store, ops, N_OPS, on_leased, w);
}

void operation_write(struct operation *o, enum store_op_kind kind, const struct store_acl *acl, STORE_DONE,
                     void *arg)
{
    struct store *s = o->rs->store;

    if (o->lease) {
        struct leased *w = mem_new(struct leased);
        obj_init(&w->obj, LEASED_MAGIC);
        w->o = o;
        w->kind = kind;
        w->acl = acl;
        w->done = done;
        w->arg = arg;
        leased_try(w);
    } else if (kind == STORE_OP_CREATE) {
        store_create(s, o->path, o->bytes, o->len, acl, done, arg);
    } else {
        store_set_over(s, o->path, o->bytes, o->len, &o->seen, done, arg);
    }
}
