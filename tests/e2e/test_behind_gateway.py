"""What registryd and svcmgr meet behind Apache Knox, sent to them as Knox sends it: each sentence of what they do about it. What only a real
Knox shows is in tests/interop/knox."""
import json
import socket

import pytest

from harness import PATIENCE, Answer, Stack, wait_for
from test_registry_access import SECURE, digest

pytestmark = pytest.mark.sanitize

RECORD = {"type": "JSONServiceRecord", "description": "d", "external": [], "internal": []}
ALICE = "/ws/v1/registry/users/alice/services"
ADDED = {"X-Forwarded-For": "10.1.1.1", "X-Forwarded-Proto": "https", "X-Forwarded-Port": "8443", "X-Forwarded-Host": "gateway:8443",
         "X-Forwarded-Server": "gateway", "X-Forwarded-Context": "/gateway/bobbin"}
JSON = {"Content-Type": "application/json"}
WEB = {"name": "web", "version": "1", "components": [{
    "name": "w", "number_of_containers": 0, "launch_command": "sleep 1", "resource": {"cpus": 1, "memory": "16"}}]}


@pytest.fixture(scope="module")
def stack():
    with Stack(services=True, options={"registryd": SECURE}) as s:
        yield s


class Gateway:
    """A kept connection on which every body is chunked, an empty one too."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self.file = self.socket.makefile("rb")
        self.port = port

    def ask(self, method, path, body=None, headers=None, user="alice", name="user.name"):
        mark = "&" if "?" in path else "?"
        data = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else b""
        fields = {**ADDED, **(JSON if data else {}), **(headers or {})}
        head = "".join(f"{n}: {v}\r\n" for n, v in fields.items())
        self.socket.sendall(f"{method} {path}{mark}{name}={user} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n{head}"
                            "Transfer-Encoding: chunked\r\n\r\n".encode())
        for at in range(0, len(data), 4096):
            piece = data[at:at + 4096]
            self.socket.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
        self.socket.sendall(b"0\r\n\r\n")
        return self.answer(method)

    def answer(self, method):
        status = int(self.file.readline().split()[1])
        headers = {}
        for line in iter(self.file.readline, b"\r\n"):
            key, _, value = line.decode().partition(":")
            headers[key] = value.strip()
        length = 0 if method == "HEAD" or status in (204, 304) else int(headers["Content-Length"])
        return Answer(status, headers, self.file.read(length))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()
        self.socket.close()


@pytest.fixture
def registry(stack):
    with Gateway(stack.registry_port) as gateway:
        assert gateway.ask("DELETE", f"{ALICE}?recursive=true").status == 200
        assert gateway.ask("POST", f"{ALICE}?op=mknode&createParents=true").status == 201
        yield gateway


@pytest.fixture
def services(stack):
    with Gateway(stack.services_port) as gateway:
        yield gateway
        gateway.ask("DELETE", "/app/v1/services/web")


def kind(answer):
    return answer.json["type"].rsplit(":", 1)[1]


# ---- row 1: bodies ----

def test_bodies_are_chunked_and_one_connection_serves_all(registry, services):
    large = {**RECORD, "description": "d" * 100000}
    made = registry.ask("PUT", f"{ALICE}/large", large)
    assert made.status == 201 and made.json["service"] == large
    assert services.ask("POST", "/app/v1/services", WEB).status == 202
    assert services.ask("PUT", "/app/v1/services/web", {"lifetime": 100}).status == 204
    assert registry.ask("GET", f"{ALICE}/large").json["service"] == large


def test_an_empty_body_needs_no_media_type(registry, services):
    """… and is 400 where JSON is required; the record stays."""
    assert registry.ask("PUT", f"{ALICE}/a", RECORD).status == 201
    assert registry.ask("POST", f"{ALICE}/b?op=mknode").status == 201
    assert registry.ask("DELETE", f"{ALICE}/b").json["deleted"]
    for headers in (None, JSON):
        refused = registry.ask("PUT", f"{ALICE}/a?overwrite=true", None, headers)
        assert (refused.status, kind(refused), refused.json["where"]) == (400, "bad-json", "1:1"), refused
        assert services.ask("POST", "/app/v1/services", None, headers).status == 400
    assert registry.ask("GET", f"{ALICE}/a").json["service"] == RECORD
    assert registry.ask("PUT", f"{ALICE}/a?overwrite=true", b"{}", {"Content-Type": "text/plain"}).status == 415
    assert services.ask("DELETE", "/app/v1/services/none").status == 404


def test_a_body_is_read_before_it_is_refused(registry):
    """Half of it unread would be a reset to Knox, and 500 to its client."""
    large = {**RECORD, "description": "d" * 200000}
    for path, headers, wanted in ((f"{ALICE}/a", None, 403), (f"{ALICE}/a", {"X-Bobbin-Accessor": "none"}, 401),
                                  ("/ws/v1/registry/users/a%2Fb", None, 400), ("/nothing", None, 404)):
        assert registry.ask("PUT", path, large, headers, user="bob").status == wanted, path
        assert registry.ask("GET", ALICE).status == 200, "the connection serves on"


# ---- row 2: paths and who asks ----

def test_a_slash_at_the_end_is_none(registry, services):
    for path in ("/ws/v1/registry", ALICE, "/ws/v1/slider/registry/users", "/ws/v1/registry-find"):
        assert registry.ask("GET", path).body == registry.ask("GET", path + "/").body, path
    assert registry.ask("PUT", f"{ALICE}/a/", RECORD).json["path"] == "/users/alice/services/a"
    assert registry.ask("DELETE", f"{ALICE}/a/").json["deleted"]
    assert services.ask("POST", "/app/v1/services/", WEB).status == 202
    for path in ("/app/v1/services", "/app/v1/services/web", "/app/v1/services/version"):
        wait_for(lambda path=path: services.ask("GET", path + "/").body == services.ask("GET", path).body, f"{path} is the same")  # it starts


@pytest.mark.parametrize("query", ["", "User.Name=bob", "USER.NAME=bob", "user%2Ename=bob"])
def test_who_asks_is_no_parameter(stack, query):
    """Wherever it stands and in whatever letters; the first one counts, and Knox removes all but its own."""
    caller = "bob" if query else "alice"
    with Gateway(stack.registry_port) as registry:
        answer = registry.ask("PUT", f"/ws/v1/registry/users/{caller}/who?{query}{'&' if query else ''}createParents=true&overwrite=true", RECORD)
        assert answer.status in (200, 201), answer
        assert registry.ask("GET", "/ws/v1/registry-find?user=alice&USER.name=x").status == 200, "strict routes take it, too"


@pytest.mark.parametrize("path", ["/users/.", "/users/..", "/users/%2e%2E/x", "/users/../alice", "/%2e"])
def test_dots_are_refused(registry, path):
    for method, body in (("GET", None), ("PUT", RECORD), ("DELETE", None), ("POST", None)):
        refused = registry.ask(method, f"/ws/v1/registry{path}{'?op=mknode' if method == 'POST' else ''}", body)
        assert (refused.status, kind(refused)) == (400, "invalid-path"), (method, refused)


# ---- row 4: write accessors ----

def test_an_accessor_comes_in_a_header_of_its_own(registry):
    """Knox drops Authorization. Not yours is 403, never 401, which Knox's client would take for its own password's."""
    assert registry.ask("PUT", f"{ALICE}/shared", RECORD, {"X-Bobbin-Write-Accessors": digest("id:pass")}).status == 201
    def write(method, body, **headers):
        return registry.ask(method, f"{ALICE}/shared{'?overwrite=true' if body else ''}", body, headers, user="bob").status
    assert write("PUT", RECORD) == write("DELETE", None) == 403
    assert write("PUT", RECORD, **{"X-Bobbin-Accessor": "id:wrong"}) == 403
    assert write("PUT", RECORD, **{"X-Bobbin-Accessor": "id:pass"}) == 200
    assert registry.ask("POST", f"{ALICE}/shared/below?op=mknode", None, {"X-Bobbin-Accessor": "id:pass"}, user="bob").status == 201
    assert registry.ask("DELETE", f"{ALICE}/shared/below", None, {"X-Bobbin-Accessor": "id:pass"}, user="bob").json["deleted"]


# ---- row 5: pages ----

def test_a_page_of_the_gateway_may_write_and_no_other(registry, services):
    for origin, wanted in (("https://gateway:8443", 201), ("http://gateway:8443", 403), ("https://gateway", 403), ("https://evil", 403),
                           (f"http://127.0.0.1:{registry.port}", 200)):
        answer = registry.ask("PUT", f"{ALICE}/page?overwrite=true", RECORD, {"Origin": origin})
        assert answer.status == wanted, (origin, answer)
    assert services.ask("POST", "/app/v1/services", WEB, {"Origin": "https://evil"}).status == 403
    assert services.ask("POST", "/app/v1/services", WEB, {"Origin": "https://gateway:8443"}).status == 202


# ---- row 8: what comes back ----

def test_location_is_a_path_and_head_has_no_body(registry, services):
    made = services.ask("POST", "/app/v1/services", WEB)
    assert made.headers["Location"] == "/app/v1/services/web" and services.ask("GET", made.headers["Location"]).status == 200

    def unchanged(gateway, path):  # the service starts, and writes to the registry
        answers = [gateway.ask(method, path) for method in ("GET", "HEAD", "GET")]
        return answers if len({a.headers.get("ETag") for a in answers}) == 1 else None

    for gateway, path in ((registry, ALICE), (services, "/app/v1/services/web")):
        got, head, again = wait_for(lambda ends=(gateway, path): unchanged(*ends), f"GET and HEAD of {path} with one ETag")
        assert got.status == head.status == 200 and head.body == b""
        assert not {"Trailer", "Set-Cookie"} & (got.headers.keys() | made.headers.keys())
        assert again.body == got.body, "the connection is in order"
