"""One dnsd with the records that the questions of this folder are about."""
import os
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from harness import Stack, container, free_port  # noqa: E402
from wire import Udp, query  # noqa: E402

BASE = "/users/root/services/yarn-service/test1"
WILD = """$TTL 300
@ SOA ns hostmaster 7 3600 600 86400 30
@ NS ns
ns A 127.0.0.1
*.wild A 10.0.0.1
a.exists.wild A 10.0.0.2
sub NS ns1.sub
sub NS ns2.sub
ns1.sub A 10.0.0.53
ns2.sub A 10.0.0.54
old DNAME new
x.new A 10.0.0.3
new A 10.0.0.4
chain CNAME gone
multi 60 A 10.0.1.1
multi 60 A 10.0.1.2
odd TYPE65400 \\# 3 010203
"""
CLASSLESS = """$TTL 300
@ SOA ns.zone.example. hostmaster.zone.example. 7 3600 600 86400 30
@ NS ns.zone.example.
9 CNAME 9.8/29
9.8/29 PTR nine.zone.example.
"""


def certificate(directory, name):
    """A key and a self-signed certificate."""
    key, cert = os.path.join(directory, "tls.key"), os.path.join(directory, "tls.crt")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-subj", f"/CN={name}", "-keyout", key, "-out", cert], check=True, capture_output=True)
    return cert, key


@pytest.fixture(scope="package")
def served(tmp_path_factory):
    directory = str(tmp_path_factory.mktemp("dns"))
    zones = os.path.join(directory, "zones")
    os.mkdir(zones)
    for name, text in (("zone.example", WILD), ("0.0.10.in-addr.arpa", CLASSLESS)):
        with open(os.path.join(zones, f"{name}.zone"), "w", encoding="utf-8") as f:
            f.write(text)
    cert, key = certificate(directory, "one.dns.test")
    tls_port = free_port()
    options = {"hadoop.registry.dns.zones-dir": zones, "hadoop.registry.dns.tls.certificate": cert,
               "hadoop.registry.dns.tls.key": key, "hadoop.registry.dns.tls.port": tls_port,
               "hadoop.registry.dns.identity": "node-seven", "hadoop.registry.dns.dns-ttl": "30s"}
    with Stack(options={"dnsd": options}) as stack:
        stack.tls_port, stack.tls_dir = tls_port, directory
        stack.bind(f"{BASE}/components/ctr-e50-1-1-1-2", container("httpd-1", "httpd", "127.77.0.19"))
        stack.bind(f"{BASE}/components/ctr-e50-1-1-1-3", container("httpd-2", "httpd", "127.77.0.20"))
        stack.bind(f"{BASE}/components/ctr-e50-1-1-1-4", container("twin-1", "twin", "127.77.0.21"))
        stack.bind(f"{BASE}/components/ctr-e50-1-1-1-5", container("twin-2", "twin", "127.77.0.21"))
        stack.bind("/users/root/services/yarn-service/app", APPLICATION)
        for i in range(200):
            stack.bind(f"{BASE}/components/ctr-e50-1-1-2-{i}", container(f"big-{i}", "big", f"127.77.7.{i + 1}"))
        for i in range(300):
            stack.bind(f"{BASE}/components/ctr-e50-1-1-3-{i}", container(f"huge-{i}", "huge", f"127.77.{8 + i // 200}.{i % 200}"))
        stack.sync_all()
        yield stack


APPLICATION = {"type": "JSONServiceRecord", "description": "an application", "internal": [], "external": [
    {"api": "http://", "addressType": "uri", "protocolType": "webui", "addresses": [{"uri": "http://127.77.3.3:8088/ui"}]}],
    "yarn:id": "application_1_2", "yarn:persistence": "application"}


def answers(stack):
    """Every UDP worker answers a good question: the kernel spreads client ports over them."""
    for _ in range(16):
        with Udp(stack.dns_port) as client:
            answer = client.ask(query("httpd-1.test1.root.bobbin.test"))
            assert answer.rcode == 0 and [record[3] for record in answer.records[0]] == [bytes([127, 77, 0, 19])]


@pytest.fixture
def udp(served):
    with Udp(served.dns_port) as client:
        yield client
