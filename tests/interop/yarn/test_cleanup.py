"""registryd follows a real resource manager: of each kind of record what has ended goes, with its names, and nothing that lives."""
import itertools
import os

import pytest

from apps import App, Shell
from following import Following, record
from harness import DOMAIN, Stack, container, wait_for

NUMBERS = itertools.count()
SERVICES = "/users/alice/services/yarn-service"


class Followed(Following, Stack):
    """registryd and dnsd on the cluster's ZooKeeper; the resource manager is the one that the cluster's own configuration names."""

    def __init__(self, yarn, **options):
        keys = {"hadoop.registry.rm.enabled": "true", "hadoop.registry.rm.poll.interval": "100ms", **options}
        super().__init__(store=f"zk://{yarn.zookeeper.address}/registry-{next(NUMBERS)}", options={"registryd": keys})
        self.registryd.env = {"HADOOP_CONF_DIR": os.path.join(yarn.dir, "conf")}

    def bind_all(self, records):
        for path, its in records.items():
            self.bind(path, its)
        self.polls()
        self.all_there(records)

    def all_there(self, paths):
        assert [path for path in paths if not self.there(path)] == []

    def stay(self, paths):
        """They do, polls after what might have made them go."""
        self.polls()
        self.all_there(paths)


class Published:
    """The containers of an application as a service of alice: web-0, web-1 … with an address each."""

    def __init__(self, stack, service, ids):
        self.stack, self.service = stack, service
        self.ids = sorted(ids)
        self.at = {id: f"127.77.9.{i + 1}" for i, id in enumerate(self.ids)}
        stack.bind_all({self.path(id): container(f"web-{i}", "web", self.at[id], id) for i, id in enumerate(self.ids)})
        assert all(self.found(id) == [[self.at[id]]] * 2 for id in self.ids)

    def path(self, id):
        return f"{SERVICES}/{self.service}/components/{id.replace('container', 'ctr').replace('_', '-')}"

    def found(self, id):
        """What DNS says about both of its names."""
        self.stack.sync_all()
        node = self.path(id).rpartition("/")[2]
        return [self.stack.dig(f"{name}.{DOMAIN}", "A")
                for name in (f"web-{self.ids.index(id)}.{self.service}.alice", node)]

    def gone(self, id):
        self.stack.gone(self.path(id))
        assert self.found(id) == [[], []]

    def stay(self, ids):
        self.stack.stay([self.path(id) for id in ids])
        assert all(self.found(id) == [[self.at[id]]] * 2 for id in ids)


@pytest.fixture
def stack(yarn, request):
    """On a registry of its own."""
    with Followed(yarn, **getattr(request, "param", {})) as s:
        yield s


def test_attempts_and_their_application(yarn, stack):
    app = App(yarn, user="zoe")
    first, master = app.attempt(1, "LAUNCHED"), app.masters_container(1)
    wait_for(lambda: stack.there("/users/zoe"), "who submits an application has a home")
    records = {name: (f"/users/zoe/of/{name}", record(id, persistence)) for name, id, persistence in (
        ("application", app.id, "application"), ("first", first, "application-attempt"),
        ("second", first[:-1] + "2", "application-attempt"), ("container", master, "container"), ("for-good", app.id, "permanent"))}
    stack.bind_all(dict(records.values()))
    paths = {name: path for name, (path, _) in records.items()}
    app.crash(master)
    stack.gone(paths.pop("first"))
    app.attempt(2, "LAUNCHED")
    stack.stay(paths[name] for name in ("application", "second", "for-good"))
    app.crash(app.masters_container(2))
    app.until("FAILED")
    for name in ("application", "second", "container"):
        stack.gone(paths[name])
    stack.stay([paths["for-good"]])


def near_and_far(yarn, app, n):
    """Its containers on the node of its master, those on the other one, and that node."""
    node_of, masters = app.running(n), app.live()[app.masters_container(1)]
    near = sorted(id for id in node_of if node_of[id] == masters)
    far = sorted(set(node_of) - set(near))
    return near, far, next(node for node in yarn.nodes if node.addresses["id"] == node_of[far[0]])


@pytest.mark.parametrize("stack", [{"yarn.nm.liveness-monitor.expiry-interval-ms": "300000"}], indirect=True, ids=["by-nodes-not-time"])
def test_containers_through_a_restart_of_the_resource_manager(yarn, stack):
    # Each node has two of these at least. The master counts what has ended once more after the restart; when all have, it ends.
    app = Shell(yarn, 5, memory_mb=1200)
    near, far, node = near_and_far(yarn, app, 5)
    ends, ends_unseen, *stay = near
    first, master = app.attempt(1, "RUNNING"), app.masters_container(1)
    shop = Published(stack, "shop", app.live())
    application, attempt, for_good = f"{SERVICES}/shop", "/users/alice/attempt", "/users/alice/for-good"
    stack.bind_all({application: record(app.id, "application"), attempt: record(first, "application-attempt"),
                    for_good: record(ends, "permanent")})
    app.crash(ends)
    shop.gone(ends)
    shop.stay([ends_unseen, *stay, *far, master])

    yarn.rm.kill()
    app.crash(ends_unseen)
    node.pause()
    stack.polls(2, "registry_rm_polls_discarded_total")
    stack.all_there([application, attempt, for_good, *map(shop.path, (ends_unseen, *stay, *far, master))])
    yarn.rm.start()
    shop.gone(ends_unseen)
    assert not set(far) & set(app.live()), "the resource manager does not know them before their node is back"
    shop.stay([*stay, *far, master])
    node.go_on()
    wait_for(lambda: set(far) <= set(app.live()), "it is")
    shop.stay([*stay, *far, master])

    app.crash(master)
    stack.gone(attempt)
    app.attempt(2, "RUNNING")
    shop.gone(master)
    shop.stay([*stay, *far])
    stack.all_there([application, for_good])
    app.kill()
    stack.gone(application)
    for id in (*stay, *far):
        shop.gone(id)
    stack.stay([for_good])


def test_a_node_that_is_lost_and_comes_back(yarn, stack):
    app = Shell(yarn, 2, memory_mb=2100)  # so that each node has one
    [other], [lost], node = near_and_far(yarn, app, 2)
    stack.bind(f"{SERVICES}/torn", record(app.id, "application"))
    torn = Published(stack, "torn", [other, lost])
    node.kill()
    stack.polls()
    assert stack.there(torn.path(lost)) or lost not in app.live(), "the resource manager waits for the node, so it may live"
    torn.gone(lost)
    torn.stay([other])
    node.start()
    wait_for(lambda: lost not in app.processes(), "the node's own has ended, which nobody waits for any more")
    torn.stay([other])
    for id in app.running(2):
        app.crash(id)
    app.until("FINISHED")
    stack.gone(f"{SERVICES}/torn")


def test_an_application_that_was_forgotten_while_registryd_was_away(yarn, stack):
    app = App(yarn)
    own, others = "/users/alice/own", "/users/alice/others"
    stack.bind_all({own: record(app.id, "application"), others: record("application_1700000000000_0001", "application")})
    stack.registryd.stop()
    for one in (app, *(App(yarn) for _ in range(3))):
        one.kill()
    app.until(None)
    stack.restart()
    stack.gone(own)
    stack.stay([others])
