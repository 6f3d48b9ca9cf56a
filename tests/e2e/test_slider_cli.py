"""`bobbin slider …` against a real svcmgr: the documents of Slider become processes that DNS finds, on this host and simulated."""
import json
import os

import pytest

import slider
from commands import commands
from harness import Manager, Stack, wait_for

pytestmark = pytest.mark.sanitize


@pytest.fixture(scope="module")
def stack():
    with Stack(services=True) as s:
        yield s


run, ok, refused = commands("slider")


def create(stack, name, directory, resources, app_conf, *words):
    paths = slider.files(str(directory), resources=resources, appConfig=app_conf)
    return ok(stack, "create", name, "--resources", paths["resources"], "--template", paths["appConfig"], "-q", *words)


def live(stack, name, component):
    """Containers of a component that live."""
    shown = json.loads(ok(stack, "status", "-o", "json", name)).get("containers", {})
    return sorted(i for i, c in shown.items() if c["component"] == component and c["state"] == 3 and not c.get("released"))


def addresses(stack, name):
    stack.sync_all()
    return stack.dig(f"{name}.alice.bobbin.test")


def test_documents_become_processes_that_dns_finds(stack, tmp_path):
    said = create(stack, "demo", tmp_path, slider.resources(web=1, worker=2),
                  slider.commands(web="sleep 1000", worker="sleep 1000"), "--wait")
    assert said == "created demo\n"
    row, = [line.split() for line in ok(stack, "list").splitlines() if line.startswith("demo ")]
    assert row[2].startswith("application_") and row[3] == "alice"
    lines = ok(stack, "status", "demo").splitlines()
    assert lines[0].startswith("demo ") and lines[0].endswith(row[2])
    table = {line.split()[0]: line.split()[1:] for line in lines if line.startswith(("web ", "worker "))}
    assert table["web"][:3] == ["1", "1", "1"] and table["worker"][:3] == ["2", "2", "2"]
    wait_for(lambda: (len(addresses(stack, "web.demo")), len(addresses(stack, "worker.demo"))) == (1, 2), "each instance is found")
    for i in live(stack, "demo", "worker"):
        own, = stack.dig(i.replace("container_", "ctr-").replace("_", "-") + ".bobbin.test")
        assert own in addresses(stack, "worker.demo")
    ok(stack, "destroy", "demo")
    wait_for(lambda: not addresses(stack, "web.demo"), "its names are gone")


def test_flexing_changes_numbers_and_dns(stack, tmp_path):
    create(stack, "flexed", tmp_path, slider.resources(worker=1), slider.commands(worker="sleep 1000"), "--wait")
    assert ok(stack, "flex", "flexed", "--component", "worker", "3", "--wait", "-q") == "flexed flexed\n"
    assert len(wait_for(lambda: len(live(stack, "flexed", "worker")) == 3 and live(stack, "flexed", "worker"), "three live")) == 3
    wait_for(lambda: len(addresses(stack, "worker.flexed")) == 3, "DNS finds three")
    ok(stack, "flex", "flexed", "--component", "worker", "-2", "-q")
    wait_for(lambda: len(live(stack, "flexed", "worker")) == 1, "one is left")
    wait_for(lambda: len(addresses(stack, "worker.flexed")) == 1, "DNS finds one")
    assert "worker" in refused(stack, 2, "flex", "flexed", "--component", "worker", "-7")
    paths = slider.files(str(tmp_path), whole=slider.resources(worker=2))
    ok(stack, "flex", "flexed", "--resources", paths["whole"], "--wait", "-q")
    wait_for(lambda: len(live(stack, "flexed", "worker")) == 2, "the document counts")
    ok(stack, "destroy", "flexed")


def test_stop_and_start(stack, tmp_path):
    create(stack, "halted", tmp_path, slider.resources(w=1), slider.commands(w="sleep 1000"), "--wait")
    first, = live(stack, "halted", "w")
    assert ok(stack, "stop", "halted", "-q") == "stopped halted\n"
    assert "STOPPED" in ok(stack, "status", "halted").splitlines()[0]
    assert not [line for line in ok(stack, "list").splitlines() if line.startswith("halted ")]
    assert [line for line in ok(stack, "list", "--all").splitlines() if line.startswith("halted ")]
    assert ok(stack, "start", "halted", "--wait", "-q") == "started halted\n"
    assert live(stack, "halted", "w") not in ([], [first])
    ok(stack, "destroy", "halted")


METAINFO = {"schemaVersion": "2.1", "application": {"name": "PACKED", "version": "1", "components": [
    {"name": "SERVER", "category": "MASTER", "maxInstanceCount": "2",
     "commands": [{"exec": "cat definition/package/hello conf/site.properties > $LOG_FILE; exec sleep 1000"}]},
    {"name": "TOOL", "category": "CLIENT"}],
    "configFiles": [{"type": "properties", "fileName": "site.properties", "dictionaryName": "site"}]}}


def test_a_package_says_what_runs(stack, tmp_path):
    zipped = slider.package(f"{stack.dir}/packed.zip", **{"metainfo": METAINFO, "package/hello": "from the package\n"})
    os.makedirs(f"{stack.dir}/out", exist_ok=True)
    os.chmod(f"{stack.dir}/out", 0o777)
    app_conf = slider.conf({"SERVER": {}}, **{"env.LOG_FILE": f"{stack.dir}/out/said", "site.site.color": "green"})
    create(stack, "packed", tmp_path, slider.resources(SERVER=1), app_conf, "--package", zipped, "--wait")

    def said():
        with open(f"{stack.dir}/out/said", encoding="utf-8") as f:
            return f.read()
    wait_for(lambda: os.path.exists(f"{stack.dir}/out/said") and "color" in said(), "it has written")
    assert "from the package" in said() and "green" in said()
    assert "2 or less" in refused(stack, 2, "flex", "packed", "--component", "SERVER", "3")
    ok(stack, "destroy", "packed")


def test_what_needs_the_agent_is_refused(stack, tmp_path):
    script = {"application": {"name": "HBASE", "components": [{"name": "MASTER", "commandScript": {"script": "scripts/master.py"}}]}}
    zipped = slider.package(str(tmp_path / "hbase.zip"), metainfo=script)
    paths = slider.files(str(tmp_path), resources=slider.resources(MASTER=1), appConfig=slider.conf({"MASTER": {}}),
                         own=slider.commands(MASTER="sleep 1000"))
    said = refused(stack, 30, "create", "h", "--resources", paths["resources"], "--template", paths["appConfig"], "--package", zipped)
    assert f"{zipped}: metainfo.json: components/MASTER/commandScript" in said and "launch_command" in said
    words = ["h", "--resources", paths["resources"], "--template", paths["own"], "--package", zipped]
    refused(stack, 10, "update", *words)
    ok(stack, "create", *words)
    assert "slider update" in refused(stack, 11, "create", *words)
    assert ok(stack, "update", *words) == "updated h\n"
    ok(stack, "destroy", "h")


def test_what_is_wrong_is_said(stack, tmp_path):
    paths = slider.files(str(tmp_path), resources=slider.resources(w=1), nothing=slider.conf({"w": {}}),
                         negative=slider.resources(w=-2), appConfig=slider.commands(w="sleep 1"))
    assert "--resources and --template" in refused(stack, 2, "create", "x")
    said = refused(stack, 2, "create", "x", "--resources", paths["resources"], "--template", paths["nothing"])
    assert "launch_command" in said and "w" in said
    said = refused(stack, 2, "create", "x", "--resources", paths["negative"], "--template", paths["appConfig"])
    assert "yarn.component.instances" in said
    refused(stack, 10, "status", "nobody")
    refused(stack, 10, "stop", "nobody")
    assert "--component" in refused(stack, 2, "flex", "x")
    assert "NUMBER" in refused(stack, 2, "flex", "x", "--component", "w", "many")
    with open(tmp_path / "broken.json", "w", encoding="utf-8") as f:
        f.write("{")
    assert "broken.json:1:" in refused(stack, 21, "create", "x", "--resources", str(tmp_path / "broken.json"), "--template", paths["appConfig"])


def test_a_simulated_application(tmp_path):
    with Manager(options={"svcmgr": {"yarn.service.cluster": "sim"}}) as sim:
        create(sim, "many", tmp_path, slider.resources(w=20, v=1), slider.commands(w="serve", v="serve"), "--wait")
        assert len(wait_for(lambda: len(live(sim, "many", "w")) == 20 and live(sim, "many", "w"), "all live")) == 20
        ok(sim, "flex", "many", "--component", "w", "+5", "--component", "v", "0", "--wait", "-q")
        wait_for(lambda: (len(live(sim, "many", "w")), len(live(sim, "many", "v"))) == (25, 0), "both have changed")
        assert ok(sim, "stop", "many", "-q", "-o", "json") == json.dumps({"change": "stopped", "application": "many"}, indent=2) + "\n"
        ok(sim, "destroy", "many")


def test_keys_that_are_ignored_are_named(tmp_path):
    """The Warning header of an answer, on standard error."""
    with Manager(options={"svcmgr": {"yarn.service.cluster": "sim"}}) as sim:
        resources, app_conf = slider.resources(w=1), slider.commands(w="serve")
        resources["global"]["memory"] = "64"
        app_conf["components"]["w"]["yarn.vcores"] = "2"
        paths = slider.files(str(tmp_path), resources=resources, appConfig=app_conf)
        done = run(sim, "create", "odd", "--resources", paths["resources"], "--template", paths["appConfig"], "--wait", "-q")
        assert (done.returncode, done.stdout) == (0, "created odd\n")
        assert done.stderr.splitlines() == [
            "bobbin: warning: keys of a resources document begin with yarn., these are ignored: global/memory",
            "bobbin: warning: keys that begin with yarn. belong to the resources document, these are ignored: w/yarn.vcores"]
        done = run(sim, "flex", "odd", "--resources", paths["resources"])
        assert done.returncode == 0 and done.stderr.count("warning") == 1 and "global/memory" in done.stderr
        assert run(sim, "flex", "odd", "--component", "w", "2").stderr == ""
        ok(sim, "destroy", "odd")
