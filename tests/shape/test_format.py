"""Sources are formatted as .clang-format says: `./dev format` does it."""
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def test_sources_are_formatted():
    files = subprocess.run(["git", "ls-files", "*.c", "*.h"], cwd=ROOT, text=True, capture_output=True, check=True).stdout.split()
    assert files
    done = subprocess.run(["clang-format", "--dry-run", "-Werror", *files], cwd=ROOT, text=True, capture_output=True,
                          check=False)
    wrong = sorted({line.split(":")[0] for line in done.stderr.splitlines() if "error:" in line})
    assert done.returncode == 0, "\n".join(wrong)
