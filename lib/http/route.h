/**
 * Matching of raw request paths against route tables. Pure.
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

/** Most pattern elements with a name in one row. */
#define ROUTE_MAX_SPANS 8

/** One named element of a match; both texts are borrowed, not terminated. */
struct route_span {
    const char *name; /* in the pattern; "*" for the rest */
    size_t name_len;
    const char *text; /* in the path */
    size_t len;
};

struct route_match {
    const struct http_route *route;
    struct route_span spans[ROUTE_MAX_SPANS];
    size_t n_spans;
};

/** The tables of one server, in the order in which they are searched. */
struct route_tables {
    const struct http_route *rows[2]; /* NULL: none */
    size_t n_rows[2];
};

/**
 * Whether a path fits a pattern; fills the spans of *out.
 *
 * @param pattern  pattern of a row                                              [borrowed]
 * @param path     raw path without query                                        [borrowed]
 * @param out      spans point into both texts; unspecified when false           [out]
 * Thread: any.   Source: http/server.h.
 */
bool route_fits(const char *pattern, const char *path, struct route_match *out);

/**
 * Find the row for a request.
 *
 * @param tables  tables to search                                               [borrowed]
 * @param method  HTTP method; HEAD is looked up as itself, then as GET          [borrowed]
 * @param path    raw path without query                                         [borrowed]
 * @param out     row and spans                                                  [out]
 * @return 0; ERR_NOROUTE: no row has this path; ERR_METHOD: rows have it, none with this method; *out unspecified.
 * Thread: any.   Source: RFC 9110 9.3.2, 15.5.6.
 */
int route_find(const struct route_tables *tables, const char *method, const char *path,
               struct route_match *out);

/**
 * Append the methods that a path knows, as Allow wants them: "GET, HEAD, PUT, OPTIONS".
 *
 * @param tables  tables to search                                               [borrowed]
 * @param path    raw path without query                                         [borrowed]
 * @param out     appended; unchanged when no row has this path                  [out]
 * Thread: any.   Source: RFC 9110 10.2.1.
 */
void route_allow(const struct route_tables *tables, const char *path, struct buf *out);

#endif
