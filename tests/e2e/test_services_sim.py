"""Services on a simulated cluster: as many containers as a person likes, which fail by a script, behind the same API and registry."""
import signal

import pytest

from harness import Stack, containers, request, wait_for

pytestmark = pytest.mark.sanitize

MANY = 1000
SCRIPT = ("nodes 50 memory=65536 vcores=64 rack=/r1; nodes 5 memory=65536 vcores=64 label=fast; "
          "delay allocate=0-20 start=0-50 stop=0-20 ready=0-50; "
          "end exit=3 of=fails-* after=10-200 attempts=1; end lost of=gone-* share=50% after=10-200")


def simulated(**more):
    return {"svcmgr": {"yarn.service.cluster": "sim", "yarn.service.sim.script": SCRIPT, "yarn.service.sim.seed": "5",
                       "yarn.service.stop-containers-on-exit": "false",
                       "yarn.service.container-failure.retry-interval-ms": "200", **more}}


@pytest.fixture(scope="module")
def stack():
    with Stack(services=True, options=simulated()) as s:
        yield s


def definition(name, n, component="loop", **more):
    return {"name": name, "version": "1",
            "components": [{"name": component, "number_of_containers": n, "launch_command": "serve", "resource": {"memory": "64"},
                            **more}]}


def records(stack, name):
    """Names of the containers' records of a service."""
    answer = stack.registry("GET", f"/users/alice/services/yarn-service/{name}/components")
    return set(answer.json["nodes"]) if answer.status == 200 else set()


def ids(document):
    return {c["id"] for c in containers(document)}


def record_names(document):
    return {c.replace("container", "ctr").replace("_", "-") for c in ids(document)}


def until_gone(stack, name):
    wait_for(lambda: stack.services("GET", f"/{name}").status == 404, f"{name} has gone")


def test_a_thousand_instances_become_ready_are_flexed_stopped_and_destroyed(stack):
    document = stack.launch(definition("many", MANY))
    assert len(ids(document)) == MANY
    assert {c["bare_host"] for c in containers(document)} <= {f"node-{i:05}" for i in range(1, 56)}
    wait_for(lambda: records(stack, "many") == record_names(document), "each container has its record")
    assert stack.services("PUT", "/many/components/loop", {"number_of_containers": 1200}).status < 300
    grown = wait_for(lambda: next((d for d in [stack.until_state("many", "READY")] if len(containers(d)) == 1200), None), "it has grown")
    assert ids(document) < ids(grown)
    assert stack.services("PUT", "/many/components/loop", {"number_of_containers": 10}).status < 300
    shrunk = wait_for(lambda: next((d for d in [stack.service("many")] if len(containers(d)) == 10), None), "it has shrunk")
    wait_for(lambda: records(stack, "many") == record_names(shrunk), "only those that are left have records")
    assert stack.services("PUT", "/many", {"state": "STOPPED"}).status == 204
    stack.until_state("many", "STOPPED")
    assert stack.services("DELETE", "/many").status == 204
    until_gone(stack, "many")
    assert records(stack, "many") == set()


def test_processes_that_exit_are_started_again_and_lost_containers_are_replaced(stack):
    assert stack.services("POST", "", definition("broken", 20, component="fails")).status == 202
    healed = wait_for(lambda: next((d for d in [stack.service("broken")] if d["state"] == "READY" and all(
        c.get("restarts", 0) == 1 for c in containers(d)) and len(containers(d)) == 20), None), "each was started once more")
    assert {c["last_exit"]["code"] for c in containers(healed)} == {3}
    assert stack.services("DELETE", "/broken").status == 204
    first = definition("lost", 20, component="gone")
    assert stack.services("POST", "", first).status == 202
    whole = wait_for(lambda: next((d for d in [stack.service("lost")] if d["state"] == "READY" and any(
        c.get("last_exit", {}).get("cause") == "lost" for c in containers(d))), None), "lost ones were replaced")
    assert len(ids(whole)) == 20
    assert stack.services("DELETE", "/lost").status == 204


def test_a_node_where_a_component_fails_too_often_is_avoided(stack):
    properties = {"yarn.service.container-failure.retry.max": "0", "yarn.service.node-blacklist.threshold": "0"}
    document = definition("wary", 1, component="fails", configuration={"properties": properties})
    assert stack.services("POST", "", document).status == 202
    avoided = wait_for(lambda: {e["note"].split()[1] for e in stack.svcmgr.events if e["event"] == "engine_note"
                                and e.get("service") == "wary" and "is avoided" in e["note"]}, "a node is avoided")
    assert containers(wait_for(lambda: next((d for d in [stack.service("wary")] if containers(d) and containers(d)[0].get("bare_host")
                                             and containers(d)[0]["bare_host"] not in avoided), None), "it is elsewhere"))
    assert stack.services("DELETE", "/wary").status == 204


def test_readiness_is_the_scripts(stack):
    document = stack.launch(definition("probed", 3, readiness_check={"type": "PORT", "properties": {"port": "80"}}))
    assert {c["state"] for c in containers(document)} == {"READY"}
    assert stack.services("DELETE", "/probed").status == 204


def test_placement_by_label_and_what_no_node_can_hold(stack):
    document = stack.launch(definition("labelled", 3, placement_policy={"label": "fast"}))
    assert {c["bare_host"] for c in containers(document)} <= {f"node-{i:05}" for i in range(51, 56)}
    assert stack.services("DELETE", "/labelled").status == 204
    large = definition("large", 1)
    large["components"][0]["resource"]["memory"] = "70000"
    assert stack.services("POST", "", large).status == 202
    wait_for(lambda: "no node is large enough" in str(stack.services("GET", "/large?explain=true").json), "explain says why it waits")
    assert stack.services("DELETE", "/large").status == 204


def test_what_is_simulated_goes_on_after_a_kill(stack):
    before = stack.launch(definition("lasting", 50))
    stack.svcmgr.process.send_signal(signal.SIGKILL)
    stack.svcmgr.process.wait()
    stack.svcmgr.start()
    wait_for(lambda: stack.services("GET", "/lasting").status == 200, "svcmgr is back")
    after = stack.until_state("lasting", "READY")
    assert {(c["id"], c["ip"], c["bare_host"]) for c in containers(after)} == {(c["id"], c["ip"], c["bare_host"]) for c in containers(before)}
    assert stack.services("DELETE", "/lasting").status == 204


def test_the_version_names_the_cluster(stack):
    assert request(stack.services_port, "GET", "/version").json["cluster"] == "sim"


def test_containers_end_with_svcmgr_where_that_is_asked_for():
    with Stack(services=True, options=simulated(**{"yarn.service.stop-containers-on-exit": "true"})) as own:
        own.launch(definition("short", 20))
        wait_for(lambda: len(records(own, "short")) == 20, "each container has its record")
        own.svcmgr.stop()
        assert records(own, "short") == set()
