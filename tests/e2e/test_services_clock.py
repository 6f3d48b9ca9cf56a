"""The time of day is set back by an hour, or forward by a day, while services run: nothing waits, nothing happens early."""
import os
import time
from datetime import datetime

import pytest

from harness import PATIENCE, Stack, WallClock, containers, wait_for

JUMPS = ["-1h", "+1d"]
LIFETIME = 7200

# Runs for a moment, fails and is started again; each start is a line.
FAILING = 'echo start >> {dir}/starts; exit 1'
# Serves, and so becomes ready, once a file is there.
LATE = 'until [ -e {dir}/go ]; do sleep 0.05; done; exec busybox httpd -f -p "$CONTAINER_IP:8080"'
# Takes no notice of SIGTERM.
DEAF = "trap '' TERM; while :; do sleep 0.1; done"


def component(name, command, **more):
    return {"name": name, "number_of_containers": 1, "launch_command": command, "resource": {"cpus": 1, "memory": "32"}, **more}


@pytest.fixture
def stack():
    s = Stack(services=True)
    s.clock = WallClock(s.dir)
    s.svcmgr.env = s.clock.env
    os.mkdir(f"{s.dir}/out")
    os.chmod(f"{s.dir}/out", 0o777)
    try:
        with s:
            yield s
    finally:
        s.clock.tidy()


def out(stack):
    return f"{stack.dir}/out"


def starts(stack):
    try:
        with open(f"{out(stack)}/starts", encoding="ascii") as f:
            return len(f.readlines())
    except FileNotFoundError:
        return 0


def launch(stack, *components):
    answer = stack.services("POST", "", {"name": "web", "version": "1", "lifetime": LIFETIME, "components": list(components)})
    assert answer.status == 202, answer


def failing(stack):
    return component("failing", FAILING.format(dir=out(stack)),
                     configuration={"properties": {"yarn.service.container-failure.retry-interval-ms": "200"}})


def more_starts(stack, n=3):
    before = starts(stack)
    wait_for(lambda: starts(stack) >= before + n, "the failing process is started again and again")


def ahead(stack):
    """How far the time of day of svcmgr's last event is from ours."""
    return datetime.fromisoformat(stack.svcmgr.events[-1]["time"]).timestamp() - time.time()


def set_clock(stack, jump):
    """Set it, and see that svcmgr has noticed and takes events."""
    stack.clock.set(jump)
    wait_for(lambda: abs(ahead(stack)) > 3600 - 2 * PATIENCE, "svcmgr logs another time of day")
    assert (ahead(stack) > 0) == (jump[0] == "+")


@pytest.mark.parametrize("jump", JUMPS)
def test_retries_and_lifetime_go_on(stack, jump):
    launch(stack, failing(stack))
    more_starts(stack)
    set_clock(stack, jump)
    more_starts(stack)
    assert LIFETIME - 2 * PATIENCE < stack.service("web")["lifetime"] <= LIFETIME


@pytest.mark.parametrize("jump", JUMPS)
def test_a_restart_in_another_time_of_day_goes_on(stack, jump):
    launch(stack, failing(stack))
    more_starts(stack)
    left = stack.service("web")["lifetime"]
    stack.svcmgr.kill()
    stack.clock.set(jump)
    stack.svcmgr.start("svcmgr_ready")
    more_starts(stack)
    assert left - 2 * PATIENCE < stack.service("web")["lifetime"] <= left


def run_once(stack, name):
    """Run a service and remove it; the directory with the logs of its container, which is gone."""
    assert stack.services("POST", "", {"name": name, "version": "1", "components": [
        component("once", "echo done; exit 0", restart_policy="NEVER")]}).status == 202
    app = stack.until_state(name, "STOPPED")["id"]
    assert stack.services("DELETE", f"/{name}").status == 204
    wait_for(lambda: not os.listdir(f"{stack.dir}/svcmgr/containers"), "its container is gone")
    return f"{stack.dir}/svcmgr/logs/{app}"


def test_logs_are_kept_for_their_time(stack):
    kept = run_once(stack, "first")
    stack.clock.set("+1d")
    other = run_once(stack, "second")  # whose end looks for old logs
    wait_for(lambda: [n for n in os.listdir(other) if n[0] == "."], "it has looked")
    assert [n for n in os.listdir(kept) if n[0] != "."], "the logs of the first are there"
    stack.svcmgr.stop()
    stack.svcmgr.options["yarn.nodemanager.log.retain-seconds"] = "1ms"
    stack.clock.set("-1h")
    stack.svcmgr.start("svcmgr_ready")
    run_once(stack, "third")
    wait_for(lambda: not os.path.exists(kept) and not os.path.exists(other), "those whose time is over are removed")


@pytest.mark.parametrize("jump", JUMPS)
def test_a_probe_goes_on(stack, jump):
    check = {"type": "PORT", "properties": {"port": "8080"}}
    launch(stack, failing(stack), component("late", LATE.format(dir=out(stack)), readiness_check=check))
    wait_for(lambda: [c for c in containers(stack.service("web")) if c["component_instance_name"] == "late-0"
                      and c["state"] == "STARTED"], "it runs, but is not ready")
    set_clock(stack, jump)
    with open(f"{out(stack)}/go", "w", encoding="ascii"):
        pass
    wait_for(lambda: [c for c in containers(stack.service("web")) if c["component_instance_name"] == "late-0"
                      and c["state"] == "READY"], "it is ready")


@pytest.mark.parametrize("jump", JUMPS)
def test_a_stop_ends(stack, jump):
    launch(stack, failing(stack), component("deaf", DEAF))
    wait_for(lambda: [c for c in containers(stack.service("web")) if c["component_instance_name"] == "deaf-0"
                      and c["state"] == "READY"], "it runs")
    set_clock(stack, jump)
    assert stack.services("PUT", "/web", {"state": "STOPPED"}).status == 204
    stack.clock.set("+0")
    stack.until_state("web", "STOPPED")
    assert stack.services("DELETE", "/web").status == 204
