"""Every key of the contract's table of configuration keys (services_keys.tsv: key, level, what becomes of it) is an option of a daemon or a property
of services, or the manual says why it is neither."""
import os
import re
import subprocess

import pytest

from harness import BIN, ROOT

with open(os.path.join(ROOT, "tests/contract/services_keys.tsv"), encoding="utf-8") as table:
    ROWS = [line.rstrip("\n").split("\t") for line in table]
with open(os.path.join(ROOT, "docs/services.md"), encoding="utf-8") as manual:
    MANUAL = manual.read()


def options(daemon):
    done = subprocess.run([os.path.join(BIN, daemon), "--show-defaults"], capture_output=True, text=True, check=True, timeout=60)
    return set(re.findall(r"^([a-z][A-Za-z0-9.-]+)(?:=| \(unset\))", done.stdout, re.M))


@pytest.fixture(scope="module")
def known():
    return {daemon: options(daemon) for daemon in ("svcmgr", "registryd")}


@pytest.fixture(scope="module")
def page():
    """Lines of svcmgr's manual page."""
    done = subprocess.run([os.path.join(BIN, "svcmgr"), "--man"], capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.replace("\\-", "-").splitlines()


def entry_of(page, heading, key):
    """What the manual page says of the key in a section; None: it has no entry."""
    section = page[page.index(f".SH {heading}") + 1:]
    section = section[:next(i for i, line in enumerate(section) if line.startswith(".SH "))]
    words = [line.rstrip() for line in section]
    places = [i for i, line in enumerate(words) if line in (f".B {key}", f".BI {key}")]
    return " ".join(section[places[0] + 1:places[0] + 3]) if places else None


def rows_of(heading, key):
    """Cells of the rows of a section of the manual that begin with the key."""
    section = MANUAL.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return [line.strip("|").split("|") for line in section.splitlines() if line.startswith(f"| `{key}` |")]


@pytest.mark.parametrize("key, level, becomes", ROWS, ids=[row[0] for row in ROWS])
def test_each_key_is_honoured_or_listed(known, key, level, becomes):
    if becomes in known:
        assert key in known[becomes], f"{becomes} has no option {key}"
        return
    if becomes == "not applicable":
        found = rows_of("Keys of the site configuration", key)
        assert len(found) == 1 and len(found[0][1].strip()) > 20, f"the manual gives no reason for {key}"
        return
    found = rows_of("Properties", key)
    assert len(found) == 1, f"the manual has no row for {key}"
    meaning = found[0][2].strip()
    assert not meaning.startswith("refused") and meaning, (key, meaning)
    if becomes != "DOCKER":  # what it means follows what runs images
        assert meaning.startswith("no meaning: ") == (becomes == "no meaning"), (key, level, meaning)


@pytest.mark.parametrize("key, level, becomes", ROWS, ids=[row[0] for row in ROWS])
def test_the_manual_page_has_each_key(page, key, level, becomes):
    if becomes == "registryd":
        return
    if becomes == "svcmgr":
        assert entry_of(page, "CONFIGURATION", key), key
    elif becomes == "not applicable":
        [row] = rows_of("Keys of the site configuration", key)
        assert entry_of(page, "KEYS OF HADOOP THAT DO NOT APPLY", key).startswith(row[1].strip()), key
    else:
        said = entry_of(page, "PROPERTIES OF SERVICES", key)
        assert said and said.startswith("Not applicable: ") == (becomes == "no meaning"), (key, level, said)


def test_the_table_is_whole():
    assert len(ROWS) == 37 and len({row[0] for row in ROWS}) == 37
    assert {row[1] for row in ROWS} == {"system", "service", "component"}
