/**
 * The store's calls as ZooKeeper's requests: the body, which may be sent several times, and the values of its reply.
 *
 *     zkr_make_* ──► struct zkr ──(zks_send_made, once a try)──► reply ──zkr_read──► struct zkr_answer
 *
 * A multi's body is its operations, each behind a header (type, done, err), and a last header with done set; so is its
 * reply, where an operation that was not carried out has type -1 and an error: ZKW_OK before the one that failed,
 * ZKW_RUNTIME_INCONSISTENCY after it.
 * Pure: no socket, clock or log. Thread: any, one request one thread.   Source: zookeeper.jute, MultiOperationRecord.
 */
#ifndef STORE_ZK_REQUEST_H
#define STORE_ZK_REQUEST_H

#include "store/store_backend.h"
#include "store/zk/wire.h"

struct zkr {
    enum zkw_opcode opcode;
    struct buf body;
    bool is_write;  /* it may change something */
    bool is_change; /* when it succeeds the tree has another revision number */
    bool is_checked;
    char **paths; /* within the store; of a multi one an operation */
    size_t n_paths;
    bool has_seen; /* set of one node: it was seen before */
    struct store_seen seen;
};

/** The values of a reply; members the request does not ask for are zero. */
struct zkr_answer {
    struct store_stat stat;
    char *bytes; /* NUL-terminated beyond len */
    size_t len;
    char **names; /* in byte order */
    size_t n_names;
    struct store_acl_entry *acl;
    size_t n_acl;
    size_t failed_op;         /* of a multi that failed */
    struct store_stat *stats; /* of a checked multi: one of each write, zero for a delete */
};

/**
 * A read.
 *
 * @param root  ZooKeeper's path of the store's root: "" or "/a/b"                 [borrowed]
 * @param path  within the store: "/", "/x"                                       [borrowed]
 * @param out   filled; release with zkr_fini                                     [out]
 */
void zkr_make_read(struct zkr *out, enum store_read_kind kind, const char *root, const char *path);
/** One create, set or delete; a check is a multi of one. Parameters as for zkr_make_read; op borrowed. */
void zkr_make_write(struct zkr *out, const char *root, const struct store_op *op);
/** An ACL; parameters as for zkr_make_read; acl borrowed. */
void zkr_make_set_acl(struct zkr *out, const char *root, const char *path, const struct store_acl *acl);
/** All or nothing; parameters as for zkr_make_read; ops borrowed, n_ops >= 1. */
void zkr_make_multi(struct zkr *out, const char *root, const struct store_op *ops, size_t n_ops);
/** Sets and deletes of one version behind the check of store/zk/condition.h; parameters as there and as for zkr_make_read. */
void zkr_make_checked(struct zkr *out, const char *root, const struct store_op *ops, size_t n_ops,
                      int64_t n_creates);
/** Let the server catch up with its leader. Parameters as for zkr_make_read. */
void zkr_make_sync(struct zkr *out, const char *root, const char *path);
/** The data that a create or set of one node writes; borrowed from the request. */
struct zkw_bytes zkr_data(const struct zkr *r);
/**
 * What a write was made from.
 *
 * @param i    operation, less than n_paths; 0 unless it is a multi
 * @param out  kind, path, bytes, len, version and seen; acl is NULL; borrowed from the request   [out]
 * @return false: it is no create, set, delete or check (a read, a sync, an ACL).
 */
bool zkr_write(const struct zkr *r, size_t i, struct store_op *out);
/** Release what zkr_make_* filled. */
void zkr_fini(struct zkr *r);

/**
 * Read a reply.
 *
 * @param err   of the reply's header
 * @param body  behind it                                                         [borrowed]
 * @param out   filled; release with zkr_answer_fini, also after an error          [out]
 * @param bad   set when the reply is malformed: the result is then ZKW_MARSHALLING [out]
 * @return ZKW_OK, or the error: the header's, or that of the multi's operation that failed.
 */
int32_t zkr_read(const struct zkr *r, int32_t err, struct zkw_in body, struct zkr_answer *out, bool *bad);
/** Release what zkr_read filled. */
void zkr_answer_fini(struct zkr_answer *a);

#endif
