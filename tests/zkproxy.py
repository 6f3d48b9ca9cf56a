"""A TCP proxy on loopback for tests: it can delay, hold and cut what passes.

    with Proxy(port) as p:       p.port stands for port
        p.delay("down", 0.2)     bytes from the server arrive 0.2 s later, in order
        p.hold("down")           … not at all, until p.release("down")
        p.hold_when(b"x", "down") … from the moment on when these bytes come from the client; "up" holds these, too
        p.waiting("up")          bytes that have come and not left yet
        p.cut()                  all connections are reset; new ones are accepted again
        p.strand(0.2)            all are reset for the client; the server gets what had come 0.2 s later, if it still listens
        p.refuse(True)           new connections are closed at once

"up" is towards the server, "down" towards the client, "both" both.
"""
import collections
import selectors
import socket
import struct
import threading
import time


class _Pipe:
    """One direction of one connection: chunks with the time at which they are due."""

    def __init__(self, source, target, way):
        self.source, self.target, self.way = source, target, way
        self.chunks = collections.deque()
        self.is_open = True
        self.is_stranded = False


class Proxy:
    def __init__(self, target_port, target_host="127.0.0.1"):
        self.target = (target_host, target_port)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.setblocking(False)
        self.port = self.listener.getsockname()[1]
        self.delays = {"up": 0.0, "down": 0.0}
        self.held = {"up": False, "down": False}
        self.refusing = False
        self.trigger = None
        self.pipes = []
        self.commands = collections.deque()
        self.waker, self.wakes = socket.socketpair()
        self.wakes.setblocking(False)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.listener, selectors.EVENT_READ, self._accept)
        self.selector.register(self.wakes, selectors.EVENT_READ, self._wake)
        self.is_running = True
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _ways(self, way):
        return ("up", "down") if way == "both" else (way,)

    def _do(self, fn):
        """Run fn on the proxy's thread and wait for it."""
        done = threading.Event()
        self.commands.append((fn, done))
        self.waker.send(b"x")
        if not done.wait(10):
            raise RuntimeError("the proxy's thread does not answer")

    def delay(self, way, seconds):
        self._do(lambda: self.delays.update({w: seconds for w in self._ways(way)}))

    def hold(self, way):
        self._do(lambda: self.held.update({w: True for w in self._ways(way)}))

    def release(self, way):
        self._do(lambda: self.held.update({w: False for w in self._ways(way)}))

    def hold_when(self, text, way):
        self._do(lambda: setattr(self, "trigger", (text, way)))

    def refuse(self, yes):
        self._do(lambda: setattr(self, "refusing", yes))

    def cut(self):
        self._do(lambda: [self._drop(p) for p in list(self.pipes)])

    def waiting(self, way):
        """What has come and not left yet."""
        found = []
        self._do(lambda: found.extend(chunk for p in self.pipes if p.way == way for _, chunk in p.chunks if chunk))
        return b"".join(found)

    def strand(self, seconds):
        self._do(lambda: [self._strand(p, time.monotonic() + seconds) for p in self.pipes if p.way == "up"])

    def connections(self):
        return len(self.pipes) // 2

    def _wake(self, sock):
        sock.recv(4096)

    def _accept(self, sock):
        client, _ = sock.accept()
        if self.refusing:
            client.close()
            return
        try:
            server = socket.create_connection(self.target, 5)
        except OSError:
            client.close()
            return
        up, down = _Pipe(client, server, "up"), _Pipe(server, client, "down")
        up.other, down.other = down, up
        for s in (client, server):
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            s.setblocking(True)
        self.pipes += [up, down]
        self.selector.register(client, selectors.EVENT_READ, lambda s: self._read(up))
        self.selector.register(server, selectors.EVENT_READ, lambda s: self._read(down))

    def _read(self, pipe):
        try:
            chunk = pipe.source.recv(65536)
        except OSError:
            self._drop(pipe)
            return
        if pipe.other.is_stranded:
            if not chunk:
                self._drop(pipe)
            return
        if not chunk:
            self.selector.unregister(pipe.source)
        if self.trigger and pipe.way == "up" and self.trigger[0] in chunk:
            self.held[self.trigger[1]] = True
            self.trigger = None
        pipe.chunks.append((time.monotonic() + self.delays[pipe.way], chunk))

    def _strand(self, pipe, due):
        """The client is gone, the server does not know yet."""
        if pipe.is_stranded:
            return
        pipe.is_stranded = True
        pipe.chunks = collections.deque((due, chunk) for _, chunk in pipe.chunks)
        pipe.chunks.append((due, None))
        pipe.other.chunks.clear()
        self._reset(pipe.source)

    def _reset(self, sock):
        try:
            self.selector.unregister(sock)
        except (KeyError, ValueError):
            pass
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        except OSError:
            pass
        sock.close()

    def _drop(self, pipe):
        for p in (pipe, pipe.other):
            if p in self.pipes:
                self.pipes.remove(p)
        for s in (pipe.source, pipe.target):
            self._reset(s)

    def _flush(self, pipe, now):
        while pipe.chunks and not self.held[pipe.way] and pipe.chunks[0][0] <= now and pipe in self.pipes:
            _, chunk = pipe.chunks.popleft()
            try:
                if chunk is None:
                    self._drop(pipe)
                elif chunk:
                    pipe.target.sendall(chunk)
                else:
                    self._finish(pipe)
            except OSError:
                self._drop(pipe)

    def _finish(self, pipe):
        """One side has ended its direction: pass that on; drop the pair when both have."""
        pipe.is_open = False
        if pipe.other.is_open:
            pipe.target.shutdown(socket.SHUT_WR)
        else:
            self._drop(pipe)

    def _timeout(self, now):
        due = [p.chunks[0][0] for p in self.pipes if p.chunks and not self.held[p.way]]
        return max(0.0, min(due) - now) if due else None

    def _run(self):
        while self.is_running:
            for key, _ in self.selector.select(self._timeout(time.monotonic())):
                key.data(key.fileobj)
            while self.commands:
                fn, done = self.commands.popleft()
                fn()
                done.set()
            now = time.monotonic()
            for pipe in list(self.pipes):
                self._flush(pipe, now)

    def close(self):
        self.cut()
        self._do(lambda: setattr(self, "is_running", False))
        self.thread.join(10)
        self.selector.close()
        for s in (self.listener, self.waker, self.wakes):
            s.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
