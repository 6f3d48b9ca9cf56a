"""Services of svcmgr on a real YARN cluster with HDFS, logs that YARN collects, and a node label: the master's files, those of containers,
what a node manager is given for an image, and where logs and containers are."""
import http.server
import io
import itertools
import os
import subprocess
import tarfile
import threading

import pytest

from frameworks import Frameworks, role
from harness import BIN, DOMAIN, request, wait_for
from services import SLOW, Ours, sleepers
from yarn import Cluster

pytestmark = pytest.mark.group("services")

COUNT = itertools.count()


@pytest.fixture(scope="module")
def services():
    settings = {"yarn.scheduler.minimum-allocation-mb": 32, "yarn.log-aggregation-enable": "true",
                "yarn.nodemanager.remote-app-log-dir": "/logs",
                "yarn.nodemanager.log-aggregation.debug-enabled": "true",
                "yarn.nodemanager.log-aggregation.roll-monitoring-interval-seconds": 3,
                "yarn.node-labels.enabled": "true",
                **{f"yarn.scheduler.capacity.root.{queue}accessible-node-labels{key}": value for queue in ("", "default.")
                   for key, value in (("", "*"), (".gpu.capacity", 100))}}
    with Cluster(hdfs=True, user="hdfs", settings=settings) as cluster:
        assert change(cluster, "/", "hdfs", "mkdirs", "755") == "ok"
        for path, mode in (("/user/bob", "755"), ("/user/alice", "777"), ("/logs", "1777")):
            assert change(cluster, path, "hdfs", "mkdirs", mode) == "ok"
        with Ours(cluster) as ours:
            yield ours


class Serving:
    """A web server on loopback. requests: the paths it was asked for with GET."""

    def __init__(self, files):
        requests = self.requests = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                requests.append(self.path)
                self.send_response(200 if self.path in files else 404)
                self.end_headers()
                self.wfile.write(files.get(self.path, b""))

            def log_message(self, *_):
                pass
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def change(cluster, path, user, *words):
    """A request of svcmgr/fs/client.h: its one line."""
    done = subprocess.run([os.path.join(BIN, "hdfs-change"), f"webhdfs://{cluster.name_node}{path}", user, *words], capture_output=True,
                          text=True, check=False, timeout=120)
    assert done.returncode in (0, 1), done
    return done.stdout.rstrip("\n")


def listed(cluster, path, user="alice"):
    """Names, modes and lengths below a directory of HDFS: {} when it is not there."""
    answer = request(cluster.nn_at["http-address"], "GET", f"/webhdfs/v1{path}?op=LISTSTATUS&user.name={user}")
    if answer.status == 404:
        return {}
    assert answer.status == 200, answer
    return {one["pathSuffix"]: one for one in answer.json["FileStatuses"]["FileStatus"]}


def directory(services):
    """Of the only service's files."""
    (name,) = [name for name in listed(services.cluster, "/user/alice/.yarn") if name.startswith("bobbin-")]
    return f"/user/alice/.yarn/{name}"


def gone(services):
    return not listed(services.cluster, "/user/alice/.yarn")


def test_the_files_of_a_master_are_in_hdfs_while_its_application_lives(services):
    """They are its owner's alone, outlive attempts of the master and restarts of svcmgr, and go with a stop; a start has them anew."""
    name = services.launch(sleepers(f"staged-{next(COUNT)}", 1))
    services.until(name, 1)
    files = listed(services.cluster, directory(services))
    assert {(key.rpartition("-")[0], one["permission"], one["owner"]) for key, one in files.items() if one["type"] == "FILE"} == {
        ("am", "600", "alice"), ("yarn-site", "600", "alice")}
    assert listed(services.cluster, "/user/alice/.yarn")[os.path.basename(directory(services))]["permission"] == "700"
    killed = services.kill_master(name)
    services.stack.svcmgr.kill()
    services.stack.svcmgr.start()
    wait_for(lambda: services.master(name) not in (None, killed), "another attempt fetches them", SLOW)
    services.until_tidy(name, timeout=60)
    assert listed(services.cluster, directory(services)) == files
    assert services.ask("PUT", "/" + name, {"state": "STOPPED"}).status in (200, 202)
    wait_for(lambda: services.service(name)["state"] == "STOPPED" and gone(services), "they have gone", SLOW)
    assert services.ask("PUT", "/" + name, {"state": "STARTED"}).status in (200, 202)
    services.until(name, 1)
    services.destroy(name)
    wait_for(lambda: gone(services), "they have gone again", SLOW)


def test_a_service_fails_by_the_refusal_of_hdfs(services):
    """The home of bob is not his."""
    document = sleepers(f"refused-{next(COUNT)}", 1)
    answer = request(services.port, "POST", f"{services.prefix}?user.name=bob", document)
    assert answer.status == 202, answer

    def failed():
        now = request(services.port, "GET", f"{services.prefix}/{document['name']}?user.name=bob").json
        assert now["state"] == "FAILED", now
        return now["diagnostics"]
    said = wait_for(failed, "it has failed")
    assert "Permission denied: user=bob, access=WRITE" in said
    assert request(services.port, "DELETE", f"{services.prefix}/{document['name']}?user.name=bob").status in (200, 204)


def test_a_submission_waits_while_hdfs_is_away(services):
    name_node = next(member for member in services.cluster.members if member.name == "namenode")
    name_node.kill()
    name = services.launch(sleepers(f"waits-{next(COUNT)}", 1))
    wait_for(lambda: f"{services.cluster.file_system}/user/alice/.yarn" in services.explained(name), "it says what it waits for")
    name_node.start()
    services.until(name, 1)
    services.destroy(name)
    wait_for(lambda: gone(services), "all files have gone", SLOW)


def put(services, path, content, user="alice", mode="644"):
    local = os.path.join(services.cluster.dir, "tmp", "content")
    with open(local, "wb") as f:
        f.write(content)
    assert change(services.cluster, path, user, "replace", local, mode) == "ok"


def tar(files):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), 0o755
            archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def logged(services, container, name):
    """What a container has written into a file of its log directory."""
    for node in services.cluster.nodes:
        for path, _, files in os.walk(os.path.join(services.cluster.dir, "log", f"{node.name}-containers")):
            if path.endswith(container) and name in files:
                with open(os.path.join(path, name), encoding="utf-8") as f:
                    return f.read()
    raise AssertionError(f"{container} has no {name}")


def test_sources_come_from_everywhere_and_are_expanded(services):
    """Unchanged ones are fetched by the node; of a text with placeholders, and of what properties come over, the master makes the file."""
    put(services, "/user/alice/app.tgz", tar({"say": b"#!/bin/sh\necho said $1\n"}))
    put(services, "/user/alice/static", b"static ${SERVICE_NAME}\n")
    put(services, "/user/alice/own.template", b"${COMPONENT_INSTANCE_NAME} of ${SERVICE_NAME}\n", mode="600")
    put(services, "/user/alice/site.xml", b"<configuration><property><name>a</name><value>${USER}</value></property></configuration>")
    local = os.path.join(services.cluster.dir, "tmp", "of-the-host.properties")
    with open(local, "w", encoding="utf-8") as f:
        f.write("a=1\nb=2\n")
    name, content = f"sources-{next(COUNT)}", b'{"a": [1], "b": "${USER}"}'
    document = sleepers(name, 2)
    component = document["components"][0]
    component["artifact"] = {"type": "TARBALL", "id": "hdfs:///user/alice/app.tgz"}
    component["launch_command"] = "lib/say ${COMPONENT_INSTANCE_NAME}; cat static conf/t conf/p conf/j conf/s.xml; exec sleep 100000"
    with Serving({"/over.json": content}) as web:
        component["configuration"] = {"properties": document["configuration"]["properties"], "files": [
            {"type": "STATIC", "dest_file": "static", "src_file": "hdfs:///user/alice/static"},
            {"type": "TEMPLATE", "dest_file": "t", "src_file": "hdfs:///user/alice/own.template"},
            {"type": "PROPERTIES", "dest_file": "p", "src_file": f"file://{local}", "properties": {"b": "of ${SERVICE_NAME}"}},
            {"type": "JSON", "dest_file": "j", "src_file": f"{web.url}/over.json", "properties": {"c": "3"}},
            {"type": "HADOOP_XML", "dest_file": "s.xml", "src_file": f"webhdfs://{services.cluster.name_node}/user/alice/site.xml",
             "properties": {"b": "<2>"}}]}
        services.launch(document)
        containers = services.until(name, 2)
        assert len(web.requests) == 1, "both containers have what was fetched once"
    for instance, container in containers.items():
        services.until_runs(container)
        text = logged(services, container, "stdout.txt")
        assert text.startswith(f"said {instance}\nstatic ${{SERVICE_NAME}}\n{instance} of {name}\n"), text
        assert f"a=1\nb=of {name}\n" in text
        assert '"b" : "alice"' in text and '"c" : "3"' in text
        assert "<name>a</name><value>alice</value>" in text and "<name>b</name><value>&lt;2&gt;</value>" in text
    made = {key: one for key, one in listed(services.cluster, directory(services)).items() if one["type"] == "DIRECTORY"}
    assert len(made) == 2 and {one["permission"] for one in made.values()} == {"700"}
    files = listed(services.cluster, f"{directory(services)}/{next(iter(made))}")
    assert {one["permission"] for one in files.values()} == {"600"} and len(files) == 4
    services.flex(name, "sleeper", 1)
    wait_for(lambda: len(listed(services.cluster, directory(services))) == 3, "the files of a container go with it")
    services.destroy(name)
    wait_for(lambda: gone(services), "all files have gone", SLOW)


def test_a_task_of_a_framework_has_its_sources_from_hdfs(services):
    """A file and an archive, by the scheme of HDFS and by WebHDFS."""
    frameworks, name = Frameworks(services.stack.services_port), f"hdfs~{next(COUNT)}"
    put(services, "/user/alice/run.sh", b"#!/bin/sh\ntest -x a.tgz/say && test $(a.tgz/say it) = it && exit 7\n")
    put(services, "/user/alice/a.tgz", tar({"say": b"#!/bin/sh\necho $1\n"}))
    frameworks.put(name, {"w": role("sh run.sh", [f"{services.cluster.file_system}/user/alice/run.sh",
                                                  f"webhdfs://{services.cluster.name_node}/user/alice/a.tgz"])}, user={"name": "alice"})
    status = frameworks.completed(name, 180)
    assert status["applicationExitCode"] == 7, status
    assert frameworks.ask("DELETE", name).status == 202


def with_source(name, source):
    document = sleepers(name, 1)
    document["components"][0]["configuration"] = {"files": [{"type": "TEMPLATE", "dest_file": "t", "src_file": source}]}
    return document


def test_a_source_that_cannot_be_had_says_so(services):
    """Of HDFS when it is posted, of a host at the launch."""
    refused = services.ask("POST", "", with_source("none", "hdfs:///user/alice/none"))
    assert refused.status == 400 and "Src_file does not exist for config file: hdfs:///user/alice/none" in refused.body.decode(), refused
    refused = services.ask("POST", "", with_source("none", "hdfs:///user"))
    assert refused.status == 400 and refused.json["diagnostics"] == (
        "/components/0/configuration/files/0/src_file: src_file hdfs:///user: it is no regular file."), refused
    name = services.launch(with_source(f"absent-{next(COUNT)}", "/nothing/here"))
    wait_for(lambda: "src_file /nothing/here, as user alice: there is no such file" in services.explained(name), "it says why", SLOW)
    services.destroy(name)
    wait_for(lambda: gone(services), "all files have gone", SLOW)


def test_an_image_is_described_to_the_node_manager(services):
    """Its default executor runs the command on the host; the variables are those that the docker runtime reads."""
    name = f"image-{next(COUNT)}"
    document = sleepers(name, 1)
    component = document["components"][0]
    component["artifact"] = {"type": "DOCKER", "id": "library/nginx:1.25"}
    component["configuration"] = {
        "properties": {**document["configuration"]["properties"], "docker.network": "bridge"},
        "env": {"YARN_CONTAINER_RUNTIME_DOCKER_MOUNTS": "/etc/hosts:/etc/hosts:ro"},
        "files": [{"type": "TEMPLATE", "dest_file": "/etc/app.conf", "properties": {"content": "x"}}]}
    services.launch(document)
    container = services.until(name, 1)["sleeper-0"]
    (pid,) = services.until_runs(container)
    with open(f"/proc/{pid}/environ", "rb") as f:
        env = dict(one.partition("=")[::2] for one in f.read().decode().split("\0"))
    prefix = "YARN_CONTAINER_RUNTIME_"
    assert {key.removeprefix(prefix): value for key, value in env.items() if key.startswith(prefix)} == {
        "TYPE": "docker", "DOCKER_IMAGE": "library/nginx:1.25", "DOCKER_CONTAINER_NETWORK": "bridge",
        "DOCKER_CONTAINER_HOSTNAME": f"sleeper-0.{name}.alice.{DOMAIN}",
        "DOCKER_MOUNTS": "/etc/hosts:/etc/hosts:ro,conf/app.conf:/etc/app.conf:ro"}
    services.destroy(name)


def logs_of(services, app, *words):
    """yarn logs, as alice."""
    cluster = services.cluster
    env = {**cluster.how["env"], "HADOOP_USER_NAME": "alice"}
    done = subprocess.run(cluster.java("org.apache.hadoop.yarn.client.cli.LogsCLI", "-applicationId", app, *words), capture_output=True,
                          text=True, check=False, timeout=120, cwd=cluster.dir, env=env)
    return done.stdout


def test_yarn_logs_finds_what_containers_have_written(services):
    """The service's patterns say which files are collected. Those of a container that has ended are there when the application has."""
    name = f"logs-{next(COUNT)}"
    document = sleepers(name, 1, **{"yarn.service.log.include-pattern": "std.*|kept"})
    document["components"][0]["launch_command"] = "echo of the output; echo kept > $LOG_DIR/kept; echo left > $LOG_DIR/left; exec sleep 100000"
    services.launch(document)
    container = services.until(name, 1)["sleeper-0"]
    services.until_runs(container)
    app = services.application(name)
    assert services.ask("PUT", "/" + name, {"state": "STOPPED"}).status in (200, 202)
    wait_for(lambda: services.service(name)["state"] == "STOPPED", "it is stopped")
    said = wait_for(lambda: "of the output" in (found := logs_of(services, app)) and found, "the logs are collected", SLOW)
    assert container in said and "LogType:kept" in said and "LogType:left" not in said
    services.destroy(name)


def test_logs_are_collected_while_the_application_runs(services):
    """Those of a container that has ended, too."""
    name = f"rolled-{next(COUNT)}"
    document = sleepers(name, 2, **{"yarn.service.rolling-log.include-pattern": "rolled"})
    document["components"][0]["launch_command"] = "echo of ${COMPONENT_INSTANCE_NAME} > $LOG_DIR/rolled; exec sleep 100000"
    services.launch(document)
    ended = services.until(name, 2)["sleeper-1"]
    services.until_runs(ended)
    app = services.application(name)
    services.flex(name, "sleeper", 1)
    services.until(name, 1)
    said = wait_for(lambda: "of sleeper-1" in (found := logs_of(services, app, "-containerId", ended)) and found, "its log is collected", SLOW)
    assert "LogType:rolled" in said and services.state(app) == "RUNNING"
    services.destroy(name)


def test_containers_are_on_the_nodes_of_their_label(services):
    """The queue's full path is a name of it; the master stays on nodes without a label."""
    cluster = services.cluster
    node = cluster.nodes[1].addresses["id"]
    assert cluster.rest("/add-node-labels", "POST", {"nodeLabelInfo": [{"name": "gpu", "exclusivity": True}]}, "hdfs").status == 200
    assert cluster.rest(f"/nodes/{node}/replace-labels?labels=gpu", "POST", user="hdfs").status == 200
    wait_for(lambda: "gpu" in cluster.ask(f"/nodes/{node}")["node"].get("nodeLabels", []), "the node has its label")
    name = f"labelled-{next(COUNT)}"
    document = {**sleepers(name, 3), "queue": "root.default"}
    document["components"][0]["placement_policy"] = {"label": "gpu"}
    services.launch(document)
    services.until(name, 3)
    where = dict(services.of_nodes(services.application(name)))
    master = services.masters_container(services.application(name))
    assert where.pop(master) == "nm0" and set(where.values()) == {"nm1"} and len(where) == 3
    services.destroy(name)
    document["name"] = f"nowhere-{next(COUNT)}"
    document["components"][0]["placement_policy"] = {"label": "fast"}
    services.launch(document)
    wait_for(lambda: "no node has the label fast" in services.explained(document["name"]), "it says which label no node has", SLOW)
    services.destroy(document["name"])
    assert cluster.rest(f"/nodes/{node}/replace-labels", "POST", user="hdfs").status == 200


def test_services_are_destroyed_while_they_are_submitted(services):
    """Without an application nothing is taken back."""
    for _ in range(5):
        services.destroy(services.launch(sleepers(f"short-{next(COUNT)}", 1)))
    wait_for(lambda: gone(services), "all files have gone", SLOW)
