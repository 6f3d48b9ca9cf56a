"""ZooKeeper's own C client, one session of it: zk-oracle (oracle.c) under the control of a test."""
import collections
import os
import queue
import subprocess
import threading

from harness import BIN, PATIENCE

PROGRAM = os.path.join(BIN, "zk-oracle")
STAT = ("czxid mzxid ctime mtime version cversion aversion ephemeral_owner data_length num_children pzxid")
Stat = collections.namedtuple("Stat", STAT)


class Refused(Exception):
    """The name of the library's error is its text: ZNONODE, ZNOAUTH …"""


def world_read():
    return 1, "world", "anyone"


def acl_text(entries):
    return ",".join(f"{perms}:{scheme}:{name}" for perms, scheme, name in entries)


class Oracle:
    """A session, authenticated with id:password pairs. Data are bytes, an ACL is a list of (permissions, scheme, id)."""

    def __init__(self, address, *pairs):
        assert os.path.exists(PROGRAM), (f"{PROGRAM} is not built: install Debian's libzookeeper-mt-dev, then configure and "
                                         "build again")
        self.process = subprocess.Popen([PROGRAM, address], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.answers, self.fired = queue.Queue(), queue.Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        self.session = int(self._answer().split()[1], 16)
        for pair in pairs:
            self.ask(f"auth {pair}")

    def _read(self):
        for line in self.process.stdout:
            words = line.split()
            if words[0] == "event":
                self.fired.put(tuple(words[1:]))
            else:
                self.answers.put(line.rstrip("\n"))
        self.answers.put(None)

    def _answer(self):
        line = self.answers.get(timeout=PATIENCE)
        assert line is not None, f"zk-oracle ended with {self.process.wait()}"
        return line

    def ask(self, command):
        """The words behind "ok"; or Refused."""
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        code, *words = self._answer().split(" ")
        if code != "ok":
            raise Refused(code)
        return words

    def _stat(self, command):
        return Stat(*map(int, self.ask(command)[0].split(",")))

    def create(self, path, data, *acl):
        return self._stat(f"create {path} {data.hex() or '-'} {acl_text(acl)}")

    def set(self, path, data, version=-1):
        return self._stat(f"set {path} {data.hex() or '-'} {version}")

    def delete(self, path, version=-1):
        self.ask(f"delete {path} {version}")

    def get(self, path, watch=False):
        """Data and stat."""
        stat, data = self.ask(f"get {path}{' watch' if watch else ''}")
        return b"" if data == "-" else bytes.fromhex(data), Stat(*map(int, stat.split(",")))

    def exists(self, path, watch=False):
        """Stat; None when there is no such node."""
        try:
            return self._stat(f"exists {path}{' watch' if watch else ''}")
        except Refused as refused:
            assert str(refused) == "ZNONODE", refused
            return None

    def children(self, path, watch=False):
        """Names, sorted, and stat."""
        stat, *names = self.ask(f"children {path}{' watch' if watch else ''}")
        return sorted(names), Stat(*map(int, stat.split(",")))

    def acl(self, path):
        _, text = self.ask(f"acl {path}")
        return [(int(perms), scheme, name) for perms, scheme, name in (entry.split(":", 2) for entry in text.split(","))]

    def multi(self, *ops):
        """One transaction of (verb, path, …); the code of each."""
        self.process.stdin.write("multi " + " ; ".join(self._op(*op) for op in ops) + "\n")
        self.process.stdin.flush()
        return self._answer().split(" ")[1:]

    @staticmethod
    def _op(verb, path, *rest):
        if verb == "create":
            return f"create {path} {rest[0].hex() or '-'} {acl_text(rest[1:])}"
        if verb == "set":
            return f"set {path} {rest[0].hex() or '-'} {rest[1]}"
        return f"{verb} {path} {rest[0]}"

    def sync(self):
        """What is read next is as new as the ensemble's leader was."""
        self.ask("sync")

    def events(self, n):
        """The next n watches that have fired: (what, path, the call that has set it)."""
        return [self.fired.get(timeout=PATIENCE) for _ in range(n)]

    def no_more_events(self):
        """No watch has fired but those that were taken: the library reports what came before a reply before it returns that."""
        self.sync()
        return self.fired.empty()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is not None:
            self.process.kill()
        self.process.stdin.close()
        code = self.process.wait(PATIENCE)
        self.reader.join(PATIENCE)
        self.process.stdout.close()
        assert kind is not None or code == 0, f"zk-oracle ended with {code}"
