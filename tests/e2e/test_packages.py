"""The Debian packages on a machine with systemd: installed, run, upgraded, removed, purged. The source tree is not seen there."""
import json
import os
import re
import shutil
import subprocess

import pytest

from harness import BIN, ROOT, wait_for
from machine import Machine

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root installs packages")
NAMES = ("bobbin", "libbobbin0", "libbobbin-dev")
UNITS = ("bobbin-registryd", "bobbin-dnsd", "bobbin-svcmgr")
OWN = """<?xml version="1.0"?>
<configuration>
  <property><name>hadoop.registry.dns.domain-name</name><value>cluster.example</value></property>
  <property><name>hadoop.registry.dns.zone-subnet</name><value>127.77.0.0/16</value></property>
  <property><name>hadoop.registry.dns.bind-port</name><value>53</value></property>
</configuration>
"""
CONF = "/etc/bobbin/core-site.xml"


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """{name: file} of what ./dev deb makes."""
    made = subprocess.run([os.path.join(ROOT, "dev"), "deb"], env={**os.environ, "DEB_BUILD_OPTIONS": "noautodbgsym"}, capture_output=True,
                          text=True, check=False)
    assert made.returncode == 0, made.stdout + made.stderr
    kept = tmp_path_factory.mktemp("packages")
    return {re.match(r"[a-z0-9-]+", os.path.basename(path))[0]: shutil.copy(os.path.join(ROOT, path), kept) for path in made.stdout.split()}


@pytest.fixture(scope="module")
def newer(packages, tmp_path_factory):
    """The same of a later version, in which core-site.xml has another line."""
    work = tmp_path_factory.mktemp("newer")
    made = []
    for name in NAMES:
        tree = str(work / name)
        subprocess.run(["dpkg-deb", "-R", packages[name], tree], check=True)
        control = f"{tree}/DEBIAN/control"
        with open(control, encoding="utf-8") as f:
            text = f.read()
        with open(control, "w", encoding="utf-8") as f:
            f.write(re.sub(r"^(Version: |Depends: libbobbin0 \(= )([\d.]+)", r"\g<1>\g<2>+later", text, flags=re.M))
        if name == "bobbin":
            with open(tree + CONF, "a", encoding="utf-8") as f:
                f.write("<!-- later -->\n")
        made.append(f"{work}/{name}_later.deb")
        subprocess.run(["dpkg-deb", "-Znone", "--root-owner-group", "-b", tree, made[-1]], check=True, capture_output=True)
    return made


@pytest.fixture(scope="module")
def machine(packages, newer):
    with Machine(hide=ROOT) as m:
        m.run("mkdir", "-p", "/root/packages")
        for path in [packages[name] for name in NAMES] + newer:
            shutil.copy(path, m.path("/root/packages"))
        yield m


def install(machine, pattern, *options):
    machine.run("bash", "-c", f"dpkg --force-unsafe-io {' '.join(options)} --install /root/packages/{pattern}")


def write(machine, path, text):
    with open(machine.path(path), "w", encoding="utf-8") as f:
        f.write(text)


def read(machine, path):
    with open(machine.path(path), encoding="utf-8") as f:
        return f.read()


def pid_of(machine, unit):
    return int(machine.run("systemctl", "show", "--property=MainPID", "--value", unit))


def user_of(machine, unit):
    return machine.run("ps", "-o", "user=", "-p", str(pid_of(machine, unit))).strip()


def containers(machine):
    """Processes of the example's two containers."""
    return sorted(machine.run("pgrep", "-f", "^busybox httpd").split())


def address(machine):
    return machine.run("dig", "@127.0.0.1", "+norecurse", "+short", "hello-0.hello-world.root.cluster.example").strip()


def test_lintian_finds_nothing(packages):
    found = subprocess.run(["lintian", "--allow-root", "--fail-on=error,warning", *[packages[name] for name in NAMES]],
                           capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (0, "")


def test_build_dependencies_and_version_are_those_of_the_project():
    def text(path):
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            return f.read()
    ours = re.search(r"^build_packages=\((.*?)\)", text("dev"), re.M | re.S)[1].split()
    control = re.search(r"^Build-Depends:\n((?: .*\n)+)", text("debian/control"), re.M)[1]
    assert set(ours) - {"gcc", "libc6-dev"} - set(re.findall(r"^ ([\w.+-]+)", control, re.M)) == set()
    assert re.search(r"project\(bobbin VERSION ([\d.]+)", text("CMakeLists.txt"))[1] == re.match(r"bobbin \(([\d.]+)\)", text("debian/changelog"))[1]


def test_installation(machine):
    """Programs, library and documents are there; nothing runs until somebody says so."""
    install(machine, "*_0*.deb")
    for unit in UNITS:
        assert [machine.try_run("systemctl", f"is-{what}", unit).stdout.strip() for what in ("enabled", "active")] == ["disabled", "inactive"]
    assert machine.run("getent", "passwd", "bobbin").split(":")[5] == "/var/lib/bobbin"
    assert not os.path.exists(machine.path(ROOT + "/README.md"))
    machine.run("bash", "-c", "cd /tmp && cp /usr/share/doc/bobbin/docs/examples/*.[ch] . && cc -o am am.c $(pkg-config --cflags --libs bobbin)")
    assert "usage" in machine.try_run("/tmp/am", "--nonsense").stderr.lower()


def test_bobbin_dev_of_the_installation(machine):
    """It finds its programs, example and master files, and every question has its answer."""
    shown = machine.run("bobbin", "dev", "--check", timeout=120)
    assert "hello from hello-0" in shown and "www.office.example" in shown


def test_services(machine):
    """A start without a domain fails with the reason; then README's lines start everything, each with the rights of its unit."""
    assert machine.try_run("systemctl", "start", "bobbin-dnsd").returncode != 0
    assert "hadoop.registry.dns.domain-name" in machine.run("journalctl", "-o", "cat", "-u", "bobbin-dnsd")
    machine.run("systemctl", "stop", "bobbin-dnsd")
    write(machine, CONF, OWN)
    machine.run("systemctl", "enable", "--now", *UNITS)
    assert [user_of(machine, unit) for unit in UNITS] == ["bobbin", "bobbin", "root"]
    machine.run("bobbin", "app", "launch", "/usr/share/bobbin/examples/hello-world.json", "--timeout", "60s")
    wait_for(lambda: address(machine).startswith("127.77."), "the example's name")
    assert len(containers(machine)) == 2
    for unit in UNITS:
        machine.run("systemctl", "reload", unit)
    wait_for(lambda: all("config_reloaded" in machine.run("journalctl", "-o", "cat", "-u", unit) for unit in UNITS), "all have reloaded")


@pytest.mark.parametrize("how", [("systemctl", "restart", "bobbin-svcmgr"),
                                 ("systemctl", "kill", "--kill-whom=main", "--signal=KILL", "bobbin-svcmgr")])
def test_containers_survive_svcmgr(machine, how):
    before, manager = containers(machine), pid_of(machine, "bobbin-svcmgr")
    machine.run(*how)
    wait_for(lambda: pid_of(machine, "bobbin-svcmgr") not in (0, manager), "systemd starts another svcmgr")
    wait_for(lambda: machine.try_run("systemctl", "is-active", "bobbin-svcmgr").returncode == 0, "it is ready")
    wait_for(lambda: json.loads(machine.run("bobbin", "app", "status", "hello-world", "-o", "json"))["state"] == "READY", "it is probed again")
    assert containers(machine) == before


def test_upgrade(machine):
    """The changed configuration is kept, services are restarted, containers and records stay."""
    before, pids = containers(machine), [pid_of(machine, unit) for unit in UNITS]
    install(machine, "*_later.deb", "--force-confold")
    assert read(machine, CONF) == OWN and read(machine, CONF + ".dpkg-dist").endswith("<!-- later -->\n")
    assert [machine.try_run("systemctl", "is-active", unit).stdout.strip() for unit in UNITS] == ["active"] * 3
    assert not set(pids) & {pid_of(machine, unit) for unit in UNITS}
    assert containers(machine) == before
    wait_for(lambda: address(machine).startswith("127.77."), "the example's name after the upgrade")


def test_removal_and_purge(machine):
    """A removal ends everything and keeps state and configuration; a purge leaves nothing."""
    machine.run("dpkg", "--remove", *NAMES)
    assert machine.try_run("pgrep", "-f", "^busybox httpd|container-shim|/usr/bin/(registryd|dnsd|svcmgr)").stdout == ""
    assert read(machine, CONF) == OWN and os.path.isdir(machine.path("/var/lib/bobbin/registryd/registry"))
    machine.run("dpkg", "--purge", "bobbin")
    assert machine.run("find", "/etc", "/usr/bin", "/usr/lib/systemd", "/usr/share/doc", "/var/lib", "-name", "*bobbin*", "-not", "-path",
                       "/var/lib/dpkg/*", "-not", "-path", "/usr/share/doc/libbobbin*") == ""


def test_what_is_tested_is_what_is_packaged(packages):
    """The packages are made of the release build that the other tests run."""
    assert os.path.basename(os.path.dirname(BIN)) == "release" and set(NAMES) <= set(packages)
