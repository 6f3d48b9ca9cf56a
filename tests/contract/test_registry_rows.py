"""registry_rows.tsv names every conformance case of the registry, and what it names is there."""
import os

from harness import ROOT

TESTS = os.path.join(ROOT, "tests")
CASES = {"PA": 20, "MA": 12, "OP": 25, "US": 4, "PU": 16, "SE": 22, "CL": 16, "AD": 10}


def rows():
    with open(os.path.join(TESTS, "contract/registry_rows.tsv"), encoding="utf-8") as f:
        return [line.split("\t") for line in f.read().split("\n") if line and not line.startswith("#")]


def test_every_case_has_a_place():
    assert {case for case, _, _ in rows()} == {f"{kind}{n + 1}" for kind, count in CASES.items() for n in range(count)}


def test_every_place_is_there():
    texts = {}
    missing = []
    for case, name, wanted in rows():
        if name not in texts:
            with open(os.path.join(TESTS, name), encoding="utf-8") as f:
                texts[name] = f.read().replace("\t", " | ")
        lines = texts[name].split("\n")
        # A row of data stands there as a whole; of other files a part of a line is enough.
        if " | " in wanted and not wanted.endswith(" | ") or wanted.endswith(" |  | "):
            found = wanted in lines
        else:
            found = any(wanted in line for line in lines)
        if not found:
            missing.append((case, name, wanted))
    assert not missing, missing
