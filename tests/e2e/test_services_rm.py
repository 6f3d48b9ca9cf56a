"""Services of svcmgr on a registry that follows a resource manager, and a registry in which others write: live records stay."""
import time

import pytest

from harness import HELLO, STORES, Stack, containers, request, store_url, wait_for
from scripted_rm import ScriptedRm

pytestmark = pytest.mark.sanitize

TOP = "/users/alice/services/yarn-service"


@pytest.fixture(scope="module")
def rm():
    with ScriptedRm() as r:
        yield r


@pytest.fixture(scope="module", params=STORES)
def stack(request, rm):
    with store_url(request.param) as url:
        options = {"registryd": {"hadoop.registry.rm.enabled": "true", "hadoop.registry.rm.poll.interval": "20ms",
                                 "yarn.resourcemanager.webapp.address": rm.address}}
        with Stack(services=True, store=url, options=options) as s:
            yield s


def metric(port, name):
    text = request(port, "GET", "/metrics").body.decode()
    return sum(int(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(name + " "))


def polls(stack, n=4, name="registry_rm_polls_total"):
    begin = metric(stack.registry_port, name)
    wait_for(lambda: metric(stack.registry_port, name) >= begin + n, f"{n} polls more")


def records(stack, name):
    """All records of a service: path below it, id."""
    answer = stack.registry("GET", f"{TOP}/{name}", query="recursive=true")
    if answer.status != 200:
        return {}
    nodes = [{"path": f"{TOP}/{name}", **answer.json}] + answer.json.get("tree", [])
    return {str(n["path"]): n["service"]["yarn:id"] for n in nodes if n.get("service")}


def launched(stack, name):
    """The service is READY and all its records are there."""
    service = stack.launch({**HELLO, "name": name})
    want = {service["id"]} | {c["id"] for c in containers(service)}
    return wait_for(lambda: (lambda r: r if set(r.values()) == want else None)(records(stack, name)), f"the records of {name}")


def test_a_living_service_stays_when_the_rm_is_killed_and_started(stack, rm):
    was = launched(stack, "living")
    restored = metric(stack.services_port, "svcmgr_registry_records_restored_total")
    polls(stack)
    rm.ha = "INITIALIZING"
    polls(stack, 2, "registry_rm_polls_discarded_total")
    with rm.lock:
        rm.started, rm.ha = [int(time.time() * 1000) + 1000], "ACTIVE"
    polls(stack, 6)
    assert records(stack, "living") == was
    assert metric(stack.services_port, "svcmgr_registry_records_restored_total") == restored, "nothing was purged and put back"
    assert stack.services("DELETE", "/living").status == 204


def test_no_rm_has_the_number_of_svcmgrs_ids(stack):
    """An RM counts the milliseconds of its start: one of the same moment has not the same number."""
    service = stack.launch({**HELLO, "name": "number"})
    assert int(service["id"].split("_")[1]) > int(time.time() * 1000) * 100
    assert stack.services("DELETE", "/number").status == 204


def test_what_somebody_purges_is_put_back(stack):
    was = launched(stack, "purged")
    ids = sorted(was.values())
    body = [{"type": "container-finished", "id": id} for id in ids if id.startswith("container_")]
    answer = stack.registry("POST", "/events", body, base="/ws/v1/registry-admin")
    assert answer.status == 200, answer
    wait_for(lambda: records(stack, "purged") == was, "the records of its containers are back")
    assert stack.registry("DELETE", f"{TOP}/purged", query="recursive=true").status == 200
    wait_for(lambda: records(stack, "purged") == was, "so is the whole service", timeout=30)
    stack.sync_all()
    assert len(stack.dig("hello.purged.alice.bobbin.test")) == len(ids) - 1
    assert any(TOP in e["path"] for e in stack.svcmgr.events if e["event"] == "records_restored")
    assert metric(stack.services_port, "svcmgr_registry_records_restored_total") >= len(ids)
    assert stack.services("DELETE", "/purged").status == 204
    assert not records(stack, "purged")


def test_what_somebody_overwrites_is_put_back(stack):
    was = launched(stack, "overwritten")
    path = next(p for p, id in was.items() if id.startswith("container_"))
    stack.bind(path, {"type": "JSONServiceRecord", "external": [], "internal": [], "yarn:id": "container_1_0001_01_000001",
                      "yarn:persistence": "container"})
    wait_for(lambda: records(stack, "overwritten") == was, "the record is as it was")
    assert stack.services("DELETE", "/overwritten").status == 204


def test_what_went_while_svcmgr_heard_nothing_is_put_back(stack):
    was = launched(stack, "unheard")
    stack.svcmgr.pause()
    try:
        assert stack.registry("DELETE", f"{TOP}/unheard", query="recursive=true").status == 200
        stack.registryd.kill()
        stack.registryd.start("registry_synced")
        wait_for(lambda: request(stack.registry_port, "GET", "/readyz").status == 200, "registryd is ready again")
        assert not records(stack, "unheard")
    finally:
        stack.svcmgr.go_on()
    wait_for(lambda: records(stack, "unheard") == was, "its records are back", timeout=60)
    assert stack.services("DELETE", "/unheard").status == 204


def test_the_record_of_a_container_that_ended_stays_away(stack):
    was = launched(stack, "ended")
    assert stack.services("PUT", "/ended/components/hello", {"number_of_containers": 1}).status == 200
    left = wait_for(lambda: (lambda r: r if len(r) == len(was) - 1 else None)(records(stack, "ended")), "one has gone")
    restored = metric(stack.services_port, "svcmgr_registry_records_restored_total")
    gone, = set(was) - set(left)
    polls(stack)
    assert gone not in records(stack, "ended")
    assert metric(stack.services_port, "svcmgr_registry_records_restored_total") == restored
    assert stack.services("DELETE", "/ended").status == 204
    polls(stack)
    assert not records(stack, "ended")
    assert metric(stack.services_port, "svcmgr_registry_records_restored_total") == restored
