/**
 * Reads of a service that wait: for a state, or for a change. What waits costs nothing but its memory until its own service
 * changes or its time is over.
 *
 *     GET …/services/web?wait=READY ──> waiter ──┬─ the service may have changed ──> looks ──> reached, or it can never come ──> 200
 *                                                ├─ timeout, or a gateway waits no longer ─────────────────────────────────────> 200
 *                                                └─ the service is gone ──────────────────────────────────────────────────────> 404
 *
 * Thread: owner loop.   Source: ours.
 */
#ifndef FACES_SERVICES_WAIT_H
#define FACES_SERVICES_WAIT_H

#include "engine/engine.h"
#include "faces/face.h"
#include "http/server.h"
#include "run/loop.h"

struct services_waits;

/** Nobody waits. @param loop  [borrowed, outlives it] @return services_waits_free releases it. */
struct services_waits *services_waits_new(struct run_loop *loop);
/** Release, after the HTTP server has stopped; NULL is fine. */
void services_waits_free(struct services_waits *w);
/** Reads that wait. */
size_t services_waits_n(const struct services_waits *w);
/**
 * A service may have changed, or has gone: those who wait for it look, in later turns of the loop.
 *
 * @param user, name  of the service                                               [borrowed]
 */
void services_waits_changed(struct services_waits *w, enum eng_kind kind, const char *user, const char *name);

/** Entity tag of a service as it is now, weak: the lifetime that is left counts down without another one. free() */
char *services_wait_tag(const struct face *face, const struct eng_service *s);
/** Whether If-None-Match of the request names a tag. */
bool services_wait_is_known(const struct http_req *req, const char *tag);
/**
 * Handle a read of a service that has the parameter `wait`, in its handler: it is answered now or later by service_reply().
 *
 * @param s  its service                                                           [borrowed]
 */
void services_wait(struct http_req *req, struct face *face, const struct eng_service *s);
/** The same for a read of its events, of which there are none from `since` on: answered later by service_reply_events(). */
void services_wait_events(struct http_req *req, struct face *face, const struct eng_service *s,
                          int64_t since);

#endif
