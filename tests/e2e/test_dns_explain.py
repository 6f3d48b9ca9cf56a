"""GET /explain says why a name is answered as it is, or which link is missing; GET /dump and /stats."""
from urllib.parse import quote

import pytest

from harness import DOMAIN, Stack, container, free_port, request, wait_for

pytestmark = pytest.mark.sanitize

BASE = "/users/alice/services/yarn-service/shop"


CORP = """$TTL 60
@ SOA ns hostmaster 1 3600 600 86400 30
@ NS ns
ns A 10.0.0.1
*.wild A 10.0.0.2
sub NS ns1.sub
ns1.sub A 10.0.0.53
old DNAME new
x.new A 10.0.0.3
shop CNAME web-0.shop.alice.{domain}.
twice CNAME shop
away CNAME www.example.com.
long DNAME {label}.{label}.{label}
"""


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    zones = tmp_path_factory.mktemp("zones")
    (zones / "corp.test.zone").write_text(CORP.format(domain=DOMAIN, label="a" * 60))
    options = {"zones-dir": zones, "forward.enabled": "true", "upstreams": f"127.0.0.1:{free_port()}"}
    with Stack(options={"dnsd": {f"hadoop.registry.dns.{key}": value for key, value in options.items()}}) as s:
        noip = container("web-2", "web", "x")
        del noip["yarn:ip"]
        unready = container("web-1", "web", "127.77.0.2")
        unready["bobbin:ready"] = "false"
        nohost = container("db-0", "db", "127.77.0.5")
        del nohost["yarn:hostname"]
        nohost["external"] = [{"api": "http://", "addressType": "uri", "protocolType": "tcp", "addresses": [{"uri": "http://127.77.0.5:99999/"}]}]
        for i, record in enumerate([container("web-0", "web", "127.77.0.1"), unready, noip, nohost]):
            answer = s.bind(f"{BASE}/components/ctr-{i}", record)
        answer = s.bind(BASE, {"type": "JSONServiceRecord", "external": [], "internal": [], "yarn:persistence": "application"})
        s.sync(answer.headers["Bobbin-Revision"])
        yield s


def explain(stack, name, kind="A"):
    answer = request(stack.dns_http_port, "GET", f"/explain?name={quote(name)}&type={kind}")
    assert answer.status == 200, answer
    return answer.json


def test_the_whole_chain(stack):
    reported = explain(stack, f"web-0.shop.alice.{DOMAIN}")
    assert reported["match"] == "exact" and reported["zone"] == f"{DOMAIN}." and reported["missing"] is None
    assert [s["path"] for s in reported["sources"]] == [f"{BASE}/components/ctr-0"]
    gives = reported["sources"][0]["gives"]
    assert {g["decision"] for g in gives} == {"published"} and any("127.77.0.1" in g["record"] for g in gives)
    assert reported["answer"]["rcode"] == "NOERROR" and "127.77.0.1" in reported["answer"]["records"][0]
    assert len(reported["rrsets"]) == 2


def test_not_ready_is_said(stack):
    reported = explain(stack, f"web.shop.alice.{DOMAIN}")
    decisions = {s["path"][-1]: [g["decision"] for g in s["gives"]] for s in reported["sources"]}
    assert decisions["0"] == ["published"]
    assert decisions["1"] == ["not published: the container is not ready, others are"]
    assert len(reported["answer"]["records"]) == 1


@pytest.mark.parametrize("name, kind, missing", [
    (f"web-2.shop.alice.{DOMAIN}", "A", "a registry record could give this name, but the container record has no yarn:ip"),
    (f"web-9.shop.alice.{DOMAIN}", "A", "no record in the registry, and no master file, gives this name"),
    (f"web-0.shop.alice.{DOMAIN}", "MX", "the name exists, but it has no MX record"),
    (f"web.shop.alice.{DOMAIN}", "MX", "the name exists, but it has no MX record"),  # whatever one of its records lacks
    (f"alice.{DOMAIN}", "A", "the name exists, but it has no A record"),
    ("away.corp.test", "A", "www.example.com. is in no zone of this server: resolvers go on there"),
    ("host.sub.corp.test", "A", "the name is delegated to other servers"),
    ("nope.old.corp.test", "A", "no record in the registry, and no master file, gives this name"),
    (f"{'b' * 60}.{'b' * 60}.long.corp.test", "A", "the name that a DNAME makes of it is longer than 255 octets"),
    ("nope.wild.corp.test", "TXT", "the name exists, but it has no TXT record"),
    ("127.77.0.5", "PTR", "a registry record could give this name, but its container record has no yarn:hostname, which a PTR needs"),
    (f"_db._tcp.shop.alice.{DOMAIN}", "SRV",
     "a registry record could give this name, but the container record has no external endpoint with a port of 0 to 65535"),
    (f"db-0.shop.alice.{DOMAIN}", "SRV", "the name exists, but it has no SRV record"),
    ("10.1.2.3", "PTR", "no zone of this server contains the name; the built-in empty zone 10.in-addr.arpa. answers "
                        "(RFC 6303, hadoop.registry.dns.empty-zones)"),
    ("127.77.9.9", "PTR", "no record in the registry, and no master file, gives this name"),
])
def test_the_missing_link(stack, name, kind, missing):
    assert explain(stack, name, kind)["missing"] == missing


@pytest.mark.parametrize("name, kind, matches, because, answer", [
    ("any.wild.corp.test", "A", ["wildcard"], ["the wildcard *.wild.corp.test. stands for it"], "10.0.0.2"),
    ("twice.corp.test", "A", ["exact"] * 3, ["alias (CNAME) of shop.corp.test.", f"alias (CNAME) of web-0.shop.alice.{DOMAIN}."], "127.77.0.1"),
    ("x.old.corp.test", "A", ["redirected", "exact"], ["old.corp.test. redirects (DNAME) every name below it to new.corp.test."], "10.0.0.3"),
    ("shop.corp.test", "CNAME", ["exact"], ["has CNAME records"], f"web-0.shop.alice.{DOMAIN}."),
    ("127.77.0.1", "PTR", ["exact"], ["has PTR records"], f"web-0.shop.alice.{DOMAIN}."),
    ("localhost", "A", ["outside"], ["no zone of this server"], "127.0.0.1"),
])
def test_each_step_says_why(stack, name, kind, matches, because, answer):
    reported = explain(stack, name, kind)
    assert [link["match"] for link in reported["chain"]] == matches and reported["missing"] is None
    for sentence, link in zip(because, reported["chain"]):
        assert sentence in link["because"], link
    assert reported["answer"]["records"][-1].split()[-1] == answer and reported["answer"]["rcode"] == "NOERROR"


def test_the_records_behind_an_alias_are_listed(stack):
    reported = explain(stack, "twice.corp.test")
    assert [s["path"] for s in reported["sources"]] == [f"{BASE}/components/ctr-0"]
    assert reported["chain"][2]["rrsets"][0].split()[-1] == "127.77.0.1"


def test_a_delegation_names_the_servers(stack):
    reported = explain(stack, "host.sub.corp.test")
    assert reported["match"] == "delegated" and reported["chain"][0]["because"] == "the zone delegates sub.corp.test. to ns1.sub.corp.test."
    assert reported["answer"]["authority"][0].split()[-1] == "ns1.sub.corp.test."
    assert reported["answer"]["additional"][0].split()[-1] == "10.0.0.53" and not reported["answer"]["records"]


def test_an_address_that_no_zone_covers(stack):
    path = f"{BASE}/components/ctr-far"
    stack.sync(stack.bind(path, container("far-0", "far", "192.0.2.7")).headers["Bobbin-Revision"])
    reported = explain(stack, "192.0.2.7", "PTR")
    assert [s["path"] for s in reported["sources"]] == [path] and reported["sources"][0]["gives"][0]["decision"] == "no zone covers it"
    stack.sync(stack.registry("DELETE", path).headers["Bobbin-Revision"])


def test_what_is_relayed_is_said(stack):
    reported = explain(stack, "www.example.com")
    assert reported["match"] == "outside" and "upstream servers" in reported["answer"]["relayed"] and reported["missing"] is None
    assert explain(stack, f"web-0.shop.alice.{DOMAIN}")["answer"]["relayed"] is None


def test_stale_is_said():
    with Stack() as s:
        s.sync(s.bind(f"{BASE}/components/ctr-0", container("web-0", "web", "127.77.0.1")).headers["Bobbin-Revision"])
        name = f"web-0.shop.alice.{DOMAIN}"
        assert explain(s, name)["stale"] is None
        assert explain(s, "www.example.com")["missing"] == "no zone of this server contains the name; GET /zones lists them"
        path = f"{BASE}/components/ctr-far"
        s.sync(s.bind(path, container("far-0", "far", "192.0.2.7")).headers["Bobbin-Revision"])
        assert "hadoop.registry.dns.zone-subnet" in explain(s, "192.0.2.7", "PTR")["missing"]
        s.registryd.stop()
        reported = wait_for(lambda: next((t for t in [explain(s, name)] if t["stale"]), None), "the outage is reported")
        assert "the registry is away" in reported["stale"] and reported["answer"]["records"]


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
    reported = request(stack.dns_http_port, "GET", "/stats").json
    assert reported["ready"] and reported["connected"] and not reported["stale"]
    assert reported["records"] == 3 and reported["nameless"] == 2
    before = reported["queries"]["udp_queries"]
    stack.dig(f"web-0.shop.alice.{DOMAIN}")
    assert request(stack.dns_http_port, "GET", "/stats").json["queries"]["udp_queries"] == before + 1
