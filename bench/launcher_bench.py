"""`bench.py launcher`: frameworks on a simulated cluster, where a tenth of the processes ends with a transient code and is tried again.

1 000 frameworks of 4 roles of 25 tasks, and one of 50 000 tasks, the most that a role may have: from the first PUT until all have completed. Then the
documents that a person or a client reads of them: the list of all, the status of each, that of the large one. The store is the embedded one on
a disk, registryd takes every record. CPU is svcmgr's, of all its threads.

What a document costs is compared with a bare libmicrohttpd that sends as many bytes. While the large one is read, and while it runs, the
status of a small framework is read over another connection. A turn of the loop counts as busy when it uses more than 1 ms of the
processor: how long turns and reads take hangs on what else the machine does, too.
"""
import concurrent.futures
import contextlib
import http.client
import json
import multiprocessing
import os
import re
import statistics
import tempfile
import time

import process
from engine_sim import MISSING_S, Work, metric, start, until
from harness import Stack, request
from registry_bench import Program, free_port

SHARE = 10  # percent of the processes that end with a transient code
NODES = "nodes 1000 memory=262144 vcores=1000"
SCRIPT = f"{NODES}; end exit=137 of=* share={SHARE}% after=0-1s; end exit=0 of=* after=0-1s"
SMALL, LARGE = "small", "large"
LIST, TARGETS_MS = "list of all", {"list of all": 100}
SAMPLE_S, SIDE_PAUSE_S, SIDE_S, CLIENTS = 0.2, 0.01, 3, 8


def _role(n):
    return {"taskNumber": n, "taskRetryPolicy": {"fancyRetryPolicy": True}, "taskService": {
        "version": 1, "entryPoint": "work", "sourceLocations": ["/work"], "resource": {"cpuNumber": 1, "memoryMB": 64}}}


def _framework(counts):
    return json.dumps({"version": 1, "taskRoles": {f"role{i}": _role(n) for i, n in enumerate(counts)}})


@contextlib.contextmanager
def _running():
    stack = Stack(services=True, options={"svcmgr": {
        "yarn.service.cluster": "sim", "yarn.service.sim.script": SCRIPT, "yarn.service.stop-containers-on-exit": "false"}})
    stack.daemons = [stack.registryd, stack.svcmgr]
    try:
        stack.registryd.start("registry_synced")
        start(stack)
        yield stack
    finally:
        stack.__exit__(None, None, None)


class Reader:
    """One connection that is kept."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=MISSING_S)

    def get(self, path, status=200):
        """(body, milliseconds)"""
        return self._ask("GET", path, None, status)

    def put(self, path, body):
        self._ask("PUT", path, body, 202)

    def delete(self, path):
        self._ask("DELETE", path, None, 202)

    def _ask(self, method, path, body, status):
        began = time.perf_counter()
        self.connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status != status:
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:300]!r}")
        return text, 1000 * (time.perf_counter() - began)


def _quantiles(took):
    took = sorted(took)
    return {"reads": len(took), "p50_ms": statistics.median(took), "p99_ms": took[int(len(took) * 0.99)], "max_ms": took[-1]}


def _read_aside(port, path, pipe):
    """The process of an Aside: until it hears from the pipe; then it sends the milliseconds of each read."""
    reader, took = Reader(port), []
    while not pipe.poll(SIDE_PAUSE_S):
        took.append(reader.get(path)[1])
    pipe.send(took)


@contextlib.contextmanager
def _aside(port, found):
    """Meanwhile a small status is read again and again, 100 times a second at most; the figures are added to found."""
    pipe, theirs = multiprocessing.Pipe()
    reader = multiprocessing.Process(target=_read_aside, args=(port, f"/v1/Frameworks/{SMALL}/FrameworkStatus", theirs), daemon=True)
    reader.start()
    theirs.close()
    try:
        yield
    finally:
        pipe.send("over")
        found.update(_quantiles(pipe.recv()))
        reader.join()


# ---- a run ----

def _memory(pid):
    """Proportional and own MiB now."""
    return process.memory_mib(pid)[1], process.own_mib(pid)


def _by_clients(stack, names, act):
    """act(Reader, path) for each framework, by so many clients side by side."""
    def some(first):
        reader = Reader(stack.services_port)
        for name in names[first::CLIENTS]:
            act(reader, f"/v1/Frameworks/{name}")
    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as clients:
        list(clients.map(some, range(CLIENTS)))


def _busy(stack):
    """Busy turns until now, and the milliseconds of a processor of the busiest one."""
    return metric(stack, "svcmgr_loop_busy_turns"), metric(stack, "svcmgr_loop_busiest_turn_microseconds") / 1000


def _taken(stack):
    until(lambda: metric(stack, "svcmgr_registry_changes_pending") == 0, "the registry has taken everything")


def _complete(stack, names, body, n_tasks):
    """PUT of all, until all have completed and the registry has taken everything."""
    pid, before = stack.svcmgr.process.pid, _memory(stack.svcmgr.process.pid)
    exits, (n_busy, _) = metric(stack, "svcmgr_container_exits"), _busy(stack)
    work, most, side = Work(stack), 0, {}
    with _aside(stack.services_port, side):
        _by_clients(stack, names, lambda reader, path: reader.put(path, body))
        put_s = time.monotonic() - work.began

        def over():
            nonlocal most
            most = max(most, process.memory_mib(pid)[1])
            time.sleep(SAMPLE_S)
            return metric(stack, "svcmgr_container_exits") - exits >= n_tasks and metric(stack, "svcmgr_services_live") == 0
        until(over, "all have completed")
        done = work.done()
    _taken(stack)
    rest, (n_busy_then, busiest) = _memory(pid), _busy(stack)
    return {**done, "put_s": put_s, "exits": metric(stack, "svcmgr_container_exits") - exits, "recorded_cpu_s": work.done()["cpu_s"],
            "cpu_us_a_task": 1e6 * work.done()["cpu_s"] / n_tasks, "peak_bytes_a_task": (most - before[0]) * 1048576 / n_tasks,
            "rest_bytes_a_task": (rest[0] - before[0]) * 1048576 / n_tasks, "own_bytes_a_task": (rest[1] - before[1]) * 1048576 / n_tasks,
            "stored_bytes_a_task": done["stored_bytes"] / n_tasks, "side": side, "busy_turns": n_busy_then - n_busy, "busiest_ms": busiest,
            "load_average": os.getloadavg()[0]}


def _delete(stack, names, n_tasks):
    """DELETE of all, until nothing is left of them."""
    work, left, (n_busy, _) = Work(stack), metric(stack, "svcmgr_services") - len(names), _busy(stack)
    _by_clients(stack, names, Reader.delete)
    until(lambda: metric(stack, "svcmgr_services") == left, "all are deleted")
    _taken(stack)
    done = work.done()
    return {**done, "cpu_us_a_task": 1e6 * done["cpu_s"] / n_tasks, "busy_turns": _busy(stack)[0] - n_busy, "busiest_ms": _busy(stack)[1]}


def _tasks(document):
    return [task for role in document["aggregatedTaskRoleStatuses"].values() for task in role["taskStatuses"]["taskStatusArray"]]


def _count(stack, names, n_tasks, exits):
    """What all tasks say of their retries, against the processes that ended: each but the last of a task was tried again."""
    reader = Reader(stack.services_port)
    retried, seen = 0, 0
    for name in names:
        for task in _tasks(json.loads(reader.get(f"/v1/Frameworks/{name}/AggregatedFrameworkStatus")[0])):
            state = task["taskRetryPolicyState"]
            others = sum(value for key, value in state.items() if key != "transientNormalRetriedCount")
            if others or task["containerExitCode"] != 0 or task["taskState"] != "TASK_COMPLETED":
                raise RuntimeError(f"{name}: {task}")
            retried, seen = retried + state["transientNormalRetriedCount"], seen + 1
    if seen != n_tasks or retried != exits - n_tasks:
        raise RuntimeError(f"{seen} tasks of {n_tasks}; {retried} retries of {exits - n_tasks}")
    return {"retries": retried, "share": retried / exits}


# ---- documents ----

def _bare(body, n, rounds):
    """Milliseconds in which a bare server answers n requests with as many bytes together."""
    with tempfile.NamedTemporaryFile() as f:
        f.write(body[:max(1, len(body) // n)])
        f.flush()
        port = free_port()
        with Program("bare", port, f.name) as server:
            until(lambda: request(port, "GET", "/").status == 200, "the bare server answers")
            return _rounds(Reader(port), server.process.pid, ["/"] * n, rounds)[1]


def _rounds(reader, pid, paths, rounds):
    """(all bodies, {milliseconds and those of CPU for all of them, medians})"""
    took, cpus, bodies = [], [], []
    for _ in range(rounds):
        began, cpu = time.perf_counter(), process.cpu_s(pid)
        bodies = [reader.get(path)[0] for path in paths]
        took.append(1000 * (time.perf_counter() - began))
        cpus.append(1000 * (process.cpu_s(pid) - cpu))
    return b"".join(bodies), {"ms": statistics.median(took), "least_ms": min(took), "cpu_ms": statistics.median(cpus)}


def _document(stack, paths, rounds):
    """Reads of these documents one after the other, compared with a bare server's; then again and again, the small status aside."""
    reader, side, rest = Reader(stack.services_port), {}, {}
    n_busy = _busy(stack)[0]
    body, ours = _rounds(reader, stack.svcmgr.process.pid, paths, rounds)
    n_busy = (_busy(stack)[0] - n_busy) / rounds
    bare = _bare(body, len(paths), rounds)
    with _aside(stack.services_port, rest):
        time.sleep(SIDE_S)
    with _aside(stack.services_port, side):
        end = time.monotonic() + SIDE_S
        while time.monotonic() < end:
            for path in paths:
                reader.get(path)
    return {"bytes": len(body), **ours, "bare": bare, "ratio": ours["ms"] / bare["ms"], "cpu_ratio": ours["cpu_ms"] / bare["cpu_ms"],
            "busy_turns": n_busy, "rest": rest, "side": side}


def _has_succeeded(stack, name):
    document = json.loads(request(stack.services_port, "GET", f"/v1/Frameworks/{name}/FrameworkStatus").body)
    if document["applicationExitCode"]:
        raise RuntimeError(str(document))
    return document["frameworkState"] == "FRAMEWORK_COMPLETED"


def _shape(names, counts, documents, rounds):
    n_tasks = len(names) * sum(counts)
    with _running() as stack:
        Reader(stack.services_port).put(f"/v1/Frameworks/{SMALL}", _framework([10]))
        until(lambda: _has_succeeded(stack, SMALL), f"{SMALL} has completed")
        life = _complete(stack, names, _framework(counts), n_tasks)
        until(lambda: all(_has_succeeded(stack, name) for name in names), "all have succeeded")
        life["counted"] = _count(stack, names, n_tasks, life["exits"])
        documents = {what: _document(stack, paths, rounds) for what, paths in documents.items()}
        return {"life": life, "documents": documents, "delete": _delete(stack, names, n_tasks)}


def _say_life(say, what, life, gone):
    say(f"  {what}: completed after {life['wall_s']:.1f} s (PUT {life['put_s']:.1f} s), {life['recorded_cpu_s']:.1f} s of CPU, {life['cpu_us_a_task']:.0f} µs a task, "
        f"load average {life['load_average']:.1f}")
    say(f"    memory of a task {life['peak_bytes_a_task'] / 1000:.1f} kB at most, {life['rest_bytes_a_task'] / 1000:.1f} kB at the end, "
        f"{life['own_bytes_a_task'] / 1000:.1f} kB of its own; stored {life['stored_bytes_a_task'] / 1000:.1f} kB")
    say(f"    {life['exits']:.0f} processes ended, {life['counted']['retries']} were tried again ({100 * life['counted']['share']:.1f} %), as their tasks count")
    say(f"    busy turns {life['busy_turns']:.0f}, the busiest since the start {life['busiest_ms']:.1f} ms; a small status meanwhile: p50 {life['side']['p50_ms']:.2f} ms, "
        f"p99 {life['side']['p99_ms']:.2f} ms, max {life['side']['max_ms']:.1f} ms")
    say(f"    deleted after {gone['wall_s']:.1f} s, {gone['cpu_s']:.1f} s of CPU, {gone['cpu_us_a_task']:.0f} µs a task, busy turns {gone['busy_turns']:.0f}, "
        f"the busiest since the start {gone['busiest_ms']:.1f} ms")


def _say_document(say, what, d):
    target = f", {d['ms'] / TARGETS_MS[what]:.2f} of its target" if what in TARGETS_MS else ""
    say(f"    {what}: {d['bytes'] / 1e6:.2f} MB in {d['ms']:.1f} ms{target}, {d['cpu_ms']:.1f} ms of CPU, {d['busy_turns']:.1f} busy turns; "
        f"to a bare server {d['ratio']:.1f}, CPU {d['cpu_ratio']:.1f}; a small status meanwhile p50 {d['side']['p50_ms']:.2f} ms, p99 {d['side']['p99_ms']:.2f}, "
        f"max {d['side']['max_ms']:.1f} (at rest {d['rest']['p50_ms']:.2f}, {d['rest']['p99_ms']:.2f}, {d['rest']['max_ms']:.1f})")


def run(say, rounds=5, n=1000, large=50000):
    """Returns the results, ready for JSON."""
    names = [f"f{i:04}" for i in range(n)]
    result, shapes = {}, {
        f"{n} frameworks of 4 roles of 25 tasks": (names, [25] * 4, {
            LIST: ["/v1/Frameworks"], "status of each": [f"/v1/Frameworks/{name}/FrameworkStatus" for name in names],
            "tasks of one": [f"/v1/Frameworks/{names[0]}/AggregatedFrameworkStatus"],
            "tasks of each": [f"/v1/Frameworks/{name}/AggregatedFrameworkStatus" for name in names]}),
        f"one framework of {large} tasks": ([LARGE], [large], {
            "its status": [f"/v1/Frameworks/{LARGE}/FrameworkStatus"], "its tasks": [f"/v1/Frameworks/{LARGE}/AggregatedFrameworkStatus"]})}
    say(f"\nframeworks; medians of {rounds} reads; a busy turn uses more than 1 ms of the processor; load average {os.getloadavg()[0]:.1f}")
    for what, (some, counts, documents) in shapes.items():
        result[what] = one = _shape(some, counts, documents, rounds)
        _say_life(say, what, one["life"], one["delete"])
        for title, document in one["documents"].items():
            _say_document(say, title, document)
    say(f"  load average {os.getloadavg()[0]:.1f}")
    return result
