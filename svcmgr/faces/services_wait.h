/**
 * Reads of a service that wait: for a state, or for a change (waits.h).
 *
 *     GET …/services/web?wait=READY ──> reached, or it can never come ──> 200
 *                                   ──> timeout ────────────────────────> 200
 *                                   ──> the service is gone ────────────> 404
 *
 * Thread: owner loop.   Source: ours.
 */
#ifndef FACES_SERVICES_WAIT_H
#define FACES_SERVICES_WAIT_H

#include "engine/engine.h"
#include "faces/face.h"
#include "http/server.h"

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
