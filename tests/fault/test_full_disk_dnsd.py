"""No room for the serials of dnsd's zones: no client ever sees one go back, and what that costs is said.

The disk is a file system of its own, where one may be mounted, or a limit on the size of dnsd's files.
"""
import os
import resource
import shutil
import subprocess
import tempfile

import pytest

from harness import DOMAIN, container, dig, dig_full, request, wait_for
from scripted_feed import STORE, Dns, ScriptedFeed

pytestmark = pytest.mark.sanitize

PATH = "/users/alice/services/yarn-service/shop/components/ctr-0"
NAME = f"web-0.shop.alice.{DOMAIN}"
REVERSE, FILE, STILL = "77.127.in-addr.arpa", "2.77.127.in-addr.arpa", "static.test"
RESERVE = 10000  # serials that are reserved at once
MANY = RESERVE + 5000
ZONE = "$TTL 60\n@ IN SOA ns.corp.test. hostmaster.corp.test. 5 3600 600 86400 30\n  IN NS ns.corp.test.\nwww A 10.0.0.1\n"


class Limit:
    """No file of dnsd can be written any more."""
    is_frozen = True

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="bobbin-test-full-")
        self.is_full = False

    def _apply(self, dns):
        resource.prlimit(dns.process.pid, resource.RLIMIT_FSIZE, (0 if self.is_full else resource.RLIM_INFINITY, resource.RLIM_INFINITY))

    def fill(self, dns):
        self.is_full = True
        self._apply(dns)

    def make_room(self, dns):
        self.is_full = False
        self._apply(dns)

    def start(self, dns):
        """A limit is inherited, so that it holds from the first write on. The thread sanitizer writes a file of its own
        before main is called, if there is a place for it."""
        dns.env = {"TMPDIR": "/dev/null"}
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0 if self.is_full else before[0], before[1]))
        try:
            dns.start("dns_listening")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    def close(self):
        shutil.rmtree(self.dir)


class FullWithSpare:
    """A file system without a free block, in which dnsd has written before: what it writes over is still there."""
    is_frozen = False

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="bobbin-test-full-")
        self.mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", self.dir], check=False,
                                      capture_output=True).returncode == 0
        self.others = os.path.join(self.dir, "others")

    def fill(self, _dns):
        with open(self.others, "wb", buffering=0) as f:
            try:
                while True:
                    f.write(bytes(4096))
            except OSError:
                pass

    def make_room(self, _dns):
        os.unlink(self.others)

    def start(self, dns):
        dns.start("dns_listening")

    def close(self):
        if self.mounted:
            subprocess.run(["umount", "--lazy", self.dir], check=True)
        shutil.rmtree(self.dir)


class FullWithoutSpare(FullWithSpare):
    """The same, but every write needs a block that is not there."""
    is_frozen = True

    def fill(self, dns):
        os.unlink(os.path.join(self.dir, "dnsd", "serials.spare"))
        super().fill(dns)


def can_mount():
    trial = FullWithSpare()
    trial.close()
    return trial.mounted


@pytest.fixture(params=[Limit] + ([FullWithSpare, FullWithoutSpare] if can_mount() else []), ids=lambda kind: kind.__name__)
def disk(request):
    made = request.param()
    yield made
    made.close()


class Bed:
    """dnsd on that disk, following a script: one container that goes from place to place, in two reverse zones, one of them a file."""

    def __init__(self, disk, tmp_path, feed):
        for name in (FILE, STILL):
            (tmp_path / f"{name}.zone").write_text(ZONE)
        self.disk, self.feed, self.n, self.follower = disk, feed, 1, None
        self.seen = {}
        self.dns = Dns(feed, disk.dir, zones__dir=tmp_path, zones__poll__interval="0", zone__subnet="127.77.0.0",
                       zone__mask="255.255.0.0", registry__silence="1h", snapshot__interval="1h")

    def address(self):
        return f"127.77.{1 + self.n % 2}.{self.n // 100 % 250 + 1}"

    def record(self):
        return container("web-0", "web", self.address())

    def start(self):
        self.disk.start(self.dns)
        self.follower = self.feed.newcomer()
        self.follower.snapshot([(PATH, self.record())], self.n)

    def change(self, times):
        """So many changes, each a commit of its own; a thousand at a time, which dnsd answers with, or is frozen."""
        for _ in range(0, times, 1000):
            lines = []
            for _ in range(min(times, 1000)):
                self.n += 1
                lines += [{"type": "put", "path": PATH, "revision": f"{STORE}.{self.n}", "time": 0, "size": 1, "children": 0,
                           "service": self.record()},
                          {"type": "progress", "oldest": f"{STORE}.1", "store": STORE, "revision": f"{STORE}.{self.n}"}]
            self.follower.emit(*lines)
            wait_for(lambda: self.dns.metric("dnsd_zones_frozen") == 1 or self.is_synced(), "the changes are taken")
            self.look()

    def change_many(self):
        """More serials than one reserve has: dnsd makes one commit of what comes while it makes another, so as many changes as it takes."""
        if not self.disk.is_frozen:
            self.change(MANY)
            return
        for _ in range(100):
            self.change(1000)
            if self.dns.metric("dnsd_zones_frozen") == 1:
                break
        self.n += 200  # an address that was not there when it froze, whenever that was
        self.change(1)

    def is_synced(self):
        return request(self.dns.http, "GET", f"/sync?revision={STORE}.{self.n}&timeout=1s").status == 200

    def is_answered(self):
        return self.dns.status(NAME) == "NOERROR" and dig(self.dns.port, NAME) == [self.address()]

    def look(self):
        """No serial that is seen is before one that was seen (RFC 1982); a zone that is only a file has the file's."""
        for zone in (DOMAIN, REVERSE, FILE):
            if self.dns.status(zone) != "NOERROR":
                continue
            now, before = self.dns.serial(zone), self.seen.get(zone)
            assert before is None or (now - before) % 2**32 < 2**31, f"{zone}: serial {before}, then {now}"
            self.seen[zone] = now
        assert self.dns.serial(STILL) == 5

    def kill(self):
        """And what is seen after it must be later than all that was seen, not the same: nobody knows what that stood for."""
        self.dns.kill()
        self.seen = {zone: (serial + 1) % 2**32 for zone, serial in self.seen.items()}
        self.follower.close()


@pytest.fixture
def bed(disk, tmp_path):
    with ScriptedFeed() as feed:
        made = Bed(disk, tmp_path, feed)
        yield made
        made.dns.kill()


def assert_frozen(bed, last):
    dns = bed.dns
    why = dns.event("zones_frozen")["why"]
    assert "dnsd/serials" in why, why
    assert dns.metric("dnsd_zones_frozen") == 1 and dns.metric("dnsd_serials_failing") == 1
    wait_for(lambda: request(dns.http, "GET", "/readyz").status == 503, "not ready")
    assert "dnsd/serials" in request(dns.http, "GET", "/readyz").body.decode()
    late = request(dns.http, "GET", f"/sync?revision={STORE}.{last}&timeout=100ms")
    assert late.status == 504 and "dnsd/serials" in late.body.decode(), late
    assert dns.stats()["stale"] and dns.stats()["frozen"]
    reloaded = request(dns.http, "POST", "/reload")
    assert reloaded.status == 503 and "dnsd/serials" in reloaded.body.decode(), reloaded


def test_a_full_disk_and_a_crash_take_no_serial_back(bed):
    bed.start()
    wait_for(bed.is_answered, "the first address")
    bed.look()
    bed.disk.fill(bed.dns)
    bed.change_many()
    if bed.disk.is_frozen:
        assert_frozen(bed, bed.n)
        assert bed.dns.is_stale(NAME) and not bed.is_answered()
    else:
        wait_for(bed.is_answered, "the last address")
        assert not bed.dns.is_stale(NAME)
    bed.look()
    bed.kill()

    bed.start()  # the disk is still full
    if bed.disk.is_frozen:
        assert_frozen(bed, bed.n)
        assert "EDE: 14" in dig_full(bed.dns.port, NAME)
        bed.disk.make_room(bed.dns)
    wait_for(bed.is_answered, "the last address after the start")
    bed.look()
    assert all(zone in bed.seen for zone in (DOMAIN, REVERSE, FILE))


def test_with_room_again_it_catches_up_by_itself(bed):
    bed.start()
    wait_for(bed.is_answered, "the first address")
    bed.disk.fill(bed.dns)
    bed.change_many()
    if bed.disk.is_frozen:
        assert_frozen(bed, bed.n)
        memory = bed.dns.stats()["zoneBytes"]
        bed.change(1000)
        assert bed.dns.stats()["zoneBytes"] < 2 * memory
        bed.disk.make_room(bed.dns)
        bed.dns.event("zones_moving")
    wait_for(bed.is_synced, "it answers with the last change")
    assert bed.is_answered()
    wait_for(lambda: not bed.dns.is_stale(NAME), "current")
    bed.look()
    wait_for(lambda: request(bed.dns.http, "GET", "/readyz").status == 200, "ready again")
    assert bed.dns.metric("dnsd_zones_frozen") == 0 and bed.dns.metric("dnsd_serials_failing") == 0
    bed.dns.stop()
