"""What svcmgr shows of services that run on a real YARN cluster: logs, reasons, usage, events."""
import itertools
import os
import subprocess

import pytest

from harness import BIN, request, wait_for
from services import Ours, sleepers
from yarn import Cluster

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
    command = [os.path.join(BIN, "bobbin"), "app", *words, "--url", f"http://127.0.0.1:{services.port}", "--user", services.user]
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
    command = [os.path.join(BIN, "bobbin"), "app", "logs", "-f", name, "sleeper-0", "--url", f"http://127.0.0.1:{services.port}",
               "--user", services.user]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as follower:
        assert follower.stdout.readline() and follower.stdout.readline() == "begin\n"
        work = os.readlink(f"/proc/{services.processes(container)[0]}/cwd")
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
    wait_for(lambda: services.service(name)["state"] == "FAILED", "it has failed")
    answer = wait_for(lambda: (a := log(services, name, "sleeper-0")).status == 200 and a, "its output is kept")
    assert answer.body == b"last words\n"
    services.destroy(name)


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
    wait_for(lambda: services.service(name)["state"] == "FAILED", "it has failed")
    answer = request(services.port, "GET", f"/app/v1/services/{name}/application-master/logs/serviceam-err.txt?user.name={services.user}")
    assert answer.status == 404, answer
    services.destroy(name)
