/**
 * A copy of an LMDB store while it is in use.
 * Thread: any but the loop's: it waits for the disk.   Source: ours.
 */
#ifndef STORE_LMDB_BACKUP_H
#define STORE_LMDB_BACKUP_H

#include "store/lmdb/tree.h"

/**
 * Write a compacted copy of the last committed state into a new directory, which appears when it is complete and durable.
 * The copy is a store of its own: it has another store id, so that a revision of the original is never taken for one of
 * the copy once both have gone on.
 *
 * @param tree  open tree                                                         [borrowed]
 * @param dir   path of the directory to make; its parents are made when missing   [borrowed]
 * @return 0; or with *why filled and nothing left behind but parents: ERR_EXISTS: something is there; ERR_IO; ERR_NOSPC.
 */
int lmdb_backup(const struct lmdb_tree *tree, const char *dir, struct err_info *why);

#endif
