"""`./dev soak yarn [NUMBER]`: the survival tests of services on a real YARN cluster, all of them NUMBER times on one cluster."""
import os
import subprocess
import sys

from harness import ROOT

TIMES = 20


def run(seconds, number):
    """seconds: not for this one. Returns what was found."""
    times = TIMES if number is None or seconds else number
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "tests/interop/yarn/test_survival.py"], cwd=ROOT, check=False,
                          env={**os.environ, "SURVIVAL_TIMES": str(times)})
    return [f"pytest ended with {done.returncode}"] if done.returncode else []
