/**
 * What a store tells its mirror, passed on in order, no more in a turn of the loop than its budget (run/task.h).
 *
 *     store_follow ──► intake ── at once ──────────────► take
 *                         └──► held ── a task ────────────┘     once one word was too much for its turn
 *
 * A word of the store may stand for the end of very many nodes. Who takes it may stop half-way and say so: then it is held, with
 * all that comes behind it, and taken again in the next step, until it is done with. The order never changes. What is
 * held is bounded: the more it is, the larger are the steps. Thread: owner.   Source: ours.
 */
#ifndef STORE_MIRROR_INTAKE_H
#define STORE_MIRROR_INTAKE_H

#include "store/store.h"

struct mirror_intake;

/** The calls of struct store_follow_ops. */
enum mirror_event_kind { MIRROR_BEGIN, MIRROR_NODE, MIRROR_GONE, MIRROR_END, MIRROR_APPLIED, MIRROR_LOST };

/** One of them with what it was given; members of other calls are zero. Borrowed while it is taken. */
struct mirror_event {
    enum mirror_event_kind kind;
    const char *text; /* MIRROR_BEGIN: the store's id; MIRROR_NODE, MIRROR_GONE: the path */
    const struct store_stat *stat;
    const char *bytes;
    size_t len;
    int64_t zxid;
    const struct err_info *why;
};

/**
 * Follow a store (calls store_follow).
 *
 * @param take  gets each word; n_left: nodes it may still drop, counted down by it. It returns whether it is
 *              done with the word; false only when *n_left is 0
 * @param arg   for take                                                          [borrowed, lives on]
 * @return to be freed with mirror_intake_free, after store_close.
 * Thread: owner.   Source: ours.
 */
struct mirror_intake *mirror_intake_new(
    struct store *s, bool (*take)(void *arg, const struct mirror_event *event, size_t *n_left), void *arg);
/** Free; what is held is forgotten. */
void mirror_intake_free(struct mirror_intake *in);
/** Bytes of what is held, estimated. */
size_t mirror_intake_n_bytes(const struct mirror_intake *in);

#endif
