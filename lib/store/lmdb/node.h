/**
 * The bytes of one node in the LMDB file, and what LMDB's results mean to us.
 *
 *     0        4        8         12        16          20       24     32     40     48     56     64
 *     | format | version| cversion| aversion| n_children| acl_len| czxid| mzxid| pzxid| ctime| mtime| ACL … | data …
 *
 * All numbers little-endian; times in ms since the epoch. An ACL entry: 4 bytes of permissions, scheme NUL, id NUL.
 * Pure. Thread: any.   Source: ours.
 */
#ifndef STORE_LMDB_NODE_H
#define STORE_LMDB_NODE_H

#include "base/buf.h"
#include "base/mem.h"
#include "store/store.h"

/** A node as it lies in the file; the pointers borrow the file's pages. */
struct lmdb_node {
    struct store_stat stat; /* data_len is data_len, ephemeral false */
    int32_t aversion;
    const char *acl_bytes;
    size_t acl_len;
    const char *data;
};

/** Read a node. @param n  filled on success, borrows bytes. @return 0; or ERR_IO: not a node of this format. */
int lmdb_node_read(const void *bytes, size_t len, struct lmdb_node *n);
/** Write a node over the content of out; stat.data_len bytes of n->data. out does not hold what n borrows. */
void lmdb_node_write(const struct lmdb_node *n, struct buf *out);
/** Append an ACL list in the file's form. */
void lmdb_acl_write(const struct store_acl *acl, struct buf *out);
/** Read an ACL list into an arena. @return 0; or ERR_IO: damaged. */
int lmdb_acl_read(const char *bytes, size_t len, struct arena *a, struct store_acl *out);

/** ERR_* of a result of LMDB, which may be an errno: ERR_NOSPC when map or disk are full, ERR_IO for all else. */
int lmdb_err(int rc);

/** 8 bytes, little-endian (values) or big-endian (keys: in byte order they are in the order of numbers). */
void lmdb_put_le64(void *out, uint64_t n);
uint64_t lmdb_get_le64(const void *bytes);
void lmdb_put_be64(void *out, uint64_t n);
uint64_t lmdb_get_be64(const void *bytes);

#endif
