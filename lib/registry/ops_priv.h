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

#define OPERATION_MAGIC OBJ_MAGIC('R', 'S', 'O', 'P')

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

struct operation {
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
    struct acl_list acl;      /* of the node itself, when it is another than that of all */
    bool names_user;          /* a home: acl has its user, who need not be called as the home is */
    struct acl_list home_acl; /* of the level that is being made, when it is a home */
    struct reg_store_cond cond;
    struct store_seen seen;              /* bind: the node as readers see it */
    const struct reg_store_lease *lease; /* bind: made with the node; NULL: none */
    int n_rounds;                        /* set and create chasing each other */

    /* create: levels 0 ("/") to n_elements (path itself) */
    size_t n_elements, level, n_tries;
    void (*created)(struct operation *o, int err, const struct store_result *r);
    struct err_info bad_element;

    /* delete */
    bool recursive;
    struct removal_list waiting, all;
    size_t n_flying;
    int failed;
    struct err_info failed_why;
};

/** A new operation; path normalised, o->err set when it is not a path. */
struct operation *operation_new(struct reg_store *rs, const char *path, REG_STORE_DONE, void *arg);
/** Report o->result (why filled when err) and free. */
void operation_finish(struct operation *o, int err);
/** As operation_finish with the store's own error. */
void operation_finish_store(struct operation *o, int err, const struct store_result *r);
/** As operation_finish with a sentence about the path. */
void operation_refuse(struct operation *o, int err, const char *text);
/** Finish from the loop, later. */
void operation_finish_later(struct operation *o, int err);

/** Write o->bytes to o->path, which is made (with acl) or set; with o->lease in the same transaction. `done` gets the node's stat and the
 *  change's number, as of store_create and store_set. */
void operation_write(struct operation *o, enum store_op_kind kind, const struct store_acl *acl, STORE_DONE,
                     void *arg);

/** Append what a home lets its user do: everything but setting ACLs. @param user  principal, with or without realm [borrowed] */
void operation_add_home_user(const struct operation *o, const char *user, struct acl_list *acl);
/** Make o->path with o->bytes (and, with REG_CREATE_PARENTS, its parents), then call o->created: 0, ERR_EXISTS,
 *  ERR_NOTFOUND (parent), ERR_PATH (o->bad_element says why) or an error of the store. */
void operation_create(struct operation *o,
                      void (*created)(struct operation *o, int err, const struct store_result *r));
/** Begin a delete: o->recursive and o->cond are set. */
void operation_delete(struct operation *o);

#endif
