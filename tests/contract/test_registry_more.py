"""Rows of the registry's contract that registry_operations.tsv has no words for, on the embedded store and on a real ZooKeeper."""
import base64
import ipaddress
import json
import signal
import threading

import pytest

import zookeeper
from harness import PATIENCE, Registry, request, wait_for
from operations import Library, Refused, Rest, empty, read_rows
from zkproxy import Proxy

RECORDS, _ = read_rows("registry_operations.tsv")
PARENT, ENTRY = "/users/devteam/org-apache-hadoop", "/users/devteam/org-apache-hadoop/hdfs"


@pytest.fixture
def clean(registry):
    empty(Rest(registry))


def export(registry):
    """What the store holds: path -> line of the export."""
    answer = registry.registry("GET", "/export", base="/ws/v1/registry-admin", query="user.name=root")
    lines = [json.loads(line) for line in answer.body.splitlines()]
    assert lines[-1].get("end"), answer
    return {line["path"]: line for line in lines[:-1]}


def put(registry, path, record):
    answer = registry.registry("PUT", path, RECORDS[record], query="createParents=true")
    assert answer.status == 201, answer


def tree(registry, path):
    answer = registry.registry("GET", path, query="recursive=true").json["tree"]
    return {node["path"]: node for node in answer}


def test_ad1_bytes_of_nodes_without_record(registry, clean):
    """The maker's address in what was asked for, nothing in parents made on the way."""
    assert registry.registry("POST", "/a/b/c", query="op=mknode&createParents=true").status == 201
    found = export(registry)
    for path in ("/", "/users", "/services", "/a/b/c"):
        ipaddress.ip_address(base64.b64decode(found[path]["base64"]).decode())
        assert "record" not in found[path]
    for path in ("/a", "/a/b"):
        assert not {"record", "base64"} & found[path].keys(), found[path]


def test_ad8_only_records_are_records(registry, library, clean):
    junk = [("junk", b"0123456789" * 3 + b"012345"), ("brace", b"{JSONServiceRecord"), ("none", b"")]
    put(registry, "/list/one", "APP")
    nodes = [{"path": f"/list/{name}", **({"base64": base64.b64encode(data).decode()} if data else {})} for name, data in junk]
    assert registry.registry("POST", "/list/empty", query="op=mknode").status == 201
    made = registry.registry("POST", "/import", {"nodes": nodes}, base="/ws/v1/registry-admin", query="user.name=root")
    assert made.json["created"] == 3, made
    assert [path for path, node in tree(registry, "/list").items() if "service" in node] == ["/list/one"]
    assert library.list("/list") == "brace,empty,junk,none,one"
    assert library.records("/list") == [("/list/one", library.stat("/list/one"), json.loads(RECORDS["APP"]))]
    for name in ("brace", "empty", "junk", "none"):
        with pytest.raises(Refused) as refused:
            library.resolve(f"/list/{name}")
        assert refused.value.name == ("InvalidRecordException" if name == "brace" else "NoRecordException"), name


def test_op1_addresses(registry, library, clean):
    put(registry, ENTRY, "APP")
    record = json.loads(library.resolve(ENTRY))
    assert len(record["external"]) == 2
    webhdfs = next(e for e in record["external"] if e["api"].endswith("webhdfs"))
    assert [list(a) for a in webhdfs["addresses"]] == [["uri"]]
    assert "http" in webhdfs["addresses"][0]["uri"] and ":8020" in webhdfs["addresses"][0]["uri"]
    assert all(len(a) == 2 for e in record["internal"] for a in e["addresses"])


def test_op5_op19_status_and_records_of_children(registry, library, clean):
    put(registry, ENTRY, "APP")
    put(registry, PARENT + "/yarn", "CONT")
    found = library.records(PARENT)
    assert [path for path, _, _ in found] == [ENTRY, PARENT + "/yarn"]
    shown = tree(registry, PARENT)
    assert set(shown) == {ENTRY, PARENT + "/yarn"}
    for path, status, record in found:
        assert status == library.stat(path) == " ".join(str(shown[path]["status"][k]) for k in ("path", "time", "size", "children"))
        assert record == shown[path]["service"] == json.loads(library.resolve(path))
    assert found[0][1] != found[1][1]


def test_records_of_more_children_than_a_page_has():
    """Also where some hold none: everything is found once, in the order of the names."""
    with Registry(options={"registryd": {"hadoop.registry.list.max-children": "3"}}) as registry:
        library = Library(registry)
        for n in range(1, 12):
            put(registry, f"/long/n{n}", "CONT" if n % 2 else "APP")
        for name in ("a", "n11a", "z"):
            assert registry.registry("POST", f"/long/{name}", query="op=mknode").status == 201
        names = sorted(f"n{n}" for n in range(1, 12))
        found = library.records("/long")
        library.close()
        assert [path for path, _, _ in found] == [f"/long/{name}" for name in names]
        assert [record["yarn:persistence"] for _, _, record in found] == ["container" if int(name[1:]) % 2 else "application" for name in names]


def test_op18_accessors_of_an_open_registry(registry, library, clean):
    assert library.accessor("id", "pass") == "false"
    with pytest.raises(Refused) as refused:
        library.accessor("id:", "pass")
    assert refused.value.name == "RegistryIOException" and "Invalid id:password" in str(refused.value)
    library.bind("/open", RECORDS["MINIMAL"], "0")
    assert export(registry)["/open"]["acl"] == [{"perms": 31, "scheme": "world", "id": "anyone"}]
    assert library.clear() == "ok"


def test_ad4_ad9_a_registry_without_root(registry, library, clean):
    """AD4, and section 1.1: the root can be deleted; then nothing is made without it, and with parents it comes again."""
    library.delete("/", "true")
    assert library.exists("/") == "false"
    with pytest.raises(Refused) as refused:
        library.mknode("/x", "false")
    assert refused.value.name == "PathNotFoundException"
    assert library.mknode("/x/y", "true") == "true"
    assert library.list("/") == "x"


def test_ad9_after_the_stop():
    """A request that waits when registryd is asked to stop is refused as Hadoop's services refuse: by REST and by the C API."""
    with zookeeper.Server() as zk, Proxy(zk.port) as proxy:
        with Registry(store=f"zk://127.0.0.1:{proxy.port}/registry") as registry:
            proxy.hold("both")
            answers, library = [], Library(registry)

            def bind():
                try:
                    answers.append(library.bind("/held", RECORDS["MINIMAL"], "0"))
                except Refused as refused:
                    answers.append(refused.name)

            def put_it():
                answers.append(request(registry.registry_port, "PUT", "/ws/v1/registry/waiting", RECORDS["MINIMAL"]).json["exception"])
            threads = [threading.Thread(target=bind), threading.Thread(target=put_it)]
            for thread in threads:
                thread.start()
            wait_for(lambda: all(path in proxy.waiting("up") for path in (b"/registry/held", b"/registry/waiting")), "both are on their way")
            registry.registryd.process.send_signal(signal.SIGTERM)
            for thread in threads:
                thread.join(PATIENCE)
            library.close()
            assert answers == ["ServiceStateException"] * 2
