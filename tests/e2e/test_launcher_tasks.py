"""What a task of the FrameworkLauncher API sees: environment, ports, GPUs, sources, how its entry point is read."""
import io
import ipaddress
import os
import re
import tarfile
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from frameworks import Frameworks, role
from harness import Manager, wait_for

pytestmark = pytest.mark.sanitize

OPTIONS = {"yarn.nodemanager.resource.memory-mb": "100000", "yarn.nodemanager.resource.cpu-vcores": "1000",
           "yarn.nodemanager.resource-type.yarn.io/gpu": "4"}


@pytest.fixture(scope="module")
def stack():
    with Manager(options={"svcmgr": OPTIONS}) as s:
        yield s


@pytest.fixture
def shared(stack):
    """A directory that containers may write to."""
    path = os.path.join(stack.dir, f"shared-{os.urandom(4).hex()}")
    os.mkdir(path)
    os.chmod(path, 0o777)
    return path


def plain_source(shared):
    return source(shared, "plain", "nothing")


def source(folder, name, text, mode=0o644):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(path, mode)
    return path


@pytest.fixture
def frameworks(stack):
    return Frameworks(stack.services_port)


def ends(frameworks, name, entry, sources):
    """Run one task; the final status of the framework."""
    frameworks.put(name, {"w": role(entry, sources)})
    return frameworks.completed(name)


def environment(path):
    with open(path, encoding="utf-8") as f:
        return dict(line.rstrip("\n").split("=", 1) for line in f if "=" in line)


def shown(frameworks, shared, name, role_name="w", n=1, **more):
    """Environments of the tasks of a role, which go on."""
    entry = f"env > {shared}/.{role_name}-$TASK_INDEX; mv {shared}/.{role_name}-$TASK_INDEX {shared}/{role_name}-$TASK_INDEX; sleep 1000"
    frameworks.put(name, {role_name: role(entry, [plain_source(shared)], n=n, **more)})
    paths = [os.path.join(shared, f"{role_name}-{i}") for i in range(n)]
    wait_for(lambda: all(os.path.exists(p) for p in paths), "every task has said what it sees")
    frameworks.until_tasks(name, "CONTAINER_RUNNING", n, role_name)
    return [environment(p) for p in paths]


# ---- environment ----

def test_a_task_knows_its_framework(frameworks, shared):  # trap 21
    env, second = shown(frameworks, shared, "Env~a._B", "Role.A", n=2)
    task = frameworks.tasks("Env~a._B", "Role.A")[0]
    status = frameworks.status("Env~a._B")
    wanted = {"FRAMEWORK_NAME": "Env~a._B", "FRAMEWORK_VERSION": "3", "TASK_INDEX": "0", "TASK_ROLE_NAME": "Role.A",
              "TASKROLE_NAME": "Role.A", "SERVICE_NAME": "Role.A", "SERVICE_VERSION": "7", "HADOOP_USER_NAME": "default",
              "APP_ID": status["applicationId"], "CONTAINER_ID": task["containerId"], "CONTAINER_IP": task["containerIp"]}
    assert {name: env.get(name) for name in wanted} == wanted
    assert second["TASK_INDEX"] == "1"
    assert re.fullmatch(r"http://[^:/]+:\d+", env["LAUNCHER_ADDRESS"]), env
    assert env["ATTEMPT_ID"] == env["APP_ID"].replace("application", "appattempt") + "_000001"
    assert env["HDFS_USER_STORE_ROOT_DIR"] == env["HDFS_ROOT_DIR"] + "/Env~a._B/UserStore"
    assert env["HDFS_FRAMEWORK_INFO_FILE"] == env["HDFS_ROOT_DIR"] + "/Env~a._B/FrameworkInfo.json"
    assert os.path.isabs(env["LAUNCHER_LOG_DIR"]) and {"ZK_CONNECT_STRING", "ZK_ROOT_DIR", "AM_VERSION"} <= set(env)
    ipaddress.ip_address(env["CONTAINER_IP"])


def test_neither_ports_nor_gpus(frameworks, shared):  # F60
    env, = shown(frameworks, shared, "bare")
    task, = frameworks.tasks("bare", "w")
    assert (env["CONTAINER_GPUS"], env["CONTAINER_PORTS"]) == ("0", "")
    assert (task["containerGpus"], task["containerPorts"]) == (0, "")


def test_ports_fixed_and_any(frameworks, shared):  # F59
    resource = {"portDefinitions": {"dyn": {"start": 0, "count": 1}, "A.fix": {"start": 40, "count": 2}, "any~2": {"count": 3}}}
    env, = shown(frameworks, shared, "ports", resource=resource)
    task, = frameworks.tasks("ports", "w")
    found = re.fullmatch(r"A\.fix:40,41;any~2:(\d+),(\d+),(\d+);dyn:(\d+);", env["CONTAINER_PORTS"])
    assert found, env["CONTAINER_PORTS"]
    numbers = [int(n) for n in found.groups()]
    assert numbers == sorted(set(numbers)) and numbers[0] >= 2000
    assert task["containerPorts"] == env["CONTAINER_PORTS"]


def test_gpus_are_those_of_the_mask(frameworks, shared):
    env, = shown(frameworks, shared, "gpus", resource={"gpuNumber": 2, "gpuAttribute": 10})
    assert env["CONTAINER_GPUS"] == "10" and frameworks.tasks("gpus", "w")[0]["containerGpus"] == 10
    others, = shown(frameworks, shared, "gpus2", "x", resource={"gpuNumber": 2})
    assert others["CONTAINER_GPUS"] == "5"
    frameworks.put("gpus3", {"w": role("true", [plain_source(shared)], resource={"gpuNumber": 1})})
    frameworks.until_tasks("gpus3", "CONTAINER_REQUESTED", 1)
    frameworks.delete("gpus")
    assert frameworks.completed("gpus3")["applicationExitCode"] == 0


# ---- sources ----

def test_a_file_a_directory_and_archives(frameworks, shared):  # F62, trap 22
    os.makedirs(os.path.join(shared, "folder/below"))
    source(shared, "folder/below/run.sh", "#!/bin/sh\nexit 0\n")
    with zipfile.ZipFile(os.path.join(shared, "a.ZIP"), "w") as z:
        z.writestr("run.sh", "#!/bin/sh\nexit 0\n")
    with tarfile.open(os.path.join(shared, "b.tar.gz"), "w:gz") as t:
        info = tarfile.TarInfo("in/run.sh")
        info.size, info.mode = 17, 0o600
        t.addfile(info, io.BytesIO(b"#!/bin/sh\nexit 0\n"))
    script = source(shared, "run.sh", "#!/bin/sh\nexit 0\n")
    entry = ("set -e; folder/below/run.sh; a.ZIP/run.sh; b.tar.gz/in/run.sh; ./run.sh; "
             "test 500 = $(stat -c %a run.sh a.ZIP/run.sh folder/below/run.sh b.tar.gz/in/run.sh | sort -u)")
    status = ends(frameworks, "sources", entry, [f" {shared}/folder/ ", f"file://{shared}/a.ZIP", f"{shared}/b.tar.gz", script])
    assert (status["applicationExitCode"], status["applicationExitType"]) == (0, "SUCCEEDED"), status


def test_a_source_of_the_web(frameworks):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            body = b"#!/bin/sh\nexit 9\n"
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        status = ends(frameworks, "web", "./fetched", [f"http://127.0.0.1:{server.server_port}/dir/fetched"])
        assert status["applicationExitCode"] == 9, status
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("name,sources", [("twice", ["/etc/hostname", "/usr/../etc/hostname/"]), ("twice2", ["/etc/passwd", "/x/passwd"]),
                                          ("missing", ["/no/such/file"]), ("nameless", ["/"]), ("blank", ["  "]), ("strange", ["s3://b/x"])])
def test_sources_that_cannot_be_had(frameworks, name, sources):  # F61
    frameworks.put(name, {"w": role("true", sources, n=2, taskRetryPolicy={"fancyRetryPolicy": True, "maxRetryCount": -2},
                                applicationCompletionPolicy={"minFailedTaskCount": None})}, retryPolicy={"fancyRetryPolicy": True, "maxRetryCount": 0})
    status = frameworks.completed(name)
    assert (status["applicationExitCode"], status["applicationExitType"]) == (-7251, "NON_TRANSIENT"), status
    assert status["applicationExitDiagnostics"], status


def test_every_task_has_the_addresses_of_all(frameworks, shared):
    entry = f"cp ContainerIpList {shared}/list-$TASK_INDEX"
    frameworks.put("peers", {"a": role(entry, [plain_source(shared)], n=2), "b": role("sleep 1", [plain_source(shared)])},
        platformSpecificParameters={"generateContainerIpList": True})
    assert frameworks.completed("peers")["applicationExitCode"] == 0
    lists = [open(f"{shared}/list-{i}", encoding="utf-8").read() for i in range(2)]
    assert lists[0] == lists[1] and len(set(lists[0].split())) == 3


# ---- the entry point ----

@pytest.mark.parametrize("name,entry,code", [
    ("outer", "X=3; exit $X", 0), ("inner", r"X=3; exit \$X", 3), ("quoted", r'bash -c \"exit 3\"', 3), ("cut", 'bash -c "exit 3"', 0),
    ("subshell", 'bash -c "(exit 3)"', 2), ("absent", "./no-such-program", 127), ("trap", r'trap \"\" TERM; bash run.sh', 4),
    ("plain", "./run.sh", 4), ("last", "false; true", 0), ("mark", r"test \"{{X}}\" = \"{\"{X}} && exit 6", 6)])
def test_how_an_entry_point_is_read(frameworks, shared, name, entry, code):  # F70
    script = source(shared, "run.sh", "#!/bin/sh\nexit 4\n")
    status = ends(frameworks, f"entry-{name}", entry, [script])
    assert status["applicationExitCode"] == code, status
