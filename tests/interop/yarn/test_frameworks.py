"""Frameworks of the FrameworkLauncher API on a real YARN cluster: what their tasks see, gang allocation, GPUs as a resource type, migration."""
import os
import re
import signal
import zipfile

import pytest

from frameworks import Frameworks, role
from harness import wait_for
from services import Ours
from yarn import Cluster

SLOW = 180
USER, CLASS = "default", "framework-launcher"  # of a framework whose request names no user, in the registry


@pytest.fixture(scope="module")
def ours():
    settings = {"yarn.scheduler.minimum-allocation-mb": 32, "yarn.resource-types": "yarn.io/gpu",
                "yarn.nodemanager.resource-type.yarn.io/gpu": 2,
                "yarn.scheduler.capacity.resource-calculator": "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator"}
    with Cluster(settings=settings) as cluster, Ours(cluster) as services:
        yield services


@pytest.fixture(scope="module")
def frameworks(ours):
    return Frameworks(ours.stack.services_port)


@pytest.fixture
def shared(ours):
    path = os.path.join(ours.cluster.dir, f"shared-{os.urandom(4).hex()}")
    os.mkdir(path)
    os.chmod(path, 0o777)
    with open(os.path.join(path, "run.sh"), "w", encoding="utf-8") as f:
        f.write("#!/bin/sh\nexit 4\n")
    return path


def environment(path):
    with open(path, encoding="utf-8") as f:
        return dict(line.rstrip("\n").split("=", 1) for line in f if "=" in line)


def test_what_a_task_sees(frameworks, shared):
    os.makedirs(f"{shared}/folder")
    os.link(f"{shared}/run.sh", f"{shared}/folder/run.sh")
    with zipfile.ZipFile(f"{shared}/a.zip", "w") as z:
        z.write(f"{shared}/run.sh", "run.sh")
    entry = f"env > {shared}/env; ls -L folder a.zip > {shared}/list; sh -c 'a.zip/run.sh; test \\$? = 4 && folder/run.sh'; exec ./run.sh"
    resource = {"gpuNumber": 1, "portDefinitions": {"a": {"start": 40, "count": 2}, "b": {"count": 1}}}
    frameworks.put("Sees~a.B", {"w": role(entry, [f"{shared}/run.sh", f"file://{shared}/folder/", f"{shared}/a.zip"], resource=resource)})
    status = frameworks.completed("Sees~a.B", SLOW)
    assert status["applicationExitCode"] == 4, status
    env, task = environment(f"{shared}/env"), frameworks.tasks("Sees~a.B")[0]
    wanted = {"FRAMEWORK_NAME": "Sees~a.B", "TASK_INDEX": "0", "TASK_ROLE_NAME": "w", "SERVICE_VERSION": "7", "APP_ID": status["applicationId"],
              "CONTAINER_ID": task["containerId"], "CONTAINER_GPUS": "1", "CONTAINER_PORTS": task["containerPorts"]}
    assert {name: env.get(name) for name in wanted} == wanted
    chosen = re.fullmatch(r"a:40,41;b:(\d+);", env["CONTAINER_PORTS"])
    assert env["CONTAINER_IP"].startswith("127.") and chosen and 20000 <= int(chosen[1]) <= 32767, env
    assert env["ATTEMPT_ID"].startswith("appattempt_") and os.path.isabs(env["LAUNCHER_LOG_DIR"])
    assert task["containerGpus"] == 1


@pytest.mark.parametrize("name,entry,code", [("outer", "X=3; exit $X", 0), ("inner", r"X=3; exit \$X", 3), ("quoted", r'bash -c \"exit 3\"', 3),
                                             ("absent", "./none", 127)])
def test_how_an_entry_point_is_read(frameworks, shared, name, entry, code):  # F70
    frameworks.put(f"entry-{name}", {"w": role(entry, [f"{shared}/run.sh"])})
    assert frameworks.completed(f"entry-{name}", SLOW)["applicationExitCode"] == code


def test_a_missing_source_ends_the_application(frameworks):  # F61
    frameworks.put("missing", {"w": role("true", ["/no/such/file"])}, retryPolicy={"fancyRetryPolicy": True, "maxRetryCount": 0})
    status = frameworks.completed("missing", SLOW)
    assert (status["applicationExitCode"], status["applicationExitType"]) == (-7251, "NON_TRANSIENT"), status


def test_a_gang_starts_together_and_knows_its_addresses(frameworks, shared):
    entry = f"cp ContainerIpList {shared}/list-$TASK_INDEX"
    frameworks.put("gang", {"w": role(entry, [f"{shared}/run.sh"], n=3)}, platformSpecificParameters={"generateContainerIpList": True})
    assert frameworks.completed("gang", SLOW)["applicationExitCode"] == 0
    lists = [open(f"{shared}/list-{i}", encoding="utf-8").read() for i in range(3)]
    assert lists[0] == lists[1] == lists[2] and len(lists[0].split()) == 3 and lists[0].startswith("127.")


def test_gpus_are_a_resource(frameworks, shared):
    """Two on each of two nodes: the third task of two waits, and the gang starts nobody."""
    more = {"platformSpecificParameters": {"gangAllocation": True}}
    frameworks.put("gpus", {"w": role(f"touch {shared}/ran-$TASK_INDEX; sleep 1000", [f"{shared}/run.sh"], n=3, resource={"gpuNumber": 2})}, **more)

    def held():
        return sorted(t["taskState"] for t in frameworks.tasks("gpus")) == ["CONTAINER_ALLOCATED"] * 2 + ["CONTAINER_REQUESTED"]
    wait_for(held, "two are held, the third waits", SLOW)
    assert not os.path.exists(f"{shared}/ran-0")

    def explained():  # what waits is what the application master says; of the third one, when it has waited for 3 s
        now = frameworks.ask("GET", "gpus", "/Explanation").json
        found = {(line["taskRoleName"], line["reason"], line["count"]) for line in now["explain"]}
        assert found == {("w", "gang", 2), ("w", "resource", 1)}, now
        return now
    document = wait_for(explained, "it says what each waits for")
    assert [task["taskDnsName"].split(".")[0] for task in document["taskRoles"]["w"]["tasks"]] == ["w-0", "w-1", "w-2"]
    assert frameworks.ask("PUT", "gpus", "/TaskRoles/w/TaskNumber", {"taskNumber": 2}).status == 202
    frameworks.until_tasks("gpus", "CONTAINER_RUNNING", 2)
    assert [t["containerGpus"] for t in frameworks.tasks("gpus")] == [3, 3]
    frameworks.delete("gpus")


def retries(frameworks, name):
    """How often the framework and its first task were retried, by kind."""
    return frameworks.status(name)["frameworkRetryPolicyState"], frameworks.tasks(name)[0]["taskRetryPolicyState"]


def kill_master(ours, app):
    """As soon as it runs; returns when another attempt does."""
    first = wait_for(lambda: ours.processes(ours.masters_container(app)), f"the master of {app} runs")
    os.kill(first[0], signal.SIGKILL)
    wait_for(lambda: len(ours.attempts(app)) == 2 and ours.processes(ours.masters_container(app)), "another master runs", SLOW)


def test_a_master_that_is_killed_loses_no_count(ours, frameworks, shared):
    """The second application runs, and in it the second attempt of the task. Those go on, their counts stay, and it completes."""
    entry = f"echo run >> {shared}/runs; sed -n 4p {shared}/runs | grep -q run || exit 5; until test -e {shared}/done; do sleep 0.2; done"
    frameworks.put("counted", {"w": role(entry, [f"{shared}/run.sh"], taskRetryPolicy={"fancyRetryPolicy": False, "maxRetryCount": 1})},
                   retryPolicy={"fancyRetryPolicy": False, "maxRetryCount": 1})

    def fourth():
        return os.path.exists(f"{shared}/runs") and len(lines(f"{shared}/runs")) == 4 and frameworks.until_tasks("counted", "CONTAINER_RUNNING", 1)
    task, before = wait_for(fourth, "the fourth attempt runs", SLOW)[0], retries(frameworks, "counted")
    assert [one["retriedCount"] for one in before] == [one["unKnownRetriedCount"] for one in before] == [1, 1]
    status = frameworks.status("counted")
    kill_master(ours, status["applicationId"])
    open(f"{shared}/done", "w", encoding="ascii").close()
    final = frameworks.completed("counted", SLOW)
    assert (final["applicationExitCode"], final["applicationId"]) == (0, status["applicationId"]), final
    assert retries(frameworks, "counted") == before and len(lines(f"{shared}/runs")) == 4
    assert frameworks.tasks("counted")[0]["containerId"] == task["containerId"]


def lines(path):
    with open(path, encoding="utf-8") as f:
        return f.read().splitlines()


def test_tasks_have_names(ours, frameworks, shared):
    """While they run, also when their master was killed; none when the framework has completed."""
    entry = f"until test -e {shared}/done; do sleep 0.2; done"
    frameworks.put("named", {"w": role(entry, [f"{shared}/run.sh"], n=2)})
    wait_for(lambda: [t["taskState"] for t in frameworks.tasks("named")] == ["CONTAINER_RUNNING"] * 2, "both run", SLOW)

    def names():
        return {i: ours.addresses(f"w-{i}", "named", USER) for i in range(2)}
    there = {0: ["127.0.0.1"], 1: ["127.0.0.1"]}
    wait_for(lambda: names() == there, "each has a name")
    records = ours.records("named", USER, CLASS)
    assert sorted(record["yarn:id"] for record in records.values()) == sorted(t["containerId"] for t in frameworks.tasks("named"))
    kill_master(ours, frameworks.status("named")["applicationId"])
    assert names() == there and ours.records("named", USER, CLASS) == records
    open(f"{shared}/done", "w", encoding="ascii").close()
    frameworks.completed("named", SLOW)
    wait_for(lambda: names() == {0: [], 1: []} and not ours.records("named", USER, CLASS), "no name is left")


def test_a_migrated_task_gets_another_container(frameworks, shared):  # F42
    frameworks.put("moved", {"w": role("sleep 1000", [f"{shared}/run.sh"], n=2, taskRetryPolicy={"fancyRetryPolicy": True, "maxRetryCount": 0})})
    wait_for(lambda: [t["taskState"] for t in frameworks.tasks("moved")] == ["CONTAINER_RUNNING"] * 2, "both run", SLOW)
    first, second = [t["containerId"] for t in frameworks.tasks("moved")]
    assert frameworks.ask("PUT", "moved", f"/MigrateTasks/{first}", {}).status == 202

    def moved():
        task = frameworks.tasks("moved")[0]
        return task["taskState"] == "CONTAINER_RUNNING" and task["containerId"] != first and task
    task = wait_for(moved, "it runs elsewhere", SLOW)
    assert task["taskRetryPolicyState"]["transientNormalRetriedCount"] == 1
    assert frameworks.tasks("moved")[1]["containerId"] == second
    frameworks.delete("moved")
