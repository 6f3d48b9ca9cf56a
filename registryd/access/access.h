/**
 * Access control of writes. In a secure registry a write is permitted to system accounts everywhere; to a user at and below the own
 * home (which only the system deletes); and by the ACL of the node: to holders of a write accessor by its digest, to accounts by name.
 * A registry that is not secure permits every write. The caller is the user that the request names: only accessors are authenticated.
 *
 *     overwrite:  WRITE of the node           make:  CREATE of the nearest node above that exists
 *     delete:     DELETE of its parent; recursive: also of the node and of every node below that has children
 *
 * Each question reads the ACLs from the store. ZooKeeper hides digests, or the whole ACL, from a session without the right to see
 * them: then a session of the caller's accessor does the write, and ZooKeeper decides (accessors.h).
 * Thread: owner.   Source: ZooKeeper's permissions.
 */
#ifndef ACCESS_ACCESS_H
#define ACCESS_ACCESS_H

#include "registry/acl.h"
#include "run/loop.h"
#include "store/mirror/mirror.h"
#include "store/store.h"

struct access;

struct access_def {
    struct run_loop *loop;
    struct store *store;
    struct mirror *mirror;
    bool is_secure;
    /* accounts with all rights: "sasl:yarn@, sasl:mapred@"; NULL: none [copied] */
    const char *system_accounts;
};

/** New; @param def copied. Free with access_free, after the store was closed and before the mirror is freed. */
struct access *access_new(const struct access_def *def);
/** Free; questions that still look for nodes complete with ERR_CANCELLED. NULL is fine. */
void access_free(struct access *a);
/** The registry is secure. */
bool access_is_secure(const struct access *a);

enum access_kind {
    ACCESS_MAKE,      /* mknode, bind without overwrite */
    ACCESS_OVERWRITE, /* bind that may make or overwrite */
    ACCESS_DELETE,
    ACCESS_DELETE_ALL /* recursive */
};

struct access_question {
    enum access_kind kind;
    const char *path;
    const char *user;   /* NULL: nobody */
    const char *digest; /* id of the accessor that the caller holds: reg_digest_id; NULL: none */
};

struct access_answer {
    bool exists;      /* the node does */
    bool as_accessor; /* let by ACLs that registryd may not see: only as the accessor itself, if at all */
    struct err_info why;
};

/**
 * Decide without the store, where that is possible: for system accounts, owners, and in a registry that is not secure.
 * @return true: the write is permitted; false: ask with access_ask.   Thread: owner.   Source: ours.
 */
bool access_is_free(const struct access *a, const struct access_question *q);
/**
 * Decide by the ACLs in the store.
 *
 * @param q     copied
 * @param done  called once, later: 0; ERR_PERMISSION, why says whose the path is and whom the ACL lets; errors of the store.
 *              answer is borrowed
 * Thread: owner.   Source: ours.
 */
void access_ask(struct access *a, const struct access_question *q,
                void (*done)(void *arg, int err, const struct access_answer *answer), void *arg);
/**
 * Fill an error for a write that the store refused: it names the owner of the path.
 *
 * @param digest  of the accessor whose session was refused; NULL: registryd itself was
 * @param why     filled                                                          [out]
 * Thread: any.   Source: ours.
 */
void access_refused_by_store(const char *path, const char *digest, struct err_info *why);

#endif
