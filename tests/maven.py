"""Jars from Maven Central, for tests beside Java programs."""
import fcntl
import os
import subprocess


def classpath(pom, cache):
    """The class path of a pom's dependencies: what Maven says, kept below `cache`, asked again when a jar is missing. One Maven at a
    time: all share a directory of jars."""
    os.makedirs(cache, exist_ok=True)
    with open(os.path.join(os.path.dirname(cache), "maven.lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _asked(pom, cache)


def _asked(pom, cache):
    listed = os.path.join(cache, "classpath")
    if os.path.exists(listed):
        with open(listed, encoding="utf-8") as f:
            text = f.read()
        if all(os.path.exists(jar) for jar in text.split(":")):
            return text
    done = subprocess.run(["mvn", "-B", "-q", "-f", pom, "dependency:build-classpath", f"-Dmdep.outputFile={listed}"],
                          capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    with open(listed, encoding="utf-8") as f:
        return f.read()
