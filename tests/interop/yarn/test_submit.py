"""svcmgr/submit on a real cluster: one application a tag, its reports, its end, and the archive of its master."""
import glob
import json
import os
import subprocess

import pytest

from harness import BIN, wait_for
from yarn import Cluster

PROGRAM = os.path.join(BIN, "submit-drive")


class Drive:
    """submit-drive with the configuration of a cluster."""

    def __init__(self, yarn, user="alice"):
        self.process = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.do(f"conf {yarn.dir}/conf")
        self.do(f"user {user}")

    def do(self, line):
        self.process.stdin.write(line + "\n")
        answer = self.process.stdout.readline()
        assert answer, f"submit-drive ended at: {line}"
        return json.loads(answer)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        assert self.process.wait(60) == 0
        self.process.stdout.close()


def output(yarn, id):
    """What the master has written."""
    for path in glob.glob(f"{yarn.dir}/log/nm*-containers/{id}/*_01_000001/serviceam-out.txt"):
        with open(path, encoding="utf-8") as f:
            return f.read()
    return ""


def test_one_tag_is_one_application(yarn):
    with Drive(yarn) as drive:
        first = drive.do("start bobbin:one default 128 sleep 900")
        assert first["new"] and "error" not in first
        again = drive.do("start bobbin:one default 128 sleep 900")
        assert (again["id"], again["new"]) == (first["id"], False)
        app = yarn.rest(f"/apps/{first['id']}").json["app"]
        assert (app["user"], app["applicationType"]) == ("alice", "yarn-service")
        assert set(app["applicationTags"].split(",")) == {"bobbin:one", "name: drive"}
        assert "error" not in drive.do("kill")
        ended = drive.do("until ended")
        assert (ended["state"], ended["ended"], ended["final"]) == ("KILLED", True, 3)
        assert "killed by the test" in ended["diagnostics"]
        assert drive.do("start bobbin:one default 128 sleep 900") == {"id": first["id"], "new": False}
        assert "error" not in drive.do("kill bobbin:none"), "there is none"


def test_lifetime_ends_it(yarn):
    with Drive(yarn) as drive:
        drive.do("start bobbin:life default 128 sleep 900")
        assert "error" not in drive.do("lifetime 1")
        ended = drive.do("until ended")
        assert ended["state"] == "KILLED" and "exceeded the lifetime" in ended["diagnostics"], ended


def test_refusals_and_waits_are_explained(yarn):
    with Drive(yarn) as drive:
        unknown = drive.do("start bobbin:queue nowhere 128 sleep 900")
        assert unknown["error"] == "ERR_INVALID" and "nowhere" in unknown["text"], unknown
        large = drive.do("start bobbin:large default 100000 sleep 900")
        assert large["error"] == "ERR_INVALID" and "id" not in large, large


@pytest.fixture(scope="module")
def small():
    """Its queue may give one container to masters."""
    settings = {"yarn.nodemanager.resource.memory-mb": 256, "yarn.scheduler.maximum-allocation-mb": 256}
    with Cluster(n_nodes=1, hdfs=True, settings=settings) as cluster:
        yield cluster


def test_master_waits_for_room(small):
    with Drive(small) as drive:
        drive.do("start bobbin:room1 default 256 sleep 900")
        drive.do("start bobbin:room2 default 256 sleep 900")
        waiting = drive.do("until limit")
        assert waiting["state"] == "ACCEPTED" and "limit" in waiting["diagnostics"], waiting
        assert "Details" not in waiting["diagnostics"]
        assert "error" not in drive.do("kill bobbin:room1") and "error" not in drive.do("kill bobbin:room2")
        assert drive.do("until ended")["state"] == "KILLED"


@pytest.mark.parametrize("way", ["serve", "upload /tmp/submit"])
def test_program_reaches_the_node(small, tmp_path, way):
    with Drive(small, user=os.environ.get("USER") or "root") as drive:
        package = drive.do(f"package {tmp_path}")
        assert package["size"] > 100000, package
        assert "error" not in drive.do(way)
        id = drive.do(f"start bobbin:{way.split()[0]} default 128 ./am/svcmgr --version")["id"]
        ended = drive.do("until ended")
        wait_for(lambda: output(small, id) == "submit-drive 1\n", f"the master has run: {ended}")
