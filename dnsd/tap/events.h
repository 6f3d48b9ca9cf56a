/** Log events of dnsd/tap. Source: ours. */
#ifndef TAP_EVENTS_H
#define TAP_EVENTS_H

#include "run/log.h"

#define TAP_EVENTS(X)                                                                                        \
    X(dns_query, LOG_INFO, "Answered a query.")                                                              \
    X(dnstap_connected, LOG_INFO, "Sends dnstap messages to a collector.")                                   \
    X(dnstap_away, LOG_WARN, "No dnstap collector listens; messages are dropped until one does.")

LOG_DECLARE(TAP_EVENTS)

#endif
