"""Upgrades on a local cluster: processes are replaced in their containers, one after the other, and go back by request."""
import contextlib
import os

import pytest

from harness import Stack, command_lines, wait_for

pytestmark = pytest.mark.sanitize


@pytest.fixture(scope="module")
def stack():
    with Stack(services=True, options={"svcmgr": {"yarn.service.upgrade.enabled": "true"}}) as s:
        yield s


def definition(version, seconds, **more):
    return {"name": "web", "version": version, "components": [
        {"name": "hello", "number_of_containers": 3, "launch_command": f"sleep {seconds}",
         "resource": {"cpus": 1, "memory": "32"}, **more}]}


def put(stack, **body):
    return stack.services("PUT", "/web?user.name=alice", body)


def containers_of(stack):
    return {c["component_instance_name"]: c["id"] for c in stack.service("web")["components"][0]["containers"]}


def n_running(stack, seconds):
    """Processes of this stack: other tests may run the same ones."""
    n = 0
    for pid, words in command_lines("sleep").items():
        with contextlib.suppress(OSError):  # it has ended
            n += words.startswith(f"sleep {seconds}") and os.readlink(f"/proc/{pid}/cwd").startswith(stack.dir)
    return n


@pytest.fixture()
def web(stack):
    stack.launch(definition("1", 86401))
    wait_for(lambda: n_running(stack, 86401) == 3, "each shell has become its command")
    yield containers_of(stack)
    assert stack.services("DELETE", "/web?user.name=alice").status == 204


def test_an_express_upgrade_replaces_the_processes_in_their_containers(stack, web):
    assert put(stack, state="EXPRESS_UPGRADING", **definition("2", 86402)).status in (202, 204)
    wait_for(lambda: stack.service("web")["version"] == "2", "version 2")
    assert stack.service("web")["state"] == "READY"
    assert containers_of(stack) == web
    assert all(c["restarts"] == 0 for c in stack.service("web")["components"][0]["containers"])
    wait_for(lambda: (n_running(stack, 86401), n_running(stack, 86402)) == (0, 3), "all run version 2")  # their shells begin first


def test_a_cancel_goes_back(stack, web):
    assert put(stack, state="UPGRADING", **definition("2", 86402)).status in (202, 204)
    wait_for(lambda: stack.service("web").get("operation", {}).get("kind") == "upgrade", "the upgrade begins")
    assert put(stack, state="CANCEL_UPGRADING").status in (202, 204)
    wait_for(lambda: stack.service("web")["state"] == "READY", "the upgrade is cancelled")
    assert stack.service("web")["version"] == "1"
    wait_for(lambda: (n_running(stack, 86401), n_running(stack, 86402)) == (3, 0), "all run the version before")
    assert put(stack, state="CANCEL_UPGRADING").status == 400


def test_a_file_that_is_missing_stops_it_before_anything_moves(stack, web):
    files = {"configuration": {"files": [{"type": "TEMPLATE", "dest_file": "x", "src_file": "/nowhere/x"}]}}
    assert put(stack, state="EXPRESS_UPGRADING", **definition("2", 86402, **files)).status in (202, 204)
    wait_for(lambda: stack.service("web")["state"] == "READY", "the upgrade has ended")
    assert stack.service("web")["version"] == "1"
    assert (n_running(stack, 86401), n_running(stack, 86402)) == (3, 0)


def test_a_revision_that_fails_stands_still_and_says_why(stack, web):
    steady = {"configuration": {"properties": {"yarn.service.upgrade.steady.seconds": "3"}}}
    assert put(stack, state="EXPRESS_UPGRADING", **definition("2", "not-a-time", **steady)).status in (202, 204)

    def reason():
        return [e["reason"] for e in stack.services("GET", "/web?user.name=alice&explain=true").json["explain"]][:1]
    wait_for(lambda: reason() == ["failed_upgrade"], "the upgrade stands still")
    assert n_running(stack, 86401) == 2
    put(stack, state="CANCEL_UPGRADING")
    wait_for(lambda: stack.service("web")["state"] == "READY", "the upgrade is cancelled")
    wait_for(lambda: n_running(stack, 86401) == 3, "all run the version before")


def revert(stack, web, query="", **more):
    """An upgrade whose second version ends at once; returns the service when it has gone back."""
    steady = {"yarn.service.upgrade.steady.seconds": "3", **more}
    second = definition("2", "not-a-time", configuration={"properties": steady})
    answer = stack.services("PUT", f"/web?user.name=alice{query}", {"state": "EXPRESS_UPGRADING", **second})
    assert answer.status in (202, 204), answer
    wait_for(lambda: any(e["what"] == "cancel reverted" for e in
                         stack.services("GET", "/web/events?user.name=alice").json["events"]), "the upgrade has gone back")
    service = stack.until_state("web", "READY")
    assert service["version"] == "1"
    wait_for(lambda: n_running(stack, 86401) == 3, "all run the version before")  # its shell begins first
    now = containers_of(stack)
    assert {name: now[name] == web[name] for name in web} == {"hello-0": False, "hello-1": True, "hello-2": True}
    return service


def test_an_upgrade_that_fails_goes_back_by_itself(stack, web):
    service = revert(stack, web, "&auto_revert=true")
    assert "The upgrade to version 2 was reverted: instance hello-0: " in service["diagnostics"]
    entries = stack.services("GET", "/web/events?user.name=alice").json["events"]
    assert [e["why"].startswith("instance hello-0: ") for e in entries if e["what"] == "cancel reverted"] == [True]


def test_the_definition_may_say_that_it_goes_back(stack, web):
    revert(stack, web, **{"yarn.service.upgrade.auto-revert": "true"})


def instances_of(plan):
    return [(i["component_instance_name"], i["action"], i.get("from_version"), i.get("to_version"), i.get("after"))
            for i in plan["instances"]]


def plan(stack, body, path="/web", method="PUT"):
    answer = stack.services(method, f"{path}?user.name=alice&plan=true", body)
    assert answer.status == 200, answer
    return answer.json


def test_a_plan_says_what_would_happen_and_does_nothing(stack, web):
    before = stack.service("web")
    upgrade = plan(stack, {"state": "EXPRESS_UPGRADING", **definition("2", 86402)})
    assert instances_of(upgrade) == [("hello-0", "reinit", "1", "2", None),
                                     ("hello-1", "reinit", "1", "2", "hello-0 is READY"),
                                     ("hello-2", "reinit", "1", "2", "hello-1 is READY")]
    assert (upgrade["accepted"], upgrade["complete"], upgrade["state"], upgrade["to_version"]) == (True, True, "READY", "2")
    manual = plan(stack, {"state": "UPGRADING", **definition("2", 86402)})
    assert [w["reason"] for w in manual["waits"]][:1] == ["move_requests"]
    assert {i["action"] for i in manual["instances"]} == {"keep"}
    flex = plan(stack, {"number_of_containers": 4}, "/web/components/hello")
    assert [i[:4] for i in instances_of(flex)] == [("hello-3", "create", None, "1"), ("hello-0", "keep", "1", "1"),
                                                   ("hello-1", "keep", "1", "1"), ("hello-2", "keep", "1", "1")]
    decommission = plan(stack, {"components": [{"name": "hello", "decommissioned_instances": ["hello-1"]}]})
    assert instances_of(decommission)[0][:4] == ("hello-1", "stop", "1", None)
    stop = plan(stack, {"state": "STOPPED"})
    assert {i["action"] for i in stop["instances"]} == {"stop"}
    other = plan(stack, {**definition("1", 1), "name": "other"}, "", "POST")
    assert {i["action"] for i in other["instances"]} == {"create"}
    assert stack.services("GET", "/other?user.name=alice").status == 404
    after = stack.service("web")
    assert {k: v for k, v in after.items() if k != "lifetime"} == {k: v for k, v in before.items() if k != "lifetime"}
    assert n_running(stack, 86401) == 3


def test_a_plan_of_what_is_refused_says_so(stack, web):
    same = plan(stack, {"state": "UPGRADING", **definition("1", 86402)})
    assert (same["accepted"], same["status"]) == (False, 400)
    assert same["diagnostics"] == "web is already at version 1. There is nothing to upgrade."
    taken = plan(stack, definition("1", 1), "", "POST")
    assert (taken["accepted"], "instances" in taken) == (False, False)


def test_svcmgr_may_be_killed_in_the_middle(stack, web):
    assert put(stack, state="EXPRESS_UPGRADING", **definition("2", 86402)).status in (202, 204)
    stack.svcmgr.kill()
    stack.svcmgr.start("svcmgr_ready")
    wait_for(lambda: stack.service("web")["version"] == "2", "version 2")
    wait_for(lambda: stack.service("web")["state"] == "READY", "all are ready")
    assert containers_of(stack) == web
    wait_for(lambda: (n_running(stack, 86401), n_running(stack, 86402)) == (0, 3), "all run version 2")  # their shells begin first


def test_a_simulated_cluster_upgrades_likewise():
    options = {"yarn.service.upgrade.enabled": "true", "yarn.service.cluster": "sim",
               "yarn.service.sim.script": "nodes 2 memory=65536 vcores=64; delay allocate=0-20 start=0-20 stop=0-10 ready=0-10"}
    with Stack(services=True, options={"svcmgr": options}) as stack:
        first = definition("1", 1)
        first["components"][0]["number_of_containers"] = 40
        second = {**first, "version": "2", "components": [{**first["components"][0], "launch_command": "sleep 2"}]}
        stack.launch(first)
        before = containers_of(stack)
        assert len(before) == 40
        assert put(stack, state="EXPRESS_UPGRADING", **second).status in (202, 204)
        wait_for(lambda: stack.service("web")["version"] == "2", "version 2")
        assert containers_of(stack) == before
