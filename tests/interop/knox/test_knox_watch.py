"""Watches and services through a real Apache Knox: when lines arrive, when watches end, and what is left of those whose client went."""
import concurrent.futures
import itertools
import json
import subprocess
import threading
import time

import pytest

from gateway import JSON, curl, within
from harness import PATIENCE, request, wait_for

RECORD = b'{"type":"JSONServiceRecord","description":"d","external":[],"internal":[]}'
HOME = "/users/alice/services"
HELLO = {"name": "through-knox", "version": "1", "components": [
    {"name": "sleep", "number_of_containers": 1, "launch_command": "sleep 1000", "resource": {"cpus": 1, "memory": "64"}}]}


@pytest.fixture(scope="module", autouse=True)
def home(behind):
    assert curl("-X", "POST", behind.registry(HOME + "?op=mknode&createParents=true")).status in (200, 201)


def put(behind, path, *words):
    return curl("-X", "PUT", JSON, "--data-binary", "@-", *words, behind.registry(f"{path}?overwrite=true"), data=RECORD)


def put_direct(behind, path):
    """The same around Knox. Returns its revision."""
    answer = behind.secure.registry("PUT", path, RECORD, {"Content-Type": "application/json"}, query="overwrite=true&user.name=alice")
    assert answer.status in (200, 201)
    return answer.headers["Bobbin-Revision"]


def now(behind):
    return behind.direct("/").headers["Bobbin-Revision"]


def metric(behind, name):
    """A number of registryd's."""
    text = request(behind.secure.registry_port, "GET", "/metrics").body.decode()
    return next(float(line.split()[-1]) for line in text.splitlines() if line.startswith(name + " "))


def followers(behind):
    """Watches that registryd serves."""
    return metric(behind, "registry_followers")


class Watcher:
    """curl that shows a watch's lines as they come, read by a thread of its own."""

    def __init__(self, url):
        self.process = subprocess.Popen(["curl", "-skN", "-u", "alice:alice-secret", url], stdout=subprocess.PIPE)
        self.seen, self.ended = [], None
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        for line in self.process.stdout:
            self.seen.append((time.monotonic(), json.loads(line)))
        self.ended = time.monotonic()

    def when(self, kind, path=None):
        """Time of the first such line; None: there is none yet."""
        return next((at for at, line in self.seen if line["type"] == kind and path in (None, line.get("path"))), None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.thread.join(PATIENCE)
        self.process.stdout.close()


def test_k14_a_watch_ends_with_progress(behind):
    """After its timeout, or after 15 s without one; a second later at the latest."""
    def lateness():
        with concurrent.futures.ThreadPoolExecutor() as pool:
            url = behind.registry(f"?watch=true&since={now(behind)}")
            bounded = pool.submit(curl, url, timeout=60)
            wait_for(lambda: followers(behind) == 1, "the longer one is open")
            short = pool.submit(curl, url + "&timeout=3")
            wait_for(lambda: followers(behind) == 2, "both watches are open")
            put_direct(behind, HOME + "/w")
            short, bounded = short.result(), bounded.result()
        for seen in (short, bounded):
            assert [line["path"] for line in seen.lines if line["type"] == "put"] == [HOME + "/w"]
            assert seen.lines[-1]["type"] == "progress"
        assert short.seconds >= 3 and bounded.seconds >= 15
        return max(short.seconds - short.begun - 3, bounded.seconds - bounded.begun - 15)
    within(1, lateness, tries=3)


def test_k15_a_line_comes_at_once(behind):
    """Knox passes each change on when it comes: 0.2 s after it, while the watch is open, before there is another one."""
    paths = (f"{HOME}/w15-{i}" for i in itertools.count())
    with Watcher(behind.registry(f"?watch=true&since={now(behind)}&timeout=60&max=80")) as watcher:
        wait_for(lambda: watcher.when("hello"), "the watch has begun")

        def delay():
            path, begun = next(paths), time.monotonic()
            put_direct(behind, path)
            wait_for(lambda: watcher.when("put", path), "the change is seen")
            assert not watcher.ended
            return watcher.when("put", path) - begun
        for _ in range(3):
            within(0.2, delay, tries=20)
        while not watcher.ended:
            put_direct(behind, next(paths))
    lines = [line["type"] for _, line in watcher.seen]
    assert lines.count("put") == 80 and lines[-1] == "progress", "it ends after so many changes"


def test_k17_nothing_follows_for_a_client_that_is_gone(behind):
    """Knox reads on when its client was killed: registryd's watch ends by its bound, which is 15 s."""
    def duration():
        with Watcher(behind.registry(f"?watch=true&since={now(behind)}")) as killed:
            wait_for(lambda: killed.when("hello"), "the watch has begun")
            assert followers(behind) == 1
            killed.process.kill()
            wait_for(lambda: killed.ended, "the client is gone")
            wait_for(lambda: followers(behind) == 0, "the watch has ended")
            return time.monotonic() - killed.when("hello")
    within(16, duration, tries=3)


def test_k16_watchers_do_not_hold_up_reads(behind):
    """Knox has 32 connections for watches; the other 8 wait, reads do not."""
    def read():
        answer = curl(behind.registry(HOME))
        assert answer.status == 200
        return answer.seconds
    url = behind.registry(f"?watch=true&since={now(behind)}&timeout=60&max=1")
    watchers = [Watcher(url) for _ in range(40)]
    try:
        wait_for(lambda: followers(behind) == 32, "watchers are served")
        within(1, read, tries=3)
        assert not any(w.ended for w in watchers), "beside all of them"
        put_direct(behind, HOME + "/w16")
        wait_for(lambda: all(w.ended for w in watchers), "all 40 end by themselves")
        assert all(w.seen[-1][1]["type"] == "progress" for w in watchers)
    finally:
        for w in watchers:
            w.__exit__()


def test_the_command_resumes_at_each_bound(behind, people):
    """`bobbin registry watch` ends its requests itself, before Knox would, and goes on behind the last line: it shows each change
    once, in their order, and says nothing of the bounds."""
    resumes, snapshots = metric(behind, "registry_feed_resumes_total"), metric(behind, "registry_feed_snapshots_total")
    written = []
    with people.follow() as follows:
        follows.until("synced")
        while metric(behind, "registry_feed_resumes_total") < resumes + 2:
            written.append(put_direct(behind, HOME + "/resumed"))
            time.sleep(0.005)  # some thousand changes, of which some come between two requests
        written.append(put_direct(behind, HOME + "/resumed"))
        lines = follows.until(f"put {HOME}/resumed {written[-1]}")
    assert [line.split()[2] for line in lines if line.startswith(f"put {HOME}/resumed ")] == written
    assert [line.split()[0] for line in lines].count("synced") == 1
    assert metric(behind, "registry_feed_snapshots_total") == snapshots + 1, "the rest is resumed"


def test_k11_a_service_that_was_made_is_where_location_says(behind):
    made = curl("-X", "POST", JSON, "-d", json.dumps(HELLO), behind.services())
    assert made.status == 202, made
    assert made.headers["location"] == behind.services("/through-knox")
    assert curl(made.headers["location"]).json["name"] == "through-knox"
    behind.stack.until_state("through-knox", "READY")
    assert curl("-X", "PUT", JSON, "-d", '{"number_of_containers":2}', behind.services("/through-knox/components/sleep")).status // 100 == 2
    wait_for(lambda: len([c for c in behind.stack.service("through-knox")["components"][0]["containers"] if c["state"] == "READY"]) == 2,
             "two containers")
    assert curl("-X", "PUT", JSON, "-d", '{"state":"STOPPED"}', behind.services("/through-knox")).status // 100 == 2
    wait_for(lambda: curl(behind.services("/through-knox")).json["state"] == "STOPPED", "it has stopped")
    assert curl("-X", "DELETE", behind.services("/through-knox")).status // 100 == 2
    wait_for(lambda: curl(behind.services("/through-knox")).status == 404, "it is gone")


def test_k19_pages_of_the_gateway_may_write(behind):
    host = behind.knox.url().split("/gateway")[0]
    assert put(behind, HOME + "/o", "-H", f"Origin: {host}").status in (200, 201)
    refused = put(behind, HOME + "/o", "-H", "Origin: https://evil")
    assert refused.status == 403 and refused.json["type"] == "urn:bobbin:error:foreign-origin"
