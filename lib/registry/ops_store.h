/**
 * The registry operations over a store, for use inside registryd: exactly the results and errors of Hadoop's
 * RegistryOperations on ZooKeeper, plus conditions. Nothing here is transactional beyond a single node.
 *
 * Thread: owner.   Source: Hadoop RegistryOperationsService, CuratorService; design §3.
 */
#ifndef REGISTRY_OPS_STORE_H
#define REGISTRY_OPS_STORE_H

#include "bobbin/path.h"
#include "bobbin/record.h"
#include "store/store.h"

struct reg_store;

/** Operations over s. `names`: what a write may create. Free with reg_store_free. */
struct reg_store *reg_store_new(struct store *s, enum reg_names names);
/** After store_close of its store: no operation runs any more. */
void reg_store_free(struct reg_store *r);

/** What a completion gets. Borrowed, valid inside the completion. */
struct reg_store_result {
    bool changed;           /* bind: the node was made; mknode: made; delete: something was deleted */
    struct store_stat stat; /* bind: of the node after the write */
    int64_t zxid;           /* revision number of the change; 0 when nothing changed */
    struct err_info why;    /* when err != 0 */
};

#define REG_STORE_DONE void (*done)(void *arg, int err, const struct reg_store_result *r)

/** Conditions of a write; all zero: none. */
struct reg_store_if {
    int64_t mzxid;       /* not 0: the node's data must be of this revision number, else ERR_CONFLICT */
    bool must_not_exist; /* else ERR_CONFLICT */
    bool must_exist;     /* delete: ERR_NOTFOUND instead of success; bind: ERR_CONFLICT */
};

/** Make a node without record (its data: this host's address as text, as Hadoop's client leaves it). */
void reg_store_mknode(struct reg_store *r, const char *path, bool create_parents, REG_STORE_DONE, void *arg);
/**
 * Bind checked, canonical record bytes. flags: enum reg_bind_flags (registry.h): 1 overwrite, 2 create parents. A condition
 * stands above the overwrite flag: with mzxid or must_exist an existing node is replaced, with must_not_exist it is not.
 */
void reg_store_bind(struct reg_store *r, const char *path, const void *bytes, size_t len, unsigned flags,
                    const struct reg_store_if *cond, REG_STORE_DONE, void *arg);
void reg_store_delete(struct reg_store *r, const char *path, bool recursive, const struct reg_store_if *cond,
                      REG_STORE_DONE, void *arg);
/** Make the registry root, /users and /services where they are missing; existing ones are left alone. */
void reg_store_setup(struct reg_store *r, REG_STORE_DONE, void *arg);

#endif
