/**
 * One request given once to the ZooKeeper C client, and its answer brought to the owner loop.
 *
 *     owner: zkt_new ─► zkt_send ─► client thread: completion copies the answer ─► run_post ─► owner: done, zkt_free
 *
 * Between zkt_send and `done` the try belongs to the client's threads; the owner only keeps the pointer.
 * Source: zookeeper.h.
 */
#ifndef STORE_ZK_TRY_H
#define STORE_ZK_TRY_H

#include <zookeeper/zookeeper.h>

#include "base/obj.h"
#include "store/store.h"

enum zkt_kind {
    ZKT_GET,
    ZKT_STAT,
    ZKT_CHILDREN,
    ZKT_GET_ACL,
    ZKT_CREATE,
    ZKT_SET,
    ZKT_DELETE,
    ZKT_SET_ACL,
    ZKT_MULTI,
};

/** What is asked; everything is borrowed and lives until `done`. Paths are ZooKeeper's own. */
struct zkt_request {
    enum zkt_kind kind;
    const char *path;
    const struct store_op *ops; /* ZKT_CREATE, SET, DELETE: one; MULTI: n_ops; SET_ACL: one, its acl */
    size_t n_ops;
};

struct zkt {
    struct obj obj;
    struct run_loop *loop;
    void (*done)(struct zkt *t); /* on the owner loop */
    void *arg;
    /* What goes in: in the client's types. */
    struct ACL_vector *acls; /* one an op */
    zoo_op_t *ops;
    zoo_op_result_t *results;
    struct Stat *stats; /* of a multi, one an op */
    size_t n_ops;
    /* What came out. */
    int rc;          /* ZOK or the client's error */
    bool is_refused; /* the client did not take it; `done` is on its way all the same */
    struct store_stat stat;
    char *bytes;
    size_t len;
    char **names; /* sorted */
    size_t n_names;
    struct store_acl_entry *acl;
    size_t n_acl;
};

/** A try; done is called once after zkt_send, on a later turn of the loop. Thread: owner. */
struct zkt *zkt_new(struct run_loop *loop, void (*done)(struct zkt *t), void *arg);
/** Free with all that came out; never between zkt_send and `done`, unless the handle is gone and it was not refused.
 *  Thread: owner. */
void zkt_free(struct zkt *t);
/** Give it to the client. Thread: owner. */
void zkt_send(struct zkt *t, zhandle_t *zh, const struct zkt_request *request);
/** Our code for the client's; 0 for ZOK. Thread: any. */
int zkt_error(int rc);
/** The request was not answered, for want of a connection or session: try again. Thread: any. */
bool zkt_is_lost(int rc);

#endif
