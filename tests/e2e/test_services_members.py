"""Members of a definition that svcmgr does not know, and what can never be started: both are named before anything runs."""
import json
import os
import subprocess

import pytest

from harness import BIN, PATIENCE, Stack

pytestmark = pytest.mark.sanitize

MISSPELT = "/components/0/readyness_check, did you mean \"readiness_check\"?"


@pytest.fixture(scope="module")
def stack():
    with Stack(services=True) as s:
        yield s


def definition(name, **component):
    return {"name": name, "version": "1", "components": [
        {"name": "web", "number_of_containers": 1, "launch_command": "exec sleep 1000", "resource": {"memory": "32"}, **component}]}


def launch(stack, document, *words):
    return subprocess.run([os.path.join(BIN, "bobbin"), "app", "launch", "--url", f"http://127.0.0.1:{stack.services_port}",
                           "--user", "alice", *words, "-"], input=json.dumps(document), capture_output=True, text=True,
                          timeout=2 * PATIENCE, check=False)


def test_the_api_takes_unknown_members_and_names_them(stack):
    document = definition("odd", readyness_check={"type": "PORT", "properties": {"port": "80"}})
    answer = stack.services("POST", "", document)
    assert answer.status == 202 and answer.json["diagnostics"].startswith("Application ID: application_")
    assert answer.json["diagnostics"].endswith("\nIgnored unknown members: " + MISSPELT)
    event = stack.svcmgr.event("members_unknown")
    assert (event["user"], event["service"], event["members"]) == ("alice", "odd", MISSPELT)
    stack.until_state("odd", "READY")
    assert stack.services("DELETE", "/odd").status == 204
    answer = stack.services("POST", "?strict=true", document)
    assert (answer.status, answer.json["diagnostics"]) == (400, "Unknown members (strict=true): " + MISSPELT)
    assert stack.services("GET", "/odd").status == 404


def test_the_command_refuses_unknown_members_unless_it_is_lenient(stack):
    document = definition("slip", readyness_check={"type": "DEFAULT"})
    done = launch(stack, document)
    assert done.returncode != 0 and MISSPELT in done.stderr, done
    done = launch(stack, document, "--lenient")
    assert done.returncode == 0 and "Ignored unknown members: " + MISSPELT in done.stderr, done
    assert stack.services("DELETE", "/slip").status == 204


def test_an_answer_can_be_launched_again(stack):
    assert launch(stack, definition("again")).returncode == 0
    shown = stack.service("again")
    assert stack.services("DELETE", "/again").status == 204
    done = launch(stack, {**shown, "state": "STARTED"})
    assert done.returncode == 0, done
    assert stack.services("DELETE", "/again").status == 204


@pytest.mark.parametrize("component, text", [
    ({"configuration": {"env": {"A=B": "1"}}},
     '/components/0/configuration/env/A=B: no variable of the environment can be called "A=B"'),
    ({"launch_command": ": " + "x" * 131070},
     "/components/0/launch_command: it has 131072 bytes, Linux starts no process with more than 131071; put them into a config file"),
    ({"configuration": {"env": {"LONG": "x" * 131067}}},
     "/components/0/configuration/env/LONG: it has 131072 bytes, Linux starts no process with more than 131071; put them into a "
     "config file"),
], ids=["name", "command", "value"])
def test_what_can_never_be_started_is_refused_at_once(stack, component, text):
    answer = stack.services("POST", "", definition("never", **component))
    assert (answer.status, answer.json["diagnostics"]) == (400, text)


def test_the_longest_texts_run(stack):
    stack.launch(definition("longest", launch_command="exec sleep 1000 #" + "x" * (131071 - 17),
                            configuration={"env": {"LONG": "x" * 131066}}))
    assert stack.services("DELETE", "/longest").status == 204
