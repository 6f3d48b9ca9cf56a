"""svcmgr/yarn on a real cluster: applications, masters and containers by Hadoop's own protocols (yarn-rpc, driven line by line)."""
import glob
import json
import os
import re
import subprocess

import pytest

from harness import BIN, wait_for
from yarn import Cluster

PROGRAM = os.path.join(BIN, "yarn-rpc")
RM = "yarn.resourcemanager"
MASTER = """conf {conf}
protection authentication,integrity
token-file
register
ask 64
until-allocated
start sleep 900
until "sub_state":"RUNNING"
until "IPS"
stop
until-completed
finish
"""


class Rpc:
    """yarn-rpc with the configuration of a cluster; `do` is one command and its answer."""

    def __init__(self, yarn, *lines, user="alice"):
        self.process = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        for line in (f"conf {yarn.dir}/conf", f"user {user}", *lines):
            assert self.do(line) == {}

    def do(self, line):
        self.process.stdin.write(line + "\n")
        answer = self.process.stdout.readline()
        assert answer, f"yarn-rpc ended at: {line}"
        return json.loads(answer)

    def fine(self, line):
        answer = self.do(line)
        assert "error" not in answer, (line, answer)
        return answer

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        assert self.process.wait(60) == 0
        self.process.stdout.close()


def unmanaged(rpc, tag):
    """A new application whose master rpc is, registered. @return its id."""
    id = rpc.fine("new")["id"]
    rpc.fine(f"submit-unmanaged {tag}")
    assert rpc.fine('until-report "token":true')["user"] == "alice"
    assert rpc.fine("register") == {"queue": "root.default", "memory": 4096}
    return id


def running(rpc, command="sleep 900"):
    """A container that runs. @return its id."""
    rpc.fine("ask 64")
    allocated = rpc.fine("until-allocated")
    assert allocated["request"] == 7
    assert rpc.fine(f"start {command}")["n_started"] == 1
    rpc.fine('until "sub_state":"RUNNING"')
    return allocated["container"]


def processes(yarn, container):
    """Command lines of a container's processes."""
    found = []
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(path, "rb") as env, open(os.path.join(os.path.dirname(path), "cmdline"), "rb") as words:
                if f"CONTAINER_ID={container}".encode() in env.read().split(b"\0"):
                    found.append(words.read().replace(b"\0", b" ").decode().strip())
        except OSError:
            continue
    return found


def said(log, n):
    """The answers in a log, as soon as there are n."""
    with open(log, encoding="utf-8") as f:
        lines = f.readlines()
    return [json.loads(line) for line in lines] if len(lines) == n else None


def test_master_of_one_container(yarn):
    with Rpc(yarn) as rpc:
        id = unmanaged(rpc, "rpc-one")
        assert id in rpc.fine("applications rpc-one")["ids"]
        assert rpc.fine("nodes")["nodes"]
        container = running(rpc)
        wait_for(lambda: "sleep 900" in processes(yarn, container), "the command runs")
        assert re.match(r"\d+\.\d+\.\d+\.\d+", rpc.fine('until "IPS"')["IPS"])
        assert rpc.fine("timeout 2035-01-02T03:04:05.678+0000")["expires"] == "2035-01-02T03:04:05.678+0000"
        assert rpc.fine("stop") == {"n_stopped": 1, "n_failed": 0}
        assert rpc.fine("until-completed")["exit_status"] == -105
        wait_for(lambda: not processes(yarn, container), "nothing of the container is left")
        assert rpc.fine("finish") == {"unregistered": True}
        ended = rpc.fine("until-report FINISHED")
        assert (ended["final"], ended["diagnostics"]) == (1, "all done")


def test_upgrade_in_place_and_back(yarn):
    with Rpc(yarn) as rpc:
        unmanaged(rpc, "rpc-upgrade")
        container = running(rpc)
        for command, expected in (("reinit sleep 901", "sleep 901"), ("roll-back", "sleep 900"), ("reinit sleep 902", "sleep 902"),
                                  ("commit", "sleep 902")):
            rpc.fine(command)
            wait_for(lambda expected=expected: expected in processes(yarn, container), expected)
            rpc.fine('until "sub_state":"RUNNING"')
        assert "error" in rpc.do("roll-back"), "what was committed stays"
        rpc.fine("signal")
        assert rpc.fine("until-completed")["exit_status"] == 143
        rpc.fine("finish")


def test_program_as_managed_master(yarn, tmp_path):
    script = tmp_path / "script"
    script.write_text(MASTER.format(conf=f"{yarn.dir}/conf"))
    with Rpc(yarn) as rpc:
        id = rpc.fine("new")["id"]
        rpc.fine(f"submit rpc-managed {PROGRAM} {script}")
        ended = rpc.fine("until-report FINISHED")
        assert (ended["final"], ended["diagnostics"]) == (1, "all done")
    log, = glob.glob(f"{yarn.dir}/log/nm*-containers/{id}/*_01_000001/stdout")
    answers = wait_for(lambda: said(log, MASTER.count("\n")), "the master has said all")
    assert answers[2] == {"kind": "YARN_AM_RM_TOKEN"}
    assert not [a for a in answers if "error" in a]
    assert answers[-2]["exit_status"] == -105 and answers[-1] == {"unregistered": True}


def test_what_servers_refuse_has_a_code(yarn):
    with Rpc(yarn) as rpc:
        unknown = rpc.do("report application_1700000000000_0001")
        assert (unknown["error"], unknown["class"]) == ("ERR_NOTFOUND", "org.apache.hadoop.yarn.exceptions.ApplicationNotFoundException")
        unmanaged(rpc, "rpc-refused")
        again = rpc.do("register")
        assert (again["error"], again["class"]) == ("ERR_CONFLICT",
                                                    "org.apache.hadoop.yarn.exceptions.InvalidApplicationMasterRequestException")
        assert rpc.do("ask 1000000")["error"] == "ERR_INVALID"
        running(rpc)
        started = rpc.do("start sleep 903")
        assert started["n_failed"] == 1 and started["text"]
        wrong = rpc.do("wrong-token")
        assert wrong["error"] == "ERR_AUTH" and wrong["not_done"]
        rpc.fine("stop")
        assert rpc.fine("kill") == {"completed": True}
        rpc.fine("until-report KILLED")
        wait_for(lambda: rpc.do("allocate").get("error") == "ERR_GONE", "the attempt is over")


def test_wrong_ports_are_named(yarn):
    with Rpc(yarn, f"set {RM}.address={yarn.rm.addresses['masters']}") as rpc:
        answer = rpc.do("new")
        assert answer["error"] == "ERR_AUTH" and "SIMPLE authentication is not enabled" in answer["text"]
        assert answer["class"] == "org.apache.hadoop.security.AccessControlException"


def test_first_of_two_resource_managers_does_not_listen(yarn):
    dead = f"127.0.0.1:{yarn.port(1)}"
    with Rpc(yarn, f"set {RM}.ha.enabled=true", f"set {RM}.ha.rm-ids=rm1,rm2", f"set {RM}.address.rm1={dead}",
             f"set {RM}.address.rm2={yarn.rm.addresses['clients']}") as rpc:
        assert rpc.fine("nodes")["nodes"]


def test_restart_of_the_resource_manager(yarn, tmp_path):
    """The master's calls wait for it; then it asks for a new registration, and the container has lived on."""
    with Rpc(yarn) as rpc:
        unmanaged(rpc, "rpc-restart")
        container = running(rpc)
        yarn.rm.kill()
        yarn.rm.start()
        answer = rpc.do("allocate")
        assert answer["error"] == "ERR_WRONGSTATE", answer
        rpc.fine("register")
        rpc.fine("allocate")
        assert rpc.fine("status")["sub_state"] == "RUNNING"
        assert "sleep 900" in processes(yarn, container)
        rpc.fine("stop")
        rpc.fine("until-completed")
        rpc.fine("finish")


@pytest.fixture(scope="module")
def signing():
    with Cluster(n_nodes=1, settings={"hadoop.rpc.protection": "integrity"}) as cluster:
        yield cluster


def test_integrity(signing):
    with Rpc(signing, "protection integrity") as rpc:
        unmanaged(rpc, "rpc-signed")
        running(rpc)
        rpc.fine("stop")
        rpc.fine("until-completed")
        rpc.do("protection authentication")
        rpc.fine("disconnect")
        refused = rpc.do("allocate")
        assert refused["error"] == "ERR_UNSUPPORTED" and "auth-int only" in refused["text"]
        rpc.do("protection privacy,integrity")
        rpc.fine("disconnect")
        rpc.fine("finish")
