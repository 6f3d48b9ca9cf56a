"""The primary and the name servers of the generated zones: each resolves in the zone, or is outside it."""
import os
import subprocess

import pytest

from harness import BIN, DOMAIN, PATIENCE, Stack, request

pytestmark = pytest.mark.sanitize

REVERSE = "77.127.in-addr.arpa"


def primary(stack, zone):
    return stack.dig(zone, "SOA")[0].split()[0]


def checked(stack, tmp_path):
    """BIND's checker, which refuses a name server of the zone that has no address."""
    path = tmp_path / "dump"
    path.write_bytes(request(stack.dns_http_port, "GET", f"/dump?zone={DOMAIN}").body)
    done = subprocess.run(["named-checkzone", "-i", "local", DOMAIN, path], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done


def on_host(name):
    """A stack whose dnsd runs on a host of this name."""
    stack = Stack()
    wrapper = os.path.join(stack.dir, "dnsd-elsewhere")
    with open(wrapper, "w", encoding="utf-8") as f:
        f.write(f"#!/bin/sh\nexec unshare --uts sh -c 'hostname {name} && exec \"$@\"' sh {BIN}/dnsd \"$@\"\n")
    os.chmod(wrapper, 0o755)
    stack.dnsd.name = wrapper
    return stack


@pytest.mark.skipif(os.getuid() != 0, reason="another host name needs root")
@pytest.mark.parametrize("host, name", [("one-label", f"ns.{DOMAIN}."), ("a.b.example", "a.b.example."), ("localhost.localdomain", f"ns.{DOMAIN}."),
                                        (f"here.{DOMAIN}", f"here.{DOMAIN}.")])
def test_the_default_is_the_canonical_name_of_the_host(tmp_path, host, name):
    with on_host(host) as stack:
        for zone in (DOMAIN, REVERSE):
            assert primary(stack, zone) == name and stack.dig(zone, "NS") == [name]
        assert stack.dig(name, "A") == (["127.0.0.1"] if name.endswith(f"{DOMAIN}.") else [])
        checked(stack, tmp_path)


def test_each_name_server_of_the_options_that_is_in_the_zone_has_an_address(tmp_path):
    options = {"hadoop.registry.dns.soa.mname": f"primary.{DOMAIN}", "hadoop.registry.dns.ns": f"a.ns.{DOMAIN},b.example.com",
               "hadoop.registry.dns.bind-address": "0.0.0.0"}
    with Stack(options={"dnsd": options}) as stack:
        assert primary(stack, DOMAIN) == f"primary.{DOMAIN}." and sorted(stack.dig(DOMAIN, "NS")) == [f"a.ns.{DOMAIN}.", "b.example.com."]
        found = stack.dig(f"primary.{DOMAIN}", "A")
        assert found and found == stack.dig(f"a.ns.{DOMAIN}", "A") and "0.0.0.0" not in found
        checked(stack, tmp_path)
