/** Log events of dnsd/follow and dnsd/masters. Source: ours. */
#ifndef FOLLOW_EVENTS_H
#define FOLLOW_EVENTS_H

#include "run/log.h"

#define FEED_EVENTS(X)                                                                                       \
    X(feed_synced, LOG_INFO, "Read the registry completely; its names are published.")                       \
    X(feed_lost, LOG_WARN, "Cannot reach the registry; retries, and answers from the last known records.")   \
    X(feed_still_lost, LOG_WARN,                                                                             \
      "Still cannot reach the registry; retries, and answers from the last known records.")                  \
    X(feed_back, LOG_INFO, "Connected to the registry.")                                                     \
    X(hosts_lost, LOG_WARN,                                                                                  \
      "Cannot resolve a host that records name; retries, and its addresses stay as they were.")              \
    X(hosts_still_lost, LOG_WARN,                                                                            \
      "Still cannot resolve a host that records name; retries, and its addresses stay as they were.")        \
    X(hosts_back, LOG_INFO, "Can resolve all hosts that records name again.")                                \
    X(feed_stale, LOG_WARN,                                                                                  \
      "The registry has lost its store; answers from the last known records, as stale.")                     \
    X(feed_still_stale, LOG_WARN, "The registry still lacks its store; answers are stale.")                  \
    X(feed_current, LOG_INFO, "The registry has its store again.")                                           \
    X(feed_image, LOG_INFO, "Answers from the image of the last run while its records are read.")            \
    X(feed_restored, LOG_INFO, "Answers from the snapshot of the last run until the registry is read.")      \
    X(feed_expired, LOG_ERROR,                                                                               \
      "Answers SERVFAIL: the last known records are older than hadoop.registry.dns.stale.max.")              \
    X(feed_held, LOG_ERROR,                                                                                  \
      "Holds removals: too many names would vanish at once. They are still answered; POST /release removes " \
      "them.")                                                                                               \
    X(feed_released, LOG_WARN, "Removed the names that were held.")                                          \
    X(feed_host, LOG_INFO, "A host name in records has new addresses.")                                      \
    X(feed_left_out, LOG_WARN, "Left out names of this record that are no valid DNS names.")                 \
    X(zones_bad, LOG_ERROR, "Cannot load a zone file; its zone stays unchanged.")                            \
    X(zones_removed, LOG_WARN, "Removed the records of a zone file that was deleted.")                       \
    X(snapshot_failed, LOG_WARN, "Cannot write the snapshot for the next start.")                            \
    X(serials_failed, LOG_WARN,                                                                              \
      "Cannot reserve serials of zones on disk; retries each second, and uses up the reserved ones first.")  \
    X(zones_loaded, LOG_INFO, "Loaded a zone file.")

LOG_DECLARE(FEED_EVENTS)

#endif
