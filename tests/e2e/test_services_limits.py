"""Cgroups keep a container to what it asked for, and the end of one that wanted more says why."""
import json
import os
import subprocess

import pytest

from harness import BIN, Stack, containers, request, wait_for

pytestmark = pytest.mark.sanitize

USER = "?user.name=alice"
CGROUPS = "yarn.service.local.cgroups"


@pytest.fixture(scope="module")
def stack():
    with Stack(services=True, options={"svcmgr": {"yarn.service.local.pids-limit": "20"}}) as s:
        yield s


def enforced(stack):
    return request(stack.services_port, "GET", "/version").json["enforced"]


def document(name, command, memory="64"):
    return {"name": name, "version": "1", "components": [{
        "name": "w", "number_of_containers": 1, "launch_command": command, "restart_policy": "NEVER",
        "resource": {"cpus": 1, "memory": memory}}]}


def needs(stack, controller):
    if controller not in enforced(stack):
        pytest.skip(f"no cgroup for {controller} can be made here")


def ended(stack, text):
    """What the log says of the end of an instance."""
    return wait_for(lambda: [e["note"] for e in stack.svcmgr.events
                             if e["event"] == "engine_note" and text in e.get("note", "")], f"an end with: {text}")


def test_who_takes_more_memory_than_asked_for_is_ended_with_the_reason(stack):
    needs(stack, "memory")
    assert stack.services("POST", USER, document("hog", "x=$(head -c 300000000 /dev/zero | tr '\\0' x)")).status == 202
    ended(stack, "its memory limit of 64 MB was reached and the kernel killed a process of it")
    hog = wait_for(lambda: next((s for s in [stack.service("hog")] if s["state"] == "FAILED"), None), "it is a failure")
    end = hog["last_failure"]["last_exit"]
    assert (end["cause"], "signal" in end) == ("memory_physical", False), end
    assert "its memory limit of 64 MB was reached" in hog["diagnostics"], hog


def test_a_child_that_takes_too_much_is_no_ordinary_exit_code(stack):
    needs(stack, "memory")
    assert stack.services("POST", USER, document("parent", "sh -c 'x=$(head -c 300000000 /dev/zero | tr \"\\\\0\" x)'; exit $?")).status == 202
    parent = wait_for(lambda: next((s for s in [stack.service("parent")] if s["state"] == "FAILED"), None), "it is a failure")
    assert parent["last_failure"]["last_exit"]["cause"] == "memory_physical", parent


def test_a_kill_that_is_not_for_memory_stays_a_signal(stack):
    assert stack.services("POST", USER, document("killed", "kill -9 $$")).status == 202
    killed = wait_for(lambda: next((s for s in [stack.service("killed")] if s["state"] == "FAILED"), None), "it is a failure")
    assert killed["last_failure"]["last_exit"]["signal"] == 9, killed


def test_who_makes_more_processes_than_allowed_gets_the_reason(stack):
    needs(stack, "pids")
    command = "i=0; while [ $i -lt 50 ]; do sleep 1000 & i=$((i+1)); done; exec sleep 1000"
    assert stack.services("POST", USER, document("rabbit", command)).status == 202
    ended(stack, "its limit of 20 processes and threads was reached")


def test_a_container_has_its_cgroups_while_it_lives(stack):
    needs(stack, "memory")
    service = stack.launch(document("calm", "exec sleep 1000"))
    c = containers(service)[0]["id"]
    pid = wait_for(lambda: sleeper(stack, c), "its process")
    with open(f"/proc/{pid}/cgroup", encoding="ascii") as f:
        lines = f.read()
    assert f"/{os.path.basename(stack.dir)}/{c}" in lines
    assert stack.services("DELETE", f"/calm{USER}").status == 204
    wait_for(lambda: not subprocess.run(["find", "/sys/fs/cgroup", "-name", c], capture_output=True, check=False).stdout,
             "no cgroup of it is left")


def sleeper(stack, container):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/cwd") == f"{stack.dir}/svcmgr/containers/{container}/work":
                return int(pid)
        except OSError:
            pass  # it has just ended
    return None


@pytest.mark.parametrize("mode, event", [("off", None), ("auto", "cluster_no_cgroup")])
def test_without_cgroups_it_is_said_once_and_goes_on(mode, event):
    options = {CGROUPS: mode, "yarn.nodemanager.linux-container-executor.cgroups.mount-path": "/no/such/place"}
    with Stack(services=True, options={"svcmgr": options}) as s:
        assert enforced(s) == "none"
        s.launch(document("free", "exec sleep 1000"))
        assert [e["event"] for e in s.svcmgr.events if "cgroup" in e["event"]] == ([event] if event else [])


def test_required_cgroups_that_are_not_there_are_no_start(tmp_path):
    done = subprocess.run([os.path.join(BIN, "svcmgr"), "--log-format", "json", "-D", f"bobbin.data.dir={tmp_path}",
                           "-D", f"{CGROUPS}=required", "-D", "yarn.service.api-server.address=127.0.0.1:0",
                           "-D", "yarn.nodemanager.linux-container-executor.cgroups.mount-path=/no/such/place"],
                          capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 3, done
    said = [json.loads(line) for line in done.stderr.splitlines() if "yarn.service.local.cgroups" in line]
    assert said and "delegate them, or set auto" in json.dumps(said[0])
