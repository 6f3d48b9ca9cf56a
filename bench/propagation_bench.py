"""`bench.py propagation`: from a bind until DNS answers it, on both stores, and what ZooKeeper itself takes for its part.

The floor is measured in the same run on the same ZooKeeper server: set, watch event, re-read on one connection. Runs alternate.
"""
import os
import statistics
import subprocess

import zookeeper
from harness import BIN, DOMAIN, Stack

BATCHES = 5
KINDS = ("create", "overwrite")


def _figures(*command):
    done = subprocess.run([os.path.join(BIN, command[0]), *map(str, command[1:])], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stderr}")
    return {k: float(v) for k, v in (word.split("=") for word in done.stdout.split())}


class Binds:
    """Records bound on one stack; each change has its number."""

    def __init__(self, stack):
        self.stack, self.next = stack, 1

    def run(self, kind, n):
        self.next += n
        return _figures("bench_propagation_bind", self.stack.registry_port, self.stack.dns_port, DOMAIN, kind,
                        self.next - n, n)


def _median(batches):
    return {key: statistics.median(b[key] for b in batches) for key in batches[0] if key != "changes"}


def _show(say, name, figures, kinds):
    for kind, text in kinds:
        say(f"  {name:20} {text:28} p50 {figures[kind + '_p50_us']:7.0f} us   p90 {figures[kind + '_p90_us']:7.0f} us   "
            f"p99 {figures[kind + '_p99_us']:7.0f} us")


def _batches(zk_port, stacks, n):
    """Everything once to warm (the JVM's compiler above all), then BATCHES times in turn."""
    found = {"floor": [], **{f"{name} {kind}": [] for name in stacks for kind in KINDS}}
    for k in range(BATCHES + 1):
        taken = {"floor": _figures("bench_propagation_floor", zk_port, n)}
        for name, binds in stacks.items():
            taken.update({f"{name} {kind}": binds.run(kind, n) for kind in KINDS})
        for name, figures in taken.items():
            found[name] += [figures] if k else []
    return found


def run(n_binds, say):
    """Returns the results, ready for JSON."""
    n = max(100, n_binds // BATCHES)
    with zookeeper.Server() as zk, Stack(store=f"zk://{zk.address}/registry") as on_zookeeper, Stack() as embedded:
        found = _batches(zk.port, {"zookeeper": Binds(on_zookeeper), "embedded": Binds(embedded)}, n)
    result = {name: _median(batches) for name, batches in found.items()}
    say(f"\npropagation: {BATCHES} interleaved batches of {n} changes; medians of the batches")
    _show(say, "floor", result["floor"], [("floor", "set, event, re-read")])
    for name in list(result)[1:]:
        _show(say, name, result[name], [("answer", "PUT sent -> DNS answers it"), ("put", "PUT sent -> PUT answered")])
    result["ratio"] = {kind: {p: result[f"zookeeper {kind}"][f"answer_{p}_us"] / result["floor"][f"floor_{p}_us"]
                              for p in ("p50", "p99")} for kind in KINDS}
    for kind in KINDS:
        ratio = result["ratio"][kind]
        say(f"  on ZooKeeper, {kind}, to the floor: {ratio['p50']:.2f} (p50), {ratio['p99']:.2f} (p99)")
    return result
