"""`bench.py dns`: dnsd beside Knot, NSD and an echo, on the same records and the same questions, in one run.

Every server runs all the time; rounds are interleaved (server after server, the first one another each round), so what the
machine does beside the bench hits all alike. What counts is the CPU time of the server's own processes, per answer. With one
worker the server has the last CPU and the load program the first one.
"""
import contextlib
import os
import random
import re
import statistics
import subprocess
import tempfile
import threading

import feed
import instances
import peers
import process
from harness import BIN
from question import ask, encode

SAMPLE = 400
SOCKETS, WINDOW = 8, 16
PEERS = ("knot", "nsd", "echo")


def _write_lines(path, lines):
    with open(path, "w", encoding="ascii") as f:
        f.writelines(f"{line}\n" for line in lines)


class Field:
    """All servers with n instances, and the questions of these mixes."""

    def __init__(self, place, n, workers, mixes, say):
        self.place, self.workers, self.say = place, workers, say
        with open(f"{place}/forward.zone", "w", encoding="ascii") as forward, \
                open(f"{place}/reverse.zone", "w", encoding="ascii") as reverse:
            instances.write_masters(n, forward, reverse)
        self.samples = {mix: self._write_questions(mix, n) for mix in mixes}
        self.last = f"{instances.Instance(n - 1).instance_name} A"
        self.feed = feed.Feed(instances.records(n))
        self.servers = {}

    def _write_questions(self, mix, n):
        lines = instances.questions(mix, n)
        _write_lines(f"{self.place}/{mix}.questions", lines)
        return random.Random(1).sample(lines, min(SAMPLE, len(lines)))

    def __enter__(self):
        self.feed.__enter__()
        try:
            self.servers["dnsd"] = peers.Dnsd(self.feed.url, self.workers)
            self.servers["knot"] = peers.knot(self.place, self.workers).wait(self.last)
            self.servers["nsd"] = peers.nsd(self.place, self.workers).wait(self.last)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for server in self.servers.values():
            server.stop()
        self.feed.__exit__()

    def compare(self, mix):
        """All must say the same. Returns the mean length of questions and of dnsd's answers, and who adds how many records."""
        sample = self.samples[mix]
        asked = answered = 0
        additional = dict.fromkeys(self.servers, 0)
        for line in sample:
            replies = {name: ask(server.port, line) for name, server in self.servers.items()}
            meanings = {name: reply.meaning for name, reply in replies.items()}
            if len(set(meanings.values())) != 1:
                raise AssertionError(f"{line}: servers differ: {meanings}")
            asked += len(encode(line))
            answered += replies["dnsd"].size
            for name, reply in replies.items():
                additional[name] += reply.n_additional / len(sample)
        return asked / len(sample), answered / len(sample), additional


def load(port, questions, seconds, rate=0, streams=None):
    """One run of a load program: its figures by name. streams: over TCP, so many questions a connection, 0: no end."""
    program, last = ("bench_dns_loadgen", rate) if streams is None else ("bench_dns_streams", streams)
    command = [os.path.join(BIN, program), "127.0.0.1", str(port), questions, str(SOCKETS), str(WINDOW), str(seconds),
               str(last)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, preexec_fn=_first_cpu)
    return {k: float(v) for k, v in (word.split("=") for word in done.stdout.split())}


def _first_cpu():
    os.sched_setaffinity(0, {0})


def measure_round(server, questions, seconds, rate=0, streams=None):
    """One run, with the server's CPU time an answer."""
    before = process.cpu_s(server.pid)
    figures = load(server.port, questions, seconds, rate, streams)
    used = process.cpu_s(server.pid) - before
    return {"cpu_us": used * 1e6 / max(figures["answered"], 1), "qps": figures["rate_qps"], "lost": figures["lost"],
            "p50_us": figures.get("p50_us", 0), "p99_us": figures.get("p99_us", 0), "nxdomain": figures["nxdomain"],
            "answered": figures["answered"]}


def _summary(rounds):
    median = {key: statistics.median(r[key] for r in rounds) for key in ("cpu_us", "qps", "p50_us", "p99_us")}
    return {**median, "cpu_us_min": min(r["cpu_us"] for r in rounds), "cpu_us_max": max(r["cpu_us"] for r in rounds),
            "lost": sum(r["lost"] for r in rounds), "answered": sum(r["answered"] for r in rounds), "rounds": len(rounds)}


def _ratios(rounds):
    """Median over the rounds of dnsd's CPU to the other's in the same round."""
    return {name: statistics.median(d["cpu_us"] / o["cpu_us"] for d, o in zip(rounds["dnsd"], rounds[name]))
            for name in PEERS if name in rounds}


@contextlib.contextmanager
def _servers(field, longer, streams):
    """All servers that are measured with a mix; the echo knows no TCP."""
    if streams is not None:
        yield field.servers
        return
    echo = peers.echo(field.place, longer).wait(field.last)
    try:
        yield {**field.servers, "echo": echo}
    finally:
        echo.stop()


def _measure_mix(field, mix, seconds, n_rounds):
    asked, answered, additional = field.compare(mix)
    questions, streams = f"{field.place}/{mix}.questions", instances.MIXES[mix].streams
    with _servers(field, max(0, round(answered - asked)), streams) as servers:
        names = list(servers)
        rounds = {name: [] for name in names}
        for server in servers.values():
            if field.workers == 1 and os.cpu_count() > 1:
                process.pin(server.pid, {os.cpu_count() - 1})
            load(server.port, questions, 1, 0, streams)  # warm
        for k in range(n_rounds):
            for name in names[k % len(names):] + names[:k % len(names)]:
                rounds[name].append(measure_round(servers[name], questions, seconds, 0, streams))
    result = {"question_bytes": asked, "answer_bytes": answered, "additional": additional, "cpu_ratio": _ratios(rounds),
              "load_average": os.getloadavg()[0], "servers": {name: _summary(rounds[name]) for name in names}}
    _show_mix(field.say, f"{mix} ({instances.MIXES[mix].text})", result)
    return result


def _show_mix(say, title, result):
    say(f"\n{title}: {result['question_bytes']:.0f} bytes asked, {result['answer_bytes']:.0f} answered; "
        f"load average {result['load_average']:.1f}")
    if len(set(result["additional"].values())) > 1:
        say("  additional records an answer: " + ", ".join(f"{k} {v:.2f}" for k, v in result["additional"].items()))
    say("  server   CPU us/query (lowest, highest)   queries/s    p50 us   p99 us   lost   dnsd's CPU to it")
    for name, s in result["servers"].items():
        ratio = f"{result['cpu_ratio'][name]:.2f}" if name in result["cpu_ratio"] else ""
        say(f"  {name:6} {s['cpu_us']:10.2f}  ({s['cpu_us_min']:.2f}, {s['cpu_us_max']:.2f}) {s['qps']:16.0f} "
            f"{s['p50_us']:9.0f} {s['p99_us']:8.0f} {s['lost']:6.0f}   {ratio}")


def _show_memory(say, memory, n):
    say("\nmemory: resident MiB, proportional MiB, bytes an instance (proportional)")
    for name, (rss, pss) in memory.items():
        say(f"  {name:6} {rss:8.1f} {pss:8.1f} {pss * 1048576 / n:8.0f}")


def _while_changing(field, n, rate, seconds, n_rounds):
    """dnsd's answer times at a fixed rate of questions, without changes and with `rate` records changing a second."""
    dnsd = field.servers["dnsd"]
    questions = f"{field.place}/hits.questions"
    full = load(dnsd.port, questions, 1)["rate_qps"]
    half = int(full / 2)

    def change(k):
        x = instances.Instance(k * 7919 % n)
        record = x.record(address=None if k // n % 2 else f"10.200.{k >> 8 & 255}.{k & 255}")
        return x.path, feed.as_text(record)

    quiet, busy = [], []
    stop = None
    at = 0
    for _ in range(n_rounds):
        quiet.append(measure_round(dnsd, questions, seconds, half))
        stop = threading.Event()
        changes = [change(k) for k in range(at, at + int(rate * (seconds + 2)))]
        thread = threading.Thread(target=feed.keep_changing, args=(field.feed, changes, rate, stop))
        thread.start()
        busy.append(measure_round(dnsd, questions, seconds, half))
        stop.set()
        thread.join()
        at += len(changes)
    result = {"rate_qps": half, "changes_a_second": rate, "quiet": _summary(quiet), "changing": _summary(busy)}
    field.say(f"\nchanges: {half} queries/s of hits, half of the most; {rate} records a second change")
    for name in ("quiet", "changing"):
        s = result[name]
        field.say(f"  {name:9} CPU us/query {s['cpu_us']:.2f}   p50 {s['p50_us']:.0f} us   p99 {s['p99_us']:.0f} us   "
                  f"lost {s['lost']:.0f}")
    return result


def run(args, n, say):
    """Everything with n instances. Returns the results, ready for JSON."""
    result = {"instances": n, "seconds": args.seconds, "rounds": args.rounds, "workers": {}}
    result["versions"] = {"knot": peers.version(["/usr/sbin/knotd", "--version"]),
                          "nsd": peers.version(["/usr/sbin/nsd", "-v"])}
    say(f"{result['versions']['knot']}; {result['versions']['nsd']}")
    for workers in args.workers:
        say(f"\n== {n} instances, {workers} worker{'s' if workers > 1 else ''} a server")
        with tempfile.TemporaryDirectory(prefix="bobbin-bench-") as place, \
                Field(place, n, workers, {*args.mixes, "hits"}, say) as field:
            one = {"memory_mib": {name: process.memory_mib(s.pid) for name, s in field.servers.items()}}
            _show_memory(say, one["memory_mib"], n)
            one["mixes"] = {mix: _measure_mix(field, mix, args.seconds, args.rounds) for mix in args.mixes}
            if args.changes and workers == 1:
                one["changes"] = _while_changing(field, n, args.changes, args.seconds, args.rounds)
        result["workers"][workers] = one
    return result


def _instructions(n, n_commits):
    """Instructions of one commit, as callgrind counts them; they do not depend on what else the machine does."""
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=measure",
                           os.path.join(BIN, "bench_dns_commit"), str(n), str(n_commits // 2)],
                          capture_output=True, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", done.stderr).group(1)) / n_commits


def commit(say, n_rounds):
    """What a commit costs at 10^3 and 10^5 instances, interleaved."""
    sizes = {1000: [], 100000: []}
    for _ in range(n_rounds):
        for n, found in sizes.items():
            done = subprocess.run([os.path.join(BIN, "bench_dns_commit"), str(n), "2000"], capture_output=True, text=True,
                                  check=True)
            found.append({k: float(v) for k, v in (word.split("=") for word in done.stdout.split())})
    result = {n: {**{key: statistics.median(r[key] for r in found) for key in found[0]},
                  "commit_instructions": _instructions(n, 1000)} for n, found in sizes.items()}
    result["ratio"] = {key: result[100000][key] / result[1000][key]
                       for key in ("commit_p50_us", "commit_p99_us", "commit_instructions")}
    say("\ncommitting one change (5 records of one instance)")
    for n in sizes:
        say(f"  {n:7} instances   p50 {result[n]['commit_p50_us']:.1f} us   p99 {result[n]['commit_p99_us']:.1f} us   "
            f"{result[n]['commit_instructions']:.0f} instructions")
    ratio = result["ratio"]
    say(f"  100000 to 1000: {ratio['commit_p50_us']:.2f} (p50), {ratio['commit_p99_us']:.2f} (p99), "
        f"{ratio['commit_instructions']:.2f} (instructions)")
    return result
