"""kill -9 of svcmgr: containers go on, are taken over with the same ids, processes and addresses; what ended meanwhile is seen."""
import os
import signal
import urllib.request

import pytest

from harness import HELLO, PATIENCE, Stack, command_lines, containers, parent, processes, request, wait_for

pytestmark = pytest.mark.sanitize


@pytest.fixture
def stack():
    with Stack(services=True) as s:
        yield s


def servers(stack):
    """The web servers by address."""
    words = "busybox httpd", f"{stack.subnet}."
    pids = processes(*words)
    return {next(word for word in line.split() if stack.subnet in word).split(":")[0]: pid
            for pid, line in command_lines(*words).items() if pid in pids}


def restart(stack):
    stack.svcmgr.start()
    wait_for(lambda: request(stack.services_port, "GET", "/readyz").status == 200, "svcmgr is ready")


def records(stack):
    answer = stack.registry("GET", "/users/alice/services/yarn-service/hello-world", query="recursive=true")
    return {node["path"]: (node["service"], node["status"]["time"]) for node in answer.json["tree"] if "service" in node}


def names(stack):
    stack.sync_all()
    return stack.dig("hello.hello-world.alice.bobbin.test")


def same(service):
    """What must not change: ids, addresses, names, launch times."""
    return service["id"], service["launch_time"], [
        {k: c[k] for k in ("id", "ip", "component_instance_name", "launch_time")} for c in containers(service)]


def test_same_containers_after_the_restart(stack):
    before = stack.launch(HELLO)
    ips = sorted(c["ip"] for c in containers(before))
    wait_for(lambda: names(stack) == ips, "names")
    pids, kept = servers(stack), records(stack)
    assert sorted(pids) == ips
    for _ in range(3):
        stack.svcmgr.kill()
        assert servers(stack) == pids and records(stack) == kept and names(stack) == ips
        with urllib.request.urlopen(f"http://{ips[0]}:8080/", timeout=PATIENCE) as page:
            assert page.status == 200
        restart(stack)
        assert same(stack.service("hello-world")) == same(before)
        assert same(stack.until_state("hello-world", "READY")) == same(before)
        assert servers(stack) == pids
        assert {p: r[0] for p, r in records(stack).items()} == {p: r[0] for p, r in kept.items()}
        assert names(stack) == ips
    stack.svcmgr.options["yarn.service.stop-containers-on-exit"] = "false"
    stack.svcmgr.kill()
    restart(stack)
    stack.svcmgr.stop()
    assert servers(stack) == pids and names(stack) == ips, "an orderly end leaves the containers, too"
    stack.svcmgr.options["yarn.service.stop-containers-on-exit"] = "true"
    restart(stack)
    assert same(stack.until_state("hello-world", "READY")) == same(before)
    assert stack.services("DELETE", "/hello-world").status == 204
    wait_for(lambda: not servers(stack), "what was taken over can be destroyed")


def test_a_process_that_ended_meanwhile_is_started_again(stack):
    before = stack.launch(HELLO)
    pids = servers(stack)
    first, second = (c["ip"] for c in containers(before))
    stack.svcmgr.kill()
    os.kill(pids[first], signal.SIGKILL)
    wait_for(lambda: first not in servers(stack), "it is dead")
    restart(stack)
    wait_for(lambda: servers(stack).get(first, pids[first]) != pids[first], "it runs again")
    after = stack.until_state("hello-world", "READY")
    assert sorted(c["ip"] for c in containers(after)) == sorted([first, second])
    assert servers(stack)[second] == pids[second]
    wait_for(lambda: names(stack) == sorted([first, second]), "both are in the DNS")


def test_a_killed_shim_takes_its_process_with_it(stack):
    before = stack.launch(HELLO)
    pids = servers(stack)
    first = containers(before)[0]["ip"]
    shim = parent(pids[first])
    with open(f"/proc/{shim}/comm", encoding="ascii") as f:
        assert f.read().startswith("container-shim"[:15])
    os.kill(shim, signal.SIGKILL)
    wait_for(lambda: servers(stack).get(first) != pids[first], "the process has ended with its shim")
    after = wait_for(lambda: next((s for s in [stack.service("hello-world")] if s["state"] == "READY"
                                   and len(servers(stack)) == 2), None), "two processes again")
    assert sorted(c["ip"] for c in containers(after)) == sorted(c["ip"] for c in containers(before))


def test_what_was_answered_is_done(stack):
    """A change is answered when it is durable, so a kill right after the answer loses nothing of it."""
    stack.launch(HELLO)
    assert stack.services("PUT", "/hello-world/components/hello", {"number_of_containers": 4}).status == 200
    stack.svcmgr.kill()
    restart(stack)
    wait_for(lambda: len(servers(stack)) == 4 and stack.service("hello-world")["state"] == "READY", "four instances")
    assert stack.services("POST", "", {**HELLO, "name": "second"}).status == 202
    stack.svcmgr.kill()
    restart(stack)
    stack.until_state("second", "READY")
    wait_for(lambda: len(servers(stack)) == 6, "six processes, and no more")
    assert stack.services("DELETE", "/second").status == 204
    stack.svcmgr.kill()
    restart(stack)
    assert stack.services("GET", "/second").status == 404
    wait_for(lambda: len(servers(stack)) == 4, "those of the destroyed service are gone")
    wait_for(lambda: stack.registry("GET", "/users/alice/services/yarn-service/second").status == 404, "so are its records")
