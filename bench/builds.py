"""Compare builds, or environments, of dnsd and registryd on the same work, beside each other in the same rounds.

    /usr/bin/python3 bench/builds.py NAME=BIN_DIR[,VARIABLE=VALUE]… NAME=BIN_DIR…

    /usr/bin/python3 bench/builds.py before=/tmp/old/build/release/bin after=build/release/bin
    /usr/bin/python3 bench/builds.py plain=build/release/bin huge=build/release/bin,GLIBC_TUNABLES=glibc.malloc.hugetlb=1

All variants run all the time. A round measures one after the other and begins with another one each time, so whatever else the machine does hits
all alike. What counts is the CPU time of the daemon, per answer; a ratio is the median over the rounds of the ratio to the first
variant in the same round.
"""
import argparse
import contextlib
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "tests")]

import dns_bench  # noqa: E402
import feed  # noqa: E402
import instances  # noqa: E402
import peers  # noqa: E402
import process  # noqa: E402
from harness import BIN, end_process, free_port, request, wait_for  # noqa: E402

MIXES = ("hits", "nxdomain", "srv")
READS, SETTLE_S = 20000, 5


class Variant:
    def __init__(self, word):
        self.name, _, rest = word.partition("=")
        self.bin, *settings = rest.split(",")
        self.env = {**os.environ, **dict(s.split("=", 1) for s in settings)}

    @contextlib.contextmanager
    def run(self, program, options, log):
        words = [word for key, value in options.items() for word in ("-D", f"{key}={value}")]
        with open(log, "wb") as out, \
                subprocess.Popen([os.path.join(self.bin, program), *words], env=self.env, stdin=subprocess.DEVNULL, stdout=out, stderr=out) as one:
            try:
                yield one
            finally:
                end_process(one)


def memory(pid):
    """MiB resident, at most, and in large pages."""
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        found = dict(re.findall(r"^(VmRSS|VmHWM):\s+(\d+) kB", f.read(), re.M))
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as f:
        large = re.search(r"^AnonHugePages:\s+(\d+) kB", f.read(), re.M)[1]
    return [int(kib) / 1024 for kib in (found["VmRSS"], found["VmHWM"], large)]


def show(title, variants, work, pids, n_rounds):
    """Measure `work`, name -> function of a variant that returns us of CPU an answer, and print a table."""
    print(f"\n{title}; load average {os.getloadavg()[0]:.1f}")
    sizes = {v: memory(pids[v]) for v in variants}
    took = {name: {v: [] for v in variants} for name in work}
    for name, measure in work.items():
        for v in variants:
            measure(v)  # warm
        for k in range(n_rounds):
            for v in variants[k % len(variants):] + variants[:k % len(variants)]:
                took[name][v].append(measure(v))
    print(f"  {'':10} " + "".join(f"{name:>22}" for name in work) + "   resident, most, in large pages: MiB")
    for v in variants:
        cells = [(statistics.median(took[name][v]), statistics.median(a / b for a, b in zip(took[name][v], took[name][variants[0]])))
                 for name in work]
        print(f"  {v.name:10} " + "".join(f"{us:12.2f} us ({ratio:.3f})" for us, ratio in cells) + "   "
              + ", ".join(f"{mib:.1f}" for mib in sizes[v]), flush=True)


def measure_dnsd(variants, n, n_rounds, place):
    questions = {mix: f"{place}/{mix}.questions" for mix in MIXES}
    for mix, path in questions.items():
        with open(path, "w", encoding="ascii") as f:
            f.writelines(f"{line}\n" for line in instances.questions(mix, n))
    last = f"{instances.Instance(n - 1).instance_name} A"
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(feed.Feed(instances.records(n)))
        ports, pids = {}, {}
        for v in variants:
            ports[v] = free_port()
            pids[v] = stack.enter_context(v.run("dnsd", peers.dnsd_options(source.url, ports[v], 1), f"{place}/{v.name}.dnsd.log")).pid
            wait_for(lambda v=v: peers.ask(ports[v], last).rcode == 0, f"dnsd {v.name} answers", timeout=600)
            process.pin(pids[v], {os.cpu_count() - 1})
        time.sleep(SETTLE_S)

        def cost(v, mix):
            before = process.cpu_s(pids[v])
            figures = dns_bench.load(ports[v], questions[mix], 1)
            return (process.cpu_s(pids[v]) - before) * 1e6 / figures["answered"]
        show(f"dnsd, {n} instances: CPU of a query", variants, {mix: lambda v, mix=mix: cost(v, mix) for mix in MIXES}, pids, n_rounds)


def measure_registryd(variants, n, n_rounds, place):
    subprocess.run([os.path.join(BIN, "bench_registry_fill"), f"file:{place}/filled", "make", str(n)], check=True, stdout=subprocess.DEVNULL)
    with contextlib.ExitStack() as stack:
        ports, pids = {}, {}
        for v in variants:
            ports[v] = free_port()
            shutil.copytree(f"{place}/filled", f"{place}/{v.name}")
            options = {"hadoop.registry.store": f"file:{place}/{v.name}", "bobbin.data.dir": place,
                       "hadoop.registry.http.address": f"127.0.0.1:{ports[v]}"}
            pids[v] = stack.enter_context(v.run("registryd", options, f"{place}/{v.name}.registryd.log")).pid
            wait_for(lambda v=v: f"\nregistry_indexed_records {n}\n" in request(ports[v], "GET", "/metrics").body.decode(),
                     f"registryd {v.name} has its index", timeout=600)
        time.sleep(SETTLE_S)

        def cost(v):
            before = process.cpu_s(pids[v])
            subprocess.run([os.path.join(BIN, "bench_registry_reads"), *map(str, (ports[v], n, READS, 0, 8))], check=True, stdout=subprocess.DEVNULL)
            return (process.cpu_s(pids[v]) - before) * 1e6 / READS
        show(f"registryd, {n} records: CPU of a read", variants, {"read": cost}, pids, n_rounds)


MEASURES = {"dnsd": measure_dnsd, "registryd": measure_registryd}


def main(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("variants", nargs="+", type=Variant, metavar="NAME=BIN_DIR[,VARIABLE=VALUE]…")
    parser.add_argument("--items", type=int, default=100000, help="instances of dnsd, records of registryd (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=15, help="(default %(default)s)")
    parser.add_argument("--daemon", choices=list(MEASURES), help="this one only")
    args = parser.parse_args(words)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # through every `with`, so that all daemons end
    print(" ".join(f"{key}={value}" for key, value in process.machine().items()))
    for measure in ([MEASURES[args.daemon]] if args.daemon else MEASURES.values()):
        with tempfile.TemporaryDirectory(prefix="bobbin-bench-") as place:
            measure(args.variants, args.items, args.rounds, place)


if __name__ == "__main__":
    main(sys.argv[1:])
