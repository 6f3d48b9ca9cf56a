/**
 * The interface between store.c and its backends, and what backends share. Internal to lib/store.
 *
 *     caller ─► store.c ── checks path, size, state ──► store_backend_ops ─► lmdb.c | zk.c
 *                  └─ refused: completion posted, no backend sees the call
 *
 * A backend's own struct has `struct store` as its first member, filled by store_base_init. Paths that reach a backend
 * are valid; arguments are borrowed during the call only. Completions never run before the call returns. Thread: owner for everything.   Source: ours.
 */
#ifndef STORE_STORE_BACKEND_H
#define STORE_STORE_BACKEND_H

#include "base/obj.h"
#include "store/store.h"

#define STORE_MAGIC OBJ_MAGIC('S', 'T', 'O', 'R')

/** Bytes of one path element at most: LMDB's keys end at 511. */
#define STORE_NAME_MAX 255
/** Bytes of one request, all data, paths and ACLs of a multi together: ZooKeeper's jute.maxbuffer (0xfffff) less a margin
 *  for headers and the root's path. The same for LMDB, so that every tree can move between the two. */
#define STORE_REQUEST_MAX (0xfffff - 8192)

enum store_read_kind { STORE_READ_DATA, STORE_READ_STAT, STORE_READ_CHILDREN, STORE_READ_ACL };

/** The completion of a call. */
struct store_call {
    STORE_DONE;
    void *arg;
};

struct store_backend_ops {
    const char *kind; /* "zookeeper" or "lmdb" */
    void (*read)(struct store *s, enum store_read_kind kind, const char *path, struct store_call call);
    /** One create, set or delete. */
    void (*write)(struct store *s, const struct store_op *op, struct store_call call);
    void (*set_acl)(struct store *s, const char *path, const struct store_acl *acl, struct store_call call);
    /** n_ops >= 1. */
    void (*multi)(struct store *s, const struct store_op *ops, size_t n_ops, struct store_call call);
    /** See store_sync; NULL: the backend has one server, which is never behind. */
    void (*sync)(struct store *s, struct store_call call);
    /** Copy the whole store into a directory; NULL: it cannot. */
    void (*backup)(struct store *s, const char *dir, struct store_call call);
    /** See STORE_ASIDE. */
    bool (*has_aside)(const struct store *s);
    /** Called once at most. */
    void (*follow)(struct store *s, const struct store_follow_ops *ops, void *arg);
    /** Finish or cancel all calls, stop following, then call store_base_closed(s) once. No call comes after close. */
    void (*close)(struct store *s);
    /** Free the struct; runs after store_base_closed, on a later turn of the loop. */
    void (*free)(struct store *s);
};

struct store {
    struct obj obj;
    const struct store_backend_ops *ops;
    struct run_loop *loop;
    char *url;
    bool is_following, is_closing;
    size_t n_refused; /* completions posted by store.c that have not run yet */
    void (*closed)(void *arg);
    void *closed_arg;
};

/** Fill the base part. url is copied. */
void store_base_init(struct store *s, const struct store_backend_ops *ops, struct run_loop *loop,
                     const char *url);
/** The backend has released everything but its struct: free that and call `closed`, on a later turn of the loop. */
void store_base_closed(struct store *s);

/** Call the completion now with an error; where is the path (may be NULL). Never from inside the call itself. */
void store_call_fail(struct store_call call, int err, const char *path, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/**
 * ZooKeeper's path rules (absolute; no empty, "." or ".." element; no trailing slash; UTF-8 without the code points that
 * ZooKeeper refuses) and STORE_NAME_MAX. @return 0; or ERR_PATH with the rule in *why (may be NULL).
 * Source: ZooKeeper PathUtils.validatePath.
 */
int store_path_check(const char *path, struct err_info *why);

/** The ACL to write: acl itself, or world:anyone with all permissions for NULL or an empty list. */
const struct store_acl *store_acl_or_open(const struct store_acl *acl);

/** store_check of a zk:// URL. */
int store_zk_check(const char *url, const struct store_options *options, struct err_info *why);
/**
 * Open a backend. *out is the backend's `&x->base`.
 * @return 0; or ERR_INVALID, ERR_IO, ERR_WRONGSTATE with *why filled.
 */
int store_zk_open(struct run_loop *loop, const char *url, const struct store_options *options,
                  struct store **out, struct err_info *why);
int store_lmdb_open(struct run_loop *loop, const char *url, const struct store_options *options,
                    struct store **out, struct err_info *why);

#endif
