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
    return ["README.md", "HACKING.md"] + [f"docs/{n}" for n in sorted(os.listdir(os.path.join(ROOT, "docs"))) if n.endswith(".md")]


def test_walks_name_functions_that_exist():
    named = re.findall(r"`([\w/]+\.[ch]):(\w+)`", read("docs/architecture.md") + read("HACKING.md"))
    assert len(named) > 30
    missing = [f"{path}:{function}" for path, function in named
               if not os.path.exists(os.path.join(ROOT, path)) or function not in functions_of(path)]
    assert not missing, "\n".join(missing)


def test_the_document_of_services_has_every_property():
    """Keys and prose as the table has them."""
    text = '"((?:[^"\\\\]|\\\\.)*)"'
    header = re.sub(r"\s*\\\n\s*", " ", read("svcmgr/spec/properties.h"))
    [site] = re.findall(rf"#define SPEC_PROP_SITE\s+{text}", header)
    rows = re.findall(rf'X\(PROP_\w+, {text}, (\w+), \w+, {text}, [\w ()/-]+, [\w ()/-]+, ((?:{text} ?)+|SPEC_PROP_SITE)\)', header)
    assert len(rows) > 30 and len(rows) == len(re.findall(r"X\(PROP_", header))
    words = {"HONOURED": "", "NO_MEANING": "no meaning: ", "REFUSED": "refused: "}
    wanted = {row[0]: words[row[1]] + (site if row[3] == "SPEC_PROP_SITE" else
                                       "".join(re.findall(text, row[3])).replace('\\"', '"')) for row in rows}
    reported = dict(re.findall(r"^\| `([\w.-]+)` \|[^|]*\| ([^|]*) \|", read("docs/services.md").split("\n## Properties\n")[1].split("\n## ")[0],
                               re.MULTILINE))
    assert reported == wanted


def test_files_named_in_documents_exist():
    missing = []
    for document in documents():
        for path in re.findall(r"`((?:lib|dnsd|registryd|svcmgr|cli|docs|tests|bench|conf|zones|include|cmake)/[\w./-]+\w)`",
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
    for table in ("registryd/options.h", "registryd/access/limits.h", "dnsd/options.h", "svcmgr/options.h",
                  "svcmgr/spec/properties.h", "lib/run/rm_options.h"):
        rows |= set(re.findall(r'X\(\w+,\s*"([\w.-]+)"', read(table)))
        for prefix in re.findall(r'HTTP_OPTIONS\(X, "([\w.-]+)"\)', read(table)):
            rows |= {prefix + key for key in re.findall(r'X\(\w+,\s*PREFIX "([\w.-]+)"', read("lib/http/limits.h"))}
    rows |= {"hadoop.registry.dns.ttl-type." + key for key in re.findall(r'X\(arg, .*, "(\w+)"\)', read("dnsd/wire/types.h"))}
    [family] = re.findall(r'PROXY_USERS_FAMILY "([\w.]+)"', read("lib/http/proxy_users.h"))
    rows |= {key + "TYPE" for key in re.findall(r'#define SVCMGR_\w+_FAMILY\s+"([\w.-]+)"', read("svcmgr/options.h"))}
    rows |= {f"{family}knox.{last}" for last in ("users", "groups", "hosts")}
    for file in ("model.c", "definition.c"):  # options of Slider's documents
        text = read(f"svcmgr/faces/slider/{file}")
        rows |= set(re.findall(r'"(yarn[\w.-]+)"', text))
        rows |= {key + ".hours" for key in re.findall(r'"(yarn[\w.-]+\.window)"', text)}
    unknown = []
    for document in documents():
        for key in re.findall(r"`((?:hadoop|yarn|bobbin)\.[a-z][\w.-]+\w)`", read(document)):
            if key not in rows:
                unknown.append(f"{document}: {key}")
    assert not unknown, "\n".join(unknown)


def test_every_folder_has_a_line_of_purpose():
    rows = dict(re.findall(r"^\| `([\w/]+)` \| ([^|]+) \|", read("docs/architecture.md"), re.M))
    files = subprocess.run(["git", "ls-files", "*.c", "*.h"], cwd=ROOT, text=True, capture_output=True, check=True).stdout.split()
    folders = {os.path.dirname(f) for f in files if f.split("/")[0] in ("lib", "registryd", "dnsd", "svcmgr", "keys", "cli")}
    assert sorted(folders - set(rows)) == [] and sorted(f for f in rows if not os.path.isdir(os.path.join(ROOT, f))) == []
    assert all(len(purpose) > 10 for purpose in rows.values())


def test_the_examples_of_hacking_are_commits():
    named = re.findall(r'\b([0-9a-f]{7}) "([^"]+)"', read("HACKING.md"))
    assert len(named) >= 4
    for commit, subject in named:
        done = subprocess.run(["git", "log", "-1", "--format=%s", commit], cwd=ROOT, text=True, capture_output=True, check=False)
        assert done.returncode != 0 or done.stdout.strip() == subject, commit  # a shallow clone has no history


def test_the_diffs_of_hacking_fit_the_files():
    """Each line that a diff keeps or takes away is in its file; what it adds is not there yet."""
    wrong = []
    for diff in re.findall(r"^```diff\n(.*?)^```", read("HACKING.md"), re.M | re.S):
        for path, body in re.findall(r"^\+\+\+ b/(\S+)\n((?:(?!--- ).*\n)*)", diff, re.M):
            lines = read(path).splitlines() if os.path.exists(os.path.join(ROOT, path)) else []
            wrong += [f"{path}: {line}" for line in body.splitlines() if line[:1] in " -" and line[1:] not in lines]
            assert any(line.startswith("+") and line[1:] not in lines for line in body.splitlines()), path
    assert wrong == []
