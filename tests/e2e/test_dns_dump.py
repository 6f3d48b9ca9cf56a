"""`bobbin dns dump` of a registry with hostile names and texts is a master file: every checker reads it, and reads what we meant."""
import os
import random
import re
import subprocess

import pytest

from harness import BIN, DOMAIN, PATIENCE, Stack, container, request

BASE = "/users/alice/services/yarn-service"
ODD = '"\\;()@$. \t\'`~^#%&*+,/:<=>?[]{|}!_-az09é\x7f\x01'
N_RECORDS = 150


def word(rng, letters, longest):
    return "".join(rng.choice(letters) for _ in range(rng.randint(1, longest)))


def odd_records(rng):
    """Names with every octet that means something in a master file, and texts with any character."""
    for i in range(N_RECORDS):
        record = container(word(rng, ODD, 20), word(rng, ODD, 12), f"127.77.4.{i + 1}", id=word(rng, ODD + "äΩ漢\n\r", 40))
        record["external"] = [{"api": "http://" + word(rng, 'a"b', 5), "addressType": "uri", "protocolType": "tcp",
                               "addresses": [{"uri": f"http://127.77.4.{i + 1}:{8000 + i}/"}]}]
        yield f"{BASE}/s{i % 3}/components/ctr-{i}", record
    yield f"{BASE}/quoted/components/ctr-q", container('say "hi"', "@", "127.77.5.1", id='a "quoted\\" id')
    yield f"{BASE}/dollar/components/ctr-d", container("$origin", "$ttl", "127.77.5.2")


def unescaped(escape):
    octet = bytes([int(escape[1])]) if len(escape[1]) == 3 else escape[1]
    return rb"\." if octet == b"." else octet


def line_key(line):
    """A line of any printer as octets: owner, type and fields with escapes undone; an escaped dot stays one."""
    token = re.compile(rb'"((?:[^"\\]|\\.)*)"|((?:[^\s"\\]|\\.)+)', re.S)
    return tuple(re.sub(rb"\\(\d{3}|.)", unescaped, m[1] if m[2] is None else m[2], flags=re.S) for m in token.finditer(line))


def records(text):
    """Everything but the SOA, whose layout and serial differ."""
    keys = set()
    for line in text.split(b"\n"):
        line = re.sub(rb"^((?:[^\s\\]|\\.)+)\s+(\d+)\s+IN\s+", rb"\1 \2 ", line)
        if line.strip() and not re.match(rb"[;$]|\s*;", line) and not re.search(rb"^\S+ \d+ SOA\s", line):
            keys.add(line_key(line))
    return keys


def printed(*command):
    done = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, (command, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


def dump(stack):
    return printed(os.path.join(BIN, "bobbin"), "dns", "dump", DOMAIN, "--url", f"http://127.0.0.1:{stack.dns_http_port}")


@pytest.fixture(scope="module")
def dumped(tmp_path_factory):
    with Stack() as stack:
        for path, record in odd_records(random.Random(11)):
            stack.bind(path, record)
        stack.sync_all()
        path = tmp_path_factory.mktemp("dump") / f"{DOMAIN}.zone"
        path.write_bytes(dump(stack))
        return path


def test_each_checker_reads_the_dump(dumped):
    ours = records(dumped.read_bytes())
    assert len(ours) > 3 * N_RECORDS
    assert rb"say\032\034hi\034.quoted" in dumped.read_bytes()
    bind = printed("named-compilezone", "-q", "-k", "ignore", "-i", "none", "-s", "full", "-o", "-", DOMAIN, dumped)
    assert records(bind) == ours
    printed("kzonecheck", "-o", DOMAIN, dumped)
    assert printed("ldns-read-zone", dumped).count(b"\n") == dumped.read_bytes().count(b"\n"), "its own lines have bare quotes"


def test_our_own_server_serves_the_dump(dumped):
    """As a master file of a server that has another domain: its dump is the same."""
    with Stack(options={"dnsd": {"hadoop.registry.dns.zones-dir": str(dumped.parent), "hadoop.registry.dns.domain-name": "other.test"}}) as stack:
        assert [z["error"] for z in request(stack.dns_http_port, "GET", "/zones").json["zones"] if "error" in z] == []
        assert records(dump(stack)) == records(dumped.read_bytes())
