#include "launcher/routes.h"

#include "base/obj.h"

/** A descriptor is stored in one write, beside what the engine makes of it. */
#define MAX_BODY         ((size_t)256 << 10)
#define MAX_SMALL_BODY   ((size_t)16 << 10)
#define MAX_IGNORED_BODY ((size_t)4 << 10)

#define READ_ERRORS  HTTP_ERRORS(ERR_NOTFOUND)
#define WRITE_ERRORS HTTP_ERRORS(ERR_INVALID, ERR_PERMISSION, ERR_NOTFOUND, ERR_LIMIT, ERR_UNAVAILABLE)
#define RECORDED     HTTP_ANSWERS({202, NULL, NULL, "It is recorded, and will be carried out."})
#define DONE         HTTP_ANSWERS({200, NULL, NULL, "It is in force."})

#define READ(path, handler, text, schema_name, prose)                                                        \
    .method = "GET", .pattern = path, .max_body = MAX_IGNORED_BODY, .handle = handler, .summary = text,      \
    .answers = HTTP_ANSWERS({200, LAUNCHER_JSON, schema_name, prose}), .errors = READ_ERRORS
#define PUT(path, handler, size, schema_name, text)                                                          \
    .method = "PUT", .pattern = path, .flags = HTTP_JSON_IN | HTTP_DONE_ONCE, .max_body = size,              \
    .handle = handler, .summary = text, .body = schema_name, .errors = WRITE_ERRORS
#define DELETE(path, handler, text)                                                                          \
    .method = "DELETE", .pattern = path, .flags = HTTP_DONE_ONCE, .max_body = MAX_IGNORED_BODY,              \
    .handle = handler, .summary = text, .answers = RECORDED, .errors = WRITE_ERRORS

#define FRAMEWORK        "/v1/Frameworks/{f}"
#define LAUNCHER_REQUEST "/v1/LauncherRequest"

#define EXPLANATION                                                                                          \
    {                                                                                                        \
        READ(FRAMEWORK "/Explanation", launcher_explanation_get,                                             \
             "Explain what of a framework is not as wanted, and what its tasks are called in DNS.",          \
             "FrameworkExplanation", "The explanation."),                                                    \
            .params = HTTP_PARAMS(LAUNCHER_FRAMEWORK_PARAMS)                                                 \
    }

const struct http_route launcher_explanation_route = EXPLANATION;

const struct http_route launcher_routes[] = {
    {READ("/", launcher_active_get, "Say that the launcher is active.", NULL, "A sentence.")},
    {READ("/v1", launcher_active_get, "Say that the launcher is active.", NULL, "A sentence.")},
    {READ("/v1/Frameworks", launcher_frameworks_get, "List frameworks.", "SummarizedFrameworkInfos",
          "By name."),
     .params = HTTP_PARAMS(LAUNCHER_LIST_PARAMS)},
    {READ(FRAMEWORK, launcher_framework_get, "Read a framework: summary, request and status.",
          "FrameworkInfo", "The framework."),
     .params = HTTP_PARAMS(LAUNCHER_FRAMEWORK_PARAMS)},
    {PUT(FRAMEWORK, launcher_framework_put, MAX_BODY, "FrameworkDescriptor",
         "Add a framework, change it in place, or start another version of it."),
     .params = HTTP_PARAMS(LAUNCHER_PUT_PARAMS), .answers = RECORDED},
    {DELETE(FRAMEWORK, launcher_framework_delete, "Delete a framework and all that runs of it."),
     .params = HTTP_PARAMS(LAUNCHER_WRITE_PARAMS)},
    {READ(FRAMEWORK "/FrameworkStatus", launcher_status_get, "Read the status of a framework.",
          "FrameworkStatus", "The status."),
     .params = HTTP_PARAMS(LAUNCHER_FRAMEWORK_PARAMS)},
    {READ(FRAMEWORK "/AggregatedFrameworkStatus", launcher_aggregated_status_get,
          "Read the status of a framework and its tasks.", "AggregatedFrameworkStatus", "The status."),
     .params = HTTP_PARAMS(LAUNCHER_FRAMEWORK_PARAMS)},
    EXPLANATION,
    {READ(FRAMEWORK "/FrameworkRequest", launcher_request_get, "Read what is wanted of a framework.",
          "FrameworkRequest", "The request."),
     .params = HTTP_PARAMS(LAUNCHER_FRAMEWORK_PARAMS)},
    {READ(FRAMEWORK "/AggregatedFrameworkRequest", launcher_aggregated_request_get,
          "Read all requests that concern a framework.", "AggregatedFrameworkRequest", "The requests."),
     .params = HTTP_PARAMS(LAUNCHER_FRAMEWORK_PARAMS)},
    {PUT(FRAMEWORK "/TaskRoles/{r}/TaskNumber", launcher_task_number_put, MAX_SMALL_BODY,
         "UpdateTaskNumberRequest", "Change the number of tasks of a role."),
     .params = HTTP_PARAMS(LAUNCHER_ROLE_PARAMS), .answers = RECORDED},
    {PUT(FRAMEWORK "/ExecutionType", launcher_execution_put, MAX_SMALL_BODY, "UpdateExecutionTypeRequest",
         "Start or stop a framework."),
     .params = HTTP_PARAMS(LAUNCHER_WRITE_PARAMS), .answers = RECORDED},
    {PUT(FRAMEWORK "/MigrateTasks/{c}", launcher_migrate_put, MAX_SMALL_BODY, "MigrateTaskRequest",
         "Move the task of a container to another one."),
     .params = HTTP_PARAMS(LAUNCHER_CONTAINER_PARAMS), .answers = RECORDED},
    {DELETE(FRAMEWORK "/MigrateTasks/{c}", launcher_migrate_delete, "Take such a request back."),
     .params = HTTP_PARAMS(LAUNCHER_CONTAINER_PARAMS)},
    {PUT(FRAMEWORK "/ApplicationProgress", launcher_progress_put, MAX_SMALL_BODY,
         "OverrideApplicationProgressRequest", "Say how far a framework has come."),
     .params = HTTP_PARAMS(LAUNCHER_WRITE_PARAMS), .answers = RECORDED},
    {READ(LAUNCHER_REQUEST, launcher_launcher_request_get, "Read the requests that concern the launcher.",
          "LauncherRequest", "The requests.")},
    {READ("/v1/LauncherStatus", launcher_launcher_status_get, "Read how the launcher is configured.",
          "LauncherStatus", "Configuration and capabilities.")},
    {PUT(LAUNCHER_REQUEST "/ClusterConfiguration", launcher_cluster_put, MAX_BODY, "ClusterConfiguration",
         "Say which types of GPU the nodes have."),
     .params = HTTP_PARAMS(LAUNCHER_CLUSTER_PARAMS), .answers = RECORDED},
    {READ(LAUNCHER_REQUEST "/ClusterConfiguration", launcher_cluster_get,
          "Read the types of GPU of the nodes.", "ClusterConfiguration", "The nodes.")},
    {PUT(LAUNCHER_REQUEST "/AclConfiguration", launcher_acl_put, MAX_BODY, "AclConfiguration",
         "Say who may change whose frameworks."),
     .params = HTTP_PARAMS(LAUNCHER_CLUSTER_PARAMS), .answers = DONE},
    {READ(LAUNCHER_REQUEST "/AclConfiguration", launcher_acl_get, "Read who may change whose frameworks.",
          "AclConfiguration", "Administrators and users of namespaces.")},
    {PUT(LAUNCHER_REQUEST "/DataDeploymentVersion", launcher_deployment_put, MAX_SMALL_BODY,
         "UpdateDataDeploymentVersionRequest", "Set a version of the data deployment."),
     .params = HTTP_PARAMS(LAUNCHER_CLUSTER_PARAMS), .answers = DONE},
};
const size_t launcher_n_routes = ARRAY_LEN(launcher_routes);
