#include "slider/routes.h"

#include "base/obj.h"
#include "slider/view.h"

/** Documents are stored in one write, beside what the engine makes of them. */
#define MAX_BODY         ((size_t)256 << 10)
#define MAX_FORM         ((size_t)64 << 10)
#define MAX_PING         ((size_t)4 << 20)
#define MAX_IGNORED_BODY ((size_t)4 << 10)

#define ROOT        SLIDER_PROXY "/ws/v1/slider"
#define APPLICATION ROOT "/application"
#define LIVE        APPLICATION "/live"
#define NAMED       "/ws/v1/slider/applications"

#define READ_ERRORS HTTP_ERRORS(ERR_NOTFOUND, ERR_INVALID, ERR_NOTACCEPTABLE, ERR_UNAVAILABLE)
#define WRITE_ERRORS                                                                                         \
    HTTP_ERRORS(ERR_INVALID, ERR_PERMISSION, ERR_NOTFOUND, ERR_EXISTS, ERR_CONFLICT, ERR_LIMIT,              \
                ERR_UNAVAILABLE, ERR_NOTACCEPTABLE)
#define JSON(status, schema, prose) HTTP_ANSWERS({status, SLIDER_JSON, schema, prose})
#define REDIRECT(prose)             HTTP_ANSWERS({307, NULL, NULL, prose})

#define READ(path, handler, text, schema, prose)                                                             \
    .method = "GET", .pattern = path, .max_body = MAX_IGNORED_BODY, .check = slider_check_accept,            \
    .handle = handler, .summary = text, .answers = JSON(200, schema, prose), .errors = READ_ERRORS
#define READ_ONE(path, handler, text, schema, prose)                                                         \
    READ(path, handler, text, schema, prose), .params = HTTP_PARAMS(SLIDER_ONE_PARAMS)
#define CHANGE(verb, path, handler, text, schema, prose)                                                     \
    .method = verb, .pattern = path, .flags = HTTP_DONE_ONCE, .max_body = MAX_BODY,                          \
    .check = slider_check_accept, .handle = handler, .summary = text, .answers = JSON(202, schema, prose),   \
    .errors = WRITE_ERRORS
#define PUT(path, handler, text, schema)                                                                     \
    .method = "PUT", .pattern = path, .flags = HTTP_JSON_IN | HTTP_DONE_ONCE, .max_body = MAX_BODY,          \
    .check = slider_check_accept, .handle = handler, .summary = text, .body = schema,                        \
    .answers = JSON(202, schema, "It is stored, and will be carried out."), .errors = WRITE_ERRORS,          \
    .params = HTTP_PARAMS(SLIDER_PUT_PARAMS)

#define PING(verb, prefix)                                                                                   \
    .method = verb, .pattern = prefix "/ping", .flags = HTTP_NO_WRITE, .max_body = MAX_PING,                 \
    .check = slider_check_accept, .handle = slider_ping,                                                     \
    .summary = "Show that requests of this verb arrive.",                                                    \
    .answers = JSON(200, "SliderPing", "The request."), .errors = READ_ERRORS,                               \
    .params = HTTP_PARAMS(SLIDER_ONE_PARAMS)

/** The root calls them "actions", the original's URLs have "action". */
#define ACTIONS(prefix)                                                                                      \
    {PING("GET", prefix)}, {PING("POST", prefix)}, {PING("PUT", prefix)}, {PING("DELETE", prefix)},          \
        {CHANGE("POST", prefix "/stop", slider_stop_post, "Stop the application.", "SliderStop",             \
                "It stops about a second later."),                                                           \
         .params = HTTP_PARAMS(SLIDER_ONE_PARAMS)},                                                          \
        {CHANGE("POST", prefix "/flex", slider_flex_post,                                                    \
                "Change the numbers of instances by a form: component.NAME=COUNT.", "SliderConf",            \
                "It is stored, and will be carried out."),                                                   \
         .params = HTTP_PARAMS(SLIDER_PUT_PARAMS)},                                                          \
        {CHANGE("POST", prefix "/upgrade", slider_upgrade_post,                                              \
                "Replace containers, one after the other, by such of the current documents.",                \
                "SliderUpgrade", "It has begun."),                                                           \
         .params = HTTP_PARAMS(SLIDER_ONE_PARAMS)},                                                          \
    {                                                                                                        \
        READ(prefix "/upgrade", slider_upgrade_get, "Read how far the last upgrade has come.",               \
             "SliderUpgrade", "The upgrade."),                                                               \
            .params = HTTP_PARAMS(SLIDER_WAIT_PARAMS)                                                        \
    }

const struct http_route slider_routes[] = {
    {READ_ONE(APPLICATION, slider_application_get, "List what there is of an application.", "SliderNames",
              "Names.")},
    /* the model */
    {READ_ONE(APPLICATION "/model", slider_model_get, "List the views of the model.", "SliderNames",
              "Names.")},
    {READ_ONE(APPLICATION "/model/desired", slider_desired_get, "Read the documents as they were put.",
              "SliderAggregate", "The documents.")},
    {READ_ONE(APPLICATION "/model/desired/resources", slider_desired_resources_get,
              "Read the resources document as it was put.", "SliderConf", "The document.")},
    {PUT(APPLICATION "/model/desired/resources", slider_desired_resources_put,
         "Replace the resources document: flex.", "SliderConf")},
    {READ_ONE(APPLICATION "/model/desired/appconf", slider_desired_appconf_get,
              "Read the application configuration as it was put.", "SliderConf", "The document.")},
    {PUT(APPLICATION "/model/desired/appconf", slider_desired_appconf_put,
         "Replace the application configuration: from the next start or upgrade on.", "SliderConf")},
    {READ_ONE(APPLICATION "/model/resolved", slider_resolved_get,
              "Read the documents with inherited options.", "SliderAggregate", "The documents.")},
    {READ_ONE(APPLICATION "/model/resolved/resources", slider_resolved_resources_get,
              "Read the resources document with inherited options.", "SliderConf", "The document.")},
    {READ_ONE(APPLICATION "/model/resolved/appconf", slider_resolved_appconf_get,
              "Read the application configuration with inherited options.", "SliderConf", "The document.")},
    {READ_ONE(APPLICATION "/model/internal", slider_internal_get, "Read the internal document.", "SliderConf",
              "The document.")},
    /* what runs */
    {READ_ONE(LIVE, slider_live_get, "List the live views.", "SliderNames", "Names.")},
    {READ_ONE(LIVE "/resources", slider_live_resources_get, "Read the resources document with counters.",
              "SliderConf", "The document.")},
    {READ_ONE(LIVE "/containers", slider_containers_get, "Read all containers.", "SliderContainers",
              "Containers by id.")},
    {READ(LIVE "/containers/{i}", slider_container_get, "Read a container.", "SliderContainer",
          "The container."),
     .params = HTTP_PARAMS(SLIDER_CONTAINER_PARAMS)},
    {CHANGE("DELETE", LIVE "/containers/{i}", slider_container_delete, "Release a container.",
            "SliderContainer", "It is being released."),
     .params = HTTP_PARAMS(SLIDER_RELEASE_PARAMS)},
    {READ(LIVE "/containers/{i}/logs", slider_container_logs_get, "Find the logs of a container.", NULL,
          "Logs."),
     .params = HTTP_PARAMS(SLIDER_CONTAINER_PARAMS)},
    {.method = "GET",
     .pattern = LIVE "/containers/{i}/logs/{file}",
     .max_body = MAX_IGNORED_BODY,
     .check = slider_check_accept,
     .handle = slider_container_log_get,
     .summary = "Read output of a container, also of one that has ended.",
     .params = HTTP_PARAMS(SLIDER_LOG_PARAMS),
     .answers = HTTP_ANSWERS({200, "text/plain;charset=utf-8", NULL, "At most 64 KiB from the offset on."}),
     .errors = READ_ERRORS},
    {READ_ONE(LIVE "/components", slider_components_get, "Read all components.", "SliderComponents",
              "Components by name.")},
    {READ(LIVE "/components/{c}", slider_component_get, "Read a component.", "SliderComponent",
          "The component."),
     .params = HTTP_PARAMS(SLIDER_COMPONENT_PARAMS)},
    {READ(LIVE "/components/{c}/containers", slider_component_containers_get,
          "List the containers of a component.", "SliderNames", "Ids."),
     .params = HTTP_PARAMS(SLIDER_COMPONENT_PARAMS)},
    {READ(LIVE "/components/{c}/containers/{i}", slider_component_container_get,
          "Read a container of a component.", "SliderContainer", "The container."),
     .params = HTTP_PARAMS(SLIDER_COMPONENT_PARAMS)},
    {READ(LIVE "/components/{c}/instances", slider_instances_get, "List the instances of a component.", NULL,
          "Container ids by number."),
     .params = HTTP_PARAMS(SLIDER_COMPONENT_PARAMS)},
    {READ(LIVE "/components/{c}/instances/{i}", slider_instance_get, "Read the container of an instance.",
          "SliderContainer", "The container."),
     .params = HTTP_PARAMS(SLIDER_COMPONENT_PARAMS)},
    {READ_ONE(LIVE "/nodes", slider_nodes_get, "Read all nodes.", "SliderNodes", "Nodes.")},
    {READ(LIVE "/nodes/{h}", slider_node_get, "Read a node.", "SliderNode", "The node."),
     .params = HTTP_PARAMS(SLIDER_NODE_PARAMS)},
    {CHANGE("DELETE", LIVE "/nodes/{h}", slider_node_delete, "Exclude a node: what is there moves.",
            "SliderNode", "The node."),
     .params = HTTP_PARAMS(SLIDER_NODE_PARAMS)},
    {CHANGE("PUT", LIVE "/nodes/{h}", slider_node_put, "Exclude a node, or use it again.", "SliderNode",
            "The node."),
     .body = "SliderExcluded", .params = HTTP_PARAMS(SLIDER_NODE_PARAMS)},
    {READ(LIVE "/liveness", slider_liveness_get, "Read whether all that is wanted runs.", "SliderLiveness",
          "The liveness."),
     .params = HTTP_PARAMS(SLIDER_WAIT_PARAMS)},
    {READ(LIVE "/liveness/{c}", slider_component_liveness_get,
          "Read whether all that is wanted of a component runs.", "SliderLiveness", "The liveness."),
     .params = HTTP_PARAMS(SLIDER_COMPONENT_PARAMS)},
    {READ_ONE(LIVE "/statistics", slider_statistics_get, "Read counters.", "SliderStatistics",
              "Numbers by name.")},
    {READ(LIVE "/statistics/{c}", slider_component_statistics_get, "Read counters of a component.",
          "SliderStatistics", "Numbers by name."),
     .params = HTTP_PARAMS(SLIDER_COMPONENT_PARAMS)},
    {READ_ONE(LIVE "/diagnostics", slider_diagnostics_get,
              "Read what has become of containers, and why the application has ended.", "SliderDiagnostics",
              "The diagnostics.")},
    {READ(LIVE "/events", slider_events_get, "Read what happened to the application, oldest first.", NULL,
          "Events, and the number of the next one."),
     .params = HTTP_PARAMS(SLIDER_EVENTS_PARAMS)},
    /* actions */
    ACTIONS(APPLICATION "/action"),
    ACTIONS(APPLICATION "/actions"),
    /* registry, publisher, management */
    {READ_ONE(ROOT "/registry", slider_registry_get, "Read the root of the registry.", NULL, "The node.")},
    {READ_ONE(ROOT "/registry/*", slider_registry_get, "Read a node of the registry.", NULL, "The node.")},
    {READ_ONE(ROOT "/publisher", slider_publisher_get, "List sets of configurations.", NULL, "URLs.")},
    {READ_ONE(ROOT "/publisher/classpath", slider_classpath_get, "Read the class path.", NULL, "URLs.")},
    {READ_ONE(ROOT "/publisher/exports", slider_exports_get, "Read all exports.", NULL, "The exports.")},
    {READ_ONE(ROOT "/publisher/exports/{x}", slider_export_get, "Read an export.", NULL, "The export.")},
    {READ_ONE(ROOT "/publisher/{set}", slider_config_set_get, "List the configurations of a set.", NULL,
              "Configurations without entries.")},
    {READ_ONE(ROOT "/publisher/{set}/{config}", slider_config_get,
              "Read a configuration; with .json, .xml or .properties in that form.", NULL,
              "The configuration.")},
    {READ_ONE(ROOT "/publisher/{set}/{config}/{property}", slider_property_get,
              "Read a property of a configuration.", NULL, "The property.")},
    {.method = "GET",
     .pattern = ROOT "/mgmt",
     .max_body = MAX_IGNORED_BODY,
     .handle = slider_management_get,
     .summary = "Go to the description of the API.",
     .params = HTTP_PARAMS(SLIDER_ONE_PARAMS),
     .answers = REDIRECT("To the description.")},
    {READ_ONE(ROOT "/mgmt/app", slider_management_app_get, "Read the documents with inherited options.", NULL,
              "The documents.")},
    {READ_ONE(ROOT "/mgmt/app/configurations/{config}", slider_management_conf_get,
              "Read a document with inherited options.", NULL, "The document.")},
};
const size_t slider_n_routes = ARRAY_LEN(slider_routes);

#define REDIRECT_ROW(verb)                                                                                   \
    {                                                                                                        \
        .method = verb, .pattern = NAMED "/{n}/*", .max_body = MAX_BODY, .handle = slider_named_redirect,    \
        .summary = "Go to what is below an application's own URL.",                                          \
        .params = HTTP_PARAMS(SLIDER_NAMED_PARAMS), .answers = REDIRECT("To the application."),              \
        .errors = READ_ERRORS                                                                                \
    }

const struct http_route slider_named_routes[] = {
    {READ(NAMED, slider_applications_get, "List the caller's applications.", "SliderApplications",
          "Applications."),
     .params = HTTP_PARAMS(SLIDER_LIST_PARAMS)},
    {READ(NAMED "/{n}", slider_named_get, "Read the state of an application.", "SliderApplication",
          "The application."),
     .params = HTTP_PARAMS(SLIDER_NAMED_PARAMS)},
    {.method = "PUT",
     .pattern = NAMED "/{n}",
     .flags = HTTP_JSON_IN | HTTP_DONE_ONCE,
     .max_body = MAX_BODY,
     .check = slider_check_accept,
     .handle = slider_named_put,
     .summary = "Create and start an application, or replace its documents.",
     .body = "SliderDefinition",
     .params = HTTP_PARAMS(SLIDER_NAMED_PARAMS),
     .answers = JSON(202, "SliderApplication", "It is stored, and will be carried out."),
     .errors = WRITE_ERRORS},
    {CHANGE("DELETE", NAMED "/{n}", slider_named_delete, "Stop and destroy an application.", NULL,
            "It will be destroyed."),
     .params = HTTP_PARAMS(SLIDER_NAMED_PARAMS)},
    {CHANGE("POST", NAMED "/{n}/start", slider_named_start, "Start an application.", "SliderApplication",
            "It starts."),
     .params = HTTP_PARAMS(SLIDER_NAMED_PARAMS)},
    {CHANGE("POST", NAMED "/{n}/stop", slider_named_stop, "Stop an application.", "SliderApplication",
            "It stops."),
     .params = HTTP_PARAMS(SLIDER_NAMED_PARAMS)},
    REDIRECT_ROW("GET"),
    REDIRECT_ROW("PUT"),
    REDIRECT_ROW("POST"),
    REDIRECT_ROW("DELETE"),
};
const size_t slider_named_n_routes = ARRAY_LEN(slider_named_routes);
