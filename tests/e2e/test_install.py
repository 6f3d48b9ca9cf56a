"""`cmake --install` gives a tree that runs from where it was put."""
import os
import shutil
import subprocess
import tempfile

import pytest

from harness import BIN, ROOT

BUILD = os.path.dirname(BIN)


@pytest.fixture(scope="module")
def prefix():
    path = tempfile.mkdtemp(prefix="bobbin-test-")
    os.chmod(path, 0o755)
    done = subprocess.run(["cmake", "--install", BUILD, "--prefix", path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    yield path
    shutil.rmtree(path)


def files(prefix):
    return {os.path.relpath(os.path.join(d, f), prefix) for d, _, names in os.walk(prefix) for f in names}


def test_layout(prefix):
    found = files(prefix)
    wanted = {f"bin/{name}" for name in ("registryd", "dnsd", "svcmgr", "bobbin")}
    wanted |= {"libexec/bobbin/container-shim", "include/bobbin/registry.h", "include/bobbin/record.h",
               "include/bobbin/error.h", "etc/bobbin/examples/hello-world.json"}
    wanted |= {"etc/bobbin/core-site.xml", "etc/bobbin/yarn-site.xml", "etc/bobbin/zones/office.example.zone", "share/man/man1/bobbin.1"}
    wanted |= {f"share/man/man8/{name}.8" for name in ("registryd", "dnsd", "svcmgr")}
    wanted |= {f"share/doc/bobbin/{name}" for name in ("README.md", "LICENSE", "dnsd-default.xml")}
    assert wanted <= found, wanted - found
    assert any(f.endswith("/libbobbin.so") for f in found) and any(f.endswith("/pkgconfig/bobbin.pc") for f in found)
    assert not [f for f in found if "test" in os.path.basename(f) or "bench" in os.path.basename(f)]


def test_installed_programs_know_their_version(prefix):
    version = subprocess.run(["git", "grep", "-hoP", r"project\(bobbin VERSION \K[\d.]+", "CMakeLists.txt"], cwd=ROOT,
                             capture_output=True, text=True, check=True).stdout.strip()
    for name in ("registryd", "dnsd", "svcmgr"):
        out = subprocess.run([os.path.join(prefix, "bin", name), "--version"], capture_output=True, text=True, check=True)
        assert out.stdout == f"{name} {version}\n"


def test_example_builds_against_the_installed_library(prefix):
    pkgconfig = next(os.path.join(prefix, os.path.dirname(f)) for f in files(prefix) if f.endswith("bobbin.pc"))
    env = {**os.environ, "PKG_CONFIG_PATH": pkgconfig}
    flags = subprocess.run(["pkg-config", f"--define-variable=prefix={prefix}", "--cflags", "--libs", "bobbin"], env=env, capture_output=True,
                           text=True, check=True).stdout.split()
    out = os.path.join(prefix, "am")
    done = subprocess.run(["cc", "-o", out, os.path.join(ROOT, "docs/examples/am.c"), *flags], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr
    libraries = os.path.dirname(pkgconfig)
    usage = subprocess.run([out, "--nonsense"], env={**os.environ, "LD_LIBRARY_PATH": libraries}, capture_output=True,
                           text=True, check=False)
    assert usage.returncode == 2 and "usage" in usage.stderr.lower()
