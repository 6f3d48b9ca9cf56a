/** Log events of dnsd/feed. Source: ours. */
#ifndef FEED_EVENTS_H
#define FEED_EVENTS_H

#include "run/log.h"

#define FEED_EVENTS(X)                                                                                       \
    X(feed_synced, LOG_INFO, "The registry was read completely; its names are published.")                   \
    X(feed_lost, LOG_WARN, "The registry is away; what is known is still answered.")                         \
    X(feed_back, LOG_INFO, "The registry is back.")                                                          \
    X(feed_left_out, LOG_WARN, "Some names of this record could not be formed.")                             \
    X(zones_loaded, LOG_INFO, "A zone file was loaded.")

LOG_DECLARE(FEED_EVENTS)

#endif
