/** Log events and metrics of svcmgr itself. Source: ours. */
#ifndef SVCMGR_EVENTS_H
#define SVCMGR_EVENTS_H

#include "run/log.h"
#include "run/metrics.h"

#define SVCMGR_EVENTS(X)                                                                                     \
    X(svcmgr_ready, LOG_INFO, "State is loaded, containers are recovered, the API is open.")                 \
    X(state_bad, LOG_ERROR, "A stored document cannot be read.")                                             \
    X(state_not_written, LOG_ERROR, "The state cannot be written; it is tried again.")                       \
    X(engine_note, LOG_INFO, "The engine remarks.")                                                          \
    X(launch_refused, LOG_WARN, "A process cannot be started.")                                              \
    X(record_refused, LOG_ERROR, "The registry refuses a change for good.")                                  \
    X(registry_away, LOG_WARN, "The registry does not answer; changes are kept and tried again.")            \
    X(registry_back, LOG_INFO, "The registry answers again.")                                                \
    X(containers_left, LOG_INFO, "svcmgr ends, its containers go on.")                                       \
    X(containers_stopped, LOG_INFO, "All containers are stopped.")

/* clang-format off */
#define SVCMGR_METRICS(X)                                                                                    \
    X(M_SERVICES, METRIC_GAUGE, "svcmgr_services", "", "Services known.")                                    \
    X(M_SERVICES_LIVE, METRIC_GAUGE, "svcmgr_services_live", "", "Services launched and not ended.")         \
    X(M_CONTAINERS, METRIC_GAUGE, "svcmgr_containers", "", "Containers held.")                               \
    X(M_WAITING, METRIC_GAUGE, "svcmgr_container_requests_waiting", "", "Requests that wait for room.")      \
    X(M_MEMORY, METRIC_GAUGE, "svcmgr_memory_used_megabytes", "", "Memory promised to containers.")          \
    X(M_VCORES, METRIC_GAUGE, "svcmgr_vcores_used", "", "Virtual cores promised to containers.")             \
    X(M_STEPS, METRIC_COUNTER, "svcmgr_engine_steps", "", "Steps of the engine.")                            \
    X(M_WRITES, METRIC_COUNTER, "svcmgr_state_writes", "", "Transactions of the state store.")               \
    X(M_WRITE_ERRORS, METRIC_COUNTER, "svcmgr_state_write_errors", "", "State transactions that failed.")    \
    X(M_EXITS, METRIC_COUNTER, "svcmgr_container_exits", "", "Processes that ended.")                        \
    X(M_RECORDS_PENDING, METRIC_GAUGE, "svcmgr_registry_changes_pending", "", "Changes the registry lacks.")
/* clang-format on */

enum svcmgr_metric { METRICS_ENUM(SVCMGR_METRICS) N_SVCMGR_METRICS };

#endif
