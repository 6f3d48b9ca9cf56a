"""Run every fuzzer for SECONDS (600) on copies of the corpora, with address and undefined sanitizers: run.py [SECONDS [NAME…]].

What is found is in build/fuzz/found; it becomes a test when it goes to tests/fuzz/corpus.
"""
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BOBBIN_FUZZ_BUILD") or os.path.join(ROOT, "build", "fuzz")
CORPUS = os.path.join(ROOT, "tests", "fuzz", "corpus")


def main():
    seconds = sys.argv[1] if len(sys.argv) > 1 else "600"
    names = sys.argv[2:] or sorted(os.listdir(CORPUS))
    subprocess.run(["cmake", "-S", ROOT, "-B", BUILD, "-G", "Ninja", "-DCMAKE_C_COMPILER=clang", "-DCMAKE_BUILD_TYPE=Debug",
                    "-DCMAKE_C_FLAGS_DEBUG=-O1 -g", "-DBOBBIN_SANITIZE=address,undefined,fuzzer-no-link"], check=True)
    subprocess.run(["cmake", "--build", BUILD, "--target", *[f"fuzz_{name}" for name in names]], check=True)
    failed = []
    for name in names:
        grown, found = os.path.join(BUILD, "grown", name), os.path.join(BUILD, "found", "")
        os.makedirs(grown, exist_ok=True)
        os.makedirs(found, exist_ok=True)
        done = subprocess.run([os.path.join(BUILD, "bin", f"fuzz_{name}"), f"-max_total_time={seconds}", "-timeout=10", "-print_final_stats=1",
                               f"-artifact_prefix={found}{name}-", grown, os.path.join(CORPUS, name)], check=False)
        if done.returncode:
            failed.append(name)
    print("found something: " + ", ".join(failed) if failed else "nothing found")
    return 1 if failed else 0


sys.exit(main())
