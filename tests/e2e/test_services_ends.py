"""Ends as a caller sees them: a DELETE that meets something stuck, components that have ended, an instance between two starts."""
import os
import signal

import pytest

from harness import Stack, command_lines, containers, wait_for

pytestmark = pytest.mark.sanitize


@pytest.fixture(scope="module")
def stack():
    with Stack(services=True) as s:
        yield s


def service(command, **component):
    return {"name": "web", "version": "1", "components": [
        {"name": "hello", "number_of_containers": 1, "launch_command": command, "resource": {"memory": "32"}, **component}]}


def gone(stack):
    wait_for(lambda: stack.services("GET", "/web").status == 404, "the service is gone")


def runs_below(directory, *words):
    """Processes with these words in their command line and a working directory there."""
    found = []
    for pid in command_lines(*words):
        try:
            if os.readlink(f"/proc/{pid}/cwd").startswith(directory):
                found.append(pid)
        except OSError:
            continue  # it has just ended
    return found


def test_a_stuck_container_holds_no_delete(stack):
    stack.launch(service("sleep 1000"))
    [shim] = runs_below(stack.dir, "container-shim")
    directory = os.readlink(f"/proc/{shim}/cwd")
    assert runs_below(directory, "sleep 1000")
    os.kill(shim, signal.SIGSTOP)
    answer = stack.services("DELETE", "/web")  # 500 when it takes longer than the answer may
    assert answer.status == 204 or "because it is still running" in answer.json["diagnostics"]
    gone(stack)
    assert stack.svcmgr.event("container_shim_hangs")
    assert not runs_below(stack.dir, "container-shim") and not runs_below(stack.dir, "sleep 1000")
    assert not os.path.exists(directory)


def test_a_dead_registry_holds_no_delete(stack):
    stack.launch(service("sleep 1000"))
    stack.registryd.kill()
    answer = stack.services("DELETE", "/web")
    assert (answer.status, answer.json["diagnostics"]) == (500, "Service web error cleaning up registry")
    assert stack.service("web")["state"] == "STOPPED"
    stack.registryd.start("registry_synced")
    gone(stack)


@pytest.mark.parametrize("command, ended, state", [("exit 0", "SUCCEEDED", "STOPPED"), ("exit 3", "FAILED", "FAILED")])
def test_a_component_shows_its_end(stack, command, ended, state):
    assert stack.services("POST", "", service(command, restart_policy="NEVER")).status == 202
    [component] = stack.until_state("web", state)["components"]
    assert (component["state"], component["containers"]) == (ended, [])
    assert stack.services("DELETE", "/web").status == 204


def test_a_stopped_component_shows_its_end(stack):
    stack.launch(service("sleep 1000"))
    assert stack.services("PUT", "/web", {"state": "STOPPED"}).status == 204
    [component] = stack.until_state("web", "STOPPED")["components"]
    assert component["state"] == "STOPPED"
    assert stack.services("DELETE", "/web").status == 204


def test_a_component_that_is_never_healthy_ends_the_service(stack):
    properties = {f"yarn.service.container-health-threshold.{k}": v for k, v in
                  {"percent": "65", "window-secs": "1", "init-delay-secs": "0", "poll-frequency-secs": "1"}.items()}
    check = {"type": "PORT", "properties": {"port": "1"}}
    document = service("sleep 1000", configuration={"properties": properties}, readiness_check=check)
    assert stack.services("POST", "", document).status == 202
    ended = stack.until_state("web", "FAILED")
    assert ended["components"][0]["state"] == "FAILED"
    explained = stack.services("GET", "/web?explain=true").json["explain"]
    assert "container health for component hello was 0.00% (health threshold = 65%)" in explained[0]["wait"]
    assert stack.services("DELETE", "/web").status == 204


def test_anti_affinity_on_one_host_is_a_wait_with_its_reason(stack):
    constraint = {"name": "apart", "type": "ANTI_AFFINITY", "scope": "NODE", "target_tags": ["hello"]}
    document = service("sleep 1000", number_of_containers=2, placement_policy={"constraints": [constraint]})
    assert stack.services("POST", "", document).status == 202
    wait_for(lambda: [c["state"] for c in containers(stack.service("web"))] == ["READY"], "one of two runs")
    answer = stack.services("GET", "/web?explain=true").json
    assert answer["state"] == "STARTED" and answer["components"][0]["state"] == "FLEXING"
    assert [(e["instances"], e["wait"]) for e in answer["explain"]] == [
        (["hello-1"], "placement: constraint apart: it allows 1 on a node, and the cluster has one")]
    assert stack.services("DELETE", "/web").status == 204


@pytest.mark.parametrize("component, pointer", [
    ({"configuration": {"properties": {"yarn.service.container-failure.retry.maximum": "1"}}},
     "/components/0/configuration/properties/yarn.service.container-failure.retry.maximum: "),
    ({"configuration": {"properties": {"yarn.service.container-health-threshold.percent": "101"}}},
     "/components/0/configuration/properties/yarn.service.container-health-threshold.percent: "),
    ({"resource": {"memory": "32", "additional": {"yarn.io/gpu": {"value": 1}}}}, "/components/0/resource/additional/yarn.io~1gpu: "),
    ({"resource": {"memory": "32", "additional": {"memory-mb": {"value": 32, "unit": "Gi"}}}},
     "/components/0/resource/additional/memory-mb/unit: "),
    ({"configuration": {"files": [{"type": "TEMPLATE", "dest_file": "x" * 256, "properties": {"content": "x"}}]}},
     "dest_file has 256 bytes, the name of a file has at most 255"),
    ({"placement_policy": {"constraints": [{"type": "AFFINITY", "scope": "NODE", "target_tags": ["hello"],
                                            "node_attributes": {"os": ["linux"]}}]}},
     "/components/0/placement_policy/constraints/0/node_attributes: "),
])
def test_what_cannot_be_honoured_is_refused_by_name(stack, component, pointer):
    answer = stack.services("POST", "", service("sleep 1000", **component))
    assert answer.status == 400 and answer.json["diagnostics"].startswith(pointer), answer
    assert stack.services("GET", "/web").status == 404


def test_between_two_containers_the_old_one_is_listed(stack):
    properties = {"yarn.service.container-failure.retry.max": "0",
                  "yarn.service.container-failure-per-component.threshold": "1000"}
    assert stack.services("POST", "", service("exit 3", configuration={"properties": properties})).status == 202
    listed = wait_for(lambda: [c for c in containers(stack.service("web")) if c["state"] == "FAILED"], "the failed container")
    assert [c["component_instance_name"] for c in listed] == ["hello-0"]
    assert listed[0]["id"].startswith("container_") and "ip" not in listed[0]
    assert stack.services("DELETE", "/web").status == 204
