"""Three ZooKeeper servers, and what registryd follows through is late, stands still or is cut off: the mirror ends as the truth.

                 writes, strong reads          ┌────────── servers 2 and 3
    registryd ───────────────────────────────►─┘               │ (mode "server": delayed, so server 1 is behind)
       └─────── following session ──────► proxy ──────► server 1
                              (mode "session": delayed here)
"""
import collections
import contextlib
import random
import threading

import pytest

import zookeeper
from harness import Registry, Stack, container, request, wait_for
from zkproxy import Proxy

pytestmark = pytest.mark.sanitize

BASE = "/users/alice/services/yarn-service/storm/components"
N_WRITERS = 4
N_STEPS = 30


class Late:
    """An ensemble of which server 1 is seen late; `proxies` decide how late."""

    def __init__(self, mode):
        self.mode = mode
        self.proxies = []
        self.stack = contextlib.ExitStack()

    def _proxy(self, port):
        proxy = self.stack.enter_context(Proxy(port))
        self.proxies.append(proxy)
        return proxy.port

    def __enter__(self):
        with contextlib.ExitStack() as opening:
            opening.enter_context(self.stack)
            self.ensemble = self.stack.enter_context(
                zookeeper.Ensemble(3, quorum_via=self._proxy if self.mode == "server" else None))
            port = self.ensemble.servers[0].port
            self.follow = f"127.0.0.1:{self._proxy(port) if self.mode == 'session' else port}"
            self.store = f"zk://{','.join(s.address for s in self.ensemble.servers[1:])}/registry"
            self.stack = opening.pop_all()
        return self

    def __exit__(self, *_):
        self.stack.close()

    def each(self, what, *words):
        for proxy in self.proxies:
            getattr(proxy, what)(*words)


class Writer(threading.Thread):
    """Creates, changes and deletes its own few nodes at random; remembers what must be there at the end.

    It writes through either registryd, so the delayed one must also learn what another one did.
    """

    def __init__(self, ports, number):
        super().__init__(daemon=True)
        self.ports, self.number, self.random = ports, number, random.Random(number)
        self.truth, self.error, self.n_late = {}, None, 0

    def run(self):
        try:
            for step in range(N_STEPS):
                self.step(step)
        except BaseException as error:  # raised by the test, which joins this thread
            self.error = error

    def step(self, step):
        i = self.random.randrange(8)
        path = f"{BASE}/ctr-{self.number}-1-1-{i}"
        port = self.random.choice(self.ports)
        if path in self.truth and self.random.random() < 0.6:
            answer = request(port, "DELETE", f"/ws/v1/registry{path}")
            assert answer.json["deleted"] is True, answer
            del self.truth[path]
        else:
            record = container(f"w{self.number}-{i}", f"c{self.number}", f"127.77.{self.number}.{step + 1}")
            answer = request(port, "PUT", f"/ws/v1/registry{path}?overwrite=true", record)
            assert answer.status in (200, 201), answer
            self.truth[path] = record
        late = answer.headers.get("Bobbin-Applied") == "false"
        self.n_late += late
        seen = request(port, "GET", f"/ws/v1/registry{path}")
        record = seen.json.get("service") if seen.status == 200 else None
        assert late or record == self.truth.get(path), f"answered as applied, but a GET says {seen}"


def disturb(late, writers):
    """While they write: other delays, a standstill, a cut."""
    way = "down"
    turns = collections.deque([("delay", way, 0.02), ("delay", way, 0.3), ("hold", way), ("release", way), ("cut",),
                               ("delay", way, 0.1)])
    while any(w.is_alive() for w in writers):
        late.each(*turns[0])
        turns.rotate(-1)
        for writer in writers:
            writer.join(0.08)
    late.each("release", way)
    late.each("delay", way, 0.05)


def strong(stack, path):
    """Records at and below a node as the servers have them now."""
    answer = stack.registry("GET", path, query="consistency=strong")
    assert answer.status == 200, answer
    found = {path: answer.json["service"]} if "service" in answer.json else {}
    for name in answer.json["nodes"]:
        found.update(strong(stack, f"{path}/{name}"))
    return found


@pytest.mark.parametrize("mode", ["session", "server"])
def test_a_storm_ends_in_one_truth(mode):
    with Late(mode) as late, contextlib.ExitStack() as rest:
        options = {"registryd": {"hadoop.registry.zk.follow.quorum": late.follow, "hadoop.registry.write.wait": "150ms"}}
        other = rest.enter_context(Registry(store=late.store))
        stack = rest.enter_context(Stack(store=late.store, options=options))
        assert stack.registry("POST", BASE, query="op=mknode&createParents=true").status == 201
        wait_for(lambda: other.registry("GET", BASE).status == 200, "both know the parent")
        late.each("delay", "down", 0.15)
        writers = [Writer((stack.registry_port, other.registry_port), k + 1) for k in range(N_WRITERS)]
        for writer in writers:
            writer.start()
        disturb(late, writers)
        assert [w.error for w in writers] == [None] * N_WRITERS
        assert sum(w.n_late for w in writers), "no write was late: the delay was none"
        truth = {path: record for w in writers for path, record in w.truth.items()}
        assert strong(stack, BASE) == truth
        last = other.bind(f"{BASE}/last", container("last-0", "last", "127.77.9.9"))
        stack.sync(last.headers["Bobbin-Revision"])
        truth[f"{BASE}/last"] = container("last-0", "last", "127.77.9.9")
        for registry in (stack, other):
            tree = registry.registry("GET", BASE, query="recursive=true").json["tree"]
            assert {node["path"]: node.get("service") for node in tree} == truth
        for number in range(1, N_WRITERS + 1):
            expected = sorted(r["yarn:ip"] for r in truth.values() if r["yarn:component"] == f"c{number}")
            assert stack.dig(f"c{number}.storm.alice.bobbin.test") == expected


def test_a_write_that_is_not_seen_yet_says_so():
    with Late("session") as late:
        options = {"registryd": {"hadoop.registry.zk.follow.quorum": late.follow, "hadoop.registry.write.wait": "100ms"}}
        with Stack(store=late.store, options=options) as stack:
            path = f"{BASE}/ctr-1-1-1-1"
            bound = stack.bind(path, container("web-0", "web", "127.77.0.1"))  # seen within 100 ms, or a little later
            stack.sync(bound.headers["Bobbin-Revision"])
            late.each("hold", "down")
            slow = stack.bind(path, container("web-0", "web", "127.77.0.2"))
            assert slow.headers["Bobbin-Applied"] == "false"
            assert slow.json["service"]["yarn:ip"] == "127.77.0.2", "the answer shows what was written"
            assert stack.registry("GET", path).json["service"]["yarn:ip"] == "127.77.0.1"
            assert stack.registry("GET", path, query="consistency=strong").json["service"]["yarn:ip"] == "127.77.0.2"
            gone = stack.registry("DELETE", path)
            assert gone.json["deleted"] is True and gone.headers["Bobbin-Applied"] == "false"
            waiting = request(stack.dns_http_port, "GET",
                              f"/sync?revision={gone.headers['Bobbin-Revision']}&timeout=50ms")
            assert waiting.status == 504, "DNS does not have it either, and does not say so"
            assert stack.dig("web-0.storm.alice.bobbin.test") == ["127.77.0.1"]
            late.each("release", "down")
            stack.sync(gone.headers["Bobbin-Revision"])
            assert stack.registry("GET", path).status == 404
            assert stack.dig("web-0.storm.alice.bobbin.test") == []
