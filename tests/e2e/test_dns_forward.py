"""Names that are not ours: relayed to upstream servers, which are scripted here; names in our zones never wait for them."""
import os
import re
import select
import socket
import struct
import subprocess
import threading
import time

import pytest

from harness import BIN, DOMAIN, Stack, container, dig_full, end_process, free_port, request, wait_for

pytestmark = pytest.mark.sanitize

BASE = "/users/alice/services/yarn-service/shop"
KEY = "hadoop.registry.dns."
TYPES = {"A": 1, "NS": 2, "CNAME": 5, "SOA": 6, "TXT": 16, "AAAA": 28}
RD, TC, AA, AD, CD = 0x100, 0x200, 0x400, 0x20, 0x10


def wire(name):
    return b"".join(bytes([len(label)]) + label.encode() for label in name.rstrip(".").split(".") if label) + b"\0"


def soa(ttl=300, minimum=60):
    return "corp.example", "SOA", ttl, wire("ns.corp.example") + wire("root.corp.example") + struct.pack(
        ">5L", 1, 3600, 600, 86400, minimum)


def a(name, address, ttl=300):
    return name, "A", ttl, socket.inet_aton(address)


def record(owner, kind, ttl, rdata):
    return wire(owner) + struct.pack(">HHLH", TYPES[kind], 1, ttl, len(rdata)) + rdata


class Question:
    def __init__(self, msg, is_tcp):
        self.id, self.flags = struct.unpack(">HH", msg[:4])
        at, labels = 12, []
        while msg[at]:
            labels.append(msg[at + 1:at + 1 + msg[at]].decode())
            at += msg[at] + 1
        self.sent_name, self.raw, self.is_tcp = ".".join(labels), msg[12:at + 5], is_tcp
        self.name = self.sent_name.lower()  # the case of its letters is left to chance
        self.type = {v: k for k, v in TYPES.items()}[struct.unpack(">H", msg[at + 1:at + 3])[0]]
        opt = msg[at + 5:]
        self.has_edns = bool(opt)
        self.size, self.wants_dnssec = (struct.unpack(">H", opt[3:5])[0], bool(opt[7] & 0x80)) if opt else (512, False)

    def reply(self, answer=(), authority=(), rcode=0, flags=0, additional=(), opt=b"", **change):
        sections = [list(answer), list(authority), list(additional)]
        head = struct.pack(">6H", change.get("id", self.id), 0x8000 | flags | rcode, 1,
                           *(len(s) for s in sections[:2]), len(sections[2]) + bool(opt))
        return head + change.get("question", self.raw) + b"".join(record(*r) for s in sections for r in s) + opt


class Upstream:
    """A server on UDP and TCP; script(question) gives a message, a list of messages, or None for silence."""

    def __init__(self, script, port=None):
        self.script, self.port = script, port or free_port()
        self.asked = []
        self.ports = set()
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", self.port))
        self.tcp = socket.create_server(("127.0.0.1", self.port))
        self.threads = [threading.Thread(target=f, daemon=True) for f in (self._udp, self._tcp)]
        for thread in self.threads:
            thread.start()

    def _messages(self, msg, is_tcp):
        question = Question(msg, is_tcp)
        self.asked.append(question)
        said = self.script(question)
        return [] if said is None else said if isinstance(said, list) else [said]

    def _udp(self):
        while True:
            msg, peer = self.udp.recvfrom(4096)
            if not msg:
                return
            self.ports.add(peer[1])
            for out in self._messages(msg, False):
                self.udp.sendto(out, peer)

    def _tcp(self):
        while True:
            try:
                connection, _ = self.tcp.accept()
            except OSError:
                return
            with connection, connection.makefile("rb") as file:
                prefix = file.read(2)
                if len(prefix) < 2:
                    continue
                for out in self._messages(file.read(struct.unpack(">H", prefix)[0]), True):
                    connection.sendall(struct.pack(">H", len(out)) + out)

    def names(self):
        return [q.name for q in self.asked]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.sendto(b"", ("127.0.0.1", self.port))
        self.tcp.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join()
        self.udp.close()
        self.tcp.close()


class Forwarding(Stack):
    def __init__(self, *upstreams, **options):
        listed = ",".join(f"127.0.0.1:{getattr(u, 'port', u)}" for u in upstreams)
        super().__init__(options={"dnsd": {KEY + "forward.enabled": "true", KEY + "upstreams": listed,
                                           KEY + "forward.timeout": "10s",
                                           **{KEY + k.replace("__", "-").replace("_", "."): v
                                              for k, v in options.items()}}})

    def dig(self, *words):
        return super().dig("+recurse", *words)

    def metric(self, name):
        text = request(self.dns_http_port, "GET", "/metrics").body.decode()
        return int(re.search(rf"^{name}(?:_total)? (\d+)", text, re.M).group(1))


class Said:
    """What dig printed."""

    def __init__(self, port, *words):
        self.text = dig_full(port, "+recurse", *words)
        self.status = re.search(r"status: (\w+)", self.text).group(1)
        self.flags = re.search(r"flags: ([\w ]*);", self.text).group(1).split()
        self.size = int(re.search(r"MSG SIZE  rcvd: (\d+)", self.text).group(1))
        self.ede = (re.search(r"EDE: (\d+)", self.text) or [None, None])[1]
        self.counts = [int(n) for n in re.search(r"ANSWER: (\d+), AUTHORITY: (\d+), ADDITIONAL: (\d+)",
                                                 self.text).groups()]

    def ttl(self, kind):
        return int(re.search(rf"^\S+\s+(\d+)\s+IN\s+{kind}\s", self.text, re.M).group(1))


def always(*answer, **more):
    return lambda q: q.reply(answer=answer, **more)


def test_off_unless_wanted():
    with Upstream(always(a("www.corp.example", "10.9.8.7"))) as up, Stack(
            options={"dnsd": {KEY + "upstreams": f"127.0.0.1:{up.port}"}}) as stack:
        said = Said(stack.dns_port, "www.corp.example")
        assert (said.status, said.ede) == ("REFUSED", "20")
        assert Said(stack.dns_port, f"nope.{DOMAIN}").status == "NXDOMAIN"
        assert up.asked == []


def test_whole_message_is_relayed_with_a_header_of_ours():
    def script(q):
        return q.reply([("www.corp.example", "CNAME", 200, wire("web.corp.example")), a("web.corp.example", "10.9.8.7")],
                       [("corp.example", "NS", 100, wire("ns.corp.example"))], flags=AA | AD,
                       additional=[a("ns.corp.example", "10.9.8.1")])

    with Upstream(script) as up, Forwarding(up) as stack:
        said = Said(stack.dns_port, "wWw.Corp.Example", "+dnssec", "+cdflag", "+nocookie")
        assert said.status == "NOERROR"
        assert set(said.flags) == {"qr", "rd", "ra", "cd"}, "AA and AD are the upstream's"
        assert said.counts == [2, 1, 2]
        assert "wWw.Corp.Example.\t\tIN\tA" in said.text, "the question is the client's, case and all"
        assert "10.9.8.7" in said.text and "10.9.8.1" in said.text
        asked = up.asked[0]
        assert asked.flags == RD | CD and asked.wants_dnssec and asked.size == 1232
        assert Said(stack.dns_port, "www.corp.example", "+tcp").status == "NOERROR"
        assert "10.9.8.7" in Said(stack.dns_port, "www.corp.example", "+noedns").text
        for words in ([], ["+tcp"]):
            assert "(good)" in Said(stack.dns_port, "www.corp.example", "+cookie", *words).text, "as for our zones"


def test_contract_rows_of_forwarding():
    """example.com SOA, an external CNAME, the 13 root servers, and silence: rows 17 to 20."""
    def script(q):
        if q.name == "example.com":
            return q.reply([("example.com", *soa()[1:])])
        if q.name == "mail.yahoo.com":
            return q.reply([(q.name, "CNAME", 300, wire("edge.yahoo.com"))])
        if q.name == "":
            return q.reply([("", "NS", 518400, wire(f"{c}.root-servers.net")) for c in "abcdefghijklm"])
        return None

    with Upstream(script) as up, Forwarding(up) as stack:
        assert Said(stack.dns_port, "example.com", "SOA").counts[0] == 1
        said = Said(stack.dns_port, "mail.yahoo.com", "CNAME")
        assert said.status == "NOERROR" and said.counts[0] == 1 and "edge.yahoo.com." in said.text
        said = Said(stack.dns_port, ".", "NS")
        assert said.status == "NOERROR" and said.counts[0] == 13
    with Upstream(script) as up, Forwarding(up, forward_timeout="1s") as stack:  # dig waits 5 s, as the row says
        assert Said(stack.dns_port, "-x", "203.0.114.19", "CNAME").counts[0] == 0


def test_many_clients_and_a_stop_in_the_middle():
    with Upstream(lambda q: q.reply([a(q.name, "10.0.0.1")])) as up, Forwarding(up, forward_cache__size="20k") as stack:
        def ask(first):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
                s.settimeout(20)
                s.connect(("127.0.0.1", stack.dns_port))
                for i in range(first, first + 150):
                    s.send(struct.pack(">6H", i, RD, 1, 0, 0, 0) + wire(f"n{i % 400}.corp.example") + b"\0\1\0\1")
                    msg = s.recv(512)
                    got.append(struct.unpack(">H", msg[:2])[0] == i and msg.endswith(socket.inet_aton("10.0.0.1")))

        got = []
        threads = [threading.Thread(target=ask, args=(n * 150,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert got == [True] * 1200
        assert 0 < stack.metric("dns_forward_cache_bytes") <= 20 << 10
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            for i in range(300):
                s.sendto(struct.pack(">6H", i, RD, 1, 0, 0, 0) + wire(f"m{i}.corp.example") + b"\0\1\0\1",
                         ("127.0.0.1", stack.dns_port))
            stack.dnsd.stop()


@pytest.mark.parametrize("key, value, reported", [
    ("upstreams", "dns.example:53", "is no server"),
    ("upstreams", "127.0.0.1:5335", "cannot forward to itself"),
    ("upstreams", ",", "no server to forward to"),
    ("forward.acl", "127.0.0.0/33", "is no network"),
    ("fallthrough.zones", "a..b", "is no domain"),
])
def test_mistakes_are_reported_before_the_start(key, value, reported):
    options = {"domain-name": DOMAIN, "forward.enabled": "true", "upstreams": "127.0.0.1:53", key: value}
    words = [word for k, v in options.items() for word in ("-D", f"{KEY}{k}={v}")]
    done = subprocess.run([os.path.join(BIN, "dnsd"), "-t", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 3 and KEY + key in done.stderr and reported in done.stderr, done


def test_answers_are_kept_as_long_as_they_are_good():
    def script(q):
        if q.name.startswith("no"):
            return q.reply(authority=[soa(ttl=300, minimum=60)], rcode=3)
        return q.reply([a(q.name, "10.0.0.1", 0 if q.name.startswith("zero") else 300)])

    with Upstream(script) as up, Forwarding(up) as stack:
        for words in (["www.corp.example"], ["WWW.corp.example"], ["www.corp.example", "+tcp"]):
            assert stack.dig(*words) == ["10.0.0.1"]
        assert up.names() == ["www.corp.example"]
        Said(stack.dns_port, "www.corp.example", "+dnssec")
        Said(stack.dns_port, "www.corp.example", "+cdflag")
        Said(stack.dns_port, "www.corp.example", "AAAA")
        assert len(up.asked) == 4, "DO, CD and type ask for something else"
        wait_for(lambda: Said(stack.dns_port, "www.corp.example").ttl("A") < 300, "the TTL goes down")
        for _ in range(2):
            assert Said(stack.dns_port, "no.corp.example").status == "NXDOMAIN"
            assert stack.dig("zero.corp.example") == ["10.0.0.1"]
        assert up.names().count("no.corp.example") == 1 and up.names().count("zero.corp.example") == 2
        assert stack.metric("dns_forward_cache_hits") >= 3
        assert stack.metric("dns_forward_cache_bytes") > 0


def test_every_query_has_a_port_and_an_id_of_its_own():
    with Upstream(lambda q: q.reply([a(q.name, "10.0.0.1")])) as up, Forwarding(up) as stack:
        for i in range(12):
            assert stack.dig(f"n{i}.corp.example") == ["10.0.0.1"]
        assert len(up.ports) > 6
        ids = [q.id for q in up.asked]
        assert len(set(ids)) > 8 and sorted(ids) != ids


def test_what_does_not_answer_the_question_is_stepped_over():
    def script(q):
        wrong = q.reply([a(q.name, "6.6.6.6")], id=q.id ^ 1)
        other = q.reply([a("evil.example", "6.6.6.6")], question=wire("evil.example") + q.raw[-4:])
        kind = q.reply([a(q.name, "6.6.6.6")], question=q.raw[:-4] + b"\0\x1c\0\1")
        return [b"", b"x" * 11, wrong, other, kind, q.reply([a(q.name, "10.0.0.1")])]

    def elsewhere(q):
        """From another port, and from that port of another address: the kernel keeps both away from a connected socket."""
        for source in (("127.0.0.1", 0), ("127.0.0.2", up.port)):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
                s.bind(source)
                for port in up.ports:
                    s.sendto(q.reply([a(q.name, "6.6.6.6")]), ("127.0.0.1", port))
        return script(q)

    with Upstream(elsewhere) as up, Forwarding(up) as stack:
        assert stack.dig("www.corp.example") == ["10.0.0.1"]
        assert len(up.asked) == 1
        assert stack.metric("dns_forward_strays") == 5 and stack.metric("dns_forward_doubts") == 0


def other_case(q):
    return wire(q.sent_name.swapcase()) + q.raw[-4:]


def test_case_of_the_name_is_left_to_chance_and_wrong_case_is_not_believed():
    def script(q):
        if not q.is_tcp and q.name.startswith("forged"):
            return q.reply([a(q.name, "6.6.6.6")], question=other_case(q))
        return q.reply([a(q.name, "10.0.0.1")])

    with Upstream(script) as up, Forwarding(up) as stack:
        for i in range(8):
            assert stack.dig(f"abcdefghijklmnop{i}.corp.example") == ["10.0.0.1"]
        assert len({q.sent_name[:16] for q in up.asked}) > 4, "chance"
        assert "abcdefghijklmnop0" in Said(stack.dns_port, "abcdefghijklmnop0.corp.example").text, "the client's case"
        assert stack.metric("dns_forward_doubts") == 0
        assert stack.dig("forged.corp.example") == ["10.0.0.1"], "TCP decides"
        assert [q.is_tcp for q in up.asked if q.name == "forged.corp.example"] == [False, True]
        assert stack.metric("dns_forward_strays") == stack.metric("dns_forward_doubts") == 1
        up.asked.clear()
        assert stack.dig("next.corp.example") == ["10.0.0.1"] and len(up.asked) == 1, "the upstream is not blamed for it"


@pytest.mark.parametrize("has_tcp", [True, False])
def test_upstream_that_changes_case_is_asked_in_lower_case(has_tcp):
    def script(q):
        return None if q.is_tcp and not has_tcp else q.reply([a(q.name, "10.0.0.1")], question=wire(q.name) + q.raw[-4:])

    with Upstream(script) as up, Forwarding(up) as stack:
        assert stack.dig("abcdefghijklmnop.corp.example") == ["10.0.0.1"]
        assert [q.is_tcp for q in up.asked] == ([False, True] if has_tcp else [False, True, False])
        assert stack.dnsd.event("forward_upstream_case")["port"] == up.port
        up.asked.clear()
        assert stack.dig("qrstuvwxyzabcdef.corp.example") == ["10.0.0.1"]
        assert [q.sent_name for q in up.asked] == ["qrstuvwxyzabcdef.corp.example"], "now it is known"


def test_many_forged_answers_lead_to_tcp():
    def script(q):
        forged = [q.reply([a(q.name, "6.6.6.6")], id=q.id ^ i) for i in range(1, 40)]
        return q.reply([a(q.name, "10.0.0.1")]) if q.is_tcp else [*forged, q.reply([a(q.name, "6.6.6.6")])]

    with Upstream(script) as up, Forwarding(up) as stack:
        assert stack.dig("www.corp.example") == ["10.0.0.1"]
        assert [q.is_tcp for q in up.asked] == [False, True]
        assert stack.metric("dns_forward_doubts") == 1 and stack.metric("dns_forward_strays") == 16


@pytest.mark.parametrize("rcode", [1, 4])
def test_upstream_that_does_not_know_edns_is_asked_without(rcode):
    def script(q):
        if q.has_edns:
            return struct.pack(">6H", q.id, 0x8000 | rcode, 1, 0, 0, 0) + q.raw
        return q.reply([a(q.name, "10.0.0.1")])

    with Upstream(script) as up, Forwarding(up) as stack:
        said = Said(stack.dns_port, "one.corp.example", "+dnssec")
        assert said.status == "NOERROR" and "10.0.0.1" in said.text and "EDNS: version: 0" in said.text
        assert stack.dnsd.event("forward_upstream_plain")["port"] == up.port
        assert stack.dig("two.corp.example") == ["10.0.0.1"]
        assert [q.has_edns for q in up.asked] == [True, False, False]
        assert stack.metric("dns_forward_sent_plain") == 2


def test_options_go_from_hop_to_hop():
    with Upstream(always(a("www.corp.example", "10.0.0.1"))) as up, Forwarding(up, identity="node-seven") as stack:
        for _ in range(2):  # relayed, then from the cache
            assert '("node-seven")' in Said(stack.dns_port, "www.corp.example", "+nsid").text
            assert re.search(r"TCP.KEEPALIVE: 10\.0 sec", Said(stack.dns_port, "www.corp.example", "+tcp", "+keepalive").text)
        assert "node-seven" not in Said(stack.dns_port, "www.corp.example").text


def test_ttls_can_be_limited():
    def script(q):
        if q.name.startswith("no"):
            return q.reply(authority=[soa(ttl=3000, minimum=3000)], rcode=3)
        return q.reply([a(q.name, "10.0.0.1", 3000)])

    with Upstream(script) as up, Forwarding(up, forward_ttl__max="70s", forward_negative__ttl__max="7s") as stack:
        for _ in range(2):
            assert Said(stack.dns_port, "www.corp.example").ttl("A") <= 70
            assert Said(stack.dns_port, "no.corp.example").ttl("SOA") <= 7
        assert up.names() == ["www.corp.example", "no.corp.example"]


def test_truncated_upstream_answer_is_fetched_over_tcp():
    def script(q):
        if not q.is_tcp:
            return q.reply(flags=TC)
        return q.reply([a(q.name, f"10.0.{i // 250}.{i % 250}") for i in range(400)])

    with Upstream(script) as up, Forwarding(up) as stack:
        assert len(stack.dig("big.corp.example")) == 400, "dig itself comes again over TCP"
        assert [q.is_tcp for q in up.asked] == [False, True]
        for words, most in ((["+noedns"], 512), (["+bufsize=4096"], 1232), (["+bufsize=700"], 700)):
            said = Said(stack.dns_port, "big.corp.example", "+notcp", "+ignore", *words)
            assert "tc" in said.flags and said.size <= most and said.counts[0] == 0, said.text
        assert len(up.asked) == 2


def test_what_is_only_additional_gives_way_without_tc():
    def script(q):
        return q.reply([a(q.name, "10.0.0.1")], additional=[a(f"x{i}.corp.example", "10.1.1.1") for i in range(30)])

    with Upstream(script) as up, Forwarding(up) as stack:
        said = Said(stack.dns_port, "www.corp.example", "+noedns", "+ignore")
        assert "tc" not in said.flags and said.counts == [1, 0, 0] and said.size <= 512
        assert Said(stack.dns_port, "www.corp.example", "+bufsize=1232").counts == [1, 0, 31]


def test_next_upstream_and_the_memory_of_a_silent_one():
    with Upstream(lambda q: None) as silent, Upstream(lambda q: q.reply([a(q.name, "10.0.0.2")])) as good, \
            Forwarding(silent, good, forward_timeout="2s") as stack:
        began = time.monotonic()
        for name in ("one.corp.example", "two.corp.example"):
            wait_for(lambda: stack.dig(name) == ["10.0.0.2"], "the other one answers")
        if time.monotonic() - began < 3:  # two until it had failed, and one that it is held back at least
            assert set(silent.names()) == {"one.corp.example"}, "who was silent is not asked first again"
        assert stack.dnsd.event("forward_upstream_failed")["port"] == silent.port
        reported = request(stack.dns_http_port, "GET", "/stats").json
        first, second = reported["upstreams"]
        assert (first["address"], first["port"], second["port"]) == ("127.0.0.1", silent.port, good.port)
        assert first["failedInARow"] >= 1 and second["failedInARow"] == 0 and reported["forward"]["timeouts"] >= 1
        assert "rttMs" not in first and second["rttMs"] >= 0
        assert stack.metric("dns_forward_upstreams_failing") == 1
        silent.script = lambda q: q.reply([a(q.name, "10.0.0.1")])
        names = iter(range(10000))
        wait_for(lambda: stack.dig(f"n{next(names)}.corp.example") == ["10.0.0.1"], "it is tried again after a while")
        assert stack.dnsd.event("forward_upstream_back")["port"] == silent.port


@pytest.mark.parametrize("rcode, word", [(2, "SERVFAIL"), (5, "REFUSED"), (1, "FORMERR")])
def test_a_refusal_is_worth_another_upstream(rcode, word):
    with Upstream(always(rcode=rcode)) as bad, Upstream(always(a("www.corp.example", "10.0.0.2"))) as good, \
            Forwarding(bad, good) as stack:
        assert stack.dig("www.corp.example") == ["10.0.0.2"]
        good.script = always(rcode=rcode)
        assert Said(stack.dns_port, "other.corp.example").status == word


def test_malformed_answer_is_none():
    def script(q):
        good = q.reply([a(q.name, "10.0.0.1")])
        return good[:-2]

    with Upstream(script) as bad, Upstream(always(a("www.corp.example", "10.0.0.2"))) as good, \
            Forwarding(bad, good) as stack:
        assert stack.dig("www.corp.example") == ["10.0.0.2"]
        assert stack.metric("dns_forward_errors") == 1


def test_nobody_answers():
    with Upstream(lambda q: None) as silent, Forwarding(silent, forward_timeout="1s") as stack:
        said = Said(stack.dns_port, "www.corp.example")
        assert (said.status, said.ede) == ("SERVFAIL", "22")
        silent.script = always(a("www.corp.example", "10.0.0.1"))
        wait_for(lambda: stack.dig("www.corp.example") == ["10.0.0.1"], "a failure is forgotten")
        said = Said(stack.dns_port, "localhost")
        assert said.status == "NOERROR" and "127.0.0.1" in said.text
        assert Said(stack.dns_port, "x.invalid").status == "NXDOMAIN"
        assert Said(stack.dns_port, "-x", "10.255.255.1").status == "NXDOMAIN"
        assert set(silent.names()) == {"www.corp.example"}, "names for local use stay here"
    with Forwarding(free_port()) as stack:
        said = Said(stack.dns_port, "www.corp.example")
        assert (said.status, said.ede) == ("SERVFAIL", "23"), "nothing listens there: ICMP says so at once"


def test_an_outage_of_all_servers_is_said_once():
    def up_metric():
        text = request(stack.dns_http_port, "GET", "/metrics").body.decode()
        return int(re.search(r'^dependency_up{of="upstream"} (\d)$', text, re.M).group(1))

    def events():
        return [e["event"] for e in stack.dnsd.events if e["event"].startswith("forward_") and "upstream" not in e["event"]]

    with Upstream(lambda q: None) as silent, Upstream(always(rcode=2)) as refusing, \
            Forwarding(silent, free_port(), refusing, forward_timeout="200ms") as stack:
        assert Said(stack.dns_port, "a.corp.example").status == "SERVFAIL"
        assert request(stack.dns_http_port, "GET", "/readyz").body == b"ready\n" and events() == [], "one has answered"
    with Upstream(lambda q: None) as silent, Forwarding(silent, dead := free_port(), forward_timeout="200ms") as stack:
        assert up_metric() == 1, "nothing was asked yet"
        servers = f"127.0.0.1:{silent.port}, 127.0.0.1:{dead}"
        for i in range(3):
            assert Said(stack.dns_port, f"n{i}.corp.example").status == "SERVFAIL"
        lost = stack.dnsd.event("forward_lost")
        assert lost["url"] == servers and "no server" in lost["error"]
        ready = request(stack.dns_http_port, "GET", "/readyz")
        assert ready.status == 200 and f"\nupstream is missing: {servers}: no server ".encode() in ready.body
        assert up_metric() == 0
        silent.script = always(a("www.corp.example", "10.0.0.1"))
        wait_for(lambda: stack.dig("www.corp.example") == ["10.0.0.1"], "the server is asked again")
        assert stack.dnsd.event("forward_back")["tries"] >= 1
        assert request(stack.dns_http_port, "GET", "/readyz").body == b"ready\n" and up_metric() == 1
        assert events() == ["forward_lost", "forward_back"], "each once"


def test_our_names_never_wait_and_too_many_are_turned_away():
    go = threading.Event()

    def script(q):
        go.wait(20)
        return q.reply([a(q.name, "10.0.0.1")])

    with Upstream(script) as up, Forwarding(up, forward_max__queries="4", forward_timeout="20s") as stack:
        revision = stack.bind(f"{BASE}/components/ctr-1-1", container("web-0", "web", "10.0.0.8"))
        stack.sync(revision.headers["Bobbin-Revision"])
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.settimeout(20)
            s.connect(("127.0.0.1", stack.dns_port))
            for i in range(4):
                s.send(struct.pack(">6H", i, RD, 1, 0, 0, 0) + wire("www.corp.example") + b"\0\1\0\1")
            wait_for(lambda: stack.metric("dns_forward_under_way") == 4 and up.asked, "four wait")
            assert stack.dig(f"web-0.shop.alice.{DOMAIN}") == ["10.0.0.8"]
            assert Said(stack.dns_port, f"nope.{DOMAIN}").status == "NXDOMAIN"
            assert Said(stack.dns_port, "fifth.corp.example").status == "SERVFAIL"
            assert stack.metric("dns_forward_overloaded") == 1
            go.set()
            got = [s.recv(512) for _ in range(4)]
        assert sorted(struct.unpack(">H", m[:2])[0] for m in got) == [0, 1, 2, 3]
        assert all(m.endswith(socket.inet_aton("10.0.0.1")) for m in got)
        assert stack.metric("dns_forward_joined") == 3, "equal questions share one"
        wait_for(lambda: stack.metric("dns_forward_under_way") == 0, "nothing waits")


def test_our_names_never_wait_for_a_full_table_and_dead_servers():
    """The default table, filled with questions that nobody answers: every question for our names is answered meanwhile."""
    with Upstream(lambda q: None) as up, Forwarding(up, forward_timeout="60s") as stack:
        revision = stack.bind(f"{BASE}/components/ctr-1-1", container("web-0", "web", "10.0.0.8"))
        stack.sync(revision.headers["Bobbin-Revision"])
        ours = wire(f"web-0.shop.alice.{DOMAIN}") + b"\0\1\0\1"
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as waiting, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            for one in (waiting, s):
                one.settimeout(30)
                one.connect(("127.0.0.1", stack.dns_port))

            def fill():
                n = stack.metric("dns_forward_under_way")
                for i in range(n, 500):
                    waiting.send(struct.pack(">6H", i, RD, 1, 0, 0, 0) + wire(f"w{i}.corp.example") + b"\0\1\0\1")
                return n == 500

            wait_for(fill, "the table is full")
            for i in range(300):
                s.send(struct.pack(">6H", i, RD, 1, 0, 0, 0) + ours)
                msg = s.recv(512)
                assert msg.endswith(socket.inet_aton("10.0.0.8")) and struct.unpack(">H", msg[:2])[0] == i
                if i % 30 == 0:  # one more for them is turned away at once
                    s.send(struct.pack(">6H", i, RD, 1, 0, 0, 0) + wire("more.corp.example") + b"\0\1\0\1")
                    assert s.recv(512)[3] & 15 == 2
        assert stack.metric("dns_forward_under_way") == 500


def test_only_clients_that_may():
    with Upstream(always(a("www.corp.example", "10.0.0.1"))) as up, \
            Forwarding(up, forward_acl="127.0.0.9/32,::1") as stack:
        for words in ([], ["+tcp"]):
            said = Said(stack.dns_port, "www.corp.example", *words)
            assert (said.status, said.ede, said.counts[0]) == ("REFUSED", "18", 0) and up.asked == []
        assert stack.metric("dns_refused") == 2
        assert stack.dig("-b", "127.0.0.9", "www.corp.example") == ["10.0.0.1"]


def test_only_for_those_who_want_recursion():
    with Upstream(lambda q: q.reply([a(q.name, "10.0.0.1")])) as up, Forwarding(up, mode="compat") as stack:
        said = Said(stack.dns_port, "www.corp.example", "+norecurse")
        assert (said.status, said.ede) == ("REFUSED", "20")
        assert Said(stack.dns_port, f"nope.{DOMAIN}", "+norecurse", "+tcp").status == "NXDOMAIN"
        assert up.asked == []
        assert stack.dig("www.corp.example") == ["10.0.0.1"]
        assert Said(stack.dns_port, "www.corp.example", "+norecurse").status == "REFUSED", "nor from the cache"


class Lossy:
    """A script that says nothing to each n-th datagram."""

    def __init__(self, script, n):
        self.script, self.n, self.seen = script, n, 0

    def __call__(self, q):
        self.seen += 1
        return None if self.seen % self.n == 0 else self.script(q)


def test_a_lost_datagram_is_asked_again():
    with Upstream(Lossy(lambda q: q.reply([a(q.name, "10.0.0.1")]), 10)) as up, Forwarding(up, forward_timeout="1500ms") as stack:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.settimeout(20)
            s.connect(("127.0.0.1", stack.dns_port))
            for i in range(200):
                s.send(struct.pack(">6H", i, RD, 1, 0, 0, 0) + wire(f"n{i}.corp.example") + b"\0\1\0\1")
            got = {struct.unpack(">HH", s.recv(512)[:4]) for _ in range(200)}
        assert {(i, flags & 15) for i, flags in got} == {(i, 0) for i in range(200)}
        assert stack.metric("dns_forward_repeated") >= 20 and stack.metric("dns_forward_failures") == 0
        again = [q for q in up.asked if q.name == up.asked[9].name]
        assert len(again) > 1 and len({q.id for q in again}) > 1 and len({q.sent_name for q in again}) > 1


class LossyPath:
    """A UDP relay before a real server; each n-th datagram, query or answer, is lost."""

    def __init__(self, server_port, n):
        self.server, self.n, self.seen = ("127.0.0.1", server_port), n, 0
        self.front = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.front.bind(("127.0.0.1", 0))
        self.port = self.front.getsockname()[1]
        self.clients = {}  # socket towards the server -> the client whose queries it carries
        self.end, self.ended = socket.socketpair()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _passes(self):
        self.seen += 1
        return self.seen % self.n != 0

    def _query(self, msg, client):
        back = next((s for s, c in self.clients.items() if c == client), None)
        if back is None:
            back = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            back.connect(self.server)
            self.clients[back] = client
        back.send(msg)

    def _run(self):
        while True:
            for s in select.select([self.front, self.ended, *self.clients], [], [])[0]:
                if s is self.ended:
                    return
                msg, peer = s.recvfrom(4096)
                if not self._passes():
                    continue
                if s is self.front:
                    self._query(msg, peer)
                else:
                    self.front.sendto(msg, self.clients[s])

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.end.send(b"x")
        self.thread.join()
        for s in (self.front, self.end, self.ended, *self.clients):
            s.close()


def test_a_real_server_behind_a_lossy_path():
    port = free_port()
    command = ["/usr/sbin/dnsmasq", "-k", "-C", "/dev/null", "-p", str(port), "--listen-address=127.0.0.1", "--bind-interfaces",
               "--no-resolv", "--no-hosts", "--no-daemon", "--address=/corp.example/10.0.0.1", "--pid-file="]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: subprocess.run(["dig", "@127.0.0.1", "-p", str(port), "+tries=1", "+timeout=1", "www.corp.example"],
                                        capture_output=True, check=False).returncode == 0, "dnsmasq answers")
        with LossyPath(port, 10) as path, Forwarding(path, forward_timeout="1500ms") as stack:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
                s.settimeout(20)
                s.connect(("127.0.0.1", stack.dns_port))
                for i in range(100):
                    s.send(struct.pack(">6H", i, RD, 1, 0, 0, 0) + wire(f"n{i}.corp.example") + b"\0\1\0\1")
                got = {struct.unpack(">HH", s.recv(512)[:4]) for _ in range(100)}
            assert {(i, flags & 15) for i, flags in got} == {(i, 0) for i in range(100)}
            assert stack.metric("dns_forward_repeated") >= 10 and stack.metric("dns_forward_failures") == 0
    finally:
        end_process(server)


@pytest.mark.parametrize("loss", [2, 3])
def test_a_single_upstream_has_more_than_one_turn(loss):
    """Of the datagrams after the first each second or third one passes: the answer comes within a client's five seconds."""
    n = {}

    def script(q):
        n[q.name] = n.get(q.name, 0) + 1
        return q.reply([a(q.name, "10.0.0.1")]) if n[q.name] > loss else None

    with Upstream(script) as up, Forwarding(up, forward_timeout="1500ms") as stack:
        began = time.monotonic()
        assert stack.dig("www.corp.example") == ["10.0.0.1"]
        assert time.monotonic() - began > 1 and len(up.asked) == loss + 1


def test_an_answer_that_leads_into_our_zones_is_continued_there():
    ours = f"web-0.shop.alice.{DOMAIN}"

    def script(q):
        target = {"www": ours, "gone": f"gone.{DOMAIN}", "far": "else.example"}[q.name.split(".")[0]]
        answer = [(q.name, "CNAME", 300, wire("cdn.corp.example")), ("cdn.corp.example", "CNAME", 200, wire(target))]
        return q.reply(answer, authority=[soa()], rcode=3)

    with Upstream(script) as up, Forwarding(up) as stack:
        revision = stack.bind(f"{BASE}/components/ctr-1-1", container("web-0", "web", "10.0.0.8"))
        stack.sync(revision.headers["Bobbin-Revision"])
        for words in ([], ["+tcp"], ["+noedns"]):  # relayed, then from the cache
            said = Said(stack.dns_port, "wWw.corp.example", *words)
            assert said.status == "NOERROR" and set(said.flags) == {"qr", "rd", "ra"}
            assert stack.dig("wWw.corp.example", *words) == sorted(["cdn.corp.example.", f"{ours}.", "10.0.0.8"])
            assert said.counts[:2] == [3, 0] and f"{ours}." in said.text and 200 <= said.ttl("CNAME") <= 300
        stack.bind(f"{BASE}/components/ctr-1-1", container("web-0", "web", "10.0.0.9"))
        wait_for(lambda: "10.0.0.9" in stack.dig("www.corp.example"), "our records as they are now")
        assert len(up.asked) == 1
        said = Said(stack.dns_port, "gone.corp.example")
        assert (said.status, said.counts[:2]) == ("NXDOMAIN", [2, 1]) and re.search(rf"^{DOMAIN}\.\s.*SOA", said.text, re.M)
        assert Said(stack.dns_port, "far.corp.example").counts[0] == 2
        assert Said(stack.dns_port, "www.corp.example", "CNAME").counts[0] == 2, "the upstream's"
        assert stack.metric("dns_forward_continued") >= 6


UNBOUND = """
server:
  interface: 127.0.0.1
  port: {port}
  directory: "{dir}"
  chroot: ""
  username: ""
  pidfile: "{dir}/pid"
  use-syslog: no
  module-config: "iterator"
  local-zone: "corp.example." static
  local-data: "www.corp.example. 300 IN CNAME web-0.shop.alice.{domain}."
  local-data: "gone.corp.example. 300 IN CNAME gone.{domain}."
remote-control:
  control-enable: no
"""


def test_aliases_of_a_real_server_are_continued(tmp_path):
    port = free_port()
    (tmp_path / "conf").write_text(UNBOUND.format(port=port, dir=tmp_path, domain=DOMAIN), encoding="ascii")
    server = subprocess.Popen(["/usr/sbin/unbound", "-d", "-c", str(tmp_path / "conf")], stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: subprocess.run(["dig", "@127.0.0.1", "-p", str(port), "+tries=1", "+timeout=1", "www.corp.example", "CNAME"],
                                        capture_output=True, check=False).returncode == 0, "unbound answers")
        with Forwarding(port) as stack:
            revision = stack.bind(f"{BASE}/components/ctr-1-1", container("web-0", "web", "10.0.0.8"))
            stack.sync(revision.headers["Bobbin-Revision"])
            assert stack.dig("www.corp.example") == ["10.0.0.8", f"web-0.shop.alice.{DOMAIN}."]
            assert Said(stack.dns_port, "gone.corp.example").status == "NXDOMAIN"
    finally:
        end_process(server)


def test_servers_in_a_ring_end():
    """Two dnsd that forward to each other: the question waits for itself and ends with the time-out."""
    first_port = free_port()
    with Forwarding(first_port, forward_timeout="1s") as second, \
            Forwarding(second.dns_port, bind__port=str(first_port), forward_timeout="1s") as first:
        first.dns_port = first_port
        said = Said(first_port, "www.corp.example")
        assert said.status == "SERVFAIL"
        assert first.metric("dns_forward_sent") + second.metric("dns_forward_sent") <= 18, "three turns of three datagrams each"


def test_stopping_while_queries_are_under_way():
    with Upstream(lambda q: None) as up, Forwarding(up, forward_timeout="60s") as stack:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.sendto(struct.pack(">6H", 1, RD, 1, 0, 0, 0) + wire("www.corp.example") + b"\0\1\0\1",
                     ("127.0.0.1", stack.dns_port))
            wait_for(lambda: up.asked, "the upstream is asked")
        began = time.monotonic()
        stack.dnsd.stop()
        assert time.monotonic() - began < 50, "it waited for the upstream"


class TestFallThrough:
    @staticmethod
    def script(q):
        if q.name.startswith("printer"):
            return q.reply([a(q.name, "10.9.9.9")], flags=AA)
        return q.reply(authority=[soa(ttl=3000, minimum=3000)], rcode=3)

    def test_compat_asks_for_names_that_the_zone_does_not_hold(self):
        with Upstream(self.script) as up, Forwarding(up, mode="compat", forward_enabled="false",
                                                     negative__ttl="7") as stack:
            revision = stack.bind(f"{BASE}/components/ctr-1-1", container("web-0", "web", "10.0.0.8"))
            stack.sync(revision.headers["Bobbin-Revision"])
            said = Said(stack.dns_port, f"web-0.shop.alice.{DOMAIN}")
            assert "aa" in said.flags and "10.0.0.8" in said.text
            assert Said(stack.dns_port, f"shop.alice.{DOMAIN}", "MX").status == "NOERROR", "an existing name is ours"
            assert up.asked == []
            said = Said(stack.dns_port, f"printer.{DOMAIN}")
            assert said.status == "NOERROR" and "aa" not in said.flags and "10.9.9.9" in said.text
            for _ in range(2):
                said = Said(stack.dns_port, f"nope.{DOMAIN}")
                assert said.status == "NXDOMAIN" and "aa" not in said.flags
                assert said.ttl("SOA") <= 7, "a name may appear any moment"
            assert up.names() == [f"printer.{DOMAIN}", f"nope.{DOMAIN}"], "that it is not there is kept"
            assert Said(stack.dns_port, "www.corp.example").status == "REFUSED"

    @pytest.mark.parametrize("options", [{"mode": "strict"}, {"mode": "compat", "fallthrough": "false"}])
    def test_not_otherwise(self, options):
        with Upstream(self.script) as up, Forwarding(up, **options) as stack:
            said = Said(stack.dns_port, f"printer.{DOMAIN}")
            assert said.status == "NXDOMAIN" and "aa" in said.flags and up.asked == []

    def test_only_where_it_is_wanted(self):
        with Upstream(self.script) as up, Forwarding(up, mode="compat", fallthrough_zones=f"shop.alice.{DOMAIN}, x.test") as stack:
            said = Said(stack.dns_port, f"printer.{DOMAIN}")
            assert said.status == "NXDOMAIN" and "aa" in said.flags and up.asked == []
            said = Said(stack.dns_port, f"printer.Shop.alice.{DOMAIN}")
            assert said.status == "NOERROR" and "10.9.9.9" in said.text and "aa" not in said.flags

    def test_a_name_that_is_registered_later_is_ours_at_once(self):
        with Upstream(self.script) as up, Forwarding(up, mode="compat") as stack:
            assert Said(stack.dns_port, f"web-0.shop.alice.{DOMAIN}").status == "NXDOMAIN"
            revision = stack.bind(f"{BASE}/components/ctr-1-1", container("web-0", "web", "10.0.0.8"))
            stack.sync(revision.headers["Bobbin-Revision"])
            assert stack.dig(f"web-0.shop.alice.{DOMAIN}") == ["10.0.0.8"]
            assert len(up.asked) == 1
