"""A real YARN cluster on this machine from Maven Central: ZooKeeper, a resource manager and node managers, with HDFS a name node
and a data node, too; for tests and for `./dev yarn`.

    with Cluster() as yarn: …yarn.rest("/metrics")…; yarn.rm.kill(); yarn.rm.start()

    python3 tests/interop/yarn/yarn.py up [--hdfs]|down|status        one in build/yarn that stays until `down`

Each is a process of its own that listens on loopback addresses only. All that it keeps is below one directory: log/, conf/ (a
HADOOP_CONF_DIR for clients), data/ and tmp/. Containers run as the user who starts it. The resource manager keeps its state in
ZooKeeper and the node managers keep theirs in data/, so each may be killed and started again.
"""
import contextlib
import fcntl
import http.client
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../.."))

import kept  # noqa: E402
import zookeeper  # noqa: E402
from harness import ROOT, request  # noqa: E402
from java import JVM, Program, Started, java, site, wait_for  # noqa: E402
from maven import classpath  # noqa: E402
from ports import free_port, is_free  # noqa: E402

POM, JARS = os.path.join(HERE, "pom.xml"), os.path.join(ROOT, "build", "hadoop-3.4.2")
SERVER = "org.apache.hadoop.yarn.server"
HDFS = "org.apache.hadoop.hdfs.server"
HERE_ONLY = "localhost"
FLAGS = ["-Djava.net.preferIPv4Stack=true", "--add-opens=java.base/java.lang=ALL-UNNAMED"]
RM_PORTS = {"address": 8032, "scheduler.address": 8030, "resource-tracker.address": 8031, "admin.address": 8033, "webapp.address": 8088}
NM_PORTS = {"address": 8041, "localizer.address": 8040, "webapp.address": 8042}
NN_PORTS = {"rpc-address": 8020, "http-address": 9870}
DN_PORTS = {"address": 9866, "http.address": 9864, "ipc.address": 9867}
# Quick, so that a test sees in seconds what takes minutes on a cluster.
SETTINGS = {
    "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": 100,
    "yarn.resourcemanager.work-preserving-recovery.scheduling-wait-ms": 2000,
    "yarn.nm.liveness-monitor.expiry-interval-ms": 10000,
    "yarn.resourcemanager.connect.retry-interval.ms": 500,
    "yarn.nodemanager.container-monitor.interval-ms": 500,
}
LOG4J = """log4j.rootLogger=INFO, console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{ISO8601} %p %c{1}: %m%n
"""
QUEUES = {
    "yarn.scheduler.capacity.root.queues": "default",
    "yarn.scheduler.capacity.root.default.capacity": 100,
    "yarn.scheduler.capacity.maximum-am-resource-percent": "1.0",
    "yarn.scheduler.capacity.root.default.maximum-applications": 1000,
    "yarn.scheduler.capacity.node-locality-delay": -1,
    "yarn.scheduler.capacity.resource-calculator": "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator",
}


def usual_port(usual):
    """The one that Hadoop has by default, so that people need not look it up; another one where that is taken."""
    return usual if is_free(usual) else free_port()


def any_port(_):
    return free_port()


class Member(Program):
    """A daemon of the cluster. addresses: what people ask it, by use; is_ready: it does its work."""

    def __init__(self, cluster, name, command, addresses, is_ready):
        super().__init__(name, os.path.join(cluster.dir, "log", f"{name}.log"))
        self.cluster, self.command, self.addresses, self.is_ready = cluster, command, addresses, is_ready

    def spawn(self):
        """Start the process; do not wait for it."""
        self.run(self.command, self.cluster.dir, **self.cluster.how)
        self.cluster.note()

    def wait(self):
        self.wait_until(f"{self.name} is ready", self.is_ready)

    def start(self):
        self.spawn()
        self.wait()


class ZooKeeper(zookeeper.Server):
    """The same for Debian's ZooKeeper."""

    def __init__(self, cluster):
        super().__init__(port=cluster.port(2181), data=os.path.join(cluster.dir, "data", "zookeeper"))
        self.cluster, self.name = cluster, "zookeeper"
        self.log_file = os.path.join(cluster.dir, "log", "zookeeper.log")
        self.addresses = {"client": self.address}

    def spawn(self):
        super().spawn(**self.cluster.how)
        self.cluster.note()


class Cluster(Started):
    """yarn, hdfs: with their daemons. n_nodes: node managers. hosts: theirs, as loopback addresses; by default all are on one. settings: of
    yarn-site.xml. port: which one for which usual one. how: of Popen. user: who starts it, to Hadoop."""

    def __init__(self, directory=None, yarn=True, n_nodes=2, hosts=(), hdfs=False, settings=None, port=any_port, how=None, user=None):
        self.owns_dir = directory is None
        self.dir = directory or tempfile.mkdtemp(prefix="yarn-")
        self.port, self.how, self.hdfs = port, {"env": self._environment(user), **(how or {})}, hdfs
        self.rm_at, self.nn_at, self.dn_at = ({key: port(usual) for key, usual in ports.items()} for ports in
                                              (RM_PORTS, NN_PORTS, DN_PORTS))
        # HDFS looks for its web pages on the class path; its jar on Maven Central has none.
        for name in ("conf", "log", "data", "tmp", "conf/webapps/hdfs", "conf/webapps/datanode"):
            os.makedirs(os.path.join(self.dir, name), exist_ok=True)
        self.zookeeper = ZooKeeper(self)
        self.rm = self._rm()
        self.nodes = [self._node(i, host) for i, host in enumerate(hosts or [HERE_ONLY] * n_nodes)]
        self.members = [*([self.zookeeper, self.rm, *self.nodes] if yarn else []),
                        *([self._data_node(), self._name_node()] if hdfs else [])]
        self._configure(settings or {})

    # ---- what it is made of ----

    def _environment(self, user):
        """Containers see HADOOP_CONF_DIR and JAVA_HOME of the node manager; nothing of another cluster reaches this one."""
        home = os.path.dirname(os.path.dirname(os.path.realpath(java())))
        others = {k: v for k, v in os.environ.items() if not k.startswith(("HADOOP_", "YARN_", "HDFS_", "CLASSPATH"))}
        return {**others, "HADOOP_CONF_DIR": os.path.join(self.dir, "conf"), "JAVA_HOME": home, **({"HADOOP_USER_NAME": user} if user else {})}

    def java(self, *words, heap_mb=256):
        """Command of a Java program of Hadoop with this cluster's configuration."""
        return [java(), *JVM, *FLAGS, f"-Xmx{heap_mb}m", f"-Djava.io.tmpdir={self.dir}/tmp", "-cp",
                f"{self.dir}/conf:{classpath(POM, JARS)}", *words]

    def data(self, *names):
        return os.path.join(self.dir, "data", *names)

    def _rm(self):
        at = {key: f"{HERE_ONLY}:{port}" for key, port in self.rm_at.items()}
        addresses = {"web": f"http://{at['webapp.address']}", "clients": at["address"], "masters": at["scheduler.address"]}
        return Member(self, "rm", self.java(f"{SERVER}.resourcemanager.ResourceManager"), addresses, self._is_active)

    def _node(self, i, host):
        """All daemons share the configuration, so what is a node's own is on its command line."""
        name = f"nm{i}"
        at = {key: f"{host}:{self.port(usual + 10 * i)}" for key, usual in NM_PORTS.items()}
        own = {f"yarn.nodemanager.{key}": value for key, value in {**at, "hostname": host}.items()}
        own["yarn.nodemanager.local-dirs"] = self.data(name, "local")
        own["yarn.nodemanager.recovery.dir"] = self.data(name, "recovery")
        own["yarn.nodemanager.log-dirs"] = os.path.join(self.dir, "log", f"{name}-containers")
        words = [word for key, value in own.items() for word in ("-D", f"{key}={value}")]
        addresses = {"web": f"http://{at['webapp.address']}", "id": at["address"], "containers": self.data(name, "local")}
        return Member(self, name, self.java(f"{SERVER}.nodemanager.NodeManager", *words, heap_mb=192), addresses,
                      lambda: self._answers(at["webapp.address"]) and at["address"] in self.registered())

    def _name_node(self):
        at = {key: f"{HERE_ONLY}:{port}" for key, port in self.nn_at.items()}
        addresses = {"web": f"http://{at['http-address']}", "clients": self.file_system}
        return Member(self, "namenode", self.java(f"{HDFS}.namenode.NameNode", heap_mb=192), addresses, self._has_data_node)

    def _data_node(self):
        addresses = {"web": f"http://{HERE_ONLY}:{self.dn_at['http.address']}"}
        return Member(self, "datanode", self.java(f"{HDFS}.datanode.DataNode", heap_mb=192), addresses, self._has_data_node)

    # ---- configuration ----

    def _configure(self, settings):
        own = {f"yarn.resourcemanager.{key}": f"{HERE_ONLY}:{port}" for key, port in self.rm_at.items()}
        texts = {"core-site.xml": site(self._core()), "yarn-site.xml": site({**own, **self._yarn(), **SETTINGS, **settings}),
                 "hdfs-site.xml": site(self._hdfs()), "capacity-scheduler.xml": site(QUEUES), "log4j.properties": LOG4J}
        for name, text in texts.items():
            with open(os.path.join(self.dir, "conf", name), "w", encoding="utf-8") as f:
                f.write(text)

    @property
    def file_system(self):
        return f"hdfs://{HERE_ONLY}:{self.nn_at['rpc-address']}" if self.hdfs else "file:///"

    @property
    def name_node(self):
        """Where WebHDFS is."""
        return f"{HERE_ONLY}:{self.nn_at['http-address']}"

    def _core(self):
        return {"fs.defaultFS": self.file_system,
                "hadoop.tmp.dir": os.path.join(self.dir, "tmp"), "hadoop.zk.address": self.zookeeper.address,
                "hadoop.registry.zk.quorum": self.zookeeper.address}

    def _yarn(self):
        has_leveldb = platform.machine() in ("x86_64", "i686")  # the node manager's, for its recovery
        return {
            "yarn.resourcemanager.hostname": HERE_ONLY,
            "yarn.resourcemanager.recovery.enabled": "true",
            "yarn.resourcemanager.store.class": f"{SERVER}.resourcemanager.recovery.ZKRMStateStore",
            "yarn.resourcemanager.zk-state-store.parent-path": "/rmstore",
            "yarn.resourcemanager.opportunistic-container-allocation.enabled": "false",
            "yarn.node-attribute.fs-store.root-dir": "file://" + self.data("node-attributes"),
            "yarn.node-labels.fs-store.root-dir": "file://" + self.data("node-labels"),
            "yarn.timeline-service.enabled": "false",
            "yarn.log-aggregation-enable": "false",
            "yarn.acl.enable": "false",
            "yarn.nodemanager.hostname": HERE_ONLY,
            "yarn.nodemanager.container-executor.class": f"{SERVER}.nodemanager.DefaultContainerExecutor",
            "yarn.nodemanager.resource.memory-mb": 4096,
            "yarn.nodemanager.resource.cpu-vcores": 8,
            "yarn.scheduler.minimum-allocation-mb": 64,
            "yarn.scheduler.maximum-allocation-mb": 4096,
            "yarn.nodemanager.vmem-check-enabled": "false",
            "yarn.nodemanager.pmem-check-enabled": "false",
            "yarn.nodemanager.disk-health-checker.enable": "false",
            "yarn.nodemanager.recovery.enabled": "true" if has_leveldb else "false",
            "yarn.nodemanager.recovery.supervised": "true",
            "yarn.nodemanager.linux-container-executor.nonsecure-mode.limit-users": "false",
        }

    def _hdfs(self):
        own = {f"dfs.namenode.{key}": f"{HERE_ONLY}:{port}" for key, port in self.nn_at.items()}
        own |= {f"dfs.datanode.{key}": f"{HERE_ONLY}:{port}" for key, port in self.dn_at.items()}
        return {**own, "dfs.namenode.name.dir": "file://" + self.data("namenode"), "dfs.datanode.data.dir": "file://" + self.data("datanode"),
                "dfs.datanode.hostname": HERE_ONLY, "dfs.replication": 1, "dfs.permissions.enabled": "true",
                "dfs.namenode.safemode.extension": 0, "dfs.namenode.datanode.registration.ip-hostname-check": "false"}

    # ---- questions ----

    def rest(self, path, method="GET", body=None, user=None):
        """The resource manager's answer."""
        query = ("&" if "?" in path else "?") + f"user.name={user}" if user else ""
        return request(self.rm_at["webapp.address"], method, "/ws/v1/cluster" + path + query, body, {"Accept": "application/json"})

    def ask(self, path):
        """What a GET of it says; None while it does not answer as one that works."""
        with contextlib.suppress(OSError, http.client.HTTPException):
            answer = self.rest(path)
            return answer.json if answer.status == 200 else None
        return None

    def _is_active(self):
        info = self.ask("/info")
        return info and info["clusterInfo"]["haState"] == "ACTIVE"

    def registered(self):
        """Ids of the nodes that the resource manager counts on."""
        nodes = self.ask("/nodes?states=RUNNING") or {}
        return [node["id"] for node in (nodes.get("nodes") or {}).get("node", [])]

    def _answers(self, address):
        with contextlib.suppress(OSError, http.client.HTTPException):
            return request(address, "GET", "/ws/v1/node/info").status == 200
        return False

    def _has_data_node(self):
        with contextlib.suppress(OSError, http.client.HTTPException, IndexError):
            beans = request(self.nn_at["http-address"], "GET", "/jmx?qry=Hadoop:service=NameNode,name=FSNamesystem*").json["beans"]
            state = {key: value for bean in beans for key, value in bean.items()}
            return state.get("NumLiveDataNodes") == 1 and state.get("FSState") == "Operational"
        return False

    # ---- life ----

    def note(self):
        """Write down what was started, for who ends it."""
        rows = {m.name: {"process": kept.mark(m.pid), "log": m.log_file, **m.addresses} for m in self.members if m.process}
        with open(os.path.join(self.dir, "conf", "members.new"), "w", encoding="utf-8") as f:
            json.dump(rows, f)
        os.replace(f.name, os.path.join(self.dir, "conf", "members.json"))

    def _format(self):
        done = subprocess.run(self.java(f"{HDFS}.namenode.NameNode", "-format", "-nonInteractive"), capture_output=True, text=True,
                              check=False, cwd=self.dir, env=self.how["env"])
        assert done.returncode == 0, done.stdout + done.stderr

    def start(self):
        """All at once: each waits for the others by itself."""
        for member in self.members:
            if member.name == "namenode":
                self._format()
            member.spawn()
        for member in self.members:
            member.wait()
        return self

    def close(self):
        """Kill all of it, the containers included. Its own directory goes; of another one the logs stay."""
        end(self.dir)
        for member in self.members:
            member.kill()
        if self.owns_dir:
            shutil.rmtree(self.dir, ignore_errors=True)


def members(directory):
    """What was started in this directory and still runs: rows by name."""
    try:
        with open(os.path.join(directory, "conf", "members.json"), encoding="utf-8") as f:
            rows = json.load(f)
    except FileNotFoundError:
        return {}
    return {name: row for name, row in rows.items() if kept.alive(row["process"])}


def containers(directory):
    """Processes of containers of the cluster in this directory: container id by pid, "" where one is just being made."""
    found, data = {}, os.path.join(directory, "data") + os.sep
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):  # it has just ended, or is another user's
            with open(f"/proc/{pid}/environ", "rb") as env, open(f"/proc/{pid}/cmdline", "rb") as line:
                values = dict(one.partition("=")[::2] for one in env.read().decode(errors="replace").split("\0"))
                words = line.read().decode(errors="replace").split("\0")
            if values.get("HADOOP_TOKEN_FILE_LOCATION", "").startswith(data):
                found[int(pid)] = values.get("CONTAINER_ID", "")
            elif any(word.startswith(data) and word.endswith(".sh") for word in words):
                found[int(pid)] = ""
    return found


def kill_processes(pids):
    """Those that have not ended yet: what was seen may have, as a shell before its command. @return whether there was none."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return not pids


def end_containers(directory):
    """@return whether there was none."""
    return kill_processes(containers(directory))


def end(directory):
    """Kill the daemons, so that no container starts again, then the containers."""
    for row in members(directory).values():
        kept.end(row["process"], signal.SIGKILL)
    wait_for("its containers have ended", lambda: end_containers(directory))


# ---- ./dev yarn ----

HOME = os.path.join(ROOT, "build", "yarn")


@contextlib.contextmanager
def alone():
    """One command at a time."""
    os.makedirs(os.path.dirname(HOME), exist_ok=True)
    with open(HOME + ".lock", "w", encoding="ascii") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        yield


def show(name, row):
    where = "  ".join(f"{use} {address}" for use, address in row.items() if use not in ("process", "log"))
    print(f"{name:<9}  process {row['process'].split()[0]:<7}  {where}")


def up(*words):
    with alone():
        if members(HOME):
            print("A cluster runs already: ./dev yarn status shows it, ./dev yarn down ends it")
            return 1
        shutil.rmtree(HOME, ignore_errors=True)
        if not os.path.exists(JARS):
            print("fetching Hadoop from Maven Central", file=sys.stderr)
        cluster = Cluster(directory=HOME, hdfs="--hdfs" in words, port=usual_port, how={"start_new_session": True, "preexec_fn": None})
        try:
            cluster.start()
        except BaseException as error:
            cluster.close()
            why = (str(error) or type(error).__name__).splitlines()[0].rstrip(":")
            print(f"The cluster does not start: {why}; logs: {os.path.relpath(HOME, ROOT)}/log", file=sys.stderr)
            return 1
    return status()


def down():
    with alone():
        end(HOME)
        for name in ("data", "tmp", "conf"):
            shutil.rmtree(os.path.join(HOME, name), ignore_errors=True)
    print("The cluster is down" + (f"; its logs are in {os.path.relpath(HOME, ROOT)}/log" if os.path.exists(HOME) else ""))
    return 0


def status():
    rows = members(HOME)
    for name, row in rows.items():
        show(name, row)
    if not rows:
        print("No cluster runs")
        return 1
    print(f"For clients: HADOOP_CONF_DIR={os.path.relpath(HOME, ROOT)}/conf; logs: {os.path.relpath(HOME, ROOT)}/log")
    return 0


def main(words):
    """up [--hdfs], down, status."""
    verbs = {"up": (up, {"--hdfs"}), "down": (down, set()), "status": (status, set())}
    run, allowed = verbs.get(words[0] if words else None, (None, set()))
    if not run or not allowed.issuperset(words[1:]) or len(set(words[1:])) < len(words[1:]):
        print("usage: ./dev yarn up [--hdfs] | down | status", file=sys.stderr)
        return 2
    return run(*words[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
