"""User instructions of a GET and of a PUT, counted by callgrind: a figure that no load of the machine moves.

What libc's memset does is left out of it: callgrind counts each byte that one instruction clears, and both programs have libmicrohttpd
clear the same pool of 48 KiB a request.
"""
import collections
import glob
import http.client
import json
import os
import re
import socket
import statistics
import subprocess
import tempfile
import time
import uuid

import zookeeper
from harness import BIN, Registry, free_port, request, wait_for

RECORDS, READS, WRITES, CONNECTIONS, ROUNDS = 1000, 2000, 500, 8, 10
PATH = "/ws/v1/registry/users/u0/services/yarn-service/svc0/components/ctr-e50-1451931954322-0000-01-000000"


def self_cost(text):
    """Instructions of each function itself, of a callgrind dump."""
    names, cost, function, is_call = {}, collections.Counter(), None, False
    for line in text.splitlines():
        named = re.match(r"c?fn=\((\d+)\)(?: (.*))?", line)
        if named:
            names.setdefault(named[1], named[2])
            function = names[named[1]] if line.startswith("fn=") else function
        elif line.startswith("calls="):
            is_call = True
        elif re.match(r"[+\-*\d]", line):
            words = line.split()
            if not is_call and len(words) > 1:
                cost[function] += int(words[1])
            is_call = False
    return cost


def _is_open(port):
    try:
        socket.create_connection(("127.0.0.1", port)).close()
        return True
    except OSError:
        return False


def _reads(port, n):
    subprocess.run([os.path.join(BIN, "bench_registry_reads"), *map(str, (port, RECORDS, n, 0, CONNECTIONS))], check=True, stdout=subprocess.DEVNULL)


def _writes(port, n, record, is_named=False):
    """n PUTs one after the other on one connection: each commit holds one write, so the count does not depend on the load. is_named: each
    has an X-Request-Id of its own, as those of a gateway. Returns their times in seconds."""
    connection, times = http.client.HTTPConnection("127.0.0.1", port, timeout=60), []
    for _ in range(n):
        begun = time.perf_counter()
        connection.request("PUT", PATH + "?overwrite=true", record,
                           {"Content-Type": "application/json", **({"X-Request-Id": str(uuid.uuid4())} if is_named else {})})
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()
        answer.read()
        times.append(time.perf_counter() - begun)
    connection.close()
    return times


def _control(pid, option):
    subprocess.run(["callgrind_control", option, str(pid)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Counted:
    """A program under callgrind, until the end of the `with` block."""

    def __init__(self, place, port, *command):
        self.out, self.port = os.path.join(place, f"callgrind.{port}"), port
        with open(self.out + ".log", "wb") as log:
            self.process = subprocess.Popen(["valgrind", "--tool=callgrind", f"--callgrind-out-file={self.out}", *command], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log)

    def __enter__(self):
        wait_for(lambda: _is_open(self.port), f"port {self.port} is open", 120)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(60)

    def _counted(self, run, n):
        """Instructions a request of run(port, n). The first run is not counted: it finds out what is found out once a record."""
        run(self.port, RECORDS)
        _control(self.process.pid, "-z")
        run(self.port, n)
        _control(self.process.pid, "-d")
        with open(max(glob.glob(self.out + ".[0-9]*"), key=os.path.getmtime), encoding="utf-8", errors="replace") as f:
            cost = self_cost(f.read())
        return sum(count for name, count in cost.items() if "memset" not in (name or "")) / n

    def a_read(self):
        return self._counted(_reads, READS)

    def a_write(self, record, is_named=False):
        return self._counted(lambda port, n: _writes(port, n, record, is_named), WRITES)


def _put_times(url, record):
    """Median times of a PUT without and with X-Request-Id, in ms; both in each round."""
    with Registry(store=url) as reg:
        times = {False: [], True: []}
        for _ in range(ROUNDS):
            for is_named, seen in times.items():
                seen += _writes(reg.registry_port, WRITES // ROUNDS, record, is_named)
    return [1000 * statistics.median(times[is_named]) for is_named in (False, True)]


def run(say):
    """Returns the figures, ready for JSON."""
    with tempfile.TemporaryDirectory(prefix="bobbin-bench-") as place, zookeeper.Server() as zk:
        url, port, body = f"zk://{zk.address}/counted", free_port(), os.path.join(place, "body")
        subprocess.run([os.path.join(BIN, "bench_registry_fill"), url, "make", str(RECORDS)], check=True, stdout=subprocess.DEVNULL)
        with Counted(place, port, os.path.join(BIN, "registryd"), "-D", f"hadoop.registry.store={url}", "-D", f"bobbin.data.dir={place}",
                     "-D", f"hadoop.registry.http.address=127.0.0.1:{port}") as reg:
            wait_for(lambda: f"registry_indexed_records {RECORDS}" in request(port, "GET", "/metrics").body.decode(), "the index is built", 120)
            with open(body, "wb") as f:
                f.write(request(port, "GET", PATH).body)
            ours = reg.a_read()
            record = json.dumps(json.loads(request(port, "GET", PATH).body)["service"]).encode()
            put = reg.a_write(record)
            named = reg.a_write(record, True)
        put_ms, named_ms = _put_times(url, record)
        port = free_port()
        with Counted(place, port, os.path.join(BIN, "bench_registry_bare"), str(port), body) as bare:
            theirs = bare.a_read()
    say(f"user instructions of a GET: registryd {ours:.0f}, bare libmicrohttpd {theirs:.0f}, without clearing memory")
    say(f"user instructions of a PUT over a record of {len(record)} bytes in ZooKeeper: registryd {put:.0f}")
    say(f"the same with an X-Request-Id, which other registryds are to know: registryd {named:.0f}; {named_ms:.2f} ms, without it {put_ms:.2f} ms")
    return {"registryd": ours, "bare": theirs, "put": put, "put_named": named, "put_ms": put_ms, "put_named_ms": named_ms}
