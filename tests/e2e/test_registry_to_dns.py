"""A record bound over REST is answered by DNS as soon as /sync returns; what is deleted goes."""
import pytest

from harness import STORES, Stack, container, dig_full, request, store_url

pytestmark = pytest.mark.sanitize

BASE = "/users/alice/services/yarn-service/shop"
ID = "ctr-e02-1524525041218-0001-01-000002"


@pytest.fixture(scope="module", params=STORES)
def stack(request):
    with store_url(request.param) as url:
        with Stack(store=url) as s:
            yield s


def test_container_names(stack):
    answer = stack.bind(f"{BASE}/components/{ID}", container("web-0", "web", "127.77.0.9"))
    assert answer.status == 201
    stack.sync(answer.headers["Bobbin-Revision"])
    assert stack.dig("web-0.shop.alice.bobbin.test") == ["127.77.0.9"]
    assert stack.dig("web.shop.alice.bobbin.test") == ["127.77.0.9"]
    assert stack.dig(f"{ID}.bobbin.test") == ["127.77.0.9"]
    assert stack.dig("web-0.shop.alice.bobbin.test", "TXT") == ['"id=container_e02_1524525041218_0001_01_000002"']
    assert stack.dig("-x", "127.77.0.9") == ["web-0.shop.alice.bobbin.test."]


def test_empty_non_terminal_and_missing_name(stack):
    answer = stack.bind(f"{BASE}/components/{ID}", container("web-0", "web", "127.77.0.9"))
    stack.sync(answer.headers["Bobbin-Revision"])
    nodata = dig_full(stack.dns_port, "alice.bobbin.test", "A")
    assert "status: NOERROR" in nodata and "ANSWER: 0" in nodata and "SOA" in nodata
    missing = dig_full(stack.dns_port, "nobody.shop.alice.bobbin.test", "A")
    assert "status: NXDOMAIN" in missing and "SOA" in missing


def test_update_replaces_and_delete_removes(stack):
    path = f"{BASE}/components/ctr-1-2-3-4"
    stack.sync(stack.bind(path, container("db-0", "db", "127.77.1.1")).headers["Bobbin-Revision"])
    stack.sync(stack.bind(path, container("db-0", "db", "127.77.1.2")).headers["Bobbin-Revision"])
    assert stack.dig("db-0.shop.alice.bobbin.test") == ["127.77.1.2"]
    assert stack.dig("-x", "127.77.1.1") == []
    gone = stack.registry("DELETE", path)
    assert gone.status == 200 and gone.json["deleted"] is True
    stack.sync(gone.headers["Bobbin-Revision"])
    assert "status: NXDOMAIN" in dig_full(stack.dns_port, "db-0.shop.alice.bobbin.test", "A")


def test_shared_address_survives_the_first_of_two(stack):
    one, two = f"{BASE}/components/ctr-9-1-1-1", f"{BASE}/components/ctr-9-1-1-2"
    stack.bind(one, container("cache-0", "cache", "127.77.2.2"))
    stack.sync(stack.bind(two, container("cache-1", "cache", "127.77.2.2")).headers["Bobbin-Revision"])
    stack.sync(stack.registry("DELETE", one).headers["Bobbin-Revision"])
    assert stack.dig("cache.shop.alice.bobbin.test") == ["127.77.2.2"]
    stack.sync(stack.registry("DELETE", two).headers["Bobbin-Revision"])
    assert stack.dig("cache.shop.alice.bobbin.test") == []


def test_application_record(stack):
    record = {"type": "JSONServiceRecord", "description": "an application master", "internal": [],
              "external": [
                  {"api": "http://", "addressType": "uri", "protocolType": "webui",
                   "addresses": [{"uri": "http://127.77.3.3:8088/ui"}]},
                  {"api": "classpath:org.apache.hadoop.yarn.service.appmaster.ipc", "addressType": "host/port",
                   "protocolType": "hadoop/IPC", "addresses": [{"host": "127.77.3.3", "port": "1026"}]}],
              "yarn:id": "application_1_2", "yarn:persistence": "application"}
    stack.sync(stack.bind("/users/alice/services/org-apache-slider/master", record).headers["Bobbin-Revision"])
    assert stack.dig("master.alice.bobbin.test") == ["127.77.3.3"]
    assert stack.dig("master.alice.bobbin.test", "SRV") == ["1 1 1026 master.alice.bobbin.test.",
                                                           "1 1 8088 master.alice.bobbin.test."]
    assert stack.dig("http-api.master.alice.bobbin.test", "SRV") == ["1 1 8088 master.alice.bobbin.test."]
    assert stack.dig("http-api.master.alice.bobbin.test", "TXT") == ['"api=http" "path=/ui"']
    assert stack.dig("appmaster-ipc-api.master.alice.bobbin.test") == ["127.77.3.3"]


def test_sync_refuses_another_store_and_waits_no_longer_than_asked(stack):
    port = stack.dns_http_port
    revision = stack.registry("GET", "/users").headers["Bobbin-Revision"]
    store, number = revision.rsplit(".", 1)
    assert request(port, "GET", "/sync?revision=nonsense").status == 400
    assert request(port, "GET", "/sync").status == 400
    assert request(port, "GET", "/sync?revision=deadbeef.1&timeout=1s").status == 410
    late = request(port, "GET", f"/sync?revision={store}.{int(number) + 1000}&timeout=100ms")
    assert late.status == 504 and late.json["type"] == "urn:bobbin:error:timeout"


def test_tcp_and_edns(stack):
    stack.sync(stack.bind(f"{BASE}/components/{ID}", container("web-0", "web", "127.77.0.9")).headers["Bobbin-Revision"])
    assert stack.dig("+tcp", "web-0.shop.alice.bobbin.test") == ["127.77.0.9"]
    text = dig_full(stack.dns_port, "WEB-0.shop.alice.BOBBIN.test", "+bufsize=1232")
    assert "WEB-0.shop.alice.BOBBIN.test." in text and "EDNS: version: 0" in text and " aa" in text
    assert "status: REFUSED" in dig_full(stack.dns_port, "example.org", "A")


def test_truncation_then_tcp(stack):
    revision = None
    for i in range(60):
        record = container(f"many-{i}", "many", f"127.77.9.{i + 1}")
        revision = stack.bind(f"{BASE}/components/ctr-7-7-7-{i}", record).headers["Bobbin-Revision"]
    stack.sync(revision)
    assert "flags: qr aa tc" in dig_full(stack.dns_port, "many.shop.alice.bobbin.test", "+ignore", "+noedns")
    assert len(stack.dig("many.shop.alice.bobbin.test")) == 60
