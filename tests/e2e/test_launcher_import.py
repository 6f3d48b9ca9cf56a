"""`bobbin launcher import`: the store of an original launcher in a real ZooKeeper, taken over by a real svcmgr."""
import gzip
import json
import os
import random
import signal
import socket
import subprocess

import pytest

import launcher_store
import zookeeper
from frameworks import Frameworks
from harness import BIN, PATIENCE, Stack
from launcher_store import Set, descriptor, framework_request, role
from ports import free_ports

pytestmark = pytest.mark.sanitize


@pytest.fixture(scope="module")
def zk():
    with zookeeper.Server() as server:
        yield server


@pytest.fixture(scope="module")
def stack():
    with Stack(services=True) as s:
        with open(os.path.join(s.dir, "source.sh"), "w", encoding="utf-8") as source:
            source.write("#!/bin/sh\n")
        yield s


@pytest.fixture
def frameworks(stack):
    return Frameworks(stack.services_port)


@pytest.fixture
def roles(stack):
    return lambda n=1: {"w": role("sleep 1000", [f"file://{stack.dir}/source.sh"], n)}


class Launcher:
    """A store and the command that reads it."""

    def __init__(self, zk, stack, name, pair=None):
        self.url = f"zk://{zk.address}/{name}"
        self.stack = stack
        self.store = launcher_store.LauncherStore(zk.address, f"/{name}", pair)

    def run(self, *words, url=None, accessor=None):
        return subprocess.run([os.path.join(BIN, "bobbin"), "launcher", "import", "--url", f"http://127.0.0.1:{self.stack.services_port}",
                               "-q", *words, url or self.url], capture_output=True, text=True, timeout=2 * PATIENCE, check=False,
                              env={**os.environ, **({"BOBBIN_ACCESSOR": accessor} if accessor else {})})

    def entries(self, *words, code=0):
        done = self.run("-o", "json", *words)
        assert done.returncode == code, done
        return {entry.get("framework") or entry["document"]: entry for entry in json.loads(done.stdout)["entries"]}

    def actions(self, *words, code=0):
        return {name: entry["action"] for name, entry in self.entries(*words, code=code).items()}


@pytest.fixture
def launcher(zk, stack, request):
    launcher = Launcher(zk, stack, request.node.name)
    with launcher.store:
        yield launcher


def stored(frameworks, name):
    answer = frameworks.ask("GET", name, "/FrameworkRequest")
    assert answer.status == 200, answer
    return answer.json


def test_a_dry_run_shows_and_an_import_takes_over(launcher, frameworks, roles):
    launcher.store.framework("run", descriptor(roles(3), 7, description="it's: 'größe' # no\tcomment"), "WEB_UI", "APPLICATION_RUNNING")
    launcher.store.tasks("run", "w", ["CONTAINER_RUNNING", "TASK_WAITING", "CONTAINER_RUNNING"])
    launcher.store.framework("fresh", descriptor(roles(), 1, user="bob"))
    launcher.store.framework("halted", descriptor(roles(), 2, execution="STOP"), state="APPLICATION_RETRIEVING_DIAGNOSTICS")
    shown = launcher.entries("--dry-run")
    assert shown["run"] == {"framework": "run", "path": "/Requests/run", "action": "new", "reason": None, "user": "alice", "version": 7,
                            "executionType": "START", "launchClientType": "WEB_UI", "parent": None, "taskRoles": 1, "tasks": 3,
                            "state": "APPLICATION_RUNNING", "applicationProgress": None, "runningTasks": 2}
    assert frameworks.ask("GET", "run").status == 404
    assert launcher.actions() == {"run": "added", "fresh": "added", "halted": "added"}
    request = stored(frameworks, "run")
    assert request["launchClientType"] == "WEB_UI" and request["frameworkDescriptor"]["version"] == 7
    assert request["frameworkDescriptor"]["description"] == "it's: 'größe' # no\tcomment"
    assert stored(frameworks, "fresh")["frameworkDescriptor"]["user"] == {"name": "bob"}
    assert frameworks.completed("halted")["applicationExitCode"] == -7351
    frameworks.until_tasks("run", "CONTAINER_RUNNING", 3)
    assert launcher.actions() == {"run": "same", "fresh": "same", "halted": "same"}
    for name in ("run", "fresh", "halted"):
        frameworks.delete(name)


def test_the_table_is_for_people(launcher, roles):
    launcher.store.framework("shown", descriptor(roles(2), 5), "CLI")
    launcher.store.add("/Requests/broken", b"a: [")
    done = launcher.run("--dry-run")
    assert done.returncode == 29 and "1 of 2 would be left out" in done.stderr, done
    title, first, second = [line.split() for line in done.stdout.splitlines()]
    assert title == ["ACTION", "NAME", "USER", "VERSION", "TYPE", "ROLES", "TASKS", "RUNNING", "STATE", "REASON"]
    assert first[:3] == ["malformed", "broken", "-"] and "/Requests/broken:" in first
    assert second == ["new", "shown", "alice", "5", "START", "1", "2", "-", "-", "-"]


def test_what_svcmgr_has_stays_unless_it_is_to_be_replaced(launcher, frameworks, roles):
    launcher.store.framework("older", descriptor(roles(), 3))
    launcher.store.framework("others", descriptor(roles(), 1, user="bob"))
    frameworks.put("older", roles(), 4, user={"name": "alice"})
    frameworks.put("others", roles(), 1, user={"name": "alice"})
    found = launcher.entries(code=11)
    assert {name: entry["action"] for name, entry in found.items()} == {"older": "differs", "others": "differs"}
    assert "version 4" in found["older"]["reason"] and "user alice" in found["others"]["reason"]
    assert stored(frameworks, "older")["frameworkDescriptor"]["version"] == 4
    assert launcher.actions("--overwrite", code=11) == {"older": "replaced", "others": "differs"}
    assert stored(frameworks, "older")["frameworkDescriptor"]["version"] == 3
    assert launcher.actions("--overwrite", "--dry-run", code=11) == {"older": "update", "others": "differs"}
    for name in ("older", "others"):
        frameworks.delete(name)


def test_what_has_completed_does_not_start_anew(launcher, frameworks, roles):
    launcher.store.framework("over", descriptor(roles(), 2), state="FRAMEWORK_COMPLETED", frameworkCompletedTimestamp=1700000090000)
    launcher.store.framework("again", descriptor(roles(), 3), state="FRAMEWORK_COMPLETED", frameworkVersion=2)
    assert launcher.actions() == {"over": "completed", "again": "added"}
    assert frameworks.ask("GET", "over").status == 404
    assert launcher.actions("--completed") == {"over": "added", "again": "same"}
    for name in ("over", "again"):
        frameworks.delete(name)


def test_parents_come_first(launcher, frameworks, roles):
    def below(name, **more):
        return {"parentFrameworkName": name, "deleteOnParentDeleted": True, "stopOnParentStopped": False, **more}
    launcher.store.framework("a-leaf", descriptor(roles(), parent=below("m-middle")))
    launcher.store.framework("m-middle", descriptor(roles(), parent=below("z-root")))
    launcher.store.framework("z-root", descriptor(roles()))
    launcher.store.framework("own", descriptor(roles(), parent=below("own")))
    launcher.store.framework("orphan", descriptor(roles(), parent=below("nobody")))
    found = launcher.entries(code=2)
    assert list(found) == ["z-root", "m-middle", "a-leaf", "orphan", "own"]
    assert [entry["action"] for entry in found.values()] == ["added", "added", "added", "refused", "added"]
    assert "nobody" in found["orphan"]["reason"]
    for name in ("z-root", "own"):
        frameworks.delete(name)


def test_documents_of_the_sizes_of_the_original(launcher, frameworks, stack):
    """Packed from 10240 bytes on, in parts of 768 KiB."""
    noise = random.Random(7)
    many = {f"role{i:03}": role("exec sleep 1000 # " + "x" * 200, [f"file://{stack.dir}/source.sh"], 0) for i in range(200)}
    launcher.store.framework("wide", descriptor(many), state="APPLICATION_RUNNING")
    states = ["CONTAINER_RUNNING" if noise.random() < 0.5 else "TASK_COMPLETED" for _ in range(50000)]
    n_parts = launcher.store.tasks("wide", "role007", states)
    assert n_parts >= 2
    much = {"w": role("".join(noise.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=1000000)), ["/s"])}
    launcher.store.framework("huge", descriptor(much))
    found = launcher.entries("--dry-run")
    assert found["wide"]["runningTasks"] == states.count("CONTAINER_RUNNING") and found["wide"]["taskRoles"] == 200
    done = launcher.entries(code=20)
    assert done["wide"]["action"] == "added" and done["huge"]["action"] == "refused"
    assert len(stored(frameworks, "wide")["frameworkDescriptor"]["taskRoles"]) == 200
    frameworks.delete("wide")


def test_the_newest_version_that_is_complete_is_read(launcher, frameworks, roles):
    launcher.store.framework("old", descriptor(roles(4), 1), state="APPLICATION_RUNNING")
    launcher.store.tasks("old", "w", ["CONTAINER_RUNNING"] * 4)
    statuses = {"taskRoleName": "w", "taskStatusArray": [{"taskState": "CONTAINER_RUNNING"}]}
    launcher.store.large("/Statuses/old/w/TaskStatuses", "TaskStatuses", statuses, version=1, part=10)
    launcher.store.add("/Statuses/old/w/TaskStatuses/0000000002")  # not ready
    assert launcher.entries("--dry-run")["old"]["runningTasks"] == 1
    launcher.store.delete(launcher.store.root + "/Statuses/old/w/TaskStatuses/0000000001/1")
    found = launcher.entries("--dry-run")["old"]
    assert found["runningTasks"] is None and found["action"] == "new"


def test_malformed_documents_are_named_and_left_out(launcher, frameworks, roles):
    good = framework_request("good", descriptor(roles()))
    text = launcher_store.document("FrameworkRequest", good)
    bad = {
        "empty": b"",
        "truncated": gzip.compress(text)[:-20],
        "bomb": gzip.compress(b"a: " + b"x" * (64 << 20)),
        "nested": b"[" * 1000,
        "binary": bytes(range(256)),
        "other-name": text,
        "other-class": launcher_store.document("FrameworkStatus", good),
        "no-user": launcher_store.document("FrameworkRequest", framework_request("no-user", descriptor(roles(), user="a b"))),
        "header": launcher_store.document("FrameworkRequest", framework_request("header", descriptor(roles()), "CLI X")),
    }
    for name, data in bad.items():
        launcher.store.add(f"/Requests/{name}", data)
    launcher.store.add("/Requests/good", text)
    launcher.store.framework("bad-status", descriptor(roles()))
    launcher.store.add("/Statuses/bad-status", b"- 1")
    found = launcher.entries(code=29)
    assert {name for name, entry in found.items() if entry["action"] == "malformed"} == {*bad, "bad-status"}
    assert all(entry["reason"] for name, entry in found.items() if name != "good") and found["good"]["action"] == "added"
    assert "truncated" in found["truncated"]["reason"] and "unpacked" in found["bomb"]["reason"]
    assert found["bomb"]["path"] == "/Requests/bomb" and "/Statuses/bad-status" in found["bad-status"]["reason"]
    frameworks.delete("good")


def test_progress_that_a_client_has_set_is_taken_over(launcher, frameworks, roles):
    for name, progress in (("part", 0.25), ("whole", 1), ("none", None), ("odd", 1.5)):
        launcher.store.framework(name, descriptor(roles()))
        if progress is not None:
            launcher.store.progress(name, progress)
    found = launcher.entries("--dry-run", code=29)
    assert {name: entry.get("applicationProgress") for name, entry in found.items()} == {"part": 0.25, "whole": 1.0, "none": None, "odd": None}
    assert found["odd"]["action"] == "malformed" and "/Requests/odd/Override" in found["odd"]["reason"], found["odd"]
    assert launcher.actions(code=29) == {"part": "added", "whole": "added", "none": "added", "odd": "malformed"}
    for name, progress in (("part", 0.25), ("whole", 1.0), ("none", None)):
        request = frameworks.ask("GET", name, "/AggregatedFrameworkRequest").json["overrideApplicationProgressRequest"]
        assert request == (None if progress is None else {"applicationProgress": progress})
        frameworks.until_tasks(name, "CONTAINER_RUNNING", 1)
        assert frameworks.status(name)["applicationProgress"] == (progress or 0.0)
        frameworks.delete(name)


def test_a_store_that_is_not_open_is_read_by_a_digest(zk, stack, frameworks, roles):
    launcher = Launcher(zk, stack, "closed", "reader:secret")
    with launcher.store as store:
        store.framework("kept", descriptor(roles()))
        done = launcher.run()
        assert done.returncode == 13 and "secret" not in done.stderr, done
        assert launcher.run("--accessor", "reader:wrong").returncode == 13
        assert launcher.run("--accessor", "reader:secret", "--dry-run").returncode == 0
        assert launcher.run("--dry-run", accessor="reader:secret").returncode == 0
        configured = {"hadoop.registry.secure": "true", "hadoop.registry.client.auth": "digest", "hadoop.registry.client.auth.id": "reader",
                      "hadoop.registry.client.auth.password": "secret"}
        done = launcher.run(*(word for key, value in configured.items() for word in ("-D", f"{key}={value}")))
        assert done.returncode == 0 and "added" in done.stdout, done
    frameworks.delete("kept")


def test_documents_of_the_launcher(launcher, stack):
    acl = {"namespaceAcls": {"team": {"users": Set([{"name": "bob"}, {"name": "alice"}])}}, "normalAdminUsers": Set([{"name": "carol"}])}
    cluster = {"nodes": {"node1.example": {"gpuType": "K80"}, "node2.example": {"gpuType": None}}}
    request = launcher_store.launcher_request(cluster, acl)
    launcher.store.set(launcher.store.root + "/Requests", launcher_store.document("LauncherRequest", request))
    assert launcher.actions("--dry-run") == {"ClusterConfiguration": "new", "AclConfiguration": "new"}
    assert launcher.actions() == {"ClusterConfiguration": "added", "AclConfiguration": "added"}
    assert launcher.actions() == {"ClusterConfiguration": "same", "AclConfiguration": "same"}
    request["aclConfiguration"]["normalAdminUsers"] = Set([{"name": "dave"}])
    launcher.store.set(launcher.store.root + "/Requests", launcher_store.document("LauncherRequest", request))
    assert launcher.actions(code=11) == {"ClusterConfiguration": "same", "AclConfiguration": "differs"}
    assert launcher.actions("--overwrite") == {"ClusterConfiguration": "same", "AclConfiguration": "replaced"}


def test_each_is_put_as_its_user_where_access_is_checked(zk, roles):
    """Administrators may not put for others, so the command acts as the user of each framework; for documents as its own."""
    acl = {"namespaceAcls": {"team": {"users": Set([{"name": "bob"}])}}, "normalAdminUsers": Set()}
    options = {"svcmgr": {"yarn.service.launcher.acl.enable": "true", "yarn.service.launcher.admin.users": "carol"}}
    with Stack(services=True, options=options) as guarded:
        launcher = Launcher(zk, guarded, "access")
        with launcher.store as store:
            store.set("/access/Requests", launcher_store.document("LauncherRequest", launcher_store.launcher_request(None, acl)))
            store.framework("alice~own", descriptor(roles()))
            store.framework("team~shared", descriptor(roles(), user="bob"))
            store.framework("other~shared", descriptor(roles(), user="bob"))
            store.framework("bare", descriptor(roles()))
            assert launcher.actions("--user", "dave", code=13) == {
                "AclConfiguration": "refused", "alice~own": "added", "bare": "refused", "other~shared": "refused", "team~shared": "refused"}
            found = launcher.entries("--user", "carol", code=2)
            assert {name: entry["action"] for name, entry in found.items()} == {
                "AclConfiguration": "added", "alice~own": "same", "bare": "refused", "other~shared": "refused", "team~shared": "added"}
            assert "namespace" in found["bare"]["reason"] and "bob" in found["other~shared"]["reason"]


def test_nothing_is_written_to_the_store(launcher, frameworks, zk, roles):
    launcher.store.framework("quiet", descriptor(roles()))

    def tree(path):
        return {path: launcher.store.get(path), **{k: v for name in launcher.store.children(path) for k, v in tree(f"{path}/{name}").items()}}
    before = tree(launcher.store.root)
    assert launcher.actions() == {"quiet": "added"}
    assert tree(launcher.store.root) == before
    frameworks.delete("quiet")


def test_what_is_not_there_is_said(launcher, stack, zk):
    done = launcher.run(url=f"zk://{zk.address}/nowhere")
    assert done.returncode == 10 and "no launcher" in done.stderr, done
    done = launcher.run(url="file:/tmp")
    assert done.returncode == 2 and "zk://" in done.stderr, done
    port, = free_ports(1)
    done = launcher.run("--timeout", "1s", url=f"zk://127.0.0.1:{port}/x")
    assert done.returncode == 5 and "ZooKeeper" in done.stderr and done.stdout == "", done


def test_it_is_interrupted_while_zookeeper_is_silent(stack):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(PATIENCE)
        command = [os.path.join(BIN, "bobbin"), "launcher", "import", "--url", f"http://127.0.0.1:{stack.services_port}",
                   f"zk://127.0.0.1:{silent.getsockname()[1]}/x"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            with silent.accept()[0]:
                process.send_signal(signal.SIGINT)
                said = process.communicate(timeout=PATIENCE)
        assert process.returncode == 7 and said[0] == "" and "interrupted" in said[1], said
