"""What every daemon has: options from one table, their check, the manual, health, metrics, a busy port that is named."""
import os
import re
import shutil
import socket
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree

import pytest

from harness import BIN, Daemon, Stack, free_port, request, wait_for

DAEMONS = ["registryd", "dnsd", "svcmgr"]


def run(name, *words, env=None):
    return subprocess.run([os.path.join(BIN, name), *words], capture_output=True, text=True, timeout=60,
                          env={**os.environ, **(env or {})}, check=False)


@pytest.fixture
def directory():
    path = tempfile.mkdtemp(prefix="bobbin-test-")
    yield path
    shutil.rmtree(path)


@pytest.mark.parametrize("name", DAEMONS)
def test_defaults_are_a_configuration_file_that_passes_the_check(name, directory):
    text = run(name, "--show-xml").stdout
    keys = {p.findtext("name"): p.findtext("value") for p in ElementTree.fromstring(text).iter("property")}
    assert len(keys) > 10
    with open(os.path.join(directory, "core-site.xml"), "w", encoding="utf-8") as f:
        f.write(text)
    words = ["--config", directory, "-t", "-D", "hadoop.registry.dns.domain-name=bobbin.test"]
    done = run(name, *words)
    assert done.returncode == 0, done.stderr
    page = run(name, "--man").stdout.replace("\\-", "-")
    assert page.startswith(f".TH {name} 8") and all(f".B {key}\n" in page for key in keys)


def test_all_errors_at_once_with_their_place(directory):
    path = os.path.join(directory, "core-site.xml")
    with open(path, "w", encoding="utf-8") as f:
        f.write("<configuration>\n<property><name>hadoop.registry.dns.bind-port</name><value>70000</value></property>\n"
                "<property><name>hadoop.registry.dns.dns-ttl</name><value>soon</value></property>\n</configuration>\n")
    done = run("dnsd", "--config", directory, "-t")
    assert done.returncode == 3
    assert re.search(rf"{re.escape(path)}:2: .*bind-port.*70000", done.stderr)
    assert re.search(rf"{re.escape(path)}:3: .*dns-ttl.*soon", done.stderr)
    assert "hadoop.registry.dns.domain-name: not set" in done.stderr and len(done.stderr.splitlines()) == 3
    done = run("dnsd", "-t", "-D", "hadoop.registry.dns.zone-subnet=172.17")
    assert done.returncode == 3 and "domain-name" in done.stderr and "zone-subnet" in done.stderr


def test_hadoop_conf_dir_and_override(directory):
    with open(os.path.join(directory, "yarn-site.xml"), "w", encoding="utf-8") as f:
        f.write("<configuration><property><name>hadoop.registry.dns.domain-name</name>"
                "<value>${cluster}.example</value></property></configuration>")
    env = {"HADOOP_CONF_DIR": directory}
    assert run("dnsd", "-t", env=env).returncode == 3
    assert run("dnsd", "-t", "-D", "cluster=blue", env=env).returncode == 0


def test_a_busy_port_names_the_option_that_moves_it(directory):
    common = {"bobbin.data.dir": directory, "hadoop.registry.dns.domain-name": "bobbin.test",
              "hadoop.registry.url": f"http://127.0.0.1:{free_port()}"}
    busy = {"registryd": "hadoop.registry.http.address", "dnsd": "hadoop.registry.dns.http.address",
            "svcmgr": "yarn.service.api-server.address"}
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        for name, key in busy.items():
            options = {**common, "hadoop.registry.dns.bind-port": 0, key: address}
            done = run(name, *[w for k, v in options.items() for w in ("-D", f"{k}={v}")])
            assert done.returncode == 28, (name, done.returncode, done.stderr)
            assert key in done.stderr and address in done.stderr, done.stderr
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        options = {**common, "hadoop.registry.dns.bind-port": port, busy["dnsd"]: "127.0.0.1:0"}
        done = run("dnsd", *[w for k, v in options.items() for w in ("-D", f"{k}={v}")])
        assert done.returncode == 28 and "hadoop.registry.dns.bind-port" in done.stderr and str(port) in done.stderr


def test_no_other_address_without_the_option(directory):
    done = run("registryd", "-D", f"bobbin.data.dir={directory}", "-D", "hadoop.registry.http.address=0.0.0.0:0")
    assert done.returncode == 3 and "hadoop.registry.http.allow-remote" in done.stderr


def test_health_ready_metrics_version():
    with Stack(services=True) as stack:
        for port, name in ((stack.registry_port, "registryd"), (stack.dns_http_port, "dnsd"), (stack.services_port, "svcmgr")):
            assert request(port, "GET", "/healthz").status == 200
            assert request(port, "GET", "/readyz").status == 200
            assert request(port, "GET", "/version").json["name"] == name
            metrics = request(port, "GET", "/metrics", headers={"Accept": "application/openmetrics-text"})
            text = metrics.body.decode()
            assert metrics.headers["Content-Type"].startswith("application/openmetrics-text")
            assert text.endswith("# EOF\n") and "_total" in text
        assert request(stack.registry_port, "GET", "/version").json["store"].startswith("file:")


def test_dnsd_is_not_ready_and_answers_servfail_before_the_first_snapshot(tmp_path):
    from harness import dig_full
    port = free_port()
    http = free_port()
    dnsd = Daemon("dnsd", {"hadoop.registry.dns.domain-name": "bobbin.test", "hadoop.registry.dns.bind-port": port,
                           "hadoop.registry.dns.http.address": f"127.0.0.1:{http}", "bobbin.data.dir": str(tmp_path),
                           "hadoop.registry.url": f"http://127.0.0.1:{free_port()}"})
    dnsd.start("http_listening")
    try:
        text = dig_full(port, "anything.bobbin.test", "A")
        assert "status: SERVFAIL" in text and "EDE: 14" in text
        assert request(http, "GET", "/readyz").status == 503
    finally:
        dnsd.stop()


def test_a_host_that_is_none_of_ours_is_refused():
    """A page that has its own name point to us cannot ask in the name of who looks at it (DNS rebinding)."""
    named = {"registryd": {"hadoop.registry.http.hosts": "registry.example"},
             "dnsd": {"hadoop.registry.dns.http.hosts": "registry.example"},
             "svcmgr": {"yarn.service.api-server.hosts": "registry.example"}}
    with Stack(services=True, options=named) as stack:
        for port, key in ((stack.registry_port, "hadoop.registry.http.hosts"), (stack.dns_http_port, "hadoop.registry.dns.http.hosts"),
                          (stack.services_port, "yarn.service.api-server.hosts")):
            for host in (f"127.0.0.1:{port}", f"localhost:{port}", socket.gethostname(), "registry.example:8443"):
                assert request(port, "GET", "/healthz", headers={"Host": host}).status == 200, host
            refused = request(port, "GET", "/healthz", headers={"Host": f"rebound.example:{port}"})
            assert refused.status == 421 and key in refused.body.decode(), refused
        assert stack.services("POST", "", {"name": "x"}, headers={"Host": "rebound.example"}).status == 421
        assert stack.registry("DELETE", "/users", headers={"Host": "rebound.example"}).status == 421


def test_closed_standard_descriptors_are_nothing_elses(directory):
    port = free_port()
    command = [os.path.join(BIN, "registryd"), "-D", f"bobbin.data.dir={directory}", "-D", f"hadoop.registry.store=file:{directory}/r",
               "-D", f"hadoop.registry.http.address=127.0.0.1:{port}"]
    process = subprocess.Popen(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *command])
    try:
        wait_for(lambda: request(port, "GET", "/readyz").status == 200, "registryd is ready")
        assert {os.readlink(f"/proc/{process.pid}/fd/{fd}") for fd in range(3)} == {"/dev/null"}
    finally:
        process.terminate()
    assert process.wait(60) == 0
