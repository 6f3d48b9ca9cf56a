"""`bobbin framework …` against a real svcmgr: put, list, look, flex, migrate, stop, delete."""
import json
import os

import pytest

from commands import commands
from harness import DOMAIN, Stack, wait_for

pytestmark = pytest.mark.sanitize


@pytest.fixture(scope="module")
def stack():
    with Stack(services=True) as s:
        with open(os.path.join(s.dir, "source.sh"), "w", encoding="utf-8") as source:
            source.write("#!/bin/sh\n")
        yield s


_, ok, refused = commands("framework")


def descriptor(stack, command, number=1, version=1, **more):
    return json.dumps({"version": version, "user": {"name": "alice"}, "taskRoles": {"worker": {
        "taskNumber": number, **more,
        "taskService": {"version": 1, "entryPoint": command, "sourceLocations": [f"file://{stack.dir}/source.sh"],
                        "resource": {"cpuNumber": 1, "memoryMB": 16}}}}})


def tasks(stack, name):
    """State of each task as the table has it."""
    lines = ok(stack, "tasks", name).splitlines()[1:]
    return {line.split()[0]: line.split()[1] for line in lines}


def test_a_framework_is_put_listed_looked_at_and_deleted(stack):
    said = ok(stack, "put", "train", "-", "--wait", "-q", stdin=descriptor(stack, "sleep 1000", 2))
    assert said.startswith("train version 1 APPLICATION_RUNNING application_"), said
    row, = [line.split() for line in ok(stack, "list").splitlines() if line.startswith("train ")]
    assert row == ["train", "1", "APPLICATION_RUNNING", "-", "2", "0", "alice", "default"]
    wait_for(lambda: tasks(stack, "train") == {"worker[0]": "CONTAINER_RUNNING", "worker[1]": "CONTAINER_RUNNING"}, "both run")
    assert ok(stack, "flex", "train", "worker=1") == "accepted train\n"
    wait_for(lambda: list(tasks(stack, "train")) == ["worker[0]"], "one is left")
    assert ok(stack, "delete", "train") == "accepted train\n"
    assert "not found" in refused(stack, 10, "status", "train").lower()


def test_json_is_the_apis_own(stack):
    ok(stack, "put", "own", "-", stdin=descriptor(stack, "sleep 1000"))
    text = ok(stack, "status", "-o", "json", "own")
    assert text.startswith('{\n  "frameworkName" : "own",\n  "frameworkVersion" : 1,'), text
    assert list(json.loads(ok(stack, "tasks", "-o", "json", "own"))) == ["frameworkStatus", "aggregatedTaskRoleStatuses"]
    assert "summarizedFrameworkInfos" in json.loads(ok(stack, "list", "-o", "json"))
    ok(stack, "delete", "own")


def test_a_failure_is_named(stack):
    ok(stack, "put", "bad", "-", stdin=descriptor(stack, "echo it broke >&2; exit 3"))
    wait_for(lambda: "FRAMEWORK_COMPLETED" in ok(stack, "status", "bad"), "it has failed")
    said = ok(stack, "status", "bad")
    assert "exit 3 UNKNOWN" in said and "it broke" in said, said
    ok(stack, "delete", "bad")


def test_a_stop_is_waited_for(stack):
    ok(stack, "put", "halt", "-", "--wait", "-q", stdin=descriptor(stack, "sleep 1000"))
    said = ok(stack, "stop", "-q", "halt")
    assert "FRAMEWORK_COMPLETED" in said and "exit -7351 NON_TRANSIENT" in said, said
    assert ok(stack, "start", "halt") == "accepted halt\n"
    assert "FRAMEWORK_COMPLETED" in ok(stack, "status", "halt")
    ok(stack, "delete", "halt")


def test_a_task_is_migrated(stack):
    retried = {"taskRetryPolicy": {"fancyRetryPolicy": True}}
    ok(stack, "put", "move", "-", "--wait", "-q", stdin=descriptor(stack, "sleep 1000", **retried))

    def container():
        task, = json.loads(ok(stack, "tasks", "-o", "json", "move"))["aggregatedTaskRoleStatuses"]["worker"]["taskStatuses"]["taskStatusArray"]
        return task["containerId"] if task["taskState"] == "CONTAINER_RUNNING" else None
    before = wait_for(container, "it runs")
    assert ok(stack, "migrate", "move", before) == "accepted move\n"
    wait_for(lambda: container() not in (None, before), "it runs in another container")
    ok(stack, "delete", "move")


def test_names_and_waits_are_explained(stack):
    ports = {"portDefinitions": {"http": {"count": 1}}}
    d = json.loads(descriptor(stack, "sleep 1000", 2))
    d["taskRoles"]["worker"]["taskService"]["resource"].update(ports)
    d["taskRoles"]["Big~1"] = json.loads(json.dumps(d["taskRoles"]["worker"]))
    d["taskRoles"]["Big~1"].update(taskNumber=12)
    d["taskRoles"]["Big~1"]["taskService"]["resource"] = {"cpuNumber": 1, "memoryMB": 1 << 30}
    ok(stack, "put", "why", "-", "--wait", "-q", stdin=json.dumps(d))
    wait_for(lambda: set(tasks(stack, "why").values()) == {"CONTAINER_RUNNING", "CONTAINER_REQUESTED"}, "what can run runs")
    lines = ok(stack, "explain", "why").splitlines()
    base = f"why.alice.{DOMAIN}"
    assert lines[0] == f"why APPLICATION_RUNNING {base}"
    assert lines[1].startswith("Big~1[0], Big~1[1], ") and lines[1].endswith(" and 2 more: CONTAINER_REQUESTED"), lines
    assert lines[2].startswith("  resource: ") and lines[3].startswith("  remedy: "), lines
    rows = [line.split() for line in lines[4:]]
    assert ["worker[1]", "CONTAINER_RUNNING", "0", f"worker-1.{base}"] in rows
    assert ["worker", "http", f"_http._tcp.worker.{base}"] in rows
    big, = {row[3].partition("-11.")[0] for row in rows if row[0] == "Big~1[11]"}
    assert big.startswith("big-1-x") and len(big) == len("big-1-x") + 26, big
    document = json.loads(ok(stack, "explain", "-o", "json", "why"))
    assert list(document) == ["frameworkName", "frameworkState", "frameworkDnsName", "frameworkRetryPolicyState", "explain", "taskRoles"]
    wait, = document["explain"]
    assert (wait["taskRoleName"], wait["count"], wait["taskIndexes"], wait["reason"]) == ("Big~1", 12, list(range(10)), "resource"), wait
    assert document["taskRoles"]["Big~1"]["portDnsNames"] == {} and len(document["taskRoles"]["Big~1"]["tasks"]) == 12
    ok(stack, "flex", "why", "Big~1=0")
    wait_for(lambda: "Nothing to explain: all is as wanted." in ok(stack, "explain", "why"), "nothing waits")
    ok(stack, "delete", "why")
    assert "not found" in refused(stack, 10, "explain", "why").lower()


def test_the_end_of_a_framework_is_explained(stack):
    ok(stack, "put", "ended", "-", stdin=descriptor(stack, "echo it broke >&2; exit 3", taskRetryPolicy={"maxRetryCount": 1}))
    wait_for(lambda: "FRAMEWORK_COMPLETED" in ok(stack, "status", "ended"), "it has failed")
    lines = ok(stack, "explain", "ended").splitlines()
    assert lines[0] == f"ended FRAMEWORK_COMPLETED ended.alice.{DOMAIN}"
    assert any(line.startswith("ended: FRAMEWORK_COMPLETED") for line in lines), lines
    assert ["worker[0]", "TASK_COMPLETED", "1", f"worker-0.ended.alice.{DOMAIN}"] in [line.split() for line in lines], lines
    ok(stack, "delete", "ended")


def test_what_is_wrong_is_said(stack):
    assert "taskRoles" in refused(stack, 2, "put", "x", "-", stdin='{"version": 1}')
    refused(stack, 10, "stop", "nobody")
    assert "ROLE=NUMBER" in refused(stack, 2, "flex", "x", "worker")
    assert ok(stack, "delete", "nobody") == "accepted nobody\n"
