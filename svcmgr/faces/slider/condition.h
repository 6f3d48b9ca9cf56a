/**
 * Entity tags of documents, and requests that are for one of them only.
 *
 * Thread: owner loop.   Source: RFC 9110 8.8.3, 13.1.1; slider-am 5.3.
 */
#ifndef SLIDER_CONDITION_H
#define SLIDER_CONDITION_H

#include <jansson.h>

#include "http/server.h"

#define SLIDER_TAG_ROOM 40

/** Write the entity tag of a document: quoted, the same for the same members in the same order. @param out  SLIDER_TAG_ROOM bytes [out] */
void slider_tag(const json_t *doc, char *out);
/** Whether a request's If-Match, if it has one, names a document; else 412 is replied. */
bool slider_tag_matches(struct http_req *req, const json_t *doc);

#endif
