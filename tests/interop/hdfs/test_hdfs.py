"""svcmgr and its client of WebHDFS beside a real NameNode and DataNode."""
import hashlib
import os
import subprocess

import pytest

from harness import BIN, Manager
from test_services_fetch import ROOM, document, tar, whole_log
from yarn import Cluster

BIG = os.urandom(3 << 20)


@pytest.fixture(scope="module")
def hdfs():
    with Cluster(yarn=False, hdfs=True, user="hdfs") as cluster:
        assert change(cluster, "/", "hdfs", "mkdirs", "755") == "ok"
        for user in ("alice", "bob"):
            assert change(cluster, f"/user/{user}", "hdfs", "mkdirs", "777") == "ok"
        yield cluster


def change(hdfs, path, user, *words):
    """A request of svcmgr/fs/client.h: its one line."""
    done = subprocess.run([os.path.join(BIN, "hdfs-change"), f"webhdfs://{hdfs.name_node}{path}", user, *words], capture_output=True,
                          text=True, check=False, timeout=120)
    assert done.returncode in (0, 1), done
    return done.stdout.rstrip("\n")


@pytest.fixture
def put(hdfs, tmp_path):
    """Put a content there as a user."""
    def put(path, content, user="alice", verb="create", mode="644"):
        (tmp_path / "content").write_bytes(content)
        return change(hdfs, path, user, verb, str(tmp_path / "content"), mode)
    return put


def test_files_are_made_read_and_deleted(hdfs, put):
    top = "/user/alice/.yarn/services/a b%20ä"
    assert change(hdfs, top, "alice", "mkdirs", "750") == "ok"
    assert change(hdfs, top, "alice", "mkdirs", "750") == "ok", "it may be there"
    assert change(hdfs, top, "alice", "status").startswith("DIRECTORY 0 ")
    assert put(f"{top}/am", BIG) == "ok"
    kind, length, modified = change(hdfs, f"{top}/am", "alice", "status").split()
    assert (kind, int(length)) == ("FILE", len(BIG)) and int(modified) > 1600000000000
    assert put(f"{top}/am", b"").startswith("ERR_EXISTS webhdfs://"), "a create replaces nothing"
    assert put(f"{top}/am", b"", verb="replace") == "ok"
    assert change(hdfs, f"{top}/am", "alice", "status").startswith("FILE 0 ")
    assert change(hdfs, f"{top}/am", "bob", "status").startswith("ERR_PERMISSION"), "all directories that were made have that mode"
    assert put(f"{top}/of-bob", b"x", user="bob").startswith("ERR_PERMISSION")
    assert change(hdfs, top, "alice", "delete").startswith("ERR_NOTEMPTY")
    assert change(hdfs, top, "alice", "purge") == "ok"
    assert change(hdfs, top, "alice", "status").startswith("ERR_NOTFOUND")
    assert change(hdfs, top, "alice", "delete").startswith("ERR_NOTFOUND")


@pytest.fixture(scope="module")
def stack(hdfs):
    options = {**ROOM, "yarn.service.local.cache-fresh": "0s", "fs.defaultFS": hdfs.file_system,
               "dfs.namenode.http-address": hdfs.name_node}
    with Manager(options={"svcmgr": options}) as s:
        yield s


def test_a_service_comes_from_hdfs(hdfs, stack, put):
    assert put("/user/alice/app.tgz", tar({"say": b"#!/bin/sh\necho $1\n"})) == "ok"
    assert put("/user/alice/big", BIG) == "ok"
    stack.launch(document("real", "lib/say ${COMPONENT_INSTANCE_NAME}; sha256sum < big; echo end; sleep 1000",
                          [("STATIC", "big", "big")], count=2, artifact={"type": "TARBALL", "id": "hdfs:///user/alice/app.tgz"}))
    for i in range(2):
        assert whole_log(stack, "real", f"c-{i}") == f"c-{i}\n{hashlib.sha256(BIG).hexdigest()}  -\n"


def test_a_changed_file_is_read_again(stack, put):
    for name, content in (("one", b"first\n"), ("two", b"second\n")):
        assert put("/user/alice/changed", content, verb="replace") == "ok"
        stack.launch(document(name, "cat x; echo end; sleep 1000", [("STATIC", "x", "hdfs:///user/alice/changed")]))
        assert whole_log(stack, name) == content.decode()


def test_what_is_not_there_or_not_for_him_is_refused(hdfs, stack, put):
    def refusal(source, user="alice"):
        answer = stack.services("POST", f"?user.name={user}", document("none", "sleep 1000", [("STATIC", "x", source)]))
        assert answer.status == 400, answer
        return answer.json["diagnostics"]

    assert refusal("hdfs:///user/alice/none") == "Src_file does not exist for config file: hdfs:///user/alice/none"
    assert "it is no regular file" in refusal("hdfs:///user")
    assert change(hdfs, "/user/alice/own", "alice", "mkdirs", "700") == "ok"
    assert put("/user/alice/own/secret", b"x") == "ok"
    said = refusal("hdfs:///user/alice/own/secret", "bob")
    assert "as user bob: the container's user may not read it" in said and "Permission denied: user=bob, access=EXECUTE" in said


def test_a_file_that_may_be_seen_and_not_read_ends_its_launch(stack, put):
    assert put("/user/alice/closed", b"x", mode="600") == "ok"
    doc = document("closed", "sleep 1000", [("STATIC", "x", "hdfs:///user/alice/closed")], restart_policy="NEVER")
    assert stack.services("POST", "?user.name=bob", doc).status == 202
    stack.until_state("closed", "FAILED", "bob")
    explain = stack.services("GET", "/closed?explain=true&user.name=bob").json["explain"][0]["wait"]
    assert "Permission denied: user=bob, access=READ" in explain
