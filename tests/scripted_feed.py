"""registryd's change feed as a script: the test decides what a follower gets, line by line (docs/registry-rest.md)."""
import json
import re
import socket

from harness import DOMAIN, Daemon, dig, dig_full, free_port, request, wait_for

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

    def emit(self, *lines):
        data = b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)
        self.socket.sendall(b"%x\r\n%s\r\n" % (len(data), data))

    def mark(self, kind, n=1):
        self.emit({"type": kind, "oldest": f"{STORE}.1", "store": STORE, "revision": f"{STORE}.{n}"})

    def puts(self, records, n=1):
        """records: (path, record) pairs."""
        records = list(records)
        for at in range(0, len(records), 500):
            self.emit(*({"type": "put", "path": path, "revision": f"{STORE}.{n}", "time": 0, "size": 1, "children": 0, "service": record}
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
        """The next one that begins anew; a request to resume is refused."""
        while True:
            f = self.follower()
            if f.since is None:
                return f
            try:
                f.mark("hello")
                f.emit({"type": "gone"})
            except ConnectionError:
                pass  # it left
            f.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


class Dns(Daemon):
    """dnsd that follows a scripted registry."""

    def __init__(self, feed, directory, **options):
        self.port, self.http = free_port(), free_port()
        given = {"domain-name": DOMAIN, "bind-port": self.port, "http.address": f"127.0.0.1:{self.http}", "num-threads": 1,
                 **{k.replace("__", "-").replace("_", "."): v for k, v in options.items()}}
        super().__init__("dnsd", {**{f"hadoop.registry.dns.{k}": v for k, v in given.items()},
                                  "hadoop.registry.url": feed.url, "bobbin.data.dir": str(directory)})

    def __enter__(self):
        return self.start("dns_listening")

    def __exit__(self, kind, *_):
        if kind:
            self.kill()
        else:
            self.stop()

    def serial(self, zone):
        return int(dig(self.port, zone, "SOA")[0].split()[2])

    def metric(self, name):
        text = request(self.http, "GET", "/metrics").body.decode()
        return int(re.search(rf"^{name} (\d+)$", text, re.M).group(1))

    def status(self, name):
        return re.search(r"status: (\w+)", dig_full(self.port, name)).group(1)

    def stats(self):
        return request(self.http, "GET", "/stats").json

    def is_stale(self, name):
        return "EDE: 3" in dig_full(self.port, name)

    def until_synced(self, n):
        wait_for(lambda: self.stats()["ready"] and not self.stats()["stale"] and self.stats()["records"] == n, f"{n} records are known")
