/**
 * The OpenAPI document of a route table. Pure.
 *
 *     struct http_route  ──► paths, methods, summary, role, parameters, body, answers and errors
 *     struct http_schema ──► components; those that rows and other schemas name
 *
 * A row without answers gets those of the checks and a "default" one.
 *
 * Thread: any.   Source: OpenAPI 3.0.3; ours.
 */
#ifndef HTTP_OPENAPI_H
#define HTTP_OPENAPI_H

#include "base/buf.h"
#include "http/route.h"

struct http_openapi_def {
    const char *title, *version;
    const struct http_route_table *routes;
    const struct http_schema *schemas[2]; /* each ended by a name NULL; NULL: none */
    const char *error_schema;             /* name */
    const char *error_media_type;
};

/** Problem (application/problem+json) and the answers of the common routes; ended by a name NULL. */
extern const struct http_schema http_schemas[];

/**
 * Write the document. A schema that is named and not there is a BUG.
 *
 * @param def  all of it borrowed
 * @param out  JSON text, appended
 * Thread: any.   Source: OpenAPI 3.0.3.
 */
void http_openapi_write(const struct http_openapi_def *def, struct buf *out);

#endif
