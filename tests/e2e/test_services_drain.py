"""An instance that flex removes loses its record and its names first, and its process some seconds later."""
import pytest

from harness import Stack, sleepers, wait_for

pytestmark = pytest.mark.sanitize


@pytest.fixture(scope="module")
def stack():
    with Stack(services=True) as s:
        yield s


def n_running(stack):
    """Processes of this stack: other tests run `sleep`, too."""
    return len(sleepers(stack.dir))


def records(stack):
    answer = stack.registry("GET", "/users/alice/services/yarn-service/web/components")
    return len(answer.json.get("nodes", []))  # before the first one there is no such path


def definition(name, count, drain_s):
    return {"name": name, "version": "1", "components": [
        {"name": "hello", "number_of_containers": count, "launch_command": "sleep 86403", "resource": {"cpus": 1, "memory": "32"},
         "configuration": {"properties": {"yarn.service.drain.seconds": str(drain_s)}}}]}


def test_names_go_before_the_process(stack):
    stack.launch(definition("web", 2, 5))
    wait_for(lambda: (records(stack), n_running(stack)) == (2, 2), "both have a record")
    flexed = stack.services("PUT", "/web/components/hello?user.name=alice", {"number_of_containers": 1})
    assert flexed.status == 200
    wait_for(lambda: records(stack) == 1, "the record is withdrawn")
    assert n_running(stack) == 2
    wait_for(lambda: [(e["instance"], e["reason"]) for e in stack.services("GET", "/web?user.name=alice&explain=true").json["explain"]]
             == [("hello-1", "drain_clients")], "its clients are waited for, after DNS")
    assert stack.service("web")["state"] == "READY"  # what is wanted is there
    wait_for(lambda: n_running(stack) == 1, "the process is stopped")
    assert stack.services("DELETE", "/web?user.name=alice").status in (200, 204)
    wait_for(lambda: n_running(stack) == 0, "it is gone")


def test_a_stop_waits_for_nobody(stack):
    stack.launch(definition("idle", 1, 3600))
    wait_for(lambda: n_running(stack) == 1, "it runs")
    assert stack.services("PUT", "/idle?user.name=alice", {"state": "STOPPED"}).status in (200, 204)
    wait_for(lambda: n_running(stack) == 0, "the process has ended, long before its drain")
