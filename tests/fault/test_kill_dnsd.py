"""kill -9 and SIGTERM of dnsd, and dnsd alone: the others do not notice, and it never says that a name is not there before it knows."""
import pytest

from harness import HELLO, Daemon, Stack, containers, dig_full, free_port, request, wait_for

pytestmark = pytest.mark.sanitize

QUESTIONS = [("hello.hello-world.alice.bobbin.test", "A"), ("hello-0.hello-world.alice.bobbin.test", "A"),
             ("hello-1.hello-world.alice.bobbin.test", "TXT"), ("nobody.alice.bobbin.test", "A"), ("bobbin.test", "NS")]


def answers(stack):
    """Status and records to all questions, without what differs from one answer to the next."""
    found = []
    for question in QUESTIONS:
        text = dig_full(stack.dns_port, *question)
        lines = [line for line in text.splitlines() if line and not line.startswith(";") and "SOA" not in line]
        found.append((question, [w for w in ("NOERROR", "NXDOMAIN", "SERVFAIL") if w in text], sorted(lines)))
    return found


@pytest.mark.parametrize("how", ["kill", "stop"])
def test_a_restart_answers_the_same(how):
    with Stack(services=True) as stack:
        service = stack.launch(HELLO)
        ips = sorted(c["ip"] for c in containers(service))
        wait_for(lambda: stack.dig(QUESTIONS[0][0]) == ips, "names")
        before = answers(stack)
        getattr(stack.dnsd, how)()
        assert stack.service("hello-world")["state"] == "READY"
        put = stack.bind("/users/alice/meanwhile", {"type": "JSONServiceRecord", "external": [], "internal": []})
        assert put.status == 201 and "Bobbin-Applied" not in put.headers
        more = stack.services("PUT", "/hello-world/components/hello", {"number_of_containers": 3})
        assert more.status == 200
        wait_for(lambda: len(containers(stack.until_state("hello-world", "READY"))) == 3, "a third one")
        assert stack.services("PUT", "/hello-world/components/hello", {"number_of_containers": 2}).status == 200
        wait_for(lambda: stack.registry("GET", "/users/alice/services/yarn-service/hello-world/components")
                 .json["status"]["children"] == 2, "two records")
        stack.dnsd.start("feed_synced")
        stack.sync_all()
        assert answers(stack) == before


@pytest.fixture
def lonely():
    """dnsd, and nothing where its registry should be."""
    with Stack() as stack:
        stack.daemons = []
        daemon = Daemon("dnsd", {**stack.dnsd.options, "hadoop.registry.url": f"http://127.0.0.1:{free_port()}",
                                 "hadoop.registry.dns.bind-port": free_port(),
                                 "hadoop.registry.dns.http.address": f"127.0.0.1:{free_port()}"})
        stack.dnsd.stop()
        stack.registryd.stop()
        daemon.start("dns_listening", "daemon_started")
        yield daemon
        daemon.stop()


def test_before_the_first_sync_nothing_is_denied(lonely):
    port = lonely.options["hadoop.registry.dns.bind-port"]
    for question in (("web-0.shop.alice.bobbin.test", "A"), ("bobbin.test", "SOA"), ("nobody.bobbin.test", "TXT"),
                     ("-x", "127.77.0.9")):
        text = dig_full(port, *question)
        assert "status: SERVFAIL" in text and "EDE: 14 (Not Ready)" in text, text
    text = dig_full(port, "+tcp", "web-0.shop.alice.bobbin.test", "A")
    assert "status: SERVFAIL" in text and "EDE: 14 (Not Ready)" in text, text
    assert "status: REFUSED" in dig_full(port, "example.org", "A")
    http = int(lonely.options["hadoop.registry.dns.http.address"].rsplit(":", 1)[1])
    assert request(http, "GET", "/healthz").status == 200
    assert request(http, "GET", "/readyz").status == 503
    assert request(http, "GET", "/sync?revision=abc.1&timeout=100ms").status == 504
