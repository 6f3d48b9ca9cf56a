"""A real NameNode and DataNode from Maven Central, on loopback.

    with Cluster() as hdfs: …hdfs.http…      "127.0.0.1:PORT" where WebHDFS is
"""
import contextlib
import http.client
import os
import shutil
import subprocess
import tempfile

import knox
import maven
import zookeeper
from harness import ROOT, request
from ports import free_ports

HERE = os.path.dirname(os.path.abspath(__file__))
JARS = os.path.join(ROOT, "build", "hadoop-hdfs-3.4.2")
MAIN = "org.apache.hadoop.hdfs.server"
JVM = [*knox.JVM, "-Djava.net.preferIPv4Stack=true"]
LOG4J = """log4j.rootLogger=WARN,console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.target=System.err
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{ISO8601} %p %c: %m%n
"""


class Cluster:
    """Both processes. Their superuser is `hdfs`."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="hdfs-")
        self.ports = dict(zip(("rpc", "http", "dn", "dn_http", "dn_ipc"), free_ports(5)))
        self.rpc, self.http = self._at("rpc"), self._at("http")
        self.processes = []

    def _at(self, name):
        return f"127.0.0.1:{self.ports[name]}"

    def site(self):
        """hdfs-site.xml of the processes, and of clients."""
        return {"fs.defaultFS": f"hdfs://{self.rpc}", "dfs.namenode.rpc-address": self.rpc, "dfs.namenode.http-address": self.http,
                "dfs.namenode.name.dir": f"file://{self.dir}/name", "dfs.datanode.data.dir": f"file://{self.dir}/data",
                "dfs.datanode.address": self._at("dn"), "dfs.datanode.http.address": self._at("dn_http"),
                "dfs.datanode.ipc.address": self._at("dn_ipc"), "dfs.datanode.hostname": "127.0.0.1", "dfs.replication": 1,
                "dfs.namenode.safemode.extension": 0, "dfs.namenode.datanode.registration.ip-hostname-check": "false",
                "hadoop.tmp.dir": f"{self.dir}/tmp", "dfs.heartbeat.interval": "1s"}

    def _lay_down(self):
        # HDFS looks for its web pages on the class path; its jar on Maven Central has none.
        for name in ("conf/webapps/hdfs", "conf/webapps/datanode", "tmp"):
            os.makedirs(os.path.join(self.dir, name))
        for name, text in (("hdfs-site.xml", knox.site(self.site())), ("log4j.properties", LOG4J)):
            with open(os.path.join(self.dir, "conf", name), "w", encoding="utf-8") as f:
                f.write(text)

    def _java(self, main, *words):
        path = maven.classpath(os.path.join(HERE, "pom.xml"), JARS)
        return [zookeeper.java(), *JVM, f"-Djava.io.tmpdir={self.dir}/tmp", "-cp", f"{self.dir}/conf:{path}", f"{MAIN}.{main}", *words]

    def _how(self):
        return {"cwd": self.dir, "stdin": subprocess.DEVNULL, "env": {**os.environ, "HADOOP_USER_NAME": "hdfs"}}

    def _spawn(self, main):
        with open(os.path.join(self.dir, "log"), "ab") as log:
            self.processes.append(subprocess.Popen(self._java(main), stdout=log, stderr=log,
                                                   preexec_fn=zookeeper.die_with_parent, **self._how()))

    def log(self):
        """The last they have printed."""
        with open(os.path.join(self.dir, "log"), encoding="utf-8", errors="replace") as f:
            return f.read()[-6000:]

    def _serves(self):
        for process in self.processes:
            assert process.poll() is None, f"HDFS ended with {process.returncode}:\n{self.log()}"
        with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
            beans = request(self.ports["http"], "GET", "/jmx?qry=Hadoop:service=NameNode,name=FSNamesystem*").json["beans"]
            state = {key: value for bean in beans for key, value in bean.items()}
            return state.get("NumLiveDataNodes") == 1 and state.get("FSState") == "Operational"
        return False

    def __enter__(self):
        try:
            self._lay_down()
            self._spawn("datanode.DataNode")  # It waits for its NameNode, and takes time to start.
            done = subprocess.run(self._java("namenode.NameNode", "-format", "-nonInteractive"), capture_output=True, text=True,
                                  check=False, **self._how())
            assert done.returncode == 0, done.stdout + done.stderr
            self._spawn("namenode.NameNode")
            zookeeper.wait_for("HDFS serves", self._serves)
            return self
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)
