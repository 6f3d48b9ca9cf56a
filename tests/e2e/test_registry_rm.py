"""Following a resource manager: what ended there leaves the registry, and nothing else ever does."""
import itertools
import os
import time

import pytest

from following import Following, record
from harness import STORES, Registry, free_port, store_url, wait_for
from scripted_rm import ScriptedRm

pytestmark = pytest.mark.sanitize

TS = 1700000000000
APP, OTHER = f"application_{TS}_0001", f"application_{TS}_0002"
C1, C2, C3 = (f"container_{TS}_0001_01_00000{n}" for n in (1, 2, 3))
A1, A2 = (f"appattempt_{TS}_0001_00000{n}" for n in (1, 2))
PATH = "/users/alice/services/c/app"
NUMBERS = itertools.count()


class Cluster(Following, Registry):
    """registryd that follows these resource managers."""

    def __init__(self, *rms, store=None, **options):
        keys = {"hadoop.registry.rm.enabled": "true", "hadoop.registry.rm.poll.interval": "20ms", "hadoop.registry.rm.node.settle": "0"}
        if len(rms) == 1:
            keys["yarn.resourcemanager.webapp.address"] = rms[0].address
        else:
            keys.update({"yarn.resourcemanager.ha.enabled": "true",
                         "yarn.resourcemanager.ha.rm-ids": ",".join(f"rm{i}" for i in range(len(rms)))})
            keys.update({f"yarn.resourcemanager.webapp.address.rm{i}": rm.address for i, rm in enumerate(rms)})
        keys.update({k.replace("_", "."): v for k, v in options.items()})
        super().__init__(store=store, options={"registryd": keys})


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
        reported = wait_for(lambda: [e for e in reg.registryd.events if e["event"] == "purged" and e["path"] == PATH], "it is in the log")
        assert len(reported) == 1 and APP in reported[0]["reason"] and "FINISHED" in reported[0]["reason"]


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


def test_unknown_is_ended_only_when_the_rm_has_issued_it(cluster, rm):
    """How old an id is proves nothing: svcmgr, another cluster and a tool have ids, too."""
    started = rm.started[0]
    with cluster(rm) as reg:
        reg.bind("/users/alice/evicted", record(f"application_{started}_0009", "application"))
        reg.bind("/users/alice/older", record(APP, "application"))
        reg.bind("/users/alice/newer", record(f"application_{started + 10**9}_0001", "application"))
        reg.bind("/users/alice/container", record(C1, "container"))
        reg.gone("/users/alice/evicted")
        reg.polls()
        assert [reg.there(f"/users/alice/{name}") for name in ("older", "newer", "container")] == [True] * 3


def test_an_id_that_the_rm_lists_shows_what_it_has_recovered(cluster, rm):
    """As after a restart with recovery: ids of before carry the start of before."""
    with cluster(rm) as reg:
        reg.bind(PATH, record(APP, "application"))
        reg.polls()
        assert reg.there(PATH)
        rm.app(OTHER)
        reg.gone(PATH)
        reg.polls()


def test_an_ended_application_that_is_still_listed_is_enough(cluster, rm):
    rm.app(OTHER, user="zoe", states=["FINISHED"])
    with cluster(rm) as reg:
        reg.bind(PATH, record(APP, "application"))
        reg.gone(PATH)
        assert not reg.there("/users/zoe"), "no home for who has nothing running"


def test_an_id_of_the_submitters_own_making_proves_nothing(cluster, rm):
    """The RM takes any id that it does not know, also one that carries another's number, such as svcmgr's."""
    later = rm.started[0] + 10**9
    rm.app(f"application_{later}_0005")
    with cluster(rm) as reg:
        reg.bind("/users/alice/others", record(f"application_{later}_0001", "application"))
        reg.bind("/users/alice/own", record(f"application_{rm.started[0]}_0009", "application"))
        reg.gone("/users/alice/own")
        reg.polls()
        assert reg.there("/users/alice/others")


def issued_file(reg, text):
    path = f"{reg.dir}/registryd/rm-issued"
    return wait_for(lambda: os.path.exists(path) and text in open(path, encoding="ascii").read() and path, f"{text} is in {path}")


def test_what_an_rm_has_issued_is_known_after_both_were_restarted(cluster, rm):
    started = rm.started[0]
    own = f"application_{started}_0001"
    rm.app(own)
    with cluster(rm) as reg:
        reg.bind(PATH, record(own, "application"))
        reg.bind("/users/alice/other", record(APP, "application"))
        issued_file(reg, str(started))
        reg.registryd.kill()
        with rm.lock:
            rm.started, rm.apps = [started + 60_000], {}  # without recovery
            rm.ha = "INITIALIZING"
        reg.restart()  # while the RM is away
        reg.polls(4, "registry_rm_polls_discarded_total")
        assert reg.there(PATH)
        rm.ha = "ACTIVE"
        reg.gone(PATH)
        reg.polls()
        assert reg.there("/users/alice/other")


def test_a_number_that_an_rm_has_only_while_it_initializes_is_not_its_own(cluster, rm):
    between = rm.started[0] + 1000
    with cluster(rm) as reg:
        reg.polls()
        with rm.lock:
            rm.started, rm.ha = [between], "INITIALIZING"
        reg.polls(4, "registry_rm_polls_discarded_total")
        with rm.lock:
            rm.started, rm.ha = [between + 1000], "ACTIVE"
        reg.bind("/users/alice/between", record(f"application_{between}_0001", "application"))
        reg.bind("/users/alice/after", record(f"application_{between + 1000}_0001", "application"))
        reg.gone("/users/alice/after")
        reg.polls()
        assert reg.there("/users/alice/between")


def test_another_rm_is_not_believed_about_ids_of_the_first(cluster, rm):
    own = f"application_{rm.started[0]}_0001"
    rm.app(own)
    with ScriptedRm(started=rm.started[0] + 5000) as other, cluster(rm) as reg:
        reg.bind(PATH, record(own, "application"))
        issued_file(reg, str(rm.started[0]))
        reg.registryd.stop()
        reg.registryd.options["yarn.resourcemanager.webapp.address"] = other.address
        reg.restart()
        reg.polls(6)
        assert reg.there(PATH)


def test_a_file_that_cannot_be_written_is_reported(cluster, rm):
    with cluster(rm) as reg:
        path = issued_file(reg, str(rm.started[0]))
        reg.registryd.stop()
        with open(path, "w", encoding="ascii") as f:
            f.write("something else")
        reg.restart()
        assert path in reg.registryd.event("rm_issued_failed")["where"]
        issued_file(reg, str(rm.started[0]))
        reg.registryd.stop()
        os.unlink(path)
        os.mkdir(path)
        reg.restart()
        reg.bind(PATH, record(f"application_{rm.started[0]}_0009", "application"))
        reg.gone(PATH)
        assert sum(e["event"] == "rm_issued_failed" for e in reg.registryd.events) <= 3, "not with each poll"


def test_one_that_was_evicted_between_two_polls_is_found(cluster, rm):
    """The RM keeps a number of ended applications: when they are all newer than the last poll, some may have come and gone."""
    old, new = f"application_{TS}_0008", f"application_{TS}_0009"
    rm.app(APP)
    rm.app(OTHER)
    rm.app(old, states=["FINISHED"])
    rm.finish(old, ago=3600)
    with cluster(rm) as reg:
        reg.bind(PATH, record(APP, "application"))
        reg.bind("/users/alice/other", record(OTHER, "application"))
        reg.polls()
        asked = rm.asked(f"{APP}/state")
        rm.app(new, states=["FINISHED"])
        rm.finish(new)
        reg.polls()
        assert rm.asked(f"{APP}/state") == asked, "an application ended, and the list reaches back: nothing was missed"
        with rm.lock:
            rm.n_ended += 1
            del rm.apps[APP], rm.apps[old]
        reg.gone(PATH)
        reg.polls()
        assert reg.there("/users/alice/other")
        asked = rm.asked(f"{OTHER}/state")
        reg.polls()
        assert rm.asked(f"{OTHER}/state") == asked, "none has ended since: all were asked about once"


def test_one_that_was_evicted_at_once_is_found(cluster, rm):
    """yarn.resourcemanager.max-completed-applications is 0: no list ever names an ended one."""
    rm.app(APP)
    rm.app(OTHER)
    with cluster(rm) as reg:
        reg.bind(PATH, record(APP, "application"))
        reg.bind("/users/alice/other", record(OTHER, "application"))
        reg.polls()
        rm.evict(APP)
        reg.gone(PATH)
        reg.polls()
        assert reg.there("/users/alice/other")


def test_one_that_was_evicted_while_the_rm_was_not_heard_is_found(cluster, rm):
    rm.app(APP)
    rm.app(OTHER)
    with cluster(rm) as reg:
        reg.bind(PATH, record(APP, "application"))
        reg.polls()
        rm.ha = "STANDBY"
        reg.polls(2, "registry_rm_polls_discarded_total")
        rm.evict(APP)
        rm.ha = "ACTIVE"
        reg.gone(PATH)


def test_a_404_of_somebody_else_means_nothing(cluster, rm):
    rm.status[f"/ws/v1/cluster/apps/{APP}/state"] = (404, "<html>no such page</html>")
    rm.started = [TS]
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
    rm.started = [first + i // 2 + i % 2 for i in range(20000)]  # before and after never agree
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


def start_again(rm, nodes):
    """The RM is started again with recovery: it knows its applications, and containers of nodes that have registered."""
    with rm.lock:
        rm.started, rm.nodes, rm.apps[APP].containers = [rm.started[0] + 60_000], nodes, []


def test_a_new_node_does_not_stand_for_one_that_is_late(cluster, rm):
    rm.nodes = ["a:1", "b:1"]
    rm.app(APP, attempts={A1: "RUNNING"}, containers=[C1])  # on a node that is not shown
    with cluster(rm) as reg:
        reg.bind("/users/alice/c1", record(C1, "container"))
        reg.polls()
        start_again(rm, ["a:1", "new:1"])
        reg.polls(6)
        assert reg.there("/users/alice/c1"), "2 of 2, but not the same"
        rm.nodes = ["a:1", "b:1", "new:1"]
        reg.gone("/users/alice/c1")


def test_a_container_waits_for_its_own_node(cluster, rm):
    rm.nodes, rm.where = ["a:1", "b:1", "c:1"], {C1: "a:1", C2: "b:1"}
    rm.app(APP, attempts={A1: "RUNNING"}, containers=[C1, C2])
    with cluster(rm) as reg:
        reg.bind("/users/alice/c1", record(C1, "container"))
        reg.bind("/users/alice/c2", record(C2, "container"))
        reg.polls()
        start_again(rm, ["a:1"])
        reg.gone("/users/alice/c1")
        reg.polls()
        assert reg.there("/users/alice/c2"), "its node is not back"
        start_again(rm, [])  # once more, before it has come back
        reg.polls()
        rm.nodes = ["a:1", "c:1"]
        reg.polls(6)
        assert reg.there("/users/alice/c2")
        with rm.lock:
            rm.nodes, rm.apps[APP].containers = ["a:1", "b:1", "c:1"], [C2]
        reg.polls(6)
        assert reg.there("/users/alice/c2")
        rm.apps[APP].containers = []
        reg.gone("/users/alice/c2")


def test_a_node_is_shown_before_its_containers(cluster, rm):
    rm.nodes, rm.where = ["a:1", "b:1"], {C1: "a:1"}
    rm.app(APP, attempts={A1: "RUNNING"}, containers=[C1])
    with cluster(rm, hadoop_registry_rm_node_settle="3s") as reg:
        reg.bind("/users/alice/c1", record(C1, "container"))
        reg.polls()
        begin = time.monotonic()
        start_again(rm, ["a:1", "b:1"])
        reg.polls(6)
        assert reg.there("/users/alice/c1") or time.monotonic() - begin > 3
        reg.gone("/users/alice/c1")
        assert time.monotonic() - begin >= 3


def test_the_time_of_a_node_begins_when_nodes_register(cluster, rm):
    """The RM was hung: the one that takes over answers long before nodes have noticed."""
    rm.nodes, rm.where = ["a:1", "b:1"], {C1: "a:1"}
    rm.app(APP, attempts={A1: "RUNNING"}, containers=[C1])
    with ScriptedRm(started=rm.started[0], nodes=[]) as second:
        second.ha = "STANDBY"
        second.app(APP, attempts={A1: "RUNNING"}, containers=[])
        with cluster(rm, second, **{"yarn_nm_liveness-monitor_expiry-interval-ms": "300"}) as reg:
            reg.bind("/users/alice/c1", record(C1, "container"))
            reg.polls()
            rm.ha, second.ha = "STANDBY", "ACTIVE"
            begin = time.monotonic()
            reg.polls()
            wait_for(lambda: time.monotonic() - begin > 1, "the interval has passed thrice")
            reg.polls()
            assert reg.there("/users/alice/c1"), "no node has registered with this RM"
            second.nodes = ["b:1"]
            reg.gone("/users/alice/c1")  # b:1 has registered, and a:1 stays away for the interval


def test_an_rm_that_is_heard_again_gets_time_too(cluster, rm):
    """It was hung: when it goes on it takes its nodes for lost, until they register anew."""
    rm.nodes, rm.where = ["a:1"], {C1: "a:1"}
    rm.app(APP, attempts={A1: "RUNNING"}, containers=[C1])
    with cluster(rm) as reg:
        reg.bind("/users/alice/c1", record(C1, "container"))
        reg.polls()
        rm.ha = "STANDBY"
        reg.polls(2, "registry_rm_polls_discarded_total")
        with rm.lock:
            rm.ha, rm.nodes, rm.apps[APP].containers = "ACTIVE", [], []
        reg.polls(6)
        assert reg.there("/users/alice/c1")
        rm.nodes = ["a:1"]
        reg.gone("/users/alice/c1")


def test_an_rm_that_does_not_show_its_nodes_is_followed(cluster, rm):
    rm.status["/ws/v1/cluster/nodes"] = (403, "")
    rm.app(APP, attempts={A1: "RUNNING"}, containers=[C1])
    with cluster(rm) as reg:
        reg.bind("/users/alice/c1", record(C1, "container"))
        reg.bind("/users/alice/c2", record(C2, "container"))
        reg.gone("/users/alice/c2")
        start_again(rm, 2)
        reg.polls(6)
        assert reg.there("/users/alice/c1"), "until the interval is over absence means nothing"
        rm.apps[APP].states = ["FINISHED"]
        rm.finish(APP)
        reg.gone("/users/alice/c1")


def test_a_young_rm_gets_its_time(cluster, rm):
    rm.started = [int(time.time() * 1000) - 2000]
    rm.app(APP, attempts={A1: "RUNNING"}, containers=[])
    with cluster(rm, **{"yarn_nm_liveness-monitor_expiry-interval-ms": "3600000"}) as reg:
        reg.bind("/users/alice/c1", record(C1, "container"))
        reg.polls(4)
        assert reg.there("/users/alice/c1"), "an hour is not over"
    with cluster(rm, **{"yarn_nm_liveness-monitor_expiry-interval-ms": "2500"}) as reg:
        reg.bind("/users/alice/c1", record(C1, "container"))
        reg.gone("/users/alice/c1")


def test_of_a_young_rm_too_a_container_that_was_seen_on_a_registered_node_has_ended(cluster, rm):
    """A cluster was started, and registryd with it: no node is known from before."""
    rm.started, rm.nodes, rm.where = [int(time.time() * 1000) - 2000], ["a:1"], {C1: "a:1"}
    rm.app(APP, attempts={A1: "RUNNING"}, containers=[C1])
    with cluster(rm) as reg:
        reg.bind("/users/alice/c1", record(C1, "container"))
        reg.bind("/users/alice/c2", record(C2, "container"))  # perhaps on a node that is not back
        reg.polls()
        rm.apps[APP].containers = []
        reg.gone("/users/alice/c1")
        reg.polls()
        assert reg.there("/users/alice/c2")


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


def test_dry_run_only_reports(cluster, rm):
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
    rm = ScriptedRm()
    rm.server.server_close()
    rm.port = free_port()
    dead = rm.address
    with cluster(rm) as reg:
        lost = reg.registryd.event("rm_lost")
        assert dead in lost["url"] and "nothing listens" in lost["error"]
        reg.polls(3, "registry_rm_polls_discarded_total")
        assert sum(e["event"] == "rm_lost" for e in reg.registryd.events) == 1
