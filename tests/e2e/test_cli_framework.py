"""`bobbin framework …` against a real svcmgr: put, list, look, flex, migrate, stop, delete."""
import json
import os

import pytest

from commands import commands
from harness import Stack, wait_for

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


def test_what_is_wrong_is_said(stack):
    assert "taskRoles" in refused(stack, 2, "put", "x", "-", stdin='{"version": 1}')
    refused(stack, 10, "stop", "nobody")
    assert "ROLE=NUMBER" in refused(stack, 2, "flex", "x", "worker")
    assert ok(stack, "delete", "nobody") == "accepted nobody\n"
