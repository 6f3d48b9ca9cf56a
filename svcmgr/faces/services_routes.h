/**
 * The parameters of the services API's routes, a row each (http/params.h), and the handlers. services_routes.c has the
 * rows of the routes.
 *
 * Thread: owner loop.   Source: YARN services API 1.
 */
#ifndef FACES_SERVICES_ROUTES_H
#define FACES_SERVICES_ROUTES_H

#include "http/server.h"

/** States of a service, in the words of both dialects: READY and STABLE are one. */
#define SERVICES_STATES                                                                                      \
    "ACCEPTED|STARTED|READY|STABLE|STOPPED|FAILED|SUCCEEDED|UPGRADING|UPGRADING_AUTO_FINALIZE|"              \
    "EXPRESS_UPGRADING|CANCEL_UPGRADING"
#define SERVICES_WAIT_MAX_MS 60000
#define SERVICES_LIST_MAX    10000

#define SERVICES_JSON "application/json;charset=utf-8"

#define SERVICE_ELEMENT(X, id) X(id, "s", HTTP_TEXT, NULL, "Name of the service.", .in = HTTP_IN_PATH)
#define PREFER_HEADER(X, id)                                                                                 \
    X(id, "Prefer", HTTP_CHOICE, NULL, "Whether the answer to a success has a body.", .in = HTTP_IN_HEADER,  \
      .choices = "return=representation|return=minimal")

#define STRICT_PARAM(X, id)                                                                                  \
    X(id, "strict", HTTP_BOOL, "false",                                                                      \
      "Refuses a body with members that no definition knows; else they are ignored and named.")

#define PLAN_PARAM(X, id)                                                                                    \
    X(id, "plan", HTTP_BOOL, "false", "Does nothing: answers 200 with what the request would do.")
#define IF_NONE_MATCH(X, id)                                                                                 \
    X(id, "If-None-Match", HTTP_TEXT, NULL, "Answers 304 without a body when the entity tag is this one.",   \
      .in = HTTP_IN_HEADER)

#define CREATE_PARAMS(X)                                                                                     \
    STRICT_PARAM(X, CREATE_STRICT)                                                                           \
    PLAN_PARAM(X, CREATE_PLAN)                                                                               \
    PREFER_HEADER(X, CREATE_PREFER)
#define LIST_PARAMS(X)                                                                                       \
    X(LIST_STATE, "state", HTTP_CHOICE, NULL,                                                                \
      "Lists the services in this state; ANY: in any. Without it those that run are listed.",                \
      .choices = "ANY|" SERVICES_STATES)                                                                     \
    X(LIST_NAME, "name", HTTP_TEXT, NULL, "Lists the services whose names begin so.")                        \
    X(LIST_USER, "user", HTTP_TEXT, NULL,                                                                    \
      "Lists the services of this user, `*` those of all, each with `user`; of others only for "             \
      "administrators (yarn.service.api-server.admin.users).")                                               \
    X(LIST_LIMIT, "limit", HTTP_INT, HTTP_DEFAULT_MAX,                                                       \
      "Bounds the services of one answer; when there are more it has the header Bobbin-Cursor.",             \
      .unit = "services", .min = 1, .max = SERVICES_LIST_MAX)                                                \
    X(LIST_CURSOR, "cursor", HTTP_TEXT, NULL, "Continues where the answer with this Bobbin-Cursor ended.")   \
    IF_NONE_MATCH(X, LIST_IF_NONE_MATCH)
#define SERVICE_PARAMS(X)                                                                                    \
    SERVICE_ELEMENT(X, SERVICE_NAME)                                                                         \
    X(SERVICE_EXPLAIN, "explain", HTTP_BOOL, "false", "Says what each instance waits for.")                  \
    X(SERVICE_WAIT, "wait", HTTP_CHOICE, NULL,                                                               \
      "Answers when the service is in this state, or ends so that it never will be; CHANGE: when it is not " \
      "what If-None-Match names.",                                                                           \
      .choices = "CHANGE|" SERVICES_STATES)                                                                  \
    X(SERVICE_TIMEOUT, "timeout", HTTP_TIME, "30s", "Bounds `wait`: then the service is answered as it is.", \
      .max = SERVICES_WAIT_MAX_MS)                                                                           \
    IF_NONE_MATCH(X, SERVICE_IF_NONE_MATCH)
#define CHANGE_PARAMS(X)                                                                                     \
    SERVICE_ELEMENT(X, CHANGE_NAME)                                                                          \
    STRICT_PARAM(X, CHANGE_STRICT)                                                                           \
    PLAN_PARAM(X, CHANGE_PLAN)                                                                               \
    X(CHANGE_REVERT, "auto_revert", HTTP_BOOL, NULL,                                                         \
      "Of an upgrade: goes back by itself when an instance fails. Default: the property "                    \
      "yarn.service.upgrade.auto-revert.")                                                                   \
    PREFER_HEADER(X, CHANGE_PREFER)
#define DESTROY_PARAMS(X)                                                                                    \
    SERVICE_ELEMENT(X, DESTROY_NAME)                                                                         \
    PREFER_HEADER(X, DESTROY_PREFER)
#define COMPONENT_ELEMENT(X, id) X(id, "c", HTTP_TEXT, NULL, "Name of the component.", .in = HTTP_IN_PATH)
#define COMPONENT_PARAMS(X)                                                                                  \
    SERVICE_ELEMENT(X, COMPONENT_SERVICE)                                                                    \
    COMPONENT_ELEMENT(X, COMPONENT_NAME)                                                                     \
    STRICT_PARAM(X, COMPONENT_STRICT)                                                                        \
    PLAN_PARAM(X, COMPONENT_PLAN)                                                                            \
    PREFER_HEADER(X, COMPONENT_PREFER)
#define INSTANCE_ELEMENT(X, id)                                                                              \
    X(id, "i", HTTP_TEXT, NULL, "Name of the instance: `hello-0`.", .in = HTTP_IN_PATH)
#define COMPONENTS_PARAMS(X)                                                                                 \
    SERVICE_ELEMENT(X, COMPONENTS_SERVICE)                                                                   \
    STRICT_PARAM(X, COMPONENTS_STRICT)                                                                       \
    PLAN_PARAM(X, COMPONENTS_PLAN)                                                                           \
    PREFER_HEADER(X, COMPONENTS_PREFER)
#define INSTANCES_PARAMS(X)                                                                                  \
    SERVICE_ELEMENT(X, INSTANCES_SERVICE)                                                                    \
    STRICT_PARAM(X, INSTANCES_STRICT)                                                                        \
    PLAN_PARAM(X, INSTANCES_PLAN)                                                                            \
    PREFER_HEADER(X, INSTANCES_PREFER)
#define INSTANCE_PARAMS(X)                                                                                   \
    SERVICE_ELEMENT(X, INSTANCE_SERVICE)                                                                     \
    COMPONENT_ELEMENT(X, INSTANCE_COMPONENT)                                                                 \
    INSTANCE_ELEMENT(X, INSTANCE_NAME)                                                                       \
    STRICT_PARAM(X, INSTANCE_STRICT)                                                                         \
    PLAN_PARAM(X, INSTANCE_PLAN)                                                                             \
    PREFER_HEADER(X, INSTANCE_PREFER)
#define READ_COMPONENTS_PARAMS(X) SERVICE_ELEMENT(X, READ_COMPONENTS_SERVICE)
#define READ_COMPONENT_PARAMS(X)                                                                             \
    SERVICE_ELEMENT(X, READ_COMPONENT_SERVICE)                                                               \
    COMPONENT_ELEMENT(X, READ_COMPONENT_NAME)
#define READ_INSTANCE_PARAMS(X)                                                                              \
    SERVICE_ELEMENT(X, READ_INSTANCE_SERVICE)                                                                \
    INSTANCE_ELEMENT(X, READ_INSTANCE_NAME)
#define READ_INSTANCES_PARAMS(X)                                                                             \
    SERVICE_ELEMENT(X, READ_INSTANCES_SERVICE)                                                               \
    X(INSTANCES_COMPONENT, "componentName", HTTP_TEXT, NULL,                                                 \
      "Lists the instances of this component; may be sent several times.")                                   \
    X(INSTANCES_VERSION, "version", HTTP_TEXT, NULL, "Lists the instances that run this version.")           \
    X(INSTANCES_STATE, "containerState", HTTP_TEXT, NULL,                                                    \
      "Lists the instances whose container is in this state; may be sent several times.")
#define RESTART_PARAMS(X)                                                                                    \
    SERVICE_ELEMENT(X, RESTART_SERVICE)                                                                      \
    INSTANCE_ELEMENT(X, RESTART_INSTANCE)                                                                    \
    PREFER_HEADER(X, RESTART_PREFER)
#define SIGNAL_PARAMS(X)                                                                                     \
    SERVICE_ELEMENT(X, SIGNAL_SERVICE)                                                                       \
    INSTANCE_ELEMENT(X, SIGNAL_INSTANCE)                                                                     \
    X(SIGNAL_NAME, "signal", HTTP_TEXT, NULL, "Name or number of the signal: `HUP`, `SIGHUP`, `1`.",         \
      .is_required = true)
#define EXEC_PARAMS(X)                                                                                       \
    SERVICE_ELEMENT(X, EXEC_SERVICE)                                                                         \
    INSTANCE_ELEMENT(X, EXEC_INSTANCE)                                                                       \
    X(EXEC_COMMAND, "command", HTTP_TEXT, NULL,                                                              \
      "The program, and each of its arguments by one more of these. Default: bash, where there is none sh.", \
      .is_private = true)                                                                                    \
    X(EXEC_TTY, "tty", HTTP_BOOL, "false",                                                                   \
      "Gives it a terminal: its standard error comes with its standard output then.")                        \
    X(EXEC_ROWS, "rows", HTTP_INT, "24", "Lines of the terminal.", .unit = "lines", .max = UINT16_MAX)       \
    X(EXEC_COLUMNS, "columns", HTTP_INT, "80", "Columns of the terminal.", .unit = "columns",                \
      .max = UINT16_MAX)                                                                                     \
    X(EXEC_TERM, "term", HTTP_TEXT, NULL, "TERM of the command: `xterm-256color`.")                          \
    X(EXEC_UPGRADE, "Upgrade", HTTP_CHOICE, NULL,                                                            \
      "The protocol of the connection after 101, with Connection: Upgrade.", .in = HTTP_IN_HEADER,           \
      .choices = "bobbin-exec")
#define USAGE_PARAMS(X) SERVICE_ELEMENT(X, USAGE_SERVICE)
#define EVENTS_PARAMS(X)                                                                                     \
    SERVICE_ELEMENT(X, EVENTS_SERVICE)                                                                       \
    X(EVENTS_SINCE, "since", HTTP_INT, "0", "Begins at this event: `next` of the read before.",              \
      .unit = "events", .max = INT64_MAX)                                                                    \
    X(EVENTS_WAIT, "wait", HTTP_BOOL, "false", "Waits for an event when there is none.")                     \
    X(EVENTS_TIMEOUT, "timeout", HTTP_TIME, "30s", "Longest wait.", .min = 0, .max = 60000)
#define LOGS_PARAMS(X)                                                                                       \
    SERVICE_ELEMENT(X, LOGS_SERVICE)                                                                         \
    X(LOGS_INSTANCE, "i", HTTP_TEXT, NULL, "Name of the instance, or id of a container.",                    \
      .in = HTTP_IN_PATH)                                                                                    \
    X(LOGS_FILE, "file", HTTP_TEXT, NULL, "`stdout.txt`, `stderr.txt`, or an older one: `stdout.txt.1`.",    \
      .in = HTTP_IN_PATH)                                                                                    \
    X(LOGS_OFFSET, "offset", HTTP_INT, "0", "Begins at this byte.", .unit = "bytes")
#define MASTER_LOGS_PARAMS(X)                                                                                \
    SERVICE_ELEMENT(X, MASTER_LOGS_SERVICE)                                                                  \
    X(MASTER_LOGS_FILE, "file", HTTP_TEXT, NULL, "`serviceam-err.txt`, `serviceam-out.txt`.",                \
      .in = HTTP_IN_PATH)                                                                                    \
    X(MASTER_LOGS_OFFSET, "offset", HTTP_INT, "0", "Begins at this byte.", .unit = "bytes")

enum { HTTP_PARAM_IDS(CREATE_PARAMS) };
enum { HTTP_PARAM_IDS(LIST_PARAMS) };
enum { HTTP_PARAM_IDS(SERVICE_PARAMS) };
enum { HTTP_PARAM_IDS(CHANGE_PARAMS) };
enum { HTTP_PARAM_IDS(DESTROY_PARAMS) };
enum { HTTP_PARAM_IDS(COMPONENT_PARAMS) };
enum { HTTP_PARAM_IDS(COMPONENTS_PARAMS) };
enum { HTTP_PARAM_IDS(INSTANCES_PARAMS) };
enum { HTTP_PARAM_IDS(INSTANCE_PARAMS) };
enum { HTTP_PARAM_IDS(READ_COMPONENTS_PARAMS) };
enum { HTTP_PARAM_IDS(READ_COMPONENT_PARAMS) };
enum { HTTP_PARAM_IDS(READ_INSTANCE_PARAMS) };
enum { HTTP_PARAM_IDS(READ_INSTANCES_PARAMS) };
enum { HTTP_PARAM_IDS(RESTART_PARAMS) };
enum { HTTP_PARAM_IDS(SIGNAL_PARAMS) };
enum { HTTP_PARAM_IDS(EXEC_PARAMS) };
enum { HTTP_PARAM_IDS(USAGE_PARAMS) };
enum { HTTP_PARAM_IDS(EVENTS_PARAMS) };
enum { HTTP_PARAM_IDS(LOGS_PARAMS) };
enum { HTTP_PARAM_IDS(MASTER_LOGS_PARAMS) };

/** The routes, under /app/v1 and, as second mount, /v1. */
extern const struct http_route services_routes[];
extern const size_t services_n_routes;
/** JSON schemas that the rows name: schemas/NAME.json. */
extern const struct http_schema services_schemas[];

/* One handler a route: services_{create,list,read,change,component,instances,operate,exec,upgrade}.c; that of the logs is in logs.h. */
void services_post(struct http_req *req, void *app);
void services_list(struct http_req *req, void *app);
void services_version(struct http_req *req, void *app);
void service_get(struct http_req *req, void *app);
void service_events(struct http_req *req, void *app);
void service_post(struct http_req *req, void *app);
void service_put(struct http_req *req, void *app);
void service_delete(struct http_req *req, void *app);
void component_put(struct http_req *req, void *app);
void component_get(struct http_req *req, void *app);
void components_get(struct http_req *req, void *app);
void components_put(struct http_req *req, void *app);
void instance_get(struct http_req *req, void *app);
void instance_restart(struct http_req *req, void *app);
void instance_signal(struct http_req *req, void *app);
void instance_exec(struct http_req *req, void *app);
void service_usage(struct http_req *req, void *app);
void instance_put(struct http_req *req, void *app);
void instances_get(struct http_req *req, void *app);
void instances_put(struct http_req *req, void *app);

#endif
