"""Following a resource manager: what ended there leaves the registry, and nothing else ever does."""
import itertools
import re
import time

import pytest

from harness import STORES, Registry, store_url, wait_for
from scripted_rm import ScriptedRm

pytestmark = pytest.mark.sanitize

TS = 1700000000000
APP, OTHER = f"application_{TS}_0001", f"application_{TS}_0002"
C1, C2, C3 = (f"container_{TS}_0001_01_00000{n}" for n in (1, 2, 3))
A1, A2 = (f"appattempt_{TS}_0001_00000{n}" for n in (1, 2))
PATH = "/users/alice/services/c/app"
NUMBERS = itertools.count()


def record(id, persistence):
    return {"type": "JSONServiceRecord", "external": [], "internal": [], "yarn:id": id, "yarn:persistence": persistence}


class Cluster(Registry):
    """registryd that follows these resource managers."""

    def __init__(self, *rms, store=None, **options):
        keys = {"hadoop.registry.rm.enabled": "true", "hadoop.registry.rm.poll.interval": "20ms"}
        if len(rms) == 1:
            keys["yarn.resourcemanager.webapp.address"] = rms[0].address
        else:
            keys.update({"yarn.resourcemanager.ha.enabled": "true",
                         "yarn.resourcemanager.ha.rm-ids": ",".join(f"rm{i}" for i in range(len(rms)))})
            keys.update({f"yarn.resourcemanager.webapp.address.rm{i}": rm.address for i, rm in enumerate(rms)})
        keys.update({k.replace("_", "."): v for k, v in options.items()})
        super().__init__(store=store, options={"registryd": keys})

    def metric(self, name):
        text = self.registry("GET", "", base="/metrics").body.decode()
        return int(re.search(rf"^{name} (\d+)$", text, re.M).group(1))

    def polls(self, n=4, name="registry_rm_polls_total"):
        """Wait until so many polls more were made."""
        begin = self.metric(name)
        wait_for(lambda: self.metric(name) >= begin + n, f"{n} polls more")

    def there(self, path):
        return self.registry("GET", path).status == 200

    def gone(self, path):
        wait_for(lambda: not self.there(path), f"{path} is purged")


@pytest.fixture(scope="module", params=STORES)
def store(request):
    with store_url(request.param) as url:
        yield url


@pytest.fixture
def cluster(store):
    """Makes a Cluster on an empty store of this kind."""
    def make(*rms, **options):
        return Cluster(*rms, store=store and f"{store}-{next(NUMBERS)}", **options)
    return make


@pytest.fixture
def rm():
    with ScriptedRm() as r:
        yield r


def test_a_finished_application_leaves_with_its_parts(cluster, rm):
    rm.app(APP, states=["RUNNING"], attempts={A1: "RUNNING"}, containers=[C1, C2])
    with cluster(rm) as reg:
        reg.bind(PATH, record(APP, "application"))
        reg.bind(PATH + "/components/c1", record(C1, "container"))
        reg.bind("/users/alice/elsewhere/am", record(A1, "application-attempt"))
        reg.bind("/users/alice/elsewhere/c2", record(C2, "container"))
        reg.bind("/users/alice/elsewhere/stays", record(APP, "permanent"))
        reg.bind("/users/alice/elsewhere/tool", record("tool", "application"))
        reg.polls()
        assert reg.there(PATH + "/components/c1")
        rm.apps[APP].states = ["FINISHED"]
        rm.finish(APP)
        for path in (PATH, "/users/alice/elsewhere/am", "/users/alice/elsewhere/c2"):
            reg.gone(path)
        reg.polls(2)
        assert reg.there("/users/alice/elsewhere/stays") and reg.there("/users/alice/elsewhere/tool")
        told = wait_for(lambda: [e for e in reg.registryd.events if e["event"] == "purged" and e["path"] == PATH], "it is in the log")
        assert len(told) == 1 and APP in told[0]["reason"] and "FINISHED" in told[0]["reason"]


def test_one_poll_is_not_enough(cluster, rm):
    rm.app(APP, states=["RUNNING"] + ["FINISHED", "RUNNING"] * 10 + ["RUNNING"], attempts={A1: "RUNNING"}, containers=[C1])
    with cluster(rm) as reg:
        reg.bind(PATH, record(APP, "application"))
        reg.bind("/users/alice/c1", record(C1, "container"))  # keeps the application on the list
        wait_for(lambda: rm.apps[APP].states == ["RUNNING"], "the script is over")
        reg.polls(2)
        assert reg.there(PATH) and reg.there("/users/alice/c1")


def test_finishing_stays_on_the_list_until_it_is_over(cluster, rm):
    rm.app(APP, states=["RUNNING"])
    with cluster(rm) as reg:
        reg.bind(PATH, record(APP, "application"))
        reg.polls()
        rm.apps[APP].states = ["FINISHING"]
        rm.finish(APP)  # listed once, never again
        asked = rm.asked("/state")
        wait_for(lambda: rm.asked("/state") > asked + 5, "it is asked about again and again")
        assert reg.there(PATH)
        rm.apps[APP].states = ["FINISHED"]
        reg.gone(PATH)


def test_unknown_is_ended_only_when_it_was_this_clusters(cluster, rm):
    newer = f"application_{int(time.time() * 1000) + 10**9}_0001"
    with cluster(rm) as reg:
        reg.bind("/users/alice/evicted", record(APP, "application"))
        reg.bind("/users/alice/newer", record(newer, "application"))
        reg.gone("/users/alice/evicted")
        reg.polls()
        assert reg.there("/users/alice/newer")


def test_unknown_on_a_shared_registry(cluster, rm):
    rm.started = [TS + 5000]
    own = f"application_{TS + 5000}_0009"
    with cluster(rm, hadoop_registry_rm_shared="true") as reg:
        reg.bind("/users/alice/other", record(APP, "application"))
        reg.bind("/users/alice/own", record(own, "application"))
        reg.gone("/users/alice/own")
        reg.polls()
        assert reg.there("/users/alice/other")


def test_a_404_of_somebody_else_means_nothing(cluster, rm):
    rm.status[f"/ws/v1/cluster/apps/{APP}/state"] = (404, "<html>no such page</html>")
    with cluster(rm) as reg:
        reg.bind(PATH, record(APP, "application"))
        reg.polls(6)
        assert reg.there(PATH)
        del rm.status[f"/ws/v1/cluster/apps/{APP}/state"]
        reg.gone(PATH)


def test_an_rm_that_is_still_recovering_purges_nothing(cluster, rm):
    rm.app(APP)
    with cluster(rm) as reg:
        reg.bind(PATH, record(APP, "application"))
        reg.polls()
        rm.ha = "INITIALIZING"  # 404 for every application, lists are empty
        reg.polls(6, "registry_rm_polls_discarded_total")
        assert reg.metric("registry_rm_up") == 0
        rm.started = [rm.started[0] + 1000]
        rm.ha = "ACTIVE"
        reg.polls()
        assert reg.there(PATH) and reg.metric("registry_rm_up") == 1


def test_a_start_of_the_rm_within_a_poll_discards_it(cluster, rm):
    first = rm.started[0]
    rm.started = [first + i // 2 + i % 2 for i in range(200)]  # before and after never agree
    with cluster(rm) as reg:
        reg.bind(PATH, record(APP, "application"))
        reg.polls(8, "registry_rm_polls_discarded_total")
        assert reg.there(PATH) and reg.metric("registry_rm_polls_total") == 0


@pytest.mark.parametrize("shape", [
    {"container": [{"containerId": C1}, {"containerId": C2}]},
    {"containers": {"container": [{"containerId": C2}, {"containerId": C1}]}},
])
def test_a_container_that_is_not_listed_has_ended(cluster, rm, shape):
    rm.app(APP, attempts={A1: "RUNNING"}, containers=shape)
    with cluster(rm) as reg:
        for i, c in enumerate((C1, C2, C3), 1):
            reg.bind(f"/users/alice/c{i}", record(c, "container"))
        reg.gone("/users/alice/c3")
        reg.polls()
        assert reg.there("/users/alice/c1") and reg.there("/users/alice/c2")
        rm.apps[APP].containers = {"container": {"containerId": C2}}  # one element: no list
        reg.gone("/users/alice/c1")
        reg.polls()
        assert reg.there("/users/alice/c2")
        rm.apps[APP].containers = '{"container":null}'
        reg.gone("/users/alice/c2")


@pytest.mark.parametrize("broken", [(500, ""), (200, "[]"), (200, "not json"), (200, '{"container":7}'), (200, '{"message":"later"}'),
                                    (404, "{}")])
def test_an_answer_that_makes_no_sense_means_nothing(cluster, rm, broken):
    rm.app(APP, attempts={A1: "RUNNING"}, containers=[])
    rm.status[f"/ws/v1/cluster/apps/{APP}/appattempts/{A1}/containers"] = broken
    with cluster(rm) as reg:
        reg.bind("/users/alice/c1", record(C1, "container"))
        wait_for(lambda: rm.asked("/containers") > 5, "the containers were asked for")
        assert reg.there("/users/alice/c1")


def test_containers_that_register_long_after_their_application(cluster, rm):
    rm.app(APP, attempts={A1: "RUNNING"}, containers=[C1])
    with cluster(rm) as reg:
        reg.bind(PATH, record(APP, "application"))
        wait_for(lambda: rm.asked("/state"), "the application is looked at")
        reg.polls()
        reg.bind("/users/alice/c1", record(C1, "container"))
        reg.bind("/users/alice/c2", record(C2, "container"))
        reg.gone("/users/alice/c2")
        reg.polls()
        assert reg.there("/users/alice/c1") and reg.there(PATH)


def test_between_two_attempts_absence_means_nothing(cluster, rm):
    rm.app(APP, attempts={A1: "FAILED", A2: "SCHEDULED"}, containers=[])
    with cluster(rm) as reg:
        reg.bind("/users/alice/c1", record(C1, "container"))
        reg.bind("/users/alice/am1", record(A1, "application-attempt"))
        reg.bind("/users/alice/am2", record(A2, "application-attempt"))
        reg.gone("/users/alice/am1")
        reg.polls()
        assert reg.there("/users/alice/c1") and reg.there("/users/alice/am2") and rm.asked("/containers") == 0
        rm.apps[APP].attempts[A2] = "RUNNING"
        reg.gone("/users/alice/c1")
        assert reg.there("/users/alice/am2")


def test_an_attempt_older_than_all_listed_has_ended(cluster, rm):
    rm.app(APP, attempts={A2: "RUNNING"})
    with cluster(rm) as reg:
        reg.bind("/users/alice/am1", record(A1, "application-attempt"))
        reg.bind("/users/alice/am3", record(f"appattempt_{TS}_0001_000003", "application-attempt"))
        reg.gone("/users/alice/am1")
        reg.polls()
        assert reg.there("/users/alice/am3")  # newer than the list: it may just have begun


def test_after_a_start_of_the_rm_absence_means_nothing_until_the_nodes_are_back(cluster, rm):
    rm.app(APP, attempts={A1: "RUNNING"}, containers=[C1])
    with cluster(rm) as reg:
        reg.bind("/users/alice/c1", record(C1, "container"))
        reg.polls()
        with rm.lock:
            rm.started, rm.nodes, rm.apps[APP].containers = [rm.started[0] + 60_000], 0, []
        reg.polls(6)
        assert reg.there("/users/alice/c1")
        rm.nodes = 1
        reg.polls(6)
        assert reg.there("/users/alice/c1")
        rm.nodes = 2
        reg.gone("/users/alice/c1")


def test_a_young_rm_gets_its_time(cluster, rm):
    rm.started = [int(time.time() * 1000) - 2000]
    rm.app(APP, attempts={A1: "RUNNING"}, containers=[])
    with cluster(rm, **{"yarn_nm_liveness-monitor_expiry-interval-ms": "3600000"}) as reg:
        reg.bind("/users/alice/c1", record(C1, "container"))
        reg.polls(4)
        assert rm.asked("/containers") == 0 and reg.there("/users/alice/c1"), "an hour is not over"
    with cluster(rm, **{"yarn_nm_liveness-monitor_expiry-interval-ms": "2500"}) as reg:
        reg.bind("/users/alice/c1", record(C1, "container"))
        reg.gone("/users/alice/c1")


def test_failover(cluster, rm):
    with ScriptedRm(started=rm.started[0] - 5000) as second:
        second.ha = "STANDBY"
        rm.app(APP)
        second.app(APP, states=["FINISHED"])
        with cluster(rm, second) as reg:
            reg.bind(PATH, record(APP, "application"))
            reg.polls()
            assert reg.there(PATH)
            rm.ha, second.ha = "STANDBY", "ACTIVE"
            reg.gone(PATH)
            assert rm.address in reg.registryd.event("rm_followed")["url"]
            wait_for(lambda: any(e["event"] == "rm_followed" and second.address in e["url"] for e in reg.registryd.events),
                     "the log says whom it follows now")


def test_records_that_come_late_and_reconciliation_at_start(cluster, rm):
    rm.app(APP, states=["KILLED"])  # long ago: no list names it
    rm.app(OTHER)
    with cluster(rm) as reg:
        reg.polls(2)
        reg.bind(PATH, record(APP, "application"))
        reg.gone(PATH)
        reg.registryd.stop()
        reg.registryd.options["hadoop.registry.rm.enabled"] = "false"
        reg.registryd.start("registry_synced")
        wait_for(lambda: reg.registry("GET", "", base="/readyz").status == 200, "ready")
        asked = len(rm.requests)
        reg.bind(PATH, record(APP, "application"))
        reg.bind("/users/alice/other", record(OTHER, "application"))
        reg.registryd.stop()
        assert len(rm.requests) == asked, "the option is off"
        reg.registryd.options["hadoop.registry.rm.enabled"] = "true"
        reg.registryd.start("registry_synced")
        wait_for(lambda: reg.registry("GET", "", base="/readyz").status == 200, "ready")
        reg.gone(PATH)
        reg.polls()
        assert reg.there("/users/alice/other")


def test_homes_for_the_users_of_applications(cluster, rm):
    rm.app(APP, user="Zoe@REALM")
    with cluster(rm) as reg:
        wait_for(lambda: reg.there("/users/zoe"), "a home for the user of a running application")
        rm.app(OTHER, user="yan")
        wait_for(lambda: reg.there("/users/yan"), "a home for the user of a new one")
        assert reg.registry("DELETE", "/users/yan").status == 200
        reg.polls()
        assert not reg.there("/users/yan"), "the applications that there are do not bring it back"
        rm.app(f"{OTHER}9", user="yan")
        wait_for(lambda: reg.there("/users/yan"), "a home again, for the next application")


def test_dry_run_only_tells(cluster, rm):
    rm.app(APP, user="zoe", states=["FAILED"])
    with cluster(rm, **{"hadoop_registry_rm_dry-run": "true"}) as reg:
        reg.bind(PATH, record(APP, "application"))
        event = reg.registryd.event("purged")
        assert event["path"] == PATH and event["dry_run"] == "true"
        reg.polls()
        assert reg.there(PATH) and not reg.there("/users/zoe")
        assert sum(e["event"] == "purged" for e in reg.registryd.events) == 1


def test_a_poll_asks_about_a_bounded_number(cluster, rm):
    ids = [f"application_{TS}_{n:04}" for n in range(1, 41)]
    for n, id in enumerate(ids):
        rm.app(id, states=["FINISHED" if n % 2 else "RUNNING"])
    rm.ha = "STANDBY"  # asked about nothing until all are there
    with cluster(rm, hadoop_registry_rm_poll_applications="5") as reg:
        for id in ids:
            reg.bind(f"/users/alice/{id.replace('_', '-')}", record(id, "application"))
        rm.ha = "ACTIVE"
        wait_for(lambda: len(reg.registry("GET", "/users/alice").json["nodes"]) == 20, "half of them are purged")
        most = now = 0
        for path in rm.requests:
            now = 0 if path.endswith("/info") else now + path.endswith("/state")
            most = max(most, now)
        assert most == 5
        reg.polls()
        assert len(reg.registry("GET", "/users/alice").json["nodes"]) == 20


def test_no_rm_at_all(cluster):
    with ScriptedRm() as rm:
        dead = rm.address
    rm.port = int(dead.split(":")[1])
    with cluster(rm) as reg:
        lost = reg.registryd.event("rm_lost")
        assert dead in lost["where"] or dead in lost["error"]
        reg.polls(3, "registry_rm_polls_discarded_total")
        assert sum(e["event"] == "rm_lost" for e in reg.registryd.events) == 1
