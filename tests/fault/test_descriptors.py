"""Clients that take all descriptors: the idlest make room at once, it is an event, /readyz says it, and it ends by itself."""
import contextlib
import resource
import socket
import struct

import pytest

from harness import Registry, Stack, request, until_not_ready, wait_for

pytestmark = pytest.mark.sanitize

RECORD = {"type": "JSONServiceRecord", "description": "one"}


def limit(process, n):
    hard = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)[1]
    resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (n, hard))


def connect(port):
    return socket.create_connection(("127.0.0.1", port), timeout=20)


def is_ended(s):
    s.settimeout(0)
    try:
        return not s.recv(4096)
    except BlockingIOError:
        return False
    except OSError:
        return True


def assert_degraded(daemon, port):
    event = daemon.event("descriptors_short")
    ready = until_not_ready(port)
    assert "degraded: descriptors are short" in ready.json["detail"], ready
    assert 'degraded{cause="descriptors"} 1\n' in request(port, "GET", "/metrics").body.decode()
    return event


def test_idle_connections_make_room_for_others():
    with Registry() as reg, contextlib.ExitStack() as held:
        port = reg.registry_port
        limit(reg.registryd.process, 200)
        idle = [held.enter_context(connect(port)) for _ in range(250)]
        assert reg.registry("PUT", "/users/alice/services/app/one", RECORD, query="createParents=true").status == 201
        assert_degraded(reg.registryd, port)
        for i in range(300):
            held.enter_context(connect(port))
            if i % 10 == 0:
                assert reg.registry("GET", "/users/alice/services/app/one").status == 200, "the others are served meanwhile"
        wait_for(lambda: is_ended(idle[0]), "the idlest was closed")
        held.close()
        wait_for(lambda: request(port, "GET", "/readyz").status == 200, "it ends by itself")
        assert len([e for e in reg.registryd.events if e["event"] == "descriptors_short"]) == 1


def test_dns_over_tcp_makes_room_too():
    with Stack() as stack, contextlib.ExitStack() as held:
        stack.bind("/users/alice/services/app/one", {**RECORD, "yarn:id": "x", "yarn:persistence": "permanent"})
        stack.sync_all()
        limit(stack.dnsd.process, 150)
        idle = [held.enter_context(connect(stack.dns_port)) for _ in range(200)]
        wait_for(lambda: is_ended(idle[0]), "the idlest was closed")
        assert_degraded(stack.dnsd, stack.dns_http_port)
        query = struct.pack(">HHHHHH", 7, 0x0100, 1, 0, 0, 0) + b"\x06bobbin\x04test\x00" + struct.pack(">HH", 6, 1)
        with connect(stack.dns_port) as s:
            s.sendall(struct.pack(">H", len(query)) + query)
            assert s.recv(4096)[2:4] == b"\x00\x07", "a new connection is answered at once"
        held.close()
        wait_for(lambda: request(stack.dns_http_port, "GET", "/readyz").status == 200, "it ends by itself")
