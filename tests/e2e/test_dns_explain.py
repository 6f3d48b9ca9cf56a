"""GET /explain says why a name is answered as it is, or which link is missing; GET /dump and /stats."""
from urllib.parse import quote

import pytest

from harness import DOMAIN, Stack, container, request

pytestmark = pytest.mark.sanitize

BASE = "/users/alice/services/yarn-service/shop"


@pytest.fixture(scope="module")
def stack():
    with Stack() as s:
        noip = container("web-2", "web", "x")
        del noip["yarn:ip"]
        unready = container("web-1", "web", "127.77.0.2")
        unready["bobbin:ready"] = "false"
        for i, record in enumerate([container("web-0", "web", "127.77.0.1"), unready, noip]):
            answer = s.bind(f"{BASE}/components/ctr-{i}", record)
        answer = s.bind(BASE, {"type": "JSONServiceRecord", "external": [], "internal": [], "yarn:persistence": "application"})
        s.sync(answer.headers["Bobbin-Revision"])
        yield s


def explain(stack, name, kind="A"):
    answer = request(stack.dns_http_port, "GET", f"/explain?name={quote(name)}&type={kind}")
    assert answer.status == 200, answer
    return answer.json


def test_the_whole_chain(stack):
    told = explain(stack, f"web-0.shop.alice.{DOMAIN}")
    assert told["match"] == "exact" and told["zone"] == f"{DOMAIN}." and told["missing"] is None
    assert [s["path"] for s in told["sources"]] == [f"{BASE}/components/ctr-0"]
    gives = told["sources"][0]["gives"]
    assert {g["decision"] for g in gives} == {"published"} and any("127.77.0.1" in g["record"] for g in gives)
    assert told["answer"]["rcode"] == "NOERROR" and "127.77.0.1" in told["answer"]["records"][0]
    assert len(told["rrsets"]) == 2


def test_not_ready_is_said(stack):
    told = explain(stack, f"web.shop.alice.{DOMAIN}")
    decisions = {s["path"][-1]: [g["decision"] for g in s["gives"]] for s in told["sources"]}
    assert decisions["0"] == ["published"]
    assert decisions["1"] == ["not published: the container is not ready, others are"]
    assert len(told["answer"]["records"]) == 1


@pytest.mark.parametrize("name, kind, missing", [
    (f"web-2.shop.alice.{DOMAIN}", "A", "a registry record could give this name, but the container record has no yarn:ip"),
    (f"web-9.shop.alice.{DOMAIN}", "A", "no record in the registry, and no master file, gives this name"),
    (f"web-0.shop.alice.{DOMAIN}", "MX", "the name exists, but it has no MX record"),
    (f"alice.{DOMAIN}", "A", "the name exists, but it has no A record"),
    ("www.example.com", "A", "no zone of this server contains the name; GET /zones lists them"),
])
def test_the_missing_link(stack, name, kind, missing):
    assert explain(stack, name, kind)["missing"] == missing


def test_requests_that_cannot_be_read(stack):
    for query in ("", "?name=", "?name=a..b", f"?name={DOMAIN}&type=NOPE"):
        assert request(stack.dns_http_port, "GET", f"/explain{query}").status == 400, query
    assert request(stack.dns_http_port, "GET", "/dump?zone=nowhere.test").status == 404


def test_dump_is_a_master_file(stack):
    text = request(stack.dns_http_port, "GET", f"/dump?zone={DOMAIN}").body.decode()
    lines = text.splitlines()
    assert lines[0].split()[3] == "SOA" and sum(" SOA " in line.replace("\t", " ") for line in lines) == 1
    assert f"web-0.shop.alice.{DOMAIN}.\t1\tIN\tA\t127.77.0.1" in lines


def test_stats_count(stack):
    told = request(stack.dns_http_port, "GET", "/stats").json
    assert told["ready"] and told["connected"] and not told["stale"]
    assert told["records"] == 2 and told["nameless"] == 2
    before = told["queries"]["udp_queries"]
    stack.dig(f"web-0.shop.alice.{DOMAIN}")
    assert request(stack.dns_http_port, "GET", "/stats").json["queries"]["udp_queries"] == before + 1
