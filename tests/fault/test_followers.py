"""Several registries on one ZooKeeper: a follower changes from one to another with the revision it has.

    registryd one ──────────────────────► ZooKeeper ◄── proxy ── registryd two   (its following session, which can be made late)
          ▲                                                            ▲
          └──────── dnsd, bobbin registry watch: both in the list ─────┘

A snapshot costs as much as the whole registry, so it is counted: the registries say how many they gave.
"""
import contextlib
import json
import os
import signal
import subprocess
import threading

import pytest

import zookeeper
from harness import BIN, Registry, Stack, container, dig, dig_full, request, wait_for
from zkproxy import Proxy

pytestmark = pytest.mark.sanitize

BASE = "/users/alice/services/yarn-service/shop/components"
WEB = f"{BASE}/ctr-1-1-1-1"
NAME = "web-0.shop.alice.bobbin.test"
PATIENT = {"hadoop.registry.feed.wait": "60s"}


@pytest.fixture(scope="module")
def zk():
    with zookeeper.Server() as server:
        yield server


def web(number):
    return container("web-0", "web", f"127.77.0.{number}")


def counted(registry):
    """What a registry has counted of its followers."""
    text = request(registry.registry_port, "GET", "/metrics").body.decode()
    lines = dict(line.split(" ") for line in text.splitlines() if line and not line.startswith("#"))
    return {name: int(lines[f"registry_feed_{name}_total"]) for name in ("snapshots", "resumes", "resumes_refused", "waits")}


def more(registry, before):
    """What has been counted since."""
    return {name: n - before[name] for name, n in counted(registry).items() if n != before[name]}


def resumed(registry, before):
    """The same without the waits: the other one, too, may just be a moment behind what a follower has."""
    return {name: n for name, n in more(registry, before).items() if name != "waits"}


class Two:
    """Two registries of one store, and dnsd that knows of both and follows the first."""

    def __init__(self, zk, root, other_root=None, **options):
        self.stack = contextlib.ExitStack()
        self.url = lambda name: f"zk://{zk.address}/{name}"
        self.zk, self.root, self.other_root = zk, root, other_root or root
        self.first, self.second, self.dnsd = (options.get(name, {}) for name in ("first", "second", "dnsd"))

    def __enter__(self):
        with contextlib.ExitStack() as opening:
            opening.enter_context(self.stack)
            self.proxy = self.stack.enter_context(Proxy(self.zk.port))
            follow = {"hadoop.registry.zk.follow.quorum": f"127.0.0.1:{self.proxy.port}", **self.second}
            self.two = self.stack.enter_context(Registry(store=self.url(self.other_root), options={"registryd": follow}))
            both = Stack(store=self.url(self.root), options={"registryd": self.first, "dnsd": self.dnsd})
            self.urls = ",".join(f"http://127.0.0.1:{r.registry_port}" for r in (both, self.two))
            both.dnsd.options["hadoop.registry.url"] = self.urls
            self.one = self.stack.enter_context(both)
            self.stack.callback(self.one.registryd.kill)  # however it was left
            self.stack = opening.pop_all()
        return self

    def __exit__(self, *_):
        self.stack.close()

    def bind(self, registry, number):
        """Bind the record through one of the two; its revision."""
        return registry.bind(WEB, web(number)).headers["Bobbin-Revision"]

    def answers(self, revision, number):
        self.one.sync(revision)
        assert self.one.dig(NAME) == [f"127.77.0.{number}"]

    def snapshots_of_dnsd(self):
        return len([e for e in self.one.dnsd.events if e["event"] == "feed_synced"])


class Watch:
    """`bobbin registry watch`: its lines as they come."""

    def __init__(self, urls):
        self.process = subprocess.Popen([os.path.join(BIN, "bobbin"), "registry", "watch", "-o", "json", "-D",
                                         f"hadoop.registry.url={urls}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def until(self, what):
        """Types of the lines up to the first for which what(line) is true."""
        types = []
        for text in self.process.stdout:
            line = json.loads(text)
            types.append(line["type"])
            if what(line):
                return types
        raise AssertionError(f"it has ended after {types}: {self.process.stderr.read()}")

    def until_web(self, number):
        return self.until(lambda line: line.get("path") == WEB and line.get("service", {}).get("yarn:ip") == f"127.77.0.{number}")

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=30)


def test_followers_go_on_with_the_other_registry_when_theirs_dies(zk):
    with Two(zk, "dies") as t, Watch(t.urls) as watch:
        t.answers(t.bind(t.one, 1), 1)
        watch.until(lambda line: line["type"] == "synced")
        newest = t.bind(t.one, 2)
        watch.until_web(2)
        t.answers(newest, 2)
        wait_for(lambda: t.two.registry("GET", WEB).json["service"]["yarn:ip"] == "127.77.0.2", "the other one has it")
        before = counted(t.two)
        t.one.registryd.kill()
        newest = t.bind(t.two, 3)
        assert "synced" not in watch.until_web(3), "a follower that could resume has begun anew"
        t.answers(newest, 3)
        assert resumed(t.two, before) == {"resumes": 2}
        assert t.snapshots_of_dnsd() == 1

        t.one.registryd.start("registry_synced")
        before = counted(t.one)
        newest = t.bind(t.two, 4)
        t.answers(newest, 4)
        watch.until_web(4)
        assert more(t.one, before) == {}, "a follower that is well served stays where it is"
        t.two.registryd.kill()
        newest = t.bind(t.one, 5)
        t.answers(newest, 5)
        assert "synced" not in watch.until_web(5)
        assert resumed(t.one, before) == {"resumes": 2}, "and back, as what it missed was after the restart"
        assert t.snapshots_of_dnsd() == 1


def test_a_follower_leaves_a_registry_that_hangs(zk):
    quick = {"hadoop.registry.feed.progress": "200ms"}
    with Two(zk, "hangs", first=quick, second=quick, dnsd={"hadoop.registry.dns.registry-silence": "2s"}) as t:
        t.answers(t.bind(t.one, 1), 1)
        before = counted(t.two)
        t.one.registryd.process.send_signal(signal.SIGSTOP)
        try:
            t.answers(t.bind(t.two, 2), 2)
            assert set(resumed(t.two, before)) == {"resumes"}
        finally:
            t.one.registryd.process.send_signal(signal.SIGCONT)
        t.answers(t.bind(t.one, 3), 3)
        assert t.snapshots_of_dnsd() == 1


def test_a_registry_that_is_behind_lets_the_follower_wait(zk):
    with Two(zk, "behind", second=PATIENT) as t:
        t.answers(t.bind(t.one, 1), 1)
        wait_for(lambda: t.two.registry("GET", WEB).status == 200, "the other one has it")
        before = counted(t.two)
        t.proxy.hold("down")
        newest = t.bind(t.one, 2)
        t.answers(newest, 2)
        t.one.registryd.kill()
        wait_for(lambda: more(t.two, before).get("waits"), "dnsd waits at the one that is behind")
        assert resumed(t.two, before) == {}
        assert t.two.registry("GET", WEB).json["service"]["yarn:ip"] == "127.77.0.1", "it is behind"
        assert t.one.dig(NAME) == ["127.77.0.2"], "what was answered is not taken back"
        t.proxy.release("down")
        t.answers(t.bind(t.two, 3), 3)
        assert resumed(t.two, before) == {"resumes": 1}
        assert t.snapshots_of_dnsd() == 1


def test_a_registry_stops_while_followers_wait(zk):
    with Two(zk, "leaves", second=PATIENT) as t:
        store, number = t.bind(t.one, 1).rsplit(".", 1)
        ahead = f"/ws/v1/registry/?watch=true&since={store}.{int(number) + 1000000}"
        wait_for(lambda: t.two.registry("GET", WEB).status == 200, "the other one has it")
        with pytest.raises(TimeoutError):
            request(t.two.registry_port, "GET", ahead, timeout=0.2)  # this client has left by then
        answers = []
        waiting = threading.Thread(target=lambda: answers.append(request(t.two.registry_port, "GET", ahead)))
        waiting.start()
        wait_for(lambda: counted(t.two)["waits"] == 2, "both were let wait")
        t.two.registryd.stop()
        waiting.join()
        assert [a.status for a in answers] == [503]
        t.two.registryd.start("registry_synced")


def test_a_revision_that_never_comes_is_refused(zk):
    with Registry(store=f"zk://{zk.address}/never", options={"registryd": {"hadoop.registry.feed.wait": "100ms"}}) as reg:
        store, number = reg.bind(WEB, web(1)).headers["Bobbin-Revision"].rsplit(".", 1)
        refused = reg.registry("GET", "/", query=f"watch=true&since={store}.{int(number) + 1000000}")
        assert refused.status == 410 and "above" in refused.json["detail"], refused
        assert counted(reg) == {"snapshots": 0, "resumes": 0, "resumes_refused": 1, "waits": 1}


class Asking(threading.Thread):
    """Asks for a name again and again; keeps every different answer."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.port, self.go_on, self.seen = port, True, set()

    def run(self):
        while self.go_on:
            self.seen.add(tuple(dig(self.port, NAME)))


def test_another_store_is_read_anew_once_and_never_shown_half(zk):
    with Two(zk, "old", other_root="new") as t:
        older = t.bind(t.one, 1)
        t.answers(t.one.bind(f"{BASE}/ctr-1-1-1-2", container("old-0", "old", "127.77.0.9")).headers["Bobbin-Revision"], 1)
        t.bind(t.two, 1)
        newest = t.two.bind(f"{BASE}/ctr-1-1-1-3", container("new-0", "new", "127.77.0.8")).headers["Bobbin-Revision"]
        before = counted(t.two)
        asking = Asking(t.one.dns_port)
        asking.start()
        wait_for(lambda: asking.seen, "answers")
        t.one.registryd.kill()
        wait_for(lambda: t.snapshots_of_dnsd() == 2, "dnsd has read the other store")
        asking.go_on = False
        asking.join()
        assert asking.seen == {("127.77.0.1",)}, "in between the name was gone"
        t.answers(newest, 1)
        assert more(t.two, before) == {"resumes_refused": 1, "snapshots": 1}
        assert t.one.dig("new-0.shop.alice.bobbin.test") == ["127.77.0.8"]
        assert "NXDOMAIN" in dig_full(t.one.dns_port, "old-0.shop.alice.bobbin.test", "A")
        assert request(t.one.dns_http_port, "GET", f"/sync?revision={older}&timeout=1s").status == 410


def test_what_the_ring_does_not_hold_any_more_is_read_anew_once(zk):
    with Two(zk, "short", second={"hadoop.registry.feed.ring-size": "16k"}) as t:
        t.answers(t.bind(t.one, 1), 1)
        wait_for(lambda: t.two.registry("GET", WEB).status == 200, "the other one has it")
        before = counted(t.two)
        t.one.dnsd.process.send_signal(signal.SIGSTOP)  # it misses more than the other registry keeps
        try:
            t.one.registryd.kill()
            for i in range(40):
                newest = t.two.bind(WEB, {**web(i + 2), "pad": "x" * 800}).headers["Bobbin-Revision"]
        finally:
            t.one.dnsd.process.send_signal(signal.SIGCONT)
        t.answers(newest, 41)
        assert more(t.two, before) == {"resumes_refused": 1, "snapshots": 1}
        assert t.snapshots_of_dnsd() == 2
