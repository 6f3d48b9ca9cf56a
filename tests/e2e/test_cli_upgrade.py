"""`bobbin app upgrade` and `bobbin app plan`: what would happen, and what happens then."""
import json
import os
import subprocess

import pytest

from harness import BIN, PATIENCE, Stack, wait_for

pytestmark = pytest.mark.sanitize


@pytest.fixture(scope="module")
def stack():
    with Stack(services=True, options={"svcmgr": {"yarn.service.upgrade.enabled": "true"}}) as s:
        yield s


def definition(version, command="exec sleep 86404", n=2, **properties):
    component = {"name": "hello", "number_of_containers": n, "launch_command": command, "resource": {"cpus": 1, "memory": "32"},
                 "configuration": {"properties": {"VERSION": version, **properties}}}
    return {"name": "web", "version": version, "components": [component]}


def bobbin(stack, verb, *words, document=None, code=0):
    done = subprocess.run([os.path.join(BIN, "bobbin"), "app", verb, "--url", f"http://127.0.0.1:{stack.services_port}",
                           "--user", "alice", *words], input=document and json.dumps(document), capture_output=True, text=True,
                          timeout=2 * PATIENCE, check=False)
    assert done.returncode == code, done
    return done.stdout if code == 0 else done.stderr


@pytest.fixture()
def web(stack):
    bobbin(stack, "launch", "-q", "-", document=definition("1"))
    yield
    bobbin(stack, "destroy", "-q", "web")


def rows(text):
    return [line.split() for line in text.splitlines()[2:]]


def test_a_plan_of_a_launch_creates_and_launches_nothing(stack):
    planned = bobbin(stack, "plan", "-", document=definition("1"))
    assert rows(planned) == [["1", "hello-0", "create", "-", "1", "-", "-"], ["2", "hello-1", "create", "-", "1", "-", "-"]]
    assert stack.services("GET", "/web?user.name=alice").status == 404


def test_the_plan_of_an_upgrade_and_the_upgrade(stack, web):
    planned = bobbin(stack, "plan", "-", document=definition("2"))
    assert rows(planned) == [["1", "hello-0", "reinit", "1", "2", "-", "-"],
                             ["2", "hello-1", "reinit", "1", "2", "-", "hello-0", "is", "READY"]]
    assert stack.service("web")["version"] == "1"
    bobbin(stack, "upgrade", "--wait", "-q", "web", "-", document=definition("2"))
    assert (stack.service("web")["version"], stack.service("web")["state"]) == ("2", "READY")
    same = bobbin(stack, "upgrade", "web", "-", document=definition("2"), code=2)
    assert "web is already at version 2. There is nothing to upgrade." in same


def test_a_manual_upgrade_step_by_step(stack, web):
    bobbin(stack, "upgrade", "--manual", "web", "-", document=definition("2"))
    assert stack.service("web")["operation"]["remaining"] == 2
    bobbin(stack, "upgrade", "--instances", "hello-0", "web")
    bobbin(stack, "upgrade", "--components", "hello", "web")
    planned = json.loads(bobbin(stack, "plan", "-o", "json", "web", "cancel"))
    assert planned["state"] == "READY" and planned["to_version"] == "1"

    def moved():
        listed = stack.services("GET", "/web/component-instances?user.name=alice&version=2&containerState=READY").json
        return sorted(c["component_instance_name"] for one in listed for c in one["containers"])
    wait_for(lambda: moved() == ["hello-0", "hello-1"], "both are moved")
    bobbin(stack, "upgrade", "--finalize", "--wait", "-q", "web")
    assert stack.service("web")["version"] == "2"


def test_an_upgrade_is_cancelled(stack, web):
    bobbin(stack, "upgrade", "--manual", "web", "-", document=definition("2"))
    bobbin(stack, "upgrade", "--cancel", "--wait", "-q", "web")
    assert stack.service("web")["version"] == "1"


def test_one_that_went_back_is_no_success(stack, web):
    second = definition("2", "exec false", **{"yarn.service.upgrade.steady.seconds": "3"})
    said = bobbin(stack, "upgrade", "--auto-revert", "--wait", "-q", "web", "-", document=second, code=8)
    assert "the service runs version 1, not 2: The upgrade to version 2 was reverted: instance hello-0: " in said


def test_a_wait_ends_when_the_upgrade_stands_still(stack, web):
    second = definition("2", "exec false", **{"yarn.service.upgrade.steady.seconds": "3"})
    said = bobbin(stack, "upgrade", "--wait", "-q", "web", "-", document=second, code=8)
    assert "web: upgrade: stands still: instance hello-0: " in said and "bobbin app explain web shows more" in said
    explained = bobbin(stack, "explain", "web")
    assert "failed to run version 2: " in explained and "or cancel the upgrade" in explained and "restart_policy" not in explained
    bobbin(stack, "upgrade", "--cancel", "--wait", "-q", "web")
    assert stack.service("web")["version"] == "1"


def test_plans_of_changes(stack, web):
    assert rows(bobbin(stack, "plan", "web", "hello=1")) == [["1", "hello-1", "stop", "1", "-", "-", "-"],
                                                             ["-", "hello-0", "keep", "1", "1", "-", "-"]]
    assert [row[2] for row in rows(bobbin(stack, "plan", "web", "stop"))] == ["stop", "stop"]
    refused = bobbin(stack, "plan", "web", "start", code=8)
    assert "it would be refused: Failed to start service web, because it already exists." in refused
    assert stack.until_state("web", "READY")["version"] == "1"


def test_words_that_exclude_each_other(stack):
    for words in [("web",), ("--cancel", "--finalize", "web"), ("--auto", "--cancel", "web"), ("--auto", "--manual", "web", "x.json"),
                  ("--instances", "a-0", "--wait", "web")]:
        assert bobbin(stack, "upgrade", *words, code=2).startswith("bobbin: ")
