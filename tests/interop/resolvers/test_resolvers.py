"""Real resolvers in front of dnsd, set up as docs/resolvers.md says: names resolve, follow a change, and come to be.

A resolver must give a name up after the TTL that dnsd gave it, and the absence of a name after the negative TTL.
"""
import os
import pwd
import re
import shutil
import subprocess
import tempfile
import time

import pytest

import harness
from harness import BIN, CHANCE, ROOT, Stack, container, dig, dig_full, end_process, free_port, wait_for

BASE = "/users/alice/services/yarn-service/shop/components"
DOMAIN = "cluster.example"  # as in the document
TTL_S, NEGATIVE_TTL_S = 1, 2
SLACK_S = 3  # resolvers count whole seconds, and a busy machine asks late

# `nobody` stands for everybody else: a name outside our domain is sent to a port where no one is, never to the internet.
UNBOUND = """
server:
  interface: 127.0.0.1
  port: {port}
  directory: "{dir}"
  chroot: ""
  username: ""
  pidfile: "{dir}/pid"
  use-syslog: no
  num-threads: 1
  module-config: "iterator"
remote-control:
  control-enable: no
forward-zone:
  name: "."
  forward-addr: 127.0.0.1@{nobody}
"""
BIND = """
options {{
  directory "{dir}"; pid-file none; session-keyfile "{dir}/session.key";
  listen-on port {port} {{ 127.0.0.1; }}; listen-on-v6 {{ none; }};
  recursion yes; dnssec-validation no;
  forward only; forwarders {{ 127.0.0.1 port {nobody}; }};
}};
controls {{ }};
"""
DNSMASQ = """
port={port}
listen-address=127.0.0.1
bind-interfaces
keep-in-foreground
user=
group=
pid-file={dir}/pid
no-resolv
no-hosts
"""


def documented(language):
    """The block of this language in docs/resolvers.md: domain, reverse zone and port there are ours."""
    with open(os.path.join(ROOT, "docs", "resolvers.md"), encoding="utf-8") as f:
        return re.search(rf"^```{language}\n(.*?)^```$", f.read(), re.M | re.S).group(1)


class Resolver:
    """One daemon with a configuration and a directory of its own; it ends with the `with` block."""

    def __init__(self, command, base, block):
        self.port = free_port()
        self.dir = tempfile.mkdtemp(prefix="bobbin-test-")
        self.conf = os.path.join(self.dir, "conf")
        with open(self.conf, "w", encoding="utf-8") as f:
            f.write(base.format(port=self.port, dir=self.dir, nobody=free_port()) + block)
        self.command = [word.format(conf=self.conf) for word in command]

    def __enter__(self):
        with open(os.path.join(self.dir, "log"), "wb") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log, cwd=self.dir)
        try:
            wait_for(lambda: "status: NOERROR" in dig_full(self.port, "+recurse", DOMAIN, "SOA"), "the resolver answers")
        except AssertionError as error:
            self.__exit__()
            raise AssertionError(f"{error}\n{self.log}") from None
        return self

    def __exit__(self, *_):
        end_process(self.process)
        with open(os.path.join(self.dir, "log"), encoding="utf-8", errors="replace") as f:
            self.log = f.read()
        shutil.rmtree(self.dir)

    def ask(self, *words):
        return dig(self.port, "+recurse", *words)

    def ask_full(self, *words):
        return dig_full(self.port, "+recurse", *words)


UNBOUND_COMMAND = ["/usr/sbin/unbound", "-d", "-c", "{conf}"]
NAMED_COMMAND = ["/usr/sbin/named", "-g", "-4", "-n", "1", "-c", "{conf}"]
RESOLVERS = {
    "unbound-stub": (UNBOUND_COMMAND, UNBOUND, documented("unbound")),
    "unbound-forward": (UNBOUND_COMMAND, UNBOUND, documented("unbound").replace("stub-", "forward-")),
    "bind-forward": (NAMED_COMMAND, BIND, documented("bind")),
    "dnsmasq": (["/usr/sbin/dnsmasq", "-C", "{conf}"], DNSMASQ, documented("dnsmasq")),
}


def dnsd_options(**more):
    return {"dnsd": {"hadoop.registry.dns.domain-name": DOMAIN, "hadoop.registry.dns.zone-subnet": "172.17.0.0/16",
                     "hadoop.registry.dns.dns-ttl": f"{TTL_S}s",
                     "hadoop.registry.dns.negative-ttl": f"{NEGATIVE_TTL_S}s", **more}}


@pytest.fixture(scope="module")
def stack():
    with Stack(options=dnsd_options()) as s:
        yield s


@pytest.fixture(scope="module", params=list(RESOLVERS))
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def resolver(stack, kind):
    command, base, block = RESOLVERS[kind]
    with Resolver(command, base, block.replace("5335", str(stack.dns_port))) as r:
        r.kind = kind
        yield r


def bind(stack, label, address):
    """A container's record that dnsd answers with when this returns."""
    path = f"{BASE}/ctr-{label}"
    stack.sync(stack.bind(path, container(label, "web", address)).headers["Bobbin-Revision"])
    return f"{label}.shop.alice.{DOMAIN}"


def unbind(stack, label):
    stack.sync(stack.registry("DELETE", f"{BASE}/ctr-{label}").headers["Bobbin-Revision"])


def seconds_until(condition, what):
    start = time.monotonic()
    wait_for(condition, what)
    return time.monotonic() - start


def answer_ttls(text, kind):
    return [int(ttl) for ttl in re.findall(rf"^[^;\s]\S*\s+(\d+)\s+IN\s+{kind}\s", text, re.M)]


def test_a_name_and_its_reverse_resolve(stack, resolver):
    name = bind(stack, f"plain-{resolver.kind}", "172.17.1.1")
    assert resolver.ask(name, "A") == ["172.17.1.1"]
    assert resolver.ask("-x", "172.17.1.1") == [f"{name}."]
    ttls = answer_ttls(resolver.ask_full(name, "A"), "A")
    assert len(ttls) == 1 and ttls[0] <= TTL_S
    unbind(stack, f"plain-{resolver.kind}")


def test_a_change_is_followed_after_the_ttl(stack, resolver):
    label = f"moves-{resolver.kind}"
    name = bind(stack, label, "172.17.2.1")
    assert resolver.ask(name) == ["172.17.2.1"] and resolver.ask("-x", "172.17.2.1") == [f"{name}."]
    bind(stack, label, "172.17.2.2")
    assert seconds_until(lambda: resolver.ask(name) == ["172.17.2.2"], "the new address") <= TTL_S + SLACK_S
    assert resolver.ask("-x", "172.17.2.2") == [f"{name}."]
    unbind(stack, label)
    assert seconds_until(lambda: "status: NXDOMAIN" in resolver.ask_full(name), "the name is gone") <= TTL_S + SLACK_S
    wait_for(lambda: resolver.ask("-x", "172.17.2.1") == [], "the old reverse name is gone")


def test_absence_is_kept_no_longer_than_the_negative_ttl(stack, resolver):
    label = f"late-{resolver.kind}"
    name = f"{label}.shop.alice.{DOMAIN}"
    bind(stack, f"stays-{resolver.kind}", "172.17.3.9")  # the service exists, its name does not
    asked = time.monotonic()
    first = resolver.ask_full(name, "A")
    assert "status: NXDOMAIN" in first
    soa = answer_ttls(first, "SOA")
    assert soa and all(ttl <= NEGATIVE_TTL_S for ttl in soa), first
    bind(stack, label, "172.17.3.1")
    again = resolver.ask_full(name, "A")
    if time.monotonic() - asked < NEGATIVE_TTL_S - 1:
        assert "status: NXDOMAIN" in again, "absence is not kept at all: this test shows nothing"
    assert seconds_until(lambda: resolver.ask(name) == ["172.17.3.1"], "the new name") <= NEGATIVE_TTL_S + SLACK_S


def test_absence_of_a_type_and_of_a_reverse_name_too(stack, resolver):
    label = f"typed-{resolver.kind}"
    address = f"172.17.4.{1 + list(RESOLVERS).index(resolver.kind)}"
    assert resolver.ask("-x", address) == []
    name = bind(stack, label, address)
    nodata = resolver.ask_full(name, "AAAA")
    assert "status: NOERROR" in nodata and "ANSWER: 0" in nodata
    assert seconds_until(lambda: resolver.ask("-x", address) == [f"{name}."], "the new reverse name") <= NEGATIVE_TTL_S + SLACK_S


def as_nobody(directory):
    """A program that is dnsd, run as nobody with the one capability; with a data directory `nobody` beside it."""
    data, program, wrapper = (os.path.join(directory, word) for word in ("nobody", "dnsd-copy", "dnsd-as-nobody"))
    os.mkdir(data)
    shutil.chown(data, "nobody")
    shutil.copy(os.path.join(BIN, "dnsd"), program)  # the build may be where nobody cannot look
    with open(wrapper, "w", encoding="utf-8") as f:
        f.write("#!/bin/sh\nexec setpriv --reuid=nobody --clear-groups --inh-caps=-all,+net_bind_service "
                f"--ambient-caps=-all,+net_bind_service -- {program} \"$@\"\n")
    os.chmod(wrapper, 0o755)
    return wrapper


def test_names_outside_are_not_sent_to_dnsd(stack, resolver):
    def n_queries():
        return harness.request(stack.dns_http_port, "GET", "/stats").json["queries"]["udp_queries"]

    before = n_queries()
    subprocess.run(["dig", "@127.0.0.1", "-p", str(resolver.port), "+tries=1", "+timeout=1", "www.example.com"],
                   stdout=subprocess.DEVNULL, check=False)  # nobody is there: some resolvers say so, some go on trying
    assert n_queries() == before


@pytest.mark.skipif(os.getuid() != 0, reason="port 53 and setpriv need root")
def test_dnsd_alone_on_port_53_as_an_ordinary_user_and_bind_before_it():
    """CAP_NET_BIND_SERVICE is all that dnsd needs for port 53; BIND's static-stub needs port 53."""
    address = f"127.{CHANCE.randrange(130, 250)}.{CHANCE.randrange(1, 255)}.53"
    stack = Stack(options=dnsd_options(**{"hadoop.registry.dns.bind-address": address, "hadoop.registry.dns.bind-port": 53}))
    stack.dnsd.name = as_nobody(stack.dir)
    stack.dnsd.options["bobbin.data.dir"] = os.path.join(stack.dir, "nobody")
    with stack:
        with open(f"/proc/{stack.dnsd.process.pid}/status", encoding="utf-8") as f:
            assert re.search(rf"^Uid:\s{pwd.getpwnam('nobody').pw_uid}\s", f.read(), re.M)
        with Resolver(NAMED_COMMAND, BIND, documented("bind-static-stub").replace("10.0.0.53", address)) as resolver:
            name = bind(stack, "low", "172.17.5.1")
            assert resolver.ask(name) == ["172.17.5.1"]
            assert resolver.ask("-x", "172.17.5.1") == [f"{name}."]


N_MANY = 130  # BIND 9.18.28 and later refuses an answer with more than 100 records of a type


def bind_many(stack):
    for i in range(N_MANY):
        answer = stack.bind(f"{BASE}/ctr-many-{i}", container(f"many-{i}", "many", f"172.17.6.{i + 1}"))
    stack.sync(answer.headers["Bobbin-Revision"])
    return f"many.shop.alice.{DOMAIN}"


def test_a_component_of_more_than_a_hundred_instances_resolves(stack, resolver):
    name = bind_many(stack)
    wait_for(lambda: len(resolver.ask(name, "A")) == 100, "as many as BIND accepts")
    assert set(resolver.ask(name, "A")) == set(stack.dig(name, "A")), "the same ones"


def test_without_max_answers_bind_refuses_them():
    """What the default is for."""
    with Stack(options=dnsd_options(**{"hadoop.registry.dns.max-answers": 0})) as stack:
        name = bind_many(stack)
        assert len(stack.dig(name, "A")) == N_MANY
        with Resolver(NAMED_COMMAND, BIND, documented("bind").replace("5335", str(stack.dns_port))) as resolver:
            assert "status: SERVFAIL" in resolver.ask_full(name, "A")
