/** Placeholders of the handlers of live views: to be replaced. */
#include "slider/view.h"

#include "slider/kit.h"

void slider_live_get(struct http_req *req, void *app)
{
    (void)app;
    slider_reply_error(req, 501, "not there yet");
}

void slider_live_resources_get(struct http_req *req, void *app)
{
    (void)app;
    slider_reply_error(req, 501, "not there yet");
}

void slider_containers_get(struct http_req *req, void *app)
{
    (void)app;
    slider_reply_error(req, 501, "not there yet");
}

void slider_container_get(struct http_req *req, void *app)
{
    (void)app;
    slider_reply_error(req, 501, "not there yet");
}

void slider_container_logs_get(struct http_req *req, void *app)
{
    (void)app;
    slider_reply_error(req, 501, "not there yet");
}

void slider_container_delete(struct http_req *req, void *app)
{
    (void)app;
    slider_reply_error(req, 501, "not there yet");
}

void slider_components_get(struct http_req *req, void *app)
{
    (void)app;
    slider_reply_error(req, 501, "not there yet");
}

void slider_component_get(struct http_req *req, void *app)
{
    (void)app;
    slider_reply_error(req, 501, "not there yet");
}

void slider_component_containers_get(struct http_req *req, void *app)
{
    (void)app;
    slider_reply_error(req, 501, "not there yet");
}

void slider_component_container_get(struct http_req *req, void *app)
{
    (void)app;
    slider_reply_error(req, 501, "not there yet");
}

void slider_instances_get(struct http_req *req, void *app)
{
    (void)app;
    slider_reply_error(req, 501, "not there yet");
}

void slider_instance_get(struct http_req *req, void *app)
{
    (void)app;
    slider_reply_error(req, 501, "not there yet");
}

void slider_nodes_get(struct http_req *req, void *app)
{
    (void)app;
    slider_reply_error(req, 501, "not there yet");
}

void slider_node_get(struct http_req *req, void *app)
{
    (void)app;
    slider_reply_error(req, 501, "not there yet");
}

void slider_node_delete(struct http_req *req, void *app)
{
    (void)app;
    slider_reply_error(req, 501, "not there yet");
}

void slider_node_put(struct http_req *req, void *app)
{
    (void)app;
    slider_reply_error(req, 501, "not there yet");
}

void slider_liveness_get(struct http_req *req, void *app)
{
    (void)app;
    slider_reply_error(req, 501, "not there yet");
}

void slider_component_liveness_get(struct http_req *req, void *app)
{
    (void)app;
    slider_reply_error(req, 501, "not there yet");
}

void slider_statistics_get(struct http_req *req, void *app)
{
    (void)app;
    slider_reply_error(req, 501, "not there yet");
}

void slider_component_statistics_get(struct http_req *req, void *app)
{
    (void)app;
    slider_reply_error(req, 501, "not there yet");
}

void slider_diagnostics_get(struct http_req *req, void *app)
{
    (void)app;
    slider_reply_error(req, 501, "not there yet");
}
