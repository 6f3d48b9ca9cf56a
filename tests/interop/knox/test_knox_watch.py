"""Watches and services through a real Apache Knox: when lines arrive, when watches end, and what is left of those whose client went."""
import json
import subprocess
import threading
import time

import pytest

from gateway import JSON, curl
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


def now(behind):
    return behind.direct("/").headers["Bobbin-Revision"]


def followers(behind):
    """Watches that registryd serves."""
    text = request(behind.secure.registry_port, "GET", "/metrics").body.decode()
    return next(float(line.split()[-1]) for line in text.splitlines() if line.startswith("registry_followers "))


class Watcher:
    """curl that shows a watch's lines as they come, read by a thread of its own."""

    def __init__(self, url):
        self.began = time.monotonic()
        self.process = subprocess.Popen(["curl", "-skN", "-u", "alice:alice-secret", url], stdout=subprocess.PIPE)
        self.seen, self.ended = [], None
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        for line in self.process.stdout:
            self.seen.append((time.monotonic(), json.loads(line)))
        self.ended = time.monotonic()

    def when(self, kind):
        """Time of the first such line; None: there is none yet."""
        return next((at for at, line in self.seen if line["type"] == kind), None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.thread.join(PATIENCE)
        self.process.stdout.close()


def test_k14_a_watch_ends_with_progress(behind):
    watch = behind.registry(f"?watch=true&since={now(behind)}&timeout=3")
    put(behind, HOME + "/w")
    seen = curl(watch)
    assert [line["path"] for line in seen.lines if line["type"] == "put"][-1:] == [HOME + "/w"]
    assert seen.lines[-1]["type"] == "progress" and 2.9 < seen.seconds < 8, seen


def test_k15_k17_lines_come_at_once_and_watches_end_by_themselves(behind, people):
    """A watch without timeout shows a change within moments and ends after 15 s; so does registryd's part of one whose client was
    killed, which Knox reads on. `bobbin registry watch` resumes at each bound, and says nothing of it."""
    url = behind.registry(f"?watch=true&since={now(behind)}")
    with Watcher(url) as stays, Watcher(url) as killed, people.follow() as follows:
        wait_for(lambda: stays.when("hello") and killed.when("hello"), "both watches have begun")
        killed.process.kill()
        changed = time.monotonic()
        assert behind.secure.registry("PUT", HOME + "/w15", RECORD, {"Content-Type": "application/json"},
                                      query="overwrite=true&user.name=alice").status in (200, 201)
        wait_for(lambda: stays.when("put"), "the change is seen")
        assert stays.when("put") - changed < 1, "at once: 0.2 s on a machine that is not loaded"
        wait_for(lambda: followers(behind) == 3, "the command's watch is open as well")
        wait_for(lambda: stays.ended, "the watch ends", 60)
        assert stays.seen[-1][1]["type"] == "progress" and 14.5 < stays.ended - stays.began < 25
        wait_for(lambda: followers(behind) == 1, "that of the command is left", 5)
        assert behind.secure.registry("DELETE", HOME + "/w15", query="user.name=alice").status == 200
        lines = follows.until("delete " + HOME + "/w15")
        assert [line.split()[0] for line in lines].count("synced") == 1 and len([line for line in lines if line.startswith("put " + HOME + "/w15 ")]) == 1


def test_k16_watchers_do_not_hold_up_reads(behind):
    """Knox has 32 connections for watches; the other 8 wait, reads do not."""
    url = behind.registry(f"?watch=true&since={now(behind)}&timeout=3")
    watchers = [Watcher(url) for _ in range(40)]
    try:
        wait_for(lambda: followers(behind) >= 30, "watchers are served")
        assert curl(behind.registry(HOME)).seconds < 1.5
        wait_for(lambda: all(w.ended for w in watchers), "all 40 end by themselves", 60)
        assert all(w.seen[-1][1]["type"] == "progress" for w in watchers)
    finally:
        for w in watchers:
            w.__exit__()


def test_k11_a_service_that_was_made_is_where_location_says(behind):
    # svcmgr closes idle connections after 30 s; a POST that Knox sends on one just then is a 500, a GET is sent again.
    assert curl(behind.services()).status == 200
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


def test_k21_a_create_that_is_sent_again_makes_one_service(behind):
    """The first svcmgr address does it and is silent for 5 s; Knox gives up after 3 s and asks the second."""
    answer = curl("-X", "POST", JSON, "-d", json.dumps({**HELLO, "name": "once"}), behind.services(topology="slow"), timeout=60)
    assert answer.seconds > 2.5 and answer.status == 202, answer
    assert answer.headers["bobbin-repeated"] == "true", "the first answer, by X-Request-Id"
    names = [service["name"] for service in curl(behind.services()).json]
    assert names.count("once") == 1, (answer, names)
    behind.stack.until_state("once", "READY")
    assert curl("-X", "DELETE", behind.services("/once")).status // 100 == 2


def test_k19_pages_of_the_gateway_may_write(behind):
    host = behind.knox.url().split("/gateway")[0]
    assert put(behind, HOME + "/o", "-H", f"Origin: {host}").status in (200, 201)
    refused = put(behind, HOME + "/o", "-H", "Origin: https://evil")
    assert refused.status == 403 and refused.json["type"] == "urn:bobbin:error:foreign-origin"
