"""`./dev soak yarn [NUMBER]`: the survival tests of services on a real YARN cluster, all of them NUMBER times on one cluster."""
import os
import shutil
import subprocess
import sys

from harness import ROOT

TIMES = 20
DIRECTORY = os.path.join(ROOT, "build", "soak-yarn")  # of the cluster: its logs, and those of the masters, stay until the next soak


def run(seconds, number):
    """seconds: not for this one. Returns what was found."""
    times = TIMES if number is None or seconds else number
    shutil.rmtree(DIRECTORY, ignore_errors=True)
    os.makedirs(DIRECTORY)
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "tests/interop/yarn/test_survival.py"], cwd=ROOT, check=False,
                          env={**os.environ, "SURVIVAL_TIMES": str(times), "SURVIVAL_DIRECTORY": DIRECTORY})
    return [f"pytest ended with {done.returncode}; logs are in {DIRECTORY}/log"] if done.returncode else []
