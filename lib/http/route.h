/**
 * The routes of a server, and the matching of raw request paths against them. Pure.
 *
 * Elements are compared as bytes, never decoded: "/a%2Fb" is one element and matches no "/a/b". Rows are tried in table
 * order, first table first; the first row whose pattern and method fit wins.
 *
 * Thread: any.   Source: ours.
 */
#ifndef HTTP_ROUTE_H
#define HTTP_ROUTE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "http/server.h"

struct options;

/** Most pattern elements with a name in one row. */
#define ROUTE_MAX_SPANS 8

/** One named element of a match; both texts are borrowed, not terminated. */
struct http_route_span {
    const char *name; /* in the pattern; "*" for the rest */
    size_t name_len;
    const char *text; /* in the path */
    size_t len;
};

/** A row of a program's table, with the bounds that options give. */
struct http_route_bound {
    const struct http_route *row;
    size_t max_body; /* bytes */
    struct http_param_set params;
};

struct http_route_match {
    const struct http_route_bound *route;
    struct http_route_span spans[ROUTE_MAX_SPANS];
    size_t n_spans;
};

/** The routes of one server, in the order in which they are searched. */
struct http_route_table {
    struct http_route_bound *routes;
    size_t n;
};

/**
 * Append rows to a table.
 *
 * @param table    {0}, or of an earlier call; http_route_table_fini releases             [in,out]
 * @param rows     n of them; NULL: none                                            [borrowed while the table lives]
 * @param options  of the program; NULL only when no row names an option            [borrowed]
 * Thread: any.   Source: ours.
 */
void http_route_table_add(struct http_route_table *table, const struct http_route *rows, size_t n,
                          const struct options *options);
/** Release; it is empty afterwards. @param table  a table, or {0} [in,out] Thread: any. Source: ours. */
void http_route_table_fini(struct http_route_table *table);

/**
 * Whether a path fits a pattern; fills the spans of *out.
 *
 * @param pattern  pattern of a row                                              [borrowed]
 * @param path     raw path without query                                        [borrowed]
 * @param out      spans point into both texts; unspecified when false           [out]
 * Thread: any.   Source: http/server.h.
 */
bool http_route_fits(const char *pattern, const char *path, struct http_route_match *out);

/**
 * Find the row for a request.
 *
 * @param table   routes to search                                               [borrowed]
 * @param method  HTTP method; HEAD is looked up as itself, then as GET          [borrowed]
 * @param path    raw path without query                                         [borrowed]
 * @param out     row and spans                                                  [out]
 * @return 0; ERR_NOROUTE: no row has this path; ERR_METHOD: rows have it, none with this method; *out unspecified.
 * Thread: any.   Source: RFC 9110 9.3.2, 15.5.6.
 */
int http_route_find(const struct http_route_table *table, const char *method, const char *path,
                    struct http_route_match *out);

/**
 * Append the methods that a path knows, as Allow wants them: "GET, HEAD, PUT, OPTIONS".
 *
 * @param table   routes to search                                               [borrowed]
 * @param path    raw path without query                                         [borrowed]
 * @param out     appended; unchanged when no row has this path                  [out]
 * Thread: any.   Source: RFC 9110 10.2.1.
 */
void http_route_allow(const struct http_route_table *table, const char *path, struct buf *out);

#endif
