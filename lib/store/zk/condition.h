/**
 * Writes on the condition that a node's data are still those of one mzxid, on ZooKeeper.
 *
 *     stat of the parent, stats of the nodes ──that mzxid──► multi: the check, the writes ──► done
 *        ▲        └─another──► sync, once more ──another──► ERR_CONFLICT     │
 *        └──────────────── a child was made in between ──────────────────────┘
 *
 * A version alone does not identify a node: after delete and create it begins again at 0. The number of children that were
 * ever made under the parent never does, and a sequential node has it in its name. So the multi makes one ("bobbin-check-")
 * and deletes the one that has the number which was read before the node: that fails when a child was made since, so
 * the node is the one that was read, or gone. A multi is one change, so readers never see the node; its watches fire.
 *
 * The check of one write makes a child, so it would fail that of a sibling's write which was read before. Hence there is one multi
 * at a time under one parent: what comes meanwhile waits and goes together, up to 64 writes, of each node one. When one of
 * them is refused, none was done; that one is answered and the others begin again.
 *
 * Thread: owner for everything.   Source: ZooKeeper's PrepRequestProcessor; ours.
 */
#ifndef STORE_ZK_CONDITION_H
#define STORE_ZK_CONDITION_H

#include "store/store_backend.h"

/** First part of the name of the node that is made and deleted; ten digits follow. */
#define ZKCOND_NAME "bobbin-check-"

struct zkcond_set;

/** Those of one store, which outlives them. Free with zkcond_set_free, when all of them have been answered. */
struct zkcond_set *zkcond_set_new(struct store *s);
/** Free; none waits for its answer. */
void zkcond_set_free(struct zkcond_set *set);

/** Carry out a set or delete with op->mzxid. op: borrowed during the call. Completion: as store_set_if. */
void zkcond_start(struct zkcond_set *set, const struct store_op *op, struct store_call call);

/**
 * The multi. Of zk.c.
 *
 * @param ops        sets and deletes of one version, under one parent            [borrowed during the call]
 * @param n_creates  children ever made under that
 * Completion: failed_op 0, 1: of the check; i + 2: of ops[i]. stats: n_ops of them, filled by the sets.
 */
void zkcond_checked_write(struct store *s, const struct store_op *ops, size_t n_ops, int64_t n_creates,
                          struct store_call call);

#endif
