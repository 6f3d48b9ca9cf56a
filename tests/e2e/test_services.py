"""A service of real processes: launched, found through DNS, flexed, stopped, started, destroyed."""
import os
import pwd
import resource
import signal
import urllib.request

import pytest

from harness import HELLO, NOFILE, PATIENCE, STORES, Stack, containers, dig_full, parent, processes, store_url, wait_for

pytestmark = pytest.mark.sanitize


@pytest.fixture(scope="module", params=STORES)
def stack(request):
    with store_url(request.param) as url:
        with Stack(services=True, store=url) as s:
            yield s


@pytest.fixture
def hello(stack):
    """The example, READY and in the DNS; gone afterwards."""
    service = stack.launch(HELLO)
    wait_for(lambda: names(stack) == sorted(c["ip"] for c in containers(service)), "its addresses are in the DNS")
    yield service
    stack.services("DELETE", "/hello-world")
    wait_for(lambda: not servers(stack), "no process of the example is left")


def servers(stack, ip=None):
    """Web servers of this stack's containers, by pid."""
    return processes("busybox httpd", f"{ip}:" if ip else f"{stack.subnet}.")


def names(stack, user="alice", component="hello"):
    stack.sync_all()
    return stack.dig(f"{component}.hello-world.{user}.bobbin.test")


def records(stack, user="alice"):
    """Records of the example's containers, by instance name."""
    answer = stack.registry("GET", f"/users/{user}/services/yarn-service/hello-world/components", query="recursive=true")
    tree = answer.json["tree"] if answer.status == 200 else []
    return {node["service"]["description"]: node["service"] for node in tree}


def flex(stack, n):
    answer = stack.services("PUT", "/hello-world/components/hello", {"name": "hello", "number_of_containers": n})
    assert answer.status == 200, answer
    return wait_for(lambda: next((s for s in [stack.service("hello-world")]
                                  if s["state"] == "READY" and len(containers(s)) == n), None), f"{n} containers")


def test_every_name_leads_to_the_instance(stack, hello):
    assert [c["component_instance_name"] for c in containers(hello)] == ["hello-0", "hello-1"]
    assert {c["state"] for c in containers(hello)} == {"READY"}
    assert names(stack) == sorted(c["ip"] for c in containers(hello))
    for c in containers(hello):
        name = f"{c['component_instance_name']}.hello-world.alice.bobbin.test"
        assert stack.dig(name) == [c["ip"]]
        assert stack.dig(c["id"].replace("container_", "ctr-").replace("_", "-") + ".bobbin.test") == [c["ip"]]
        assert stack.dig("-x", c["ip"]) == [name + "."]
        assert stack.dig(name, "TXT") == [f'"id={c["id"]}"']
        with urllib.request.urlopen(f"http://{stack.dig(name)[0]}:8080/", timeout=PATIENCE) as page:
            assert page.read().decode() == f"hello from {c['component_instance_name']}\n"


def test_records_say_what_the_api_says(stack, hello):
    found = records(stack)
    assert {name: (r["yarn:id"], r["yarn:ip"], r["yarn:persistence"], r["yarn:component"]) for name, r in found.items()} == {
        c["component_instance_name"]: (c["id"], c["ip"], "container", "hello") for c in containers(hello)}
    service = stack.registry("GET", "/users/alice/services/yarn-service/hello-world").json["service"]
    assert service["yarn:id"] == hello["id"] and service["yarn:persistence"] == "application"


def test_containers_of_root_run_as_nobody(stack, hello):
    pids = servers(stack)
    assert len(pids) == 2
    expected = pwd.getpwnam("nobody").pw_uid if os.getuid() == 0 else os.getuid()
    for pid in pids:
        with open(f"/proc/{pid}/status", encoding="ascii") as f:
            lines = dict(line.split(":", 1) for line in f.read().splitlines())
        assert {int(uid) for uid in lines["Uid"].split()} == {expected}
        if os.getuid() == 0:
            assert "0" not in lines["Groups"].split()


def soft_limit(pid):
    with open(f"/proc/{pid}/limits", encoding="ascii") as f:
        return next(int(line.split()[3]) for line in f if line.startswith("Max open files"))


def test_daemons_raise_the_limit_of_descriptors_and_containers_have_the_first_one(stack, hello):
    for daemon in stack.daemons:
        soft, hard = resource.prlimit(daemon.process.pid, resource.RLIMIT_NOFILE)
        assert soft == hard > NOFILE, daemon.name
    for pid in servers(stack):
        assert (soft_limit(pid), soft_limit(parent(pid))) == (NOFILE, NOFILE)


def test_a_crashed_process_is_restarted(stack, hello):
    first, second = containers(hello)
    [pid], [other] = servers(stack, first["ip"]), servers(stack, second["ip"])
    os.kill(pid, signal.SIGKILL)
    [new] = wait_for(lambda: [p for p in servers(stack, first["ip"]) if p != pid], "the process runs again")
    assert new != pid
    after = stack.until_state("hello-world", "READY")
    assert [(c["component_instance_name"], c["ip"]) for c in containers(after)] == [
        (c["component_instance_name"], c["ip"]) for c in containers(hello)]
    assert servers(stack, second["ip"]) == [other]
    wait_for(lambda: names(stack) == sorted([first["ip"], second["ip"]]), "both addresses are in the DNS")


def test_flex_up_and_down_takes_the_highest_first(stack, hello):
    more = flex(stack, 4)
    assert [c["component_instance_name"] for c in containers(more)] == ["hello-0", "hello-1", "hello-2", "hello-3"]
    assert containers(more)[:2] == containers(hello)
    wait_for(lambda: len(names(stack)) == 4, "four addresses")
    less = flex(stack, 1)
    assert containers(less) == containers(hello)[:1]
    wait_for(lambda: set(records(stack)) == {"hello-0"}, "records of the others are gone")
    assert names(stack) == [containers(hello)[0]["ip"]]
    for gone in containers(more)[1:]:
        instance = gone["component_instance_name"]
        assert "NXDOMAIN" in dig_full(stack.dns_port, f"{instance}.hello-world.alice.bobbin.test", "A")
        assert stack.dig("-x", gone["ip"]) == []
    wait_for(lambda: len(servers(stack)) == 1, "one process")
    assert stack.services("PUT", "/hello-world/components/hello", {"number_of_containers": 0}).status == 200
    wait_for(lambda: not servers(stack) and not containers(stack.service("hello-world")), "no container")
    flex(stack, 1)


def test_stop_and_start(stack, hello):
    assert stack.services("PUT", "/hello-world", {"state": "STOPPED"}).status == 204
    stopped = stack.until_state("hello-world", "STOPPED")
    assert containers(stopped) == [] and stopped["version"] == HELLO["version"]
    wait_for(lambda: not servers(stack), "no process")
    wait_for(lambda: stack.registry("GET", "/users/alice/services/yarn-service/hello-world").status == 404, "no record")
    stack.sync_all()
    assert "NXDOMAIN" in dig_full(stack.dns_port, "hello.hello-world.alice.bobbin.test", "A")
    again = stack.services("PUT", "/hello-world", {"state": "STOPPED"})
    assert (again.status, again.json["diagnostics"]) == (400, "Service hello-world is already stopped")
    assert [s["name"] for s in stack.services("GET", "").json] == []

    assert stack.services("PUT", "/hello-world", {"state": "STARTED"}).status == 204
    started = stack.until_state("hello-world", "READY")
    assert started["id"] != hello["id"]
    wait_for(lambda: names(stack) == sorted(c["ip"] for c in containers(started)), "names are back")
    live = stack.services("PUT", "/hello-world", {"state": "STARTED"})
    assert (live.status, live.json["diagnostics"]) == (
        400, "Failed to start service hello-world, because it already exists.")


def test_destroy_leaves_nothing(stack):
    stack.launch(HELLO)
    wait_for(lambda: len(names(stack)) == 2, "names")
    gone = stack.services("DELETE", "/hello-world")
    assert (gone.status, gone.body) == (204, b"")
    assert stack.services("GET", "/hello-world").status == 404
    wait_for(lambda: not servers(stack), "no process")
    wait_for(lambda: stack.registry("GET", "/users/alice/services/yarn-service/hello-world").status == 404, "no record")
    assert names(stack) == []
    again = stack.services("DELETE", "/hello-world")
    assert (again.status, again.json["diagnostics"]) == (404, "Service hello-world doesn't exist")


def test_two_users_may_use_one_name(stack, hello):
    bobs = stack.launch(HELLO, user="bob")
    assert not {c["ip"] for c in containers(bobs)} & {c["ip"] for c in containers(hello)}
    wait_for(lambda: len(names(stack, "bob")) == 2, "names of bob's")
    assert names(stack, "bob") == sorted(c["ip"] for c in containers(bobs))
    assert names(stack, "alice") == sorted(c["ip"] for c in containers(hello))
    assert [s["id"] for s in stack.services("GET", "?user.name=bob").json] == [bobs["id"]]
    assert stack.services("DELETE", "/hello-world?user.name=bob").status == 204
    wait_for(lambda: names(stack, "bob") == [], "names of bob's are gone")
    assert names(stack, "alice") == sorted(c["ip"] for c in containers(hello))
    assert stack.service("hello-world") == hello


def test_a_saved_service_is_started_later(stack):
    saved = stack.services("POST", "", {**HELLO, "name": "later", "state": "STOPPED"})
    assert (saved.status, saved.json["diagnostics"]) == (202, "Service later version 1.0.0 saved.")
    assert stack.service("later")["state"] == "STOPPED" and not servers(stack)
    assert stack.services("PUT", "/later", {"state": "STARTED"}).status == 204
    stack.until_state("later", "READY")
    assert stack.services("DELETE", "/later").status == 204


def test_its_events_say_what_happened_and_why(stack, hello):
    flex(stack, 3)
    os.kill(next(iter(servers(stack))), signal.SIGKILL)
    killed = wait_for(lambda: [e for e in events(stack) if e["what"] == "signalled"], "the end is among the events")
    assert killed[0]["object"].startswith("hello-") and "signal 9" in killed[0]["why"]
    first, *others = events(stack)
    assert (first["object"], first["what"], first["why"]) == ("hello-world", "created", "by user alice")
    assert ("hello", "flexed", "2 to 3 instances, by user alice") in [(e["object"], e["what"], e["why"]) for e in others if "why" in e]
    assert [e["time"] for e in events(stack)] == sorted(e["time"] for e in events(stack))
    assert stack.services("GET", "/nobody/events").status == 404


def events(stack):
    answer = stack.services("GET", "/hello-world/events")
    assert answer.status == 200, answer
    return answer.json["events"]


def test_list_version_and_both_mounts(stack, hello):
    [row] = stack.services("GET", "").json
    assert (row["name"], row["state"], row["number_of_running_containers"]) == ("hello-world", "READY", 2)
    version = stack.services("GET", "/version")
    assert version.status == 200 and list(version.json) == ["hadoop_version"] and version.json["hadoop_version"]
    answer = stack.services("GET", "/hello-world/")
    assert answer.status == 200 and answer.json["id"] == hello["id"]
