"""`./dev knox up|down|status`, with a directory of its own in place of build/knox."""
import functools
import os
import re
import signal
import socket
import subprocess

import pytest

import knox
from harness import free_port


@pytest.fixture
def run(tmp_path, monkeypatch, says):
    monkeypatch.setattr(knox, "HOME", str(tmp_path / "knox"))
    yield functools.partial(says, knox.main)
    knox.down()


def test_up_status_down(run, behind):
    backends = [f"http://127.0.0.1:{port}" for port in (behind.secure.registry_port, behind.stack.services_port)]
    assert run("status") == (1, "Knox does not run\n")
    port = free_port()
    code, said = run("up", *backends, str(port))
    assert code == 0 and all(url in said for url in backends), said
    asked = subprocess.run(said.splitlines()[-1], shell=True, capture_output=True, check=True).stdout
    assert asked == behind.direct("/").body, "the command that it names"
    code, said = run("status")
    assert code == 0 and re.fullmatch(rf"Knox runs, process \d+, at https://127.0.0.1:{port}/gateway/bobbin/bobbin\n", said), said
    assert run("up")[0] == 1, "one at a time"
    assert run("down") == (0, "Knox is down\n") and run("status")[0] == 1
    assert not os.path.exists(knox.HOME) and run("down")[0] == 0


def test_a_knox_that_hangs(run, behind, monkeypatch):
    """Its status says so, and it is ended all the same."""
    monkeypatch.setattr(knox, "END_S", 1)
    backends = [f"http://127.0.0.1:{port}" for port in (behind.secure.registry_port, behind.stack.services_port)]
    assert run("up", *backends, str(free_port()))[0] == 0
    pid = knox.alive()
    os.kill(pid, signal.SIGSTOP)
    code, said = run("status")
    assert code == 1 and "but does not answer at https://" in said, said
    assert run("down") == (0, "Knox is down\n")
    assert os.WTERMSIG(os.waitpid(pid, 0)[1]) == signal.SIGKILL


def test_a_port_that_is_taken(run):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, said = run("up", "http://127.0.0.1:1", "http://127.0.0.1:1", str(taken.getsockname()[1]))
    assert code == 1 and "Address already in use" in said and len(said.splitlines()) == 1, said
    assert run("status")[0] == 1


@pytest.mark.parametrize("words", [(), ("restart",), ("status", "now"), ("down", "x"), ("up", "a", "b", "1", "c"), ("up", "a", "b", "port")])
def test_usage(run, words):
    code, said = run(*words)
    assert code == 2 and said.startswith("usage: ./dev knox up [")
