"""What Apache Knox adds to a read and to a watch: the same requests through it and around it, in the same rounds.

    /usr/bin/python3 bench/knox.py [ROUNDS]        on build/release; Knox comes from Maven Central
"""
import json
import os
import statistics
import subprocess
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "tests", *part) for part in ((), ("interop", "knox"))]

import knox  # noqa: E402
from harness import Registry, wait_for  # noqa: E402

READS = 300
RECORD = {"type": "JSONServiceRecord", "description": "d", "external": [], "internal": []}
HOME = "/users/alice/services/bench/one"


def reads(url, *words):
    """Milliseconds of each read on one connection; limit= only makes the URLs different."""
    out = subprocess.run(["curl", "-skS", *words, "-u", "alice:alice-secret", "-o", "/dev/null", "-w", "%{time_total}\n",
                          f"{url}{HOME}?limit=[1-{READS}]"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return [float(line) * 1000 for line in out.split()][1:]


class Watch:
    """Times at which the changes of a watch arrive."""

    def __init__(self, url, since):
        self.process = subprocess.Popen(["curl", "-skN", "-u", "alice:alice-secret", f"{url}/?watch=true&since={since}&timeout=60"],
                                        stdout=subprocess.PIPE)
        self.at, self.is_open = [], False
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            kind = json.loads(line)["type"]
            self.is_open = True
            if kind == "put":
                self.at.append(time.monotonic())


def delays(registry, urls, n=40):
    """Milliseconds from before a write to its line in each watch."""
    since = registry.registry("GET", "/").headers["Bobbin-Revision"]
    watches = [Watch(url, since) for url in urls]
    wait_for(lambda: all(w.is_open for w in watches), "the watches are open")
    found = [[] for _ in urls]
    for i in range(n):
        begun = time.monotonic()
        registry.bind(HOME, RECORD)
        wait_for(lambda i=i: all(len(w.at) > i for w in watches), "the change arrives")
        for times, watch in zip(found, watches):
            times.append((watch.at[i] - begun) * 1000)
    for watch in watches:
        watch.process.kill()
        watch.process.wait()
    return found


def main(rounds=3):
    with Registry() as registry:
        registry.bind(HOME, RECORD)
        direct = f"http://127.0.0.1:{registry.registry_port}/ws/v1/registry"
        topologies = {"bobbin": knox.topology([f"http://127.0.0.1:{registry.registry_port}"], ["http://127.0.0.1:1"])}
        with knox.Gateway(topologies) as gateway:
            through = gateway.url() + "/registry/ws/v1/registry"
            reads(through)  # the JVM is warm after these
            for _ in range(rounds):
                near, far = reads(direct), reads(through)
                fresh = [reads(url, "-H", "Connection: close") for url in (direct, through)]
                seen = delays(registry, (direct, through))
                print(f"read: direct {statistics.median(near):.2f} ms, through Knox {statistics.median(far):.2f} ms "
                      f"(99th: {sorted(near)[int(len(near) * .99)]:.2f}, {sorted(far)[int(len(far) * .99)]:.2f}); on a connection of its own: "
                      f"direct {statistics.median(fresh[0]):.2f} ms, through Knox {statistics.median(fresh[1]):.2f} ms; change to line: "
                      f"direct {statistics.median(seen[0]):.2f} ms, through Knox {statistics.median(seen[1]):.2f} ms; "
                      f"load {os.getloadavg()[0]:.1f}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
