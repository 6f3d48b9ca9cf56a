#include "api/openapi.h"
#include "api/api.h"
#include "base/obj.h"

/* ---- schemas ---- */

#define REF(name)   "{\"$ref\":\"#/components/schemas/" name "\"}"
#define TEXT        "{\"type\":\"string\"}"
#define FLAG        "{\"type\":\"boolean\"}"
#define NUMBER      "{\"type\":\"integer\"}"
#define LIST(items) "{\"type\":\"array\",\"items\":" items "}"

static const struct http_schema endpoint_schema = {
    "Endpoint",
    "{\"type\":\"object\",\"required\":[\"api\",\"addressType\",\"protocolType\",\"addresses\"],"
    "\"properties\":{"
    "\"api\":" TEXT ",\"addressType\":" TEXT ",\"protocolType\":" TEXT ",\"addresses\":" LIST(
        "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\",\"nullable\":true}}") "}}",
    NULL};
static const struct http_schema *const uses_endpoint[] = {&endpoint_schema, NULL};
static const struct http_schema record_schema = {
    "ServiceRecord",
    "{\"type\":\"object\",\"required\":[\"type\"],\"properties\":{"
    "\"type\":{\"type\":\"string\",\"enum\":[\"JSONServiceRecord\"]},\"description\":" TEXT
    ",\"external\":" LIST(REF("Endpoint")) ",\"internal\":" LIST(
        REF("Endpoint")) "},\"additionalProperties\":" TEXT "}",
    uses_endpoint};
static const struct http_schema status_schema = {"PathStatus",
                                                 "{\"type\":\"object\",\"required\":[\"path\",\"time\","
                                                 "\"size\",\"children\",\"revision\"],\"properties\":{"
                                                 "\"path\":" TEXT ",\"time\":" NUMBER ",\"size\":" NUMBER
                                                 ",\"children\":" NUMBER ",\"revision\":" TEXT "}}",
                                                 NULL};
static const struct http_schema *const uses_node[] = {&status_schema, &record_schema, NULL};
static const struct http_schema node_schema = {
    "Node",
    "{\"type\":\"object\",\"required\":[\"path\",\"status\"],\"properties\":{\"path\":" TEXT
    ",\"status\":" REF("PathStatus") ",\"nodes\":" LIST(TEXT) ",\"tree\":" LIST(
        "{\"type\":\"object\"}") ",\"cursor\":" TEXT ",\"invalidRecord\":" TEXT
                                 ",\"service\":" REF("ServiceRecord") "}}",
    uses_node};
static const struct http_schema *const uses_record[] = {&record_schema, NULL};
static const struct http_schema slider_schema = {
    "SliderNode",
    "{\"type\":\"object\",\"required\":[\"nodes\"],\"properties\":{\"nodes\":" LIST(TEXT) ",\"service\":" REF(
        "ServiceRecord") "}}",
    uses_record};
static const struct http_schema made_schema = {
    "Made",
    "{\"type\":\"object\",\"required\":[\"path\",\"created\"],\"properties\":{\"path\":" TEXT
    ",\"created\":{\"type\":\"boolean\"}}}",
    NULL};
static const struct http_schema deleted_schema = {
    "Deleted",
    "{\"type\":\"object\",\"required\":[\"path\",\"deleted\"],\"properties\":{\"path\":" TEXT
    ",\"deleted\":{\"type\":\"boolean\"}}}",
    NULL};

static const struct http_schema *const uses_found[] = {&node_schema, NULL};
static const struct http_schema found_schema = {
    "Found",
    "{\"type\":\"object\",\"required\":[\"records\"],\"properties\":{\"records\":" LIST(
        REF("Node")) ",\"cursor\":" TEXT "}}",
    uses_found};
static const struct http_schema targets_schema = {
    "Targets",
    LIST("{\"type\":\"object\",\"required\":[\"targets\",\"labels\"],\"properties\":{\"targets\":" LIST(
        TEXT) ",\"labels\":{\"type\":\"object\",\"additionalProperties\":" TEXT "}}}"),
    NULL};
static const struct http_schema *const uses_found_any[] = {&found_schema, &targets_schema, NULL};
static const struct http_schema found_any_schema = {
    "FoundAny", "{\"anyOf\":[" REF("Found") "," REF("Targets") "]}", uses_found_any};

static const struct http_schema purge_schema = {
    "Purge",
    "{\"type\":\"object\",\"required\":[\"id\",\"persistence\"],\"properties\":{\"id\":" TEXT
    ",\"persistence\":" TEXT ",\"path\":" TEXT ",\"dryRun\":" FLAG
    ",\"policy\":{\"type\":\"string\",\"enum\":[\"PurgeAll\",\"FailOnChildren\",\"SkipOnChildren\"]}},"
    "\"additionalProperties\":false}",
    NULL};
static const struct http_schema purged_schema = {
    "Purged",
    "{\"type\":\"object\",\"required\":[\"count\",\"examined\",\"dryRun\",\"deleted\"],\"properties\":{"
    "\"count\":" NUMBER ",\"examined\":" NUMBER ",\"dryRun\":" FLAG ",\"deleted\":" LIST(TEXT) "}}",
    NULL};
static const struct http_schema event_schema = {
    "Event",
    "{\"type\":\"object\",\"required\":[\"type\"],\"properties\":{\"type\":{\"type\":\"string\",\"enum\":"
    "[\"application-stored\",\"application-completed\",\"attempt-unregistered\",\"container-finished\","
    "\"am-container-finished\",\"application-launched\",\"am-registered\",\"attempt-registered\",\"attempt-"
    "added\"]},"
    "\"user\":" TEXT ",\"application\":" TEXT ",\"attempt\":" TEXT ",\"container\":" TEXT ",\"id\":" TEXT
    "},\"additionalProperties\":false}",
    NULL};
static const struct http_schema *const uses_event[] = {&event_schema, NULL};
static const struct http_schema events_schema = {
    "Events",
    "{\"anyOf\":[" REF("Event") "," LIST(REF("Event")) ",{\"type\":\"object\",\"required\":[\"events\"],"
                                                       "\"properties\":{\"events\":" LIST(
                                                           REF("Event")) "}}]}",
    uses_event};
static const struct http_schema told_schema = {
    "EventsTold",
    "{\"type\":\"object\",\"required\":[\"events\"],\"properties\":{\"events\":" LIST(
        "{\"type\":\"object\",\"required\":[\"type\"],\"properties\":{\"type\":" TEXT ",\"purged\":" NUMBER
        ",\"created\":" FLAG ",\"error\":" TEXT ",\"detail\":" TEXT ",\"retrying\":" FLAG "}}") "}}",
    NULL};
static const struct http_schema user_schema = {
    "User", "{\"type\":\"object\",\"required\":[\"user\"],\"properties\":{\"user\":" TEXT "}}", NULL};
static const struct http_schema *const uses_user[] = {&user_schema, NULL};
#define USER_LIST LIST("{\"anyOf\":[" TEXT "," REF("User") "]}")
static const struct http_schema users_schema = {
    "Users",
    "{\"anyOf\":[" REF(
        "User") "," USER_LIST
                ",{\"type\":\"object\",\"required\":[\"users\"],\"properties\":{\"users\":" USER_LIST "}}]}",
    uses_user};
static const struct http_schema homes_schema = {
    "Homes",
    "{\"type\":\"object\",\"required\":[\"users\"],\"properties\":{\"users\":" LIST(
        "{\"type\":\"object\",\"required\":[\"user\",\"created\",\"homes\"],\"properties\":{\"user\":" TEXT
        ",\"created\":" FLAG ",\"homes\":" LIST(TEXT) ",\"error\":" TEXT ",\"detail\":" TEXT
                                                      ",\"retrying\":" FLAG "}}") "}}",
    NULL};

#define ACL                                                                                                  \
    LIST("{\"type\":\"object\",\"required\":[\"perms\",\"scheme\",\"id\"],\"properties\":{\"perms\":" NUMBER \
         ",\"scheme\":" TEXT ",\"id\":" TEXT "}}")
static const struct http_schema import_schema = {
    "Import",
    "{\"type\":\"object\",\"required\":[\"nodes\"],\"properties\":{\"nodes\":" LIST(
        "{\"type\":\"object\",\"required\":[\"path\"],\"properties\":{\"path\":" TEXT
        ",\"record\":{\"anyOf\":[" TEXT "," REF(
            "Record") "]},\"base64\":" TEXT ",\"ephemeral\":" FLAG ",\"aclOnly\":" FLAG ",\"aclMasked\":" FLAG
                      ",\"acl\":" ACL "},\"additionalProperties\":false}") "},"
                                                                           "\"additionalProperties\":false}",
    uses_record};
static const struct http_schema imported_schema = {
    "Imported",
    "{\"type\":\"object\",\"required\":[\"created\",\"replaced\",\"unchanged\",\"failed\"],\"properties\":{"
    "\"created\":" NUMBER ",\"replaced\":" NUMBER ",\"unchanged\":" NUMBER ",\"failed\":" LIST(
        "{\"type\":\"object\",\"required\":[\"path\",\"error\",\"detail\"],\"properties\":{\"path\":" TEXT
        ",\"error\":" TEXT ",\"detail\":" TEXT "}}") "}}",
    NULL};
static const struct http_schema backup_schema = {
    "Backup", "{\"type\":\"object\",\"required\":[\"dir\"],\"properties\":{\"dir\":" TEXT "}}", NULL};

/* ---- parameters ---- */

#define QUERY(name, kind, ...)                                                                               \
    {                                                                                                        \
        name, HTTP_IN_QUERY, kind, __VA_ARGS__                                                               \
    }
#define HEADER(name, prose)                                                                                  \
    {                                                                                                        \
        name, HTTP_IN_HEADER, HTTP_TEXT, prose, 0, 0, NULL, false                                            \
    }
/** Ways to say that one holds a write accessor: an alternative to the rights that the caller's name gives. */
#define ACCESSORS                                                                                            \
    {.name = "accessor",                                                                                     \
     .in = HTTP_AS_BASIC,                                                                                    \
     .prose = "The caller holds this write accessor, id and password."},                                     \
    {                                                                                                        \
        .name = "X-Bobbin-Accessor", .in = HTTP_AS_KEY,                                                      \
        .prose = "The caller holds this write accessor, id:password; it counts more than HTTP Basic."        \
    }
#define GRANTS                                                                                               \
    HEADER("X-Bobbin-Write-Accessors",                                                                       \
           "Digest ids, with commas between, of accessors that may write the node that is made.")
#define QUERY_BOOL(name, prose) QUERY(name, HTTP_BOOL, prose, 0, 0, NULL, false)
#define TERM(name, prose)       QUERY(name, HTTP_TEXT, prose, 0, 0, NULL, false)
#define PARAMS_END                                                                                           \
    {                                                                                                        \
        0                                                                                                    \
    }

static const struct http_param get_params[] = {
    QUERY_BOOL("watch", "Follow the changes: a stream of JSON lines."),
    QUERY("since", HTTP_TEXT, "With watch: only the changes after this revision.", 0, 0, NULL, false),
    QUERY("timeout", HTTP_TIME,
          "With watch: the stream ends so long after it began, once it is live; 0, as without it: never.", 0,
          0, NULL, false),
    QUERY("max", HTTP_INT, "With watch: the stream ends after so many changes.", 1, INT64_MAX, NULL, false),
    QUERY_BOOL("recursive", "Everything below, as `tree` in place of `nodes`."),
    QUERY("limit", HTTP_INT,
          "Most members of `nodes` or `tree`, at most hadoop.registry.list.max-children (10000).", 1, 10000,
          NULL, false),
    QUERY("cursor", HTTP_TEXT, "Continue where the answer with this cursor ended.", 0, 0, NULL, false),
    QUERY("consistency", HTTP_CHOICE, "Ask the store instead of the mirror.", 0, 0, "strong|mirror", false),
    HEADER("If-None-Match", "304 when the node still has this entity tag."),
    PARAMS_END};
static const struct http_param slider_params[] = {
    HEADER("If-None-Match", "304 when the node still has this entity tag."), PARAMS_END};
static const struct http_param put_params[] = {
    QUERY_BOOL("overwrite", "Replace what is there."),
    QUERY_BOOL("createParents", "Make missing parents."),
    HEADER("If-Match", "Only when the data are still those of this entity tag."),
    HEADER("If-None-Match", "*: only when there is no node."),
    GRANTS,
    ACCESSORS,
    PARAMS_END};
static const struct http_param post_params[] = {QUERY("op", HTTP_CHOICE, "What to do.", 0, 0, "mknode", true),
                                                QUERY_BOOL("createParents", "Make missing parents."), GRANTS,
                                                ACCESSORS, PARAMS_END};
static const struct http_param delete_params[] = {
    QUERY_BOOL("recursive", "With everything below."), QUERY_BOOL("mustExist", "A missing node is an error."),
    HEADER("If-Match", "Only when the data are still those of this entity tag."), ACCESSORS, PARAMS_END};
static const struct http_param find_params[] = {
    TERM("api", "API of an endpoint."),
    TERM("protocol", "Protocol of an endpoint."),
    TERM("user", "Element after /users/."),
    TERM("class", "Service class of the path."),
    TERM("component", "Attribute yarn:component."),
    TERM("id", "Attribute yarn:id."),
    TERM("endpointField.api", "As api."),
    TERM("-endpointField.api", "As api."),
    TERM("endpointField.protocol", "As protocol."),
    TERM("-endpointField.protocol", "As protocol."),
    TERM("endpointField.protocolType", "As protocol."),
    TERM("-endpointField.protocolType", "As protocol."),
    QUERY("format", HTTP_CHOICE, "records, or targets for Prometheus.", 0, 0, "records|http_sd", false),
    QUERY("limit", HTTP_INT, "Most records.", 1, 10000, NULL, false),
    QUERY("cursor", HTTP_TEXT, "Continue where the answer with this cursor ended.", 0, 0, NULL, false),
    PARAMS_END};

static const struct http_param export_params[] = {TERM("path", "Where to begin; / when it is absent."),
                                                  PARAMS_END};
static const struct http_param import_params[] = {QUERY_BOOL("overwrite", "Replace what is there."),
                                                  PARAMS_END};

/* ---- answers ---- */

#define JSON "application/json"
#define ANSWERS_END                                                                                          \
    {                                                                                                        \
        0                                                                                                    \
    }
/** Errors of every operation on the store. */
#define STORE_ERRORS ERR_IO, ERR_UNAVAILABLE, ERR_TIMEOUT, ERR_PERMISSION, ERR_AUTH, ERR_NOTFOUND

#define WRITE_ERRORS STORE_ERRORS, ERR_UNKNOWN_OUTCOME

static const struct http_doc_answer get_answers[] = {
    {200, JSON, &node_schema, "The node; or, with watch=true, its changes."},
    {200, "application/x-ndjson", NULL, "The changes, one JSON object a line."},
    {304, NULL, NULL, "The node has the entity tag that If-None-Match names."},
    ANSWERS_END};
static const struct http_doc_answer slider_answers[] = {
    {200, JSON, &slider_schema, "The node as Slider shows it."},
    {304, NULL, NULL, "The node has the entity tag that If-None-Match names."},
    ANSWERS_END};
static const struct http_doc_answer put_answers[] = {{200, JSON, &node_schema, "The record was replaced."},
                                                     {201, JSON, &node_schema, "The node was made."},
                                                     ANSWERS_END};
static const struct http_doc_answer post_answers[] = {{200, JSON, &made_schema, "The node was there."},
                                                      {201, JSON, &made_schema, "The node was made."},
                                                      ANSWERS_END};
static const struct http_doc_answer delete_answers[] = {
    {200, JSON, &deleted_schema, "The node is gone; `deleted` is false when there was none."}, ANSWERS_END};

static const struct http_doc_answer find_answers[] = {
    {200, JSON, &found_any_schema, "The records that have all terms; with format=http_sd, targets."},
    ANSWERS_END};
static const struct http_doc_answer purge_answers[] = {{200, JSON, &purged_schema, "What was deleted."},
                                                       ANSWERS_END};
static const struct http_doc_answer events_answers[] = {
    {200, JSON, &told_schema, "What the first try of each event did."}, ANSWERS_END};
static const struct http_doc_answer users_answers[] = {{200, JSON, &homes_schema, "The homes."}, ANSWERS_END};

static const struct http_doc_answer export_answers[] = {
    {200, "application/x-ndjson", NULL, "The nodes, one JSON object a line, and a last line that says so."},
    ANSWERS_END};
static const struct http_doc_answer import_answers[] = {
    {200, JSON, &imported_schema, "Every node had its turn; `failed` names those that were not written."},
    ANSWERS_END};
static const struct http_doc_answer backup_answers[] = {
    {200, JSON, &backup_schema, "The copy is complete and durable in this directory."}, ANSWERS_END};

static const int export_errors[] = {ERR_PERMISSION, ERR_UNAVAILABLE, ERR_NOTFOUND, 0};
static const int import_errors[] = {ERR_RECORD, ERR_PERMISSION, ERR_UNAVAILABLE, ERR_INVALID, ERR_JSON, 0};
static const int backup_errors[] = {ERR_PERMISSION, ERR_INVALID,   ERR_JSON,  ERR_EXISTS, ERR_UNSUPPORTED,
                                    ERR_IO,         ERR_CANCELLED, ERR_NOSPC, 0};
static const int find_errors[] = {ERR_UNAVAILABLE, ERR_GONE, 0};
static const int admin_errors[] = {WRITE_ERRORS, ERR_INVALID, ERR_JSON, ERR_NOTEMPTY, ERR_NOSPC, 0};
static const int get_errors[] = {STORE_ERRORS, ERR_GONE, 0};
static const int slider_errors[] = {STORE_ERRORS, 0};
static const int put_errors[] = {WRITE_ERRORS, ERR_EXISTS, ERR_EPHEMERAL, ERR_RECORD, ERR_CONFLICT,
                                 ERR_NOSPC,    0};
static const int post_errors[] = {WRITE_ERRORS, ERR_EPHEMERAL, ERR_NOSPC, 0};
static const int delete_errors[] = {WRITE_ERRORS, ERR_NOTEMPTY, ERR_CONFLICT, ERR_NOSPC, 0};

const struct http_doc registry_docs[] = {
    {api_get, get_params, NULL, get_answers, get_errors},
    {api_slider_get, slider_params, NULL, slider_answers, slider_errors},
    {api_put, put_params, &record_schema, put_answers, put_errors},
    {api_post, post_params, NULL, post_answers, post_errors},
    {api_delete, delete_params, NULL, delete_answers, delete_errors},
    {api_find, find_params, NULL, find_answers, find_errors},
    {api_purge, NULL, &purge_schema, purge_answers, admin_errors},
    {api_events, NULL, &events_schema, events_answers, admin_errors},
    {api_users, NULL, &users_schema, users_answers, admin_errors},
    {api_export, export_params, NULL, export_answers, export_errors},
    {api_import, import_params, &import_schema, import_answers, import_errors},
    {api_backup, NULL, &backup_schema, backup_answers, backup_errors},
};
const size_t registry_n_docs = ARRAY_LEN(registry_docs);
