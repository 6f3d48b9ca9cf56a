"""What a person sees of a service that fails: how often, how, and what it said last; while it runs, when it has ended, after a restart."""
import os
import signal
import subprocess

import pytest

from harness import BIN, DOMAIN, PATIENCE, Stack, containers, wait_for

pytestmark = pytest.mark.sanitize

LOUD = "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo \"line $i\" >&2; done; printf '\\033[31mno such file: config\\033[0m\\n' >&2; exit 3"


@pytest.fixture(scope="module")
def stack():
    with Stack(services=True) as s:
        yield s


def bobbin(stack, *words):
    return subprocess.run([os.path.join(BIN, "bobbin"), "app", words[0], "--url", f"http://127.0.0.1:{stack.services_port}",
                           "--user", "alice", *words[1:]], capture_output=True, text=True, timeout=2 * PATIENCE, check=False)


def definition(name, command, properties=None, **component):
    return {"name": name, "version": "1", "configuration": {"properties": properties or {}},
            "components": [{"name": "loop", "number_of_containers": 1, "launch_command": command, "resource": {"memory": "32"},
                            **component}]}


def post(stack, document):
    answer = stack.services("POST", "", document)
    assert answer.status == 202, answer


def only_container(stack, name):
    return next(iter(containers(stack.service(name))), {})


def test_a_crash_loop_says_how_often_and_why_also_after_a_restart(stack):
    post(stack, definition("crash", LOUD, {"yarn.service.container-failure.retry-interval-ms": "60000"}))
    seen = wait_for(lambda: next((c for c in [only_container(stack, "crash")] if c.get("restarts", 0) >= 2), None),
                    "it was started again twice")
    end = seen["last_exit"]
    assert (end["cause"], end["code"]) == ("exited", 3) and end["time"] > 1_600_000_000_000
    assert end["stderr"].split("\n") == [f"line {i}" for i in range(4, 13)] + ["no such file: config"]
    assert seen["hostname"] == f"loop-0.crash.alice.{DOMAIN}"
    shown = wait_for(lambda: next((d.stdout for d in [bobbin(stack, "status", "crash")] if "no such file" in d.stdout), None),
                     "status says why")
    lines = shown.splitlines()
    assert lines[0].split()[:2] == ["crash", "STARTED"]
    assert "Instance loop-0 failed" in lines[1] and "exit code 3" in lines[1]
    assert lines[-2].split() == ["INSTANCE", "STATE", "RESTARTS", "LAST-EXIT", "IP", "HOST", "CONTAINER"]
    row = lines[-1].split()
    assert row[0] == "loop-0" and int(row[2]) >= 2 and row[3] == "exited(3)"
    stack.svcmgr.process.send_signal(signal.SIGKILL)
    stack.svcmgr.process.wait()
    stack.svcmgr.start()
    again = wait_for(lambda: only_container(stack, "crash"), "svcmgr is back and the instance has a container")
    assert again["restarts"] >= seen["restarts"] and again["last_exit"]["stderr"].endswith("config")
    assert stack.services("PUT", "/crash", {"state": "STOPPED"}).status == 204
    stack.until_state("crash", "STOPPED")
    stopped = bobbin(stack, "status", "crash").stdout
    assert "Stopped by user alice" in stopped and "no such file: config" in stopped and "exited(3)" in stopped
    assert stack.services("DELETE", "/crash").status == 204


def test_a_failed_service_says_why_and_its_output_is_there(stack):
    post(stack, definition("dead", LOUD, {"yarn.service.container-failure-per-component.threshold": "1",
                                          "yarn.service.container-failure.retry.max": "0"}))
    document = stack.until_state("dead", "FAILED")
    assert document["diagnostics"].startswith("[COMPONENT loop]: Failed 2 times, exceeded the limit - 1.")
    assert "Instance loop-0 failed, 1 restarts: The process ended with exit code 3." in document["diagnostics"]
    assert document["diagnostics"].endswith("no such file: config")
    failure = document["last_failure"]
    assert (failure["component_instance_name"], failure["restarts"], failure["last_exit"]["code"]) == ("loop-0", 1, 3)
    shown = bobbin(stack, "status", "dead").stdout
    assert shown.splitlines()[0].startswith("dead FAILED") and "no such file: config" in shown
    assert shown.splitlines()[-1].split()[:4] == ["loop-0", "-", "1", "exited(3)"]
    for words in (["dead"], ["dead", "loop-0"]):
        done = bobbin(stack, "logs", *words)
        assert done.returncode == 0 and "line 12" in done.stdout, done
    assert stack.services("DELETE", "/dead").status == 204


def test_a_launch_that_fails_says_how(stack):
    path = os.path.join(stack.dir, "fails.json")
    with open(path, "w", encoding="utf-8") as out:
        out.write('{"name": "fails", "version": "1", "components": [{"name": "loop", "number_of_containers": 1, "restart_policy": "NEVER",'
                  ' "launch_command": "echo broken >&2; exit 7", "resource": {"memory": "32"},'
                  ' "readiness_check": {"type": "PORT", "properties": {"port": "9"}}}]}')  # never READY for a moment
    done = bobbin(stack, "launch", path)
    assert done.returncode != 0
    assert "the service is FAILED: loop-0: The process ended with exit code 7." in done.stderr, done
    assert stack.services("DELETE", "/fails").status == 204


def test_a_killed_process_and_one_that_ends_well_are_kept_apart(stack):
    post(stack, definition("apart", "echo \"$$\" >&2; exec sleep 1000", restart_policy="NEVER"))
    stack.until_state("apart", "READY")
    pid, = wait_for(lambda: [word for word in bobbin(stack, "logs", "apart", "loop-0").stdout.split() if word.isdigit()], "its pid is written")
    os.kill(int(pid), signal.SIGKILL)
    end = stack.until_state("apart", "FAILED")["last_failure"]["last_exit"]
    assert (end["cause"], end["signal"], end["stderr"]) == ("signalled", 9, pid)
    assert stack.services("DELETE", "/apart").status == 204
