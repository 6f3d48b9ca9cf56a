"""A Node.js client of the FrameworkLauncher API (launcher.js), which asks as the server of a job system does: lives of jobs."""
import os
import subprocess

import pytest

import npm
from harness import Manager, PATIENCE, ROOT

HERE = os.path.dirname(os.path.abspath(__file__))
LOCK = os.path.join(HERE, "package-lock.json")
OPTIONS = {"yarn.service.launcher.acl.enable": "true", "yarn.nodemanager.resource-type.yarn.io/gpu": "4"}


@pytest.fixture(scope="module")
def stack():
    with Manager(options={"svcmgr": OPTIONS}) as s:
        yield s


def test_lives_of_jobs(stack):
    found = npm.modules(LOCK, os.path.join(ROOT, "build", "launcher-node-1"))
    done = subprocess.run(["node", os.path.join(HERE, "life.js"), f"http://127.0.0.1:{stack.services_port}", stack.dir,
                           str(1000 * PATIENCE)], env={**os.environ, "NODE_PATH": found, "NODE_NO_WARNINGS": "1"},
                          capture_output=True, text=True, check=False, timeout=10 * PATIENCE)
    assert (done.returncode, done.stdout) == (0, "lived\n"), done.stdout + done.stderr


def test_the_lock_file_names_no_host():
    with open(LOCK, encoding="utf-8") as f:
        assert '"resolved"' not in f.read()
