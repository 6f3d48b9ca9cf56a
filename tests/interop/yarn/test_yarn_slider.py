"""Applications of Slider on a real YARN cluster of two nodes with HDFS: by svcmgr's /proxy/ID, by the resource manager's proxy, from the
registry on, and by `bobbin slider`; what runs is what the application master says, what is wanted is what svcmgr has written."""
import itertools
import json
import os
import subprocess
import sys
from urllib.parse import urlsplit

import pytest

import slider
from commands import commands
from harness import ROOT, request, wait_for
from java import JVM, java
from services import SLOW, Ours, sleepers
from test_yarn_files import change
from yarn import Cluster

sys.path.insert(0, os.path.join(ROOT, "tests", "interop", "slider"))
from links import Walk  # noqa: E402
from test_slider_client import classes  # noqa: E402

pytestmark = pytest.mark.group("services")

COUNT = itertools.count()
HOSTS = ("127.0.0.2", "127.0.0.3")
RESOURCES = slider.resources(web=1, worker=2)
SLEEPING = slider.conf({}, launch_command="sleep 1000")
REST = "classpath:org.apache.slider.client.rest"
_, ok, refused = commands("slider")


@pytest.fixture(scope="module")
def ours():
    with Cluster(hosts=HOSTS, hdfs=True, user="hdfs", settings={"yarn.scheduler.minimum-allocation-mb": 32}) as cluster:
        for path in ("/user/alice", "/packages"):
            assert change(cluster, path, "hdfs", "mkdirs", "777") == "ok"
        with Ours(cluster) as services:
            yield services


class App:
    """One application by svcmgr's URL of it. root: path of its tree; by default that of the Slider application of this name."""

    def __init__(self, ours, name, root=None):
        self.ours, self.name, self.api = ours, name, slider.Slider(ours.port)
        self.path = f"{root or self.api.root(name)}/application"

    @property
    def id(self):
        return self.path.split("/")[2]

    def ask(self, method, path, body=None, headers=None):
        return self.api.ask(method, f"{self.path}/{path}", body, headers)

    def get(self, path, headers=None):
        answer = self.ask("GET", path, headers=headers)
        assert answer.status == 200, answer
        return answer.json

    def settled(self):
        """Its liveness, once all is as wanted."""
        def done():
            answer = self.ask("GET", "live/liveness", headers={"Prefer": "wait=20"})
            return answer.status == 200 and answer.json["allRequestsSatisfied"] and answer.json
        return wait_for(done, f"{self.name} is settled", SLOW)

    def containers(self, component):
        """Host by id, of those that are not released."""
        return {i: c["host"] for i, c in self.get("live/containers").items() if c["component"] == component and not c.get("released")}

    def release(self, container, query=""):
        """svcmgr knows a container as soon as the master has stored it, which is after the master shows it."""
        def done():
            answer = self.ask("DELETE", f"live/containers/{container}{query}")
            return answer.status == 202 and answer.json
        return wait_for(done, f"{container} is released", SLOW)

    def master(self):
        return next(c for c in self.get("live/containers").values() if c["component"] == "slider-appmaster")

    def wanted(self, **counts):
        """The resources document with other numbers of instances."""
        document = self.get("model/desired/resources")
        for component, n in counts.items():
            document["components"][component]["yarn.component.instances"] = str(n)
        return document

    def by_rm(self, method, path, body=None, user="alice"):
        """By the resource manager's proxy."""
        return request(self.ours.cluster.rm_at["webapp.address"], method, f"{self.path}/{path}{'?user.name=' + user if user else ''}", body)


@pytest.fixture(scope="module")
def shared(ours):
    api = slider.Slider(ours.port)
    assert api.ask("PUT", f"{slider.NAMED}/shared", {"resources": RESOURCES, "appConf": SLEEPING}).status == 202
    app = App(ours, "shared", wait_for(lambda: api.root("shared"), "YARN has named it", SLOW))
    app.settled()
    yield app
    assert api.ask("DELETE", f"{slider.NAMED}/shared").status == 202


@pytest.fixture
def app(shared):
    """One web and two workers, which run, and nothing else."""
    assert shared.ask("PUT", "model/desired/resources", RESOURCES).status == 202
    wait_for(lambda: shared.settled() and len(shared.get("live/containers")) == 4, "all is as at first", SLOW)
    return shared


def test_every_link_leads_somewhere(ours, app):
    """By svcmgr and, below /application, by the resource manager's proxy, which follows redirects itself and serves what they lead to."""
    walk = Walk(app.api, app.path.removesuffix("/application"), ours.stack.registry_port)
    walk.all()
    broken = [line for line in walk.broken if not ("/logs: leads to http://127.0.0." in line and "/node/containerlogs/" in line)]
    assert not broken, "\n".join(broken)
    assert len({path for path in walk.seen if "/live/containers/container_" in path and "/logs" not in path}) == 4
    assert sum("/live/nodes/127.0.0." in path for path in walk.seen) == len(HOSTS)
    by_rm = Walk(slider.Slider(ours.cluster.rm_at["webapp.address"]), app.path.removesuffix("/application"), ours.stack.registry_port)
    for name in by_rm.children(app.path):
        getattr(by_rm, name)(f"{app.path}/{name}")
    assert not by_rm.broken, "\n".join(by_rm.broken)
    assert len(by_rm.seen) > 40


def test_nodes_are_those_of_the_cluster(app):
    """All of them, with what the application has there; a container moves from one that is excluded."""
    nodes = {node["hostname"]: node for node in app.get("live/nodes")}
    assert sorted(nodes) == sorted(HOSTS) and all(node["state"] == "RUNNING" and node["httpAddress"] for node in nodes.values())
    workers = app.containers("worker")
    assert sum(node["entries"].get("worker", {}).get("live", 0) for node in nodes.values()) == 2
    host = next(iter(workers.values()))
    excluded = app.ask("DELETE", f"live/nodes/{host}")
    assert excluded.status == 202 and excluded.json["excluded"], excluded
    assert app.ask("DELETE", "live/nodes/none").status == 404
    other, = set(HOSTS) - {host}

    def moved():
        app.settled()
        return set(app.containers("worker").values()) | set(app.containers("web").values()) == {other} and len(app.containers("worker")) == 2
    wait_for(moved, f"all is on {other}", SLOW)
    assert app.get(f"live/nodes/{host}")["excluded"]
    assert app.ask("PUT", f"live/nodes/{host}", {"excluded": False}).status == 202
    assert "excluded" not in app.get(f"live/nodes/{host}")


def test_the_most_is_the_largest_container_of_the_cluster(app):  # C23
    document = app.wanted()
    document["components"]["large"] = {"yarn.role.priority": 9, "yarn.component.instances": 1, "yarn.memory": "max", "yarn.vcores": "max"}
    nodes = app.ours.cluster.rest("/nodes").json["nodes"]["node"]
    most = max(n["usedMemoryMB"] + n["availMemoryMB"] for n in nodes)
    wait_for(lambda: app.ask("PUT", "model/desired/resources", document).status == 202, "the nodes are known")

    def asked():
        seen = app.ours.cluster.rest(f"/apps/{app.id}").json["app"]
        sizes = [r["capability"]["memory"] for r in seen.get("resourceRequests", [])]
        return min(most, 8192) in sizes or seen["allocatedMB"] >= min(most, 8192)
    wait_for(asked, "the resource manager is asked for so much", SLOW)


def test_a_strict_component_stays_on_its_node(app):
    """What is released comes back where it was, though there is another node with room."""
    pinned = {"yarn.role.priority": 3, "yarn.component.instances": 1, "yarn.component.placement.policy": 1}
    document = app.wanted()
    document["components"]["pinned"] = pinned
    assert app.ask("PUT", "model/desired/resources", document).status == 202
    app.settled()
    ((first, host),) = app.containers("pinned").items()
    for _ in range(2):
        app.release(first)
        app.settled()
        ((after, where),) = app.containers("pinned").items()
        assert after != first and where == host
        first = after
    assert app.get("live/components/pinned")["placementPolicy"] == 1


def test_a_read_after_a_change_knows_of_it(app):
    """The master is asked once it has taken the change: no wait ends before the new number runs."""
    for n in (4, 1):
        assert app.ask("PUT", "model/desired/resources", app.wanted(worker=n)).status == 202
        answer = app.ask("GET", "live/liveness", headers={"Prefer": "wait=60"})
        assert answer.json["allRequestsSatisfied"] and answer.headers["Preference-Applied"] == "wait=60", answer
        assert len(app.containers("worker")) == n
    seen = app.ask("GET", "live/events")
    assert app.ask("PUT", "model/desired/resources", app.wanted(worker=2)).status == 202
    tag = {"If-None-Match": seen.headers["ETag"], "Prefer": "wait=30"}
    more = app.ask("GET", f"live/events?since={seen.json['next']}", headers=tag)
    assert more.status == 200 and more.json["next"] >= seen.json["next"] and more.headers["ETag"] != seen.headers["ETag"], more


def test_requests_that_cannot_be_satisfied_are_seen_and_cancelled(app):
    document = app.wanted()
    document["components"]["big"] = {"yarn.role.priority": 4, "yarn.component.instances": 3, "yarn.memory": 4090}
    assert app.ask("PUT", "model/desired/resources", document).status == 202
    seen = app.ask("GET", "live/liveness", headers={"Prefer": "wait=1"})
    assert seen.headers["Preference-Applied"] == "wait=1", seen
    assert (seen.json["allRequestsSatisfied"], seen.json["requestsOutstanding"], seen.json["activeRequests"]) == (False, 3, 3), seen
    assert app.get("live/resources")["components"]["big"]["yarn.component.instances.requesting"] == "3"
    assert app.ask("PUT", "model/desired/resources", RESOURCES).status == 202
    now = app.settled()
    assert (now["requestsOutstanding"], now["activeRequests"]) == (0, 0), now
    assert app.get("live/components/big")["desired"] == 0 and not app.containers("big")


def test_containers_are_released_and_replaced(app):
    workers = app.containers("worker")
    first, second = sorted(workers)
    assert app.release(first)["released"]
    app.settled()
    after = app.containers("worker")
    assert second in after and first not in after and len(after) == 2
    app.release(second, "?replace=false")
    assert app.get("model/desired/resources")["components"]["worker"]["yarn.component.instances"] == "1"
    wait_for(lambda: app.settled() and list(app.containers("worker")) == [i for i in after if i != second], "one is left", SLOW)
    assert app.ask("DELETE", f"live/containers/{app.master()['containerId']}").status == 409
    ended = {c["containerId"]: c for c in app.get("live/diagnostics")["containers"] if c["state"] == 4}
    assert {first, second} <= set(ended), ended
    statistics = app.get("live/statistics")
    assert statistics["containers.completed"] >= 2 and statistics["containers.live"] == 3, statistics


def test_an_upgrade_rolls(app):
    before = app.containers("worker")
    conf = app.get("model/desired/appconf")
    conf["global"]["env.COLOUR"] = "green"
    assert app.ask("PUT", "model/desired/appconf", conf).status == 202
    begun = app.ask("POST", "action/upgrade", {"components": ["worker"], "message": "green"})
    assert begun.status == 202 and begun.json["total"] == 2 and sorted(begun.json["pending"]) == sorted(before), begun
    assert app.ask("POST", "action/upgrade", {}).status == 409
    done = app.get("action/upgrade", headers={"Prefer": "wait=60"})
    assert (done["state"], done["upgraded"], done["message"]) == ("SUCCEEDED", 2, "green"), done
    assert not set(before) & set(app.containers("worker"))
    assert app.get("model/resolved/appconf")["global"]["env.COLOUR"] == "green"


def test_every_verb_reaches_the_master(app):
    for verb in ("GET", "POST", "PUT", "DELETE"):
        answer = app.ask(verb, "action/ping", "hello" if verb in ("POST", "PUT") else None)
        assert (answer.status, answer.json["verb"], answer.json["body"]) == (200, verb, "hello" if verb in ("POST", "PUT") else ""), answer
    assert app.ask("HEAD", "action/ping").status == 200
    options = app.ask("OPTIONS", "action/ping")
    assert {"GET", "POST", "PUT", "DELETE"} <= {verb.strip() for verb in options.headers["Allow"].split(",")}


def test_the_proxy_of_the_resource_manager_serves_get_and_a_put_of_one_line(app):
    """The master passes a change on in the name of who asks the proxy; it never answers 204 or 304, which would become 500."""
    known = app.by_rm("GET", "model/desired/resources")
    assert known.status == 200 and known.json == app.get("model/desired/resources")
    assert app.by_rm("GET", "live/containers").json.keys() == app.get("live/containers").keys()
    assert app.by_rm("GET", "live/containers/none").status == 404
    document = app.wanted(worker=3)
    assert app.by_rm("PUT", "model/desired/resources", document, user=None).status == 403
    assert app.by_rm("PUT", "model/desired/resources", document, user="bob").status == 403
    put = app.by_rm("PUT", "model/desired/resources", document)
    assert put.status == 202 and put.json == document, put
    assert app.settled() and len(app.containers("worker")) == 3
    assert app.by_rm("PUT", "model/desired/resources", {"schema": "none"}).status == 400
    assert app.by_rm("PUT", "action/ping", "hello").json["verb"] == "PUT"
    assert [app.by_rm(verb, "action/ping").status for verb in ("POST", "DELETE")] == [405, 405]
    services = f"/proxy/{app.id}/app/v1/services"
    answers = [request(app.ours.cluster.rm_at["webapp.address"], "GET", services + rest).status for rest in ("", "/none", f"/{app.name}")]
    assert 500 not in answers, answers


def test_a_master_sends_changes_to_svcmgr(app):
    """307 with path and query kept; what it answers to another application's reads is no answer."""
    where = app.master()["hostURL"].removeprefix("http://")
    path = app.path.removeprefix(f"/proxy/{app.id}")
    for verb, rest in (("PUT", "model/desired/resources"), ("POST", "action/stop"), ("DELETE", f"live/nodes/{HOSTS[0]}")):
        answer = request(where, verb, f"{path}/{rest}?user.name=bob&x=1", {} if verb == "PUT" else None)
        assert answer.status == 307, answer
        to = urlsplit(answer.headers["Location"])
        assert (to.netloc, to.path) == (f"127.0.0.1:{app.ours.port}", f"{app.path}/{rest}") and {"user.name=bob", "x=1"} == set(to.query.split("&"))
    answer = request(where, "GET", f"{path}/live/liveness", headers={"Bobbin-Application": "application_1_0001"})
    assert answer.status == 404, answer


def test_a_master_passes_changes_on_where_that_is_switched_on(ours):
    """slider.feature.ws.insecure, of masters that start after: what svcmgr answers, in the name of who asks."""
    svcmgr, name = ours.stack.svcmgr, f"open{next(COUNT)}"
    api = slider.Slider(ours.port)
    svcmgr.stop()
    svcmgr.options["slider.feature.ws.insecure"] = "true"
    svcmgr.start("svcmgr_ready")
    try:
        assert api.ask("PUT", f"{slider.NAMED}/{name}", {"resources": slider.resources(web=1), "appConf": SLEEPING}).status == 202
        app = App(ours, name, wait_for(lambda: api.root(name), "YARN has named it", SLOW))
        app.settled()
        where, path = app.master()["hostURL"].removeprefix("http://"), app.path.removeprefix(f"/proxy/{app.id}")
        more = app.wanted(web=2)
        assert request(where, "PUT", f"{path}/model/desired/resources?user.name=bob", more).status == 403
        assert request(where, "PUT", f"{path}/model/desired/resources?user.name=alice", more).status == 202
        wait_for(lambda: app.settled() and len(app.containers("web")) == 2, "a second one runs", SLOW)
        assert api.ask("DELETE", f"{slider.NAMED}/{name}").status == 202
    finally:
        svcmgr.stop()
        del svcmgr.options["slider.feature.ws.insecure"]
        svcmgr.start("svcmgr_ready")


def test_the_registry_leads_to_it(app):
    record = wait_for(lambda: request(app.ours.stack.registry_port, "GET",
                                      f"/ws/v1/slider/registry/users/alice/services/org-apache-slider/{app.name}").json.get("service"), "its record")
    assert record["yarn:id"] == app.id and "internal" in record
    found = {e["api"]: e["addresses"][0]["uri"] for e in record["external"] if e["addressType"] == "uri"}
    assert {REST, "http://", *(f"classpath:org.apache.slider.{api}" for api in (
        "management", "publisher", "registry", "publisher.configurations", "publisher.exports"))} <= set(found)
    root = urlsplit(found[REST])
    answer = request(root.netloc, "GET", f"{root.path}ws/v1/slider/application/live/liveness")
    assert answer.status == 200 and answer.json["allRequestsSatisfied"]
    flexed = request(root.netloc, "POST", f"{root.path}ws/v1/slider/application/action/flex?user.name=alice", "component.worker=%2B1",
                     {"Content-Type": "application/x-www-form-urlencoded"})
    assert flexed.status == 202 and app.settled() and len(app.containers("worker")) == 3
    for api, uri in found.items():
        if "slider.publisher" in api or "slider.registry" in api:
            assert request(urlsplit(uri).netloc, "GET", urlsplit(uri).path).status == 200, uri


def test_a_master_that_is_killed_is_found_again(app):
    """Meanwhile what runs is 503 with its reason, and what is wanted is read and changed; the containers are those of before."""
    before, first = app.containers("worker"), app.master()
    assert app.ask("PUT", "model/desired/resources", app.wanted(worker=3)).status == 202
    app.settled()
    before = app.containers("worker")
    app.ours.kill_container(first["containerId"], "svcmgr")
    away = wait_for(lambda: (a := app.ask("GET", "live/liveness")).status == 503 and a, "it is away")
    assert away.headers["Retry-After"] and app.id in away.json["message"], away
    assert app.ask("PUT", "model/desired/resources", app.wanted(worker=2)).status == 202
    wait_for(lambda: app.ask("GET", "live/liveness").status == 200, "another attempt answers", SLOW)
    app.settled()
    after = app.containers("worker")
    assert len(before) == 3 and len(after) == 2 and set(after) < set(before)
    assert app.master()["containerId"] != first["containerId"]
    assert app.by_rm("GET", "live/containers").json.keys() == app.get("live/containers").keys()


def test_a_service_has_the_read_views(ours):
    """Of any API; what changes is refused with the reason."""
    name = ours.launch(sleepers(f"read-{next(COUNT)}", 2))
    ready = ours.until(name, 2)
    one = App(ours, name, f"/proxy/{ours.application(name)}/ws/v1/slider")
    assert set(one.containers("sleeper")) == set(ready.values())
    assert one.get("live/components/sleeper")["actual"] == 2 and one.settled()
    assert len(one.get("live/nodes")) == len(HOSTS) and one.get("action/ping")["verb"] == "GET"
    for verb, path in (("DELETE", f"live/containers/{next(iter(ready.values()))}"), ("POST", "action/stop"), ("DELETE", f"live/nodes/{HOSTS[0]}")):
        assert one.ask(verb, path).status == 409, path
    assert one.by_rm("GET", "live/liveness").status == 200
    ours.destroy(name)


def test_a_java_client_needs_nothing_but_the_document(ours):
    done = subprocess.run([java(), *JVM, "-cp", classes(), "Client", f"http://127.0.0.1:{ours.port}", "alice", "japp"],
                          capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert "flexed: stale 412, current 202" in lines and "containers after the flex: [slider-appmaster, web, worker] worker=4" in lines
    assert lines[-2:] == ["stopped", "destroyed: 202"]


METAINFO = {"schemaVersion": "2.1", "application": {"name": "P", "components": [
    {"name": "server", "commands": [{"exec": "cat definition/package/hello; exec sleep 1000"}]}]}}


def test_a_package_of_hdfs_runs_from_the_command_line(ours, tmp_path):
    """create, status, flex, stop, start, destroy; the package is read by node managers, and DNS finds what runs."""
    stack, name = ours.stack, f"packed{next(COUNT)}"
    zipped = slider.package(str(tmp_path / "p.zip"), metainfo=METAINFO, **{"package/hello": "from HDFS\n"})
    assert change(ours.cluster, "/packages/p.zip", "alice", "create", zipped, "644") == "ok"
    conf = slider.conf({"server": {}}, **{"application.def": f"{ours.cluster.file_system}/packages/p.zip"})
    paths = slider.files(str(tmp_path), resources=slider.resources(server=1), appConfig=conf)
    ok(stack, "create", name, "--resources", paths["resources"], "--template", paths["appConfig"], "--package", zipped, "--wait", "-q")
    app = App(ours, name)
    (container, _), = app.containers("server").items()
    wait_for(lambda: "from HDFS" in app.ask("GET", f"live/containers/{container}/logs/stdout.txt").body.decode(), "it has read the package")
    assert json.loads(ok(stack, "status", "-o", "json", name))["state"] == "STABLE"
    ok(stack, "flex", name, "--component", "server", "2", "--wait", "-q")
    assert len(app.containers("server")) == 2
    wait_for(lambda: stack.dig(f"server.{name}.alice.bobbin.test", "A"), "DNS finds it")
    assert "server" in refused(stack, 2, "flex", name, "--component", "server", "-7")
    ok(stack, "stop", name, "-q")
    assert app.get("live/diagnostics")["finalStatus"] == "SUCCEEDED" and app.get("live/containers") == {}
    assert app.ask("GET", "action/ping").status == 503
    ok(stack, "start", name, "--wait", "-q")
    assert App(ours, name).id != app.id and len(App(ours, name).containers("server")) == 2
    ok(stack, "destroy", name)
    wait_for(lambda: app.api.ask("GET", f"{slider.NAMED}/{name}").status == 404, "it is gone", SLOW)
