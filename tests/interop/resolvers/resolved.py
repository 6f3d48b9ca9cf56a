"""systemd-resolved, without installing it: Debian's package would take over the machine's /etc/resolv.conf.

The program is unpacked below build/ and runs in a mount and a network namespace of its own, where it has port 53, /run and its
user for itself. It does without D-Bus there: only `resolvectl` would need that.
"""
import glob
import os
import shutil
import subprocess

from harness import ROOT, end_process, wait_for

CACHE = os.path.join(ROOT, "build", "systemd-resolved")
PROGRAM = os.path.join(CACHE, "lib", "systemd", "systemd-resolved")
ADDRESS = "127.0.0.53"
LINKS = ("link add lan0 type veth peer name lan1", "address add 10.255.0.1/24 dev lan0", "link set lan0 up", "link set lan1 up",
         "link set lo up")


def fetch():
    """Have the program; it is Debian's, from the package of that name."""
    if os.path.exists(PROGRAM):
        return
    work = CACHE + ".new"
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    download = ["apt-get", "-q", "download", "-o", "APT::Sandbox::User=root", "systemd-resolved"]
    if subprocess.run(download, cwd=work, capture_output=True, check=False).returncode:
        subprocess.run(["apt-get", "-q", "update"], capture_output=True, check=True)
        subprocess.run(download, cwd=work, capture_output=True, check=True)
    subprocess.run(["dpkg", "-x", *glob.glob(os.path.join(work, "*.deb")), work], check=True)
    shutil.rmtree(CACHE, ignore_errors=True)
    os.rename(work, CACHE)


def in_namespaces(command, **more):
    """Run a command where furnish() may be called."""
    return subprocess.run(["unshare", "--mount", "--net", *command], capture_output=True, text=True, check=False, **more)


def furnish():
    """A network (without one it asks nobody) that leads nowhere; an empty /run; the user that systemd-resolved becomes."""
    for words in LINKS:
        subprocess.run(["ip", *words.split()], check=True)
    subprocess.run(["mount", "-t", "tmpfs", "run", "/run"], check=True)
    os.makedirs("/run/systemd")
    for name, line in (("passwd", "systemd-resolve:x:990:990::/:/usr/sbin/nologin\n"), ("group", "systemd-resolve:x:990:\n")):
        with open(f"/etc/{name}", encoding="utf-8") as f:
            text = f.read()
        with open(f"/run/{name}", "w", encoding="utf-8") as f:
            f.write(text if "\nsystemd-resolve:" in text else text + line)
        subprocess.run(["mount", "--bind", f"/run/{name}", f"/etc/{name}"], check=True)


class Resolved:
    """The program with a configuration; after furnish()."""

    def __init__(self, block):
        os.makedirs("/run/systemd/resolved.conf.d", exist_ok=True)
        with open("/run/systemd/resolved.conf.d/cluster.conf", "w", encoding="utf-8") as f:
            f.write(block)

    def __enter__(self):
        self.log = open("/run/resolved.log", "w+", encoding="utf-8")  # pylint: disable=consider-using-with
        self.process = subprocess.Popen([PROGRAM], stdout=self.log, stderr=self.log)
        try:
            wait_for(lambda: "127.0.0.1" in self.ask("localhost", "A"), "systemd-resolved answers")
        except AssertionError as error:
            self.__exit__()
            raise AssertionError(f"{error}\n{self.text}") from None
        return self

    def __exit__(self, *_):
        end_process(self.process)
        self.log.seek(0)
        self.text = self.log.read()
        self.log.close()

    def ask_full(self, *words):
        done = subprocess.run(["dig", f"@{ADDRESS}", "+tries=1", "+timeout=10", *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def ask(self, *words):
        return self.ask_full("+short", *words).split("\n")[:-1]
