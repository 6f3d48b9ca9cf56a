"""The files of lib/http call one way, as the drawing in http_priv.h has them, and one of them knows libmicrohttpd."""
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HTTP = os.path.join(ROOT, "lib", "http")


def read(name):
    with open(os.path.join(HTTP, name), encoding="utf-8") as f:
        return f.read()


def drawn():
    """Names of the files in their order; those of one line, which call none of the others, are one item."""
    drawing = read("http_priv.h").split("Phases of a request")[0]
    return [re.findall(r"\w+\.c", line) for line in drawing.splitlines() if re.match(r" \*     \w+\.c", line)]


def defined(name):
    """Exported functions that a file defines."""
    return set(re.findall(r"^(?!static)[a-z][^\n;{}()=]*?\b(http_\w+|\w+_\w+)\([^;{}]*\)\n\{", read(name), re.M))


def test_every_file_is_drawn():
    files = {name for name in os.listdir(HTTP) if name.endswith(".c")} - {"client.c"}
    assert files == {name for line in drawn() for name in line}


def test_files_call_down_only():
    lines = drawn()
    assert {"http_poll_run", "http_request_of", "http_disconnect", "http_check_head"} <= {f for line in lines for name in line for f in defined(name)}
    for at, line in enumerate(lines):
        above = {function for names in lines[:at] for name in names for function in defined(name)}
        for name in line:
            code = re.sub(r"/\*.*?\*/", "", read(name), flags=re.S)
            called = set(re.findall(r"\b(\w+)\(", code)) & above
            assert not called, f"{name} calls up: {sorted(called)}"


def test_one_file_includes_libmicrohttpd():
    assert [name for name in sorted(os.listdir(HTTP)) if "#include <microhttpd.h>" in (read(name) if name.endswith((".c", ".h")) else "")] == ["mhd.c"]
