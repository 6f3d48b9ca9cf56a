"""Libraries of npm, for tests beside Node.js programs."""
import filecmp
import fcntl
import os
import shutil
import subprocess


def modules(lock, cache):
    """The directory of the modules that a package-lock.json names, kept below `cache`, installed again when the file is another one.
    npm finds the registry itself: the file has digests, and no host. One npm at a time: all share a directory of archives."""
    os.makedirs(cache, exist_ok=True)
    with open(os.path.join(os.path.dirname(cache), "npm.lock"), "w", encoding="ascii") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        return _installed(lock, cache)


def _installed(lock, cache):
    there, done = os.path.join(cache, "node_modules"), os.path.join(cache, "installed.json")
    if os.path.exists(done) and filecmp.cmp(lock, done, shallow=False):
        return there
    for name in ("package.json", "package-lock.json"):
        shutil.copy(os.path.join(os.path.dirname(lock), name), cache)
    ran = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel", "error",
                          "--cache", os.path.join(os.path.dirname(cache), "npm")], cwd=cache, capture_output=True, text=True, check=False,
                         timeout=600)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    shutil.copy(lock, done)
    return there
