/** Log events of dnsd/feed. Source: ours. */
#ifndef FOLLOW_EVENTS_H
#define FOLLOW_EVENTS_H

#include "run/log.h"

#define FEED_EVENTS(X)                                                                                       \
    X(feed_synced, LOG_INFO, "The registry was read completely; its names are published.")                   \
    X(feed_lost, LOG_WARN, "The registry is away; what is known is still answered.")                         \
    X(feed_refused, LOG_ERROR,                                                                               \
      "The registry refuses its change feed; it is asked again, what is known is still answered.")           \
    X(feed_back, LOG_INFO, "The registry is back.")                                                          \
    X(feed_stale, LOG_WARN,                                                                                  \
      "The registry is heard, but its store is away; what is known is still answered.")                      \
    X(feed_current, LOG_INFO, "The registry's store is back.")                                               \
    X(feed_image, LOG_INFO, "Names are answered from the image on disk while its records are read.")         \
    X(feed_restored, LOG_INFO, "Names are answered from the snapshot on disk until the registry is read.")   \
    X(feed_expired, LOG_ERROR,                                                                               \
      "What is known is older than hadoop.registry.dns.stale.max; names are answered SERVFAIL.")             \
    X(feed_held, LOG_ERROR,                                                                                  \
      "Too many names would vanish at once; they are still answered. Release them: POST /release.")          \
    X(feed_released, LOG_WARN, "Names that were held are gone.")                                             \
    X(feed_host, LOG_INFO, "The addresses of a host that records name have changed.")                        \
    X(feed_left_out, LOG_WARN, "Some names of this record could not be formed.")                             \
    X(zones_bad, LOG_ERROR, "A zone file is bad; its zone stays as it was.")                                 \
    X(zones_removed, LOG_WARN, "A zone file is gone, and what it said.")                                     \
    X(snapshot_failed, LOG_WARN, "The snapshot for the next start could not be written or read.")            \
    X(serials_failed, LOG_WARN,                                                                              \
      "Serials of zones cannot be reserved on disk; it is tried each second. What is reserved is used up "   \
      "first.")                                                                                              \
    X(zones_loaded, LOG_INFO, "A zone file was loaded.")

LOG_DECLARE(FEED_EVENTS)

#endif
