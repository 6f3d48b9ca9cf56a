"""Every row of registry_operations*.tsv through REST and through the C API, on the embedded store and on a real ZooKeeper."""
import re

import pytest

import zookeeper
from harness import STORES, Registry, store_url, wait_for
from operations import Case, Library, Rest, empty, read_rows

RECORDS, CASES = read_rows("registry_operations.tsv")
DNS_RECORDS, DNS_CASES = read_rows("registry_operations_dns.tsv")
WHO = {"r": Rest, "c": Library}


def make(kind, names):
    with store_url(kind) as url:
        with Registry(store=url, options={"registryd": {"hadoop.registry.path.names": names}}) as registry:
            library = Library(registry)
            try:
                yield {"r": Rest(registry), "c": library}
            finally:
                library.close()


@pytest.fixture(scope="module", params=STORES)
def laxer(request):
    yield from make(request.param, "zookeeper")


@pytest.fixture(scope="module", params=STORES)
def strict(request):
    yield from make(request.param, "dns")


def run(who, records, case):
    empty(who)
    Case(records, who).run(case[2])


def rows(cases):
    return [pytest.param(w, case, id=f"{w}-{case[0]}") for case in cases for w in case[1] if w in WHO]


@pytest.mark.parametrize("who,case", rows(CASES))
def test_operation(laxer, who, case):
    run(laxer[who], RECORDS, case)


@pytest.mark.parametrize("who,case", rows(DNS_CASES))
def test_operation_with_dns_names(strict, who, case):
    run(strict[who], DNS_RECORDS, case)


@pytest.fixture(scope="module")
def zk():
    with zookeeper.Server() as server:
        yield server


def test_a_root_without_parent_is_reported(zk):
    """AD7: the root is made, its parents are not; registryd says so and is not ready."""
    registry = Registry(store=f"zk://{zk.address}/no/parent")
    try:
        registry.registryd.start()
        event = registry.registryd.event("registry_setup_failed")
        assert event["error"].startswith("path not found"), event
        answer = registry.registry("GET", "", base="/readyz")
        assert answer.status == 503, answer
    finally:
        registry.__exit__(None, None, None)


def test_roots_as_people_write_them(zk):
    """Section 1.1: with or without slashes and blanks around it is the same root; "/" shows the whole tree of ZooKeeper."""
    def at(root):
        return Registry(store="auto", options={"registryd": {"hadoop.registry.zk.quorum": f" {zk.address} ", "hadoop.registry.zk.root": root}})
    with at("written") as registry:
        registry.bind("/users/seen", RECORDS["MINIMAL"])
    for root in ("/written", "/written/", " /written "):
        with at(root) as registry:
            assert registry.registry("GET", "/users").json["nodes"] == ["seen"], root
    with at("/") as registry:
        assert {"written", "zookeeper"} <= set(registry.registry("GET", "/").json["nodes"])
        assert registry.registry("GET", "/written/users/seen").json["service"]


def failed_tries(registry):
    """How often the standard nodes could not be made."""
    text = registry.registry("GET", "", base="/metrics").body.decode()
    return int(re.search(r"^registry_setup_failed_total (\d+)$", text, re.M).group(1))


def test_a_zookeeper_that_knows_no_sasl_ids_is_reported():
    """Section 6.5: without its SASL provider ZooKeeper refuses every ACL with such an id. It is tried each second and said each minute."""
    options = {"hadoop.registry.secure": "true", "hadoop.registry.kerberos.realm": "R", "hadoop.registry.client.auth": "digest",
               "hadoop.registry.client.auth.id": "id", "hadoop.registry.client.auth.password": "pass",
               "hadoop.registry.user.accounts": "sasl:bob@"}
    with zookeeper.Server() as zk:
        registry = Registry(store=f"zk://{zk.address}/secure", options={"registryd": options})
        try:
            registry.registryd.start("registry_setup_failed")
            assert "SASLAuthenticationProvider" in registry.registryd.event("registry_setup_failed")["error"]
            wait_for(lambda: failed_tries(registry) >= 3, "three tries")
            said = [e for e in registry.registryd.events if e["event"] == "registry_setup_failed"]
            assert len(said) < 3, said
        finally:
            registry.__exit__(None, None, None)
