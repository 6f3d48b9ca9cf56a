"""What a person sees on standard error while a command waits: one moving line on a terminal, plain lines in a pipe, nothing with --quiet."""
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios
import threading

import pytest

from harness import BIN, PATIENCE, Stack, free_port, request, wait_for

pytestmark = pytest.mark.sanitize
ERASE = "\r\x1b[K"


def definition(name, ready_when=None, count=1, command="exec sleep 1000"):
    component = {"name": "talk", "number_of_containers": count, "launch_command": command,
                 "resource": {"cpus": 1, "memory": "32"}}
    if ready_when:
        component["readiness_check"] = {"type": "HTTP", "properties": {"url": ready_when}}
        component["configuration"] = {"properties": {"yarn.service.readiness-check-interval.seconds": "1"}}
    return json.dumps({"name": name, "version": "1", "components": [component]})


@pytest.fixture(scope="module")
def stack():
    with Stack(services=True, options={"svcmgr": {"yarn.service.upgrade.enabled": "true", "yarn.service.stop-containers-on-exit": "true",
                                                       "yarn.nodemanager.sleep-delay-before-sigkill.ms": "60000"}}) as s:
        yield s


@pytest.fixture
def service(stack):
    """A name whose service is destroyed afterwards."""
    names = []

    def name_it(name):
        names.append(name)
        return name
    yield name_it
    for name in names:
        request(stack.services_port, "DELETE", f"/app/v1/services/{name}?user.name=alice")


def words(stack, *more):
    return [os.path.join(BIN, "bobbin"), "app", more[0], "--url", f"http://127.0.0.1:{stack.services_port}",
            "--user", "alice", *more[1:]]


class Terminal:
    """A command whose standard error is a terminal of so many columns."""

    def __init__(self, command, columns, stdin, term="xterm"):
        self.mine, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.seen = ""
        self.process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=theirs, text=True,
                                        env={**os.environ, "TERM": term})
        os.close(theirs)
        self.timer = threading.Timer(PATIENCE, self.process.kill)
        self.timer.start()

    def until(self, pattern):
        """Read until the pattern was seen; None: to the end."""
        while pattern is None or not re.search(pattern, self.seen):
            try:
                piece = os.read(self.mine, 4096)
            except OSError:  # EIO: the other end is closed
                piece = b""
            if not piece:
                break
            self.seen += piece.decode()
        assert pattern is None or re.search(pattern, self.seen), self.seen

    def end(self):
        self.until(None)
        out = self.process.communicate()[0]
        return self.process.returncode, out, self.seen

    def close(self):
        self.timer.cancel()
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        os.close(self.mine)


@pytest.fixture
def terminal(tmp_path):
    open_ones = []

    def start(command, columns=100, text="", **more):
        path = tmp_path / "stdin"
        path.write_text(text)
        with open(path, encoding="utf-8") as stdin:
            open_ones.append(Terminal(command, columns, stdin, **more))
        return open_ones[-1]
    yield start
    for one in open_ones:
        one.close()


def screens(seen):
    """The texts that the line showed one after the other, and what stayed after it."""
    assert seen.startswith(ERASE), seen
    *moving, last = seen.split(ERASE)[1:]
    return moving, last


def test_on_a_terminal_one_line_moves_and_is_erased(stack, service, terminal):
    gate = os.path.join(stack.dir, "gate-one")
    port = free_port()
    command = f"until [ -e {gate} ]; do sleep 0.05; done; mkdir -p w; : > w/index.html; exec busybox httpd -f -p $CONTAINER_IP:{port} -h w"
    t = terminal(words(stack, "launch", "-"), text=definition(
        service("moving"), f"http://${{THIS_HOST}}:{port}/index.html", command=command))
    t.until(r"0 of 1 containers READY; talk-0: readiness: .* s\)")
    open(gate, "w", encoding="ascii").close()
    code, out, seen = t.end()
    assert code == 0 and out.startswith("moving READY "), (out, seen)
    moving, last = screens(seen)
    assert all("\n" not in text and re.search(r"^moving: .*\(\d+\.\d s\)$", text) for text in moving), seen
    assert re.fullmatch(r"moving: READY \(\d+\.\d s\)\r\n", last), seen


def test_a_narrow_terminal_gets_no_second_line(stack, service, terminal):
    t = terminal(words(stack, "launch", "--timeout", "2500ms", "-"), columns=40, text=definition(
        service("narrow"), "http://127.0.0.1:9/an/address/where/nobody/listens"))
    code, _, seen = t.end()
    assert code == 6, seen
    moving, last = screens(seen)
    assert moving and all(len(text) <= 39 and text.endswith(" s)") for text in moving), seen
    assert "not READY within 2.5 s" in last


def test_a_dumb_terminal_is_treated_as_a_pipe(stack, service, terminal):
    t = terminal(words(stack, "launch", "--timeout", "500ms", "-"), term="dumb", text=definition(
        service("dumb"), "http://127.0.0.1:9/"))
    assert "\x1b" not in t.end()[2]


def run(stack, *more, text=None):
    return subprocess.run(words(stack, *more), input=text, capture_output=True, text=True, timeout=2 * PATIENCE, check=False)


def test_in_a_pipe_a_line_is_printed_when_it_changes(stack, service):
    done = run(stack, "launch", "--timeout", "3500ms", "-", text=definition(service("piped"), "http://127.0.0.1:9/"))
    lines = done.stderr.splitlines()
    assert done.returncode == 6 and "\x1b" not in done.stderr and "\r" not in done.stderr, done
    assert re.fullmatch("piped: (ACCEPTED|STARTED), 0 of 1 containers READY(; .*)?", lines[0]), done
    assert len(set(lines)) == len(lines), done  # the same is not said twice
    assert lines[-1] == "bobbin: piped: not READY within 3.5 s", done


@pytest.mark.parametrize("letter", ["-q", "--quiet"])
def test_quiet_shows_nothing_but_the_outcome(stack, service, letter):
    name = service("quiet" + letter.strip("-"))
    done = run(stack, "launch", letter, "--timeout", "500ms", "-", text=definition(name, "http://127.0.0.1:9/"))
    assert done.returncode == 6 and done.stderr == f"bobbin: {name}: not READY within 0.5 s\n", done
    done = run(stack, "destroy", letter, name)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"destroyed {name}\n", ""), done


SLOW = "trap 'until [ -e {} ]; do sleep 0.05; done; exit 0' TERM; echo trapped; while :; do sleep 0.05; done"


def launch_slow(stack, name):
    """A service that ends after SIGTERM when a file is there; returns the file's name."""
    gate = os.path.join(stack.dir, f"gate-{name}")
    assert run(stack, "launch", "-", text=definition(name, command=SLOW.format(gate))).returncode == 0
    wait_for(lambda: "trapped" in run(stack, "logs", name).stdout, "the process has its trap")
    return gate


@pytest.mark.parametrize("verb, done, last", [("stop", "stopped", "STOPPED"), ("destroy", "destroyed", "destroyed")])
def test_the_containers_that_are_left_are_counted(stack, service, verb, done, last):
    name = service("slow-to-" + verb)
    gate = launch_slow(stack, name)
    process = subprocess.Popen(words(stack, verb, name), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    timer = threading.Timer(PATIENCE, process.kill)
    timer.start()
    try:
        first = process.stderr.readline()
        open(gate, "w", encoding="ascii").close()
        out, rest = process.communicate()
    finally:
        timer.cancel()
        process.kill()
    assert first == f"{name}: stopping, 1 container left\n", (first, rest)
    assert (process.returncode, out) == (0, f"{done} {name}\n"), rest
    assert rest.splitlines()[-1].startswith(f"{name}: {last} ("), rest


def test_stop_waits_unless_it_need_not(stack, service):
    assert run(stack, "launch", "-", text=definition(service("brief"))).returncode == 0
    assert run(stack, "stop", "brief").stdout == "stopped brief\n"
    assert run(stack, "status", "brief").stdout.split()[1] == "STOPPED"
    assert run(stack, "start", "-q", "--wait", "brief").returncode == 0
    out = run(stack, "stop", "--no-wait", "brief")
    assert (out.returncode, out.stdout, out.stderr) == (0, "accepted brief\n", ""), out


def second_version(stack, name):
    """Of a service of two: each instance of it is READY when its file is there. Returns the definition and the files."""
    gates = [os.path.join(stack.dir, f"gate-{name}-{i}") for i in range(2)]
    port = free_port()
    command = (f"until [ -e {stack.dir}/gate-{name}-${{COMPONENT_ID}} ]; do sleep 0.05; done; mkdir -p w; "
               f"exec busybox httpd -f -p $CONTAINER_IP:{port} -h w")
    first = json.loads(definition(name, count=2))
    check = {"readiness_check": {"type": "PORT", "properties": {"port": str(port)}},
             "configuration": {"properties": {"yarn.service.readiness-check-interval.seconds": "1"}}}
    first["components"][0].update(**check, launch_command=command)
    second = json.loads(json.dumps(first))
    second["version"], second["components"][0]["launch_command"] = "2", command + " # 2"
    for gate in gates:
        open(gate, "w", encoding="ascii").close()
    assert run(stack, "launch", "-q", "-", text=json.dumps(first)).returncode == 0
    for gate in gates:
        os.remove(gate)
    return json.dumps(second), gates


def test_an_upgrade_counts_the_instances_that_are_left_on_a_terminal(stack, service, terminal):
    text, gates = second_version(stack, service("rolling"))
    t = terminal(words(stack, "upgrade", "--wait", "rolling", "-"), text=text)
    for left, gate in zip(("2 instances", "1 instance"), gates):
        t.until(rf"upgrade to version 2, {left} left; talk-\d: readiness: [^\x1b]*\(\d+\.\d s\)")
        open(gate, "w", encoding="ascii").close()
    code, out, seen = t.end()
    assert code == 0 and out.startswith("rolling READY "), (out, seen)
    moving, last = screens(seen)
    assert all("\n" not in text for text in moving) and re.fullmatch(r"rolling: upgraded \(\d+\.\d s\)\r\n", last), seen


def test_an_upgrade_counts_the_instances_that_are_left_in_a_pipe(stack, service):
    text, gates = second_version(stack, service("stepping"))
    process = subprocess.Popen(words(stack, "upgrade", "--wait", "stepping", "-"), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    timer = threading.Timer(2 * PATIENCE, process.kill)
    timer.start()
    try:
        process.stdin.write(text)
        process.stdin.close()
        seen = []
        for left, gate in zip(("2 instances", "1 instance"), gates):
            while not seen or f"{left} left" not in seen[-1]:
                seen.append(process.stderr.readline())
                assert seen[-1], seen
            open(gate, "w", encoding="ascii").close()
        seen += process.stderr.read().splitlines()
        assert process.wait() == 0, seen
    finally:
        timer.cancel()
        process.kill()
        process.stdout.close()
        process.stderr.close()
    assert "\x1b" not in "".join(seen) and re.match(r"stepping: upgraded \(", seen[-1]), seen


def test_import_counts_on_a_terminal_and_in_a_pipe(stack, terminal, tmp_path):
    lines = [{"path": "/bulk"}] + [{"path": f"/bulk/n{i}"} for i in range(1200)]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    command = [os.path.join(BIN, "bobbin"), "registry", "import", "--url", f"http://127.0.0.1:{stack.registry_port}"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0 and re.match(r"-: \d+ lines read, 0 nodes created, ", done.stderr), done
    code, out, seen = terminal(command, text=text).end()
    assert code == 0 and out.startswith("created=0 "), (out, seen)
    moving, last = screens(seen)
    assert len(moving) == 2 and last == "" and "500 unchanged" in moving[1], seen
