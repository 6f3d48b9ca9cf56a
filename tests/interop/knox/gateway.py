"""The stacks behind the Knox of the tests, and curl as people use it."""
import contextlib
import json
import os
import socket
import subprocess
import tempfile
import threading
import time

import knox
from harness import BIN, PATIENCE, Registry, Stack, free_port, wait_for
from test_registry_access import SECURE

JSON = "-HContent-Type:application/json"


class Reply:
    """What curl got: status, headers in lower case, bytes of the body, seconds."""

    def __init__(self, status, head, body, seconds):
        self.status, self.body, self.seconds = int(status), body, float(seconds)
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
                               "-w", "%{http_code} %{time_total}"], input=data, capture_output=True, check=False)
        assert done.returncode == 0, f"curl {' '.join(words)}: {done.returncode} {done.stdout} {done.stderr}"
        with open(head, encoding="latin-1", newline="") as f:
            text = f.read()
        content = b""
        with contextlib.suppress(FileNotFoundError):
            with open(body, "rb") as f:
                content = f.read()
        return Reply(*done.stdout.decode().split()[:1], text, content, done.stdout.decode().split()[1])


class SlowAnswers:
    """A relay that passes requests on at once and their answers only after so many seconds: a backend that is done long before
    it says so."""

    def __init__(self, delay_s):
        self.delay_s = delay_s
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.backend = None

    def url(self, backend):
        """The address that Knox gets in place of this one."""
        host, port = backend.rsplit("/", 1)[1].split(":")
        self.backend = host, int(port)
        threading.Thread(target=self._accept, daemon=True).start()
        return f"http://127.0.0.1:{self.port}"

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client = self.listener.accept()[0]
                server = socket.create_connection(self.backend)
                for pair in ((client, server, 0), (server, client, self.delay_s)):
                    threading.Thread(target=self._relay, args=pair, daemon=True).start()

    @staticmethod
    def _relay(source, sink, delay_s):
        with contextlib.suppress(OSError):
            while piece := source.recv(65536):
                if delay_s:
                    time.sleep(delay_s)
                sink.sendall(piece)
            sink.shutdown(socket.SHUT_WR)

    def close(self):
        self.listener.close()


class Follow:
    """A command that prints lines until it is ended."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
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


class Setting:
    """registryd (secure), svcmgr with a registry of its own, and Knox before them in three topologies: bobbin; ha, whose first
    addresses are dead; slow, which gives up after 3 s and asks the second svcmgr address."""

    def __init__(self, slow_url):
        self.secure = Registry(options={"registryd": SECURE})
        self.stack = Stack(services=True)
        self.slow_url = slow_url

    def __enter__(self):
        with contextlib.ExitStack() as opened:
            opened.enter_context(self.secure)
            opened.enter_context(self.stack)
            registry = f"http://127.0.0.1:{self.secure.registry_port}"
            services = f"http://127.0.0.1:{self.stack.services_port}"
            dead = f"http://127.0.0.1:{free_port()}"
            self.knox = opened.enter_context(knox.Gateway({
                "bobbin": knox.topology([registry], [services]),
                "ha": knox.topology([dead, registry], [dead, services], ha=True),
                "slow": knox.topology([registry], [self.slow_url(services), services], {"httpclient.socketTimeout": "3s"}, ha=True),
            }, {"gateway.httpserver.responseBuffer": 1024}))
            self.opened = opened.pop_all()
        return self

    def __exit__(self, *error):
        self.opened.__exit__(*error)

    def registry(self, path="", topology="bobbin"):
        return self.knox.url(topology) + "/registry/ws/v1/registry" + path

    def services(self, path="", topology="bobbin"):
        return self.knox.url(topology) + "/app/v1/services" + path

    def direct(self, path, query=""):
        """The same read around Knox."""
        return self.secure.registry("GET", path, query=query)
