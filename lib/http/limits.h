/**
 * Limits on what clients hold of a server: memory of unfinished bodies, time, connections. One table of options and one of
 * metrics, which every daemon that serves HTTP puts into its own.
 *
 *     #define MY_OPTIONS(X)  …  HTTP_OPTIONS(X, "my.http.")  …
 *     #define MY_METRICS(X)  …  HTTP_METRICS(X)  …
 *     http_limits_read(o, OPT_HTTP_BODY_BUDGET, "my.http.", &def.limits);
 *
 * Source: ours; RFC 9110 15.5.9 (408), 15.6.4 (503).
 */
#ifndef HTTP_LIMITS_H
#define HTTP_LIMITS_H

#include <stddef.h>
#include <stdint.h>

#include "run/metrics.h"
#include "run/options.h"

#define HTTP_BODY_BUDGET     67108864
#define HTTP_BODY_MIN_RATE   500
#define HTTP_BODY_WINDOW_MS  20000
#define HTTP_HEAD_TIMEOUT_MS 40000
#define HTTP_PER_ADDRESS     4096

/** The rows stay together and in this order. */
#define HTTP_OPTIONS(X, PREFIX)                                                                              \
    X(OPT_HTTP_BODY_BUDGET, PREFIX "body.budget", OPT_SIZE, "bytes", "64M", 1048576, 1099511627776,          \
      OPT_FIXED,                                                                                             \
      "Memory for the bodies of all requests together. A quarter is reserved for bodies up to 64 KiB. It "   \
      "is "                                                                                                  \
      "raised so that one body of the largest allowed size fits. Bodies that stall for a second are "        \
      "dropped "                                                                                             \
      "to make room; a request without room gets 503.")                                                      \
    X(OPT_HTTP_BODY_MIN_RATE, PREFIX "body.min-rate", OPT_SIZE, "bytes a second", "500", 0, 1073741824,      \
      OPT_FIXED,                                                                                             \
      "Slowest rate of a body, averaged over body.rate-window; a slower one gets 408. 0: no limit.")         \
    X(OPT_HTTP_BODY_WINDOW, PREFIX "body.rate-window", OPT_TIME, "s", "20", 100, 3600000, OPT_FIXED,         \
      "Window over which the rate of a body is averaged; the first begins with the body.")                   \
    X(OPT_HTTP_HEAD_TIMEOUT, PREFIX "head.timeout", OPT_TIME, "s", "40", 100, 3600000, OPT_FIXED,            \
      "Time limit for the head of a request, from the start of the connection or the previous answer; a "    \
      "slower one gets 408.")                                                                                \
    X(OPT_HTTP_PER_ADDRESS, PREFIX "connections-per-address", OPT_INT, "", "4096", 0, 1000000, OPT_FIXED,    \
      "Connections allowed from one address, which may be a proxy's; further ones get 503. 0: no limit.")    \
    X(OPT_HTTP_HOSTS, PREFIX "hosts", OPT_TEXT, "", NULL, 0, 0, OPT_FIXED,                                   \
      "Names, comma-separated, that clients and proxies use for this server besides localhost, the host's "  \
      "name and its addresses. A request with another Host gets 421.")

#define HTTP_METRICS(X)                                                                                      \
    X(M_HTTP_CONNECTIONS, METRIC_GAUGE, "http_connections", "", "Open HTTP connections.")                    \
    X(M_HTTP_REFUSED, METRIC_COUNTER, "http_connections_refused", "",                                        \
      "HTTP connections refused: too many from one address, or no file descriptor left.")                    \
    X(M_HTTP_EVICTED, METRIC_COUNTER, "http_connections_evicted", "",                                        \
      "Idle HTTP connections closed because file descriptors were short.")                                   \
    X(M_HTTP_SLOW, METRIC_COUNTER, "http_requests_slow", "", "Requests whose head or body came too slowly.") \
    X(M_HTTP_BODY_BYTES, METRIC_GAUGE, "http_body_bytes", "", "Memory held by bodies of requests.")          \
    X(M_HTTP_BODIES_REFUSED, METRIC_COUNTER, "http_bodies_refused", "",                                      \
      "Requests refused because body.budget was used up.")                                                   \
    X(M_HTTP_REPLAYED, METRIC_COUNTER, "http_requests_repeated", "",                                         \
      "Writes answered as their first try was, by X-Request-Id, and not done again.")                        \
    X(M_HTTP_DURATION, METRIC_HISTOGRAM_VEC, "http_request_duration_seconds", "",                            \
      "Time from the first line of a request to the end of its answer; streams are left out.")

struct http_limits {
    const char *prefix;    /* of the options, named in errors                          [borrowed] */
    size_t body_budget;    /* bytes; 0: all fields but hosts have the defaults of the table        */
    int64_t body_min_rate; /* bytes a second; 0: none                                              */
    int64_t body_window_ms;
    int64_t head_timeout_ms;
    size_t per_address; /* connections; 0: no limit                                             */
    const char *hosts;  /* names of ours, comma-separated; NULL: none  [borrowed for the start] */
};

/**
 * Read the rows of HTTP_OPTIONS.
 *
 * @param o       options whose table has the rows                               [borrowed]
 * @param first   OPT_HTTP_BODY_BUDGET of that table
 * @param prefix  as given to HTTP_OPTIONS                                       [borrowed, lives on]
 * @param out     filled                                                         [out]
 * Thread: any.   Source: ours.
 */
void http_limits_read(const struct options *o, int first, const char *prefix, struct http_limits *out);

#endif
