/**
 * What /openapi.json says of registryd's routes besides the route table.
 * Thread: any.   Source: docs/registry-rest.md.
 */
#ifndef API_OPENAPI_H
#define API_OPENAPI_H

#include "http/openapi.h"

extern const struct http_doc registry_docs[];
extern const size_t registry_n_docs;

#endif
