#include "yarn/methods.h"

#define CLIENT    "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB"
#define MASTER    "org.apache.hadoop.yarn.api.ApplicationMasterProtocolPB"
#define CONTAINER "org.apache.hadoop.yarn.api.ContainerManagementProtocolPB"

enum { VERSION = 1 };

const char yarn_client_protocol[] = CLIENT;
const char yarn_master_protocol[] = MASTER;
const char yarn_container_protocol[] = CONTAINER;

#define TYPE_Nothing                 yarn__nothing__descriptor
#define TYPE_NewApplication          yarn__new_application__descriptor
#define TYPE_SubmitApplication       yarn__submit_application__descriptor
#define TYPE_OneApplication          yarn__one_application__descriptor
#define TYPE_ApplicationReportAnswer yarn__application_report_answer__descriptor
#define TYPE_ApplicationsFilter      yarn__applications_filter__descriptor
#define TYPE_Applications            yarn__applications__descriptor
#define TYPE_KillApplication         yarn__kill_application__descriptor
#define TYPE_KillAnswer              yarn__kill_answer__descriptor
#define TYPE_OneAttempt              yarn__one_attempt__descriptor
#define TYPE_ClusterMetricsAnswer    yarn__cluster_metrics_answer__descriptor
#define TYPE_NodesFilter             yarn__nodes_filter__descriptor
#define TYPE_Nodes                   yarn__nodes__descriptor
#define TYPE_MoveApplication         yarn__move_application__descriptor
#define TYPE_UpdatePriority          yarn__update_priority__descriptor
#define TYPE_UpdatePriorityAnswer    yarn__update_priority_answer__descriptor
#define TYPE_UpdateTimeouts          yarn__update_timeouts__descriptor
#define TYPE_UpdateTimeoutsAnswer    yarn__update_timeouts_answer__descriptor
#define TYPE_SignalContainer         yarn__signal_container__descriptor
#define TYPE_AttemptReportAnswer     yarn__attempt_report_answer__descriptor
#define TYPE_Attempts                yarn__attempts__descriptor
#define TYPE_OneContainer            yarn__one_container__descriptor
#define TYPE_ContainerReportAnswer   yarn__container_report_answer__descriptor
#define TYPE_Containers              yarn__containers__descriptor
#define TYPE_GetDelegationToken      yarn__get_delegation_token__descriptor
#define TYPE_DelegationToken         yarn__delegation_token__descriptor
#define TYPE_RegisterMaster          yarn__register_master__descriptor
#define TYPE_Registration            yarn__registration__descriptor
#define TYPE_Allocate                yarn__allocate__descriptor
#define TYPE_Allocation              yarn__allocation__descriptor
#define TYPE_FinishMaster            yarn__finish_master__descriptor
#define TYPE_FinishAnswer            yarn__finish_answer__descriptor
#define TYPE_StartContainers         yarn__start_containers__descriptor
#define TYPE_StartAnswer             yarn__start_answer__descriptor
#define TYPE_ContainerIds            yarn__container_ids__descriptor
#define TYPE_StopAnswer              yarn__stop_answer__descriptor
#define TYPE_ContainerStatuses       yarn__container_statuses__descriptor
#define TYPE_UpdateTokens            yarn__update_tokens__descriptor
#define TYPE_UpdateAnswer            yarn__update_answer__descriptor
#define TYPE_ReInitialize            yarn__re_initialize__descriptor
#define TYPE_ContainerId             yarn__container_id__descriptor
#define TYPE_Localize                yarn__localize__descriptor

#define ROW(protocol, name, request, answer, is_repeatable)                                                  \
    {{protocol, name, VERSION}, &TYPE_##request, &TYPE_##answer, is_repeatable},
#define CLIENT_ROW(id, name, request, answer, is_repeatable, prose)                                          \
    [YARN_CLIENT_##id] = ROW(CLIENT, name, request, answer, is_repeatable)
#define MASTER_ROW(id, name, request, answer, is_repeatable, prose)                                          \
    [YARN_MASTER_##id] = ROW(MASTER, name, request, answer, is_repeatable)
#define CONTAINER_ROW(id, name, request, answer, is_repeatable, prose)                                       \
    [YARN_CONTAINER_##id] = ROW(CONTAINER, name, request, answer, is_repeatable)

const struct yarn_method yarn_methods[YARN_N_METHODS] = {
    YARN_CLIENT_METHODS(CLIENT_ROW) YARN_MASTER_METHODS(MASTER_ROW) YARN_CONTAINER_METHODS(CONTAINER_ROW)};
