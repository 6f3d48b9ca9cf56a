"""`bobbin dns …` against a real dnsd: what is printed, as a table and as JSON, how it ends."""
import json
import os
import re
import signal
import socket
import subprocess

import pytest

from harness import BIN, DOMAIN, PATIENCE, Daemon, Stack, container, dig, end_process, free_port, request, wait_for

pytestmark = pytest.mark.sanitize

BASE = "/users/alice/services/yarn-service/shop"
ZONE = "$TTL 300\n@ SOA ns hostmaster 7 3600 600 86400 30\n@ NS ns\nns A 127.0.0.1\nodd TYPE65400 \\# 3 010203\n*.wild TXT \"a b\"\n"
APPLICATION = {"type": "JSONServiceRecord", "description": "an application", "internal": [], "external": [
    {"api": "http://", "addressType": "uri", "protocolType": "webui", "addresses": [{"uri": "http://127.77.3.3:8088/ui"}]}],
    "yarn:id": "application_1_2", "yarn:persistence": "application"}


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    zones = tmp_path_factory.mktemp("zones")
    (zones / "zone.example.zone").write_text(ZONE, encoding="utf-8")
    with Stack(options={"dnsd": {"hadoop.registry.dns.zones-dir": str(zones), "hadoop.registry.dns.max-answers": 0}}) as s:
        s.zones = zones
        s.bind("/users/alice/services/yarn-service/app", APPLICATION)
        for i in range(3):
            s.bind(f"{BASE}/components/ctr-{i}", container(f"web-{i}", "web", f"127.77.0.{i + 1}"))
        for i in range(150):  # more than fits a UDP answer
            s.bind(f"{BASE}/components/big-{i}", container(f"big-{i}", "big", f"127.77.9.{i + 1}"))
        s.sync_all()
        yield s


def command(stack, *words):
    return [os.path.join(BIN, "bobbin"), "dns", words[0], "-D", f"hadoop.registry.dns.http.address=127.0.0.1:{stack.dns_http_port}",
            "-D", f"hadoop.registry.dns.bind-port={stack.dns_port}", *words[1:]]


def bobbin(stack, *words, url=None, timeout=PATIENCE):
    return subprocess.run(command(stack, *words) + (["--url", url] if url else []), capture_output=True, text=True, timeout=timeout, check=False)


def ok(stack, *words, **more):
    done = bobbin(stack, *words, **more)
    assert done.returncode == 0 and done.stderr == "", done
    return done.stdout


def refused(stack, code, *words, **more):
    done = bobbin(stack, *words, **more)
    assert done.returncode == code and done.stdout == "", done
    assert done.stderr.startswith("bobbin: ") and done.stderr.count("\n") == 1, done
    return done.stderr


# ---- explain, zones, stats, dump ----

def test_explain_lists_the_chain(stack):
    lines = ok(stack, "explain", f"web-0.shop.alice.{DOMAIN}").splitlines()
    assert lines[0].split() == ["question", f"web-0.shop.alice.{DOMAIN}.", "A"]
    assert f"znode    {BASE}/components/ctr-0" in lines
    assert any(line.startswith("  gives") and "127.77.0.1" in line and line.endswith(": published") for line in lines)
    answer = next(i for i, line in enumerate(lines) if line.startswith("answer"))
    assert lines[answer].split()[1] == "NOERROR" and "127.77.0.1" in lines[answer + 1]
    assert lines[-1].split() == ["missing", "nothing"]


def test_explain_takes_an_address(stack):
    lines = ok(stack, "explain", "127.77.0.1").splitlines()
    assert lines[0].split() == ["question", "1.0.77.127.in-addr.arpa.", "PTR"] and lines[-1].split() == ["missing", "nothing"]
    assert any(line.startswith("zone") and "in zone 77.127.in-addr.arpa.: the zone has PTR records" in line for line in lines)


def test_explain_names_the_missing_link(stack):
    assert ok(stack, "explain", f"web-9.shop.alice.{DOMAIN}", "srv").splitlines()[-1] == \
        "missing  no record in the registry, and no master file, gives this name"
    reported = json.loads(ok(stack, "explain", "-o", "json", f"web-1.shop.alice.{DOMAIN}", "MX"))
    assert reported["missing"] == "the name exists, but it has no MX record"
    assert "NOPE" in refused(stack, 2, "explain", DOMAIN, "NOPE")


def test_zones(stack):
    rows = {line.split()[0]: line.split() for line in ok(stack, "zones").splitlines()}
    assert rows["NAME"][:5] == ["NAME", "KIND", "SERIAL", "NAMES", "RECORDS"]
    assert rows[f"{DOMAIN}."][1] == "registry" and rows["77.127.in-addr.arpa."][1] == "reverse"
    assert rows["zone.example."][1:3] == ["file", "7"]
    zones = json.loads(ok(stack, "zones", "-o", "json"))
    assert sorted(zone["name"] for zone in zones) == sorted(set(rows) - {"NAME"})


def test_stats(stack):
    rows = dict(line.split() for line in ok(stack, "stats").splitlines()[1:])
    assert rows["records"] == "154" and rows["ready"] == "true" and rows["queryLog.log_lines"] == "0"
    before = int(rows["queries.udp_queries"])
    stack.dig(f"web-0.shop.alice.{DOMAIN}")
    assert json.loads(ok(stack, "stats", "-o", "json"))["queries"]["udp_queries"] == before + 1


def test_dump_is_what_the_server_dumps(stack):
    assert ok(stack, "dump") == request(stack.dns_http_port, "GET", "/dump").body.decode()
    assert ok(stack, "dump", "zone.example") == request(stack.dns_http_port, "GET", "/dump?zone=zone.example").body.decode()
    records = [json.loads(line) for line in ok(stack, "dump", "-o", "json", "zone.example").splitlines()]
    assert {"name": "ns.zone.example.", "ttl": 300, "type": "A", "data": "127.0.0.1"} in records
    assert "no zone of this server" in refused(stack, 10, "dump", "nowhere.test")


# ---- orders ----

def test_sync(stack):
    revision = stack.bind(f"{BASE}/components/ctr-sync", container("sync-0", "sync", "127.77.0.9")).headers["Bobbin-Revision"]
    assert ok(stack, "sync", revision).startswith("synced revision=")
    assert stack.dig(f"sync-0.shop.alice.{DOMAIN}") == ["127.77.0.9"]
    gone = stack.registry("DELETE", f"{BASE}/components/ctr-sync").headers["Bobbin-Revision"]
    assert json.loads(ok(stack, "sync", "-o", "json", gone))["ready"] is True
    store, _, number = gone.rpartition(".")
    assert "names answered now" in refused(stack, 6, "sync", "--timeout", "50ms", f"{store}.{int(number) + 1000}")
    assert "another store" in refused(stack, 19, "sync", f"other.{number}")
    assert '"x&y" is not a revision' in refused(stack, 29, "sync", "x&y")


def test_reload_says_what_is_wrong(stack):
    path = stack.zones / "zone.example.zone"
    path.write_text(ZONE + "bad A 1.2.3\n", encoding="utf-8")
    assert f"{path}:7: " in refused(stack, 3, "reload")
    path.write_text(ZONE + "good A 127.0.0.2\n", encoding="utf-8")
    assert ok(stack, "reload").startswith("reloaded files=1 ")
    assert stack.dig("good.zone.example") == ["127.0.0.2"]
    assert json.loads(ok(stack, "reload", "-o", "json"))["files"] == 1


def test_release(stack):
    assert ok(stack, "release") == "released 0\n"
    assert json.loads(ok(stack, "release", "-o", "json")) == {"released": 0}


def test_nobody_there(stack):
    url = f"http://127.0.0.1:{free_port()}"
    for words in (("zones",), ("dump",), ("explain", "a.b"), ("reload",)):
        assert "--url or -D" in refused(stack, 5, *words, url=url)
    assert "operand" in refused(stack, 2, "sync")


# ---- shadow ----

@pytest.fixture(scope="module")
def other(stack):
    """A second dnsd of the same registry that answers as RegistryDNS does, with another TTL on request."""
    daemons = []

    def start(**options):
        port = free_port()
        daemons.append(Daemon("dnsd", {**stack.dnsd.options, "hadoop.registry.dns.bind-port": port,
                                       "hadoop.registry.dns.http.address": f"127.0.0.1:{free_port()}",
                                       "bobbin.data.dir": os.path.join(stack.dir, f"other-{port}"), **options}))
        daemons[-1].start("feed_synced")
        return f"127.0.0.1:{port}"

    yield start
    for daemon in daemons:
        daemon.stop()


def counts(line):
    return {key: int(value) for key, value in (word.split("=") for word in line.split())}


def test_shadow_of_itself_is_equal(stack):
    reported = counts(ok(stack, "shadow", f"127.0.0.1:{stack.dns_port}", "--ttl").splitlines()[-1])
    assert reported["different"] == 0 and reported["names"] > 300 and reported["questions"] > 2 * reported["names"]


def test_shadow_lists_what_differs(stack, other):
    compat = other(**{"hadoop.registry.dns.mode": "compat"})
    done = bobbin(stack, "shadow", compat, DOMAIN)
    assert done.returncode == 1 and done.stderr.startswith("bobbin: 127.0.0.1 port ") and "differ" in done.stderr, done
    assert any(line.split() == [f"web-0.shop.alice.{DOMAIN}.", "AAAA", "-", f"web-0.shop.alice.{DOMAIN}.", "AAAA", "::ffff:127.77.0.1"]
               for line in done.stdout.splitlines()), done.stdout[:3000]
    reported = json.loads(bobbin(stack, "shadow", "-o", "json", compat, DOMAIN).stdout)
    one = next(d for d in reported["differences"] if d["name"] == f"web-1.shop.alice.{DOMAIN}." and d["type"] == "AAAA")
    assert one["here"] == {"rcode": "NOERROR", "records": []} and len(one["there"]["records"]) == 1
    service = next(d for d in reported["differences"] if d["name"] == f"shop.alice.{DOMAIN}." and d["type"] == "A")
    assert len(service["here"]["records"]) == 153 and service["there"]["records"] == []  # the 153 came over TCP
    assert "A" not in {d["type"] for d in reported["differences"] if d["name"].startswith("web-")}


BIND = """options {{
  directory "{dir}"; pid-file none; session-keyfile "{dir}/session.key"; listen-on port {port} {{ 127.0.0.1; }}; listen-on-v6 {{ none; }};
  recursion no; dnssec-validation no; allow-transfer {{ any; }};
}};
controls {{ }};
zone "zone.example" {{ type primary; file "{dir}/zone"; }};
"""


def test_shadow_finds_what_only_the_other_has(stack, tmp_path):
    """Names and types come from a transfer of the other's zone, where it gives one; else the output says what was not compared."""
    port = free_port()
    (tmp_path / "conf").write_text(BIND.format(dir=tmp_path, port=port), encoding="utf-8")
    more = "Only-There.zone.example. 300 IN A 10.9.9.9\nodd.zone.example. 300 IN TXT more\n"
    (tmp_path / "zone").write_text(ok(stack, "dump", "zone.example") + more, encoding="utf-8")
    with open(tmp_path / "log", "wb") as log:
        named = subprocess.Popen(["/usr/sbin/named", "-g", "-4", "-n", "1", "-c", str(tmp_path / "conf")], stdout=log, stderr=log)
    try:
        wait_for(lambda: dig(port, "ns.zone.example") == ["127.0.0.1"], "BIND answers")
        done = bobbin(stack, "shadow", "-o", "json", f"127.0.0.1:{port}", "zone.example")
        assert done.returncode == 1, done
        reported = json.loads(done.stdout)
        assert {(d["name"].rstrip("."), d["type"]) for d in reported["differences"]} == {
            ("only-there.zone.example", "A"), ("odd.zone.example", "TXT")}, reported
        assert [t["result"] for t in reported["transfers"]] == ["done"] and reported["transfers"][0]["names"] == 1
        assert "not compared" not in bobbin(stack, "shadow", f"127.0.0.1:{port}", "zone.example").stdout
    finally:
        end_process(named)
    lines = ok(stack, "shadow", f"127.0.0.1:{stack.dns_port}", "zone.example").splitlines()
    assert [line for line in lines if line.startswith("not compared: names of zone.example") and line.endswith("REFUSED")], lines


def test_shadow_looks_at_ttls_when_asked(stack, other):
    slow = other(**{"hadoop.registry.dns.dns-ttl": "7s"})
    assert counts(ok(stack, "shadow", slow, DOMAIN).splitlines()[-1])["different"] == 0
    done = bobbin(stack, "shadow", "--ttl", slow, DOMAIN)
    assert done.returncode == 1 and f"web-0.shop.alice.{DOMAIN}. 7 A 127.77.0.1" in done.stdout, done


def test_shadow_is_bounded(stack, other):
    lines = ok(stack, "shadow", f"127.0.0.1:{stack.dns_port}", "--limit", "5", DOMAIN, "zone.example").splitlines()
    bounded, whole = (counts(line) for line in (lines[-1], ok(stack, "shadow", f"127.0.0.1:{stack.dns_port}", DOMAIN, "zone.example").splitlines()[-1]))
    assert 5 < bounded["names"] <= 10
    left_out = int(re.fullmatch(r"not compared: (\d+) names, beyond --limit 5 a zone", lines[-2]).group(1))
    assert bounded["names"] + left_out == whole["names"] > 300
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{silent.getsockname()[1]}"
        assert "timed out" in refused(stack, 6, "shadow", "--timeout", "500ms", place)
    assert "HOST:PORT" in refused(stack, 2, "shadow", "127.0.0.1:x")
    assert "no zone of this server" in refused(stack, 10, "shadow", f"127.0.0.1:{stack.dns_port}", "nowhere.test")


def test_shadow_looks_at_every_name_and_asks_the_daemon_of_the_url(tmp_path):
    """More names than a thousand; the configuration names the port of another server."""
    (tmp_path / "many.example.zone").write_text("$TTL 60\n@ SOA ns.x. h.x. 1 2 3 4 5\n@ NS ns.x.\n$GENERATE 1-1500 h$ A 10.0.0.1\n")
    with Stack(options={"dnsd": {"hadoop.registry.dns.zones-dir": str(tmp_path)}}) as s:
        done = subprocess.run([os.path.join(BIN, "bobbin"), "dns", "shadow", f"127.0.0.1:{s.dns_port}", "many.example", "-D",
                               f"hadoop.registry.dns.bind-port={free_port()}", "--url", f"http://127.0.0.1:{s.dns_http_port}/"],
                              capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert done.returncode == 0, done
        reported = counts(done.stdout.splitlines()[-1])
        assert reported["names"] == 1501 and reported["different"] == 0 and "--limit" not in done.stdout


def test_shadow_of_a_silent_server_ends_with_ctrl_c(stack):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        silent.settimeout(PATIENCE)
        words = command(stack, "shadow", f"127.0.0.1:{silent.getsockname()[1]}")
        with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            silent.recvfrom(1500)  # it has asked
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE) == -signal.SIGINT
