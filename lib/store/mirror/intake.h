/**
 * The queue between a store and its mirror: passes events on in order, within the budget of a turn (run/task.h).
 *
 *     store_follow ──► intake ── at once ──────────────► take
 *                         └──► held ── a task ────────────┘     once one event was too much for its turn
 *
 * One event may remove very many nodes. The mirror may stop half-way and return false: the event is then held, with all
 * that follow it, and passed again in the next step, until it is done. The order never changes. What is held is bounded:
 * the more is held, the larger are the steps. Thread: owner.   Source: ours.
 */
#ifndef STORE_MIRROR_INTAKE_H
#define STORE_MIRROR_INTAKE_H

#include "store/store.h"

struct mirror_intake;

/** The calls of struct store_follow_ops. */
enum mirror_event_kind { MIRROR_BEGIN, MIRROR_NODE, MIRROR_GONE, MIRROR_END, MIRROR_APPLIED, MIRROR_LOST };

/** One of them with its arguments; members of other calls are zero. Borrowed during the call of `take`. */
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
 * @param take  gets each event; n_left: nodes that it may still drop, which it counts down. It returns whether the event
 *              is done; false only when *n_left is 0
 * @param arg   for take                                                          [borrowed, lives on]
 * @return to be freed with mirror_intake_free, after store_close.
 * Thread: owner.   Source: ours.
 */
struct mirror_intake *mirror_intake_new(
    struct store *s, bool (*take)(void *arg, const struct mirror_event *event, size_t *n_left), void *arg);
/** Free, with all held events. */
void mirror_intake_free(struct mirror_intake *in);
/** Bytes of what is held, estimated. */
size_t mirror_intake_n_bytes(const struct mirror_intake *in);

#endif
