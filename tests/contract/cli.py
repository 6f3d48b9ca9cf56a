"""The rows of registry_cli.tsv, and Hadoop's way to say how a command line went."""
import os

from operations import HERE, unescape


def read_cases():
    """(name, steps); a step: words, result, lines for standard output and lines for standard error."""
    cases = []
    with open(os.path.join(HERE, "registry_cli.tsv"), encoding="utf-8") as f:
        title = None
        for line in f.read().split("\n"):
            if line.startswith("# CL"):
                title = line[2:]
                cases.append((title, []))
            elif line.startswith("\t"):
                cases[-1][1][-1][2][line[1]].append(unescape(line[3:]))
            elif title and line:
                _, code, *words = line.split("\t")
                cases[-1][1].append(([w for w in words if w], int(code), {"1": [], "2": []}))
    return cases


def check(wanted, printed, what):
    """Lines are as wanted; after … anything may follow."""
    lines = printed.split("\n")[:-1] if printed else []
    assert len(lines) == len(wanted), (what, printed)
    for line, want in zip(lines, wanted):
        head, dots, _ = want.partition("…")
        assert line.startswith(head) if dots else line == want, (what, line, want)
