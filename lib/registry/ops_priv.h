/**
 * One running operation over the store, shared by ops_store.c, ops_create.c and ops_delete.c.
 * Thread: owner.   Source: ours.
 */
#ifndef REGISTRY_OPS_PRIV_H
#define REGISTRY_OPS_PRIV_H

#include <sys/queue.h>

#include "base/obj.h"
#include "registry/acl.h"
#include "registry/ops_store.h"

#define OP_MAGIC OBJ_MAGIC('R', 'S', 'O', 'P')

struct reg_store {
    struct run_loop *loop;
    struct store *store;
    enum reg_names names;
    const struct store_acl *acl;
    const char *realm;
    size_t n_ops;  /* running */
    bool released; /* the last operation frees */
};

struct removal;
TAILQ_HEAD(removal_list, removal);

struct op {
    struct obj obj;
    struct reg_store *rs;
    char *path; /* normalised */
    REG_STORE_DONE;
    void *arg;
    int err; /* decided before the store was asked */
    struct reg_store_result result;
    char *read_bytes; /* read: the data, while the children are asked for */

    /* writing */
    const char *bytes; /* what the node gets: static, or the binding's record */
    size_t len;
    unsigned flags;
    struct acl_list acl; /* of the node itself, when it is another than that of all */
    struct reg_store_cond cond;
    int n_rounds; /* set and create chasing each other */

    /* create: levels 0 ("/") to n_elements (path itself) */
    size_t n_elements, level, n_tries;
    void (*created)(struct op *op, int err, const struct store_result *r);
    struct err_info bad_element;

    /* delete */
    bool recursive;
    struct removal_list waiting, all;
    size_t n_flying;
    int failed;
    struct err_info failed_why;
};

/** A new operation; path normalised, op->err set when it is not a path. */
struct op *op_new(struct reg_store *rs, const char *path, REG_STORE_DONE, void *arg);
/** Report op->result (why filled when err) and free. */
void op_finish(struct op *op, int err);
/** As op_finish with the store's own error. */
void op_finish_store(struct op *op, int err, const struct store_result *r);
/** As op_finish with a sentence about the path. */
void op_refuse(struct op *op, int err, const char *text);
/** Finish from the loop, later. */
void op_finish_later(struct op *op, int err);

/** Make op->path with op->bytes (and, with REG_CREATE_PARENTS, its parents), then call op->created: 0, ERR_EXISTS,
 *  ERR_NOTFOUND (parent), ERR_PATH (op->bad_element says why) or an error of the store. */
void op_create(struct op *op, void (*created)(struct op *op, int err, const struct store_result *r));
/** Begin a delete: op->recursive and op->cond are set. */
void op_delete(struct op *op);

#endif
