"""One dnsd with the records that the questions of this folder are about."""
import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from harness import Stack, container, free_port  # noqa: E402
from served import APPLICATION, APPLICATION_6, BASE, CLASSLESS, LARGE, WILD, certificate, has_ipv6  # noqa: E402
from wire import Udp  # noqa: E402

@pytest.fixture(scope="package")
def served(tmp_path_factory):
    directory = str(tmp_path_factory.mktemp("dns"))
    zones = os.path.join(directory, "zones")
    os.mkdir(zones)
    for name, text in (("zone.example", WILD), ("0.0.10.in-addr.arpa", CLASSLESS), ("large.example", LARGE)):
        with open(os.path.join(zones, f"{name}.zone"), "w", encoding="utf-8") as f:
            f.write(text)
    cert, key = certificate(directory, "one.dns.test")
    tls_port = free_port()
    options = {"hadoop.registry.dns.zones-dir": zones, "hadoop.registry.dns.max-answers": 0, "hadoop.registry.dns.tls.certificate": cert,
               "hadoop.registry.dns.tls.key": key, "hadoop.registry.dns.tls.port": tls_port,
               "hadoop.registry.dns.identity": "node-seven", "hadoop.registry.dns.reverse-subnets": "fd00:5::/32",
               "hadoop.registry.dns.bind-address": "127.0.0.1,::1" if has_ipv6() else "127.0.0.1",
               "hadoop.registry.dns.dns-ttl": "30s"}
    with Stack(options={"dnsd": options}) as stack:
        stack.tls_port, stack.tls_dir = tls_port, directory
        stack.bind(f"{BASE}/components/ctr-e50-1-1-1-2", container("httpd-1", "httpd", "127.77.0.19"))
        stack.bind(f"{BASE}/components/ctr-e50-1-1-1-3", container("httpd-2", "httpd", "127.77.0.20"))
        stack.bind(f"{BASE}/components/ctr-e50-1-1-1-4", container("twin-1", "twin", "127.77.0.21"))
        stack.bind(f"{BASE}/components/ctr-e50-1-1-1-5", container("twin-2", "twin", "127.77.0.21"))
        stack.bind(f"{BASE}/components/ctr-e50-1-1-1-6", container("six-1", "six", "fd00:5::13"))
        stack.bind("/users/root/services/yarn-service/app", APPLICATION)
        stack.bind("/users/root/services/yarn-service/app6", APPLICATION_6)
        for i in range(200):
            stack.bind(f"{BASE}/components/ctr-e50-1-1-2-{i}", container(f"big-{i}", "big", f"127.77.7.{i + 1}"))
        for i in range(300):
            stack.bind(f"{BASE}/components/ctr-e50-1-1-3-{i}", container(f"huge-{i}", "huge", f"127.77.{8 + i // 200}.{i % 200}"))
        stack.sync_all()
        yield stack


@pytest.fixture
def udp(served):
    with Udp(served.dns_port) as client:
        yield client
