"""Services of svcmgr on a real YARN cluster outlive what fails below and beside them: masters, node managers, the resource manager, svcmgr
itself, tokens, containers. After each, all lists agree: the API's, the resource manager's, the node managers', the registry's and DNS."""
import itertools
import os

import pytest

from harness import wait_for
from services import Ours, sleepers
from yarn import Cluster

pytestmark = pytest.mark.group("services")

FOLLOWS_S = 15  # until everything has followed what happened
AM_EXPIRY_S = 8  # a master's files have to be on the node, and it has to register, within it; one that is late has more attempts
NM_EXPIRY_S = 25  # a node manager has to start again within it on such a machine; the resource manager looks each third of it
ROLL_S = 3 * AM_EXPIRY_S + 1  # the least that the resource manager takes
SETTINGS = {
    "yarn.am.liveness-monitor.expiry-interval-ms": AM_EXPIRY_S * 1000,
    "yarn.resourcemanager.am.max-attempts": 10,
    "yarn.nm.liveness-monitor.expiry-interval-ms": NM_EXPIRY_S * 1000,
    "yarn.resourcemanager.am-rm-tokens.master-key-rolling-interval-secs": ROLL_S,
    "yarn.scheduler.minimum-allocation-mb": 32,
}
N = 3
COUNT = itertools.count()


@pytest.fixture(params=range(int(os.environ.get("SURVIVAL_TIMES", "1"))), autouse=True)
def again(request):
    """Each test so often."""
    return request.param


@pytest.fixture(scope="module")
def services():
    with Cluster(os.environ.get("SURVIVAL_DIRECTORY"), settings=SETTINGS) as cluster, Ours(cluster) as ours:
        yield ours


@pytest.fixture
def name(services):
    """Of a service of three sleepers, which is STABLE, and which all list."""
    name = services.launch(sleepers(f"survivor-{next(COUNT)}", N))
    services.until(name, N)
    services.until_tidy(name)
    yield name
    services.destroy(name)


@pytest.fixture
def before(services, name):
    """Its containers, by instance."""
    return services.instances(name)


def followed(services, name, n=N):
    """Its containers by instance, as soon as each list, each record and each name is of them and of no other."""
    def all_agree():
        ready = services.until(name, n, timeout=1)
        assert services.is_tidy(name)
        records = services.records(name)
        assert sorted(record["description"] for record in records.values()) == sorted(ready), records
        assert all(services.addresses(instance, name) for instance in ready)
        return ready
    return wait_for(all_agree, f"all have followed {name}", FOLLOWS_S)


def nothing_left(services, name, app):
    """No list has any of it."""
    def gone():
        assert services.of_nodes(app) == [] and not services.records(name)
        return services.addresses("sleeper-0", name) == []
    wait_for(gone, f"nothing is left of {name}", FOLLOWS_S)


def test_the_master_is_killed(services, name, before):
    killed = services.kill_master(name)
    wait_for(lambda: services.master(name) != killed, "another master runs", FOLLOWS_S)
    assert followed(services, name) == before
    assert len(services.attempts(services.application(name))) == 2


def test_the_master_is_killed_and_a_container_while_it_is_away(services, name, before):
    killed = services.kill_master(name)
    services.kill_container(before["sleeper-1"])
    wait_for(lambda: services.master(name) != killed and services.instances(name).get("sleeper-1") not in (None, before["sleeper-1"]),
             "it has been replaced", FOLLOWS_S)
    after = followed(services, name)
    assert {one for one in before if after[one] == before[one]} == {"sleeper-0", "sleeper-2"}


def test_a_node_manager_is_killed(services, name, before):
    """With its containers: those are replaced on the other node once the resource manager has given the node up."""
    app = services.application(name)
    masters = services.node_of(services.masters_container(app))
    lost = next(node for node in services.cluster.nodes if node is not masters)
    on_it = {instance for instance, id in before.items() if services.node_of(id) is lost}
    lost.kill()
    try:
        for instance in on_it:
            services.kill_container(before[instance])
        wait_for(lambda: len(services.cluster.registered()) == 1, "the node is lost", 2 * NM_EXPIRY_S)
        after = followed(services, name)
        assert {one for one in before if after[one] != before[one]} == on_it
        assert {node for _, node in services.of_nodes(app)} == {masters.name}
    finally:
        lost.start()


def test_a_node_manager_is_restarted(services, name, before):
    """It recovers its containers."""
    node = services.node_of(before["sleeper-0"])
    node.kill()
    node.start()
    assert followed(services, name) == before


def test_the_resource_manager_is_restarted(services, name, before):
    services.cluster.rm.kill()
    services.cluster.rm.start()
    services.flex(name, "sleeper", N + 1)
    after = followed(services, name, N + 1)
    assert {one: id for one, id in after.items() if one in before} == before


def test_svcmgr_is_killed(services, name, before):
    """The master goes on without it."""
    services.stack.svcmgr.kill()
    try:
        services.kill_container(before["sleeper-2"])
        app = next(one["id"] for one in services.cluster.rest("/apps?states=RUNNING").json["apps"]["app"] if one["name"] == name)
        wait_for(lambda: len(services.of_nodes(app)) == N + 1 and before["sleeper-2"] not in dict(services.of_nodes(app)),
                 "the master has replaced it", FOLLOWS_S)
    finally:
        services.stack.svcmgr.start()
    after = followed(services, name)
    assert {one for one in before if after[one] == before[one]} == {"sleeper-0", "sleeper-1"}


def test_its_token_is_rolled(services, name, before):
    """Two keys later the first is worth nothing, and the resource manager asks for the token anew after its restart."""
    log = services.cluster.rm.log_file

    def rolled():
        with open(log, encoding="utf-8", errors="replace") as f:
            return f.read().count("Rolling master-key for amrm-tokens")
    first = rolled()
    wait_for(lambda: rolled() >= first + 2, "two new keys", 3 * ROLL_S)
    services.cluster.rm.kill()
    services.cluster.rm.start()
    services.flex(name, "sleeper", N + 1)
    after = followed(services, name, N + 1)
    assert {one: id for one, id in after.items() if one in before} == before
    assert len(services.attempts(services.application(name))) == 1


def test_a_process_is_killed(services, name, before):
    services.kill_container(before["sleeper-1"])
    wait_for(lambda: services.instances(name).get("sleeper-1") not in (None, before["sleeper-1"]), "it has been replaced", FOLLOWS_S)
    after = followed(services, name)
    assert {one for one in before if after[one] == before[one]} == {"sleeper-0", "sleeper-2"}


def test_a_container_is_ended_by_its_node_manager(services, name, before):
    signal = f"/containers/{before['sleeper-0']}/signal/FORCEFUL_SHUTDOWN"
    assert services.cluster.rest(signal, "POST", user=services.user).status == 200
    wait_for(lambda: services.instances(name).get("sleeper-0") not in (None, before["sleeper-0"]), "it has been replaced", FOLLOWS_S)
    after = followed(services, name)
    assert {one for one in before if after[one] == before[one]} == {"sleeper-1", "sleeper-2"}


def test_the_application_is_killed_by_others(services, name, before):
    app = services.application(name)
    services.kill_application(app)
    wait_for(lambda: services.service(name)["state"] in ("STOPPED", "FAILED"), "svcmgr has noticed", FOLLOWS_S)
    nothing_left(services, name, app)
    wait_for(lambda: not any(services.processes(id) for id in before.values()), "no process is left", FOLLOWS_S)


def test_what_cannot_be_placed(services, name, before):
    """A component that is larger than any node has room: `explain` says so, the others run."""
    document = sleepers(f"large-{next(COUNT)}", 2)
    small = document["components"][0]
    document["components"].append({**small, "name": "large", "number_of_containers": 3, "resource": {"cpus": 1, "memory": "3000"}})
    large = services.launch(document)
    try:
        wait_for(lambda: {"sleeper-0", "sleeper-1"} <= set(services.instances(large)), "the small ones run", FOLLOWS_S)
        wait_for(lambda: " MB " in services.explained(large), "it says what is missing", FOLLOWS_S)
        assert followed(services, name) == before
    finally:
        services.destroy(large)
