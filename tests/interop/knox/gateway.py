"""The stacks behind the Knox of the tests, and curl as people use it."""
import contextlib
import json
import os
import socket
import subprocess
import tempfile
import threading

import knox
import zkproxy
import zookeeper
from harness import BIN, PATIENCE, Registry, Stack, free_port, wait_for
from test_registry_access import SECURE

JSON = "-HContent-Type:application/json"


class Reply:
    """What curl got: status, headers in lower case, bytes of the body, seconds until its end and until it began."""

    def __init__(self, status, head, body, seconds, begun):
        self.status, self.body, self.seconds, self.begun = int(status), body, float(seconds), float(begun)
        lines = [line.split(":", 1) for line in head.split("\r\n\r\n")[-2].split("\r\n")[1:]]
        self.headers = {name.lower(): value.strip() for name, value in lines}

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def lines(self):
        """The objects of a watch."""
        return [json.loads(line) for line in self.body.splitlines()]

    def __repr__(self):
        return f"<{self.status} {self.headers} {self.body[:300]!r}>"


def curl(*words, user="alice", password=None, data=None, timeout=PATIENCE):
    """One request. user None: without a password."""
    who = ["-u", f"{user}:{password or knox.USERS[user]}"] if user else []
    with tempfile.TemporaryDirectory() as d:
        body, head = os.path.join(d, "body"), os.path.join(d, "head")
        done = subprocess.run(["curl", "-sk", *who, *words, "-m", str(timeout), "-o", body, "-D", head,
                               "-w", "%{http_code} %{time_total} %{time_starttransfer}"], input=data, capture_output=True, check=False)
        assert done.returncode == 0, f"curl {' '.join(words)}: {done.returncode} {done.stdout} {done.stderr}"
        with open(head, encoding="latin-1", newline="") as f:
            text = f.read()
        content = b""
        with contextlib.suppress(FileNotFoundError):
            with open(body, "rb") as f:
                content = f.read()
        status, seconds, begun = done.stdout.decode().split()
        return Reply(status, text, content, seconds, begun)


def within(most, measure, tries):
    """One of so many tries takes no longer than that. Where others have the processors some are late; a wait of Knox's or ours is in all."""
    took = []
    while not took or took[-1] > most:
        assert len(took) < tries, f"{took} s, not {most}"
        took.append(measure())


class Answers:
    """A backend that answers the first request of each connection with these bytes, and ends it."""

    def __init__(self, answer):
        self.answer, self.n_asked, self.n_writes = answer, 0, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                with self.listener.accept()[0] as client, contextlib.suppress(OSError):
                    asked = client.recv(65536)
                    self.n_asked += 1
                    self.n_writes += not asked.startswith(b"GET ")
                    client.sendall(self.answer)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


BUSY = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 7\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbusy"


class Follow:
    """A command that prints lines until it is ended."""

    def __init__(self, command, **how):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how)
        self.lines = []
        self.thread = threading.Thread(target=lambda: self.lines.extend(self.process.stdout), daemon=True)
        self.thread.start()

    def until(self, start):
        """All lines, as soon as one begins so."""
        wait_for(lambda: any(line.startswith(start) for line in list(self.lines)), f"a line {start}")
        return list(self.lines)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.process.terminate()
        said = self.process.stderr.read()
        self.process.wait()
        self.thread.join(PATIENCE)
        self.process.stdout.close()
        self.process.stderr.close()
        assert kind or not said, said


class Bobbin:
    """The command line as alice uses it from outside."""

    def __init__(self, behind, directory):
        self.password = directory / "password"
        self.password.write_text(knox.USERS["alice"] + "\n")
        self.login = ["--url", behind.knox.url(), "--user", "alice", "--password-file", str(self.password),
                      "--ca-file", behind.knox.ca()]

    def command(self, *words):
        return [os.path.join(BIN, "bobbin"), *words, *self.login]

    def __call__(self, *words, expect=0, more=()):
        done = subprocess.run([*self.command(*words), *more], capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert done.returncode == expect, (words, done)
        return done.stdout if expect == 0 else done.stderr

    def follow(self):
        return Follow(self.command("registry", "watch", "/users/alice"))


DEAD, SLOW = ("dead-1", "dead-2", "dead-3"), ("slow-1", "slow-2")


class Setting:
    """registryd (secure), svcmgr with a registry of its own, and Knox before them in these topologies:

    bobbin   as people have it
    dead-N   two addresses for each role, the first of which is dead; several, for Knox asks a dead address once
    slow-N   … does what is asked and says so 2 s after Knox has given up
    ends     … ends each connection when a request comes
    busy     … answers 503
    gone     one address for each role, which ends each connection when a request comes
    second   the second address of the registry of slow-N: two registryds on one ZooKeeper
    hasty    whose registryd closes connections that are idle for 3 s
    """

    def __enter__(self):
        with contextlib.ExitStack() as opened:
            self._start_backends(opened.enter_context)
            self.knox = opened.enter_context(knox.Gateway(self._topologies()))
            self.opened = opened.pop_all()
        return self

    def _start_backends(self, start):
        self.secure = start(Registry(options={"registryd": SECURE}))
        self.hasty = start(Registry(options={"registryd": {"hadoop.registry.http.head.timeout": "3s"}}))
        self.stack = start(Stack(services=True, options={"svcmgr": {"yarn.service.upgrade.enabled": "true"}}))
        self.store = start(zkproxy.Proxy(start(zookeeper.Server()).port))
        self.first, self.second = (start(Registry(store=f"zk://127.0.0.1:{self.store.port}/knox")) for _ in range(2))
        self.ends, self.gone, self.busy = start(Answers(b"")), start(Answers(b"")), start(Answers(BUSY))
        self.late, self.slow = (start(zkproxy.Proxy(port)) for port in (self.first.registry_port, self.stack.services_port))
        for relay in (self.late, self.slow):
            relay.delay("down", 5)

    def _topologies(self):
        def at(port):
            return f"http://127.0.0.1:{port}"
        registry, second, services = at(self.secure.registry_port), at(self.second.registry_port), at(self.stack.services_port)
        dead, late, slow = at(free_port()), at(self.late.port), at(self.slow.port)
        return {
            "bobbin": knox.topology([registry], [services]),
            **{name: knox.topology([dead, registry], [dead, services]) for name in DEAD},
            **{name: knox.topology([late, second], [slow, services], {"httpclient.socketTimeout": "3s"}) for name in SLOW},
            "ends": knox.topology([self.ends.url, registry], [services]),
            "busy": knox.topology([self.busy.url, registry], [services]),
            "gone": knox.topology([self.gone.url], [self.gone.url]),
            "second": knox.topology([second], [services]),
            "hasty": knox.topology([at(self.hasty.registry_port)], [services]),
        }

    def __exit__(self, *error):
        self.opened.__exit__(*error)

    def registry(self, path="", topology="bobbin"):
        return self.knox.url(topology) + "/registry/ws/v1/registry" + path

    def services(self, path="", topology="bobbin"):
        return self.knox.url(topology) + "/app/v1/services" + path

    def direct(self, path, query=""):
        """The same read around Knox."""
        return self.secure.registry("GET", path, query=query)
