"""systemd-resolved in front of dnsd, set up as docs/resolvers.md says. It needs namespaces, so root."""
import os
import subprocess
import sys

import pytest

import resolved
from harness import ROOT

HERE = os.path.dirname(os.path.abspath(__file__))


def why_not():
    try:
        done = resolved.in_namespaces(["mount", "-t", "tmpfs", "run", "/run"])
        return None if done.returncode == 0 else f"no namespaces here: {done.stderr.strip()}"
    except OSError as error:
        return str(error)


@pytest.mark.skipif(why_not() is not None, reason="mount and network namespaces cannot be made here")
def test_systemd_resolved_in_namespaces_of_its_own():
    try:
        resolved.fetch()
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"Debian's systemd-resolved cannot be had: {error}")
    done = resolved.in_namespaces([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c",
                                   os.path.join(ROOT, "tests", "pytest.ini"), os.path.join(HERE, "inside_resolved.py")],
                                  cwd=ROOT, timeout=300)
    assert done.returncode == 0 and "4 passed" in done.stdout, done.stdout + done.stderr
