"""Fuzzers, each for SECONDS (600) on a copy of its corpus, with address and undefined sanitizers: run.py [NAME [SECONDS]].

NAME is a folder of tests/fuzz/corpus, or `all`; what is found is in build/fuzz/found, what had new ways in build/fuzz/grown. It
becomes a test when it goes to tests/fuzz/corpus. `packets [NUMBER]` is another thing: so many (a million) random and mutated
packets at a live dnsd of the sanitized build; `engine [SECONDS]` random lives of svcmgr's engine (tests/sim), with new seeds each time.
"""
import os
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, "build", "fuzz")
CORPUS = os.path.join(ROOT, "tests", "fuzz", "corpus")
SECONDS, PACKETS = 600, 1000000
SANITIZERS = {"ASAN_OPTIONS": "abort_on_error=1:detect_leaks=1:detect_stack_use_after_return=1",
              "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"}


def build(names):
    subprocess.run(["cmake", "-S", ROOT, "-B", BUILD, "-G", "Ninja", "-DCMAKE_C_COMPILER=clang", "-DCMAKE_BUILD_TYPE=Debug",
                    "-DCMAKE_C_FLAGS_DEBUG=-O1 -g", "-DBOBBIN_SANITIZE=address,undefined,fuzzer-no-link"], check=True)
    subprocess.run(["cmake", "--build", BUILD, "--target", *[f"fuzz_{name}" for name in names]], check=True)


def fuzz(names, seconds):
    """Names of those that found something."""
    build(names)
    failed = []
    for name in names:
        grown, found = os.path.join(BUILD, "grown", name), os.path.join(BUILD, "found", "")
        os.makedirs(grown, exist_ok=True)
        os.makedirs(found, exist_ok=True)
        done = subprocess.run([os.path.join(BUILD, "bin", f"fuzz_{name}"), f"-max_total_time={seconds}", "-timeout=10", "-print_final_stats=1",
                               f"-artifact_prefix={found}{name}-", grown, os.path.join(CORPUS, name)], check=False)
        if done.returncode:
            failed.append(name)
    return failed


def packets(number):
    """tests/interop/dns/test_garbage.py on the sanitized build; says whether it failed."""
    subprocess.run(["cmake", "--preset", "asan"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", "--preset", "asan", "--target", "dnsd", "registryd"], cwd=ROOT, check=True)
    env = {**os.environ, **SANITIZERS, "BOBBIN_BIN": os.path.join(ROOT, "build", "asan", "bin"), "BOBBIN_FUZZ_PACKETS": str(number)}
    done = subprocess.run(["/usr/bin/python3", "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "tests/interop/dns/test_garbage.py"],
                          cwd=ROOT, env=env, check=False)
    return done.returncode != 0


def engine(seconds):
    """tests/sim with seeds that no run had; says whether one failed."""
    subprocess.run(["cmake", "--preset", "asan"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", "--preset", "asan", "--target", "engine_checker"], cwd=ROOT, check=True)
    seed = int(time.time()) * 1000000
    done = subprocess.run([os.path.join(ROOT, "build", "asan", "bin", "engine_checker"), "--seconds", str(seconds), "--seed", str(seed)],
                          env={**os.environ, **SANITIZERS}, check=False)
    return done.returncode != 0


def main():
    name = sys.argv[1] if len(sys.argv) > 1 else "all"
    number = int(sys.argv[2]) if len(sys.argv) > 2 else PACKETS if name == "packets" else SECONDS
    every = sorted(os.listdir(CORPUS))
    alone = {"packets": packets, "engine": engine}
    if name not in (*every, "all", *alone):
        print(f"no fuzzer {name}: all, {', '.join([*alone, *every])}", file=sys.stderr)
        return 2
    if name in alone:
        failed = [name] if alone[name](number) else []
    else:
        failed = fuzz(every if name == "all" else [name], number)
    print("found something: " + ", ".join(failed) if failed else "nothing found")
    return 1 if failed else 0


sys.exit(main())
