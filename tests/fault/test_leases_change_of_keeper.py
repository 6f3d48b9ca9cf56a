"""Two registries on one ZooKeeper: one keeps the leases, the other one passes renewals on, and takes over.

    owner ──renews──► one of the two ──► the keeper
"""
import contextlib
import json
import threading

import pytest

import zookeeper
from harness import Registry, container, request, wait_for

BASE = "/users/alice/services/shop"
TTL_MS = 1500
TERM = {"registryd": {"hadoop.registry.lease.keeper-timeout": "2s"}}


@pytest.fixture(scope="module")
def zk():
    with zookeeper.Server() as server:
        yield server


@contextlib.contextmanager
def two(zk, root):
    """Two registries, which end however they were left."""
    with contextlib.ExitStack() as stack:
        both = [stack.enter_context(Registry(store=f"zk://{zk.address}/{root}", options=TERM)) for _ in range(2)]
        for reg in both:
            stack.callback(reg.registryd.kill)
        yield both


def bind(reg, name, key=None, ttl=f"{TTL_MS}ms"):
    headers = {"X-Bobbin-Lease": key} if key else {}
    answer = reg.registry("PUT", f"{BASE}/{name}", container(name, "web", "127.77.0.1"), headers,
                          query=f"createParents=true&overwrite=true&ttl={ttl}")
    assert answer.status in (200, 201), answer
    return answer.headers["Bobbin-Lease"]


def renew(reg, key, timeout=30):
    return request(reg.registry_port, "POST", "/ws/v1/registry-lease", {"lease": key}, timeout=timeout)


def is_there(reg, name):
    return reg.registry("GET", f"{BASE}/{name}").status == 200


def is_keeper(reg):
    return b"\nregistry_lease_keeper 1\n" in reg.registry("GET", "", base="/metrics").body


def keeper_and_other(both):
    keeper = wait_for(lambda: next((reg for reg in both if is_keeper(reg)), None), "one keeps")
    return keeper, next(reg for reg in both if reg is not keeper)


class Owner(threading.Thread):
    """Renews through the registries in turn, as libbobbin does, and notes what it is answered."""

    def __init__(self, registries, key):
        super().__init__(daemon=True)
        self.registries, self.key, self.over = list(registries), key, threading.Event()
        self.renewed, self.gone = 0, []

    def run(self):
        while not self.over.wait(TTL_MS / 4000):
            for reg in self.registries:
                try:
                    answer = renew(reg, self.key, timeout=2)
                except OSError:
                    continue
                if answer.status == 200:
                    self.renewed += 1
                    self.gone += answer.json["gone"]
                elif answer.status == 404:
                    self.gone.append(answer.body)
                if answer.status in (200, 404):
                    break

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()

    def more(self, n=3):
        before = self.renewed
        wait_for(lambda: self.renewed >= before + n, "it renews")


def test_renewals_reach_the_keeper_by_the_other(zk):
    with two(zk, "forward") as both:
        key = bind(both[0], "first")
        keeper, other = keeper_and_other(both)
        assert bind(other, "second", key) == key
        lost = bind(other, "lost")
        with Owner([other], key) as owner:
            owner.more()
            wait_for(lambda: not is_there(other, "lost"), "what nobody renews goes, whoever bound it")
            owner.more()
        assert not owner.gone and is_there(keeper, "first") and is_there(keeper, "second")
        answer = renew(other, lost)
        assert (answer.status, answer.json["type"]) == (404, "urn:bobbin:error:path-not-found")
        lease = other.registry("GET", "", base="/ws/v1/registry-lease", query=f"path={BASE}/second")
        assert lease.json["ttl"] == TTL_MS


@pytest.mark.parametrize("how", ["kill", "pause"])
def test_no_living_record_goes_by_a_change_of_keeper(zk, how):
    with two(zk, f"change-{how}") as both:
        key = bind(both[0], "living")
        keeper, other = keeper_and_other(both)
        bind(keeper, "orphan", ttl="2s")
        with Owner([other], key) as owner:
            owner.more()
            getattr(keeper.registryd, how)()
            wait_for(lambda: is_keeper(other), "the other one keeps")
            owner.more()
            if how == "pause":
                keeper.registryd.go_on()
                keeper.registryd.event("lease_keeper_lost")
                owner.registries = [keeper]
                owner.more()
            wait_for(lambda: not is_there(other, "orphan"), "the orphan has gone")
            owner.more()
        assert not owner.gone and is_there(other, "living")


def test_no_living_record_goes_while_zookeeper_is_away():
    with zookeeper.Server() as zk, Registry(store=f"zk://{zk.address}/away", options=TERM) as reg:
        key = bind(reg, "living")
        bind(reg, "orphan")
        wait_for(lambda: is_keeper(reg), "it keeps")
        with Owner([reg], key) as owner:
            owner.more()
            zk.kill()
            wait_for(lambda: not is_keeper(reg), "its term is over")
            zk.start()
            wait_for(lambda: not is_there(reg, "orphan"), "the orphan has gone")
            owner.more()
        assert not owner.gone and is_there(reg, "living")


def test_zookeeper_has_an_ordinary_record_and_no_write_by_renewing(zk):
    with two(zk, "bytes") as both:
        key = bind(both[0], "leased", ttl="1m")
        both[0].bind(f"{BASE}/plain", container("leased", "web", "127.77.0.1"))
        keeper, other = keeper_and_other(both)
        before = other.registry("GET", BASE, query="recursive=true")
        for reg in (keeper, other, keeper, other):
            wait_for(lambda reg=reg: renew(reg, key).status == 200, "it knows who keeps")
        after = other.registry("GET", BASE, query="recursive=true&consistency=mirror")
        assert after.body == before.body
        tree = json.loads(after.body)["tree"]
        services = {node["path"]: node["service"] for node in tree if node["path"].startswith(BASE)}
        assert services[f"{BASE}/leased"] == services[f"{BASE}/plain"]
