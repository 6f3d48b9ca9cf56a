"""What Slider's design asked for and its releases never had, as a user has it: what happened, what is outstanding, queues and nodes, watching,
a container on a given node, acting for another user."""
import json
import threading

import pytest

from harness import Stack, request, wait_for
from sliders import NAMED, Application, role

SCRIPT = ("nodes 2 memory=140 vcores=64 rack=/r1; nodes 1 memory=140 vcores=64 rack=/r2 label=gpu; "
          "delay allocate=0-5 start=0-5 stop=0-5 ready=0-5")  # two of 64 MB on each node
PROXY = {"hadoop.proxyuser.gate.users": "alice,bob", "hadoop.proxyuser.gate.hosts": "*"}


@pytest.fixture(scope="module")
def port():
    with Stack(services=True, options={"svcmgr": {"yarn.service.cluster": "sim", "yarn.service.sim.script": SCRIPT, **PROXY}}) as stack:
        yield stack.services_port


@pytest.fixture
def start(port, request):
    apps = []

    def one(components, **options):
        apps.append(Application(port, f"u{len(apps)}-" + request.node.name.replace("_", "-")[5:25].rstrip("-"), components, **options))
        return apps[-1]

    yield one
    for app in apps:
        app.destroy()


def test_what_happened_is_a_history(start):
    app = start({"worker": role(1, 1)})
    app.settled()
    before = app.get("live/events")["next"]
    app.flexed(worker=2)
    app.ask("DELETE", f"live/nodes/{app.hosts('worker')[0]}")
    more = wait_for(lambda: [e for e in app.get(f"live/events?since={before}")["events"] if e["what"] == "excluded"], "the exclusion is there")
    assert more[0]["object"].startswith("node node-")
    events = app.get("live/events")["events"]
    assert [e["number"] for e in events] == list(range(events[0]["number"], events[0]["number"] + len(events)))
    assert [e["time"] for e in events] == sorted(e["time"] for e in events)
    assert {(e["object"], e["what"]) for e in events} >= {(app.name, "STARTED"), (app.name, "STABLE")}


def test_outstanding_requests_are_shown_and_cancelled(start):
    app = start({"worker": role(1, 8)})
    held = wait_for(lambda: len(ids := app.ids("worker")) == 6 and ids, "the nodes are full, and each container is started")
    assert (app.component("worker")["requested"], app.get("live/liveness/worker")["activeRequests"]) == (2, 2)
    assert app.get("live/liveness")["requestsOutstanding"] == 2
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert app.ask("POST", "action/flex", "component.worker=-2", form).status == 202
    wait_for(lambda: app.component("worker")["requested"] == 0, "they are cancelled")
    assert app.ids("worker") == held and app.get("live/statistics/worker")["containers.active.requests"] == 0


def test_queues_and_nodes_are_asked_for(port, start):
    app = start({"worker": role(1, 1, yarn_label_expression="gpu")})
    app.settled()
    nodes = {n["hostname"]: n for n in app.get("live/nodes")}
    assert sorted((n["rackName"], n["labels"]) for n in nodes.values()) == [("/r1", ""), ("/r1", ""), ("/r2", "gpu")]
    host, = app.hosts("worker")
    assert nodes[host]["labels"] == "gpu" and nodes[host]["entries"]["worker"]["live"] == 1
    assert app.get(f"live/nodes/{host}")["entries"]["worker"]["lastUsed"] > 0
    assert app.get("live/liveness")["availableResource"]["memory"] == 3 * 140 - 64
    body = {"resources": {"components": {"worker": role(1, 1)}}, "internal": {"global": {"internal.queue": "root.batch"}},
            "appConf": {"global": {"launch_command": "sleep 1000"}}}
    assert request(port, "PUT", NAMED + "queued", body).status == 202
    view = wait_for(lambda: (v := request(port, "GET", NAMED + "queued").json)["state"] == "STABLE" and v, "it runs")
    internal = request(port, "GET", f"/proxy/{view['id']}/ws/v1/slider/application/model/internal").json
    assert internal["global"]["internal.queue"] == "root.batch"
    request(port, "DELETE", NAMED + "queued")


def test_a_container_goes_where_it_is_wanted(start):
    """By a label; by strict placement, where it was before; and nowhere else, as long as there is no room."""
    app = start({"worker": role(1, 1, yarn_component_placement_policy=1)})
    app.settled()
    host, = app.hosts("worker")
    first, = app.ids("worker")
    assert app.ask("DELETE", f"live/containers/{first}").status == 202
    wait_for(lambda: first not in app.get("live/containers"), "it has ended")
    app.settled()
    again, = app.ids("worker")
    assert app.hosts("worker") == [host] and app.get(f"live/containers/{again}")["placement"] == "Placed"
    start({"filler": role(1, 5)}).settled()  # no other node has room
    assert app.ask("DELETE", f"live/nodes/{host}").status == 202
    wait_for(lambda: (c := app.component("worker"))["actual"] == 0 and c["requested"] == 1, "it has left, and waits")
    assert app.ask("PUT", f"live/nodes/{host}", {"excluded": False}).status == 202
    app.settled()
    assert app.hosts("worker") == [host]


def test_changes_are_watched(start):
    app = start({"worker": role(1, 1)})
    app.settled()
    answer = app.ask("GET", "live/events")
    seen, tag, since = [], answer.headers["ETag"], answer.json["next"]

    def watch():
        nonlocal tag, since
        while not any(e["object"] == "node node-00001" for e in seen):
            more = app.ask("GET", f"live/events?since={since}", headers={"Prefer": "wait=30", "If-None-Match": tag})
            assert more.status == 200 and more.headers["ETag"] != tag
            tag, since = more.headers["ETag"], more.json["next"]
            seen.extend(more.json["events"])

    thread = threading.Thread(target=watch)
    thread.start()
    app.flexed(worker=2)
    app.flexed(worker=1)
    app.ask("DELETE", "live/nodes/node-00001")
    thread.join()
    numbers = [e["number"] for e in seen]
    assert numbers == list(range(answer.json["next"], answer.json["next"] + len(numbers))), "none is missed, none comes twice"


def test_who_may_acts_for_another(port, start):
    """hadoop.proxyuser.gate: for alice and bob. The redirect of a name keeps both."""
    app = start({"worker": role(1, 1)})
    app.settled()
    path = f"{app.root}/application/model/desired/resources"
    tree = {"components": {"worker": role(1, 2)}}
    for query, status in (("user.name=gate&doAs=alice", 202), ("user.name=gate&doAs=bob", 403), ("user.name=gate", 403),
                          ("user.name=gate&doAs=carol", 403), ("user.name=mallory&doAs=alice", 403), ("user.name=gate&doAs=", 400)):
        answer = request(port, "PUT", f"{path}?{query}", tree)
        assert answer.status == status, (query, answer)
        assert status < 400 or len(answer.body) > 512
    assert app.get("model/desired/resources")["components"]["worker"]["yarn.component.instances"] == "2"
    named = f"{NAMED}{app.name}/application/model/desired/resources?user.name=gate&doAs=alice"
    moved = request(port, "PUT", named, tree)
    assert moved.status == 307
    target = moved.headers["Location"].split(str(port), 1)[1]
    assert request(port, "PUT", target, tree).status == 202, target
    body = {"resources": {"components": {"worker": role(1, 1)}}, "appConf": {"global": {"launch_command": "sleep 1000"}}}
    assert request(port, "PUT", NAMED + "of-bob?user.name=gate&doAs=bob", json.dumps(body)).status == 202
    assert request(port, "GET", NAMED + "of-bob?user.name=bob").json["user"] == "bob"
    assert request(port, "GET", NAMED + "of-bob").status == 404, "alice has none of this name"
    request(port, "DELETE", NAMED + "of-bob?user.name=bob")
