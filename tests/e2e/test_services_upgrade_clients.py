"""Clients of a service that is upgraded: whoever resolves a name and connects within the drain time to what it got is served.

Resolvers ask dnsd all the time and fetch a page from every address of each answer. A fetch counts when it ended within the drain time
after its query was sent: then the process at that address is not stopped before, however slow the machine is.
"""
import contextlib
import http.client
import threading
import time

import pytest

from harness import Stack, wait_for

DRAIN_S = 1
N = 10
PORT = 8080
NAME = "hello.web.alice.bobbin.test"


@contextlib.contextmanager
def stack_with(urls, timeout="10s"):
    """urls: what svcmgr is given as dnsd, by the stack; timeout: how long it waits for one."""
    stack = Stack(services=True, options={"svcmgr": {"yarn.service.upgrade.enabled": "true",
                                                     "yarn.nodemanager.resource.cpu-vcores": str(N),
                                                     "yarn.service.drain.dns-timeout": timeout}})
    stack.svcmgr.options["yarn.service.drain.dns-urls"] = urls(stack)
    with stack:
        yield stack


def own(stack):
    return f"http://127.0.0.1:{stack.dns_http_port}"


def definition(version, n=N):
    page = f"mkdir -p www && echo {version} > www/index.html && exec busybox httpd -f -p $CONTAINER_IP:{PORT} -h www"
    return {"name": "web", "version": version, "components": [
        {"name": "hello", "number_of_containers": n, "launch_command": page, "resource": {"cpus": 1, "memory": "16"},
         "readiness_check": {"type": "PORT", "properties": {"port": str(PORT)}},
         "configuration": {"properties": {"yarn.service.drain.seconds": str(DRAIN_S)}}}]}


def fetch(address):
    connection = http.client.HTTPConnection(address, PORT, timeout=DRAIN_S * 10)
    try:
        connection.request("GET", "/index.html")
        return connection.getresponse().read().decode().strip()
    finally:
        connection.close()


class Resolver(threading.Thread):
    """Asks every 50 ms and uses what it gets, until it is stopped."""

    def __init__(self, stack):
        super().__init__(daemon=True)
        self.stack, self.over = stack, threading.Event()
        self.pages, self.failures = [], []  # of fetches that count

    def run(self):
        while not self.over.wait(0.05):
            asked = time.monotonic()
            for address in self.stack.dig(NAME, "A"):
                try:
                    page, problem = fetch(address), None
                except (OSError, http.client.HTTPException) as error:
                    page, problem = None, error
                if time.monotonic() - asked >= DRAIN_S:
                    break  # the answer is too old to be relied on
                if problem:
                    self.failures.append(f"{address}: {problem!r}")
                else:
                    self.pages.append(page)


@contextlib.contextmanager
def resolvers(stack, n):
    threads = [Resolver(stack) for _ in range(n)]
    for thread in threads:
        thread.start()
    try:
        yield threads
    finally:
        for thread in threads:
            thread.over.set()
        for thread in threads:
            thread.join()


def upgrade(stack, version, n=N):
    answer = stack.services("PUT", "/web?user.name=alice", {"state": "EXPRESS_UPGRADING", **definition(version, n)})
    assert answer.status in (202, 204), answer
    wait_for(lambda: stack.service("web")["version"] == version, f"version {version}", timeout=120)


def events(stack, what):
    entries = stack.services("GET", "/web/events?user.name=alice").json["events"]
    return [e for e in entries if e["what"] == what]


def test_no_client_is_refused_while_ten_instances_are_upgraded():
    with stack_with(own) as stack:
        stack.launch(definition("1"))
        stack.sync_all()
        wait_for(lambda: len(stack.dig(NAME, "A")) == N, "all instances have an address")
        with resolvers(stack, 2) as threads:
            wait_for(lambda: any("1" in t.pages for t in threads), "a client is served by version 1")
            upgrade(stack, "2")
            n_before = [len(t.pages) for t in threads]
            wait_for(lambda: all("2" in t.pages[n:] for t, n in zip(threads, n_before)), "clients are served by version 2")
        assert [t.failures for t in threads] == [[], []]


@pytest.mark.sanitize
def test_a_dnsd_that_is_away_costs_one_wait_and_one_event():
    with stack_with(lambda stack: own(stack) + "," + "http://127.0.0.1:1") as stack:
        stack.launch(definition("1", 3))
        upgrade(stack, "2", 3)
        entries = events(stack, "drained without confirmation")
        assert len(entries) == 1, entries
        assert "http://127.0.0.1:1 (yarn.service.drain.dns-urls)" in entries[0]["why"]
        away = [e for e in stack.svcmgr.events if e.get("event") == "dns_sync_away"]
        assert [e["url"] for e in away] == ["http://127.0.0.1:1"]


def test_a_dnsd_that_stands_still_is_waited_for_once_and_comes_back():
    with stack_with(own, timeout="1s") as stack:
        stack.launch(definition("1", 3))
        stack.dnsd.pause()
        try:
            upgrade(stack, "2", 3)
            assert len(events(stack, "drained without confirmation")) == 1
        finally:
            stack.dnsd.go_on()
        stack.svcmgr.event("dns_sync_back")
