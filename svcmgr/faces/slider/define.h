/**
 * From changed documents to what the engine runs: checks, definition, rules, and the request to the engine.
 *
 * Thread: owner loop.   Source: slider-am 4.6, 5.3.
 */
#ifndef SLIDER_DEFINE_H
#define SLIDER_DEFINE_H

#include "slider/documents.h"
#include "slider/kit.h"

/** All borrowed. */
struct slider_change {
    const struct eng_service *s; /* NULL: it is to be made */
    const char *name;            /* of the application */
    const char *user;            /* whose it is */
    const struct slider_trees *trees;
    bool save; /* it is to be made, and not started */
};

/**
 * Store documents, and carry out what they change. What they say is checked first: 400.
 *
 * @param then  what is replied when that is done
 */
void slider_define(struct http_req *req, const struct face *face, const struct slider_change *c,
                   struct slider_then then);

#endif
