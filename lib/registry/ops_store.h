/**
 * The operations of registry.h over a store, for use inside registryd: the same names, the same errors, with conditions
 * and revision numbers.
 *
 *     bind, no condition:  create ──EXISTS──► ERR_EXISTS                       (REG_CREATE)
 *                          set ──NOTFOUND──► create ──EXISTS──► set …          (REG_OVERWRITE; from create on: it seems missing)
 *     create:              node ──NOTFOUND──► parent, its parent …, down again (REG_CREATE_PARENTS)
 *     delete, recursive:   delete ──NOTEMPTY──► children, each the same way ──► delete
 *
 * Names: with REG_NAMES_DNS an element that a write would make must pass reg_path_check_element; an element that exists
 * is taken as it is. Nothing is made before every missing element has been checked.
 *
 * A write whose answer was lost (store.h) is ERR_UNKNOWN_OUTCOME, which is one of the "errors of the store": the caller
 * looks, and asks again with a condition. Only where it makes no difference who did it does the operation go on: making
 * parents, deleting what is below a node.
 *
 * Paths are normalised as Hadoop does ("x", "/x" and "/x/" are one node). A completion runs later on the loop, exactly
 * once. Thread: the loop's.   Source: Hadoop RegistryOperationsService, CuratorService.
 */
#ifndef REGISTRY_OPS_STORE_H
#define REGISTRY_OPS_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bobbin/path.h"
#include "bobbin/record.h"
#include "bobbin/registry.h"
#include "registry/checked.h"
#include "run/loop.h"
#include "store/store.h"

struct reg_store;

/** What a completion gets; members the operation does not fill are zero. Borrowed, valid inside the completion. */
struct reg_store_result {
    bool changed;                    /* mknode, bind: made; exists: there; delete: something was deleted */
    const struct reg_record *record; /* resolve */
    struct store_stat stat; /* resolve, read, stat, exists, list, and of what bind and mknode wrote */
    const char *data;       /* read, resolve; NUL-terminated beyond data_len */
    size_t data_len;
    const char *const *children; /* read, list: bare names in byte order */
    size_t n_children;
    int64_t zxid; /* of a write: revision number of the change; 0 when nothing changed */
    /* bind with a lease: czxid of its node, which is the mzxid of the record; 0: it could not be read */
    int64_t lease_zxid;
    struct err_info why;
};

#define REG_STORE_DONE void (*done)(void *arg, int err, const struct reg_store_result *r)

enum reg_store_if {
    REG_IF_NONE,
    REG_IF_MZXID,  /* the node exists and its data are those of this mzxid */
    REG_IF_EXISTS, /* the node exists */
    REG_IF_ABSENT  /* the node does not exist; bind only */
};

/** A condition stands above REG_OVERWRITE; ERR_CONFLICT when it does not hold, also when it is lost meanwhile. */
struct reg_store_cond {
    enum reg_store_if kind;
    int64_t mzxid;
};

/**
 * Operations over a store.
 *
 * @param loop   where completions run                                              [borrowed]
 * @param s      an open store                                                      [borrowed]
 * @param names  which names a write may make
 * @param acl    ACL of every node made, parents too; NULL: open to the world       [borrowed]
 * @return new; free with reg_store_free.   Thread: owner.   Source: ours.
 */
struct reg_store *reg_store_new(struct run_loop *loop, struct store *s, enum reg_names names,
                                const struct store_acl *acl);
/** Realm of users' ids in ACLs. @param realm NULL or "": none [borrowed, lives on] Thread: owner. Source: ours. */
void reg_store_set_realm(struct reg_store *rs, const char *realm);
/** Let go; what still runs completes (ERR_CANCELLED when the store was closed) and then frees it. NULL is fine. */
void reg_store_free(struct reg_store *rs);

/**
 * Make root, /users and /services where they are missing; what exists is left as it is.
 * Completion: 0; ERR_NOTFOUND: the parent of the store's root is missing; errors of the store.
 * Thread: owner.   Source: Hadoop RegistryAdminService.
 */
void reg_store_setup(struct reg_store *rs, REG_STORE_DONE, void *arg);

/**
 * Make a node without record; its data are the local address, as Hadoop's client leaves them.
 *
 * @param path            registry path                                             [borrowed]
 * @param create_parents  make missing ancestors, with no data
 * Completion: 0 (changed: made; else it exists, untouched); ERR_PATH; ERR_NOTFOUND (parent); ERR_EPHEMERAL;
 * ERR_PERMISSION; errors of the store.   Thread: owner.   Source: Hadoop RegistryOperations.mknode.
 */
void reg_store_mknode(struct reg_store *rs, const char *path, bool create_parents, REG_STORE_DONE, void *arg);

/**
 * As reg_store_mknode, with more entries in the ACL of the node, not of parents; none are added where all nodes are open.
 *
 * @param more  behind those of all nodes; NULL: none                               [borrowed during the call]
 */
void reg_store_mknode_for(struct reg_store *rs, const char *path, bool create_parents,
                          const struct store_acl *more, REG_STORE_DONE, void *arg);
/**
 * Make a user's home: as reg_store_mknode without parents; the user may read, write, create and delete there.
 * Completion: as reg_store_mknode.   Thread: owner.   Source: Hadoop RegistryAdminService.initUserRegistry.
 */
void reg_store_make_home(struct reg_store *rs, const char *path, const char *user, REG_STORE_DONE, void *arg);

/** A node of STORE_ASIDE that is made in the transaction that writes a record: "/\002/xx/name". */
struct reg_store_lease {
    const char *path, *bucket; /* of the node, and of the one above it, which is made where it is missing */
    const char *bytes;
    size_t len;
};

struct reg_store_binding {
    const struct reg_checked *record; /* its bytes are what is written [borrowed until the completion] */
    unsigned flags;                   /* enum reg_bind_flags; others are ignored */
    struct reg_store_cond cond;
    const struct store_acl *more; /* as for reg_store_mknode_for; NULL: none [borrowed] during the call */
    /* the node as readers see it, for store_set_over; NULL: it seems to be missing, and is made rather than set [borrowed during the call] */
    const struct store_stat *seen;
    /* not with REG_IF_MZXID; NULL: none [borrowed until the completion] */
    const struct reg_store_lease *lease;
};
/**
 * Write a record in its canonical form.
 *
 * Completion: 0 (changed: the node was made); ERR_PATH; ERR_EXISTS; ERR_NOTFOUND (parent); ERR_CONFLICT (condition);
 * ERR_TOOBIG; ERR_EPHEMERAL; ERR_PERMISSION; errors of the store; with a lease also ERR_INVALID (REG_IF_MZXID),
 * ERR_UNSUPPORTED (the store does not let us make the lease: nothing was written).
 * Thread: owner.   Source: Hadoop RegistryOperations.bind; conditions and leases are ours.
 */
void reg_store_bind(struct reg_store *rs, const char *path, const struct reg_store_binding *binding,
                    REG_STORE_DONE, void *arg);

/** Data as a record, read strictly. Completion: 0, ERR_NOTFOUND, ERR_NORECORD, ERR_RECORD (data and stat are filled
 *  in the last two as well), ERR_PATH. Thread: owner. Source: Hadoop RegistryOperations.resolve. */
void reg_store_resolve(struct reg_store *rs, const char *path, REG_STORE_DONE, void *arg);
/** Data, stat and children, whatever the data are; at least as new as every answer before (store_sync).
 *  Completion: 0, ERR_NOTFOUND, ERR_PATH. Thread: owner. Source: ours. */
void reg_store_read(struct reg_store *rs, const char *path, REG_STORE_DONE, void *arg);
/** Completion: 0, ERR_NOTFOUND, ERR_PATH. Thread: owner. Source: Hadoop RegistryOperations.stat. */
void reg_store_stat(struct reg_store *rs, const char *path, REG_STORE_DONE, void *arg);
/** Completion: 0 (changed: it is there), ERR_PATH. Thread: owner. Source: Hadoop RegistryOperations.exists. */
void reg_store_exists(struct reg_store *rs, const char *path, REG_STORE_DONE, void *arg);
/** Completion: 0, ERR_NOTFOUND, ERR_PATH. Thread: owner. Source: Hadoop RegistryOperations.list. */
void reg_store_list(struct reg_store *rs, const char *path, REG_STORE_DONE, void *arg);

/**
 * Delete a node. A missing one is success with changed = false.
 *
 * Recursive: children first, 64 calls at a time, nodes that vanish meanwhile are fine, children that appear meanwhile
 * are deleted too. It is no transaction: after an error part of what is below is gone. A condition is about the node
 * itself: checked before anything is deleted and once more when it is deleted.
 *
 * Completion: 0; ERR_NOTEMPTY (children, not recursive; or they keep appearing); ERR_CONFLICT (condition);
 * ERR_LIMIT (deeper than 512 levels); ERR_INVALID (REG_IF_ABSENT); ERR_PATH; ERR_PERMISSION; errors of the store.
 * Thread: owner.   Source: Hadoop RegistryOperations.delete.
 */
void reg_store_delete(struct reg_store *rs, const char *path, bool recursive,
                      const struct reg_store_cond *cond, REG_STORE_DONE, void *arg);

#endif
