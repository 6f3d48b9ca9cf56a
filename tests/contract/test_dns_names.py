"""dnsd answers as the registry DNS contract says: each group of rows on a registryd and a dnsd of its own options."""
import os
import re

import pytest

from dns_names import D, GROUPS
from harness import ROOT, Stack, dig_full, request, wait_for

KEY = "hadoop.registry.dns."


def key_of(option):
    return option[1:] if option.startswith("=") else KEY + option


class Bed:
    """A stack per set of options, shared by the groups that have the same."""

    def __init__(self):
        self.stacks = {}

    def stack(self, group, directory):
        files = group.get("files", {})
        key = repr((sorted(group["options"].items()), sorted(files)))
        if key not in self.stacks:
            options = {key_of(k): v for k, v in group["options"].items()}
            options[KEY + "domain-name"] = D
            options[KEY + "soa.mname"] = "ns.example.com"  # else the zone may have the address of this host
            if files:
                for name, text in files.items():
                    (directory / name).write_text(text)
                options[KEY + "zones-dir"] = str(directory)
            stack = Stack(options={"dnsd": options, "registryd": {"hadoop.registry.path.names": "zookeeper"}})
            self.stacks[key] = stack.__enter__()
        return self.stacks[key]

    def close(self):
        for stack in self.stacks.values():
            stack.__exit__(None, None, None)


@pytest.fixture(scope="module")
def bed():
    b = Bed()
    yield b
    b.close()


def clear(stack):
    for path in ("/users", "/services", "/ctr-x"):
        answer = stack.registry("DELETE", path, query="recursive=true")
        assert answer.status in (200, 204, 404), answer
        if answer.headers["Bobbin-Revision"]:
            stack.sync(answer.headers["Bobbin-Revision"])


def apply(stack, records):
    answer = None
    for path, record in records.items():
        if record is None:
            answer = stack.registry("DELETE", path)
            assert answer.status in (200, 204), answer
        else:
            answer = stack.bind(path, record)
    if answer:
        stack.sync(answer.headers["Bobbin-Revision"])


def section(text, name):
    found = re.search(rf";; {name} SECTION:\n(.*?)\n\n", text + "\n\n", re.S)
    return [line.split(None, 4) for line in found.group(1).splitlines()] if found else []


def norm(owner, ttl, kind, rdata, with_ttl):
    text = f"{owner.lower()} {kind} {rdata}"
    return f"{ttl} {text}" if with_ttl else text


def check(port, name, kind, wanted):
    text = dig_full(port, "+noall", "+comments", "+answer", "+authority", "+nottlunits", name, kind)
    answers, authority = section(text, "ANSWER"), section(text, "AUTHORITY")
    status = re.search(r"status: (\w+)", text).group(1)
    if isinstance(wanted, str):
        word, _, ttl = wanted.partition(" ")
        assert status == ("NOERROR" if word == "NODATA" else word), text
        assert not answers and [a[3] for a in authority] == ["SOA"], text
        assert not ttl or authority[0][1] == ttl, text
        return
    assert status == "NOERROR", text
    if isinstance(wanted, tuple):
        assert [a[3] for a in answers] == [wanted[0]] * wanted[1], text
        return
    has_ttl = [w.split()[0].isdigit() for w in wanted]
    with_ttl = bool(has_ttl) and all(has_ttl)
    assert sorted(norm(a[0], a[1], a[3], a[4], with_ttl) for a in answers) == sorted(wanted), text
    aliases = [a[3] for a in answers]
    assert aliases == sorted(aliases, key=lambda k: k != "CNAME"), "the alias comes first\n" + text


def whole(stack):
    lines = request(stack.dns_http_port, "GET", f"/dump?zone={D}").body.decode().splitlines()
    records = [line.split("\t", 4) for line in lines]
    return sorted(f"{r[0].lower()} {r[3]} {r[4].rstrip()}" for r in records
                  if not (r[0] == D and r[3] in ("SOA", "NS")))


@pytest.mark.parametrize("group", GROUPS, ids=[g["name"] for g in GROUPS])
def test_group(bed, tmp_path_factory, group):
    stack = bed.stack(group, tmp_path_factory.mktemp("zones"))
    clear(stack)
    for records in group.get("steps") or [group["records"]]:
        apply(stack, records)
    for name, kind, wanted in group.get("asks", []):
        if group.get("wait"):
            wait_for(lambda: check(stack.dns_port, name, kind, wanted) or True, f"{name} {kind}")
        else:
            check(stack.dns_port, name, kind, wanted)
    if "whole" in group:
        assert whole(stack) == sorted(group["whole"])
    if "zones" in group:
        zones = request(stack.dns_http_port, "GET", "/zones").json["zones"]
        assert sorted(z["name"] for z in zones) == sorted(group["zones"])


def test_every_documented_difference_has_its_test():
    with open(os.path.join(ROOT, "docs/dns-names.md"), encoding="utf-8") as f:
        modes = f.read().split("## Modes")[1].split("\n## ")[0]
    ids = re.findall(r"\| `([^`]+)` \|$", modes, re.M)
    assert len(ids) > 15
    names = {g["name"] for g in GROUPS}
    for test in ids:
        path, _, function = test.partition("::")
        if not function:
            assert test in names, test
            continue
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            assert re.search(rf"\b{function}\(", f.read()), test
