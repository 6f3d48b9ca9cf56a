/**
 * The YARN services API: E1..E7 under /app/v1/services and, as second mount, /v1/services.
 * The app pointer of the server is a `struct face`.
 *
 * Thread: owner loop.   Source: YARN services API 1.
 */
#ifndef FACES_SERVICES_H
#define FACES_SERVICES_H

#include "base/buf.h"
#include "faces/face.h"
#include "http/server.h"

/** write_error hook of the HTTP server: errors as ServiceStatus {"diagnostics":…}. @return the media type. */
const char *services_write_error(struct http_req *req, int code, const struct err_info *why,
                                 struct buf *body);

/**
 * The Service document of a GET: definition and what runs.
 *
 * @param e        engine, for the placeholders of quicklinks                      [borrowed]
 * @param s        service                                                         [borrowed]
 * @param dialect  names of states                                                 [borrowed]
 * @param now_ms   engine time, for the remaining lifetime
 * @param face     whose records wait to be published; NULL: none is shown as waiting [borrowed]
 * @return new JSON object.   Thread: owner.   Source: YARN services API 2.
 */
json_t *services_view(const struct engine *e, const struct eng_service *s, const struct dialect *dialect,
                      int64_t now_ms, const struct face *face);
/** The short form of `GET /services`; parameters and result as services_view. */
json_t *services_view_short(const struct eng_service *s, const struct dialect *dialect, int64_t now_ms);
/** Why each instance is not further, or not published: an array of {instance, state, wait}, and the service's own reason first.
 *  face: as services_view. */
json_t *services_view_explain(const struct eng_service *s, const struct face *face);
/** Word of a service state in a dialect. Static. */
const char *services_state_word(const struct eng_service *s, const struct dialect *dialect);

#endif
