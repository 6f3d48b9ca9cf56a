"""A gateway names the user for whom it asks: doAs by the keys hadoop.proxyuser.*, in every daemon; the rights are that user's."""
import json
import re
import subprocess

import pytest

from harness import BIN, Stack, request, wait_for

pytestmark = pytest.mark.sanitize

RECORD = {"type": "JSONServiceRecord", "description": "d", "external": [], "internal": []}
PROXY = {"hadoop.proxyuser.knox.users": "alice, bob,yarn", "hadoop.proxyuser.knox.hosts": "127.0.0.0/8",
         "hadoop.proxyuser.far.users": "*", "hadoop.proxyuser.far.hosts": "10.9.9.9"}
SECURE = {"hadoop.registry.secure": "true", "hadoop.registry.system.accounts": "sasl:yarn"}
SERVICE = {"name": "mine", "version": "1", "components": [
    {"name": "c", "number_of_containers": 0, "launch_command": "sleep 1000", "resource": {"cpus": 1, "memory": "16"}}]}


@pytest.fixture(scope="module")
def stack():
    with Stack(services=True, options={"registryd": {**PROXY, **SECURE}, "dnsd": PROXY, "svcmgr": PROXY}) as s:
        yield s


def put(stack, path, caller):
    return stack.registry("PUT", path, RECORD, query=f"createParents=true&overwrite=true&{caller}")


def test_a_record_is_written_with_the_rights_of_the_user(stack):
    assert put(stack, "/users/alice/services/a/one", "user.name=knox&doAs=alice").status == 201
    assert put(stack, "/users/alice/services/a/one", "user.name=alice").status == 200, "it is alice's"
    assert put(stack, "/users/alice/services/a/one", "DOAS=bob&User.Name=knox&user.name=alice&doas=alice").status == 403, "the first of each counts"
    assert put(stack, "/users/knox/services/a/one", "user.name=knox&doAs=alice").status == 403, "knox's own rights are not used"
    written = wait_for(lambda: [e for e in stack.registryd.events if e["event"] == "http_write" and e.get("do_as") == "alice"], "it is logged")
    assert written[0]["user"] == "knox" and "doas" not in written[0].get("query", "").lower()


@pytest.mark.parametrize("caller, key, text", [
    ("user.name=knox&doAs=mallory", "hadoop.proxyuser.knox.users", "User: knox is not allowed to impersonate mallory"),
    ("user.name=bob&doAs=alice", "hadoop.proxyuser.bob.users", "User: bob is not allowed to impersonate alice"),
    ("user.name=far&doAs=alice", "hadoop.proxyuser.far.hosts", "Unauthorized connection for super-user: far from IP 127.0.0.1"),
])
def test_nobody_else_may(stack, caller, key, text):
    answer = stack.registry("PUT", "/users/alice/services/b/one", RECORD, {"X-Forwarded-For": "10.9.9.9"}, query=f"createParents=true&{caller}")
    assert answer.status == 403 and answer.json["where"] == key and answer.json["exception"] == "AuthorizationException", answer
    assert answer.json["detail"].startswith(text), answer.json
    assert stack.registry("GET", "/users/alice/services/b/one").status == 404
    answer = stack.services("POST", f"?{caller}", SERVICE)
    assert answer.status == 403 and answer.json["diagnostics"].startswith(text) and key in answer.json["diagnostics"], answer
    assert request(stack.dns_http_port, "GET", f"/zones?{caller}").status == 403


def test_administration_is_that_of_the_user(stack):
    def purge(caller):
        return stack.registry("POST", "/purge", {"id": "container_1_0001_01_000001", "persistence": "container", "policy": "PurgeAll"}, base="/ws/v1/registry-admin", query=caller)
    assert purge("user.name=knox&doAs=yarn").status == 200 and purge("user.name=yarn").status == 200
    assert purge("user.name=knox&doAs=alice").status == 403 and purge("user.name=knox").status == 403
    level = "/log-level?level=info&user.name="
    assert request(stack.services_port, "POST", level + "knox").status == 200
    for more, headers in (("knox&doAs=alice", {}), ("knox", {"X-Forwarded-For": "10.0.0.1"})):
        answer = request(stack.services_port, "POST", level + more, headers=headers)
        assert answer.status == 403 and "proxy" in answer.json["diagnostics"], answer


def test_a_service_is_the_users(stack):
    answer = stack.services("POST", "?user.name=knox&doAs=alice", SERVICE)
    assert answer.status == 202, answer
    assert stack.services("GET", "/mine?user.name=alice").status == 200
    assert stack.services("GET", "/mine?user.name=knox").status == 404
    assert stack.services("GET", "/mine?user.name=knox&doAs=bob").status == 404
    assert stack.services("DELETE", "/mine?user.name=knox&doAs=alice").status in (200, 204)


def test_the_check_of_a_configuration_names_a_wrong_network(tmp_path):
    done = subprocess.run([f"{BIN}/registryd", "-t", "-D", f"bobbin.data.dir={tmp_path}", "-D", "hadoop.proxyuser.knox.hosts=10.0.0.0/99"],
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0 and re.search(r"warning: -D: hadoop.proxyuser.knox.hosts: .*10.0.0.0/99", done.stderr), json.dumps(done.stderr)
