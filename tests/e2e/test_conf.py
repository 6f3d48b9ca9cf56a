"""conf/ has every option as the tables have it, and each is accepted when it is set to its default."""
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

from harness import BIN, ROOT

FILES = ["core-site.xml", "yarn-site.xml"]
DAEMONS = ["registryd", "dnsd", "svcmgr"]


def text(name):
    with open(os.path.join(ROOT, "conf", name), encoding="utf-8") as f:
        return f.read()


def uncommented(name):
    """As a person does it: the two lines around each property are gone."""
    return re.sub(r"^  <!--\n(  <property>\n.*?  </property>\n)  -->\n", r"\1", text(name), flags=re.M | re.S)


def keys_of(program):
    shown = subprocess.run([os.path.join(BIN, program), "--show-defaults"], capture_output=True, text=True, check=True).stdout
    return [re.match(r"[^ =]+", line)[0] for line in shown.splitlines() if not line.startswith(" ")]


def test_the_files_are_what_the_tables_say(tmp_path):
    subprocess.run([sys.executable, os.path.join(ROOT, "cmake", "conf.py"), BIN, str(tmp_path)], check=True)
    stale = [name for name in FILES if (tmp_path / name).read_text(encoding="utf-8") != text(name)]
    assert stale == [], "./dev conf writes them anew"


def test_every_option_is_there_and_commented_out():
    assert [ElementTree.fromstring(text(name)).findall("property") for name in FILES] == [[], []]
    found = [p.findtext("name") for name in FILES for p in ElementTree.fromstring(uncommented(name)).iter("property")]
    assert len(found) == len(set(found)) > 150
    assert {key for program in [*DAEMONS, "bobbin"] for key in keys_of(program)} == set(found)


@pytest.mark.parametrize("daemon", DAEMONS)
def test_a_daemon_accepts_every_option_at_its_default(daemon, tmp_path):
    for name in FILES:
        (tmp_path / name).write_text(uncommented(name), encoding="utf-8")
    done = subprocess.run([os.path.join(BIN, daemon), "--config", str(tmp_path), "-t", "--strict", "-D", "hadoop.registry.dns.domain-name=bobbin.test"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_file_as_it_is_changes_nothing():
    done = subprocess.run([os.path.join(BIN, "registryd"), "--config", os.path.join(ROOT, "conf"), "-t"], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr
