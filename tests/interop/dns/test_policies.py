"""Answers that depend on how dnsd is set up and on what it knows: rate limit, cookies, hidden identity, not ready, stale."""
import signal

import pytest

import wire
from harness import DOMAIN, Daemon, Stack, container, free_port, wait_for
from wire import BADCOOKIE, COOKIE, EDE, REFUSED, Tcp, Udp, option, query

pytestmark = pytest.mark.sanitize

HOST = f"httpd-1.test1.root.{DOMAIN}"
PATH = "/users/root/services/yarn-service/test1/components/ctr-1-1-1-1"
PREFIX = "hadoop.registry.dns."


def stack(**options):
    return Stack(options={"dnsd": {PREFIX + key.replace("__", "-").replace("_", "."): value for key, value in options.items()}})


def with_host(running):
    running.bind(PATH, container("httpd-1", "httpd", "127.77.0.19"))
    running.sync_all()


def burst(port, n, options=None, name=HOST):
    """n equal questions at once. How many came back whole, and how many empty with TC."""
    whole = empty = 0
    with Udp(port) as client:
        for i in range(n):
            client.send(query(name, id=i, options=options))
        client.socket.settimeout(1)
        try:
            while whole + empty < n:
                answer = client.receive()
                whole, empty = whole + (not answer.is_truncated), empty + answer.is_truncated
                assert not answer.is_truncated or not any(answer.records)
        except TimeoutError:
            pass
    return whole, empty


def test_rate_limit_and_slip():
    with stack(rrl_responses__per__second=10, rrl_slip=2, rrl_exempt="192.0.2.0/24", num__threads=1) as running:
        with_host(running)
        whole, empty = burst(running.dns_port, 100)
        assert 10 <= whole <= 40, "one second's worth, and what a slow machine earns meanwhile"
        assert abs(empty - (100 - whole) / 2) <= 1, "each second one of the rest"
        whole, empty = burst(running.dns_port, 100, name=f"nope.{DOMAIN}")
        assert 10 <= whole <= 40 and empty, "another kind of answer has a limit of its own"
        with Tcp(running.dns_port) as client:
            assert all(client.ask(query(HOST)).rcode == 0 for _ in range(50)), "TCP is not limited"
        with Udp(running.dns_port) as client:
            ask = query(HOST, options=option(COOKIE, b"abcdefgh"))
            client.send(ask)
            with Tcp(running.dns_port) as other:
                good = other.ask(ask).options[COOKIE]
        assert burst(running.dns_port, 100, option(COOKIE, good)) == (100, 0), "a good cookie is a proof"


def test_random_names_share_one_limit():
    with stack(rrl_responses__per__second=10, rrl_slip=0, rrl_exempt="", num__threads=1) as running:
        with Udp(running.dns_port) as client:
            for i in range(100):
                client.send(query(f"random-{i}.{DOMAIN}", id=i))
            client.socket.settimeout(1)
            n = 0
            try:
                while n < 100:
                    assert client.receive().rcode == 3
                    n += 1
            except TimeoutError:
                pass
        assert 10 <= n <= 40


def test_loopback_is_exempt_by_default():
    with stack(rrl_responses__per__second=1, num__threads=1) as running:
        with_host(running)
        assert burst(running.dns_port, 100) == (100, 0)


def test_cookies_required():
    with stack(cookies="require") as running:
        with_host(running)
        with Udp(running.dns_port) as client:
            bare = client.ask(query(HOST))
            assert bare.is_truncated and not any(bare.records), "no cookie: come over TCP"
            first = client.ask(query(HOST, options=option(COOKIE, b"abcdefgh")))
            assert first.rcode == BADCOOKIE and not first.records[0] and len(first.options[COOKIE]) == 24
            again = client.ask(query(HOST, options=option(COOKIE, first.options[COOKIE])))
            assert again.rcode == 0 and len(again.records[0]) == 1
            forged = first.options[COOKIE][:-1] + bytes([first.options[COOKIE][-1] ^ 1])
            assert client.ask(query(HOST, options=option(COOKIE, forged))).rcode == BADCOOKIE
        with Tcp(running.dns_port) as client:
            assert len(client.ask(query(HOST)).records[0]) == 1
        assert running.dig(HOST) == ["127.77.0.19"], "dig does the whole dance by itself"


def test_the_longest_datagram_is_an_option():
    """RFC 9715: 1400 octets pass everywhere without fragments; what a client offers never makes them longer."""
    with stack(udp__max__payload="1400") as running:
        for i in range(80):
            answer = running.bind(f"{PATH[:-1]}{i}", container(f"httpd-{i}", f"httpd{'' if i < 79 else 'x'}", f"127.77.1.{i}"))
        running.sync(answer.headers["Bobbin-Revision"])
        with Udp(running.dns_port) as client:
            answer = client.ask(query(f"httpd.test1.root.{DOMAIN}", options=b"", size=4096))
            assert 1232 < answer.size <= 1400 and len(answer.records[0]) == 79 and answer.edns["size"] == 1400
            assert client.ask(query(f"httpd.test1.root.{DOMAIN}", options=b"", size=1232)).is_truncated
            assert client.ask(query(f"httpd.test1.root.{DOMAIN}")).is_truncated


def test_the_order_of_addresses_can_be_fixed():
    with stack(answer__order="fixed") as running:
        for i in range(5):
            answer = running.bind(f"{PATH[:-1]}{i}", container(f"httpd-{i}", "httpd", f"127.77.1.{i}"))
        running.sync(answer.headers["Bobbin-Revision"])
        with Udp(running.dns_port) as client:
            orders = {tuple(r[-1] for r in client.ask(query(f"httpd.test1.root.{DOMAIN}", id=i)).records[0]) for i in range(20)}
        assert len(orders) == 1 and len(set(orders.pop())) == 5


def test_cookies_off():
    with stack(cookies="off") as running, Udp(running.dns_port) as client:
        assert client.ask(query(DOMAIN, wire.SOA, options=option(COOKIE, b"abcdefgh"))).options == {}


def test_cookie_secrets_roll_over(tmp_path):
    """The second line is accepted, the first one makes; a server that shares the file accepts the cookie."""
    old, new = "00112233445566778899aabbccddeeff", "ffeeddccbbaa99887766554433221100"
    path = tmp_path / "secrets"
    path.write_text(old + "\n")
    options = {"cookies": "require", "cookies_secret__file": str(path)}
    ask = query(DOMAIN, wire.SOA, options=option(COOKIE, b"abcdefgh"))

    def rcode(running, cookie):
        with Udp(running.dns_port) as client:
            return client.ask(query(DOMAIN, wire.SOA, options=option(COOKIE, cookie)))

    def write(running, text, event="dns_reloaded"):
        running.dnsd.events.clear()
        path.write_text(text)
        running.dnsd.process.send_signal(signal.SIGHUP)
        return running.dnsd.event(event)
    with stack(**options) as one, stack(**options) as two:
        with Udp(one.dns_port) as client:
            cookie = client.ask(ask).options[COOKIE]
        assert rcode(two, cookie).rcode == 0, "the other server made it too"
        write(one, f"{new}\n{old}\n")
        answer = rcode(one, cookie)
        assert answer.rcode == 0 and answer.options[COOKIE] != cookie, "still good, and replaced"
        write(one, f"{new}\n")
        assert rcode(one, cookie).rcode == BADCOOKIE
        assert rcode(one, answer.options[COOKIE]).rcode == 0
        assert write(one, "nonsense\n", "dns_reload_failed")["where"].endswith("secrets:1")
        assert not any(event["event"] == "dns_reloaded" for event in one.dnsd.events)
        assert rcode(one, answer.options[COOKIE]).rcode == 0, "what was in force stays"


def test_identity_can_be_hidden():
    with stack(chaos="false") as running, Udp(running.dns_port) as client:
        for name in ("version.bind", "version.server", "id.server", "hostname.bind"):
            assert client.ask(query(name, wire.TXT, qclass=3)).rcode == REFUSED
        assert client.ask(query(DOMAIN, wire.SOA, options=option(wire.NSID))).options == {}


def test_empty_zones_can_be_left_out():
    with stack(empty__zones="false") as running, Udp(running.dns_port) as client:
        assert client.ask(query("1.0.0.10.in-addr.arpa", 12)).rcode == REFUSED
        assert client.ask(query("localhost")).rcode == REFUSED


@pytest.mark.parametrize("key, value, word", [
    ("tls.certificate", "/nowhere.crt", "tls.key"), ("rrl.exempt", "10.0.0.0/33", "no network"),
    ("cookies.secret-file", "/nowhere", "cannot be read"), ("cookies", "perhaps", "cookies")])
def test_a_wrong_option_is_named(key, value, word):
    daemon = Daemon("dnsd", {PREFIX + "domain-name": DOMAIN, PREFIX + "bind-port": 0, PREFIX + "http.address": "127.0.0.1:0",
                             PREFIX + key: value})
    daemon.start()
    assert daemon.process.wait(20) != 0
    wait_for(lambda: word in "".join(daemon.raw), "the log says why")


@pytest.mark.parametrize("qname", [HOST, f"nope.{DOMAIN}", DOMAIN])
def test_not_ready_is_servfail(qname):
    """EDE 14 until the registry was read once; never NXDOMAIN."""
    port, http = free_port(), free_port()
    daemon = Daemon("dnsd", {PREFIX + "domain-name": DOMAIN, PREFIX + "bind-port": port, PREFIX + "http.address": f"127.0.0.1:{http}",
                             "hadoop.registry.url": f"http://127.0.0.1:{free_port()}"})
    daemon.start("dns_listening")
    try:
        with Udp(port) as client:
            answer = client.ask(query(qname, options=b""))
            assert answer.rcode == 2 and not answer.is_authoritative and answer.options[EDE] == (14).to_bytes(2, "big")
            assert client.ask(query(qname)).rcode == 2
    finally:
        daemon.stop()


def test_stale_is_said():
    with stack() as running, Udp(running.dns_port) as client:
        with_host(running)
        assert client.ask(query(HOST, options=b"")).options == {}
        running.registryd.stop()
        ask = query(HOST, options=b"")
        answer = wait_for(lambda: next((a for a in [client.ask(ask)] if EDE in a.options), None), "EDE 3 is there")
        assert answer.options[EDE] == (3).to_bytes(2, "big") and len(answer.records[0]) == 1
        assert client.ask(query(f"nope.{DOMAIN}", options=b"")).options[EDE] == (3).to_bytes(2, "big")
        running.daemons.remove(running.registryd)
