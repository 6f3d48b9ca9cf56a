/**
 * The parameters of the Slider API's routes and the handlers of requests. routes.c has the rows of the routes, view.h the handlers of
 * live views. The app pointer of the server is a `struct face`.
 *
 * What is about one application begins with /proxy/{a}, as at the proxy of a YARN cluster; an application master serves the same
 * rows without that.
 *
 * Thread: owner loop.   Source: slider-am 2.
 */
#ifndef SLIDER_ROUTES_H
#define SLIDER_ROUTES_H

#include "http/server.h"

#define SLIDER_JSON "application/json"
/** What the rows about one application begin with. */
#define SLIDER_PROXY "/proxy/{a}"

#define SLIDER_APPLICATION_ELEMENT(X, id)                                                                    \
    X(id, "a", HTTP_TEXT, NULL, "Id of the application.", .in = HTTP_IN_PATH)
#define SLIDER_NAME_ELEMENT(X, id) X(id, "n", HTTP_TEXT, NULL, "Name of the application.", .in = HTTP_IN_PATH)
#define SLIDER_CONDITION(X, id)                                                                              \
    X(id, "If-Match", HTTP_TEXT, NULL, "Changes the document only while its entity tag is this.",            \
      .in = HTTP_IN_HEADER)
#define SLIDER_WAIT(X, id)                                                                                   \
    X(id##_PREFER, "Prefer", HTTP_TEXT, NULL, "wait=N: answers when all is as wanted, or after N seconds.",  \
      .in = HTTP_IN_HEADER)                                                                                  \
    X(id, "timeout", HTTP_INT, NULL, "The same: most seconds to wait.", .unit = "seconds")

#define SLIDER_ONE_PARAMS(X) SLIDER_APPLICATION_ELEMENT(X, SLIDER_ONE_APPLICATION)
#define SLIDER_PUT_PARAMS(X)                                                                                 \
    SLIDER_APPLICATION_ELEMENT(X, SLIDER_PUT_APPLICATION)                                                    \
    SLIDER_CONDITION(X, SLIDER_PUT_CONDITION)
#define SLIDER_WAIT_PARAMS(X)                                                                                \
    SLIDER_APPLICATION_ELEMENT(X, SLIDER_WAIT_APPLICATION)                                                   \
    SLIDER_WAIT(X, SLIDER_WAIT_TIMEOUT)
#define SLIDER_COMPONENT_PARAMS(X)                                                                           \
    SLIDER_APPLICATION_ELEMENT(X, SLIDER_COMPONENT_APPLICATION)                                              \
    X(SLIDER_COMPONENT_NAME, "c", HTTP_TEXT, NULL, "Name of the component.", .in = HTTP_IN_PATH)             \
    SLIDER_WAIT(X, SLIDER_COMPONENT_TIMEOUT)
#define SLIDER_CONTAINER_PARAMS(X)                                                                           \
    SLIDER_APPLICATION_ELEMENT(X, SLIDER_CONTAINER_APPLICATION)                                              \
    X(SLIDER_CONTAINER_ID, "i", HTTP_TEXT, NULL, "Id of the container.", .in = HTTP_IN_PATH)
#define SLIDER_RELEASE_PARAMS(X)                                                                             \
    SLIDER_APPLICATION_ELEMENT(X, SLIDER_RELEASE_APPLICATION)                                                \
    X(SLIDER_RELEASE_ID, "i", HTTP_TEXT, NULL, "Id of the container.", .in = HTTP_IN_PATH)                   \
    X(SLIDER_RELEASE_REPLACE, "replace", HTTP_BOOL, "true",                                                  \
      "false: the component has one instance less, and nothing takes its place.")
#define SLIDER_LOG_PARAMS(X)                                                                                 \
    SLIDER_APPLICATION_ELEMENT(X, SLIDER_LOG_APPLICATION)                                                    \
    X(SLIDER_LOG_ID, "i", HTTP_TEXT, NULL, "Id of the container.", .in = HTTP_IN_PATH)                       \
    X(SLIDER_LOG_FILE, "file", HTTP_TEXT, NULL, "Name of the file: stdout.txt, stderr.txt.",                 \
      .in = HTTP_IN_PATH)                                                                                    \
    X(SLIDER_LOG_OFFSET, "offset", HTTP_INT, "0", "First byte to read.", .unit = "bytes")
#define SLIDER_EVENTS_PARAMS(X)                                                                              \
    SLIDER_APPLICATION_ELEMENT(X, SLIDER_EVENTS_APPLICATION)                                                 \
    X(SLIDER_EVENTS_SINCE, "since", HTTP_INT, "0", "Number of the first event to read.")                     \
    SLIDER_WAIT(X, SLIDER_EVENTS_TIMEOUT)
#define SLIDER_NODE_PARAMS(X)                                                                                \
    SLIDER_APPLICATION_ELEMENT(X, SLIDER_NODE_APPLICATION)                                                   \
    X(SLIDER_NODE_HOST, "h", HTTP_TEXT, NULL, "Name of the node.", .in = HTTP_IN_PATH)
#define SLIDER_NAMED_PARAMS(X) SLIDER_NAME_ELEMENT(X, SLIDER_NAMED_NAME)
#define SLIDER_LIST_PARAMS(X)  X(SLIDER_LIST_ALL, "all", HTTP_BOOL, "false", "Lists also what has ended.")

enum { HTTP_PARAM_IDS(SLIDER_ONE_PARAMS) };
enum { HTTP_PARAM_IDS(SLIDER_PUT_PARAMS) };
enum { HTTP_PARAM_IDS(SLIDER_WAIT_PARAMS) };
enum { HTTP_PARAM_IDS(SLIDER_COMPONENT_PARAMS) };
enum { HTTP_PARAM_IDS(SLIDER_CONTAINER_PARAMS) };
enum { HTTP_PARAM_IDS(SLIDER_RELEASE_PARAMS) };
enum { HTTP_PARAM_IDS(SLIDER_LOG_PARAMS) };
enum { HTTP_PARAM_IDS(SLIDER_EVENTS_PARAMS) };
enum { HTTP_PARAM_IDS(SLIDER_NODE_PARAMS) };
enum { HTTP_PARAM_IDS(SLIDER_NAMED_PARAMS) };
enum { HTTP_PARAM_IDS(SLIDER_LIST_PARAMS) };

/** Rows about one application: each pattern begins with SLIDER_PROXY. */
extern const struct http_route slider_routes[];
extern const size_t slider_n_routes;
/** Rows about all: of svcmgr alone. */
extern const struct http_route slider_named_routes[];
extern const size_t slider_named_n_routes;
extern const struct http_schema slider_schemas[];

/** The check of rows: an answer to the request would have a type that the client takes (406). Source: slider-am 1.2. */
int slider_check_accept(struct http_req *req, void *app, struct err_info *why); /* kit.c */

/* model.c */
void slider_application_get(struct http_req *req, void *app);
void slider_model_get(struct http_req *req, void *app);
void slider_desired_get(struct http_req *req, void *app);
void slider_desired_resources_get(struct http_req *req, void *app);
void slider_desired_appconf_get(struct http_req *req, void *app);
void slider_resolved_get(struct http_req *req, void *app);
void slider_resolved_resources_get(struct http_req *req, void *app);
void slider_resolved_appconf_get(struct http_req *req, void *app);
void slider_internal_get(struct http_req *req, void *app);
/* change.c: documents that are put */
void slider_desired_resources_put(struct http_req *req, void *app);
void slider_desired_appconf_put(struct http_req *req, void *app);
/* action.c */
void slider_ping(struct http_req *req, void *app);
void slider_stop_post(struct http_req *req, void *app);
void slider_flex_post(struct http_req *req, void *app);
/* upgrade.c */
void slider_upgrade_post(struct http_req *req, void *app);
void slider_upgrade_get(struct http_req *req, void *app);
/* publisher.c, management.c */
void slider_registry_get(struct http_req *req, void *app);
void slider_publisher_get(struct http_req *req, void *app);
void slider_classpath_get(struct http_req *req, void *app);
void slider_exports_get(struct http_req *req, void *app);
void slider_export_get(struct http_req *req, void *app);
void slider_config_set_get(struct http_req *req, void *app);
void slider_config_get(struct http_req *req, void *app);
void slider_property_get(struct http_req *req, void *app);
void slider_management_get(struct http_req *req, void *app);
void slider_management_app_get(struct http_req *req, void *app);
void slider_management_conf_get(struct http_req *req, void *app);
/* named.c: applications by the name that their user gave */
void slider_applications_get(struct http_req *req, void *app);
void slider_named_get(struct http_req *req, void *app);
void slider_named_put(struct http_req *req, void *app);
void slider_named_delete(struct http_req *req, void *app);
void slider_named_start(struct http_req *req, void *app);
void slider_named_stop(struct http_req *req, void *app);
void slider_named_redirect(struct http_req *req, void *app);

#endif
