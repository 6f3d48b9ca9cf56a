"""The example application master binds its endpoints, updates one and unbinds them; DNS shows each step."""
import os
import signal
import subprocess

import pytest

from harness import BIN, PATIENCE, Stack, dig_full

pytestmark = pytest.mark.sanitize

PATH = "/users/alice/services/example/am"
NAME = "am.alice.bobbin.test"


@pytest.fixture(scope="module")
def stack():
    with Stack() as s:
        yield s


class Am:
    """The program, with its output line by line."""

    def __init__(self, stack, *words):
        command = [os.path.join(BIN, "example-am"), "--registry", f"http://127.0.0.1:{stack.registry_port}", "--user",
                   "alice", "--host", "127.77.5.5", *words]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def line(self):
        return self.process.stdout.readline().split()

    def end(self):
        """Rest of the output, error output, exit code."""
        out, err = self.process.communicate(timeout=PATIENCE)
        return out, err, self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


def revision_of(words):
    return next(word.split("=", 1)[1] for word in words if word.startswith("revision="))


def test_binds_updates_and_unbinds(stack):
    with Am(stack) as am:
        first, second, resolved = am.line(), am.line(), am.line()
        assert first[:2] == ["bound", PATH] and second[:2] == ["bound", PATH], am.end()
        assert revision_of(first) != revision_of(second)
        assert resolved == ["resolved", PATH, "web=http://127.77.5.5:8090/"]
        record = stack.registry("GET", PATH).json["service"]
        assert [e["api"] for e in record["external"]][0] == "http://"
        assert record["yarn:persistence"] == "application"

        stack.sync(revision_of(second))
        assert stack.dig(NAME) == ["127.77.5.5"]
        assert stack.dig(f"http-api.{NAME}", "SRV") == [f"1 1 8090 {NAME}."]
        assert stack.dig(f"http-api.{NAME}", "TXT") == ['"api=http" "path=/"']
        assert f"1 1 8031 {NAME}." in stack.dig(f"appmaster-ipc-api.{NAME}", "SRV")

        am.process.send_signal(signal.SIGTERM)
        out, err, code = am.end()
        assert (err, code) == ("", 0)
        assert stack.registry("GET", PATH).status == 404
        stack.sync(revision_of(out.split()))
        assert "status: NXDOMAIN" in dig_full(stack.dns_port, NAME, "A")


def test_once_leaves_nothing(stack):
    with Am(stack, "--once", "--name", "brief") as am:
        out, err, code = am.end()
        assert (err, code) == ("", 0)
        assert [line.split()[0] for line in out.splitlines()] == ["bound", "bound", "resolved", "unbound"]
    assert stack.registry("GET", "/users/alice/services/example/brief").status == 404


def test_survives_a_restart_of_registryd(stack):
    with Am(stack) as am:
        for _ in range(3):
            am.line()
        stack.registryd.kill()
        am.process.send_signal(signal.SIGTERM)
        stack.registryd.start("registry_synced")
        out, err, code = am.end()
        assert (err, code) == ("", 0)
        assert out.startswith("unbound")
    assert stack.registry("GET", PATH).status == 404
