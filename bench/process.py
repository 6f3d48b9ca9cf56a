"""What processes use: CPU time and memory of a process and its children, from /proc."""
import os

DAEMON_ENV = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}  # how registryd and dnsd are to run: docs/performance.md, Large pages


def tree(pid):
    """pid and all that descend from it."""
    pids = [pid]
    for one in pids:
        try:
            for thread in os.listdir(f"/proc/{one}/task"):
                with open(f"/proc/{one}/task/{thread}/children", encoding="ascii") as f:
                    pids += [int(child) for child in f.read().split()]
        except OSError:
            pass
    return pids


def cpu_s(pid):
    """Seconds on a CPU of every thread of the tree (the scheduler's own count, in nanoseconds, not the sampled ticks)."""
    total_ns = 0
    for one in tree(pid):
        for thread in os.listdir(f"/proc/{one}/task"):
            with open(f"/proc/{one}/task/{thread}/schedstat", encoding="ascii") as f:
                total_ns += int(f.read().split()[0])
    return total_ns / 1e9


def memory_mib(pid):
    """(resident, proportional) MiB of the tree; what processes share counts once in the second."""
    rss = pss = 0
    for one in tree(pid):
        with open(f"/proc/{one}/smaps_rollup", encoding="ascii") as f:
            for line in f:
                words = line.split()
                if words[0] == "Rss:":
                    rss += int(words[1])
                elif words[0] == "Pss:":
                    pss += int(words[1])
    return rss / 1024, pss / 1024


def own_mib(pid):
    """MiB that are the process's alone: without what it has mapped of files, which the kernel takes back when it needs room."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("Anonymous:")) / 1024


def pin(pid, cpus):
    """Let every thread of the tree run on these CPUs only."""
    for one in tree(pid):
        for thread in os.listdir(f"/proc/{one}/task"):
            os.sched_setaffinity(int(thread), cpus)


def machine():
    """What the figures were measured on."""
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as f:
        models = {line.split(":", 1)[1].strip() for line in f if line.startswith("model name")}
    with open("/proc/meminfo", encoding="ascii") as f:
        memory_kib = int(f.readline().split()[1])
    return {"cpus": os.cpu_count(), "model": ", ".join(sorted(models)) or "unknown", "kernel": os.uname().release,
            "memory_gib": round(memory_kib / 1048576, 1), "load_average": os.getloadavg()[0]}
