"""No room for the embedded store: writes are refused, reads go on, and when there is room again all is as before.

The room is that of a file system of its own, where one may be mounted, and that of a limit on the size of registryd's files.
"""
import os
import resource
import shutil
import subprocess
import tempfile

import pytest

from harness import Registry, container, wait_for

pytestmark = pytest.mark.sanitize

BASE = "/users/alice/services/yarn-service/shop/components"
PAD = "x" * 100000


class FileSystem:
    """A file system of 8 MB, a part of which somebody else fills."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="bobbin-test-full-")
        self.mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", self.dir], check=False,
                                      capture_output=True).returncode == 0

    def shrink(self, reg):
        with open(os.path.join(self.dir, "others"), "wb") as f:
            f.write(bytes(4 << 20))

    def widen(self, reg):
        os.unlink(os.path.join(self.dir, "others"))

    def close(self):
        if self.mounted:
            subprocess.run(["umount", "--lazy", self.dir], check=True)
        shutil.rmtree(self.dir)


class Limit:
    """A limit on the size of files, which the running registryd is given."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="bobbin-test-full-")
        self.mounted = True

    def _set(self, reg, size):
        hard = resource.prlimit(reg.registryd.process.pid, resource.RLIMIT_FSIZE)[1]
        resource.prlimit(reg.registryd.process.pid, resource.RLIMIT_FSIZE, (size, hard))

    def shrink(self, reg):
        self._set(reg, 2 << 20)

    def widen(self, reg):
        self._set(reg, resource.RLIM_INFINITY)

    def close(self):
        shutil.rmtree(self.dir)


def can_mount():
    trial = FileSystem()
    trial.close()
    return trial.mounted


@pytest.fixture(params=[Limit] + ([FileSystem] if can_mount() else []), ids=lambda kind: kind.__name__.lower())
def room(request):
    made = request.param()
    yield made
    made.close()


def bind(reg, i):
    return reg.registry("PUT", f"{BASE}/ctr-1-1-1-{i}", {**container(f"w-{i}", "w", f"127.77.0.{i % 250}"), "pad": PAD},
                        query="createParents=true&overwrite=true")


def assert_there(reg, numbers, consistency="mirror"):
    for i in numbers:
        kept = reg.registry("GET", f"{BASE}/ctr-1-1-1-{i}", query=f"consistency={consistency}")
        assert kept.status == 200 and kept.json["service"]["description"] == f"w-{i}", f"{i} was acknowledged and is lost: {kept}"


def assert_degraded(reg):
    ready = wait_for(lambda: (a := reg.registry("GET", "", base="/readyz")).status == 503 and a, "/readyz says it")
    assert "degraded: there is no room to write" in ready.json["detail"] and "data.mdb" in ready.json["detail"], ready
    reg.registryd.event("disk_full")
    metrics = reg.registry("GET", "", base="/metrics").body.decode()
    assert 'degraded{cause="disk"} 1\n' in metrics
    events = [e for e in reg.registryd.events if e["event"] == "disk_full"]
    assert len(events) == 1, "many writes were refused, which is said once"


def test_a_full_disk_refuses_writes_and_nothing_else(room):
    with Registry(store=f"file:{room.dir}/registry") as reg:
        assert bind(reg, 0).status == 201
        room.shrink(reg)
        bound, refused = [0], None
        while not refused and len(bound) < 200:
            answer = bind(reg, len(bound))
            if answer.status == 201:
                bound.append(len(bound))
            else:
                refused = answer
        assert refused and refused.status == 507, f"{len(bound)} writes of 100 kB had room: {refused}"
        assert refused.json["type"] == "urn:bobbin:error:no-space", refused
        assert_there(reg, bound)
        assert_there(reg, bound, "strong")
        assert reg.registry("GET", f"{BASE}/ctr-1-1-1-{len(bound)}").status == 404, "what was refused is not there"
        assert bind(reg, len(bound)).status == 507, "there is still no room"
        assert_degraded(reg)
        room.widen(reg)
        wait_for(lambda: reg.registry("GET", "", base="/readyz").status == 200, "it is found out without a write")
        assert bind(reg, len(bound)).status == 201
        bound.append(len(bound))
        assert reg.registry("DELETE", f"{BASE}/ctr-1-1-1-0").json["deleted"] is True
        reg.registryd.kill()
        reg.registryd.start("registry_synced")
        assert_there(reg, bound[1:])
        assert reg.registry("GET", f"{BASE}/ctr-1-1-1-0").status == 404
