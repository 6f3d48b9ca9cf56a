"""A gateway sends a write again with the X-Request-Id of its first try: it is answered again, and not done again."""
import concurrent.futures
import re

import pytest

from harness import Stack, request

pytestmark = pytest.mark.sanitize

NODE = "/users/alice/services/a/one"
SERVICE = {"name": "once", "version": "1", "components": [
    {"name": "c", "number_of_containers": 0, "launch_command": "sleep 1000", "resource": {"cpus": 1, "memory": "16"}}]}


def record(text):
    return {"type": "JSONServiceRecord", "description": text, "external": [], "internal": []}


@pytest.fixture(scope="module")
def stack():
    with Stack(services=True) as s:
        yield s


def repeated(port):
    metrics = request(port, "GET", "/metrics").body.decode()
    return int(re.search(r"^\w*http_requests_repeated_total (\d+)$", metrics, re.M).group(1))


def test_a_record_is_bound_once(stack):
    def put(text, number, query=""):
        return stack.registry("PUT", NODE, record(text), {"X-Request-Id": f"bind-{number}"}, query=f"createParents=true{query}")
    before = repeated(stack.registry_port)
    first, again = put("first", 1), put("first", 1)
    assert first.status == again.status == 201 and first.body == again.body
    assert first.headers["Bobbin-Revision"] == again.headers["Bobbin-Revision"] and first.headers["ETag"] == again.headers["ETag"]
    assert again.headers["Bobbin-Repeated"] == "true" and "Bobbin-Repeated" not in first.headers
    assert put("first", 2).status == 409 and put("first", 2).status == 409, "a refusal is an answer too"
    assert put("second", 3, "&overwrite=true").status == 200
    assert put("first", 1).body == first.body, "the record of meanwhile stays"
    lost = stack.registry("PUT", NODE, None, {"X-Request-Id": "bind-1", "Content-Type": "application/json"}, query="createParents=true")
    assert lost.status == 201 and lost.body == first.body, "without its body"
    assert stack.registry("GET", NODE).json["service"]["description"] == "second"
    assert repeated(stack.registry_port) == before + 4


def test_another_user_body_or_path_is_another_write(stack):
    ask = {"X-Request-Id": "same"}
    for user, text, path in (("alice", "x", "/users/alice/u/1"), ("bob", "x", "/users/alice/u/1"), ("alice", "y", "/users/alice/u/1"),
                             ("alice", "x", "/users/alice/u/2")):
        answer = stack.registry("PUT", path, record(text), ask, query=f"createParents=true&overwrite=true&user.name={user}")
        assert answer.status in (200, 201) and "Bobbin-Repeated" not in answer.headers, (user, text, path)
    empty = stack.registry("PUT", "/users/alice/u/3", None, {**ask, "Content-Type": "application/json"}, query="createParents=true")
    assert empty.status == 400, "nothing is known of it"


def test_a_node_is_made_and_deleted_once(stack):
    path = "/users/alice/d"
    for _ in range(2):
        assert stack.registry("POST", path, None, {"X-Request-Id": "make"}, query="op=mknode&createParents=true").status == 201
    for _ in range(2):
        assert stack.registry("DELETE", path, None, {"X-Request-Id": "delete"}).json["deleted"] is True
    assert stack.registry("POST", path, None, {"X-Request-Id": "make"}, query="op=mknode&createParents=true").status == 201
    assert stack.registry("GET", path).status == 404, "the repeat of the making, after the end, makes nothing"


def test_a_service_is_created_once(stack):
    def create(_):
        return stack.services("POST", "?user.name=alice", SERVICE, {"X-Request-Id": "create"})
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(create, range(4)))
    assert [a.status for a in answers] == [202] * 4 and len({a.body for a in answers}) == 1
    assert sum("Bobbin-Repeated" in a.headers for a in answers) == 3 and len({a.headers["Location"] for a in answers}) == 1
    for _ in range(2):
        assert stack.services("DELETE", "/once?user.name=alice", None, {"X-Request-Id": "destroy"}).status in (200, 204)
    assert create(0).status == 202 and stack.services("GET", "/once?user.name=alice").status == 404
