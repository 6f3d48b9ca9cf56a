"""Hadoop's own RegistryDNS beside dnsd in compat mode, on one ZooKeeper: `bobbin dns shadow` compares them, and the contract's
rows are asked of the original.

What differs is what the contract lists as the original's defects, each with its reason here, and nothing else.
"""
import json
import os
import socket
import subprocess
import threading

import pytest

import zookeeper
from dns_names import APP, APP_PATH, COMPAT, D, GROUPS, ID2, ID3, MAPPED, P2, P3, S, container
from harness import BIN, Stack, dig, dig_full, free_port, wait_for
from peer import Peer, PeerError
from test_dns_names import check, key_of

NAMES = "/users/root/services/org-apache-slider/named"
SETTINGS = {key_of(key): value for key, value in {**COMPAT, "domain-name": D, "soa.mname": "ns.example.com"}.items()}
NAMED = {"type": "JSONServiceRecord", "description": "an application on a host that has a name", "internal": [], "external": [
    {"api": "http://", "addressType": "uri", "protocolType": "webui", "addresses": [{"uri": "http://localhost:8088/ui"}]}],
    "yarn:id": "application_1_2", "yarn:persistence": "application"}


@pytest.fixture(scope="module")
def nobody():
    """Address of a name server for which no name exists: nothing of these tests goes to the internet."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))

        def serve():
            while True:
                message, client = server.recvfrom(4096)
                if not message:
                    return
                end = message.index(0, 12) + 5
                server.sendto(message[:2] + b"\x81\x83\0\1\0\0\0\0\0\0" + message[12:end], client)

        thread = threading.Thread(target=serve)
        thread.start()
        yield "127.0.0.1:%d" % server.getsockname()[1]
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.sendto(b"", server.getsockname())
        thread.join()


@pytest.fixture(scope="module")
def zk():
    with zookeeper.Server() as server:
        yield server


@pytest.fixture(scope="module")
def stack(zk):
    options = {"dnsd": SETTINGS, "registryd": {"hadoop.registry.path.names": "zookeeper"}}
    with Stack(store=f"zk://{zk.address}/registry", options=options) as s:
        yield s


@pytest.fixture(scope="module")
def java(zk, stack):
    with Peer(zk) as peer:
        yield peer


class Original:
    """RegistryDNS on a port of its own: `dns-server`, which follows ZooKeeper, or `dns-names`, which gets records."""

    def __init__(self, java, form, nobody, **settings):
        self.java, self.port = java, free_port()
        used = {**SETTINGS, **settings, "hadoop.registry.dns.bind-address": "127.0.0.1",
                "hadoop.registry.dns.bind-port": self.port, "dns.server": nobody}
        java(form, *(f"{key}={value}" for key, value in used.items()))
        self.bound = {}

    def apply(self, records):
        """Only of `dns-names`."""
        for path, record in records.items():
            if record is None:
                self.java("dns-delete", path, self.bound.pop(path))
            else:
                self.bound[path] = json.dumps(record)
                self.java("dns-register", path, self.bound[path])


@pytest.fixture(scope="module")
def original(zk, java, nobody):
    return Original(java, "dns-server", nobody, **{"hadoop.registry.zk.quorum": zk.address})


def shadow_once(stack, original, zones, options):
    done = subprocess.run([os.path.join(BIN, "bobbin"), "dns", "shadow", "-o", "json", *options, f"127.0.0.1:{original.port}", *zones,
                           "-D", f"hadoop.registry.dns.http.address=127.0.0.1:{stack.dns_http_port}",
                           "-D", f"hadoop.registry.dns.bind-port={stack.dns_port}"],
                          capture_output=True, text=True, check=False, timeout=60)
    if done.returncode not in (0, 1):
        assert "did not answer" in done.stderr, done
        return None
    is_silent = any(d[side]["rcode"] == "no answer" for d in json.loads(done.stdout)["differences"] for side in ("here", "there"))
    return None if is_silent else (json.loads(done.stdout), done.returncode)


def shadow(stack, original, *zones, options=()):
    """What `bobbin dns shadow` reports, and its exit code; asked again when a busy machine made a server late."""
    return wait_for(lambda: shadow_once(stack, original, zones, options), "both answer every question")


def until(original, name, wanted):
    wait_for(lambda: dig(original.port, name) == wanted, f"the original answers {wanted} for {name}")


HAS_IPV6_LOCALHOST = any(a[0] == socket.AF_INET6 for a in socket.getaddrinfo("localhost", None))


@pytest.fixture(scope="module")
def bound(stack, java, original):
    """Records bound by Java and by us in turn, answered by both servers."""
    web = "/users/john.doe/services/yarn-service/web"
    records = {NAMES: NAMED, P2: container(), P3: container(3, "172.17.0.20"),
               f"{APP_PATH}/components/ctr-4": container(4, "172.17.0.21", "other", description="Other-1"),
               f"{APP_PATH}/components/ctr-5": container(5, "10.1.2.3", description="far-1", yarn_hostname=None),
               web: {**NAMED, "external": []}, f"{web}/components/ctr-6": container(6, "172.17.0.22", "web")}
    for i, (path, record) in enumerate(records.items()):
        if i % 2:
            stack.bind(path, record)
        else:
            java("mknode", path.rpartition("/")[0], "true")
            java("bind", path, json.dumps(record), 0)
    stack.sync_all()
    for name, address in ((f"named.root.{D}", "127.0.0.1"), (f"{ID2}.{D}", "172.17.0.19"), (f"{ID3}.{D}", "172.17.0.20"),
                          (f"other-1.{S}", "172.17.0.21"), (f"far-1.{S}", "10.1.2.3"),
                          (f"httpd-5.web.john.doe.{D}", "172.17.0.22")):
        until(original, name, [address])
        wait_for(lambda: stack.dig(name) == [address], f"we answer {address} for {name}")
    return records


def differences(report):
    return {(d["name"], d["type"]): (d["here"], d["there"]) for d in report["differences"]}


def test_shadow_finds_no_difference(stack, original, bound):
    report, code = shadow(stack, original, options=["--ttl"])
    left = differences(report)
    if HAS_IPV6_LOCALHOST:  # a real IPv6 address: the original has none
        left.pop((f"named.root.{D}", "AAAA"), None)
        left.pop((f"http-api.named.root.{D}", "AAAA"), None)
    assert left == {} and (code == 0 or HAS_IPV6_LOCALHOST), report
    assert report["names"] == 21 and report["questions"] > 60, report
    # The original gives its zones to everybody.
    given = {t["zone"]: t["result"] for t in report["transfers"]}
    assert given[D] == "done" and all(t["names"] == 0 for t in report["transfers"]), report


def test_shadow_shows_the_defects_that_the_contract_lists(stack, java, original, bound):
    stack.bind(APP_PATH, APP)
    java("bind", P2, json.dumps(container(ip="172.17.0.30")), 1)
    stack.sync_all()
    wait_for(lambda: stack.dig(f"httpd-1.{S}") == ["172.17.0.30"], "we answer the new address")
    until(original, S, ["192.168.1.5"])
    until(original, f"httpd-1.{S}", ["172.17.0.19", "172.17.0.30"])
    report, code = shadow(stack, original, D)
    left = differences(report)
    assert code == 1
    # 10.2.3: the literal's octets are a name that does not exist; ours is one that has the address.
    for owner in (S, f"appmaster-ipc-api.{S}", f"http-api.{S}", f"management-api.{S}"):
        here, there = left.pop((owner, "SRV"))
        assert all(r.endswith(f" {S}") for r in here["records"]) and here["records"], here
        assert [r.replace(" 192.168.1.5.", f" {S}") for r in there["records"]] == here["records"], there
    # 1.8: the old address stays.
    for owner in (f"httpd-1.{S}", f"{ID2}.{D}", f"httpd.{S}"):
        for kind, prefix in (("A", ""), ("AAAA", "::ffff:")):
            here, there = left.pop((owner, kind))
            stale = f"{owner} {kind} {prefix}172.17.0.19"
            assert sorted(there["records"]) == sorted([*here["records"], stale]), there
    left = {key: value for key, value in left.items() if not HAS_IPV6_LOCALHOST or key[1] != "AAAA"}
    assert left == {}, left


# ---- the contract's rows ----

# What the original answers instead, with the part of the contract that says so. None: the same.
NOTHING = "NXDOMAIN"
ORIGINAL = {
    ("1 testAppRegistration", "appmaster-ipc-api", "SRV"): [f"appmaster-ipc-api.{S} SRV 1 1 1026 192.168.1.5."],  # 10.2.3
    ("1 testAppRegistration", "http-api", "SRV"): [f"http-api.{S} SRV 1 1 1027 192.168.1.5."],
    ("2, 4, 5, 8, 9, 10 one container", "root", "A"): NOTHING,  # 2.5: an empty non-terminal
    ("Example F, update: no old data stays", "19", "PTR"): [f"19.0.17.172.in-addr.arpa. PTR httpd-1.{S}"],  # 1.8
    ("1.7 first endpoint without host: the next one's", "test1", "A"): [f"{S} A 127.0.0.1"],
    ("1.7 first endpoint without host: the next one's", "test1", "SRV"): [f"{S} SRV 1 1 1 null.", f"{S} SRV 1 1 2 10.0.0.2."],
    ("1.7 IPv6 host", "test1", "AAAA"): NOTHING,  # 1.7: the whole record fails
    ("1.7 IPv6 host", "test1", "A"): NOTHING,
    ("1.7 IPv6 host", "test1", "SRV"): NOTHING,
    ("10.2.2 real IPv6 beside IPv4 in compat: the real one only", "httpd", "AAAA"): [f"httpd.{S} AAAA {MAPPED}"],  # 1.7
    ("10.2.8 service-level name, compat: none", "web", "A"): NOTHING,  # 2.5
}
# Rows whose records the original refuses as a whole (1.7), and the one answer without SOA (4.5).
REFUSED = ("Example H, IPv6", "1.7 unknown api prefix", "1.7 IPv6 host",
           "10.2.2 real IPv6 beside IPv4 in compat: the real one only")
WITHOUT_SOA = ("19.1.17.172.in-addr.arpa.", "PTR")
ROWS = [g for g in GROUPS if g["options"].get("mode") == "compat" and g.get("asks") and "wait" not in g]


@pytest.mark.parametrize("group", ROWS, ids=[g["name"] for g in ROWS])
def test_rows_of_the_contract(java, nobody, tmp_path, group):
    settings = {key_of(key): value for key, value in group["options"].items()}
    if "files" in group:
        settings["hadoop.registry.dns.zones-dir"] = tmp_path
    for name, text in group.get("files", {}).items():
        (tmp_path / name).write_text(text)
    original = Original(java, "dns-names", nobody, **settings)
    for records in group.get("steps") or [group["records"]]:
        try:
            original.apply(records)
        except PeerError:
            assert group["name"] in REFUSED
    for name, kind, wanted in group["asks"]:
        wanted = ORIGINAL.get((group["name"], name.partition(".")[0], kind), wanted)
        if (name, kind) == WITHOUT_SOA:
            assert f"status: {wanted}" in dig_full(original.port, name, kind)
        else:
            check(original.port, name, kind, wanted)
