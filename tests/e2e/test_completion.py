"""Completion of command lines in a real bash, as it is installed: what the user may type next comes from the tables."""
import os
import re
import subprocess

import pytest

from harness import BIN, ROOT

DOCUMENTS = os.path.join(os.path.dirname(BIN), "documents")
# What readline does: the function that `complete` named gets the line and the cursor, and leaves the words in COMPREPLY.
DRIVE = """
load() { source "$1"; }
load "$1"
complete -p "$2" >/dev/null || exit 9
COMP_LINE=$3 COMP_POINT=${#3}
_bobbin_complete
printf '%s\\n' "${COMPREPLY[@]}"
"""


def complete(line, **more):
    program = line.split()[0]
    done = subprocess.run(["bash", "--norc", "-c", DRIVE, "bash", f"{DOCUMENTS}/{program}.bash", program, line], capture_output=True,
                          text=True, check=False, **more)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout.split()


def help_of(*words):
    return subprocess.run([f"{BIN}/{words[0]}", *words[1:]], capture_output=True, text=True, check=True).stdout


def test_every_command_is_offered():
    rows = re.findall(r"^  (registry|app|framework|launcher|slider|dns) ([a-z]+)", help_of("bobbin", "help"), re.M)
    assert len(rows) > 20
    for group in ("registry", "app", "framework", "launcher", "slider", "dns"):
        assert [verb for verb in complete(f"bobbin {group} ") if verb != "-o"] == [v for g, v in rows if g == group]
    assert complete("bobbin ") == ["registry", "app", "framework", "launcher", "slider", "dns", "log-level", "dev", "help", "--help", "--version"]
    assert complete("bobbin reg") == ["registry"] and complete("bobbin dns z") == ["zones"]
    assert complete("bobbin registry -o ") == ["hadoop"]


def test_every_option_of_a_command_is_offered():
    for name in ("registry bind", "registry purge", "app flex", "dns shadow", "dev"):
        listed = re.findall(r"^  (?:-\w, )?(--[\w.-]+)", help_of("bobbin", *name.split(), "--help"), re.M)
        assert sorted(complete(f"bobbin {name} --")) == sorted(listed), name
    assert complete("bobbin registry purge --timeout 3s app-1 --dr") == ["--dry-run"]


@pytest.mark.parametrize("line, words", [
    ("bobbin dev --store ", ["embedded", "zookeeper"]),
    ("bobbin dev --store=z", ["zookeeper"]),
    ("bobbin registry ls -o j", ["json"]),
    ("bobbin registry purge --children ", ["all", "fail", "skip"]),
    ("bobbin registry bind --inet host ", []),  # its second word
    ("bobbin registry ls -D hadoop.registry.sec", ["hadoop.registry.secure="]),
    ("bobbin registry ls -Dhadoop.registry.sec", ["-Dhadoop.registry.secure="]),
    ("bobbin registry ls -D hadoop.registry.secure=f", ["false"]),
    ("dnsd --log-format ", ["text", "json"]),
    ("dnsd -D hadoop.registry.dns.mode=", ["strict", "compat"]),
    ("svcmgr -D yarn.service.local.cgroups=re", ["required"]),
    ("registryd --show-d", ["--show-defaults"]),
])
def test_values(line, words):
    assert complete(line) == words


def test_every_key_of_a_daemon_is_offered():
    for name in ("registryd", "dnsd", "svcmgr"):
        keys = re.findall(r"^([\w.-]+)(?:=| \(unset\))", help_of(name, "--show-defaults"), re.M)
        assert sorted(complete(f"{name} -D ")) == sorted(f"{key}=" for key in keys) and len(keys) > 30


def test_files_and_directories():
    assert complete("bobbin app launch conf/examples/hello-w", cwd=ROOT) == ["conf/examples/hello-world.json"]
    assert complete("bobbin dev --zones zon", cwd=ROOT) == ["zones"]
    assert complete("bobbin registry bind /users/alice/x conf/core", cwd=ROOT) == ["conf/core-site.xml"]
    assert complete("bobbin registry bind conf/core", cwd=ROOT) == []  # the path comes first


def test_where_the_cursor_stands_counts():
    """What is behind the cursor is not looked at."""
    script = DRIVE.replace("${#3}", "11")
    done = subprocess.run(["bash", "--norc", "-c", script, "bash", f"{DOCUMENTS}/bobbin.bash", "bobbin", "bobbin dns  --max 3"],
                          capture_output=True, text=True, check=True)
    assert "explain" in done.stdout.split()
