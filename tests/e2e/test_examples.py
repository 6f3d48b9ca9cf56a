"""The patterns of using the registry, each a short program of docs/examples."""
import base64
import os
import subprocess

import pytest

from harness import BIN, PATIENCE, Stack, wait_for

pytestmark = pytest.mark.sanitize

API = "org.example.management"
BROKEN = base64.b64encode(b"{JSONServiceRecord").decode()


@pytest.fixture(scope="module")
def stack():
    with Stack(options={"registryd": {"hadoop.registry.admin.users": "alice"}}) as s:
        yield s


def start(stack, name, *words):
    return subprocess.Popen([os.path.join(BIN, f"example-{name}"), "--registry", f"http://127.0.0.1:{stack.registry_port}",
                             *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(stack, name, *words, code=0):
    """Its output; the exit code must be this one."""
    process = start(stack, name, *words)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == code, (out, err)
    return out if code == 0 else err


def service(stack, path):
    return stack.registry("GET", path).json["service"]


def test_short_lived_goes_with_its_attempt(stack):
    attempt, path = "appattempt_1700000000000_0009_000001", "/users/alice/services/short-lived/job"
    assert run(stack, "short-lived", "alice", "job", attempt, "http://127.77.8.1:8088/") == f"bound {path}\n"
    later = "appattempt_1700000000000_0009_000002"
    run(stack, "short-lived", "alice", "job", later, "http://127.77.8.2:8088/")
    assert service(stack, path)["yarn:id"] == later
    stack.sync_all()
    assert stack.dig("job.alice.bobbin.test") == ["127.77.8.2"]

    def ended(which):
        answer = stack.registry("POST", "", {"type": "attempt-unregistered", "attempt": which},
                                base="/ws/v1/registry-admin/events")
        assert answer.status == 200, answer
        return answer.json["events"][0]["purged"]
    assert ended(attempt) == 0
    assert ended(later) == 1
    assert stack.registry("GET", path).status == 404


def test_static_service_stays_known_while_it_is_down(stack):
    path = "/services/store"
    assert run(stack, "static-service", "store", "http://127.77.8.3:50070/") == f"{path} is reachable\n"
    assert service(stack, path)["external"][0]["addresses"] == [{"uri": "http://127.77.8.3:50070/"}]
    assert run(stack, "static-service", "store", "down") == f"{path} is known but not reachable\n"
    down = service(stack, path)
    assert (down["external"], down["internal"], down["description"]) == ([], [], "The store of the cluster")
    assert down["yarn:persistence"] == "permanent"
    run(stack, "static-service", "store", "http://127.77.8.4:50070/")
    assert service(stack, path)["external"][0]["addresses"] == [{"uri": "http://127.77.8.4:50070/"}]


def n_reads(stack):
    metrics = stack.registry("GET", "", base="/metrics").body.decode()
    return int(next(line.split()[1] for line in metrics.splitlines() if line.startswith("registry_reads_total")))


def test_locate_waits_for_the_application_master(stack):
    path, api = "/users/alice/services/located/am", "classpath:org.apache.hadoop.yarn.service.appmaster.ipc"
    before = n_reads(stack)
    record = {"type": "JSONServiceRecord", "external": [], "internal": []}
    process = start(stack, "locate-am", "alice", "located", "am", api, "20000")
    wait_for(lambda: n_reads(stack) > before, "it has asked")
    stack.bind(path, record)
    reachable = {"api": api, "addressType": "host/port", "protocolType": "hadoop/IPC",
                 "addresses": [{"host": "127.77.8.5", "port": "8031"}]}
    assert process.poll() is None
    stack.bind(path, {**record, "internal": [reachable]})
    out, err = process.communicate(timeout=PATIENCE)
    assert (out, err, process.returncode) == ("host=127.77.8.5\nport=8031\n", "", 0)


def test_locate_gives_up(stack):
    stack.bind("/users/alice/services/located/known", {"type": "JSONServiceRecord", "external": [], "internal": []})
    for process, missing in [(start(stack, "locate-am", "alice", "located", name, "http://", "4000"), missing)
                             for name, missing in (("never", "there is no such node"), ("known", "no address"))]:
        _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 6 and missing in err, err


def test_management_endpoint(stack):
    path = "/users/alice/services/managed/one"
    stack.bind(path, {"type": "JSONServiceRecord", "description": "kept", "external": [], "internal": [], "own": "value"})
    assert "no management" in run(stack, "management", path, "show", "-", code=10)
    run(stack, "management", path, "publish", "http://127.77.8.6/manage")
    assert run(stack, "management", path, "show", "-") == "http://127.77.8.6/manage\n"
    assert (service(stack, path)["description"], service(stack, path)["own"]) == ("kept", "value")
    assert "already" in run(stack, "management", path, "publish", "http://x/", code=11)


def test_enumeration_by_api(stack):
    """The walk of the tree and the search of the index find the same."""
    for user, name in (("bob", "one"), ("carol", "two")):
        stack.bind(f"/users/{user}/services/listed/{name}", {
            "type": "JSONServiceRecord", "internal": [], "external": [
                {"api": API, "addressType": "uri", "protocolType": "REST", "addresses": [{"uri": f"http://{name}/"}]}]})
    stack.bind("/users/carol/services/listed/other", {"type": "JSONServiceRecord", "external": [], "internal": []})
    made = stack.registry("POST", "/import", {"nodes": [{"path": "/users/bob/services/listed/broken", "base64": BROKEN}]},
                          base="/ws/v1/registry-admin", query="user.name=alice")
    assert made.json["created"] == 1, made
    out = run(stack, "enumerate", "/users", API).splitlines()
    assert {"/users/bob/services/listed/one uri=http://one/", "/users/carol/services/listed/two uri=http://two/"} <= set(out)
    found = stack.registry("GET", "", base="/ws/v1/registry-find", query=f"api={API}").json["records"]
    assert sorted(line.split()[0] for line in out) == sorted(r["path"] for r in found if r["path"].startswith("/users/"))


def test_following_a_subtree(stack):
    record = {"type": "JSONServiceRecord", "external": [], "internal": []}
    path = "/users/dave/services/followed"
    stack.bind(f"{path}/one", record)
    process = start(stack, "follow", path, "3")
    first = [process.stdout.readline() for _ in range(3)]
    assert first == [f"there {path} (no record)\n", f"there {path}/one\n", "current\n"]
    stack.bind(f"{path}/two", record)
    stack.bind(f"{path}/one", {**record, "description": "d"})
    stack.bind("/users/dave/services/elsewhere", record)
    stack.registry("DELETE", f"{path}/two")
    out, err = process.communicate(timeout=PATIENCE)
    assert (out, err, process.returncode) == (f"put {path}/two\nput {path}/one\ngone {path}/two\n", "", 0)
