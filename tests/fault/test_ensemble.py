"""Faults of a ZooKeeper of three servers, with registryd and dnsd on it: what is known is served and said to be old, writes are
refused in time, nothing acknowledged is lost, and afterwards all is as before, without a restart of anything of ours.

    registryd ── writes, strong reads ────────────────────► servers 1, 2, 3
        └─────── following session ──► a proxy for each ──► servers 1, 2, 3
    other (registryd) ────────────────────────────────────► servers 1, 2, 3
"""
import concurrent.futures
import contextlib
import os
import re
import shutil
import signal
import threading

import pytest

import harness
import zookeeper
from harness import PATIENCE, Feed, Registry, Stack, container, dig_full, http, request
from zkproxy import Proxy
from zookeeper import four_letters

BASE = "/users/alice/services/yarn-service/shop/components"
WEB = f"{BASE}/ctr-1-1-1-1"
NAME = "web-0.shop.alice.bobbin.test"
OPTIONS = {"hadoop.registry.zk.session.timeout.ms": "5000", "hadoop.registry.zk.connection.timeout.ms": "1000",
           "hadoop.registry.zk.retry.times": "1", "hadoop.registry.zk.retry.interval.ms": "100",
           "hadoop.registry.zk.retry.ceiling.ms": "200", "hadoop.registry.write.wait": "200ms"}


def wait_for(condition, what):
    """Servers are started and elections are held meanwhile, on a machine that may be slow."""
    return harness.wait_for(condition, what, 4 * PATIENCE)


def shown(registry, path, query=""):
    """The address in a record as the registry shows it, None when there is none, 503 when it cannot say."""
    answer = registry.registry("GET", path, query=query)
    assert answer.status in (200, 404, 503), answer
    return answer.json["service"]["yarn:ip"] if answer.status == 200 else None if answer.status == 404 else 503


class World:
    """Three servers, registryd and dnsd, another registryd."""

    def __init__(self):
        self.stack = contextlib.ExitStack()

    def __enter__(self):
        with contextlib.ExitStack() as opening:
            opening.enter_context(self.stack)
            self.ensemble = self.stack.enter_context(zookeeper.Ensemble(3, limit_ticks=20))
            self.servers = self.ensemble.servers
            self.proxies = [self.stack.enter_context(Proxy(server.port)) for server in self.servers]
            store = f"zk://{self.ensemble.address}/registry"
            follow = ",".join(f"127.0.0.1:{proxy.port}" for proxy in self.proxies)
            self.other = self.stack.enter_context(Registry(store=store, options={"registryd": OPTIONS}))
            self.reg = self.stack.enter_context(Stack(store=store, options={
                "registryd": {**OPTIONS, "hadoop.registry.zk.follow.quorum": follow}}))
            self.pids = self.our_pids()
            self.stack = opening.pop_all()
        return self

    def __exit__(self, *_):
        self.stack.close()

    def our_pids(self):
        return [daemon.process.pid for daemon in (self.other.registryd, self.reg.registryd, self.reg.dnsd)]

    def current(self):
        """Wait until all three servers serve and everybody follows."""
        for server in self.servers:
            if server.process.poll() is not None:
                server.spawn()
        for server in self.servers:
            server.wait()
        for registry in (self.reg, self.other):
            wait_for(lambda: not is_old(registry.registry("GET", "/")), "the registry follows its store")
            wait_for(lambda: registry.registry("GET", "/", query="consistency=strong").status == 200, "the store answers")

    def put(self, number, registry=None, path=WEB):
        """Bind until it is acknowledged, as a client would that gets 503; the answer."""
        name = "web" if path == WEB else "more"

        def bound():
            answer = (registry or self.reg).registry("PUT", path, container(f"{name}-0", name, f"127.77.0.{number}"),
                                                     query="createParents=true&overwrite=true")
            assert answer.status in (200, 201, 503), answer
            return answer.status != 503 and answer
        return wait_for(bound, f"{path} is bound")

    def bind(self, number, registry=None, path=WEB):
        return self.put(number, registry, path).headers["Bobbin-Revision"]

    def delete(self, path, registry=None):
        wait_for(lambda: (registry or self.reg).registry("DELETE", path).status == 200, f"{path} is deleted")

    def answers(self, revision, number):
        """The DNS answers with this revision, and does not call it old."""
        wait_for(lambda: self.reg.sync(revision), "the DNS has it")
        assert self.reg.dig(NAME) == [f"127.77.0.{number}"]
        wait_for(lambda: "EDE" not in dig_full(self.reg.dns_port, NAME), "the answer is not called old")

    def logged(self, event, daemon=None):
        return len([e for e in (daemon or self.reg.registryd).events if e["event"] == event])


def is_old(answer):
    assert answer.status == 200, answer
    return answer.headers.get("Bobbin-Stale") == "true"


@pytest.fixture(scope="module")
def made():
    with World() as world:
        yield world


@pytest.fixture
def world(made):
    made.current()
    made.went_back = False
    yield made
    assert made.our_pids() == made.pids, "nothing of ours was restarted"
    made.current()
    for registry in (made.reg, made.other):
        assert bool(made.logged("store_went_back", registry.registryd)) == made.went_back, "a fault was taken for an older state"


class Writer(threading.Thread):
    """Binds one record after another; notes what was acknowledged and what was refused."""

    def __init__(self, world, number):
        super().__init__(daemon=True)
        self.port, self.number = world.reg.registry_port, number
        self.acknowledged, self.refused, self.go_on = {}, [], True

    def run(self):
        i = 0
        while self.go_on:
            i += 1
            path = f"{BASE}/ctr-{self.number}-1-1-{i}"
            record = container(f"w{self.number}-{i}", "w", f"127.77.{self.number}.{i % 250 + 1}")
            try:
                answer = request(self.port, "PUT", f"/ws/v1/registry{path}?createParents=true&overwrite=true", record)
            except (OSError, http.client.HTTPException) as error:
                self.refused.append(error)
                continue
            if answer.status in (200, 201):
                self.acknowledged[path] = record
            else:
                self.refused.append(answer.status)


@contextlib.contextmanager
def writing(world, numbers):
    """Writers, during the block; at its end everything that was acknowledged is in the store, the mirror and the DNS."""
    writers = [Writer(world, number) for number in numbers]
    for writer in writers:
        writer.start()

    def go_on():
        known = {writer: len(writer.acknowledged) for writer in writers}
        wait_for(lambda: all(len(w.acknowledged) > known[w] + 5 for w in writers), "writes are acknowledged")

    go_on()
    yield go_on
    for writer in writers:
        writer.go_on = False
        writer.join(PATIENCE)
        assert set(writer.refused) <= {503}, writer.refused
    truth = {path: record for writer in writers for path, record in writer.acknowledged.items()}
    for path in (path for writer in writers for path in list(writer.acknowledged)[-3:]):
        wait_for(lambda: shown(world.reg, path, "consistency=strong") != 503, "the store answers")
        assert shown(world.reg, path, "consistency=strong") in (truth[path]["yarn:ip"], 503), f"{path} is lost in the store"

    def has_all():
        tree = world.reg.registry("GET", BASE, query="recursive=true&limit=10000").json["tree"]
        found = {node["path"]: node.get("service") for node in tree}
        return all(found.get(path) == record for path, record in truth.items())
    wait_for(has_all, "everything that was acknowledged is in the mirror")
    wait_for(world.reg.sync_all, "the DNS has it")
    last = max(truth)
    assert world.reg.dig(f"{last.rsplit('/', 1)[1]}.bobbin.test") == [truth[last]["yarn:ip"]]


@pytest.mark.parametrize("which", ["the one that is followed", "leader"])
def test_a_server_dies_and_comes_back(world, which):
    followed = next(server for server, proxy in zip(world.servers, world.proxies) if proxy.connections())
    victim = world.ensemble.leader() if which == "leader" else followed
    with writing(world, (10, 11, 12) if which == "leader" else (13, 14, 15)) as go_on:
        victim.kill()
        go_on()
        victim.start()
        go_on()


def sessions(world):
    """Ids of all sessions that the ensemble knows."""
    return set(re.findall(r"0x[0-9a-f]{5,}", four_letters(world.ensemble.leader().port, "dump")))


def test_the_sessions_expire_while_registryd_stands_still(world):
    world.answers(world.bind(1), 1)
    wait_for(lambda: len(sessions(world)) == 4, "two sessions for each of the two registries, and none from before")
    before = sessions(world)
    expired = world.logged("zk_expired")
    process = world.reg.registryd.process
    process.send_signal(signal.SIGSTOP)
    try:
        wait_for(lambda: len(before & sessions(world)) <= len(before) - 2, "its two sessions have expired")
        newest = world.bind(2, world.other)
        world.bind(3, world.other, f"{BASE}/ctr-1-1-1-2")
    finally:
        process.send_signal(signal.SIGCONT)
    world.answers(newest, 2)
    wait_for(lambda: world.logged("zk_expired") >= expired + 2, "both sessions were replaced")
    world.delete(f"{BASE}/ctr-1-1-1-2", world.other)
    wait_for(lambda: shown(world.reg, f"{BASE}/ctr-1-1-1-2") is None, "what is deleted goes")
    world.answers(world.bind(4), 4)


def test_all_are_down_for_a_while(world):
    newest = world.bind(1)
    world.answers(newest, 1)
    store, number = newest.rsplit(".", 1)
    with Feed(world.reg) as feed:
        feed.until("sync")
        for server in world.servers:
            server.kill()
        wait_for(lambda: is_old(world.reg.registry("GET", WEB)), "what is read is said to be old")
        while not feed.until("progress")[-1].get("stale"):
            pass
        assert shown(world.reg, WEB) == "127.77.0.1"
        assert is_old(world.reg.registry("GET", "", base="/ws/v1/registry-find", query="component=web"))
        assert "registry_stale 1" in request(world.reg.registry_port, "GET", "/metrics").body.decode()
        wait_for(lambda: "EDE: 3" in dig_full(world.reg.dns_port, NAME), "the DNS says it, too")
        assert world.reg.dig(NAME) == ["127.77.0.1"]
        with concurrent.futures.ThreadPoolExecutor() as pool:
            asked = [pool.submit(world.reg.registry, method, WEB, record, query=query) for method, record, query in (
                ("PUT", container("web-0", "web", "127.77.0.2"), "overwrite=true"), ("DELETE", None, ""),
                ("GET", None, "consistency=strong"))]
        for refused in (answer.result() for answer in asked):
            assert (refused.status, refused.json["type"]) == (503, "urn:bobbin:error:unavailable"), refused
            assert "ZooKeeper" in refused.json["detail"], refused
        ahead = world.reg.registry("GET", "/", query=f"watch=true&since={store}.{int(number) + 1000000}")
        assert ahead.status == 503, "without the store nobody knows whether this revision is its own"
        for server in world.servers:
            server.spawn()
        world.current()
        newest = world.bind(3)
        while not any(line.get("path") == WEB and line["service"]["yarn:ip"] == "127.77.0.3" for line in feed.until("progress")):
            pass
    world.answers(newest, 3)


def test_only_the_following_session_is_cut_off(world):
    deleted = f"{BASE}/ctr-1-1-1-2"
    world.bind(9, path=deleted)
    world.answers(world.bind(1), 1)
    for proxy in world.proxies:
        proxy.hold("both")
    try:
        wait_for(lambda: is_old(world.reg.registry("GET", WEB)), "what is read is said to be old")
        wait_for(lambda: "EDE: 3" in dig_full(world.reg.dns_port, NAME), "the DNS says it, too")
        written = world.put(2)
        assert written.headers["Bobbin-Applied"] == "false", "the writing session goes on, the mirror does not"
        assert shown(world.reg, WEB) == "127.77.0.1"
        wait_for(lambda: shown(world.reg, WEB, "consistency=strong") == "127.77.0.2", "the store has it")
        world.delete(deleted, world.other)
        last = world.bind(3, world.other, f"{BASE}/ctr-1-1-1-3")
        assert world.reg.dig(NAME) == ["127.77.0.1"]
    finally:
        for proxy in world.proxies:
            proxy.release("both")
    world.answers(last, 2)
    wait_for(lambda: not is_old(world.reg.registry("GET", WEB)), "what is read is current")
    assert shown(world.reg, deleted) is None
    assert shown(world.reg, f"{BASE}/ctr-1-1-1-3") == "127.77.0.3"


def copied(world, name):
    return [os.path.join(server.dir, name) for server in world.servers]


def test_an_old_snapshot_is_put_back(world):
    """The store goes back: nobody who saw what is lost takes a number of before for one of after."""
    returned, lost = f"{BASE}/ctr-1-1-1-4", f"{BASE}/ctr-1-1-1-5"
    world.bind(8, path=returned)
    world.answers(world.bind(1), 1)
    for server in world.servers:
        server.stop()
    for here, there in zip(copied(world, "version-2"), copied(world, "kept")):
        shutil.copytree(here, there)
    world.current()
    world.bind(9, path=lost)
    world.delete(returned)
    late = world.bind(2)
    world.answers(late, 2)
    n_read = world.logged("feed_synced", world.reg.dnsd)
    wait_for(lambda: shown(world.other, WEB) == "127.77.0.2", "the other has it")
    for server in world.servers:
        server.kill()
    for here, there in zip(copied(world, "version-2"), copied(world, "kept")):
        shutil.rmtree(here)
        os.rename(there, here)
    world.went_back = True
    world.current()
    for registry in (world.reg, world.other):
        wait_for(lambda: world.logged("store_went_back", registry.registryd), "it has seen that the store went back")
        assert (shown(registry, WEB), shown(registry, lost), shown(registry, returned)) == ("127.77.0.1", None, "127.77.0.8")
        refused = registry.registry("GET", "/", query=f"watch=true&since={late}")
        assert refused.status == 410, refused
    now = world.bind(1)
    assert now.rsplit(".", 1)[0] != late.rsplit(".", 1)[0], "a revision of before could be taken for one of after"
    world.answers(now, 1)
    assert world.logged("feed_synced", world.reg.dnsd) == n_read + 1, "dnsd has read it anew, once"
    assert request(world.reg.dns_http_port, "GET", f"/sync?revision={late}&timeout=1s").status == 410
    world.answers(world.bind(5), 5)
