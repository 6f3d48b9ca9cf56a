"""Snapshots of the registry that are large, come in halves or over and over: a scripted registry decides what dnsd hears."""
import http.server
import os
import re
import threading
import types

import pytest

from harness import DOMAIN, SANITIZED, container, dig, dig_full, request, wait_for
from scripted_feed import Dns, ScriptedFeed

pytestmark = pytest.mark.sanitize

BASE = "/users/alice/services/yarn-service/shop"
NAME = f"web-0.shop.alice.{DOMAIN}"
STALE, NOT_READY = "EDE: 3", "EDE: 14"


def records(n, network="127.77"):
    return [(f"{BASE}/components/ctr-{i}", container(f"web-{i}", f"c{i // 100}", f"{network}.{i // 250}.{i % 250 + 1}")) for i in range(n)]


@pytest.fixture
def feed():
    with ScriptedFeed() as f:
        yield f


def test_a_registry_that_refuses_is_named_once_and_asked_on(tmp_path):
    """An address of something else: it says 404 now, and a registry may stand there later."""
    asked = []

    class Other(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, *_):
            pass
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Other) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            with Dns(types.SimpleNamespace(url=f"http://127.0.0.1:{server.server_port}"), tmp_path) as dns:
                said = dns.event("feed_lost")
                assert "404" in said["error"] and said["url"] == f"http://127.0.0.1:{server.server_port}" and "registryd" in said["error"], said
                wait_for(lambda: len(asked) >= 4, "dnsd asks on")
                assert [e["event"] for e in dns.events].count("feed_lost") == 1
        finally:
            server.shutdown()
            thread.join()


def niceness(pid, thread):
    with open(f"/proc/{pid}/task/{thread}/stat", encoding="utf-8") as stat:
        return int(stat.read().rpartition(")")[2].split()[16])


def test_those_who_answer_come_before_what_is_published(feed, tmp_path):
    """The loop is the thread that has the number of the process; the workers keep the share that dnsd was started with."""
    with Dns(feed, tmp_path) as dns:
        pid = dns.process.pid
        wait_for(lambda: niceness(pid, pid) > niceness(os.getpid(), os.getpid()), "the loop steps back")
        others = [niceness(pid, thread) for thread in os.listdir(f"/proc/{pid}/task") if int(thread) != pid]
        assert others.count(niceness(os.getpid(), os.getpid())) >= 2, "a worker of UDP and one of TCP"


def test_half_a_first_snapshot_is_nothing(feed, tmp_path):
    """SERVFAIL with EDE 14 for what has come as for what has not: the other half may be what is asked for."""
    with Dns(feed, tmp_path) as dns:
        for _ in range(2):
            half = feed.newcomer()
            half.mark("hello")
            half.puts(records(5))
            dns.event("feed_back")
            text = dig_full(dns.port, NAME)
            assert "status: SERVFAIL" in text and NOT_READY in text
            half.close()
        assert dns.status(f"web-9.shop.alice.{DOMAIN}") == "SERVFAIL"
        assert request(dns.http, "GET", "/readyz").status == 503
        whole = feed.newcomer()
        whole.snapshot(records(10))
        wait_for(lambda: dns.status(NAME) == "NOERROR", "the whole snapshot is answered")
        assert not dns.is_stale(NAME) and dns.status(f"web-10.shop.alice.{DOMAIN}") == "NXDOMAIN"
        assert request(dns.http, "GET", "/readyz").status == 200
        whole.close()


def test_half_a_later_snapshot_changes_nothing(feed, tmp_path):
    """What is known goes on being answered, as stale; neither what the half lacks nor what it has new is seen."""
    with Dns(feed, tmp_path) as dns:
        first = feed.newcomer()
        first.snapshot(records(10))
        dns.until_synced(10)
        first.close()
        half = feed.newcomer()
        half.mark("hello", 2)
        half.puts(records(5, "127.78"), 2)
        wait_for(lambda: dns.stats()["connected"] and dns.stats()["stale"], "the registry is back, and is being read")
        assert dns.is_stale(NAME) and dig(dns.port, NAME) == ["127.77.0.1"]
        assert dig(dns.port, f"web-9.shop.alice.{DOMAIN}") == ["127.77.0.10"]
        half.close()
        whole = feed.newcomer()
        whole.snapshot(records(9, "127.79"), 3)
        dns.until_synced(9)
        assert dig(dns.port, NAME) == ["127.79.0.1"] and not dns.is_stale(NAME)
        assert dns.status(f"web-9.shop.alice.{DOMAIN}") == "NXDOMAIN"
        whole.close()


def test_a_registry_that_comes_and_goes(feed, tmp_path):
    """Every question is answered; staleness counts from the last complete word, however often the registry shows up between."""
    with Dns(feed, tmp_path, stale_max="1500ms") as dns:
        first = feed.newcomer()
        first.snapshot(records(10))
        dns.until_synced(10)
        first.close()
        seen = set()
        for _ in range(3):
            half = feed.newcomer()
            half.mark("hello", 2)
            half.puts(records(3, "127.78"), 2)
            text = dig_full(dns.port, NAME)
            seen.add(re.search(r"status: (\w+)", text).group(1))
            assert "127.78" not in text
            half.close()
        assert "NXDOMAIN" not in seen

        def flap():
            half = feed.newcomer()
            half.mark("hello", 2)
            half.close()
            return dns.status(NAME) == "SERVFAIL"
        wait_for(flap, "what is too old is not answered")
        whole = feed.newcomer()
        whole.snapshot(records(10, "127.79"), 3)
        dns.until_synced(10)
        assert dig(dns.port, NAME) == ["127.79.0.1"]
        whole.close()


def test_the_loop_has_time_while_a_snapshot_becomes_names(feed, tmp_path):
    """/stats is answered in the middle of it: the number of records is seen on its way. Readers see one state or the other."""
    n = 2000 if SANITIZED else 8000
    with Dns(feed, tmp_path, guard_share=0) as dns:
        follower = feed.newcomer()
        follower.snapshot(records(1))
        dns.until_synced(1)
        on_the_way = set()
        for turn in range(2, 20, 2):
            for size in (n, 1):
                follower.emit({"type": "gone"})
                follower.close()
                follower = feed.newcomer()
                follower.snapshot(records(size, f"127.{turn}"), turn + (size == 1))
                while dns.stats()["stale"] or dns.stats()["records"] != size:
                    on_the_way.add(dns.stats()["records"])
                    assert dns.status(NAME) == "NOERROR"
            if on_the_way - {1, n}:
                break
        assert on_the_way - {1, n}, "no request was answered before the snapshot was done"
        assert dig(dns.port, NAME) == [f"127.{turn}.0.1"]
        assert dns.metric("dnsd_zone_change_slices_total") > 0
        follower.close()


def test_the_end_in_the_middle_of_a_snapshot(feed, tmp_path):
    """Stopping does not wait for names that nobody will ask for; what is not through is dropped."""
    with Dns(feed, tmp_path, guard_share=0) as dns:
        follower = feed.newcomer()
        follower.snapshot(records(1))
        dns.until_synced(1)
        follower.emit({"type": "gone"})
        follower.close()
        follower = feed.newcomer()
        follower.snapshot(records(4000, "127.78"), 2)
        wait_for(lambda: dns.stats()["records"] > 1, "it has begun")
    follower.close()


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_a_start_answers_from_the_image_while_it_reads_its_records(feed, tmp_path, end):
    """No name is denied or refused on the way, stale it is all along, and no serial goes back when one gives way to the other."""
    n = 1000 if SANITIZED else 20000
    dns = Dns(feed, tmp_path, guard_share=0, snapshot__interval="100ms", registry__silence="1h", zone__subnet="127.77.0.0",
              zone__mask="255.255.0.0")
    with dns:
        follower = feed.newcomer()
        follower.snapshot(records(n))
        dns.until_synced(n)
        image = tmp_path / "dnsd" / f"{DOMAIN}.snapshot.zones"
        if end == "kill":
            wait_for(lambda: image.exists() and f"web-{n - 1}".encode() in image.read_bytes(), "the image is written by itself")
            dns.kill()
    follower.close()
    zones, seen = (DOMAIN, "77.127.in-addr.arpa"), {}
    last = f"web-{n - 1}.shop.alice.{DOMAIN}"
    with dns:
        dns.event("feed_image")
        dns.event("http_listening")
        text = dig_full(dns.port, last)
        assert "status: NOERROR" in text and STALE in text and f"127.77.{(n - 1) // 250}." in text, text
        assert request(dns.http, "GET", "/readyz").status == 200
        assert dns.metric("dnsd_loading") in (0, 1)
        while True:
            is_through = not dns.stats()["loading"]
            for zone in zones:
                serial = dns.serial(zone)
                assert zone not in seen or 0 <= (serial - seen[zone]) % 2**32 < 2**31, f"{zone}: {seen[zone]}, then {serial}"
                seen[zone] = serial
            assert dns.status(last) == "NOERROR" and dns.status(f"web-{n}.shop.alice.{DOMAIN}") == "NXDOMAIN"
            if is_through:
                break
        assert dns.stats()["records"] == n and dns.is_stale(last)
        follower = feed.newcomer()
        follower.snapshot(records(n - 1), 2)
        dns.until_synced(n - 1)
        assert dns.status(last) == "NXDOMAIN", "what the image had and the registry has not is gone, counted right"
        assert dig(dns.port, NAME) == ["127.77.0.1"] and not dns.is_stale(NAME)
        follower.close()


def leave_a_snapshot(feed, directory, **options):
    with Dns(feed, directory, **options) as dns:
        follower = feed.newcomer()
        follower.snapshot(records(5))
        dns.until_synced(5)
    follower.close()


def test_other_options_do_not_answer_from_the_image(feed, tmp_path):
    """It was made with the TTL of then; the records are read before something is answered."""
    leave_a_snapshot(feed, tmp_path)
    with Dns(feed, tmp_path, dns__ttl="77s") as dns:
        dns.event("dns_image_unlike")
        dns.event("feed_restored")
        assert "feed_image" not in [e["event"] for e in dns.events]
        assert re.search(rf"^{NAME}\.\s+77\s", dig_full(dns.port, NAME), re.M)


def test_the_image_of_a_zone_file_that_changed_is_not_used(feed, tmp_path):
    zone = tmp_path / f"{DOMAIN}.zone"
    text = "$TTL 60\n@ IN SOA ns hostmaster 5 3600 600 86400 30\n  IN NS ns\nns A 10.0.0.1\nold A 10.0.0.2\n"
    zone.write_text(text)
    leave_a_snapshot(feed, tmp_path, zones__dir=tmp_path)
    zone.write_text(text.replace("old", "new"))
    with Dns(feed, tmp_path, zones__dir=tmp_path) as dns:
        dns.event("feed_restored")
        assert dns.status(f"old.{DOMAIN}") == "NXDOMAIN" and dig(dns.port, f"new.{DOMAIN}") == ["10.0.0.2"]
        assert dig(dns.port, NAME) == ["127.77.0.1"]
