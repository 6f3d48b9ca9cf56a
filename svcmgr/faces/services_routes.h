/**
 * The parameters of the services API's routes, a row each (http/params.h), and the handlers. services_routes.c has the
 * rows of the routes.
 *
 * Thread: owner loop.   Source: YARN services API 1.
 */
#ifndef FACES_SERVICES_ROUTES_H
#define FACES_SERVICES_ROUTES_H

#include "http/server.h"

#define SERVICES_JSON "application/json;charset=utf-8"

#define SERVICE_ELEMENT(X, id) X(id, "s", HTTP_TEXT, NULL, "Name of the service.", .in = HTTP_IN_PATH)
#define PREFER_HEADER(X, id)                                                                                 \
    X(id, "Prefer", HTTP_CHOICE, NULL, "Whether the answer to a success has a body.", .in = HTTP_IN_HEADER,  \
      .choices = "return=representation|return=minimal")

#define STRICT_PARAM(X, id)                                                                                  \
    X(id, "strict", HTTP_BOOL, "false",                                                                      \
      "Refuses a body with members that no definition knows; else they are ignored and named.")

#define CREATE_PARAMS(X)                                                                                     \
    STRICT_PARAM(X, CREATE_STRICT)                                                                           \
    PREFER_HEADER(X, CREATE_PREFER)
#define SERVICE_PARAMS(X)                                                                                    \
    SERVICE_ELEMENT(X, SERVICE_NAME)                                                                         \
    X(SERVICE_EXPLAIN, "explain", HTTP_BOOL, "false", "Says what each instance waits for.")
#define CHANGE_PARAMS(X)                                                                                     \
    SERVICE_ELEMENT(X, CHANGE_NAME)                                                                          \
    STRICT_PARAM(X, CHANGE_STRICT)                                                                           \
    PREFER_HEADER(X, CHANGE_PREFER)
#define DESTROY_PARAMS(X)                                                                                    \
    SERVICE_ELEMENT(X, DESTROY_NAME)                                                                         \
    PREFER_HEADER(X, DESTROY_PREFER)
#define COMPONENT_PARAMS(X)                                                                                  \
    SERVICE_ELEMENT(X, COMPONENT_SERVICE)                                                                    \
    X(COMPONENT_NAME, "c", HTTP_TEXT, NULL, "Name of the component.", .in = HTTP_IN_PATH)                    \
    STRICT_PARAM(X, COMPONENT_STRICT)                                                                        \
    PREFER_HEADER(X, COMPONENT_PREFER)
#define LOGS_PARAMS(X)                                                                                       \
    SERVICE_ELEMENT(X, LOGS_SERVICE)                                                                         \
    X(LOGS_INSTANCE, "i", HTTP_TEXT, NULL, "Name of the instance, or id of a container.",                    \
      .in = HTTP_IN_PATH)                                                                                    \
    X(LOGS_FILE, "file", HTTP_TEXT, NULL, "`stdout.txt`, `stderr.txt`, or an older one: `stdout.txt.1`.",    \
      .in = HTTP_IN_PATH)                                                                                    \
    X(LOGS_OFFSET, "offset", HTTP_INT, "0", "Begins at this byte.", .unit = "bytes")

enum { HTTP_PARAM_IDS(CREATE_PARAMS) };
enum { HTTP_PARAM_IDS(SERVICE_PARAMS) };
enum { HTTP_PARAM_IDS(CHANGE_PARAMS) };
enum { HTTP_PARAM_IDS(DESTROY_PARAMS) };
enum { HTTP_PARAM_IDS(COMPONENT_PARAMS) };
enum { HTTP_PARAM_IDS(LOGS_PARAMS) };

/** The routes, under /app/v1 and, as second mount, /v1. */
extern const struct http_route services_routes[];
extern const size_t services_n_routes;
/** JSON schemas that the rows name: schemas/NAME.json. */
extern const struct http_schema services_schemas[];

/* One handler a route: services.c; that of the logs is in logs.h. */
void services_post(struct http_req *req, void *app);
void services_list(struct http_req *req, void *app);
void services_version(struct http_req *req, void *app);
void service_get(struct http_req *req, void *app);
void service_post(struct http_req *req, void *app);
void service_put(struct http_req *req, void *app);
void service_delete(struct http_req *req, void *app);
void component_put(struct http_req *req, void *app);

#endif
