"""/openapi.json says everything: schemathesis makes requests from it and looks for a 500 or an answer it does not name."""
import os
import re
import subprocess

import pytest

import slider
from frameworks import Frameworks, role
from harness import Manager, ROOT, Registry, Stack, container, request

SCHEMATHESIS = "schemathesis==4.32.5"
VENV = os.path.join(ROOT, "build", "schemathesis-4.32.5")
HERE = os.path.dirname(os.path.abspath(__file__))
SECURE = {"hadoop.registry.secure": "true", "hadoop.registry.system.accounts": "sasl:yarn", "hadoop.registry.user.accounts": "sasl:hive",
          "hadoop.registry.client.auth": "digest", "hadoop.registry.client.auth.id": "bobbin",
          "hadoop.registry.client.auth.password": "secret"}
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


def schemathesis():
    """The program, installed once."""
    program = os.path.join(VENV, "bin", "schemathesis")
    if not os.path.exists(program):
        subprocess.run(["/usr/bin/python3", "-m", "venv", VENV], check=True)
        subprocess.run([os.path.join(VENV, "bin", "pip"), "install", "--quiet", SCHEMATHESIS], check=True)
    return program


def explore(port, examples, directory, *options, phases="examples,coverage,fuzzing", **environment):
    """Requests made from the document; how many. Fails with the report when an answer is wrong."""
    command = [schemathesis(), "run", f"http://127.0.0.1:{port}/openapi.json", "--checks", CHECKS, "--phases", phases,
               "--seed", "4", "--max-examples", str(examples), "--generation-database", "none",
               "--workers", "1", "--request-timeout", "20", "--no-color", *options]
    done = subprocess.run(command, capture_output=True, text=True, cwd=directory, check=False, timeout=300,
                          env={**os.environ, "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": HERE, **environment})
    assert done.returncode == 0, done.stdout[-12000:] + done.stderr[-4000:]
    made, passed = re.search(r"(\d+) generated, (\d+) passed", done.stdout).groups()
    assert made == passed, done.stdout[-12000:]
    return int(made)


def operations(document):
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"{method} {path}", operation


@pytest.fixture(scope="module")
def stack():
    with Stack(services=True) as s:
        s.bind("/users/alice/services/app/one", container("one-0", "one", "127.77.1.1"))
        yield s


@pytest.mark.parametrize("daemon,known", [
    ("registry", ["put /ws/v1/registry/{path}", "get /ws/v1/slider/registry/{path}"]),
    ("dns_http", ["get /sync", "post /reload"]),
    ("services", ["post /app/v1/services", "put /v1/services/{s}/components/{c}"])])
def test_every_route_is_described(stack, daemon, known):
    answer = request(getattr(stack, daemon + "_port"), "GET", "/openapi.json")
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
    described = dict(operations(answer.json))
    assert {*known, "get /healthz", "get /openapi.json"} <= described.keys()
    for name, operation in described.items():
        assert "default" not in operation["responses"], f"{name} has no description of its answers"
        assert any(status[0] in "23" or status == "101" for status in operation["responses"]), name
    names = [o["operationId"] for o in described.values()]
    assert len(set(names)) == len(names)


def test_how_a_caller_names_its_accessor(stack):
    document = request(stack.registry_port, "GET", "/openapi.json").json
    assert {(s["type"], s.get("scheme") or s["name"]) for s in document["components"]["securitySchemes"].values()} == {
        ("http", "basic"), ("apiKey", "X-Bobbin-Accessor")}
    offered = {name for name, operation in operations(document) if {} in operation.get("security", [])}
    assert offered == {f"{method} /ws/v1/registry{path}" for method in ("put", "post", "delete") for path in ("", "/{path}")}


def test_no_undescribed_answer_of_registryd(stack, tmp_path):
    assert explore(stack.registry_port, 40, tmp_path) > 600


def test_no_undescribed_answer_of_a_secure_registryd(tmp_path):
    """Three callers take turns (hooks.py): a system account, somebody, and the holder of a node's write accessor."""
    with Registry(options={"registryd": SECURE}) as reg:
        made = reg.registry("PUT", "/n1", {"type": "JSONServiceRecord", "external": [], "internal": []},
                            {"X-Bobbin-Write-Accessors": "n1:dhHXBdOXxO82yQ7BmmUc9ovrsj4="}, query="user.name=yarn")
        assert made.status == 201, made
        assert explore(reg.registry_port, 4, tmp_path, "--include-path-regex", "/ws/v1/registry(-admin)?/",
                       SECURE_CALLERS="yarn,mallory") > 100
    answers = (tmp_path / "answers").read_text(encoding="utf-8").splitlines()
    refused = {answer.split()[0] for answer in answers if answer.endswith("403")}
    done = {answer.split()[0] for answer in answers if answer[-3:] in ("200", "201")}
    assert {"PUT", "POST", "DELETE"} <= refused & done, answers


def test_no_undescribed_answer_of_dnsd(stack, tmp_path):
    assert explore(stack.dns_http_port, 10, tmp_path) > 200


def test_no_undescribed_answer_of_svcmgr(tmp_path):
    """One user launches, changes, reads and destroys services whose containers are simulated."""
    options = {"yarn.service.cluster": "sim", "yarn.service.upgrade.enabled": "true"}
    with Manager(options={"svcmgr": options}) as manager:
        made = explore(manager.services_port, 1, tmp_path, "--include-path-regex", "/app/v1/",
                       phases="examples,coverage", EXPLORES_SERVICES="1")
    answers = (tmp_path / "answers").read_text(encoding="utf-8").splitlines()
    assert made >= 2000
    assert answers.count("POST 202") >= 200


def test_no_undescribed_answer_of_slider(tmp_path):
    """One user creates, flexes, reads, stops and destroys applications whose containers are simulated."""
    with Manager(options={"svcmgr": {"yarn.service.cluster": "sim"}}) as manager:
        api = slider.Slider(manager.services_port)
        root = api.create("kept", slider.resources(w=2, v=1), slider.commands(w="serve", v="serve"))
        api.until_live("kept")
        made = explore(manager.services_port, 1, tmp_path, "--include-path-regex", "/ws/v1/slider", "--exclude-path-regex", "/actions?/stop$",
                       phases="examples,coverage", EXPLORES_SLIDER=root.split("/")[2])
        assert api.application("kept")["live"]
    answers = (tmp_path / "answers").read_text(encoding="utf-8").splitlines()
    assert made >= 500
    assert answers.count("PUT 202") >= 10 and answers.count("GET 200") >= 50


def test_no_undescribed_answer_of_the_launcher(tmp_path):
    """Frameworks are put, changed, read and deleted whose tasks are simulated, and the documents of the launcher."""
    with Manager(options={"svcmgr": {"yarn.service.cluster": "sim"}}) as manager:
        api = Frameworks(manager.services_port)
        api.put("kept", {name: role("serve", ["/etc/hostname"], 2) for name in "wv"})
        api.until_tasks("kept", "CONTAINER_RUNNING", 2)
        made = explore(manager.services_port, 1, tmp_path, "--include-path-regex", "^/(v1/(Frameworks|Launcher).*|v1)?$",
                       phases="examples,coverage", EXPLORES_LAUNCHER="1")
        assert api.ask("GET", "kept").status == 200
    answers = (tmp_path / "answers").read_text(encoding="utf-8").splitlines()
    assert made >= 700
    assert answers.count("PUT 202") >= 10 and answers.count("GET 200") >= 50 and "DELETE 202" in answers
