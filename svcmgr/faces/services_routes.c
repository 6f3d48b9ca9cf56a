#include "faces/services_routes.h"

#include "base/obj.h"
#include "faces/logs.h"

#define MAX_BODY         ((size_t)4 << 20)
#define MAX_IGNORED_BODY 4096

#define CHANGED                                                                                              \
    HTTP_ANSWERS({200, SERVICES_JSON, "Changed", "Done; or what would be done."},                            \
                 {202, SERVICES_JSON, "ServiceStatus", "Accepted."},                                         \
                 {204, NULL, NULL, "Done, without a body."})
#define NOT_MODIFIED                                                                                         \
    {                                                                                                        \
        304, NULL, NULL, "It is what If-None-Match names."                                                   \
    }
#define SERVICES_ERRORS HTTP_ERRORS(ERR_INVALID, ERR_NOTFOUND, ERR_TOOBIG, ERR_IO, ERR_UNAVAILABLE)

#define READ(path, handler, text)                                                                            \
    .method = "GET", .pattern = path, .max_body = MAX_IGNORED_BODY, .handle = handler, .summary = text
#define WRITE(verb, path, handler, text)                                                                     \
    .method = verb, .pattern = path, .flags = HTTP_JSON_OPTIONAL | HTTP_DONE_ONCE, .max_body = MAX_BODY,     \
    .handle = handler, .summary = text, .answers = CHANGED, .errors = SERVICES_ERRORS

/** The rows of one mount. Only those of events and logs, which Hadoop does not have, are strict: clients of Hadoop's API may send what they like. */
#define MOUNT(prefix)                                                                                        \
    {WRITE("POST", prefix "/services", services_post, "Create a service, or save its definition."),          \
     .params = HTTP_PARAMS(CREATE_PARAMS), .body = "NewService"},                                            \
        {READ(prefix "/services", services_list, "List services: the caller's that run, or others."),        \
         .params = HTTP_PARAMS(LIST_PARAMS),                                                                 \
         .answers = HTTP_ANSWERS({200, SERVICES_JSON, "Services", "The services."}, NOT_MODIFIED),           \
         .errors = HTTP_ERRORS(ERR_PERMISSION)},                                                             \
        {READ(prefix "/services/version", services_version, "Show the version of the server."),              \
         .answers = HTTP_ANSWERS({200, SERVICES_JSON, "HadoopVersion", "The version."})},                    \
        {READ(prefix "/services/{s}", service_get, "Read a service and what runs of it."),                   \
         .params = HTTP_PARAMS(SERVICE_PARAMS),                                                              \
         .answers = HTTP_ANSWERS({200, SERVICES_JSON, "Service", "The service."}, NOT_MODIFIED),             \
         .errors = SERVICES_ERRORS},                                                                         \
        {READ(prefix "/services/{s}/events", service_events, "Read what happened to a service."),            \
         .flags = HTTP_STRICT_QUERY, .params = HTTP_PARAMS(EVENTS_PARAMS),                                   \
         .answers = HTTP_ANSWERS({200, SERVICES_JSON, "Events", "What happened, oldest first."}),            \
         .errors = SERVICES_ERRORS},                                                                         \
        {WRITE("POST", prefix "/services/{s}", service_post, "Create a service of this name."),              \
         .params = HTTP_PARAMS(CHANGE_PARAMS), .body = "Service"},                                           \
        {WRITE("PUT", prefix "/services/{s}", service_put,                                                   \
               "Flex, stop, start a service, or change its lifetime."),                                      \
         .params = HTTP_PARAMS(CHANGE_PARAMS), .body = "Service"},                                           \
        {.method = "DELETE",                                                                                 \
         .pattern = prefix "/services/{s}",                                                                  \
         .flags = HTTP_DONE_ONCE,                                                                            \
         .max_body = MAX_IGNORED_BODY,                                                                       \
         .handle = service_delete,                                                                           \
         .summary = "Stop and destroy a service.",                                                           \
         .params = HTTP_PARAMS(DESTROY_PARAMS),                                                              \
         .answers = CHANGED,                                                                                 \
         .errors = SERVICES_ERRORS},                                                                         \
        {WRITE("PUT", prefix "/services/{s}/components/{c}", component_put,                                  \
               "Change the number of containers of a component."),                                           \
         .params = HTTP_PARAMS(COMPONENT_PARAMS), .body = "Component"},                                      \
        {WRITE("PUT", prefix "/services/{s}/components", components_put, "Upgrade components."),             \
         .params = HTTP_PARAMS(COMPONENTS_PARAMS), .body = "Components"},                                    \
        {WRITE("PUT", prefix "/services/{s}/components/{c}/component-instances/{i}", instance_put,           \
               "Upgrade an instance."),                                                                      \
         .params = HTTP_PARAMS(INSTANCE_PARAMS), .body = "Container"},                                       \
        {WRITE("PUT", prefix "/services/{s}/component-instances", instances_put, "Upgrade instances."),      \
         .params = HTTP_PARAMS(INSTANCES_PARAMS), .body = "Containers"},                                     \
        {READ(prefix "/services/{s}/components", components_get, "Read the components of a service."),       \
         .params = HTTP_PARAMS(READ_COMPONENTS_PARAMS),                                                      \
         .answers = HTTP_ANSWERS({200, SERVICES_JSON, "Components", "The components."}),                     \
         .errors = SERVICES_ERRORS},                                                                         \
        {READ(prefix "/services/{s}/components/{c}", component_get,                                          \
              "Read a component and what runs of it."),                                                      \
         .params = HTTP_PARAMS(READ_COMPONENT_PARAMS),                                                       \
         .answers = HTTP_ANSWERS({200, SERVICES_JSON, "Component", "The component."}),                       \
         .errors = SERVICES_ERRORS},                                                                         \
        {READ(prefix "/services/{s}/component-instances", instances_get,                                     \
              "List the instances that have a container, by component."),                                    \
         .params = HTTP_PARAMS(READ_INSTANCES_PARAMS),                                                       \
         .answers = HTTP_ANSWERS({200, SERVICES_JSON, "ComponentContainers", "The instances."}),             \
         .errors = SERVICES_ERRORS},                                                                         \
        {READ(prefix "/services/{s}/component-instances/{i}", instance_get,                                  \
              "Read the container of an instance."),                                                         \
         .params = HTTP_PARAMS(READ_INSTANCE_PARAMS),                                                        \
         .answers = HTTP_ANSWERS({200, SERVICES_JSON, "Container", "The container."}),                       \
         .errors = SERVICES_ERRORS},                                                                         \
        {.method = "POST",                                                                                   \
         .pattern = prefix "/services/{s}/component-instances/{i}/restart",                                  \
         .flags = HTTP_STRICT_QUERY | HTTP_DONE_ONCE,                                                        \
         .max_body = MAX_IGNORED_BODY,                                                                       \
         .handle = instance_restart,                                                                         \
         .summary = "Replace the process of an instance, in its container.",                                 \
         .params = HTTP_PARAMS(RESTART_PARAMS),                                                              \
         .answers = CHANGED,                                                                                 \
         .errors = SERVICES_ERRORS},                                                                         \
        {.method = "POST",                                                                                   \
         .pattern = prefix "/services/{s}/component-instances/{i}/signal",                                   \
         .flags = HTTP_STRICT_QUERY | HTTP_DONE_ONCE,                                                        \
         .max_body = MAX_IGNORED_BODY,                                                                       \
         .handle = instance_signal,                                                                          \
         .summary = "Send a signal to the processes of an instance.",                                        \
         .params = HTTP_PARAMS(SIGNAL_PARAMS),                                                               \
         .answers = HTTP_ANSWERS({204, NULL, NULL, "It is sent."}),                                          \
         .errors = HTTP_ERRORS(ERR_INVALID, ERR_NOTFOUND, ERR_WRONGSTATE, ERR_UNSUPPORTED)},                 \
        {.method = "POST",                                                                                   \
         .pattern = prefix "/services/{s}/component-instances/{i}/exec",                                     \
         .flags = HTTP_STRICT_QUERY,                                                                         \
         .max_body = MAX_IGNORED_BODY,                                                                       \
         .handle = instance_exec,                                                                            \
         .summary = "Execute a command in the container of an instance.",                                    \
         .params = HTTP_PARAMS(EXEC_PARAMS),                                                                 \
         .answers = HTTP_ANSWERS(                                                                            \
             {101, NULL, NULL, "The connection carries frames of bobbin-exec (docs/services.md)."},          \
             {426, SERVICES_JSON, "ServiceStatus", "The request asks for no upgrade to bobbin-exec."}),      \
         .errors = HTTP_ERRORS(ERR_INVALID, ERR_NOTFOUND, ERR_WRONGSTATE, ERR_LIMIT, ERR_UNSUPPORTED)},      \
        {READ(prefix "/services/{s}/usage", service_usage, "Measure what the instances of a service use."),  \
         .flags = HTTP_STRICT_QUERY, .params = HTTP_PARAMS(USAGE_PARAMS),                                    \
         .answers = HTTP_ANSWERS({200, SERVICES_JSON, "Usage", "CPU and memory, by instance."}),             \
         .errors = HTTP_ERRORS(ERR_INVALID, ERR_NOTFOUND, ERR_UNSUPPORTED)},                                 \
        {READ(prefix "/services/{s}/application-master/logs/{file}", logs_get_master,                        \
              "Read what the application master of a service wrote, from a byte on."),                       \
         .flags = HTTP_STRICT_QUERY, .params = HTTP_PARAMS(MASTER_LOGS_PARAMS),                              \
         .answers = HTTP_ANSWERS({200, "text/plain;charset=utf-8", NULL, "A piece."}),                       \
         .errors = HTTP_ERRORS(ERR_INVALID, ERR_NOTFOUND, ERR_UNAVAILABLE, ERR_UNSUPPORTED)},                \
    {                                                                                                        \
        READ(prefix "/services/{s}/component-instances/{i}/logs/{file}", logs_get,                           \
             "Read what an instance wrote, from a byte on."),                                                \
            .flags = HTTP_STRICT_QUERY, .params = HTTP_PARAMS(LOGS_PARAMS),                                  \
            .answers = HTTP_ANSWERS({200, "text/plain;charset=utf-8", NULL, "A piece."}),                    \
            .errors = SERVICES_ERRORS                                                                        \
    }

const struct http_route services_routes[] = {MOUNT("/app/v1"), MOUNT("/v1")};
const size_t services_n_routes = ARRAY_LEN(services_routes);
