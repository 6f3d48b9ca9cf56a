"""A follower that does not read: it costs registryd little, gets `gone`, and the others notice nothing."""
import socket
import time

from harness import PATIENCE, Feed, Registry, container, request

PATH = "/users/alice/services/yarn-service/shop/components/ctr-1-1-1-1"
RECORD = container("web-0", "web", "127.77.0.1")


def memory(daemon):
    """Bytes of resident memory."""
    with open(f"/proc/{daemon.process.pid}/status", encoding="ascii") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("VmRSS:"))


class Idler:
    """A follower that reads nothing until the test lets it."""

    def __init__(self, port):
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(("127.0.0.1", port))
        self.began = time.monotonic()
        self.socket.sendall(b"GET /ws/v1/registry/?watch=true HTTP/1.1\r\nHost: localhost\r\n\r\n")

    def everything(self):
        """All that comes until the registry closes the stream; then the connection is closed."""
        text = bytearray()
        while not text.endswith(b"\r\n0\r\n\r\n"):
            piece = self.socket.recv(1 << 20)
            assert piece, "the stream has no proper end"
            text += piece
        self.socket.close()
        return bytes(text)


def test_a_follower_that_reads_nothing_costs_little_and_gets_gone():
    ring, pad = 1 << 18, "x" * 100000
    with Registry(options={"registryd": {"hadoop.registry.feed.ring-size": str(ring)}}) as reg:
        idler = Idler(reg.registry_port)
        with Feed(reg) as reader:
            reader.until("sync")

            def write(n):
                """Memory after n changes, each of which the reading follower has got."""
                for _ in range(n):
                    revision = reg.bind(PATH, {**RECORD, "pad": pad}).headers["Bobbin-Revision"]
                    while reader.line()["revision"] != revision:
                        pass
                return memory(reg.registryd)

            before = write(10)
            after = write(40)
            text = request(reg.registry_port, "GET", "/metrics").body.decode()
            held = {line.split()[0]: int(line.split()[1]) for line in text.splitlines() if line.startswith("registry_f")}
            assert held["registry_feed_ring_bytes"] < ring + len(pad)
            assert held["registry_feed_follower_bytes"] < 6 * len(pad), "two followers, each of them holds a line or two"
            assert after - before < 30 * len(pad), "memory grows with what an idle follower has not read"
            if time.monotonic() - idler.began > 29:
                return  # on so slow a machine it has been dropped meanwhile: it took nothing for 30 s
            assert held["registry_followers"] == 2
        assert b'{"type":"gone","oldest":' in idler.everything()[-300:]
        assert "registry_followers_gone_total 1" in request(reg.registry_port, "GET", "/metrics").body.decode()
