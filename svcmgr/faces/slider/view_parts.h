/**
 * What the handlers of live views share.
 *
 * Thread: owner loop.   Source: ours.
 */
#ifndef SLIDER_VIEW_PARTS_H
#define SLIDER_VIEW_PARTS_H

#include "faces/face.h"
#include "http/server.h"
#include "slider/live.h"

/** From where services are looked at now. @param face  a struct face [borrowed] */
struct slider_look slider_look_of(void *face);
/** Reply with a document that was written. */
void slider_reply_written(struct http_req *req, int status, struct buf *take_text);
/** Reply 404: "Unknown container: X". */
void slider_reply_unknown(struct http_req *req, const char *what, const char *name);

/** A container that is shown. */
struct slider_container {
    const struct eng_instance *inst; /* NULL: none of an instance */
    bool is_master;
    bool is_released; /* it is about to be given back */
};
/** That of {i} in the path. @return false: the service has none, and that is replied */
bool slider_find_container(struct http_req *req, const struct face *face, const struct eng_service *s,
                           struct slider_container *out);
/** Reply with its ContainerInformation. */
void slider_reply_container(struct http_req *req, struct face *face, const struct eng_service *s,
                            const struct slider_container *c, int status);
/** Learn the nodes of the cluster: slider_look_of has them then. @param done  called once, now or later, also when they are not learned */
void slider_know_nodes(const struct face *face, void (*done)(void *arg), void *arg);
/** Reply with its NodeInformation. */
void slider_reply_node(struct http_req *req, struct face *face, const struct eng_service *s, const char *host,
                       int status);

#endif
