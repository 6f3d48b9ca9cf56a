"""The tree is written by one hand: blank lines, sizeof, checked casts, comments, helpers that exist once, words.

`python3 tests/shape/test_hand.py [FOLDER]…` prints every place that breaks a rule.
"""
import bisect
import collections
import functools
import os
import re
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

TYPE = r"(?:(?:const|volatile)\s+)*(?:(?:struct|union|enum|unsigned|signed)\b.*|(?:void|bool|char|short|int|long|float|double)\b.*|" \
       r"\w+_t\b[\s*]*(?:\[.*)?|MDB_\w+|[A-Z]\w*[a-z]\w*)"

# What lib has once: pattern inside a function, and where it may stand.
ONCE = [
    ("the part of a path before or behind its last '/'", re.compile(r"\b(?:strrchr|memrchr)\([^;]*?'/'"),
     re.compile(r"^lib/base/\w+\.[ch]$")),
    ("mkdir -p", re.compile(r"'/'.*\bmkdir\(|\bmkdir\(.*'/'", re.S), re.compile(r"^lib/(base|run)/\w+\.c$")),
    ("a delay that doubles", re.compile(r"\w*(?:delay|pause|wait|retry|back_?off|interval)\w*_(?:ms|us)\b[^;\n]*?(?:\* ?2\b|\b2 ?\*|<<= ?1|\*= ?2)|"
                                        r"\b2 \* \w*(?:delay|pause|backoff)\w*\b"), re.compile(r"^lib/base/\w+\.[ch]$")),
]

# Words with another meaning, or none, in the field (docs/glossary.md), and what to write.
WORDS = [
    (r"(?<![A-Za-z])(?:tells?|told|telling)(?![A-Za-z])", "notify, publish, emit, report, return"),
    (r"(?<![A-Za-z])doom(?:s|ed)?(?![A-Za-z])", "garbage"),
    (r"(?<![A-Za-z])hurr(?:y|ies|ied|ying)(?![A-Za-z])", "expedite"),
    (r"\bstruct letter\b|\bletter_list\b|(?:->|\.)letters\b", "reply"),
    (r"_inside\.h\b|\w_INSIDE_H\b", "_priv.h"),
    (r"\bstruct kept\w*|\bkept_\w+|\bKEPT_\w+|\bkept\.[ch]\b", "packed"),
    (r"\bstruct shown\w*|\bshown_\w+|\bSHOWN_\w+|\bshown\.[ch]\b", "mark"),
    (r"\bstruct pool\b|\bpool_(?:init|fini|take|free|put|mark|find|give|new|sink|tell)\w*|\bnames/pool\b", "shared names (a pool is libuv's thread pool)"),
]
# Where a word above is the field's own: path pattern, text of the line.
WORDS_ALLOWED = []


def tracked(*patterns):
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *patterns], cwd=ROOT, text=True, capture_output=True,
                         check=True).stdout.split()
    return [p for p in out if os.path.exists(os.path.join(ROOT, p)) and p != "tests/shape/test_hand.py"]


@functools.cache
def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


@functools.cache
def line_starts(path):
    return [m.end() for m in re.finditer(r"^|\n", read(path))]


def place(path, offset, text):
    return path, f"{path}:{bisect.bisect_right(line_starts(path), offset)}: {text}"


@functools.cache
def code(path):
    """The text of a C file, comments and literals blanked; offsets stay."""
    def blank(m):
        text = m.group(0)
        if text[0] in "\"'":
            return text[0] + re.sub(r"[^\n/]", "_", text[1:-1]) + text[0]
        return re.sub(r"[^\n]", " ", text)
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', blank, read(path), flags=re.S)


Function = collections.namedtuple("Function", "path name params body offset")
HEAD = re.compile(r"^(?:[A-Za-z_][^\n;{}()=#]*?[\s*])?(\w+)\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)\n\{\n", re.M)


@functools.cache
def functions(path):
    """Functions defined in a file; clang-format puts their braces into the first column."""
    text, found = code(path), []
    for m in HEAD.finditer(text):
        end = text.find("\n}", m.end() - 1)
        found.append(Function(path, m.group(1), split_args(m.group(2)), text[m.end():end + 1], m.end()))
    return found


def split_args(text):
    args, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += c in "([{"
        depth -= c in ")]}"
        if c == "," and not depth:
            args.append(text[start:i].strip())
            start = i + 1
    return args + [text[start:].strip()]


def c_files():
    return tracked("*.c", "*.h")


def blank_lines():
    """One between functions, none doubled, none behind an opening brace."""
    for path in c_files():
        for pattern, text in ((r"\n\n\n", "two blank lines"), (r"\{\n\n", "a blank line behind {"),
                              (r"^\}\n(?=[^\n#])", "no blank line behind a function"), (r"\n\n\Z", "a blank line at the end")):
            for m in re.finditer(pattern, read(path), re.M):
                yield place(path, m.start(), text)


def sizes():
    """`sizeof x` of an expression, `sizeof(struct x)` of a type."""
    for path in c_files():
        text = code(path)
        for m in re.finditer(r"\bsizeof\s*\(", text):
            line = text[text.rfind("\n", 0, m.start()) + 1:text.find("\n", m.start())]
            above = text[:m.start()].split("\n")[-2:-1]
            if line.lstrip().startswith("#define") or line.endswith("\\") or (above and above[0].endswith("\\")):
                continue
            depth, end = 1, m.end()
            while depth:
                depth += {"(": 1, ")": -1}.get(text[end], 0)
                end += 1
            inner = text[m.end():end - 1]
            if not re.fullmatch(TYPE, inner, re.S) and not re.match(r"\(|[A-Z_ ]+$", inner):
                yield place(path, m.start(), f"sizeof({inner}) is of an expression: sizeof {inner}")


@functools.cache
def parameters():
    """Name of a function -> sets of its parameters' types, of every definition and prototype."""
    known = collections.defaultdict(list)
    for path in c_files():
        for m in re.finditer(r"^(?:[A-Za-z_][^\n;{}()=#]*?[\s*])?(\w+)\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)(?=;|\n\{)",
                             code(path), re.M):
            known[m.group(1)].append((path, split_args(m.group(2))))
    return known


def passes_as_struct(f, argument):
    """A call in f that takes `argument` where a struct of ours is asked for."""
    for m in re.finditer(r"\b(\w+)\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)", f.body):
        args = split_args(m.group(2))
        if argument not in args:
            continue
        at = args.index(argument)
        for path, params in parameters().get(m.group(1), []):
            is_seen = path == f.path or path.endswith(".h")
            if m.group(1) != "obj_init" and is_seen and at < len(params) and re.match(r"(?:const )?struct \w+ \*(?!\*)\w*$", params[at]):
                return m.group(1)
    return None


# Parameters for values that a table of fields reads, writes or sorts: no object crosses there.
VALUES = {"object", "into", "item", "value"}


def casts():
    """Every callback opens with the checked cast of its `void *` (lib/base/obj.h)."""
    for path in tracked("*.c"):
        if path.startswith(("tests/", "bench/", "docs/")):
            continue
        for f in functions(path):
            pointers = [m.group(1) for p in f.params if (m := re.fullmatch(r"(?:const )?void \*(?:const )?(\w+)", p))]
            if len([p for p in f.params if p.startswith("const void *")]) == 2 and len(f.params) == 2:
                continue  # compares elements of an array
            for name in pointers:
                if name in VALUES:
                    continue
                checked = re.search(rf"\bobj_cast\(\s*{name}\b", f.body)
                if checked and any("obj_cast" not in s for s in f.body[:checked.start()].split(";")[:-1]):
                    yield place(path, f.offset, f"{f.name}: the cast of {name} is not its first statement")
                elif not checked and re.search(rf"\bstruct \w+ \*(?:const )?\w+ = (?:\([^()]*\)\s*)?{name}\b\s*[;,]|\(\(?(?:const )?struct \w+ \*\){name}\b",
                                               f.body):
                    yield place(path, f.offset, f"{f.name}: {name} becomes a struct without obj_cast")
                elif not checked and (callee := passes_as_struct(f, name)):
                    yield place(path, f.offset, f"{f.name}: {name} is passed to {callee} as a struct without obj_cast")
            for m in re.finditer(r"\bstruct \w+ \*(?:const )?\w+ = (?:\([^()]*\)\s*)?[\w>.-]+(?:->|\.)data;", f.body):
                if re.search(r"\buv_\w+_t\b", " ".join(f.params)):
                    yield place(path, f.offset, f"{f.name}: the handle's data becomes a struct without obj_cast")


def broken_declarations():
    """A comment that would break a declaration over lines stands above it."""
    pattern = re.compile(r"^[ \t]+(?:const |unsigned |struct |enum |volatile )*\w+(?: \*+)?\n"
                         r"[ \t]+\**\w+(?:\[[^\]\n]*\])*(?: : \d+)?(?:, [^;\n()]*)?;[ \t]*/\*", re.M)
    for path in c_files():
        for m in pattern.finditer(read(path)):
            if not re.match(r"\s*(?:else|do|return|break)\n", m.group(0)):
                yield place(path, m.start(), "a comment breaks this declaration: put the comment above")


def copies():
    """What lib has once is not written again."""
    for path in tracked("*.c"):
        for what, pattern, home in ONCE:
            if home.match(path):
                continue
            for f in functions(path):
                text = read(path)[f.offset:f.offset + len(f.body)]
                if m := pattern.search(text):
                    yield place(path, f.offset + m.start(), f"{f.name}: lib has {what} once")


def words():
    """One meaning a word, the field's own."""
    for path in tracked("*.c", "*.h", "*.py", "*.md", "*.txt", "*.json", "*.cmake", "dev"):
        if path.startswith("tests/contract/") and not path.endswith(".py"):
            continue
        for pattern, better in WORDS:
            for m in re.finditer(pattern, read(path)):
                if not any(re.search(where, path) and re.search(text, m.group(0)) for where, text in WORDS_ALLOWED):
                    yield place(path, m.start(), f"{m.group(0)}: {better}")


RULES = [blank_lines, sizes, casts, broken_declarations, copies, words]


def test_there_are_functions_to_check():
    assert sum(len(functions(path)) for path in tracked("*.c")) > 3000


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_one_hand(rule):
    found = [text for _, text in rule()]
    assert not found, f"{rule.__doc__}\n" + "\n".join(found)


if __name__ == "__main__":
    folders = sys.argv[1:] or [""]
    for each in RULES:
        for where, said in each():
            if any(os.path.dirname(where) == folder.rstrip("/") or where.startswith(folder) for folder in folders):
                print(said)
