"""The servers that are compared: dnsd, Knot, NSD and an echo; each in its own directory, on a free loopback port.

Peers are Debian's programs, started in the foreground with a configuration written here and ended by their pid. They run with
as many workers as dnsd, answer with minimal responses, limit no rate and keep no journal.
"""
import os
import subprocess

import instances
import process
from harness import BIN, Daemon, end_process, free_port, wait_for
from question import ask

KNOT = """
server:
    listen: 127.0.0.1@{port}
    rundir: {dir}
    udp-workers: {workers}
    tcp-workers: 1
    background-workers: 1
log:
  - target: stderr
    any: error
database:
    storage: {dir}
template:
  - id: default
    storage: {zones}
    journal-content: none
    zonefile-load: whole
    zonefile-sync: -1
    semantic-checks: off
zone:
  - domain: {domain}
    file: forward.zone
  - domain: {reverse}
    file: reverse.zone
"""
NSD = """
server:
    server-count: {workers}
    ip-address: 127.0.0.1@{port}
    do-ip6: no
    reuseport: {reuseport}
    username: ""
    chroot: ""
    database: ""
    zonesdir: "{zones}"
    pidfile: "{dir}/nsd.pid"
    xfrdfile: "{dir}/xfrd.state"
    xfrdir: "{dir}"
    zonelistfile: "{dir}/zone.list"
    logfile: "{dir}/nsd.log"
    verbosity: 0
    minimal-responses: yes
    round-robin: no
    rrl-ratelimit: 0
    rrl-whitelist-ratelimit: 0
    zonefiles-check: no
remote-control:
    control-enable: no
zone:
    name: {domain}
    zonefile: forward.zone
zone:
    name: {reverse}
    zonefile: reverse.zone
"""


class Program:
    """A program: one process tree with a port."""

    def __init__(self, name, command, port, log):
        self.name, self.port = name, port
        with open(log, "ab") as out:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        self.log = log

    @property
    def pid(self):
        return self.process.pid

    def wait(self, line):
        """Until it answers this question."""
        def answers():
            if self.process.poll() is not None:
                with open(self.log, encoding="utf-8", errors="replace") as f:
                    raise RuntimeError(f"{self.name} ended with {self.process.returncode}: {f.read()[-2000:]}")
            return ask(self.port, line).rcode == 0
        wait_for(answers, f"{self.name} answers {line}", timeout=600)
        return self

    def stop(self):
        if self.process.poll() is None:
            end_process(self.process)


def dnsd_options(feed_url, port, workers):
    return {"hadoop.registry.url": feed_url, "hadoop.registry.dns.domain-name": instances.DOMAIN,
            "hadoop.registry.dns.zone-subnet": "10.0.0.0/8", "hadoop.registry.dns.bind-port": port,
            "hadoop.registry.dns.num-threads": workers, "hadoop.registry.dns.dns-ttl": f"{instances.TTL_S}s",
            "hadoop.registry.dns.soa.mname": f"ns.{instances.DOMAIN}",
            "hadoop.registry.dns.http.address": f"127.0.0.1:{free_port()}",
            "bobbin.data.dir": os.path.join(os.devnull, "nothing")}  # no snapshot of the last run answers


class Dnsd(Daemon):
    """dnsd, following a feed."""

    def __init__(self, feed_url, workers, event="feed_synced", **more):
        self.port = free_port()
        super().__init__("dnsd", {**dnsd_options(feed_url, self.port, workers), **more}, process.DAEMON_ENV)
        self.start()
        if event:
            self.event(event, timeout=600)

    @property
    def pid(self):
        return self.process.pid


def _configured(name, command, text, place, workers):
    own = os.path.join(place, f"{name}-{workers}")
    os.makedirs(own)
    port = free_port()
    conf = os.path.join(own, "conf")
    with open(conf, "w", encoding="ascii") as f:
        f.write(text.format(port=port, dir=own, zones=place, workers=workers, domain=instances.DOMAIN,
                            reverse=instances.REVERSE, reuseport="yes" if workers > 1 else "no"))
    return Program(name, [*command, conf], port, os.path.join(own, "log"))


def knot(place, workers):
    return _configured("knot", ["/usr/sbin/knotd", "-c"], KNOT, place, workers)


def nsd(place, workers):
    return _configured("nsd", ["/usr/sbin/nsd", "-d", "-c"], NSD, place, workers)


def echo(place, longer):
    """recvfrom, sendto, nothing else; replies are `longer` bytes longer than the question."""
    port = free_port()
    return Program("echo", [os.path.join(BIN, "bench_dns_echo"), str(port), str(longer)], port,
                   os.path.join(place, "echo.log"))


def version(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).splitlines()[0]
