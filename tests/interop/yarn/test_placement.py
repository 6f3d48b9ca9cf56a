"""Placement constraints of services on a real YARN cluster of two nodes, by both handlers of the resource manager: what may not be placed waits
with the resource manager's words, and is placed as soon as there is a place."""
import itertools

import pytest

from harness import wait_for
from services import SLOW, Ours, sleepers
from yarn import Cluster

COUNT = itertools.count()
# A resource manager gives attributes to one node of a host name only: the scheduler keeps one node by name.
HOSTS = ("127.0.0.2", "127.0.0.3")
ATTRIBUTES = "yarn.nodemanager.node-attributes.provider"
HANDLER = "yarn.resourcemanager.placement-constraints.handler"


@pytest.fixture(scope="module", params=["placement-processor", "scheduler"])
def services(request):
    settings = {HANDLER: request.param, "yarn.scheduler.minimum-allocation-mb": 32, ATTRIBUTES: "config",
                ATTRIBUTES + ".configured-node-attributes": "os,STRING,linux"}
    with Cluster(hosts=HOSTS, settings=settings) as cluster, Ours(cluster) as ours:
        ours.handler = request.param
        yield ours


@pytest.fixture
def launch(services):
    """Of a service of n sleepers with these constraints; it goes when the test ends."""
    names = []

    def begin(n, *constraints):
        document = sleepers(f"placed-{next(COUNT)}", n)
        document["components"][0]["placement_policy"] = {"constraints": [
            {"name": "c", "scope": "NODE", "target_tags": ["sleeper"], **one} for one in constraints]}
        names.append(services.launch(document))
        return names[-1]
    yield begin
    for name in names:
        services.destroy(name)


def nodes(services, name, n):
    """Names of the nodes of its n instances, by instance, as soon as so many run."""
    def all_run():
        ready = services.instances(name)
        where = dict(services.of_nodes(services.application(name)))
        return {instance: where[id] for instance, id in ready.items()} if len(ready) == n and all(id in where for id in ready.values()) else None
    return wait_for(all_run, f"{n} instances of {name} run", SLOW)


def waits(services, name):
    """What `explain` says as soon as an instance waits for its constraint."""
    words = {"placement-processor": "COULD_NOT_PLACE_ON_NODE", "scheduler": "no node that satisfies it"}[services.handler]

    def reported():
        text = services.explained(name)
        return text if "constraint c" in text and words in text else None
    return wait_for(reported, f"explain says why an instance of {name} waits", SLOW)


def test_anti_affinity(services, launch):
    """Of three instances two run, on two nodes. The third follows when one of them goes; a master that is killed changes nothing."""
    name = launch(3, {"type": "ANTI_AFFINITY"})
    first = nodes(services, name, 2)
    assert len(set(first.values())) == 2
    waits(services, name)
    before, killed = services.instances(name), services.kill_master(name)
    wait_for(lambda: services.master(name) != killed, "another master runs", SLOW)
    waits(services, name)
    wait_for(lambda: services.instances(name) == before, "the containers are those of before", SLOW)
    gone = sorted(before)[0]
    answer = services.ask("PUT", f"/{name}", {"components": [{"name": "sleeper", "decommissioned_instances": [gone]}]})
    assert answer.status in (200, 202), answer
    wait_for(lambda: gone not in services.instances(name) and len(services.instances(name)) == 2, f"another one has the place of {gone}", SLOW)
    after = nodes(services, name, 2)
    assert len(set(after.values())) == 2
    wait_for(lambda: services.service(name)["state"] == "STABLE", "two are enough", SLOW)


def test_affinity(services, launch):
    """All on one node, those of a flex and of another master, too."""
    name = launch(3, {"type": "AFFINITY"})
    first = nodes(services, name, 3)
    assert len(set(first.values())) == 1
    killed = services.kill_master(name)
    wait_for(lambda: services.master(name) != killed, "another master runs", SLOW)
    services.flex(name, "sleeper", 5)
    after = nodes(services, name, 5)
    assert set(after.values()) == set(first.values()) and first.items() <= after.items()


def test_cardinality(services, launch):
    """At most two on a node: of five four run. A minimum of two: no node has one."""
    name = launch(5, {"type": "AFFINITY_WITH_CARDINALITY", "min_cardinality": 2, "max_cardinality": 2})
    placed = list(nodes(services, name, 4).values())
    assert sorted(placed.count(node) for node in set(placed)) == [2, 2]


def test_what_nodes_have(services, launch):
    """One of several values of an attribute is enough."""
    name = launch(2, {"type": "ANTI_AFFINITY", "node_attributes": {"nm.yarn.io/os": ["plan9", "linux"]}})
    assert len(set(nodes(services, name, 2).values())) == 2


def test_a_minimum(services, launch):
    """Of three none is alone; three more begin another node."""
    name = launch(3, {"type": "AFFINITY_WITH_CARDINALITY", "min_cardinality": 3, "max_cardinality": 3})
    assert len(set(nodes(services, name, 3).values())) == 1
    services.flex(name, "sleeper", 6)
    placed = list(nodes(services, name, 6).values())
    assert sorted(placed.count(node) for node in set(placed)) == [3, 3]


def test_what_no_node_has(services, launch):
    """An attribute that no node has: nothing is placed, and it is said."""
    name = launch(1, {"type": "ANTI_AFFINITY", "node_attributes": {"os": ["plan9"]}})
    waits(services, name)
    assert services.instances(name) == {}


def test_a_minimum_on_racks_is_refused(services):
    document = sleepers(f"placed-{next(COUNT)}", 2)
    document["components"][0]["placement_policy"] = {"constraints": [
        {"type": "AFFINITY_WITH_CARDINALITY", "scope": "RACK", "target_tags": ["sleeper"], "min_cardinality": 2}]}
    answer = services.ask("POST", "", document)
    assert answer.status == 400 and "/min_cardinality: " in answer.body.decode(), answer


def test_the_resource_manager_restarts(services, launch):
    """What waits is asked for again. The last of all: a resource manager that has restarted does not know attributes of nodes for minutes."""
    name = launch(3, {"type": "ANTI_AFFINITY"})
    before = nodes(services, name, 2)
    services.cluster.rm.kill()
    services.cluster.rm.start()
    waits(services, name)
    assert nodes(services, name, 2) == before
