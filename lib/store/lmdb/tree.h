/**
 * The tree inside an LMDB file: looking up, reading and changing it inside a transaction. No thread, no loop.
 *
 *     meta       "format" "store_id" "zxid" "next_id"
 *     children   (parent id, big-endian; name)  ->  id
 *     nodes      id                             ->  stat, ACL, data (node.h)
 *
 * The root is id 1 and may be missing. An operation checks everything before it changes anything: one that is refused
 * leaves the transaction as it was. ERR_IO and ERR_NOSPC from LMDB itself may leave it half-changed: then it can only be
 * aborted (lmdb_txn.is_broken). Every change gets the next revision number, kept in the same transaction.
 * Thread: one transaction, one thread at a time.   Source: design of the store; ZooKeeper's data model.
 */
#ifndef STORE_LMDB_TREE_H
#define STORE_LMDB_TREE_H

#include <lmdb.h>
#include <sys/queue.h>

#include "store/lmdb/node.h"
#include "store/store.h"

#define LMDB_STORE_ID_LEN 16
/** Smallest map in bytes: a smaller one has no room for the pages that are reserved for deletes. */
#define LMDB_MAP_MIN (1 << 20)

struct lmdb_tree {
    MDB_env *env;
    MDB_dbi meta, children, nodes;
    size_t page_size, n_pages_max;
    char store_id[LMDB_STORE_ID_LEN + 1];
};

enum lmdb_change_kind { LMDB_NODE, LMDB_STAT, LMDB_GONE };

/** One change, for the follower. */
struct lmdb_change {
    STAILQ_ENTRY(lmdb_change) link;
    enum lmdb_change_kind kind;
    char *path;
    struct store_stat stat; /* not for LMDB_GONE */
    char *bytes;            /* LMDB_NODE: stat.data_len bytes */
};
STAILQ_HEAD(lmdb_change_list, lmdb_change);

/** A write transaction. */
struct lmdb_txn {
    const struct lmdb_tree *tree;
    MDB_txn *txn;
    int64_t zxid; /* of the last change */
    uint64_t next_id;
    int64_t now_ms;                   /* time that changes get */
    size_t n_pages_room;              /* pages that creates and sets may still take */
    bool is_changed;                  /* there is something to commit */
    bool is_broken;                   /* LMDB failed: nothing but lmdb_txn_abort any more */
    int lmdb_rc;                      /* why */
    struct lmdb_change_list *changes; /* receives the changes; NULL: nobody follows */
    struct buf *scratch;
};

/** Result of an operation. */
struct lmdb_effect {
    struct store_stat stat; /* create, set, set_acl */
    int64_t zxid;
};

/** Open the tables of an open environment, making them and a new store id in a new file.
 *  @return 0; or ERR_IO, ERR_NOSPC with *why filled. */
int lmdb_tree_open(struct lmdb_tree *tree, MDB_env *env, struct err_info *why);

/** Begin a write transaction; scratch is used until its end. @return 0; or ERR_IO, ERR_NOSPC: nothing begun. */
int lmdb_txn_begin(struct lmdb_txn *t, const struct lmdb_tree *tree, struct buf *scratch);
/** Commit; durable when it returns 0 (without MDB_NOSYNC). Else aborted: ERR_IO, ERR_NOSPC. */
int lmdb_txn_commit(struct lmdb_txn *t);
void lmdb_txn_abort(struct lmdb_txn *t);
/** One of create, set, delete, check. @return 0; or ERR_NOTFOUND, ERR_EXISTS, ERR_NOTEMPTY, ERR_CONFLICT, ERR_NOSPC, ERR_IO. */
int lmdb_txn_apply(struct lmdb_txn *t, const struct store_op *op, struct lmdb_effect *effect);
/** All ops or none. @return 0; or the error of ops[*failed_op]. */
int lmdb_txn_multi(struct lmdb_txn *t, const struct store_op *ops, size_t n_ops, struct lmdb_effect *effect,
                   size_t *failed_op);
int lmdb_txn_set_acl(struct lmdb_txn *t, const char *path, const struct store_acl *acl,
                     struct lmdb_effect *effect);

/** Id of a node in any transaction. @return 0; or ERR_NOTFOUND, ERR_IO. */
int lmdb_tree_find(const struct lmdb_tree *tree, MDB_txn *txn, const char *path, uint64_t *id);
/** Node of an id; borrows the file's pages until the transaction's next change or end. @return 0; or ERR_NOTFOUND, ERR_IO. */
int lmdb_tree_node(const struct lmdb_tree *tree, MDB_txn *txn, uint64_t id, struct lmdb_node *n);
/** Revision number of the last change. @return 0; or ERR_IO. */
int lmdb_tree_zxid(const struct lmdb_tree *tree, MDB_txn *txn, int64_t *zxid);
/**
 * First child whose name is greater than `after`, by a cursor of tree->children.
 *
 * @param after  name; "" for the first child                                    [borrowed]
 * @param name   its name, not NUL-terminated, borrowed as with lmdb_tree_node    [out]
 * @param id     its id                                                          [out]
 * @return 0; or ERR_NOTFOUND: no more, ERR_IO.
 */
int lmdb_tree_child_after(MDB_cursor *cursor, uint64_t parent, const char *after, MDB_val *name,
                          uint64_t *id);

/** Free all changes of a list. */
void lmdb_changes_free(struct lmdb_change_list *changes);

#endif
