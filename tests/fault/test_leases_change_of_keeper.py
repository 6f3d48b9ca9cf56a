"""Two registries on one ZooKeeper: one keeps the leases, the other one passes renewals on, and takes over.

    owner ──renews──► one of the two ──► the keeper
"""
import contextlib
import json
import threading

import pytest

import zkwire
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
def two(zk, root, options=TERM):
    """Two registries, which end however they were left."""
    with contextlib.ExitStack() as stack:
        both = [stack.enter_context(Registry(store=f"zk://{zk.address}/{root}", options=options)) for _ in range(2)]
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
        with Owner(both, key) as owner:
            keeper, other = keeper_and_other(both)
            owner.registries = [other]
            assert bind(other, "second", key) == key
            lost = bind(other, "lost")
            owner.more()
            wait_for(lambda: not is_there(other, "lost"), "what nobody renews goes, whoever bound it")
            owner.more()
        assert not owner.gone and is_there(keeper, "first") and is_there(keeper, "second")
        wait_for(lambda: renew(other, lost).status == 404, "no record has its lease")
        lease = other.registry("GET", "", base="/ws/v1/registry-lease", query=f"path={BASE}/second")
        assert lease.json["ttl"] == TTL_MS


@pytest.mark.parametrize("how", ["kill", "pause"])
def test_no_living_record_goes_by_a_change_of_keeper(zk, how):
    with two(zk, f"change-{how}") as both:
        key = bind(both[0], "living")
        with Owner(both, key) as owner:
            keeper, other = keeper_and_other(both)
            owner.registries = [other]
            bind(keeper, "orphan", ttl="2s")
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


def test_clients_of_zookeeper_see_and_write_an_ordinary_record(zk):
    with two(zk, "bytes") as both, zkwire.Client(zk.address) as session:
        key = bind(both[0], "leased")
        with Owner(both, key) as owner:
            bind(both[0], "taken", key)
            both[0].bind(f"{BASE}/plain", container("leased", "web", "127.77.0.1"))
            record = session.get(f"/bytes{BASE}/plain")
            assert session.get(f"/bytes{BASE}/leased") == record and "JSONServiceRecord" in record
            session.set(f"/bytes{BASE}/taken", record)  # by a client that knows nothing of leases
            wait_for(lambda: owner.gone == [f"{BASE}/taken"], "it is reported")
        wait_for(lambda: not is_there(both[0], "leased"), "the other one has gone")
        assert session.get(f"/bytes{BASE}/taken") == record and session.get(f"/bytes{BASE}/leased") == "no node"


def test_removed_nodes_of_the_keeper_are_made_anew(zk):
    """Somebody tidies up in ZooKeeper: the keeper loses its term, and leases are kept again."""
    with two(zk, "tidied") as both, zkwire.Client(zk.address) as session:
        key = bind(both[0], "living", ttl="1m")
        keeper, _ = keeper_and_other(both)
        session.delete("/tidied-bobbin/keeper")
        keeper.registryd.event("lease_keeper_lost")
        wait_for(lambda: renew(both[0], key).status == 200, "leases are kept again")
        session.delete("/tidied-bobbin/beat")
        wait_for(lambda: renew(both[1], key).status == 200, "leases are kept again")


def test_a_keeper_knows_its_node_from_one_that_was_made_anew(zk):
    """Somebody removes it, and another one takes office before the keeper looks: both nodes have version 0."""
    with two(zk, "anew") as both, zkwire.Client(zk.address) as session:
        bind(both[0], "living", ttl="1m")
        keeper, other = keeper_and_other(both)
        keeper.registryd.pause()
        session.delete("/anew-bobbin/keeper")
        wait_for(lambda: is_keeper(other), "the other one keeps")
        keeper.registryd.go_on()
        keeper.registryd.event("lease_keeper_lost")
        assert is_keeper(other) and not is_keeper(keeper)


def lease_nodes(session, root):
    """Path and data of each lease of a store."""
    buckets = [name for name in session.children(f"/{root}-bobbin") if len(name) == 2]
    paths = [f"/{root}-bobbin/{name}/{one}" for name in buckets for one in session.children(f"/{root}-bobbin/{name}")]
    return {path: json.loads(session.get(path)) for path in paths}


def test_what_a_keeper_had_expired_waits_for_what_lives_below(zk):
    """The keeper died after it had marked the lease; a record below lives, or was bound since."""
    with zkwire.Client(zk.address) as session, Registry(store=f"zk://{zk.address}/below", options=TERM) as reg:
        for name in ("app", "alone"):
            bind(reg, name, ttl="1m")
        bind(reg, "app/living", ttl="1m")
        reg.registryd.kill()
        for path, lease in lease_nodes(session, "below").items():
            if lease["path"] in (f"{BASE}/app", f"{BASE}/alone"):
                session.set(path, json.dumps({**lease, "expired": True}))
        reg.registryd.start("registry_synced", "lease_keeper")
        wait_for(lambda: not is_there(reg, "alone"), "what was marked goes")
        assert is_there(reg, "app/living") and is_there(reg, "app")


def test_a_record_waits_for_what_another_registry_bound_below_it(zk):
    """The keeper looks for leases of other registries seldom, but always before a record goes that has something below."""
    with two(zk, "below", {"registryd": {"hadoop.registry.lease.keeper-timeout": "8s"}}) as both:
        bind(both[0], "first")
        keeper, other = keeper_and_other(both)
        below = bind(other, "upper/below", ttl="1h")
        bind(keeper, "upper")
        bind(keeper, "mark", ttl=f"{3 * TTL_MS}ms")
        wait_for(lambda: not is_there(keeper, "mark"), "a record with thrice the TTL has gone")
        assert is_there(keeper, "upper/below") and is_there(other, "upper"), "what lives below keeps it"
        assert renew(other, below).json["living"] == 1
        assert other.registry("DELETE", f"{BASE}/upper/below").status == 200
        wait_for(lambda: not is_there(keeper, "upper"), "it goes when nothing lives below any more")
