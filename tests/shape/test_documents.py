"""The documents name files, functions, keys and commands that exist."""
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def functions_of(path):
    out = subprocess.run(["ctags", "-x", "--kinds-C=fpd", os.path.join(ROOT, path)], text=True, capture_output=True,
                         check=True).stdout
    return {line.split()[0] for line in out.splitlines()}


def documents():
    return ["README.md"] + [f"docs/{n}" for n in sorted(os.listdir(os.path.join(ROOT, "docs"))) if n.endswith(".md")]


def test_walks_name_functions_that_exist():
    named = re.findall(r"`([\w/]+\.[ch]):(\w+)`", read("docs/architecture.md"))
    assert len(named) > 30
    missing = [f"{path}:{function}" for path, function in named
               if not os.path.exists(os.path.join(ROOT, path)) or function not in functions_of(path)]
    assert not missing, "\n".join(missing)


def test_files_named_in_documents_exist():
    missing = []
    for document in documents():
        for path in re.findall(r"`((?:lib|dnsd|registryd|svcmgr|cli|docs|tests|bench|conf|include|cmake)/[\w./-]+\w)`",
                               read(document)):
            if not os.path.exists(os.path.join(ROOT, path)):
                missing.append(f"{document}: {path}")
    assert not missing, "\n".join(missing)


def test_links_between_documents_work():
    broken = []
    for document in documents():
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", read(document)):
            if "://" not in target and not os.path.exists(os.path.join(ROOT, os.path.dirname(document), target)):
                broken.append(f"{document}: {target}")
    assert not broken, "\n".join(broken)


def test_configuration_keys_named_in_documents_are_rows():
    rows = set()
    for table in ("registryd/options.h", "registryd/limits.h", "dnsd/options.h", "svcmgr/options.h"):
        rows |= set(re.findall(r'X\(\w+,\s*"([\w.-]+)"', read(table)))
    unknown = []
    for document in documents():
        for key in re.findall(r"`((?:hadoop|yarn|bobbin)\.[a-z][\w.-]+\w)`", read(document)):
            if key not in rows:
                unknown.append(f"{document}: {key}")
    assert not unknown, "\n".join(unknown)
