/**
 * The one thread that writes an LMDB file, in group commits: all writes that wait become one transaction with one fsync,
 * and each still succeeds or fails alone.
 *
 *     owner loop ── lmdb_writer_put ──► queue ──► writer thread: apply, commit ── run_post ──► batch on the owner loop
 *
 * A batch is posted after its commit, so its results are durable. Thread: owner, but for the thread inside.
 * Source: ours.
 */
#ifndef STORE_LMDB_WRITER_H
#define STORE_LMDB_WRITER_H

#include "base/obj.h"
#include "store/lmdb/tree.h"
#include "store/store_backend.h"

enum lmdb_write_kind { LMDB_WRITE_OPS, LMDB_WRITE_ACL, LMDB_WRITE_FOLLOW };

/** A call in the queue and, afterwards, how it went. Everything it points to is in its arena. */
struct lmdb_write {
    STAILQ_ENTRY(lmdb_write) link;
    enum lmdb_write_kind kind;
    struct arena *arena;
    struct store_op *ops; /* LMDB_WRITE_ACL: one, of which path and acl count */
    size_t n_ops, n_bytes;
    struct store_call call;
    int err, lmdb_rc; /* result; lmdb_rc: LMDB's own, of ERR_IO and ERR_NOSPC; 0: none */
    size_t failed_op;
    struct lmdb_effect effect;
};
STAILQ_HEAD(lmdb_write_list, lmdb_write);

enum lmdb_batch_kind {
    LMDB_BATCH_WRITES,   /* writes were carried out */
    LMDB_BATCH_SNAPSHOT, /* answer to LMDB_WRITE_FOLLOW: later batches hold their changes */
    LMDB_BATCH_ENDED     /* the last one: the thread ends */
};

struct lmdb_batch {
    enum lmdb_batch_kind kind;
    struct lmdb_write_list writes;
    struct lmdb_change_list changes; /* in order; filled once a follower has asked */
    int64_t zxid;                    /* of the last change in the store */
    MDB_txn *snapshot; /* read transaction at zxid, for the receiver to abort; NULL: failed, see err */
    int err, lmdb_rc;
};

struct lmdb_writer;

/** Start the thread. on_batch gets each batch on the loop, and owns its content; the struct itself dies after it. */
struct lmdb_writer *lmdb_writer_start(const struct lmdb_tree *tree, struct run_loop *loop,
                                      void (*on_batch)(void *arg, struct lmdb_batch *batch), void *arg);
/** Queue a write; it comes back in a batch. */
void lmdb_writer_put(struct lmdb_writer *w, struct lmdb_write *take_write);
/** Carry out what is queued, then end: LMDB_BATCH_ENDED is the last batch. */
void lmdb_writer_stop(struct lmdb_writer *w);
/** Join and free; after LMDB_BATCH_ENDED. */
void lmdb_writer_free(struct lmdb_writer *w);

/** A write with copies of n_ops ops. */
struct lmdb_write *lmdb_write_new(enum lmdb_write_kind kind, const struct store_op *ops, size_t n_ops,
                                  struct store_call call);
void lmdb_write_free(struct lmdb_write *write);

#endif
