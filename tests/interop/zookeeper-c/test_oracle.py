"""ZooKeeper's own C client beside registryd: each sees what the other has written, honours its ACLs, and is notified of it."""
import base64
import json

import pytest

from harness import Feed, Registry, store_url, wait_for
from oracle import Oracle, Refused, world_read
from zkwire import digest_acl

pytestmark = pytest.mark.sanitize

SASL = "authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider\n"
OWN = "bobbin:secret"  # who registryd is to ZooKeeper
SECURE = {"hadoop.registry.secure": "true", "hadoop.registry.system.accounts": "sasl:yarn, sasl:mapred",
          "hadoop.registry.user.accounts": "sasl:hive", "hadoop.registry.client.auth": "digest",
          "hadoop.registry.client.auth.id": "bobbin", "hadoop.registry.client.auth.password": "secret"}
ROOT_ACL = [world_read(), (31, "sasl", "yarn"), (31, "sasl", "mapred"), (31, "sasl", "hive"), digest_acl(OWN)]
HOME = "/users/alice"


def record(description="d"):
    return {"type": "JSONServiceRecord", "description": description, "external": [], "internal": []}


def canonical(description="d"):
    """The bytes of the record, as Hadoop's Jackson writes them: what is beyond the basic plane as two escapes."""
    text = json.dumps(record(description), separators=(",", ":"), ensure_ascii=False)
    return "".join(c if c <= "\uffff" else json.dumps(c)[1:-1].upper().replace("\\U", "\\u") for c in text).encode()


class Both:
    """registryd and the C client on one ZooKeeper. The client has registryd's own digest, unless a test takes another one."""

    def __init__(self, registry, address, client):
        self.registry, self.address, self.client = registry, address, client

    def ask(self, method, path, body=None, query="", user="yarn", accessor=None, **headers):
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if accessor:
            sent["X-Bobbin-Accessor"] = accessor
        return self.registry.registry(method, path, body, sent, query=f"user.name={user}{query}")

    def put(self, path, description="d", query="&overwrite=true&createParents=true", **more):
        answer = self.ask("PUT", path, record(description), query, **more)
        assert answer.status in (200, 201), answer
        return answer

    def until_served(self, path, condition):
        """GET's answer as soon as the condition holds of it."""
        def served():
            answer = self.ask("GET", path)
            return answer if condition(answer) else None
        return wait_for(served, f"registryd serves {path}")

    def exported(self, path):
        """The node as registryd exports it."""
        answer = self.registry.registry("GET", "", base="/ws/v1/registry-admin/export", query=f"path={path}&user.name=yarn")
        return json.loads(answer.body.splitlines()[0])

    def acl(self, path):
        """The ACL as registryd exports it."""
        return [(entry["perms"], entry["scheme"], entry["id"]) for entry in self.exported(path)["acl"]]


@pytest.fixture(scope="module")
def both():
    with store_url("zookeeper", config=SASL) as url:
        address = url[len("zk://"):].split("/")[0]
        with Registry(store=url, options={"registryd": SECURE}) as registry, Oracle(address, OWN) as client:
            yield Both(registry, address, client)


def node(path):
    """ZooKeeper's path."""
    return f"/registry{path}"


def number(answer):
    return int(answer.headers["Bobbin-Revision"].rsplit(".", 1)[1])


def line_number(line):
    return int(line["revision"].rsplit(".", 1)[1])


def complete_lines(feed, path):
    """Lines until all up to the put of a path are there, as a progress says: what registryd has written itself may come before what it reads back."""
    lines = feed.until("put", path)
    end = line_number(lines[-1])
    while lines[-1]["type"] != "progress" or line_number(lines[-1]) < end:
        lines += feed.until("progress")
    return lines


def tag(stat):
    return f'"{stat.mzxid}.{stat.pzxid}"'


# ---- what registryd writes ----


@pytest.mark.parametrize("description", ["plain", "Grüße, 名前 🧵", "\" \\ \n \u0001", ""], ids=["ascii", "unicode", "escaped", "empty"])
def test_the_client_reads_the_bytes_that_registryd_writes(both, description):
    made = both.put(f"{HOME}/bytes", description)
    data, stat = both.client.get(node(f"{HOME}/bytes"))
    assert json.loads(data) == record(description) == made.json["service"]
    assert data == canonical(description)
    assert stat.data_length == len(data) == made.json["status"]["size"]


def test_stat_of_what_registryd_writes(both):
    made = both.put(f"{HOME}/stat")
    stat = both.client.exists(node(f"{HOME}/stat"))
    assert (stat.czxid, stat.mzxid, stat.pzxid) == (number(made),) * 3
    assert (stat.version, stat.cversion, stat.aversion, stat.num_children) == (0, 0, 0, 0)
    assert stat.ephemeral_owner == 0, "a record outlives the session that has written it"
    assert made.json["status"]["time"] == stat.mtime and made.headers["ETag"] == tag(stat)

    changed = both.put(f"{HOME}/stat", "e")
    child = both.put(f"{HOME}/stat/child")
    stat = both.client.exists(node(f"{HOME}/stat"))
    assert (stat.czxid, stat.mzxid, stat.pzxid) == (number(made), number(changed), number(child))
    assert (stat.version, stat.cversion, stat.aversion, stat.num_children) == (1, 1, 0, 1)
    assert both.client.children(node(f"{HOME}/stat"))[0] == ["child"]

    both.ask("DELETE", f"{HOME}/stat", query="&recursive=true")
    assert both.client.exists(node(f"{HOME}/stat")) is None


def test_acl_of_what_registryd_writes(both):
    both.put(f"{HOME}/acl", X_Bobbin_Write_Accessors=", ".join(digest_acl(pair)[2] for pair in ("u1:p1", "u2:p2")))
    expected = [*ROOT_ACL, digest_acl("u1:p1"), digest_acl("u2:p2")]
    assert both.client.acl(node(f"{HOME}/acl")) == expected == both.acl(f"{HOME}/acl")
    assert both.client.acl("/registry") == ROOT_ACL
    both.put(f"{HOME}/acl", "overwritten", X_Bobbin_Write_Accessors=digest_acl("u3:p3")[2])
    assert both.client.acl(node(f"{HOME}/acl")) == expected, "an overwrite changes no ACL"


# ---- what the C client writes ----


def test_registryd_serves_and_feeds_what_the_client_writes(both):
    path = f"{HOME}/theirs"
    both.put(f"{HOME}/first")
    with Feed(both.registry, path=HOME) as feed:
        feed.until("sync")
        made = both.client.create(node(path), canonical("made"), *ROOT_ACL)
        line = feed.until("put", path)[-1]
        assert line["service"] == record("made") and int(line["revision"].rsplit(".", 1)[1]) == made.czxid
        served = both.ask("GET", path)
        assert served.json["service"] == record("made") and served.headers["ETag"] == tag(made)
        assert both.acl(path) == ROOT_ACL

        changed = both.client.set(node(path), canonical("changed"), made.version)
        line = feed.until("put", path)[-1]
        assert line["service"] == record("changed") and int(line["revision"].rsplit(".", 1)[1]) == changed.mzxid
        assert both.ask("GET", path).headers["ETag"] == tag(changed)

        both.client.delete(node(path), changed.version)
        deleted = both.client.exists(node(HOME)).pzxid
        line = feed.until("delete", path)[-1]
        assert int(line["revision"].rsplit(".", 1)[1]) >= deleted
        assert both.ask("GET", path).status == 404


@pytest.mark.parametrize("data", [b"", b"\0\xff\xfe bytes", b"127.0.0.1"], ids=["none", "binary", "address"])
def test_bytes_that_are_no_record_are_kept_as_they_are(both, data):
    path = f"{HOME}/raw"
    both.client.create(node(path), data, *ROOT_ACL)
    served = both.until_served(path, lambda answer: answer.status == 200)
    assert served.json["status"]["size"] == len(data) and "service" not in served.json
    assert base64.b64decode(both.exported(path).get("base64", "")) == data
    assert both.client.get(node(path))[0] == data
    both.client.delete(node(path))
    both.until_served(path, lambda answer: answer.status == 404)


def test_each_is_held_to_the_version_that_the_other_has_made(both):
    path = f"{HOME}/versions"
    made = both.put(path)
    theirs = both.client.set(node(path), canonical("theirs"), 0)
    assert both.ask("PUT", path, record(), If_Match=made.headers["ETag"]).status == 412
    ours = both.ask("PUT", path, record("ours"), If_Match=tag(theirs))
    assert ours.status == 200, ours
    with pytest.raises(Refused, match="ZBADVERSION"):
        both.client.set(node(path), canonical("late"), theirs.version)
    with pytest.raises(Refused, match="ZBADVERSION"):
        both.client.delete(node(path), theirs.version)
    assert both.client.get(node(path))[0] == canonical("ours")


def test_a_condition_does_not_hold_of_a_node_that_the_client_has_made_anew(both):
    """The new node has the version of the old one, its data too: only the zxid differs."""
    path = f"{HOME}/anew"
    made = both.put(path)
    both.client.delete(node(path))
    again = both.client.create(node(path), canonical(), *ROOT_ACL)
    assert again.version == 0
    for method, body in (("PUT", record("lost")), ("DELETE", None)):
        assert both.ask(method, path, body, If_Match=made.headers["ETag"]).status == 412
    assert both.client.get(node(path)) == (canonical(), again)


# ---- ACLs ----


def test_registryd_writes_a_node_of_the_client_for_who_holds_its_digest(both):
    path = f"{HOME}/digest"
    both.client.create(node(path), canonical(), digest_acl("u7:p7"), world_read())
    both.until_served(path, lambda answer: answer.status == 200)
    for accessor in (None, "u7:wrong", "u8:p7"):
        refused = both.ask("PUT", path, record("refused"), "&overwrite=true", accessor=accessor)
        assert refused.status == 403, refused
    assert both.client.get(node(path))[0] == canonical()
    both.put(path, "by u7", accessor="u7:p7")
    data, stat = both.client.get(node(path))
    assert data == canonical("by u7") and stat.version == 1
    with Oracle(both.address, "u7:p7") as holder:
        assert holder.acl(node(path)) == [digest_acl("u7:p7"), world_read()]


def test_the_client_writes_a_node_of_registryd_only_with_its_accessor(both):
    path = f"{HOME}/accessor"
    both.put(path, X_Bobbin_Write_Accessors=digest_acl("u2:p2")[2])
    for pairs in ((), ("u2:wrong",), ("u3:p2",)):
        with Oracle(both.address, *pairs) as other:
            assert other.get(node(path))[0] == canonical(), "reading is for all"
            for write in (lambda: other.set(node(path), b""), lambda: other.create(node(f"{path}/x"), b"", *ROOT_ACL),
                          lambda: other.delete(node(path))):
                with pytest.raises(Refused, match="ZNOAUTH"):
                    write()
            shown = {name for _, scheme, name in other.acl(node(path)) if scheme == "digest"}
            assert shown == {"bobbin:x", "u2:x"}, "ZooKeeper shows digests only to who may set the ACL"
    with Oracle(both.address, "u2:p2") as holder:
        holder.set(node(path), canonical("by u2"), 0)
        holder.create(node(f"{path}/below"), b"", digest_acl("u2:p2"), world_read())
        with pytest.raises(Refused, match="ZNOAUTH"):
            holder.create(node(f"{HOME}/beside"), b"", *ROOT_ACL)
    both.until_served(path, lambda answer: answer.json["service"] == record("by u2"))
    both.until_served(f"{path}/below", lambda answer: answer.status == 200)


# ---- watches ----


def test_watches_fire_in_the_order_of_registryds_writes(both):
    parent, path = node(f"{HOME}/watched"), node(f"{HOME}/watched/one")
    client = both.client
    client.exists(parent, watch=True)
    client.exists(path, watch=True)
    both.put(f"{HOME}/watched/one")
    assert client.events(2) == [("created", parent, "exists"), ("created", path, "exists")]

    client.get(path, watch=True)
    both.put(f"{HOME}/watched/one", "e")
    assert client.events(1) == [("changed", path, "get")]
    both.put(f"{HOME}/watched/one", "f")
    assert client.no_more_events(), "a watch fires once"

    client.get(path, watch=True)
    client.children(parent, watch=True)
    client.exists(parent, watch=True)
    both.ask("DELETE", f"{HOME}/watched", query="&recursive=true")
    assert client.events(3) == [("deleted", path, "get"), ("child", parent, "children"), ("deleted", parent, "exists")]
    assert client.no_more_events()


def next_check(client, parent):
    """The node that the next conditional write below this parent makes and deletes."""
    _, stat = client.children(parent)
    return f"{parent}/bobbin-check-{(stat.cversion + stat.num_children) // 2:010}"


def test_watches_fire_in_the_order_of_a_conditional_write(both):
    """A conditional write is one transaction: a sequential node is made and deleted below the parent, then the node is written."""
    parent, path = node(f"{HOME}/checked"), node(f"{HOME}/checked/one")
    client = both.client
    answer = both.put(f"{HOME}/checked/one")
    for what, write in (("changed", lambda etag: both.ask("PUT", f"{HOME}/checked/one", record("e"), If_Match=etag)),
                        ("deleted", lambda etag: both.ask("DELETE", f"{HOME}/checked/one", If_Match=etag))):
        check = next_check(client, parent)
        assert client.exists(check, watch=True) is None
        client.children(parent, watch=True)
        client.get(path, watch=True)
        answer = write(answer.headers["ETag"])
        assert answer.status == 200, answer
        assert client.events(3) == [("created", check, "exists"), ("child", parent, "children"), (what, path, "get")]
        assert client.no_more_events()
        assert "bobbin-check" not in "".join(client.children(parent)[0]), "no reader ever sees it"


def test_a_refused_condition_fires_no_watch(both):
    parent, path = node(f"{HOME}/refused"), node(f"{HOME}/refused/one")
    client = both.client
    stale = both.put(f"{HOME}/refused/one").headers["ETag"]
    both.put(f"{HOME}/refused/one", "e")
    client.children(parent, watch=True)
    client.get(path, watch=True)
    for method, body in (("PUT", record("lost")), ("DELETE", None)):
        assert both.ask(method, f"{HOME}/refused/one", body, If_Match=stale).status == 412
    assert client.no_more_events()
    both.ask("DELETE", f"{HOME}/refused", query="&recursive=true")
    assert client.events(2) == [("deleted", path, "get"), ("child", parent, "children")]


# ---- transactions ----


def test_a_multi_of_the_client_is_one_change_to_registryd(both):
    base = f"{HOME}/multi"
    both.put(f"{base}/old")
    both.put(f"{base}/kept")
    with Feed(both.registry, path=base) as feed:
        feed.until("sync")
        codes = both.client.multi(("create", node(f"{base}/new"), canonical("new"), *ROOT_ACL),
                                  ("set", node(f"{base}/kept"), canonical("set"), 0),
                                  ("check", node(base), -1),
                                  ("delete", node(f"{base}/old"), 0))
        assert codes == ["ok"] * 4
        zxid = both.client.exists(node(f"{base}/new")).czxid
        both.put(f"{base}/end")
        lines = complete_lines(feed, f"{base}/end")
    numbers = {line["path"]: line_number(line) for line in lines if line["type"] in ("put", "delete")}
    assert numbers[f"{base}/new"] == numbers[f"{base}/kept"] == zxid <= numbers[f"{base}/old"]
    assert both.ask("GET", base).json["nodes"] == ["end", "kept", "new"]
    assert both.client.exists(node(f"{base}/kept")).mzxid == zxid


def test_a_multi_that_fails_changes_nothing(both):
    base = f"{HOME}/failed"
    before = both.put(f"{base}/one")
    codes = both.client.multi(("create", node(f"{base}/new"), b"", *ROOT_ACL), ("check", node(f"{base}/one"), 7),
                              ("delete", node(f"{base}/one"), 0))
    assert codes == ["ok", "ZBADVERSION", "ZRUNTIMEINCONSISTENCY"]
    after = both.ask("GET", base, query="&consistency=strong")
    assert after.json["nodes"] == ["one"]
    assert both.ask("GET", f"{base}/one").headers["ETag"] == before.headers["ETag"]
