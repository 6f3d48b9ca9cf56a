"""Java programs that tests run: how they are started, waited for, heard and ended."""
import ctypes
import glob
import shutil
import signal
import subprocess
import time
import xml.etree.ElementTree as ET

LIBC = ctypes.CDLL(None, use_errno=True)
START_S = 180  # a slow CPU that many share
JVM = ["-Xmx256m", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData"]


def java():
    """A Java runtime: the one on PATH, else any that Debian or a vendor put in its usual place."""
    found = shutil.which("java") or next(iter(sorted(glob.glob("/usr/lib/jvm/*/bin/java"))), None)
    if not found:
        raise RuntimeError("no java: apt-get install default-jre-headless zookeeper")
    return found


def die_with_parent():
    """In the child: no server outlives its script, however that ends."""
    pr_set_pdeathsig = 1
    LIBC.prctl(pr_set_pdeathsig, signal.SIGKILL)


def wait_for(what, condition, timeout_s=START_S):
    """Value of condition() as soon as it is true."""
    end = time.monotonic() + timeout_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise TimeoutError(f"waited {timeout_s} s for: {what}")
        time.sleep(0.02)


def site(settings):
    """Text of a *-site.xml, Hadoop's form of a configuration."""
    top = ET.Element("configuration")
    for key, value in settings.items():
        one = ET.SubElement(top, "property")
        ET.SubElement(one, "name").text = key
        ET.SubElement(one, "value").text = str(value)
    return ET.tostring(top, encoding="unicode")


class Started:
    """What has start and close: `with` starts it, and closes it in any case."""

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self.close()
            raise

    def __exit__(self, *_):
        self.close()


class Program:
    """One process; what it prints is in a file, which further starts append to."""

    def __init__(self, name, log):
        self.name, self.log_file = name, log
        self.process = None

    @property
    def pid(self):
        return self.process.pid

    def run(self, command, directory, **how):
        """Start it in this directory; do not wait for it."""
        with open(self.log_file, "ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=directory,
                                            **{"preexec_fn": die_with_parent, **how})

    def log(self):
        """The last it has printed."""
        with open(self.log_file, encoding="utf-8", errors="replace") as f:
            return f.read()[-6000:]

    def check(self):
        """It runs."""
        if self.process.poll() is not None:
            raise RuntimeError(f"{self.name} ended with {self.process.returncode}:\n{self.log()}")

    def wait_until(self, what, condition, timeout_s=START_S):
        """Value of condition() as soon as it is true; its log in the error when it ends, or takes too long."""
        def checked():
            self.check()
            return condition()
        try:
            return wait_for(what, checked, timeout_s)
        except TimeoutError as e:
            raise TimeoutError(f"{e}\n{self.log()}") from e

    def pause(self):
        """It stands still until go_on."""
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def kill(self):
        """kill -9."""
        self._end(signal.SIGKILL)

    def stop(self):
        self._end(signal.SIGTERM)

    def _end(self, number, patience_s=10):
        if self.process and self.process.poll() is None:
            self.process.send_signal(number)
            try:
                self.process.wait(patience_s)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
