"""Finding records by what is in them: answered from an index that follows every change."""

import json
import os
import re
import subprocess

import pytest

from harness import BIN, PATIENCE, Registry, container, wait_for

pytestmark = pytest.mark.sanitize

HBASE = {"type": "JSONServiceRecord", "description": "h", "internal": [
    {"api": "uuid:423C", "addressType": "host/port", "protocolType": "thrift",
     "addresses": [{"host": "localhost", "port": "8050"}]}], "external": [
    {"api": "http://", "addressType": "uri", "protocolType": "webui",
     "addresses": [{"uri": "http://namenode/"}, {"uri": "https://[::1]:8443/status?x=1"}]},
    {"api": "classpath:org.apache.hbase", "addressType": "zktriple", "protocolType": "zookeeper",
     "addresses": [{"host": "zk1", "port": "2181", "path": "/hbase"}]}],
    "yarn:id": "application_1414052463672_0028", "yarn:persistence": "application"}


@pytest.fixture(scope="module")
def reg():
    with Registry() as r:
        r.bind("/users/alice/services/hbase/one", HBASE)
        r.bind("/users/alice/services/hbase/one/components/ctr-1", container("m-0", "master", "127.77.0.1", "container_1_0001_01_000001"))
        r.bind("/users/bob/services/hbase/two", HBASE)
        r.bind("/users/bob/tomcat/three", {**HBASE, "external": [{**HBASE["external"][0], "protocolType": "web"}]})
        r.bind("/services/hdfs", {"type": "JSONServiceRecord", "external": [], "internal": []})
        yield r


def find(reg, query, status=200):
    answer = reg.registry("GET", "", base="/ws/v1/registry-find", query=query)
    assert answer.status == status, answer
    return answer.json


def paths(reg, query):
    return sorted(r["path"] for r in find(reg, query)["records"])


@pytest.mark.parametrize("query, expected", [
    ("api=classpath:org.apache.hbase", ["/users/alice/services/hbase/one", "/users/bob/services/hbase/two"]),
    ("endpointField.api=classpath:org.apache.hbase", ["/users/alice/services/hbase/one", "/users/bob/services/hbase/two"]),
    ("-endpointField.api=uuid:423C&user=bob", ["/users/bob/services/hbase/two", "/users/bob/tomcat/three"]),
    ("user=alice", ["/users/alice/services/hbase/one", "/users/alice/services/hbase/one/components/ctr-1"]),
    ("class=hbase&user=bob", ["/users/bob/services/hbase/two"]),
    ("class=tomcat", ["/users/bob/tomcat/three"]),
    ("component=master", ["/users/alice/services/hbase/one/components/ctr-1"]),
    ("id=container_1_0001_01_000001", ["/users/alice/services/hbase/one/components/ctr-1"]),
    ("id=container_1_0001_01_00000", []),
    ("protocol=web&user=bob", ["/users/bob/services/hbase/two", "/users/bob/tomcat/three"]),
    ("api=http://&protocol=thrift", []),  # both must be of one endpoint
    ("api=uuid:423C&protocol=thrift&user=alice", ["/users/alice/services/hbase/one"]),
    ("api=nothing", []),
])
def test_terms(reg, query, expected):
    assert paths(reg, query) == expected


def test_a_found_record_is_what_get_shows(reg):
    found = find(reg, "id=container_1_0001_01_000001")["records"][0]
    shown = reg.registry("GET", found["path"]).json
    assert found["service"] == shown["service"] and found["status"] == shown["status"]


@pytest.mark.parametrize("query", ["", "limit=5", "api=a&endpointField.api=b", "user=a&format=xml", "user=a&limit=0",
                                   "user=a&cursor=nonsense", "user=a&format=http_sd&limit=3"])
def test_what_is_no_search_is_refused(reg, query):
    answer = find(reg, query, status=400)
    assert answer["type"].startswith("urn:bobbin:error:") and answer["detail"]


@pytest.mark.parametrize("query, named", [("class=hbase&usr=bob", "usr"), ("usr=bob&class=hbase&format=http_sd", "usr"), ("User=bob&class=hbase", "User"),
                                          ("class=hbase&recursive=true", "recursive"), ("class=hbase&=x", "")])
def test_a_term_that_nobody_knows_is_not_passed_over(reg, query, named):
    answer = find(reg, query, status=400)
    assert answer.get("where", "") == named and f'"{named}"' in answer["detail"]
    for known in ("api", "user", "class", "protocol", "component", "id", "endpointField.api", "format", "limit", "cursor"):
        assert re.search(rf"[ ,]{known}(,|$)", answer["detail"]), answer


@pytest.mark.parametrize("caller", ["user.name=bob", "user.name=bob&doAs=bob", "User.Name=bob&doas=bob", "USER.NAME=bob"])
def test_who_the_caller_is_may_be_said(reg, caller):
    assert paths(reg, f"{caller}&class=hbase&user=bob") == paths(reg, f"class=hbase&user=bob&{caller}") == ["/users/bob/services/hbase/two"]


def test_the_index_follows_changes(reg):
    path = "/users/carol/services/app/x"
    reg.bind(path, container("c", "web", "127.77.0.9", "container_5_0001_01_000001"))
    assert paths(reg, "component=web") == [path]
    reg.bind(path, container("c", "db", "127.77.0.9", "container_5_0001_01_000002"))
    assert paths(reg, "component=web") == [] and paths(reg, "id=container_5_0001_01_000001") == []
    assert paths(reg, "component=db&id=container_5_0001_01_000002") == [path]
    assert reg.registry("DELETE", "/users/carol", query="recursive=true").status == 200
    assert paths(reg, "component=db") == [] and paths(reg, "user=carol") == []


def test_pages_miss_nothing_that_stays(reg):
    for i in range(300):
        reg.bind(f"/users/dora/services/many/n{i:03}", container(f"n{i}", "many", "127.77.1.1", f"container_7_0001_01_{i:06}"))
    seen, cursor, removed = [], "", set()
    while True:
        page = find(reg, f"component=many&limit=40{cursor}")
        seen += [r["path"] for r in page["records"]]
        if "cursor" not in page:
            break
        assert len(page["records"]) == 40
        cursor = f"&cursor={page['cursor']}"
        gone = f"/users/dora/services/many/n{len(seen) - 1:03}"  # the very last seen: the cursor must survive it
        reg.registry("DELETE", gone)
        removed.add(gone)
    assert len(seen) == len(set(seen)) == 300
    assert len(paths(reg, "component=many&limit=1000")) == 300 - len(removed)
    assert len(find(reg, "component=many")["records"]) == 300 - len(removed)


def test_a_cursor_of_another_start_is_gone(reg):
    page = find(reg, "user=bob&limit=1")
    epoch, number = page["cursor"].split("-")
    assert find(reg, f"user=bob&limit=1&cursor={int(epoch) - 1}-{number}", status=410)["type"].endswith("revision-gone")


def test_prometheus_targets(reg):
    groups = find(reg, "api=http://&user=alice&format=http_sd")
    assert [g["targets"] for g in groups] == [["namenode:80"], ["[::1]:8443"]]
    assert groups[0]["labels"]["__meta_bobbin_path"] == "/users/alice/services/hbase/one"
    assert groups[0]["labels"]["__meta_bobbin_class"] == "hbase" and groups[0]["labels"]["__scheme__"] == "http"
    assert groups[1]["labels"]["__metrics_path__"] == "/status" and groups[1]["labels"]["__scheme__"] == "https"
    assert all(isinstance(v, str) for g in groups for v in g["labels"].values())
    zk = find(reg, "protocol=zookeeper&format=http_sd&user=bob")
    assert [g["targets"] for g in zk] == [["zk1:2181"]]
    assert len(find(reg, "user=alice&format=http_sd")) == 4
    assert find(reg, "component=master&format=http_sd") == [] and find(reg, "api=none&format=http_sd") == []


def test_a_restart_finds_the_same():
    with Registry() as reg:
        for i in range(200):
            reg.bind(f"/users/erin/services/s/n{i}", container(f"n{i}", "c", "127.77.1.1", f"container_7_0001_01_{i:06}"))
        reg.registryd.stop()
        reg.registryd.start("registry_synced")

        def records():
            answer = reg.registry("GET", "", base="/ws/v1/registry-find", query="component=c")
            return answer.status == 200 and len(answer.json["records"])
        assert wait_for(records, "the index is built") == 200


def bobbin_find(reg, *words):
    return subprocess.run([os.path.join(BIN, "bobbin"), "registry", "find", "--url", f"http://127.0.0.1:{reg.registry_port}", *words],
                          capture_output=True, text=True, timeout=PATIENCE, check=False)


def test_command_line(reg):
    done = bobbin_find(reg, "-endpointField.api=classpath:org.apache.hbase", "user=bob")
    assert done.returncode == 0 and done.stderr == "", done
    assert re.findall(r"^(/\S+)", done.stdout, re.M) == ["/users/bob/services/hbase/two"]
    found = json.loads(bobbin_find(reg, "--endpointField.api", "http://", "--endpointField.protocolType", "webui", "class=hbase", "-o", "json").stdout)
    assert sorted(r["path"] for r in found) == ["/users/alice/services/hbase/one", "/users/bob/services/hbase/two"]
    assert json.loads(bobbin_find(reg, "component=no such & thing", "-o", "json").stdout) == []
    assert bobbin_find(reg).returncode == bobbin_find(reg, "word").returncode == 2
    for word in ("usr=bob", "limit=1", "format=http_sd", "class=other"):  # what the server passed over would be found too much, or too little
        mistaken = bobbin_find(reg, "class=hbase", word)
        assert (mistaken.returncode, mistaken.stdout) == (2, "") and mistaken.stderr.startswith(f"bobbin: {word}: "), mistaken
    assert "two values" in bobbin_find(reg, "-endpointField.api=http://", "api=other").stderr
    found = json.loads(bobbin_find(reg, "endpointField.api=classpath:org.apache.hbase", "user=bob", "-o", "json").stdout)
    assert [r["path"] for r in found] == ["/users/bob/services/hbase/two"]


def test_command_line_reads_all_pages(reg):
    for i in range(1005):
        reg.bind(f"/users/frida/services/many/n{i:04}", container("n", "pages", "127.77.1.1", f"container_8_0001_01_{i:06}"))
    found = json.loads(bobbin_find(reg, "component=pages", "-o", "json").stdout)
    assert len({r["path"] for r in found}) == len(found) == 1005
