"""`bench.py engine`, this host: 200 processes under svcmgr, supervisor and runit; a first process until DNS has it; a kill of svcmgr.

Each process writes its pid at the end of one file and becomes `sleep`, so a start is seen where it happens, with every peer in the
same way. The peers take turns. Memory and CPU are those of the supervising processes alone, without the 200.
"""
import concurrent.futures
import contextlib
import os
import shutil
import signal
import socket
import statistics
import struct
import subprocess
import tempfile
import time

import process
from harness import DOMAIN, PATIENCE, Stack, containers, end_process, wait_for

MISSING_S = 120
SLEEP = "100000"
UNBOUNDED = {"yarn.service.container-failure-per-component.threshold": "1000000"}


class Starts:
    """Pids in the order in which the processes have started."""

    def __init__(self, directory):
        self.path = os.path.join(directory, "starts")
        with open(self.path, "wb"):
            pass
        os.chmod(self.path, 0o666)
        self.command = f"echo $$ >> {self.path}; exec sleep {SLEEP}"

    def pids(self):
        with open(self.path, encoding="ascii") as f:
            return [int(line) for line in f.read().split("\n")[:-1]]

    def until(self, count):
        """Wait for that many starts; returns when the last was seen (monotonic)."""
        end = time.monotonic() + MISSING_S
        while len(self.pids()) < count:
            if time.monotonic() > end:
                raise RuntimeError(f"{len(self.pids())} of {count} processes have started")
            time.sleep(0.001)
        return time.monotonic()


def _stack():
    """All that a service needs, with room for its containers on any host."""
    return Stack(services=True, options={"svcmgr": {"yarn.nodemanager.resource.cpu-vcores": "1024"}})


class Svcmgr:
    """One service of n instances on a stack of its own."""

    name = "svcmgr"

    def __init__(self, directory, n):
        self.starts, self.n, self.stack = Starts(directory), n, _stack()

    def begin(self):
        """Ready to start processes; not measured."""
        self.stack.__enter__()

    def go(self):
        document = {"name": "many", "version": "1", "configuration": {"properties": UNBOUNDED}, "components": [
            {"name": "p", "number_of_containers": self.n, "launch_command": self.starts.command,
             "resource": {"cpus": 1, "memory": "8"}}]}
        answer = self.stack.services("POST", "?user.name=alice", document)
        if answer.status != 202:
            raise RuntimeError(str(answer))

    def supervisors(self):
        """Pids of what supervises: svcmgr, its shims, and registryd and dnsd, which the peers have no counterpart of, apart."""
        return [pid for pid in self._tree() if pid not in set(self.starts.pids())]

    def _tree(self):
        shims = {_parent(pid) for pid in self.starts.pids()} - {None, 1}
        return [self.stack.svcmgr.process.pid, *sorted(shims)]

    def end(self):
        self.stack.__exit__(None, None, None)


class _Program:
    """A peer: one program in the foreground that starts all of it."""

    def __init__(self, directory, n):
        self.starts, self.n, self.dir, self.process = Starts(directory), n, directory, None

    def begin(self):
        self.write()

    def go(self):
        self.process = subprocess.Popen(self.command(), cwd=self.dir, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def supervisors(self):
        own = set(self.starts.pids())
        return [pid for pid in process.tree(self.process.pid) if pid not in own]

    def end(self):
        if self.process:
            end_process(self.process)
        for pid in self.starts.pids():
            with contextlib.suppress(OSError):
                if _is_sleep(pid):
                    os.kill(pid, signal.SIGKILL)


class Supervisor(_Program):
    name = "supervisor"

    def write(self):
        with open(f"{self.dir}/run.sh", "w", encoding="ascii") as f:
            f.write(f"#!/bin/sh\n{self.starts.command}\n")
        os.chmod(f"{self.dir}/run.sh", 0o755)
        with open(f"{self.dir}/supervisord.conf", "w", encoding="ascii") as f:
            f.write(f"[supervisord]\nnodaemon=true\nuser=root\nlogfile={self.dir}/log\npidfile={self.dir}/pid\nchildlogdir={self.dir}\n"
                    f"minfds={8 * self.n + 100}\n"
                    f"[program:p]\ncommand={self.dir}/run.sh\nnumprocs={self.n}\nprocess_name=p-%(process_num)d\n"
                    "autorestart=true\nstartsecs=0\n")

    def command(self):
        return ["supervisord", "-c", f"{self.dir}/supervisord.conf"]


class Runit(_Program):
    name = "runit"

    def write(self):
        for i in range(self.n):
            os.makedirs(f"{self.dir}/services/p-{i}")
            with open(f"{self.dir}/services/p-{i}/run", "w", encoding="ascii") as f:
                f.write(f"#!/bin/sh\n{self.starts.command}\n")
            os.chmod(f"{self.dir}/services/p-{i}/run", 0o755)

    def command(self):
        return ["runsvdir", f"{self.dir}/services"]

    def end(self):
        if self.process:
            self.process.send_signal(signal.SIGHUP)  # TERM for each runsv, which stops its process
            self.process.wait(PATIENCE)
            self.process = None
        super().end()


PEERS = (Svcmgr, Supervisor, Runit)


def _parent(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            return int(f.read().rsplit(")", 1)[1].split()[1])
    except OSError:
        return None


def _is_sleep(pid):
    with open(f"/proc/{pid}/cmdline", "rb") as f:
        return SLEEP.encode() in f.read()


def _cpu_s(pids):
    total_ns = 0
    for pid in pids:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as f:
                total_ns += int(f.read().split()[0])
    return total_ns / 1e9


def _pss_mib(pids):
    total = 0
    for pid in pids:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as f:
            total += next(int(line.split()[1]) for line in f if line.startswith("Pss:"))
    return total / 1024


def _restarts_ms(peer, count):
    """Kill one process after another; each time until the next one has started."""
    took = []
    for pid in peer.starts.pids()[:count]:
        seen = len(peer.starts.pids())
        began = time.monotonic()
        os.kill(pid, signal.SIGKILL)
        took.append(1000 * (peer.starts.until(seen + 1) - began))
    return statistics.median(took)


def _peer(kind, n, seconds):
    directory = tempfile.mkdtemp(prefix="bobbin-bench-engine-")
    os.chmod(directory, 0o755)
    peer = kind(directory, n)
    try:
        peer.begin()
        began = time.monotonic()
        peer.go()
        start_s = peer.starts.until(n) - began
        pids = peer.supervisors()
        time.sleep(2)  # what follows a start is not rest
        before = _cpu_s(pids)
        time.sleep(seconds)
        rest_ms = 1000 * (_cpu_s(pids) - before) / seconds
        return {"start_s": start_s, "supervisors": len(pids), "memory_mib": _pss_mib(pids), "rest_cpu_ms_per_s": rest_ms,
                "restart_ms": _restarts_ms(peer, 20)}
    finally:
        peer.end()
        shutil.rmtree(directory, ignore_errors=True)


class Question:
    """A question for an A record, asked again at once until DNS has an answer."""

    def __init__(self, port, name):
        labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
        self.bytes = struct.pack("!6H", 7, 0, 1, 0, 0, 0) + labels + b"\0" + struct.pack("!2H", 1, 1)
        self.to = ("127.0.0.1", port)

    def until_answered(self):
        end = time.monotonic() + MISSING_S
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.settimeout(1)
            while time.monotonic() < end:
                s.sendto(self.bytes, self.to)
                with contextlib.suppress(socket.timeout):
                    answer = s.recv(4096)
                    if not answer[3] & 15 and struct.unpack("!H", answer[6:8])[0]:
                        return time.monotonic()
        raise RuntimeError("the name was never answered")


def first_process(rounds):
    """POST of a service of one instance until its process runs, and until DNS answers its name: ms, each a median."""
    directory = tempfile.mkdtemp(prefix="bobbin-bench-engine-")
    os.chmod(directory, 0o755)
    run, resolved = [], []
    try:
        with _stack() as stack:
            for i in range(rounds):
                starts = Starts(directory)
                document = {"name": f"one{i}", "version": "1", "components": [
                    {"name": "p", "number_of_containers": 1, "launch_command": starts.command,
                     "resource": {"cpus": 1, "memory": "8"}}]}
                name = f"p-0.one{i}.alice.{DOMAIN}"
                began = time.monotonic()
                with concurrent.futures.ThreadPoolExecutor() as pool:
                    started = pool.submit(starts.until, 1)
                    answer = stack.services("POST", "?user.name=alice", document)
                    if answer.status != 202:
                        raise RuntimeError(str(answer))
                    resolved.append(1000 * (Question(stack.dns_port, name).until_answered() - began))
                    run.append(1000 * (started.result() - began))
                if not stack.dig(name):
                    raise RuntimeError(f"dig does not find {name}")
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    tail = sorted(resolved)[int(len(resolved) * 0.9)]
    return {"running_ms": statistics.median(run), "resolvable_ms": statistics.median(resolved), "resolvable_p90_ms": tail}


def adoption(n):
    """kill -9 of svcmgr with n containers: its next start until all are READY again; which of them are another process then."""
    directory = tempfile.mkdtemp(prefix="bobbin-bench-engine-")
    os.chmod(directory, 0o755)
    peer = Svcmgr(directory, n)
    try:
        peer.begin()
        peer.go()
        peer.starts.until(n)
        stack = peer.stack
        wait_for(lambda: len([c for c in containers(stack.service("many")) if c["state"] == "READY"]) == n, "all READY")
        pids = set(peer.starts.pids())
        stack.svcmgr.kill()
        began = time.monotonic()
        stack.svcmgr.start()
        while True:
            with contextlib.suppress(OSError):
                answer = stack.services("GET", "/many?user.name=alice")
                if answer.status == 200 and len([c for c in containers(answer.json) if c["state"] == "READY"]) == n:
                    break
            if time.monotonic() - began > MISSING_S:
                raise RuntimeError("not all were adopted")
        took = time.monotonic() - began
        return {"adopted_s": took, "containers": n, "disturbed": len(set(peer.starts.pids()) - pids)}
    finally:
        peer.end()
        shutil.rmtree(directory, ignore_errors=True)


def run(say, n=200, rounds=3, seconds=10):
    """Returns the results, ready for JSON."""
    found = {kind.name: [] for kind in PEERS}
    for _ in range(rounds):
        for kind in PEERS:
            found[kind.name].append(_peer(kind, n, seconds))
    result = {name: {key: statistics.median(one[key] for one in all_of) for key in all_of[0]} for name, all_of in found.items()}
    say(f"\nthis host: {n} processes; medians of {rounds} rounds that took turns")
    say(f"  {'':12} {'all started':>12} {'supervisors':>12} {'memory':>12} {'CPU at rest':>14} {'kill to start':>14}")
    for name, of in result.items():
        say(f"  {name:12} {of['start_s']:10.2f} s {of['supervisors']:12.0f} {of['memory_mib']:8.1f} MiB {of['rest_cpu_ms_per_s']:8.2f} ms/s "
            f"{of['restart_ms']:11.1f} ms")
    result["first"] = first_process(20)
    say(f"  POST to a process {result['first']['running_ms']:.1f} ms, to an answer of DNS {result['first']['resolvable_ms']:.1f} ms "
        f"(p50), {result['first']['resolvable_p90_ms']:.1f} ms (p90)")
    result["adoption"] = adoption(n)
    say(f"  svcmgr killed and started: {n} containers READY again after {result['adoption']['adopted_s']:.2f} s, "
        f"{result['adoption']['disturbed']} of them disturbed")
    return result
