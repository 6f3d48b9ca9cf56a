"""What test_resolved.py runs in namespaces: dnsd on its documented port, systemd-resolved before it."""
import pytest

import harness
import resolved
from harness import Stack, wait_for
from test_resolvers import (DOMAIN, NEGATIVE_TTL_S, SLACK_S, TTL_S, answer_ttls, bind, dnsd_options, documented, seconds_until,
                            unbind)

DOCUMENTED_PORT = 5335


@pytest.fixture(scope="module")
def stack():
    resolved.furnish()
    with Stack(options=dnsd_options(**{"hadoop.registry.dns.bind-port": DOCUMENTED_PORT})) as s:
        s.dns_port = DOCUMENTED_PORT
        yield s


@pytest.fixture(scope="module")
def resolver(stack):
    with resolved.Resolved(documented("resolved")) as r:
        yield r


def test_a_name_and_its_reverse_resolve(stack, resolver):
    name = bind(stack, "plain", "172.17.1.1")
    assert resolver.ask(name, "A") == ["172.17.1.1"]
    assert resolver.ask("-x", "172.17.1.1") == [f"{name}."]
    ttls = answer_ttls(resolver.ask_full(name, "A"), "A")
    assert len(ttls) == 1 and ttls[0] <= TTL_S


def test_a_change_is_followed_after_the_ttl(stack, resolver):
    name = bind(stack, "moves", "172.17.2.1")
    assert resolver.ask(name) == ["172.17.2.1"] and resolver.ask("-x", "172.17.2.1") == [f"{name}."]
    bind(stack, "moves", "172.17.2.2")
    assert seconds_until(lambda: resolver.ask(name) == ["172.17.2.2"], "the new address") <= TTL_S + SLACK_S
    unbind(stack, "moves")
    assert seconds_until(lambda: "status: NXDOMAIN" in resolver.ask_full(name), "the name is gone") <= TTL_S + SLACK_S


def test_absence_is_kept_no_longer_than_the_negative_ttl(stack, resolver):
    name = f"late.shop.alice.{DOMAIN}"
    bind(stack, "stays", "172.17.3.9")
    assert "status: NXDOMAIN" in resolver.ask_full(name, "A")
    bind(stack, "late", "172.17.3.1")
    assert seconds_until(lambda: resolver.ask(name) == ["172.17.3.1"], "the new name") <= NEGATIVE_TTL_S + SLACK_S


def test_other_names_are_refused_by_dnsd(stack, resolver):
    def n_refused():
        return harness.request(stack.dns_http_port, "GET", "/stats").json["queries"]["refused"]

    before = n_refused()
    assert "status: NOERROR" not in resolver.ask_full("www.example.com", "A")
    wait_for(lambda: n_refused() > before, "dnsd was asked, too, and refused")
