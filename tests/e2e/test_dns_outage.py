"""What dnsd answers when the registry is away, has lost its records, or changes by delete and create."""
import os
import re

import pytest

from harness import DOMAIN, Stack, container, dig_full, request, wait_for

pytestmark = pytest.mark.sanitize

BASE = "/users/alice/services/yarn-service/shop"
NAME = f"web-0.shop.alice.{DOMAIN}"
SHARED = f"web.shop.alice.{DOMAIN}"
STALE = "EDE: 3"


def path(i):
    return f"{BASE}/components/ctr-{i}"


def fill(stack, n):
    for i in range(n):
        answer = stack.bind(path(i), container(f"web-{i}", "web", f"127.77.{1 + i // 200}.{1 + i % 200}"))
    stack.sync(answer.headers["Bobbin-Revision"])


def stats(stack):
    return request(stack.dns_http_port, "GET", "/stats").json


def serial(stack, zone=DOMAIN):
    return int(stack.dig(zone, "SOA")[0].split()[2])


def later(a, b):
    """Is serial b later than a? (RFC 1982)"""
    return 0 < (b - a) % 2**32 < 2**31


def status(stack, name):
    return re.search(r"status: (\w+)", dig_full(stack.dns_port, name)).group(1)


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_a_start_without_registry_answers_from_the_snapshot(end):
    with Stack(options={"dnsd": {"hadoop.registry.dns.snapshot-interval": "100ms"}}) as stack:
        fill(stack, 5)
        before = serial(stack)
        if end == "kill":
            snapshot = f"{stack.dir}/dnsd/{DOMAIN}.snapshot"
            wait_for(lambda: b"ctr-4" in open(snapshot, "rb").read(), "the snapshot is written by itself")
        assert STALE not in dig_full(stack.dns_port, NAME)
        getattr(stack.dnsd, end)()
        stack.registryd.stop()
        stack.dnsd.start("feed_restored")
        answer = dig_full(stack.dns_port, NAME)
        assert "127.77.1.1" in answer and STALE in answer, answer
        assert request(stack.dns_http_port, "GET", "/readyz").status == 200
        assert stats(stack)["stale"] is True
        assert later(before, serial(stack)), "a serial never goes back over a restart"

        stack.registryd.start("registry_synced")
        stack.dnsd.event("feed_synced")
        wait_for(lambda: STALE not in dig_full(stack.dns_port, NAME), "current again")
        assert stack.dig(NAME) == ["127.77.1.1"] and not stats(stack)["stale"]


def test_what_changed_meanwhile_is_reconciled():
    with Stack() as stack:
        fill(stack, 3)
        stack.dnsd.stop()
        stack.registry("DELETE", path(1))
        stack.bind(path(0), container("web-0", "web", "127.77.9.9"))
        stack.dnsd.start("feed_synced")
        assert stack.dig(NAME) == ["127.77.9.9"]
        assert status(stack, f"web-1.shop.alice.{DOMAIN}") == "NXDOMAIN"
        assert stack.dig(f"web-2.shop.alice.{DOMAIN}") == ["127.77.1.3"]


def snapshot_files(stack):
    """Of the registry's records, and of the zones that were made of them."""
    records = f"{stack.dir}/dnsd/{DOMAIN}.snapshot"
    return records, f"{records}.zones"


def damage(path):
    with open(path, "r+b") as f:
        f.seek(60)
        f.write(b"\xff\xff")


def test_a_damaged_snapshot_is_left_alone():
    with Stack() as stack:
        fill(stack, 3)
        stack.dnsd.stop()
        for path in snapshot_files(stack):
            damage(path)
        stack.registryd.stop()
        stack.dnsd.start("dns_listening", "dns_nothing_kept")
        assert status(stack, NAME) == "SERVFAIL"
        assert "EDE: 14" in dig_full(stack.dns_port, NAME)
        assert request(stack.dns_http_port, "GET", "/readyz").status == 503
        stack.registryd.start("registry_synced")
        stack.dnsd.event("feed_synced")
        assert stack.dig(NAME) == ["127.77.1.1"]


@pytest.mark.parametrize("harm", ["damaged", "cut", "of another version", "gone"])
@pytest.mark.parametrize("which", ["records", "zones"])
def test_half_of_a_snapshot_is_enough(which, harm):
    """Each of its two files is answered from without the other one; the registry's word replaces both."""
    with Stack() as stack:
        fill(stack, 3)
        before = serial(stack)
        stack.dnsd.stop()
        harmed = dict(zip(("records", "zones"), snapshot_files(stack)))[which]
        if harm == "damaged":
            damage(harmed)
        elif harm == "cut":
            os.truncate(harmed, os.path.getsize(harmed) // 2)
        elif harm == "gone":
            os.unlink(harmed)
        else:
            with open(harmed, "r+b") as f:
                head = f.read(32)
                f.seek(0)
                f.write(head.replace(b"snapshot 3", b"snapshot 9").replace(b"image 2", b"image 9"))
        stack.registryd.stop()
        stack.dnsd.start("feed_image" if which == "records" else "feed_restored")
        answer = dig_full(stack.dns_port, NAME)
        assert "127.77.1.1" in answer and STALE in answer, answer
        if harm != "gone":
            assert stack.dnsd.event("dns_nothing_kept")["where"] == harmed
        shown = serial(stack)
        assert later(before, shown)
        stack.registryd.start("registry_synced")
        stack.dnsd.event("feed_synced")
        stack.sync(stack.bind(path(9), container("web-9", "web", "127.77.9.9")).headers["Bobbin-Revision"])
        assert stack.dig(NAME) == ["127.77.1.1"] and STALE not in dig_full(stack.dns_port, NAME)
        assert later(shown, serial(stack))
        assert not stats(stack)["loading"]


def test_stale_has_a_bound():
    with Stack(options={"dnsd": {"hadoop.registry.dns.stale.max": "1500ms"}}) as stack:
        fill(stack, 2)
        stack.registryd.kill()
        # What is answered before that, the other tests check: here a slow machine may be too late for it.
        wait_for(lambda: status(stack, NAME) == "SERVFAIL", "what is too old is not answered")
        assert request(stack.dns_http_port, "GET", "/readyz").status == 503
        stack.registryd.start("registry_synced")
        wait_for(lambda: status(stack, NAME) == "NOERROR" and STALE not in dig_full(stack.dns_port, NAME), "back")
        assert stack.dig(NAME) == ["127.77.1.1"]


def guarded(**more):
    return Stack(options={"dnsd": {"hadoop.registry.dns.guard.min": "10", "hadoop.registry.dns.guard.share": "50", **more}})


def explain(stack, name):
    return request(stack.dns_http_port, "GET", f"/explain?name={name}").json


def says_held(stack, *names):
    for name in names:
        text = dig_full(stack.dns_port, name)
        assert "status: NOERROR" in text and STALE in text and "its removal is held" in text, text
        said = explain(stack, name)
        assert "until POST /release" in said["stale"] and "the guard holds its removal" in said["chain"][0]["because"]
    assert "EDE" not in dig_full(stack.dns_port, DOMAIN), "nothing is held there"


def test_a_registry_that_lost_everything_is_not_believed():
    # A long coalescing time brings all removals into one commit, however slowly they are made.
    with guarded(**{"hadoop.registry.dns.coalesce": "3s"}) as stack:
        fill(stack, 20)
        answer = stack.registry("DELETE", "/users/alice", query="recursive=true")
        held = stack.dnsd.event("feed_held")
        assert held["records"] >= 1
        stack.sync(answer.headers["Bobbin-Revision"])
        assert stack.dig(NAME) == ["127.77.1.1"]
        assert stats(stack)["held"] == 20
        metrics = request(stack.dns_http_port, "GET", "/metrics").body.decode()
        assert "dnsd_held_removals 20" in metrics
        says_held(stack, NAME, SHARED)
        # What comes back is no longer held, and new names are answered.
        stack.sync(stack.bind(path(0), container("web-0", "web", "127.77.8.8")).headers["Bobbin-Revision"])
        assert stack.dig(NAME) == ["127.77.8.8"] and stats(stack)["held"] == 19
        assert "EDE" not in dig_full(stack.dns_port, NAME) and explain(stack, NAME)["stale"] is None
        says_held(stack, f"web-1.shop.alice.{DOMAIN}", SHARED)
        assert request(stack.dns_http_port, "POST", "/release").json == {"released": 19}
        assert status(stack, f"web-1.shop.alice.{DOMAIN}") == "NXDOMAIN" and stack.dig(NAME) == ["127.77.8.8"]
        assert stats(stack)["held"] == 0
        assert "EDE" not in dig_full(stack.dns_port, SHARED) and stack.dig(SHARED) == ["127.77.8.8"]


def test_the_guard_holds_what_the_first_scan_misses():
    with guarded() as stack:
        fill(stack, 20)
        stack.dnsd.stop()
        stack.registry("DELETE", "/users/alice", query="recursive=true")
        stack.dnsd.start("feed_synced", "feed_held")
        assert stack.dig(NAME) == ["127.77.1.1"] and stats(stack)["held"] == 20
        says_held(stack, NAME, SHARED)
        assert request(stack.dns_http_port, "POST", "/release").json == {"released": 20}
        assert status(stack, NAME) == "NXDOMAIN"


def test_few_removals_are_not_held():
    with guarded() as stack:
        fill(stack, 30)
        for i in range(9):
            answer = stack.registry("DELETE", path(i))
        stack.sync(answer.headers["Bobbin-Revision"])
        assert status(stack, NAME) == "NXDOMAIN" and stats(stack)["held"] == 0


def test_delete_then_create_is_one_change():
    with Stack(options={"dnsd": {"hadoop.registry.dns.coalesce": "10s"}}) as stack:
        fill(stack, 1)
        stack.registry("DELETE", path(0))
        answer = stack.bind(path(0), container("web-0", "web", "127.77.5.5"))
        seen = set()

        def is_new():
            seen.add(status(stack, NAME))
            return stack.dig(NAME) == ["127.77.5.5"]
        wait_for(is_new, "the new record is answered")
        assert seen == {"NOERROR"}, "the name never vanished"
        synced = f"/sync?revision={answer.headers['Bobbin-Revision']}&timeout=9s"
        assert request(stack.dns_http_port, "GET", synced).status == 200, "a create does not wait for the window"


def test_a_delete_is_done_when_the_window_is_over():
    with Stack() as stack:
        fill(stack, 1)
        stack.sync(stack.registry("DELETE", path(0)).headers["Bobbin-Revision"])
        assert status(stack, NAME) == "NXDOMAIN"
