"""The cluster itself, and `./dev yarn up|down|status` with a directory of its own in place of build/yarn."""
import functools
import os
import re
import subprocess

import pytest

import kept
import yarn as program
from apps import App
from harness import request, wait_for


def listening(pids):
    """Addresses on which these processes listen, whatever the protocol."""
    shown = subprocess.run(["ss", "-Hltunp"], capture_output=True, text=True, check=True).stdout
    return [line.split()[4] for line in shown.splitlines() if any(f"pid={pid}," in line for pid in pids)]


def webhdfs(port, method, path, query, body=None):
    """Its answer; of the data node, where the name node says so."""
    answer = request(port, method, f"/webhdfs/v1{path}?{query}&user.name={os.environ.get('USER', 'root')}")
    if answer.status != 307:
        return answer
    there = re.fullmatch(r"http://localhost:(\d+)(/.*)", answer.headers["Location"])
    return request(int(there[1]), method, there[2], body, {"Content-Type": "application/octet-stream"})


def test_all_of_it_listens_on_loopback_addresses_only(yarn):
    addresses = listening([m.pid for m in yarn.members])
    at = [m.addresses["web"].rpartition(":")[2] for m in (yarn.rm, *yarn.nodes)]
    assert {f"127.0.0.1:{port}" for port in at} <= set(addresses)
    assert all(a.startswith("127.0.0.1:") for a in addresses), addresses


def test_its_containers_are_found_and_ended(yarn):
    app = App(yarn, attempts=1)
    app.attempt(1, "LAUNCHED")
    wait_for(lambda: app.processes().get(app.masters_container(1)), "its command runs")
    assert not program.end_containers(yarn.dir), "there was one"
    app.until("FAILED")
    wait_for(lambda: program.end_containers(yarn.dir), "there is none")


@pytest.fixture
def run(tmp_path, monkeypatch, says):
    """With free ports, and without node managers, which the other tests have."""
    monkeypatch.setattr(program, "HOME", str(tmp_path / "yarn"))
    monkeypatch.setattr(program, "usual_port", program.any_port)
    monkeypatch.setattr(program, "Cluster", functools.partial(program.Cluster, n_nodes=0))
    yield functools.partial(says, program.main)
    program.down()


def test_up_status_down(run):
    assert run("status") == (1, "No cluster runs\n")
    code, said = run("up", "--hdfs")
    assert code == 0, said
    pids = dict(re.findall(r"^(\w+) +process (\d+)", said, re.M))
    assert set(pids) == {"zookeeper", "namenode", "datanode", "rm"}, said
    assert run("status") == (0, said)
    code, again = run("up")
    assert code == 1 and "already" in again, again
    ports = {name: int(port) for name, port in re.findall(r"^(\w+) .* web http://localhost:(\d+)", said, re.M)}
    assert request(ports["rm"], "GET", "/ws/v1/cluster/info").json["clusterInfo"]["haState"] == "ACTIVE"
    assert webhdfs(ports["namenode"], "PUT", "/a/file", "op=CREATE", b"bytes").status == 201
    assert webhdfs(ports["namenode"], "GET", "/a/file", "op=OPEN").body == b"bytes"
    addresses = listening(pids.values())
    assert len(addresses) >= 10 and all(a.startswith("127.0.0.1:") for a in addresses), addresses
    code, gone = run("down")
    assert code == 0 and "is down" in gone and run("status") == (1, "No cluster runs\n")
    assert not any(kept.start_time(pid) for pid in pids.values())
    assert os.listdir(program.HOME) == ["log"] and "rm.log" in os.listdir(os.path.join(program.HOME, "log"))
    assert run("down")[0] == 0


@pytest.mark.parametrize("words", [(), ("restart",), ("status", "now"), ("down", "--hdfs"), ("up", "--nodes"), ("up", "--hdfs", "--hdfs")])
def test_usage(run, words):
    code, said = run(*words)
    assert code == 2 and said.startswith("usage: ./dev yarn up [")


def test_a_pid_that_was_given_to_another_process_is_not_ended():
    other = subprocess.Popen(["sleep", "60"])
    try:
        mark = kept.mark(other.pid)
        assert kept.alive(mark) == other.pid
        before = f"{other.pid} {int(mark.split()[1]) - 1}"
        assert kept.alive(before) == 0
        kept.end(before)
        assert other.poll() is None
        kept.end(mark)
        assert other.wait() and kept.alive(mark) == 0
    finally:
        other.kill()
        other.wait()
