"""What a proxy in front of registryd and svcmgr needs of them. tests/interop/knox asks the same through a real one."""
import json

import pytest

from harness import HELLO, Stack

pytestmark = pytest.mark.sanitize

RECORD = {"type": "JSONServiceRecord", "description": "d", "external": [], "internal": []}
PROXY = {"X-Forwarded-Context": "/gateway/bobbin", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "gate:8443"}


@pytest.fixture(scope="module")
def stack():
    with Stack(services=True) as s:
        s.bind("/users/alice/services/a", RECORD)
        yield s


def test_lines_of_a_watch_are_long_enough_to_be_passed_on(stack):
    """Through a proxy each line, of the snapshot and after it, has 320 octets or more; without one blanks are not sent."""
    for headers, shortest in ((PROXY, 320), ({}, 1)):
        answer = stack.registry("GET", "/", headers=headers, query="watch=true&timeout=500ms")
        lines = answer.body.splitlines(keepends=True)
        assert [json.loads(line)["type"] for line in lines][0] == "hello" and json.loads(lines[-1])["type"] == "progress"
        assert min(map(len, lines)) >= shortest and (b"  " in answer.body) == bool(headers)


def test_a_page_of_the_proxy_may_write_and_no_other(stack):
    for origin, wanted in (("https://gate:8443", 200), ("https://evil", 403), ("http://gate:8443", 403)):
        answer = stack.registry("PUT", "/users/alice/services/a", RECORD, {**PROXY, "Origin": origin}, query="overwrite=true")
        assert answer.status == wanted, answer


def test_a_service_that_was_made_has_a_location(stack):
    """An absolute path, which a proxy can put its own address before."""
    made = stack.services("POST", "?user.name=alice", {**HELLO, "name": "placed"})
    assert (made.status, made.headers["Location"]) == (202, "/app/v1/services/placed")
    assert stack.services("GET", "/placed?user.name=alice").status == 200
    assert stack.services("DELETE", "/placed?user.name=alice").status in (200, 204)


def test_a_proxy_is_asked_to_drop_idle_connections(stack):
    """Sooner than the 30 s after which the daemons close them, in every kind of answer; nobody else is."""
    asks = (lambda headers: stack.registry("GET", "/", headers=headers), lambda headers: stack.registry("GET", "/none", headers=headers),
            lambda headers: stack.registry("GET", "/", headers=headers, query="watch=true&timeout=100ms"),
            lambda headers: stack.services("GET", "", None, headers))
    for ask in asks:
        assert ask(PROXY).headers["Keep-Alive"] == "timeout=20" and "Keep-Alive" not in ask({}).headers
