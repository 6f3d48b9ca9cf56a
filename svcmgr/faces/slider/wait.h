/**
 * Reads that wait until an application is as wanted, or has changed.
 *
 *     GET …/live/liveness, Prefer: wait=30 ──> waiter ──┬─ every request satisfied, every container live ──> 200
 *                                                       ├─ with If-None-Match: it has another entity tag ──> 200
 *                                                       ├─ the time is over, or it does not run any more ──> 200
 *                                                       └─ it is gone ─────────────────────────────────────> 404
 *
 * At most SLIDER_WAITERS_MAX wait for one application (waits.h): the next one is answered at once.
 *
 * Thread: owner loop.   Source: slider-am 8.7; the entity tag: ours.
 */
#ifndef SLIDER_WAIT_H
#define SLIDER_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "faces/face.h"
#include "http/server.h"

#define SLIDER_WAITERS_MAX 64
#define SLIDER_WAIT_MAX_S  300

/** Seconds of "wait=N" in Prefer; *out unchanged: it has none. @return false: N is no number from 0 on. Source: RFC 7240 4.3. */
bool slider_wait_preferred(const struct http_req *req, int64_t *out);

/** A read that may wait. */
struct slider_read {
    /** Whether there is nothing to wait for. @param component  NULL: the read is of all, or of the application master */
    bool (*is_over)(const struct eng_service *s, const struct eng_component *component);
    /** Reply with what is now. */
    void (*reply)(struct http_req *req, struct face *face, const struct eng_service *s,
                  const struct eng_component *component);
    /** NULL: the read is of no component of the engine [borrowed] */
    const struct eng_component *component;
    int timeout; /* id of the parameter `timeout` */
};

/**
 * Handle a read in its handler: it is answered now, or later when it waits.
 *
 * @param s  its service                                                           [borrowed]
 */
void slider_read(struct http_req *req, struct face *face, const struct eng_service *s,
                 const struct slider_read *read);

#endif
