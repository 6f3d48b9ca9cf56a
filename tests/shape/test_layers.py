"""The include graph goes up only, and the pure folders stay pure (docs/architecture.md)."""
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

LIB = ["lib/base", "lib/run", "lib/json", "lib/http", "lib/store", "lib/store/mirror", "lib/registry"]
REGISTRYD = ["registryd/feed", "registryd/index", "registryd/access", "registryd/cleanup", "registryd/copy",
             "registryd/lease"]
# folder -> folders whose headers it may include (besides its own and include/bobbin)
MAY_SEE = {
    "lib/base": [],
    "lib/exec": ["lib/base"],
    "lib/run": ["lib/base"],
    "lib/json": ["lib/base"],
    "lib/http": ["lib/base", "lib/run", "lib/json"],
    "lib/store": ["lib/base", "lib/run"],
    "lib/store/mirror": ["lib/base", "lib/run", "lib/store"],
    "lib/store/lmdb": ["lib/base", "lib/run", "lib/store"],
    "lib/store/zk": ["lib/base", "lib/run", "lib/store"],
    "lib/registry": ["lib/base", "lib/run", "lib/json", "lib/http", "lib/store"],
    "lib/repeats": ["lib/base", "lib/run", "lib/json", "lib/http", "lib/store"],
    "registryd/feed": [*LIB, "registryd"],
    "registryd/index": [*LIB, "registryd/feed"],
    "registryd/access": [*LIB, "registryd"],
    "registryd/cleanup": [*LIB, "registryd", "registryd/index", "registryd/access"],
    "registryd/copy": [*LIB, "registryd", "registryd/feed", "registryd/access"],
    "registryd/lease": [*LIB, "registryd"],
    "registryd/api": [*LIB, "registryd", *REGISTRYD],
    "registryd": [*LIB, "lib/repeats", "registryd", *REGISTRYD, "registryd/api", "keys"],
    "dnsd/wire": ["lib/base"],
    "dnsd/zone": ["lib/base", "dnsd/wire"],
    "dnsd/answer": ["lib/base", "dnsd/wire", "dnsd/zone"],
    "dnsd/tap": ["lib/base", "lib/run", "dnsd/wire"],
    "dnsd/net": ["lib/base", "lib/run", "dnsd/wire", "dnsd/zone", "dnsd/answer", "dnsd/tap"],
    "dnsd/forward": ["lib/base", "lib/run", "dnsd/wire", "dnsd/answer", "dnsd/net"],
    "dnsd/names": ["lib/base", "lib/run", "lib/registry", "dnsd/wire", "dnsd/zone"],
    "dnsd/follow": ["lib/base", "lib/run", "lib/registry", "dnsd/wire", "dnsd/zone", "dnsd/names"],
    "dnsd/masters": ["lib/base", "lib/run", "lib/registry", "dnsd/wire", "dnsd/zone", "dnsd/names", "dnsd/follow"],
    "dnsd": ["lib/base", "lib/run", "lib/json", "lib/http", "lib/registry", "dnsd/wire", "dnsd/zone", "dnsd/answer",
             "dnsd/net", "dnsd/tap", "dnsd/forward", "dnsd/names", "dnsd/follow", "dnsd/masters", "keys"],
    "svcmgr/spec": ["lib/base", "lib/json"],
    "svcmgr/engine": ["lib/base", "lib/json", "svcmgr/spec"],
    "svcmgr/sim": ["lib/base", "svcmgr/spec"],
    "svcmgr/fs": ["lib/base", "lib/run", "lib/json", "lib/http"],
    "svcmgr/cluster": ["lib/base", "lib/run", "svcmgr/spec", "svcmgr/engine", "svcmgr/sim", "svcmgr/shim", "svcmgr/fs", "svcmgr/localizer",
                       "svcmgr/yarn"],
    "svcmgr/yarn": ["lib/base", "lib/run"],
    "svcmgr/launch": ["lib/base", "lib/run", "svcmgr/spec", "svcmgr/engine", "svcmgr/cluster"],
    "svcmgr/probe": ["lib/base", "lib/run", "lib/http", "svcmgr/spec", "svcmgr/engine"],
    "svcmgr/shim": ["lib/base", "lib/exec", "lib/run"],
    "svcmgr/localizer": ["lib/base", "lib/json", "svcmgr/shim", "svcmgr/fs"],
    "svcmgr/faces/launcher": ["lib/base", "lib/run", "lib/json", "lib/http", "svcmgr/spec", "svcmgr/engine", "svcmgr/faces"],
    "svcmgr/faces/slider": ["lib/base", "lib/run", "lib/json", "lib/http", "svcmgr/spec", "svcmgr/engine", "svcmgr/faces"],
    "svcmgr/faces": ["lib/base", "lib/exec", "lib/run", "lib/json", "lib/http", "svcmgr/spec", "svcmgr/engine"],
    "svcmgr/state": ["lib/base", "lib/run", "lib/json", "lib/store", "lib/repeats", "svcmgr/shim"],
    "svcmgr/publish": ["lib/base", "lib/run", "lib/http", "lib/registry", "svcmgr", "svcmgr/spec", "svcmgr/engine"],
    "svcmgr": ["lib/base", "lib/run", "lib/json", "lib/http", "lib/store", "lib/repeats", "lib/registry", "svcmgr/spec", "svcmgr/engine",
               "svcmgr/cluster", "svcmgr/fs", "svcmgr/yarn", "svcmgr/submit", "svcmgr/launch", "svcmgr/probe", "svcmgr/state", "svcmgr/publish", "svcmgr/faces", "svcmgr/faces/launcher", "svcmgr/faces/slider", "keys"],
    "keys": ["lib/run", "registryd", "dnsd", "svcmgr", "svcmgr/fs", "svcmgr/spec"],
    **{f"cli/{part}": ["lib/base", "lib/exec", "lib/run", "lib/json", "lib/http", "lib/registry", "cli/kit", "keys"]
       for part in ("kit", "registry", "app", "framework", "dns", "dev")},
    "cli/launcher": ["lib/base", "lib/run", "lib/json", "lib/http", "lib/registry", "lib/store", "cli/kit", "cli/framework", "keys"],
    "cli/slider": ["lib/base", "lib/run", "lib/json", "lib/http", "lib/registry", "cli/kit", "cli/package"],
    "cli/package": ["lib/base", "lib/json"],
    "cli": ["lib/base", "lib/run", "cli/kit"],
}
PURE = ["lib/base", "lib/exec", "lib/json", "dnsd/wire", "dnsd/zone", "dnsd/answer", "svcmgr/spec", "svcmgr/engine", "svcmgr/sim"]
# What a pure folder must not include: sockets, files, clocks, threads and the loop.
IMPURE = re.compile(r"^(uv\.h|stdio_ext\.h|sys/socket\.h|sys/epoll\.h|netdb\.h|time\.h|sys/time\.h|fcntl\.h|unistd\.h|"
                    r"pthread\.h|run/.*|http/.*|curl/.*|microhttpd\.h)$")
# lib/base keeps socket addresses as values and makes its hash key once; spec reads dates (calendar arithmetic, no clock).
ALLOWED = {("lib/base", "sys/socket.h"), ("lib/base", "pthread.h"), ("svcmgr/spec", "time.h")}


def sources():
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.c", "*.h"], cwd=ROOT, text=True,
                         capture_output=True, check=True).stdout.split()
    return [p for p in out if os.path.exists(os.path.join(ROOT, p)) and os.path.dirname(p) in MAY_SEE]


def includes(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', f.read(), re.M)


def folder_of(include):
    head = include.split("/")[0] if "/" in include else None
    for folder in MAY_SEE:
        if head and os.path.basename(folder) == head and os.path.exists(
                os.path.join(ROOT, folder, include.split("/", 1)[1])):
            return folder
    return None


def test_there_are_sources():
    assert len(sources()) > 30


def test_includes_go_up_only():
    bad = []
    for path in sources():
        here = os.path.dirname(path)
        for include in includes(path):
            there = folder_of(include)
            if there and there != here and there not in MAY_SEE[here]:
                bad.append(f"{path} includes {include}: {here} may not see {there}")
    assert not bad, "\n".join(bad)


def test_pure_folders_stay_pure():
    bad = [f"{path} includes {include}" for path in sources() for include in includes(path)
           if os.path.dirname(path) in PURE and IMPURE.match(include)
           and (os.path.dirname(path), include) not in ALLOWED]
    assert not bad, "\n".join(bad)


def test_only_the_top_of_a_daemon_sees_app():
    bad = [f"{path} includes {include}" for path in sources() for include in includes(path)
           if os.path.basename(include) == "app.h" and not path.startswith("cli/")
           and not re.match(r"(app|api|main)", os.path.basename(path))]
    assert not bad, "\n".join(bad)


def test_only_policies_ask_for_the_kind_of_a_service():
    """What a kind does differently is a row of engine/policy.h: its table is the one place that names all of them."""
    asks = re.compile(r"[!=]=\s*KIND_\w+|KIND_\w+\s*[!=]=|case KIND_|switch \([^)]*\bkind\b[^)]*\)\s*\{\s*case KIND_")
    spec = re.compile(r"FLD_KIND_\w+|METRIC_KIND_\w+")
    bad = []
    for path in sources():
        if not path.startswith("svcmgr/") or path == "svcmgr/engine/policy.c":
            continue
        with open(os.path.join(ROOT, path)) as f:
            bad += [f"{path}:{n}: {line.strip()}" for n, line in enumerate(f, 1) if asks.search(spec.sub("", line))]
    assert not bad, "\n".join(bad)
