"""registryd's change feed, scripted: speaks the protocol of docs/registry-rest.md to any number of followers.

    with Feed(records) as feed: …feed.url…; feed.put(path, record)
"""
import json
import socket
import threading
import time

STORE = "5eed5eed5eed5eed"


def as_text(record):
    return json.dumps(record, separators=(",", ":"))


class Feed:
    """records: (path, record) in path order; sent as a snapshot to each follower that comes."""

    def __init__(self, records):
        self.lock = threading.Lock()
        self.n = 1
        self.followers = []
        self.snapshot = [self._put(path, record) for path, record in records]
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.ended = threading.Event()

    def _put(self, path, record):
        text = record if isinstance(record, str) else as_text(record)
        return (f'{{"type":"put","path":"{path}","revision":"{STORE}.{self.n}","time":0,"size":{len(text)},"children":0,'
                f'"service":{text}}}\n')

    def _mark(self, kind):
        return f'{{"type":"{kind}","oldest":"{STORE}.1","store":"{STORE}","revision":"{STORE}.{self.n}"}}\n'

    @staticmethod
    def _send(follower, text):
        data = text.encode()
        follower.sendall(b"%x\r\n%s\r\n" % (len(data), data))

    def _greet(self, follower):
        request = b""
        while b"\r\n\r\n" not in request:
            part = follower.recv(65536)
            if not part:
                return
            request += part
        follower.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n")
        with self.lock:
            self._send(follower, self._mark("hello"))
            for at in range(0, len(self.snapshot), 500):
                self._send(follower, "".join(self.snapshot[at:at + 500]))
            self._send(follower, self._mark("sync") + self._mark("progress"))
            self.followers.append(follower)

    def _accept(self):
        while not self.ended.is_set():
            try:
                follower = self.listener.accept()[0]
            except OSError:
                return
            self._greet(follower)

    def _send_all(self, text):
        for follower in list(self.followers):
            try:
                self._send(follower, text)
            except OSError:
                self.followers.remove(follower)

    def _progress(self):
        while not self.ended.wait(2):
            with self.lock:
                self._send_all(self._mark("progress"))

    def put(self, changes):
        """Send (path, record or its text) pairs as one commit. Returns the revision."""
        with self.lock:
            self.n += 1
            self._send_all("".join(self._put(path, record) for path, record in changes) + self._mark("progress"))
            return f"{STORE}.{self.n}"

    def __enter__(self):
        for work in (self._accept, self._progress):
            threading.Thread(target=work, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for follower in self.followers:
            follower.close()


def keep_changing(feed, changes, rate, stop):
    """Send changes, a list of what put takes, `rate` a second in ten commits a second, until stop is set. Give it texts: what they
    cost to make is otherwise measured with the follower."""
    k, start = 0, time.monotonic()
    while not stop.wait(0.1):
        due = int((time.monotonic() - start) * rate)
        feed.put(changes[k:due])
        k = due
