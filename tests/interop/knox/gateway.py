"""The stacks behind the Knox of the tests, and curl as people use it."""
import contextlib
import json
import os
import subprocess
import tempfile

import knox
from harness import PATIENCE, Registry, Stack, free_port
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
