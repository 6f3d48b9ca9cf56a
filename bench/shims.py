"""What container-shims cost the host: CPU while their containers run, and CPU to stop them all at once.

    /usr/bin/python3 bench/shims.py [--shims 100] [--others 500] [--seconds 10]

Each container is a shell that is deaf to SIGTERM and has a child, so that a stop goes all the way: SIGTERM, grace, SIGKILL,
leftovers. `others` are processes of nobody's concern: what is looked for in all of /proc costs more the more there are.
The figures are of the shims alone: /proc/PID/schedstat while they run, the rusage of the reaped shims without their
children's for the stop.
"""
import argparse
import os
import shutil
import socket
import subprocess
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BIN = os.environ.get("BOBBIN_BIN") or os.path.join(ROOT, "build/release/bin")
DEAF = "trap '' TERM; sleep 1000 & echo > up; while :; do wait; done"


def start(base, i):
    directory = os.path.join(base, str(i))
    os.makedirs(f"{directory}/work")
    os.makedirs(f"{directory}/logs")
    records = {"command": DEAF, "work_dir": f"{directory}/work", "log_dir": f"{directory}/logs", "grace_ms": "100"}
    with open(f"{directory}/launch", "wb") as f:
        f.write(b"".join(f"{k}={v}\0".encode() for k, v in records.items()) + b"env=PATH=/usr/bin:/bin\0")
    return directory, subprocess.Popen([os.path.join(BIN, "container-shim")], cwd=directory, stderr=subprocess.DEVNULL,
                                       start_new_session=True)


def cpu_s(pid):
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as f:
        return int(f.read().split()[0]) / 1e9


def stop(directory):
    control = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    control.connect(f"{directory}/control.sock")
    control.sendall(b"stop 100\n")
    return control


def reap(process):
    """Wait for a shim's end and read its own CPU time before it is reaped: a zombie keeps its schedstat."""
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    used = cpu_s(process.pid)
    process.wait()
    return used


def measure(base, args):
    shims = [start(base, i) for i in range(args.shims)]
    others = [subprocess.Popen(["sleep", "1000"]) for _ in range(args.others)]
    try:
        while not all(os.path.exists(f"{d}/work/up") for d, _ in shims):
            time.sleep(0.05)
        before = [cpu_s(p.pid) for _, p in shims]
        time.sleep(args.seconds)
        idle = [cpu_s(p.pid) for _, p in shims]
        controls = [stop(d) for d, _ in shims]
        began = time.monotonic()
        ended = [reap(p) for _, p in shims]
        took = time.monotonic() - began
        for control in controls:
            control.close()
    finally:
        for process in others:
            process.kill()
            process.wait()
    n = len(shims)
    print(f"{n} shims, {args.others} other processes: idle {1000 * (sum(idle) - sum(before)) / args.seconds:.2f} ms of CPU a second; "
          f"stopping them {1000 * (sum(ended) - sum(idle)):.0f} ms of CPU, {1000 * took:.0f} ms of time")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shims", type=int, default=100)
    parser.add_argument("--others", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=10)
    base = tempfile.mkdtemp(prefix="bobbin-bench-shims-")
    try:
        measure(base, parser.parse_args())
    finally:
        shutil.rmtree(base)


if __name__ == "__main__":
    main()
