"""TCP and TLS: pipelining, slow and idle clients, limits, certificates that change (RFC 7766, 7828, 7858, 9210)."""
import os
import re
import resource
import signal
import socket
import ssl

import pytest

import wire
from served import answers, certificate
from harness import Stack, container, free_port, request, wait_for
from wire import Tcp, option, query

pytestmark = pytest.mark.sanitize

HOST = "httpd-1.test1.root.bobbin.test"


def tls(stack):
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["dot"])
    return context.wrap_socket(socket.create_connection(("127.0.0.1", stack.tls_port), timeout=10))


@pytest.fixture(params=["tcp", "tls"])
def stream(request, served):
    with Tcp(served.dns_port, None if request.param == "tcp" else tls(served)) as client:
        client.kind = request.param
        yield client


def test_a_hundred_queries_in_one_write(served, stream):
    stream.socket.sendall(b"".join(Tcp.framed(query(HOST if i % 2 else "huge.test1.root.bobbin.test", id=i)) for i in range(100)))
    got = [stream.receive() for _ in range(100)]
    assert sorted(a.id for a in got) == list(range(100))
    assert {len(a.records[0]) for a in got} == {1, 300}


def test_many_queries_one_after_the_other(stream):
    for i in range(300):
        assert stream.ask(query(HOST, id=i)).id == i


def test_octet_by_octet(stream):
    if stream.kind == "tcp":
        stream.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for octet in Tcp.framed(query(HOST)):
        stream.socket.sendall(bytes([octet]))
    assert stream.receive().rcode == 0


@pytest.mark.parametrize("length", [127, 128, 129, 255, 256, 384, 1024, 4096, 16384, 65535])
def test_every_length_of_query(stream, length):
    """Padded queries: the low octet of the length is above 127 for half of them, large ones come in several reads."""
    bare = len(query(HOST, options=option(wire.PADDING)))
    message = query(HOST, options=option(wire.PADDING, bytes(length - bare)))
    assert len(message) == length and stream.ask(message).rcode == 0


def test_a_client_that_does_not_read_is_not_read(served, stream):
    """Thousands of answers of 5 kB wait in the client's hands; nothing is lost and others are served."""
    n = 1000
    message = b"".join(Tcp.framed(query("huge.test1.root.bobbin.test", id=i)) for i in range(n))
    stream.socket.settimeout(0.3)
    sent = 0
    try:
        while sent < len(message):
            sent += stream.socket.send(message[sent:sent + 4096])
    except (socket.timeout, ssl.SSLWantWriteError, TimeoutError):
        pass
    answers(served)
    stream.socket.settimeout(20)
    whole = sent // len(Tcp.framed(query("huge.test1.root.bobbin.test")))
    for i in range(min(whole, n)):
        assert stream.receive().id == i


def test_half_closed_clients_get_their_answer(served):
    with Tcp(served.dns_port) as client:
        client.send(query(HOST))
        client.socket.shutdown(socket.SHUT_WR)
        assert client.receive().rcode == 0 and client.is_closed()


def test_a_thousand_idle_connections(served):
    """As many as there may be: who asks, over UDP or over one of them or a new one, is answered (RFC 9210 4.4)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4096)), hard))
    idle = []
    try:
        for _ in range(1000):
            idle.append(Tcp(served.dns_port))
        answers(served)
        assert idle[-1].ask(query(HOST)).rcode == 0
        with Tcp(served.dns_port) as one_more:
            for i in range(20):
                assert one_more.ask(query("huge.test1.root.bobbin.test", id=i)).id == i
    finally:
        for client in idle:
            client.socket.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_keepalive_states_the_idle_timeout(stream):
    answer = stream.ask(query(HOST, options=option(wire.KEEPALIVE)))
    assert answer.options[wire.KEEPALIVE] == (100).to_bytes(2, "big")
    assert wire.KEEPALIVE not in stream.ask(query(HOST, options=b"")).options


def test_padding_fills_blocks_only_when_asked_and_only_over_tls(stream):
    plain = stream.ask(query(HOST, options=b""))
    padded = stream.ask(query(HOST, options=option(wire.PADDING)))
    assert wire.PADDING not in plain.options and plain.size < 468
    if stream.kind == "tls":
        assert padded.size == 468 and not any(padded.options[wire.PADDING])
    else:
        assert wire.PADDING not in padded.options
    huge = stream.ask(query("huge.test1.root.bobbin.test", options=option(wire.PADDING)))
    assert stream.kind == "tcp" or huge.size % 468 == 0


@pytest.mark.parametrize("garbage", [b"GET / HTTP/1.1\r\n\r\n" * 50, bytes(2), b"\0\1x", b"\0\x0b" + bytes(11),
                                     b"\xff\xff" + query(HOST), Tcp.framed(query(HOST)) + b"\0", Tcp.framed(query(HOST)) + bytes(2)])
def test_what_is_no_dns_ends_the_connection(served, garbage):
    with Tcp(served.dns_port) as client:
        try:
            client.socket.sendall(garbage)
            client.socket.shutdown(socket.SHUT_WR)
            while client.socket.recv(4096):
                pass
        except OSError as error:
            assert not isinstance(error, TimeoutError), "the connection stays open"
    answers(served)


def test_what_is_no_tls_ends_the_connection(served):
    for garbage in (b"GET / HTTP/1.1\r\n\r\n", Tcp.framed(query(HOST)), b"\x16\x03\x01\xff\xff" + os.urandom(3000), os.urandom(200)):
        with socket.create_connection(("127.0.0.1", served.tls_port), timeout=20) as client:
            try:
                client.sendall(garbage)
                client.shutdown(socket.SHUT_WR)
                while client.recv(4096):
                    pass
            except OSError as error:
                assert not isinstance(error, TimeoutError), "the connection stays open"
    with Tcp(0, tls(served)) as client:
        assert client.ask(query(HOST)).rcode == 0


def test_alpn_and_version(served):
    with tls(served) as client:
        assert client.selected_alpn_protocol() == "dot" and client.version() == "TLSv1.3"


@pytest.mark.parametrize("version, is_taken", [("TLSv1_1", False), ("TLSv1_2", True), ("TLSv1_3", True)])
def test_tls_versions(served, version, is_taken):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version = context.maximum_version = ssl.TLSVersion[version]
    plain = socket.create_connection(("127.0.0.1", served.tls_port), timeout=10)
    try:
        with context.wrap_socket(plain):
            assert is_taken
    except (ssl.SSLError, ConnectionError):
        assert not is_taken
    finally:
        plain.close()


def subject(stack):
    with tls(stack) as client:
        return client.getpeercert(binary_form=True)


def logged(stack, wanted, order):
    """Give an order, and wait for what the log then says of the certificate."""
    names = ("dns_reloaded", "dns_reload_failed")
    n_before = len(stack.dnsd.events)
    result = order()
    event = wait_for(lambda: next((e for e in stack.dnsd.events[n_before:] if e["event"] in names), None), "the log says so")
    assert event["event"] == wanted, event
    return result or event


def hang_up(stack, wanted):
    return logged(stack, wanted, lambda: stack.dnsd.process.send_signal(signal.SIGHUP))


def test_a_new_certificate_is_taken_on_hangup(served):
    old = subject(served)
    with Tcp(0, tls(served)) as before:
        certificate(served.tls_dir, "two.dns.test")
        assert hang_up(served, "dns_reloaded")["where"].endswith("tls.crt")
        assert subject(served) != old
        assert before.ask(query(HOST)).rcode == 0, "a connection from before goes on"


def test_a_certificate_that_cannot_be_used_changes_nothing(served):
    good = subject(served)
    for name, text in (("tls.crt", "broken\n"), ("tls.key", "")):
        path = os.path.join(served.tls_dir, name)
        with open(path, encoding="utf-8") as f:
            kept = f.read()
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        failed = hang_up(served, "dns_reload_failed")
        assert failed["level"] == "error" and failed["where"].endswith("tls.crt") and name in failed["error"], failed
        answer = logged(served, "dns_reload_failed", lambda: request(served.dns_http_port, "POST", "/reload"))
        assert answer.status == 500 and "tls.crt" in answer.json["detail"], answer
        assert subject(served) == good
        with open(path, "w", encoding="utf-8") as f:
            f.write(kept)
    other = os.path.join(served.tls_dir, "other")
    os.mkdir(other)
    cert, _ = certificate(other, "other.dns.test")
    os.replace(cert, os.path.join(served.tls_dir, "tls.crt"))
    hang_up(served, "dns_reload_failed")  # another key's
    assert subject(served) == good
    certificate(served.tls_dir, "three.dns.test")
    hang_up(served, "dns_reloaded")
    assert subject(served) != good
    assert logged(served, "dns_reloaded", lambda: request(served.dns_http_port, "POST", "/reload")).status == 200


def drip_is_refused(client):
    """One octet more of a message of 65 535."""
    try:
        client.socket.sendall(b"\xff")
        return False
    except ConnectionError:
        return True


def test_idle_and_too_many_connections():
    """Idle ones end by the timeout, the longest idle ones earlier when there are too many; UDP does not notice."""
    options = {"hadoop.registry.dns.tcp.idle-timeout": "2s", "hadoop.registry.dns.tcp.max-clients": 100,
               "hadoop.registry.dns.tcp.max-per-client": 150, "hadoop.registry.dns.tls.port": free_port()}
    with Stack(options={"dnsd": options}) as stack:
        stack.bind("/users/root/services/yarn-service/test1/components/ctr-1-1-1-1", container("httpd-1", "httpd", "127.77.0.19"))
        stack.sync_all()
        clients = [Tcp(stack.dns_port) for _ in range(140)]
        try:
            for client in clients:
                client.socket.setblocking(True)
            assert clients[-1].ask(query(HOST)).rcode == 0
            answers(stack)
            assert all(client.is_closed() for client in clients[:40]), "made room"
            assert clients[-1].is_closed(), "it was idle"
            with Tcp(stack.dns_port) as dripping:
                dripping.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                wait_for(lambda: drip_is_refused(dripping), "a query that never ends is no progress")
        finally:
            for client in clients:
                client.socket.close()


def test_connections_of_one_address_are_limited():
    with Stack(options={"dnsd": {"hadoop.registry.dns.tcp.max-per-client": 3}}) as stack:
        clients = [Tcp(stack.dns_port) for _ in range(3)]
        for client in clients:
            assert client.ask(query("bobbin.test", wire.SOA)).rcode == 0
        with Tcp(stack.dns_port) as fourth:
            assert fourth.is_closed()
        for client in clients:
            client.socket.close()


def test_metrics_count_what_came(served):
    from harness import request
    text = request(served.dns_http_port, "GET", "/metrics").body.decode()
    assert int(re.search(r"^dns_tls_queries_total (\d+)$", text, re.M).group(1)) > 0
