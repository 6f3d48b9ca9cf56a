"""Reads that wait, lists and the parts of a service, against a svcmgr with simulated containers."""
import threading

import pytest

from harness import Manager, request, wait_for

pytestmark = pytest.mark.sanitize
SIM = {"yarn.service.cluster": "sim", "yarn.service.upgrade.enabled": "true",
       "yarn.service.sim.script": "delay allocate=0-5 start=0-5 stop=0-5 ready=0-5"}


@pytest.fixture(scope="module")
def manager():
    with Manager(options={"svcmgr": SIM}) as m:
        yield m


def definition(name, count=2, version="1", command="serve"):
    return {"name": name, "version": version, "components": [
        {"name": "hello", "number_of_containers": count, "launch_command": command, "resource": {"cpus": 1, "memory": "32"}}]}


def post(manager, name, **more):
    answer = manager.services("POST", "?user.name=alice", definition(name, **more))
    assert answer.status == 202, answer


def read(manager, name, query="", headers=None):
    return manager.services("GET", f"/{name}?user.name=alice{query}", headers=headers)


def n_waiting(manager):
    metrics = request(manager.services_port, "GET", "/metrics").body.decode()
    return int(next(line for line in metrics.splitlines() if line.startswith("svcmgr_reads_waiting ")).split()[1])


class Reads:
    """Reads that wait, each on its own connection, once svcmgr has them all."""

    def __init__(self, manager, name, query, count=1):
        self.answers = []
        before = n_waiting(manager)
        self.threads = [threading.Thread(target=lambda: self.answers.append(read(manager, name, query))) for _ in range(count)]
        for thread in self.threads:
            thread.start()
        wait_for(lambda: n_waiting(manager) == before + count, "the reads wait")

    def end(self):
        for thread in self.threads:
            thread.join()
        return self.answers


def test_a_read_waits_until_the_service_is_ready(manager):
    post(manager, "quick", count=20)
    answer = read(manager, "quick", "&wait=READY&timeout=60s")
    assert (answer.status, answer.json["state"]) == (200, "READY")
    assert len(answer.json["components"][0]["containers"]) == 20
    same = read(manager, "quick", headers={"If-None-Match": answer.headers["ETag"]})
    assert (same.status, same.body) == (304, b"") or same.headers["ETag"] != answer.headers["ETag"]


def test_many_wait_and_each_is_answered(manager):
    post(manager, "stops")
    assert read(manager, "stops", "&wait=READY&timeout=60s").json["state"] == "READY"
    post(manager, "goes-on")
    reads = Reads(manager, "stops", "&wait=STOPPED&timeout=60s", 50)
    others = Reads(manager, "stops", "&wait=FAILED&timeout=60s", 5)
    assert manager.services("PUT", "/stops?user.name=alice", {"state": "STOPPED"}).status == 204
    assert {(answer.status, answer.json["state"]) for answer in reads.end() + others.end()} == {(200, "STOPPED")}
    assert n_waiting(manager) == 0


def test_a_read_ends_with_its_service(manager):
    post(manager, "gone")
    assert read(manager, "gone", "&wait=READY&timeout=60s").json["state"] == "READY"
    reads = Reads(manager, "gone", "&wait=FAILED&timeout=60s")
    assert manager.services("DELETE", "/gone?user.name=alice").status == 204
    ends = [answer for answer in reads.end() if answer.status == 404 or answer.json["state"] == "STOPPED"]
    assert len(ends) == 1
    assert read(manager, "gone", "&wait=READY").status == 404


def test_a_list_in_pages(manager):
    for i in range(7):
        post(manager, f"page-{i}")
    names, cursor = [], ""
    for _ in range(4):
        answer = manager.services("GET", f"?user.name=alice&name=page-&limit=2{cursor}")
        names += [s["name"] for s in answer.json]
        cursor = f"&cursor={answer.headers.get('Bobbin-Cursor')}"
    assert names == [f"page-{i}" for i in range(7)]
    assert cursor == "&cursor=None"
    assert manager.services("GET", "?user.name=mallory&user=alice").status == 403
    assert "alice" in {s["user"] for s in manager.services("GET", "?user.name=root&user=*").json}


def test_instances_are_upgraded_one_by_one(manager):
    post(manager, "moves", count=2)
    assert read(manager, "moves", "&wait=READY&timeout=60s").json["state"] == "READY"
    before = read(manager, "moves/component-instances").json
    assert [(part["componentName"], len(part["containers"])) for part in before] == [("hello", 2)]
    new = {**definition("moves", 2, "2", "serve better"), "state": "UPGRADING"}
    assert manager.services("PUT", "/moves?user.name=alice", new).status == 204
    asked = manager.services("PUT", "/moves/components/hello/component-instances/hello-0?user.name=alice", {"state": "UPGRADING"})
    ids = {c["component_instance_name"]: c["id"] for c in before[0]["containers"]}
    assert (asked.status, asked.json) == (202, {"diagnostics": f"Upgrading component instances {ids['hello-0']}."})
    wait_for(lambda: read(manager, "moves/component-instances", "&version=2&containerState=READY").json, "hello-0 runs version 2")
    left = read(manager, "moves/component-instances", "&componentName=hello&containerState=NEEDS_UPGRADE").json
    assert [c["component_instance_name"] for c in left[0]["containers"]] == ["hello-1"]
    moved = manager.services("PUT", "/moves/components?user.name=alice", [{"name": "hello", "state": "UPGRADING"}])
    assert (moved.status, moved.json["diagnostics"]) == (202, "Upgrading components hello.")
    wait_for(lambda: manager.services("PUT", "/moves?user.name=alice", {"state": "STARTED"},
                                      {"Prefer": "return=representation"}).status == 200
             and read(manager, "moves").json["version"] == "2", "the upgrade is final")
    assert read(manager, "moves/components/hello").json["launch_command"] == "serve better"
    assert read(manager, "moves/component-instances/hello-1").json["id"] == ids["hello-1"]
