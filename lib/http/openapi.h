/**
 * What the rows of a route table leave unsaid, and the OpenAPI document made of both. Pure.
 *
 *     route table  ──► paths, methods, summary, path parameters, whether there is a body, answers of the checks
 *     http_doc     ──► query and header parameters, schema of the body, answers of the handler
 *
 * A doc belongs to a handler, so rows that share one share its doc. A row without doc gets the answers of the checks and
 * a "default" one.
 *
 * Thread: any.   Source: OpenAPI 3.0.3; ours.
 */
#ifndef HTTP_OPENAPI_H
#define HTTP_OPENAPI_H

#include <stddef.h>

#include "base/buf.h"
#include "http/route.h"
#include "http/server.h"

enum http_param_in {
    HTTP_IN_QUERY,
    HTTP_IN_HEADER,
    HTTP_AS_BASIC, /* HTTP Basic authentication, which nobody must use; name: of the security scheme */
    HTTP_AS_KEY,   /* the same by a header of this name, which is the security scheme's too */
};

enum http_param_kind {
    HTTP_TEXT,   /* any text */
    HTTP_BOOL,   /* as http_query_bool reads it */
    HTTP_INT,    /* an integer of min..max */
    HTTP_TIME,   /* as http_query_ms reads it */
    HTTP_CHOICE, /* one of `choices` */
};

struct http_param {
    const char *name;
    enum http_param_in in;
    enum http_param_kind kind;
    const char *prose; /* one sentence */
    int64_t min, max;
    const char *choices; /* "strong|mirror" */
    bool is_required;
};

/** A named JSON Schema. Other schemas are referred to as "#/components/schemas/NAME" and listed in `uses`. */
struct http_schema {
    const char *name;
    const char *json;                      /* text of the schema object */
    const struct http_schema *const *uses; /* ended by NULL; NULL: none */
};

/** An answer of the handler other than an error of the table in error.h. */
struct http_doc_answer {
    int status;
    const char *media_type;           /* NULL: without body */
    const struct http_schema *schema; /* NULL: no JSON, or any */
    const char *prose;                /* one sentence */
};

struct http_doc {
    void (*handle)(struct http_req *req, void *app); /* the rows that this is about */
    const struct http_param *params;                 /* ended by a name NULL; NULL: none */
    const struct http_schema *body;                  /* NULL: any JSON, or no body */
    const struct http_doc_answer *answers;           /* ended by a status 0 */
    const int *errors;                               /* ERR_* of the handler, ended by 0; NULL: none */
};

struct openapi_def {
    const char *title, *version;
    const struct route_tables *tables;
    const struct http_doc *docs[2]; /* NULL: none */
    size_t n_docs[2];
    const struct http_schema *error_schema;
    const char *error_media_type;
};

/** application/problem+json. */
extern const struct http_schema http_problem_schema;

/**
 * Write the document.
 *
 * @param def  all of it borrowed
 * @param out  JSON text, appended
 * Thread: any.   Source: OpenAPI 3.0.3.
 */
void openapi_write(const struct openapi_def *def, struct buf *out);

#endif
