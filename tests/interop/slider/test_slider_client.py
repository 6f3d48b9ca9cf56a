"""Clients of the Slider API: a Java program that was written from its document (Client.java), and one that follows every link."""
import os
import subprocess

import pytest

import slider
from harness import ROOT, Manager
from java import JVM, java
from links import Walk

HERE = os.path.dirname(os.path.abspath(__file__))
CACHE = os.path.join(ROOT, "build", "slider-client")


@pytest.fixture(scope="module", params=["local", "sim"])
def manager(request):
    with Manager(options={"svcmgr": {"yarn.service.cluster": request.param}}) as m:
        yield m


def classes():
    """Directory of the compiled Java files, compiled when a source is newer."""
    sources = [os.path.join(HERE, name) for name in ("Client.java", "Json.java")]
    target = os.path.join(CACHE, "Client.class")
    if not os.path.exists(target) or os.path.getmtime(target) < max(map(os.path.getmtime, sources)):
        done = subprocess.run(["javac", "-proc:none", "-Xlint:all", "-d", CACHE, *sources], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return CACHE


def test_a_java_client_needs_nothing_but_the_document(manager):
    done = subprocess.run([java(), *JVM, "-cp", classes(), "Client", f"http://127.0.0.1:{manager.services_port}", "alice", "japp"],
                          capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == [
        "created: 202", "containers at first: [slider-appmaster, web, worker] worker=2", "flexed: stale 412, current 202",
        "containers after the flex: [slider-appmaster, web, worker] worker=4", "released: 202",
        "refused: 400 BadRequestException, long enough: true", "pinged by name: DELETE", "stopping: 202", "stopped", "destroyed: 202"]


def test_every_link_leads_somewhere(manager):
    api = slider.Slider(manager.services_port)
    root = api.create("linked", slider.resources(web=1, worker=2), slider.commands(web="sleep 1000", worker="sleep 1000"))
    api.until_live("linked")
    walk = Walk(api, root, manager.registry_port)
    walk.all()
    # Simulated processes write nothing that could be shown.
    broken = [line for line in walk.broken if "/logs/" not in line or manager.svcmgr.options["yarn.service.cluster"] != "sim"]
    assert not broken, "\n".join(broken)
    assert {f"{root}/application/live/{name}" for name in
            ("resources", "containers", "components", "nodes", "liveness", "statistics", "diagnostics")} <= walk.seen
    assert len({path for path in walk.seen if "/live/containers/container_" in path and "/logs" not in path}) == 4
    assert any("/publisher/slider/" in path for path in walk.seen)
    assert api.ask("DELETE", f"{slider.NAMED}/linked").status == 202
