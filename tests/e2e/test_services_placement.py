"""Placement on a simulated cluster: what goes where, what waits with its constraint named; and what a local host declares."""
import pytest

from harness import Stack, containers, wait_for

pytestmark = pytest.mark.sanitize

USER = "?user.name=alice"
SCRIPT = ("nodes 3 memory=65536 vcores=64 rack=/r1 attributes=os:linux,disk:hdd; "
          "nodes 1 memory=65536 vcores=64 rack=/r2 label=fast gpus=4 attributes=os:linux,disk:ssd; "
          "delay allocate=0-20 start=0-50 stop=0-20 ready=0-50")


@pytest.fixture(scope="module")
def stack():
    with Stack(services=True, options={"svcmgr": {"yarn.service.cluster": "sim", "yarn.service.sim.script": SCRIPT}}) as s:
        yield s


def definition(name, n, constraint=None, **more):
    component = {"name": "comp", "number_of_containers": n, "launch_command": "serve",
                 "resource": {"cpus": 1, "memory": "64", **more}}
    if constraint:
        component["placement_policy"] = {"constraints": [{"name": "CA1", "target_tags": ["comp"], **constraint}]}
    return {"name": name, "version": "1", "components": [component]}


def explained(stack, name):
    return stack.services("GET", f"/{name}{USER}&explain=true").json["explain"]


def until_explained(stack, name, reason, count):
    def seen():
        entries = explained(stack, name)
        return len(entries) == 1 and (entries[0]["reason"], entries[0]["count"]) == (reason, count) and entries[0]
    return wait_for(seen, f"{count} of {name} wait for {reason}")


def flex(stack, name, n):
    assert stack.services("PUT", f"/{name}/components/comp{USER}", {"number_of_containers": n}).status < 300


def hosts(stack, name):
    return sorted(c["bare_host"] for c in containers(stack.service(name)))


def destroy(stack, name):
    assert stack.services("DELETE", f"/{name}{USER}").status == 204


def test_anti_affinity_gives_a_node_to_each_and_more_wait(stack):  # F15 to F18
    apart = {"type": "ANTI_AFFINITY", "scope": "NODE"}
    before = stack.launch(definition("apart", 4, apart))
    assert sorted(c["bare_host"] for c in containers(before)) == [f"node-{i:05}" for i in range(1, 5)]
    flex(stack, "apart", 6)
    entry = until_explained(stack, "apart", "placement", 2)
    assert entry["wait"] == "placement: constraint CA1: it forbids every node that has room"
    assert entry["instances"] == ["comp-4", "comp-5"] and entry["remedy"]
    document = stack.service("apart")
    assert document["state"] == "STARTED" and document["components"][0]["state"] == "FLEXING"
    assert {c["id"] for c in containers(document)} == {c["id"] for c in containers(before)}
    flex(stack, "apart", 5)
    until_explained(stack, "apart", "placement", 1)
    assert {c["id"] for c in containers(stack.service("apart"))} == {c["id"] for c in containers(before)}
    flex(stack, "apart", 4)
    stack.until_state("apart", "READY")
    assert explained(stack, "apart") == []
    destroy(stack, "apart")


def test_attributes_partitions_and_racks(stack):
    document = stack.launch(definition("ssd", 3, {"type": "AFFINITY", "scope": "NODE", "node_attributes": {"disk": ["ssd"]}}))
    assert {c["bare_host"] for c in containers(document)} == {"node-00004"}
    assert stack.services("POST", USER, definition("racks", 3, {"type": "ANTI_AFFINITY", "scope": "RACK"})).status == 202
    until_explained(stack, "racks", "placement", 1)
    assert "node-00004" in hosts(stack, "racks") and len(hosts(stack, "racks")) == 2
    assert stack.services("POST", USER, definition("nowhere", 2, {
        "type": "ANTI_AFFINITY", "scope": "NODE", "node_partitions": ["slow"]})).status == 202
    assert "constraint CA1" in until_explained(stack, "nowhere", "placement", 2)["wait"]
    for name in ("ssd", "racks", "nowhere"):
        destroy(stack, name)


def test_cardinality(stack):
    document = stack.launch(definition("pairs", 8, {"type": "AFFINITY_WITH_CARDINALITY", "scope": "NODE", "max_cardinality": 2}))
    spread = [c["bare_host"] for c in containers(document)]
    assert {spread.count(h) for h in spread} == {2}
    flex(stack, "pairs", 9)
    until_explained(stack, "pairs", "placement", 1)
    destroy(stack, "pairs")


def test_resource_types(stack):
    gpus = {"additional": {"yarn.io/gpu": {"value": 2, "unit": ""}}}
    assert stack.services("POST", USER, definition("gpus", 3, **gpus)).status == 202
    entry = until_explained(stack, "gpus", "resource", 1)
    assert "no node has room now" in entry["wait"]
    assert hosts(stack, "gpus") == ["node-00004"] * 2
    flex(stack, "gpus", 2)
    stack.until_state("gpus", "READY")
    destroy(stack, "gpus")
    assert stack.services("POST", USER, definition("none", 1, additional={"acme.com/chip": {"value": 1, "unit": ""}})).status == 202
    assert "no node has acme.com/chip" in until_explained(stack, "none", "resource", 1)["wait"]
    destroy(stack, "none")


def test_constraints_hold_after_a_kill(stack):
    before = stack.launch(definition("lasting", 4, {"type": "ANTI_AFFINITY", "scope": "NODE"}))
    flex(stack, "lasting", 5)
    until_explained(stack, "lasting", "placement", 1)
    stack.svcmgr.kill()
    stack.svcmgr.start("svcmgr_ready")
    until_explained(stack, "lasting", "placement", 1)
    assert {(c["id"], c["bare_host"]) for c in containers(stack.service("lasting"))} == \
        {(c["id"], c["bare_host"]) for c in containers(before)}
    destroy(stack, "lasting")


# ---- a local cluster ----

DECLARED = {"yarn.nodemanager.resource-type.yarn.io/gpu": "4",
            "yarn.nodemanager.node-attributes.provider.configured-node-attributes": "os,STRING,linux:disk,STRING,ssd"}


@pytest.fixture(scope="module")
def local():
    with Stack(services=True, options={"svcmgr": {**DECLARED, "yarn.service.stop-containers-on-exit": "true"}}) as s:
        yield s


def process(name, n, constraint=None, **more):
    document = definition(name, n, constraint, **more)
    document["components"][0]["launch_command"] = "exec sleep 1000"
    return document


def test_a_local_host_has_the_resources_that_it_declares(local):
    two = {"additional": {"yarn.io/gpu": {"value": 2, "unit": ""}}}
    assert local.services("POST", USER, process("gpus", 3, **two)).status == 202
    assert "2 yarn.io/gpu are wanted, 0 of 4 are free" in until_explained(local, "gpus", "resource", 1)["wait"]
    local.svcmgr.kill()
    local.svcmgr.start("svcmgr_ready")
    assert "2 yarn.io/gpu are wanted, 0 of 4 are free" in until_explained(local, "gpus", "resource", 1)["wait"]
    flex(local, "gpus", 2)
    local.until_state("gpus", "READY")
    destroy(local, "gpus")


@pytest.mark.parametrize("more, said", [
    ({"additional": {"yarn.io/gpu": {"value": 5, "unit": ""}}},
     "Component comp: specified yarn.io/gpu (5) is larger than configured max container yarn.io/gpu (4)"),
    ({"additional": {"yarn.io/fpga": {"value": 1, "unit": ""}}}, "yarn.nodemanager.resource-type.yarn.io/fpga"),
    ({"constraint": {"type": "AFFINITY", "scope": "NODE", "node_attributes": {"os": ["plan9"]}}},
     "/components/0/placement_policy/constraints/0/node_attributes: constraint CA1"),
    ({"constraint": {"type": "AFFINITY", "scope": "NODE", "node_partitions": ["gpu"]}},
     "/components/0/placement_policy/constraints/0/node_partitions: constraint CA1"),
])
def test_what_a_local_host_does_not_have_is_refused_by_name(local, more, said):
    answer = local.services("POST", USER, process("refused", 1, **more))
    assert answer.status == 400 and said in answer.json["diagnostics"], answer
    assert local.services("GET", f"/refused{USER}").status == 404


def test_the_attributes_of_a_local_host_are_honoured(local):
    local.launch(process("linux", 1, {"type": "AFFINITY", "scope": "NODE", "node_attributes": {"os": ["linux"], "disk": ["ssd"]}}))
    destroy(local, "linux")
