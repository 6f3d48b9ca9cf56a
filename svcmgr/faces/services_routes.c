#include "faces/services_routes.h"

#include "base/obj.h"
#include "faces/logs.h"

#define MAX_BODY         ((size_t)4 << 20)
#define MAX_IGNORED_BODY 4096

#define CHANGED                                                                                              \
    HTTP_ANSWERS({200, SERVICES_JSON, "ServiceStatus", "Done."},                                             \
                 {202, SERVICES_JSON, "ServiceStatus", "Accepted."},                                         \
                 {204, NULL, NULL, "Done, without a body."})
#define SERVICES_ERRORS HTTP_ERRORS(ERR_INVALID, ERR_NOTFOUND, ERR_TOOBIG, ERR_IO, ERR_UNAVAILABLE)

#define READ(path, handler, text)                                                                            \
    .method = "GET", .pattern = path, .max_body = MAX_IGNORED_BODY, .handle = handler, .summary = text
#define WRITE(verb, path, handler, text)                                                                     \
    .method = verb, .pattern = path, .flags = HTTP_JSON_OPTIONAL | HTTP_DONE_ONCE, .max_body = MAX_BODY,     \
    .handle = handler, .summary = text, .answers = CHANGED, .errors = SERVICES_ERRORS

/** The rows of one mount. Only that of the logs, which Hadoop does not have, is strict: clients of Hadoop's API may send what they like. */
#define MOUNT(prefix)                                                                                        \
    {WRITE("POST", prefix "/services", services_post, "Create a service, or save its definition."),          \
     .params = HTTP_PARAMS(CREATE_PARAMS), .body = "Service"},                                               \
        {READ(prefix "/services", services_list, "List the caller's running services."),                     \
         .answers = HTTP_ANSWERS({200, SERVICES_JSON, "Services", "The services."})},                        \
        {READ(prefix "/services/version", services_version, "Show the version of the server."),              \
         .answers = HTTP_ANSWERS({200, SERVICES_JSON, "HadoopVersion", "The version."})},                    \
        {READ(prefix "/services/{s}", service_get, "Read a service and what runs of it."),                   \
         .params = HTTP_PARAMS(SERVICE_PARAMS),                                                              \
         .answers = HTTP_ANSWERS({200, SERVICES_JSON, "Service", "The service."}),                           \
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
    {                                                                                                        \
        READ(prefix "/services/{s}/component-instances/{i}/logs/{file}", logs_get,                           \
             "Read what an instance wrote, from a byte on."),                                                \
            .flags = HTTP_STRICT_QUERY, .params = HTTP_PARAMS(LOGS_PARAMS),                                  \
            .answers = HTTP_ANSWERS({200, "text/plain;charset=utf-8", NULL, "A piece."}),                    \
            .errors = SERVICES_ERRORS                                                                        \
    }

const struct http_route services_routes[] = {MOUNT("/app/v1"), MOUNT("/v1")};
const size_t services_n_routes = ARRAY_LEN(services_routes);
