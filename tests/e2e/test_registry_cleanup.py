"""Purging by yarn:id and policy, events of the cluster, home directories: what Hadoop documents, over REST."""
import json
import os

import pytest

from harness import ROOT, STORES, Registry, store_url, wait_for

pytestmark = pytest.mark.sanitize

APP, ATTEMPT = "application_1700000000000_0007", "appattempt_1700000000000_0007_000002"
CONTAINER = "container_e17_1700000000000_0007_02_000003"


def record(id, persistence):
    return {"type": "JSONServiceRecord", "external": [], "internal": [], "yarn:id": id, "yarn:persistence": persistence}


@pytest.fixture(scope="module", params=STORES)
def registry(request):
    with store_url(request.param) as url:
        with Registry(store=url, options={"registryd": {"hadoop.registry.admin.users": "alice"}}) as r:
            yield r


@pytest.fixture
def reg(registry):
    registry.registry("DELETE", "/users/t", query="recursive=true")
    return registry


def admin(reg, what, body, status=200):
    answer = reg.registry("POST", "/" + what, body, base="/ws/v1/registry-admin", query="user.name=alice")
    assert answer.status == status, answer
    return answer.json


def purge(reg, id, persistence, policy="PurgeAll", status=200, **more):
    return admin(reg, "purge", {"id": id, "persistence": persistence, "policy": policy, **more}, status)


def there(reg, path):
    return reg.registry("GET", path).status == 200


def components(reg):
    """An application with two containers below and an empty directory beside them."""
    reg.bind("/users/t/services/c/app", record("app1", "application"))
    for i in (1, 2):
        reg.bind(f"/users/t/services/c/app/components/c{i}", record(f"container{i}", "container"))
    reg.registry("POST", "/users/t/services/c/app/components/subdir", query="op=mknode")
    return "/users/t/services/c/app"


with open(os.path.join(ROOT, "tests", "contract", "registry_purge.json"), encoding="utf-8") as f:
    ROWS = json.load(f)


@pytest.mark.parametrize("row", ROWS, ids=[r["row"] for r in ROWS])
def test_contract(reg, row):
    for path, fields in sorted(row["tree"].items()):
        if fields:
            reg.bind(path, record(*fields))
        else:
            reg.registry("POST", path, query="op=mknode&createParents=true")
    id, persistence, policy = row["purge"]
    answer = reg.registry("POST", "/purge", {"id": id, "persistence": persistence, "policy": policy,
                                             "path": row.get("path", "/")}, base="/ws/v1/registry-admin")
    if "error" in row:
        assert answer.status >= 400 and answer.json["exception"] == row["error"], answer
    else:
        assert answer.status == 200 and answer.json["count"] == row["count"], answer
    assert all(there(reg, path) for path in row.get("left", ()))
    assert not any(there(reg, path) for path in row.get("gone", ()))


def test_purge_wants_id_and_policy_to_match(reg):
    reg.bind("/users/t/services/hbase/hbase1", record("x1", "application-attempt"))
    assert purge(reg, "x1", "container") == {"count": 0, "examined": 1, "dryRun": False, "deleted": []}
    assert purge(reg, "x2", "application-attempt")["count"] == 0
    assert there(reg, "/users/t/services/hbase/hbase1")
    done = purge(reg, "x1", "application-attempt")
    assert done["count"] == 1 and done["deleted"] == ["/users/t/services/hbase/hbase1"]
    assert not there(reg, "/users/t/services/hbase/hbase1") and there(reg, "/users/t/services/hbase")


def test_policies(reg):
    app = components(reg)
    assert purge(reg, "container2", "application", "FailOnChildren")["count"] == 0
    done = purge(reg, "container2", "container", "FailOnChildren")
    assert done["deleted"] == [app + "/components/c2"] and there(reg, app + "/components/c1")
    assert purge(reg, "app1", "application", "SkipOnChildren")["count"] == 0 and there(reg, app)
    refused = purge(reg, "app1", "application", "FailOnChildren", status=409)
    assert refused["exception"] == "PathIsNotEmptyDirectoryException" and refused["where"] == app
    assert there(reg, app + "/components/c1")
    assert purge(reg, "app1", "application", "PurgeAll")["count"] == 1
    assert not there(reg, app)


def test_skip_still_takes_matching_leaves(reg):
    reg.bind("/users/t/app", record("m", "container"))
    reg.bind("/users/t/app/c1", record("m", "container"))
    reg.bind("/users/t/app/c2", record("other", "container"))
    assert purge(reg, "m", "container", "SkipOnChildren")["deleted"] == ["/users/t/app/c1"]
    assert there(reg, "/users/t/app") and there(reg, "/users/t/app/c2")


def test_purge_all_takes_what_is_below_whatever_it_is_and_counts_deletes(reg):
    reg.bind("/users/t/app", record("m", "container"))
    reg.bind("/users/t/app/c1", record("m", "container"))
    reg.bind("/users/t/app/keep", record("x", "permanent"))
    reg.bind("/users/t/app-2", record("m", "container"))
    reg.bind("/users/t/app-2-deep/er", record("m", "container"))
    assert sorted(purge(reg, "m", "container")["deleted"]) == ["/users/t/app", "/users/t/app-2", "/users/t/app-2-deep/er"]
    assert not there(reg, "/users/t/app/keep") and there(reg, "/users/t/app-2-deep")


def test_start_path(reg):
    reg.bind("/users/t/a/x", record("m", "container"))
    reg.bind("/users/t/ab", record("m", "container"))
    assert purge(reg, "m", "container", path="/users/missing")["count"] == 0
    assert purge(reg, "m", "container", path="/users/t/a")["deleted"] == ["/users/t/a/x"]
    assert purge(reg, "m", "container", path="/users/t/ab/")["deleted"] == ["/users/t/ab"]
    assert purge(reg, "m", "container", path="/users//t", status=400)["exception"] == "InvalidPathnameException"


def test_spellings(reg):
    reg.bind("/users/t/under", record("m", "application_attempt"))
    reg.bind("/users/t/number", {**record("7", "container"), "yarn:id": 7})
    reg.bind("/users/t/integer", record("m", "2"))
    assert purge(reg, "m", "application-attempt")["deleted"] == ["/users/t/under"]
    assert purge(reg, "7", "container")["deleted"] == ["/users/t/number"]
    assert purge(reg, "m", "container")["count"] == 0 and there(reg, "/users/t/integer")


def test_dry_run_reports_and_keeps(reg):
    reg.bind("/users/t/dry", record("m", "container"))
    reported = purge(reg, "m", "container", dryRun=True)
    assert reported["deleted"] == ["/users/t/dry"] and reported["dryRun"] is True and there(reg, "/users/t/dry")

    def entries(dry_run):
        return [e for e in reg.registryd.events if e["event"] == "purged" and e["path"] == "/users/t/dry" and e["dry_run"] == dry_run]
    assert wait_for(lambda: entries("true"), "a line of the log that says so")[0]["reason"]
    assert not entries("false")
    assert purge(reg, "m", "container")["count"] == 1
    wait_for(lambda: entries("false"), "a line of the log for the purge")


@pytest.mark.parametrize("body", [{}, [], {"id": "x"}, {"id": "", "persistence": "container"},
                                  {"id": "x", "persistence": ""}, {"id": 5, "persistence": "container"},
                                  {"id": "x", "persistence": "container", "policy": "Perhaps"},
                                  {"id": "x", "persistence": "container", "dryRun": "no"}, "text", 5])
def test_malformed_purges(reg, body):
    assert admin(reg, "purge", body, status=400)["type"].startswith("urn:bobbin:error:")


def test_a_member_that_nobody_knows_purges_nothing(reg):
    """Whoever writes "dryrun" wants no purge."""
    reg.bind("/users/t/dry", record("m", "container"))
    refused = purge(reg, "m", "container", dryrun=True, status=400)
    assert refused["where"] == "/dryrun" and "dryRun" in refused["detail"], refused
    assert there(reg, "/users/t/dry")


def test_cost_is_what_is_deleted(reg):
    """Ten records out of eleven and out of thousands: the same number of records is looked at."""
    examined = []
    reg.registry("POST", "/users/t/services/noise", query="op=mknode&createParents=true")
    for others in (1, 2000):
        noise = [{"path": f"/users/t/services/noise/n{others}-{i}", "record": json.dumps(record(f"container_{i}", "container"))}
                 for i in range(others)]
        assert admin(reg, "import", {"nodes": noise}) == {"created": others, "replaced": 0, "unchanged": 0, "failed": []}
        for i in range(10):
            reg.bind(f"/users/t/services/wanted/n{i}", record("wanted", "application"))
        done = purge(reg, "wanted", "application")
        assert done["count"] == 10
        examined.append(done["examined"])
    assert examined == [10, 10]


def test_events(reg):
    def bind_all():
        reg.bind("/users/t/app", record(APP, "application"))
        reg.bind("/users/t/attempt", record(ATTEMPT, "application-attempt"))
        reg.bind("/users/t/container", record(CONTAINER, "container"))
        reg.bind("/users/t/permanent", record(APP, "permanent"))

    def left():
        return sorted(reg.registry("GET", "/users/t").json["nodes"])
    cases = [({"type": "application-completed", "application": APP}, ["attempt", "container", "permanent"], 1),
             ({"type": "attempt-unregistered", "attempt": ATTEMPT}, ["app", "container", "permanent"], 1),
             ({"type": "am-container-finished", "container": CONTAINER}, ["app", "permanent"], 2),
             ({"type": "container-finished", "id": CONTAINER}, ["app", "attempt", "permanent"], 1),
             ({"type": "application-launched", "application": APP}, ["app", "attempt", "container", "permanent"], 0),
             ({"type": "attempt-added", "attempt": ATTEMPT}, ["app", "attempt", "container", "permanent"], 0)]
    for event, expected, purged in cases:
        bind_all()
        reported = admin(reg, "events", event)["events"]
        assert len(reported) == 1 and reported[0]["purged"] == purged, reported
        assert left() == expected, event
    bind_all()
    several = admin(reg, "events", {"events": [cases[0][0], cases[1][0]]})["events"]
    assert [e["purged"] for e in several] == [1, 1] and left() == ["container", "permanent"]


@pytest.mark.parametrize("body", [{"type": "fly", "id": APP}, {"type": "application-completed"}, {"id": APP}, 5, [5],
                                  {"type": "container-finished", "container": "tomcat"}, {"events": 7},
                                  [{"type": "application-completed", "application": APP}, {"type": "x"}],
                                  {"type": "application-completed", "application": ""},
                                  {"type": "application-completed", "application": APP, "dryRun": True},
                                  {"events": [{"type": "application-completed", "application": APP}], "dryRun": True}])
def test_malformed_events_do_nothing_at_all(reg, body):
    reg.bind("/users/t/app", record(APP, "application"))
    assert admin(reg, "events", body, status=400)["detail"]
    assert there(reg, "/users/t/app")


def test_homes(reg):
    reported = admin(reg, "users", {"user": "Zoe/host@REALM"})
    assert reported == {"users": [{"user": "Zoe/host@REALM", "created": True, "homes": ["/users/zoe"]}]}
    assert there(reg, "/users/zoe")
    assert admin(reg, "users", {"users": ["zoe"]})["users"][0]["created"] is False
    # "a_b" is no DNS name: only the form under which clients publish is made
    assert admin(reg, "users", ["a_b", "yan"])["users"] == [
        {"user": "a_b", "created": True, "homes": ["/users/a-b"]}, {"user": "yan", "created": True, "homes": ["/users/yan"]}]
    assert admin(reg, "users", {"user": "bad name"}, status=400)["exception"] == "InvalidPathnameException"
    assert admin(reg, "users", {"user": 5}, status=400)
    assert admin(reg, "users", {"user": "yan", "homes": []}, status=400)["where"] == "/homes"
    stored = admin(reg, "events", {"type": "application-stored", "user": "xaver"})
    assert stored["events"][0]["created"] is True and there(reg, "/users/xaver")
    # Hadoop's home of the empty user is /services, which exists
    stored = admin(reg, "events", {"type": "application-stored", "user": ""})["events"][0]
    assert stored["created"] is False and "error" not in stored
    assert admin(reg, "events", {"type": "application-completed", "application": ""}, status=400)["where"] == "application"


def test_homes_of_hadoops_own_names():
    with Registry(options={"registryd": {"hadoop.registry.path.names": "zookeeper"}}) as reg:
        assert admin(reg, "users", {"user": "a_b"})["users"][0]["homes"] == ["/users/a_b", "/users/a-b"]
        assert there(reg, "/users/a_b") and there(reg, "/users/a-b")


def test_root_goes_when_it_matches():
    with Registry() as reg:
        reg.bind("/", record("r", "application"), query="overwrite=true")
        reg.bind("/services/x", record("y", "permanent"))
        assert purge(reg, "r", "application")["deleted"] == ["/"]
        assert reg.registry("GET", "/").status == 404
