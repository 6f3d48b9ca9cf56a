"""What README's "By hand" says of dnsd: its subnet fits svcmgr's addresses, and its data directory is its own."""
import ipaddress
import os
import re
import subprocess

import pytest

from harness import BIN, DOMAIN, PATIENCE, Daemon, Stack, container, free_port

pytestmark = pytest.mark.sanitize

README = os.path.join(os.path.dirname(__file__), "..", "..", "README.md")


def test_the_subnet_of_the_readme_has_ptr_of_svcmgr_s_addresses():
    with open(README, encoding="utf-8") as f:
        subnet = re.search(r"dnsd .*zone-subnet=(\S+)", f.read()).group(1)
    defaults = subprocess.run([os.path.join(BIN, "svcmgr"), "--show-defaults"], capture_output=True, text=True, timeout=PATIENCE, check=True).stdout
    addresses = ipaddress.ip_network(re.search(r"yarn\.service\.local\.addresses\s*=?\s*(\S+)", defaults).group(1))
    assert addresses.subnet_of(ipaddress.ip_network(subnet)), (addresses, subnet)
    with Stack(options={"dnsd": {"hadoop.registry.dns.zone-subnet": subnet}}) as stack:
        for name, ip in (("first", addresses[1]), ("last", addresses[-2])):
            stack.bind(f"/users/alice/services/yarn-service/app/components/ctr-{name}", container(name, "web", str(ip)))
            stack.sync_all()
            assert stack.dig("-x", str(ip)) == [f"{name}.app.alice.{DOMAIN}."]


def test_a_second_dnsd_on_one_data_directory_is_refused():
    with Stack() as stack:
        owner = stack.dnsd.process.pid
        second = Daemon("dnsd", {**stack.dnsd.options, "hadoop.registry.dns.bind-port": free_port(),
                                 "hadoop.registry.dns.http.address": f"127.0.0.1:{free_port()}"})
        failed = second.start().event("daemon_start_failed")
        assert f"the data directory is in use by process {owner}; give each dnsd its own bobbin.data.dir" in failed["error"]
        assert failed["where"] == f"{stack.dir}/dnsd"
        assert second.process.wait(PATIENCE) != 0
        assert stack.dig(DOMAIN, "SOA"), "the first one answers on"
        stack.dnsd.kill()
        stack.dnsd.start("feed_synced")  # nothing of the lock is left behind
