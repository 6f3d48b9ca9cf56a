/** Log events and metrics of svcmgr itself. Source: ours. */
#ifndef SVCMGR_EVENTS_H
#define SVCMGR_EVENTS_H

#include "http/limits.h"
#include "run/degraded.h"
#include "run/log.h"
#include "run/metrics.h"
#include "run/outage.h"
#include "run/process.h"

#define SVCMGR_EVENTS(X)                                                                                     \
    X(svcmgr_ready, LOG_INFO, "svcmgr has loaded the state, recovered the containers and opened the API.")   \
    X(state_bad, LOG_ERROR, "A stored document is unreadable.")                                              \
    X(state_not_written, LOG_ERROR, "A write of the state failed; requests are refused until one succeeds.") \
    X(state_still_not_written, LOG_ERROR, "The state still cannot be written.")                              \
    X(state_written_again, LOG_INFO, "A write of the state succeeded again.")                                \
    X(state_refused, LOG_ERROR, "The state store rejects a document permanently.")                           \
    X(svcmgr_standby, LOG_INFO, "Another svcmgr is active; this one stands by and forwards requests to it.") \
    X(state_taken, LOG_ERROR,                                                                                \
      "Another process writes the state; svcmgr exits and leaves its containers running.")                   \
    X(engine_note, LOG_INFO, "The engine notes a transition or an exception.")                               \
    X(members_unknown, LOG_WARN, "A definition has members that svcmgr does not know; they are ignored.")    \
    X(launch_refused, LOG_WARN, "The process of a container cannot be launched.")                            \
    X(record_refused, LOG_ERROR,                                                                             \
      "The registry rejects a change permanently; svcmgr retries when the record or the registry changes.")  \
    X(registry_away, LOG_WARN, "The registry does not answer; svcmgr queues changes and retries.")           \
    X(registry_still_away, LOG_WARN, "The registry still does not answer; svcmgr queues changes.")           \
    X(registry_back, LOG_INFO, "The registry answers again.")                                                \
    X(dns_sync_away, LOG_WARN,                                                                               \
      "A dnsd does not confirm a revision of the registry; instances are drained without it until it does.") \
    X(dns_sync_back, LOG_INFO, "A dnsd confirms revisions of the registry again.")                           \
    X(containers_recovering, LOG_WARN,                                                                       \
      "A shortage keeps containers from being recovered; svcmgr retries and replaces none.")                 \
    X(containers_known, LOG_INFO, "All containers are recovered.")                                           \
    X(records_restored, LOG_WARN,                                                                            \
      "Another client has deleted or overwritten records of live services; svcmgr writes them again, with "  \
      "growing pauses. Look for another svcmgr with a service of this name, a purge, or a registry "         \
      "restored "                                                                                            \
      "from a backup.")                                                                                      \
    X(exec_begun, LOG_INFO, "A user executes a command in a container.")                                     \
    X(exec_ended, LOG_INFO, "A command that a user executed in a container has ended.")                      \
    X(state_not_followed, LOG_WARN,                                                                          \
      "What others write of the state is not seen for now; it is read when the store answers again.")        \
    X(state_followed, LOG_INFO, "What others write of the state is seen again.")                             \
    X(app_submitted, LOG_INFO, "The resource manager has the application of a service.")                     \
    X(app_refused, LOG_WARN, "The application of a service cannot be submitted: the service fails.")         \
    X(app_not_staged, LOG_WARN,                                                                              \
      "The files of an application master cannot be written to HDFS; it is tried again.")                    \
    X(app_files_stay, LOG_WARN, "The files of an application that has ended cannot be deleted from HDFS.")   \
    X(app_not_killed, LOG_WARN, "The resource manager refuses to kill an application.")                      \
    X(app_no_lifetime, LOG_WARN, "The resource manager refuses to set the lifetime of an application.")      \
    X(app_ended, LOG_INFO, "The application of a service has ended.")                                        \
    X(app_not_taken, LOG_WARN, "What an application master has written cannot be read; it is tried again.")  \
    X(rm_away, LOG_WARN, "The resource manager does not answer; what runs goes on.")                         \
    X(rm_still_away, LOG_WARN, "The resource manager does not answer still.")                                \
    X(rm_back, LOG_INFO, "The resource manager answers again.")                                              \
    X(master_finished, LOG_INFO, "The application is unregistered; its master ends.")                        \
    X(master_over, LOG_WARN,                                                                                 \
      "The resource manager knows this attempt no more; the master leaves its containers and ends.")         \
    X(containers_left, LOG_INFO, "svcmgr exits; its containers keep running.")                               \
    X(containers_stopped, LOG_INFO, "svcmgr has stopped all containers.")

/* clang-format off */
#define SVCMGR_METRICS(X)                                                                                    \
    PROCESS_METRICS(X) \
    DEGRADED_METRICS(X) \
    HTTP_METRICS(X)                                                                                          \
    OUTAGE_UP(X, M_REGISTRY_UP, "registry")                                                                  \
    OUTAGE_UP(X, M_STATE_UP, "state")                                                                        \
    OUTAGE_UP(X, M_RM_UP, "resource manager")                                                                \
    OUTAGE_SINCE(X, M_REGISTRY_SINCE, "registry")                                                            \
    OUTAGE_SINCE(X, M_STATE_SINCE, "state")                                                                  \
    OUTAGE_SINCE(X, M_RM_SINCE, "resource manager")                                                          \
    X(M_SERVICES, METRIC_GAUGE, "svcmgr_services", "", "Services.")                                    \
    X(M_SERVICES_LIVE, METRIC_GAUGE, "svcmgr_services_live", "", "Services launched and not ended.")         \
    X(M_SERVICES_STABLE, METRIC_GAUGE, "svcmgr_services_stable", "", "Services of which every wanted instance is up.")   \
    X(M_CONTAINERS, METRIC_GAUGE, "svcmgr_containers", "", "Containers allocated.")                               \
    X(M_WAITING, METRIC_GAUGE, "svcmgr_container_requests_waiting", "", "Requests for containers that wait for capacity.")      \
    X(M_MEMORY, METRIC_GAUGE, "svcmgr_memory_used_megabytes", "", "Memory allocated to containers.")          \
    X(M_VCORES, METRIC_GAUGE, "svcmgr_vcores_used", "", "Virtual cores allocated to containers.")             \
    X(M_LONG_TURNS, METRIC_COUNTER, "svcmgr_loop_long_turns", "", "Turns of the owner loop that took more than 1 ms.")   \
    X(M_LONGEST_TURN, METRIC_GAUGE, "svcmgr_loop_longest_turn_microseconds", "", "Longest turn of the owner loop, in microseconds.") \
    X(M_BUSY_TURNS, METRIC_COUNTER, "svcmgr_loop_busy_turns", "", "Turns of the owner loop that used more than 1 ms of a processor.")   \
    X(M_BUSIEST_TURN, METRIC_GAUGE, "svcmgr_loop_busiest_turn_microseconds", "", "Most of a processor that a turn of the owner loop used, in microseconds.") \
    X(M_STEPS, METRIC_COUNTER, "svcmgr_engine_steps", "", "Steps of the engine.")                            \
    X(M_WRITES, METRIC_COUNTER, "svcmgr_state_writes", "", "Transactions of the state store.")               \
    X(M_STATE_BYTES, METRIC_COUNTER, "svcmgr_state_bytes", "", "Bytes of documents and keys handed to the state store.")  \
    X(M_WRITE_TIME, METRIC_HISTOGRAM, "svcmgr_state_write_seconds", "", "Time of a state transaction, until its outcome is known.") \
    X(M_WRITE_ERRORS, METRIC_COUNTER, "svcmgr_state_write_errors", "", "State transactions that failed.")    \
    X(M_ACTIVE, METRIC_GAUGE, "svcmgr_active", "", "1: this svcmgr runs the services; 0: it stands by.")     \
    X(M_STATE_WRITABLE, METRIC_GAUGE, "svcmgr_state_writable", "", "1: the last write of the state worked.") \
    X(M_REQUESTS_WAITING, METRIC_GAUGE, "svcmgr_requests_waiting", "", "Requests that wait for the state.")  \
    X(M_REQUESTS_UNDONE, METRIC_COUNTER, "svcmgr_requests_undone", "", "Requests that could not be stored.") \
    X(M_REQUESTS_BUSY, METRIC_COUNTER, "svcmgr_requests_busy", "", "Requests refused as too many waited.")   \
    X(M_READS_WAITING, METRIC_GAUGE, "svcmgr_reads_waiting", "", "Reads that wait for a service to change.") \
    X(M_EXITS, METRIC_COUNTER, "svcmgr_container_exits", "", "Processes that ended.")                        \
    X(M_EXECS, METRIC_COUNTER, "svcmgr_execs", "", "Commands that users have executed in containers.")       \
    X(M_EXEC_SESSIONS, METRIC_GAUGE, "svcmgr_exec_sessions", "", "Commands that users execute in containers now.") \
    X(M_RECORDS_PENDING, METRIC_GAUGE, "svcmgr_registry_changes_pending", "", "Changes the registry has not taken yet.") \
    X(M_RECORDS_RESTORED, METRIC_COUNTER, "svcmgr_registry_records_restored", "",                            \
      "Records written again after another client had deleted or overwritten them.")
/* clang-format on */

enum svcmgr_metric { METRICS_ENUM(SVCMGR_METRICS) N_SVCMGR_METRICS };

#endif
