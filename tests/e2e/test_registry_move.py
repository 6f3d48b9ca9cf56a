"""A registry moves: export and import between stores, with bytes and ACLs as they are; backup of an embedded store in use."""
import base64
import json
import os
import subprocess
import threading

import pytest

import zookeeper
from harness import BIN, PATIENCE, Registry, container

pytestmark = pytest.mark.sanitize

ADMIN = {"registryd": {"hadoop.registry.admin.users": "carol, alice"}}
OPEN = [{"perms": 31, "scheme": "world", "id": "anyone"}]
OWNED = [{"perms": 1, "scheme": "world", "id": "anyone"},
         {"perms": 31, "scheme": "digest", "id": "alice:pUBT0TTGG+UZjz2BdCWzGQyBU2I="}]
# registryd may administer it: the tests' ZooKeeper is asked from there.
SHARED = [{"perms": 5, "scheme": "digest", "id": "bob:pUBT0TTGG+UZjz2BdCWzGQyBU2I="},
          {"perms": 31, "scheme": "ip", "id": "127.0.0.1"}]
CANONICAL = '{"type":"JSONServiceRecord","description":"d","external":[],"internal":[]}'
LOOSE = '{ "internal":[], "type":"JSONServiceRecord",\t"yarn:id":"größe \\u00e4 🎈" }'
NODES = [
    {"path": "/users/alice", "acl": SHARED},
    {"path": "/users/alice/a", "record": CANONICAL, "acl": OPEN},
    {"path": "/users/alice/a/Below It", "record": LOOSE, "acl": SHARED},
    {"path": "/users/alice/bytes", "base64": base64.b64encode(bytes(range(256))).decode(), "acl": OPEN},
    {"path": "/users/alice/text", "base64": base64.b64encode(b"127.0.0.1").decode(), "acl": SHARED},
    {"path": "/users/alice/zz", "acl": OPEN},
]


def bobbin(reg, *words, stdin=None, user="alice"):
    command = [os.path.join(BIN, "bobbin"), "registry", words[0], "--url", f"http://127.0.0.1:{reg.registry_port}",
               "--user", user, *words[1:]]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=PATIENCE, check=False)


def ok(reg, *words, stdin=None):
    done = bobbin(reg, *words, stdin=stdin)
    assert done.returncode == 0 and done.stderr == "", done
    return done.stdout


def lines(nodes):
    return "".join(json.dumps(node, ensure_ascii=False) + "\n" for node in nodes)


def counts(text):
    return {k: int(v) for k, v in (word.split("=") for word in text.split())}


@pytest.fixture(scope="module")
def zk():
    with zookeeper.Server() as server:
        yield server


@pytest.fixture()
def reg():
    with Registry(options=ADMIN) as r:
        yield r


def test_embedded_to_zookeeper_and_back(zk):
    """Paths, bytes and ACLs are equal at every station, and ZooKeeper's own client says so too."""
    with Registry(options=ADMIN) as first:
        made = counts(ok(first, "import", stdin=lines(NODES)))
        assert made == {"created": len(NODES), "replaced": 0, "unchanged": 0, "failed": 0, "ephemeral": 0}
        start = ok(first, "export")
    assert [json.loads(line) for line in start.splitlines() if "/users/alice" in line] == NODES
    with Registry(store=f"zk://{zk.address}/moved", options=ADMIN) as second:
        ok(second, "import", "--overwrite", stdin=start)
        middle = ok(second, "export")
    assert middle == start
    client = subprocess.run([zookeeper.java(), "-Dorg.slf4j.simpleLogger.defaultLogLevel=off", "-cp",
                             f"{zookeeper.classpath()}:{zookeeper.JARS}/commons-cli.jar",
                             "org.apache.zookeeper.ZooKeeperMain", "-server", zk.address],
                            input="get /moved/users/alice/a\ngetAcl /moved/users/alice/text\nquit\n", capture_output=True, text=True,
                            timeout=PATIENCE, check=True)
    assert CANONICAL in client.stdout
    assert "'digest,'bob" in client.stdout + client.stderr
    with Registry(options=ADMIN) as third:
        ok(third, "import", "--overwrite", "-", stdin=middle)
        assert ok(third, "export") == start


def test_nodes_that_only_their_owner_may_add_to(zk):
    """What is below them is written before they are closed; what ZooKeeper then hides of their ACL is not lost unseen."""
    owned = [{**node, "acl": OWNED} for node in NODES]
    with Registry(store=f"zk://{zk.address}/owned", options=ADMIN) as reg:
        assert counts(ok(reg, "import", stdin=lines(owned)))["created"] == len(owned)
        out = ok(reg, "export", "/users/alice")
        again = bobbin(reg, "import", stdin=out)
        late = bobbin(reg, "import", stdin=lines([{"path": "/users/alice/late", "acl": OPEN}]))
    seen = [json.loads(line) for line in out.splitlines()]
    assert [(node["path"], node["acl"][0], node["aclMasked"]) for node in seen] == [(n["path"], OWNED[0], True) for n in owned]
    assert again.returncode == 14 and counts(again.stdout)["failed"] == len(owned), again
    assert late.returncode == 13, late


def test_a_subtree_with_what_is_missing_above_it(reg):
    below = [{"path": "/users/alice/services/deep/one", "record": CANONICAL, "acl": OPEN},
             {"path": "/services/other/two", "record": CANONICAL, "acl": OPEN}]
    assert counts(ok(reg, "import", stdin=lines(below)))["created"] == 2
    out = [json.loads(line) for line in ok(reg, "export", "/users/alice/services").splitlines()]
    assert [node["path"] for node in out] == ["/users/alice/services", "/users/alice/services/deep", below[0]["path"]]
    assert ok(reg, "export", "users/alice/services/") == ok(reg, "export", "/users/alice/services"), "one node by all its names"
    assert bobbin(reg, "export", "/users//alice").returncode == 9
    assert out[2] == below[0]


def test_what_is_there_is_refused_and_named_or_replaced(reg):
    ok(reg, "import", stdin=lines(NODES))
    other = [{**NODES[1], "record": CANONICAL.replace('"d"', '"other"')}, NODES[2],
             {"path": "/users/alice/new", "record": CANONICAL, "acl": OPEN}]
    done = bobbin(reg, "import", stdin=lines(other))
    assert done.returncode == 11
    assert counts(done.stdout) == {"created": 1, "replaced": 0, "unchanged": 1, "failed": 1, "ephemeral": 0}
    assert "/users/alice/a: the node is there" in done.stderr
    other[1] = {**other[1], "acl": OPEN}
    assert counts(ok(reg, "import", "--overwrite", stdin=lines(other)))["replaced"] == 1
    out = {node["path"]: node for node in map(json.loads, ok(reg, "export", "/users/alice").splitlines())}
    assert [out[node["path"]] for node in other] == other


def test_a_record_is_taken_as_a_put_takes_it(reg):
    """Numbers of any length, which no reader of JSON keeps, and what a record has besides: the same bytes are stored."""
    record = '{"external":[], "n":123456789012345678901234567890, "r":1e400, "b":-0, "o":{"k":[98765432109876543210]}}'
    bound = reg.registry("PUT", "/users/alice/put", record, query="createParents=true&user.name=alice")
    assert bound.status == 201, bound
    taken = reg.registry("POST", "/import", '{"nodes":[{"record":%s,"path":"/users/alice/taken"}]}' % record, base="/ws/v1/registry-admin", query="user.name=alice")
    assert taken.status == 200 and taken.json["created"] == 1, taken
    stored = {node["path"]: node.get("record") for node in map(json.loads, ok(reg, "export", "/users/alice").splitlines())}
    assert "123456789012345678901234567890" in stored["/users/alice/taken"] == stored["/users/alice/put"]
    assert reg.registry("DELETE", "/users/alice/put").status == reg.registry("DELETE", "/users/alice/taken").status == 200


def test_records_that_people_wrote(reg):
    """A record as an object is read like the body of a PUT, and what is stored is canonical."""
    one = {"path": "/users/alice/services/own/one", "record": {"yarn:id": 7, "external": [
        {"api": "a", "addressType": "host/port", "protocol": "REST", "addresses": [["h", 80]]}]}}
    assert counts(ok(reg, "import", stdin=lines([one])))["created"] == 1
    stored = json.loads(ok(reg, "export", one["path"]).splitlines()[0])["record"]
    assert stored == ('{"type":"JSONServiceRecord","external":[{"api":"a","addressType":"host/port","protocolType":"REST",'
                      '"addresses":[{"host":"h","port":"80"}]}],"internal":[],"yarn:id":"7"}')
    done = bobbin(reg, "import", stdin=lines([{"path": "/users/alice/none", "record": {"external": 1}}]))
    assert done.returncode == 17 and "/users/alice/none" in done.stderr and "/external" in done.stderr, done


@pytest.mark.parametrize("line, place", [
    ('{"path":"/users/alice","base64":"!"}', "/users/alice"),
    ('{"record":"x"}', "-:2"),
    ('{"path":"relative"}', ""),
    ('{"path":"/users/q","acl":[{"perms":32,"scheme":"world","id":"anyone"}]}', "/users/q"),
    ('{"path":', "-:2"),
])
def test_a_malformed_line_is_refused_with_its_place(reg, line, place):
    done = bobbin(reg, "import", stdin=lines([NODES[0]]) + line + "\n")
    assert done.returncode != 0 and place in done.stderr, done
    assert bobbin(reg, "stat", "/users/alice").returncode == 10, "a group is written whole or not at all"


def whole(reg, path="/"):
    """The server's own export, its last line too."""
    answer = reg.registry("GET", "/export", base="/ws/v1/registry-admin", query=f"path={path}&user.name=alice")
    assert answer.status == 200, answer
    return answer.body.decode()


def test_what_the_server_exports_is_imported_as_it_is(reg):
    """With the line that says that it is whole; and when that line says otherwise, so does the import."""
    ok(reg, "import", stdin=lines(NODES))
    saved = whole(reg)
    assert json.loads(saved.splitlines()[-1]) == {"end": True, "count": len(saved.splitlines()) - 1}
    with Registry(options=ADMIN) as other:
        assert counts(ok(other, "import", stdin=saved))["created"] == len(NODES)
        assert whole(other) == saved
        assert counts(ok(other, "import", stdin=saved + whole(reg, "/users")))["failed"] == 0, "one behind the other"
        cut = saved.splitlines(keepends=True)
        for text, said in (("".join(cut[:2] + cut[-1:]), "2 are here"),
                           (cut[0] + '{"error":"urn:bobbin:error:unavailable","detail":"it is away"}\n', "it is away")):
            done = bobbin(other, "import", stdin=text)
            assert done.returncode == 2 and "the export is incomplete" in done.stderr and said in done.stderr, done


@pytest.mark.parametrize("line, named", [
    ('{"type":"put","path":"/users/q","service":{"type":"JSONServiceRecord"}}', "/type"),
    ('{"path":"/users/q","acls":[]}', "/acls"),
])
def test_what_only_looks_like_a_node_is_refused(reg, line, named):
    done = bobbin(reg, "import", stdin=line + "\n")
    assert done.returncode == 2 and "/users/q" in done.stderr and named in done.stderr, done
    assert bobbin(reg, "stat", "/users/q").returncode == 10
    answer = reg.registry("POST", "/import", {"nodes": [NODES[0]], "overwrite": True}, base="/ws/v1/registry-admin", query="user.name=alice")
    assert answer.status == 400 and answer.json["where"] == "/overwrite", answer


def test_ephemeral_nodes_are_marked_and_left_out(reg):
    some = [{"path": "/users/alice", "ephemeral": True, "acl": OPEN}, {"path": "/users/bob", "acl": OPEN}]
    assert counts(ok(reg, "import", stdin=lines(some))) == {"created": 1, "replaced": 0, "unchanged": 0, "failed": 0,
                                                            "ephemeral": 1}
    assert bobbin(reg, "stat", "/users/alice").returncode == 10


@pytest.mark.parametrize("words", [["export"], ["import"], ["backup", "copy"]])
def test_only_administrators(reg, words):
    done = bobbin(reg, *words, stdin=lines(NODES), user="mallory")
    assert done.returncode == 13 and "hadoop.registry.admin.users" in done.stderr


def test_nobody_is_no_administrator(reg):
    """A request that names no user is not made by the static user, though he is an administrator here."""
    for method, path, body in (("GET", "/export", None), ("POST", "/import", {"nodes": []}), ("POST", "/backup", {"dir": "x"})):
        answer = reg.registry(method, path, body, base="/ws/v1/registry-admin")
        assert answer.status == 403 and answer.json["where"] == "user.name", answer
    for user in ("root", "alice"):
        assert reg.registry("GET", "/export", base="/ws/v1/registry-admin", query=f"user.name={user}").status == 200


def test_backup_while_records_are_bound(reg):
    """The copy opens, is another store, and has every record that was acknowledged before it was asked for."""
    path = "/users/alice/services/kind/n{}"
    for i in range(50):
        reg.bind(path.format(i), container(f"n-{i}", "c", "127.77.0.1"))
    more = threading.Thread(target=lambda: [reg.bind(path.format(i), container(f"n-{i}", "c", "127.77.0.1"))
                                            for i in range(50, 200)])
    more.start()
    done = bobbin(reg, "backup", "copies/monday", "-o", "json")
    more.join()
    assert done.returncode == 0, done
    place = json.loads(done.stdout)["dir"]
    assert place == os.path.join(reg.dir, "copies/monday") and os.listdir(place) == ["data.mdb"]
    original = {line for line in ok(reg, "export").splitlines()}
    with Registry(store=f"file:{place}", options=ADMIN) as copy:
        copied = {line for line in ok(copy, "export").splitlines()}
        assert copied <= original
        assert {path.format(i) for i in range(50)} <= {json.loads(line)["path"] for line in copied}
        ids = [r.registry("GET", "/").headers["Bobbin-Revision"].split(".")[0] for r in (reg, copy)]
        assert ids[0] != ids[1]
        copy.bind("/users/alice/services/kind/after", container("after", "c", "127.77.0.2"))
    assert bobbin(reg, "backup", "copies/monday").returncode == 11
    assert os.listdir(os.path.join(reg.dir, "copies")) == ["monday"]


@pytest.mark.parametrize("place", ["../away", "/tmp/away", "", "a//b", "."])
def test_backups_stay_below_their_directory(reg, place):
    done = bobbin(reg, "backup", place)
    assert done.returncode == 2 and not os.path.exists("/tmp/away"), done


def test_zookeeper_is_not_backed_up(zk):
    with Registry(store=f"zk://{zk.address}/other", options=ADMIN) as reg:
        assert bobbin(reg, "backup", "copy").returncode == 30
