/**
 * What the handlers of the services API share: replies, requests that the engine answers, names in the path, bodies.
 * For services_*.c.
 *
 * Thread: owner loop.   Source: YARN services API 1.
 */
#ifndef FACES_SERVICES_KIT_H
#define FACES_SERVICES_KIT_H

#include <jansson.h>

#include "faces/face.h"
#include "faces/services_answer.h"
#include "faces/services_routes.h"
#include "http/server.h"

/** "code" of a ServiceStatus about a service that is not there, or whose name is malformed: of reads only. */
#define SERVICES_CODE_NOT_FOUND 404004

/* ---- replies ---- */

/** Reply with a document. */
void services_reply_json(struct http_req *req, int status, json_t *take_doc);
/** Reply with a ServiceStatus; code 0 and state NULL are left out. */
void services_reply_status(struct http_req *req, int status, const char *diagnostics, int code,
                           const char *state);
/** Reply with a ServiceStatus that has diagnostics only. */
void services_reply_text(struct http_req *req, int status, const char *diagnostics);
/** Reply with 204. */
void services_reply_no_content(struct http_req *req);
/** Reply with 304. */
void services_reply_not_modified(struct http_req *req);

/** Reply with the document of a service, or with 304. @param explains  with "explain" */
void service_reply(struct http_req *req, struct face *face, const struct eng_service *s, bool explains);
/** Some event of a service has happened from a number on. */
bool service_has_events(const struct eng_service *s, int64_t since);
/** Reply with the events of a service from a number on, and the number of the next one. */
void service_reply_events(struct http_req *req, const struct eng_service *s, int64_t since);

/* ---- requests that the engine answers ---- */

#define SERVICES_PENDING_MAGIC OBJ_MAGIC('P', 'E', 'N', 'D')

/** A request whose answer is due later. */
struct services_pending {
    struct obj obj;
    struct http_req *req; /* NULL: the client went away */
    const struct dialect *dialect;
    enum services_verb verb;
    char *unknown; /* members of the definition that were ignored, in words; NULL: all are known */
    const struct face *face;
    bool is_plan; /* nothing is to be done: the answer says what would be */
};

/** Keep a request open until services_answered() or services_drop(). */
struct services_pending *services_reply_later(struct http_req *req, const struct face *face,
                                              enum services_verb verb);
/** Release a pending that no answer comes for; the request was replied to, or its client went away. */
void services_drop(struct services_pending *p);
/** Reply with what the engine answers: the callback of app_ops.submit; arg: the pending, which is released. */
void services_answered(void *arg, const struct eng_answer *a);
/** Hand the event of a pending request to the engine, which does it, or to a plan. */
void services_hand_over(struct services_pending *p, const struct face *face, struct eng_event *ev);
/** The request asks what it would do. */
bool services_wants_plan(const struct http_req *req);
/** Reply with what a request would do: the callback of app_ops.plan; arg: the pending, which is released. */
void services_planned(void *arg, const struct eng_plan *plan, int code);
/** The object Plan. [new] */
json_t *services_view_plan(const struct eng_plan *plan, const struct services_pending *p);
/** Hand an event to the engine; its answer becomes the answer of the request. */
void services_submit(struct http_req *req, const struct face *face, struct eng_event *ev,
                     enum services_verb verb);

/* ---- names in the path ---- */

/** Decoded {s} of a read; NULL: it is no service name, and that is replied. free() */
char *services_path_name(struct http_req *req);
/** The same of a request that changes something: the status of the reply depends on the verb and the dialect. */
char *services_path_name_for(struct http_req *req, const struct face *face, enum services_verb verb);
/** Decoded {c} or {i}, as `element`; NULL: it cannot be decoded, and that is replied. free() */
char *services_path_element(struct http_req *req, const char *element);
/**
 * The caller's service of that name.
 *
 * @param code  of the reply's body; 0: none
 * @return it; NULL: there is none, and that is replied.              [borrowed until the next step]
 */
const struct eng_service *services_find(struct http_req *req, const struct face *face, const char *name,
                                        int code);

/** The same for a request of a kind: when there is none the reply is that of the engine to such a request. */
const struct eng_service *services_find_for(struct http_req *req, const struct face *face, const char *name,
                                            enum services_verb verb);

/** The instance of that name, when it has a container; NULL: not, and that is replied.      [borrowed until the next step] */
const struct eng_instance *services_find_placed(struct http_req *req, const struct eng_service *s,
                                                const char *instance);

/* ---- bodies ---- */

/** Whether there is no body, or a null. */
bool services_body_is_empty(const struct http_req *req);
/** A definition that was sent. */
struct services_definition {
    struct spec_service *spec;
    char *unknown; /* see struct services_pending */
};

/** Body as a Service; replies itself on error. @param out  spec NULL: it has replied [out] */
void services_read_definition(struct http_req *req, const struct face *face, bool is_strict,
                              struct services_definition *out);
/**
 * Members that no definition knows are ignored and named, or refused.
 *
 * @param name     of the service, or NULL: it has none
 * @param unknown  the members in words; "": all are known
 * @return whether the request goes on; else it is answered
 */
bool services_accept_unknown(struct http_req *req, const struct face *face, const char *name,
                             const char *unknown, bool is_strict);

#endif
