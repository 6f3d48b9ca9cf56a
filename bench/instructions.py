"""Instructions of dnsd's own code a query, as callgrind counts them: they do not depend on what else the machine does, so a
regression shows. bench/dns/instructions.json holds the figures of a past run; the kernel's share is not in them.
"""
import json
import os
import re
import signal
import subprocess
import tempfile

import feed
import instances
import peers
from harness import BIN, wait_for
from question import ask

RECORDED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "dns", "instructions.json")
INSTANCES = 2000
TOLERANCE = 0.05
THREADS = {True: "worker_run", False: "tcp_run"}  # the functions whose instructions count: by UDP, by TCP


class Counted(peers.Program):
    """dnsd under callgrind, counting inside one function only."""

    def __init__(self, feed_url, function, place, more):
        port, self.place = peers.free_port(), place
        options = {**peers.dnsd_options(feed_url, port, 1), **more}
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", f"--toggle-collect={function}",
                   os.path.join(BIN, "dnsd"), *(word for k, v in options.items() for word in ("-D", f"{k}={v}"))]
        super().__init__("dnsd", command, port, os.path.join(place, "valgrind.log"))

    def count(self):
        """Ends it. Returns the instructions."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(120)
        with open(self.log, encoding="utf-8", errors="replace") as f:
            return int(re.search(r"Collected : (\d+)", f.read()).group(1))


def _load(port, questions, streams):
    program, last = ("bench_dns_loadgen", 0) if streams is None else ("bench_dns_streams", streams)
    done = subprocess.run([os.path.join(BIN, program), "127.0.0.1", str(port), questions, "8", "16", "2", str(last)],
                          capture_output=True, text=True, check=True)
    return int(re.search(r"answered=(\d+)", done.stdout).group(1))


def measure(mix, options=None):
    """Instructions a query. options: more of dnsd's."""
    streams = instances.MIXES[mix].streams
    last = f"{instances.Instance(INSTANCES - 1).instance_name} A"
    with tempfile.TemporaryDirectory(prefix="bobbin-bench-") as place, feed.Feed(instances.records(INSTANCES)) as source:
        questions = os.path.join(place, "questions")
        with open(questions, "w", encoding="ascii") as f:
            f.writelines(f"{line}\n" for line in instances.questions(mix, INSTANCES))
        dnsd = Counted(source.url, THREADS[streams is None], place, options or {})
        try:
            wait_for(lambda: ask(dnsd.port, last).rcode == 0, "dnsd answers under callgrind", timeout=120)
            answered = _load(dnsd.port, questions, streams)
            return dnsd.count() / answered
        finally:
            dnsd.stop()


def run(mixes, say, is_recorded=False):
    """Returns {mix: instructions}, and whether none is above what is recorded."""
    with open(RECORDED, encoding="ascii") as f:
        recorded = json.load(f)
    found = {mix: round(measure(mix)) for mix in mixes}
    say(f"\ninstructions of dnsd a query ({INSTANCES} instances; recorded: {os.path.relpath(RECORDED)})")
    worse = []
    for mix, n in found.items():
        limit = recorded.get(mix, n) * (1 + TOLERANCE)
        say(f"  {mix:10} {n:6}   recorded {recorded.get(mix, 'none')}{'   MORE THAN RECORDED' if n > limit else ''}")
        if n > limit:
            worse.append(mix)
    if is_recorded:
        with open(RECORDED, "w", encoding="ascii") as f:
            json.dump({**recorded, **found}, f, indent=1)
            f.write("\n")
    return found, not worse
