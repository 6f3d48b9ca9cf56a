/**
 * The methods of YARN's three protocols that Bobbin calls: names, messages, and whether a call may be sent again.
 *
 * A row: id, name (case matters), type of the request, of the answer (protocols.proto), whether it may be sent again when its
 * connection was lost before the answer came, sentence.
 *
 * Pure. Thread: any.   Source: Hadoop, ApplicationClientProtocol, ApplicationMasterProtocol, ContainerManagementProtocol.
 */
#ifndef YARN_METHODS_H
#define YARN_METHODS_H

#include <stdbool.h>

#include "protocols.pb-c.h"
#include "yarn/frame.h"

/** ApplicationClientProtocol: a client of the resource manager. */
#define YARN_CLIENT_METHODS(X)                                                                               \
    X(new_application, "getNewApplication", Nothing, NewApplication, true,                                   \
      "Get an id for an application; one that is not used is wasted.")                                       \
    X(submit, "submitApplication", SubmitApplication, Nothing, true,                                         \
      "Submit an application; the RM answers success for an id that it has.")                                \
    X(application, "getApplicationReport", OneApplication, ApplicationReportAnswer, true,                    \
      "Read what the RM knows of an application.")                                                           \
    X(applications, "getApplications", ApplicationsFilter, Applications, true,                               \
      "List applications; filters are ANDed, values of one ORed.")                                           \
    X(kill, "forceKillApplication", KillApplication, KillAnswer, true,                                       \
      "Kill an application; repeated until is_completed.")                                                   \
    X(fail_attempt, "failApplicationAttempt", OneAttempt, Nothing, true, "Fail an attempt.")                 \
    X(cluster_metrics, "getClusterMetrics", Nothing, ClusterMetricsAnswer, true, "Count the nodes.")         \
    X(nodes, "getClusterNodes", NodesFilter, Nodes, true, "List the nodes; no state: in any state.")         \
    X(move, "moveApplicationAcrossQueues", MoveApplication, Nothing, true,                                   \
      "Move a live application to another queue.")                                                           \
    X(update_priority, "updateApplicationPriority", UpdatePriority, UpdatePriorityAnswer, true,              \
      "Set the priority of an application; more is more urgent.")                                            \
    X(update_timeouts, "updateApplicationTimeouts", UpdateTimeouts, UpdateTimeoutsAnswer, true,              \
      "Set when an application is killed: yyyy-MM-ddTHH:mm:ss.SSS+hhmm.")                                    \
    X(signal, "signalToContainer", SignalContainer, Nothing, false,                                          \
      "Have a container's node manager send a signal, at its next heartbeat.")                               \
    X(attempt, "getApplicationAttemptReport", OneAttempt, AttemptReportAnswer, true, "Read an attempt.")     \
    X(attempts, "getApplicationAttempts", OneApplication, Attempts, true, "List attempts.")                  \
    X(container, "getContainerReport", OneContainer, ContainerReportAnswer, true,                            \
      "Read a container, while it lives.")                                                                   \
    X(containers, "getContainers", OneAttempt, Containers, true,                                             \
      "List the live containers of the application's current attempt.")                                      \
    X(delegation_token, "getDelegationToken", GetDelegationToken, DelegationToken, true,                     \
      "Get a token of the RM, on a Kerberos cluster.")

/** ApplicationMasterProtocol: an application master at the resource manager. */
#define YARN_MASTER_METHODS(X)                                                                               \
    X(register, "registerApplicationMaster", RegisterMaster, Registration, false,                            \
      "Register this attempt; the second time is refused until a resync.")                                   \
    X(allocate, "allocate", Allocate, Allocation, true,                                                      \
      "Heartbeat: ask, release, learn; one at a time, response_id makes a repeat safe.")                     \
    X(finish, "finishApplicationMaster", FinishMaster, FinishAnswer, true,                                   \
      "Unregister; repeated until is_unregistered.")

/** ContainerManagementProtocol: an application master at a node manager. Bulk calls succeed also when each element has failed. */
#define YARN_CONTAINER_METHODS(X)                                                                            \
    X(start, "startContainers", StartContainers, StartAnswer, false,                                         \
      "Start allocated containers; success is acceptance.")                                                  \
    X(stop, "stopContainers", ContainerIds, StopAnswer, true, "Stop containers: SIGTERM, soon SIGKILL.")     \
    X(statuses, "getContainerStatuses", ContainerIds, ContainerStatuses, true,                               \
      "Read containers; only sub_state says whether one runs.")                                              \
    X(update, "updateContainer", UpdateTokens, UpdateAnswer, false,                                          \
      "Take changed resources or execution types over, by new tokens.")                                      \
    X(re_initialize, "reInitializeContainer", ReInitialize, Nothing, false,                                  \
      "Run another launch context in the same container.")                                                   \
    X(restart, "restartContainer", ContainerId, Nothing, false, "Run the same launch context again.")        \
    X(roll_back, "rollbackLastReInitialization", ContainerId, Nothing, false,                                \
      "Undo the last re-initialisation.")                                                                    \
    X(commit, "commitLastReInitialization", ContainerId, Nothing, false,                                     \
      "Keep the last re-initialisation: no undo any more.")                                                  \
    X(localize, "localize", Localize, Nothing, false, "Add local resources to a live container.")            \
    X(signal, "signalToContainer", SignalContainer, Nothing, false,                                          \
      "Send a signal now; only once sub_state is running.")

struct yarn_method {
    struct frame_method at;
    const ProtobufCMessageDescriptor *request, *answer;
    bool is_repeatable;
};

#define YARN_METHODS_CLIENT_ID(id, ...)    YARN_CLIENT_##id,
#define YARN_METHODS_MASTER_ID(id, ...)    YARN_MASTER_##id,
#define YARN_METHODS_CONTAINER_ID(id, ...) YARN_CONTAINER_##id,
enum {
    YARN_CLIENT_METHODS(YARN_METHODS_CLIENT_ID) YARN_MASTER_METHODS(YARN_METHODS_MASTER_ID)
        YARN_CONTAINER_METHODS(YARN_METHODS_CONTAINER_ID) YARN_N_METHODS
};

/** All methods, by id. */
extern const struct yarn_method yarn_methods[YARN_N_METHODS];

/** Names of the protocols, as in each method of theirs. */
extern const char yarn_client_protocol[], yarn_master_protocol[], yarn_container_protocol[];

#endif
