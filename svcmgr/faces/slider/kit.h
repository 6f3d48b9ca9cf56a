/**
 * What the handlers of the Slider API share: replies, errors, the application of a request, requests that the engine answers.
 *
 * Thread: owner loop.   Source: slider-am 1.
 */
#ifndef SLIDER_KIT_H
#define SLIDER_KIT_H

#include <jansson.h>

#include "faces/face.h"
#include "http/server.h"
#include "slider/routes.h"

/* ---- replies ---- */

/** Headers that every answer has: nothing of it is to be kept. Those of actions and of internal documents may not be stored either. */
void slider_reply_head(struct http_req *req);
/** Reply with a document. @param status  200 or 202 */
void slider_reply_json(struct http_req *req, int status, json_t *take_doc);
/** Reply with names: ["a","b"]. @param names  ended by NULL [borrowed] */
void slider_reply_names(struct http_req *req, const char *const *names);
/** Reply 302 or 307. @param url  absolute, or a path of this server [borrowed] */
void slider_reply_redirect(struct http_req *req, int status, const char *url);
/** Send along, as the header Warning, which keys of documents are ignored; NULL: there is no such document. Source: slider-am 4.6 (V6, V7). */
void slider_reply_warnings(struct http_req *req, const json_t *resources, const json_t *app_conf);
/** Reply with an error. @param status  400 … 503 @param message  for a person; what is not UTF-8 is replaced [borrowed] */
void slider_reply_error(struct http_req *req, int status, const char *message);
/** The same with "where: text" of an error. */
void slider_reply_why(struct http_req *req, int status, const struct err_info *why);
/** Whether errors of a request have the form of this API: by its path. */
bool slider_owns(const struct http_req *req);
/** write_error hook of the HTTP server. @return the media type. */
const char *slider_write_error(struct http_req *req, int code, const struct err_info *why, struct buf *body);

/* ---- the application of a request ---- */

/**
 * The service whose application the path names: of any API, also one that has ended and was not started again. In an application
 * master, whose paths name none, the one that it runs.
 *
 * @return it; NULL: there is none, and that is replied: 404.   [borrowed until the next step]
 */
const struct eng_service *slider_find(struct http_req *req, const struct face *face);
/**
 * The same for a request about what runs, which an application master answers where there is one.
 *
 * @return it; NULL: there is none, or that answers: it is replied, now or later.   [borrowed until the next step]
 */
const struct eng_service *slider_find_running(struct http_req *req, const struct face *face);
/**
 * The same for a request that changes something: the caller must be its user or an administrator (403), it must be one of this API
 * (409), and run (503).
 *
 * @return it; NULL: that is replied.   [borrowed until the next step]
 */
const struct eng_service *slider_find_to_change(struct http_req *req, const struct face *face);
/** Whether the caller may change a service; else 403 is replied. */
bool slider_may_change(struct http_req *req, const struct face *face, const struct eng_service *s);
/**
 * A decoded element of the path.
 *
 * @param element  "i" of {i}                                                         [borrowed]
 * @return free(); NULL: it cannot be decoded, and that is replied: 400
 */
char *slider_path_element(struct http_req *req, const char *element);
/** URL of the application's service root as the client sees it: "http://host:9191/proxy/application_1_0001/ws/v1/slider". free() */
char *slider_root_url(const struct http_req *req);

/** Append the query of a request, and its user, to a URL without a query. */
void slider_add_query(const struct http_req *req, struct buf *url);

/* ---- requests that the engine answers ---- */

/** A request that follows another one about the same service, once the engine has taken that. */
struct slider_next {
    enum eng_event_kind kind;
    char **names; /* n_names of instances */
    size_t n_names;
    json_t *value;
};
/** A new one without names; slider_next_free. */
struct slider_next *slider_next_new(enum eng_event_kind kind);
/** Release; NULL is fine. */
void slider_next_free(struct slider_next *next);

/** What is replied once the engine has taken a request. */
struct slider_then {
    /** Reply, 202 as a rule, after the engine has taken it; NULL: 202 with doc. */
    void (*reply)(struct http_req *req, const struct face *face, json_t *take_doc);
    json_t *take_doc;              /* NULL: reply needs none */
    struct slider_next *take_next; /* what follows; NULL: nothing */
};
/** A request whose answer is due later. */
struct slider_pending;
/** Keep a request open until slider_hand_over or slider_refuse. Inside of the handler. */
struct slider_pending *slider_reply_later(struct http_req *req, const struct face *face,
                                          struct slider_then then);
/** Hand an event to the engine; its answer becomes the answer of the request: what then says, or an error. @param ev  as of app_ops.submit
 *  [borrowed] */
void slider_hand_over(struct slider_pending *take_p, struct eng_event *ev);
/** Nothing is done, why. */
void slider_refuse(struct slider_pending *take_p, int status, const struct err_info *why);
/** slider_reply_later and slider_hand_over. */
void slider_submit(struct http_req *req, const struct face *face, struct eng_event *ev,
                   struct slider_then then);

#endif
