"""Each input that ends the UDP service of RegistryDNS: here the next question is answered."""
import socket
import struct
import threading

import pytest

import wire
from served import BASE, answers
from harness import container
from wire import FORMERR, Tcp, Udp, header, query, question

pytestmark = pytest.mark.sanitize

GOOD = query("httpd-1.test1.root.bobbin.test")
MALFORMED = {
    "label over 63": header() + b"\x40" + b"a" * 64 + b"\0\0\1\0\1",
    "reserved label type": header() + b"\x80abc\0\0\1\0\1",
    "pointer to itself": header() + b"\xc0\x0c\0\1\0\1",
    "pointers in a ring": header() + b"\xc0\x0e\xc0\x0c\0\1\0\1",
    "pointer past the end": header() + b"\xff\xff\0\1\0\1",
    "name over 255": header() + b"\x3f" + b"a" * 63 + (b"\x3f" + b"a" * 63) * 4 + b"\0\0\1\0\1",
    "name without end": header() + b"\3www",
    "question cut in the type": header() + b"\3www\0\0",
    "header alone": header(),
    "more questions than there are": header(qd=9) + question("bobbin.test"),
    "more answers than there are": header(an=65535) + question("bobbin.test"),
    "more of everything": b"\x12\x34\0\0" + b"\xff" * 8 + question("bobbin.test"),
    "record cut in its head": header(ar=1) + question("bobbin.test") + b"\0\0\x29\x10",
    "rdata past the end": header(ar=1) + question("bobbin.test") + b"\0\0\1\0\1\0\0\0\0\xff\xffab",
    "EDNS option cut": header(ar=1) + question("bobbin.test") + wire.opt(b"\0\3\0\x08ab"),
    "EDNS option head cut": header(ar=1) + question("bobbin.test") + wire.opt(b"\0\3"),
}


@pytest.mark.parametrize("size", range(12))
def test_shorter_than_a_header(served, udp, size):
    udp.send(GOOD[:size])
    assert udp.is_silent()
    answers(served)


@pytest.mark.parametrize("message", MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed(served, udp, message):
    answer = udp.ask(message)
    assert answer.is_response and answer.rcode == FORMERR and answer.id == 0x1234
    answers(served)


@pytest.mark.parametrize("message", MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed_response(served, udp, message):
    """QR=1 is never answered: two servers would talk for ever."""
    udp.send(message[:2] + bytes([message[2] | 0x80]) + message[3:])
    assert udp.is_silent(0.1)
    answers(served)


def test_no_question(served, udp):
    assert udp.ask(header(qd=0)).rcode == FORMERR
    answers(served)


@pytest.mark.parametrize("size", [4097, 8192, 65535])
def test_answer_over_4096_octets_and_room_for_it(served, udp, size):
    answer = udp.ask(query("huge.test1.root.bobbin.test", options=b"", size=size))
    assert answer.is_truncated and answer.size <= 1232
    with Tcp(served.dns_port) as tcp:
        whole = tcp.ask(query("huge.test1.root.bobbin.test", options=b"", size=size))
    assert whole.size > 4096 and len(whole.records[0]) == 300
    answers(served)


@pytest.mark.parametrize("size", [2048, 2049, 4096, 4097, 9000, 65507])
def test_datagram_over_4096_octets(served, udp, size):
    for message in (GOOD + bytes(size - len(GOOD)), header(ar=1) + question("bobbin.test") + wire.opt(wire.option(65001, bytes(max(0, size - 60)))),
                    b"\xff" * size):
        udp.send(message[:65507])
    answers(served)


def test_questions_while_the_set_changes(served):
    """A component's name is asked without pause while containers come and go."""
    stop, failures, n_answers = threading.Event(), [], [0]

    def ask():
        try:
            with Udp(served.dns_port) as client:
                while not stop.is_set():
                    answer = client.ask(query("churn.test1.root.bobbin.test"))
                    n_answers[0] += 1
                    assert answer.rcode in (0, 3), answer.rcode
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for turn in range(20):
            paths = [f"{BASE}/components/ctr-e50-1-1-7-{i}" for i in range(6)]
            for i, path in enumerate(paths):
                served.bind(path, container(f"churn-{i}", "churn", f"127.77.40.{i + 1}"))
            for path in paths:
                served.registry("DELETE", path)
            if failures:
                break
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not failures and n_answers[0] > 100
    served.sync_all()
    answers(served)


@pytest.mark.parametrize("options", [None, b""])
def test_api_name_of_a_deleted_application(served, udp, options):
    from served import APPLICATION
    path = "/users/root/services/yarn-service/shortlived"
    served.sync(served.bind(path, APPLICATION).headers["Bobbin-Revision"])
    assert udp.ask(query("http-api.shortlived.root.bobbin.test", options=options)).rcode == 0
    served.sync(served.registry("DELETE", path).headers["Bobbin-Revision"])
    assert udp.ask(query("http-api.shortlived.root.bobbin.test", options=options)).rcode == 3
    answers(served)


def test_source_port_zero(served):
    """The answer cannot be sent; that is the kernel's refusal, not an end."""
    try:
        raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP)
    except PermissionError:
        pytest.skip("raw sockets need a privilege")
    with raw:
        for _ in range(8):
            raw.sendto(struct.pack(">HHHH", 0, served.dns_port, 8 + len(GOOD), 0) + GOOD, ("127.0.0.1", 0))
    answers(served)


def test_clients_that_are_gone_before_the_answer(served):
    """ICMP port unreachable comes back as an error of the next call."""
    for _ in range(50):
        with Udp(served.dns_port) as client:
            client.send(GOOD)
    answers(served)
