"""Measure against peers on the same work.

    ./dev bench dns          dnsd beside Knot, NSD and an echo, with 10^5 and 10^6 instances, one and two workers; the cost of a
                             commit; the start with 10^5 and 10^6 names; what an access list, the query log and dnstap cost;
                             instructions a query
    ./dev bench propagation  bind -> answer on ZooKeeper and on the embedded store, beside what ZooKeeper itself takes
    ./dev bench registry     registryd on ZooKeeper with 10^4, 10^5 (--records 1000000: 10^6) records, beside bare programs; good
                             clients beside a thousand whose bodies lack a byte
    ./dev bench engine       svcmgr: the steps of its engine for 10^3 to 10^5 instances; 200 processes of this host beside supervisor
                             and runit, a first process until DNS has it, a kill; 10^4 and 10^5 instances of a simulated cluster: READY,
                             recovery, destroy, a storm of failures
    ./dev bench launcher     frameworks on a simulated cluster where a tenth of the processes fails for a time: 1 000 of 100 tasks, one of
                             50 000, until all have completed; lists and statuses beside a bare server
    ./dev bench yarn         services of 1, 10 and 100 containers on a real YARN cluster beside Hadoop's own services API: POST to STABLE,
                             memory and CPU of the application master
    ./dev bench all          everything but yarn

Compare figures of one run only: what else the machine does changes all of them.
"""
import argparse
import json
import os
import signal
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "tests")]

import dns_bench  # noqa: E402
import engine_local  # noqa: E402
import engine_sim  # noqa: E402
import engine_steps  # noqa: E402
import instances  # noqa: E402
import instructions  # noqa: E402
import launcher_bench  # noqa: E402
import process  # noqa: E402
import propagation_bench  # noqa: E402
import registry_bench  # noqa: E402
import registry_stalled  # noqa: E402
import start  # noqa: E402
import taps  # noqa: E402
import yarn_bench  # noqa: E402


def say(text):
    print(text, flush=True)


def arguments(words):
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["dns", "propagation", "registry", "engine", "launcher", "yarn", "all"])
    parser.add_argument("--instances", type=int, nargs="+", default=[100000, 1000000],
                        help="instances in the zones (default 100000 1000000)")
    parser.add_argument("--seconds", type=int, default=3, help="of load a server and round (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="interleaved rounds (default %(default)s)")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2], help="workers of each server (default 1 2)")
    parser.add_argument("--mixes", nargs="+", choices=list(instances.MIXES), default=list(instances.MIXES))
    parser.add_argument("--changes", type=int, default=1000,
                        help="records changing a second in the last part; 0: leave it out (default %(default)s)")
    parser.add_argument("--binds", type=int, default=2000, help="changes measured by propagation (default %(default)s)")
    parser.add_argument("--records", type=int, nargs="+", default=[10000, 100000],
                        help="sizes of the registry (default 10000 100000)")
    parser.add_argument("--instructions", choices=["only", "check", "record", "no"], default="check",
                        help="instructions a query: nothing else; after the rest, failing where there are more than recorded; "
                        "write them down; leave them out (default %(default)s)")
    parser.add_argument("--part", choices=["all", "start", "taps", "stalled", "steps", "local", "sim"], default="all",
                        help="everything; of dns the start, or access list, query log and dnstap only; of registry the stalled clients only; "
                        "of engine its steps alone, this host, or the simulated cluster (default %(default)s)")
    parser.add_argument("--containers", type=int, nargs="+", default=list(yarn_bench.SIZES),
                        help="of yarn: containers of a service (default 1 10 100)")
    parser.add_argument("--peers", nargs="+", choices=["theirs", "ours"], default=["theirs", "ours"],
                        help="of yarn: Hadoop's own, svcmgr (default both)")
    parser.add_argument("--out", help="write the results to this file, as JSON")
    return parser.parse_args(words)


def _dns(args, result):
    """All about dnsd. Returns whether it needs no more instructions than recorded."""
    if args.part == "start":
        result["start"] = start.run(args.rounds, say)
        return True
    if args.part == "taps":
        result["taps"] = taps.run(args, say)
        return True
    if args.instructions != "only":
        result["dns"] = {n: dns_bench.run(args, n, say) for n in args.instances}
        result["commit"] = dns_bench.commit(say, args.rounds)
        result["start"] = start.run(args.rounds, say)
        result["taps"] = taps.run(args, say)
    if args.instructions == "no":
        return True
    result["instructions"], is_good = instructions.run(args.mixes, say, args.instructions == "record")
    return is_good


def main(words):
    args = arguments(words)
    is_good = True
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # through every `with`, so that all servers end
    result = {"command": ["./dev", "bench", *words], "machine": process.machine(),
              "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
    say(" ".join(f"{key}={value}" for key, value in result["machine"].items()))
    if args.what in ("dns", "all"):
        is_good = _dns(args, result)
    if args.what in ("propagation", "all"):
        result["propagation"] = propagation_bench.run(args.binds, say)
    if args.what in ("registry", "all"):
        result["registry"] = registry_bench.run(args.records, say) if args.part != "stalled" else {}
        result["registry"]["stalled"] = registry_stalled.run(say)
    if args.what in ("engine", "all"):
        parts = {"steps": engine_steps, "local": engine_local, "sim": engine_sim}
        chosen = {args.part} & set(parts) or set(parts)
        result["engine"] = {part: parts[part].run(say, rounds=args.rounds) for part in parts if part in chosen}
    if args.what in ("launcher", "all"):
        result["launcher"] = launcher_bench.run(say, args.rounds)
    if args.what == "yarn":
        result["yarn"] = yarn_bench.run(say, args.rounds, args.containers, args.peers)
    if args.out:
        with open(args.out, "w", encoding="utf-8") as f:
            json.dump(result, f, indent=1)
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
