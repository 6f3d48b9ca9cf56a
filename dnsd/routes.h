/**
 * The parameters of dnsd's routes, a row each (http/params.h). routes.c has the rows of the routes.
 * Thread: any.   Source: ours.
 */
#ifndef DNSD_ROUTES_H
#define DNSD_ROUTES_H

#include "http/server.h"

#define SYNC_PARAMS(X)                                                                                       \
    X(SYNC_REVISION, "revision", HTTP_TEXT, NULL,                                                            \
      "Waits until names are answered from it: the Bobbin-Revision of a write.", .is_required = true)        \
    X(SYNC_TIMEOUT, "timeout", HTTP_TIME, "10s", "Answers 504 after waiting so long.")

#define DUMP_PARAMS(X) X(DUMP_ZONE, "zone", HTTP_TEXT, NULL, "Name of the zone; else the registry's zone.")

#define EXPLAIN_PARAMS(X)                                                                                    \
    X(EXPLAIN_NAME, "name", HTTP_TEXT, NULL, "Domain name, or an address for its reverse name.",             \
      .is_required = true)                                                                                   \
    X(EXPLAIN_TYPE, "type", HTTP_TEXT, NULL, "Record type, as A, SRV or TYPE65; else A, of an address PTR.")

enum { HTTP_PARAM_IDS(SYNC_PARAMS) };
enum { HTTP_PARAM_IDS(DUMP_PARAMS) };
enum { HTTP_PARAM_IDS(EXPLAIN_PARAMS) };

extern const struct http_route dnsd_routes[];
extern const size_t dnsd_n_routes;
/** JSON schemas that the rows name: schemas/NAME.json. */
extern const struct http_schema dnsd_schemas[];

/* One handler a route. */
void dnsd_api_sync(struct http_req *req, void *app);    /* api.c */
void dnsd_api_zones(struct http_req *req, void *app);   /* api.c */
void dnsd_api_stats(struct http_req *req, void *app);   /* api.c */
void dnsd_api_reload(struct http_req *req, void *app);  /* api.c */
void dnsd_api_release(struct http_req *req, void *app); /* api.c */
void dnsd_api_dump(struct http_req *req, void *app);    /* api_dump.c */
void dnsd_api_explain(struct http_req *req, void *app); /* api_explain.c */

#endif
