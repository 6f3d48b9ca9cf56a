"""Hadoop's registry client and DNS server in a Java program of ours (Peer.java, Dns.java), and how they get here: from Maven
Central, once."""
import base64
import os
import subprocess
import tempfile

import maven
from harness import ROOT
from java import JVM, java

HERE = os.path.dirname(os.path.abspath(__file__))
CACHE = os.path.join(ROOT, "build", "hadoop-registry-3.4.1")


def classes():
    """Directory of the compiled Java files, compiled when a source is newer."""
    sources = [os.path.join(HERE, name) for name in ("Peer.java", "Dns.java")]
    target = os.path.join(CACHE, "Peer.class")
    path = maven.classpath(os.path.join(HERE, "pom.xml"), CACHE)
    if not os.path.exists(target) or os.path.getmtime(target) < max(map(os.path.getmtime, sources)):
        done = subprocess.run(["javac", "-proc:none", "-cp", path, "-d", CACHE, *sources], capture_output=True, text=True,
                              check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return f"{CACHE}:{path}"


class PeerError(Exception):
    """An exception of the Java side: its simple class name and text."""

    def __init__(self, name, text):
        super().__init__(f"{name}: {text}")
        self.name = name


class Peer:
    """One client of Hadoop's registry on a ZooKeeper."""

    def __init__(self, zk, kind="client", user="alice", jvm=(), classpath="", env=None, **settings):
        words = [f"{key}={value}" for key, value in settings.items()]
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen([java(), *JVM, *jvm, "-cp", classpath + classes(), "Peer", zk.address, kind, *words],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True,
                                        env={**os.environ, "HADOOP_USER_NAME": user, **(env or {})})
        assert self.process.stdout.readline() == "ready\n", self.log()

    def log(self):
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace")[-6000:]

    def __call__(self, *words):
        """One operation; its result as text."""
        line = " ".join(base64.b64encode(str(word).encode()).decode() for word in words)
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().rstrip("\n").split(" ")
        assert answer != [""], self.log()
        text = base64.b64decode(answer[-1]).decode()
        if answer[0] == "error":
            raise PeerError(answer[1], text)
        return text

    def cli(self, *words):
        """RegistryCli: what it printed, and its result."""
        out, _, code = ("\n" + self("cli", *words)).rpartition("\n")
        return out.lstrip("\n"), int(code)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.errors.close()
