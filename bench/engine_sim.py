"""`bench.py engine`, simulated: what svcmgr itself takes for 10^4 and 10^5 instances that are no processes, and what a reader sees meanwhile.

The store is the embedded one on a disk, registryd takes every record, and the instances become ready as soon as they are asked for. CPU is
svcmgr's alone, of all its threads; memory is what it has more of its own than before: pages of the store's file are not in it.
"""
import contextlib
import multiprocessing
import re
import statistics
import time

import process
from harness import Stack, request

MISSING_S = 600
NODES = "nodes 1000 memory=262144 vcores=1000"
STORM = "end signal=11 of=storm-* share=20% after=0-2s attempts=1"
QUIET = {"yarn.service.container-failure-per-component.threshold": "1000000"}


def _stack():
    """svcmgr on a simulated cluster, and registryd; nobody asks DNS."""
    stack = Stack(services=True, options={"svcmgr": {
        "yarn.service.cluster": "sim", "yarn.service.sim.script": f"{NODES}; {STORM}", "yarn.service.stop-containers-on-exit": "false"}})
    stack.daemons = [stack.registryd, stack.svcmgr]
    return stack


@contextlib.contextmanager
def _running():
    stack = _stack()
    try:
        stack.registryd.start("registry_synced")
        start(stack)
        yield stack
    finally:
        stack.__exit__(None, None, None)


def start(stack):
    """Until svcmgr takes requests; returns the seconds that takes."""
    began = time.monotonic()
    stack.svcmgr.start()
    until(lambda: request(stack.services_port, "GET", "/readyz").status == 200, "svcmgr is ready")
    return time.monotonic() - began


def until(condition, what):
    end = time.monotonic() + MISSING_S
    while True:
        with contextlib.suppress(OSError):
            if condition():
                return
        if time.monotonic() > end:
            raise RuntimeError(f"it did not come to this: {what}")
        time.sleep(0.02)


def metric(stack, name):
    text = request(stack.services_port, "GET", "/metrics").body.decode()
    return float(re.search(rf"^{name}(?:_total)? (\S+)$", text, re.M).group(1))


def _definition(name, counts, component="p"):
    return {"name": name, "version": "1", "configuration": {"properties": QUIET}, "components": [
        {"name": f"{component}{i}" if len(counts) > 1 else component, "number_of_containers": n, "launch_command": "serve",
         "resource": {"cpus": 1, "memory": "64"}} for i, n in enumerate(counts)]}


class Work:
    """What svcmgr does between two moments."""

    def __init__(self, stack):
        self.stack, self.pid = stack, stack.svcmgr.process.pid
        self.bytes, self.steps = metric(stack, "svcmgr_state_bytes"), metric(stack, "svcmgr_engine_steps")
        self.cpu, self.began = process.cpu_s(self.pid), time.monotonic()

    def done(self):
        return {"wall_s": time.monotonic() - self.began, "cpu_s": process.cpu_s(self.pid) - self.cpu,
                "stored_bytes": metric(self.stack, "svcmgr_state_bytes") - self.bytes,
                "steps": metric(self.stack, "svcmgr_engine_steps") - self.steps}


def _post(stack, document):
    answer = stack.services("POST", "?user.name=alice", document)
    if answer.status != 202:
        raise RuntimeError(str(answer))


def _taken(stack):
    until(lambda: metric(stack, "svcmgr_registry_changes_pending") == 0, "the registry has taken everything")


def _create(stack, documents):
    """POST of all, until every instance is READY; then until the registry has their records."""
    stable = metric(stack, "svcmgr_services_stable") + len(documents)
    work = Work(stack)
    for document in documents:
        _post(stack, document)
    until(lambda: metric(stack, "svcmgr_services_stable") == stable, "all are READY")
    ready = work.done()
    _taken(stack)
    return {**ready, "recorded_cpu_s": work.done()["cpu_s"], "recorded_wall_s": work.done()["wall_s"]}


def _flex(stack, name, component, n):
    answer = stack.services("PUT", f"/{name}/components/{component}?user.name=alice", {"number_of_containers": n})
    if answer.status >= 300:
        raise RuntimeError(str(answer))


def _destroy(stack, names):
    work = Work(stack)
    for name in names:
        stack.services("DELETE", f"/{name}?user.name=alice")
    until(lambda: metric(stack, "svcmgr_services") == 0, "all are destroyed")
    _taken(stack)
    return work.done()


def _recover(stack):
    """kill -9, then the next start until it takes requests; and its CPU until then."""
    stable = metric(stack, "svcmgr_services_stable")
    stack.svcmgr.kill()
    wall_s = start(stack)
    cpu_s = process.cpu_s(stack.svcmgr.process.pid)
    until(lambda: metric(stack, "svcmgr_services_stable") == stable, "all are READY again")
    return {"wall_s": wall_s, "cpu_s": cpu_s}


def _life(stack, documents, n):
    """Create, recovery, destroy of so many instances."""
    memory = process.own_mib(stack.svcmgr.process.pid)
    created = _create(stack, documents)
    memory = (process.own_mib(stack.svcmgr.process.pid) - memory) * 1048576 / n
    turn = metric(stack, "svcmgr_loop_longest_turn_microseconds")
    recovered = _recover(stack)
    destroyed = _destroy(stack, [document["name"] for document in documents])
    return {"create": created, "recover": recovered, "destroy": destroyed, "memory_bytes": memory,
            "stored_bytes": (created["stored_bytes"] + destroyed["stored_bytes"]) / n, "longest_turn_ms": turn / 1000,
            "longest_turn_destroy_ms": metric(stack, "svcmgr_loop_longest_turn_microseconds") / 1000}


def _read_status(port, paths, pipe):
    """The process of a Reader: until it hears from the pipe; then it sends the milliseconds of each read."""
    took = []
    while not pipe.poll(0.002):
        path = paths[len(took) % len(paths)]
        began = time.perf_counter()
        answer = request(port, "GET", path)
        took.append(1000 * (time.perf_counter() - began))
        if answer.status != 200:
            raise RuntimeError(str(answer))
    pipe.send(sorted(took))


class Reader:
    """Reads some paths in turn, 500 times a second at most. A process of its own: Python runs one thread at a time, and the
    thread that watches the work would be what a read waits for."""

    def __init__(self, stack, *paths):
        self.pipe, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=_read_status, args=(stack.services_port, paths, theirs), daemon=True)
        self.process.start()
        theirs.close()

    def end(self):
        self.pipe.send("over")
        took = self.pipe.recv()
        self.process.join()
        return {"reads": len(took), "p50_ms": statistics.median(took), "p99_ms": took[int(len(took) * 0.99)], "max_ms": took[-1]}


def _storm(n):
    """A fifth of n processes is killed in the first two seconds, until all are READY again; a small service is read meanwhile."""
    small = "/app/v1/services/small?user.name=alice"
    with _running() as stack:
        _create(stack, [_definition("small", [10])])
        reader = Reader(stack, small)
        time.sleep(2)
        rest = reader.end()
        reader = Reader(stack, small)
        work = Work(stack)
        try:
            _post(stack, _definition("many", [n], "storm"))
            until(lambda: metric(stack, "svcmgr_container_exits") >= 0.19 * n and metric(stack, "svcmgr_services_stable") == 2,
                   "all are READY after the storm")
        finally:
            reads = reader.end()
        return {**work.done(), "exits": metric(stack, "svcmgr_container_exits"), "rest": rest, "reads": reads,
                "longest_turn_ms": metric(stack, "svcmgr_loop_longest_turn_microseconds") / 1000}


def _flexed(n):
    with _running() as stack:
        _create(stack, [_definition("flexed", [1])])
        work = Work(stack)
        _flex(stack, "flexed", "p", n)
        until(lambda: metric(stack, "svcmgr_containers") == n and metric(stack, "svcmgr_services_stable") == 1, "it has grown")
        return work.done()


SLIDER = "/ws/v1/slider/applications/many"


def _slider_reads(n, seconds=10):
    """Liveness and a container of a Slider application of n containers are read while its long documents go out one after the other."""
    component = {"yarn.role.priority": "1", "yarn.component.instances": str(n), "yarn.memory": "64"}
    document = {"resources": {"components": {"p": component}}, "appConf": {"global": {"launch_command": "serve"}}}
    with _running() as stack:
        answer = request(stack.services_port, "PUT", f"{SLIDER}?user.name=alice", document)
        if answer.status != 202:
            raise RuntimeError(str(answer))
        until(lambda: metric(stack, "svcmgr_services_stable") == 1, "all are READY")
        _taken(stack)
        view = request(stack.services_port, "GET", f"{SLIDER}?user.name=alice").json
        live = view["href"].split(str(stack.services_port), 1)[1] + "/application/live/"
        one = request(stack.services_port, "GET", live + "components/p/containers").json[n // 2]
        turn = metric(stack, "svcmgr_loop_longest_turn_microseconds")
        small = [live + path for path in ("liveness", "statistics/p", "containers/" + one)]
        result = {}
        for when, long in (("rest", []), ("reads", ["containers", "components/p", "nodes", "diagnostics"])):
            streams = [Reader(stack, *(live + path for path in long))] if long else []
            reader = Reader(stack, *small)
            time.sleep(seconds)
            result[when] = reader.end()
            result["documents"] = [stream.end() for stream in streams][0] if streams else {}
        return {**result, "longest_turn_before_ms": turn / 1000,
                "longest_turn_ms": metric(stack, "svcmgr_loop_longest_turn_microseconds") / 1000}


def run(say, rounds=3):
    """Returns the results, ready for JSON."""
    shapes = {"one service of 10 000": (10000, [_definition("many", [10000])]),
              "1 000 services of 10": (10000, [_definition(f"s{i}", [10]) for i in range(1000)]),
              "ten components of 10 000": (100000, [_definition("many", [10000] * 10)])}
    result = {}
    say(f"\nsimulated instances: medians of {rounds} rounds; CPU is svcmgr's, stored from create to destroy")
    say(f"  {'':26} {'READY':>8} {'CPU':>8} {'with records':>13} {'recovery':>9} {'destroy':>9} {'CPU':>8} {'memory':>8} {'stored':>8} {'turn':>9}")
    for name, (n, documents) in shapes.items():
        lives = []
        for _ in range(rounds):
            with _running() as stack:
                lives.append(_life(stack, documents, n))
        result[name] = one = _median(lives)
        say(f"  {name:26} {one['create']['wall_s']:6.2f} s {one['create']['cpu_s']:6.2f} s {one['create']['recorded_cpu_s']:11.2f} s "
            f"{one['recover']['wall_s']:7.2f} s {one['destroy']['wall_s']:7.2f} s {one['destroy']['cpu_s']:6.2f} s "
            f"{one['memory_bytes'] / 1000:5.1f} kB {one['stored_bytes'] / 1000:5.1f} kB {one['longest_turn_ms']:6.1f} ms")
    ratio = result["ten components of 10 000"]["create"]["cpu_s"] / result["one service of 10 000"]["create"]["cpu_s"]
    result["ratio_of_ten_times_as_many"] = ratio
    say(f"  ten times as many cost {ratio:.1f} times the CPU until READY")
    result["flex"] = _median([_flexed(10000) for _ in range(rounds)])
    say(f"  flex 1 to 10 000: READY after {result['flex']['wall_s']:.2f} s, {result['flex']['cpu_s']:.2f} s of CPU")
    result["storm"] = storm = _median([_storm(10000) for _ in range(rounds)])
    say(f"  storm: {storm['exits']:.0f} of 10 000 end, all READY after {storm['wall_s']:.2f} s, {storm['cpu_s']:.2f} s of CPU; a status read "
        f"p50 {storm['reads']['p50_ms']:.2f} ms, p99 {storm['reads']['p99_ms']:.2f} ms (at rest {storm['rest']['p50_ms']:.2f}, "
        f"{storm['rest']['p99_ms']:.2f}); longest turn {storm['longest_turn_ms']:.1f} ms")
    result["slider"] = slider = _median([_slider_reads(10000) for _ in range(rounds)])
    say(f"  Slider, 10 000 containers: a small live view p50 {slider['reads']['p50_ms']:.2f} ms, p99 {slider['reads']['p99_ms']:.2f} ms while "
        f"long ones go out (at rest {slider['rest']['p50_ms']:.2f}, {slider['rest']['p99_ms']:.2f}); a long one takes "
        f"{slider['documents']['p50_ms']:.0f} ms")
    return result


def _median(all_of):
    """Of results of one form, number by number."""
    return {key: _median([one[key] for one in all_of]) if isinstance(all_of[0][key], dict) else statistics.median(one[key] for one in all_of)
            for key in all_of[0]}
