/**
 * The handlers of live views of the Slider API: what runs of an application.
 *
 * Thread: owner loop.   Source: slider-am 6, 8.1 to 8.3.
 */
#ifndef SLIDER_VIEW_H
#define SLIDER_VIEW_H

#include "http/server.h"

void slider_live_get(struct http_req *req, void *app);
void slider_live_resources_get(struct http_req *req, void *app);
void slider_containers_get(struct http_req *req, void *app);
void slider_container_get(struct http_req *req, void *app);
void slider_container_logs_get(struct http_req *req, void *app);
/** A piece of a file that a container has written: see faces/logs.h. */
void slider_container_log_get(struct http_req *req, void *app);
void slider_container_delete(struct http_req *req, void *app);
void slider_components_get(struct http_req *req, void *app);
void slider_component_get(struct http_req *req, void *app);
void slider_component_containers_get(struct http_req *req, void *app);
void slider_component_container_get(struct http_req *req, void *app);
void slider_instances_get(struct http_req *req, void *app);
void slider_instance_get(struct http_req *req, void *app);
void slider_nodes_get(struct http_req *req, void *app);
void slider_node_get(struct http_req *req, void *app);
void slider_node_delete(struct http_req *req, void *app);
void slider_node_put(struct http_req *req, void *app);
void slider_liveness_get(struct http_req *req, void *app);
void slider_component_liveness_get(struct http_req *req, void *app);
void slider_statistics_get(struct http_req *req, void *app);
void slider_component_statistics_get(struct http_req *req, void *app);
/** What happened, from an event on: {"events": [{"number", "time", "object", "what", "why"}…], "next": N}. Ours. */
void slider_events_get(struct http_req *req, void *app);
void slider_diagnostics_get(struct http_req *req, void *app);

#endif
