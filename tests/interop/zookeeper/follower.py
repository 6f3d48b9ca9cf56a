"""Drives the program zk-follow: a store and its mirror in a process of their own."""
import os
import queue
import subprocess
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
PROGRAM = os.path.join(os.environ.get("BOBBIN_BIN", os.path.join(ROOT, "build", "release", "bin")), "zk-follow")


class Follower:
    def __init__(self, servers, root="/registry", follow_servers=None):
        self.process = subprocess.Popen([PROGRAM, f"zk://{servers}{root}", *([follow_servers] if follow_servers else [])],
                                        text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.lines = queue.Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def line(self, timeout_s=60):
        line = self.lines.get(timeout=timeout_s)
        if line is None:
            raise RuntimeError(f"zk-follow ended with {self.process.wait()}")
        return line

    def send(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def ask(self, command):
        self.send(command)
        return self.line()

    def write(self, command):
        """A create, set, delete or fill that must succeed; its zxid."""
        answer = self.ask(command)
        assert answer.startswith("ok "), f"{command}: {answer}"
        return int(answer.split()[1])

    def make_sure(self, verb, path, data=""):
        """Create, set or delete although a lost connection may leave the outcome of a first try unknown; its zxid, or None
        when a retry found a delete done."""
        answer = self.ask(f"{verb} {path} {data}".strip())
        if verb == "create" and answer.startswith("ERR_EXISTS"):
            return self.write(f"set {path} {data}")
        if verb == "delete" and answer.startswith("ERR_NOTFOUND"):
            return None
        assert answer.startswith("ok "), f"{verb} {path}: {answer}"
        return int(answer.split()[1])

    def sync(self, timeout_ms=30000):
        assert self.ask(f"sync {timeout_ms}") == "ok", f"the mirror is not complete after {timeout_ms} ms"

    def wait(self, zxid, timeout_ms=30000):
        assert self.ask(f"wait {zxid} {timeout_ms}") == "ok", f"{zxid} is not applied after {timeout_ms} ms"

    def tree(self):
        """{path: (data, mzxid, pzxid)} of the mirror."""
        self.send("tree")
        nodes = {}
        while not (line := self.line()).startswith("end "):
            path, rest = line.split("=", 1)
            data, mzxid, pzxid = rest.rsplit(";", 2)
            nodes[path] = (data, int(mzxid), int(pzxid))
        self.applied, self.store_id = int(line.split()[1]), (line.split() + [""])[2]
        return nodes

    def state(self):
        ready, fresh, applied, nodes, *store_id = self.ask("state").split()
        return {"ready": ready == "ready", "fresh": fresh == "fresh", "applied": int(applied), "nodes": int(nodes),
                "store_id": "".join(store_id)}

    def close(self):
        """End it as it should end: by itself, with everything released."""
        if self.process.poll() is None:
            self.send("quit")
        self.process.stdin.close()
        code = self.process.wait(60)
        self.reader.join(10)
        self.process.stdout.close()
        assert code == 0, f"zk-follow ended with {code}"

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.close()
        else:
            self.process.kill()
            self.process.wait()
