"""Random and mutated datagrams at a live server: it goes on, and what it sends is well-formed.

BOBBIN_FUZZ_PACKETS says how many (100 000; `./dev fuzz packets` a million), BOBBIN_FUZZ_SEED repeats a run. Leaks show at the end of the sanitized build.
"""
import os
import random
import socket
import time

import pytest

import wire
from served import answers
from wire import Answer, Tcp, Udp, header, option, query, question

pytestmark = pytest.mark.sanitize

N_PACKETS = int(os.environ.get("BOBBIN_FUZZ_PACKETS", "100000"))
SEED = int(os.environ.get("BOBBIN_FUZZ_SEED", time.time_ns() % 2**32))
BATCH = 50
BARRIER = 0xBABA
HOST = "httpd-1.test1.root.bobbin.test"
EVERYTHING = option(wire.NSID) + option(wire.COOKIE, b"abcdefgh" + b"\1\0\0\0" * 4) + option(wire.KEEPALIVE) + option(wire.PADDING, bytes(5))
GOOD = [
    query(HOST), query(HOST, wire.ANY, options=b""), query("nope.bobbin.test", options=EVERYTHING),
    query("x.old.zone.example", options=b"", size=4096), query("host.sub.zone.example", options=b""),
    query("x.wild.zone.example"), query("version.bind", wire.TXT, qclass=3), query("1.0.0.10.in-addr.arpa", 12),
    query("big.test1.root.bobbin.test", options=b"", size=65535), query("app.root.bobbin.test", 33, options=EVERYTHING),
    query("bobbin.test", 252), query("chain.zone.example"), query("9.0.0.10.in-addr.arpa", 12, options=b""),
    header(flags=5 << 11, ns=1) + question("bobbin.test", wire.SOA) + question("x.bobbin.test") + bytes(6),
    header(qd=0, ar=1) + wire.opt(option(wire.COOKIE, b"abcdefgh")),
]


def mutate(rng):
    """A good message with a few octets changed, cut, doubled or put in."""
    message = bytearray(rng.choice(GOOD))
    for _ in range(rng.randint(1, 4)):
        at, kind = rng.randrange(len(message) + 1), rng.randrange(5)
        if kind == 0 and at < len(message):
            message[at] = rng.choice((0, 1, 0x3F, 0x40, 0x80, 0xC0, 0xFF, rng.randrange(256)))
        elif kind == 1 and at < len(message):
            message[at] ^= 1 << rng.randrange(8)
        elif kind == 2:
            del message[at:]
        elif kind == 3:
            message[at:at] = message[at:at + rng.randrange(40)]
        else:
            message[at:at] = rng.randbytes(rng.randrange(1, 20))
    return bytes(message)


def garbage(rng):
    return rng.randbytes(rng.choice((rng.randrange(14), rng.randrange(200), rng.randrange(2000)))) if rng.random() < 0.2 else mutate(rng)


def is_barrier(message):
    return message[:2] == BARRIER.to_bytes(2, "big")


def test_datagrams(served):
    rng = random.Random(SEED)
    last = query(HOST, id=BARRIER)
    with Udp(served.dns_port, timeout=30) as client:
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        for start in range(0, N_PACKETS, BATCH):
            for _ in range(min(BATCH, N_PACKETS - start)):
                message = garbage(rng)
                if not is_barrier(message):
                    client.send(message)
            client.send(last)
            while True:
                got = client.socket.recv(65535)
                answer = Answer(got)  # reads strictly: every octet belongs to something
                assert answer.is_response and answer.size <= 1232, f"seed {SEED}"
                if is_barrier(got):
                    assert answer.rcode == 0 and len(answer.records[0]) == 1, f"seed {SEED}"
                    break
    answers(served)
    print(f"{N_PACKETS} datagrams, seed {SEED}: every good query among them was answered")


def test_streams(served):
    """The same over TCP, framed rightly or not at all; the connection may end, the server may not."""
    rng = random.Random(SEED)
    for _ in range(N_PACKETS // 500):
        with Tcp(served.dns_port) as client:
            messages = [garbage(rng) for _ in range(rng.randrange(1, 30))]
            data = b"".join(Tcp.framed(m) for m in messages) if rng.random() < 0.8 else b"".join(messages)
            try:
                client.socket.sendall(data)
                client.socket.shutdown(socket.SHUT_WR)
                while client.socket.recv(65536):
                    pass
            except OSError as error:
                assert not isinstance(error, TimeoutError), f"seed {SEED}: the connection stays open"
    answers(served)
