"""A misspelt parameter of one of our own routes is refused with the name that was meant; the compatible faces take any."""
import re

import pytest

from harness import Stack, request

RECORD = {"type": "JSONServiceRecord", "description": "d", "external": [], "internal": []}


@pytest.fixture(scope="module")
def stack():
    with Stack(services=True) as s:
        yield s


# (daemon, method, path with query, the parameter, what was meant or None)
MISSPELT = [
    ("registry", "PUT", "/ws/v1/registry/users/x?createparents=true", "createparents", "createParents"),
    ("registry", "PUT", "/ws/v1/registry/users/x?overwite=true", "overwite", "overwrite"),
    ("registry", "GET", "/ws/v1/registry/users?recursiv=true", "recursiv", "recursive"),
    ("registry", "DELETE", "/ws/v1/registry/users/x?Recursive=true", "Recursive", "recursive"),
    ("registry", "POST", "/ws/v1/registry/users/x?op=mknode&username=x", "username", "user.name"),
    ("registry", "GET", "/ws/v1/registry-find?clas=x", "clas", "class"),
    ("registry", "POST", "/ws/v1/registry-admin/purge?x=1", "x", None),
    ("registry", "GET", "/ws/v1/registry-admin/export?pth=/", "pth", "path"),
    ("dns", "GET", "/zones?zone=x", "zone", None),
    ("dns", "GET", "/sync?revison=x", "revison", "revision"),
    ("dns", "GET", "/explain?nmae=x", "nmae", "name"),
    ("services", "GET", "/app/v1/services/s/component-instances/i/logs/stdout.txt?ofset=1", "ofset", "offset"),
    *((daemon, "GET", f"{path}?x=1", "x", None) for daemon in ("registry", "dns", "services")
      for path in ("/healthz", "/readyz", "/metrics", "/version", "/openapi.json")),
]


@pytest.mark.parametrize("daemon, method, path, name, meant", MISSPELT)
def test_a_misspelt_parameter_is_refused(stack, daemon, method, path, name, meant):
    port = {"registry": stack.registry_port, "dns": stack.dns_http_port, "services": stack.services_port}[daemon]
    answer = request(port, method, path, RECORD if method in ("PUT", "POST") else None)
    text = answer.body.decode().replace('\\"', '"')
    assert answer.status == 400 and f'"{name}" is no query parameter here' in text, answer
    assert (f'did you mean "{meant}"?' if meant else "did you mean") in text or not meant, answer
    assert meant or "did you mean" not in text, answer
    if method == "PUT":
        assert request(port, "GET", "/ws/v1/registry/users/x").status == 404, "nothing is made"


# The routes whose callers are clients of Hadoop, Slider and FrameworkLauncher.
COMPATIBLE = re.compile(r"/$|/v1$|/v1/(?!services)|/ws/v1/slider(/|$)|/proxy/|(/app)?/v1/services(/(?!.*/logs/)|$)")


def test_every_route_of_ours_refuses_unknown_parameters(stack):
    taken, n = [], 0
    for port in (stack.registry_port, stack.dns_http_port, stack.services_port):
        for path, item in request(port, "GET", "/openapi.json").json["paths"].items():
            for method in {"get", "put", "post", "delete"} & set(item):
                if COMPATIBLE.match(path):
                    continue
                n += 1
                body = {} if "requestBody" in item[method] else None
                answer = request(port, method.upper(), re.sub(r"\{[^}]*\}", "x", path) + "?no.such.parameter=1", body)
                if answer.status != 400 or b"no.such.parameter" not in answer.body:
                    taken.append((method, path, answer))
    assert n > 30 and not taken


def test_compatible_faces_take_any(stack):
    for path in ("/app/v1/services?nosuch=1", "/v1/services?nosuch=1", "/app/v1/services/version?nosuch=1", "/v1/Frameworks?nosuch=1",
                 "/v1/LauncherStatus?nosuch=1", "/ws/v1/slider/applications?nosuch=1"):
        assert request(stack.services_port, "GET", path).status == 200
    assert request(stack.registry_port, "GET", "/ws/v1/slider/registry/users?nosuch=1").status == 200
    assert request(stack.registry_port, "GET", "/metrics?user.name=x&doAs=x").status == 200, "they name the caller"
