/**
 * Bodies that are HTML forms: application/x-www-form-urlencoded.
 *
 * Thread: owner loop.   Source: slider-am 8.5; WHATWG URL.
 */
#ifndef SLIDER_FORM_H
#define SLIDER_FORM_H

#include <jansson.h>

#include "base/mem.h"
#include "faces/face.h"
#include "http/params.h"
#include "http/server.h"

/** Fields in the order of the body. */
struct slider_form {
    struct arena *arena;
    const struct http_pair *first; /* NULL: no body, or a body of another type */
    bool is_form;                  /* the body is a form */
};

/**
 * Read the body as a form, when its type says that it is one.
 *
 * @param out  slider_form_fini, also after false                                     [out]
 * @return false: it is malformed, and that is replied
 */
bool slider_form_read(struct http_req *req, struct slider_form *out);
/** Release. */
void slider_form_fini(struct slider_form *form);
#define slider_form_auto __attribute__((cleanup(slider_form_fini)))
/** First value of a field; NULL: it is not there. [borrowed] */
const char *slider_form_get(const struct slider_form *form, const char *name);
/** Reply 202 with a document; to a form with a field `redirect`, which holds a path of this server, 303 to that. */
void slider_reply_action(struct http_req *req, const struct face *face, json_t *take_doc);

#endif
