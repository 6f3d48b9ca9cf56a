/** Log events and metrics of dnsd. Source: ours. */
#ifndef DNSD_EVENTS_H
#define DNSD_EVENTS_H

#include "forward/forward.h"
#include "net/net.h"
#include "http/limits.h"
#include "run/degraded.h"
#include "run/log.h"
#include "run/metrics.h"

#define DNSD_EVENTS(X)                                                                                       \
    X(dns_listening, LOG_INFO, "DNS queries are answered here.")                                             \
    X(dns_tls_listening, LOG_INFO, "DNS queries over TLS are answered here.")                                \
    X(dns_reloaded, LOG_INFO, "A certificate or a file of cookie secrets was read again.")                   \
    X(dns_reload_failed, LOG_ERROR, "A file could not be read again; what it said before stays in force.")   \
    X(dns_reverse_missing, LOG_WARN, "No reverse zone: hadoop.registry.dns.zone-subnet is not set.")         \
    X(dns_nothing_kept, LOG_WARN,                                                                            \
      "What the next start needs cannot be kept or read: serials, last known names. Set bobbin.data.dir.")   \
    X(dns_image_unlike, LOG_INFO,                                                                            \
      "Options or zone files have changed since the image of the zones was written; its records are read "   \
      "first.")                                                                                              \
    X(zones_frozen, LOG_ERROR,                                                                               \
      "Names are answered as they were, as stale: no serial is reserved on disk for what is new. Make room " \
      "there.")                                                                                              \
    X(zones_moving, LOG_INFO, "Serials are reserved again; names are answered as they are known.")           \
    X(dns_ttl_manual, LOG_WARN,                                                                              \
      "hadoop.registry.dns-ttl is Hadoop's misprint, and is used; write hadoop.registry.dns.dns-ttl.")

LOG_DECLARE(DNSD_EVENTS)

/* One metric a counter of the workers and of the forwarder, then the ones of the feed and the zones. */
#define DNSD_METRICS(X)                                                                                      \
    DEGRADED_METRICS(X)                                                                                      \
    HTTP_METRICS(X)                                                                                          \
    X(M_READY, METRIC_GAUGE, "dnsd_ready", "", "1 when the registry was read completely.")                   \
    X(M_LOADING, METRIC_GAUGE, "dnsd_loading", "",                                                           \
      "1 while an image of the last run is answered from and the records of it are read.")                   \
    X(M_STALE, METRIC_GAUGE, "registry_stale", "", "1 while the registry is away.")                          \
    X(M_STALE_SECONDS, METRIC_GAUGE, "registry_stale_seconds", "", "Age of what is answered; 0: current.")   \
    X(M_HELD, METRIC_GAUGE, "dnsd_held_removals", "", "Records whose removal is held by the guard.")         \
    X(M_FROZEN, METRIC_GAUGE, "dnsd_zones_frozen", "",                                                       \
      "1 while names are answered as they were, since no serial can be reserved on disk for what is new.")   \
    X(M_SERIALS_FAILING, METRIC_GAUGE, "dnsd_serials_failing", "",                                           \
      "1 while serials cannot be reserved on disk; what is reserved is used up first.")                      \
    X(M_BAD_FILES, METRIC_GAUGE, "dnsd_bad_zone_files", "", "Zone files that cannot be read as they are.")   \
    X(M_NAMELESS, METRIC_GAUGE, "dnsd_registry_nameless", "", "Registry records that have no names.")        \
    X(M_RECORDS, METRIC_GAUGE, "dnsd_registry_records", "", "Registry records that have names.")             \
    X(M_COMMITS, METRIC_COUNTER, "dnsd_commits", "", "Commits of the zones.")                                \
    X(M_SLICES, METRIC_COUNTER, "dnsd_zone_change_slices", "",                                               \
      "Parts of large changes of zones, after each of which other work was done.")                           \
    X(M_LONG_TURNS, METRIC_COUNTER, "dnsd_loop_long_turns", "",                                              \
      "Turns of the owner loop (registry, zones, HTTP; not queries) that took more than a millisecond.")     \
    X(M_LONGEST_TURN, METRIC_GAUGE, "dnsd_loop_longest_turn_microseconds", "",                               \
      "Longest turn of the owner loop since the start: how long HTTP has waited for it.")                    \
    X(M_LEFT_OUT, METRIC_COUNTER, "dnsd_names_left_out", "", "Names that could not be formed.")              \
    X(M_UNZONED, METRIC_COUNTER, "dnsd_records_unzoned", "", "Records that no zone covers.")                 \
    X(M_ZONE_BYTES, METRIC_GAUGE, "dnsd_zone_bytes", "", "Memory of the published zones.")                   \
    X(M_TCP_OPEN, METRIC_GAUGE, "dns_tcp_open", "", "TCP connections open.")                                 \
    X(M_FORWARD_UNDER_WAY, METRIC_GAUGE, "dns_forward_under_way", "", "Forwarded queries under way.")        \
    X(M_FORWARD_CACHE, METRIC_GAUGE, "dns_forward_cache_bytes", "", "Memory of answers of upstreams.")       \
    X(M_FORWARD_FAILING, METRIC_GAUGE, "dns_forward_upstreams_failing", "",                                  \
      "Upstream servers that did not answer when asked last.")

#define DNSD_NET_METRIC_ENUM(field, name, help) M_NET_##field,
#define DNSD_NET_METRIC_ROW(field, name, help)  {METRIC_COUNTER, name, "", help},

enum {
    METRICS_ENUM(DNSD_METRICS) NET_COUNTERS(DNSD_NET_METRIC_ENUM) FORWARD_COUNTERS(DNSD_NET_METRIC_ENUM)
        DNSD_N_METRICS
};

#endif
