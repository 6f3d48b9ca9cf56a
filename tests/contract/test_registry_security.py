"""Rows SE of the registry's contract, on the embedded store and on a real ZooKeeper. SE1, SE3, SE5, SE7, SE8 and SE12 ask pure
functions: tests/unit/registry/test_acl.c. The tickets behind SE11, SE20 and SE21 are real in tests/interop/kerberos."""
import json
import struct

import pytest

from harness import STORES, Daemon, Registry, free_port, store_url
from operations import Library, Refused

pytestmark = pytest.mark.sanitize

SASL = "authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider\n"
RECORD = '{"type":"JSONServiceRecord","description":"%s","external":[],"internal":[]}'
SECURE = {"hadoop.registry.secure": "true", "hadoop.http.staticuser.user": "yarn"}
DIGEST = {"hadoop.registry.client.auth": "digest", "hadoop.registry.client.auth.id": "id",
          "hadoop.registry.client.auth.password": "pass", "hadoop.registry.user.accounts": "sasl:bob@"}
US = ("digest", "id:mu05JlfYgbMHovly5LnbXUuQUVo=")
U2 = ("digest", "u2:o9NxcCGDPOlcV7JVhmKHOf5ctVE=")
WORLD = (1, "world", "anyone")


def key(name):
    return f"hadoop.registry.{name}"


def all_of(*accounts):
    return [(31, *account) for account in accounts]


def sasl(*names):
    return [("sasl", name) for name in names]


class Place:
    """Where registries of one kind live: each has a root of its own."""

    def __init__(self, url):
        self.url, self.n = url, 0

    def fresh(self):
        self.n += 1
        return self.url and f"{self.url}{self.n}"

    def registry(self, options, root=None):
        return Registry(store=root or self.fresh(), options={"registryd": {**SECURE, **options}})


@pytest.fixture(scope="module", params=STORES)
def place(request):
    with store_url(request.param, config=SASL) as url:
        yield Place(url)


def acl_of(registry, path, user="yarn"):
    """The node's ACL as the store has it."""
    answer = registry.registry("GET", "/export", base="/ws/v1/registry-admin", query=f"path={path}&user.name={user}")
    assert answer.status == 200, answer
    node = json.loads(answer.body.split(b"\n")[0])
    return [(entry["perms"], entry["scheme"], entry["id"]) for entry in node["acl"]]


REALM = {key("kerberos.realm"): "example.com"}
ACLS = {
    "SE2": ({key("system.accounts"): "sasl:yarn@example.com, sasl:mapred@example.com", key("user.accounts"): "sasl:bob"},
            [*sasl("yarn@example.com", "mapred@example.com", "bob"), US]),
    "SE4": ({key("system.accounts"): "sasl:yarn@, sasl:mapred@", **REALM},
            [*sasl("yarn@example.com", "mapred@example.com", "bob@example.com"), US]),
    "SE8": ({key("system.accounts"): "sasl:yarn@, sasl:mapred@APACHE, ,,", **REALM},
            [*sasl("yarn@example.com", "mapred@APACHE", "bob@example.com"), US]),
    "SE9": (REALM, [*sasl(*(f"{name}@example.com" for name in ("yarn", "mapred", "hdfs", "hadoop", "bob"))), US]),
    "SE16": ({key("kerberos.realm"): "EXAMPLE.COM"},
             [*sasl(*(f"{name}@EXAMPLE.COM" for name in ("yarn", "mapred", "hdfs", "hadoop", "bob"))), US]),
}


@pytest.mark.parametrize("row", ACLS)
def test_the_acl_of_what_is_made(place, row):
    options, wanted = ACLS[row]
    with place.registry({**DIGEST, **options}) as registry:
        made = registry.registry("PUT", "/services/x", RECORD % row, query="user.name=yarn")
        assert made.status == 201, made
        for path in ("/", "/users", "/services", "/services/x"):
            assert acl_of(registry, path) == [WORLD, *all_of(*wanted)], path


def test_se22_parents_on_the_way_are_closed_too(place):
    with place.registry({**DIGEST, **REALM}) as registry:
        made = registry.registry("POST", "/services/a/b/c", query="op=mknode&createParents=true&user.name=yarn")
        assert made.status == 201, made
        assert acl_of(registry, "/services/a") == acl_of(registry, "/services/a/b") == acl_of(registry, "/services")
        assert acl_of(registry, "/services/a")[0] == WORLD


def test_a_home_is_its_users_too(place):
    """Section 6.2: all but setting ACLs, with the realm where accounts have one."""
    for options, name in ((REALM, "alice@example.com"), ({key("system.accounts"): "sasl:yarn", key("user.accounts"): "sasl:bob"}, "alice")):
        with place.registry({**DIGEST, **options}) as registry:
            made = registry.registry("POST", "/users", '{"user":"alice"}', base="/ws/v1/registry-admin")
            assert made.status in (200, 201), made
            assert acl_of(registry, "/users/alice") == [*acl_of(registry, "/users"), (15, "sasl", name)]


# ---- starts that are refused ----

REFUSED = {
    "SE6": ({key("system.accounts"): "sasl:yarn@, sasl:mapred@"}, "@ suffixed account but no realm sasl:yarn@"),
    "SE9 no realm": ({}, "@ suffixed account but no realm sasl:yarn@"),
    "SE11": ({**REALM, key("client.auth"): "kerberos"}, "Kerberos required for secure registry access"),
    "SE13 anonymous": ({**REALM, key("client.auth"): "anonymous"}, "Unknown/unsupported authentication mechanism"),
    "SE13 foo": ({**REALM, key("client.auth"): "foo"}, "Unknown/unsupported authentication mechanism"),
    "SE13 not secure": ({key("secure"): "false", key("client.auth"): "foo"}, "Unknown/unsupported authentication mechanism"),
    "SE14 no id": ({**REALM, **DIGEST, key("client.auth.id"): ""},
                   "Missing value for configuration option hadoop.registry.client.auth.id"),
    "SE14 no password": ({**REALM, **DIGEST, key("client.auth.password"): ""},
                         "Missing value for configuration option hadoop.registry.client.auth.password"),
    "SE14 no user": ({**REALM, **DIGEST, key("user.accounts"): ""}, "No user for ACLs determinable"),
    "SE15 no scheme": ({key("system.accounts"): "yarn"}, "exactly one colon"),
    "SE15 two colons": ({key("system.accounts"): "digest:bob:abc="}, "exactly one colon"),
    "SE15 of users": ({**REALM, **DIGEST, key("user.accounts"): "digest:bob:abc="}, "exactly one colon"),
    "no system account": ({key("system.accounts"): ""}, "hadoop.registry.system.accounts"),
}


@pytest.mark.parametrize("row", REFUSED)
def test_a_start_that_is_refused(place, tmp_path, row):
    options, wanted = REFUSED[row]
    daemon = Daemon("registryd", {**SECURE, "bobbin.data.dir": tmp_path, key("store"): place.fresh() or f"file:{tmp_path}/s",
                                  key("http.address"): f"127.0.0.1:{free_port()}", **options}).start()
    try:
        refused = daemon.event("config_error")
        assert wanted in refused["error"], refused
        daemon.process.wait(60)
        daemon.stop(3)
    finally:
        daemon.kill()


# ---- who may do what ----

@pytest.fixture(scope="module")
def tree(place):
    """A secure tree of a registryd with a digest, and its root."""
    root = place.fresh()
    with place.registry({**DIGEST, **REALM}, root) as registry:
        made = registry.registry("PUT", "/services/theirs", RECORD % "theirs", query="user.name=yarn")
        assert made.status == 201, made
        yield registry, root


def refused(answer):
    assert answer.status == 403 and answer.json["exception"] == "NoPathPermissionsException", answer


def test_se10_se17_nobody_in_a_secure_tree(place, tree):
    """An anonymous caller of ours; and on ZooKeeper a whole registryd without identity, which starts and reads."""
    registry, root = tree
    nobody = [(registry, "mallory")]
    anonymous = place.registry({key("kerberos.realm"): "example.com"}, root) if root else None
    if anonymous:
        anonymous.__enter__()
        nobody.append((anonymous, "yarn"))
    try:
        for one, user in nobody:
            who = f"user.name={user}"
            assert "theirs" in one.registry("GET", "/services", query=who).json["nodes"]
            refused(one.registry("POST", "/services/x", query="op=mknode&" + who))
            refused(one.registry("PUT", "/services/theirs", RECORD % "x", query="overwrite=true&" + who))
            refused(one.registry("DELETE", "/services/theirs", query=who))
            library = Library(one, user)
            try:
                assert "theirs" in library.list("/services")
                for words in (("mknode", "/services/x", "false"), ("bind", "/services/theirs", RECORD % "x", "1"),
                              ("delete", "/services/theirs", "false")):
                    with pytest.raises(Refused) as refusal:
                        getattr(library, words[0])(*words[1:])
                    assert refusal.value.name == "NoPathPermissionsException", words
            finally:
                library.close()
        if anonymous:
            assert acl_of(anonymous, "/services") != [(31, "world", "anyone")]
    finally:
        if anonymous:
            anonymous.__exit__(None, None, None)


@pytest.mark.parametrize("auth", ["", "simple", " simple "])
def test_se10_anonymous_and_alone(auth):
    """It starts; what it makes is the system's, not everybody's, and further accounts are for those with an identity."""
    options = {key("kerberos.realm"): "KERBEROS", key("client.auth"): auth, key("user.accounts"): "sasl:bob@"}
    with Registry(options={"registryd": {**SECURE, **options}}) as registry:
        assert acl_of(registry, "/services") == [
            WORLD, *all_of(*sasl(*(f"{name}@KERBEROS" for name in ("yarn", "mapred", "hdfs", "hadoop"))))]


def test_the_key_that_is_documented_stands_in_for_the_one_that_counts():
    """Section 7: hadoop.registry.system.acls, with a warning, where hadoop.registry.system.accounts is not set."""
    old = {**SECURE, key("system.acls"): "sasl:yarn, sasl:old"}
    with Registry(options={"registryd": old}) as registry:
        assert acl_of(registry, "/services") == [WORLD, *all_of(*sasl("yarn", "old"))]
        assert "hadoop.registry.system.acls: " in registry.registryd.event("config_warning")["warning"]
    with Registry(options={"registryd": {**old, key("system.accounts"): "sasl:yarn, sasl:new"}}) as registry:
        assert acl_of(registry, "/services") == [WORLD, *all_of(*sasl("yarn", "new"))]
        assert not [e for e in registry.registryd.events if e["event"] == "config_warning"]


def test_se18_se19_write_accessors(tree):
    """They are added to what is made later, and stay when they are cleared; who holds one does what its node lets."""
    registry, _ = tree
    owner = Library(registry, "yarn")
    holder = Library(registry, "mallory", "u2:p2")
    try:
        assert owner.accessor("u2", "p2") == "true"
        owner.bind("/services/shared", RECORD % "one", "0")
        assert acl_of(registry, "/services/shared") == [*acl_of(registry, "/services"), (31, *U2)]
        assert holder.bind("/services/shared", RECORD % "two", "1") == "ok"
        assert holder.mknode("/services/shared/child", "false") == "true"
        with pytest.raises(Refused) as refusal:
            holder.mknode("/services/elsewhere", "false")
        assert refusal.value.name == "NoPathPermissionsException"
        owner.clear()
        owner.bind("/services/shared", RECORD % "three", "1")
        assert (31, *U2) in acl_of(registry, "/services/shared")
        owner.bind("/services/later", RECORD % "four", "0")
        assert (31, *U2) not in acl_of(registry, "/services/later")
        with pytest.raises(Refused) as refusal:
            owner.accessor("u2", "")
        assert refusal.value.name == "RegistryIOException" and "Invalid id:password" in str(refusal.value)
    finally:
        owner.close()
        holder.close()


# ---- Kerberos, as far as files go ----

def keytab(path, *names):
    """A keytab with some key for each name[/host]@REALM. Format: krb5's, version 2."""
    entries = b""
    for name in names:
        name, _, realm = name.rpartition("@")
        parts = [part.encode() for part in name.split("/")]
        counted = [realm.encode(), *parts]
        body = struct.pack(">H", len(parts)) + b"".join(struct.pack(">H", len(p)) + p for p in counted)
        body += struct.pack(">IIBHH", 1, 0, 1, 18, 32) + bytes(range(32))
        entries += struct.pack(">i", len(body)) + body
    path.write_bytes(b"\x05\x02" + entries)
    return str(path)


def own_acl(options, env):
    """The last entries of the ACL of what a registryd on the embedded store makes."""
    registry = Registry(options={"registryd": {**SECURE, "hadoop.security.authentication": "kerberos", **options}})
    registry.registryd.env = env
    with registry:
        return acl_of(registry, "/services")


def test_se20_se21_the_own_principal(tmp_path):
    """SE20: it stands in the ACL; SE21: what is set is kept, what is empty is filled. No KDC is needed to know a name."""
    conf = tmp_path / "krb5.conf"
    conf.write_text("[libdefaults]\n default_realm = EXAMPLE.COM\n dns_canonicalize_hostname = false\n")
    env = {"KRB5_CONFIG": str(conf), "KRB5CCNAME": f"FILE:{tmp_path}/none"}
    file = keytab(tmp_path / "keytab", "zookeeper@EXAMPLE.COM", "other/host@EXAMPLE.COM")
    jaas = tmp_path / "jaas"
    jaas.write_text('Client {\n com.sun.security.auth.module.Krb5LoginModule required\n'
                    f' useKeyTab=true keyTab="{file}" principal="other/host@EXAMPLE.COM";\n}};\n')
    kerberos = {key("client.auth"): "kerberos"}
    system = all_of(*sasl(*(f"{name}@EXAMPLE.COM" for name in ("yarn", "mapred", "hdfs", "hadoop"))))
    rows = [
        ("SE20", {**kerberos, key("kerberos.keytab"): file}, [*system, (31, "sasl", "zookeeper@EXAMPLE.COM")]),
        ("SE21 empty", {**kerberos, key("kerberos.principal"): "", "java.security.auth.login.config": jaas},
         [*system, (31, "sasl", "other/host@EXAMPLE.COM")]),
        ("SE21 set", {**kerberos, key("kerberos.principal"): "zookeeper", "java.security.auth.login.config": jaas},
         [*system, (31, "sasl", "zookeeper@EXAMPLE.COM")]),
        ("realm set", {**kerberos, key("kerberos.keytab"): file, key("kerberos.realm"): "OTHER", key("system.accounts"): "sasl:yarn@"},
         [(31, "sasl", "yarn@OTHER"), (31, "sasl", "zookeeper@EXAMPLE.COM")]),
        ("no realms", {**kerberos, key("kerberos.keytab"): file, key("kerberos.principal"): "other/host",
                       key("system.accounts"): "sasl:yarn"}, all_of(*sasl("yarn", "other"))),
        ("6.2 order", {**DIGEST, key("kerberos.keytab"): file},
         [*system, *all_of(("sasl", "bob@EXAMPLE.COM"), ("sasl", "zookeeper@EXAMPLE.COM"), US)]),
        ("SE14 a ticket is user enough", {**DIGEST, key("user.accounts"): "", key("kerberos.keytab"): file},
         [*system, *all_of(("sasl", "zookeeper@EXAMPLE.COM"), US)]),
        ("anonymous", {key("kerberos.keytab"): file, key("kerberos.realm"): "EXAMPLE.COM"}, system),
    ]
    for row, options, wanted in rows:
        assert own_acl(options, env) == [WORLD, *wanted], row
