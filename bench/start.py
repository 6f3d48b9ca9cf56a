"""How long after its start dnsd answers: from the registry (the scripted feed), and from the snapshot on disk while no registry
is there. From the fork of the process to the answer for the name that comes last in the feed."""
import os
import statistics
import tempfile
import time

import feed
import instances
import peers
import process
from question import ask

PAUSE_S, LIMIT_S = 0.002, 600


def _last_name(n):
    path = max(instances.Instance(i).path for i in range(n))
    return next(f"{x.instance_name} A" for x in map(instances.Instance, range(n)) if x.path == path)


def _answers_after(url, place, line):
    """Seconds, and seconds of CPU; dnsd is stopped in order and so writes its snapshot."""
    begin = time.monotonic()
    dnsd = peers.Dnsd(url, 1, event=None, **{"bobbin.data.dir": place})
    try:
        while True:
            try:
                if ask(dnsd.port, line, timeout=LIMIT_S / 10).rcode == 0:
                    break
            except OSError:
                pass  # its socket is not open yet
            if time.monotonic() - begin > LIMIT_S:
                raise AssertionError(f"dnsd does not answer {line} within {LIMIT_S} s")
            time.sleep(PAUSE_S)
        return time.monotonic() - begin, process.cpu_s(dnsd.pid)
    finally:
        dnsd.stop()


def _snapshot_mib(place):
    sizes = [os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(place) for name in names
             if name.endswith(".snapshot")]
    return sum(sizes) / 1048576


def run(n, n_rounds, say):
    line = _last_name(n)
    with tempfile.TemporaryDirectory(prefix="bobbin-bench-") as place:
        with feed.Feed(instances.records(n)) as source:
            from_feed = _answers_after(source.url, place, line)
        nowhere = f"http://127.0.0.1:{peers.free_port()}"
        rounds = [_answers_after(nowhere, place, line) for _ in range(n_rounds)]
        size = _snapshot_mib(place)
    result = {"instances": n, "feed_s": from_feed[0], "feed_cpu_s": from_feed[1], "snapshot_mib": size,
              "snapshot_s": statistics.median(r[0] for r in rounds), "snapshot_cpu_s": statistics.median(r[1] for r in rounds),
              "load_average": os.getloadavg()[0]}
    say(f"\nstart with {n} instances: answers after {result['snapshot_s']:.2f} s from a snapshot of {size:.1f} MiB "
        f"({result['snapshot_cpu_s']:.2f} s of CPU), after {result['feed_s']:.2f} s from the feed ({result['feed_cpu_s']:.2f} s "
        f"of CPU); load average {result['load_average']:.1f}")
    return result
