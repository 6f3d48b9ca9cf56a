"""Processes that outlive the command that started them, as those of `./dev knox up`: known by pid and time of start, so that a
pid which the kernel has given to another is nobody's."""
import contextlib
import os
import signal

from java import wait_for


def start_time(pid):
    """When it began, in ticks since the machine did; 0 when it has ended."""
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return 0 if fields[0] in "ZX" else int(fields[19])
    return 0


def mark(pid):
    """What knows this process again."""
    return f"{pid} {start_time(pid)}"


def alive(marked):
    """Its pid; 0 when it has ended."""
    pid, _, start = marked.partition(" ")
    return int(pid) if pid.isdigit() and start != "0" and str(start_time(int(pid))) == start else 0


def end(marked, number=signal.SIGTERM, patience_s=30):
    """End it, in earnest after so long. Nothing when it has ended."""
    for way, seconds in ((number, patience_s), (signal.SIGKILL, 30)):
        pid = alive(marked)
        if not pid:
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, way)
        with contextlib.suppress(TimeoutError):
            wait_for(f"process {pid} has ended", lambda: not alive(marked), seconds)
