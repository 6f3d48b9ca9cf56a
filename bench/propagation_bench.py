"""`bench.py propagation`: from a bind until DNS answers it, on both stores, and what ZooKeeper itself takes for its part.

The floor is measured in the same run on the same ZooKeeper server: set, watch event, re-read on one connection. Runs alternate.
"""
import os
import statistics
import subprocess

import zookeeper
from harness import BIN, Stack

BATCHES = 5
PATH = "/users/alice/services/yarn-service/shop/components/ctr-e50-1451931954322-0001-01-000002"
NAME = "web-0.shop.alice.bobbin.test"


def _figures(*command):
    done = subprocess.run([os.path.join(BIN, command[0]), *map(str, command[1:])], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stderr}")
    return {k: float(v) for k, v in (word.split("=") for word in done.stdout.split())}


def _binds(stack, n):
    return _figures("bench_propagation_bind", stack.registry_port, stack.dns_port, PATH, NAME, n)


def _median(batches):
    return {key: statistics.median(b[key] for b in batches) for key in batches[0] if key != "changes"}


def _show(say, name, figures, kinds):
    for kind, text in kinds:
        say(f"  {name:10} {text:28} p50 {figures[kind + '_p50_us']:7.0f} us   p90 {figures[kind + '_p90_us']:7.0f} us   "
            f"p99 {figures[kind + '_p99_us']:7.0f} us")


def run(n_binds, say):
    """Returns the results, ready for JSON."""
    n = max(100, n_binds // BATCHES)
    found = {"floor": [], "zookeeper": [], "embedded": []}
    with zookeeper.Server() as zk, Stack(store=f"zk://{zk.address}/registry") as on_zookeeper, Stack() as embedded:
        for stack in (on_zookeeper, embedded):  # warm: the JVM's compiler above all
            _binds(stack, n)
        for _ in range(BATCHES):
            found["floor"].append(_figures("bench_propagation_floor", zk.port, n))
            found["zookeeper"].append(_binds(on_zookeeper, n))
            found["embedded"].append(_binds(embedded, n))
    result = {name: _median(batches) for name, batches in found.items()}
    floor, bound = result["floor"], result["zookeeper"]
    result["ratio"] = {p: bound[f"answer_{p}_us"] / floor[f"floor_{p}_us"] for p in ("p50", "p99")}
    say(f"\npropagation: {BATCHES} interleaved batches of {n} changes; medians of the batches")
    _show(say, "floor", floor, [("floor", "set, event, re-read")])
    for name in ("zookeeper", "embedded"):
        _show(say, name, result[name], [("answer", "PUT sent -> DNS answers it"), ("put", "PUT sent -> PUT answered")])
    say(f"  on ZooKeeper, to the floor: {result['ratio']['p50']:.2f} (p50), {result['ratio']['p99']:.2f} (p99)")
    return result
