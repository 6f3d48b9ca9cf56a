"""The manual page speaks of every command and option that the program's own help knows."""
import os
import re
import subprocess

from harness import BIN, ROOT


def help_of(*words):
    return subprocess.run([os.path.join(BIN, "bobbin"), *words], capture_output=True, text=True, check=True).stdout


def page():
    with open(os.path.join(ROOT, "docs", "bobbin.1"), encoding="utf-8") as f:
        return f.read().replace("\\-", "-")


def commands():
    return re.findall(r"^  ((?:registry|app|dns) [a-z]+|dev)\b", help_of("help"), re.M)


def test_every_command_is_in_the_manual():
    names = commands()
    assert len(names) >= 24 and "dev" in names
    assert [name for name in names if f"bobbin {name}" not in page()] == []


def test_every_option_is_in_the_manual():
    options = {option for name in commands() for option in re.findall(r"^  (?:-\w, )?(--[a-zA-Z.-]+)", help_of(*name.split(), "--help"), re.M)}
    assert len(options) >= 25
    assert sorted(option for option in options if not re.search(re.escape(option) + r"\b", page())) == []
