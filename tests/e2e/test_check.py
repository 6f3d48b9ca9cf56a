"""-t refuses what a start refuses, in the same words, and touches nothing; what is open to other hosts is named."""
import os
import re
import subprocess

import pytest

from harness import BIN, Daemon, free_port

DNS = {"hadoop.registry.dns.domain-name": "bobbin.test", "hadoop.registry.dns.bind-port": 0}
SECURE = {"hadoop.registry.secure": "true", "hadoop.registry.kerberos.realm": "EXAMPLE.COM"}
ON_YARN = {"yarn.service.cluster": "yarn", "yarn.resourcemanager.hostname": "rm"}
RM = {"hadoop.registry.rm.enabled": "true", "yarn.resourcemanager.ha.enabled": "true"}

# (daemon, options, the key that the error names, words of the error)
WRONG = [
    ("registryd", {"hadoop.registry.store": "foo"}, "hadoop.registry.store", "zk://"),
    ("registryd", {"hadoop.registry.store": "file:"}, "hadoop.registry.store", "file:DIR"),
    ("registryd", {"hadoop.registry.store": "zk://h:99999/registry"}, "hadoop.registry.store", "h:99999"),
    ("registryd", {"hadoop.registry.store": "zk://h//registry"}, "hadoop.registry.store", "path"),
    ("registryd", {"hadoop.registry.zk.quorum": "h:port"}, "hadoop.registry.zk.quorum", "h:port"),
    ("registryd", {"hadoop.registry.store": "zk://h/r", "hadoop.registry.zk.follow.quorum": "h:x"},
     "hadoop.registry.zk.follow.quorum", "h:x"),
    ("registryd", {"hadoop.registry.zk.quorum": "h" * 254}, "hadoop.registry.zk.quorum", "no host"),
    ("registryd", {"hadoop.registry.client.auth": "foo"}, "hadoop.registry.client.auth", '"foo"'),
    ("registryd", {"hadoop.registry.secure": "true"}, "hadoop.registry.system.accounts", "realm"),
    ("registryd", {**SECURE, "hadoop.registry.system.accounts": " "}, "hadoop.registry.system.accounts", "Missing value"),
    ("registryd", {**SECURE, "hadoop.registry.system.accounts": "yarn"}, "hadoop.registry.system.accounts", "yarn"),
    ("registryd", {**SECURE, "hadoop.registry.client.auth": "digest"}, "hadoop.registry.client.auth.id", "Missing value"),
    ("registryd", {**SECURE, "hadoop.registry.client.auth": "digest", "hadoop.registry.client.auth.id": "a"},
     "hadoop.registry.client.auth.password", "Missing value"),
    ("registryd", {**SECURE, "hadoop.registry.client.auth": "digest", "hadoop.registry.client.auth.id": "a",
                   "hadoop.registry.client.auth.password": "b"}, "hadoop.registry.user.accounts", "No user for ACLs"),
    ("registryd", {**SECURE, "hadoop.registry.client.auth": "kerberos"}, "hadoop.registry.client.auth", "hadoop.security.authentication"),
    ("registryd", {**SECURE, "hadoop.registry.client.auth": "kerberos", "hadoop.security.authentication": "kerberos",
                   "java.security.auth.login.config": "/nonexistent/jaas"}, "hadoop.registry.kerberos.principal", "/nonexistent/jaas"),
    ("registryd", {**SECURE, "hadoop.registry.client.auth": "kerberos", "hadoop.security.authentication": "kerberos",
                   "hadoop.registry.kerberos.keytab": "/nonexistent/keytab"}, "hadoop.registry.kerberos.principal", "/nonexistent/keytab"),
    ("registryd", {"hadoop.registry.lease.min-ttl": "2m", "hadoop.registry.lease.max-ttl": "1m"}, "hadoop.registry.lease.min-ttl", "max-ttl"),
    ("registryd", RM, "yarn.resourcemanager.ha.rm-ids", "no id"),
    ("registryd", {**RM, "yarn.resourcemanager.ha.rm-ids": "rm1"}, "yarn.resourcemanager.ha.rm-ids", "rm1"),
    ("registryd", {"hadoop.registry.http.address": "0.0.0.0:0"}, "hadoop.registry.http.address", "allow-remote"),
    ("dnsd", {"hadoop.registry.dns.domain-name": None}, "hadoop.registry.dns.domain-name", "not set"),
    ("dnsd", {"hadoop.registry.dns.acl": "10.0.0.0/33"}, "hadoop.registry.dns.acl", "10.0.0.0/33"),
    ("dnsd", {"hadoop.registry.dns.acl.zones": "a.test"}, "hadoop.registry.dns.acl.zones", "ZONE=NETWORK"),
    ("dnsd", {"hadoop.registry.dns.dnstap.socket": "tap.sock"}, "hadoop.registry.dns.dnstap.socket", "absolute path"),
    ("dnsd", {"hadoop.registry.dns.domain-name": "a..b"}, "hadoop.registry.dns.domain-name", "a..b"),
    ("dnsd", {"hadoop.registry.dns.domain-name": ".".join(["x" * 60] * 4) + ".abcdefg"}, "hadoop.registry.dns.domain-name", "too long"),
    ("dnsd", {"hadoop.registry.dns.soa.mname": "a..b"}, "hadoop.registry.dns.soa.mname", "a..b"),
    ("dnsd", {"hadoop.registry.dns.soa.rname": "a..b"}, "hadoop.registry.dns.soa.rname", "a..b"),
    ("dnsd", {"hadoop.registry.dns.ns": "ns.example,a..b"}, "hadoop.registry.dns.ns", "a..b"),
    ("dnsd", {"hadoop.registry.dns.zone-subnet": "172.17.0.0/99"}, "hadoop.registry.dns.zone-subnet", "172.17.0.0/99"),
    ("dnsd", {"hadoop.registry.dns.zone-subnet": "172.17.0", "hadoop.registry.dns.split-reverse-zone": "true"},
     "hadoop.registry.dns.split-reverse-zone-range", "not set"),
    ("dnsd", {"hadoop.registry.dns.bind-address": "localhost"}, "hadoop.registry.dns.bind-address", "localhost"),
    ("dnsd", {"hadoop.registry.dns.bind-address": "127.0.0.1,127.0.0.1"}, "hadoop.registry.dns.bind-address", "same as 127.0.0.1"),
    ("dnsd", {"hadoop.registry.dns.bind-address": "0.0.0.0,127.0.0.1"}, "hadoop.registry.dns.bind-address", "same as 127.0.0.1"),
    ("dnsd", {"hadoop.registry.dns.bind-address": ",".join(f"127.0.0.{i}" for i in range(1, 19))},
     "hadoop.registry.dns.bind-address", "more than 16"),
    ("dnsd", {"hadoop.registry.dns.tls.key": "/nonexistent/key"}, "hadoop.registry.dns.tls.key", "tls.certificate"),
    ("dnsd", {"hadoop.registry.dns.tls.key": "/nonexistent/key", "hadoop.registry.dns.tls.certificate": "/nonexistent/cert"},
     "hadoop.registry.dns.tls.certificate", "/nonexistent/cert"),
    ("dnsd", {"hadoop.registry.dns.cookies.secret-file": "/nonexistent/secrets"}, "hadoop.registry.dns.cookies.secret-file",
     "/nonexistent/secrets"),
    ("dnsd", {"hadoop.registry.dns.rrl.exempt": "10.0.0.0/x"}, "hadoop.registry.dns.rrl.exempt", "10.0.0.0/x"),
    ("dnsd", {"hadoop.registry.dns.acl": "ten"}, "hadoop.registry.dns.acl", "ten"),
    ("dnsd", {"hadoop.registry.dns.acl.zones": "a.test"}, "hadoop.registry.dns.acl.zones", "a.test"),
    ("dnsd", {"hadoop.registry.dns.forward.acl": "ten"}, "hadoop.registry.dns.forward.acl", "ten"),
    ("dnsd", {"hadoop.registry.dns.upstreams": "ten:53"}, "hadoop.registry.dns.upstreams", "ten:53"),
    ("dnsd", {"hadoop.registry.dns.upstreams": "127.0.0.1:5353", "hadoop.registry.dns.bind-port": 5353},
     "hadoop.registry.dns.upstreams", "itself"),
    ("dnsd", {"hadoop.registry.dns.fallthrough.zones": "a..b"}, "hadoop.registry.dns.fallthrough.zones", "a..b"),
    ("dnsd", {"hadoop.registry.dns.api-cname": "true"}, "hadoop.registry.dns.api-cname", "compat"),
    ("dnsd", {"hadoop.registry.dns.ttl.web": "soon"}, "hadoop.registry.dns.ttl.web", "soon"),
    ("dnsd", {"hadoop.registry.dns.dnssec.enabled": "true"}, "hadoop.registry.dns.dnssec.enabled", "signed zones"),
    ("dnsd", {"hadoop.registry.url": "registry:9192"}, "hadoop.registry.url", "http://"),
    ("dnsd", {"hadoop.registry.dns.http.address": "0.0.0.0:0"}, "hadoop.registry.dns.http.address", "allow-remote"),
    ("svcmgr", {"yarn.service.state.store": "foo"}, "yarn.service.state.store", "zk://"),
    ("svcmgr", ON_YARN, "yarn.service.state.store", "set zk://"),
    ("svcmgr", {**ON_YARN, "yarn.service.state.store": "file:/nonexistent/state"}, "yarn.service.state.store", "set zk://"),
    ("svcmgr", {"yarn.service.cluster": "yarn", "yarn.service.state.store": "zk://127.0.0.1:1/state"}, "yarn.resourcemanager.hostname",
     "neither"),
    ("svcmgr", {**ON_YARN, "yarn.service.state.store": "zk://127.0.0.1:1/state", "yarn.service.base.path": "hdfs:///services"},
     "yarn.service.base.path", "names no NameNode"),
    ("svcmgr", {**ON_YARN, "yarn.service.state.store": "zk://127.0.0.1:1/state", "yarn.resourcemanager.ha.enabled": "true"},
     "yarn.resourcemanager.ha.rm-ids", "no id"),
    ("svcmgr", {**ON_YARN, "yarn.service.state.store": "zk://127.0.0.1:1/state", "hadoop.rpc.protection": "privacy"},
     "hadoop.rpc.protection", "privacy alone is not supported"),
    ("svcmgr", {"yarn.resourcemanager.placement-constraints.handler": "other"}, "yarn.resourcemanager.placement-constraints.handler",
     "placement-processor"),
    ("svcmgr", {**ON_YARN, "yarn.service.state.store": "zk://127.0.0.1:1/state", "yarn.service.base.path": "hdfs:///services"},
     "yarn.service.base.path", "names no NameNode"),
    ("svcmgr", {**ON_YARN, "yarn.service.state.store": "zk://127.0.0.1:1/state", "yarn.resourcemanager.address": "rm:x"},
     "yarn.resourcemanager.address", "rm:x"),
    ("svcmgr", {"hadoop.registry.url": "ftp://h"}, "hadoop.registry.url", "http://"),
    ("svcmgr", {"yarn.service.local.container-shim": "/nonexistent/shim"}, "yarn.service.local.container-shim", "/nonexistent/shim"),
    ("svcmgr", {"yarn.service.local.source-dirs": "etc"}, "yarn.service.local.source-dirs", "etc"),
    ("svcmgr", {"yarn.service.local.user-range": "7"}, "yarn.service.local.user-range", ""),
    ("svcmgr", {"yarn.service.local.addresses": "127.77.0.0"}, "yarn.service.local.addresses", "127.77.0.0"),
    ("svcmgr", {"yarn.service.local.devices.yarn.io/gpu": "/dev/zero"}, "yarn.service.local.devices.yarn.io/gpu", "resource-type"),
    ("svcmgr", {"yarn.service.local.devices.yarn.io/gpu": "dev/zero", "yarn.nodemanager.resource-type.yarn.io/gpu": "1"},
     "yarn.service.local.devices.yarn.io/gpu", "absolute paths"),
    ("svcmgr", {"yarn.service.cluster": "sim", "yarn.service.sim.script": "nodes 5; end exit=300"}, "yarn.service.sim.script", "exit=300"),
    ("svcmgr", {"yarn.service.api-server.address": "0.0.0.0:0"}, "yarn.service.api-server.address", "allow-remote"),
]


def words(options):
    return [w for k, v in options.items() if v is not None for w in ("-D", f"{k}={v}")]


def common(name, directory):
    """Options with which the daemon starts."""
    address = {"registryd": "hadoop.registry.http.address", "dnsd": "hadoop.registry.dns.http.address",
               "svcmgr": "yarn.service.api-server.address"}[name]
    return {"bobbin.data.dir": os.path.join(directory, "data"), address: "127.0.0.1:0", **(DNS if name == "dnsd" else {})}


def check(name, options, *more):
    return subprocess.run([os.path.join(BIN, name), "-t", *more, *words(options)], capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("name, options, key, text", WRONG, ids=lambda v: "" if isinstance(v, dict) else str(v)[:40])
def test_the_check_refuses_what_a_start_refuses(name, options, key, text, tmp_path):
    options = {**common(name, tmp_path), **options}
    checked = check(name, options)
    assert checked.returncode == 3 and checked.stdout == "", checked
    [line] = [line for line in checked.stderr.splitlines() if not line.startswith("warning: ")]
    assert re.match(rf"(-D: )?{re.escape(key)}: ", line) and text in line, line
    daemon = Daemon(name, {k: v for k, v in options.items() if v is not None}).start()
    assert daemon.process.wait(60) == 3, daemon.raw
    assert [e["error"] for e in daemon.events if e["event"] == "config_error"] == [line]
    assert os.listdir(tmp_path) == [], "nothing is made"


def test_all_errors_of_all_parts_at_once(tmp_path):
    with open(tmp_path / "core-site.xml", "w", encoding="utf-8") as f:
        f.write("<configuration>\n<property><name>hadoop.registry.dns.bind-port</name><value>70000</value></property>\n"
                "<property><name>hadoop.registry.dns.ns</name><value>a..b</value></property>\n"
                "<property><name>hadoop.registry.url</name><value>here</value></property>\n</configuration>\n")
    checked = check("dnsd", {"hadoop.registry.dns.domain-name": "bobbin.test"}, "--config", str(tmp_path))
    places = [re.match(r".*/core-site.xml:(\d): ([^ ]*): ", line).groups() for line in checked.stderr.splitlines()]
    assert places == [("2", "hadoop.registry.dns.bind-port"), ("3", "hadoop.registry.dns.ns"), ("4", "hadoop.registry.url")]


@pytest.mark.parametrize("name, address, allow, words_of_it", [
    ("registryd", "hadoop.registry.http.address", "hadoop.registry.http.allow-remote", "delete records"),
    ("dnsd", "hadoop.registry.dns.http.address", "hadoop.registry.dns.http.allow-remote", "read all names"),
    ("svcmgr", "yarn.service.api-server.address", "yarn.service.api-server.allow-remote", "run programs"),
])
def test_what_is_open_to_other_hosts_is_named(name, address, allow, words_of_it, tmp_path):
    where = f"0.0.0.0:{free_port()}"
    options = {**common(name, tmp_path), address: where, allow: "true", "hadoop.registry.url": f"http://127.0.0.1:{free_port()}"}
    checked = check(name, options)
    assert checked.returncode == 0 and checked.stdout == "configuration is fine\n"
    assert re.fullmatch(rf"warning: -D: {re.escape(allow)}: .*{re.escape(where)} can .*{words_of_it}.*\n", checked.stderr), checked.stderr
    daemon = Daemon(name, options).start("config_warning")
    try:
        warned = daemon.event("config_warning")
        assert f"warning: {warned['warning']}\n" == checked.stderr and warned["level"] == "warn"
    finally:
        daemon.stop()
    assert check(name, {**options, address: "127.0.0.1:0"}).stderr == "", "loopback is open to nobody else"


def test_a_default_file_system_that_cannot_be_found_is_named(tmp_path):
    """Its keys are read from hdfs-site.xml, too."""
    def site(*rows):
        text = "".join(f"<property><name>{key}</name><value>{value}</value></property>\n" for key, value in rows)
        (tmp_path / "hdfs-site.xml").write_text(f"<configuration>\n{text}</configuration>\n", encoding="utf-8")
        return check("svcmgr", common("svcmgr", tmp_path), "--config", str(tmp_path))

    rows = [("fs.defaultFS", "hdfs://ns"), ("dfs.nameservices", "ns"), ("dfs.ha.namenodes.ns", "a")]
    checked = site(*rows)
    assert (checked.returncode, checked.stdout) == (0, "configuration is fine\n")
    assert checked.stderr == (f"warning: {tmp_path}/hdfs-site.xml:2: fs.defaultFS: hdfs://ns/: where its NameNode is does not follow from the "
                              "configuration: dfs.namenode.http-address.ns.a is not set.\n")
    assert site(*rows, ("dfs.namenode.http-address.ns.a", "host:9870")).stderr == ""
