"""The rows of the Slider API about what runs (contract table of the reference, C3 to C42), over HTTP on a simulated cluster."""
import itertools
import threading
import time

import pytest

from harness import Stack, request, wait_for
from sliders import Application, role

NODES = "nodes 4 memory=65536 vcores=64 rack=/r1; delay allocate=0-5 start=0-5 stop=0-5 ready=0-5; "
ENDS = ("end exit=1 of=bad-* after=20-40; end exit=1 of=calm-* after=20-40 attempts=9; "
        "end preempted of=taken-* after=20-40 attempts=1")
NAMES = (f"a{n}" for n in itertools.count())


def stack_of(script):
    return Stack(services=True, options={"svcmgr": {"yarn.service.cluster": "sim", "yarn.service.sim.script": script,
                                                    "yarn.service.container-failure.retry-interval-ms": "20"}})


@pytest.fixture(scope="module")
def port():
    with stack_of(NODES + ENDS) as stack:
        yield stack.services_port


@pytest.fixture
def start(port):
    """A function: an application of these components that runs."""
    running = []

    def one(components, **options):
        running.append(Application(port, next(NAMES), components, **options))
        return running[-1]

    yield one
    for app in running:
        app.destroy()


@pytest.fixture
def two(start):
    app = start({"worker": role(1, 2)})
    app.settled()
    return app


def error_of(answer):
    assert len(answer.body) > 512
    return answer.json["exception"], answer.json["message"]


def test_c3_the_master_alone_has_counters(start):
    app = start({})
    answer = app.ask("GET", "live/resources")
    assert answer.headers["Content-Type"] == "application/json"
    master = answer.json["components"]["slider-appmaster"]
    assert {key[len("yarn.component."):]: value for key, value in master.items()} == {
        "instances": "1", "instances.actual": "1", "instances.started": "1", "instances.requesting": "0",
        "instances.releasing": "0", "instances.failed": "0", "instances.completed": "0"}


@pytest.mark.parametrize("path", ["live/containers/unknown", "live/components/unknown", "live/nodes/unknown", "live/liveness/unknown",
                                  "live/statistics/unknown", "live/components/worker/containers/unknown",
                                  "live/components/worker/instances/9", "live/containers/unknown/logs"])
def test_c5_c6_what_is_unknown_is_not_found(two, path):
    answer = two.ask("GET", path)
    assert answer.status == 404
    assert error_of(answer)[0] == "NotFoundException"
    assert answer.headers["Cache-Control"] == "no-cache" and answer.headers["Expires"] == answer.headers["Date"]


def test_c7_c8_the_master_has_a_container(start):  # trap 3, trap 16
    app = start({})
    (key, master), = app.get("live/containers").items()
    assert master["containerId"] == key and master["state"] == 3 and master["createTime"] > 0
    assert not {"exitCode", "output", "released", "logLink"} & set(master)
    component = app.component("slider-appmaster")
    assert (component["containers"], component["desired"], component["actual"], component["priority"]) == ([key], 1, 1, 0)
    assert app.get(f"live/containers/{key}") == master


def test_c9_the_list_of_components_has_no_containers(two):
    components = two.get("live/components")
    assert set(components) == {"slider-appmaster", "worker"}
    assert not any("containers" in c for c in components.values())
    assert components["worker"]["actual"] == 2


def test_c10_nodes_are_a_list(two):  # trap 2
    nodes = two.get("live/nodes")
    assert isinstance(nodes, list) and len(nodes) == 4
    for node in nodes:
        one = two.get(f"live/nodes/{node['hostname']}")
        assert one.get("httpAddress") == node.get("httpAddress") and one["state"] == "RUNNING" and one["rackName"] == "/r1"
    assert sum(n["entries"].get("worker", {}).get("live", 0) for n in nodes) == 2


def test_the_listing_names_the_views(two):
    assert two.get("live") == ["resources", "containers", "components", "nodes", "liveness", "statistics", "diagnostics"]


def test_c15_the_same_put_again_asks_for_nothing(two):  # trap 23
    before = {name: c["totalRequested"] for name, c in two.get("live/components").items()}
    two.flexed(worker=2)
    assert {name: c["totalRequested"] for name, c in two.get("live/components").items()} == before


def test_c16_more_are_asked_for(two):  # trap 21: what is listed is found
    before = set(two.ids("worker"))
    two.flexed(worker=4)
    after = two.ids("worker")
    assert before < set(after) and len(after) == 4 and after == sorted(after)
    assert two.get("live/resources")["components"]["worker"]["yarn.component.instances.actual"] == "4"
    assert all(two.get(f"live/containers/{id}")["component"] == "worker" for id in after)


def test_c18_the_newest_go_first(start):
    app = start({"worker": role(1, 1)})
    app.settled()
    first = app.ids("worker")
    app.flexed(worker=4)
    four = app.ids("worker")
    app.flexed(worker=6)
    app.flexed(worker=4)
    assert app.ids("worker") == four and app.component("worker")["completed"] == 2
    app.flexed(worker=1)
    assert app.ids("worker") == first
    assert app.component("worker")["completed"] == 5


def test_c19_a_component_that_is_left_out_stays_known(two):  # trap 7
    assert two.ask("PUT", "model/desired/resources", {"components": {"other": role(2, 1)}}).status == 202
    wait_for(lambda: two.component("worker")["actual"] == 0 and two.ids("other"), "all of it are released, and the other one is started")
    assert two.ids("worker") == [] and two.ids("other")
    component = two.component("worker")
    assert component["desired"] == 0 and component["priority"] == 1 and component["started"] == 2


def test_c25_counters_are_not_part_of_the_model(two):  # trap 9
    two.get("live/resources")
    two.get("live/resources")
    options = two.get("model/resolved/resources")["components"]["worker"]
    assert not [key for key in options if key.startswith("yarn.component.instances.")]


def test_c26_the_live_tree_may_be_put(two):
    assert two.ask("PUT", "model/desired/resources", two.get("live/resources")).status == 202
    options = two.get("model/desired/resources")["components"]["worker"]
    assert not [key for key in options if key.startswith("yarn.component.instances.")]
    assert two.component("worker")["totalRequested"] == 2


def test_c28_too_many_failures_end_it(start):
    app = start({"bad": role(1, 1, yarn_container_failure_threshold=5)})
    wait_for(lambda: app.view()["state"] == "FAILED", "it has failed")
    diagnostics = app.get("live/diagnostics")
    assert diagnostics["finalStatus"] == "FAILED" and diagnostics["exitReason"] == "SLIDER_AM_ERROR"
    assert len(diagnostics["recentFailedContainers"]) == 6
    assert "failed with component bad failed 'recently' 6 times" in diagnostics["finalMessage"]
    assert app.get("live/containers") == {}


def test_c29_a_threshold_of_zero_is_none(start):
    app = start({"calm": role(1, 1, yarn_container_failure_threshold=0)})
    wait_for(lambda: app.component("calm")["failed"] >= 8, "it has failed often")
    assert app.view()["state"] in ("STARTED", "STABLE")
    assert app.component("calm")["failureMessage"].startswith("Failure container_")


def test_c30_a_preempted_container_is_no_failure(start):
    app = start({"taken": role(1, 1)})
    wait_for(lambda: app.component("taken")["preempted"] >= 1, "it was preempted")
    assert (app.component("taken")["failed"], app.component("taken")["failedRecently"]) == (0, 0)
    assert sum(n["entries"].get("taken", {}).get("preempted", 0) for n in app.get("live/nodes")) >= 1


def test_c33_members_of_a_group_are_components(start):
    app = start({"name": role(5, 3, component_unique_names="true")})
    app.settled()
    assert [app.component(f"name{i}")["priority"] for i in (1, 2, 3)] == [5, 6, 7]
    assert app.ask("GET", "live/components/name").status == 404
    assert app.get("live/resources")["components"]["name"]["yarn.component.instances.actual"] == "3"
    assert "name1" not in app.get("live/resources")["components"]


def test_c34_anti_affine_ones_wait_for_nodes():
    with stack_of("nodes 2 memory=65536 vcores=64") as stack:
        app = Application(stack.services_port, "apart", {"worker": role(1, 3, yarn_component_placement_policy=4)})
        wait_for(lambda: app.component("worker")["actual"] == 2, "two run")
        component = wait_for(lambda: next((c for c in [app.component("worker")] if c["pendingAntiAffineRequestCount"] == 1), None),
                             "one waits")
        assert component["placementPolicy"] == 4
        liveness = app.get("live/liveness")
        assert (liveness["allRequestsSatisfied"], liveness["requestsOutstanding"]) == (False, 1)
        app.destroy()


def test_c38_a_container_goes_for_good(two):
    victim, other = two.ids("worker")
    answer = two.ask("DELETE", f"live/containers/{victim}?replace=false")
    assert answer.status == 202 and answer.json["released"] is True
    assert two.get("model/desired/resources")["components"]["worker"]["yarn.component.instances"] == "1"
    wait_for(lambda: two.ids("worker") == [other] and two.component("worker")["actual"] == 1, "it has gone")
    assert two.component("worker")["desired"] == 1
    two.flexed(worker=2)  # recommission is a flex
    assert other in two.ids("worker")


def test_c38_of_a_group_the_last_member_goes(start):
    app = start({"name": role(5, 2, component_unique_names="true")})
    app.settled()
    (first,), (last,) = app.ids("name1"), app.ids("name2")
    answer = app.ask("DELETE", f"live/containers/{first}?replace=false")
    assert answer.status == 409 and "last member" in error_of(answer)[1]
    assert app.ask("DELETE", f"live/containers/{last}?replace=false").status == 202
    assert app.get("model/desired/resources")["components"]["name"]["yarn.component.instances"] == "1"
    wait_for(lambda: app.component("name2")["actual"] == 0, "it has gone")


def test_c39_the_container_of_the_master_stays(two):
    master, = two.ids("slider-appmaster")
    answer = two.ask("DELETE", f"live/containers/{master}")
    assert answer.status == 409 and error_of(answer)[0] == "WebApplicationException"


def test_c40_a_node_is_excluded_and_used_again(two):
    host = two.get(f"live/containers/{two.ids('worker')[0]}")["host"]
    answer = two.ask("DELETE", f"live/nodes/{host}")
    assert answer.status == 202 and answer.json["excluded"] is True and answer.json["hostname"] == host
    assert two.ask("DELETE", f"live/nodes/{host}").status == 202
    wait_for(lambda: host not in {c["host"] for c in two.get("live/containers").values() if c["component"] == "worker"} and
             two.component("worker")["actual"] == 2, "they run elsewhere")
    assert [n["hostname"] for n in two.get("live/nodes") if n.get("excluded")] == [host]
    answer = two.ask("PUT", f"live/nodes/{host}", {"excluded": False})
    assert answer.status == 202 and "excluded" not in answer.json
    assert two.ask("PUT", f"live/nodes/{host}", {"excluded": True}).json["excluded"] is True
    assert two.ask("PUT", f"live/nodes/{host}", {"excluded": "no"}).status == 400
    assert two.ask("PUT", f"live/nodes/{host}", "{").status == 400
    assert two.ask("PUT", "live/nodes/nowhere", {"excluded": True}).status == 404


@pytest.fixture(scope="module")
def lacking():
    """An application of two containers, of which one has no room."""
    with stack_of("nodes 1 memory=100 vcores=64") as stack:
        app = Application(stack.services_port, "lacking", {"worker": role(1, 2)})
        wait_for(lambda: app.component("worker")["actual"] == 1, "one runs")
        yield app
        app.destroy()


@pytest.mark.parametrize("path", ["live/liveness", "live/liveness/worker", "live/components/worker"])
def test_c41_a_read_waits(lacking, path):
    before = time.monotonic()
    answer = lacking.ask("GET", path, headers={"Prefer": "respond-async, wait=1"})
    assert 0.9 < time.monotonic() - before < 10
    assert answer.status == 200 and answer.headers["Preference-Applied"] == "wait=1"
    assert answer.json.get("allRequestsSatisfied", False) is False
    answer = lacking.ask("GET", path + "?timeout=1")
    assert answer.status == 200 and answer.headers["Preference-Applied"] == "wait=1"
    assert lacking.ask("GET", path + "?timeout=0").headers["Preference-Applied"] == "wait=0"
    assert "Preference-Applied" not in lacking.ask("GET", path).headers


def test_c41_a_read_of_what_is_settled_does_not_wait(two):
    before = time.monotonic()
    answer = two.ask("GET", "live/liveness?timeout=1000")
    assert time.monotonic() - before < 5
    assert answer.json["allRequestsSatisfied"] is True and answer.headers["Preference-Applied"] == "wait=300"


def test_c41_a_read_ends_when_all_is_there(start):
    app = start({"worker": role(1, 1)})
    app.settled()
    assert app.flex(worker=40).status == 202
    answer = app.ask("GET", "live/components/worker", headers={"Prefer": "wait=60"})
    assert answer.json["actual"] == 40 and len(answer.json["containers"]) == 40


def test_c41_at_most_sixty_four_wait(lacking):
    answers = []

    def wait():
        before = time.monotonic()
        answer = lacking.ask("GET", "live/liveness", headers={"Prefer": "wait=5"})
        answers.append((answer.status, time.monotonic() - before > 4.9))

    waiting = [threading.Thread(target=wait) for _ in range(70)]
    for thread in waiting:
        thread.start()
    for thread in waiting:
        thread.join()
    assert sorted(answers) == [(200, False)] * 6 + [(200, True)] * 64


@pytest.mark.parametrize("path", ["live/liveness?timeout=-1", "live/liveness?timeout=x", "live/components/worker?timeout=x"])
def test_c42_a_wrong_time_is_refused(two, path):
    assert two.ask("GET", path).status == 400
    assert two.ask("GET", path.split("?")[0], headers={"Prefer": "wait=-1"}).status == 400
    assert two.ask("GET", path.split("?")[0], headers={"Prefer": "wait=x"}).status == 400


def test_a_watch_ends_with_a_change(two):
    seen = two.ask("GET", "live/liveness").headers["ETag"]
    watch = {"Prefer": "wait=60", "If-None-Match": seen}
    answers = []
    thread = threading.Thread(target=lambda: answers.append(two.ask("GET", "live/liveness", headers=watch)))
    thread.start()
    two.flexed(worker=3)
    thread.join()
    assert answers[0].status == 200 and answers[0].headers["ETag"] != seen


def test_what_happened_is_read_and_watched(two):
    answer = two.ask("GET", "live/events")
    assert answer.json["events"][0]["object"] == two.name and answer.json["next"] == len(answer.json["events"])
    two.flexed(worker=3)
    watch = {"Prefer": "wait=30", "If-None-Match": answer.headers["ETag"]}
    more = two.ask("GET", f"live/events?since={answer.json['next']}", headers=watch)
    assert more.status == 200 and [e["number"] for e in more.json["events"]][:1] == [answer.json["next"]]


def test_instances_are_found_by_number(two):
    instances = two.get("live/components/worker/instances")
    assert sorted(instances) == ["0", "1"] and sorted(instances.values()) == two.ids("worker")
    assert two.get("live/components/worker/instances/1")["containerId"] == instances["1"]
    assert two.get(f"live/components/worker/containers/{instances['1']}")["containerId"] == instances["1"]
    assert two.ask("GET", f"live/components/slider-appmaster/containers/{instances['1']}").status == 404


def test_components_have_liveness_and_statistics(two):
    liveness = two.get("live/liveness/worker")
    assert (liveness["component"], liveness["desired"], liveness["actual"], liveness["allRequestsSatisfied"]) == ("worker", 2, 2, True)
    statistics = two.get("live/statistics/worker")
    assert statistics["containers.live"] == 2 and statistics["containers.requested"] == 2
    assert two.get("live/statistics/slider-appmaster")["containers.live"] == 1
    assert two.get("live/statistics")["containers.live"] == 3


def test_wrong_verbs_are_named(two):
    for method, path in (("POST", "live/containers"), ("PUT", "live/liveness"), ("DELETE", "live/components/worker")):
        answer = two.ask(method, path)
        assert answer.status == 405 and "GET" in answer.headers["Allow"]
    assert two.ask("HEAD", "live/containers").body == b""


def test_a_service_of_another_api_is_read_and_not_changed(port):
    definition = {"name": "web", "version": "1", "components": [
        {"name": "loop", "number_of_containers": 2, "launch_command": "serve", "resource": {"memory": "64"}}]}
    assert request(port, "POST", "/app/v1/services", definition).status == 202
    service = wait_for(lambda: next((d for d in [request(port, "GET", "/app/v1/services/web").json] if d["state"] in ("READY", "STABLE")), None),
                       "it runs")
    root = f"/proxy/{service['id']}/ws/v1/slider/application"
    containers = request(port, "GET", root + "/live/containers").json
    assert len(containers) == 3
    component = request(port, "GET", root + "/live/components/loop").json
    assert component["actual"] == 2 and set(component["containers"]) < set(containers)
    assert request(port, "GET", root + "/live/liveness").json["allRequestsSatisfied"] is True
    assert request(port, "GET", root + "/live/resources").json["components"]["loop"]["yarn.component.instances.actual"] == "2"
    for method, path, body in (("DELETE", "/live/containers/" + component["containers"][0], None), ("DELETE", "/live/nodes/node-00001", None),
                               ("PUT", "/live/nodes/node-00001", {"excluded": True})):
        answer = request(port, method, root + path, body)
        assert answer.status == 409 and "another API" in answer.json["message"]
    assert request(port, "DELETE", "/app/v1/services/web").status == 204
