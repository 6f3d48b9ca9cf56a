"""Hadoop's own commands, `yarn app` and `yarn container`, against svcmgr in the dialect hadoop3: each one that asks the services API, with
its exit code and what it prints. The texts are those that the same commands print beside a real resource manager of Hadoop 3.4.2, except that those of
upgrades are the API's documented ones."""
import json
import os
import re
import subprocess

import pytest

from harness import HELLO, ROOT, Manager, containers, wait_for
from java import JVM, java, site
from maven import classpath

pytestmark = pytest.mark.group("services")

POM, JARS = os.path.join(ROOT, "tests", "interop", "yarn", "services.xml"), os.path.join(ROOT, "build", "hadoop-services-3.4.2")
CLI = "org.apache.hadoop.yarn.client.cli.ApplicationCLI"
FAILED = 56
LOG4J = """log4j.rootLogger=WARN, console
log4j.logger.org.apache.hadoop.yarn.service=INFO
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.target=System.err
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%c{1}: %m%n
"""
OPTIONS = {"yarn.service.api-server.dialect": "hadoop3", "yarn.service.upgrade.enabled": "true"}


def document(version="v1", seconds=1000, **more):
    def component(name):
        return {"name": name, "number_of_containers": 2, "launch_command": f"sleep {seconds}", "resource": {"cpus": 1, "memory": "16"}}
    return {"name": "in-the-file", "version": version, "components": [component("a"), component("b")],
            "configuration": {"properties": {"yarn.service.readiness-check-interval.seconds": "1"}}, **more}


class Yarn:
    """`yarn` of a user who has one service."""

    def __init__(self, manager, directory, name):
        self.manager, self.dir, self.name = manager, directory, name
        (directory / "yarn-site.xml").write_text(site({"yarn.resourcemanager.webapp.address": f"127.0.0.1:{manager.services_port}"}))
        (directory / "log4j.properties").write_text(LOG4J)
        self.env = {**{k: v for k, v in os.environ.items() if not k.startswith(("HADOOP_", "YARN_"))},
                    "YARN_SERVICE_EXAMPLES_DIR": str(directory), "HADOOP_USER_NAME": "alice"}

    def __call__(self, *words, expect=0):
        """What it prints: its output, then what its client says."""
        done = subprocess.run([java(), *JVM, "-cp", f"{self.dir}:{classpath(POM, JARS)}", CLI, *words],
                              capture_output=True, text=True, check=False, cwd=self.dir, env=self.env, timeout=120)
        assert done.returncode == expect, done.stdout + done.stderr
        lines = done.stderr.splitlines()
        said = [line.partition(": ")[2] for line in lines if line.startswith(("ApiServiceClient: ", "org.apache.hadoop.yarn.exceptions."))]
        return done.stdout + "\n".join(said)

    def says(self, *words, expect=0):
        """The answer of the server that it prints last."""
        return json.loads(self(*words, expect=expect).splitlines()[-1])

    def file(self, name="service.json", **how):
        (self.dir / name).write_text(json.dumps(document(**how)))
        return str(self.dir / name)

    def service(self):
        return self.manager.service(self.name)

    def until(self, state="STABLE", **instances):
        """It, as soon as it is in this state with this version or these instances."""
        def there():
            now = self.service()
            names = sorted(c["component_instance_name"] for c in containers(now))
            right = names == sorted(instances["names"]) if "names" in instances else True
            return now if now["state"] == state and right and now.get("version") == instances.get("version", now.get("version")) else None
        return wait_for(there, f"{self.name} is {state} {instances}")

    def versions(self, version):
        """Names of the instances that run this version, as `yarn container -list` sees it."""
        return {one["component_instance_name"]: one["state"]
                for component in json.loads(self("container", "-list", self.name, "-version", version)) for one in component["containers"]}


@pytest.fixture(scope="module")
def manager():
    with Manager(options={"svcmgr": OPTIONS}) as started:
        yield started


@pytest.fixture
def yarn_app(manager, tmp_path, request):
    """With a service of two components that is STABLE."""
    user = Yarn(manager, tmp_path, re.sub("[^a-z]+", "-", request.node.name.removeprefix("test_"))[:40].strip("-"))
    answer = manager.services("POST", "?user.name=alice", {**document(), "name": user.name})
    assert answer.status == 202, answer
    user.until()
    yield user
    manager.services("DELETE", f"/{user.name}?user.name=alice")


@pytest.fixture
def nothing(manager, tmp_path):
    """Without a service."""
    user = Yarn(manager, tmp_path, "fresh")
    yield user
    manager.services("DELETE", "/fresh?user.name=alice")


def test_launch(nothing):
    said = nothing.says("app", "-launch", "fresh", nothing.file(), "-updateLifetime", "3600", "-changeQueue", "default")
    assert said["uri"] == "/v1/services/fresh" and said["state"] == "ACCEPTED"
    assert re.fullmatch(r"Application ID: application_\d+_\d{4,}", said["diagnostics"]), "nothing that the client sends is unknown"
    now = nothing.until()
    assert 3500 < now["lifetime"] <= 3600 and now["queue"] == "default"
    taken = nothing.says("app", "-launch", "fresh", nothing.file(), expect=FAILED)
    assert taken == {"diagnostics": "Service name fresh is already taken."}


def test_launch_of_an_example(nothing):
    (nothing.dir / "sleeper.json").write_text(json.dumps({**HELLO, "components": document()["components"]}))
    nothing("app", "-launch", "fresh", "sleeper")
    nothing.until(names=["a-0", "a-1", "b-0", "b-1"])
    assert "File or example could not be found: other" in nothing("app", "-launch", "second", "other", expect=FAILED)


def test_launch_of_what_is_not_valid(nothing):
    path = nothing.file(version="")
    assert nothing.says("app", "-launch", "fresh", path, expect=FAILED) == {
        "diagnostics": "Version of service fresh is either empty or not provided"}


def test_status(yarn_app):
    shown = json.loads(yarn_app("app", "-status", yarn_app.name))
    assert shown["name"] == yarn_app.name and shown["state"] == "STABLE"
    assert [c["state"] for c in containers(shown)] == ["READY"] * 4
    assert yarn_app("app", "-status", "nosuch") == " Service nosuch not found\n"


def test_flex(yarn_app):
    words = ("app", "-flex", yarn_app.name, "-component")
    assert yarn_app.says(*words, "a", "3", "-component", "b", "1") == {
        "diagnostics": f"Service {yarn_app.name} is successfully flexed.", "state": "ACCEPTED"}
    yarn_app.until(names=["a-0", "a-1", "a-2", "b-0"])
    assert yarn_app.says(*words, "nosuch", "3", expect=FAILED) == {"diagnostics": "nosuch does not exist !"}


def test_stop_start_destroy(yarn_app):
    name = yarn_app.name
    assert yarn_app.says("app", "-start", name, expect=FAILED) == {
        "diagnostics": f"Failed to start service {name}, because it already exists."}
    assert yarn_app.says("app", "-stop", name) == {"diagnostics": f"Successfully stopped service {name}"}
    yarn_app.until("STOPPED")
    assert yarn_app.says("app", "-stop", name, expect=FAILED) == {"diagnostics": f"Service {name} is already stopped"}
    started = yarn_app.says("app", "-start", name)
    assert re.fullmatch(f"Service {name} is successfully started with ApplicationId: application_\\d+_\\d+", started["diagnostics"])
    assert started["state"] == "ACCEPTED" and started["diagnostics"].endswith(yarn_app.until()["id"])
    assert yarn_app.says("app", "-destroy", name) == {"diagnostics": f"Successfully destroyed service {name}"}
    assert yarn_app.says("app", "-destroy", name, expect=FAILED) == {"diagnostics": f"Service {name} doesn't exist"}


def test_save(nothing):
    assert nothing.says("app", "-save", "fresh", nothing.file()) == {
        "uri": "/v1/services/fresh", "diagnostics": "Service fresh version v1 saved.", "state": "ACCEPTED"}
    assert json.loads(nothing("app", "-status", "fresh"))["state"] == "STOPPED"
    nothing("app", "-start", "fresh")
    nothing.until()


def test_list_of_containers(yarn_app):
    name = yarn_app.name
    both = json.loads(yarn_app("container", "-list", name))
    assert {one["componentName"]: len(one["containers"]) for one in both} == {"a": 2, "b": 2}
    words = ("-appTypes", "yarn-service", "-components", "a", "-version", "v1", "-states", "READY")
    assert json.loads(yarn_app("container", "-list", name, *words)) == [one for one in both if one["componentName"] == "a"]
    assert json.loads(yarn_app("container", "-list", name, "-states", "STOPPED")) == []
    bogus = yarn_app("container", "-list", name, "-states", "BOGUS")
    assert bogus.startswith('Failed: HTTP error code: 400 ErrorMsg: {"diagnostics":"valid container states are: [RUNNING_BUT_UNREADY, READY,')


def test_decommission(yarn_app):
    assert yarn_app.says("app", "-decommission", yarn_app.name, "-instances", "a-0,b-1") == {
        "diagnostics": f"Service {yarn_app.name} has successfully decommissioned instances.", "state": "ACCEPTED"}
    yarn_app.until(names=["a-1", "b-0"])
    assert yarn_app.says("app", "-decommission", yarn_app.name, "-instances", "c-0", expect=FAILED) == {
        "diagnostics": "c-0 does not exist !"}


def test_upgrade_by_hand(yarn_app):
    name, before = yarn_app.name, {c["component_instance_name"]: c["id"] for c in containers(yarn_app.service())}
    begun = {"diagnostics": f"Service {name} version v2 saved.", "state": "ACCEPTED"}
    assert yarn_app.says("app", "-upgrade", name, "-initiate", yarn_app.file(version="v2", seconds=2000)) == begun
    yarn_app.until("UPGRADING")
    assert yarn_app.says("app", "-upgrade", name, "-instances", "a-1")["diagnostics"] == f"Upgrading component instances {before['a-1']}."
    wait_for(lambda: yarn_app.versions("v2") == {"a-1": "READY"}, "one runs the new version")
    assert yarn_app.says("app", "-upgrade", name, "-components", "a,b")["diagnostics"] == "Upgrading components a,b."
    wait_for(lambda: yarn_app.versions("v2") == {one: "READY" for one in before}, "all run the new version")
    assert yarn_app.says("app", "-upgrade", name, "-finalize")["diagnostics"].startswith(f"Service {name} is successfully ")
    now = yarn_app.until(version="v2")
    assert {c["component_instance_name"]: c["id"] for c in containers(now)} == before


def test_upgrade_cancelled(yarn_app):
    name = yarn_app.name
    yarn_app("app", "-upgrade", name, "-initiate", yarn_app.file(version="v2", seconds=2000))
    yarn_app.until("UPGRADING")
    yarn_app("app", "-upgrade", name, "-instances", "a-1")
    wait_for(lambda: yarn_app.versions("v2") == {"a-1": "READY"}, "one runs the new version")
    assert yarn_app.says("app", "-upgrade", name, "-cancel") == {
        "diagnostics": f"Service {name} cancelling upgrade.", "state": "ACCEPTED"}
    yarn_app.until(version="v1")
    assert sorted(yarn_app.versions("v1")) == ["a-0", "a-1", "b-0", "b-1"]
    assert yarn_app.says("app", "-upgrade", name, "-cancel", expect=FAILED) == {
        "diagnostics": f"Service {name} is not upgrading, so nothing to cancel."}


@pytest.mark.parametrize("how", ["-express", "-autoFinalize"])
def test_upgrade_at_once(yarn_app, how):
    name, path = yarn_app.name, yarn_app.file(version="v2", seconds=2000)
    words = ("-express", path) if how == "-express" else ("-initiate", path, how)
    assert yarn_app.says("app", "-upgrade", name, *words) == {"diagnostics": f"Service {name} version v2 saved.", "state": "ACCEPTED"}
    if how == "-autoFinalize":
        yarn_app.until("UPGRADING_AUTO_FINALIZE")
        yarn_app("app", "-upgrade", name, "-components", "a,b")
    yarn_app.until(version="v2")
    assert sorted(yarn_app.versions("v2")) == ["a-0", "a-1", "b-0", "b-1"]


def test_what_cannot_be_upgraded(yarn_app):
    name = yarn_app.name
    assert yarn_app.says("app", "-upgrade", name, "-initiate", yarn_app.file(), expect=FAILED) == {
        "diagnostics": f"{name} is already at version v1. There is nothing to upgrade."}
    assert yarn_app.says("app", "-upgrade", name, "-components", "a", expect=FAILED) == {
        "diagnostics": f"The upgrade of service {name} has not been initiated."}
