"""launcher_rows.json: the rows of the FrameworkLauncher API that say what is accepted, stored and refused, over HTTP."""
import copy
import http.client
import json
import os
import re

import pytest

from harness import Stack, wait_for

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "launcher_rows.json"), encoding="utf-8") as file:
    TABLE = json.load(file)
OPTIONS = {"": {},
           "acl": {"yarn.service.launcher.acl.enable": "true", "yarn.service.launcher.admin.users": "root0, root1"},
           "ignore": {"yarn.service.launcher.acl.enable": "true", "yarn.service.launcher.acl.ignore-without-namespace": "true"},
           "retain": {"yarn.service.launcher.completed-retain": "1s"}}
FRAMEWORKS = "/v1/Frameworks/"


@pytest.fixture(scope="module")
def running():
    """A function: the port of svcmgr with these options."""
    stacks = {}

    def start(name):
        if name not in stacks:
            stacks[name] = Stack(services=True, options={"svcmgr": {"yarn.service.cluster": "sim", **OPTIONS[name]}})
            stacks[name].__enter__()
        return stacks[name].services_port

    yield start
    for stack in stacks.values():
        stack.__exit__(None, None, None)


def ask(port, method, path, body=None, headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request(method, path, body, headers or {})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer, text


def at(document, path):
    for key in path.split("."):
        document = document[int(key) if isinstance(document, list) else key]
    return document


def body_of(step, method):
    if "raw" in step:
        return step["raw"]
    if "json" in step:
        return json.dumps(step["json"])
    if method != "PUT":
        return None
    document = copy.deepcopy(TABLE["minimal"])
    for path, value in step.get("set", {}).items():
        if path == "taskRoles" and "copies" in value:
            role = {**document["taskRoles"]["w"], "taskNumber": value["of"]}
            value = {name: role for name in value["copies"]}
        *way, last = path.split(".")
        (at(document, ".".join(way)) if way else document)[last] = value
    for name in step.get("drop", []):
        del document[name]
    text = json.dumps(document)
    for name, value in step.get("repeat", {}).items():
        text = text[:-1] + f", {json.dumps(name)}: {json.dumps(value)}" + "}"
    return text


def check_error(status, text):
    document = json.loads(text)
    names = {400: "BadRequestException", 403: "AuthorizationException", 404: "NotFoundException", 429: "ThrottledRequestException"}
    assert document["exception"] == names.get(status, "BadRequestException")
    assert document["javaClassName"].endswith("." + document["exception"])
    assert {key: document["RemoteException"][key] for key in ("exception", "message", "javaClassName")} == \
        {key: document[key] for key in ("exception", "message", "javaClassName")}


def has_come(answered, step):
    answer, text = answered
    return answer.status == step["status"] and all(at(json.loads(text), place) == value for place, value in step.get("has", {}).items())


def do(port, step, kept):
    method, path = step["do"].split(" ", 1)
    body = body_of(step, method)
    headers = {"Content-Type": "application/json"} if method in ("PUT", "POST") else {}
    headers.update(step.get("headers", {}))
    answer, text = ask(port, method, path, body, headers)
    if step.get("until"):
        wait_for(lambda: has_come(ask(port, method, path), step), step["do"])
        return
    assert answer.status == step["status"], f"{step['do']}: {text}"
    if answer.status >= 400 and method != "HEAD":
        check_error(answer.status, text)
    assert step.get("text", "") in text
    if step.get("empty"):
        assert text == ""
    if method == "PUT" and answer.status < 300:
        assert answer.headers["Location"] == f"http://127.0.0.1:{port}{path}"
    if method == "DELETE":
        assert answer.headers["Location"] is None
    for place, value in step.get("has", {}).items():
        assert at(json.loads(text), place) == value, place
    for name, place in step.get("same", {}).items():
        assert at(json.loads(text), place) == kept[name]
    for name, place in step.get("newer", {}).items():
        assert at(json.loads(text), place) > kept[name]
    for name, place in step.get("keep", {}).items():
        kept[name] = at(json.loads(text), place)


@pytest.mark.parametrize("row", TABLE["rows"], ids=[row["row"] for row in TABLE["rows"]])
def test_row(running, row):
    port, kept = running(row.get("with", "")), {}
    try:
        for step in row["steps"]:
            do(port, step, kept)
    finally:
        for step in row["steps"]:
            verb, path = step["do"].split(" ", 1)
            name = path[len(FRAMEWORKS):].split("/")[0].split("?")[0]
            if verb == "PUT" and path.startswith(FRAMEWORKS):
                ask(port, "DELETE", FRAMEWORKS + name, None, {"UserName": step.get("headers", {}).get("UserName", "root1")})


TESTS = ["contract/test_launcher_status.py", "e2e/test_launcher_tasks.py", "fault/test_launcher_kills.py"]


def named(word, comments):
    """Numbers of rows ("F") or traps ("trap ") that comments beside tests name."""
    return {int(n) for text in comments for n in re.findall(rf"\b{word}(\d+)\b", text)}


def test_every_row_and_trap_of_the_contract_has_a_test():
    """In the tables, or in a comment beside a test that needs more than a table."""
    with open(os.path.join(HERE, "launcher_status.json"), encoding="utf-8") as f:
        rows = TABLE["rows"] + json.load(f)
    comments = []
    for name in TESTS:
        with open(os.path.join(os.path.dirname(HERE), name), encoding="utf-8") as f:
            comments += re.findall(r"^def test.*#(.*)", f.read(), re.M)
    tested = {int(n) for row in rows for n in re.findall(r"\bF(\d+)", row["row"])} | named("F", comments)
    assert set(range(1, 73)) - tested == set()
    assert set(range(1, 33)) - {n for row in rows for n in row.get("traps", [])} - named("trap ", comments) == set()
