/**
 * Events that wait for the engine, in the order in which they came: each a copy that owns all it points to.
 *
 * A report of the world (containers, probes, the registry, timers) is never refused; there is at most one such event a
 * container, ticket or timer while the engine is not stepped; a later result of a probe replaces an earlier one.
 * Requests are counted, so that the caller can refuse more.
 *
 * Thread: owner.   Source: ours.
 */
#ifndef SVCMGR_APP_QUEUE_H
#define SVCMGR_APP_QUEUE_H

#include <sys/queue.h>

#include "base/map.h"
#include "engine/engine.h"

/** An event in the queue. */
struct queued {
    TAILQ_ENTRY(queued) link;
    struct eng_event ev; /* its texts and lists are owned */
    size_t n_bytes;      /* about its memory; of a request only */
};
TAILQ_HEAD(queued_list, queued);

struct queue {
    struct queued_list events;
    struct map probes; /* container id -> the latest of its EV_PROBE */
    size_t n_requests, n_bytes;
};

/** Start as an empty queue. */
void queue_init(struct queue *q);
/** Free all that waits; it is empty. */
void queue_fini(struct queue *q);
/** Add a copy at the end. ev->take_spec moves over and is NULL then. n_bytes: what a request counts; 0: nothing. */
void queue_push(struct queue *q, struct eng_event *ev, size_t n_bytes);
/** The first event, or NULL. [borrowed until queue_pop] */
struct eng_event *queue_first(const struct queue *q);
/** Remove and free the first event. */
void queue_pop(struct queue *q);
/** Remove all requests. dropped is called for each token, and may not change the queue. */
void queue_drop_requests(struct queue *q, void (*dropped)(void *arg, uint64_t token), void *arg);

#endif
