"""Commands in containers (`bobbin app exec`): in pipes and at a terminal, with the rights and limits of the container; nothing is left of them."""
import contextlib
import os
import re
import select
import signal
import socket
import subprocess
import termios
import time

import pytest

from harness import BIN, PATIENCE, SANITIZED, Manager, command_lines, containers, request, until_sleepers, wait_for
from terminal import Terminal

pytestmark = pytest.mark.sanitize

SERVICE = {"name": "web", "version": "1", "components": [{
    "name": "w", "number_of_containers": 1, "launch_command": "exec sleep 1000", "resource": {"cpus": 1, "memory": "64"},
    "configuration": {"env": {"COLOUR": "blue", "TERM": "dumb"}}}]}
PATH = "/web/component-instances/w-0/exec"


@pytest.fixture(scope="module")
def manager():
    with Manager() as m:
        m.launch(SERVICE)
        yield m


def words(manager, *more, options=(), user="alice", instance="w-0"):
    return [os.path.join(BIN, "bobbin"), "app", "exec", "--url", f"http://127.0.0.1:{manager.services_port}", "--user", user, *options,
            "web", instance, *more]


def execute(manager, *more, **how):
    """To its end, in pipes."""
    command = {k: how.pop(k) for k in ("options", "user", "instance") if k in how}
    return subprocess.run(words(manager, *more, **command), capture_output=True, check=False, timeout=PATIENCE, **how)


@contextlib.contextmanager
def running(manager, *more, options=("-i",), **how):
    """One that is talked to by pipes; it is killed at the end."""
    process = subprocess.Popen(words(manager, *more, options=options), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, **how)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def mark(n):
    """An argument of sleep that no other test of this machine has."""
    return f"{os.getpid() + 10000000}.{n}"


def gone(text):
    wait_for(lambda: not command_lines(text), f"no process with {text} is left")


def parents(manager):
    """Pids of the parents of commands in its containers."""
    found = []
    for pid in command_lines("container-shim exec"):
        with contextlib.suppress(OSError):
            found += [pid] * os.readlink(f"/proc/{pid}/cwd").startswith(manager.dir)
    return found


# ---- in pipes ----

def test_outputs_stay_apart_and_the_exit_code_is_the_command_s(manager):
    done = execute(manager, "sh", "-c", "echo out; echo err >&2; exit 3")
    assert (done.returncode, done.stdout, done.stderr) == (3, b"out\n", b"err\n")
    assert execute(manager, "true").returncode == 0
    assert execute(manager, "sh", "-c", "kill -9 $$").returncode == 128 + 9
    missing = execute(manager, "no-such-program", "--help")
    assert missing.returncode == 127 and b"no-such-program" in missing.stderr, missing
    assert execute(manager, "/etc").returncode == 126
    assert execute(manager, "--", "sh", "-c", "echo -- \"$@\"", "-", "-i", "--", "it's").stdout == b"-- -i -- it's\n"


def test_it_is_in_the_container(manager):
    container = containers(manager.service("web"))[0]
    pid, = until_sleepers(manager.dir, 1)
    with open(f"/proc/{pid}/environ", "rb") as f:
        wanted = set(f.read().split(b"\0")) - {b""}
    with open(f"/proc/{pid}/cgroup", encoding="ascii") as f:
        cgroups = f.read()
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        status = {line.split(":")[0]: line.split()[1:] for line in f}
    assert f"CONTAINER_IP={container['ip']}".encode() in wanted
    assert set(execute(manager, "env", "-0").stdout.split(b"\0")) - {b""} == wanted
    assert execute(manager, "pwd").stdout.decode().strip() == os.readlink(f"/proc/{pid}/cwd")
    assert execute(manager, "cat", "/proc/self/cgroup", text=True).stdout == cgroups
    seen = {line.split(":")[0]: line.split()[1:] for line in execute(manager, "cat", "/proc/self/status", text=True).stdout.splitlines()}
    for same in ("Uid", "Gid", "Groups", "CapEff", "CapPrm", "CapAmb", "NoNewPrivs", "SigBlk", "SigIgn"):
        assert seen[same] == status[same], same
    descriptors = execute(manager, "sh", "-c", "ls /proc/$$/fd", text=True).stdout.split()
    assert set(descriptors) <= {"0", "1", "2", "255"}, descriptors


def test_octets_both_ways(manager):
    octets = os.urandom(4 << 20)
    done = execute(manager, "cat", options=("-i",), input=octets)
    assert (done.returncode, done.stderr) == (0, b"") and done.stdout == octets
    assert execute(manager, "sh", "-c", "wc -c; exit 7", options=("-i",), input=octets).stdout.strip() == b"%d" % len(octets)
    unread = execute(manager, "sh", "-c", "exit 5", options=("-i",), input=octets)
    assert unread.returncode == 5, unread
    assert execute(manager, "cat", input=b"not passed on").stdout == b""


def test_a_reader_that_goes_ends_it(manager):
    with running(manager, "sh", "-c", "yes from-4711") as process:
        assert process.stdout.readline() == b"from-4711\n"
        process.stdout.close()
        assert process.wait(PATIENCE) == 128 + signal.SIGPIPE
        process.stdout = open(os.devnull, "rb")
    gone("yes from-4711")


@pytest.mark.skipif(SANITIZED, reason="memory of sanitizers")
def test_a_hundred_megabytes_with_little_memory(manager):
    with running(manager, "sh", "-c", "head -c 104857600 /dev/zero") as process:
        # Nothing is read for now: it must stand still, and hold little.
        def blocked():
            found = parents(manager)  # that of the test before may be ending
            if len(found) != 1:
                return None
            with open(f"/proc/{found[0]}/status", encoding="ascii") as f:
                state = re.search(r"State:\s+(\w)", f.read()).group(1)
            return state == "S" and select.select([process.stdout], [], [], 0)[0] and found[0]
        parent = wait_for(blocked, "it waits for its client")
        n, peak = 0, 0
        while piece := os.read(process.stdout.fileno(), 1 << 16):
            n += len(piece)
            if n % (8 << 20) < 1 << 16:
                for pid in (parent, process.pid):
                    with contextlib.suppress(OSError), open(f"/proc/{pid}/status", encoding="ascii") as f:
                        peak = max(peak, *map(int, re.findall(r"VmHWM:\s+(\d+)", f.read()) or [0]))
        assert n == 104857600 and process.wait(PATIENCE) == 0
        assert 0 < peak < 16384, f"{peak} kB"


def test_signals_go_to_the_command_even_past_input_that_it_does_not_read(manager):
    script = "trap 'echo got usr1' USR1; trap 'echo got int; exit 9' INT; echo ready; while :; do sleep 0.05; done"
    with running(manager, "sh", "-c", script) as process:
        assert process.stdout.readline() == b"ready\n"
        os.set_blocking(process.stdin.fileno(), False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(process.stdin.fileno(), bytes(65536))
        process.send_signal(signal.SIGUSR1)
        assert process.stdout.readline() == b"got usr1\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == b"got int\n"
        assert process.wait(PATIENCE) == 9
    with running(manager, "sleep", f"{mark(1)}") as process:
        wait_for(lambda: len(command_lines(f"sleep {mark(1)}")) == 2, "it sleeps")
        process.terminate()
        assert process.wait(PATIENCE) == 128 + signal.SIGTERM


# ---- at a terminal ----

def test_a_terminal_has_the_size_and_kind_of_ours_and_is_resized(manager):
    with Terminal(words(manager, "sh", "-c", "stty size; echo $TERM; tty; trap 'stty size; exit 6' WINCH; echo set; while :; do sleep 0.05; done")) as t:
        t.until(rb"31 117\r\nxterm-256color\r\n/dev/pts/\d+\r\nset\r\n")
        t.resize(44, 99)
        t.until(rb"44 99\r\n")
        assert t.end() == 6
        assert termios.tcgetattr(t.slave) == t.before


def test_keys_reach_the_foreground_and_a_shell_is_the_default(manager):
    with Terminal(words(manager)) as t:
        t.type(b"PS1='ready'; PS2=; echo $((40 + 2)) $0\n")
        t.until(rb"42 \S*(bash|sh)\r\n")
        t.type(f"echo sleeping; sleep {mark(2)}\n".encode())
        t.until(rb"sleeping\r\n")
        wait_for(lambda: command_lines(f"sleep {mark(2)}"), "it sleeps")
        t.type(b"\x03")  # Ctrl-C
        gone(f"sleep {mark(2)}")
        t.type(b"echo status $?\n")
        t.until(rb"status 130\r\n")
        t.type(b"echo \xc3\xa4 | od -c | head -1\n")
        t.until(rb"303 244")
        t.type(b"exit 5\n")
        assert t.end() == 5
    with Terminal(words(manager, "cat")) as t:
        t.type(b"a line\n")
        t.until(rb"a line\r\na line\r\n")
        t.type(b"\x04")  # Ctrl-D
        assert t.end() == 0


def test_a_command_may_close_its_terminal(manager):
    """And go on, as programs do that close their outputs before they end; it may open it again."""
    script = "echo one; exec 0<&- 1>&- 2>&-; sleep 0.3; echo two > /dev/tty; sleep 0.1; exit 7"
    with Terminal(words(manager, "sh", "-c", script)) as t:
        t.until(rb"one\r\ntwo\r\n")
        assert t.end() == 7


def test_the_terminal_is_restored_whatever_ends_it(manager):
    with Terminal(words(manager, "sh", "-c", f"echo ready; sleep {mark(3)}")) as t:
        t.until(rb"ready")
        wait_for(lambda: termios.tcgetattr(t.slave) != t.before, "it is raw")
        (pid,) = [p for p, line in command_lines(f"{mark(3)}", "bobbin").items() if not line.startswith("setsid")]
        os.kill(pid, signal.SIGTERM)
        assert t.end() == 128 + signal.SIGTERM
        assert termios.tcgetattr(t.slave) == t.before
    gone(f"sleep {mark(3)}")
    with Terminal(words(manager, "no-such-program")) as t:
        t.until(rb"bobbin: no-such-program: No such file or directory\r\n")
        assert t.end() == 127
        assert termios.tcgetattr(t.slave) == t.before


def test_a_terminal_for_input_that_is_none(manager):
    done = execute(manager, "sh", "-c", "test -t 0 && read line && echo got $line && cat && stty size", options=("-it",), input=b"one\ntwo")
    assert done.returncode == 0 and b"got one\r\n" in done.stdout and b"24 80" in done.stdout, done


# ---- its end ----

def test_nothing_is_left_of_it(manager):
    done = execute(manager, "sh", "-c", f"(setsid sleep {mark(4)} & setsid sh -c \"trap '' HUP; sleep {mark(4)}; sleep {mark(4)}\" &); exit 4")
    assert done.returncode == 4
    assert not command_lines(f"sleep {mark(4)}"), "leftovers end with the command"
    with running(manager, "sh", "-c", f"trap '' HUP TERM; setsid sleep {mark(5)} & echo ready; while :; do sleep 0.1; done") as process:
        assert process.stdout.readline() == b"ready\n"
        process.kill()
    gone(f"{mark(5)}")
    with Terminal(words(manager, "sh", "-c", f"trap '' HUP; echo ready; sleep {mark(6)}; sleep {mark(6)}")) as t:
        t.until(rb"ready")
        for pid in command_lines(f"{mark(6)}", "bobbin"):
            os.kill(pid, signal.SIGKILL)
    gone(f"{mark(6)}")
    wait_for(lambda: not parents(manager), "no parent is left")


def test_it_ends_with_the_process_of_its_container(manager):
    with running(manager, "sh", "-c", f"echo ready; exec sleep {mark(7)}") as process:
        assert process.stdout.readline() == b"ready\n"
        assert manager.services("POST", "/web/component-instances/w-0/restart?user.name=alice").status in (202, 204)
        assert process.wait(PATIENCE) > 128
    gone(f"sleep {mark(7)}")
    wait_for(lambda: containers(manager.service("web"))[0]["state"] == "READY", "the other process is ready")
    assert execute(manager, "true").returncode == 0


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_it_ends_with_svcmgr(how):
    with Manager(options={"svcmgr": {"yarn.service.stop-containers-on-exit": "false"}}) as m:
        m.launch(SERVICE)
        with running(m, "sh", "-c", f"trap '' HUP TERM; echo ready; sleep {mark(8)}; sleep {mark(8)}") as process:
            assert process.stdout.readline() == b"ready\n"
            (m.svcmgr.stop if how == "stop" else m.svcmgr.kill)()
            if how == "stop":
                assert not parents(m) and not command_lines(f"sleep {mark(8)}"), "a stop waits for their end"
            assert process.wait(PATIENCE) not in (0, None)
        gone(f"{mark(8)}")
        wait_for(lambda: not parents(m), "no parent is left")
        m.svcmgr.options["yarn.service.stop-containers-on-exit"] = "true"
        m.svcmgr.start()
        m.until_state("web", "READY")
        assert execute(m, "echo", "again").stdout == b"again\n"


# ---- who may, and how many ----

def test_others_may_not_and_what_is_not_there_is_named(manager):
    refused = execute(manager, "true", user="bob")
    assert refused.returncode == 10 and b"web not found" in refused.stderr, refused
    refused = execute(manager, "true", instance="w-7")
    assert refused.returncode == 10 and b"no such instance" in refused.stderr, refused


def test_a_request_without_an_upgrade_or_by_a_gateway_is_refused(manager):
    answer = manager.services("POST", f"{PATH}?user.name=alice&command=true")
    assert answer.status == 426 and answer.headers["Upgrade"] == "bobbin-exec", answer
    upgrade = {"Connection": "Upgrade", "Upgrade": "bobbin-exec"}
    answer = manager.services("POST", f"{PATH}?user.name=alice&command=true", headers={**upgrade, "X-Forwarded-Context": "/gateway/x"})
    assert answer.status == 501 and "gateway" in answer.body.decode(), answer
    for query, status in (("rows=65536", 400), ("tty=maybe", 400), ("shell=true", 400), ("term=a%0Ab", 400)):
        assert manager.services("POST", f"{PATH}?user.name=alice&{query}", headers=upgrade).status == status, query
    by_gateway = subprocess.run([os.path.join(BIN, "bobbin"), "app", "exec", "--url", "https://knox:8443/gateway/a", "web", "w-0"],
                                capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert by_gateway.returncode == 30 and "svcmgr itself" in by_gateway.stderr, by_gateway


def frame(kind, payload=b""):
    return bytes([kind]) + len(payload).to_bytes(3, "big") + payload


def upgraded(manager, query, early=b""):
    """A connection that speaks frames, with all that came until the end when it is read."""
    s = socket.create_connection(("127.0.0.1", manager.services_port), timeout=PATIENCE)
    s.sendall(f"POST /app/v1/services{PATH}?user.name=alice&{query} HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive, Upgrade\r\n"
              "Upgrade: bobbin-exec\r\nContent-Length: 0\r\n\r\n".encode() + early)
    return s


def all_of(connection):
    seen = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := connection.recv(65536):
            seen += piece
    connection.close()
    return seen.partition(b"\r\n\r\n")[::2]


def test_frames_of_another_client(manager):
    head, frames = all_of(upgraded(manager, "command=cat", frame(1, b"early") + frame(1)))
    assert head.startswith(b"HTTP/1.1 101 ") and b"upgrade: bobbin-exec" in head.lower(), head
    assert frames.startswith(frame(17, b"early")) or frame(17, b"early") in frames
    assert frames.endswith(frame(21, b"\0")), frames
    for bad in (frame(17, b"x"), b"\1\xff\xff\xff", frame(2, b"abc"), frame(1, bytes(16385)), frame(1) + frame(1, b"x"),
                frame(1, bytes(16384)) * 9):
        _, frames = all_of(upgraded(manager, f"command=sleep&command={mark(9)}", bad))
        assert b"protocol" in frames, (bad[:8], frames)
    gone(f"sleep {mark(9)}")
    # Who reads nothing gets no credit, also where the command has closed its input and what is sent goes nowhere.
    with upgraded(manager, "command=sh&command=-c&command=exec+0%3C%26-;exec+yes") as greedy:
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            end = time.monotonic() + PATIENCE
            while time.monotonic() < end:
                greedy.sendall(frame(1, bytes(16384)))
    wait_for(lambda: not parents(manager), "it has ended")


def test_a_client_that_vanishes_without_a_word_is_looked_for(manager):
    with running(manager, "sh", "-c", f"echo ready; exec sleep {mark(10)}") as process:
        assert process.stdout.readline() == b"ready\n"
        with open("/proc/net/tcp", encoding="ascii") as f:
            rows = [line.split() for line in f][1:]
        port = f":{manager.services_port:04X}"
        timers = [row[5].split(":")[0] for row in rows if row[3] == "01" and (row[1].endswith(port) or row[2].endswith(port))]
        assert timers.count("02") >= 2, f"keepalive on both sides: {rows}"


def test_there_are_bounds_and_the_log_names_the_program_only():
    with Manager(options={"svcmgr": {"yarn.service.exec.max-sessions": "2"}}) as m:
        m.launch(SERVICE)
        with running(m, "sh", "-c", "echo ready; cat", "secret-4711"), running(m, "sleep", "1000"):
            wait_for(lambda: b"svcmgr_exec_sessions 2" in request(m.services_port, "GET", "/metrics").body, "two sessions")
            refused = execute(m, "true")
            assert refused.returncode == 27 and b"max-sessions" in refused.stderr, refused
        wait_for(lambda: execute(m, "true").returncode == 0, "there is room again")
        begun = [[e[k] for k in ("user", "service", "instance", "program")] for e in m.svcmgr.events if e["event"] == "exec_begun"]
        assert sorted(begun[:2]) == [["alice", "web", "w-0", program] for program in ("sh", "sleep")], begun
        wait_for(lambda: {("sleep", 128 + signal.SIGHUP), ("true", 0)} <= {
            (e["program"], e["code"]) for e in m.svcmgr.events if e["event"] == "exec_ended"}, "their ends are logged")
        assert "secret-4711" not in "".join(m.svcmgr.raw)
        assert any(e["event"] == "http_write" and "command=?" in e.get("query", "") for e in m.svcmgr.events)
    with Manager(options={"svcmgr": {"yarn.service.exec.max-sessions": "0"}}) as m:
        m.launch(SERVICE)
        refused = execute(m, "true")
        assert refused.returncode == 30 and b"max-sessions" in refused.stderr, refused


def test_a_simulated_cluster_has_no_processes():
    with Manager(options={"svcmgr": {"yarn.service.cluster": "sim"}}) as m:
        m.launch(SERVICE)
        refused = execute(m, "true")
        assert refused.returncode == 30 and b"processes" in refused.stderr, refused
