#include "api/routes.h"
#include "api/api.h"
#include "base/obj.h"

#define JSON   "application/json"
#define NDJSON "application/x-ndjson"

/** The body of a record: twice its largest canonical form, for blanks and lenient forms. */
#define RECORD_BODY .max_body = 2, .max_body_key = "hadoop.registry.record.max-size"
/** Bytes of one renewal. */
#define LEASE_BODY_MAX 1024
/** Bytes of one import: a record that fills a node, every character of it escaped, fits. */
#define IMPORT_BODY_MAX ((size_t)8 << 20)

#define ADMINISTRATORS "In a secure registry only for system accounts."
#define COPIERS                                                                                              \
    "Only for the user who runs registryd, root and hadoop.registry.admin.users, who name themselves; in a " \
    "secure registry, only for "                                                                             \
    "system accounts."

/** Errors of every operation on the store, and of those that write. */
#define STORE_ERRORS ERR_IO, ERR_UNAVAILABLE, ERR_TIMEOUT, ERR_PERMISSION, ERR_AUTH, ERR_NOTFOUND
#define WRITE_ERRORS STORE_ERRORS, ERR_UNKNOWN_OUTCOME
#define ADMIN_ERRORS WRITE_ERRORS, ERR_INVALID, ERR_JSON, ERR_NOTEMPTY, ERR_NOSPC

#define NOT_MODIFIED                                                                                         \
    {                                                                                                        \
        304, NULL, NULL, "The node has the entity tag that If-None-Match names."                             \
    }

const struct http_route registry_routes[] = {
    {.method = "GET",
     .pattern = "/ws/v1/registry/*",
     .handle = api_get,
     .summary = "Read a node, or follow its changes with watch=true.",
     .flags = HTTP_STRICT_QUERY,
     .params = HTTP_PARAMS(GET_PARAMS),
     .answers = HTTP_ANSWERS({200, JSON, "Node", "The node; or, with watch=true, its changes."},
                             {200, NDJSON, NULL, "The changes, one JSON object a line."}, NOT_MODIFIED),
     .errors = HTTP_ERRORS(STORE_ERRORS, ERR_GONE)},
    {.method = "PUT",
     .pattern = "/ws/v1/registry/*",
     .handle = api_put,
     .summary = "Bind a record.",
     .flags = HTTP_STRICT_QUERY | HTTP_JSON_IN | HTTP_DONE_ONCE,
     RECORD_BODY,
     .check = api_check_put,
     .params = HTTP_PARAMS(PUT_PARAMS),
     .body = "ServiceRecord",
     .answers = HTTP_ANSWERS({200, JSON, "Node", "The record was replaced."},
                             {201, JSON, "Node", "The node was made."}),
     .errors = HTTP_ERRORS(WRITE_ERRORS, ERR_EXISTS, ERR_EPHEMERAL, ERR_RECORD, ERR_JSON, ERR_CONFLICT,
                           ERR_NOSPC, ERR_INVALID, ERR_LIMIT, ERR_UNSUPPORTED)},
    {.method = "POST",
     .pattern = "/ws/v1/registry/*",
     .handle = api_post,
     .summary = "Make a node: op=mknode.",
     .flags = HTTP_STRICT_QUERY | HTTP_JSON_OPTIONAL | HTTP_DONE_ONCE,
     RECORD_BODY,
     .check = api_check_post,
     .params = HTTP_PARAMS(POST_PARAMS),
     .answers =
         HTTP_ANSWERS({200, JSON, "Made", "The node was there."}, {201, JSON, "Made", "The node was made."}),
     .errors = HTTP_ERRORS(WRITE_ERRORS, ERR_EPHEMERAL, ERR_NOSPC)},
    {.method = "DELETE",
     .pattern = "/ws/v1/registry/*",
     .handle = api_delete,
     .summary = "Delete a node.",
     .flags = HTTP_STRICT_QUERY | HTTP_DONE_ONCE,
     .params = HTTP_PARAMS(DELETE_PARAMS),
     .answers =
         HTTP_ANSWERS({200, JSON, "Deleted", "The node is gone; `deleted` is false when there was none."}),
     .errors = HTTP_ERRORS(WRITE_ERRORS, ERR_NOTEMPTY, ERR_CONFLICT, ERR_NOSPC)},
    {.method = "GET",
     .pattern = "/ws/v1/slider/registry/*",
     .handle = api_slider_get,
     .summary = "Slider's read-only view of a node.",
     .params = HTTP_PARAMS(SLIDER_PARAMS),
     .answers = HTTP_ANSWERS({200, JSON, "SliderNode", "The node as Slider shows it."}, NOT_MODIFIED),
     .errors = HTTP_ERRORS(STORE_ERRORS)},
    {.method = "GET",
     .pattern = "/ws/v1/registry-find",
     .handle = api_find,
     .summary = "Find records by api, user, class and other terms.",
     .flags = HTTP_STRICT_QUERY,
     .params = HTTP_PARAMS(FIND_PARAMS),
     .answers = HTTP_ANSWERS(
         {200, JSON, "FoundAny", "The records that have all terms; with format=http_sd, targets."}),
     .errors = HTTP_ERRORS(ERR_UNAVAILABLE, ERR_GONE)},
    {.method = "POST",
     .pattern = "/ws/v1/registry-lease",
     .handle = api_renew,
     .summary = "Renew the lease of all records of an owner.",
     .flags = HTTP_STRICT_QUERY | HTTP_JSON_IN | HTTP_NO_WRITE,
     .max_body = LEASE_BODY_MAX,
     .body = "Lease",
     .answers = HTTP_ANSWERS({200, JSON, "Renewed", "The records that live, and those that are gone."}),
     .errors = HTTP_ERRORS(ERR_NOTFOUND, ERR_UNAVAILABLE, ERR_INVALID, ERR_JSON, ERR_IO)},
    {.method = "GET",
     .pattern = "/ws/v1/registry-lease",
     .handle = api_lease,
     .summary = "Read how long the lease of a record lasts.",
     .flags = HTTP_STRICT_QUERY,
     .params = HTTP_PARAMS(LEASE_PARAMS),
     .answers = HTTP_ANSWERS({200, JSON, "RecordLease", "The lease of the record."}),
     .errors = HTTP_ERRORS(ERR_NOTFOUND, ERR_UNAVAILABLE, ERR_PATH)},
    {.method = "POST",
     .pattern = "/ws/v1/registry-admin/purge",
     .handle = api_purge,
     .summary = "Delete the records of an application, attempt or container.",
     .flags = HTTP_STRICT_QUERY | HTTP_JSON_IN,
     RECORD_BODY,
     .role = ADMINISTRATORS,
     .check = api_may_administer,
     .body = "Purge",
     .answers = HTTP_ANSWERS({200, JSON, "Purged", "The deleted paths, and counts."}),
     .errors = HTTP_ERRORS(ADMIN_ERRORS)},
    {.method = "POST",
     .pattern = "/ws/v1/registry-admin/events",
     .handle = api_events,
     .summary = "Report what began or ended on the cluster.",
     .flags = HTTP_STRICT_QUERY | HTTP_JSON_IN,
     RECORD_BODY,
     .role = ADMINISTRATORS,
     .check = api_may_administer,
     .body = "Events",
     .answers = HTTP_ANSWERS({200, JSON, "EventResults", "The outcome of the first try of each event."}),
     .errors = HTTP_ERRORS(ADMIN_ERRORS)},
    {.method = "POST",
     .pattern = "/ws/v1/registry-admin/users",
     .handle = api_users,
     .summary = "Make home directories.",
     .flags = HTTP_STRICT_QUERY | HTTP_JSON_IN,
     RECORD_BODY,
     .role = ADMINISTRATORS,
     .check = api_may_administer,
     .body = "Users",
     .answers = HTTP_ANSWERS({200, JSON, "Homes", "The homes."}),
     .errors = HTTP_ERRORS(ADMIN_ERRORS)},
    {.method = "GET",
     .pattern = "/ws/v1/registry-admin/export",
     .handle = api_export,
     .summary = "Everything below a path: stored bytes and ACLs.",
     .flags = HTTP_STRICT_QUERY,
     .role = COPIERS,
     .check = api_may_copy,
     .params = HTTP_PARAMS(EXPORT_PARAMS),
     .answers = HTTP_ANSWERS(
         {200, NDJSON, NULL, "The nodes, one JSON object a line, and a last line that says so."}),
     .errors = HTTP_ERRORS(ERR_PERMISSION, ERR_UNAVAILABLE, ERR_NOTFOUND)},
    {.method = "POST",
     .pattern = "/ws/v1/registry-admin/import",
     .handle = api_import,
     .summary = "Write nodes as an export shows them.",
     .flags = HTTP_STRICT_QUERY | HTTP_JSON_IN,
     .max_body = IMPORT_BODY_MAX,
     .role = COPIERS,
     .check = api_may_copy,
     .params = HTTP_PARAMS(IMPORT_PARAMS),
     .body = "Import",
     .answers = HTTP_ANSWERS(
         {200, JSON, "Imported", "Every node was tried; `failed` lists those that were not written."}),
     .errors = HTTP_ERRORS(ERR_RECORD, ERR_PERMISSION, ERR_UNAVAILABLE, ERR_INVALID, ERR_JSON)},
    {.method = "POST",
     .pattern = "/ws/v1/registry-admin/backup",
     .handle = api_backup,
     .summary = "Copy the embedded store while it is in use.",
     .flags = HTTP_STRICT_QUERY | HTTP_JSON_IN,
     RECORD_BODY,
     .role = COPIERS,
     .check = api_may_copy,
     .body = "Backup",
     .answers = HTTP_ANSWERS({200, JSON, "Backup", "The copy is complete and durable in this directory."}),
     .errors = HTTP_ERRORS(ERR_PERMISSION, ERR_INVALID, ERR_JSON, ERR_EXISTS, ERR_UNSUPPORTED, ERR_IO,
                           ERR_CANCELLED, ERR_NOSPC)},
};
const size_t registry_n_routes = ARRAY_LEN(registry_routes);
