"""Artifacts of type DOCKER on a local cluster, run by podman."""
import contextlib
import os
import shutil
import signal
import stat
import subprocess
import urllib.request

import pytest

from harness import BIN, DOMAIN, PATIENCE, ROOT, Manager, command_lines, containers, request, wait_for
from images import Images
from terminal import Terminal

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="podman needs root here")


class ImageManager(Manager):
    """A manager with a storage of images of its own."""

    def __init__(self, **options):
        super().__init__()
        self.images = Images(self.dir)
        self.svcmgr.options.update({"yarn.service.local.container-runtime.arguments": " ".join(self.images.arguments),
                                    "yarn.nodemanager.resource-type.yarn.io/gpu": "4",
                                    "yarn.nodemanager.sleep-delay-before-sigkill.ms": "1000",
                                    "yarn.service.local.container-runtime.ro-mounts": f"{self.dir}/shared", **options})

    def __enter__(self):
        self.images.build()
        return super().__enter__()

    def __exit__(self, kind, value, trace):
        left = []
        try:
            self.svcmgr.stop()
            left = self.images.clear()
        finally:
            super().__exit__(kind, value, trace)
        assert kind or not left, f"containers {left} were left in podman"


@pytest.fixture(scope="module")
def manager():
    with ImageManager() as m:
        yield m


def service(name, command="exec sleep 1000", image="nginx:latest", **component):
    return {"name": name, "version": "1", "components": [{
        "name": "web", "number_of_containers": 1, "launch_command": command, "artifact": {"id": image, "type": "DOCKER"},
        "resource": {"cpus": 1, "memory": "64"}, **component}]}


def output(manager, name, which="stdout.txt"):
    answer = manager.services("GET", f"/{name}/component-instances/web-0/logs/{which}?user.name=alice")
    return answer.body.decode() if answer.status == 200 else ""


def destroy(manager, name):
    answer = manager.services("DELETE", f"/{name}?user.name=alice")
    assert answer.status in (200, 204), answer


def test_a_container_of_an_image(manager):
    """Name, user, environment, limits, mounts and address; its output, its end, and nothing left behind."""
    command = "id; hostname; env; cat /proc/self/cgroup /etc/motd.conf; ulimit -n; exec httpd -f -p $CONTAINER_IP:8080 -h $WORK_DIR"
    document = service("whole", command, configuration={
        "env": {"COLOUR": "it's \"red\" $HOME"},
        "files": [{"type": "TEMPLATE", "dest_file": "/etc/motd.conf", "properties": {"content": "welcome to ${COMPONENT_INSTANCE_NAME}"}}]},
        readiness_check={"type": "PORT", "properties": {"port": "8080"}})
    c = containers(manager.launch(document))[0]
    assert manager.images.names() == [c["id"]]
    text = wait_for(lambda: (t := output(manager, "whole")) and "welcome to web-0" in t and t, "the output")
    lines = text.splitlines()
    assert lines[0].startswith("uid=65534"), text
    assert f"web-0.whole.alice.{DOMAIN}" in lines and "COLOUR=it's \"red\" $HOME" in lines, text
    assert f"CONTAINER_IP={c['ip']}" in lines and f"YARN_CONTAINER_RUNTIME_DOCKER_IMAGE=nginx:latest" in lines, text
    inspected = manager.images.podman("inspect", "--format", "{{.HostConfig.Memory}} {{.HostConfig.NetworkMode}} {{.HostConfig.Privileged}}",
                                      c["id"], text=True)
    assert inspected.split() == [str(64 << 20), "host", "false"]
    destroy(manager, "whole")
    assert manager.images.names() == []
    assert not command_lines(c["id"])


@pytest.mark.parametrize("name, count", [("simple", 1), ("simple-without-gpu", 2)])
def test_the_example_of_the_document(manager, name, count):
    """As it is written there: with 4 GPUs, which the host declares, and with the script that its image has."""
    with open(os.path.join(ROOT, f"tests/contract/services_examples/{name}.json"), "rb") as f:
        answer = manager.services("POST", "?user.name=alice", f.read())
    assert answer.status == 202, answer
    for c in containers(manager.until_state("hello-world", "READY")):
        def page(ip=c["ip"]):
            with urllib.request.urlopen(f"http://{ip}:8080/", timeout=PATIENCE) as answer:
                return answer.read().decode()
        assert wait_for(page, "its page") == f"hello from {c['hostname']}\n"
    assert len(manager.images.names()) == count
    destroy(manager, "hello-world")


def test_the_image_says_what_runs_where_there_is_no_command(manager):
    manager.launch(service("bare", ""))
    destroy(manager, "bare")


def test_exit_codes(manager):
    for code in (0, 3, 127):
        document = service(f"ends-{code}", f"echo said >&2; exit {code}", restart_policy="NEVER")
        assert manager.services("POST", "?user.name=alice", document).status == 202
        ended = wait_for(lambda: (s := manager.service(f"ends-{code}")) and s["state"] in ("STOPPED", "FAILED") and s, "its end")  # noqa: B023
        assert ("exit code" in ended["diagnostics"] and f"{code}" in ended["diagnostics"]) or code == 0, ended
        destroy(manager, f"ends-{code}")
    assert manager.images.names() == []


def test_an_image_that_cannot_be_had(manager):
    document = service("nowhere", image="localhost:1/no/image:1", restart_policy="NEVER")
    assert manager.services("POST", "?user.name=alice", document).status == 202
    ended = wait_for(lambda: (s := manager.service("nowhere")) and s["state"] in ("STOPPED", "FAILED") and s, "its end")
    assert "localhost:1/no/image:1 is not on this host and cannot be fetched" in ended["diagnostics"], ended
    destroy(manager, "nowhere")


def test_signal_restart_and_usage(manager):
    """As of a process: the runtime passes the signal on, the container is another one of the same name."""
    before = containers(manager.launch(service("moves", "trap 'echo hup' HUP; echo ready; while :; do sleep 0.1; done")))[0]
    wait_for(lambda: "ready" in output(manager, "moves"), "the trap is set")
    path = "/moves/component-instances/web-0"
    assert manager.services("POST", f"{path}/signal?user.name=alice&signal=HUP").status == 204
    wait_for(lambda: "hup" in output(manager, "moves"), "the signal came")

    def usage():
        return manager.services("GET", "/moves/usage?user.name=alice").json["instances"][0]
    used = wait_for(lambda: (u := usage()).get("memory") and u, "what it uses")
    assert 0 < used["memory"] < 20 << 20 and used["processes"] <= 2, "the shell and its sleep, not podman"
    assert manager.services("POST", f"{path}/restart?user.name=alice").status == 204
    wait_for(lambda: output(manager, "moves").count("ready") == 2, "another process")
    after = containers(manager.until_state("moves", "READY"))[0]
    assert after["id"] == before["id"] and after["restarts"] == 1 and manager.images.names() == [before["id"]]
    destroy(manager, "moves")


def test_commands_in_a_container_of_an_image(manager):
    """With its user, environment and directory; exit code, outputs, input, terminal and signals; nothing is left of them."""
    manager.launch(service("within", configuration={"env": {"COLOUR": "it's red"}}))
    where = ("--url", f"http://127.0.0.1:{manager.services_port}", "--user", "alice")

    def words(*more, options=()):
        return [os.path.join(BIN, "bobbin"), "app", "exec", *where, *options, "within", "web-0", *more]

    def execute(*more, options=(), **how):
        return subprocess.run(words(*more, options=options), capture_output=True, check=False, timeout=PATIENCE, **how)
    done = execute("sh", "-c", "id; pwd; echo $COLOUR; echo err >&2; exit 3", text=True)
    assert done.returncode == 3 and done.stderr == "err\n", done
    identity, directory, colour = done.stdout.splitlines()
    assert identity.startswith("uid=65534") and directory == "/srv" and colour == "it's red", done
    octets = os.urandom(1 << 20)
    assert execute("cat", options=("-i",), input=octets).stdout == octets
    assert execute("no-such-program").returncode == 127
    at_terminal = execute("sh", "-c", "tty; stty size; echo $TERM", options=("-t",), stdin=subprocess.DEVNULL, env={**os.environ, "TERM": "vt100"})
    assert at_terminal.returncode == 0 and b"24 80\r\nvt100" in at_terminal.stdout, at_terminal

    def left():
        inside = manager.images.podman("exec", containers(manager.service("within"))[0]["id"], "ps", text=True)
        return [line for line in inside.splitlines() if "471120" in line]
    script = "trap 'echo got hup' USR1; echo ready; sleep 471120 & while :; do sleep 0.1; done"
    with subprocess.Popen(words("sh", "-c", script), stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGUSR1)
        assert process.stdout.readline() == b"got hup\n"
        assert left()
        process.kill()
    wait_for(lambda: not left(), "what was started has ended with its client")
    with Terminal(words("sh")) as t:
        t.type(b"stty size; sleep 471120\n")
        t.until(rb"31 117\r\n")
        wait_for(left, "it sleeps")
        t.type(b"\x03")  # Ctrl-C
        wait_for(lambda: not left(), "it is interrupted")
        t.type(b"echo status $?\n")
        t.until(rb"status 130\r\n")
        t.resize(44, 99)
        t.type(b"until [ \"$(stty size)\" = '44 99' ]; do sleep 0.1; done; stty size; exit 6\n")  # the size overtakes nothing
        t.until(rb"44 99\r\n")
        assert t.end() == 6
    with Terminal(words("sh", "-c", "trap '' HUP; echo ready; sleep 471120; sleep 471120")) as t:
        t.until(rb"ready\r\n")
        for pid in command_lines("471120", "bobbin app exec"):
            os.kill(pid, signal.SIGKILL)
        wait_for(lambda: not left(), "it has ended with its terminal")
    assert execute("sh", "-c", "trap '' HUP; sleep 471120 & exit 4").returncode == 4
    assert not left()
    destroy(manager, "within")


def test_the_stop_signal_is_the_image_s():
    """A first process that has no handler gets no SIGTERM, and this image asks for another signal."""
    with ImageManager() as m:
        m.images.build("localhost/polite:latest", ("STOPSIGNAL SIGUSR1",))
        m.svcmgr.options["yarn.nodemanager.sleep-delay-before-sigkill.ms"] = "60000"
        m.svcmgr.stop()
        m.svcmgr.start()
        wait_for(lambda: request(m.services_port, "GET", "/readyz").status == 200, "svcmgr is ready")
        command = "trap 'echo goodbye; exit 0' USR1; echo ready; while :; do sleep 0.1; done"
        c = containers(m.launch(service("parting", command, "polite:latest")))[0]
        wait_for(lambda: "ready" in output(m, "parting"), "the trap is set")
        assert m.services("PUT", "/parting?user.name=alice", {"state": "STOPPED"}).status in (200, 202, 204)
        wait_for(lambda: m.images.names() == [], "it has ended, long before its grace is over")
        answer = m.services("GET", f"/parting/component-instances/{c['id']}/logs/stdout.txt?user.name=alice")
        assert answer.body.decode().splitlines() == ["ready", "goodbye"], answer
        destroy(m, "parting")


def test_mounts_below_the_allowed_directories_only(manager):
    shared = os.path.join(manager.dir, "shared")
    os.makedirs(shared, exist_ok=True)
    with open(f"{shared}/book", "w", encoding="ascii") as f:
        f.write("read me\n")
    os.symlink("/etc", f"{shared}/out")

    def mounting(name, mount):
        document = service(name, "cat /m; touch /m || echo held; exec sleep 1000", restart_policy="NEVER",
                           configuration={"env": {"YARN_CONTAINER_RUNTIME_DOCKER_MOUNTS": mount}})
        return manager.services("POST", "?user.name=alice", document)
    assert mounting("reads", f"{shared}/book:/m:ro").status == 202
    wait_for(lambda: output(manager, "reads") == "read me\nheld\n", "what was mounted")
    destroy(manager, "reads")
    for mount in ("/etc:/m:ro", f"{shared}/book:/m:rw", f"{shared}/../x:/m:ro", f"{shared}/book:m"):
        answer = mounting("refused", mount)
        assert answer.status == 400 and "mount" in answer.body.decode(), answer
    assert mounting("link", f"{shared}/out:/m:ro").status == 202
    ended = wait_for(lambda: (s := manager.service("link")) and s["state"] in ("STOPPED", "FAILED") and s, "its end")
    assert "may not be mounted" in ended["diagnostics"], ended
    destroy(manager, "link")


@pytest.mark.parametrize("change, words", [
    ({"artifact": {"id": "oci-archive:/etc/x"}}, "is no image"), ({"artifact": {"id": "dir:x"}}, "is no image"),
    ({"artifact": {"id": "-v"}}, "is no image"), ({"artifact": {"id": "Nginx"}}, "is no image"),
    ({"run_privileged_container": True}, "privileged-containers.allowed is false"),
    ({"configuration": {"properties": {"docker.network": "bridge"}}}, "no network bridge"),
    ({"configuration": {"env": {"A": "one\ntwo"}}}, "can have no line break")])
def test_refused(manager, change, words):
    answer = manager.services("POST", "?user.name=alice", service("refused", **change) if "artifact" not in change else
                              {**service("refused"), "components": [{**service("refused")["components"][0], **change}]})
    assert answer.status == 400 and words in answer.body.decode(), answer


def shim_of(m, container):
    for pid, line in command_lines("container-shim").items():
        with contextlib.suppress(OSError):  # one of another test has just ended
            if os.readlink(f"/proc/{pid}/cwd") == f"{m.dir}/svcmgr/containers/{container['id']}" and "podman" not in line:
                return pid
    raise AssertionError(f"no shim of {container['id']}")


def test_containers_survive_svcmgr_and_nobody_s_are_removed():
    """kill -9 of svcmgr: the container goes on; its shim killed, too: the container goes, another one comes."""
    with ImageManager() as m:
        c = containers(m.launch(service("lasting", "exec httpd -f -p $CONTAINER_IP:8080 -h /srv",
                                        readiness_check={"type": "PORT", "properties": {"port": "8080"}})))[0]
        m.svcmgr.kill()
        with urllib.request.urlopen(f"http://{c['ip']}:8080/start_nginx.sh", timeout=PATIENCE) as page:
            assert page.status == 200
        m.images.podman("run", "-d", "--stop-timeout", "0", "--name", "container_1_0001_01_000099", "--label", f"bobbin-dir={m.dir}/svcmgr", "--network", "host",
                        "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=100:100", "nginx:latest", "sleep", "1000")
        m.svcmgr.start()
        wait_for(lambda: request(m.services_port, "GET", "/readyz").status == 200, "svcmgr is ready")
        assert containers(m.until_state("lasting", "READY"))[0]["id"] == c["id"]
        wait_for(lambda: m.images.names() == [c["id"]], "the container that nobody holds is removed")
        os.kill(shim_of(m, c), signal.SIGKILL)
        wait_for(lambda: (s := containers(m.service("lasting"))) and s[0]["state"] == "READY" and s[0].get("restarts", 0) == 1,
                 "the next one is ready")
        assert len(m.images.names()) == 1
        destroy(m, "lasting")


def test_privileges_are_given_to_whom_hadoop_s_keys_name():
    keys = "yarn.nodemanager.runtime.linux.docker.privileged-containers"
    with ImageManager(**{f"{keys}.allowed": "true", f"{keys}.acl": "bob,carol"}) as m:
        document = service("mighty", "cat /proc/self/status; exec sleep 1000", run_privileged_container=True)
        answer = m.services("POST", "?user.name=alice", document)
        assert answer.status == 400 and "user alice is not in" in answer.body.decode()
        m.launch(document, user="bob")
        answer = wait_for(lambda: (a := m.services("GET", "/mighty/component-instances/web-0/logs/stdout.txt?user.name=bob")).status == 200
                          and b"CapEff" in a.body and a, "its output")
        effective = next(line for line in answer.body.decode().splitlines() if line.startswith("CapEff"))
        assert int(effective.split()[1], 16) & (1 << 21), "CAP_SYS_ADMIN"


@pytest.fixture
def devices():
    """A svcmgr whose host has two units of a resource type with a device each; and the names of the devices."""
    m = ImageManager(**{"yarn.nodemanager.resource-type.yarn.io/gpu": "2"})
    paths = [f"{m.dir}/gpu{i}" for i in range(2)]
    for path in paths:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        os.chmod(path, 0o666)
    m.svcmgr.options["yarn.service.local.devices.yarn.io/gpu"] = ",".join(paths)
    with m:
        yield m, paths


def test_devices_of_the_declared_resource_only(devices):
    """One for each unit, to one container only, also over a restart of svcmgr; none to a container that declares none."""
    m, paths = devices

    def launch(name, n):
        gpu = {"additional": {"yarn.io/gpu": {"value": n, "unit": ""}}} if n else {}
        command = f"ls {m.dir}/gpu*; cat $CONTAINER_DEVICES </dev/null && echo got $CONTAINER_DEVICES; exec sleep 1000"
        m.launch(service(name, command, resource={"cpus": 1, "memory": "64", **gpu}))
        return wait_for(lambda: (t := output(m, name)) and "got" in t and t.split("\n"), "its output")
    assert launch("plain", 0) == ["got", ""]
    assert launch("first", 1) == [paths[0], f"got {paths[0]}", ""]
    m.svcmgr.kill()
    m.svcmgr.start()
    wait_for(lambda: request(m.services_port, "GET", "/readyz").status == 200, "svcmgr is ready")
    assert launch("second", 1) == [paths[1], f"got {paths[1]}", ""]
    destroy(m, "first")
    os.remove(paths[0])
    lost = service("lost", resource={"cpus": 1, "memory": "64", "additional": {"yarn.io/gpu": {"value": 1, "unit": ""}}},
                   restart_policy="NEVER")
    assert m.services("POST", "?user.name=alice", lost).status == 202
    ended = wait_for(lambda: (s := m.service("lost")) and s["state"] in ("STOPPED", "FAILED") and s, "its end")
    assert f"Device {paths[0]} of this host: No such file" in ended["diagnostics"], ended
    for name in ("plain", "second", "lost"):
        destroy(m, name)


def test_without_a_runtime_the_refusal_names_the_remedy():
    m = Manager()
    os.makedirs(f"{m.dir}/bin")
    os.symlink(shutil.which("prlimit"), f"{m.dir}/bin/prlimit")
    m.svcmgr.env = {"PATH": f"{m.dir}/bin"}
    with m:
        answer = m.services("POST", "?user.name=alice", service("poor"))
        assert answer.status == 400
        assert "neither podman nor docker is found" in answer.body.decode() and "yarn.service.local.container-runtime" in answer.body.decode()
