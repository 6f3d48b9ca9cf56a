"""The life of services of svcmgr on a real YARN cluster: files and words that reach a process, upgrades in place, stop and start, refusals."""
import itertools
import json
import os

import pytest

from harness import request, wait_for
from services import SLOW, Ours, listed, sleepers
from yarn import Cluster

pytestmark = pytest.mark.group("services")

COUNT = itertools.count()
NASTY = "a 'b' \"c\" $HOME `id` \\ <CPS> %41 é"


@pytest.fixture(scope="module")
def services():
    settings = {"yarn.scheduler.minimum-allocation-mb": 32}
    with Cluster(settings=settings) as cluster, Ours(cluster, **{"yarn.service.upgrade.enabled": "true"}) as ours:
        yield ours


@pytest.fixture
def name(services):
    name = services.launch(sleepers(f"life-{next(COUNT)}", 2))
    services.until(name, 2)
    yield name
    if services.service(name):
        services.destroy(name)


def put(services, name, body):
    return services.ask("PUT", "/" + name, body)


def words(services, container):
    """Command lines of a container's programs."""
    found = []
    for pid in services.processes(container):
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            found.append(f.read().rstrip(b"\0").decode().split("\0"))
    return found


def upgraded(name, seconds):
    document = sleepers(name, 2)
    document["version"] = "2"
    document["components"][0]["launch_command"] = f"sleep {seconds}"
    return document


def test_what_a_process_is_given(services):
    """Its command, its variables, files with a content and of properties, byte for byte; the node's own directories in what svcmgr sets."""
    name = f"given-{next(COUNT)}"
    document = sleepers(name, 1)
    component = document["components"][0]
    component["launch_command"] = "cp conf/a.xml conf/plain.txt $LOG_DIR/ && printf '%s' \"$NASTY\" > $LOG_DIR/nasty && pwd > $LOG_DIR/pwd && exec sleep 100000"
    component["configuration"] = {"env": {"NASTY": NASTY}, "properties": document["configuration"]["properties"], "files": [
        {"type": "XML", "dest_file": "a.xml", "properties": {"key": "<v> & $w"}},
        {"type": "TEMPLATE", "dest_file": "plain.txt", "properties": {"content": "of ${SERVICE_NAME}: ${COMPONENT_INSTANCE_NAME}\n"}}]}
    services.launch(document)
    container = services.until(name, 1)["sleeper-0"]
    logs = next(path for node in services.cluster.nodes for path, dirs, _ in os.walk(os.path.join(services.cluster.dir, "log", f"{node.name}-containers"))
                if path.endswith(container))

    def text(file):
        with open(os.path.join(logs, file), encoding="utf-8") as f:
            return f.read()
    services.until_runs(container)
    assert text("nasty") == NASTY
    assert "&lt;v&gt; &amp; $w" in text("a.xml")
    assert text("plain.txt") == f"of {name}: sleeper-0\n"
    assert text("pwd").strip().endswith(container)
    services.destroy(name)


def test_an_upgrade_replaces_processes_in_their_containers(services, name):
    before = services.instances(name)
    answer = put(services, name, {**upgraded(name, 200000), "state": "EXPRESS_UPGRADING"})
    assert answer.status in (200, 202), answer
    wait_for(lambda: services.service(name)["version"] == "2" and services.service(name)["state"] == "STABLE", "it is at version 2")
    assert services.until(name, 2) == before
    wait_for(lambda: all(words(services, id) == [["sleep", "200000"]] for id in before.values()), "all run the new command")


def test_an_upgrade_is_cancelled(services, name):
    """One instance is moved by request, and goes back."""
    before = services.instances(name)
    answer = put(services, name, {**upgraded(name, 300000), "state": "UPGRADING"})
    assert answer.status in (200, 202), answer
    wait_for(lambda: services.service(name)["state"] == "UPGRADING", "it is upgrading")
    one = services.ask("PUT", f"/{name}/components/sleeper/component-instances/sleeper-0", {"state": "UPGRADING"})
    assert one.status in (200, 202), one
    wait_for(lambda: words(services, before["sleeper-0"]) == [["sleep", "300000"]], "it runs the new command")
    assert put(services, name, {"state": "CANCEL_UPGRADING"}).status in (200, 202)
    wait_for(lambda: services.service(name)["state"] == "STABLE", "it is back")
    assert services.service(name)["version"] == "1" and services.instances(name) == before
    wait_for(lambda: all(words(services, id) == [["sleep", "100000"]] for id in before.values()), "all run the old command")


def test_a_service_is_stopped_and_started_again(services, name):
    first = services.application(name)
    services.flex(name, "sleeper", 3)
    services.until(name, 3)
    assert put(services, name, {"state": "STOPPED"}).status in (200, 202)
    wait_for(lambda: services.service(name)["state"] == "STOPPED", "it is stopped")
    wait_for(lambda: services.of_nodes(first) == [] and not services.records(name), "nothing of it is left")
    assert services.state(first) == "FINISHED"
    assert put(services, name, {"state": "STARTED"}).status in (200, 202)
    services.until(name, 3)
    assert services.application(name) != first
    services.until_tidy(name)


def test_svcmgr_is_killed_when_it_has_answered_a_post(services):
    """The application is found again and not submitted twice."""
    name = services.launch(sleepers(f"once-{next(COUNT)}", 1))
    services.stack.svcmgr.kill()
    services.stack.svcmgr.start()
    wait_for(lambda: request(services.port, "GET", "/readyz").status == 200, "svcmgr is ready")
    services.until(name, 1)
    apps = [one["id"] for one in services.cluster.rest("/apps").json["apps"]["app"] if one["name"] == name]
    assert apps == [services.application(name)]
    services.destroy(name)


def test_nodes_ask_for_a_master_while_svcmgr_is_away(services):
    """Every attempt of the application fails. Another one is submitted when svcmgr is back."""
    cluster, svcmgr = services.cluster, services.stack.svcmgr
    for node in cluster.nodes:
        node.pause()
    name = services.launch(sleepers(f"away-{next(COUNT)}", 1))

    def applications():
        return [one for one in listed(cluster.rest("/apps").json.get("apps") or {}, "app") if one["name"] == name]
    first = wait_for(applications, f"{name} is submitted")[0]["id"]
    svcmgr.kill()
    for node in cluster.nodes:
        node.go_on()
    wait_for(lambda: services.state(first) == "FAILED", f"{first} has failed", SLOW)
    svcmgr.start()
    services.until(name, 1)
    second = services.application(name)
    assert second != first and {one["id"] for one in applications()} == {first, second}
    services.until_tidy(name)
    services.destroy(name)


def test_a_queue_that_is_not_there_fails_the_service(services):
    name = services.launch({**sleepers(f"queue-{next(COUNT)}", 1), "queue": "nowhere"})
    wait_for(lambda: services.service(name)["state"] == "FAILED", "it has failed")
    assert "nowhere" in services.service(name)["diagnostics"]
    services.destroy(name)


def test_placement_constraints_are_refused_by_the_key_of_their_handler(services):
    document = sleepers(f"placed-{next(COUNT)}", 2)
    document["components"][0]["placement_policy"] = {"constraints": [{"type": "ANTI_AFFINITY", "scope": "NODE", "target_tags": ["sleeper"]}]}
    answer = services.ask("POST", "", document)
    assert answer.status == 400 and "yarn.resourcemanager.placement-constraints.handler" in answer.body.decode(), answer


def test_a_lifetime_ends_the_service(services):
    document = {**sleepers(f"short-{next(COUNT)}", 1), "lifetime": 8}
    name = services.launch(document)
    app = services.application(name)
    wait_for(lambda: services.service(name)["state"] == "STOPPED", "its time is over")
    wait_for(lambda: services.of_nodes(app) == [] and not services.records(name), "nothing of it is left")
    services.destroy(name)


def test_the_master_answers_what_svcmgr_answers(services, name):
    """Found by the record of the service; it changes nothing."""
    path = f"/users/{services.user}/services/yarn-service/{name}"
    record = wait_for(lambda: services.stack.registry("GET", path).json.get("service"), "its record")
    url = next(e for e in record["external"] if e["api"] == "bobbin:application-master")["addresses"][0]["uri"]
    port = int(url.rpartition(":")[2])
    there = request(port, "GET", f"/app/v1/services/{name}?user.name={services.user}").json
    assert there["components"] == services.service(name)["components"]
    assert request(port, "DELETE", f"/app/v1/services/{name}?user.name={services.user}").status == 405
    assert json.loads(request(port, "GET", "/version").body)["cluster"] == "yarn"
