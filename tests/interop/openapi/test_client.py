"""/openapi.json of all three daemons is valid, and a Python client made from it binds, resolves, finds and launches."""
import os
import subprocess

import pytest

from harness import HELLO, ROOT, Stack, container, request

TOOLS = ("openapi-spec-validator==0.9.0", "openapi-python-client==0.29.1")
VENV = os.path.join(ROOT, "build", "openapi-client-0.29.1")
DAEMONS = ("registry", "dns_http", "services")
CLIENT = """
import json
from registry_client import Client as Registry
from registry_client.api.default import get_ws_v1_registry, get_ws_v1_registry_find, put_ws_v1_registry
from registry_client.models import Found, Node, ServiceRecord
from services_client import Client as Services
from services_client.api.default import get_app_v1_services_s, post_app_v1_services
from services_client.models import NewService

registry, services = Registry(base_url=REGISTRY), Services(base_url=SERVICES)
made = put_ws_v1_registry.sync(client=registry, body=ServiceRecord.from_dict(RECORD), path=PATH, create_parents=True)
assert isinstance(made, Node) and made.path == PATH, made
node = get_ws_v1_registry.sync(client=registry, path=PATH)
assert node.service.to_dict()["yarn:ip"] == "127.0.0.9", node
above = get_ws_v1_registry.sync(client=registry, path=PATH.rpartition("/")[0])
assert above.nodes == [PATH.rpartition("/")[2]], above
found = get_ws_v1_registry_find.sync(client=registry, component="one", user="alice")
assert isinstance(found, Found) and [record.path for record in found.records] == [PATH], found
launched = post_app_v1_services.sync_detailed(client=services, body=NewService.from_dict(HELLO), user_name="alice")
assert launched.status_code == 202, launched
print(get_app_v1_services_s.sync(HELLO["name"], client=services, user_name="alice").name)
"""


def tool(name, *words, **more):
    """Run a program of the tools, which are installed once."""
    if not os.path.exists(os.path.join(VENV, "bin", name)):
        subprocess.run(["/usr/bin/python3", "-m", "venv", VENV], check=True)
        subprocess.run([os.path.join(VENV, "bin", "pip"), "install", "--quiet", *TOOLS], check=True)
    env = {**os.environ, "PATH": os.path.join(VENV, "bin") + ":" + os.environ["PATH"]}
    done = subprocess.run([os.path.join(VENV, "bin", name), *words], capture_output=True, text=True, check=False, timeout=300, env=env, **more)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-8000:]
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def stack():
    with Stack(services=True) as s:
        yield s


@pytest.fixture(scope="module")
def documents(stack, tmp_path_factory):
    """The three documents as files."""
    directory = tmp_path_factory.mktemp("openapi")
    for daemon in DAEMONS:
        answer = request(getattr(stack, daemon + "_port"), "GET", "/openapi.json")
        assert answer.status == 200, answer
        (directory / f"{daemon}.json").write_bytes(answer.body)
    return directory


def test_the_documents_are_valid(documents):
    said = tool("openapi-spec-validator", *(str(documents / f"{daemon}.json") for daemon in DAEMONS))
    assert said.count("OK") == len(DAEMONS), said


def test_a_generated_client(stack, documents):
    for daemon in DAEMONS:
        said = tool("openapi-python-client", "generate", "--path", str(documents / f"{daemon}.json"), "--meta", "none",
                    "--output-path", str(documents / f"{daemon}_client"))
        assert "Endpoint will not be generated" not in said, said
    path = "/users/alice/services/yarn-service/one/components/ctr-1"
    head = "\n".join(f"{name} = {value!r}" for name, value in (
        ("REGISTRY", f"http://127.0.0.1:{stack.registry_port}"), ("SERVICES", f"http://127.0.0.1:{stack.services_port}"),
        ("PATH", path), ("RECORD", container("one-0", "one", "127.0.0.9")), ("HELLO", HELLO)))
    (documents / "use.py").write_text(head + "\n" + CLIENT, encoding="utf-8")
    assert tool("python3", "use.py", cwd=documents).strip() == HELLO["name"]
    assert stack.until_state(HELLO["name"], "READY")["name"] == HELLO["name"]
    assert request(stack.services_port, "DELETE", f"/app/v1/services/{HELLO['name']}?user.name=alice").status == 204
