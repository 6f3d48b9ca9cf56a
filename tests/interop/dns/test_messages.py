"""What only raw bytes can ask: one row, one datagram, one expectation over UDP and over TCP."""
import re

import pytest

import wire
from served import answers
from wire import FORMERR, NOTIMP, REFUSED, Tcp, Udp, header, option, query, question

pytestmark = pytest.mark.sanitize

HOST = "httpd-1.test1.root.bobbin.test"
SOA_Q = question("bobbin.test", wire.SOA)
ZONE_SECTION = question("bobbin.test", wire.SOA)
UPDATE_RR = wire.name("x.bobbin.test") + bytes.fromhex("0001000100000e1000040a060606")

# (what, message, rcode or None: silence, has an OPT in the answer)
ROWS = [
    ("two questions (9619)", header(qd=2) + SOA_Q + SOA_Q, FORMERR, False),
    ("no question (9619)", header(qd=0), FORMERR, False),
    ("no question, OPT without cookie", header(qd=0, ar=1) + wire.opt(), FORMERR, True),
    ("no question, cookie (7873 5.4)", header(qd=0, ar=1) + wire.opt(option(wire.COOKIE, b"abcdefgh")), 0, True),
    ("two OPTs (6891)", header(ar=2) + SOA_Q + wire.opt() + wire.opt(), FORMERR, None),
    ("OPT in the answer section", header(an=1) + SOA_Q + wire.opt(), FORMERR, None),
    ("cookie of 7 octets (7873)", query("bobbin.test", wire.SOA, options=option(wire.COOKIE, b"1234567")), FORMERR, True),
    ("cookie of 15 octets (7873)", query("bobbin.test", wire.SOA, options=option(wire.COOKIE, b"1" * 15)), FORMERR, True),
    ("cookie of 41 octets (7873)", query("bobbin.test", wire.SOA, options=option(wire.COOKIE, b"1" * 41)), FORMERR, True),
    ("option longer than its record", query("bobbin.test", wire.SOA, options=b"\0\3\0\x09abc"), FORMERR, True),
    ("a hundred unknown options", query("bobbin.test", wire.SOA, options=b"".join(option(65000 + i) for i in range(100))), 0, True),
    ("EDNS size 0", query("bobbin.test", wire.SOA, options=b"", size=0), 0, True),
    ("EDNS size 65535", query("bobbin.test", wire.SOA, options=b"", size=65535), 0, True),
    ("EDNS version 255 with unknown option form", header(ar=1) + SOA_Q + wire.opt(b"\0", version=255), 16, True),
    ("opcode UPDATE (2136)", header(flags=5 << 11, ns=1) + ZONE_SECTION + UPDATE_RR, (NOTIMP, REFUSED), False),
    ("opcode UPDATE without a zone", header(flags=5 << 11, qd=0), (NOTIMP, REFUSED), False),
    ("opcode NOTIFY (1996)", header(flags=4 << 11 | 0x400, an=0) + SOA_Q, (NOTIMP, 9), False),
    ("opcode 6, DSO (8490)", header(flags=6 << 11, qd=0), NOTIMP, False),
    ("opcode 15 with a mangled body", header(flags=15 << 11) + b"\xff\xff", NOTIMP, False),
    ("AXFR over UDP or refused", query("bobbin.test", 252), (FORMERR, NOTIMP, REFUSED), False),
    ("IXFR (1995)", header(ns=1) + question("bobbin.test", 251) + wire.name("bobbin.test") + bytes.fromhex("0006000100000000") +
     b"\0\x16" + bytes(22), (NOTIMP, REFUSED), False),
    ("AXFR off the apex", query("root.bobbin.test", 252), (FORMERR, 9), False),
    ("type 0", query(HOST, 0), 0, False),
    ("type 65535", query(HOST, 65535), 0, False),
    ("type OPT as a question", query(HOST, wire.OPT), (NOTIMP, FORMERR, REFUSED), False),
    ("type TKEY", query(HOST, 249), NOTIMP, False),
    ("type MAILB", query(HOST, 253), NOTIMP, False),
    ("class 0", query(HOST, qclass=0), REFUSED, False),
    ("class ANY", query(HOST, qclass=255), REFUSED, False),
    ("class NONE", query(HOST, qclass=254), REFUSED, False),
    ("TC set in the query", query(HOST, flags=0x200), 0, False),
    ("rcode set in the query", query(HOST, flags=5), 0, False),
    ("AA, RA, Z, AD, CD set in the query", query(HOST, flags=0x04F0), 0, False),
    ("octets after the end", query(HOST) + b"garbage", 0, False),
    ("additional record that is no OPT", header(ar=1) + question(HOST) + b"\0\0\1\0\1\0\0\0\0\0\4abcd", 0, False),
    ("root question", query("."), REFUSED, False),
    ("longest name", query(".".join(["a" * 63] * 3 + ["b" * 47, "bobbin", "test"])), 3, False),
]


def check(answer, message, rcode, has_opt):
    assert answer.is_response, "QR is 0"
    assert answer.bytes[:2] == message[:2], "another id"
    assert answer.opcode == message[2] >> 3 & 15
    assert answer.rcode in (rcode if isinstance(rcode, tuple) else (rcode,))
    assert has_opt is None or (answer.edns is not None) == has_opt
    assert answer.flags & 0x00F0 == 0, "RA, Z, AD or CD is set"


@pytest.mark.parametrize("message, rcode, has_opt", [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_row(served, udp, message, rcode, has_opt):
    check(udp.ask(message), message, rcode, has_opt)
    with Tcp(served.dns_port) as tcp:
        check(tcp.ask(message), message, rcode, has_opt)
    answers(served)


@pytest.mark.parametrize("size, limit", [(None, 512), (0, 512), (511, 512), (512, 512), (1000, 1000), (1232, 1232), (4096, 1232), (65535, 1232)])
@pytest.mark.parametrize("component", ["big", "huge"])
def test_udp_answers_keep_to_the_size(udp, component, size, limit):
    message = query(f"{component}.test1.root.bobbin.test", options=None if size is None else b"", size=size or 0)
    answer = udp.ask(message)
    assert answer.size <= limit and answer.is_truncated and not answer.records[0]
    assert (answer.edns is None) == (size is None)


@pytest.mark.parametrize("name, n", [("httpd.test1.root.bobbin.test", 2), ("multi.zone.example", 2), ("big.test1.root.bobbin.test", 200)])
def test_each_address_comes_first_in_turn(served, name, n):
    """Clients that take the first address are spread over all; the set itself is always the same."""
    firsts, sets = set(), set()
    with Tcp(served.dns_port) as client:
        for i in range(2 * n):
            addresses = [record[3] for record in client.ask(query(name, id=i)).records[0]]
            firsts.add(addresses[0])
            sets.add(frozenset(addresses))
    assert len(firsts) == n and len(sets) == 1


@pytest.mark.parametrize("bits", range(0, 32, 3))
def test_the_question_comes_back_as_it_was(udp, bits):
    """0x20: clients compare every octet of the question."""
    text = "httpd-1.test1.root.bobbin.test"
    mixed = "".join(c.upper() if c.isalpha() and (i * 7 + bits) % 3 == 0 else c for i, c in enumerate(text))
    answer = udp.ask(query(mixed, id=bits + 1))
    assert answer.question == mixed + "." and answer.id == bits + 1
    assert answer.records[0][0][0] == mixed + "."


def test_names_past_the_reach_of_a_pointer(served):
    """Beyond octet 16383 no name can be pointed to: a set of that size is still right."""
    with Tcp(served.dns_port) as tcp:
        answer = tcp.ask(query("names.large.example", 12))
    assert answer.size > 20000 and len(answer.records[0]) == 1500
    targets = {wire.read_name(answer.bytes, at)[0] for at in answer.rdata_at}
    assert targets == {f"host-{i}.some.where.else.large.example." for i in range(1, 1501)}


def test_srv_targets_are_not_compressed(udp):
    """RFC 2782: old resolvers do not read a pointer there."""
    answer = udp.ask(query("app.root.bobbin.test", 33, options=b""))
    assert [record[3][6:] for record in answer.records[0]] == [wire.name("app.root.bobbin.test")]
    assert [record[:2] for record in answer.records[2]] == [("app.root.bobbin.test.", wire.A)]


def test_each_server_cookie_is_for_one_address(served):
    with Udp(served.dns_port, source="127.0.0.1") as one, Udp(served.dns_port, source="127.0.0.2") as two:
        ask = query("bobbin.test", wire.SOA, options=option(wire.COOKIE, b"abcdefgh"))
        first, second = one.ask(ask).options[wire.COOKIE], two.ask(ask).options[wire.COOKIE]
    assert first[:8] == second[:8] == b"abcdefgh" and len(first) == len(second) == 24
    assert first[8:12] == b"\1\0\0\0" and first[16:] != second[16:]


def test_nsid_is_exactly_what_is_configured(udp):
    assert udp.ask(query("bobbin.test", wire.SOA, options=option(wire.NSID))).options[wire.NSID] == b"node-seven"


def test_every_option_at_once_with_the_longest_name(udp):
    text = ".".join(["a" * 63] * 3 + ["b" * 47, "bobbin", "test"])
    options = option(wire.NSID) + option(wire.COOKIE, b"abcdefgh") + option(wire.KEEPALIVE) + option(wire.PADDING, bytes(9))
    answer = udp.ask(query(text, options=options, size=512))
    assert answer.size <= 512 and answer.rcode == 3 and set(answer.options) == {wire.NSID, wire.COOKIE}


def test_version_is_reported_once(udp):
    answer = udp.ask(query("version.bind", wire.TXT, qclass=3))
    assert re.fullmatch(rb".Bobbin dnsd \d+\.\d+\.\d+", answer.records[0][0][3], re.S)
