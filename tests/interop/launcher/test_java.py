"""A Java client of the FrameworkLauncher API, whose documents are bound to classes by Jackson (Documents.java): lives of frameworks."""
import os
import subprocess

import pytest

import maven
from harness import Manager, PATIENCE, ROOT
from java import JVM, java

HERE = os.path.dirname(os.path.abspath(__file__))
CACHE = os.path.join(ROOT, "build", "launcher-client-1")


def classes():
    """Class path of the compiled Java files, which are compiled when a source is newer."""
    sources = [os.path.join(HERE, name) for name in ("Documents.java", "LauncherClient.java", "Life.java")]
    target = os.path.join(CACHE, "Life.class")
    path = maven.classpath(os.path.join(HERE, "pom.xml"), CACHE)
    if not os.path.exists(target) or os.path.getmtime(target) < max(map(os.path.getmtime, sources)):
        done = subprocess.run(["javac", "-proc:none", "-Xlint:all", "-Werror", "-cp", path, "-d", CACHE, *sources], capture_output=True,
                              text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return f"{CACHE}:{path}"


@pytest.fixture(scope="module")
def stack():
    with Manager() as s:
        yield s


def test_lives_of_frameworks(stack):
    source = os.path.join(stack.dir, "source.sh")
    with open(source, "w", encoding="utf-8") as f:
        f.write("#!/bin/sh\n")
    done = subprocess.run([java(), *JVM, "-cp", classes(), "Life", f"http://127.0.0.1:{stack.services_port}", source],
                          capture_output=True, text=True, check=False, timeout=6 * PATIENCE)
    assert (done.returncode, done.stdout) == (0, "lived\n"), done.stdout + done.stderr
