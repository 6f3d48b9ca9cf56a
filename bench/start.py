"""How long after its start dnsd answers: from the registry (the scripted feed), and from the snapshot on disk while no registry
is there; with 100 000 names, and with so many instances as are asked for. From the fork of the process to the answer for the
name that comes last in the feed."""
import os
import re
import statistics
import tempfile
import time

import feed
import instances
import peers
import process
from harness import request, wait_for
from question import ask

PAUSE_S, LIMIT_S = 0.002, 600
NAMES = 100000


def _last_name(n):
    path = max(instances.Instance(i).path for i in range(n))
    return next(f"{x.instance_name} A" for x in map(instances.Instance, range(n)) if x.path == path)


def _metric(dnsd, name):
    """dnsd answers names before it listens for HTTP."""
    port = int(dnsd.options["hadoop.registry.dns.http.address"].rpartition(":")[2])
    text = wait_for(lambda: request(port, "GET", "/metrics").body.decode(), "dnsd tells its metrics")
    return int(re.search(rf"^{name} (\d+)$", text, re.M).group(1))


def _answers_after(url, place, line):
    """Seconds, seconds of CPU and the longest turn of dnsd's loop in ms; dnsd is stopped in order and so writes its snapshot."""
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
        return time.monotonic() - begin, process.cpu_s(dnsd.pid), _metric(dnsd, "dnsd_loop_longest_turn_microseconds") / 1000
    finally:
        dnsd.stop()


def _snapshot_mib(place):
    sizes = [os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(place) for name in names
             if name.endswith(".snapshot")]
    return sum(sizes) / 1048576


def _measure(n, n_rounds, say):
    line = _last_name(n)
    with tempfile.TemporaryDirectory(prefix="bobbin-bench-") as place:
        with feed.Feed(instances.records(n)) as source:
            from_feed = _answers_after(source.url, place, line)
        nowhere = f"http://127.0.0.1:{peers.free_port()}"
        rounds = [_answers_after(nowhere, place, line) for _ in range(n_rounds)]
        size = _snapshot_mib(place)
    result = {"instances": n, "names": instances.n_names(n), "feed_s": from_feed[0], "feed_cpu_s": from_feed[1],
              "feed_longest_turn_ms": from_feed[2], "snapshot_mib": size, "snapshot_s": statistics.median(r[0] for r in rounds),
              "snapshot_s_min": min(r[0] for r in rounds), "snapshot_cpu_s": statistics.median(r[1] for r in rounds),
              "snapshot_longest_turn_ms": statistics.median(r[2] for r in rounds), "load_average": os.getloadavg()[0]}
    say(f"\nstart with {result['names']} names ({n} instances): answers after {result['snapshot_s']:.2f} s (least "
        f"{result['snapshot_s_min']:.2f}) from a snapshot of {size:.1f} MiB, {result['snapshot_cpu_s']:.2f} s of CPU, longest turn of "
        f"the loop {result['snapshot_longest_turn_ms']:.1f} ms; after {result['feed_s']:.2f} s from the feed, "
        f"{result['feed_cpu_s']:.2f} s of CPU, longest turn {result['feed_longest_turn_ms']:.1f} ms; load average "
        f"{result['load_average']:.1f}")
    return result


def run(n, n_rounds, say):
    """With NAMES names, and with n instances."""
    return [_measure(size, n_rounds, say) for size in (instances.with_names(min(NAMES, instances.n_names(n))), n)]
