/** Log events of dnsd/forward. Source: ours. */
#ifndef FORWARD_EVENTS_H
#define FORWARD_EVENTS_H

#include "run/log.h"

#define FORWARD_EVENTS(X)                                                                                    \
    X(forward_upstream_failed, LOG_WARN, "An upstream server does not answer; others are asked first.")      \
    X(forward_upstream_back, LOG_INFO, "An upstream server answers again.")

LOG_DECLARE(FORWARD_EVENTS)

#endif
