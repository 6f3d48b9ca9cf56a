"""`bench.py registry`: registryd on a real ZooKeeper with ever more records, beside what the same work takes bare.

For each number of records: loading the mirror beside a bare pipelined read of the same tree, memory, CPU of a read beside a bare
libmicrohttpd with the same bytes, being current again after a cut connection, ten followers' snapshots, reads while records change,
a purge of ten records. The purge is measured on the embedded store, too, with ten records to a million.
"""
import os
import signal
import socket
import statistics
import subprocess
import tempfile
import threading
import time

import process
import registry_instructions
import registry_purge
import zookeeper
from harness import BIN, Daemon, free_port, request, wait_for

LOADS, ONE_LOAD_FROM, CPU_ROUNDS, CPU_READS, FOLLOWERS = 3, 500000, 21, 20000, 10
CHANGES_A_S, CHANGE_S, READS_A_S = 1000, 10, 500
WAIT_S = 900


def _figures(text):
    return {k: float(v) for k, v in (word.split("=") for word in text.split())}


def _program(name, *words):
    done = subprocess.run([os.path.join(BIN, f"bench_registry_{name}"), *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{name} {words}: {done.stderr}")
    return _figures(done.stdout)


class Program:
    """One of the bench's servers, until the end of the `with` block."""

    def __init__(self, name, *words):
        self.process = subprocess.Popen([os.path.join(BIN, f"bench_registry_{name}"), *map(str, words)], stdin=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(20)


class Registryd(Daemon):
    """registryd on a root of this ZooKeeper; follows it through follow_port."""

    def __init__(self, zk, root, place, follow_port=None):
        self.port = free_port()
        super().__init__("registryd", {
            "hadoop.registry.store": f"zk://{zk.address}{root}", "bobbin.data.dir": place,
            "hadoop.registry.zk.follow.quorum": f"127.0.0.1:{follow_port or zk.port}",
            "hadoop.registry.http.address": f"127.0.0.1:{self.port}"}, process.DAEMON_ENV)

    def __enter__(self):
        self.start()
        try:
            self.event("registry_synced", WAIT_S)
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    @property
    def pid(self):
        return self.process.pid

    def metric(self, name):
        text = request(self.port, "GET", "/metrics").body.decode()
        return next(float(line.split()[1]) for line in text.splitlines() if line.split()[0] == name)

    def settle(self, n_records):
        """Until the index has every record, too."""
        wait_for(lambda: self.metric("registry_indexed_records") >= n_records, "the index is built", WAIT_S)


def _load(zk, root, place, n, say):
    """Loads of the mirror and bare reads in turn; the mirror's includes the start of the program."""
    bare, load, empty = [], [], []
    for _ in range(LOADS if n < ONE_LOAD_FROM else 1):
        start = time.monotonic()
        tree = _program("scan", zk.port, root)
        bare.append(time.monotonic() - start)
        for times, at in ((load, root), (empty, "/empty")):
            start = time.monotonic()
            with Registryd(zk, at, place):
                times.append(time.monotonic() - start)
    pairs = [(a - e) / b for a, e, b in zip(load, empty, bare)]
    result = {"bare_s": statistics.median(bare), "load_s": statistics.median(load), "start_s": statistics.median(empty),
              "ratio": statistics.median(pairs), "nodes": tree["nodes"], "own_bytes": tree["bytes"]}
    say(f"  load {result['load_s']:.2f} s, of which {result['start_s']:.2f} s with an empty registry; bare read {result['bare_s']:.2f} s; "
        f"ratio {result['ratio']:.2f} (target 1.3)")
    return result


def _memory(reg, empty_mib, load, n, say):
    rss_mib, _ = process.memory_mib(reg.pid)
    beyond = ((rss_mib - empty_mib) * 1048576 - load["own_bytes"]) / n
    result = {"rss_mib": rss_mib, "empty_mib": empty_mib, "beyond_bytes": beyond, "own_bytes": load["own_bytes"] / n,
              "mirror_bytes": reg.metric("registry_mirror_bytes") / n, "index_bytes": reg.metric("registry_index_bytes") / n}
    say(f"  memory {rss_mib:.0f} MiB; a record has {result['own_bytes']:.0f} bytes of its own and takes {beyond:.0f} more (target 1024); "
        f"mirror {result['mirror_bytes']:.0f}, index {result['index_bytes']:.0f} of all")
    return result


def _cpu_us(pid, port, n):
    before = process.cpu_s(pid)
    _program("reads", port, n, CPU_READS, 0, 8)
    return (process.cpu_s(pid) - before) * 1e6 / CPU_READS


def _cpu(reg, place, n, say):
    """CPU of a read, in turn with a bare server that answers the bytes of one."""
    path = "/ws/v1/registry/users/u0/services/yarn-service/svc0/components/ctr-e50-1451931954322-0000-01-000000"
    body = os.path.join(place, "body")
    with open(body, "wb") as f:
        f.write(request(reg.port, "GET", path).body)
    port = free_port()
    with Program("bare", port, body) as bare:
        wait_for(lambda: socket.create_connection(("127.0.0.1", port)).close() is None, "the bare server listens")
        _cpu_us(reg.pid, reg.port, n)
        pairs = [(_cpu_us(reg.pid, reg.port, n), _cpu_us(bare.process.pid, port, n)) for _ in range(CPU_ROUNDS)]
    result = {"registryd_us": statistics.median(a for a, _ in pairs), "bare_us": statistics.median(b for _, b in pairs),
              "ratio": statistics.median(a / b for a, b in pairs), "body_bytes": os.path.getsize(body)}
    say(f"  CPU of a read: {result['registryd_us']:.1f} us; bare libmicrohttpd {result['bare_us']:.1f} us; ratio {result['ratio']:.2f} "
        "(target 1.3)")
    return result


def _count(reg, name):
    with reg.lock:
        return sum(event.get("event") == name for event in reg.events)


def _reconnect(reg, relay, load, say):
    """From the cut of the following session to being current again, the pause before the new connection included."""
    stale, current = _count(reg, "registry_stale"), _count(reg, "registry_current")
    start = time.monotonic()
    relay.process.send_signal(signal.SIGUSR1)
    wait_for(lambda: _count(reg, "registry_stale") > stale, "the cut is noticed", WAIT_S)
    noticed = time.monotonic()
    wait_for(lambda: _count(reg, "registry_current") > current, "the mirror is current again", WAIT_S)
    result = {"current_s": time.monotonic() - start, "noticed_s": noticed - start}
    say(f"  current {result['current_s']:.2f} s after the connection was cut (bare read {load['bare_s']:.2f} s)")
    return result


def _follow(port, done, i):
    """Read a snapshot to its `sync`; nothing is parsed."""
    with socket.create_connection(("127.0.0.1", port), WAIT_S) as s:
        s.sendall(b"GET /ws/v1/registry/?watch=true HTTP/1.1\r\nHost: localhost\r\n\r\n")
        size, tail, buffer = 0, b"", bytearray(1 << 20)
        while b'"type":"sync"' not in tail:
            n = s.recv_into(buffer)
            if not n:
                raise RuntimeError("the stream ended before sync")
            size, tail = size + n, (tail + bytes(buffer[max(0, n - 300):n]))[-600:]
    done[i] = size


def _followers(reg, n_followers, say):
    done = [0] * n_followers
    threads = [threading.Thread(target=_follow, args=(reg.port, done, i)) for i in range(n_followers)]
    before, start = process.cpu_s(reg.pid), time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    result = {"followers": n_followers, "seconds": time.monotonic() - start, "cpu_s": process.cpu_s(reg.pid) - before, "bytes": sum(done)}
    if 0 in done:
        raise RuntimeError("a follower did not come to the end")
    say(f"  {n_followers} followers have their snapshots after {result['seconds']:.2f} s ({result['bytes'] / 1048576:.0f} MiB, "
        f"{result['cpu_s']:.2f} s of registryd's CPU)")
    return result


def _changing(reg, zk, root, n, say):
    """Latency of paced reads, without and with changes."""
    reads = ("reads", reg.port, n, READS_A_S * (CHANGE_S - 2), READS_A_S, 4)
    quiet = _program(*reads)
    fill = subprocess.Popen([os.path.join(BIN, "bench_registry_fill"), f"zk://{zk.address}{root}", "change", str(n), str(CHANGES_A_S),
                             str(CHANGE_S)], stdout=subprocess.PIPE, text=True)
    try:
        before = process.cpu_s(reg.pid)
        busy = _program(*reads)
        cpu = process.cpu_s(reg.pid) - before
    finally:
        took_s = _figures(fill.communicate()[0])["ms"] / 1000
    result = {"quiet": quiet, "busy": busy, "changes_a_s": CHANGES_A_S * CHANGE_S / took_s, "cpu": cpu / busy["seconds"]}
    for name, figures in (("no change", quiet), (f"{result['changes_a_s']:.0f} changes/s", busy)):
        say(f"  reads, {name:16} p50 {figures['read_p50_us']:6.0f} us   p99 {figures['read_p99_us']:6.0f} us   "
            f"max {figures['read_max_us']:7.0f} us")
    return result


def _measure(zk, n, place, say):
    root = f"/bench{n}"
    say(f"\nregistry: {n} records on ZooKeeper")
    made = _program("fill", f"zk://{zk.address}{root}", "make", n)
    say(f"  made in {made['ms'] / 1000:.1f} s")
    result = {"load": _load(zk, root, place, n, say)}
    with Registryd(zk, "/empty", place) as reg:
        empty_mib, _ = process.memory_mib(reg.pid)
    port = free_port()
    with Program("relay", port, zk.port) as relay:
        time.sleep(0.2)
        with Registryd(zk, root, place, port) as reg:
            reg.settle(n)
            result["memory"] = _memory(reg, empty_mib, result["load"], n, say)
            result["cpu"] = _cpu(reg, place, n, say)
            result["reconnect"] = _reconnect(reg, relay, result["load"], say)
            result["one_follower"] = _followers(reg, 1, say)
            result["followers"] = _followers(reg, FOLLOWERS, say)
            result["changing"] = _changing(reg, zk, root, n, say)
            result["purge"] = registry_purge.measure(reg, say)
            rss_mib, _ = process.memory_mib(reg.pid)
    say(f"  memory at the end {rss_mib:.0f} MiB")
    return {**result, "end_mib": rss_mib}


def run(sizes, say):
    """Returns the results, ready for JSON."""
    result = {"instructions": registry_instructions.run(say), "purge_embedded": registry_purge.embedded(registry_purge.SIZES, say)}
    for n in sizes:
        heap_mib = max(512, n * 3 // 1024)
        zookeeper.JVM[:] = [f"-Xmx{heap_mib}m" if word.startswith("-Xmx") else word for word in zookeeper.JVM]
        with tempfile.TemporaryDirectory(prefix="bobbin-bench-") as place, zookeeper.Server() as zk:
            result[n] = _measure(zk, n, place, say)
    return result
