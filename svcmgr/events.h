/** Log events and metrics of svcmgr itself. Source: ours. */
#ifndef SVCMGR_EVENTS_H
#define SVCMGR_EVENTS_H

#include "http/limits.h"
#include "run/degraded.h"
#include "run/log.h"
#include "run/metrics.h"

#define SVCMGR_EVENTS(X)                                                                                     \
    X(svcmgr_ready, LOG_INFO, "State is loaded, containers are recovered, the API is open.")                 \
    X(state_bad, LOG_ERROR, "A stored document cannot be read.")                                             \
    X(state_not_written, LOG_ERROR, "The state cannot be written; requests are refused until it can.")       \
    X(state_written_again, LOG_INFO, "The state can be written again.")                                      \
    X(state_refused, LOG_ERROR, "The state store refuses a document for good.")                              \
    X(state_unknown, LOG_ERROR,                                                                              \
      "The state store did not answer; what became of a write is being found out.")                          \
    X(svcmgr_standby, LOG_INFO, "Another svcmgr is active; requests are forwarded to it.")                   \
    X(state_taken, LOG_ERROR, "Somebody else has changed the state; svcmgr ends and leaves its containers.") \
    X(engine_note, LOG_INFO, "The engine remarks.")                                                          \
    X(launch_refused, LOG_WARN, "A process cannot be started.")                                              \
    X(record_refused, LOG_ERROR,                                                                             \
      "The registry refuses a change for good; it is asked again when the record or the registry changes.")  \
    X(registry_away, LOG_WARN, "The registry does not answer; changes are kept and tried again.")            \
    X(registry_back, LOG_INFO, "The registry answers again.")                                                \
    X(containers_recovering, LOG_WARN,                                                                       \
      "Containers cannot be taken over for lack of something; none is replaced, it is tried again.")         \
    X(containers_known, LOG_INFO, "All containers are taken over.")                                          \
    X(records_restored, LOG_WARN,                                                                            \
      "Somebody else has deleted or overwritten records of live services; svcmgr writes them again, ever "   \
      "more slowly while that goes on. Find out who: another svcmgr with a service of this name, a purge, "  \
      "or a registry that has gone back.")                                                                   \
    X(containers_left, LOG_INFO, "svcmgr ends, its containers go on.")                                       \
    X(containers_stopped, LOG_INFO, "All containers are stopped.")

/* clang-format off */
#define SVCMGR_METRICS(X)                                                                                    \
    DEGRADED_METRICS(X) \
    HTTP_METRICS(X)                                                                                          \
    X(M_SERVICES, METRIC_GAUGE, "svcmgr_services", "", "Services known.")                                    \
    X(M_SERVICES_LIVE, METRIC_GAUGE, "svcmgr_services_live", "", "Services launched and not ended.")         \
    X(M_CONTAINERS, METRIC_GAUGE, "svcmgr_containers", "", "Containers held.")                               \
    X(M_WAITING, METRIC_GAUGE, "svcmgr_container_requests_waiting", "", "Requests that wait for room.")      \
    X(M_MEMORY, METRIC_GAUGE, "svcmgr_memory_used_megabytes", "", "Memory promised to containers.")          \
    X(M_VCORES, METRIC_GAUGE, "svcmgr_vcores_used", "", "Virtual cores promised to containers.")             \
    X(M_STEPS, METRIC_COUNTER, "svcmgr_engine_steps", "", "Steps of the engine.")                            \
    X(M_WRITES, METRIC_COUNTER, "svcmgr_state_writes", "", "Transactions of the state store.")               \
    X(M_WRITE_ERRORS, METRIC_COUNTER, "svcmgr_state_write_errors", "", "State transactions that failed.")    \
    X(M_ACTIVE, METRIC_GAUGE, "svcmgr_active", "", "1: this svcmgr runs the services; 0: it stands by.")     \
    X(M_STATE_WRITABLE, METRIC_GAUGE, "svcmgr_state_writable", "", "1: the last write of the state worked.") \
    X(M_REQUESTS_WAITING, METRIC_GAUGE, "svcmgr_requests_waiting", "", "Requests that wait for the state.")  \
    X(M_REQUESTS_UNDONE, METRIC_COUNTER, "svcmgr_requests_undone", "", "Requests that could not be stored.") \
    X(M_REQUESTS_BUSY, METRIC_COUNTER, "svcmgr_requests_busy", "", "Requests refused as too many waited.")   \
    X(M_EXITS, METRIC_COUNTER, "svcmgr_container_exits", "", "Processes that ended.")                        \
    X(M_RECORDS_PENDING, METRIC_GAUGE, "svcmgr_registry_changes_pending", "", "Changes the registry lacks.") \
    X(M_RECORDS_RESTORED, METRIC_COUNTER, "svcmgr_registry_records_restored", "",                            \
      "Records put back after somebody else had deleted or overwritten them.")
/* clang-format on */

enum svcmgr_metric { METRICS_ENUM(SVCMGR_METRICS) N_SVCMGR_METRICS };

#endif
