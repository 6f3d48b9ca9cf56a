"""What a daemon says of itself: the log of requests, its level while it runs, and metrics as Prometheus reads them."""
import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import time

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_open
from prometheus_client.parser import text_string_to_metric_families as read_text

import zookeeper
from harness import BIN, PATIENCE, Registry, Stack, container, free_port, request, wait_for

pytestmark = pytest.mark.sanitize

NODE = "/users/alice/services/yarn-service/shop/components/ctr-1"
OPEN = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
PROCESS = {"process_cpu_seconds": "counter", "process_start_time_seconds": "gauge", "process_resident_memory_bytes": "gauge",
           "process_virtual_memory_bytes": "gauge", "process_open_fds": "gauge", "process_max_fds": "gauge"}


@pytest.fixture(scope="module")
def stack():
    proxy = {"hadoop.proxyuser.knox.users": "bob", "hadoop.proxyuser.knox.hosts": "*"}
    with Stack(services=True, options={"registryd": proxy}) as s:
        yield s


def http_ports(stack):
    return {"registryd": stack.registry_port, "dnsd": stack.dns_http_port, "svcmgr": stack.services_port}


def lines(daemon, **wanted):
    """Events of the daemon with these fields."""
    return [e for e in daemon.events if all(e.get(k) == v for k, v in wanted.items())]


def families(port, accept=None):
    answer = request(port, "GET", "/metrics", headers={"Accept": accept} if accept else None)
    kind = answer.headers["Content-Type"]
    text = answer.body.decode()
    if kind.startswith("application/openmetrics-text"):
        return {f.name: f for f in read_open(text)}
    assert kind == "text/plain; version=0.0.4; charset=utf-8" and "# EOF" not in text
    return {f.name: f for f in read_text(text)}


def sample(family, name, **labels):
    found = [s.value for s in family.samples if s.name == name and all(s.labels.get(k) == v for k, v in labels.items())]
    assert len(found) == 1, (name, labels, family.samples)
    return found[0]


def test_every_write_is_a_line_with_who_what_and_result(stack):
    made = stack.registry("PUT", NODE, container("web-0", "web", "127.77.0.1"), {"X-Request-Id": "put-1"},
                          query="createParents=true&user.name=knox&doAs=bob")
    refused = stack.registry("PUT", NODE, container("web-0", "web", "127.77.0.1"), {"X-Request-Id": "put-2"}, query="user.name=mallory")
    assert (made.status, refused.status) == (201, 409)
    line = wait_for(lambda: lines(stack.registryd, request_id="put-1"), "the write is logged")[0]
    assert line["level"] == "info" and line["event"] == "http_write" and line["method"] == "PUT"
    assert line["path"] == "/ws/v1/registry" + NODE and line["query"] == "createParents=true"
    assert (line["user"], line["do_as"], line["peer"]) == ("knox", "bob", "127.0.0.1")
    assert (line["status"], line["result"]) == (201, "OK") and line["revision"] == made.headers["Bobbin-Revision"]
    assert line["out_bytes"] == len(made.body) and line["in_bytes"] > 100 and 0 < line["took_us"] < 60e6
    line = wait_for(lambda: lines(stack.registryd, request_id="put-2"), "the refusal is logged")[0]
    assert (line["user"], line["status"], line["result"]) == ("mallory", 409, "ERR_EXISTS")


def test_a_service_and_its_records_are_writes(stack):
    document = {"name": "logged", "version": "1", "components": [{"name": "c", "number_of_containers": 1, "launch_command": "sleep 1000",
                                                                   "resource": {"cpus": 1, "memory": "32"}}]}
    stack.launch(document)
    line = wait_for(lambda: lines(stack.svcmgr, event="http_write", path="/app/v1/services"), "the launch is logged")[0]
    assert (line["method"], line["user"], line["status"], line["result"]) == ("POST", "alice", 202, "OK")
    assert stack.services("DELETE", "/logged?user.name=alice").status in (200, 202, 204)
    line = wait_for(lambda: lines(stack.svcmgr, event="http_write", method="DELETE"), "the end is logged")[0]
    assert line["path"] == "/app/v1/services/logged"
    wait_for(lambda: [e for e in lines(stack.registryd, event="http_write", method="PUT") if "/logged/components/" in e["path"]],
             "the record that svcmgr wrote is logged")


@pytest.mark.parametrize("name", ["registryd", "dnsd", "svcmgr"])
def test_reads_are_logged_at_debug_and_the_level_changes_while_it_runs(stack, name):
    port, daemon = http_ports(stack)[name], getattr(stack, name)
    read = {"X-Request-Id": f"{name}-quiet"}
    assert request(port, "GET", "/log-level").json == {"level": "info"}
    request(port, "GET", "/version", headers=read)
    answer = request(port, "POST", "/log-level?level=debug")
    assert answer.status == 200 and answer.json == {"level": "debug"}
    request(port, "GET", "/version", headers={"X-Request-Id": f"{name}-loud"})
    line = wait_for(lambda: lines(daemon, request_id=f"{name}-loud"), "the read is logged")[0]
    assert (line["event"], line["level"], line["path"], line["status"]) == ("http_read", "debug", "/version", 200)
    assert not lines(daemon, **{"request_id": f"{name}-quiet"})
    refused = request(port, "POST", "/log-level?level=loud")
    assert refused.status == 400 and "debug" in refused.body.decode()
    assert request(port, "POST", "/log-level?level=error").status == 200
    request(port, "POST", "/log-level?level=info", headers={"X-Request-Id": f"{name}-back"})
    assert request(port, "GET", "/log-level").json == {"level": "info"}
    assert wait_for(lambda: lines(daemon, request_id=f"{name}-back"), "the change back is logged")[0]["level"] == "info"
    levels = [(e["before"], e["level"]) for e in daemon.events if e["event"] == "log_level_changed"]
    assert len(levels) == 3


def test_the_outcome_of_a_write_that_a_stop_leaves_unanswered_is_logged():
    """ZooKeeper stands still, registryd stops: the client gets 503, and the log says what became of the write."""
    with zookeeper.Server() as server, Registry(store=f"zk://{server.address}/registry") as reg:
        path = NODE.replace("ctr-1", "ctr-7")
        with socket.create_connection(("127.0.0.1", reg.registry_port), timeout=PATIENCE) as s:
            body = json.dumps(container("web-7", "web", "127.77.0.7"))
            os.kill(server.pid, signal.SIGSTOP)
            try:
                s.sendall(f"PUT /ws/v1/registry{path}?overwrite=true&createParents=true HTTP/1.1\r\nHost: localhost\r\n"
                          f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
                assert request(reg.registry_port, "GET", "/healthz").status == 200  # what came before it has been taken
                reg.registryd.process.terminate()
                assert b" 503 " in s.recv(65536).partition(b"\r\n")[0]
                reg.registryd.event("daemon_stopped")
            finally:
                os.kill(server.pid, signal.SIGCONT)
        line = reg.registryd.event("write_unanswered")
        assert (line["op"], line["path"]) == ("bind", path) and line["result"] in ("ERR_CANCELLED", "ERR_UNKNOWN_OUTCOME", "ERR_UNAVAILABLE")
        line = reg.registryd.event("http_write")
        assert (line["status"], line["result"]) == (503, "ERR_CANCELLED")


def bobbin(stack, *words):
    return subprocess.run([os.path.join(BIN, "bobbin"), "log-level", "-D", f"hadoop.registry.url=http://127.0.0.1:{stack.registry_port}",
                           "-D", f"hadoop.registry.dns.http.address=127.0.0.1:{stack.dns_http_port}",
                           "-D", f"yarn.service.api-server.address=127.0.0.1:{stack.services_port}", *words],
                          capture_output=True, text=True, timeout=PATIENCE, check=False)


def test_the_command_shows_and_changes_levels(stack):
    rows = json.loads(bobbin(stack, "-o", "json").stdout)
    assert [(r["daemon"], r["level"]) for r in rows] == [("registryd", "info"), ("dnsd", "info"), ("svcmgr", "info")]
    done = bobbin(stack, "dnsd", "debug")
    assert done.returncode == 0 and done.stdout.split()[-4:-1] == ["dnsd", f"http://127.0.0.1:{stack.dns_http_port}", "debug"]
    assert request(stack.dns_http_port, "GET", "/log-level").json == {"level": "debug"}
    assert "debug" in bobbin(stack, f"http://127.0.0.1:{stack.dns_http_port}/").stdout
    assert bobbin(stack, "warn").returncode == 0
    levels = [request(port, "GET", "/log-level").json["level"] for port in http_ports(stack).values()]
    assert levels == ["warn"] * 3
    assert bobbin(stack, "info").returncode == 0
    assert "did you mean \"dnsd\"?" in bobbin(stack, "dns", "info").stderr
    assert "loud" in bobbin(stack, "dnsd", "loud").stderr


def test_the_command_names_who_cannot_be_asked(stack):
    nobody = f"127.0.0.1:{free_port()}"
    done = bobbin(stack, "-D", f"yarn.service.api-server.address={nobody}")
    assert done.returncode == 5 and done.stderr == ""
    rows = [line.split() for line in done.stdout.splitlines()[1:]]
    assert [row[2] for row in rows[:2]] == ["info", "info"] and rows[2][:3] == ["svcmgr", f"http://{nobody}", "-"] and len(rows[2]) > 3
    done = bobbin(stack, "svcmgr", "-D", f"yarn.service.api-server.address={nobody}")
    assert done.returncode == 5 and nobody in done.stderr and done.stdout == ""


def other_address():
    """An address of this host that is no loopback one; None without a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        try:
            s.connect(("192.0.2.1", 9))  # sends nothing
        except OSError:
            return None
        address = s.getsockname()[0]
        return None if address.startswith("127.") else address


def test_the_level_is_changed_from_the_host_only():
    address = other_address()
    if not address:
        pytest.skip("this host has no other address than loopback ones")
    remote = {"hadoop.registry.http.allow-remote": "true", "hadoop.registry.http.address": f"0.0.0.0:{free_port()}"}
    with contextlib.ExitStack() as ends:
        reg = Registry(options={"registryd": remote})
        reg.registry_port = int(remote["hadoop.registry.http.address"].rpartition(":")[2])
        ends.enter_context(reg)

        def ask(method):
            connection = http.client.HTTPConnection(address, reg.registry_port, timeout=PATIENCE)
            ends.callback(connection.close)
            connection.request(method, "/log-level" + ("?level=debug" if method == "POST" else ""))
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        status, body = ask("POST")
        assert status == 403 and "own host" in body and address in body
        assert ask("GET") == (200, '{"level":"info"}')
        assert request(reg.registry_port, "POST", "/log-level?level=warn").status == 200


def test_a_log_that_nobody_reads_holds_nobody_up(tmp_path):
    """Its standard error is a pipe that is full; 3000 reads at debug make more lines than a pipe and the daemon's memory hold."""
    port = free_port()
    with open(tmp_path / "out", "wb") as out:
        daemon = subprocess.Popen([os.path.join(BIN, "registryd"), "--log-level", "debug", "-D", f"bobbin.data.dir={tmp_path}",
                                   "-D", f"hadoop.registry.http.address=127.0.0.1:{port}"], stdout=out, stderr=subprocess.PIPE)
    try:
        wait_for(lambda: request(port, "GET", "/readyz").status == 200, "registryd is ready")
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        for _ in range(3000):
            connection.request("GET", "/version?" + "x" * 900, headers={"X-Request-Id": "y" * 200})
            assert connection.getresponse().read()
        lost = sample(families(port)["log_lines_lost"], "log_lines_lost_total")
        assert lost > 0
        daemon.stderr.read1(65536)
        daemon.terminate()
        daemon.communicate(timeout=PATIENCE)
        assert daemon.returncode == 0
    finally:
        daemon.kill()
        daemon.wait()


@pytest.mark.parametrize("name", ["registryd", "dnsd", "svcmgr"])
def test_both_forms_parse_and_say_the_same(stack, name):
    port = http_ports(stack)[name]
    text, opened = families(port), families(port, OPEN)
    assert request(port, "GET", "/metrics", headers={"Accept": OPEN}).headers["Content-Type"].startswith("application/openmetrics-text")
    assert text.keys() == {n + "_info" if f.type == "info" else n for n, f in opened.items()}
    for key, kind in PROCESS.items():
        assert opened[key].type == text[key].type == kind and opened[key].documentation
    assert opened["process_cpu_seconds"].unit == "seconds" and opened["process_resident_memory_bytes"].unit == "bytes"
    pid = getattr(stack, name).process.pid
    assert abs(sample(opened["process_start_time_seconds"], "process_start_time_seconds") - time.time()) < 3600
    with open(f"/proc/{pid}/statm", encoding="ascii") as f:
        pages = int(f.read().split()[1])
    assert 0.5 < sample(text["process_resident_memory_bytes"], "process_resident_memory_bytes") / (pages * os.sysconf("SC_PAGESIZE")) < 2
    fds = sample(text["process_open_fds"], "process_open_fds")
    assert 5 < fds <= sample(text["process_max_fds"], "process_max_fds") and abs(fds - len(os.listdir(f"/proc/{pid}/fd"))) < 10


def test_requests_are_timed_by_route_method_and_class(stack):
    def count():
        return sample(families(stack.registry_port)["http_request_duration_seconds"], "http_request_duration_seconds_count",
                      route="/ws/v1/registry/*", method="GET", code="4xx")
    for _ in range(2):
        assert stack.registry("GET", "/users/nobody").status == 404
    before = count()
    for i in range(3):
        assert stack.registry("GET", f"/users/nobody-{i}").status == 404
    assert count() == before + 3
    family = families(stack.registry_port, OPEN)["http_request_duration_seconds"]
    assert family.type == "histogram" and family.unit == "seconds"
    assert len({tuple(sorted(s.labels.items())) for s in family.samples if s.name.endswith("_count")}) < 100


def count_of(port, family):
    return sample(families(port)[family], family + "_count")


def total_s(port, family):
    return sample(families(port, OPEN)[family], family + "_sum")


def test_writes_and_their_way_to_the_names_are_timed(stack):
    ours = [(stack.registry_port, "registry_write_seconds"), (stack.registry_port, "registry_propagation_seconds"),
            (stack.dns_http_port, "dnsd_propagation_seconds")]
    before = [(count_of(*of), total_s(*of)) for of in ours]
    for i in range(3):
        stack.bind(NODE.replace("ctr-1", f"timed-{i}"), container(f"timed-{i}", "timed", f"127.77.8.{i + 1}"))
        stack.sync_all()
    assert len(stack.dig("+short", "timed.shop.alice.bobbin.test", "A")) >= 1
    after = [(count_of(*of), total_s(*of)) for of in ours]
    assert [n - m for (n, _), (m, _) in zip(after[:2], before)] == [3, 3] and after[2][0] > before[2][0]
    write, propagation, names = (s - r for (_, s), (_, r) in zip(after, before))
    assert 0 < write < propagation < 3 * PATIENCE and 0 < names < 3 * PATIENCE
    # What is refused before the store is no write.
    assert stack.registry("PUT", NODE, "{", query="overwrite=true").status == 400
    assert count_of(*ours[0]) == after[0][0]


def test_transactions_of_the_services_state_are_timed(stack):
    before = count_of(stack.services_port, "svcmgr_state_write_seconds")
    document = {"name": "timed", "version": "1", "components": [{"name": "c", "number_of_containers": 1, "launch_command": "sleep 1000",
                                                                  "resource": {"cpus": 1, "memory": "32"}}]}
    stack.launch(document)
    assert stack.services("DELETE", "/timed?user.name=alice").status in (200, 202, 204)
    assert count_of(stack.services_port, "svcmgr_state_write_seconds") >= before + 2
