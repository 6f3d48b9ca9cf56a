"""Clients of two registryd work on the same nodes of one ZooKeeper while the network and the daemons fail; then each node's history
is checked (tests/linear.py). In the manner of Jepsen.

    clients ──http──► registryd 0 ──► proxies ──┐
        └─────http──► registryd 1 ──► proxies ──┴──► ZooKeeper: one server, or three of which one lags behind

What fails: proxies swallow answers and cut, cut at once, cut what is on its way, deliver it later, pause and delay; registryd is killed
and stopped for a while; ZooKeeper is killed. Whatever of an operation is lost makes its outcome unknown, as does the registry's
own word; every other answer is believed.
"""
import collections
import concurrent.futures
import json
import multiprocessing
import os
import random
import shutil
import signal
import socket
import tempfile
import threading
import time

import linear
import zookeeper
import zkproxy
from harness import PATIENCE, SANITIZED, Daemon, free_port, request, wait_for
from linear import UNKNOWN, Op

FACE = "/ws/v1/registry"
ROOT = "/users/alice/services/soak"
N_CLIENTS, N_SLOTS = 16, 8
LAG_S = 0.05
KEY_OPS, KEY_UNKNOWNS = 300, 12  # a key that has had so many operations is left for a new one
SESSION_MS = 4000
OPTIONS = {"hadoop.registry.zk.session.timeout.ms": SESSION_MS, "hadoop.registry.zk.connection.timeout.ms": 1000,
           "hadoop.registry.zk.retry.interval.ms": 20, "hadoop.registry.zk.retry.ceiling.ms": 100,
           "hadoop.registry.write.wait": "20ms", "hadoop.http.staticuser.user": "alice"}


# ---- a client's connection ----

class Lost(Exception):
    """No whole answer came."""


class Http:
    """One connection that is kept; a request is sent once."""

    def __init__(self, port):
        self.port, self.sock, self.rest = port, None, b""

    def close(self):
        if self.sock:
            self.sock.close()
        self.sock, self.rest = None, b""

    def ask(self, method, path, body=b"", headers=""):
        """(status, headers in lower case, body). ConnectionError: nothing was sent; Lost."""
        if not self.sock:
            self.sock = socket.create_connection(("127.0.0.1", self.port), 5)
            self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.sock.settimeout(PATIENCE)
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n{headers}"
        if body:
            head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        try:
            self.sock.sendall(head.encode() + b"\r\n" + body)
            return self._answer()
        except (OSError, ValueError, IndexError) as error:
            self.close()
            raise Lost(repr(error)) from error

    def _more(self):
        part = self.sock.recv(65536)
        if not part:
            raise OSError("the connection ended")
        self.rest += part

    def _take(self, n):
        while len(self.rest) < n:
            self._more()
        part, self.rest = self.rest[:n], self.rest[n:]
        return part

    def _line(self, end):
        while end not in self.rest:
            self._more()
        part, self.rest = self.rest.split(end, 1)
        return part

    def _answer(self):
        lines = self._line(b"\r\n\r\n").decode().split("\r\n")
        headers = {name.lower(): value.strip() for name, value in (line.split(":", 1) for line in lines[1:])}
        body = b""
        if headers.get("transfer-encoding") == "chunked":
            while size := int(self._line(b"\r\n"), 16):
                body += self._take(size)
                self._take(2)
            self._line(b"\r\n")
        else:
            body = self._take(int(headers.get("content-length", "0")))
        if headers.get("connection", "").lower() == "close":
            self.close()
        return int(lines[0].split()[1]), headers, body


# ---- one key ----

class Key:
    """A node, what was done with it, and tags of it that clients have seen."""

    def __init__(self, name):
        self.path = f"{ROOT}/{name}"
        self.lock = threading.Lock()
        self.history, self.tags = [], collections.deque(maxlen=4)
        self.n_begun = self.n_open = self.n_unknown = 0
        self.is_left = False

    def begin(self):
        with self.lock:
            self.n_begun += 1
            self.n_open += 1

    def end(self, op):
        """The operation is over; op None: it took no effect. Returns whether nothing more comes."""
        with self.lock:
            self.n_open -= 1
            if op:
                self.history.append(op)
                self.n_unknown += op.answer is UNKNOWN
            return self.is_left and self.n_open == 0

    def is_full(self):
        return self.n_begun >= KEY_OPS or self.n_unknown >= KEY_UNKNOWNS

    def leave(self):
        """No operation begins any more. Returns whether none is open either."""
        with self.lock:
            self.is_left = True
            return self.n_open == 0


def tag_of(headers):
    return headers["etag"].strip('"').split(".")[0]


def record(value):
    return json.dumps({"type": "JSONServiceRecord", "description": value, "yarn:id": f"id-{value}",
                       "yarn:persistence": "container"}).encode()


class Unexpected(Exception):
    pass


REFUSED = object()  # said not to have been done
BEING_MADE = object()


def answer_of(kind, status, headers, body):
    """What the answer means to linear.py."""
    if status == 503:
        is_unknown = json.loads(body)["type"].endswith(":unknown-outcome")
        if is_unknown and "retry-after" not in headers:
            raise Unexpected("unknown-outcome without Retry-After")
        return UNKNOWN if is_unknown and kind != "read" else REFUSED
    if kind == "read":
        if status == 404:
            return "absent"
        if status == 200:
            shown = json.loads(body)
            return (shown["service"]["description"] if "service" in shown else "mknode", tag_of(headers))
    if kind in ("create", "put", "put-if") and status in (200, 201):
        return ("made" if status == 201 else "replaced", tag_of(headers))
    if kind == "create" and status in (409, 412):
        return "exists"
    if kind == "put" and status == 409:
        return REFUSED  # made and deleted under its hands, again and again
    if kind in ("put-if", "delete-if") and status == 412:
        return "conflict"
    if kind in ("delete", "delete-if") and status == 200:
        return "deleted" if json.loads(body)["deleted"] else "absent"
    if kind == "purge" and status == 200:
        return "deleted" if json.loads(body)["deleted"] else "none"
    if kind == "mknode" and status in (200, 201):
        return "made" if status == 201 else "exists"
    raise Unexpected(f"{kind}: {status} {body[:300]}")


# ---- the clients ----

KINDS = ["read"] * 30 + ["put"] * 16 + ["create"] * 14 + ["put-if"] * 14 + ["delete"] * 12 + ["delete-if"] * 8 + ["purge"] * 3 + ["mknode"] * 3


class Run:
    """What the clients, the one who breaks things and the checker share."""

    def __init__(self, seed):
        self.seed = seed
        self.ports = []
        self.slots = [None] * N_SLOTS
        self.lock = threading.Lock()
        self.n_keys = self.n_ops = self.n_unknown = self.n_refused = 0
        self.is_over = False
        self.found = []
        self.checks = concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))
        self.pending = collections.deque()
        self.faults = collections.Counter()
        self.kept = None

    def new_key(self):
        """Two keys have one parent, and so stand in each other's way a little."""
        with self.lock:
            self.n_keys += 1
            return Key(f"g{self.n_keys // 2}/k{self.n_keys}")

    def check(self, key):
        self.pending.append((key, self.checks.submit(linear.check, key.history)))
        while self.pending and (self.pending[0][1].done() or len(self.pending) > 50):
            self.settle(*self.pending.popleft())

    def settle(self, key, check):
        where = check.result()
        if not where:
            return
        self.kept = self.kept or tempfile.mkdtemp(prefix="bobbin-soak-")
        path = os.path.join(self.kept, key.path.replace("/", "_") + ".json")
        with open(path, "w", encoding="utf-8") as f:
            for op in sorted(key.history, key=lambda op: op.begin):
                f.write(json.dumps(op._asdict()) + "\n")
        self.found.append(f"{key.path} is not linearizable, seed {self.seed}, history in {path}:\n{where}")

    def finish(self):
        for key in self.slots:
            if key and key is not BEING_MADE and key.leave():
                self.check(key)
        while self.pending:
            self.settle(*self.pending.popleft())
        self.checks.shutdown()


class Client(threading.Thread):
    def __init__(self, run, number):
        super().__init__(daemon=True)
        self.shared, self.number = run, number
        self.chance = random.Random(f"{run.seed}-{number}")
        self.connections = [Http(port) for port in run.ports]
        self.n = 0

    def run(self):
        try:
            while not self.shared.is_over:
                self.step()
        except Exception as error:  # pylint: disable=broad-except; whatever it is, the run has failed
            self.shared.found.append(f"client {self.number}: {error!r}, seed {self.shared.seed}")
            self.shared.is_over = True
        for connection in self.connections:
            connection.close()

    def key(self):
        """One of the keys at hand; a full one is replaced. None: others are about to make it."""
        run, slot = self.shared, self.chance.randrange(N_SLOTS)
        with run.lock:
            key = run.slots[slot]
            if key is BEING_MADE:
                return None
            if key and not key.is_full():
                key.begin()
                return key
            run.slots[slot] = BEING_MADE
        if key and key.leave():
            run.check(key)
        fresh = run.new_key()
        self.make_parent(fresh)
        fresh.begin()
        with run.lock:
            run.slots[slot] = fresh
        return fresh

    def make_parent(self, key):
        parent = key.path.rsplit("/", 1)[0]
        while not self.shared.is_over:
            try:
                status, _, _ = self.chance.choice(self.connections).ask("POST", f"{FACE}{parent}?op=mknode&createParents=true")
                if status in (200, 201):
                    return
            except (Lost, OSError):
                pass
            time.sleep(0.02)

    def request(self, kind, key, value, tag):
        path = FACE + key.path
        if kind == "read":
            return "GET", path + "?consistency=strong", b"", ""
        if kind == "create":
            if self.chance.random() < 0.5:
                return "PUT", path, record(value), "If-None-Match: *\r\n"
            return "PUT", path, record(value), ""
        if kind == "put":
            return "PUT", path + "?overwrite=true", record(value), ""
        if kind == "put-if":
            return "PUT", path, record(value), f'If-Match: "{tag}.1"\r\n'
        if kind == "delete":
            return "DELETE", path, b"", ""
        if kind == "delete-if":
            return "DELETE", path, b"", f'If-Match: "{tag}.1"\r\n'
        if kind == "mknode":
            return "POST", path + "?op=mknode", b"", ""
        body = {"id": f"id-{value}", "persistence": "container", "path": key.path}
        return "POST", "/ws/v1/registry-admin/purge", json.dumps(body).encode(), ""

    def values(self, kind, key):
        """What to write, and the tag of the condition, the newest as a rule. Often others write the very same: the next of what is
        there, as whoever counts does, or one of a few."""
        self.n += 1
        tags = list(key.tags) or ["1"]
        tag = tags[-1] if self.chance.random() < 0.7 else self.chance.choice(tags)
        if kind == "mknode":
            return "mknode", None
        if kind == "put-if" and self.chance.random() < 0.5:
            return f"next-{tag}", tag
        if kind == "purge" or self.chance.random() < 0.33:
            return self.chance.choice("abc"), tag
        return f"{self.number}-{self.n}", tag

    def step(self):
        run = self.shared
        key = self.key()
        if not key:
            time.sleep(0.001)
            return
        kind = self.chance.choice(KINDS)
        value, tag = self.values(kind, key)
        connection = self.chance.choice(self.connections)
        method, path, body, headers = self.request(kind, key, value, tag)
        begin, answer = time.monotonic_ns(), REFUSED
        try:
            status, got, text = connection.ask(method, path, body, headers)
            answer = answer_of(kind, status, got, text)
        except Lost:
            answer = REFUSED if kind == "read" else UNKNOWN
        except OSError:
            time.sleep(0.01)  # it is being started
        finally:
            op = None
            if answer is not REFUSED:
                end = None if answer is UNKNOWN else time.monotonic_ns()
                op = Op(kind, value, tag if kind.endswith("-if") else None, begin, end, answer)
                if isinstance(answer, tuple):
                    key.tags.append(answer[1])
            if key.end(op):
                run.check(key)
        with run.lock:
            run.n_ops += 1
            run.n_unknown += answer is UNKNOWN
            run.n_refused += answer is REFUSED


# ---- what fails ----

def serve_proxy(target, pipe):
    """A proxy in a process of its own, which takes commands through a pipe."""
    with zkproxy.Proxy(target) as proxy:
        pipe.send(proxy.port)
        while order := pipe.recv():
            getattr(proxy, order[0])(*order[1:])
            pipe.send(True)


class Proxy:
    def __init__(self, target):
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=serve_proxy, args=(target, other), daemon=True)
        self.process.start()
        self.port = self.pipe.recv()

    def do(self, *order):
        self.pipe.send(order)
        self.pipe.recv()

    def close(self):
        self.pipe.send(None)
        self.process.join(10)


class Breaker(threading.Thread):
    """One fault after the other, each on one of the two ways to ZooKeeper."""

    def __init__(self, run, world):
        super().__init__(daemon=True)
        self.shared, self.world = run, world
        self.chance = random.Random(f"{run.seed}-breaker")

    def some(self, low, high):
        time.sleep(self.chance.uniform(low, high))

    def held(self, proxy, way, low, high, *then):
        proxy.do("hold", way)
        self.some(low, high)
        if then:
            proxy.do(*then)
        proxy.do("release", way)

    def swallow(self, proxy):
        """What is asked is done, no answer comes back."""
        self.held(proxy, "down", 0.005, 0.08, "cut")

    def cut(self, proxy):
        proxy.do("cut")

    def cut_on_the_way(self, proxy):
        """What is asked never arrives."""
        self.held(proxy, "up", 0.005, 0.08, "cut")

    def arrive_late(self, proxy):
        """The client has another connection when what it sent on the old one is delivered."""
        self.held(proxy, "up", 0.005, 0.05, "strand", self.chance.uniform(0.01, 0.3))

    def pause(self, proxy):
        self.held(proxy, "both", 0.02, 0.3)

    def delay(self, proxy):
        proxy.do("delay", "both", self.chance.uniform(0.002, 0.02))
        self.some(0.1, 0.4)
        proxy.do("delay", "both", 0.0)

    def stop(self, proxy):
        """registryd stands still."""
        pid = self.world.registry_of(proxy).process.pid
        os.kill(pid, signal.SIGSTOP)
        self.some(0.02, 0.3)
        os.kill(pid, signal.SIGCONT)

    def kill(self, proxy):
        registry = self.world.registry_of(proxy)
        registry.kill()
        registry.start("daemon_started")

    def expire(self, proxy):
        """Nothing passes for longer than the session lives."""
        expired_s = SESSION_MS / 1000 * 1.6
        self.held(proxy, "both", expired_s, expired_s, "cut")

    def kill_zookeeper(self, _):
        server = self.chance.choice(self.world.servers)
        server.kill()
        server.start()

    def run(self):
        common = [self.swallow] * 5 + [self.cut] * 3 + [self.cut_on_the_way] * 3 + [self.arrive_late] * 3 + [self.pause, self.delay, self.stop]
        rare = [self.kill, self.kill_zookeeper, self.expire]
        try:
            n = 0
            while not self.shared.is_over:
                n += 1
                fault = rare[n // 25 % len(rare)] if n % 25 == 0 else self.chance.choice(common)
                fault(self.chance.choice(self.world.proxies))
                self.shared.faults[fault.__name__] += 1
                self.some(0.05, 0.5)
        except Exception as error:  # pylint: disable=broad-except
            self.shared.found.append(f"the breaker itself: {error!r}")
            self.shared.is_over = True


# ---- all of it ----

class World:
    """ZooKeeper, two registryd, and a proxy from each of these to each server it uses."""

    def __init__(self, is_ensemble):
        self.dir = tempfile.mkdtemp(prefix="bobbin-soak-")
        self.proxies, self.registries, self.lags = [], [], []
        self.zk = zookeeper.Ensemble(quorum_via=self.lag) if is_ensemble else zookeeper.Server()
        self.servers = self.zk.servers if is_ensemble else [self.zk]

    def lag(self, port):
        """Messages of the other servers reach the first one late."""
        self.lags.append(Proxy(port))
        self.lags[-1].do("delay", "down", LAG_S)
        return self.lags[-1].port

    def registry_of(self, proxy):
        return self.registries[self.proxies.index(proxy) * len(self.registries) // len(self.proxies)]

    def start_registry(self, i):
        """It goes to the server that lags or to another one, as it comes."""
        mine = [Proxy(server.port) for server in (self.servers[0], *self.servers[i + 1:i + 2])]
        self.proxies += mine
        port = free_port()
        servers = ",".join(f"127.0.0.1:{proxy.port}" for proxy in mine)
        self.registries.append(Daemon("registryd", {
            **OPTIONS, "bobbin.data.dir": os.path.join(self.dir, str(i)), "hadoop.registry.store": f"zk://{servers}/registry",
            "hadoop.registry.http.address": f"127.0.0.1:{port}"}))
        self.registries[i].port = port
        self.registries[i].start("daemon_started")

    def __enter__(self):
        try:
            self.zk.start()
            for i in range(2):
                self.start_registry(i)
            for registry in self.registries:
                wait_for(lambda port=registry.port: request(port, "GET", "/readyz").status == 200, "registryd is ready")
            return self
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        try:
            for registry in self.registries:
                registry.stop()
        finally:
            for registry in self.registries:
                registry.kill()
            for proxy in self.proxies + self.lags:
                proxy.close()
            self.zk.close()
            shutil.rmtree(self.dir, ignore_errors=True)


def run(seconds, operations, is_ensemble=False, seed=None):
    """Texts of what was found. Ends after so many seconds or operations."""
    state = Run(seed or random.SystemRandom().randrange(1 << 32))
    print(f"soak registry: seed {state.seed}", flush=True)
    began = time.monotonic()
    with World(is_ensemble) as world:
        state.ports = [registry.port for registry in world.registries]
        clients = [Client(state, i) for i in range(4 if SANITIZED else N_CLIENTS)]
        breaker = Breaker(state, world)
        for thread in [*clients, breaker]:
            thread.start()
        while not state.is_over and (state.n_ops < operations if operations else time.monotonic() < began + seconds):
            time.sleep(0.05)
        state.is_over = True
        for thread in [breaker, *clients]:
            thread.join(2 * PATIENCE)
            if thread.is_alive():
                state.found.append(f"{thread} hangs, seed {state.seed}")
        took = time.monotonic() - began
        state.finish()
    print(f"soak registry: {state.n_ops} operations on {state.n_keys} nodes in {took:.0f} s, {state.n_unknown} of unknown outcome, "
          f"{state.n_refused} refused; faults: {dict(state.faults)}", flush=True)
    return state.found
