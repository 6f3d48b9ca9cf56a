"""Images for podman, in a storage of their own: busybox, its applets and one script; no network, no Dockerfile."""
import io
import os
import shutil
import subprocess
import tarfile

PODMAN = shutil.which("podman")
APPLETS = ("sh", "cat", "env", "echo", "hostname", "httpd", "id", "ls", "mkdir", "nproc", "ps", "sleep", "stty", "touch", "tty", "kill", "true")
# runc and cgroupfs work where crun and systemd do not: on hybrid cgroups, in a container
START = "#!/bin/sh\nmkdir -p $WORK_DIR/www && echo \"hello from $(hostname)\" > $WORK_DIR/www/index.html\nexec httpd -f -p $CONTAINER_IP:8080 -h $WORK_DIR/www\n"


class Images:
    """A storage below `directory`. arguments: of each call of podman, for yarn.service.local.container-runtime.arguments."""

    def __init__(self, directory):
        self.dir = os.path.join(directory, "images")
        self.arguments = ["--root", f"{self.dir}/root", "--runroot", f"{self.dir}/run", "--tmpdir", f"{self.dir}/tmp",
                          "--storage-driver", "vfs", "--runtime", "runc", "--cgroup-manager", "cgroupfs"]

    def podman(self, *words, **more):
        return subprocess.run([PODMAN, *self.arguments, *words], capture_output=True, check=True, timeout=120, **more).stdout

    def names(self):
        """Of all containers that podman keeps there."""
        return sorted(self.podman("ps", "-a", "--format", "{{.Names}}", text=True).split())

    def build(self, name="localhost/nginx:latest", changes=("WORKDIR /srv", 'CMD ["sleep", "1000"]')):
        """An image of busybox, the one of this host; what a dynamic one is linked with comes along."""
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as tar:
            for directory in ("bin", "tmp", "srv"):
                member = tarfile.TarInfo(directory)
                member.type, member.mode = tarfile.DIRTYPE, 0o1777 if directory == "tmp" else 0o755
                tar.addfile(member)
            tar.add(os.path.realpath(shutil.which("busybox")), "bin/busybox")
            for library in libraries(shutil.which("busybox")):
                tar.add(os.path.realpath(library), library)
            for applet in APPLETS:
                member = tarfile.TarInfo(f"bin/{applet}")
                member.type, member.linkname = tarfile.SYMTYPE, "busybox"
                tar.addfile(member)
            member = tarfile.TarInfo("srv/start_nginx.sh")
            member.size, member.mode = len(START), 0o755
            tar.addfile(member, io.BytesIO(START.encode()))
        words = [word for change in changes for word in ("-c", change)]
        self.podman("import", *words, "-", name, input=packed.getvalue())

    def clear(self):
        """End what is left, give the storage back. Returns the names of the containers that were there."""
        if not os.path.isdir(self.dir):
            return []
        left = self.names()
        subprocess.run([PODMAN, *self.arguments, "rm", "-f", "-a", "-t", "0"], capture_output=True, check=False, timeout=120)
        return left


def libraries(program):
    """Absolute names of the libraries of a program; none of a static one."""
    answer = subprocess.run(["ldd", program], capture_output=True, text=True, check=False, timeout=30)
    words = answer.stdout.split() if answer.returncode == 0 else []
    return [word for word in words if word.startswith("/") and os.path.exists(word)]
