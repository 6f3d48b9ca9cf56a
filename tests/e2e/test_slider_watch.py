"""A Slider application that changes while it is watched: who asks with Prefer: wait and the entity tag that it has misses nothing."""
import pytest

from harness import Stack, request
from sliders import Application, role

pytestmark = pytest.mark.sanitize

MANY = 1000
SCRIPT = "nodes 50 memory=65536 vcores=64; delay allocate=0-20 start=0-50 stop=0-20 ready=0"


@pytest.fixture(scope="module")
def app():
    with Stack(services=True, options={"svcmgr": {"yarn.service.cluster": "sim", "yarn.service.sim.script": SCRIPT}}) as stack:
        running = Application(stack.services_port, "watched", {"worker": role(1, 1)})
        running.settled()
        yield running
        running.destroy()


def watch(app, tag, is_last):
    """Documents of live/liveness/worker from a tag on, each as soon as it differs from the one before."""
    seen = []
    while not seen or not is_last(seen[-1]):
        answer = app.ask("GET", "live/liveness/worker", headers={"Prefer": "wait=20", "If-None-Match": tag})
        assert answer.status == 200 and answer.headers["Preference-Applied"] == "wait=20"
        assert answer.headers["ETag"] != tag, "it has changed, as it is not settled"
        tag = answer.headers["ETag"]
        seen.append(answer.json)
    return seen


def test_a_watcher_follows_a_flex_from_one_to_a_thousand(app):
    tag = app.ask("GET", "live/liveness/worker").headers["ETag"]
    assert app.flex(worker=MANY).status == 202
    seen = watch(app, tag, lambda d: d["desired"] == MANY and d["allRequestsSatisfied"])
    actual = [d["actual"] for d in seen]
    assert len(seen) > 2 and actual == sorted(actual) and actual[-1] == MANY
    assert all(d["requestsOutstanding"] == max(0, d["desired"] - d["actual"]) for d in seen)
    assert app.settled()["requestsOutstanding"] == 0
    containers = app.get("live/containers")
    assert len(containers) == MANY + 1 and len(app.ids("worker")) == MANY
    assert set(app.ids("worker")) < set(containers)
    assert sum(n["entries"]["worker"]["live"] for n in app.get("live/nodes") if n["entries"]) == MANY


def test_a_read_that_waits_ends_when_a_thousand_have_gone(app):
    assert app.flex(worker=1).status == 202
    path = f"{app.root}/application/live/components/worker"
    answer = request(app.port, "GET", path, headers={"Prefer": "wait=120"}, timeout=150)
    assert (answer.json["desired"], answer.json["actual"], answer.json["releasing"]) == (1, 1, 0)
    assert len(answer.json["containers"]) == 1 and answer.json["failed"] == 0
    assert len(app.get("live/diagnostics")["containers"]) >= 999
