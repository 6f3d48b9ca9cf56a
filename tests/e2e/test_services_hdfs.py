"""What a launch fetches from HDFS, of scripted NameNodes and a DataNode that speak as Hadoop's do."""
import http.server
import json
import threading
import urllib.parse

import pytest

from harness import Manager, wait_for
from test_services_fetch import ROOM, document, explained, tar, whole_log

pytestmark = pytest.mark.sanitize


class Server:
    """An HTTP server whose requests, split, go to `answer`."""

    def __init__(self):
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                url = urllib.parse.urlsplit(self.path)
                query = {name: values[0] for name, values in urllib.parse.parse_qs(url.query).items()}
                outer.answer(self, urllib.parse.unquote(url.path), query)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def send(handler, status, body=b"", headers=()):
    if isinstance(body, dict):
        body, headers = json.dumps(body).encode(), [("Content-Type", "application/json"), *headers]
    handler.send_response(status)
    for name, value in headers:
        handler.send_header(name, value)
    if not any(name == "Content-Length" for name, _ in headers):
        handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def refuse(handler, status, exception, message):
    send(handler, status, {"RemoteException": {"exception": exception, "javaClassName": f"org.apache.hadoop.{exception}",
                                               "message": message}})


class DataNode(Server):
    """Gives contents; `ways` of a path: what it does instead."""

    def __init__(self):
        self.files, self.ways, self.opened, self.ended = {}, {}, [], threading.Event()
        super().__init__()

    def answer(self, handler, path, query):
        self.opened.append((path, query.get("user.name")))
        self.ways.get(path, DataNode.give)(self, handler, path)

    def give(self, handler, path):
        send(handler, 200, self.files[path])

    def give_part(self, handler, path):
        """It ends in the middle of the content."""
        send(handler, 200, self.files[path][:-1], [("Content-Length", str(len(self.files[path])))])

    def stand_still(self, handler, path):
        send(handler, 200, b"", [("Content-Length", str(len(self.files[path])))])
        self.ended.wait(60)

    def give_more(self, handler, path):
        """More than the status says, without an end."""
        send(handler, 200, b"x" * (1 << 20), [("Content-Length", str(1 << 30))])

    def __exit__(self, *_):
        self.ended.set()
        super().__exit__()


class NameNode(Server):
    """Knows what is there, and sends readers to the DataNode."""

    def __init__(self, data):
        self.data, self.is_standby, self.asked = data, False, []
        self.forbidden, self.closed, self.times, self.elsewhere = set(), set(), {}, {}
        super().__init__()

    def answer(self, handler, path, query):
        assert path.startswith("/webhdfs/v1/"), path
        path, user = path.removeprefix("/webhdfs/v1"), query["user.name"]
        self.asked.append((query["op"], path, user))
        if self.is_standby:
            refuse(handler, 403, "StandbyException", "Operation category READ is not supported in state standby. Visit ha.html\n\tat x")
        elif (path, user) in self.forbidden or (query["op"] == "OPEN" and (path, user) in self.closed):
            refuse(handler, 403, "AccessControlException", f"Permission denied: user={user}, access=READ, inode=\"{path}\"")
        elif path == "/endless":
            send(handler, 200, b" " * (1 << 20), [("Content-Length", str(1 << 30))])
        elif path not in self.data.files and path != "/directory":
            refuse(handler, 404, "FileNotFoundException", f"File does not exist: {path}")
        elif query["op"] == "GETFILESTATUS":
            length = 0 if path == "/directory" else len(self.data.files[path])
            send(handler, 200, {"FileStatus": {"type": "DIRECTORY" if path == "/directory" else "FILE", "length": length,
                                               "modificationTime": self.times.get(path, 1700000000000), "fileId": 16386,
                                               "owner": "alice", "permission": "644", "pathSuffix": ""}})
        else:
            target = f"http://127.0.0.1:{self.data.port}{urllib.parse.quote(path)}?op=OPEN&user.name={user}&offset=0"
            send(handler, 307, headers=[("Location", self.elsewhere.get(path, target))])

    def ops(self, path):
        return [op for op, p, _ in list(self.asked) if p == path]


@pytest.fixture(scope="module")
def data():
    with DataNode() as node:
        yield node


@pytest.fixture(scope="module")
def name(data):
    with NameNode(data) as node:
        yield node


@pytest.fixture(scope="module")
def other(data):
    with NameNode(data) as node:
        yield node


def options(name, other, **more):
    """fs.defaultFS is the first of them alone; `pair` is both; of `lost` nothing is known."""
    return {**ROOM, "fs.defaultFS": "hdfs://127.0.0.1:8020", "dfs.namenode.http-address": f"0.0.0.0:{name.port}",
            "dfs.nameservices": "pair,lost", "dfs.ha.namenodes.pair": "nn1,nn2",
            "dfs.namenode.http-address.pair.nn1": f"127.0.0.1:{name.port}",
            "dfs.namenode.rpc-address.pair.nn2": "127.0.0.1:8020", "dfs.namenode.http-address.pair.nn2": f"0.0.0.0:{other.port}",
            "yarn.service.local.cache-fresh": "1h", **more}


@pytest.fixture(scope="module")
def stack(name, other):
    with Manager(options={"svcmgr": options(name, other)}) as s:
        yield s


def post(stack, document, user="alice"):
    return stack.services("POST", f"?user.name={user}", document)


def printing(name, source, **more):
    """A service that prints the file it is given."""
    return document(name, "cat x; echo end; sleep 1000", [("STATIC", "x", source)], **more)


def test_files_and_archives_come_from_hdfs_as_their_owner(stack, name, data):
    data.files["/apps/say.tgz"] = tar({"say": b"#!/bin/sh\necho $1\n"})
    data.files["/conf/a b%20.txt"] = b"as it is\n"
    data.files["/user/alice/t.txt"] = b"${COMPONENT_INSTANCE_NAME}\n"
    data.files["/site.xml"] = b"<configuration><property><name>k</name><value>v</value></property></configuration>"
    files = [("STATIC", "plain", "hdfs:///conf/a b%20.txt"), ("TEMPLATE", "t", "t.txt"),
             ("XML", "site.xml", f"webhdfs://127.0.0.1:{name.port}/site.xml"), ("ARCHIVE", "things", "hdfs://pair/apps/say.tgz")]
    stack.launch(document("many", "lib/say ${COMPONENT_INSTANCE_NAME}; cat plain conf/t; grep -c '<name>k</name>' conf/site.xml; "
                                  "things/say again; echo end; sleep 1000",
                          files, count=10, artifact={"type": "TARBALL", "id": "hdfs://127.0.0.1:8020/apps/say.tgz"}))
    for i in range(10):
        assert whole_log(stack, "many", f"c-{i}") == f"c-{i}\nas it is\nc-{i}\n1\nagain\n"
    assert {user for _, _, user in name.asked} == {"alice"}
    assert sorted(data.opened) == sorted((path, "alice") for path in [*data.files, "/apps/say.tgz"]), "each URI is read once"


def test_an_unchanged_file_is_not_read_again(name, other, data):
    data.files["/asked"] = b"first\n"
    with Manager(options={"svcmgr": options(name, other, **{"yarn.service.local.cache-fresh": "0s"})}) as s:
        for service, content, time in (("one", b"first\n", 1), ("two", b"first\n", 1), ("three", b"third\n", 2)):
            data.files["/asked"], name.times["/asked"] = content, time
            s.launch(printing(service, "hdfs:///asked"))
            assert whole_log(s, service) == content.decode()
        look = "GETFILESTATUS"  # of the POST and of the launch
        assert name.ops("/asked") == [look, look, "OPEN", look, look, look, look, "OPEN"]


def test_the_namenode_that_is_active_is_found(stack, name, other, data):
    data.files["/ha1"], data.files["/ha2"] = b"one\n", b"two\n"
    name.is_standby = True
    try:
        stack.launch(printing("ha1", "hdfs://pair/ha1"))
        assert whole_log(stack, "ha1") == "one\n"
        assert name.ops("/ha1") == ["GETFILESTATUS"] * 2 and other.ops("/ha1") == ["GETFILESTATUS"] * 2 + ["OPEN"]
        other.is_standby = True
        assert post(stack, printing("ha2", "hdfs://pair/ha2")).status == 202
        wait_for(lambda: "its server does not answer: StandbyException: Operation category READ is not supported" in
                 explained(stack, "ha2"), "the wait is explained")
    finally:
        name.is_standby = other.is_standby = False
    assert whole_log(stack, "ha2") == "two\n"


SRC_FILE = "/components/0/configuration/files/0/src_file: "


@pytest.mark.parametrize("source, says", [
    ("hdfs:///none", "Src_file does not exist for config file: hdfs:///none"),
    ("none", "Src_file does not exist for config file: none"),
    ("hdfs:///a/../b", "Src_file does not exist for config file: hdfs:///a/../b"),
    ("hdfs:///directory", SRC_FILE + "src_file hdfs://127.0.0.1:8020/directory, as user alice: it is no regular file."),
    ("hdfs:///secret", SRC_FILE + "src_file hdfs://127.0.0.1:8020/secret, as user alice: the container's user may not read it: give him the right, "
                       "or name another file: AccessControlException: Permission denied: user=alice, access=READ, inode=\"/secret\"."),
    ("hdfs:///big", SRC_FILE + "src_file hdfs://127.0.0.1:8020/big, as user alice: it is too large"),
    ("hdfs://lost/x", SRC_FILE + "hdfs://lost/x: where its NameNode is does not follow from the configuration: "
                      "dfs.namenode.http-address.lost is not set."),
])
def test_what_cannot_be_had_is_refused_when_the_service_is_created(name, other, data, stack_of_little_room, source, says):
    data.files["/secret"], data.files["/big"] = b"s", b"0" * 200000
    name.forbidden.add(("/secret", "alice"))
    answer = post(stack_of_little_room, printing("refused", source))
    assert answer.status == 400 and answer.json["diagnostics"].startswith(says), answer
    answer = post(stack_of_little_room, document("refused", "sleep 1000", artifact={"type": "TARBALL", "id": source}))
    assert answer.status == 400, answer


@pytest.fixture(scope="module")
def stack_of_little_room(name, other):
    more = {"yarn.service.local.source-max-bytes": "100k", "yarn.service.local.fetch-timeout": "2s"}
    with Manager(options={"svcmgr": options(name, other, **more)}) as s:
        yield s


@pytest.mark.parametrize("path, way, says", [
    ("/larger", DataNode.give_more, "it is too large"),
    ("/still", DataNode.stand_still, "took longer than yarn.service.local.fetch-timeout (2 s): its server may not answer"),
])
def test_a_launch_ends_by_what_its_datanode_does(stack_of_little_room, data, path, way, says):
    data.files[path], data.ways[path] = b"some\n", way
    assert post(stack_of_little_room, printing("bounded" + path[1:], f"hdfs://{path}", restart_policy="NEVER")).status == 202
    stack_of_little_room.until_state("bounded" + path[1:], "FAILED")
    assert says in explained(stack_of_little_room, "bounded" + path[1:])


def test_a_launch_waits_while_a_file_cannot_be_read_whole(stack, name, data):
    for path, say in (("/part", "its server does not answer"), ("/foreign", "its server does not answer: Protocol \"ftp\"")):
        data.files[path] = b"whole\n"
        data.ways["/part"], name.elsewhere["/foreign"] = DataNode.give_part, "ftp://127.0.0.1/x"
        assert post(stack, printing(path[1:], f"hdfs://{path}")).status == 202
        wait_for(lambda: say in explained(stack, path[1:]), "the wait is explained")
        data.ways.clear()
        name.elsewhere.clear()
        assert whole_log(stack, path[1:]) == "whole\n"


def test_an_answer_without_end_is_no_status(stack):
    assert post(stack, printing("endless", "hdfs:///endless", restart_policy="NEVER")).status == 202
    stack.until_state("endless", "FAILED")
    assert "HTTP status 200: it is no answer of WebHDFS" in explained(stack, "endless")


def test_what_one_user_may_read_is_not_kept_for_another(stack, name, data):
    data.files["/private"] = b"of alice\n"
    name.closed.add(("/private", "bob"))
    stack.launch(printing("private", "hdfs:///private"))
    assert whole_log(stack, "private") == "of alice\n"
    assert post(stack, printing("private", "hdfs:///private", restart_policy="NEVER"), "bob").status == 202
    stack.until_state("private", "FAILED", "bob")
    explain = stack.services("GET", "/private?explain=true&user.name=bob").json["explain"][0]["wait"]
    assert "as user bob: the container's user may not read it" in explain and "user=bob" in explain
