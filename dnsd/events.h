/** Log events and metrics of dnsd. Source: ours. */
#ifndef DNSD_EVENTS_H
#define DNSD_EVENTS_H

#include "forward/forward.h"
#include "net/net.h"
#include "http/limits.h"
#include "run/degraded.h"
#include "run/log.h"
#include "run/metrics.h"
#include "run/outage.h"
#include "run/process.h"

#define DNSD_EVENTS(X)                                                                                       \
    X(dns_listening, LOG_INFO, "Answers DNS queries at this address.")                                       \
    X(dns_tls_listening, LOG_INFO, "Answers DNS queries over TLS at this address.")                          \
    X(dns_reloaded, LOG_INFO, "Reloaded a certificate or a file of cookie secrets.")                         \
    X(dns_reload_failed, LOG_ERROR, "Cannot reload a file; what was read of it before stays in force.")      \
    X(zones_alias_hidden, LOG_WARN,                                                                          \
      "A CNAME of a master file gives way: the registry has records at its name (RFC 1034 3.6.2).")          \
    X(zones_alias_back, LOG_INFO,                                                                            \
      "The CNAME of a master file is answered again; the registry's records "                                \
      "at its name are gone.")                                                                               \
    X(dns_reverse_missing, LOG_WARN, "No reverse zone: hadoop.registry.dns.zone-subnet is not set.")         \
    X(dns_nothing_kept, LOG_WARN,                                                                            \
      "Cannot read or write what survives a restart: serials, snapshot, image. Set bobbin.data.dir.")        \
    X(dns_image_unlike, LOG_INFO,                                                                            \
      "Ignores the image of the last run: options or zone files have changed since. Reads its records "      \
      "first.")                                                                                              \
    X(zones_frozen, LOG_ERROR,                                                                               \
      "Answers from an older version, as stale: no serial can be reserved on disk for a newer one. Free "    \
      "disk space.")                                                                                         \
    X(zones_moving, LOG_INFO, "Serials can be reserved again; answers from the newest version.")             \
    X(dns_ttl_manual, LOG_WARN,                                                                              \
      "Uses hadoop.registry.dns-ttl, the spelling of Hadoop's manual; the key is "                           \
      "hadoop.registry.dns.dns-ttl.")

LOG_DECLARE(DNSD_EVENTS)

/* One metric a counter of the workers and of the forwarder, then the ones of the feed and the zones. */
#define DNSD_METRICS(X)                                                                                      \
    PROCESS_METRICS(X)                                                                                       \
    DEGRADED_METRICS(X)                                                                                      \
    HTTP_METRICS(X)                                                                                          \
    OUTAGE_UP(X, M_REGISTRY_UP, "registry")                                                                  \
    OUTAGE_UP(X, M_REGISTRY_STORE_UP, "registry-store")                                                      \
    OUTAGE_UP(X, M_UPSTREAM_UP, "upstream")                                                                  \
    OUTAGE_UP(X, M_RESOLVER_UP, "host-resolver")                                                             \
    OUTAGE_SINCE(X, M_REGISTRY_SINCE, "registry")                                                            \
    OUTAGE_SINCE(X, M_REGISTRY_STORE_SINCE, "registry-store")                                                \
    OUTAGE_SINCE(X, M_UPSTREAM_SINCE, "upstream")                                                            \
    OUTAGE_SINCE(X, M_RESOLVER_SINCE, "host-resolver")                                                       \
    X(M_READY, METRIC_GAUGE, "dnsd_ready", "", "1 when there are names to answer from.")                     \
    X(M_LOADING, METRIC_GAUGE, "dnsd_loading", "",                                                           \
      "1 while an image of the last run is answered from and its records are read.")                         \
    X(M_STALE, METRIC_GAUGE, "registry_stale", "", "1 while the registry or its store is away.")             \
    X(M_STALE_SECONDS, METRIC_GAUGE, "registry_stale_seconds", "",                                           \
      "Age of the answers while they may be old, else 0.")                                                   \
    X(M_HELD, METRIC_GAUGE, "dnsd_held_removals", "", "Records whose removal is held by the guard.")         \
    X(M_FROZEN, METRIC_GAUGE, "dnsd_zones_frozen", "",                                                       \
      "1 while answers come from an older version, since no serial can be reserved on disk for a newer "     \
      "one.")                                                                                                \
    X(M_SERIALS_FAILING, METRIC_GAUGE, "dnsd_serials_failing", "",                                           \
      "1 while no serials can be reserved on disk; the reserved ones are used up first.")                    \
    X(M_BAD_FILES, METRIC_GAUGE, "dnsd_bad_zone_files", "", "Zone files that cannot be loaded.")             \
    X(M_NAMELESS, METRIC_GAUGE, "dnsd_registry_nameless", "", "Registry records that have no names.")        \
    X(M_RECORDS, METRIC_GAUGE, "dnsd_registry_records", "", "Registry records that have names.")             \
    X(M_PROPAGATION, METRIC_HISTOGRAM, "dnsd_propagation_seconds", "",                                       \
      "Time from the first change of the registry's feed in a commit to the published version of the "       \
      "zones, delayed deletes and snapshots left out.")                                                      \
    X(M_COMMITS, METRIC_COUNTER, "dnsd_commits", "", "Commits of the zones.")                                \
    X(M_SLICES, METRIC_COUNTER, "dnsd_zone_change_slices", "",                                               \
      "How often the owner loop did other work between two steps of a change of zones.")                     \
    X(M_LONG_TURNS, METRIC_COUNTER, "dnsd_loop_long_turns", "",                                              \
      "Turns of the owner loop (registry, zones, HTTP; not queries) that took more than a millisecond.")     \
    X(M_LONGEST_TURN, METRIC_GAUGE, "dnsd_loop_longest_turn_microseconds", "",                               \
      "Longest turn of the owner loop since the start: the longest wait of an HTTP request for it.")         \
    X(M_LEFT_OUT, METRIC_COUNTER, "dnsd_names_left_out", "", "Names that could not be formed.")              \
    X(M_UNZONED, METRIC_COUNTER, "dnsd_records_unzoned", "", "Records that no zone covers.")                 \
    X(M_ZONE_BYTES, METRIC_GAUGE, "dnsd_zone_bytes", "", "Memory of the published zones.")                   \
    X(M_TCP_OPEN, METRIC_GAUGE, "dns_tcp_open", "", "TCP connections open.")                                 \
    X(M_FORWARD_UNDER_WAY, METRIC_GAUGE, "dns_forward_under_way", "", "Forwarded queries in flight.")        \
    X(M_FORWARD_CACHE, METRIC_GAUGE, "dns_forward_cache_bytes", "",                                          \
      "Memory of the cached answers of upstream servers.")                                                   \
    X(M_FORWARD_FAILING, METRIC_GAUGE, "dns_forward_upstreams_failing", "",                                  \
      "Upstream servers that did not answer their last query.")

#define DNSD_NET_METRIC_ENUM(field, name, help) M_NET_##field,
#define DNSD_NET_METRIC_ROW(field, name, help)  {METRIC_COUNTER, name, "", help},

enum {
    METRICS_ENUM(DNSD_METRICS) NET_COUNTERS(DNSD_NET_METRIC_ENUM) FORWARD_COUNTERS(DNSD_NET_METRIC_ENUM)
        TAP_COUNTERS(DNSD_NET_METRIC_ENUM) DNSD_N_METRICS
};

#endif
