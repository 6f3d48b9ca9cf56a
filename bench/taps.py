"""What an access list, the query log and dnstap cost: dnsd without them and dnsd with one of them answer the same questions, in turn.

CPU is that of all threads of the process, the one that writes log and dnstap included; instructions are those of the worker alone, as
callgrind counts them: what a query waits for. The collector is fstrm_capture, whose own CPU is not counted.
"""
import contextlib
import os
import statistics
import subprocess
import tempfile

import dns_bench
import feed
import instances
import instructions
import peers
import process
from harness import end_process, request, wait_for

KEY = "hadoop.registry.dns."
INSTANCES, MIX = 2000, "hits"
NETWORKS = ",".join(["127.0.0.0/8", *(f"10.{k}.0.0/17" for k in range(99))])


def variants(collector):
    """Options by what they switch on."""
    return {"nothing": {},
            "access list, 100 networks": {KEY + "acl": NETWORKS},
            "query log, each 100th": {KEY + "query-log.sample": 100, KEY + "query-log.rate": 1000000},
            "query log, each, 1000 a second": {KEY + "query-log.sample": 1},
            "dnstap, each 100th": {KEY + "dnstap.socket": collector, KEY + "dnstap.sample": 100},
            "dnstap, each": {KEY + "dnstap.socket": collector}}


@contextlib.contextmanager
def _collector(place):
    path = os.path.join(place, "collector.sock")
    program = subprocess.Popen(["fstrm_capture", "-t", "protobuf:dnstap.Dnstap", "-u", path, "-w", os.devnull],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: os.path.exists(path), "the collector listens")
        yield path
    finally:
        end_process(program)


def _counts(dnsd):
    """log and dnstap: what was written, what was not."""
    port = int(dnsd.options[KEY + "http.address"].rpartition(":")[2])
    return request(port, "GET", "/stats").json["queryLog"]


def _rounds(servers, questions, args):
    rounds = {name: [] for name in servers}
    names = list(servers)
    for server in servers.values():
        process.pin(server.pid, {os.cpu_count() - 1})
        dns_bench.load(server.port, questions, 1)  # warm
    for k in range(args.rounds):
        for name in names[k % len(names):] + names[:k % len(names)]:
            rounds[name].append(dns_bench.measure_round(servers[name], questions, args.seconds))
    return rounds


def _show(say, result):
    say("\nswitched on                       CPU us/query   queries/s   CPU to nothing's   instructions of the worker   counted")
    for name, one in result.items():
        counted = " ".join(f"{k}={v}" for k, v in one["counts"].items() if v)
        say(f"  {name:32} {one['cpu_us']:10.2f} {one['qps']:12.0f} {one['cpu_ratio']:14.2f} {one['instructions']:22.0f}   {counted}")


def run(args, say):
    """Returns the results, ready for JSON."""
    result = {}
    with tempfile.TemporaryDirectory(prefix="bobbin-bench-") as place, feed.Feed(instances.records(INSTANCES)) as source, \
            contextlib.ExitStack() as stack:
        collector = stack.enter_context(_collector(place))
        questions = os.path.join(place, "questions")
        with open(questions, "w", encoding="ascii") as f:
            f.writelines(f"{line}\n" for line in instances.questions(MIX, INSTANCES))
        servers = {}
        for name, options in variants(collector).items():
            servers[name] = peers.Dnsd(source.url, 1, **options)
            stack.callback(servers[name].stop)
        rounds = _rounds(servers, questions, args)
        for name, server in servers.items():
            result[name] = {key: statistics.median(r[key] for r in rounds[name]) for key in ("cpu_us", "qps")}
            result[name]["cpu_ratio"] = statistics.median(
                one["cpu_us"] / other["cpu_us"] for one, other in zip(rounds[name], rounds["nothing"]))
            result[name]["counts"] = _counts(server)
    with tempfile.TemporaryDirectory(prefix="bobbin-bench-") as place, _collector(place) as collector:
        for name, options in variants(collector).items():
            result[name]["instructions"] = instructions.measure(MIX, options)
    _show(say, result)
    return result
