"""Every test, with one line at the end that counts them: `N passed, N failed`.

Stages, each on its own build; the other builds go on beside the tests of the release:
  release  unit tests, contract tables, shape, end to end, interop and fault tests on what is shipped
  asan     unit tests and end to end under address+undefined sanitizers
  tsan     unit tests and end to end under the thread sanitizer
  clang    builds clean with the second compiler
With an argument only tests whose names match it run.
"""
import concurrent.futures
import os
import re
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SANITIZER_ENV = {
    "ASAN_OPTIONS": "abort_on_error=1:detect_leaks=1:detect_stack_use_after_return=1",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
}


# A test waits for its servers most of the time, so four run side by side on two CPUs well. pytest-xdist gives each worker one
# group after the other; tests/conftest.py says what a group is.
WORKERS = 4
FOLDERS = ["tests/interop", "tests/fault", "tests/e2e", "tests/contract", "tests/golden", "tests/shape"]


class Count:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.bad = []

    def add(self, stage, passed, failed, skipped=0, names=()):
        self.passed += passed
        self.failed += failed
        self.skipped += skipped
        self.bad += [f"{stage}: {n}" for n in names]


def say(text):
    print(f"== {text}", flush=True)


def run(command, env=None):
    """Run, show and keep the output."""
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **(env or {})}, text=True, errors="replace",
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    lines = []
    for line in process.stdout:
        sys.stdout.write(line)
        sys.stdout.flush()
        lines.append(line)
    return process.wait(), "".join(lines)


def build(preset, niceness=0):
    """@return None: it is built; else what the compiler said"""
    for command in (["cmake", "--preset", preset], ["cmake", "--build", "--preset", preset]):
        done = subprocess.run(["nice", "-n", str(niceness), *command], cwd=ROOT, text=True, errors="replace", capture_output=True)
        if done.returncode:
            return done.stdout[-8000:] + done.stderr[-4000:]
    return None


def count_build(preset, problem, count):
    """@return whether it is built"""
    if problem:
        print(problem, flush=True)
        count.add(preset, 0, 1, names=["build"])
    else:
        count.add(preset, 1, 0)
    return not problem


def ctest(preset, pattern, count):
    command = ["ctest", "--test-dir", f"build/{preset}", "--output-on-failure", "-j2", "--no-tests=error"]
    if pattern:
        command[-1] = "--no-tests=ignore"
        command += ["-R", pattern]
    code, text = run(command, SANITIZER_ENV)
    found = re.search(r"(\d+) tests failed out of (\d+)|No tests were found", text)
    if found and found.group(2):
        failed, total = int(found.group(1)), int(found.group(2))
        names = re.findall(r"^\s*\d+ - (\S+) \(", text, re.M)
        count.add(f"{preset} ctest", total - failed, failed, names=names)
    if code and not (found and found.group(2) and int(found.group(1))):
        count.add(f"{preset} ctest", 0, 1, names=["ctest itself"])


def pytest(preset, pattern, count, extra=()):
    command = ["/usr/bin/python3", "-m", "pytest", "-q", "-rfE", "-p", "no:cacheprovider", "--durations=12", "-n", str(WORKERS),
               "--dist", "loadgroup", *extra, *FOLDERS]
    env = {**SANITIZER_ENV, "BOBBIN_BIN": os.path.join(ROOT, "build", preset, "bin"), "PYTHONDONTWRITEBYTECODE": "1"}
    code, text = run(command + (["-k", pattern] if pattern else []), env)
    count_pytest(preset, code, text, count)


def count_pytest(preset, code, text, count):
    last = [line for line in text.splitlines() if re.search(r"\b(passed|failed|error|skipped|deselected)", line)]
    tail = last[-1] if last else ""

    def number(word):
        found = re.search(rf"(\d+) {word}", tail)
        return int(found.group(1)) if found else 0

    failed = number("failed") + number("errors?")
    if code not in (0, 5) and not failed:
        failed = 1
    count.add(f"{preset} pytest", number("passed"), failed, number("skipped"),
              re.findall(r"^(?:FAILED|ERROR) ([^\s@]+)", text, re.M) or (["pytest itself"] if failed else []))


def main():
    pattern = sys.argv[1] if len(sys.argv) > 1 else None
    count = Count()
    started = time.monotonic()
    say("build release")
    if not count_build("release", build("release"), count):
        return end(count, started)
    # The tests wait for their servers most of the time; the other builds take what they leave of the processors.
    with concurrent.futures.ThreadPoolExecutor(max_workers=1) as builder:
        builds = {preset: builder.submit(build, preset, niceness=19) for preset in ("asan", "tsan", "clang")}
        ctest("release", pattern, count)
        pytest("release", pattern, count)
        for preset in ("asan", "tsan"):
            say(f"build {preset}")
            if count_build(preset, builds[preset].result(), count):
                ctest(preset, pattern, count)
                pytest(preset, pattern, count, ["-m", "sanitize"])
        say("build clang")
        count_build("clang", builds["clang"].result(), count)
    return end(count, started)


def end(count, started):
    say(f"took {time.monotonic() - started:.0f} s")
    for name in count.bad:
        print(f"FAILED {name}")
    skipped = f", {count.skipped} skipped" if count.skipped else ""
    print(f"{count.passed} passed, {count.failed} failed{skipped}", flush=True)
    return 1 if count.failed or not count.passed else 0


sys.exit(main())
