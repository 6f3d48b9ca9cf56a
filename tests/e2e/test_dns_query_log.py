"""The query log and dnstap: sampled, bounded, and never waited for. The collector is fstrm_capture, its file is read by dnstap-read."""
import os
import re
import signal
import socket
import struct
import subprocess
import threading
import time

import pytest

from harness import DOMAIN, Stack, container, dig, end_process, request, wait_for

pytestmark = pytest.mark.sanitize

KEY = "hadoop.registry.dns."
NAME = f"web-0.shop.alice.{DOMAIN}"


def put_options(place, **options):
    rows = "".join(f"<property><name>{KEY}{k}</name><value>{v}</value></property>" for k, v in options.items())
    (place / "core-site.xml").write_text(f"<configuration>{rows}</configuration>", encoding="utf-8")


class Logging(Stack):
    """One worker, so that each n-th query is each n-th of all."""

    def __init__(self, **options):
        super().__init__(options={"dnsd": {KEY + "num-threads": 1, **{KEY + k.replace("__", "-").replace("_", "."): v
                                                                     for k, v in options.items()}}})

    def __enter__(self):
        super().__enter__()
        revision = self.bind("/users/alice/services/yarn-service/shop/components/ctr-1-1", container("web-0", "web", "10.0.0.8"))
        self.sync(revision.headers["Bobbin-Revision"])
        return self

    def metric(self, name):
        text = request(self.dns_http_port, "GET", "/metrics").body.decode()
        return int(re.search(rf"^{name}(?:_total)? (\d+)", text, re.M).group(1))

    def lines(self):
        return [e for e in self.dnsd.events if e.get("event") == "dns_query"]

    def flood(self, n, name=NAME):
        """Ask n times over UDP, each after the answer to the one before."""
        question = b"".join(bytes([len(x)]) + x.encode() for x in name.split(".")) + b"\0\0\1\0\1"
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.settimeout(20)
            s.connect(("127.0.0.1", self.dns_port))
            for i in range(n):
                s.send(struct.pack(">6H", i, 0, 1, 0, 0, 0) + question)
                assert s.recv(512)[:2] == struct.pack(">H", i)


class Collector:
    """fstrm_capture on a socket, writing to a file."""

    def __init__(self, place):
        self.socket, self.file, self.process = str(place / "tap.sock"), str(place / f"tap-{time.monotonic_ns()}.fstrm"), None

    def __enter__(self):
        self.process = subprocess.Popen(["fstrm_capture", "-t", "protobuf:dnstap.Dnstap", "-u", self.socket, "-w", self.file],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return self

    def end(self):
        if self.process:
            end_process(self.process)
        self.process = None

    def __exit__(self, *_):
        self.end()

    def read(self):
        """One dict a message, of what dnstap-read prints of it."""
        self.end()
        done = subprocess.run(["dnstap-read", "-y", self.file], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return [{"text": text, **dict(re.findall(r'^ *(\w+): "?(.*?)"?$', text, re.M))} for text in done.stdout.split("\n---")
                if "message" in text]


def test_each_query_is_a_line():
    with Logging(query__log_sample="1") as stack:
        # each has its line before the next is asked: lines of UDP and TCP have no order
        for n, (query, found) in enumerate((((NAME, "+dnssec", "+recurse"), ["10.0.0.8"]), ((NAME, "+tcp", "+cdflag"), ["10.0.0.8"]),
                                            ((f"no\\.pe\\032\\001.{DOMAIN}", "TXT"), []), (("www.example.com", "TYPE4711"), [])), 1):
            assert dig(stack.dns_port, *query) == found
            wait_for(lambda n=n: len(stack.lines()) >= n, f"{n} lines")
        rows = [[e[k] for k in ("client", "protocol", "name", "type", "flags", "rcode")] for e in stack.lines()]
        assert rows == [["127.0.0.1", "udp", f"{NAME}.", "A", "aa rd do", "NOERROR"],
                        ["127.0.0.1", "tcp", f"{NAME}.", "A", "aa cd", "NOERROR"],
                        ["127.0.0.1", "udp", f"no\\.pe\\032\\001.{DOMAIN}.", "TXT", "aa", "NXDOMAIN"],
                        ["127.0.0.1", "udp", "www.example.com.", "TYPE4711", "", "REFUSED"]]
        for e in stack.lines():
            assert e["port"] > 0 and 12 <= e["bytes"] <= 512 and 0 <= e["took_us"] < 10_000_000
        assert stack.metric("dns_query_log_lines") == 4 and stack.metric("dns_query_log_dropped") == 0
        assert request(stack.dns_http_port, "GET", "/stats").json["queryLog"]["log_lines"] == 4


def test_a_sample_that_changes_while_dnsd_runs(tmp_path):
    put_options(tmp_path)
    stack = Logging()
    stack.dnsd.env = {"HADOOP_CONF_DIR": str(tmp_path)}
    with stack:
        stack.flood(100)
        for sample, wanted in ((10, 10), (1, 110)):
            put_options(tmp_path, **{"query-log.sample": sample})
            n = sum(e.get("event") == "config_reloaded" for e in stack.dnsd.events)
            stack.dnsd.process.send_signal(signal.SIGHUP)
            wait_for(lambda: sum(e.get("event") == "config_reloaded" for e in stack.dnsd.events) > n, "it is read again")
            stack.flood(100)
            wait_for(lambda: stack.metric("dns_query_log_lines") >= wanted, "the lines")
            assert stack.metric("dns_query_log_lines") == wanted


def test_lines_a_second_are_bounded_and_the_rest_is_counted():
    with Logging(query__log_sample="1", query__log_rate="5") as stack:
        stack.flood(400)
        wait_for(lambda: stack.metric("dns_query_log_lines") + stack.metric("dns_query_log_dropped") == 400, "all are counted")
        assert 5 <= stack.metric("dns_query_log_lines") <= 5 * 40, "five a second"


def test_a_collector_gets_queries_and_responses(tmp_path):
    with Collector(tmp_path) as collector, Logging(dnstap_socket=collector.socket, identity="dns-7") as stack:
        stack.dnsd.event("dnstap_connected")
        for n, words in ((2, [NAME]), (4, [NAME, "+tcp"]), (6, [f"nope.{DOMAIN}", "-b", "127.0.0.2"])):
            dig(stack.dns_port, *words)  # messages of two threads come in no order: one after the other
            wait_for(lambda: stack.metric("dns_dnstap_messages") == n, f"{n} messages")
        stack.dnsd.stop()  # sends what is left, says STOP and waits for FINISH
        rows = collector.read()
        assert [r["type"] for r in rows] == ["AUTH_QUERY", "AUTH_RESPONSE"] * 3
        assert [r["socket_protocol"] for r in rows] == ["UDP"] * 2 + ["TCP"] * 2 + ["UDP"] * 2
        assert {r["identity"] for r in rows} == {"dns-7"} and all("version: Bobbin dnsd" in r["text"] for r in rows)
        assert [r["query_address"] for r in rows] == ["127.0.0.1"] * 4 + ["127.0.0.2"] * 2
        assert "NOERROR" in rows[1]["status"] and "NXDOMAIN" in rows[5]["status"]
        assert all("query_time" in r for r in rows[::2]) and all("response_time" in r for r in rows[1::2])


def test_relayed_queries_are_a_clients(tmp_path):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as up, Collector(tmp_path) as collector:
        up.bind(("127.0.0.1", 0))
        up.settimeout(20)
        with Logging(dnstap_socket=collector.socket, query__log_sample="1", forward_enabled="true",
                     upstreams=f"127.0.0.1:{up.getsockname()[1]}") as stack:
            stack.dnsd.event("dnstap_connected")
            thread = threading.Thread(target=dig, args=(stack.dns_port, "www.corp.example", "+recurse"))
            thread.start()
            msg, peer = up.recvfrom(512)
            up.sendto(msg[:2] + b"\x80\x03" + msg[4:], peer)  # NXDOMAIN
            thread.join()
            wait_for(lambda: stack.metric("dns_dnstap_messages") == 2 and stack.lines(), "query and response")
            line = stack.lines()[0]
            assert (line["name"].lower(), line["rcode"], line["flags"]) == ("www.corp.example.", "NXDOMAIN", "rd")
            stack.dnsd.stop()
        assert [r["type"] for r in collector.read()] == ["CLIENT_QUERY", "CLIENT_RESPONSE"]


def test_a_collector_comes_goes_and_comes_back(tmp_path):
    place = Collector(tmp_path)
    with Logging(dnstap_socket=place.socket) as stack:
        assert stack.dnsd.event("dnstap_away")["socket"] == place.socket
        stack.flood(10)
        wait_for(lambda: stack.metric("dns_dnstap_dropped") == 20, "nobody gets them")
        for n in (1, 2):
            with Collector(tmp_path) as collector:
                wait_for(lambda: sum(e.get("event") == "dnstap_connected" for e in stack.dnsd.events) == n, "it is connected")
                before = stack.metric("dns_dnstap_messages")
                stack.flood(50)
                wait_for(lambda: stack.metric("dns_dnstap_messages") == before + 100, "it gets them")
                wait_for(lambda: os.path.getsize(collector.file) > 50 * 100, "they are written")
            wait_for(lambda: sum(e.get("event") == "dnstap_away" for e in stack.dnsd.events) == n + 1, "it is gone")
            stack.flood(10)


class Bad:
    """Listens where a collector should."""

    def __init__(self, place, answer, leaves=False):
        self.path, self.answer, self.connections, self.leaves = str(place / "bad.sock"), answer, [], leaves
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen()
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        while True:
            try:
                s = self.listener.accept()[0]
            except OSError:
                return
            s.recv(4096)
            s.sendall(self.answer)
            self.connections.append(s)  # and never reads again
            if self.leaves:
                s.close()

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for s in self.connections:
            s.close()


def control(kind, content=b"protobuf:dnstap.Dnstap"):
    fields = struct.pack(">LL", 1, len(content)) + content if content else b""
    return struct.pack(">LLL", 0, 4 + len(fields), kind) + fields


def test_a_collector_that_stops_reading_costs_only_messages(tmp_path):
    bad = Bad(tmp_path, control(1))
    try:
        with Logging(dnstap_socket=bad.path) as stack:
            stack.dnsd.event("dnstap_connected")

            def is_full():
                stack.flood(500)
                return stack.metric("dns_dnstap_dropped") > 100

            wait_for(is_full, "the queue is full")
            assert dig(stack.dns_port, NAME) == ["10.0.0.8"]
            began = time.monotonic()
            stack.dnsd.stop()
            assert time.monotonic() - began < 20, "it waited for the collector"
    finally:
        bad.close()


def test_a_collector_that_leaves_at_once_is_tried_less_and_less(tmp_path):
    bad = Bad(tmp_path, control(1), leaves=True)
    try:
        with Logging(dnstap_socket=bad.path):
            wait_for(lambda: bad.connections, "it connects")
            began = time.monotonic()
            wait_for(lambda: len(bad.connections) > 4, "it tries again")
            assert time.monotonic() - began > 1, "the pauses double from 0.1 s"
    finally:
        bad.close()


@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", control(1, b"something:else"), control(2), control(5, b""),
                                    struct.pack(">LL", 0, 1 << 30), struct.pack(">LLLLL", 0, 12, 1, 1, 99)])
def test_what_is_no_collector_is_left(tmp_path, answer):
    bad = Bad(tmp_path, answer)
    try:
        with Logging(dnstap_socket=bad.path) as stack:
            assert "protocol" in stack.dnsd.event("dnstap_away")["error"]
            wait_for(lambda: len(bad.connections) > 1, "it tries again")
            assert dig(stack.dns_port, NAME) == ["10.0.0.8"]
            assert stack.metric("dns_dnstap_messages") == 0
    finally:
        bad.close()


def test_many_threads_lose_nothing_unseen(tmp_path):
    """What is asked is sent, dropped or lost, and counted as that."""
    with Collector(tmp_path) as collector, Logging(dnstap_socket=collector.socket, num__threads="4", query__log_sample="7") as stack:
        stack.dnsd.event("dnstap_connected")
        threads = [threading.Thread(target=stack.flood, args=(500,)) for _ in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        wait_for(lambda: stack.metric("dns_dnstap_messages") + stack.metric("dns_dnstap_dropped") + 2 * stack.metric("dns_tap_lost")
                 == 8000, "all are counted")
        n = stack.metric("dns_dnstap_messages")
        stack.dnsd.stop()
        assert len(collector.read()) == n


def test_a_path_that_is_no_socket_path_is_refused(tmp_path):
    from harness import BIN
    for path in ("tap.sock", "/" + 120 * "x"):
        done = subprocess.run([os.path.join(BIN, "dnsd"), "-t", "-D", f"{KEY}domain-name={DOMAIN}", "-D", f"{KEY}dnstap.socket={path}"],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 3 and "is no absolute path" in done.stderr, done
