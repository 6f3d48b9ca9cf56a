"""A secure registry: who may write what, by path, by account, and by the write accessors in a node's ACL."""
import base64
import hashlib
import json
import os
import shutil
import subprocess

import pytest

import zkwire
from harness import BIN, PATIENCE, STORES, Registry, request, store_url, wait_for
from scripted_rm import ScriptedRm

pytestmark = pytest.mark.sanitize

SASL = "authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider\n"
SECURE = {"hadoop.registry.secure": "true", "hadoop.registry.system.accounts": "sasl:yarn, sasl:mapred",
          "hadoop.registry.user.accounts": "sasl:hive", "hadoop.registry.client.auth": "digest",
          "hadoop.registry.client.auth.id": "bobbin", "hadoop.registry.client.auth.password": "secret"}
RECORD = {"type": "JSONServiceRecord", "description": "d", "external": [], "internal": []}
SERVICES = "/users/alice/services"


def digest(pair):
    return pair.split(":")[0] + ":" + base64.b64encode(hashlib.sha1(pair.encode()).digest()).decode()


def basic(pair):
    return {"Authorization": "Basic " + base64.b64encode(pair.encode()).decode()}


class Secure:
    """Requests as some user, to one store."""

    def __init__(self, registry, store):
        self.registry, self.store = registry, store

    def ask(self, method, path, user="mallory", query="", body=None, **headers):
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.registry.registry(method, path, body, sent, query=f"user.name={user}{query}")

    def put(self, path, user="mallory", query="&overwrite=true", description="d", **headers):
        return self.ask("PUT", path, user, query, {**RECORD, "description": description}, **headers)

    def make(self, name, *pairs):
        """A record of alice's that the holders of these pairs may write."""
        path = f"{SERVICES}/{name}"
        made = self.put(path, "alice", "&createParents=true",
                        X_Bobbin_Write_Accessors=", ".join(digest(p) for p in pairs))
        assert made.status == 201, made
        return path


@pytest.fixture(scope="module", params=STORES)
def secure(request):
    with store_url(request.param, config=SASL) as url:
        with Registry(store=url, options={"registryd": SECURE}) as r:
            yield Secure(r, url)


def refused(answer, owner):
    assert answer.status == 403, answer
    assert answer.json["exception"] == "NoPathPermissionsException"
    assert f"it is {owner}'s" in answer.json["detail"], answer.json
    return answer.json["detail"]


def test_owner_system_and_nobody_else(secure):
    path = secure.make("own")
    assert secure.put(path, "alice").status == 200 and secure.put(path, "yarn").status == 200
    for method, query in (("PUT", "&overwrite=true"), ("DELETE", ""), ("DELETE", "&recursive=true")):
        said = refused(secure.ask(method, path, "mallory", query, RECORD if method == "PUT" else None), "alice")
        assert "mallory" in said and "sasl:yarn" in said and "digest:bobbin" in said and digest("bobbin:secret") not in said
    refused(secure.put("/services/x", "alice"), "the system")
    refused(secure.ask("POST", "/users/alice/new", query="&op=mknode"), "alice")
    for query in ("", "&recursive=true"):
        assert "alice's home" in refused(secure.ask("DELETE", "/users/alice", "alice", query), "alice")
        refused(secure.ask("DELETE", "/", "mallory", query), "the system")
    assert secure.put("/services/x", "yarn").status == 201
    assert secure.put("/services/x", "hive").status == 200, "a user account has all rights on what is made"
    assert secure.ask("GET", path).status == 200, "reading is for all"
    assert secure.ask("DELETE", path, "alice").json["deleted"] is True


@pytest.mark.parametrize("identity", [basic("u2:p2"), {"X_Bobbin_Accessor": "u2:p2"}], ids=["basic", "header"])
def test_an_accessor_updates_its_record_without_other_identity(secure, identity):
    path = secure.make("accessor" + str(len(identity["Authorization"]) if "Authorization" in identity else 0), "u1:p1", "u2:p2")
    written = secure.put(path, description="new", **identity)
    assert written.status == 200 and written.json["service"]["description"] == "new", written
    assert secure.put(f"{path}/child", **identity).status == 201, "and creates below it"
    assert secure.put(f"{path}/child", **identity).status == 200, "and writes what it created"
    assert secure.ask("DELETE", f"{path}/child", **identity).json["deleted"] is True
    said = refused(secure.put(f"{SERVICES}/elsewhere", **identity), "alice")
    assert "with accessor u2" in said and "p2" not in said
    refused(secure.ask("DELETE", path, **identity), "alice")  # the right to delete is the parent's
    for wrong in ("u2:p3", "u3:p2"):
        refused(secure.put(path, X_Bobbin_Accessor=wrong), "alice")
    etag = secure.ask("GET", path).headers["ETag"]
    assert secure.put(path, query="", If_Match=etag, **identity).status == 200
    assert secure.put(path, query="", If_Match=etag, **identity).status == 412


def test_what_has_no_accessor_gets_none_by_overwriting(secure):
    path = secure.make("late")
    assert secure.put(path, "alice", X_Bobbin_Write_Accessors=digest("u2:p2")).status == 200
    refused(secure.put(path, X_Bobbin_Accessor="u2:p2"), "alice")


def test_a_tree_is_deleted_only_by_who_may_delete_all_of_it(secure):
    path = secure.make("tree", "u2:p2")
    assert secure.put(f"{path}/mine", X_Bobbin_Accessor="u2:p2").status == 201
    assert secure.put(f"{path}/mine/leaf", X_Bobbin_Accessor="u2:p2").status == 201
    assert secure.put(f"{path}/other", "alice").status == 201
    assert secure.ask("DELETE", f"{path}/mine", query="&recursive=true", X_Bobbin_Accessor="u2:p2").status == 200
    assert secure.put(f"{path}/mine", X_Bobbin_Accessor="u2:p2").status == 201
    assert secure.put(f"{path}/mine/theirs", "alice").status == 201
    assert secure.put(f"{path}/mine/theirs/leaf", "alice").status == 201
    refused(secure.ask("DELETE", f"{path}/mine", query="&recursive=true", X_Bobbin_Accessor="u2:p2"), "alice")
    assert secure.ask("GET", f"{path}/mine/theirs/leaf").status == 200


def test_parents_made_on_the_way_are_closed_too(secure):
    made = secure.put(f"{SERVICES}/deep/down/here", "alice", "&createParents=true", X_Bobbin_Write_Accessors=digest("u2:p2"))
    assert made.status == 201
    refused(secure.put(f"{SERVICES}/deep/down/there"), "alice")
    assert secure.put(f"{SERVICES}/deep/down/here", X_Bobbin_Accessor="u2:p2").status == 200
    refused(secure.put(f"{SERVICES}/deep/down/there", X_Bobbin_Accessor="u2:p2"), "alice")


def test_what_is_no_accessor_is_refused(secure):
    for headers, status in (({"X_Bobbin_Accessor": "u2"}, 401), ({"X_Bobbin_Accessor": "u2:"}, 401),
                            ({"Authorization": "Basic !!"}, 401), (basic(":p"), 401),
                            ({"X_Bobbin_Write_Accessors": "u2:p2"}, 400), ({"X_Bobbin_Write_Accessors": "u2"}, 400)):
        answer = secure.put(f"{SERVICES}/never", "alice", "&createParents=true", **headers)
        assert answer.status == status, (headers, answer)
    assert secure.ask("GET", f"{SERVICES}/never").status == 404


def test_another_program_with_the_pair_does_the_same_on_zookeeper(secure):
    """Whoever authenticates to ZooKeeper with the accessor's digest may write that node there, and nothing else."""
    if not secure.store:
        pytest.skip("the embedded store is registryd's alone")
    path = secure.make("direct", "u2:p2")
    options = {**SECURE, "hadoop.registry.client.auth.id": "u2", "hadoop.registry.client.auth.password": "p2"}
    with Registry(store=secure.store, options={"registryd": options}) as other:
        peer = Secure(other, secure.store)
        assert peer.put(path, "yarn", description="by u2").status == 200
        assert peer.put(f"{path}/below", "yarn").status == 201
        assert "ZooKeeper refuses" in refused(peer.put(f"{SERVICES}/elsewhere", "yarn"), "alice")
    wait_for(lambda: secure.ask("GET", path).json["service"]["description"] == "by u2", "the first registryd sees it")
    anonymous = {**SECURE, "hadoop.registry.client.auth": ""}
    with Registry(store=secure.store, options={"registryd": anonymous}) as other:
        peer = Secure(other, secure.store)
        assert "ZooKeeper refuses" in refused(peer.put(path, "yarn"), "alice")
        assert peer.ask("GET", path).status == 200
        # What registryd may not do for an administrator either says whose the path is, too.
        assert secure.put(f"{path}/mine", "alice").status == 201
        bound = admin(secure, "import", "yarn", {"nodes": [{"path": f"{path}/mine", "record": json.dumps(
            {**RECORD, "yarn:id": "direct", "yarn:persistence": "container"})}]}, query="&overwrite=true")
        assert bound.status == 200 and bound.json["replaced"] == 1, bound
        wait_for(lambda: peer.ask("GET", f"{path}/mine").json.get("service", {}).get("yarn:id"), "the other registryd sees it")
        assert "ZooKeeper refuses" in refused(admin(peer, "purge", "yarn", {"id": "direct", "persistence": "container"}), "alice")
        failed = admin(peer, "import", "yarn", {"nodes": [{"path": f"{path}/new", "record": json.dumps(RECORD)}]}).json["failed"]
        assert len(failed) == 1 and "ZooKeeper refuses" in failed[0]["detail"] and "alice's" in failed[0]["detail"], failed
        homes = admin(peer, "users", "yarn", {"user": "nina"}).json["users"][0]
        assert "ZooKeeper refuses" in homes["detail"] and "nina's" in homes["detail"], homes


def n_sessions(peer):
    said = request(peer.registry.registry_port, "GET", "/metrics").body.decode()
    return next(int(line.split()[1]) for line in said.splitlines() if line.startswith("registry_accessor_sessions "))


@pytest.fixture(scope="module")
def beside(secure):
    """The same tree on ZooKeeper behind another registryd with little room, and a program that makes nodes for accessors only."""
    if not secure.store:
        pytest.skip("the embedded store is registryd's alone")
    options = {**SECURE, "hadoop.registry.zk.accessor-sessions": "1", "hadoop.registry.zk.accessor-idle": "1s"}
    address, root = secure.store[len("zk://"):].split("/", 1)
    with Registry(store=secure.store, options={"registryd": options}) as other:
        peer = Secure(other, secure.store)
        assert peer.put("/users/nora", "yarn", "&createParents=true").status in (200, 201)
        with zkwire.Client(address, "bobbin:secret", "u7:p7") as raw:
            raw.root = "/" + root
            yield peer, raw


def of_record(raw, path):
    return json.loads(raw.get(raw.root + path))["description"]


@pytest.mark.parametrize("acl", [[], [(1, "world", "anyone")]], ids=["hidden", "readable"])
def test_a_node_that_lets_the_accessor_and_not_registryd(beside, acl):
    """Whoever made it: the digest in its ACL decides, and ZooKeeper is asked as the accessor."""
    peer, raw = beside
    path = f"/users/nora/theirs{len(acl)}"
    raw.create(raw.root + path, json.dumps(RECORD), zkwire.digest_acl("u7:p7"), *acl)
    if acl:
        wait_for(lambda: peer.ask("GET", path).status == 200, "registryd knows the node")
    for user in ("mallory", "nora", "yarn"):
        written = peer.put(path, user, description=f"for {user}", **basic("u7:p7"))
        assert written.status == 200 and written.json["service"]["description"] == f"for {user}", written
        assert of_record(raw, path) == f"for {user}"
    assert peer.put(f"{path}/below", X_Bobbin_Accessor="u7:p7").status == 201
    assert of_record(raw, f"{path}/below") == "d"
    unnamed = "digest:u7" if acl else "ZooKeeper refuses"
    for holder, said in (({}, unnamed), (basic("u7:wrong"), "accessor u7"), (basic("u8:p7"), "u8")):
        assert said in refused(peer.put(path, **holder), "nora")
    assert "ZooKeeper refuses this to registryd itself" in refused(peer.put(path, "nora"), "nora")
    assert of_record(raw, path) == "for yarn"
    gone = peer.ask("DELETE", path, query="&recursive=true", X_Bobbin_Accessor="u7:p7")
    assert gone.status == 403, "its parent lets registryd and not the accessor"
    assert peer.ask("DELETE", f"{path}/below", X_Bobbin_Accessor="u7:p7").json["deleted"] is True


def test_sessions_of_accessors_are_few_and_end(beside):
    peer, raw = beside
    path = "/users/nora/few"
    raw.create(raw.root + path, json.dumps(RECORD), zkwire.digest_acl("u7:p7"), zkwire.digest_acl("u8:p8"))
    for pair in ("u7:p7", "u8:p8", "u7:p7"):
        assert peer.put(path, description=pair, **basic(pair)).status == 200
        assert of_record(raw, path) == pair
    wait_for(lambda: n_sessions(peer) == 0, "a session that nobody uses is closed")
    assert peer.put(path, description="again", **basic("u7:p7")).status == 200


def example(secure, name, *words, user, pair):
    """Run an example as this user, holding this pair."""
    environment = {**os.environ, "HADOOP_USER_NAME": user, "CONTAINER_ACCESSOR": pair}
    return subprocess.run([os.path.join(BIN, f"example-{name}"), "--registry", f"http://127.0.0.1:{secure.registry.registry_port}",
                           *words], env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False)


def test_a_container_holds_an_id_and_a_password(secure):
    """Its application master lets it write its own record; it goes on doing so when the master may not any more."""
    top = f"{SERVICES}/pairs/components"
    ids = [f"container_1700000000000_0005_01_00000{n}" for n in (2, 3)]
    paths = [f"{top}/{id.replace('_', '-')}" for id in ids]
    pairs = ["c2:secret-of-2", "c3:secret-of-3"]
    for path, id, pair in zip(paths, ids, pairs):
        made = example(secure, "container-am", path, id, user="hive", pair=pair)
        assert (made.stdout, made.stderr, made.returncode) == (f"made {path} for the holder of the pair\n", "", 0)

    def update(path, pair, uri):
        return example(secure, "container", path, uri, user="nobody", pair=pair)
    done = update(paths[0], pairs[0], "http://127.77.8.9/one")
    assert (done.stdout, done.stderr, done.returncode) == (f"updated {paths[0]}\n", "", 0)
    for path, pair in ((paths[1], pairs[0]), (paths[0], "c2:secret-of-3"), (top, pairs[0])):
        said = update(path, pair, "http://evil/")
        assert said.returncode in (13, 16) and pair.split(":")[1] not in said.stderr, said
        assert said.returncode == 16 or "alice's" in said.stderr, said
    acl = acl_of(secure.registry, paths[0])
    assert acl == BASE_ACL + [(31, "digest", digest(pairs[0]))]
    lapsed = [dict(zip(("perms", "scheme", "id"), entry)) for entry in acl if entry[2] != "hive"]
    changed = admin(secure, "import", "yarn", {"nodes": [{"path": paths[0], "aclOnly": True, "acl": lapsed}]})
    assert changed.status == 200 and changed.json["failed"] == [], changed
    refused(secure.put(paths[0], "hive"), "alice")
    assert update(paths[0], pairs[0], "http://127.77.8.9/two").returncode == 0
    service = secure.ask("GET", paths[0]).json["service"]
    assert service["external"][0]["addresses"] == [{"uri": "http://127.77.8.9/two"}]
    assert (service["yarn:id"], service["yarn:persistence"]) == (ids[0], "container")
    assert secure.ask("GET", paths[1]).json["service"]["description"] == "starting"


def test_accessors_on_the_command_line(secure, tmp_path):
    """From the command line, a file or the environment; a password is never in an error."""
    file, bad = tmp_path / "pair", tmp_path / "bad"
    file.write_text("u5:from-a-file\n")
    bad.write_text("u5:from\na-file\n")

    def bobbin(*words, user="mallory", **more):
        done = subprocess.run([os.path.join(BIN, "bobbin"), "registry", words[0], "--user", user, "--url",
                               f"http://127.0.0.1:{secure.registry.registry_port}", *words[1:]], capture_output=True, text=True,
                              timeout=PATIENCE, check=False, env={**os.environ, **more})
        assert not any(secret in done.stdout + done.stderr for secret in ("from-a-file", "p6", "wrong")), done
        return done.returncode
    top = f"{SERVICES}/by-hand"
    assert bobbin("mknode", "-p", "--grant", f"@{file}", "--grant", "u6:p6", top, user="alice") == 0
    assert bobbin("bind", f"{top}/a", "--description", "x") == 13
    for n, (words, environment) in enumerate(((("--accessor", f"@{file}"), {}), (("--accessor", "u6:p6"), {}),
                                              ((), {"BOBBIN_ACCESSOR": "u6:p6"}),
                                              (("--accessor", "u6:p6"), {"BOBBIN_ACCESSOR": "u6:wrong"}))):
        assert bobbin("bind", f"{top}/a{n}", "--description", "x", "--grant", "u7:p7", *words, **environment) == 0
        assert bobbin("mknode", f"{top}/a{n}/below", *words, **environment) == 0
        assert (31, "digest", digest("u7:p7")) in acl_of(secure.registry, f"{top}/a{n}")
        assert bobbin("rm", "-r", f"{top}/a{n}", *words, **environment) == 0
    assert bobbin("bind", f"{top}/b", "--description", "x", "--accessor", "u6:wrong") == 13
    assert bobbin("bind", f"{top}/b", "--description", "x", BOBBIN_ACCESSOR="wrong") == 4
    assert bobbin("bind", f"{top}/b", "--description", "x", "--accessor", f"@{bad}") == 2
    assert bobbin("bind", f"{top}/b", "--description", "x", "--accessor", f"@{tmp_path}/none") == 4
    assert bobbin("mknode", f"{top}/b", "--grant", "wrong", user="alice") == 2
    assert bobbin("ls", top, BOBBIN_ACCESSOR="wrong") == 0, "a command that writes nothing sends none"


def admin(secure, call, user, body=None, query="", **headers):
    """A call of /ws/v1/registry-admin."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return secure.registry.registry("POST" if body is not None else "GET", call, body, sent, base="/ws/v1/registry-admin/",
                                    query=f"user.name={user}{query}")


def acl_of(registry, path):
    """ACL of a node, as the store has it."""
    answer = registry.registry("GET", "", base="/ws/v1/registry-admin/export", query=f"user.name=yarn&path={path}")
    assert answer.status == 200, answer
    return [(e["perms"], e["scheme"], e["id"]) for e in json.loads(answer.body.splitlines()[0])["acl"]]


BASE_ACL = [(1, "world", "anyone"), (31, "sasl", "yarn"), (31, "sasl", "mapred"), (31, "sasl", "hive"),
            (31, "digest", digest("bobbin:secret"))]


def test_homes_are_their_users(secure):
    made = admin(secure, "users", "yarn", {"user": "carol"})
    assert made.status == 200 and made.json["users"][0]["created"], made
    stored = admin(secure, "events", "yarn", {"type": "application-stored", "user": "dora"})
    assert stored.status == 200 and stored.json["events"][0]["created"], stored
    made = secure.registry.registry("POST", "/users/norma", query="op=mknode&user.name=norma")
    assert made.status == 201, made
    made = secure.registry.registry("POST", "/users/olga/services/x", query="op=mknode&createParents=true&user.name=olga")
    assert made.status == 201, made
    assert acl_of(secure.registry, "/users/olga/services") == BASE_ACL
    for user in ("carol", "dora", "norma", "olga"):
        assert acl_of(secure.registry, f"/users/{user}") == BASE_ACL + [(15, "sasl", user)]
        assert secure.put(f"/users/{user}/x", user).status == 201
        assert acl_of(secure.registry, f"/users/{user}/x") == BASE_ACL
        refused(secure.put(f"/users/{user}/y", "alice"), user)


def test_a_home_for_the_user_of_a_new_application(secure):
    """The follower of the resource manager makes the same."""
    with ScriptedRm() as rm:
        rm.app("application_1700000000000_0001", user="erin@REALM")
        keys = {**SECURE, "hadoop.registry.rm.enabled": "true", "hadoop.registry.rm.poll.interval": "20ms",
                "yarn.resourcemanager.webapp.address": rm.address}
        with Registry(store=secure.store, options={"registryd": keys}) as registry:
            wait_for(lambda: registry.registry("GET", "/users/erin").status == 200, "the home of erin")
            assert acl_of(registry, "/users/erin") == BASE_ACL + [(15, "sasl", "erin@REALM")]


@pytest.mark.parametrize("call, body, done", [
    ("purge", {"id": "container_1_1_1_1", "persistence": "container"}, 200),
    ("events", {"type": "container-finished", "id": "container_1_1_1_1"}, 200), ("users", {"user": "frank"}, 200),
    ("export", None, 200), ("import", {"nodes": [{"path": "/users"}]}, 200), ("backup", {"dir": "copy"}, 200)])
def test_only_system_accounts_administer(secure, call, body, done):
    path = secure.make("held-" + call, "u2:p2")
    for user in ("mallory", "alice", "hive"):
        answer = admin(secure, call, user, body, X_Bobbin_Accessor="u2:p2")
        assert answer.status == 403 and "hadoop.registry.system.accounts" in answer.json["detail"], (user, answer)
    assert admin(secure, call, "yarn", body).status == (501 if call == "backup" and secure.store else done)
    assert secure.ask("GET", path).status == 200


def test_a_secure_registry_moves_with_its_acls(secure):
    """ZooKeeper, embedded store, ZooKeeper: what is exported is the same at each station, ACLs of all kinds with it."""
    if not secure.store:
        pytest.skip("that of ZooKeeper is the start and the end")
    assert admin(secure, "users", "yarn", {"user": "gil"}).status == 200
    path = "/users/gil/services/moving"
    made = secure.put(path, "gil", "&createParents=true", X_Bobbin_Write_Accessors=", ".join(map(digest, ("u1:p1", "u2:p2"))))
    assert made.status == 201 and secure.put(f"{path}/child", X_Bobbin_Accessor="u2:p2").status == 201

    def bobbin(registry, *words, stdin=None):
        done = subprocess.run([os.path.join(BIN, "bobbin"), "registry", words[0], "--user", "yarn", "--url",
                               f"http://127.0.0.1:{registry.registry_port}", *words[1:]], input=stdin, capture_output=True,
                              text=True, timeout=PATIENCE, check=False)
        assert done.returncode == 0, done
        return done.stdout
    start = bobbin(secure.registry, "export", "/users/gil")
    assert digest("u1:p1") in start and '{"perms":15,"scheme":"sasl","id":"gil"}' in start and "aclMasked" not in start
    with Registry(options={"registryd": SECURE}) as embedded:
        bobbin(embedded, "import", "--overwrite", stdin=start)
        assert bobbin(embedded, "export", "/users/gil") == start
        moved = Secure(embedded, None)
        assert moved.put(path, X_Bobbin_Accessor="u1:p1").status == 200
        refused(moved.put(path, "mallory"), "gil")
        middle = bobbin(embedded, "export", "/users/gil")
    with Registry(store=secure.store + "-moved", options={"registryd": SECURE}) as end:
        bobbin(end, "import", "--overwrite", stdin=middle)
        assert bobbin(end, "export", "/users/gil") == middle


def test_an_insecure_registry_lets_everybody_and_takes_no_notice_of_accessors():
    with Registry() as registry:
        plain = Secure(registry, None)
        path = plain.make("open", "u2:p2")
        assert plain.put(path, "mallory", X_Bobbin_Accessor="nonsense").status == 200
        assert "Bobbin-Secure" not in plain.ask("GET", path).headers


@pytest.mark.parametrize("change, said", [
    ({"hadoop.registry.client.auth": "anonymous"}, "Unknown/unsupported authentication mechanism"),
    ({"hadoop.registry.client.auth": "foo", "hadoop.registry.secure": "false"}, "Unknown/unsupported"),
    ({"hadoop.registry.client.auth": "kerberos"}, "Kerberos"),
    ({"hadoop.registry.client.auth.id": ""}, "Missing value for configuration option hadoop.registry.client.auth.id"),
    ({"hadoop.registry.user.accounts": ""}, "No user for ACLs determinable"),
    ({"hadoop.registry.system.accounts": "yarn"}, "exactly one colon"),
    ({"hadoop.registry.system.accounts": "sasl:yarn@"}, "no realm"),
], ids=lambda v: None if isinstance(v, dict) else v.split()[0])
def test_what_cannot_start(change, said):
    registry = Registry(options={"registryd": {**SECURE, **change}})
    try:
        with pytest.raises(AssertionError):
            registry.registryd.start("daemon_started")
        assert said in "".join(registry.registryd.raw), registry.registryd.raw
    finally:
        registry.registryd.kill()
        shutil.rmtree(registry.dir)


def test_limits_are_refused_by_name():
    options = {"hadoop.registry.endpoint.max-api": "16", "hadoop.registry.list.max-children": "2"}
    with Registry(options={"registryd": options}) as registry:
        record = {**RECORD, "external": [{"api": "x" * 17, "addressType": "uri", "protocolType": "REST", "addresses": []}]}
        answer = registry.registry("PUT", "/users/a", record)
        assert answer.status == 422 and answer.json["exception"] == "InvalidRecordException", answer
        assert "hadoop.registry.endpoint.max-api" in answer.json["detail"] and answer.json["where"] == "/external/0/api"
        for name in "abc":
            registry.bind(f"/users/{name}", RECORD)
        page = registry.registry("GET", "/users")
        assert page.json["nodes"] == ["a", "b"]
        assert registry.registry("GET", "/users", query=f"cursor={page.json['cursor']}").json["nodes"] == ["c"]
        for limit in ("3", "0", "-1", "many", "9223372036854775808"):
            answer = registry.registry("GET", "/users", query=f"limit={limit}")
            assert answer.status == 400 and answer.json["where"] == "limit", answer
            assert (f'query parameter limit is "{limit}": send an integer from 1 to 2, the value of hadoop.registry.list.max-children'
                        == answer.json["detail"]), answer


def test_only_system_accounts_change_the_log_level(secure):
    port = secure.registry.registry_port
    refused = request(port, "POST", "/log-level?level=debug&user.name=mallory")
    assert refused.status == 403 and "system.accounts" in refused.body.decode()
    assert request(port, "GET", "/log-level").json == {"level": "info"}
    assert request(port, "POST", "/log-level?level=info&user.name=yarn").status == 200


def test_a_lease_is_its_owner_s(secure):
    path = f"{SERVICES}/leased"
    assert secure.put(path, query="&overwrite=true&ttl=1m").status == 403
    made = secure.put(path, "alice", "&createParents=true&ttl=1m")
    key = made.headers["Bobbin-Lease"]
    for user, lease, status in [("mallory", "0" * 32, 404), ("mallory", "mallory-s-own-key", 404), ("alice", key, 200)]:
        def renew(user=user, lease=lease):
            return secure.registry.registry("POST", "", {"lease": lease}, base="/ws/v1/registry-lease", query=f"user.name={user}")
        assert wait_for(lambda: next((a for a in [renew()] if a.status != 503), None), "leases are kept").status == status
    assert key not in secure.ask("GET", path).body.decode()
