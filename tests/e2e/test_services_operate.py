"""What is done with single instances day by day: restart, signal, usage, the logs of all; of processes and of images."""
import json
import os
import subprocess

import pytest

from harness import BIN, PATIENCE, Manager, containers, wait_for

pytestmark = pytest.mark.sanitize

TRAPS = "trap 'echo hup' HUP; trap 'echo usr1' USR1; echo ready $$; while :; do sleep 0.1; done"


@pytest.fixture(scope="module")
def manager():
    with Manager() as m:
        yield m


def service(name, command, n=1, **more):
    return {"name": name, "version": "1", "components": [{
        "name": "w", "number_of_containers": n, "launch_command": command, "resource": {"cpus": 1, "memory": "64"}, **more}]}


def app(manager, *words, **more):
    return subprocess.run([os.path.join(BIN, "bobbin"), "app", words[0], "--url", f"http://127.0.0.1:{manager.services_port}",
                           "--user", "alice", *words[1:]], capture_output=True, text=True, check=False, timeout=PATIENCE, **more)


def lines(manager, name, instance="w-0"):
    answer = manager.services("GET", f"/{name}/component-instances/{instance}/logs/stdout.txt?user.name=alice")
    return answer.body.decode().split("\n") if answer.status == 200 else []


def one(manager, name):
    return containers(manager.service(name))[0]


def test_a_restart_replaces_the_process_and_keeps_the_container(manager):
    before = containers(manager.launch(service("again", "echo pid $$; exec sleep 1000")))[0]
    first = wait_for(lambda: [line for line in lines(manager, "again") if line.startswith("pid")], "its pid")
    done = app(manager, "restart", "again", "w-0")
    assert (done.returncode, done.stdout) == (0, "restarted w-0\n"), done
    wait_for(lambda: len({line for line in lines(manager, "again") if line.startswith("pid")} - set(first)) == 1, "another process")
    after = wait_for(lambda: (c := one(manager, "again"))["state"] == "READY" and c, "it is ready")
    assert [after[k] for k in ("id", "ip", "restarts")] == [before["id"], before["ip"], 1]
    events = manager.services("GET", "/again/events?user.name=alice").json["events"]
    assert any(e["object"] == "w-0" and e["what"] == "restarted" and "alice" in e["why"] for e in events)
    missing = app(manager, "restart", "again", "w-7")
    assert missing.returncode != 0 and "w-7" in missing.stderr
    assert manager.services("POST", "/again/component-instances/w-0/restart?user.name=bob").status == 404


def test_signals_reach_the_processes(manager):
    manager.launch(service("traps", TRAPS))
    wait_for(lambda: any(line.startswith("ready") for line in lines(manager, "traps")), "the traps are set")
    for signal, said in (("HUP", "hup"), ("sigusr1", "usr1")):
        assert app(manager, "signal", "traps", "w-0", signal).returncode == 0
        wait_for(lambda: said in lines(manager, "traps"), said)  # noqa: B023
    refused = app(manager, "signal", "traps", "w-0", "NOSUCH")
    assert refused.returncode != 0 and "no such signal" in refused.stderr, refused
    assert manager.services("POST", "/traps/component-instances/w-0/signal?user.name=bob&signal=HUP").status == 404
    assert app(manager, "signal", "traps", "w-0", "9").returncode == 0
    wait_for(lambda: one(manager, "traps").get("last_exit", {}).get("signal") == 9, "it was killed")


def test_usage_by_instance(manager):
    command = "if [ $COMPONENT = busy ]; then while :; do :; done; fi; exec sleep 1000"
    document = service("loads", command)
    document["components"] = [{**document["components"][0], "name": name, "configuration": {"env": {"COMPONENT": name}}}
                              for name in ("busy", "idle")]
    manager.launch(document)

    def measure():
        answer = manager.services("GET", "/loads/usage?user.name=alice")
        assert answer.status == 200, answer
        return {i["instance"]: i for i in answer.json["instances"]}
    used = wait_for(lambda: (u := measure())["busy-0"].get("cpu_ms", 0) >= 100 and u, "the busy one has used a tenth of a second")
    assert used["idle-0"]["cpu_ms"] < used["busy-0"]["cpu_ms"]
    assert used["idle-0"]["memory"] > 0 and used["idle-0"]["memory_limit"] == 64 << 20 and used["idle-0"]["processes"] == 1
    shown = app(manager, "top", "loads")
    head, *rows = shown.stdout.splitlines()
    assert head.split()[:4] == ["INSTANCE", "CPU%", "MEMORY-MB", "LIMIT-MB"] and [row.split()[0] for row in rows] == ["busy-0", "idle-0"]
    assert float(rows[0].split()[1]) > 0
    assert {i["instance"] for i in json.loads(app(manager, "top", "loads", "-o", "json").stdout)["instances"]} == {"busy-0", "idle-0"}
    assert manager.services("DELETE", "/loads?user.name=alice").status == 204


def test_logs_of_all_have_a_prefix(manager):
    manager.launch(service("choir", "echo one; printf two; exec sleep 1000", n=2))
    wait_for(lambda: all(lines(manager, "choir", f"w-{i}")[-1:] == ["two"] for i in range(2)), "both have sung")
    done = app(manager, "logs", "--all", "choir")
    assert sorted(done.stdout.splitlines()) == ["w-0 | one", "w-0 | two", "w-1 | one", "w-1 | two"], done
    assert app(manager, "logs", "--all", "choir", "w-0").returncode == 2


def test_a_simulated_cluster_has_no_processes():
    with Manager(options={"svcmgr": {"yarn.service.cluster": "sim"}}) as m:
        m.launch(service("dream", "sleep 1000"))
        for answer in (m.services("GET", "/dream/usage?user.name=alice"),
                       m.services("POST", "/dream/component-instances/w-0/signal?user.name=alice&signal=HUP")):
            assert answer.status == 501 and "processes" in answer.body.decode(), answer
        assert m.services("POST", "/dream/component-instances/w-0/restart?user.name=alice").status in (202, 204)
        wait_for(lambda: one(m, "dream").get("restarts") == 1 and one(m, "dream")["state"] == "READY", "it was restarted there, too")
