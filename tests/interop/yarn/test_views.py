"""What svcmgr shows of services that run on a real YARN cluster: logs, reasons, usage, events."""
import itertools
import os
import signal
import subprocess
import time

import pytest

from harness import BIN, request, wait_for
from services import SLOW, Ours, sleepers
from yarn import Cluster

pytestmark = pytest.mark.group("services")

COUNT = itertools.count()


@pytest.fixture(scope="module")
def services():
    settings = {"yarn.scheduler.minimum-allocation-mb": 32}
    with Cluster(settings=settings) as cluster, Ours(cluster) as ours:
        yield ours


@pytest.fixture
def name(services):
    name = services.launch(sleepers(f"view-{next(COUNT)}", 2))
    services.until(name, 2)
    yield name
    if services.service(name):
        services.destroy(name)


def bobbin(services, *words):
    """The command, and what it has printed."""
    where = ["--url", f"http://127.0.0.1:{services.port}", "--user", services.user]
    command = [os.path.join(BIN, "bobbin"), "app", words[0], *where, *words[1:]]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def writer(name, text, then="exec sleep 100000", n=1):
    """A service whose instances write a text, then do something."""
    document = sleepers(name, n)
    document["components"][0]["launch_command"] = f"printf '{text}'; echo to-stderr >&2; {then}"
    return document


def log(services, name, instance, file="stdout.txt", offset=0):
    return request(services.port, "GET", f"/app/v1/services/{name}/component-instances/{instance}/logs/{file}"
                                         f"?user.name={services.user}&offset={offset}")


# ---- logs ----

def test_logs_of_a_running_container(services):
    name = services.launch(writer(f"view-{next(COUNT)}", "hello\\nworld\\n"))
    container = services.until(name, 1)["sleeper-0"]
    services.until_runs(container)
    answer = wait_for(lambda: (a := log(services, name, "sleeper-0")).body and a, "its output is there")
    assert (answer.status, answer.body, answer.headers["Bobbin-Container"], answer.headers["Bobbin-Log-Size"]) == \
        (200, b"hello\nworld\n", container, "12")
    assert log(services, name, "sleeper-0", offset=8).body == b"rld\n"
    assert log(services, name, "sleeper-0", offset=12).body == b""
    assert log(services, name, container, "stderr.txt").body == b"to-stderr\n"
    assert log(services, name, "sleeper-0", "stdout.txt.1").body == b""
    absent = log(services, name, "sleeper-0", "other.log")
    assert absent.status == 404 and "stdout.txt" in absent.json["diagnostics"] and "launch_container.sh" in absent.json["diagnostics"]
    assert log(services, name, "sleeper-0", "..%2Fx").status == 400
    printed = bobbin(services, "logs", name, "sleeper-0")
    assert printed.returncode == 0 and "hello\nworld\n" in printed.stdout and "to-stderr" in printed.stdout, printed
    services.destroy(name)


def test_a_long_log_is_read_in_pieces(services):
    name = services.launch(writer(f"view-{next(COUNT)}", "", "seq 1 40000; exec sleep 100000"))
    services.until(name, 1)
    wanted = "".join(f"{i}\n" for i in range(1, 40001))
    wait_for(lambda: log(services, name, "sleeper-0").headers["Bobbin-Log-Size"] == str(len(wanted)), "all is written")
    assert len(log(services, name, "sleeper-0").body) == 65536
    printed = bobbin(services, "logs", name, "--all")
    assert [line.partition(" | ")[2] for line in printed.stdout.splitlines() if "to-stderr" not in line] == wanted.splitlines(), printed.stderr
    services.destroy(name)


def test_a_log_is_followed(services):
    name = services.launch(writer(f"view-{next(COUNT)}", "begin\\n", "while [ ! -e $WORK_DIR/end ]; do sleep 0.2; done; echo more; exec sleep 100000"))
    container = services.until(name, 1)["sleeper-0"]
    services.until_runs(container)
    command = [os.path.join(BIN, "bobbin"), "app", "logs", "-f", name, "sleeper-0", "--url", f"http://127.0.0.1:{services.port}",
               "--user", services.user]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as follower:
        assert follower.stdout.readline() and follower.stdout.readline() == "begin\n"
        work = wait_for(lambda: next((os.readlink(f"/proc/{pid}/cwd") for pid in services.processes(container)), None), "its loop is seen")
        with open(os.path.join(work, "end"), "w", encoding="utf-8"):
            pass
        lines = iter(follower.stdout.readline, "")
        assert any(line == "more\n" for line in lines)
        follower.terminate()
    services.destroy(name)


def test_logs_of_a_container_that_has_ended(services):
    """While the next one is not there, and of a service that has failed."""
    document = writer(f"view-{next(COUNT)}", "last words\\n", "exit 3")
    document["components"][0]["restart_policy"] = "NEVER"
    name = services.launch(document)
    wait_for(lambda: services.service(name)["state"] == "FAILED", "it has failed", SLOW)
    answer = wait_for(lambda: (a := log(services, name, "sleeper-0")).status == 200 and a, "its output is kept")
    assert answer.body == b"last words\n"
    services.destroy(name)


def test_logs_of_a_service_that_was_stopped(services, name):
    """Its instances are known no more: the error says where their logs are. Those of its master are read."""
    app = services.application(name)
    assert services.ask("PUT", f"/{name}", {"state": "STOPPED"}).status in (200, 202)
    wait_for(lambda: services.service(name)["state"] == "STOPPED", "it is stopped")
    answer = log(services, name, "sleeper-0")
    assert answer.status == 404 and f"yarn logs -applicationId {app}" in answer.json["diagnostics"], answer
    assert bobbin(services, "logs", name, "--master").returncode == 0


def test_logs_while_the_node_manager_is_away(services, name):
    """The error says what to do; those of other nodes are read."""
    instances = services.instances(name)
    nodes = {instance: services.node_of(container) for instance, container in instances.items()}
    lost = nodes["sleeper-0"]
    lost.kill()
    answer = log(services, name, "sleeper-0")
    assert answer.status == 503
    assert f"yarn logs -applicationId {services.application(name)} -containerId {instances['sleeper-0']}" in answer.json["diagnostics"]
    assert bobbin(services, "logs", name, "sleeper-0").returncode == 5
    lost.start()
    wait_for(lambda: log(services, name, "sleeper-0").status == 200, "the node manager is back")


def test_logs_of_the_master(services, name):
    printed = bobbin(services, "logs", name, "--master")
    assert printed.returncode == 0 and "serviceam-err.txt" in printed.stdout and "svcmgr_ready" not in printed.stderr, printed
    assert "master" in printed.stdout
    services.destroy(name)


def test_a_master_that_never_ran_has_logs_of_its_node(services):
    """It has no file of its own then; the error names those there are."""
    name = services.launch({**sleepers(f"view-{next(COUNT)}", 1), "queue": "nowhere"})
    wait_for(lambda: services.service(name)["state"] == "FAILED", "it has failed", SLOW)
    answer = request(services.port, "GET", f"/app/v1/services/{name}/application-master/logs/serviceam-err.txt?user.name={services.user}")
    assert answer.status == 404, answer
    services.destroy(name)


# ---- usage, commands, events, plans ----

def test_usage_is_not_known_and_that_is_said(services, name):
    usage = request(services.port, "GET", f"/app/v1/services/{name}/usage?user.name={services.user}").json
    assert "not known on YARN" in usage["note"]
    assert [(one["instance"], one["memory_limit"], "memory" in one) for one in usage["instances"]] == \
        [("sleeper-0", 32 << 20, False), ("sleeper-1", 32 << 20, False)]
    printed = bobbin(services, "top", name)
    assert printed.returncode == 0 and "not known on YARN" in printed.stdout and "32.0" in printed.stdout, printed


def test_commands_and_signals_are_refused_with_the_way_of_hadoop(services, name):
    container = services.instances(name)["sleeper-0"]
    executed = bobbin(services, "exec", name, "sleeper-0", "ls")
    assert executed.returncode == 30 and f"yarn container -shell {container}" in executed.stderr, executed
    signalled = bobbin(services, "signal", name, "sleeper-0", "HUP")
    assert signalled.returncode != 0 and f"yarn container -signal {container}" in signalled.stderr, signalled


def test_events_are_those_of_a_local_cluster(services, name):
    services.kill_container(services.instances(name)["sleeper-1"])
    events = lambda: request(services.port, "GET", f"/app/v1/services/{name}/events?user.name={services.user}").json["events"]  # noqa: E731
    wait_for(lambda: any(one["object"] == "sleeper-1" for one in events()), "the end of a process is an event")
    assert {"created", "ACCEPTED", "STARTED", "STABLE"} <= {one["what"] for one in events()}
    numbers = [one["number"] for one in events()]
    assert numbers == sorted(set(numbers))
    services.until(name, 2)


def test_a_plan_needs_no_nodes(services, name):
    answer = request(services.port, "PUT", f"/app/v1/services/{name}/components/sleeper?plan=true&user.name={services.user}", {"number_of_containers": 3})
    assert answer.status == 200 and answer.json["accepted"] and answer.json["complete"], answer
    assert [(one["component_instance_name"], one["action"]) for one in answer.json["instances"] if one["action"] != "keep"] == [("sleeper-2", "create")], answer
    assert len(services.instances(name)) == 2


# ---- explain ----

def explained(services, name):
    return request(services.port, "GET", f"/app/v1/services/{name}?explain=true&user.name={services.user}").json["explain"]


def until_explained(services, name, reason, *words):
    """The entry of that reason, as soon as it is there and has the words."""
    def there():
        now = explained(services, name)
        found = [one for one in now if one["reason"] == reason and all(w in one["wait"] for w in words)]
        assert found, now
        return found[0]
    return wait_for(there, f"{name} waits: {reason} {words}", SLOW)


def test_nothing_is_to_be_explained(services, name):
    assert explained(services, name) == []
    assert "Nothing to explain" in bobbin(services, "explain", name).stdout


def test_a_master_that_does_not_answer(services, name):
    """An answer comes all the same, in bounded time, and says so."""
    master = services.master(name)
    os.kill(master, signal.SIGSTOP)
    try:
        begun = time.monotonic()
        entry = explained(services, name)[0]
        assert time.monotonic() - begun < 8
        assert entry["reason"] == "master_away" and "logs" in entry["remedy"], entry
    finally:
        os.kill(master, signal.SIGCONT)
    wait_for(lambda: explained(services, name) == [], "it answers again")


def test_the_next_attempt_of_a_master_is_asked(services, name):
    services.kill_master(name)
    wait_for(lambda: explained(services, name)[0]["reason"] in ("master_away", "application"), "it is away")
    wait_for(lambda: explained(services, name) == [], "the next one answers")
    assert len(services.instances(name)) == 2


@pytest.fixture(scope="module")
def small():
    """One node of 512 MB."""
    settings = {"yarn.scheduler.minimum-allocation-mb": 32, "yarn.nodemanager.resource.memory-mb": 512,
                "yarn.scheduler.maximum-allocation-mb": 1024}
    with Cluster(n_nodes=1, settings=settings) as cluster, Ours(cluster) as ours:
        yield ours


@pytest.fixture
def crowded(small):
    """A service that leaves 64 MB of the node: one of its instances has no room."""
    name = small.launch(sleepers(f"crowd-{next(COUNT)}", 3, memory_mb=160))
    wait_for(lambda: len(small.instances(name)) == 2, "two of three run", SLOW)
    yield name
    if small.service(name):
        small.destroy(name)


def test_a_queue_without_room(small, crowded):
    entry = until_explained(small, crowded, "resource", "MB")
    assert (entry["component"], entry["count"]) == ("sleeper", 1), entry
    assert "remedy" in bobbin(small, "explain", crowded).stdout


def test_a_master_that_has_no_room(small, crowded):
    """What the resource manager says of it; its application is killed at once when it is destroyed: there is no master to ask."""
    other = small.launch(sleepers(f"later-{next(COUNT)}", 1))
    entry = until_explained(small, other, "application")
    assert "AM" in entry["wait"], entry
    app = small.application(other)
    small.destroy(other)
    assert small.state(app) == "KILLED" and small.service(other) is None


def test_the_limit_of_a_queue_for_masters(small, crowded):
    document = sleepers(f"limit-{next(COUNT)}", 1, **{"yarn.service.am-resource.memory": "512"})
    name = small.launch(document)
    until_explained(small, name, "application", "AM resource limit")
    small.destroy(name)


def test_an_instance_larger_than_any_node(small):
    name = small.launch(sleepers(f"large-{next(COUNT)}", 1, memory_mb=900))
    entry = until_explained(small, name, "resource", "900")
    assert entry["component"] == "sleeper", entry
    small.destroy(name)


def test_a_label_that_no_node_has(small):
    document = sleepers(f"label-{next(COUNT)}", 1)
    document["components"][0]["placement_policy"] = {"label": "gold"}
    name = small.launch(document)
    entry = until_explained(small, name, "label", "gold")
    assert "label" in entry["remedy"], entry
    small.destroy(name)
