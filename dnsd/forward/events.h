/** Log events of dnsd/forward. Source: ours. */
#ifndef FORWARD_EVENTS_H
#define FORWARD_EVENTS_H

#include "run/log.h"

#define FORWARD_EVENTS(X)                                                                                    \
    X(forward_upstream_failed, LOG_WARN,                                                                     \
      "An upstream server does not answer. Queries go to the others first.")                                 \
    X(forward_upstream_back, LOG_INFO, "An upstream server answers again.")                                  \
    X(forward_lost, LOG_WARN,                                                                                \
      "No upstream server answers; queries that are forwarded fail, and each one tries again.")              \
    X(forward_still_lost, LOG_WARN, "Still no upstream server answers; queries that are forwarded fail.")    \
    X(forward_back, LOG_INFO, "An upstream server answers again; queries are forwarded.")                    \
    X(forward_upstream_case, LOG_WARN,                                                                       \
      "An upstream server changes the case of names. Queries to it are sent in lower case and are easier "   \
      "to forge.")                                                                                           \
    X(forward_upstream_plain, LOG_WARN,                                                                      \
      "An upstream server does not support EDNS. Queries to it are sent without.")

LOG_DECLARE(FORWARD_EVENTS)

#endif
