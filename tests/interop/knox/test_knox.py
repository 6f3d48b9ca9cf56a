"""What people do through a real Apache Knox with the definitions of conf/knox: what is asked, what arrives, who asks and who
may, as curl sees it."""
import json
import re

import pytest

from gateway import JSON, curl
from harness import request
from records import read_rows
from test_registry_access import digest

RECORD = (b'{"type":"JSONServiceRecord","description":"caf\\u00e9","n":1e3,"external":[{"api":"http","addressType":"uri",'
          b'"protocolType":"REST","addresses":[{"uri":"http://am:1/ws/v1/x"}]}],"internal":[]}')


@pytest.fixture
def alice(behind):
    """A directory of alice's, empty."""
    path = "/users/alice/services"
    assert behind.secure.registry("DELETE", path, query="recursive=true&user.name=alice").status == 200
    assert curl("-X", "POST", behind.registry(path + "?op=mknode&createParents=true")).status in (200, 201)
    return path


def put(behind, path, *words, record=RECORD, query="overwrite=true", topology="bobbin", **who):
    return curl("-X", "PUT", JSON, "--data-binary", "@-", *words, behind.registry(f"{path}?{query}", topology), data=record, **who)


def same(behind, path):
    """A node through Knox and around it is the same, octet for octet."""
    through = curl(behind.registry(path))
    assert through.status == 200, through
    assert through.body == behind.direct(path).body
    return through


def test_k1_slashes_at_the_end_and_doubled(behind, alice):
    root, slash, node = (curl(behind.registry(path)) for path in ("", "/", "/users//alice/"))
    assert (root.status, slash.status, node.status) == (200, 200, 200)
    assert root.body == slash.body and node.json["path"] == "/users/alice"


@pytest.mark.parametrize("path", ["/users/a%2Fb", "/users/../x", "/users/%2e%2e/x"])
def test_k2_a_path_that_would_name_another_node_is_refused(behind, path):
    refused = curl("--path-as-is", behind.registry(path))
    assert refused.status == 400 and refused.json["type"] == "urn:bobbin:error:invalid-path", refused


def test_names_outside_of_ascii_pass(behind):
    """In a path and in a query."""
    for where in ("/users/caf%C3%A9", "?path=/users/caf%C3%A9"):
        unknown = curl(behind.registry(where))
        assert unknown.status == 404 and "/users/café" in unknown.json["detail"] + unknown.json.get("where", ""), unknown


def test_heads_of_8_kib(behind):
    for length, header, query in ((7000, 200, 404), (8400, 431, 414)):
        assert curl("-H", "X-A: " + "a" * length, behind.registry()).status == header
        assert curl(behind.registry("?path=/" + "a" * length)).status == query


def stored(behind, path):
    """Bytes of a node in the store."""
    answer = behind.secure.registry("GET", "/export", base="/ws/v1/registry-admin", query=f"path={path}&user.name=yarn")
    return json.loads(answer.body.split(b"\n")[0])["record"]


def test_k3_a_record_is_not_touched(behind, alice):
    assert put(behind, alice + "/a").status == 201
    assert b"http://am:1/ws/v1/x" in same(behind, alice + "/a").body
    direct = behind.secure.registry("PUT", alice + "/b", RECORD, {"Content-Type": "application/json"}, query="user.name=alice")
    assert direct.status == 201 and stored(behind, alice + "/a") == stored(behind, alice + "/b")


def test_a_large_record_passes(behind, alice):
    """Nearly the 1 MB that hadoop.registry.record.max-size allows; Knox sends it on in pieces, without its length."""
    more = {f"a{n}": "é" * 4000 for n in range(85)}
    record = json.dumps({**json.loads(RECORD), **more, "description": "d" * 250000}, ensure_ascii=False).encode()
    assert 900e3 < len(record) < 1e6 and put(behind, alice + "/big", record=record).status == 201
    assert len(same(behind, alice + "/big").body) > 900e3


def test_records_of_every_kind_pass(behind, alice):
    """Each record of the contract, as people write it and as bytes of the store: through Knox what it is around it."""
    n = 0
    for number, data, wanted in read_rows("lenient", "lenient>", "strict", "strict>"):
        if isinstance(wanted, str) or not data:
            continue
        direct = behind.secure.registry("PUT", f"{alice}/direct", data, {"Content-Type": "application/json"},
                                        query="overwrite=true&user.name=alice")
        bound = put(behind, f"{alice}/r{number}", record=data)
        assert bound.status // 100 == direct.status // 100, (number, bound, direct)
        if direct.status // 100 == 2:
            n += 1
            assert stored(behind, f"{alice}/r{number}") == stored(behind, f"{alice}/direct"), number
    through = curl(behind.registry(alice + "?recursive=true"))
    assert n > 20 and through.body == behind.direct(alice, "recursive=true").body


@pytest.mark.parametrize("query", ["user.name=bob", "User.Name=bob", "user.name=bob&User.Name=bob&doAs=bob", "doAs=bob", "DOAS=bob&overwrite=true&user.name=bob"])
def test_k4_nobody_names_another_caller(behind, query):
    assert behind.secure.registry("POST", "/users/bob", query="op=mknode&user.name=bob").status in (200, 201)
    for more in ("", "createParents=true&"):
        refused = put(behind, "/users/bob/a", query=more + query)
        assert refused.status == 403 and "alice" in refused.json["detail"], refused


def test_k5_conditions(behind, alice):
    tag = put(behind, alice + "/a").headers["etag"]
    unchanged = curl("-H", f"If-None-Match: {tag}", behind.registry(alice + "/a"))
    assert (unchanged.status, unchanged.headers["etag"]) == (304, tag)
    assert put(behind, alice + "/a", "-H", 'If-Match: "9.9"').status == 412


def test_k6_a_malformed_record_is_our_refusal(behind, alice):
    refused = put(behind, alice + "/a", record=b'{"a":')
    assert refused.status == 400 and refused.headers["content-type"] == "application/problem+json", refused
    assert (refused.json["type"], refused.json["where"]) == ("urn:bobbin:error:bad-json", "1:6")


def test_k7_bodies_that_are_none(behind, alice):
    put(behind, alice + "/a")
    before = behind.direct(alice + "/a").body
    assert curl("-X", "PUT", "--data-binary", "@-", behind.registry(alice + "/a?overwrite=true"), data=RECORD).status == 415
    for words in ([JSON], []):
        empty = curl("-X", "PUT", *words, behind.registry(alice + "/a?overwrite=true"))
        assert empty.status == 400 and empty.json["type"] == "urn:bobbin:error:bad-json", empty
    assert behind.direct(alice + "/a").body == before


def test_k8_nodes_are_made_and_deleted(behind, alice):
    assert curl("-X", "POST", behind.registry(alice + "/x?op=mknode")).status == 201
    assert behind.direct(alice + "/x").status == 200
    assert curl("-X", "DELETE", behind.registry(alice + "/x")).json["deleted"]
    assert behind.direct(alice + "/x").status == 404


def test_k9_head(behind, alice):
    tag = put(behind, alice + "/a").headers["etag"]
    assert curl(behind.registry(alice + "/a")).headers["etag"] == tag
    head = curl("-I", behind.registry(alice + "/a"))
    assert (head.status, head.headers["etag"]) == (200, tag)


def n_asked(behind):
    """Requests that registryd has answered, but for those that count them."""
    text = request(behind.secure.registry_port, "GET", "/metrics").body.decode()
    counts = re.findall(r'^http_request_duration_seconds_count\{route="([^"]*)".*\} (\d+)$', text, re.M)
    return sum(int(n) for route, n in counts if route != "/metrics")


@pytest.mark.parametrize("login", [{"user": None}, {"password": "wrong"}, {"user": "mallory", "password": "alice-secret"}])
def test_k10_without_the_right_password_registryd_is_not_asked(behind, login):
    assert curl(behind.registry()).status == 200
    before = n_asked(behind)
    refused = curl(behind.registry(), **login)
    assert refused.status == 401 and refused.headers["www-authenticate"].startswith("BASIC"), refused
    assert curl("-X", "DELETE", behind.registry("/users/alice?recursive=true"), **login).status == 401
    assert n_asked(behind) == before
    assert curl(behind.registry()).status == 200 and n_asked(behind) == before + 1


@pytest.mark.parametrize("path", ["/registry/healthz", "/registry/readyz", "/registry/metrics", "/registry/openapi.json",
                                  "/registry/ws/v1/registry-admin/export", "/app/healthz", "/app/metrics", "/ws/v1/registry"])
def test_k12_what_is_not_routed(behind, path):
    before = n_asked(behind)
    assert curl(behind.knox.url() + path).status == 404
    assert curl("-X", "POST", JSON, "-d", "{}", behind.knox.url() + "/registry/ws/v1/registry-admin/purge").status == 404
    assert n_asked(behind) == before


def test_what_is_routed_beside_the_registry(behind):
    assert curl(behind.knox.url() + "/registry/ws/v1/registry-find?user=alice").status == 200
    assert curl(behind.knox.url() + "/registry/ws/v1/slider/registry/users/alice").status == 200


def test_k13_an_answer_of_20_mb(behind, alice):
    """Through Knox and around it a recursive read is the same."""
    big = {"type": "JSONServiceRecord", "description": "d" * 60000, "external": [], "internal": []}
    for i in range(340):
        assert behind.secure.registry("PUT", f"{alice}/big-{i}", big, query="user.name=alice").status == 201
    through = curl(behind.registry(alice + "?recursive=true"))
    assert through.status == 200 and len(through.body) > 20e6
    assert through.body == behind.direct(alice, "recursive=true").body


def test_k18_an_accessor_in_a_header_of_its_own(behind, alice):
    grant = f"X-Bobbin-Write-Accessors: {digest('id:pass')}"
    assert put(behind, alice + "/shared", "-H", grant).status == 201
    assert put(behind, alice + "/shared", "-H", "X-Bobbin-Accessor: id:pass", user="bob").status == 200
    assert put(behind, alice + "/shared", "-H", "X-Bobbin-Accessor: id:wrong", user="bob").status == 403
    assert put(behind, alice + "/shared", user="bob").status == 403
