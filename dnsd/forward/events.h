/** Log events of dnsd/forward. Source: ours. */
#ifndef FORWARD_EVENTS_H
#define FORWARD_EVENTS_H

#include "run/log.h"

#define FORWARD_EVENTS(X)                                                                                    \
    X(forward_upstream_failed, LOG_WARN, "An upstream server does not answer; others are asked first.")      \
    X(forward_upstream_back, LOG_INFO, "An upstream server answers again.")                                  \
    X(forward_upstream_case, LOG_WARN,                                                                       \
      "An upstream server changes the case of questions: its answers are easier to forge.")                  \
    X(forward_upstream_plain, LOG_WARN, "An upstream server does not know EDNS: it is asked without.")

LOG_DECLARE(FORWARD_EVENTS)

#endif
