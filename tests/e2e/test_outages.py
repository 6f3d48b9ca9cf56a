"""What a daemon needs and cannot reach: one event at once, the reason at /readyz and on the command line, one event at the end."""
import http.server
import os
import re
import socket
import subprocess
import threading
import time

import pytest

import zookeeper
from harness import BIN, DOMAIN, HELLO, Daemon, Stack, containers, free_port, request, wait_for

pytestmark = pytest.mark.sanitize

SINCE = r"\(since 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ\)"


def named(daemon, event):
    return [e for e in daemon.events if e["event"] == event]


def readyz(port):
    return request(port, "GET", "/readyz")


def metric(port, of):
    text = request(port, "GET", "/metrics").body.decode()
    return int(re.search(rf'^dependency_up{{of="{of}"}} (\d)$', text, re.M).group(1))


def bobbin(*words):
    return subprocess.run([os.path.join(BIN, "bobbin"), *words], capture_output=True, text=True, timeout=60, check=False)


def until_readyz(port, what):
    def says():
        body = readyz(port).body.decode()
        assert re.search(what, body, re.S), body
        return True
    return wait_for(says, f"/readyz says {what}")


def test_dnsd_without_a_registry_says_so_at_once(tmp_path):
    port, web, registry = free_port(), free_port(), free_port()
    dns = Daemon("dnsd", {"hadoop.registry.dns.domain-name": DOMAIN, "hadoop.registry.dns.bind-port": port,
                          "hadoop.registry.dns.http.address": f"127.0.0.1:{web}", "bobbin.data.dir": str(tmp_path),
                          "hadoop.registry.url": f"http://127.0.0.1:{registry}"}).start("dns_listening")
    try:
        lost = dns.event("feed_lost")
        assert lost["url"] == f"http://127.0.0.1:{registry}" and "nothing listens" in lost["error"]
        until_readyz(web, rf"not ready: .*registry is missing: http://127.0.0.1:{registry}: .*nothing listens.*{SINCE}")
        assert metric(web, "registry") == 0
        reg = Daemon("registryd", {"hadoop.registry.http.address": f"127.0.0.1:{registry}",
                                   "bobbin.data.dir": str(tmp_path / "registry")}).start("http_listening")
        back = dns.event("feed_back")
        assert back["url"] == lost["url"] and back["lasted_s"] >= 0 and back["tries"] >= 1
        wait_for(lambda: readyz(web).status == 200, "dnsd is ready")
        assert readyz(web).body == b"ready\n" and metric(web, "registry") == 1
        assert len(named(dns, "feed_lost")) == 1
        reg.kill()
        wait_for(lambda: len(named(dns, "feed_lost")) == 2, "the second outage is logged, too")
        until_readyz(web, rf"^ready\nregistry is missing: .*{SINCE}\n$")
        assert readyz(web).status == 200, "the last known names are answered"
    finally:
        dns.stop()


def test_each_heartbeat_without_the_store_counts(tmp_path):
    """So that an outage of an hour is said once a minute, not once."""
    feed, web = socket.create_server(("127.0.0.1", 0)), free_port()
    dns = Daemon("dnsd", {"hadoop.registry.dns.domain-name": DOMAIN, "hadoop.registry.dns.bind-port": free_port(),
                          "hadoop.registry.dns.http.address": f"127.0.0.1:{web}", "bobbin.data.dir": str(tmp_path),
                          "hadoop.registry.url": f"http://127.0.0.1:{feed.getsockname()[1]}"}).start("dns_listening")
    try:
        with feed, feed.accept()[0] as registry:
            registry.recv(4096)
            registry.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\n"
                             b'{"type":"hello","store":"a1","oldest":"a1.0","revision":"a1.1"}\n'
                             b'{"type":"put","path":"/","revision":"a1.1","time":1,"size":9}\n{"type":"sync","revision":"a1.1"}\n')
            dns.event("feed_synced")
            registry.sendall(3 * b'{"type":"progress","revision":"a1.1","stale":true}\n')
            assert "its store" in dns.event("feed_stale")["error"]
            until_readyz(web, rf"^ready\nregistry-store is missing: .*{SINCE}\n$")
            assert metric(web, "registry-store") == 0
            registry.sendall(b'{"type":"progress","revision":"a1.1"}\n')
            assert dns.event("feed_current")["tries"] >= 3
            until_readyz(web, "^ready\n$")
    finally:
        dns.stop()


def test_registryd_without_its_zookeeper_says_which_and_so_does_everybody(tmp_path):
    web, dns_web = free_port(), free_port()
    url = "zk://no-such-host.invalid:2181/registry"
    reg = Daemon("registryd", {"hadoop.registry.http.address": f"127.0.0.1:{web}", "hadoop.registry.store": url,
                               "bobbin.data.dir": str(tmp_path)}).start("http_listening")
    dns = Daemon("dnsd", {"hadoop.registry.dns.domain-name": DOMAIN, "hadoop.registry.dns.bind-port": free_port(),
                          "hadoop.registry.dns.http.address": f"127.0.0.1:{dns_web}", "bobbin.data.dir": str(tmp_path / "dns"),
                          "hadoop.registry.url": f"http://127.0.0.1:{web}"}).start("dns_listening")
    try:
        lost = reg.event("registry_stale")
        assert lost["url"] == url and "no-such-host.invalid:2181" in lost["error"]
        until_readyz(web, f"not ready: .*store is missing: .*no-such-host.invalid:2181.*{SINCE}")
        assert readyz(web).status == 503 and metric(web, "store") == 0
        done = bobbin("registry", "ls", "/", "--url", f"http://127.0.0.1:{web}", "--timeout", "1s")
        assert done.returncode == 5 and re.search(f"no-such-host.invalid:2181.*{SINCE}", done.stderr), done.stderr
        wait_for(lambda: "no-such-host" in readyz(dns_web).body.decode(), "dnsd repeats the registry's reason")
        assert len(named(reg, "registry_stale")) == 1
    finally:
        dns.stop()
        reg.stop()


def published(stack):
    """bobbin:ready of each container's record; None: it is ready."""
    answer = stack.registry("GET", "/users/alice/services/yarn-service/hello-world/components", query="recursive=true")
    return [node["service"].get("bobbin:ready") for node in answer.json.get("tree", ())]


def test_svcmgr_says_what_is_not_published_since_when_and_why():
    """A service that is flexed while registryd is dead: its new container is READY, and has no name."""
    with Stack(services=True) as stack:
        stack.launch({**HELLO, "components": [{**HELLO["components"][0], "number_of_containers": 1}]})
        stack.until_state("hello-world", "READY")
        port, url = stack.services_port, f"http://127.0.0.1:{stack.registry_port}"
        assert readyz(port).body == b"ready\n" and metric(port, "registry") == 1
        wait_for(lambda: published(stack) == [None], "the record says that the container is ready, which comes after it is READY")
        wait_for(lambda: b"\nsvcmgr_registry_changes_pending 0\n" in request(port, "GET", "/metrics").body, "all is published")
        stack.registryd.kill()
        away = stack.svcmgr.event("registry_away")
        assert away["url"] == url and away["error"]
        until_readyz(port, f"^ready\nregistry is missing: {url}: .*{SINCE}\n$")  # nothing waits for it yet
        stack.services("PUT", "/hello-world/components/hello", {"name": "hello", "number_of_containers": 2})
        wait_for(lambda: len(containers(stack.service("hello-world"))) == 2, "the second container runs")
        stack.until_state("hello-world", "READY")

        until_readyz(port, f"not ready: records are not published; registry is missing: {url}: .*{SINCE}")
        assert readyz(port).status == 503 and metric(port, "registry") == 0
        service = stack.services("GET", "/hello-world?explain=true").json
        second = [c for c in containers(service) if c["component_instance_name"] == "hello-1"][0]
        assert second["registry"]["published"] is False and url in second["registry"]["reason"]
        assert abs(second["registry"]["since"] / 1000 - time.time()) < 120
        assert re.search(f"hello-1: {url}: .*{SINCE}", service["diagnostics"]), service["diagnostics"]
        assert any(e["instance"] == "hello-1" and re.search(f"not published in the registry: {url}.*{SINCE}", e["wait"])
                   for e in service["explain"]), service["explain"]
        shown = bobbin("app", "status", "hello-world", "--user", "alice", "--url", f"http://127.0.0.1:{port}")
        assert shown.returncode == 0 and re.search(f"[Nn]ot published.*hello-1: {url}", shown.stdout), shown.stdout
        assert len(named(stack.svcmgr, "registry_away")) == 1

        stack.registryd.start("http_listening")
        back = stack.svcmgr.event("registry_back")
        assert back["url"] == url and back["tries"] >= 1
        wait_for(lambda: stack.dig(f"hello-1.hello-world.alice.{DOMAIN}"), "the new container has a name")
        wait_for(lambda: readyz(port).body == b"ready\n", "svcmgr is ready")
        wait_for(lambda: not [c for c in containers(stack.service("hello-world")) if "registry" in c], "all are published")
        assert "diagnostics" not in stack.service("hello-world")


def test_svcmgr_without_a_registry_says_so_at_once(tmp_path):
    web, registry = free_port(), free_port()
    svc = Daemon("svcmgr", {"yarn.service.api-server.address": f"127.0.0.1:{web}", "bobbin.data.dir": str(tmp_path),
                            "hadoop.registry.dns.domain-name": DOMAIN,
                            "hadoop.registry.url": f"http://127.0.0.1:{registry}"}).start("svcmgr_ready")
    try:
        assert svc.event("registry_away")["url"] == f"http://127.0.0.1:{registry}"
        until_readyz(web, "^ready\nregistry is missing: ")
    finally:
        svc.stop()


def test_a_write_that_zookeeper_does_not_take_ends_with_the_reason():
    with zookeeper.Server() as server, Stack(store=f"zk://{server.address}/registry") as stack:
        server.kill()
        stack.registryd.event("registry_stale")
        done = bobbin("registry", "mknode", "/users/alice/x", "--parents", "--timeout", "1s",
                      "--url", f"http://127.0.0.1:{stack.registry_port}")
        assert done.returncode == 6 and re.search(f"store is missing: zk://{server.address}/registry: .*{SINCE}", done.stderr), \
            done.stderr
        server.start()
        stack.registryd.event("registry_current")
        wait_for(lambda: readyz(stack.registry_port).body == b"ready\n", "nothing is missing")


class Page(http.server.BaseHTTPRequestHandler):
    """A web server that is no Bobbin."""
    status = 404

    def do_GET(self):
        body = b"<html>hello</html>"
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.mark.parametrize("status", [404, 200])
@pytest.mark.parametrize("words,program", [(["registry", "ls", "/"], "registryd"), (["registry", "find", "user=alice"], "registryd"),
                                           (["app", "list"], "svcmgr"), (["app", "status", "hello"], "svcmgr"),
                                           (["dns", "explain", "a.b.test"], "dnsd")])
def test_a_wrong_server_is_named_with_what_was_expected(words, program, status):
    handler = type("Handler", (Page,), {"status": status})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            url = f"http://127.0.0.1:{server.server_port}"
            done = bobbin(*words, "--url", url)
        finally:
            server.shutdown()
            thread.join()
    assert done.returncode != 0
    assert re.search(rf"^bobbin: {url}/\S+: .*not as {program} does: is {program} at this address\?", done.stderr), done.stderr
    assert "user.name" not in done.stderr


def test_another_daemon_of_bobbin_is_a_wrong_server_too():
    with Stack() as stack:
        url = f"http://127.0.0.1:{stack.dns_http_port}"
        done = bobbin("registry", "ls", "/", "--url", url)
        assert done.returncode != 0 and f"{url}/ws/v1/registry/" in done.stderr and "registryd" in done.stderr, done.stderr


def test_escape_sequences_are_for_terminals():
    """./dev writes its headings in bold on a terminal only."""
    dev = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "dev")
    script = f'eval "$(sed -n "/^say()/,/^}}/p" {dev})"; say building'
    done = subprocess.run(["bash", "-c", script], capture_output=True, timeout=30, check=True)
    assert done.stderr == b"== building\n"
