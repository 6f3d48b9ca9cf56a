"""The manual page of bobbin derives from its tables: it has every command, option and key, and groff accepts it."""
import re
import shutil
import subprocess

import pytest

from harness import BIN


def bobbin(*words):
    return subprocess.run([f"{BIN}/bobbin", *words], capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def page():
    return bobbin("--man")


def entries(page, section):
    """Tags of the entries of a section, as the reader sees them."""
    body = re.search(rf"^\.SH {section}\n(.*?)(?=^\.SH |\Z)", page, re.M | re.S)[1]
    return re.findall(r"^\.TP\n\.B (.*)", body.replace("\\-", "-"), re.M)


def commands():
    return re.findall(r"^  ((?:registry|app|framework|launcher|slider|dns) [a-z]+|registry -o hadoop|log-level|dev)\b", bobbin("help"), re.M)


def test_every_command_is_in_the_manual(page):
    found = [tag for group in ("registry", "app", "framework", "launcher", "slider", "dns", "log-level", "dev") for tag in entries(page, f"COMMANDS: {group}")]
    assert len(commands()) == len(found) >= 25
    assert [name for name, tag in zip(commands(), found) if not tag.startswith(f"bobbin {name}")] == []


def test_every_option_of_a_command_is_in_the_manual(page):
    options = {option for name in commands() if "-o" not in name
               for option in re.findall(r"^  (?:-\w, )?(--[a-zA-Z.-]+)", bobbin(*name.split(), "--help"), re.M)}
    found = {re.search(r"--[a-zA-Z.-]+", tag)[0] for tag in entries(page, "OPTIONS")}
    assert len(options) >= 25 and options <= found, options - found


def test_it_has_what_a_user_looks_for(page):
    assert "HADOOP_CONF_DIR" in entries(page, "ENVIRONMENT") and "hadoop.registry.url" in entries(page, "CONFIGURATION")
    assert {"0", "2", "10", "33"} <= set(entries(page, "EXIT STATUS"))
    examples = re.search(r"^\.SH EXAMPLES\n\.nf\n(.*)\.fi", page, re.M | re.S)[1].replace("\\-", "-")
    known = commands()
    assert [line for line in examples.splitlines() if not any(line.startswith(f"bobbin {name}") for name in known)] == []


@pytest.mark.skipif(not shutil.which("groff"), reason="needs groff")
def test_groff_accepts_it(page):
    done = subprocess.run(["groff", "-man", "-ww", "-Tutf8"], input=page, capture_output=True, text=True, check=True)
    assert done.stderr == "" and "bobbin" in done.stdout
