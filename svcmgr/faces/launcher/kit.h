/**
 * What the handlers of the FrameworkLauncher API share: replies, errors, names in the path, bodies, requests that the engine answers.
 *
 * Thread: owner loop.   Source: framework-launcher 1, 2.
 */
#ifndef LAUNCHER_KIT_H
#define LAUNCHER_KIT_H

#include "faces/face.h"
#include "http/server.h"
#include "launcher/descriptor.h"
#include "launcher/site.h"

/* ---- replies ---- */

/** Headers that every answer has: nothing of it is to be kept. */
void launcher_reply_head(struct http_req *req);
/** Reply 200 with a document, in the pretty form. */
void launcher_reply_json(struct http_req *req, json_t *take_doc);
struct launcher_walk_def;
/** Reply 200 with a document that is written in pieces. @param def  without look and arg, which are the face's; what is taken is taken */
void launcher_reply_walk(struct http_req *req, struct face *face, const struct launcher_walk_def *def);
/** Reply to a write that was accepted, without a body and with Location. @param status  200 or 202 */
void launcher_reply_done(struct http_req *req, int status);
/** Reply with an ExceptionMessage. @param status  400 … 503 @param message  lines for a person; what is not UTF-8 is replaced */
void launcher_reply_error(struct http_req *req, int status, const char *message);
/** Whether errors of a request have the form of this API: by its path. */
bool launcher_owns(const struct http_req *req);
/** write_error hook of the HTTP server: an ExceptionMessage. @return the media type. */
const char *launcher_write_error(struct http_req *req, int code, const struct err_info *why,
                                 struct buf *body);

/* ---- names in the path, bodies ---- */

/**
 * The framework of the path of a GET.
 *
 * @return it; NULL: there is none, and that is replied.   [borrowed until the next step]
 */
const struct eng_service *launcher_find(struct http_req *req, const struct face *face);
/** How the launcher is configured. [borrowed] */
const struct launcher_site *launcher_site_of(const struct face *face);
/** The framework of a name; NULL: there is none. [borrowed until the next step] */
const struct eng_service *launcher_framework(const struct face *face, const char *name);
/**
 * Name in a path of a write. @param element  "f", "r" or "c" @return free(); NULL: it breaks its rule, and that is replied
 */
char *launcher_path_name(struct http_req *req, const char *element);

/** A body that is a document of a type. */
struct launcher_body {
    const struct ldoc_type *type;
    void *object; /* NULL: the body is empty, or null */
    struct ldoc_report report;
};
/** Read the body; one that is empty, or null, passes until it is checked. @return false: it is no such document, and that is replied; nothing is to be released */
bool launcher_body_read(struct http_req *req, const struct ldoc_type *type, struct launcher_body *out);
/** Whether it is there and keeps all rules; else that is replied. After the names of the path. */
bool launcher_body_check(struct http_req *req, const struct launcher_body *b);
/** Release. */
void launcher_body_fini(struct launcher_body *b);
#define launcher_body_auto __attribute__((cleanup(launcher_body_fini)))

/* ---- requests that the engine answers ---- */

/** Statuses of what differs between the requests. */
struct launcher_verb {
    int done;    /* 200 or 202 */
    int missing; /* there is no such framework: 404, or as `done` */
};
/** Hand an event to the engine; its answer becomes the answer of the request. */
void launcher_submit(struct http_req *req, const struct face *face, struct eng_event *ev,
                     struct launcher_verb verb);

#endif
