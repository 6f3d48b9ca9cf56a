"""How long after its start dnsd answers, with 100 000 and with 1 000 000 names: from the snapshot of the last run while no registry is
there, after an orderly stop and after kill -9, and from the registry (the scripted feed). From the fork of the process to the answer for
the name that comes last. Knot and NSD do the same from master files with the same names."""
import os
import re
import shutil
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
NAMES = (100000, 1000000)


def _last_name(n):
    path = max(instances.Instance(i).path for i in range(n))
    return next(f"{x.instance_name} A" for x in map(instances.Instance, range(n)) if x.path == path)


def _metric(dnsd, name):
    """dnsd answers names before it listens for HTTP."""
    port = int(dnsd.options["hadoop.registry.dns.http.address"].rpartition(":")[2])
    text = wait_for(lambda: request(port, "GET", "/metrics").body.decode(), "dnsd serves its metrics", timeout=LIMIT_S)
    return int(re.search(rf"^{name} (\d+)$", text, re.M).group(1))


def _first_answer(port, line, begin):
    """Seconds since begin."""
    while True:
        try:
            if ask(port, line, timeout=LIMIT_S / 10).rcode == 0:
                return time.monotonic() - begin
        except OSError:
            pass  # its socket is not open yet
        if time.monotonic() - begin > LIMIT_S:
            raise AssertionError(f"{line} is not answered within {LIMIT_S} s")
        time.sleep(PAUSE_S)


def _resident_mib(pid):
    """Now, and the most there was."""
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        found = dict(re.findall(r"^(VmRSS|VmHWM):\s+(\d+) kB", f.read(), re.M))
    return int(found["VmRSS"]) / 1024, int(found["VmHWM"]) / 1024


def _settled_mib(pid):
    """Resident, when it no longer falls."""
    least, same_since = _resident_mib(pid)[0], time.monotonic()
    while time.monotonic() - same_since < 2:
        time.sleep(0.1)
        now = _resident_mib(pid)[0]
        if now < least - 0.5:
            least, same_since = now, time.monotonic()
    return least


def _dnsd(url, place, line, end):
    """One run of dnsd, which ends by this method of it and leaves its snapshot."""
    begin = time.monotonic()
    dnsd = peers.Dnsd(url, 1, event=None, **{"bobbin.data.dir": place, "hadoop.registry.dns.snapshot-interval": "1s"})
    try:
        found = {"s": _first_answer(dnsd.port, line, begin), "cpu_s": process.cpu_s(dnsd.pid)}
        wait_for(lambda: not _metric(dnsd, "dnsd_loading") and _metric(dnsd, "dnsd_registry_records"), "its records are read", timeout=LIMIT_S)
        found |= {"loaded_s": time.monotonic() - begin, "loaded_cpu_s": process.cpu_s(dnsd.pid),
                  "longest_turn_ms": _metric(dnsd, "dnsd_loop_longest_turn_microseconds") / 1000}
        found["mib"], found["peak_mib"] = _settled_mib(dnsd.pid), _resident_mib(dnsd.pid)[1]
        return found
    finally:
        getattr(dnsd, end)()


def _peer(make, place, line):
    """One run of a peer: seconds, seconds of CPU."""
    begin = time.monotonic()
    peer = make(place, 1)
    try:
        return {"s": _first_answer(peer.port, line, begin), "cpu_s": process.cpu_s(peer.pid)}
    finally:
        peer.stop()
        shutil.rmtree(os.path.join(place, f"{peer.name}-1"))


def _files_mib(place):
    sizes = {name.rpartition(".")[2]: os.path.getsize(os.path.join(folder, name)) / 1048576 for folder, _, names in os.walk(place)
             for name in names}
    return sizes["snapshot"], sizes["zones"]


def _median(rounds):
    return {key: statistics.median(r[key] for r in rounds) for key in rounds[0]} | {"least_s": min(r["s"] for r in rounds)}


def _measure(n, n_rounds, say):
    line = _last_name(n)
    with tempfile.TemporaryDirectory(prefix="bobbin-bench-") as place:
        with open(f"{place}/forward.zone", "w", encoding="ascii") as forward, open(f"{place}/reverse.zone", "w", encoding="ascii") as reverse:
            instances.write_masters(n, forward, reverse)
        with feed.Feed(instances.records(n)) as source:
            from_feed = _dnsd(source.url, place, line, "stop")
        nowhere = f"http://127.0.0.1:{peers.free_port()}"
        rounds = {"stop": [], "kill": [], "knot": [], "nsd": []}
        for _ in range(n_rounds):  # each begins with what the one before it left
            rounds["stop"].append(_dnsd(nowhere, place, line, "kill"))
            rounds["knot"].append(_peer(peers.knot, place, line))
            rounds["kill"].append(_dnsd(nowhere, place, line, "stop"))
            rounds["nsd"].append(_peer(peers.nsd, place, line))
        records, zones = _files_mib(place)
    result = {"instances": n, "names": instances.n_names(n), "feed": from_feed, "records_mib": records, "zones_mib": zones,
              "load_average": os.getloadavg()[0], **{how: _median(found) for how, found in rounds.items()}}
    _show(result, say)
    return result


def _show(result, say):
    stop, kill, source = result["stop"], result["kill"], result["feed"]
    say(f"\nstart with {result['names']} names ({result['instances']} instances); snapshot {result['records_mib']:.1f} MiB of records and "
        f"{result['zones_mib']:.1f} MiB of zones; load average {result['load_average']:.1f}")
    for title, found in (("after a stop", stop), ("after kill -9", kill)):
        say(f"  {title}: answers after {found['s']:.2f} s (least {found['least_s']:.2f}), records read after {found['loaded_s']:.2f} s, "
            f"{found['loaded_cpu_s']:.2f} s of CPU, longest turn of the loop {found['longest_turn_ms']:.1f} ms; resident {found['mib']:.0f} MiB, "
            f"{found['peak_mib']:.0f} at most")
    say(f"  from the feed: {source['s']:.2f} s, {source['cpu_s']:.2f} s of CPU; resident {source['mib']:.0f} MiB, {source['peak_mib']:.0f} at most")
    for name in ("knot", "nsd"):
        say(f"  {name} from master files: {result[name]['s']:.2f} s (least {result[name]['least_s']:.2f}), {result[name]['cpu_s']:.2f} s of CPU; "
            f"dnsd to it {stop['s'] / result[name]['s']:.3f}")


def run(n_rounds, say):
    return [_measure(instances.with_names(names), n_rounds, say) for names in NAMES]
