/**
 * What tree.c (reading) and change.c (writing) share below tree.h.
 * Thread: one transaction, one thread at a time.   Source: ours.
 */
#ifndef STORE_LMDB_META_H
#define STORE_LMDB_META_H

#include "store/lmdb/tree.h"

#define LMDB_ROOT_ID 1
/** Id of the root of STORE_ASIDE; ids of other nodes count up from the first root and never reach it. */
#define LMDB_ASIDE_ID UINT64_MAX

/** Number of a row of the meta table. @return 0; or ERR_NOTFOUND, ERR_IO. */
int lmdb_meta_get(const struct lmdb_tree *tree, MDB_txn *txn, const char *name, uint64_t *n);
/** Set it. @return result of LMDB. */
int lmdb_meta_put(const struct lmdb_tree *tree, MDB_txn *txn, const char *name, uint64_t n);
/** Key of the child table. @param out  room for 8 + name_len. @return its length. */
size_t lmdb_child_key(uint64_t parent, const char *name, size_t name_len, char *out);
/** Id of a child by name of name_len bytes. @return 0; or ERR_NOTFOUND, ERR_IO. */
int lmdb_tree_child(const struct lmdb_tree *tree, MDB_txn *txn, uint64_t parent, const char *name,
                    size_t name_len, uint64_t *id);

#endif
