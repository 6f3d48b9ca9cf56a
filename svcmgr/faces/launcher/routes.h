/**
 * The parameters of the FrameworkLauncher API's routes and the handlers. routes.c has the rows of the routes. The app pointer of the
 * server is a `struct face`.
 *
 * Thread: owner loop.   Source: framework-launcher 2.
 */
#ifndef LAUNCHER_ROUTES_H
#define LAUNCHER_ROUTES_H

#include "http/server.h"

#define LAUNCHER_JSON    "application/json;charset=utf-8"
#define LAUNCHER_CLIENTS "UNKNOWN|LIB|DATA_DEPLOYMENT|APPLICATION_MASTER|CLI|WEB_UI"

#define LAUNCHER_FRAMEWORK_ELEMENT(X, id)                                                                    \
    X(id, "f", HTTP_TEXT, NULL, "Name of the framework.", .in = HTTP_IN_PATH)
#define LAUNCHER_USER_HEADER(X, id)                                                                          \
    X(id, "UserName", HTTP_TEXT, NULL, "Who acts, where access is controlled.", .in = HTTP_IN_HEADER)

#define LAUNCHER_LIST_PARAMS(X)                                                                              \
    X(LAUNCHER_LIST_USER, "UserName", HTTP_TEXT, NULL,                                                       \
      "Lists the frameworks whose descriptor has this user.")                                                \
    X(LAUNCHER_LIST_CLIENT, "LaunchClientType", HTTP_TEXT, NULL,                                             \
      "Lists the frameworks of clients of this type: " LAUNCHER_CLIENTS ".")
#define LAUNCHER_FRAMEWORK_PARAMS(X) LAUNCHER_FRAMEWORK_ELEMENT(X, LAUNCHER_FRAMEWORK_NAME)
#define LAUNCHER_WRITE_PARAMS(X)                                                                             \
    LAUNCHER_FRAMEWORK_ELEMENT(X, LAUNCHER_WRITE_NAME)                                                       \
    LAUNCHER_USER_HEADER(X, LAUNCHER_WRITE_USER)
#define LAUNCHER_PUT_PARAMS(X)                                                                               \
    LAUNCHER_FRAMEWORK_ELEMENT(X, LAUNCHER_PUT_NAME)                                                         \
    LAUNCHER_USER_HEADER(X, LAUNCHER_PUT_USER)                                                               \
    X(LAUNCHER_PUT_CLIENT, "LaunchClientType", HTTP_CHOICE, NULL, "What the client is.",                     \
      .in = HTTP_IN_HEADER, .choices = LAUNCHER_CLIENTS)
#define LAUNCHER_ROLE_PARAMS(X)                                                                              \
    LAUNCHER_FRAMEWORK_ELEMENT(X, LAUNCHER_ROLE_FRAMEWORK)                                                   \
    X(LAUNCHER_ROLE_NAME, "r", HTTP_TEXT, NULL, "Name of the task role.", .in = HTTP_IN_PATH)                \
    LAUNCHER_USER_HEADER(X, LAUNCHER_ROLE_USER)
#define LAUNCHER_CONTAINER_PARAMS(X)                                                                         \
    LAUNCHER_FRAMEWORK_ELEMENT(X, LAUNCHER_CONTAINER_FRAMEWORK)                                              \
    X(LAUNCHER_CONTAINER_ID, "c", HTTP_TEXT, NULL, "Id of the container.", .in = HTTP_IN_PATH)               \
    LAUNCHER_USER_HEADER(X, LAUNCHER_CONTAINER_USER)
#define LAUNCHER_CLUSTER_PARAMS(X) LAUNCHER_USER_HEADER(X, LAUNCHER_CLUSTER_USER)

enum { HTTP_PARAM_IDS(LAUNCHER_LIST_PARAMS) };
enum { HTTP_PARAM_IDS(LAUNCHER_FRAMEWORK_PARAMS) };
enum { HTTP_PARAM_IDS(LAUNCHER_WRITE_PARAMS) };
enum { HTTP_PARAM_IDS(LAUNCHER_PUT_PARAMS) };
enum { HTTP_PARAM_IDS(LAUNCHER_ROLE_PARAMS) };
enum { HTTP_PARAM_IDS(LAUNCHER_CONTAINER_PARAMS) };
enum { HTTP_PARAM_IDS(LAUNCHER_CLUSTER_PARAMS) };

extern const struct http_route launcher_routes[];
extern const size_t launcher_n_routes;
extern const struct http_schema launcher_schemas[];
/** The row of launcher_explanation_get, which application masters have, too. */
extern const struct http_route launcher_explanation_route;

/* status.c: what runs */
void launcher_active_get(struct http_req *req, void *app);
void launcher_frameworks_get(struct http_req *req, void *app);
void launcher_framework_get(struct http_req *req, void *app);
void launcher_status_get(struct http_req *req, void *app);
void launcher_aggregated_status_get(struct http_req *req, void *app);
void launcher_launcher_status_get(struct http_req *req, void *app);

/* explain.c: why what is not as wanted is not, and the names of tasks */
void launcher_explanation_get(struct http_req *req, void *app);

/* requests.c: what is wanted, as it is stored */
void launcher_request_get(struct http_req *req, void *app);
void launcher_aggregated_request_get(struct http_req *req, void *app);
void launcher_launcher_request_get(struct http_req *req, void *app);
void launcher_cluster_get(struct http_req *req, void *app);
void launcher_acl_get(struct http_req *req, void *app);

/* put.c: the framework as a whole */
void launcher_framework_put(struct http_req *req, void *app);
void launcher_framework_delete(struct http_req *req, void *app);

/* change.c: parts of it */
void launcher_task_number_put(struct http_req *req, void *app);
void launcher_execution_put(struct http_req *req, void *app);
void launcher_migrate_put(struct http_req *req, void *app);
void launcher_migrate_delete(struct http_req *req, void *app);
void launcher_progress_put(struct http_req *req, void *app);

/* cluster.c: documents of the launcher */
void launcher_cluster_put(struct http_req *req, void *app);
void launcher_acl_put(struct http_req *req, void *app);
void launcher_deployment_put(struct http_req *req, void *app);

#endif
