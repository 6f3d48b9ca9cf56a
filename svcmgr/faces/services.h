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
/** A component of a service with its containers, as in services_view; c: its definition, of s->spec. */
json_t *services_view_component(const struct engine *e, const struct eng_service *s,
                                const struct spec_component *c, const struct dialect *dialect,
                                const struct face *face);
/** The container of an instance, as in services_view. [new]; NULL: it has none that is listed. */
json_t *services_view_instance(const struct engine *e, const struct eng_instance *inst,
                               const struct dialect *dialect, const struct face *face);
/** How an instance's container stands to an upgrade, in Hadoop's words, whatever the dialect shows; NULL: none concerns it. Static. */
const char *services_container_upgrade(const struct eng_instance *inst);
/** Word of the state of an instance's container in a dialect; NULL: it has none that is listed. Static. */
const char *services_container_word(const struct eng_instance *inst, const struct dialect *dialect);
/** The short form of `GET /services`; parameters and result as services_view. */
json_t *services_view_short(const struct eng_service *s, const struct dialect *dialect, int64_t now_ms);
/** Whether the record of an instance's container waits to be published; *out is filled when it does. */
bool services_record_waits(const struct face *face, const struct eng_instance *inst, struct face_wait *out);
/** A sentence: the reason and since when. free() */
char *services_record_wait_text(const struct face_wait *w);
/**
 * Why what is not as wanted is not: services_explain.c.
 *
 * @param s     service                                                             [borrowed]
 * @param face  as services_view                                                    [borrowed]
 * @return new array: the service's own reasons {state, reason, wait, remedy}, then one line for all instances of a component that wait for
 *         the same: {component, count, instances (the first ten), instance (the first), state (its), reason, wait, remedy}. Empty:
 *         all is as wanted.   Thread: owner.   Source: ours.
 */
json_t *services_view_explain(const struct eng_service *s, const struct face *face);
/**
 * The same of a service that is run elsewhere.
 *
 * @param list  what who runs it says, or NULL: it does not answer                  [borrowed]
 * @param why   list NULL: why
 * @return new array: what the cluster says of its application, then the list, or that it is missing and what is known without it
 */
json_t *services_view_explain_elsewhere(const struct eng_service *s, const struct face *face,
                                        const json_t *list, const struct err_info *why);
/** Word of a service state in a dialect. Static. */
const char *services_state_word(const struct eng_service *s, const struct dialect *dialect);
/** Whether a service is in the state of a word of either dialect; SUCCEEDED: it has ended well by itself. */
bool services_is_in(const struct eng_service *s, const char *word, const struct dialect *dialect);

#endif
