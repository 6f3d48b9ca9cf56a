"""kill -9 of ZooKeeper: registryd and dnsd go on with what they have, writes say no in time, and nothing acknowledged is lost."""
import concurrent.futures
import http.client
import threading

import pytest

import zookeeper
from harness import PATIENCE, Feed, Stack, container, dig_full, request, wait_for

pytestmark = pytest.mark.sanitize

BASE = "/users/alice/services/yarn-service/shop/components"
QUICK = {"hadoop.registry.zk.session.timeout.ms": "4000", "hadoop.registry.zk.connection.timeout.ms": "1000",
         "hadoop.registry.zk.retry.times": "0", "hadoop.registry.zk.retry.interval.ms": "100",
         "hadoop.registry.zk.retry.ceiling.ms": "200", "hadoop.registry.write.wait": "200ms"}


@pytest.fixture
def zk():
    with zookeeper.Server() as server:
        yield server


@pytest.fixture
def stack(zk):
    with Stack(store=f"zk://{zk.address}/registry", options={"registryd": QUICK}) as s:
        yield s


class Writer(threading.Thread):
    """Binds records until one is refused, or until asked to end; notes what was acknowledged."""

    def __init__(self, stack, number):
        super().__init__(daemon=True)
        self.stack, self.number = stack, number
        self.acknowledged, self.refused, self.go_on = [], [], True

    def run(self):
        i = 0
        while self.go_on and not self.refused:
            i += 1
            path = f"{BASE}/ctr-{self.number}-1-1-{i}"
            try:
                answer = request(self.stack.registry_port, "PUT", f"/ws/v1/registry{path}?createParents=true&overwrite=true",
                                 container(f"w{self.number}-{i}", "w", f"127.77.{self.number}.{i % 250 + 1}"))
            except (OSError, http.client.HTTPException) as error:
                self.refused.append(error)
                continue
            if answer.status in (200, 201):
                self.acknowledged.append(path)
            elif answer.status == 503 and answer.json["type"] == "urn:bobbin:error:unknown-outcome":
                continue  # ZooKeeper went between the write and its answer: neither acknowledged nor refused
            else:
                self.refused.append(answer)


def until_accepted(write):
    """Write again until it is acknowledged, as a client would that gets 503."""
    def accepted():
        answer = write()
        assert answer.status in (200, 201, 503), answer
        return answer.status != 503 and answer
    return wait_for(accepted, "the write is acknowledged")


def bind_until_done(stack, path, record):
    return until_accepted(lambda: stack.registry("PUT", path, record, query="createParents=true&overwrite=true"))


def test_what_is_known_is_served_and_what_was_acknowledged_is_kept(zk, stack):
    path = f"{BASE}/ctr-1-2-3-4"
    stack.sync(stack.bind(path, container("web-0", "web", "127.77.0.9")).headers["Bobbin-Revision"])
    known = stack.registry("GET", path)
    writers = [Writer(stack, k) for k in (1, 2, 3)]
    for writer in writers:
        writer.start()
    wait_for(lambda: all(len(w.acknowledged) > 20 for w in writers), "some writes are acknowledged")
    zk.kill()
    wait_for(lambda: all(w.refused for w in writers), "writes are refused")
    for writer in writers:
        writer.join(PATIENCE)
        assert {r.status for r in writer.refused} == {503}, writer.refused

    with concurrent.futures.ThreadPoolExecutor() as pool:
        answers = [pool.submit(stack.registry, *request) for request in (
            ("PUT", path, container("web-0", "web", "127.77.0.10"), None, "/ws/v1/registry", "overwrite=true"),
            ("DELETE", path), ("GET", path, None, None, "/ws/v1/registry", "consistency=strong"))]
    for refused in (answer.result() for answer in answers):
        assert refused.status == 503 and refused.json["type"] == "urn:bobbin:error:unavailable", refused
    served = stack.registry("GET", path)
    assert (served.status, served.body) == (200, known.body)
    assert stack.dig("web-0.shop.alice.bobbin.test") == ["127.77.0.9"]
    assert request(stack.registry_port, "GET", "/healthz").status == 200

    zk.start()
    newer = bind_until_done(stack, path, container("web-0", "web", "127.77.0.11"))
    stack.sync(newer.headers["Bobbin-Revision"])
    assert stack.dig("web-0.shop.alice.bobbin.test") == ["127.77.0.11"]
    for kept in (p for w in writers for p in w.acknowledged):
        assert stack.registry("GET", kept, query="consistency=strong").status == 200, f"{kept} is lost in the store"
    wait_for(lambda: all(stack.registry("GET", p).status == 200 for w in writers for p in w.acknowledged),
             "the mirror has everything")


def test_a_zookeeper_that_comes_back_within_the_retries_is_not_noticed(zk):
    options = {"registryd": {**QUICK, "hadoop.registry.zk.retry.times": "29", "hadoop.registry.zk.retry.ceiling.ms": "500"}}
    with Stack(store=f"zk://{zk.address}/registry", options=options) as stack:
        writer = Writer(stack, 1)
        writer.start()
        wait_for(lambda: len(writer.acknowledged) > 10, "some writes are acknowledged")
        zk.kill()
        zk.start()
        n = len(writer.acknowledged)
        wait_for(lambda: len(writer.acknowledged) > n + 10, "writes go on")
        writer.go_on = False
        writer.join(PATIENCE)
        assert not writer.refused
        wait_for(lambda: set(writer.acknowledged) <= {node["path"] for node in
                                                      stack.registry("GET", BASE, query="recursive=true").json["tree"]},
                 "everything acknowledged is there")


def test_all_die_and_come_back(zk, stack):
    path = f"{BASE}/ctr-1-2-3-4"
    stack.sync(stack.bind(path, container("web-0", "web", "127.77.0.9")).headers["Bobbin-Revision"])
    zk.kill()
    stack.registryd.kill()
    stack.dnsd.event("feed_lost")
    assert stack.dig("web-0.shop.alice.bobbin.test") == ["127.77.0.9"]
    stack.registryd.start("daemon_started")
    assert stack.registry("GET", path).status == 503, "an empty mirror is no answer"
    assert stack.registry("GET", "", base="/readyz").status == 503
    assert stack.dig("web-0.shop.alice.bobbin.test") == ["127.77.0.9"]
    zk.start()
    wait_for(lambda: stack.registry("GET", "", base="/readyz").status == 200, "registryd is ready")
    assert stack.registry("GET", path).json["service"]["yarn:ip"] == "127.77.0.9"
    gone = until_accepted(lambda: stack.registry("DELETE", path))
    stack.sync(gone.headers["Bobbin-Revision"])
    assert "NXDOMAIN" in dig_full(stack.dns_port, "web-0.shop.alice.bobbin.test", "A")


def mark(feed, kind, **members):
    """The next line of this type that has these members; the feed sends one every 5 s at least."""
    while True:
        line = feed.until(kind)[-1]
        if members.items() <= line.items():
            return line


def test_dnsd_says_that_its_answers_are_old_though_registryd_is_there(zk, stack):
    path = f"{BASE}/ctr-1-2-3-4"
    stack.sync(stack.bind(path, container("web-0", "web", "127.77.0.9")).headers["Bobbin-Revision"])
    old = "EDE: 3"
    ask = lambda: dig_full(stack.dns_port, "web-0.shop.alice.bobbin.test")
    assert "127.77.0.9" in ask() and old not in ask()
    with Feed(stack) as feed:
        assert "stale" not in mark(feed, "sync")
        zk.kill()
        wait_for(lambda: old in ask(), "answers are marked as old")
        assert "127.77.0.9" in ask()
        assert mark(feed, "progress", stale=True)
        with Feed(stack) as late:
            assert mark(late, "sync", stale=True)
        assert not [e for e in stack.dnsd.events if e["event"] == "feed_lost"], "registryd was there all the time"
        zk.start()
        wait_for(lambda: old not in ask(), "answers are current again")
        assert mark(feed, "progress", stale=False)


def test_an_orderly_end_without_zookeeper(zk, stack):
    zk.kill()
    stack.registryd.event("registry_stale")
    stack.registryd.stop()
    stack.registryd.start("daemon_started")
    stack.registryd.stop()
