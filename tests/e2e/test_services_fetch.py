"""What a launch fetches: archives and files from this host and from web servers, once for all that want them."""
import hashlib
import http.server
import io
import os
import tarfile
import threading
import zipfile

import pytest

from harness import Manager, containers, request, wait_for

pytestmark = pytest.mark.sanitize


ROOM = {"yarn.nodemanager.resource.memory-mb": "100000", "yarn.nodemanager.resource.cpu-vcores": "1000"}


class Web:
    """A web server with the files of a dict; counts the requests for each."""

    def __init__(self):
        self.files, self.requests, self.fails = {}, [], False
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                outer.answer(self)

            do_HEAD = do_GET

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def answer(self, handler):
        body = self.files.get(handler.path)
        etag = '"%s"' % hashlib.sha256(body).hexdigest() if body is not None else None
        status = 404 if body is None else 304 if handler.headers.get("If-None-Match") == etag else 503 if self.fails else 200
        self.requests.append((handler.command, handler.path, status))
        handler.send_response(status)
        if etag:
            handler.send_header("ETag", etag)
        handler.send_header("Content-Length", str(len(body)) if status == 200 else "0")
        handler.end_headers()
        if status == 200 and handler.command == "GET":
            handler.wfile.write(body)

    def url(self, path):
        return f"http://127.0.0.1:{self.server.server_port}{path}"

    def gets(self, path):
        return [status for command, p, status in list(self.requests) if command == "GET" and p == path]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture(scope="module")
def web():
    server = Web()
    yield server
    server.close()


@pytest.fixture(scope="module")
def stack():
    options = {**ROOM, "yarn.service.local.cache-fresh": "1h", "yarn.service.local.archive-max-bytes": "1M"}
    with Manager(options={"svcmgr": options}) as s:
        yield s


def tar(entries, kind="gz"):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=f"w:{kind}") as t:
        for name, text in entries.items():
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(text), 0o755
            t.addfile(info, io.BytesIO(text))
    return out.getvalue()


def document(name, command, files=(), count=1, **component):
    return {"name": name, "version": "1", "components": [{
        "name": "c", "number_of_containers": count, "launch_command": command, "resource": {"cpus": 1, "memory": "8"},
        "configuration": {"files": [{"type": kind, "dest_file": dest, "src_file": source} for kind, dest, source in files]},
        **component}]}


def log_of(stack, name, instance="c-0", user="alice", file="stdout.txt"):
    answer = stack.services("GET", f"/{name}/component-instances/{instance}/logs/{file}?user.name={user}")
    return answer.body.decode() if answer.status == 200 else ""


def whole_log(stack, name, instance="c-0"):
    return wait_for(lambda: next((t for t in [log_of(stack, name, instance)] if t.endswith("end\n")), None),
                    f"{name} has written all").removesuffix("end\n")


def explained(stack, name):
    return stack.services("GET", f"/{name}?explain=true&user.name=alice").json["explain"][0]["wait"]


def file_of(stack, name, content):
    path = os.path.join(stack.dir, name)
    with open(path, "wb") as f:
        f.write(content)
    os.chmod(path, 0o644)
    return path


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", ""])
def test_a_program_comes_from_its_tarball(stack, kind):
    path = file_of(stack, f"program.tar.{kind}", tar({"bin/hello": b"#!/bin/sh\necho hello $1\n"}, kind))
    name = f"tarball{kind}"
    stack.launch(document(name, "lib/bin/hello ${COMPONENT_INSTANCE_NAME}; echo end; sleep 1000",
                          artifact={"type": "TARBALL", "id": "file://" + path}))
    assert whole_log(stack, name) == "hello c-0\n"


def test_an_archive_becomes_a_directory(stack):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as z:
        z.writestr("data/a b.txt", "of the archive\n")
    stack.launch(document("archive", "cat 'things/data/a b.txt'; echo end; sleep 1000",
                          [("ARCHIVE", "things", file_of(stack, "things.zip", packed.getvalue()))]))
    assert whole_log(stack, "archive") == "of the archive\n"


def test_ten_instances_fetch_once(stack, web):
    web.files["/ten.tgz"] = tar({"say": b"#!/bin/sh\necho $1\n"})
    web.files["/plain"] = b"as it is\n"
    web.files["/template"] = b"${COMPONENT_INSTANCE_NAME}\n"
    stack.launch(document("ten", "lib/say ${COMPONENT_INSTANCE_NAME}; cat plain conf/t; echo end; sleep 1000",
                          [("STATIC", "plain", web.url("/plain")), ("TEMPLATE", "t", web.url("/template"))], count=10,
                          artifact={"type": "TARBALL", "id": web.url("/ten.tgz")}))
    for i in range(10):
        assert whole_log(stack, "ten", f"c-{i}") == f"c-{i}\nas it is\nc-{i}\n"
    assert [web.gets(path) for path in ("/ten.tgz", "/plain", "/template")] == [[200]] * 3


def test_an_unchanged_file_is_asked_for_and_not_sent_again(web):
    web.files["/asked"] = b"first\n"
    with Manager(options={"svcmgr": {**ROOM, "yarn.service.local.cache-fresh": "0s"}}) as s:
        for name, content in (("one", b"first\n"), ("two", b"first\n"), ("three", b"second\n")):
            web.files["/asked"] = content
            s.launch(document(name, "cat x; echo end; sleep 1000", [("STATIC", "x", web.url("/asked"))]))
            assert whole_log(s, name) == content.decode()
        assert web.gets("/asked") == [200, 304, 200]


def test_what_is_kept_serves_while_the_server_is_away_and_survives_a_restart(web):
    web.files["/away"] = b"kept\n"
    with Manager(options={"svcmgr": {**ROOM, "yarn.service.local.cache-fresh": "0s"}}) as s:
        s.launch(document("before", "cat x; echo end; sleep 1000", [("STATIC", "x", web.url("/away"))]))
        assert whole_log(s, "before") == "kept\n"
        s.svcmgr.stop()
        s.svcmgr.start()
        wait_for(lambda: request(s.services_port, "GET", "/readyz").status == 200, "svcmgr is ready")
        web.files["/away"], web.fails = b"newer\n", True
        try:
            s.launch(document("after", "cat x; echo end; sleep 1000", [("STATIC", "x", web.url("/away"))]))
            assert whole_log(s, "after") == "kept\n"
        finally:
            web.fails = False
        assert web.gets("/away")[0] == 200 and set(web.gets("/away")[1:]) == {503}


def cached(stack):
    return [os.path.join(d, f) for d, _, files in os.walk(stack.dir) if "/cache/" in d for f in files if f.startswith("data-")]


def test_what_is_spoilt_is_fetched_again(stack, web):
    web.files["/spoilt"] = b"right\n"
    stack.launch(document("right", "cat x; echo end; sleep 1000", [("STATIC", "x", web.url("/spoilt"))]))
    assert whole_log(stack, "right") == "right\n"
    name = "data-" + hashlib.sha256(b"right\n").hexdigest()
    kept = next(path for path in cached(stack) if path.endswith(name))
    with open(kept, "r+b") as f:
        f.write(b"wrong\n")
    stack.launch(document("again", "cat x; echo end; sleep 1000", [("STATIC", "x", web.url("/spoilt"))]))
    assert whole_log(stack, "again") == "right\n"
    assert web.gets("/spoilt") == [200, 200]


def test_the_least_recently_used_leaves(web):
    for i in range(4):
        web.files[f"/part{i}"] = bytes([i]) * 400000
    with Manager(options={"svcmgr": {**ROOM, "yarn.nodemanager.localizer.cache.target-size-mb": "1",
                                     "yarn.service.local.cache-fresh": "1h"}}) as s:
        for i in range(4):
            s.launch(document(f"part{i}", "wc -c < x; echo end; sleep 1000", [("STATIC", "x", web.url(f"/part{i}"))]))
            assert whole_log(s, f"part{i}") == "400000\n"
        wanted = {"data-" + hashlib.sha256(bytes([i]) * 400000).hexdigest() for i in (2, 3)}
        wait_for(lambda: {os.path.basename(path) for path in cached(s)} == wanted, "two of four files are left")


def test_what_a_server_does_not_have_is_refused(stack, web):
    answer = stack.services("POST", "", document("none", "sleep 1000", [("STATIC", "x", web.url("/none"))]))
    assert (answer.status, answer.json["diagnostics"]) == (
        400, f"Src_file does not exist for config file: {web.url('/none')}")
    answer = stack.services("POST", "", document("none", "sleep 1000", artifact={"type": "TARBALL", "id": web.url("/none")}))
    assert (answer.status, answer.json["diagnostics"]) == (
        400, f"For component c with TARBALL artifact, path does not exist: {web.url('/none')}")
    for source in ("ftp://host/x", "hdfs:x", "file:x", "relative"):
        answer = stack.services("POST", "", document("none", "sleep 1000", [("STATIC", "x", source)]))
        assert answer.status == 400 and "does not exist" in answer.json["diagnostics"], source


def test_a_launch_waits_for_its_server(stack, web):
    web.files["/late"] = b"late\n"
    web.fails = True
    try:
        doc = document("late", "cat x; echo end; sleep 1000", [("STATIC", "x", web.url("/late"))])
        assert stack.services("POST", "?user.name=alice", doc).status == 202
        wait_for(lambda: "its server answers with HTTP status 503" in explained(stack, "late"), "the wait is explained")
    finally:
        web.fails = False
    assert whole_log(stack, "late") == "late\n"


@pytest.mark.parametrize("name, content, says", [
    ("climbs", tar({"../../x": b"x"}), "an entry or its link leads outside of the archive: ../../x"),
    ("swells", tar({"zeros": b"\0" * (2 << 20)}), "it becomes larger than yarn.service.local.archive-max-bytes: zeros"),
    ("text", b"this is no archive", "it is no tar (plain, gzip, bzip2, xz, zstd) or zip archive"),
], ids=["climbs", "swells", "text"])  # an archive has the time in it, and workers must agree on names
def test_what_does_not_unpack_is_named(stack, name, content, says):
    path = file_of(stack, name, content)
    doc = document(name, "sleep 1000", artifact={"type": "TARBALL", "id": path}, restart_policy="NEVER")
    assert stack.services("POST", "?user.name=alice", doc).status == 202
    stack.until_state(name, "FAILED")
    assert f"Archive {path}, as user " in explained(stack, name) and says in explained(stack, name)


def test_nothing_is_left_of_a_download_that_is_too_large(web):
    web.files["/large"] = b"0" * 200000
    with Manager(options={"svcmgr": {**ROOM, "yarn.service.local.source-max-bytes": "100k"}}) as s:
        doc = document("large", "sleep 1000", [("STATIC", "x", web.url("/large"))], restart_policy="NEVER")
        assert s.services("POST", "?user.name=alice", doc).status == 202
        s.until_state("large", "FAILED")
        assert "it is too large" in explained(s, "large")
        assert cached(s) == [] and containers(s.service("large")) == []
