"""The store of an original FrameworkLauncher in a real ZooKeeper, as its last release writes it.

Small objects are one YAML document, packed by gzip from 10240 bytes on. Large ones are cut into parts below a version.
"""
import gzip

import zkwire

MODEL = "com.microsoft.frameworklauncher.common.model"
PACKED_FROM = 10240
PART = 786432
OPEN = (zkwire.ALL, "world", "anyone")


class Set(list):
    """Written as !!set: its members are keys."""


def scalar(value):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    is_plain = value[:1].isalpha() and value.replace("_", "").replace("-", "").replace("/", "").replace(".", "").isalnum()
    if is_plain and value.lower() not in ("null", "true", "false", "yes", "no", "on", "off"):
        return value
    return "'" + value.replace("'", "''") + "'"


def flow(value):
    """In braces and brackets, for what is inside a set."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {flow(value[key])}" for key in sorted(value)) + "}"
    return scalar(value)


def lines(value, indent=""):
    """The lines behind `key:` of a value, the first without indent."""
    if isinstance(value, Set):
        return [" !!set" if value else " !!set {}"] + [line for item in value for line in (f"{indent}? {flow(item)}", f"{indent}: null")]
    if isinstance(value, list):
        found = [""] if value else [" []"]
        for item in value:
            first, *rest = lines(item, indent + "  ")
            if not first and rest:
                first, rest = " " + rest[0].lstrip(), rest[1:]
            found += [f"{indent}-{first}", *rest]
        return found
    if isinstance(value, dict):
        found = [""] if value else [" {}"]
        for key in sorted(value):
            first, *rest = lines(value[key], indent + "  ")
            found += [f"{indent}{key}:{first}", *rest]
        return found
    return [" " + scalar(value)]


def document(kind, value):
    """A document of a class of the model."""
    return (f"!!{MODEL}.{kind}" + "\n".join(lines(value)) + "\n").encode()


def payload(text):
    return gzip.compress(text, mtime=0) if len(text) >= PACKED_FROM else text


class LauncherStore(zkwire.Client):
    """Root as in zkRootDir: "/Launcher". pair: id:password, which alone may read and write the store."""

    def __init__(self, address, root, pair=None):
        super().__init__(address, *([pair] if pair else []))
        self.root, self.acl = root, zkwire.digest_acl(pair) if pair else OPEN
        for path, kind, value in (("", None, None), ("/Requests", "LauncherRequest", launcher_request()),
                                  ("/Statuses", "LauncherStatus", {"serviceHost": "h", "serviceIp": "127.0.0.1"})):
            self.add(path, payload(document(kind, value)) if kind else b"")

    def add(self, path, data=b""):
        self.create(self.root + path, data, self.acl)

    def small(self, path, kind, value):
        self.add(path, payload(document(kind, value)))

    def large(self, path, kind, value, version=0, part=PART):
        """A version of a large object; the node and its versions are made with the first."""
        packed = payload(document(kind, value))
        if version == 0:
            self.add(path)
            self.add(f"{path}/ReadyPayloadVersions")
        self.add(f"{path}/{version:010}")
        for i in range(0, len(packed), part):
            self.add(f"{path}/{version:010}/{i // part}", packed[i:i + part])
        self.add(f"{path}/ReadyPayloadVersions/{version:010}")
        return -(-len(packed) // part)

    def framework(self, name, descriptor, client="UNKNOWN", state=None, **more):
        self.small(f"/Requests/{name}", "FrameworkRequest", framework_request(name, descriptor, client))
        self.add(f"/Requests/{name}/MigrateTaskRequests")
        if state:
            self.small(f"/Statuses/{name}", "FrameworkStatus", {
                "frameworkName": name, "frameworkVersion": descriptor["version"], "frameworkState": state,
                "applicationId": "application_1_0007", "applicationExitCode": None, "applicationProgress": 0.5, **more})

    def progress(self, name, value):
        """A client has said how far a framework is."""
        kind = "OverrideApplicationProgressRequest"
        self.small(f"/Requests/{name}/{kind}", kind, {"applicationProgress": value})

    def tasks(self, name, role, states, **more):
        """Statuses of the tasks of a role."""
        self.small(f"/Statuses/{name}/{role}", "TaskRoleStatus", {"taskRoleName": role, "frameworkVersion": 1})
        return self.large(f"/Statuses/{name}/{role}/TaskStatuses", "TaskStatuses", {
            "taskRoleName": role, "frameworkVersion": 1,
            "taskStatusArray": [task_status(role, i, state) for i, state in enumerate(states)]}, **more)


def launcher_request(cluster=None, acl=None):
    return {"launchingDataDeploymentVersion": None, "launchedDataDeploymentVersion": None, "clusterConfiguration": cluster or {"nodes": None},
            "aclConfiguration": acl or {"namespaceAcls": {}, "normalAdminUsers": Set()}}


def task_status(role, index, state):
    return {"taskIndex": index, "taskRoleName": role, "taskState": state, "containerId": f"container_e01_1700000000000_0001_01_{index:06}",
            "containerHost": f"node{index % 977}.example", "containerIp": f"10.0.{index // 250}.{index % 250}", "containerPorts": "",
            "containerGpus": 0, "containerExitCode": None, "containerExitDiagnostics": None, "taskServiceStatus": {"serviceVersion": 1},
            "containerLogHttpAddress": f"http://node{index % 977}.example:8042/node/containerlogs/container_{index * 7919 % 1000003:06}/alice/",
            "taskRetryPolicyState": {"retriedCount": 0, "succeededRetriedCount": 0, "transientNormalRetriedCount": 0,
                                     "transientConflictRetriedCount": 0, "nonTransientRetriedCount": 0, "unKnownRetriedCount": 0}}


def resource(cpu=1, memory=16):
    """With the derived members that a store has beside those of the API."""
    return {"cpuNumber": cpu, "memoryMB": memory, "gpuNumber": 0, "gpuAttribute": 0, "portDefinitions": {}, "diskType": "HDD", "diskMB": 0,
            "portNumber": 0, "portRanges": []}


def role(entry, sources, n=1):
    return {"taskNumber": n, "scaleUnitNumber": 1, "scaleUnitTimeoutSec": 0,
            "taskRetryPolicy": {"fancyRetryPolicy": False, "maxRetryCount": 0},
            "applicationCompletionPolicy": {"minFailedTaskCount": 1, "minSucceededTaskCount": None},
            "taskService": {"version": 1, "entryPoint": entry, "sourceLocations": sources, "resource": resource()},
            "platformSpecificParameters": {"taskNodeLabel": None, "taskNodeGpuType": None, "samePortAllocation": False}}


def descriptor(roles, version=1, user="alice", execution="START", parent=None, description=None):
    """Complete, as a launcher stores it."""
    return {"description": description, "version": version, "executionType": execution,
            "retryPolicy": {"fancyRetryPolicy": False, "maxRetryCount": 0}, "parentFramework": parent, "user": {"name": user},
            "taskRoles": roles, "platformSpecificParameters": {
                "amResource": resource(1, 4096), "amNodeLabel": None, "taskNodeLabel": None, "taskNodeGpuType": None, "queue": "default",
                "containerConnectionMaxLostCount": -2, "containerConnectionMaxExceedCount": 2, "antiaffinityAllocation": False,
                "gangAllocation": False, "skipLocalTriedResource": True, "amType": "DEFAULT", "agentUseHeartbeat": False,
                "agentUseHealthCheck": False, "agentHeartbeatIntervalSec": 30, "agentExpiryIntervalSec": 180, "taskServiceHealthCheck": None}}


def framework_request(name, wanted, client="UNKNOWN"):
    return {"frameworkName": name, "frameworkDescriptor": wanted, "launchClientType": client, "launchClientHostName": "10.0.0.1",
            "launchClientUserName": "UNKNOWN", "firstRequestTimestamp": 1700000000000, "lastRequestTimestamp": 1700000090000}
