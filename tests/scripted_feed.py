"""registryd's change feed as a script: what a follower is told, line by line, is the test's to say (docs/registry-rest.md)."""
import json
import re
import socket

STORE = "5eed5eed5eed5eed"


class Follower:
    """One connection of a follower; `since` is the revision from which it asks to go on, or None."""

    def __init__(self, sock):
        self.socket = sock
        request = b""
        while b"\r\n\r\n" not in request:
            part = sock.recv(65536)
            if not part:
                raise ConnectionError("the follower left")
            request += part
        found = re.search(rb"[?&]since=([^& ]+)", request)
        self.since = found and found.group(1).decode()
        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n")

    def tell(self, *lines):
        data = b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)
        self.socket.sendall(b"%x\r\n%s\r\n" % (len(data), data))

    def mark(self, kind, n=1):
        self.tell({"type": kind, "oldest": f"{STORE}.1", "store": STORE, "revision": f"{STORE}.{n}"})

    def puts(self, records, n=1):
        """records: (path, record) pairs."""
        records = list(records)
        for at in range(0, len(records), 500):
            self.tell(*({"type": "put", "path": path, "revision": f"{STORE}.{n}", "time": 0, "size": 1, "children": 0, "service": record}
                        for path, record in records[at:at + 500]))

    def snapshot(self, records, n=1):
        self.mark("hello", n)
        self.puts(records, n)
        self.mark("sync", n)

    def close(self):
        self.socket.close()


class ScriptedFeed:
    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(60)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def follower(self):
        """The next one that comes."""
        while True:
            sock = self.listener.accept()[0]
            sock.settimeout(60)
            try:
                return Follower(sock)
            except ConnectionError:
                sock.close()

    def newcomer(self):
        """The next one that begins anew; who wants to go on is told that it cannot."""
        while True:
            f = self.follower()
            if f.since is None:
                return f
            f.mark("hello")
            f.tell({"type": "gone"})
            f.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()
