"""Services on a cluster of yarn.py: those of Hadoop, by its stand-alone API server and its Java master, and those of svcmgr; the same
questions to both, and what the resource manager, the node managers and /proc say of them.

    with Theirs(cluster) as services: services.launch(sleepers("web", 3)); services.until("web"); services.kill_master("web")
"""
import contextlib
import os
import signal

from harness import DOMAIN, Stack, request, wait_for
from java import JVM, Program, Started, java
from maven import classpath
from ports import free_port
from yarn import FLAGS, HERE, ROOT, containers, kill_processes

POM, JARS = os.path.join(HERE, "services.xml"), os.path.join(ROOT, "build", "hadoop-services-3.4.2")
STANDALONE = "org.apache.hadoop.yarn.service.webapp.ApiServerWebApp"
SHELLS = {"bash", "sh", "dash", "container-shim"}
SLOW = 120  # seconds for a hundred containers on a machine that others use, too


def sleepers(name, n, memory_mb=32, **properties):
    """A service of one component that does nothing, with the default readiness check."""
    return {"name": name, "version": "1", "components": [
        {"name": "sleeper", "number_of_containers": n, "launch_command": "sleep 100000", "resource": {"cpus": 1, "memory": str(memory_mb)}}],
        "configuration": {"properties": {"yarn.service.readiness-check-interval.seconds": "1", **properties}}}


def settings(directory, port):
    """Of a cluster in this directory on which a stand-alone API server may run: it takes no options of its own."""
    return {"yarn.service.api-server.address": f"127.0.0.1:{port}",
            "yarn.service.base.path": f"file://{directory}/data/services",
            "yarn.service.classpath": f"{directory}/conf:{classpath(POM, JARS)}",
            "yarn.nodemanager.resource.memory-mb": 16384, "yarn.nodemanager.resource.cpu-vcores": 64,
            "yarn.scheduler.minimum-allocation-mb": 32}


def listed(document, key):
    """A list of Hadoop's REST interface, which leaves the wrapper and the brackets away when it likes."""
    inner = document.get(key + "s") if isinstance(document.get(key + "s"), dict) else document
    found = inner.get(key, [])
    return [found] if isinstance(found, dict) else found


def executable(pid):
    """Name of its program, "" when it has just ended."""
    with contextlib.suppress(OSError):
        return os.path.basename(os.readlink(f"/proc/{pid}/exe"))
    return ""


class Services(Started):
    """cluster: on which they run. prefix: of the API's paths. user: whose they are."""

    prefix, user = "/v1/services", ""

    def __init__(self, cluster, port):
        self.cluster, self.port = cluster, port

    # ---- the API ----

    def ask(self, method, path="", body=None):
        return request(self.port, method, f"{self.prefix}{path}{'?user.name=' + self.user if self.user else ''}", body)

    def launch(self, document):
        answer = self.ask("POST", "", document)
        assert answer.status == 202, answer
        return document["name"]

    def service(self, name):
        """What GET says; None: there is no such service, or none answers."""
        answer = self.ask("GET", "/" + name)
        return answer.json if answer.status == 200 else None

    def instances(self, name):
        """Container of each instance that is READY, by the instance's name."""
        now = self.service(name) or {"components": []}
        return {c["component_instance_name"]: c["id"] for component in now["components"] for c in component["containers"]
                if c["state"] == "READY"}

    def until(self, name, n=None, state="STABLE", timeout=SLOW):
        """READY instances, as soon as it is in this state and there are n."""
        def there():
            now, ready = self.service(name), self.instances(name)
            return now and now["state"] == state and (n is None or len(ready) == n) and (ready or True)
        return wait_for(there, f"{name} is {state} with {n} instances", timeout)

    def flex(self, name, component, n):
        answer = self.ask("PUT", f"/{name}/components/{component}", {"number_of_containers": n})
        assert answer.status in (200, 202, 204), answer

    def destroy(self, name):
        answer = self.ask("DELETE", "/" + name)
        if answer.status == 400 and b"still running" in answer.body:  # its containers take longer than a request may; it goes on
            wait_for(lambda: self.ask("GET", "/" + name).status == 404, f"{name} is destroyed", SLOW)
        else:
            assert answer.status in (200, 204), answer

    # ---- the resource manager ----

    def application(self, name):
        """Id of the application that it is now."""
        return wait_for(lambda: (self.service(name) or {}).get("id"), f"{name} is an application")

    def state(self, app):
        """The resource manager's own name of it."""
        return self.cluster.rest(f"/apps/{app}/state").json.get("state")

    def attempts(self, app):
        return listed(self.cluster.rest(f"/apps/{app}/appattempts").json, "appAttempt")

    def masters_container(self, app):
        return self.attempts(app)[-1].get("containerId")

    def of_rm(self, app):
        """Ids of its containers in the resource manager's list, the master's too; as a list: one that is in it twice is a fault."""
        attempt = self.attempts(app)[-1]["appAttemptId"]
        return [one["containerId"] for one in listed(self.cluster.rest(f"/apps/{app}/appattempts/{attempt}/containers").json, "container")]

    def of_nodes(self, app):
        """Node of each of its containers that lives to a node manager: pairs."""
        number, found = app.partition("_")[2], []
        for node in self.cluster.nodes:
            with contextlib.suppress(OSError):  # that one is down
                answer = request(node.addresses["web"].removeprefix("http://"), "GET", "/ws/v1/node/containers").json
                found += [(one["id"], node.name) for one in listed(answer.get("containers") or {}, "container")
                          if f"_{number}_" in one["id"] and one["state"] in ("RUNNING", "LOCALIZING", "NEW", "SCHEDULED")]
        return found

    def node_of(self, container):
        """The node manager on which it is."""
        app = "application_" + "_".join(container.split("_")[-4:-2])
        name = dict(self.of_nodes(app))[container]
        return next(node for node in self.cluster.nodes if node.name == name)

    def kill_application(self, app):
        """As a person does who does not know of services."""
        put = {"state": "KILLED"}
        wait_for(lambda: self.cluster.rest(f"/apps/{app}/state", "PUT", put, self.user or "dr.who").status == 200, f"{app} is killed")

    # ---- processes ----

    def processes(self, container):
        """Pids of its programs, without the shells around them."""
        return [pid for pid, id in containers(self.cluster.dir).items() if id == container and executable(pid) not in SHELLS]

    def master(self, name):
        """Pid of its application master."""
        app = self.application(name)
        return wait_for(lambda: self.processes(self.masters_container(app)), f"the master of {name} runs")[0]

    def kill_master(self, name):
        pid = self.master(name)
        os.kill(pid, signal.SIGKILL)
        return pid

    def until_runs(self, container, program="sleep"):
        """Pids of this program in it, as soon as there are some: it is READY before the node's script has become its command."""
        return wait_for(lambda: [pid for pid in self.processes(container) if executable(pid) == program], f"{container} runs {program}", SLOW)

    def kill_container(self, container, program="sleep"):
        kill_processes(self.until_runs(container, program))

    def is_tidy(self, name):
        """What is READY, what the resource manager and what the node managers list is the same, each once; and all of it runs."""
        app = self.application(name)
        ready = sorted([*self.instances(name).values(), self.masters_container(app)])
        rm, nodes = sorted(self.of_rm(app)), sorted(id for id, _ in self.of_nodes(app))
        assert ready == rm == nodes, (ready, rm, nodes)
        assert all(self.processes(id) for id in ready)
        return True

    def until_tidy(self, name, timeout=15):
        return wait_for(lambda: self.is_tidy(name), f"{name} has the containers that all list", timeout)


class Theirs(Services):
    """Hadoop's. The cluster has the settings of settings()."""

    def __init__(self, cluster, port):
        super().__init__(cluster, port)
        self.server = Program("api-server", os.path.join(cluster.dir, "log", "api-server.log"))

    def start(self):
        path = f"{self.cluster.dir}/conf:{classpath(POM, JARS)}"
        tmp = f"-Djava.io.tmpdir={self.cluster.dir}/tmp"
        self.server.run([java(), *JVM, *FLAGS, tmp, "-cp", path, STANDALONE], self.cluster.dir, **self.cluster.how)
        self.server.wait_until("the API server answers", self._answers)
        return self

    def _answers(self):
        with contextlib.suppress(OSError):
            return self.ask("GET", "/version").status == 200
        return False

    def close(self):
        self.server.stop()


class Ours(Services):
    """svcmgr on the cluster, with registryd on the cluster's ZooKeeper and dnsd."""

    prefix, user = "/app/v1/services", "alice"

    def __init__(self, cluster, **options):
        at = cluster.zookeeper.address
        self.stack = Stack(services=True, store=f"zk://{at}/registry", options={
            "registryd": {"hadoop.registry.rm.enabled": "true", "hadoop.registry.rm.poll.interval": "1s",
                          "yarn.resourcemanager.webapp.address": cluster.rm.addresses["web"].removeprefix("http://")},
            "svcmgr": {"yarn.service.cluster": "yarn", "yarn.service.state.store": f"zk://{at}/bobbin",
                       "yarn.service.api-server.dialect": "hadoop3", **options}})
        self.stack.svcmgr.env = {"HADOOP_CONF_DIR": os.path.join(cluster.dir, "conf")}
        for option in ("yarn.service.local.addresses", "yarn.nodemanager.linux-container-executor.cgroups.hierarchy",
                       "yarn.service.stop-containers-on-exit"):
            self.stack.svcmgr.options.pop(option)
        super().__init__(cluster, self.stack.services_port)

    def start(self):
        self.stack.__enter__()
        return self

    def close(self):
        self.stack.__exit__(None, None, None)

    # ---- what others see ----

    def records(self, name, user=None, its_class="yarn-service"):
        """Record of each instance in the registry, by its name there; {}: there is none."""
        answer = self.stack.registry("GET", f"/users/{user or self.user}/services/{its_class}/{name}", query="recursive=true")
        if answer.status == 404:
            return {}
        found = {node["path"]: node.get("service") for node in answer.json.get("tree", [])}
        return {path.rpartition("/")[2]: record for path, record in found.items() if "/components/" in path and record}

    def explained(self, name):
        """What keeps it from being as wanted, as text."""
        return request(self.port, "GET", f"{self.prefix}/{name}?explain=true&user.name={self.user}").body.decode()

    def addresses(self, instance, name, user=None):
        return self.stack.dig(f"{instance}.{name}.{user or self.user}.{DOMAIN}", "A")


def port_of_theirs():
    """Where a stand-alone server may listen: settings() and Theirs() want it before there is a cluster."""
    return free_port()
