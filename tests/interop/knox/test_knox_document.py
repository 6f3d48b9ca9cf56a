"""docs/knox.md as people follow it: its commands word by word, but for directories and ports, on a Knox that runs for others."""
import http.server
import json
import os
import re
import shlex
import shutil
import subprocess
import threading
import zipfile

import pytest

import knox
from gateway import Follow, curl
from harness import BIN, free_port

SCRIPT = """#!/bin/sh
cd {directory} || exit
case $1 in
start) timeout 300 {java} >>log 2>&1 & echo $! >pid ;;
stop) [ ! -f pid ] || kill "$(cat pid)" ;;
esac
"""
# What another service says: addresses that look like those of ours.
OTHERS = {"uri": "http://am:1234/ws/v1/mapreduce", "of": "http://other:9191/app/v1/services/a", "n": 1e3,
          "in": "http://host:1/gateway/hadoop/bobbin/registry/ws/v1/registry"}


class ResourceManager(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps(OTHERS).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("X-Path", self.path.split("?")[0])
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def resource_manager():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), ResourceManager)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/ws"
    server.shutdown()
    server.server_close()


class Followed:
    """A Knox before the ResourceManager, an installed Bobbin, and what the document's commands have made of them."""

    def __init__(self, behind, directory, resource_manager):
        self.directory, self.prefix = directory, directory / "bobbin"
        self.ports = {"9192": behind.secure.registry_port, "9191": behind.stack.services_port, "8443": free_port()}
        self.gateway = knox.Gateway({}, directory=str(directory / "knox"), port=self.ports["8443"])
        self.home = directory / "knox"
        self._lay_down_knox(f"<service><role>RESOURCEMANAGER</role><url>{resource_manager}</url></service>")
        subprocess.run(["cmake", "--install", os.path.dirname(BIN), "--prefix", self.prefix], capture_output=True, check=True)
        topology = self.prefix / "share/bobbin/knox/topologies/bobbin.xml"
        topology.write_text(self.of_test(topology.read_text()))

    def of_test(self, text):
        """The same with the directories and ports of this test."""
        text = text.replace("KNOX=/opt/knox", f"KNOX={self.home}").replace("BOBBIN=/usr/local", f"BOBBIN={self.prefix}")
        return re.sub("|".join(self.ports), lambda found: str(self.ports[found[0]]), text)

    def _lay_down_knox(self, service):
        """As others have it: a service of its own, in two topologies, to one of which the roles of the document are added."""
        self.gateway.lay_down()
        shutil.rmtree(self.home / "data/services")
        jar, = (jar for jar in knox.classpath(knox.POM, knox.JARS).split(":") if "gateway-service-definitions" in jar)
        with zipfile.ZipFile(jar) as definitions:
            definitions.extractall(self.home / "data", [name for name in definitions.namelist() if name.startswith("services/yarn-rm/")])
        before = re.sub("<service>.*</service>", service, knox.topology(["http://r"], ["http://s"]), flags=re.S)
        (self.home / "conf/topologies/before.xml").write_text(before)
        roles = self.of_test(knox.documented("Set it up", 1))
        (self.home / "conf/topologies/hadoop.xml").write_text(before.replace(service, service + roles))
        (self.home / "bin").mkdir()
        script = self.home / "bin/gateway.sh"
        java = shlex.join(self.gateway.java("org.apache.knox.gateway.GatewayServer"))
        script.write_text(SCRIPT.format(directory=self.home, java=java))
        script.chmod(0o755)

    def environment(self):
        clean = {name: value for name, value in os.environ.items() if not name.startswith("HADOOP")}
        return {**clean, "KNOX": str(self.home), "PATH": f"{self.prefix}/bin:{os.environ['PATH']}"}

    def run(self, commands, **how):
        done = subprocess.run(["bash", "-e", "-c", self.of_test(commands)], cwd=self.directory, env=self.environment(), check=False,
                              capture_output=True, text=True, timeout=knox.START_S, **how)
        assert done.returncode == 0, (commands, done, self.gateway.log())
        return done.stdout

    def url(self, topology):
        return f"https://127.0.0.1:{self.ports['8443']}/gateway/{topology}"


@pytest.fixture(scope="module")
def followed(behind, resource_manager, tmp_path_factory):
    one = Followed(behind, tmp_path_factory.mktemp("document"), resource_manager)
    try:
        one.answer = one.run(knox.documented("Set it up"))
        yield one
    finally:
        subprocess.run([one.home / "bin/gateway.sh", "stop"], check=False)


def test_ten_lines(behind, followed):
    """From a Knox that runs to what the registry says."""
    assert len(knox.documented("Set it up").splitlines()) <= 10
    assert followed.answer.encode() == behind.direct("/users").body


def test_roles_beside_others(behind, followed):
    """Both roles work in a topology of others, and the others are answered as before."""
    registry = curl(followed.url("hadoop") + "/bobbin/registry/ws/v1/registry/users")
    assert registry.status == 200 and registry.body == behind.direct("/users").body
    assert curl(followed.url("hadoop") + "/bobbin/app/v1/services").json == []
    before, beside = (curl(followed.url(name) + "/resourcemanager/v1/cluster/info") for name in ("before", "hadoop"))
    assert before.status == 200 and "/ws/v1/cluster/info" in before.headers["x-path"]
    assert (beside.status, beside.headers["x-path"], beside.body) == (before.status, before.headers["x-path"], before.body)
    assert json.loads(beside.body) == OTHERS


def test_the_command_line(followed):
    (followed.directory / "FILE").write_text("alice-secret\n")
    assert "BEGIN CERTIFICATE" in followed.run(knox.documented("The command line", 1) + "cat CA.pem", input=knox.SECRET + "\n")
    shutil.copy(followed.prefix / "share/bobbin/examples/hello-world.json", followed.directory)
    watch, launch = knox.documented("The command line").splitlines()
    with Follow(["bash", "-c", "exec " + followed.of_test(watch)], cwd=followed.directory, env=followed.environment()) as lines:
        assert lines.until("synced")
    assert "hello-world" in followed.run(launch)
    followed.run(launch.replace("launch hello-world.json", "destroy hello-world"))


def test_prompt_watches(behind, followed):
    """The property of the document is the one in gateway-site.xml: lines pass before a watch ends."""
    with open(followed.home / "conf/gateway-site.xml", encoding="utf-8") as f:
        assert knox.documented("Watches").strip() in f.read()
    with Follow(["curl", "-skN", "-u", "alice:alice-secret", followed.url("bobbin") + "/bobbin/registry/ws/v1/registry/users?watch=true"]) as lines:
        assert lines.until('{"type":"sync"') and lines.process.poll() is None
