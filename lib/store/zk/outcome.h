/**
 * Finds out the outcome of a write whose reply was lost with its connection.
 *
 * It can be certain only that the server had not done it, or that it makes no difference:
 *
 *     lost ──► session up again ──► sync ──► stat of the node (and its data, or the nearest ancestor there is) ──► outcome
 *
 * *Fence.* The lost request may still be on its way when the next connection is up: in the old connection's buffers, or
 * in the queue of the server that was left. It cannot be done after the sync's answer, which is why the sync comes first:
 *  - same server: it closes the session's old connection before it answers the new hello, so nothing more is read from
 *    that; what had been read is in the server's one queue, ahead of the sync.
 *  - another server: it has the leader make it the session's owner before it answers the hello, and the leader refuses
 *    (SESSION_MOVED) what the former owner passes on from then on; what came earlier is in the leader's queue, ahead of the sync.
 *  - the session has expired: the leader refuses (SESSION_EXPIRED) whatever comes for it later.
 *  - the session started from nothing (zks_n_restarts): there is no fence, and the outcome stays unknown.
 *
 * *Evidence.* `floor` is the highest zxid that the session had seen when the write was sent, so what was there then has numbers up
 * to floor and the write, if it was done, a higher one (F = floor, v = version that the write names):
 *
 *     write       the node now                          outcome
 *     any         absent; nearest ancestor pzxid <= F   not done: nothing came or went there since
 *     create      czxid <= F                            not done: it was there all the time
 *     set         mzxid <= F                            not done
 *     set v       czxid <= F, version <= v              not done: version v + 1 has not been reached
 *     set v       czxid <= F, version v + 1, other data not done: another client made version v + 1
 *     set any     czxid <= F < mzxid, the very data     done, or as good as done: a set right after the one that was
 *     set over    the same, and the node that was seen, done: there was one set since, and who else made it would have left ours to
 *                 set once since                        come right after it
 *     delete      czxid <= F                            not done: it is still that node
 *     otherwise                                         unknown
 *
 * The same data prove nothing of a create or a set of a version: another client may have written them and have got success
 * for it, and the version is there to prevent that two clients both believe to have made one step. Nor do they of a set when the node
 * was made since: that is another client's node, and the set may have been done before the deletion of the one before. A node that is still
 * the same one may have been set to the same data by both; the number that is answered is then that of the later set. Who must not be given
 * that says what it has seen (store_set_over).
 * A multi is done whole or not at all: it was not done when one of its operations was not.
 * What was not done can be sent again.
 *
 * Thread: owner for everything.   Source: ZooKeeper's Learner protocol and PrepRequestProcessor.checkSession; ours.
 */
#ifndef STORE_ZK_OUTCOME_H
#define STORE_ZK_OUTCOME_H

#include "store/zk/request.h"
#include "store/zk/session.h"

enum zkq_outcome {
    ZKQ_NOT_DONE, /* and it never will be */
    ZKQ_DONE,
    ZKQ_UNKNOWN,
    ZKQ_LOST, /* the connection broke again, nothing was found out */
};

/** The node of a write as it is after the sync. */
struct zkq_node {
    bool is_there;
    struct store_stat stat;
    const char *bytes;      /* NULL: not known */
    size_t len;             /* bytes */
    int64_t ancestor_pzxid; /* when it is not there; INT64_MAX: not known */
};

/**
 * Judge one write by the table above. Pure.
 *
 * @param write  create, set or delete; a check proves nothing                     [borrowed]
 * @param floor  highest zxid seen when it was sent
 * @param node   its node now                                                     [borrowed]
 * @return any but ZKQ_LOST.   Thread: any.   Source: ours.
 */
enum zkq_outcome zkq_judge(const struct store_op *write, int64_t floor, const struct zkq_node *node);

/** An inquiry under way; the caller's storage, zero before, which stays until done was called. */
struct zkq {
    struct obj obj;
    /* filled by the caller */
    struct zks *session;
    const char *root;       /* ZooKeeper's path of the store's root: "" or "/a/b" */
    const struct zkr *lost; /* the write */
    int64_t floor;          /* see above */
    bool is_fenced;         /* the session did not start from nothing since then */
    /** The end. stat: the node's, with ZKQ_DONE; else NULL. Never called inside zkq_start. */
    void (*done)(void *arg, enum zkq_outcome outcome, const struct store_stat *stat);
    void *arg;

    /* of the inquiry */
    struct zks_request request;
    struct zkr question;
    size_t at;             /* operation of a multi */
    struct store_op write; /* that operation */
    struct zkq_node node;
    char *ancestor; /* path asked for now; NULL: the node itself */
    char *bytes;
};

/** Begin; the session is up. Requests leave with the next zks_flush. */
void zkq_start(struct zkq *q);

#endif
