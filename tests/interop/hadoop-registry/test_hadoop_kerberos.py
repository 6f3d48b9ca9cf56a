"""Hadoop's own registry client and registryd, each with a ticket of its own, on one ZooKeeper."""
import json

import pytest

from harness import Registry, wait_for
from kerberos import realm, zk  # noqa: F401 (fixtures)
from peer import Peer, PeerError

US, THEM = "registryd/here@EXAMPLE.COM", "java/there@EXAMPLE.COM"
SECURE = {"hadoop.registry.secure": "true", "hadoop.registry.client.auth": "kerberos", "hadoop.registry.kerberos.realm": "EXAMPLE.COM",
          "hadoop.registry.system.accounts": "sasl:yarn@, sasl:mapred@"}
CORE_SITE = """<configuration><property><name>hadoop.security.authentication</name><value>kerberos</value></property></configuration>
"""
RECORD = {"type": "JSONServiceRecord", "description": "d", "external": [], "internal": []}


@pytest.fixture(scope="module")
def ours(realm, zk):
    options = {**SECURE, "hadoop.security.authentication": "kerberos", "hadoop.registry.user.accounts": f"sasl:{THEM}",
               "hadoop.registry.kerberos.keytab": realm.keytab("registryd/here"), "hadoop.http.staticuser.user": "yarn"}
    registry = Registry(store=f"zk://{zk.address}/registry", options={"registryd": options})
    registry.registryd.env = realm.env
    with registry as r:
        yield r


@pytest.fixture(scope="module")
def java(realm, zk, ours):
    """It has logged in as THEM: by a JAAS file towards ZooKeeper, by a cache for Hadoop."""
    keytab, cache = realm.keytab("java/there"), f"{realm.dir}/java-cache"
    realm.run("kinit", "-k", "-t", keytab, "-c", cache, "java/there")
    realm.write("core-site.xml", CORE_SITE)
    jvm = [f"-D{k}={v}" for k, v in realm.java(realm.jaas("Client", keytab, THEM)).items()]
    with Peer(zk, jvm=jvm, classpath=f"{realm.dir}:", env={"KRB5CCNAME": cache},
              **SECURE, **{"hadoop.registry.user.accounts": f"sasl:{US}"}) as peer:
        yield peer


def put(ours, path, **more):
    answer = ours.registry("PUT", path, {**RECORD, **more}, query="createParents=true&overwrite=true")
    assert answer.status in (200, 201), answer
    return answer


def test_each_reads_and_writes_what_the_other_made(ours, java):
    put(ours, "/users/alice/ours", description="ours")
    assert json.loads(java("resolve", "/users/alice/ours"))["description"] == "ours"
    java("bind", "/users/alice/theirs", json.dumps({**RECORD, "description": "theirs"}), 0)
    wait_for(lambda: ours.registry("GET", "/users/alice/theirs").status == 200, "we see it")
    put(ours, "/users/alice/theirs", description="again")
    java("bind", "/users/alice/ours", json.dumps({**RECORD, "description": "java"}), 1)
    wait_for(lambda: ours.registry("GET", "/users/alice/ours").json["service"]["description"] == "java", "we see it")
    assert java.cli("resolve", "/users/alice/theirs")[1] == 0


def test_both_write_the_same_acl(ours, java):
    """Entries are the same; each has its own principal last."""
    put(ours, "/users/alice/acl-ours")
    java("bind", "/users/alice/acl-theirs", json.dumps(RECORD), 0)
    common = ["world:anyone 1", "sasl:yarn@EXAMPLE.COM 31", "sasl:mapred@EXAMPLE.COM 31"]
    assert java("acl", "/registry/users/alice/acl-ours").splitlines() == [*common, f"sasl:{THEM} 31", f"sasl:{US} 31"]
    assert java("acl", "/registry/users/alice/acl-theirs").splitlines() == [*common, f"sasl:{US} 31", f"sasl:{THEM} 31"]


def test_what_is_not_theirs_they_may_not_change(realm, zk, ours):
    """A principal that no ACL names reads everything and changes nothing."""
    put(ours, "/users/alice/closed")
    keytab, cache = realm.keytab("mallory"), f"{realm.dir}/mallory-cache"
    realm.run("kinit", "-k", "-t", keytab, "-c", cache, "mallory")
    realm.write("core-site.xml", CORE_SITE)
    jvm = [f"-D{k}={v}" for k, v in realm.java(realm.jaas("Client", keytab, "mallory@EXAMPLE.COM")).items()]
    with Peer(zk, jvm=jvm, classpath=f"{realm.dir}:", env={"KRB5CCNAME": cache}, **SECURE) as mallory:
        assert json.loads(mallory("resolve", "/users/alice/closed")) == RECORD
        for words in (("bind", "/users/alice/closed", json.dumps(RECORD), 1), ("mknode", "/services/x", "false"),
                      ("delete", "/users/alice/closed", "false")):
            with pytest.raises(PeerError) as refused:
                mallory(*words)
            assert refused.value.name == "NoPathPermissionsException", words
