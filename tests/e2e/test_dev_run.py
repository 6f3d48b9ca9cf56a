"""`bobbin dev`: everything starts, every answer that it shows is right, and whatever happens no process stays behind."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess

import pytest

from harness import BIN, CHANCE, PATIENCE, ROOT, dig, free_port, request, wait_for

pytestmark = pytest.mark.sanitize

EXAMPLE = os.path.join(ROOT, "conf", "examples", "hello-world.json")
HAS_ZOOKEEPER = os.path.exists("/usr/share/java/zookeeper.jar") and shutil.which("java")


class Ports:
    """Free ports for all that listens, and the -D that move things there."""

    def __init__(self):
        self.registry, self.dns, self.dns_http, self.services = (free_port() for _ in range(4))
        # Containers listen on their address: runs side by side must not share any.
        self.network = f"127.{CHANCE.randrange(80, 251)}"

    def words(self):
        keys = {"hadoop.registry.http.address": f"127.0.0.1:{self.registry}",
                "hadoop.registry.dns.bind-port": self.dns,
                "hadoop.registry.dns.http.address": f"127.0.0.1:{self.dns_http}",
                "yarn.service.api-server.address": f"127.0.0.1:{self.services}",
                "yarn.service.local.addresses": f"{self.network}.0.0/16",
                "yarn.nodemanager.sleep-delay-before-sigkill.ms": "500"}
        return [word for key, value in keys.items() for word in ("-D", f"{key}={value}")]


def processes_with(marker):
    """Command lines of running processes that name the marker."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                line = f.read().replace(b"\0", b" ").decode(errors="replace")
            with open(f"/proc/{pid}/environ", "rb") as f:
                environment = f.read().decode(errors="replace")
        except OSError:
            continue
        if (marker in line or marker in environment) and int(pid) != os.getpid():
            found.append(f"{pid}: {line}")
    return found


@pytest.fixture
def place(tmp_path):
    """A directory that containers may pass, whose name marks all processes of a run; none is left at the end."""
    path = f"/tmp/{tmp_path.name}-{os.getpid()}-dev"
    os.mkdir(path, 0o755)
    os.chmod(path, 0o755)
    yield path
    try:
        wait_for(lambda: not processes_with(path), "no process is left behind")
    finally:
        for line in processes_with(path):
            os.kill(int(line.split(":")[0]), signal.SIGKILL)
        shutil.rmtree(path, ignore_errors=True)


def environment(place):
    """What is started has the directory in its environment; a configuration of the shell must not leak in."""
    return {**os.environ, "TMPDIR": place, "BOBBIN_TEST_PLACE": place, "HADOOP_CONF_DIR": "/nowhere",
            "HADOOP_USER_NAME": "alice"}


def command(ports, *words):
    return [os.path.join(BIN, "bobbin"), "dev", "--example", EXAMPLE, "--zones", os.path.join(ROOT, "zones"), *ports.words(), *words]


def check(place, ports, *words):
    return subprocess.run(command(ports, "--check", *words), capture_output=True, text=True, timeout=4 * PATIENCE,
                          check=False, env=environment(place))


def shown(text):
    """{question: lines of the answer, sorted} of what it prints: `NAME TYPE` or `-x ADDRESS` of dig, the URL of curl."""
    found = re.findall(r"^\$ (dig|curl) (.*)\n((?:[^$\n].*\n)*)", text, re.M)
    return {" ".join(words.split()[-1 if program == "curl" else -2:]): sorted(" ".join(line.split()) for line in answer.splitlines())
            for program, words, answer in found}


def answers_of_containers(containers, domain="alice.bobbin.test"):
    """What DNS and the web must say of the example's containers, as the services API describes them."""
    service = f"hello-world.{domain}"
    top = domain.partition(".")[2]
    expected = {f"hello.{service} A": sorted(c["ip"] for c in containers)}
    for c in containers:
        name, ip = c["component_instance_name"], c["ip"]
        by_id = re.sub("^container_", "ctr_", c["id"]).replace("_", "-")
        expected |= {f"{name}.{service} A": [ip], f"{name}.{service} TXT": [f'"id={c["id"]}"'], f"{by_id}.{top} A": [ip],
                     f"-x {ip}": [f"{name}.{service}."], f"http://{name}.{service}:8080/": [f"hello from {name}"]}
    return expected


def answers_of_am(record, domain="alice.bobbin.test"):
    """What DNS must say of the example application master, by its record in the registry."""
    srv, txt, expected = set(), set(), {}
    for endpoint in record["external"]:
        api = endpoint["api"].removeprefix("classpath:org.apache.hadoop.yarn.service.").replace(".", "-").replace("http://", "http")
        address = endpoint["addresses"][0]
        _, port, path = re.fullmatch(r"\w+://([\d.]+):(\d+)(/.*)", address["uri"]).groups() if "uri" in address \
            else (address["host"], address["port"], None)
        one_srv, one_txt = f"1 1 {port} am.{domain}.", f'"api={api}"' + (f' "path={path}"' if path else "")
        expected |= {f"{api}-api.am.{domain} SRV": [one_srv], f"{api}-api.am.{domain} TXT": [one_txt]}
        srv.add(one_srv)
        txt.add(one_txt)
    return {f"am.{domain} A": ["127.77.255.254"], f"am.{domain} SRV": sorted(srv), f"am.{domain} TXT": sorted(txt), **expected}


ZONES = {
    "www.office.example A": ["www.office.example. 300 IN A 192.0.2.80", "www.office.example. 300 IN A 192.0.2.81"],
    "any.apps.office.example A": ["any.apps.office.example. 300 IN A 192.0.2.90"],
    "host.lab.office.example A": ["lab.office.example. 300 IN NS ns1.lab.office.example.",
                               "lab.office.example. 300 IN NS ns2.elsewhere.example.",
                               "ns1.lab.office.example. 300 IN A 192.0.2.101",
                               "ns1.lab.office.example. 300 IN AAAA 2001:db8::101"],
    "-x 192.0.2.80": ["80.2.0.192.in-addr.arpa. 300 IN PTR www.office.example."],
}


def test_every_answer_it_shows_is_right(place):
    """A static name, a wildcard, a delegation and a PTR of zones/ among them."""
    ports = Ports()
    with Dev(place, ports) as dev:
        text = dev.runs()
        containers = request(ports.services, "GET", "/app/v1/services/hello-world?user.name=alice").json["components"][0]["containers"]
        am = request(ports.registry, "GET", "/ws/v1/registry/users/alice/services/example/am").json["service"]
        dev.end()
    assert len(containers) == 2 and all(c["ip"].startswith(f"{ports.network}.") for c in containers)
    assert len(am["external"]) == 3
    assert shown(text) == {**answers_of_containers(containers), **answers_of_am(am), **ZONES}


def test_check_ends_by_itself(place):
    done = check(place, Ports())
    assert done.returncode == 0, done
    assert "\n24 questions, 0 without an answer.\n" in done.stdout
    assert os.listdir(place) == [], "the temporary directory is gone"


def test_check_finds_what_is_not_answered(place):
    """A reverse zone that does not cover the instances: the PTR answers are missing, and the program says so."""
    ports = Ports()
    done = check(place, ports, "-D", "hadoop.registry.dns.zone-subnet=10.1.0.0/16")
    assert done.returncode == 1, done
    assert {question for question, lines in shown(done.stdout).items() if not lines} == \
        {question for question in shown(done.stdout) if question.startswith(f"-x {ports.network}.")}
    assert done.stderr.endswith("bobbin: check: 2 of 24 questions have no answer\n"), done.stderr


@pytest.mark.skipif(not HAS_ZOOKEEPER, reason="needs java and ZooKeeper's jars")
def test_check_on_zookeeper(place):
    done = check(place, Ports(), "--store", "zookeeper")
    assert done.returncode == 0, done
    assert "zookeeper: serves at 127.0.0.1:" in done.stderr
    assert "\n24 questions, 0 without an answer.\n" in done.stdout


@pytest.mark.parametrize("port, kind, key", [
    ("registry", socket.SOCK_STREAM, "hadoop.registry.http.address"),
    ("dns", socket.SOCK_DGRAM, "hadoop.registry.dns.bind-port"),
    ("dns", socket.SOCK_STREAM, "hadoop.registry.dns.bind-port"),
    ("dns_http", socket.SOCK_STREAM, "hadoop.registry.dns.http.address"),
    ("services", socket.SOCK_STREAM, "yarn.service.api-server.address"),
])
def test_a_busy_port_is_named_with_the_option_that_moves_it(place, port, kind, key):
    ports = Ports()
    with socket.socket(socket.AF_INET, kind) as busy:
        busy.bind(("127.0.0.1", getattr(ports, port)))
        if kind == socket.SOCK_STREAM:
            busy.listen()
        done = subprocess.run(command(ports), capture_output=True, text=True, timeout=PATIENCE, check=False,
                              env=environment(place))
    assert done.returncode == 28, done
    assert done.stderr.count("\n") == 1 and done.stdout == "", done
    assert f"127.0.0.1:{getattr(ports, port)}" in done.stderr and f"-D {key}=" in done.stderr


def test_a_daemon_that_cannot_start_is_quoted(place):
    done = check(place, Ports(), "-D", "hadoop.registry.dns.bind-address=192.0.2.1")
    assert done.returncode == 1, done
    line = done.stderr.splitlines()[-1]
    assert line.startswith("bobbin: dnsd: ended (exit code ") and "192.0.2.1" in line, line


class Dev:
    """`bobbin dev` that stays; its output is read to `Everything runs`."""

    def __init__(self, place, ports, *words):
        self.process = subprocess.Popen(command(ports, *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env=environment(place))

    def runs(self):
        text = ""
        for line in self.process.stdout:
            text += line
            if line.startswith("Everything runs."):
                return text
        raise AssertionError(text + self.process.stderr.read())

    def end(self, number=signal.SIGINT):
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=2 * PATIENCE)
        return self.process.returncode, out, err

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_stays_until_it_is_signalled(place, number):
    ports = Ports()
    with Dev(place, ports) as dev:
        text = dev.runs()
        assert f"http://127.0.0.1:{ports.services}/app/v1/services" in text
        assert len(dig(ports.dns, "hello.hello-world.alice.bobbin.test", "A")) == 2
        code, _, err = dev.end(number)
    assert code == 0, err
    assert processes_with(place) == [], "all have ended before the program ends"
    assert os.listdir(place) == []


def test_kill_9_leaves_no_process(place):
    """The daemons and the AM get SIGTERM from the kernel; svcmgr ends the containers."""
    with Dev(place, Ports()) as dev:
        dev.runs()
        dev.end(signal.SIGKILL)
    wait_for(lambda: not processes_with(place), "no process is left behind")


def test_a_daemon_that_dies_ends_the_run(place):
    with Dev(place, Ports()) as dev:
        dev.runs()
        victim = next(line for line in processes_with(place) if "/dnsd " in line)
        os.kill(int(victim.split(":")[0]), signal.SIGKILL)
        _, err = dev.process.communicate(timeout=2 * PATIENCE)
    assert dev.process.returncode == 5 and "bobbin: dnsd: ended (signal 9)" in err, err


def container_ids(port):
    service = request(port, "GET", "/app/v1/services/hello-world?user.name=alice").json
    return service["state"], sorted(c["component_instance_name"] for c in service["components"][0]["containers"])


def test_keep_goes_on_with_the_kept_services(place):
    keep, ports = os.path.join(place, "kept"), Ports()
    with Dev(place, ports, "--keep", keep) as dev:
        dev.runs()
        body = {"description": "kept", "type": "JSONServiceRecord"}
        answer = request(ports.registry, "PUT", "/ws/v1/registry/users/alice/services/own/thing?createParents=true", body)
        assert answer.status == 201, answer
        flex = request(ports.services, "PUT", "/app/v1/services/hello-world/components/hello?user.name=alice",
                       {"number_of_containers": 3})
        assert flex.status == 200, flex
        assert dev.end()[0] == 0
    assert sorted(os.listdir(keep)) == ["data", "log", "registry", "store"]
    for words in (["--store", "zookeeper"], ["-D", f"hadoop.registry.store=file:{place}/other"]):
        refused = check(place, ports, "--keep", keep, *words)
        assert refused.returncode != 0 and not refused.stdout, refused
        assert f"{keep}: its registry was kept with --store embedded, and this run has {' '.join(words)}" in refused.stderr, refused
        assert "give --store embedded again, or --keep another directory" in refused.stderr
    os.remove(os.path.join(keep, "store"))  # as a version without this file kept it
    assert "kept with --store embedded" in check(place, ports, "--keep", keep, "--store", "zookeeper").stderr
    assert not os.path.exists(os.path.join(place, "other")) and not os.path.exists(os.path.join(keep, "zookeeper"))
    second = check(place, ports, "--keep", keep)
    assert second.returncode == 0, second
    assert "hello-world: kept from an earlier run" in second.stderr
    assert "\n29 questions, 0 without an answer.\n" in second.stdout, "three instances now"
    with Dev(place, ports, "--keep", keep) as dev:
        dev.runs()
        answer = request(ports.registry, "GET", "/ws/v1/registry/users/alice/services/own/thing")
        assert answer.json["service"]["description"] == "kept"
        assert request(ports.services, "PUT", "/app/v1/services/hello-world?user.name=alice", {"state": "STOPPED"}).status == 204
        assert dev.end()[0] == 0
    third = check(place, ports, "--keep", keep)
    assert third.returncode == 0 and "kept from an earlier run, STOPPED" in third.stderr, third


def test_the_configuration_of_the_user_reaches_the_daemons(place):
    directory, ports = os.path.join(place, "conf"), Ports()
    os.mkdir(directory)
    with open(os.path.join(directory, "core-site.xml"), "w", encoding="utf-8") as f:
        f.write("<configuration><property><name>hadoop.registry.dns.domain-name</name><value>other.test</value></property>"
                "</configuration>")
    done = check(place, ports, "--config", directory)
    assert done.returncode == 0 and "hello-0.hello-world.alice.other.test A" in done.stdout, done
    assert json.load(open(EXAMPLE, encoding="utf-8"))["name"] == "hello-world"
