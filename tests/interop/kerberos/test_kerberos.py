"""registryd authenticates by Kerberos to a real ZooKeeper, with a real KDC between them: rows SE11, SE20 and SE21 of the
contract, and section 6.5. Who may write is asked of ZooKeeper's own command line."""
import json
import subprocess

import pytest

import zookeeper
from harness import Daemon, Registry, free_port, wait_for
from kerberos import PROVIDER, SERVER, realm, zk  # noqa: F401 (fixtures)
from zkproxy import Proxy

pytestmark = pytest.mark.sanitize

SECURE = {"hadoop.registry.secure": "true", "hadoop.security.authentication": "kerberos",
          "hadoop.registry.client.auth": "kerberos", "hadoop.registry.user.accounts": "sasl:bob@",
          "hadoop.http.staticuser.user": "yarn"}
US = "registryd/here@EXAMPLE.COM"
RECORD = {"type": "JSONServiceRecord", "description": "d", "external": [], "internal": []}


class Client:
    """registryd with Kerberos on the ZooKeeper behind this port."""

    def __init__(self, realm, port, root="/registry", env=None, **more):
        self.registry = Registry(store=f"zk://127.0.0.1:{port}{root}", options={"registryd": {**SECURE, **more}})
        self.registry.registryd.env = {**realm.env, **(env or {})}

    def __enter__(self):
        return self.registry.__enter__()

    def __exit__(self, *why):
        self.registry.__exit__(*why)


def keytab_option(path):
    return {"hadoop.registry.kerberos.keytab": path}


@pytest.fixture(scope="module")
def ours(realm, zk):
    with Client(realm, zk.port, **keytab_option(realm.keytab("registryd/here"))) as r:
        yield r


def command_line(realm, zk, *orders, jaas=None):
    """What ZooKeeper's own client prints for these orders."""
    properties = {"org.slf4j.simpleLogger.defaultLogLevel": "error", **realm.java(jaas)}
    done = subprocess.run(
        [zookeeper.java(), *zookeeper.JVM, *(f"-D{k}={v}" for k, v in properties.items()), "-cp",
         zookeeper.classpath() + ":/usr/share/java/commons-cli.jar", "org.apache.zookeeper.ZooKeeperMain", "-server",
         zk.address], input="\n".join(orders) + "\n", capture_output=True, text=True, check=False, timeout=120)
    return done.stdout + done.stderr


def acl_text(*entries):
    return "".join(f"'{scheme},'{name}\n: {perms}\n" for scheme, name, perms in entries)


SYSTEM = [("sasl", f"{name}@EXAMPLE.COM", "cdrwa") for name in ("yarn", "mapred", "hdfs", "hadoop")]
ACL = [("world", "anyone", "r"), *SYSTEM, ("sasl", "bob@EXAMPLE.COM", "cdrwa"), ("sasl", US, "cdrwa")]


def bind(registry, path, **more):
    answer = registry.registry("PUT", path, {**RECORD, **more}, query="createParents=true&overwrite=true&user.name=alice")
    assert answer.status in (200, 201), (answer, registry.registryd.raw[-3:])
    return answer


def test_what_we_make_is_ours_and_nobody_else_writes_it(realm, zk, ours):
    """SE20, SE22: the own principal stands in every ACL; without a ticket nothing can be changed, with it everything."""
    bind(ours, "/users/alice/made/below")
    home = ours.registry("POST", "/users", {"user": "carol"}, base="/ws/v1/registry-admin")
    assert home.status in (200, 201), home
    paths = ["", "/users", "/services", "/users/alice/made", "/users/alice/made/below"]
    said = command_line(realm, zk, *(f"getAcl /registry{path}" for path in paths), "getAcl /registry/users/carol",
                        "set /registry/users/alice/made/below x", "create /registry/services/x y",
                        "delete /registry/users/alice/made/below")
    home_acl = acl_text(*ACL, ("sasl", "carol@EXAMPLE.COM", "cdrw"))
    assert said.count(acl_text(*ACL)) == len(paths) + 1 and said.count(home_acl) == 1, said
    for path in ("/registry/users/alice/made/below", "/registry/services/x"):
        assert f"Insufficient permission : {path}" in said, said
    assert ours.registry("GET", "/users/alice/made/below").json["service"] == RECORD

    us = realm.jaas("Client", realm.keytab("registryd/here"), US)
    said = command_line(realm, zk, "create /registry/services/x y", "getAcl /registry/services/x", jaas=us)
    assert "Created /registry/services/x" in said and "Insufficient" not in said, said
    wait_for(lambda: ours.registry("GET", "/services/x").status == 200, "we see it")


def connected(registry):
    return [e for e in registry.registryd.events if e["event"] == "zk_authenticated"]


def test_a_new_connection_authenticates_again_also_while_the_kdc_is_away(realm, zk):
    with Proxy(zk.port) as proxy, Client(realm, proxy.port, "/again", **keytab_option(realm.keytab("registryd/here"))) as r:
        bind(r, "/users/alice/one")
        assert sorted(e["role"] for e in connected(r)) == ["following", "writing"]
        realm.stop_kdc()
        try:
            proxy.cut()
            wait_for(lambda: len(connected(r)) == 4, "both sessions authenticate again")
            bind(r, "/users/alice/one", description="two")
        finally:
            realm.start_kdc()
        assert {e["principal"] for e in connected(r)} == {US}
        assert {e["session"] for e in r.registryd.events if e["event"] == "zk_connected"} == {"new", "resumed"}


def test_a_ticket_is_renewed_before_it_ends(realm, zk):
    realm.principal("short/here", "-maxlife", "3seconds")
    with Client(realm, zk.port, "/short", **keytab_option(realm.keytab("short/here"))) as r:
        logins = wait_for(lambda: next((found for found in [[e for e in r.registryd.events if e["event"] == "zk_login"]]
                                        if len(found) >= 4), None), "both sessions log in again")
        assert all(e["principal"] == "short/here@EXAMPLE.COM" and e["life_s"] <= 3 for e in logins)
        bind(r, "/users/alice/one")


def test_a_credential_cache_of_somebody_else(realm, zk):
    cache = f"FILE:{realm.dir}/cache"
    realm.run("kinit", "-k", "-t", realm.keytab("cached"), "-c", cache, "cached")
    with Client(realm, zk.port, "/cached", env={"KRB5CCNAME": cache}) as r:
        bind(r, "/users/alice/one")
        assert {e["principal"] for e in connected(r)} == {"cached@EXAMPLE.COM"}


def test_a_jaas_file_fills_what_the_options_leave_empty(realm, zk):
    """SE21: what is set is kept."""
    both = realm.keytab("first", "second", file="both.keytab")
    jaas = realm.jaas("Registry", both, "second@EXAMPLE.COM")
    options = {"java.security.auth.login.config": jaas, "hadoop.registry.jaas.context": "Registry",
               "zookeeper.server.principal": "zookeeper/_HOST@EXAMPLE.COM"}
    with Client(realm, zk.port, "/jaas", **options) as r:
        assert {e["principal"] for e in connected(r)} == {"second@EXAMPLE.COM"}
        assert {e["service"] for e in connected(r)} == {SERVER}
    with Client(realm, zk.port, "/jaas2", **options, **{"hadoop.registry.kerberos.principal": "first"}) as r:
        assert {e["principal"] for e in connected(r)} == {"first@EXAMPLE.COM"}


# ---- what does not work says why ----

def ended(realm, options, store="zk://127.0.0.1:1/registry"):
    """registryd that does not start: what it says."""
    daemon = Daemon("registryd", {**SECURE, "hadoop.registry.store": store,
                                  "hadoop.registry.http.address": f"127.0.0.1:{free_port()}", **options}, realm.env).start()
    try:
        code = daemon.process.wait(30)
        wait_for(lambda: daemon.raw, "it says something")
        daemon.stop(code)
        return code, "".join(daemon.raw)
    finally:
        daemon.kill()


def test_a_login_that_cannot_be_ends_the_start(realm):
    keytab = realm.keytab("registryd/here")
    junk = realm.write("junk", "this is no keytab")
    jaas = realm.jaas("Client", keytab, US)
    rows = [
        ({"hadoop.security.authentication": "simple", **keytab_option(keytab)}, ["Kerberos required for secure registry access"]),
        (keytab_option("/nowhere/x.keytab"), ["/nowhere/x.keytab", "does not exist"]),
        (keytab_option(junk), [junk, "no keytab"]),
        ({**keytab_option(keytab), "hadoop.registry.kerberos.principal": "other/here"},
         ["other/here@EXAMPLE.COM", keytab, "klist -k"]),
        ({}, ["no-cache", "kinit", "hadoop.registry.kerberos.keytab"]),
        ({"java.security.auth.login.config": jaas, "hadoop.registry.jaas.context": "Other"}, [jaas, "no entry Other"]),
        ({"java.security.auth.login.config": "/nowhere/jaas"}, ["/nowhere/jaas", "No such file"]),
    ]
    for options, wanted in rows:
        code, said = ended(realm, options)
        assert code == 3 and all(word in json.loads(said.splitlines()[-1]).get("error", said) for word in wanted), (options, said)


@pytest.fixture(scope="module")
def plain_zk():
    """It has no section Server in a JAAS file."""
    with zookeeper.Server(config=PROVIDER) as server:
        yield server


def refused(realm, port, keytab, *words, **more):
    """registryd that runs and cannot get in: it is not ready, and says why."""
    client = Client(realm, port, "/never", **keytab_option(keytab), **more)
    r = client.registry
    try:
        r.registryd.start("registry_stale")
        said = r.registryd.event("registry_stale")["error"]
        assert all(word in said for word in words), said
        answer = wait_for(lambda: next((a for a in [r.registry("GET", "", base="/readyz")] if a.status == 503), None), "not ready")
        assert answer.status == 503
    finally:
        r.__exit__(None, None, None)


def test_a_refusal_names_its_remedy(realm, zk, plain_zk):
    good = realm.keytab("registryd/here")
    refused(realm, plain_zk.port, good, plain_zk.address, "does not do SASL", "SASLAuthenticationProvider")
    refused(realm, zk.port, good, "zookeeper.server.principal", "knows no principal of this ZooKeeper server",
            **{"zookeeper.sasl.client.username": "zk"})
    gone = realm.keytab("gone")
    realm.admin("delprinc -force gone")
    refused(realm, zk.port, gone, "gone@EXAMPLE.COM", "the KDC knows no such principal")
    changed = realm.keytab("changed")
    realm.admin("cpw -randkey changed")
    refused(realm, zk.port, changed, "changed@EXAMPLE.COM", changed, "export the keytab anew")
    realm.keytab("other/127.0.0.1")
    refused(realm, zk.port, good, "refuses our Kerberos ticket", **{"zookeeper.sasl.client.username": "other"})
    realm.stop_kdc()
    try:
        refused(realm, zk.port, good, US, "no KDC answers")
        realm.start_kdc(clock="+1h")
        refused(realm, zk.port, good, US, "clocks", "synchronise them")
    finally:
        realm.stop_kdc()
        realm.start_kdc()
