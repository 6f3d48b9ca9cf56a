"""Clients that hold what is bounded: bodies short of a byte, bodies that they may not send, connections; others are served."""
import contextlib
import json
import re
import resource
import socket

import pytest

from harness import HELLO, SANITIZED, Registry, Stack, request, wait_for

pytestmark = pytest.mark.sanitize

BUDGET_MIB, MARGIN_MIB = 16, 96  # margin: of a thousand connections, and what the allocator cannot give back
LEN = 1400000
GOOD = "/users/alice/services/app/good"
RECORD = {"type": "JSONServiceRecord", "description": "x" * 3000}


@pytest.fixture
def reg():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4096)), hard))
    with Registry(options={"registryd": {"hadoop.registry.http.body.budget": f"{BUDGET_MIB}m"}}) as r:
        yield r
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def memory_mib(reg, field):
    with open(f"/proc/{reg.registryd.process.pid}/status", encoding="ascii") as f:
        return next(int(line.split()[1]) / 1024 for line in f if line.startswith(field))


def metric(port, name):
    text = request(port, "GET", "/metrics").body.decode()
    return int(re.search(rf"^{name} (\d+)$", text, re.M).group(1))


def unfinished(port, target, size):
    """A connection with a request whose body lacks its last byte, as far as it was taken."""
    s = socket.create_connection(("127.0.0.1", port), timeout=20)
    with contextlib.suppress(OSError):
        s.sendall(f"{target} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {size}\r\n\r\n".encode())
        s.sendall(b" " * (size - 1))
    return s


def status(s):
    """Status of what was answered until now; None: nothing."""
    s.settimeout(0)
    try:
        word = s.recv(65536).split(b" ")[1:2]
        return int(word[0]) if word else None
    except OSError:
        return None


def good_writes(reg, n):
    for i in range(n):
        answer = reg.registry("PUT", f"{GOOD}-{i}", RECORD, query="createParents=true&overwrite=true")
        assert answer.status in (200, 201), answer
        assert reg.registry("GET", f"{GOOD}-{i}").status == 200


def test_a_thousand_stalled_puts_hold_the_budget_and_hold_nobody_up(reg):
    good_writes(reg, 5)
    before = memory_mib(reg, "VmRSS")
    held = [unfinished(reg.registry_port, f"PUT /ws/v1/registry/users/bob/r{i}?createParents=true", LEN) for i in range(1000)]
    try:
        good_writes(reg, 30)
        assert metric(reg.registry_port, "http_body_bytes") <= BUDGET_MIB << 20
        assert metric(reg.registry_port, "http_bodies_refused_total") > 0
        grown = memory_mib(reg, "VmHWM") - before
        assert SANITIZED or grown <= BUDGET_MIB + MARGIN_MIB, f"{grown:.0f} MiB for a budget of {BUDGET_MIB}"
        assert {status(s) for s in held} <= {503, 408, None}
        assert status(unfinished(reg.registry_port, "PUT /ws/v1/registry/users/bob/r?createParents=true", 2)) is None
    finally:
        for s in held:
            s.close()
    wait_for(lambda: metric(reg.registry_port, "http_body_bytes") == 0, "the room is free again")
    body = json.dumps({**RECORD, "pad": "y" * 900000})
    assert reg.registry("PUT", "/users/bob/large", body, query="createParents=true").status == 201


def test_imports_of_nobody_are_refused_before_their_body(reg):
    before = memory_mib(reg, "VmRSS")
    with socket.create_connection(("127.0.0.1", reg.registry_port), timeout=20) as s:
        s.sendall(b"POST /ws/v1/registry-admin/import?user.name=nobody HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                  b"Expect: 100-continue\r\nContent-Length: 8000000\r\n\r\n")
        assert s.makefile("rb").readline() == b"HTTP/1.1 403 Forbidden\r\n"
    held = [unfinished(reg.registry_port, "POST /ws/v1/registry-admin/import?user.name=nobody", 900000) for _ in range(500)]
    try:
        assert metric(reg.registry_port, "http_body_bytes") == 0, "nothing of them is kept"
        good_writes(reg, 10)
        grown = memory_mib(reg, "VmHWM") - before
        assert SANITIZED or grown <= MARGIN_MIB, f"{grown:.0f} MiB for bodies that nobody may send"
    finally:
        for s in held:
            s.close()
    assert request(reg.registry_port, "POST", "/ws/v1/registry-admin/import?user.name=nobody", {"x": 1}).status == 403


def test_slow_senders_get_408_and_svcmgr_has_the_same_limits():
    prefix = "yarn.service.api-server."
    options = {"svcmgr": {f"{prefix}body.rate-window": "1s", f"{prefix}head.timeout": "1s", f"{prefix}connections-per-address": "20"}}
    with Stack(services=True, options=options) as stack:
        port = stack.services_port
        slow = unfinished(port, "POST /app/v1/services?user.name=alice", 50000)
        silent = socket.create_connection(("127.0.0.1", port), timeout=20)
        silent.sendall(b"GET /app/v1/services HTTP/1.1\r\nHost: loc")
        for s in (slow, silent):
            assert s.makefile("rb").read().startswith(b"HTTP/1.1 408 "), "and then the connection ends"
            s.close()
        with contextlib.ExitStack() as held:
            taken = [held.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20)) for _ in range(21)]
            answers = [taken[-1].recv(65536)]
            assert answers[0].startswith(b"HTTP/1.1 503 ") and b"Retry-After:" in answers[0]
        wait_for(lambda: request(port, "GET", "/healthz").status == 200, "the address has room again")
        stack.launch(HELLO)
