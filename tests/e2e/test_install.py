"""`cmake --install` gives a tree that works from where it was put, without the source tree beside it."""
import os
import re
import shutil
import subprocess
import tempfile

import pytest

from harness import BIN, ROOT

BUILD = os.path.dirname(BIN)
DAEMONS = ("registryd", "dnsd", "svcmgr")


def install(*words, **environment):
    done = subprocess.run(["cmake", "--install", BUILD, *words], env={**os.environ, **environment}, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def directory():
    path = tempfile.mkdtemp(prefix="bobbin-test-")
    os.chmod(path, 0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture(scope="module")
def prefix(directory):
    """Installed under a prefix of its own, then moved: nothing may depend on where it was."""
    install("--prefix", f"{directory}/first")
    os.rename(f"{directory}/first", f"{directory}/moved")
    return f"{directory}/moved"


@pytest.fixture(scope="module")
def staged(directory):
    """As a package is made: DESTDIR and the prefix /usr."""
    install("--prefix", "/usr", DESTDIR=f"{directory}/staged")
    return f"{directory}/staged"


def files(prefix):
    return {os.path.relpath(os.path.join(d, f), prefix) for d, _, names in os.walk(prefix) for f in names}


def wanted_files():
    wanted = {f"bin/{name}" for name in (*DAEMONS, "bobbin")} | {f"libexec/bobbin/container-{part}" for part in ("shim", "localizer")}
    wanted |= {f"include/bobbin/{name}.h" for name in ("registry", "record", "error", "path")}
    wanted |= {f"share/bobbin/knox/services/{name}/1.0.0/{part}.xml" for name in ("bobbin-registry", "bobbin-services")
               for part in ("service", "rewrite")}
    wanted |= {"share/bobbin/knox/topologies/bobbin.xml", "share/man/man1/bobbin.1"}
    wanted |= {"share/bobbin/examples/hello-world.json", "share/bobbin/zones/office.example.zone"}
    wanted |= {f"share/man/man8/{name}.8" for name in DAEMONS}
    wanted |= {f"share/bash-completion/completions/{name}" for name in (*DAEMONS, "bobbin")}
    wanted |= {f"share/doc/bobbin/{name}" for name in ("README.md", "LICENSE", "dnsd-default.xml", "docs/services.md",
                                                       "docs/examples/am.c")}
    wanted |= {f"lib/systemd/system/bobbin-{name}.service" for name in DAEMONS} | {"lib/sysusers.d/bobbin.conf"}
    return wanted


def test_one_target_builds_all_that_is_installed():
    """`./dev run` on a fresh clone builds the target `installed` and nothing else; an install after it finds every file."""
    steps = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", "installed"], capture_output=True, text=True, check=True).stdout
    scripts = [os.path.join(d, f) for d, _, names in os.walk(BUILD) for f in names if f == "cmake_install.cmake"]
    installed = set()
    for script in scripts:
        with open(script, encoding="utf-8") as f:
            installed |= {path for line in f if "file(INSTALL" in line for path in re.findall(rf'"{BUILD}/([^"]+)"', line)}
    assert len(installed) > 12
    unbuilt = [path for path in sorted(installed) if not re.search(rf"[ /]{re.escape(path)}(\s|$)", steps, re.M)]
    assert unbuilt == ["lib/registry/bobbin.pc"]  # made when cmake is configured


def test_layout(prefix):
    found = files(prefix)
    wanted = wanted_files() | {"etc/bobbin/core-site.xml", "etc/bobbin/yarn-site.xml"}
    assert wanted <= found, wanted - found
    assert any(f.endswith("/libbobbin.so.0") for f in found) and any(f.endswith("/pkgconfig/bobbin.pc") for f in found)
    assert not [f for f in found if "test" in os.path.basename(f) or "bench" in os.path.basename(f)]


def test_configuration_of_usr_is_in_etc(staged):
    found = files(staged)
    wanted = {f"usr/{f}" for f in wanted_files()} | {"etc/bobbin/core-site.xml", "etc/bobbin/yarn-site.xml"}
    assert wanted <= found, wanted - found
    assert not [f for f in found if f.startswith("usr/etc")]
    with open(f"{staged}/usr/lib/systemd/system/bobbin-svcmgr.service", encoding="utf-8") as f:
        unit = f.read()
    assert "\nExecStart=/usr/bin/svcmgr --config /etc/bobbin " in unit and "\nKillMode=process\n" in unit


def test_configuration_that_is_there_is_kept(directory):
    place = f"{directory}/twice"
    install("--prefix", place)
    with open(f"{place}/etc/bobbin/core-site.xml", "w", encoding="utf-8") as f:
        f.write("<configuration/>")
    assert f"Kept: {place}/etc/bobbin/core-site.xml" in install("--prefix", place)
    with open(f"{place}/etc/bobbin/core-site.xml", encoding="utf-8") as f:
        assert f.read() == "<configuration/>"


def test_nothing_names_the_source_or_the_build(staged):
    """Texts name neither; of programs what the dynamic linker reads is looked at, for their debug information may."""
    for name in files(staged):
        path = os.path.join(staged, name)
        with open(path, "rb") as f:
            content = f.read()
        if content.startswith(b"\x7fELF"):
            content = subprocess.run(["readelf", "--dynamic", "--wide", path], capture_output=True, check=True).stdout
        assert ROOT.encode() not in content, name


def test_units_are_valid(staged):
    """systemd's own check, in the tree where the units' programs are."""
    os.makedirs(f"{staged}/bin", exist_ok=True)
    shutil.copy("/bin/kill", f"{staged}/bin/kill")
    units = [f"/usr/lib/systemd/system/bobbin-{name}.service" for name in DAEMONS]
    done = subprocess.run(["systemd-analyze", "verify", f"--root={staged}", "--man=no", "--recursive-errors=no", *units],
                          capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name, most", [("registryd", 2.0), ("dnsd", 2.5), ("svcmgr", 9.0)])
def test_exposure_of_units(staged, name, most):
    """systemd's figure from 0 (nothing is allowed) to 10. svcmgr starts other users' programs, which inherit what it may."""
    done = subprocess.run(["systemd-analyze", "security", "--offline=true", f"--root={staged}", "--no-pager",
                           f"--threshold={most * 10:.0f}", f"bobbin-{name}.service"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_installed_programs_know_their_version(prefix):
    with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as f:
        version = re.search(r"project\(bobbin VERSION ([\d.]+)", f.read())[1]
    for name in DAEMONS:
        out = subprocess.run([os.path.join(prefix, "bin", name), "--version"], capture_output=True, text=True, check=True)
        assert out.stdout == f"{name} {version}\n"


@pytest.mark.parametrize("place", ["prefix", "staged"])
def test_a_program_outside_the_tree_builds_and_runs(place, request, directory):
    """The line of the documents: cc am.c $(pkg-config --cflags --libs bobbin)."""
    tree = request.getfixturevalue(place)
    pkgconfig = next(os.path.join(tree, os.path.dirname(f)) for f in files(tree) if f.endswith("bobbin.pc"))
    outside = os.path.join(directory, f"outside-{place}")
    shutil.copytree(os.path.join(ROOT, "docs/examples"), outside)
    env = {**os.environ, "PKG_CONFIG_PATH": pkgconfig}
    done = subprocess.run("cc -o am am.c $(pkg-config --cflags --libs bobbin)", shell=True, cwd=outside, env=env, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr
    usage = subprocess.run([f"{outside}/am", "--nonsense"], env={**os.environ, "LD_LIBRARY_PATH": os.path.dirname(pkgconfig)},
                           capture_output=True, text=True, check=False)
    assert usage.returncode == 2 and "usage" in usage.stderr.lower()
    needed = subprocess.run(["readelf", "--dynamic", f"{outside}/am"], capture_output=True, text=True, check=True).stdout
    assert "[libbobbin.so.0]" in needed
