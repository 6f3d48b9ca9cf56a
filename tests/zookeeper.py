"""Real ZooKeeper servers from Debian's packages, for tests and for `./dev run --store zookeeper`.

    python3 tests/zookeeper.py [--data DIR] -- CMD…
                                            run CMD with BOBBIN_TEST_ZK=host:port, exit as it does; keep the data in DIR

    with Server() as zk: …zk.address…       one server
    with Ensemble(3) as zk: …               three; zk.leader(), zk.followers(), zk.servers[i].kill(), .start()

Every server has its own temporary directory and loopback ports, is stopped by its pid, and dies with the thread that started
it. It keeps its data across kill() and start(). Transactions are not fsynced (a killed process loses nothing by that).
"""
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

from java import JVM, Program, Started, java, wait_for
from ports import free_ports

JARS = "/usr/share/java"
MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
PROPERTIES = {
    "zookeeper.admin.enableServer": "false",
    "zookeeper.4lw.commands.whitelist": "*",
    "zookeeper.forceSync": "no",
    "zookeeper.fastleader.maxNotificationInterval": "1000",
    "zookeeper.preAllocSize": "64",
    "zookeeper.extendedTypesEnabled": "true",
    "zookeeper.jmx.log4j.disable": "true",
    "org.slf4j.simpleLogger.defaultLogLevel": "warn",
    "java.net.preferIPv4Stack": "true",
}


def classpath():
    jars = [os.path.join(JARS, name) for name in ("zookeeper.jar", "slf4j-simple.jar")]
    for jar in jars:
        if not os.path.exists(jar):
            raise RuntimeError(f"{jar} is missing: apt-get install zookeeper libslf4j-java")
    return ":".join(jars)


def four_letters(port, word, timeout_s=2):
    """Answer of a server to a four letter word, or '' when there is none."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout_s) as s:
            s.settimeout(timeout_s)
            s.sendall(word.encode())
            parts = []
            while part := s.recv(65536):
                parts.append(part)
            return b"".join(parts).decode()
    except OSError:
        return ""


class Server(Started, Program):
    """One ZooKeeper server. config: further lines of zoo.cfg; properties: of the JVM."""

    def __init__(self, port=None, config="", my_id=None, tick_ms=500, data=None, properties=None):
        self.port = port or free_ports(1)[0]
        self.my_id = my_id
        self.config = config
        self.properties = {**PROPERTIES, **(properties or {})}
        self.tick_ms = tick_ms
        self.owns_dir = data is None
        self.dir = data or tempfile.mkdtemp(prefix="zookeeper-")
        os.makedirs(self.dir, exist_ok=True)
        super().__init__("ZooKeeper", os.path.join(self.dir, "log"))

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def _write_config(self):
        if self.my_id is not None:
            with open(os.path.join(self.dir, "myid"), "w", encoding="ascii") as f:
                f.write(f"{self.my_id}\n")
        path = os.path.join(self.dir, "zoo.cfg")
        with open(path, "w", encoding="ascii") as f:
            f.write(f"dataDir={self.dir}\ntickTime={self.tick_ms}\nclientPort={self.port}\n"
                    f"clientPortAddress=127.0.0.1\nminSessionTimeout=200\nmaxSessionTimeout=60000\n"
                    f"maxClientCnxns=0\n{self.config}")
        return path

    def spawn(self, **how):
        """Start the process; do not wait for it."""
        command = [java(), *JVM, *(f"-D{k}={v}" for k, v in self.properties.items()), "-cp", classpath(), MAIN,
                   self._write_config()]
        self.run(command, self.dir, **how)

    def mode(self):
        """'standalone', 'leader', 'follower', or None while it does not serve."""
        for line in four_letters(self.port, "srvr").splitlines():
            if line.startswith("Mode: "):
                return line[len("Mode: "):]
        return None

    def zxid(self):
        """The last transaction that this server has applied."""
        for line in four_letters(self.port, "srvr").splitlines():
            if line.startswith("Zxid: "):
                return int(line[len("Zxid: "):], 16)
        return None

    def wait(self):
        """Wait until it serves."""
        return self.wait_until(f"ZooKeeper at {self.address}", self.mode)

    def start(self):
        self.spawn()
        self.wait()
        return self

    def close(self):
        self._end(signal.SIGKILL if self.owns_dir else signal.SIGTERM)
        if self.owns_dir:
            shutil.rmtree(self.dir, ignore_errors=True)


class Ensemble(Started):
    """n servers with the ids 1…n.

    The server with id 1 never leads a fresh ensemble (of equal candidates the highest id wins). quorum_via maps the port
    on which a server listens for its followers to the port that server 1 uses instead: what stands between, a
    tests/zkproxy.py say, decides how late server 1 learns of anything. limit_ticks: how long a server may be that late, or
    an election that went wrong may stand, before another one.
    """

    def __init__(self, n=3, quorum_via=None, limit_ticks=60):
        ports = free_ports(3 * n)
        quorum, election, client = ports[:n], ports[n:2 * n], ports[2 * n:]
        via = quorum_via or (lambda port: port)
        self.servers = []
        for i in range(n):
            lines = [f"initLimit={limit_ticks}", f"syncLimit={limit_ticks}"]
            for k in range(n):
                port = via(quorum[k]) if i == 0 and k != 0 else quorum[k]
                lines.append(f"server.{k + 1}=127.0.0.1:{port}:{election[k]}")
            self.servers.append(Server(client[i], "\n".join(lines) + "\n", i + 1))

    @property
    def address(self):
        return ",".join(s.address for s in self.servers)

    def leader(self):
        return wait_for("a leader", lambda: next((s for s in self.servers if s.mode() == "leader"), None))

    def followers(self):
        return [s for s in self.servers if s.mode() == "follower"]

    def start(self):
        for server in self.servers:
            server.spawn()
        for server in self.servers:
            server.wait()
        return self

    def close(self):
        for server in self.servers:
            server.close()


def main(argv):
    data = None
    if len(argv) > 2 and argv[0] == "--data":
        data, argv = os.path.abspath(argv[1]), argv[2:]
    if len(argv) < 2 or argv[0] != "--":
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    with Server(data=data) as server:
        command = subprocess.Popen(argv[1:], env={**os.environ, "BOBBIN_TEST_ZK": server.address})
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda number, _: command.send_signal(number))
        code = command.wait()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
