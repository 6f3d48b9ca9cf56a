"""Rows of the Slider API that need a cluster of their own: processes that end when they are asked to, full nodes, restarts, time that has
passed, a registry with foreign nodes."""
import http.server
import os
import threading

import pytest

import zkwire
from harness import Stack, WallClock, request, store_url, wait_for
from sliders import Application, role

TOO_MANY = "end exit=1 of=bad-* after=20-40"
QUICK = "delay allocate=0-5 start=0-5 stop=0-5 ready=0-5; "


def stack_of(script, **options):
    return Stack(services=True, options={"svcmgr": {"yarn.service.cluster": "sim", "yarn.service.sim.script": script,
                                                    "yarn.service.container-failure.retry-interval-ms": "20", **options}})


# ---- processes that end when they are asked to ----

class Ending(Application):
    """An application of one instance on this host, whose process ends with the code that end() is given."""

    def __init__(self, stack, name):
        self.order = os.path.join(stack.dir, name)
        os.mkdir(self.order)
        os.chmod(self.order, 0o777)
        command = f"cd {self.order}; while ! mv code taken 2>/dev/null; do sleep 0.05; done; read code < taken; exit $code"
        super().__init__(stack.services_port, name, {"worker": role(1, 1)}, command=command)
        self.settled()

    def end(self, code):
        """Once, and its replacement runs."""
        before = self.component("worker")["started"]
        path = os.path.join(self.order, "code")
        with open(path + ".new", "w", encoding="ascii") as f:
            f.write(f"{code}\n")
        os.rename(path + ".new", path)
        wait_for(lambda: self.component("worker")["started"] == before + 1, "it is replaced")
        self.settled()


@pytest.fixture(scope="module")
def local():
    with Stack(services=True, options={"svcmgr": {"yarn.service.container-failure.retry-interval-ms": "20"}}) as stack:
        yield stack


@pytest.fixture
def ending(local, request):
    app = Ending(local, request.node.name.replace("_", "-")[5:30].rstrip("-"))
    yield app
    app.destroy()


def test_c27_an_exit_of_zero_counts_once_and_is_no_failure(ending):  # trap 13
    before = ending.get("live/statistics")
    ending.end(0)
    component, after = ending.component("worker"), ending.get("live/statistics")
    assert [component[n] for n in ("failed", "failedRecently", "startFailed", "totalRequested", "started")] == [0, 0, 0, 2, 2]
    assert after["containers.failed"] == before["containers.failed"] + 1 and after["containers.start.failed"] == 0
    assert component["failureMessage"] == ""
    ended, running = ending.get("live/diagnostics")["containers"]
    assert (ended["state"], ended["exitCode"]) == (4, 0) and ended["completionTime"] >= ended["createTime"] > 0
    assert running["state"] == 3 and "exitCode" not in running


def test_a_flex_forgets_recent_failures_only_when_it_changes_something(ending):  # trap 20
    ending.end(1)
    ending.end(3)
    numbers = ("failed", "failedRecently", "startFailed", "nodeFailed", "preempted")
    assert [ending.component("worker")[n] for n in numbers] == [2, 2, 2, 0, 0]
    assert ending.component("worker")["failureMessage"].startswith("Failure container_")
    assert ending.flex(worker=1).status == 202
    assert [ending.component("worker")[n] for n in numbers] == [2, 2, 2, 0, 0]
    assert ending.flex(worker=2).status == 202
    assert [ending.component("worker")[n] for n in numbers] == [2, 0, 2, 0, 0]


def test_a_failure_of_start_is_one_of_a_short_life(ending):  # trap 12: seconds, of the resources document
    ending.options["internal.container.failure.shortlife"] = "0"
    assert ending.flex(worker=1).status == 202
    ending.end(1)
    assert [ending.component("worker")[n] for n in ("failed", "startFailed")] == [1, 0]
    assert [ending.get("live/nodes")[0]["entries"]["worker"][n] for n in ("failed", "failedRecently", "startFailed")] == [1, 1, 0]
    ending.options["internal.container.failure.shortlife"] = "3600"
    assert ending.flex(worker=1).status == 202
    ending.end(1)
    assert [ending.component("worker")[n] for n in ("failed", "startFailed")] == [2, 1]
    assert [ending.get("live/nodes")[0]["entries"]["worker"][n] for n in ("failed", "startFailed", "preempted")] == [2, 1, 0]


def test_output_of_containers_is_linked_where_it_is(ending):
    container = ending.get(f"live/containers/{ending.ids('worker')[0]}")
    assert request(ending.port, "GET", container["logLink"].split(str(ending.port), 1)[1]).status == 200


# ---- full nodes, slow ends ----

def test_c17_open_requests_go_first():
    with stack_of("nodes 1 memory=140 vcores=64; delay start=0 stop=0 ready=0") as stack:  # memory of two
        app = Application(stack.services_port, "full", {"worker": role(1, 4)})
        wait_for(lambda: (c := app.component("worker"))["requested"] == 2 and len(c["containers"]) == 2, "the node is full")
        held = app.ids("worker")
        assert app.get("live/liveness")["activeRequests"] == 2
        assert app.flex(worker=2).status == 202
        wait_for(lambda: app.component("worker")["requested"] == 0, "the requests are cancelled")
        component = app.component("worker")
        assert (component["actual"], component["completed"], component["releasing"], component["containers"]) == (2, 0, 0, held)
        assert app.get("live/liveness")["activeRequests"] == 0
        app.destroy()


def test_c23_max_is_the_most_that_a_container_may_have():
    with stack_of("nodes 2 memory=1000 vcores=8; " + QUICK) as stack:
        app = Application(stack.services_port, "large", {"worker": role(1, 1, yarn_memory="max", yarn_vcores="max")})
        app.settled()
        assert app.get("live/liveness")["availableResource"] == {"memory": 1000, "virtualCores": 8}
        app.flexed(worker=2)
        assert app.get("live/liveness")["availableResource"] == {"memory": 0, "virtualCores": 0}
        app.destroy()


def test_c37_a_container_is_released_once():
    with stack_of("nodes 4 memory=65536 vcores=64; delay allocate=0-5 start=0-5 stop=3000 ready=0-5") as stack:
        app = Application(stack.services_port, "slow", {"worker": role(1, 2)})
        app.settled()
        victim, other = app.ids("worker")
        for _ in range(2):
            answer = app.ask("DELETE", f"live/containers/{victim}")
            assert answer.status == 202 and answer.json["released"] is True and answer.json["containerId"] == victim
        assert app.get(f"live/containers/{victim}")["released"] is True and app.component("worker")["releasing"] == 1
        wait_for(lambda: victim not in app.get("live/containers"), "it has ended")
        app.settled()
        component = app.component("worker")
        assert (component["totalRequested"], component["completed"], component["failed"], component["desired"]) == (3, 1, 0, 2)
        assert other in component["containers"]
        assert app.ask("DELETE", f"live/containers/{victim}").status == 404
        app.destroy()


def test_c40_an_excluded_node_is_usable_again():
    with stack_of("nodes 2 memory=140 vcores=64; " + QUICK) as stack:  # memory of two each
        app = Application(stack.services_port, "moves", {"worker": role(1, 2)})
        app.settled()
        host = app.get(f"live/containers/{app.ids('worker')[0]}")["host"]
        assert app.ask("DELETE", f"live/nodes/{host}").status == 202
        wait_for(lambda: app.hosts("worker").count(host) == 0 and app.component("worker")["actual"] == 2, "they run elsewhere")
        app.flex(worker=4)
        wait_for(lambda: app.component("worker")["requested"] == 2, "the other node is full")
        answer = app.ask("PUT", f"live/nodes/{host}", {"excluded": False})
        assert answer.status == 202 and "excluded" not in answer.json
        app.settled()
        assert app.hosts("worker").count(host) == 2
        app.destroy()


def test_an_excess_of_one_component_does_not_hide_what_another_lacks():  # trap 14
    with stack_of("nodes 1 memory=200 vcores=64; delay allocate=0-5 start=0-5 stop=3000 ready=0-5") as stack:  # memory of three
        app = Application(stack.services_port, "both", {"web": role(1, 3), "worker": role(2, 0)})
        app.settled()
        assert app.flex(web=0, worker=2).status == 202
        liveness = app.get("live/liveness")
        assert (liveness["requestsOutstanding"], liveness["allRequestsSatisfied"]) == (2, False)
        assert app.get("live/liveness/web")["requestsOutstanding"] == 0
        app.destroy()


def test_another_size_is_for_containers_to_come():
    with stack_of("nodes 1 memory=1000 vcores=64; " + QUICK) as stack:
        app = Application(stack.services_port, "grows", {"worker": role(1, 2)})
        app.settled()
        app.components["worker"]["yarn.memory"] = "200"
        before = app.ids("worker")
        app.flexed()
        assert app.ids("worker") == before and app.get("live/liveness")["availableResource"]["memory"] == 1000 - 2 * 64
        assert app.ask("DELETE", f"live/containers/{before[0]}").status == 202
        wait_for(lambda: before[0] not in app.get("live/containers"), "it has ended")
        app.settled()
        assert app.get("live/liveness")["availableResource"]["memory"] == 1000 - 64 - 200
        app.destroy()


def test_too_few_for_too_long_end_it():
    with stack_of("nodes 1 memory=100 vcores=64; " + QUICK) as stack:  # memory of one
        health = {f"yarn.container.health.threshold.{name}": n for name, n in
                  (("percent", 80), ("poll.frequency.secs", 1), ("window.secs", 1), ("init.delay.secs", 0))}
        app = Application(stack.services_port, "ill", {"worker": role(1, 2)}, **health)
        wait_for(lambda: app.view()["state"] == "FAILED", "it has failed")
        diagnostics = app.get("live/diagnostics")
        assert (diagnostics["finalStatus"], diagnostics["exitReason"]) == ("FAILED", "APP_ERROR")
        assert diagnostics["recentFailedContainers"] == []
        app.destroy()


# ---- nodes ----

@pytest.mark.parametrize("threshold, excluded", [(-1, False), (3, True)])
def test_c32_a_threshold_of_minus_one_excludes_no_node(threshold, excluded):  # trap 10
    with stack_of("nodes 2 memory=65536 vcores=64; " + QUICK + TOO_MANY) as stack:
        app = Application(stack.services_port, "fails", {"bad": role(1, 1, yarn_node_failure_threshold=threshold,
                                                                     yarn_container_failure_threshold=0)})
        wait_for(lambda: app.component("bad")["failed"] >= 12, "it has failed often")
        failed = sorted(n["entries"].get("bad", {"failed": 0})["failed"] for n in app.get("live/nodes"))
        assert (failed[0] > 0) is excluded, "it asks for the node that it was on until that is avoided"
        assert failed[1] > 0 and app.view()["state"] in ("STARTED", "STABLE")
        app.destroy()


def test_placement_says_how_a_container_was_asked_for():
    with stack_of("nodes 2 memory=65536 vcores=64; " + QUICK) as stack:
        app = Application(stack.services_port, "placed", {"worker": role(1, 1), "free": role(2, 1, yarn_component_placement_policy=2)})
        app.settled()
        for name, then in (("worker", "Placed"), ("free", "Open")):
            first, = app.ids(name)
            before = app.get(f"live/containers/{first}")
            assert before["placement"] == "Open"
            assert app.ask("DELETE", f"live/containers/{first}").status == 202
            wait_for(lambda: first not in app.get("live/containers"), "it has ended")
            app.settled()
            after = app.get(f"live/containers/{app.ids(name)[0]}")
            assert after["placement"] == then and (then == "Open" or after["host"] == before["host"])
        app.destroy()


def test_no_output_of_simulated_containers_is_linked():
    with stack_of("nodes 1 memory=65536 vcores=64; " + QUICK + TOO_MANY) as stack:
        app = Application(stack.services_port, "quiet", {"worker": role(1, 1), "bad": role(2, 1, yarn_container_failure_threshold=0)})
        wait_for(lambda: app.component("bad")["failed"] >= 1 and app.ids("worker"), "it has failed")
        containers = list(app.get("live/containers").values()) + app.get("live/diagnostics")["containers"]
        assert not [c for c in containers if "logLink" in c]
        assert app.component("bad")["failureMessage"].endswith("(1): ")
        assert app.ask("GET", f"live/containers/{app.ids('worker')[0]}/logs").status == 404
        app.destroy()


# ---- restarts ----

def restart(stack, kill=False):
    if kill:
        stack.svcmgr.kill()
    else:
        stack.svcmgr.stop()
    stack.svcmgr.start()
    wait_for(lambda: request(stack.services_port, "GET", "/readyz").status == 200, "svcmgr is ready")


@pytest.mark.parametrize("cluster", ["local", "sim"])
def test_c53_counts_of_a_flex_are_kept(cluster):  # trap 6
    options = {"yarn.service.cluster": cluster, "yarn.service.stop-containers-on-exit": "false"}
    with Stack(services=True, options={"svcmgr": options}) as stack:
        app = Application(stack.services_port, "kept", {"worker": role(1, 2), "web": role(2, 1)})
        app.settled()
        assert app.flex(worker=4, web=0).status == 202
        app.settled()
        before = app.get("live/containers")
        records = f"users/alice/services/org-apache-slider/{app.name}/components"
        named = wait_for(lambda: len(n := registry_of(app, records).json["nodes"]) == 4 and n, "each has a record")
        restart(stack, kill=True)
        app.settled()
        assert set(app.get("live/containers")) == set(before) and registry_of(app, records).json["nodes"] == named
        component = app.component("worker")
        assert (component["desired"], component["actual"], component["totalRequested"], component["completed"]) == (4, 4, 4, 0)
        assert (app.component("web")["desired"], app.component("web")["actual"]) == (0, 0)
        assert app.get("model/desired/resources")["components"]["worker"]["yarn.component.instances"] == "4"
        app.destroy()


@pytest.fixture
def passing():
    """svcmgr on a node of its own, and the time of its clocks."""
    stack = stack_of("nodes 1 memory=65536 vcores=64; " + QUICK + TOO_MANY)
    clock = WallClock(stack.dir, all_clocks=True)
    stack.svcmgr.env = clock.env
    with stack:
        yield stack, clock
    WallClock.tidy()


def test_c31_an_hour_of_the_window_is_an_hour(passing):  # trap 10
    """Its node is excluded, so that it does not fail any more; then 25 minutes pass, and an hour."""
    stack, clock = passing
    app = Application(stack.services_port, "window", {"bad": role(1, 1, yarn_container_failure_threshold=1000)},
                      **{"yarn.container.failure.window.hours": 1})
    wait_for(lambda: app.component("bad")["failedRecently"] >= 2, "it has failed")
    assert app.ask("DELETE", "live/nodes/node-00001").status == 202
    wait_for(lambda: app.component("bad")["actual"] == 0, "nothing of it runs")
    failed = app.component("bad")["failed"]
    for passed_s, recently in ((0, failed), (1500, failed), (3500, failed), (3700, 0)):
        clock.set(f"+{passed_s}s")
        component = app.component("bad")
        assert (component["failed"], component["failedRecently"]) == (failed, recently), f"{passed_s} s later"
    assert app.get("live/nodes")[0]["entries"]["bad"]["failed"] == failed
    app.destroy()


# ---- the registry ----

def registry_of(app, path):
    return request(app.port, "GET", f"{app.root}/registry/{path}")


def test_c49_what_is_no_record_is_not_shown():
    garbage = {"prose": "This is prose, and no record", "empty": "", "list": "[]", "bare": "{}", "other": '{"type": "another"}',
               "null": '{"type": "JSONServiceRecord", "external": null}'}
    record = '{"type": "JSONServiceRecord", "external": [], "internal": [], "yarn:persistence": 1, "a": true}'
    with store_url("zookeeper") as store:
        with Stack(services=True, store=store, options={"svcmgr": {"yarn.service.cluster": "sim"}}) as stack:
            app = Application(stack.services_port, "reader", {"worker": role(1, 1)})
            wait_for(lambda: registry_of(app, "users/alice").status == 200, "its parents are there")
            with zkwire.Client(store.split("/")[2]) as zk:
                for name, text in {**garbage, "whole": record, "tail": record + " and a tail"}.items():
                    zk.create(f"/registry/users/alice/{name}", text, (zkwire.ALL, "world", "anyone"))
                zk.create("/registry/users/alice/prose/below", record, (zkwire.ALL, "world", "anyone"))
            for name in garbage:
                answer = wait_for(lambda: (a := registry_of(app, f"users/alice/{name}")).status == 200 and a, f"{name} is there")
                assert "service" not in answer.json and isinstance(answer.json["nodes"], list), name
            wait_for(lambda: registry_of(app, "users/alice/prose").json["nodes"] == ["below"], "its children are shown")
            for name in ("whole", "tail"):
                answer = wait_for(lambda: (a := registry_of(app, f"users/alice/{name}")).status == 200 and a, f"{name} is there")
                assert answer.json["service"]["yarn:persistence"] == "1" and answer.json["service"]["a"] == "true"
            app.destroy()


class Refusing(http.server.BaseHTTPRequestHandler):
    """A registry that answers with the status that ends the path."""

    def answer(self):
        last = self.path.split("?")[0].rsplit("/", 1)[1]
        status = int(last) if last.isdigit() else 503
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_PUT = do_POST = do_DELETE = answer

    def log_message(self, *_):
        pass


def test_who_asks_and_what_he_may_are_refused_alike():  # trap 18
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            with stack_of("nodes 1; " + QUICK, **{"hadoop.registry.url": f"http://127.0.0.1:{server.server_port}"}) as stack:
                app = Application(stack.services_port, "stranger", {"worker": role(1, 1)})
                statuses = {n: registry_of(app, f"users/{n}").status for n in (401, 403, 404, 500, 503)}
                assert statuses == {401: 403, 403: 403, 404: 404, 500: 503, 503: 503}
        finally:
            server.shutdown()


def test_a_registry_that_is_away_is_unavailable_at_once():
    with stack_of("nodes 1; " + QUICK) as stack:
        app = Application(stack.services_port, "alone", {"worker": role(1, 1)})
        app.settled()
        stack.registryd.stop()
        answer = registry_of(app, "users")
        assert answer.status == 503 and len(answer.body) > 512 and app.ask("GET", "live/liveness").status == 200
        stack.registryd.start("registry_synced")
        wait_for(lambda: registry_of(app, "users").status == 200, "it is there again")
        app.destroy()
