"""The output of containers: it has a bound, it is read across the files that it is kept in."""
import os
import subprocess

import pytest

from harness import BIN, PATIENCE, Stack, containers, wait_for

pytestmark = pytest.mark.sanitize

LIMIT = 65536  # of both outputs; two files of each: 16384 bytes a file
USER = "?user.name=alice"


@pytest.fixture(scope="module")
def stack():
    options = {"svcmgr": {"yarn.nodemanager.container-log-monitor.dir-size-limit-bytes": str(LIMIT),
                          "yarn.service.local.log-files": "2"}}
    with Stack(services=True, options=options) as s:
        yield s


def launch(stack, name, command):
    return stack.launch({"name": name, "version": "1", "components": [{
        "name": "w", "number_of_containers": 1, "launch_command": command, "resource": {"cpus": 1, "memory": "64"}}]})


def logs(stack, *words):
    return [os.path.join(BIN, "bobbin"), "app", "logs", "--url", f"http://127.0.0.1:{stack.services_port}", "--user", "alice", *words]


def read_logs(stack, *words):
    return subprocess.run(logs(stack, *words), capture_output=True, text=True, check=True, timeout=PATIENCE).stdout


def numbers(text):
    return [int(line) for line in text.splitlines() if line.isdigit()]


def test_output_has_a_bound_and_its_end_is_kept(stack):
    service = launch(stack, "loud", "busybox seq 1 100000; exec sleep 1000")
    wait_for(lambda: (n := numbers(read_logs(stack, "loud", "w-0"))) and n[-1] == 100000, "the last line is there")
    kept = numbers(read_logs(stack, "loud", "w-0"))  # while lines came, files were dropped between two requests of one reader
    assert kept == list(range(kept[0], 100001)), "whole lines, in order, none missing between the files"
    directory = os.path.join(stack.dir, "svcmgr", "logs", service["id"], containers(service)[0]["id"])
    sizes = {name: os.path.getsize(os.path.join(directory, name)) for name in os.listdir(directory)}
    assert sorted(sizes) == ["stderr.txt", "stdout.txt", "stdout.txt.1"]
    assert 16384 < sum(sizes.values()) <= LIMIT // 2 and max(sizes.values()) <= LIMIT // 4
    for name, status in (("stdout.txt.1", 200), ("stdout.txt.2", 200), ("stdout.txt.0", 404), ("stdout.txt.01", 404),
                         ("stdout.txt.100", 404), ("stdout.txt.", 404), ("stdout.txt.x", 404)):
        answer = stack.services("GET", f"/loud/component-instances/w-0/logs/{name}{USER}")
        assert answer.status == status, (name, answer)


def test_who_follows_misses_nothing_when_a_file_is_full(stack):
    gate = os.path.join(stack.dir, "gate")
    launch(stack, "tide", f"busybox seq 1 3000; until [ -e {gate} ]; do sleep 0.05; done; busybox seq 3001 5000; exec sleep 1000")
    process = subprocess.Popen(logs(stack, "-f", "tide", "w-0"), stdout=subprocess.PIPE, text=True)
    try:
        seen = []
        while not seen or seen[-1] < 3000:
            seen += numbers(process.stdout.readline())
        with open(gate, "w", encoding="ascii"):
            pass
        while seen[-1] < 5000:
            seen += numbers(process.stdout.readline())
        assert seen == list(range(1, 5001))
    finally:
        process.kill()
        process.communicate()


# ---- after the end ----

def output(stack, service, which, user="alice"):
    return stack.services("GET", f"/{service}/component-instances/{which}/logs/stdout.txt?user.name={user}")


def spoken(stack, service, which):
    """The output, once the container has spoken."""
    return wait_for(lambda: (a := output(stack, service, which)).body.startswith(b"I am ") and a, f"{which} has spoken")


SPEAK = "echo I am $CONTAINER_ID; exec sleep 1000"


def test_logs_of_a_released_container_are_kept(stack):
    """By the instance and by the container's id; to nobody else."""
    service = launch(stack, "brief", SPEAK)
    assert stack.services("PUT", f"/brief/components/w{USER}", {"number_of_containers": 2}).status == 200
    wait_for(lambda: len(containers(stack.service("brief"))) == 2, "two instances")
    ids = {c["component_instance_name"]: c["id"] for c in containers(stack.service("brief"))}
    for instance in ids:
        assert spoken(stack, "brief", instance).headers["Bobbin-Container"] == ids[instance]
    assert stack.services("PUT", f"/brief/components/w{USER}", {"number_of_containers": 1}).status == 200
    gone = os.path.join(stack.dir, "svcmgr", "containers", ids["w-1"])
    wait_for(lambda: not os.path.exists(gone), "the container of w-1 is gone")
    assert output(stack, "brief", "w-1").body == f"I am {ids['w-1']}\n".encode()
    assert output(stack, "brief", "w-2").status == 404, "there was none"
    assert output(stack, "brief", ids["w-1"]).body == f"I am {ids['w-1']}\n".encode()
    assert f"I am {ids['w-1']}" in read_logs(stack, "brief", ids["w-1"])
    launch(stack, "other", SPEAK)
    assert output(stack, "other", ids["w-1"]).status == 404, "another service of the same user"
    assert output(stack, "brief", ids["w-1"], user="bob").status == 404, "another user"
    assert output(stack, "brief", ids["w-1"] + "%2F..%2F" + ids["w-0"]).status in (400, 404)
    assert service["id"] == stack.service("brief")["id"]
    assert stack.services("PUT", f"/brief{USER}", {"state": "STOPPED"}).status in (200, 204)
    gone = os.path.join(stack.dir, "svcmgr", "containers", ids["w-0"])
    wait_for(lambda: not os.path.exists(gone), "the service is stopped")
    stack.svcmgr.kill()
    stack.svcmgr.start("svcmgr_ready")
    assert output(stack, "brief", ids["w-0"]).body == f"I am {ids['w-0']}\n".encode()


def test_logs_outlive_their_application_and_their_service(stack):
    """By the container's id: after the service has begun anew, and after it was destroyed."""
    launch(stack, "phoenix", SPEAK)
    first = containers(stack.service("phoenix"))[0]["id"]
    spoken(stack, "phoenix", "w-0")
    assert stack.services("PUT", f"/phoenix{USER}", {"state": "STOPPED"}).status in (200, 204)
    gone = os.path.join(stack.dir, "svcmgr", "containers", first)
    wait_for(lambda: not os.path.exists(gone), "the service is stopped")
    assert stack.services("PUT", f"/phoenix{USER}", {"state": "STARTED"}).status in (200, 202, 204)
    wait_for(lambda: output(stack, "phoenix", "w-0").headers.get("Bobbin-Container") not in (None, first), "it runs again")
    for _ in ("another application of the service runs", "the service is gone"):
        assert output(stack, "phoenix", first).body == f"I am {first}\n".encode()
        assert output(stack, "ashes", first).status == 404, "another service of the same user"
        assert output(stack, "phoenix", first, user="bob").status == 404, "another user"
        if stack.services("GET", f"/phoenix{USER}").status == 200:
            assert stack.services("DELETE", f"/phoenix{USER}").status in (200, 204)
    assert stack.services("GET", f"/phoenix{USER}").status == 404
    assert output(stack, "phoenix", "w-0").status == 404, "there is no such service"


def test_logs_of_a_failed_container_are_kept(stack):
    stack.services("POST", USER, {"name": "broken", "version": "1", "components": [{
        "name": "w", "number_of_containers": 1, "restart_policy": "NEVER", "launch_command": "echo I am broken; exit 3",
        "resource": {"cpus": 1, "memory": "64"}}]})
    wait_for(lambda: stack.service("broken")["state"] == "FAILED", "it has failed")
    assert output(stack, "broken", "w-0").body == b"I am broken\n"
    assert "I am broken" in read_logs(stack, "broken", "w-0")


def test_logs_go_when_their_time_after_the_end_is_over():
    with Stack(services=True, options={"svcmgr": {"yarn.nodemanager.log.retain-seconds": "2"}}) as stack:
        launch(stack, "brief", SPEAK)
        assert stack.services("PUT", f"/brief/components/w{USER}", {"number_of_containers": 2}).status == 200
        wait_for(lambda: len(containers(stack.service("brief"))) == 2, "two instances")
        spoken(stack, "brief", "w-1")
        assert stack.services("PUT", f"/brief/components/w{USER}", {"number_of_containers": 1}).status == 200
        wait_for(lambda: output(stack, "brief", "w-1").status == 404, "nothing else has to end for it")
        assert output(stack, "brief", "w-0").status == 200, "who runs keeps his, however old"
        assert stack.services("DELETE", f"/brief{USER}").status in (200, 204)
        root = os.path.join(stack.dir, "svcmgr", "logs")
        wait_for(lambda: not os.listdir(root), "nothing stays of an application whose logs are gone")
