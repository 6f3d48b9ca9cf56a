"""The state of svcmgr cannot be written: too large, no room, no store. The request it was for hears so, nothing else waits, and
what was not stored does not happen later."""
import concurrent.futures
import contextlib
import os
import resource
import signal

import pytest

import zookeeper
from harness import PATIENCE, STORES, Stack, containers, request, sleepers, wait_for
from zkproxy import Proxy

pytestmark = pytest.mark.sanitize

USER = "?user.name=alice"
MANY = 4000
LONG = 5 * PATIENCE  # for all of them, with a sanitizer on a machine that others use, too


def document(name, count=1, memory="16", **more):
    return {"name": name, "version": "1", "components": [{
        "name": "w", "number_of_containers": count, "launch_command": "exec sleep 1000",
        "resource": {"cpus": 1, "memory": memory}}], **more}


def saved(name):
    """Nothing runs of it, so that nothing else is being written."""
    return {**document(name), "state": "STOPPED"}


def assert_serves(stack, name):
    """Requests are taken, and done."""
    stack.launch(document(name))
    assert stack.services("DELETE", f"/{name}{USER}").status == 204


def processes_in(service):
    return [c["id"] for c in containers(service) if c.get("state") == "READY"]


def processes_of(stack, name):
    return processes_in(stack.service(name))


@pytest.fixture(params=STORES)
def state_store(request):
    if request.param == "embedded":
        yield {}
        return
    with zookeeper.Server() as server:
        yield {"yarn.service.state.store": f"zk://{server.address}/svcmgr"}


def large(name, size):
    return document(name, configuration={"properties": {"pad": "x" * size}})


def test_a_definition_that_is_too_large_is_refused_with_the_limit(state_store):
    with Stack(services=True, options={"svcmgr": state_store}) as stack:
        for size in (1200000, 600000, 300000):
            answer = stack.services("POST", USER, large("large", size))
            assert answer.status == 413, answer
            assert "yarn.service.definition.max-bytes" in answer.json["diagnostics"], answer
            assert "at most 393216" in answer.json["diagnostics"], answer
            assert_serves(stack, "other")
        assert stack.services("GET", f"/large{USER}").status == 404
        stack.launch(large("large", 100000))


@pytest.mark.parametrize("user,name,what", [
    ("a" * 300, "web", "name of the user has 300 bytes"),
    ("_" * 90, "web", "name of the user has 270 bytes"),
    ("alice", "w" * 300, "name of the service has 300 bytes")])
def test_a_name_that_the_store_cannot_hold_is_refused_with_the_limit(user, name, what):
    with Stack(services=True) as stack:
        answer = stack.services("POST", f"?user.name={user}", document(name))
        assert answer.status == 400 and what in answer.json["diagnostics"], answer
        assert "at most 255" in answer.json["diagnostics"], answer
        assert_serves(stack, "other")


@pytest.mark.parametrize("length", [229, 255, 4000])
def test_a_component_whose_instances_the_store_cannot_name_is_refused_with_the_limit(length):
    with Stack(services=True, options={"svcmgr": {"hadoop.registry.dns.enabled": "false"}}) as stack:
        wanted = document("web")
        wanted["components"][0]["name"] = "c" * length
        answer = stack.services("POST", USER, wanted)
        assert answer.status == 400 and f"name of the component has {length} bytes" in answer.json["diagnostics"], answer
        assert stack.services("GET", f"/web{USER}").status == 404
        wanted["components"][0]["name"] = "c" * 228
        assert stack.services("POST", USER, wanted).status == 202
        wait_for(lambda: processes_in(stack.service("web")), "its process runs")


def n_instances(stack, name):
    """Instances that exist: those that wait for something, and those that do not."""
    answer = stack.services("GET", f"/{name}{USER}&explain=true")
    assert answer.status == 200, answer
    return sum(line.get("count", 0) for line in answer.json["explain"]) + len(processes_in(answer.json))


def few_run(more):
    """Room for a few processes, addresses for all: the other instances wait."""
    return {"svcmgr": {"yarn.nodemanager.resource.memory-mb": "64", "yarn.service.local.addresses": "127.76.0.0/16", **more}}


def test_a_flex_to_thousands_and_back(state_store):
    with Stack(services=True, options=few_run(state_store)) as stack:
        stack.launch(document("web"))
        answer = stack.services("PUT", f"/web/components/w{USER}", {"number_of_containers": MANY})
        assert answer.status == 200, answer
        answer = stack.services("POST", USER, saved("other"))  # while those come into being
        assert answer.status == 202, answer
        wait_for(lambda: n_instances(stack, "web") == MANY, f"{MANY} instances", LONG)
        answer = stack.services("PUT", f"/web/components/w{USER}", {"number_of_containers": 10001})
        assert answer.status == 400 and "yarn.service.component.max-containers" in answer.json["diagnostics"], answer
        assert stack.services("PUT", f"/web/components/w{USER}", {"number_of_containers": 1}).status == 200
        wait_for(lambda: n_instances(stack, "web") == 1, "one instance", LONG)
        stack.until_state("web", "READY")
        assert stack.service("other")["state"] == "STOPPED"


def go_on_after_a_kill(stack):
    stack.svcmgr.kill()
    stack.svcmgr.start("svcmgr_ready")
    wait_for(lambda: n_instances(stack, "web") == MANY, f"{MANY} instances", LONG)
    wait_for(lambda: stack.services("DELETE", f"/web{USER}").status in (204, 404), "it is destroyed", LONG)
    assert_serves(stack, "web")


def test_a_flex_to_thousands_goes_on_after_a_kill():
    with Stack(services=True, options=few_run({})) as stack:
        stack.launch(document("web"))
        assert stack.services("PUT", f"/web/components/w{USER}", {"number_of_containers": MANY}).status == 200
        go_on_after_a_kill(stack)


def test_a_flex_to_thousands_goes_on_after_a_kill_in_the_middle():
    with zookeeper.Server() as server, Proxy(server.port) as proxy:
        options = few_run({"yarn.service.state.store": f"zk://127.0.0.1:{proxy.port}/svcmgr"})
        with Stack(services=True, options=options) as stack:
            stack.launch(document("web"))
            proxy.delay("down", 0.2)  # so that it takes a while
            assert stack.services("PUT", f"/web/components/w{USER}", {"number_of_containers": MANY}).status == 200
            there = wait_for(lambda: n_instances(stack, "web") > 100 and n_instances(stack, "web"), "some instances")
            assert there < MANY
            proxy.delay("down", 0)
            go_on_after_a_kill(stack)


# ---- no room ----

class FullDisk:
    """svcmgr's files cannot grow as long as the `with` block runs."""

    def __init__(self, stack):
        self.pid = stack.svcmgr.process.pid

    def __enter__(self):
        resource.prlimit(self.pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))

    def __exit__(self, *_):
        resource.prlimit(self.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def ready(stack):
    return request(stack.services_port, "GET", "/readyz")


def test_what_a_full_disk_refused_does_not_happen_later():
    with Stack(services=True) as stack:
        stack.launch(document("web", 2))
        stack.services("POST", USER, saved("saved"))
        before = stack.service("web")
        asked = [("POST", USER, document("second")), ("PUT", f"/web{USER}", {"state": "STOPPED"}), ("DELETE", f"/web{USER}", None),
                 ("PUT", f"/web/components/w{USER}", {"number_of_containers": 5}), ("PUT", f"/web{USER}", {"lifetime": 100}),
                 ("PUT", f"/saved{USER}", {"state": "STARTED"}), ("DELETE", f"/saved{USER}", None),
                 ("PUT", f"/web{USER}", {"components": [{"name": "w", "decommissioned_instances": ["w-0"]}]})]
        with FullDisk(stack):
            for method, path, body in asked:
                answer = stack.services(method, path, body)
                assert answer.status == 500 and "nothing was changed" in answer.json["diagnostics"], (method, path, answer)
                assert "could not be stored: no room: File too large" in answer.json["diagnostics"], (method, path, answer)
            assert ready(stack).status == 503 and "cannot be written" in ready(stack).body.decode()
            with concurrent.futures.ThreadPoolExecutor(16) as pool:  # many at once: each is answered
                answers = list(pool.map(lambda i: stack.services("POST", USER, document(f"s{i}")), range(64)))
            assert {a.status for a in answers} == {500}
        stack.svcmgr.event("state_written_again")
        wait_for(lambda: ready(stack).status == 200, "svcmgr is ready again")
        stack.svcmgr.kill()
        stack.svcmgr.start("svcmgr_ready")
        stack.until_state("web", "READY")
        after = stack.service("web")
        assert [c["id"] for c in after["components"][0]["containers"]] == [c["id"] for c in before["components"][0]["containers"]]
        assert after["lifetime"] == before["lifetime"]
        assert stack.service("saved")["state"] == "STOPPED"
        for name in ("second", "s0", "s63"):
            assert stack.services("GET", f"/{name}{USER}").status == 404, name
        stack.launch(document("second"))


def kill_sleep(box):
    """Kill the process of the container in this directory; whether there was one."""
    for pid in sleepers(box):
        with contextlib.suppress(ProcessLookupError):  # it has just ended
            os.kill(pid, signal.SIGKILL)
            return True
    return False


def test_what_happens_while_the_disk_is_full_is_not_lost():
    """A process ends, nobody can write so: it is started again as soon as that is stored, and not before."""
    with Stack(services=True) as stack:
        stack.launch(document("web", 1))
        first = processes_of(stack, "web")
        with FullDisk(stack):
            box = f"{stack.dir}/svcmgr/containers/{first[0]}"
            assert os.path.isdir(box)
            wait_for(lambda: kill_sleep(box), "its process is there")
            stack.svcmgr.event("state_not_written")
            assert stack.services("PUT", f"/web/components/w{USER}", {"number_of_containers": 3}).status == 500
        wait_for(lambda: processes_of(stack, "web") not in ([], first), "another container")
        assert len(processes_of(stack, "web")) == 1


# ---- no store ----

def test_an_answer_that_was_lost_is_unknown_and_found_out():
    """ZooKeeper has written it and its answer does not arrive: no request is answered as not stored."""
    with zookeeper.Server() as server, Proxy(server.port) as proxy:
        options = {"svcmgr": {"yarn.service.state.store": f"zk://127.0.0.1:{proxy.port}/svcmgr"}}
        with Stack(services=True, options=options) as stack:
            assert stack.services("POST", USER, saved("first")).status == 202
            proxy.hold("down")
            answer = stack.services("POST", USER, document("lost"))
            assert answer.status == 503 and "not known" in answer.json["diagnostics"], answer
            assert answer.headers["Retry-After"] == "1"
            answer = stack.services("POST", USER, document("next"))
            assert answer.status == 503 and "nothing was done" in answer.json["diagnostics"], answer
            assert ready(stack).status == 503
            proxy.release("down")
            proxy.cut()
            wait_for(lambda: ready(stack).status == 200, "svcmgr is ready again")
            stack.until_state("lost", "READY")  # it had been written
            assert stack.services("GET", f"/next{USER}").status == 404
            stack.svcmgr.kill()
            stack.svcmgr.start("svcmgr_ready")
            stack.until_state("lost", "READY")
            assert_serves(stack, "next")


def test_a_request_that_never_reached_the_store_is_unknown_and_does_not_happen():
    with zookeeper.Server() as server, Proxy(server.port) as proxy:
        options = {"svcmgr": {"yarn.service.state.store": f"zk://127.0.0.1:{proxy.port}/svcmgr"}}
        with Stack(services=True, options=options) as stack:
            assert stack.services("POST", USER, saved("first")).status == 202
            proxy.hold("up")
            answer = stack.services("PUT", f"/first{USER}", {"state": "STARTED"})
            assert answer.status == 503 and "not known" in answer.json["diagnostics"], answer
            proxy.cut()  # what was held is gone
            proxy.release("up")
            wait_for(lambda: ready(stack).status == 200, "svcmgr is ready again")
            assert stack.service("first")["state"] == "STOPPED"
            assert stack.services("PUT", f"/first{USER}", {"state": "STARTED"}).status == 204
            stack.until_state("first", "READY")


def test_more_requests_than_may_wait_are_refused():
    with zookeeper.Server() as server, Proxy(server.port) as proxy:
        options = {"svcmgr": {"yarn.service.state.store": f"zk://127.0.0.1:{proxy.port}/svcmgr",
                              "yarn.service.api-server.max-waiting-requests": "4"}}
        with Stack(services=True, options=options) as stack:
            proxy.delay("down", 1.0)
            with concurrent.futures.ThreadPoolExecutor(16) as pool:
                answers = list(pool.map(lambda i: stack.services("POST", USER, saved(f"s{i}")), range(16)))
            statuses = [a.status for a in answers]
            assert set(statuses) == {202, 503}, statuses
            for i, answer in enumerate(answers):
                there = stack.services("GET", f"/s{i}{USER}").status
                assert there == (200 if answer.status == 202 else 404), (i, answer)
            proxy.delay("down", 0)
