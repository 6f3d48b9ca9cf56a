"""What a purge of ten records costs, whatever else the registry holds."""
import json
import os
import statistics
import subprocess
import tempfile
import time

import process
from harness import BIN, Daemon, free_port, request, wait_for

RECORDS, WARM_UP, ROUNDS, WAIT_S = 10, 3, 30, 900
SIZES = (10, 10000, 1000000)
BASE = "/users/bench/services/purge/app"


def _put(reg, i, app):
    record = {"type": "JSONServiceRecord", "yarn:id": app, "yarn:persistence": "application", "description": f"r{i}"}
    answer = request(reg.port, "PUT", f"/ws/v1/registry{BASE}/r{i}?createParents=true&overwrite=true&user.name=bench", json.dumps(record).encode(),
                     {"Content-Type": "application/json"})
    if answer.status not in (200, 201):
        raise RuntimeError(f"record {i}: {answer.status} {answer.body!r}")


def _round(reg, app):
    """Ten records of one application, then its purge: seconds, CPU of registryd, what the answer says."""
    for i in range(RECORDS):
        _put(reg, i, app)
    before, start = process.cpu_s(reg.process.pid), time.monotonic()
    answer = request(reg.port, "POST", "/ws/v1/registry-admin/purge", json.dumps({"id": app, "persistence": "application"}).encode(),
                     {"Content-Type": "application/json"}).json
    took = time.monotonic() - start
    return took, process.cpu_s(reg.process.pid) - before, answer["count"], answer["examined"]


def measure(reg, say):
    """Medians over the rounds, with a registryd whose index is complete."""
    rounds = [_round(reg, f"application_1500000000000_{i:04}") for i in range(WARM_UP + ROUNDS)][WARM_UP:]
    if any(deleted != RECORDS for _, _, deleted, _ in rounds):
        raise RuntimeError(f"a purge deleted something else: {rounds}")
    result = {"ms": statistics.median(r[0] for r in rounds) * 1e3, "cpu_ms": statistics.median(r[1] for r in rounds) * 1e3,
              "cpu_least_ms": min(r[1] for r in rounds) * 1e3, "examined": max(r[3] for r in rounds)}
    say(f"  purge of {RECORDS} records: {result['ms']:.1f} ms, CPU {result['cpu_ms']:.2f} ms (least {result['cpu_least_ms']:.2f}), "
        f"{result['examined']} records looked at")
    return result


def _embedded(n, say):
    with tempfile.TemporaryDirectory(prefix="bobbin-bench-") as place:
        store, port = f"file:{place}/store", free_port()
        subprocess.run([os.path.join(BIN, "bench_registry_fill"), store, "make", str(n)], check=True, stdout=subprocess.DEVNULL)
        reg = Daemon("registryd", {"hadoop.registry.store": store, "bobbin.data.dir": place, "hadoop.registry.http.address": f"127.0.0.1:{port}"},
                     process.DAEMON_ENV)
        reg.port = port
        say(f"registry: {n} records on the embedded store")
        try:
            reg.start()
            reg.event("registry_synced", WAIT_S)
            wait_for(lambda: f"registry_indexed_records {n}" in request(port, "GET", "/metrics").body.decode(), "the index is built", WAIT_S)
            return measure(reg, say)
        finally:
            reg.stop()


def embedded(sizes, say):
    """Returns the results of each size, ready for JSON."""
    return {n: _embedded(n, say) for n in sizes}
