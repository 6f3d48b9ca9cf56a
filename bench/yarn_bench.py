"""`bench.py yarn`: services of 1, 10 and 100 containers on one real YARN cluster, by Hadoop's own services API with its Java master and by
svcmgr: from the POST until all is STABLE, and what the application master costs while nothing happens.

The cluster runs two node managers of 16 GB and 64 vcores each, which count for the scheduler only, with a heartbeat of 100 ms. The peers
run one after the other, each alone. Every service is one component of `sleep`, 32 MB, checked each second.
"""
import os
import shutil
import statistics
import sys
import tempfile
import time

import process
from harness import ROOT

sys.path.append(os.path.join(ROOT, "tests", "interop", "yarn"))

from services import Ours, Theirs, port_of_theirs, settings, sleepers  # noqa: E402
from yarn import Cluster  # noqa: E402

SIZES = (1, 10, 100)
REST_S = 20
SETTLE_S = 5  # after STABLE, before the master counts as at rest
MEASURES = {"stable_s": "POST to STABLE, s", "memory_mib": "master, MiB (PSS)", "cpu_percent": "master at rest, % of a core"}


def _rest(pid):
    """(MiB, percent of a core) of a master that has nothing to do."""
    time.sleep(SETTLE_S)
    began, used = time.monotonic(), process.cpu_s(pid)
    time.sleep(REST_S)
    percent = 100 * (process.cpu_s(pid) - used) / (time.monotonic() - began)
    return process.memory_mib(pid)[1], percent


def _one(services, n, round_number):
    name = f"bench-{n}-{round_number}"
    began = time.monotonic()
    services.launch(sleepers(name, n))
    services.until(name, n)
    took = time.monotonic() - began
    memory, percent = _rest(services.master(name))
    services.destroy(name)
    return {"stable_s": took, "memory_mib": memory, "cpu_percent": percent}


def _peer(services, sizes, rounds, say):
    """Medians by size. The first service of a server warms it up."""
    found = {}
    with services:
        services.launch(sleepers("warm", 1))
        services.until("warm", 1)
        services.destroy("warm")
        for n in sizes:
            rows = [_one(services, n, i) for i in range(rounds)]
            found[n] = {measure: statistics.median(row[measure] for row in rows) for measure in MEASURES}
            say(f"  {type(services).__name__.lower()} {n}: " + "  ".join(f"{key}={value:.2f}" for key, value in found[n].items()))
    return found


def _table(result, say):
    peers = list(result)
    say("\n| containers | measure | " + " | ".join(peers) + " | ratio |\n|---|---|" + "---|" * (len(peers) + 1))
    for n in next(iter(result.values())):
        for measure, text in MEASURES.items():
            values = [result[peer][n][measure] for peer in peers]
            ratio = f"{values[1] / values[0]:.2f}" if len(values) == 2 and values[0] else "–"
            say(f"| {n} | {text} | " + " | ".join(f"{value:.2f}" for value in values) + f" | {ratio} |")


def run(say, rounds, sizes=SIZES, peers=("theirs", "ours")):
    """The ratio is ours/theirs. Returns medians: peer → containers → measure."""
    directory, port = tempfile.mkdtemp(prefix="bench-yarn-"), port_of_theirs()
    make = {"theirs": lambda cluster: Theirs(cluster, port), "ours": Ours}
    try:
        with Cluster(directory=directory, settings=settings(directory, port)) as cluster:
            result = {peer: _peer(make[peer](cluster), sizes, rounds, say) for peer in peers}
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    _table(result, say)
    return result
