"""Statuses of the FrameworkLauncher API over HTTP: launcher_status.json has a flow a row, with the number of its contract row.

A row puts the framework of its `roles` (number of tasks, entry point, more members; ${DIR} is a directory of its own), then takes its steps in order:
    put        [path below the framework, body]: answered by `code`, by default 202; a body of version N puts the framework again
    delete     path
    until      members of the FrameworkStatus that are awaited
    tasks      role[index] -> members that are awaited
    status     members of the FrameworkStatus now
    length     role -> number of its tasks that is awaited
    keep       name -> role[index].member: kept for `${name}`
    roles      names of the roles that are shown now
    wanted     members of the AggregatedFrameworkRequest that are awaited
    took       [name of a kept time, member of the FrameworkStatus, least, most ms between them]
    stays      seconds during which tasks are as they are: role[index] -> members
In expectations "<text>", "<number>" stand for any, "!${name}" for another value than the kept one. `with` names the cluster, of CLUSTERS,
that the row needs; `traps` the traps of the contract that it looks at.
What is there only for a moment after a framework is put (`status` and `roles` at once; the first step of a row that is `soon`) may have been asked
for too late on a loaded machine. Such a row is run again.
"""
import copy
import json
import os
import re
import resource
import time

import pytest

from harness import Stack, request, wait_for

pytestmark = pytest.mark.sanitize

with open(os.path.join(os.path.dirname(__file__), "launcher_status.json"), encoding="utf-8") as file:
    ROWS = json.load(file)


CONFLICT_S = 3
WAITING_S = 0.2     # FRAMEWORK_WAITING is shown for that time at least
CLUSTERS = {
    "": {}, "full": {},
    "narrow": {"yarn.nodemanager.resource.cpu-vcores": "2", "yarn.service.launcher.gang-timeout": "1s",
               "yarn.service.launcher.conflict-min-delay": f"{CONFLICT_S}s"},
    "two": {"yarn.service.cluster": "sim", "yarn.service.sim.script": "nodes 2 memory=65536 vcores=64 gpus=4"},
    "failing": {"yarn.service.cluster": "sim", "yarn.service.sim.script": "nodes 1; node-failure every=1s down=100ms"},
    "losing": {"yarn.service.cluster": "sim", "yarn.service.sim.script":
               "nodes 2; end memory of=memory-* after=10; end preempted of=preempted-* after=10; end lost of=lost-* after=10; "
               "end launch of=launch-* after=10; end signal=9 of=signal-* after=10"},
}


@pytest.fixture(scope="module")
def clusters():
    """A function: the stack on this cluster."""
    stacks = {}

    def of(name):
        if name not in stacks:
            stacks[name] = Stack(services=True, options={"svcmgr": CLUSTERS[name]})
            stacks[name].__enter__()
            with open(os.path.join(stacks[name].dir, "source.sh"), "w", encoding="utf-8") as source:
                source.write("#!/bin/sh\nexit 0\n")
        return stacks[name]

    yield of
    for stack in stacks.values():
        stack.__exit__(None, None, None)


@pytest.fixture
def stack(clusters):
    return clusters("")


def role(stack, given):
    """A TaskRoleDescriptor of [number, entry point, more members, more of its resource]."""
    number, command, *more = given
    return {"taskNumber": number, **(more[0] if more else {}),
            "taskService": {"version": 1, "entryPoint": command, "sourceLocations": [f"file://{stack.dir}/source.sh"],
                            "resource": {"cpuNumber": 1, "memoryMB": 16, **(more[1] if len(more) > 1 else {})}}}


def descriptor(stack, row, version=1, **more):
    return {"version": version, "taskRoles": {name: role(stack, given) for name, given in row["roles"].items()},
            **row.get("framework", {}), **more}


class Late(Exception):
    """What is there only for a moment was asked for later."""


class Flow:
    def __init__(self, stack, row):
        self.name = re.sub("[^A-Za-z0-9]", "-", row["row"]) + "." + os.urandom(3).hex()
        self.stack, self.row, self.kept = stack, self.with_directory(stack, row), {}

    def with_directory(self, stack, row):
        """The row with a directory that containers may write to in place of ${DIR}."""
        text, path = json.dumps(row), os.path.join(stack.dir, self.name)
        if "${DIR}" not in text:
            return row
        os.mkdir(path)
        os.chmod(path, 0o777)
        return json.loads(text.replace("${DIR}", path))

    def call(self, method, path="", body=None):
        return request(self.stack.services_port, method, f"/v1/Frameworks/{self.name}{path}", body,
                       {"Content-Type": "application/json"} if body is not None else None)

    def document(self):
        answer = self.call("GET", "/AggregatedFrameworkStatus")
        assert answer.status == 200, answer
        return answer.json

    def status(self):
        return self.document()["frameworkStatus"]

    def tasks(self, name):
        roles = self.document()["aggregatedTaskRoleStatuses"]
        return roles[name]["taskStatuses"]["taskStatusArray"] if name in roles else []

    def task(self, text):
        name, index = re.fullmatch(r"(.+)\[(\d+)\]", text).groups()
        tasks = self.tasks(name)
        return tasks[int(index)] if int(index) < len(tasks) else {}

    def put_framework(self, version=1, **more):
        self.put_at = time.monotonic()
        answer = self.call("PUT", "", json.dumps(descriptor(self.stack, self.row, version, **more)))
        assert answer.status == 202, answer

    def in_time(self, what):
        """what, unless it comes after a put of the framework, and too late for it."""
        if not what and self.put_at is not None and time.monotonic() - self.put_at > WAITING_S:
            raise Late
        return what

    # ---- expectations ----

    def fits(self, want, have):
        if isinstance(want, str) and want.startswith("!"):
            return have != self.filled(want[1:])
        if want == "<text>":
            return isinstance(have, str)
        if want == "<number>":
            return isinstance(have, (int, float))
        if isinstance(want, dict):
            return isinstance(have, dict) and all(k in have and self.fits(v, have[k]) for k, v in want.items())
        return self.filled(want) == have

    def filled(self, value):
        if not isinstance(value, str):
            return value
        return re.sub(r"\$\{(\w+)\}", lambda m: self.kept[m.group(1)], value)

    def awaited(self, look, want):
        seen = {}

        def there():
            seen.clear()
            seen.update(look())
            return self.fits(want, seen)
        try:
            wait_for(there, f"{self.row['row']}: {want}")
        except AssertionError as error:
            raise AssertionError(f"{error}: last {json.dumps(seen, indent=1)}") from None

    # ---- steps ----

    def step_put(self, given, code=202):
        path, body = given
        if path == "":
            self.put_framework(**body)
            return
        answer = self.call("PUT", self.filled(path), json.dumps(body))
        assert answer.status == code, (self.row["row"], path, answer)
        assert code != 202 or answer.body == b"", answer

    def step_delete(self, path):
        assert self.call("DELETE", self.filled(path)).status == 202

    def step_until(self, want):
        self.awaited(self.status, want)

    def step_status(self, want):
        have = self.status()
        assert self.in_time(self.fits(want, have)), (self.row["row"], want, have)

    def step_tasks(self, wants):
        for text, want in wants.items():
            self.awaited(lambda text=text: self.task(text), want)

    def step_length(self, wants):
        for name, n in wants.items():
            self.awaited(lambda name=name: {"n": len(self.tasks(name))}, {"n": n})

    def step_roles(self, names):
        have = sorted(self.document()["aggregatedTaskRoleStatuses"])
        assert self.in_time(have == sorted(names)), (self.row["row"], names, have)

    def step_wanted(self, want):
        self.awaited(lambda: self.call("GET", "/AggregatedFrameworkRequest").json, want)

    def step_took(self, given):
        name, member, least, most = given
        took = self.status()[member] - int(self.kept[name])
        # the stamps are whole milliseconds of another clock than that of the wait
        assert least - 2 <= took <= most, (self.row["row"], given, took)

    def step_stays(self, given):
        for_s, wants = given
        end = time.monotonic() + for_s
        while time.monotonic() < end:
            for text, want in wants.items():
                have = self.task(text)
                assert self.fits(want, have), (self.row["row"], text, want, have)
            time.sleep(0.05)

    def step_keep(self, wants):
        for name, place in wants.items():
            owner, member = place.rsplit(".", 1)
            self.kept[name] = str((self.status() if owner == "framework" else self.task(owner))[member])

    def run(self):
        self.put_framework(**self.row.get("put", {}))
        for step in self.row["steps"]:
            step = copy.copy(step)
            code = step.pop("code", None)
            (verb, given), = step.items()
            if code:
                self.step_put(given, code)
            else:
                getattr(self, "step_" + verb)(given)
            if self.row.get("soon"):
                self.in_time(False)
            if verb not in ("put", "status", "roles") or self.row.get("soon"):
                self.put_at = None


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["row"])
def test_row(clusters, row):
    for attempt in range(10):
        flow = Flow(clusters(row.get("with", "")), row)
        try:
            flow.run()
            return
        except Late:
            assert attempt < 9, f"{row['row']}: not within {WAITING_S} s of a put, ten times"
        finally:
            assert flow.call("DELETE").status == 202


def test_unknown_frameworks_are_not_found_in_all_views(stack):  # F14
    for view in ("", "/FrameworkStatus", "/AggregatedFrameworkStatus", "/FrameworkRequest", "/AggregatedFrameworkRequest"):
        answer = request(stack.services_port, "GET", f"/v1/Frameworks/nobody{view}")
        assert answer.status == 404, (view, answer)
        assert {"exception", "message", "javaClassName"} <= set(answer.json), answer


def test_the_list_filters_and_adds_up(stack):  # F49, F50
    row = {"row": "F50", "roles": {"a": [2, "sleep 1000"], "b": [1, "sleep 1000"]}}
    flow = Flow(stack, row)
    flow.put_framework(description="two roles")
    try:
        found = request(stack.services_port, "GET", "/v1/Frameworks?UserName=default").json["summarizedFrameworkInfos"]
        mine, = [f for f in found if f["frameworkName"] == flow.name]
        assert (mine["totalTaskNumber"], mine["totalTaskRoleNumber"], mine["totalGpuNumber"]) == (3, 2, 0), mine
        assert mine["frameworkDescription"] == "two roles" and mine["executionType"] == "START", mine
        assert [f["frameworkName"] for f in found] == sorted(f["frameworkName"] for f in found)
        none = request(stack.services_port, "GET", "/v1/Frameworks?UserName=default&LaunchClientType=CLI").json
        assert none == {"summarizedFrameworkInfos": []}
        assert request(stack.services_port, "GET", "/v1/Frameworks?LaunchClientType=FOO").status == 400
        assert request(stack.services_port, "GET", "/v1/Frameworks?UserName=").status == 400
    finally:
        flow.call("DELETE")


def test_the_whole_framework_has_summary_requests_and_status(stack):
    flow = Flow(stack, {"row": "info", "roles": {"w": [1, "sleep 1000"]}})
    flow.put_framework()
    try:
        info = flow.call("GET").json
        assert list(info) == ["summarizedFrameworkInfo", "aggregatedFrameworkRequest", "aggregatedFrameworkStatus"]
        assert info["aggregatedFrameworkRequest"]["frameworkRequest"]["frameworkName"] == flow.name
        assert info["summarizedFrameworkInfo"]["frameworkName"] == flow.name
        text = flow.call("GET", "/FrameworkStatus").body.decode()
        assert text.startswith('{\n  "frameworkName" : "') and not text.endswith("\n"), text
    finally:
        flow.call("DELETE")


def test_the_launcher_shows_its_configuration(stack):
    status = request(stack.services_port, "GET", "/v1/LauncherStatus").json
    assert status["launcherConfiguration"]["maxTotalTaskNumber"] == 500000, status
    assert {row["code"]: row["type"] for row in status["userContainerExitSpec"]["spec"]}[193] == "TRANSIENT_NORMAL"
    assert status["hadoopLibrarySupportsGpu"] is True and status["hadoopLibrarySupportsPort"] is True
    for path in ("/", "/v1"):
        assert request(stack.services_port, "GET", path).json.startswith("Active at "), path


def test_what_cannot_be_stored_is_refused_and_reads_go_on(clusters):  # F67
    full = clusters("full")
    kept, lost = (Flow(full, {"row": name, "roles": {"w": [1, "sleep 1000"]}}) for name in ("kept", "lost"))
    kept.put_framework()
    kept.awaited(kept.status, {"frameworkState": "APPLICATION_RUNNING"})
    pid = full.svcmgr.process.pid
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
    for flow, path, body in ((lost, "", descriptor(full, lost.row)), (kept, "/ExecutionType", {"executionType": "STOP"}),
                             (kept, "/TaskRoles/w/TaskNumber", {"taskNumber": 2})):
        answer = flow.call("PUT", path, json.dumps(body))
        assert (answer.status, answer.json["exception"]) == (503, "TransientException"), answer
        assert int(answer.headers["Retry-After"]) >= 1
    assert lost.call("GET").status == 404
    assert kept.status()["frameworkState"] == "APPLICATION_RUNNING"
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    full.svcmgr.event("state_written_again")
    assert lost.call("GET").status == 404 and kept.call("GET", "/FrameworkRequest").json["frameworkDescriptor"]["executionType"] == "START"
    lost.put_framework()
    lost.awaited(lost.status, {"frameworkState": "APPLICATION_RUNNING"})
    for flow in (kept, lost):
        assert flow.call("DELETE").status == 202
