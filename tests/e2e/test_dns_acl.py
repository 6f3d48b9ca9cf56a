"""Who may ask: hadoop.registry.dns.acl and its lists for zones, over UDP, TCP and TLS, and changed while dnsd runs."""
import os
import re
import signal
import subprocess

import pytest

from harness import BIN, DOMAIN, Stack, container, dig_full, free_port, request, wait_for

pytestmark = pytest.mark.sanitize

KEY = "hadoop.registry.dns."
NAME = f"web-0.shop.alice.{DOMAIN}"
OTHER = f"web-0.books.alice.{DOMAIN}"


def put_options(place, **options):
    rows = "".join(f"<property><name>{KEY}{k}</name><value>{v}</value></property>" for k, v in options.items())
    with open(os.path.join(place, "core-site.xml"), "w", encoding="utf-8") as f:
        f.write(f"<configuration>{rows}</configuration>")


@pytest.fixture(name="stack", scope="module")
def the_stack(tmp_path_factory):
    place = tmp_path_factory.mktemp("acl")
    key, certificate = place / "key.pem", place / "cert.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-subj", "/CN=dnsd", "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    put_options(place, acl="127.0.0.1")
    zones = place / "zones"
    zones.mkdir()
    (zones / "pub.test.zone").write_text(f"$TTL 60\n@ IN SOA ns hostmaster 1 3600 600 86400 30\n  IN NS ns\nns A 10.0.0.1\n"
                                         f"www CNAME {NAME}.\n_x._tcp SRV 1 1 80 {NAME}.\n")
    stack = Stack(options={"dnsd": {KEY + "tls.certificate": certificate, KEY + "tls.key": key, KEY + "tls.port": free_port(),
                                    KEY + "zones-dir": zones}})
    stack.dnsd.env = {"HADOOP_CONF_DIR": str(place)}
    stack.place = place
    with stack:
        for service, address in (("shop", "10.0.0.8"), ("books", "10.0.0.9")):
            revision = stack.bind(f"/users/alice/services/yarn-service/{service}/components/ctr-1-{service}",
                                  container("web-0", "web", address))
        stack.sync(revision.headers["Bobbin-Revision"])
        yield stack


def set_acl(stack, **options):
    put_options(stack.place, **options)
    n = sum(e.get("event") == "config_reloaded" for e in stack.dnsd.events)
    stack.dnsd.process.send_signal(signal.SIGHUP)
    wait_for(lambda: sum(e.get("event") == "config_reloaded" for e in stack.dnsd.events) > n, "the configuration is read again")


def ask(stack, source, *words, port=None):
    """Status and extended error of an answer to a client of this address."""
    text = dig_full(port or stack.dns_port, "-b", source, *words)
    ede = re.search(r"EDE: (\d+)", text)
    return re.search(r"status: (\w+)", text).group(1), ede and int(ede.group(1)), "ANSWER: 0" in text


def n_refused(stack):
    text = request(stack.dns_http_port, "GET", "/metrics").body.decode()
    return int(re.search(r"^dns_acl_refused(?:_total)? (\d+)", text, re.M).group(1))


def test_only_clients_of_the_list_are_answered(stack):
    set_acl(stack, acl="127.0.0.1/32, ::1")
    before = n_refused(stack)
    for words in ([], ["+tcp"]):
        assert ask(stack, "127.0.0.1", NAME, *words) == ("NOERROR", None, False)
        for name in (NAME, f"nope.{DOMAIN}", "www.example.com"):
            assert ask(stack, "127.0.0.2", name, *words) == ("REFUSED", 18, True)
    assert n_refused(stack) == before + 6


def test_over_tls_too(stack):
    set_acl(stack, acl="127.0.0.1")
    port = int(stack.dnsd.options[KEY + "tls.port"])
    for source, wanted in (("127.0.0.1", "NOERROR"), ("127.0.0.2", "REFUSED")):
        done = subprocess.run(["kdig", "@127.0.0.1", "-p", str(port), "-b", source, "+tls", NAME], capture_output=True, text=True,
                              check=False)
        assert f"status: {wanted}" in done.stdout, done.stdout + done.stderr


def test_a_zone_has_a_list_of_its_own(stack):
    set_acl(stack, acl="127.0.0.2", **{"acl.zones": f"shop.alice.{DOMAIN}=127.0.0.3; x.example=127.0.0.4"})
    assert ask(stack, "127.0.0.3", NAME)[0] == "NOERROR" and ask(stack, "127.0.0.3", OTHER)[0] == "REFUSED"
    assert ask(stack, "127.0.0.2", NAME)[0] == "REFUSED" and ask(stack, "127.0.0.2", OTHER)[0] == "NOERROR"
    assert ask(stack, "127.0.0.4", NAME)[0] == "REFUSED"


def test_another_name_does_not_lead_to_what_is_hidden(stack):
    set_acl(stack, **{"acl.zones": f"shop.alice.{DOMAIN}=127.0.0.1"})
    for words in ([], ["+tcp"]):
        seen, hidden = (dig_full(stack.dns_port, "-b", source, "www.pub.test", *words) for source in ("127.0.0.1", "127.0.0.2"))
        assert "10.0.0.8" in seen and "EDE" not in seen
        assert "status: NOERROR" in hidden and "EDE: 18" in hidden and "CNAME" in hidden and "10.0.0.8" not in hidden
    seen, hidden = (dig_full(stack.dns_port, "-b", source, "_x._tcp.pub.test", "SRV") for source in ("127.0.0.1", "127.0.0.2"))
    assert "10.0.0.8" in seen and NAME in hidden and "10.0.0.8" not in hidden


def test_lists_change_while_dnsd_runs(stack):
    set_acl(stack, acl="127.0.0.2")
    assert ask(stack, "127.0.0.1", NAME)[0] == "REFUSED" and ask(stack, "127.0.0.2", NAME)[0] == "NOERROR"
    set_acl(stack)
    assert ask(stack, "127.0.0.1", NAME)[0] == "NOERROR" and ask(stack, "127.0.0.9", NAME)[0] == "NOERROR"
    set_acl(stack, acl="127.0.0.1")
    put_options(stack.place, acl="127.0.0.1/99")
    stack.dnsd.process.send_signal(signal.SIGHUP)
    assert "127.0.0.1/99" in str(wait_for(lambda: [e for e in stack.dnsd.events if e.get("event") == "config_error"], "an error"))
    assert ask(stack, "127.0.0.1", NAME)[0] == "NOERROR" and ask(stack, "127.0.0.2", NAME)[0] == "REFUSED", "the old list is in force"


@pytest.mark.parametrize("key, value, reported", [
    ("acl", "127.0.0.0/33", '"127.0.0.0/33" is no network'),
    ("acl", "127.0.0.1,localhost", '"localhost" is no network'),
    ("acl.zones", "dev.test", '"dev.test" is no ZONE=NETWORK,NETWORK'),
    ("acl.zones", "dev.test=::1; DEV.test=::1", "the zone has a list already"),
])
def test_mistakes_are_reported_before_the_start(tmp_path, key, value, reported):
    put_options(tmp_path, **{"domain-name": DOMAIN, key: value})
    done = subprocess.run([os.path.join(BIN, "dnsd"), "-t", "--config", str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 3 and f"core-site.xml:1: {KEY}{key}: " in done.stderr and reported in done.stderr, done
