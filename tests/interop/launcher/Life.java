import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/** Lives of frameworks by a Java client. Ends with an exception at the first thing that is not as the API says. Words: URL SOURCE. */
public final class Life {
    private static final long PATIENCE_MS = 60_000;

    private final LauncherClient launcher;
    private final String source;

    private Life(String url, String source) {
        this.launcher = new LauncherClient(url, "javauser", Documents.LaunchClientType.LIB);
        this.source = source;
    }

    private interface Action {
        Object run() throws Exception;
    }

    private static void must(boolean condition, String what) {
        if (!condition)
            throw new IllegalStateException("not so: " + what);
    }

    private static void refused(int status, String exception, Action action) throws Exception {
        try {
            action.run();
        } catch (LauncherClient.Refused e) {
            must(e.status == status && e.said.exception.equals(exception) && e.said.javaClassName.endsWith("." + exception), e.getMessage());
            must(e.said.remoteException.message.equals(e.said.message) && !e.isTransient, "flat and wrapped are the same");
            return;
        }
        must(false, "a refusal with " + status);
    }

    private Documents.FrameworkDescriptor descriptor(int version, int n, String entryPoint) {
        Documents.TaskRoleDescriptor role = new Documents.TaskRoleDescriptor();
        role.taskNumber = n;
        role.taskRetryPolicy.fancyRetryPolicy = true;
        role.taskService = new Documents.ServiceDescriptor();
        role.taskService.version = 4;
        role.taskService.entryPoint = entryPoint;
        role.taskService.sourceLocations = List.of(source);
        role.taskService.resource = Documents.ResourceDescriptor.of(1, 32);
        Documents.Ports ports = new Documents.Ports();
        ports.count = 2;
        role.taskService.resource.portDefinitions.put("http", ports);
        Documents.FrameworkDescriptor d = new Documents.FrameworkDescriptor();
        d.version = version;
        d.user.name = "javauser";
        d.taskRoles.put("Worker", role);
        return d;
    }

    private Documents.AggregatedFrameworkStatus until(String name, String what, Predicate<Documents.AggregatedFrameworkStatus> there)
            throws Exception {
        long end = System.currentTimeMillis() + PATIENCE_MS;
        while (true) {
            Documents.AggregatedFrameworkStatus now = launcher.get(LauncherClient.framework(name) + "/AggregatedFrameworkStatus",
                    Documents.AggregatedFrameworkStatus.class);
            if (there.test(now))
                return now;
            must(System.currentTimeMillis() < end, what + "; last: " + launcher.write(now));
            Thread.sleep(20);
        }
    }

    private static List<Documents.TaskStatus> workers(Documents.AggregatedFrameworkStatus now) {
        Documents.AggregatedTaskRoleStatus role = now.aggregatedTaskRoleStatuses.get("Worker");
        return role == null ? List.of() : role.taskStatuses.taskStatusArray;
    }

    private static boolean run(Documents.AggregatedFrameworkStatus now, int n) {
        return workers(now).size() == n && workers(now).stream().allMatch(t -> t.taskState == Documents.TaskState.CONTAINER_RUNNING);
    }

    private static boolean isOver(Documents.AggregatedFrameworkStatus now) {
        return now.frameworkStatus.frameworkState == Documents.FrameworkState.FRAMEWORK_COMPLETED;
    }

    /** Put, and wait until it has completed. */
    private void completes() throws Exception {
        String name = "javauser~batch", path = LauncherClient.framework(name);
        must(launcher.put(path, descriptor(1, 2, "exit 0")) == 202, "202");
        Documents.FrameworkStatus first = launcher.get(path + "/FrameworkStatus", Documents.FrameworkStatus.class);
        boolean waits = first.frameworkState == Documents.FrameworkState.FRAMEWORK_WAITING;
        must(waits == (first.applicationId == null), "it has an application as soon as it waits no longer: " + launcher.write(first));
        Documents.FrameworkStatus last = until(name, "it completes", Life::isOver).frameworkStatus;
        must(last.applicationExitCode == 0 && last.applicationExitType == Documents.ExitType.SUCCEEDED && last.applicationProgress == 1,
                launcher.write(last));
        must(launcher.delete(path) == 202, "202");
        must(launcher.put(path, descriptor(1, 1, "echo gone wrong >&2; exit 3")) == 202, "202");
        last = until(name, "it fails", Life::isOver).frameworkStatus;
        must(last.applicationExitCode == 3 && last.applicationExitDiagnostics.contains("gone wrong"), launcher.write(last));
        must(last.applicationExitTriggerTaskRoleName.equals("Worker") && last.applicationExitTriggerTaskIndex == 0, launcher.write(last));
        launcher.delete(path);
    }

    /** Changes of what runs. */
    private void changes() throws Exception {
        String name = "javauser~served", path = LauncherClient.framework(name);
        Documents.FrameworkDescriptor wanted = descriptor(7, 2, "sleep 1000");
        launcher.put(path, wanted);
        until(name, "two run", now -> run(now, 2));
        Documents.UpdateTaskNumberRequest number = new Documents.UpdateTaskNumberRequest();
        number.taskNumber = 3;
        must(launcher.put(path + "/TaskRoles/Worker/TaskNumber", number) == 202, "202");
        List<Documents.TaskStatus> before = workers(until(name, "three run", now -> run(now, 3)));
        must(before.get(2).taskIndex == 2 && before.get(2).containerPorts.matches("http:\\d+,\\d+;"), before.get(2).containerPorts);
        String container = before.get(0).containerId;
        must(launcher.put(path + "/MigrateTasks/" + container, new Documents.MigrateTaskRequest()) == 202, "202");
        List<Documents.TaskStatus> after = workers(until(name, "one has moved",
                now -> run(now, 3) && !workers(now).get(0).containerId.equals(container)));
        must(after.get(0).taskRetryPolicyState.transientNormalRetriedCount == 1, "its move is counted");
        must(after.get(1).containerId.equals(before.get(1).containerId), "the others stay");
        must(launcher.delete(path + "/MigrateTasks/" + container) == 202, "202");
        Documents.OverrideApplicationProgressRequest progress = new Documents.OverrideApplicationProgressRequest();
        progress.applicationProgress = 0.25f;
        must(launcher.put(path + "/ApplicationProgress", progress) == 202, "202");
        documents(name, path, wanted);
        Documents.UpdateExecutionTypeRequest stop = new Documents.UpdateExecutionTypeRequest();
        stop.executionType = Documents.ExecutionType.STOP;
        must(launcher.put(path + "/ExecutionType", stop) == 202, "202");
        Documents.AggregatedFrameworkStatus last = until(name, "it stops", Life::isOver);
        must(last.frameworkStatus.applicationExitCode == -7351 && workers(last).get(1).containerExitCode == -7400, launcher.write(last));
        must(launcher.delete(path) == 202 && launcher.delete(path) == 202, "202 twice");
        refused(404, "NotFoundException", () -> launcher.get(path, Documents.FrameworkInfo.class));
    }

    /** Every document of a framework that runs. */
    private void documents(String name, String path, Documents.FrameworkDescriptor wanted) throws Exception {
        Documents.FrameworkInfo info = launcher.get(path, Documents.FrameworkInfo.class);
        must(info.summarizedFrameworkInfo.totalTaskNumber == 3 && info.summarizedFrameworkInfo.userName.equals("javauser"), "summary");
        Documents.FrameworkRequest request = launcher.get(path + "/FrameworkRequest", Documents.FrameworkRequest.class);
        wanted.taskRoles.get("Worker").taskNumber = 3;
        must(launcher.write(request.frameworkDescriptor).equals(launcher.write(wanted)), launcher.write(request.frameworkDescriptor));
        must(request.launchClientType == Documents.LaunchClientType.LIB && request.frameworkName.equals(name), "who has asked");
        Documents.AggregatedFrameworkRequest all = launcher.get(path + "/AggregatedFrameworkRequest",
                Documents.AggregatedFrameworkRequest.class);
        must(all.overrideApplicationProgressRequest.applicationProgress == 0.25f, "the override");
        Documents.FrameworkStatus status = launcher.get(path + "/FrameworkStatus", Documents.FrameworkStatus.class);
        must(status.frameworkState == Documents.FrameworkState.APPLICATION_RUNNING && status.applicationProgress == 0.25f, "its status");
        Documents.SummarizedFrameworkInfos list = launcher.get("/v1/Frameworks?UserName=javauser&LaunchClientType=LIB",
                Documents.SummarizedFrameworkInfos.class);
        must(list.summarizedFrameworkInfos.size() == 1 && list.summarizedFrameworkInfos.get(0).frameworkVersion == 7, "the list");
    }

    /** The documents of the launcher itself. */
    private void launcher() throws Exception {
        must(launcher.get("/v1", String.class).startsWith("Active at "), "it is active");
        Documents.LauncherStatus status = launcher.get("/v1/LauncherStatus", Documents.LauncherStatus.class);
        must(status.launcherConfiguration.maxTotalTaskNumber == 500000 && status.hadoopLibrarySupportsPort, "its configuration");
        Documents.ClusterConfiguration cluster = new Documents.ClusterConfiguration();
        Documents.NodeConfiguration node = new Documents.NodeConfiguration();
        node.gpuType = "M40";
        cluster.nodes = Map.of("host1", node);
        must(launcher.put("/v1/LauncherRequest/ClusterConfiguration", cluster) == 202, "202");
        Documents.AclConfiguration acl = new Documents.AclConfiguration();
        Documents.NamespaceAcl namespace = new Documents.NamespaceAcl();
        Documents.UserName user = new Documents.UserName();
        user.name = "other";
        namespace.users = Set.of(user);
        acl.namespaceAcls.put("javauser", namespace);
        must(launcher.put("/v1/LauncherRequest/AclConfiguration", acl) == 200, "200");
        Documents.UpdateDataDeploymentVersionRequest deployment = new Documents.UpdateDataDeploymentVersionRequest();
        deployment.dataDeploymentVersionType = Documents.DataDeploymentVersionType.LAUNCHED;
        deployment.dataDeploymentVersion = "v3";
        must(launcher.put("/v1/LauncherRequest/DataDeploymentVersion", deployment) == 200, "200");
        Documents.LauncherRequest request = launcher.get("/v1/LauncherRequest", Documents.LauncherRequest.class);
        must(launcher.write(request.clusterConfiguration).equals(launcher.write(cluster)), "the nodes");
        must(launcher.write(request.aclConfiguration).equals(launcher.write(acl)), "the rights");
        must("v3".equals(request.launchedDataDeploymentVersion) && request.launchingDataDeploymentVersion == null, "the deployment");
        launcher.get("/v1/LauncherRequest/ClusterConfiguration", Documents.ClusterConfiguration.class);
        launcher.get("/v1/LauncherRequest/AclConfiguration", Documents.AclConfiguration.class);
    }

    private void refusals() throws Exception {
        Documents.FrameworkDescriptor bad = descriptor(1, -1, "");
        String path = LauncherClient.framework("javauser~bad");
        refused(400, "BadRequestException", () -> launcher.put(path, bad));
        refused(404, "NotFoundException", () -> launcher.put(path + "/ExecutionType", Map.of("executionType", "STOP")));
        refused(404, "NotFoundException", () -> launcher.get(path + "/FrameworkStatus", Documents.FrameworkStatus.class));
        Documents.FrameworkDescriptor large = descriptor(1, 50000, "sleep 1000");
        large.executionType = Documents.ExecutionType.STOP;
        for (int i = 0; i < 11; i++)
            large.taskRoles.put("Role" + i, large.taskRoles.get("Worker"));
        try {
            launcher.put(path, large);
            must(false, "a refusal");
        } catch (LauncherClient.Refused e) {
            must(e.status == 429 && e.isTransient && e.said.exception.equals("ThrottledRequestException"), e.getMessage());
        }
    }

    public static void main(String[] words) throws Exception {
        Life life = new Life(words[0], words[1]);
        life.completes();
        life.changes();
        life.launcher();
        life.refusals();
        System.out.println("lived");
    }
}
