"""A machine to install packages on: systemd, booted from this machine's files, on which everything may be changed.

    with Machine(hide=ROOT) as machine:
        machine.run("dpkg", "-i", …)

An overlay over / takes what is written and is gone at the end. systemd-nspawn starts systemd there, with process ids and a network of
its own (loopback only), and none of this machine's services: only what a test starts.
"""
import os
import subprocess
import tempfile

from harness import end_process, wait_for

# Hierarchies of cgroups that systemd uses: v1 alone, with v2 beside it, or v2 alone.
CGROUPS = ("/sys/fs/cgroup/systemd", "/sys/fs/cgroup/unified", "/sys/fs/cgroup")
# Runs in a mount namespace and cgroups of its own, so that nothing is left and two machines do not meet.
BOOT = """
set -e
for root in """ + " ".join(CGROUPS) + """; do
    [ ! -e "$root/cgroup.procs" ] || { mkdir "$root/$3" && echo $$ >"$root/$3/cgroup.procs"; }
done
mount -t tmpfs tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
: >"$1/root/etc/machine-id"
units=$1/root/etc/systemd/system
printf '[Unit]\\nRequires=sysinit.target\\nAfter=sysinit.target\\n' >"$units/machine.target"
for unit in systemd-networkd-wait-online networking ifupdown-wait-online NetworkManager-wait-online; do
    ln -sf /dev/null "$units/$unit.service"
done
# Packages start their services as on any machine; manual pages need no index.
rm -f "$1/root/usr/sbin/policy-rc.d" "$1/root/var/lib/man-db/auto-update"
exec systemd-nspawn --quiet --directory="$1/root" --tmpfs="$2" --register=no --keep-unit --private-network --link-journal=no \\
    --console=pipe --boot systemd.unit=machine.target
"""
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8",
               "DEBIAN_FRONTEND": "noninteractive"}


class Machine:
    def __init__(self, hide):
        """hide: a directory that is not to be seen there."""
        self.hide = hide

    def __enter__(self):
        self.dir = tempfile.mkdtemp(prefix="bobbin-test-")
        self.log = open(os.path.join(self.dir + ".log"), "w+", encoding="utf-8")  # pylint: disable=consider-using-with
        self.process = subprocess.Popen(["unshare", "--mount", "--propagation=private", "bash", "-c", BOOT, "bash", self.dir, self.hide,
                                         os.path.basename(self.dir)],
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        try:
            self.leader = wait_for(self.find_leader, "systemd-nspawn starts systemd")
            wait_for(lambda: self.try_run("systemctl", "is-active", "machine.target").returncode == 0, "systemd is up")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        end_process(self.process)
        self.log.close()
        os.remove(self.dir + ".log")
        os.rmdir(self.dir)
        for root in CGROUPS:
            for group, _, _ in os.walk(os.path.join(root, os.path.basename(self.dir)), topdown=False):
                os.rmdir(group)

    def find_leader(self):
        """The machine's first process, the only child of systemd-nspawn that is called so."""
        self.log.seek(0)
        assert self.process.poll() is None, self.log.read()
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as f:
            children = f.read().split()
        for pid in children:
            with open(f"/proc/{pid}/comm", encoding="utf-8") as f:
                if f.read() == "systemd\n":
                    return pid
        return None

    def try_run(self, *words, **more):
        command = ["nsenter", "--target", self.leader, "--mount", "--uts", "--ipc", "--net", "--pid", "--root", "--wd", "--",
                   *words]
        return subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, **more)

    def run(self, *words, **more):
        """Output of a command there, which must succeed; else the journal is in the failure."""
        done = self.try_run(*words, **more)
        if done.returncode:
            journal = self.try_run("journalctl", "--no-pager", "-n", "60", "-o", "cat").stdout
            raise AssertionError(f"{words}: {done.returncode}\n{done.stdout}{done.stderr}\n-- journal --\n{journal}")
        return done.stdout

    def path(self, path):
        """The same file seen from here."""
        return f"/proc/{self.leader}/root{path}"
