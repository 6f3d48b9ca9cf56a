"""What good clients notice of a thousand clients whose bodies lack a byte: latency of reads and writes beside their own at rest, and
memory of registryd."""
import contextlib
import http.client
import json
import os
import resource
import socket
import statistics
import subprocess
import tempfile
import time

import process
from harness import BIN, Daemon, free_port, request, wait_for

RECORDS, STALLED, LEN, ROUNDS = 10000, 1000, 1400000, 5
READS, READS_A_S, CONNECTIONS, WRITES = 2000, 500, 4, 300
RECORD = json.dumps({"type": "JSONServiceRecord", "description": "x" * 300})


def _stall(port, i):
    """A PUT as far as registryd takes it: all but a byte, or the refusal."""
    s = socket.create_connection(("127.0.0.1", port), 30)
    with contextlib.suppress(OSError):
        s.sendall(f"PUT /ws/v1/registry/users/bad/r{i}?createParents=true HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                  f"Content-Length: {LEN}\r\n\r\n".encode())
        s.sendall(b" " * (LEN - 1))
    return s


def _reads(port):
    done = subprocess.run([os.path.join(BIN, "bench_registry_reads"), *map(str, (port, RECORDS, READS, READS_A_S, CONNECTIONS))],
                          capture_output=True, text=True, check=True)
    return {k: float(v) for k, v in (word.split("=") for word in done.stdout.split())}


def _writes(port):
    """p50 and p99 in us, one after the other on a kept connection; the disk's fsync is in it."""
    took = []
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for i in range(WRITES):
        begin = time.monotonic()
        connection.request("PUT", f"/ws/v1/registry/users/good/r{i % 10}?createParents=true&overwrite=true", RECORD,
                           {"Content-Type": "application/json"})
        answer = connection.getresponse()
        answer.read()
        if answer.status not in (200, 201):
            raise RuntimeError(f"a good write was answered {answer.status}")
        took.append((time.monotonic() - begin) * 1e6)
    connection.close()
    took.sort()
    return {"write_p50_us": took[len(took) // 2], "write_p99_us": took[len(took) * 99 // 100]}


def _good(port):
    return {**_reads(port), **_writes(port)}


def _round(reg):
    rest, start = _good(reg.port), time.monotonic()
    held = [_stall(reg.port, i) for i in range(STALLED)]
    came_s = time.monotonic() - start
    stalled = _good(reg.port)
    metrics = dict(line.rsplit(" ", 1) for line in request(reg.port, "GET", "/metrics").body.decode().splitlines() if line[0] != "#")
    for s in held:
        s.close()
    wait_for(lambda: "\nhttp_body_bytes 0\n" in request(reg.port, "GET", "/metrics").body.decode(), "the room is free again")
    return rest, stalled, came_s, int(metrics["http_body_bytes"]) / 1048576


def _measure(reg, say):
    before_mib, _ = process.memory_mib(reg.process.pid)
    rounds = [_round(reg) for _ in range(ROUNDS)]
    with open(f"/proc/{reg.process.pid}/status", encoding="ascii") as f:
        peak_mib = next(int(line.split()[1]) / 1024 for line in f if line.startswith("VmHWM"))
    result = {"stalled": STALLED, "before_mib": before_mib, "peak_mib": peak_mib, "bodies_mib": max(r[3] for r in rounds),
              "came_s": statistics.median(r[2] for r in rounds), "load_average": os.getloadavg()[0]}
    for name in ("read_p50_us", "read_p99_us", "write_p50_us", "write_p99_us"):
        rest, held = (statistics.median(r[i][name] for r in rounds) for i in (0, 1))
        result[name] = {"rest": rest, "stalled": held, "ratio": statistics.median(r[1][name] / r[0][name] for r in rounds)}
        say(f"  {name:13} at rest {rest:7.0f}, with {STALLED} stalled bodies {held:7.0f}, ratio {result[name]['ratio']:.2f}")
    say(f"  memory {before_mib:.0f} MiB, at most {peak_mib:.0f} MiB, {result['bodies_mib']:.1f} MiB of it bodies; load average "
        f"{result['load_average']:.1f}")
    return result


def run(say):
    """Returns the results, ready for JSON."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4096)), hard))
    say(f"\nregistry: {STALLED} clients whose bodies lack a byte")
    with tempfile.TemporaryDirectory(prefix="bobbin-bench-") as place:
        store, port = f"file:{place}/store", free_port()
        subprocess.run([os.path.join(BIN, "bench_registry_fill"), store, "make", str(RECORDS)], check=True, stdout=subprocess.DEVNULL)
        reg = Daemon("registryd", {"hadoop.registry.store": store, "bobbin.data.dir": place, "hadoop.registry.http.address": f"127.0.0.1:{port}"},
                     process.DAEMON_ENV)
        reg.port = port
        try:
            reg.start("registry_synced")
            return _measure(reg, say)
        finally:
            reg.stop()
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
