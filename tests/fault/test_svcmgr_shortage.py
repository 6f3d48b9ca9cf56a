"""svcmgr lacks something of its own: that is never evidence that a container is gone, and never the container's failure."""
import contextlib
import json
import os
import shlex
import stat
import subprocess

import pytest

from harness import BIN, Stack, containers, request, sleepers, until_not_ready, until_sleepers, wait_for

pytestmark = pytest.mark.sanitize

USER = "?user.name=alice"
N = 40


def document(name, count):
    return {"name": name, "version": "1", "components": [{
        "name": "w", "number_of_containers": count, "launch_command": "exec sleep 1000",
        "resource": {"cpus": 1, "memory": "16"}}]}


@contextlib.contextmanager
def descriptors(stack, limit):
    """The next starts of svcmgr have this hard limit of descriptors."""
    wrapper = os.path.join(stack.dir, "svcmgr-with-few-descriptors")
    with open(wrapper, "w", encoding="utf-8") as f:
        f.write(f"#!/bin/sh\nulimit -n {limit}\nexec {shlex.quote(os.path.join(BIN, 'svcmgr'))} \"$@\"\n")
    os.chmod(wrapper, stat.S_IRWXU)
    name, stack.svcmgr.name = stack.svcmgr.name, wrapper
    yield
    stack.svcmgr.name = name


def ids(stack):
    return sorted(c["id"] for c in containers(stack.service("web")))


def explained(stack):
    answer = stack.services("GET", f"/web{USER}&explain=true")
    assert answer.status == 200, answer
    return answer.body.decode()


def short_of_disk(stack):
    """Names of the instances that wait for room on the disk; those that wait for the same have one entry."""
    found = [e for e in json.loads(explained(stack))["explain"] if "No space left on device" in e["wait"]]
    assert all(e["count"] == len(e["instances"]) for e in found), found
    return sorted(name for e in found for name in e["instances"])


def restart(stack):
    stack.svcmgr.kill()
    stack.svcmgr.start("svcmgr_ready")


def test_more_containers_than_descriptors():
    """Those that cannot be taken over go on, are not replaced, and are taken over when it is possible again."""
    with Stack(services=True, options={"svcmgr": {"yarn.nodemanager.resource.cpu-vcores": "1000"}}) as stack:
        stack.launch(document("web", N))
        before, pids = ids(stack), until_sleepers(stack.dir, N)
        with descriptors(stack, N + 20):
            for _ in range(2):
                restart(stack)
                assert "RLIMIT_NOFILE" in stack.svcmgr.event("containers_recovering")["reason"]
                ready = until_not_ready(stack.services_port)
                assert "descriptors are short" in ready.body.decode(), ready
                wait_for(lambda: "recovering: RLIMIT_NOFILE" in explained(stack), "explain names it")
                shown = wait_for(lambda: ids(stack), "it is shown")
                assert shown == before and sleepers(stack.dir) == pids, "no duplicate was started, none was killed"
                assert not [e for e in stack.svcmgr.events if e["event"] == "container_recovered" and e["state"] != "running"]
        restart(stack)
        wait_for(lambda: request(stack.services_port, "GET", "/readyz").status == 200, "all are taken over")
        stack.until_state("web", "READY")
        assert ids(stack) == before and sleepers(stack.dir) == pids
        assert stack.services("DELETE", f"/web{USER}").status == 204
        wait_for(lambda: not sleepers(stack.dir), "what was taken over late can be destroyed")


def test_a_stop_reaches_those_that_are_not_taken_over_yet():
    with Stack(services=True, options={"svcmgr": {"yarn.nodemanager.resource.cpu-vcores": "1000"}}) as stack:
        stack.launch(document("web", N))
        with descriptors(stack, N + 20):
            restart(stack)
            stack.svcmgr.event("containers_recovering")
            answer = wait_for(lambda: (a := stack.services("PUT", f"/web/components/w{USER}", {"number_of_containers": 0})).status != 503 and a,
                              "it is taken")
            assert answer.status == 200, answer
            wait_for(lambda: not sleepers(stack.dir), "each that ends gives the next its descriptor")
            wait_for(lambda: request(stack.services_port, "GET", "/readyz").status == 200, "all are known")


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 4 MB for containers; the state of services is elsewhere."""
    where = str(tmp_path)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m,mode=755", "tmpfs", where], check=False, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    yield where
    subprocess.run(["umount", "--lazy", where], check=True)


@contextlib.contextmanager
def stack_on(disk, options=None):
    with Stack(services=True) as stack:
        stack.svcmgr.stop()
        stack.svcmgr.options.update(options or {})
        stack.svcmgr.options["yarn.service.state.store"] = f"file:{stack.dir}/state"
        stack.svcmgr.options["bobbin.data.dir"] = disk
        stack.svcmgr.start("svcmgr_ready")
        yield stack
        stack.svcmgr.stop()


def fill(disk):
    """Not a byte is left."""
    with contextlib.suppress(OSError), open(f"{disk}/others", "wb", buffering=0) as f:
        while True:
            f.write(bytes(4096))


@pytest.mark.parametrize("options", [{}, {"yarn.service.local.user-range": "1900000000-1900000009"}],
                         ids=["directories", "uid of the owner"])
def test_a_launch_waits_for_room_on_the_disk(small_disk, options):
    """It says for what, it is tried again, and it counts as nobody's failure."""
    with stack_on(small_disk, options) as stack:
        fill(small_disk)
        wanted = document("web", 2)
        wanted["components"][0]["configuration"] = {
            "properties": {"yarn.service.container-failure-per-component.threshold": "1"}}
        assert stack.services("POST", USER, wanted).status == 202
        wait_for(lambda: short_of_disk(stack) == ["w-0", "w-1"], "explain says what both wait for")
        stack.svcmgr.event("container_waits")
        service = stack.service("web")
        assert service["state"] not in ("FAILED", "READY"), service
        restart(stack)
        wait_for(lambda: "No space left on device" in explained(stack), "after a restart, too")
        os.unlink(f"{small_disk}/others")
        stack.until_state("web", "READY")
        assert len([e for e in stack.svcmgr.events if e["event"] == "engine_note" and "ended" in e.get("note", "")]) == 0


def test_a_full_disk_costs_the_output_and_not_the_process(small_disk):
    with stack_on(small_disk) as stack:
        gate, beat = os.path.join(stack.dir, "gate"), os.path.join(stack.dir, "beat")
        with open(beat, "w", encoding="ascii"):
            os.chmod(beat, 0o666)
        os.chmod(stack.dir, 0o755)
        service = stack.launch({"name": "loud", "version": "1", "components": [{
            "name": "w", "number_of_containers": 1, "resource": {"cpus": 1, "memory": "64"},
            "launch_command": f"echo begun; until [ -e {gate} ]; do busybox seq 1 2000; echo x >> {beat}; sleep 0.1; done; "
                              "echo over; exec sleep 1000"}]})
        wait_for(lambda: "begun" in all_text(stack, "loud"), "it speaks")
        pid, *_ = containers(service)
        log = os.path.join(small_disk, "svcmgr", "logs", service["id"], pid["id"], "stdout.txt")
        wait_for(lambda: is_dropped(small_disk, log, beat), "the shim has nowhere to put the output, and the process goes on")
        os.unlink(f"{small_disk}/others")
        with open(gate, "w", encoding="ascii"):
            pass
        whole = wait_for(lambda: (t := all_text(stack, "loud")) and "over" in t and t, "there is room again")
        assert "bytes of output are missing here: No space left on device]" in whole
        assert containers(stack.service("loud"))[0]["id"] == pid["id"]


def is_dropped(disk, log, beat):
    """The disk is full, and two more rounds of the process have added nothing to its log."""
    fill(disk)
    size, rounds = os.path.getsize(log), os.path.getsize(beat)
    wait_for(lambda: os.path.getsize(beat) >= rounds + 6, "the process has gone on")
    return os.path.getsize(log) == size


def all_text(stack, service):
    """All of an instance's output, in pieces."""
    text, offset = "", 0
    while True:
        piece = stack.services("GET", f"/{service}/component-instances/w-0/logs/stdout.txt{USER}&offset={offset}").body
        if not piece:
            return text
        text, offset = text + piece.decode(), offset + len(piece)
