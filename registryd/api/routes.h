/**
 * The parameters of registryd's routes, a row each (http/params.h). routes.c has the rows of the routes.
 * Thread: any.   Source: docs/registry-rest.md.
 */
#ifndef API_ROUTES_H
#define API_ROUTES_H

#include "http/server.h"
#include "registry/prose.h"

#define IF_NONE_MATCH_PROSE "Answers 304 when the node still has this entity tag."
#define IF_MATCH_PROSE      "Writes only when the data are still those of this entity tag."
#define CURSOR_PROSE        "Continues where the answer with this cursor ended."

#define PATH_PARAM(X, id)                                                                                    \
    X(id, "path", HTTP_TEXT, "/", "Path of the node, in place of the one in the URL.", .in = HTTP_IN_REST)

#define GET_PARAMS(X)                                                                                        \
    PATH_PARAM(X, GET_PATH)                                                                                  \
    X(GET_RECURSIVE, "recursive", HTTP_BOOL, "false",                                                        \
      "Shows everything below, as `tree` in place of `nodes`.")                                              \
    X(GET_LIMIT, "limit", HTTP_INT, HTTP_DEFAULT_MAX, "Bounds the members of `nodes` or `tree`.",            \
      .unit = "nodes", .min = 1, .max_key = "hadoop.registry.list.max-children")                             \
    X(GET_CURSOR, "cursor", HTTP_TEXT, NULL, CURSOR_PROSE)                                                   \
    X(GET_CONSISTENCY, "consistency", HTTP_CHOICE, "mirror",                                                 \
      "Reads from memory, or with `strong` from the store; not with `recursive` or `watch`.",                \
      .choices = "mirror|strong")                                                                            \
    X(GET_WATCH, "watch", HTTP_BOOL, "false", "Streams the changes, one JSON object a line.")                \
    X(GET_SINCE, "since", HTTP_TEXT, NULL, "with `watch`: " REG_PROSE_SINCE)                                 \
    X(GET_TIMEOUT, "timeout", HTTP_TIME, "0",                                                                \
      "With `watch`: ends the stream so long after it began, once it is live; 0: never, or after 15 s "      \
      "behind a proxy "                                                                                      \
      "that sends X-Forwarded-Context.")                                                                     \
    X(GET_MAX, "max", HTTP_INT, NULL, "With `watch`: ends the stream after so many changes.",                \
      .unit = "changes", .min = 1)                                                                           \
    X(GET_IF_NONE_MATCH, "If-None-Match", HTTP_TEXT, NULL, IF_NONE_MATCH_PROSE, .in = HTTP_IN_HEADER)
/** Choices of GET_CONSISTENCY. */
enum { CONSISTENCY_MIRROR, CONSISTENCY_STRONG };

#define SLIDER_PARAMS(X)                                                                                     \
    PATH_PARAM(X, SLIDER_PATH)                                                                               \
    X(SLIDER_IF_NONE_MATCH, "If-None-Match", HTTP_TEXT, NULL, IF_NONE_MATCH_PROSE, .in = HTTP_IN_HEADER)

/** Ways to prove a write accessor: an alternative to the rights of the caller's name. */
#define ACCESSOR_PARAMS(X, prefix)                                                                           \
    X(prefix##_BASIC, "accessor", HTTP_TEXT, NULL, "The caller holds this write accessor, id and password.", \
      .in = HTTP_AS_BASIC)                                                                                   \
    X(prefix##_ACCESSOR, "X-Bobbin-Accessor", HTTP_TEXT, NULL,                                               \
      "The caller holds this write accessor, id:password; it counts more than HTTP Basic.",                  \
      .in = HTTP_AS_KEY)
#define GRANT_PARAM(X, id)                                                                                   \
    X(id, "X-Bobbin-Write-Accessors", HTTP_TEXT, NULL,                                                       \
      "Lets these accessors write the node that is made: digest ids, comma-separated.",                      \
      .in = HTTP_IN_HEADER)

#define PUT_PARAMS(X)                                                                                        \
    PATH_PARAM(X, PUT_PATH)                                                                                  \
    X(PUT_OVERWRITE, "overwrite", HTTP_BOOL, "false", REG_PROSE_OVERWRITE)                                   \
    X(PUT_PARENTS, "createParents", HTTP_BOOL, "false", REG_PROSE_PARENTS)                                   \
    X(PUT_TTL, "ttl", HTTP_TIME, NULL,                                                                       \
      "Binds with a lease of so long: the record goes when its owner stops renewing.")                       \
    X(PUT_LEASE, "X-Bobbin-Lease", HTTP_TEXT, NULL,                                                          \
      "With `ttl`: key of the lease, one for all records of an owner; without it the answer brings a new "   \
      "one.",                                                                                                \
      .in = HTTP_IN_HEADER)                                                                                  \
    X(PUT_IF_MATCH, "If-Match", HTTP_TEXT, NULL, IF_MATCH_PROSE, .in = HTTP_IN_HEADER)                       \
    X(PUT_IF_NONE_MATCH, "If-None-Match", HTTP_TEXT, NULL, "`*`: writes only when there is no node.",        \
      .in = HTTP_IN_HEADER)                                                                                  \
    GRANT_PARAM(X, PUT_GRANTS)                                                                               \
    ACCESSOR_PARAMS(X, PUT)

#define POST_PARAMS(X)                                                                                       \
    PATH_PARAM(X, POST_PATH)                                                                                 \
    X(POST_OP, "op", HTTP_CHOICE, NULL, "Makes a node without a record.", .choices = "mknode",               \
      .is_required = true)                                                                                   \
    X(POST_PARENTS, "createParents", HTTP_BOOL, "false", REG_PROSE_PARENTS)                                  \
    GRANT_PARAM(X, POST_GRANTS)                                                                              \
    ACCESSOR_PARAMS(X, POST)

#define DELETE_PARAMS(X)                                                                                     \
    PATH_PARAM(X, DELETE_PATH)                                                                               \
    X(DELETE_RECURSIVE, "recursive", HTTP_BOOL, "false", REG_PROSE_RECURSIVE)                                \
    X(DELETE_MUST_EXIST, "mustExist", HTTP_BOOL, "false", "Answers 404 when there is no node.")              \
    X(DELETE_IF_MATCH, "If-Match", HTTP_TEXT, NULL, IF_MATCH_PROSE, .in = HTTP_IN_HEADER)                    \
    ACCESSOR_PARAMS(X, DELETE)

#define FIND_ALIAS(X, id, name, param) X(id, name, HTTP_TEXT, NULL, "As `" param "`.", .in = HTTP_IN_ALIAS)
/** The terms of a search come first: api/find.c has a row for each. */
#define FIND_PARAMS(X)                                                                                       \
    X(FIND_API, "api", HTTP_TEXT, NULL, REG_PROSE_API)                                                       \
    X(FIND_USER, "user", HTTP_TEXT, NULL, "Element after `/users/`.")                                        \
    X(FIND_CLASS, "class", HTTP_TEXT, NULL, "Service class of the path.")                                    \
    X(FIND_PROTOCOL, "protocol", HTTP_TEXT, NULL, REG_PROSE_PROTOCOL)                                        \
    X(FIND_COMPONENT, "component", HTTP_TEXT, NULL, "Attribute `yarn:component`.")                           \
    X(FIND_ID, "id", HTTP_TEXT, NULL, "Attribute `yarn:id`.")                                                \
    FIND_ALIAS(X, FIND_FIELD_API, "endpointField.api", "api")                                                \
    FIND_ALIAS(X, FIND_DASH_API, "-endpointField.api", "api")                                                \
    FIND_ALIAS(X, FIND_FIELD_PROTOCOL, "endpointField.protocol", "protocol")                                 \
    FIND_ALIAS(X, FIND_DASH_PROTOCOL, "-endpointField.protocol", "protocol")                                 \
    FIND_ALIAS(X, FIND_FIELD_TYPE, "endpointField.protocolType", "protocol")                                 \
    FIND_ALIAS(X, FIND_DASH_TYPE, "-endpointField.protocolType", "protocol")                                 \
    X(FIND_FORMAT, "format", HTTP_CHOICE, "records", "Gives records, or targets for Prometheus.",            \
      .choices = "records|http_sd")                                                                          \
    X(FIND_LIMIT, "limit", HTTP_INT, "1000", "Bounds the records of one answer; not with `format=http_sd`.", \
      .unit = "records", .min = 1, .max = 10000)                                                             \
    X(FIND_CURSOR, "cursor", HTTP_TEXT, NULL, CURSOR_PROSE)
/** Choices of FIND_FORMAT. */
enum { FORMAT_RECORDS, FORMAT_HTTP_SD };

#define LEASE_PARAMS(X) X(LEASE_PATH, "path", HTTP_TEXT, NULL, "Path of the record.", .is_required = true)

#define EXPORT_PARAMS(X) X(EXPORT_PATH, "path", HTTP_TEXT, "/", "Path of the uppermost node.")
#define IMPORT_PARAMS(X)                                                                                     \
    X(IMPORT_OVERWRITE, "overwrite", HTTP_BOOL, "false", "Replaces bytes and ACLs of nodes that exist.")

enum { HTTP_PARAM_IDS(GET_PARAMS) };
enum { HTTP_PARAM_IDS(SLIDER_PARAMS) };
enum { HTTP_PARAM_IDS(PUT_PARAMS) };
enum { HTTP_PARAM_IDS(POST_PARAMS) };
enum { HTTP_PARAM_IDS(DELETE_PARAMS) };
enum { HTTP_PARAM_IDS(FIND_PARAMS) };
enum { HTTP_PARAM_IDS(LEASE_PARAMS) };
enum { HTTP_PARAM_IDS(EXPORT_PARAMS) };
enum { HTTP_PARAM_IDS(IMPORT_PARAMS) };

extern const struct http_route registry_routes[];
extern const size_t registry_n_routes;
/** JSON schemas that the rows name: schemas/NAME.json. */
extern const struct http_schema registry_schemas[];

#endif
