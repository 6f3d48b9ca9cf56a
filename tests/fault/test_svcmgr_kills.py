"""svcmgr, registryd, shims and processes are killed at random, or the disk is full: what was acknowledged holds, nothing is
left over."""
import contextlib
import os
import random
import resource
import signal
import time

import pytest

from harness import Stack, containers, sleepers, until_sleepers, wait_for

pytestmark = pytest.mark.sanitize

USER = "?user.name=alice"


def document(name, count):
    return {"name": name, "version": "1", "components": [{
        "name": "w", "number_of_containers": count, "launch_command": "exec sleep 1000",
        "resource": {"cpus": 1, "memory": "16"},
        "configuration": {"properties": {"yarn.service.container-failure-per-component.threshold": "100000"}}}]}


def ids_of(stack, name):
    return sorted(c["id"] for c in containers(stack.service(name)))


def ids_published(stack, name):
    answer = stack.registry("GET", f"/users/alice/services/yarn-service/{name}/components", query="recursive=true")
    return sorted(n["service"]["yarn:id"] for n in answer.json.get("tree", []) if "service" in n)


def consistent(stack, name, count):
    ids = ids_of(stack, name)
    return (len(ids) == count and ids_published(stack, name) == ids and len(sleepers(stack.dir)) == count and
            sorted(os.listdir(f"{stack.dir}/svcmgr/containers")) == ids)


def restart_services(stack):
    stack.svcmgr.kill()
    stack.svcmgr.start("svcmgr_ready")


def restart_registry(stack):
    stack.registryd.kill()
    stack.registryd.start("registry_synced")


def kill_one(stack):
    found = list(sleepers(stack.dir))
    if found:
        with contextlib.suppress(ProcessLookupError):  # it may just have ended by itself
            os.kill(random.choice(found), signal.SIGKILL)


def flex(stack):
    count = random.randint(0, 6)
    answer = stack.services("PUT", f"/web/components/w{USER}", {"number_of_containers": count})
    assert answer.status == 200, answer


@pytest.mark.parametrize("seed", [1, 2])
def test_random_kills_end_in_one_truth(seed):
    random.seed(seed)
    options = {"svcmgr": {"yarn.service.container-failure.retry-interval-ms": "200"}}  # else the pause grows to 30 s
    with Stack(services=True, options=options) as stack:
        stack.launch(document("web", 3))
        end = time.monotonic() + 6
        while time.monotonic() < end:
            random.choice([flex, flex, flex, restart_services, restart_registry, kill_one])(stack)
        stack.services("PUT", f"/web/components/w{USER}", {"number_of_containers": 4})
        wait_for(lambda: consistent(stack, "web", 4), "API, registry, directories and processes agree")
        stack.until_state("web", "READY")


def test_same_processes_after_a_kill():
    with Stack(services=True) as stack:
        stack.launch(document("web", 3))
        ids, pids = ids_of(stack, "web"), until_sleepers(stack.dir, 3)
        restart_services(stack)
        stack.until_state("web", "READY")
        assert ids_of(stack, "web") == ids
        assert sleepers(stack.dir) == pids


def test_containers_outlive_an_orderly_end_unless_an_option_says():
    with Stack(services=True, options={"svcmgr": {"yarn.service.stop-containers-on-exit": "false"}}) as stack:
        stack.launch(document("web", 2))
        pids = until_sleepers(stack.dir, 2)
        stack.svcmgr.stop()
        assert sleepers(stack.dir) == pids
        stack.svcmgr.options["yarn.service.stop-containers-on-exit"] = "true"
        stack.svcmgr.start("svcmgr_ready")
        stack.svcmgr.stop()
        assert sleepers(stack.dir) == {}
        answer = stack.registry("GET", "/users/alice/services/yarn-service/web")
        assert answer.status == 404, answer
        stack.svcmgr.start("svcmgr_ready")
        stack.until_state("web", "READY")
        wait_for(lambda: consistent(stack, "web", 2), "the kept service runs and is published again")


def test_a_full_disk_refuses_and_heals():
    with Stack(services=True) as stack:
        pid = stack.svcmgr.process.pid
        stack.launch(document("first", 1))
        until_sleepers(stack.dir, 1)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
        answer = stack.services("POST", USER, document("second", 1))
        assert answer.status == 500, answer
        assert "could not be stored" in answer.json["diagnostics"]
        stack.svcmgr.event("state_not_written")
        assert len(sleepers(stack.dir)) == 1  # no effect of what is not durable
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        stack.svcmgr.event("state_written_again")
        assert stack.services("GET", f"/second{USER}").status == 404  # the answer "not stored" was true
        stack.launch(document("second", 1))
        restart_services(stack)
        stack.until_state("second", "READY")
