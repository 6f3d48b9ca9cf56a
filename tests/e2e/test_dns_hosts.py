"""Records that name hosts: dnsd asks again, and what has changed since is what it answers."""
import os
import subprocess

import pytest

import harness
from harness import DOMAIN, Stack, container, dig_full, wait_for

pytestmark = pytest.mark.sanitize

BASE = "/users/alice/services/yarn-service/shop"
APP = f"shop.alice.{DOMAIN}"
AS_ROOT = [] if os.geteuid() == 0 else ["-r"]
MOUNT = 'mount --bind "$1" /etc/hosts && mount --bind "$2" /etc/nsswitch.conf && shift 2 && exec "$@"'


class Hosts:
    """An /etc/hosts that only dnsd sees, and beside which it asks no name server."""

    def __init__(self, directory):
        self.path, self.switch = str(directory / "hosts"), str(directory / "nsswitch.conf")
        (directory / "nsswitch.conf").write_text("hosts: files\n")
        (directory / "hosts").write_text("127.0.0.1 localhost\n")

    def command(self, *words):
        return ["unshare", *AS_ROOT, "-m", "sh", "-c", MOUNT, "sh", self.path, self.switch, *words]

    def write(self, **addresses):
        """In place: a mounted file cannot be renamed away."""
        with open(self.path, "r+", encoding="utf-8") as f:
            f.truncate()
            f.write("".join(f"{address} {name}.hosts.test\n" for name, found in addresses.items() for address in found))


@pytest.fixture(scope="module")
def hosts(tmp_path_factory):
    h = Hosts(tmp_path_factory.mktemp("hosts"))
    if subprocess.run(h.command("true"), capture_output=True, check=False).returncode:
        pytest.skip("no mount namespace can be made here")
    return h


def mounted(hosts, directory, **options):
    """A stack whose dnsd sees these hosts."""
    script = directory / "dnsd"
    words = " ".join(f"'{word}'" for word in hosts.command(os.path.join(harness.BIN, "dnsd")))
    script.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    script.chmod(0o755)
    stack = Stack(options={"dnsd": {f"hadoop.registry.dns.{key}": value for key, value in {"host-refresh": "1s", **options}.items()}})
    stack.dnsd.name = str(script)
    return stack


@pytest.fixture(scope="module")
def stack(hosts, tmp_path_factory):
    with mounted(hosts, tmp_path_factory.mktemp("bin")) as s:
        yield s


def application(host):
    return {"type": "JSONServiceRecord", "internal": [], "yarn:persistence": "application", "external": [
        {"api": "http://", "addressType": "uri", "protocolType": "webui", "addresses": [{"uri": f"http://{host}:8088/ui"}]}]}


def test_a_host_that_moves(stack, hosts):
    hosts.write(moving=["127.77.1.1"])
    stack.bind(f"{BASE}/components/ctr-1", container("web-0", "web", "moving.hosts.test"))
    stack.bind(BASE, application("moving.hosts.test"))
    names = (f"web-0.{APP}", f"web.{APP}", f"ctr-1.{DOMAIN}", f"http-api.{APP}")
    for name in names:
        wait_for(lambda: stack.dig(name) == ["127.77.1.1"], f"{name} has the host's address")
    wait_for(lambda: stack.dig("-x", "127.77.1.1") == [f"web-0.{APP}."], "so has the address its name")

    hosts.write(moving=["127.77.1.2", "fd00::2"])
    for name in names:
        wait_for(lambda: stack.dig(name) == ["127.77.1.2"], f"{name} has the new one, and no longer the old one")
    wait_for(lambda: stack.dig(names[1], "AAAA") == ["fd00::2"], "IPv6 too")
    assert "status: NXDOMAIN" in dig_full(stack.dns_port, "-x", "127.77.1.1")
    assert stack.dig("-x", "127.77.1.2") == [f"web-0.{APP}."]

    answer = stack.registry("DELETE", f"{BASE}/components/ctr-1")
    stack.sync(answer.headers["Bobbin-Revision"])
    assert "status: NXDOMAIN" in dig_full(stack.dns_port, names[0]), "what was installed last is what goes"
    assert "status: NXDOMAIN" in dig_full(stack.dns_port, "-x", "127.77.1.2")


def test_a_host_that_is_unknown_and_then_known(stack, hosts):
    """The rest of the record is there at once; addresses come with the first answer, and go with the last."""
    base, app = "/users/alice/services/yarn-service/late", f"late.alice.{DOMAIN}"
    hosts.write()
    stack.sync(stack.bind(base, application("late.hosts.test")).headers["Bobbin-Revision"])
    assert stack.dig(app, "SRV") == ["1 1 8088 late.hosts.test."] and stack.dig(app, "TXT") == ['"api=http" "path=/ui"']
    assert stack.dig(app) == []
    hosts.write(late=["127.77.1.5"])
    wait_for(lambda: stack.dig(app) == ["127.77.1.5"], "the host is known now")
    hosts.write()
    wait_for(lambda: stack.dig(app) == [], "the host is gone")
    assert stack.dig(app, "SRV") == ["1 1 8088 late.hosts.test."]


def test_a_host_of_several_addresses(stack, hosts, tmp_path):
    """compat mode answers the first, as RegistryDNS does, strict all of them."""
    base, app = "/users/alice/services/yarn-service/many", f"many.alice.{DOMAIN}"
    hosts.write(many=["127.77.1.6", "127.77.1.7"])
    stack.bind(base, application("many.hosts.test"))
    wait_for(lambda: stack.dig(app) == ["127.77.1.6", "127.77.1.7"], "both addresses are answered")
    with mounted(hosts, tmp_path, mode="compat") as compat:
        compat.bind(base, application("many.hosts.test"))
        wait_for(lambda: compat.dig(app), "the host is known")
        assert compat.dig(app) in (["127.77.1.6"], ["127.77.1.7"])


def test_a_resolver_that_fails_is_said_once(hosts, tmp_path):
    """No name server: what the file does not have cannot be resolved, and that is no answer."""
    directory = tmp_path / "etc"
    directory.mkdir()
    own = Hosts(directory)
    (directory / "nsswitch.conf").write_text("hosts: files dns\n")
    (directory / "resolv.conf").write_text("nameserver 127.77.254.254\noptions timeout:1 attempts:1\n")
    command = own.command
    own.command = lambda *words: command("sh", "-c", 'mount --bind "$1" /etc/resolv.conf && shift && exec "$@"', "sh",
                                         str(directory / "resolv.conf"), *words)
    if subprocess.run(own.command("true"), capture_output=True, check=False).returncode:
        pytest.skip("/etc/resolv.conf cannot be replaced here")

    def readyz():
        return harness.request(stack.dns_http_port, "GET", "/readyz").body.decode()

    with mounted(own, tmp_path) as stack:
        for i in range(2):
            stack.bind(f"{BASE}/components/ctr-{i}", container(f"web-{i}", "web", f"n{i}.hosts.test"))
        lost = stack.dnsd.event("hosts_lost")
        assert lost["url"].endswith(".hosts.test") and lost["error"]
        wait_for(lambda: "host-resolver is missing: n" in readyz(), "/readyz names the host")
        assert readyz().startswith("ready\n")
        own.write(n0=["127.77.9.1"], n1=["127.77.9.2"])
        stack.dnsd.event("hosts_back")
        wait_for(lambda: stack.dig(f"web-1.{APP}") == ["127.77.9.2"], "the addresses are answered")
        assert readyz() == "ready\n"
        assert [e["event"] for e in stack.dnsd.events if e["event"].startswith("hosts_")] == ["hosts_lost", "hosts_back"]


def test_a_host_that_moves_while_its_record_is_held(hosts, tmp_path):
    """Its names change with its addresses; all that it has then are marked, and go with it."""
    def is_held(*words):
        return "its removal is held" in dig_full(stack.dns_port, *words)

    hosts.write(held=["127.77.1.8"])
    with mounted(hosts, tmp_path, **{"guard.min": "1", "guard.share": "1"}) as stack:
        path = f"{BASE}/components/ctr-1"
        stack.bind(path, container("web-0", "web", "held.hosts.test"))
        wait_for(lambda: stack.dig("-x", "127.77.1.8") == [f"web-0.{APP}."], "the address has its name")
        stack.sync(stack.registry("DELETE", path).headers["Bobbin-Revision"])
        assert is_held("-x", "127.77.1.8") and is_held(f"web.{APP}")
        hosts.write(held=["127.77.1.9"])
        wait_for(lambda: stack.dig(f"web.{APP}") == ["127.77.1.9"], "the host's new address is answered")
        assert is_held("-x", "127.77.1.9") and is_held(f"web.{APP}") and not is_held("-x", "127.77.1.8")
        assert harness.request(stack.dns_http_port, "POST", "/release").json == {"released": 1}
        for name in (("-x", "127.77.1.9"), (f"web.{APP}",)):
            assert "status: NXDOMAIN" in dig_full(stack.dns_port, *name)
