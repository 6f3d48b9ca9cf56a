"""Hadoop's own registry client and registryd on one ZooKeeper: each reads, lists and removes what the other wrote."""
import json
import re

import pytest

import zookeeper
from cli import check, read_cases
from harness import Feed, Registry, Stack, container, dig_full, wait_for
from operations import Case, Library, Refused, empty, read_rows
from peer import Peer, PeerError
from records import node, read_rows as record_rows

COMPONENTS = "/users/alice/services/yarn-service/shop/components"
WORLD = "world:anyone 31\n"
ENDPOINTS = {
    "type": "JSONServiceRecord",
    "external": [
        {"api": "http://", "addressType": "uri", "protocolType": "webui", "addresses": [{"uri": "http://namenode:80/"}]},
        {"api": "classpath:org.apache.hbase", "addressType": "zktriple", "protocolType": "zookeeper",
         "addresses": [{"host": "zk1", "port": "2181", "path": "/hbase"}]}],
    "internal": [{"api": "uuid:423C2B93-C927-4050-AEC6-6540E6646437", "addressType": "host/port", "protocolType": "thrift",
                  "addresses": [{"host": "localhost", "port": "8050"}]}],
    "yarn:id": "example-0001", "yarn:persistence": "permanent"}
RECORDS = {
    "master": {"type": "JSONServiceRecord", "description": "YarnServiceMaster", "external": [], "internal": [],
               "yarn:id": "application_1414052463672_0028", "yarn:persistence": "application"},
    "container": container("sleeper-0", "sleeper", "172.17.0.5"),
    "endpoints": ENDPOINTS,
    "many": {"type": "JSONServiceRecord", "external": [], "internal": [], "customkey": "1", "customkey2": "2", "key": "v",
             "intval": "2", "yarn:path": "/p", "zz": "z", "A": "a", "b1": "b"},
    "text": {"type": "JSONServiceRecord", "description": "tab\t \u0001 \u20ac \U0001f600 / \" \\ \u2028", "external": [],
             "internal": []},
    "empty": {"type": "JSONServiceRecord", "external": [], "internal": []},
}


def text_of(record):
    return json.dumps(record, ensure_ascii=False)


@pytest.fixture(scope="module")
def zk():
    with zookeeper.Server(config="authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider\n") as server:
        yield server


@pytest.fixture(scope="module")
def stack(zk):
    with Stack(store=f"zk://{zk.address}/registry") as s:
        yield s


@pytest.fixture(scope="module")
def java(zk, stack):
    with Peer(zk) as peer:
        yield peer


@pytest.fixture(scope="module")
def library(stack):
    made = Library(stack)
    yield made
    made.close()


def raw(java, path):
    """Bytes of the node as ZooKeeper has them."""
    return java("bytes", "/registry" + path)


def applied(stack, path, status=200):
    return wait_for(lambda: next((a for a in [stack.registry("GET", path)] if a.status == status), None),
                    f"registryd answers {status} for {path}")


def test_java_binds_and_we_resolve_answer_and_feed(stack, java):
    path = f"{COMPONENTS}/ctr-e02-1524525041218-0001-01-000002"
    record = container("web-0", "web", "127.77.3.3")
    with Feed(stack) as feed:
        feed.until("sync")
        java("mknode", COMPONENTS, "true")
        java("bind", path, text_of(record), 0)
        line = wait_for(lambda: next((x for x in [feed.line()] if x.get("path") == path), None), "the feed has it")
        assert line["type"] == "put" and line["service"] == record
        answer = applied(stack, path)
        assert answer.json["service"] == record
        stack.sync(line["revision"])
        assert stack.dig("web-0.shop.alice.bobbin.test") == ["127.77.3.3"]

        java("bind", path, text_of({**record, "yarn:ip": "127.77.3.4"}), 1)
        line = wait_for(lambda: next((x for x in [feed.line()] if x.get("path") == path), None), "the feed has it")
        assert line["service"]["yarn:ip"] == "127.77.3.4"
        stack.sync(line["revision"])
        assert stack.dig("web-0.shop.alice.bobbin.test") == ["127.77.3.4"]

        java("delete", path, "false")
        line = wait_for(lambda: next((x for x in [feed.line()] if x.get("path") == path), None), "the feed has it")
        assert line["type"] == "delete"
        stack.sync(feed.until("progress")[-1]["revision"])
        assert "status: NXDOMAIN" in dig_full(stack.dns_port, "web-0.shop.alice.bobbin.test", "A")
    assert stack.registry("GET", path).status == 404


@pytest.mark.parametrize("name", RECORDS)
def test_the_same_record_is_the_same_bytes(stack, java, name):
    """Ours, read and written again by Java, and Java's, read and written again by us, are equal to the byte."""
    ours, theirs = f"/users/alice/ours-{name}", f"/users/alice/theirs-{name}"
    stack.bind(ours, RECORDS[name])
    assert java("resolve", ours) == raw(java, ours)
    java("bind", theirs, text_of(RECORDS[name]), 1)
    assert raw(java, theirs) == raw(java, ours)
    read = applied(stack, theirs).json["service"]
    assert read == stack.registry("GET", ours).json["service"]
    before = raw(java, theirs)
    stack.bind(theirs, read)
    assert raw(java, theirs) == before


def test_status_and_lists_agree(stack, java):
    base = "/users/alice/lists"
    for name in ("one", "two", "three"):
        stack.bind(f"{base}/{name}", {**RECORDS["master"], "yarn:id": name})
    java("mknode", f"{base}/empty", "false")
    applied(stack, f"{base}/empty")
    assert sorted(java("list", base).split()) == stack.registry("GET", base).json["nodes"] == ["empty", "one", "three", "two"]
    assert java("records", base) == f"{base}/one one\n{base}/three three\n{base}/two two\n"
    for path in (base, f"{base}/one", f"{base}/empty"):
        status = stack.registry("GET", path).json["status"]
        assert java("stat", path) == " ".join(str(status[k]) for k in ("path", "time", "size", "children"))


def test_nodes_made_by_both_are_alike(stack, java):
    """mknode's data is the maker's address, made parents hold nothing, and in an insecure registry all are open."""
    java("mknode", "/users/alice/j/made", "true")
    assert stack.registry("POST", "/users/alice/b/made", query="op=mknode&createParents=true").status == 201
    for mine, theirs in (("/users/alice/b", "/users/alice/j"), ("/users/alice/b/made", "/users/alice/j/made")):
        assert java("acl", "/registry" + mine) == java("acl", "/registry" + theirs) == WORLD
        assert raw(java, mine) == raw(java, theirs)
    stack.bind("/users/alice/b/bound", RECORDS["master"])
    for path in ("/users/alice/b/bound", "", "/users", "/services"):
        assert java("acl", "/registry" + path) == WORLD


def test_java_refuses_what_we_refuse(stack, java):
    """The same operation fails the same way on both sides."""
    stack.bind("/users/alice/e/one/below", RECORDS["master"])
    cases = [
        (("bind", "/users/alice/none/such", text_of(RECORDS["empty"]), 0), ("PUT", "/users/alice/none/such", ""), True),
        (("bind", "/users/alice/e/one/below", text_of(RECORDS["empty"]), 0), ("PUT", "/users/alice/e/one/below", ""), True),
        (("delete", "/users/alice/e/one", "false"), ("DELETE", "/users/alice/e/one", ""), False),
        (("mknode", "/users/alice/none/such", "false"), ("POST", "/users/alice/none/such", "op=mknode"), False),
        (("stat", "/users/alice/none"), ("GET", "/users/alice/none", ""), False),
    ]
    for words, (method, path, query), has_body in cases:
        with pytest.raises(PeerError) as refused:
            java(*words)
        answer = stack.registry(method, path, RECORDS["empty"] if has_body else None, query=query)
        assert answer.json["exception"] == refused.value.name, words
    java("delete", "/users/alice/never", "false")
    assert stack.registry("DELETE", "/users/alice/never").json["deleted"] is False


def test_java_cli_on_our_records(stack, java):
    path = "/users/alice/cli/hdfs"
    stack.bind(path, ENDPOINTS)
    assert java.cli("ls", "/users/alice/cli") == ("hdfs", 0)
    out, code = java.cli("resolve", path)
    assert code == 0
    assert " Endpoint(ProtocolType=webui, Api=http://); Addresses(AddressType=uri) are: " in out
    assert "\turi:http://namenode:80/" in out
    assert java.cli("bind", "-inet", "-api", "Api", "-p", "378", "-h", "host", "/users/alice/cli/made")[1] == 0
    assert applied(stack, "/users/alice/cli/made").json["service"]["external"] == [
        {"api": "Api", "addressType": "host/port", "protocolType": "hadoop/IPC", "addresses": [{"host": "host", "port": "378"}]}]
    assert java.cli("rm", path)[1] == 0
    applied(stack, path, 404)
    assert java.cli("rm", "/users/alice/cli")[1] == -1
    assert java.cli("rm", "-r", "/users/alice/cli")[1] == 0
    applied(stack, "/users/alice/cli", 404)


def test_nodes_that_hold_no_record(stack, java, library):
    """Both sides list records only, whatever else lies between them; children of an ephemeral node are refused alike."""
    base = "/users/alice/mixed"
    stack.bind(f"{base}/one", {**RECORDS["master"], "yarn:id": "one"})
    for name, text in (("junk", "0123456789" * 4), ("brace", "{JSONServiceRecord"), ("zero", "")):
        java("create", f"/registry{base}/{name}", text, "PERSISTENT")
    java("create", f"/registry{base}/worker", text_of(RECORDS["container"]), "EPHEMERAL")
    applied(stack, f"{base}/worker")
    assert java("records", base) == f"{base}/one one\n{base}/worker {RECORDS['container']['yarn:id']}\n"
    tree = stack.registry("GET", base, query="recursive=true").json["tree"]
    assert [node["path"].rsplit("/", 1)[1] for node in tree if "service" in node] == ["one", "worker"]
    assert [(path, status) for path, status, _ in library.records(base)] == [
        (path, java("stat", path)) for path in (f"{base}/one", f"{base}/worker")]
    with pytest.raises(PeerError) as refused:
        java("mknode", f"{base}/worker/x", "false")
    answer = stack.registry("POST", f"{base}/worker/x", query="op=mknode")
    assert answer.json["exception"] == refused.value.name == "NoChildrenForEphemeralsException"
    for words in (("mknode", f"{base}/worker/x", "true"), ("bind", f"{base}/worker/x", text_of(RECORDS["empty"]), "1")):
        with pytest.raises(Refused) as ours:
            getattr(library, words[0])(*words[1:])
        assert ours.value.name == refused.value.name, words


def test_standard_nodes_are_those_of_hadoop(zk, stack, java):
    with Peer(zk, "admin", **{"hadoop.registry.zk.root": "/theirs"}):
        for path in ("", "/users", "/services"):
            assert java("bytes", f"/theirs{path}") == java("bytes", f"/registry{path}")
            assert java("acl", f"/theirs{path}") == java("acl", f"/registry{path}")


def test_java_purges_our_records(zk, stack):
    """Hadoop's own purge finds what we wrote by id and persistence, and nothing else."""
    app = "application_1700000000000_0007"
    stack.bind("/users/alice/p/gone", {**RECORDS["master"], "yarn:id": app})
    stack.bind("/users/alice/p/kept", {**RECORDS["master"], "yarn:id": app, "yarn:persistence": "permanent"})
    with Peer(zk, "admin") as admin:
        assert admin("purge", "/", app, "application", "PurgeAll") == "1"
    applied(stack, "/users/alice/p/gone", 404)
    assert stack.registry("GET", "/users/alice/p/kept").status == 200


SECURE = {"hadoop.registry.secure": "true", "hadoop.registry.kerberos.realm": "EXAMPLE.COM",
          "hadoop.registry.client.auth": "digest", "hadoop.registry.user.accounts": "sasl:bob@"}


def test_a_secure_java_client_beside_us(zk, stack):
    """Digest mode: what Java protects we read, serve, answer and feed, but are refused to change."""
    identity = {"hadoop.registry.client.auth.id": "id", "hadoop.registry.client.auth.password": "pass"}
    with Peer(zk, **SECURE, **identity) as secure:
        path = "/users/alice/services/yarn-service/safe/components/ctr-1-1-1-9"
        secure("mknode", path.rsplit("/", 1)[0], "true")
        secure("bind", path, text_of(container("safe-0", "safe", "127.77.4.4")), 0)
        stack.sync(applied(stack, path).headers["Bobbin-Revision"])
        assert stack.dig("safe-0.safe.alice.bobbin.test") == ["127.77.4.4"]
        secure("auth", "id:pass")
        acl = secure("acl", "/registry" + path).splitlines()
        assert acl[0] == "world:anyone 1" and "digest:id:mu05JlfYgbMHovly5LnbXUuQUVo= 31" in acl, acl

        refused = stack.registry("PUT", path, RECORDS["empty"], query="overwrite=true")
        assert (refused.status, refused.json["exception"]) == (403, "NoPathPermissionsException"), refused
        refused = stack.registry("DELETE", path)
        assert (refused.status, refused.json["exception"]) == (403, "NoPathPermissionsException"), refused
        assert applied(stack, path).json["service"]["yarn:ip"] == "127.77.4.4"

        # Ours is open to all, so a secure client changes it; its accessors protect what it makes from now on.
        stack.bind("/users/alice/open/one", RECORDS["master"])
        secure("bind", "/users/alice/open/one", text_of(RECORDS["empty"]), 1)
        wait_for(lambda: "yarn:id" not in stack.registry("GET", "/users/alice/open/one").json["service"], "the overwrite")
        assert secure("accessor", "u2", "p2") == "true"
        secure("bind", "/users/alice/open/two", text_of(RECORDS["master"]), 0)
        assert "digest:u2:o9NxcCGDPOlcV7JVhmKHOf5ctVE= 31" in secure("acl", "/registry/users/alice/open/two").splitlines()
        secure("delete", path, "false")
        applied(stack, path, 404)


SYSTEM = {"hadoop.registry.system.accounts": "sasl:yarn@, sasl:mapred@", "hadoop.http.staticuser.user": "yarn"}
OURS = {"hadoop.registry.client.auth.id": "bobbin", "hadoop.registry.client.auth.password": "secret"}
U2 = "u2:o9NxcCGDPOlcV7JVhmKHOf5ctVE="


def test_a_secure_registryd_beside_java(zk):
    """The ACLs that both write are the same, and who holds a write accessor of ours uses it from Java without us."""
    root = {"hadoop.registry.zk.root": "/guarded"}
    settings = {**SECURE, **SYSTEM}
    with Registry(store=f"zk://{zk.address}/guarded", options={"registryd": {**settings, **OURS}}) as ours:
        made = ours.registry("PUT", "/users/alice/ours", RECORDS["master"], {"X-Bobbin-Write-Accessors": U2},
                             query="createParents=true")
        assert made.status == 201, made
        with Peer(zk, **settings, **OURS, **root) as java:
            assert java("accessor", "u2", "p2") == "true"
            java("bind", "/users/alice/theirs", text_of(RECORDS["master"]), 0)
            java("auth", "bobbin:secret")
            acl = java("acl", "/guarded/users/alice/ours")
            assert acl.splitlines()[0] == "world:anyone 1" and f"digest:{U2} 31" in acl.splitlines(), acl
            assert acl == java("acl", "/guarded/users/alice/theirs")
        holder = {"hadoop.registry.client.auth.id": "u2", "hadoop.registry.client.auth.password": "p2"}
        with Peer(zk, **settings, **holder, **root) as java:
            java("bind", "/users/alice/ours", text_of(RECORDS["empty"]), 1)
            for path, flags in (("/users/alice/elsewhere", 0), ("/services", 1)):
                with pytest.raises(PeerError) as refused:
                    java("bind", path, text_of(RECORDS["empty"]), flags)
                assert refused.value.name == "NoPathPermissionsException"
        wait_for(lambda: "yarn:id" not in ours.registry("GET", "/users/alice/ours").json["service"], "the overwrite is seen")
        written = ours.registry("PUT", "/users/alice/theirs", RECORDS["empty"], {"X-Bobbin-Accessor": "u2:p2"},
                                query="overwrite=true&user.name=nobody")
        assert written.status == 200, written


def test_what_java_made_for_an_accessor_alone(zk):
    """registryd itself has no right to the node; who holds the pair writes it through us, and Java sees that."""
    with Registry(store=f"zk://{zk.address}/pairs", options={"registryd": {**SECURE, **SYSTEM, **OURS}}) as ours:
        assert ours.registry("PUT", "/users/alice/any", RECORDS["master"], query="createParents=true").status == 201
        with Peer(zk, **{"hadoop.registry.zk.root": "/pairs"}) as java:
            java("auth", "bobbin:secret")
            java("create", "/pairs/users/alice/open", "", "PERSISTENT")
        with Peer(zk, **{"hadoop.registry.zk.root": "/pairs"}) as java:
            java("auth", "u2:p2")
            path = "/users/alice/open/theirs"
            java("own", f"/pairs{path}", text_of(RECORDS["master"]))
            assert java("acl", f"/pairs{path}").split("\n") == [f"digest:{U2} 31", ""]
            refused = ours.registry("PUT", path, RECORDS["empty"], query="overwrite=true")
            assert refused.status == 403 and "registryd itself" in refused.json["detail"], refused
            written = ours.registry("PUT", path, RECORDS["empty"], {"Authorization": "Basic dTI6cDI="},
                                    query="overwrite=true&user.name=nobody")
            assert written.status == 200, written
            assert json.loads(java("bytes", f"/pairs{path}")) == RECORDS["empty"]
            assert java("acl", f"/pairs{path}").split("\n") == [f"digest:{U2} 31", ""]


# ---- the rows of the contract, run by Hadoop's own client: what we hold to be right is what it does ----

OPERATION_RECORDS, CASES = read_rows("registry_operations.tsv")


class Java:
    """Who runs rows: Hadoop's administrative service."""

    def __init__(self, peer):
        self.peer = peer

    def __getattr__(self, operation):
        def run(*words):
            try:
                return self.peer(operation, *words) or "ok"  # nothing to say
            except PeerError as refused:
                raise Refused(refused.name, str(refused)) from refused
        return run

    def list(self, path):
        names = self.__getattr__("list")(path)
        return "" if names == "ok" else ",".join(sorted(names.split("\n")))

    def records(self, path):
        """Hadoop's listServiceRecords says which children hold one."""
        lines = self.__getattr__("records")(path)
        paths = [] if lines == "ok" else [line.split(" ")[0] for line in lines.splitlines()]
        return [(child, self.stat(child), json.loads(self.resolve(child))) for child in paths]


@pytest.fixture(scope="module")
def admin(zk):
    with Peer(zk, "admin", **{"hadoop.registry.zk.root": "/rows"}) as peer:
        yield Java(peer)


@pytest.mark.parametrize("case", [c for c in CASES if "j" in c[1]], ids=lambda c: c[0])
def test_operation(admin, case):
    empty(admin)
    Case(OPERATION_RECORDS, admin).run(case[2])


# Two rows are not asked of it: a Java before 19 prints the double 1e23 as 9.999999999999999E22 (ours is the shortest text that
# reads back, as newer ones print), and our texts hold no U+0000.
STORED = [row for row in record_rows("strict", "strict>") if b":1e23}" not in row[1] and b"\\u0000" not in row[1]]


@pytest.fixture(scope="module")
def stored(stack):
    """A node for each row of bytes, made by us."""
    nodes = [node("/bytes", b""), *(node(f"/bytes/r{number}", data) for number, data, _ in STORED)]
    made = stack.registry("POST", "/import", {"nodes": nodes}, base="/ws/v1/registry-admin", query="user.name=root")
    assert made.status == 200 and made.json["created"] == len(nodes), made


@pytest.mark.parametrize("number,data,wanted", STORED, ids=lambda v: str(v) if isinstance(v, int) else "")
def test_bytes_in_a_node(java, stored, number, data, wanted):
    """Hadoop takes and refuses what the row says, and writes it again as the row says."""
    if isinstance(wanted, str):
        with pytest.raises(PeerError) as refused:
            java("resolve", f"/bytes/r{number}")
        assert refused.value.name == wanted, data
        return
    written = java("resolve", f"/bytes/r{number}")
    assert wanted is None or written.encode() == wanted


@pytest.mark.parametrize("case", read_cases(), ids=lambda case: case[0])
def test_command_line(admin, case):
    """Hadoop's own command line prints what ours does (both streams are one here)."""
    empty(admin)
    for words, code, lines in case[1]:
        printed, result = re.fullmatch(r"(?s)(.*?)(-?\d+)", admin.peer("cli", *words)).groups()
        assert int(result) == code, (words, printed)
        if lines["1"] and words[0] == "ls":
            printed = "".join(sorted(printed.splitlines(keepends=True)))  # Hadoop's have no order
        check(lines["1"] + lines["2"], printed, words)
