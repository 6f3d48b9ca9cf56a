import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Documents of the FrameworkLauncher API as classes: a field is a member; what a client leaves alone has the API's default. */
final class Documents {
    private Documents() {}

    enum ExecutionType { START, STOP }
    enum LaunchClientType { UNKNOWN, LIB, DATA_DEPLOYMENT, APPLICATION_MASTER, CLI, WEB_UI }
    enum DiskType { HDD, SSD }
    enum AmType { DEFAULT, AGENT }
    enum HealthCheckType { COMMAND, WEB }
    enum HealthCheckFailureType { TRANSIENT_ERROR, NON_TRANSIENT_ERROR }
    enum AntiAffinityLevel { ANY, NODE, RACK }
    enum DataDeploymentVersionType { LAUNCHING, LAUNCHED }
    enum ExitType { SUCCEEDED, TRANSIENT_NORMAL, TRANSIENT_CONFLICT, NON_TRANSIENT, UNKNOWN }
    enum FrameworkState {
        FRAMEWORK_WAITING, APPLICATION_CREATED, APPLICATION_LAUNCHED, APPLICATION_WAITING, APPLICATION_RUNNING,
        APPLICATION_RETRIEVING_DIAGNOSTICS, APPLICATION_COMPLETED, FRAMEWORK_COMPLETED
    }
    enum TaskState {
        TASK_WAITING, CONTAINER_REQUESTED, CONTAINER_ALLOCATED, CONTAINER_LAUNCHED, CONTAINER_RUNNING, CONTAINER_COMPLETED, TASK_COMPLETED
    }
    enum RolloutStatus { UNKNOWN, ONGOING, STOPPING_OLD, LAUNCHING_NEW, WAITING_TIMEOUT, SUCCEEDED }

    // ---- requests ----

    static final class FrameworkDescriptor {
        public String description;
        public Integer version;
        public ExecutionType executionType = ExecutionType.START;
        public RetryPolicyDescriptor retryPolicy = new RetryPolicyDescriptor();
        public ParentFrameworkDescriptor parentFramework;
        public UserDescriptor user = new UserDescriptor();
        public Map<String, TaskRoleDescriptor> taskRoles = new TreeMap<>();
        public PlatformParameters platformSpecificParameters = new PlatformParameters();
    }

    static final class RetryPolicyDescriptor {
        public Boolean fancyRetryPolicy = false;
        public Integer maxRetryCount = 0;
    }

    static final class ParentFrameworkDescriptor {
        public String parentFrameworkName;
        public Boolean deleteOnParentDeleted = false;
        public Boolean stopOnParentStopped = false;
    }

    static final class UserDescriptor {
        public String name = "default";
    }

    static final class TaskRoleDescriptor {
        public Integer taskNumber;
        public Integer scaleUnitNumber = 1;
        public Integer scaleUnitTimeoutSec = 0;
        public RetryPolicyDescriptor taskRetryPolicy = new RetryPolicyDescriptor();
        public CompletionPolicy applicationCompletionPolicy = new CompletionPolicy();
        public ServiceDescriptor taskService;
        public TaskRoleParameters platformSpecificParameters = new TaskRoleParameters();
    }

    static final class CompletionPolicy {
        public Integer minFailedTaskCount = 1;
        public Integer minSucceededTaskCount;
    }

    static final class ServiceDescriptor {
        public Integer version;
        public String entryPoint;
        public List<String> sourceLocations;
        public ResourceDescriptor resource;
    }

    static final class TaskRoleParameters {
        public String taskNodeLabel;
        public String taskNodeGpuType;
        public Boolean samePortAllocation = false;
    }

    static final class ResourceDescriptor {
        public Integer cpuNumber;
        public Integer memoryMB;
        public Integer gpuNumber = 0;
        public Long gpuAttribute = 0L;
        public Map<String, Ports> portDefinitions = new TreeMap<>();
        public DiskType diskType = DiskType.HDD;
        public Integer diskMB = 0;

        static ResourceDescriptor of(int cpuNumber, int memoryMB) {
            ResourceDescriptor resource = new ResourceDescriptor();
            resource.cpuNumber = cpuNumber;
            resource.memoryMB = memoryMB;
            return resource;
        }
    }

    static final class Ports {
        public Integer start = 0;
        public Integer count;
    }

    static final class PlatformParameters {
        public ResourceDescriptor amResource = ResourceDescriptor.of(1, 4096);
        public String amNodeLabel;
        public String taskNodeLabel;
        public String taskNodeGpuType;
        public String queue = "default";
        public Integer containerConnectionMaxLostCount = -2;
        public Integer containerConnectionMaxExceedCount = 2;
        public Boolean antiaffinityAllocation = false;
        public Boolean gangAllocation = false;
        public Boolean skipLocalTriedResource = true;
        public AmType amType = AmType.DEFAULT;
        public Boolean agentUseHeartbeat = false;
        public Boolean agentUseHealthCheck = false;
        public Integer agentHeartbeatIntervalSec = 30;
        public Integer agentExpiryIntervalSec = 180;
        public HealthCheck taskServiceHealthCheck;
    }

    static final class HealthCheck {
        public HealthCheckType healthCheckType = HealthCheckType.COMMAND;
        public String entryPoint;
        public String webUrl;
        public Integer delaySeconds = 30;
        public Integer intervalSeconds = 30;
        public Integer timeoutSeconds = 30;
        public Integer consecutiveFailures = 10;
        public Integer gracePeriodSeconds = 60;
        public HealthCheckFailureType healthCheckFailureType = HealthCheckFailureType.TRANSIENT_ERROR;
    }

    static final class UpdateTaskNumberRequest {
        public Integer taskNumber;
    }

    static final class UpdateExecutionTypeRequest {
        public ExecutionType executionType;
    }

    static final class MigrateTaskRequest {
        public AntiAffinityLevel antiAffinityLevel = AntiAffinityLevel.ANY;
    }

    static final class OverrideApplicationProgressRequest {
        public Float applicationProgress;
    }

    static final class UpdateDataDeploymentVersionRequest {
        public DataDeploymentVersionType dataDeploymentVersionType;
        public String dataDeploymentVersion;
    }

    static final class ClusterConfiguration {
        public Map<String, NodeConfiguration> nodes;
    }

    static final class NodeConfiguration {
        public String gpuType;
    }

    static final class AclConfiguration {
        public Map<String, NamespaceAcl> namespaceAcls = new TreeMap<>();
        public Set<UserName> normalAdminUsers = new LinkedHashSet<>();
    }

    static final class NamespaceAcl {
        public Set<UserName> users = new LinkedHashSet<>();
    }

    static final class UserName {
        public String name;
    }

    // ---- what is stored of requests ----

    static final class FrameworkRequest {
        public String frameworkName;
        public FrameworkDescriptor frameworkDescriptor;
        public LaunchClientType launchClientType;
        public String launchClientHostName;
        public String launchClientUserName;
        public Long firstRequestTimestamp;
        public Long lastRequestTimestamp;
    }

    static final class AggregatedFrameworkRequest {
        public FrameworkRequest frameworkRequest;
        public OverrideApplicationProgressRequest overrideApplicationProgressRequest;
        public Map<String, MigrateTaskRequest> migrateTaskRequests;
    }

    static final class LauncherRequest {
        public String launchingDataDeploymentVersion;
        public String launchedDataDeploymentVersion;
        public ClusterConfiguration clusterConfiguration;
        public AclConfiguration aclConfiguration;
    }

    // ---- statuses ----

    static final class RetryPolicyState {
        public Integer retriedCount;
        public Integer succeededRetriedCount;
        public Integer transientNormalRetriedCount;
        public Integer transientConflictRetriedCount;
        public Integer nonTransientRetriedCount;
        public Integer unKnownRetriedCount;
    }

    static final class FrameworkStatus {
        public String frameworkName;
        public Integer frameworkVersion;
        public FrameworkState frameworkState;
        public RetryPolicyState frameworkRetryPolicyState;
        public Long frameworkCreatedTimestamp;
        public Long frameworkCompletedTimestamp;
        public String applicationId;
        public Float applicationProgress;
        public String applicationTrackingUrl;
        public Long applicationLaunchedTimestamp;
        public Long applicationCompletedTimestamp;
        public Integer applicationExitCode;
        public String applicationExitDescription;
        public String applicationExitDiagnostics;
        public ExitType applicationExitType;
        public String applicationExitTriggerMessage;
        public String applicationExitTriggerTaskRoleName;
        public Integer applicationExitTriggerTaskIndex;
    }

    static final class AggregatedFrameworkStatus {
        public FrameworkStatus frameworkStatus;
        public Map<String, AggregatedTaskRoleStatus> aggregatedTaskRoleStatuses;
    }

    static final class AggregatedTaskRoleStatus {
        public TaskRoleStatus taskRoleStatus;
        public TaskStatuses taskStatuses;
    }

    static final class TaskRoleStatus {
        public String taskRoleName;
        public TaskRoleRolloutStatus taskRoleRolloutStatus;
        public Integer frameworkVersion;
    }

    static final class TaskRoleRolloutStatus {
        public RolloutStatus overallRolloutStatus;
        public Integer overallRolloutServiceVersion;
        public Long overallRolloutStartTimestamp;
        public Long overallRolloutEndTimestamp;
        public RolloutStatus currentRolloutStatus;
        public Integer currentRolloutScaleUnit;
        public List<Integer> currentRolloutTaskIndexes;
        public Long currentRolloutStartTimestamp;
        public Long currentRolloutEndTimestamp;
    }

    static final class TaskStatuses {
        public String taskRoleName;
        public List<TaskStatus> taskStatusArray;
        public Integer frameworkVersion;
    }

    static final class ServiceStatus {
        public Integer serviceVersion;
    }

    static final class TaskStatus {
        public Integer taskIndex;
        public String taskRoleName;
        public TaskState taskState;
        public RetryPolicyState taskRetryPolicyState;
        public Long taskCreatedTimestamp;
        public Long taskCompletedTimestamp;
        public ServiceStatus taskServiceStatus;
        public String containerId;
        public String containerHost;
        public String containerIp;
        public String containerPorts;
        public Long containerGpus;
        public String containerLogHttpAddress;
        public Integer containerConnectionLostCount;
        public Boolean containerIsDecommissioning;
        public Long containerLaunchedTimestamp;
        public Long containerCompletedTimestamp;
        public Integer containerExitCode;
        public String containerExitDescription;
        public String containerExitDiagnostics;
        public ExitType containerExitType;
    }

    static final class SummarizedFrameworkInfo {
        public String frameworkName;
        public Integer frameworkVersion;
        public ExecutionType executionType;
        public String frameworkDescription;
        public String userName;
        public String queue;
        public Integer totalGpuNumber;
        public Integer totalTaskNumber;
        public Integer totalTaskRoleNumber;
        public Long firstRequestTimestamp;
        public Long lastRequestTimestamp;
        public FrameworkState frameworkState;
        public RetryPolicyState frameworkRetryPolicyState;
        public Long frameworkCompletedTimestamp;
        public Integer applicationExitCode;
    }

    static final class SummarizedFrameworkInfos {
        public List<SummarizedFrameworkInfo> summarizedFrameworkInfos;
    }

    static final class FrameworkInfo {
        public SummarizedFrameworkInfo summarizedFrameworkInfo;
        public AggregatedFrameworkRequest aggregatedFrameworkRequest;
        public AggregatedFrameworkStatus aggregatedFrameworkStatus;
    }

    // ---- the launcher ----

    static final class LauncherStatus {
        public LauncherConfiguration launcherConfiguration;
        public UserContainerExitSpec userContainerExitSpec;
        public UserName loggedInUser;
        public Boolean hadoopLibrarySupportsGpu;
        public Boolean hadoopLibrarySupportsPort;
        public String serviceHost;
        public String serviceIp;
    }

    static final class UserContainerExitSpec {
        public List<ExitSpec> spec;
    }

    static final class ExitSpec {
        public Integer code;
        public ExitType type;
        public String description;
    }

    static final class LauncherConfiguration {
        public String zkConnectString;
        public String zkRootDir;
        public String hdfsRootDir;
        public Set<UserName> rootAdminUsers;
        public Integer serviceRMResyncIntervalSec;
        public Integer serviceRequestPullIntervalSec;
        public Integer applicationRetrieveDiagnosticsRetryIntervalSec;
        public Integer applicationRetrieveDiagnosticsMaxRetryCount;
        public Integer applicationTransientConflictMinDelaySec;
        public Integer applicationTransientConflictMaxDelaySec;
        public Integer applicationSetupContextMaxRetryCount;
        public Integer applicationSetupContextRetryIntervalSec;
        public Integer frameworkCompletedRetainSec;
        public Integer frameworkLeftoverGCMaxCount;
        public Integer maxTotalTaskNumber;
        public Integer amVersion;
        public Integer amPriority;
        public Integer amDiagnosticsMaxBytes;
        public Integer amAttemptMaxCount;
        public Integer amAttemptFailuresValidityIntervalSec;
        public Integer amRmHeartbeatIntervalSec;
        public Integer amRmResyncFrequency;
        public Integer amRmResyncNmExpiryBufferSec;
        public Integer amRequestPullIntervalSec;
        public Integer amStatusPushIntervalSec;
        public Integer amFrameworkInfoPublishIntervalSec;
        public Integer amContainerRequestMinTimeoutSec;
        public Integer amContainerRequestMaxTimeoutSec;
        public Integer amSetupContainerRequestMinRetryIntervalSec;
        public Integer amSetupContainerRequestMaxRetryIntervalSec;
        public Integer amGangAllocationTimeoutSec;
        public Integer amContainerMinPort;
        public Integer amCandidateNodesFactor;
        public Boolean amAllowNoneGpuJobOnGpuNode;
        public String webServerBindHost;
        public String webServerAddress;
        public Integer webServerStatusPullIntervalSec;
        public Boolean webServerAclEnable;
        public Boolean webServerAclIgnoreWithoutNamespace;
    }

    // ---- errors ----

    static final class ExceptionMessage {
        public String exception;
        public String message;
        public String javaClassName;
    }

    /** As this server answers: readable flat and wrapped. */
    static final class WrappedExceptionMessage {
        public String exception;
        public String message;
        public String javaClassName;
        @com.fasterxml.jackson.annotation.JsonProperty("RemoteException")
        public ExceptionMessage remoteException;
    }
}
