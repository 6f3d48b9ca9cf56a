"""Applications on a cluster of yarn.py: submitted by REST, ended as a test wants."""
from harness import wait_for
from yarn import containers, kill_processes

SHELL = "org.apache.hadoop.yarn.applications.distributedshell.ApplicationMaster"
SLEEP = "sleep 900"
ENDED = ("FINISHED", "FAILED", "KILLED")
SLOW = 120  # seconds for a master that is a JVM, on a machine that others use, too


class App:
    """One application; it has begun when this returns. command: its master's. keep: containers outlive their master."""

    def __init__(self, yarn, command=SLEEP, user="alice", attempts=2, keep=False):
        self.yarn, self.user = yarn, user
        self.id = self._ask("POST", "/new-application").json["application-id"]
        context = {"application-id": self.id, "application-name": "bobbin-test", "application-type": "TEST", "queue": "default",
                   "am-container-spec": {"commands": {"command": f"{command} 1><LOG_DIR>/stdout 2><LOG_DIR>/stderr"}},
                   "max-app-attempts": attempts, "resource": {"memory": 128, "vCores": 1},
                   "keep-containers-across-application-attempts": keep}
        answer = self._ask("POST", "", context)
        assert answer.status == 202, answer

    def _ask(self, method, path, body=None):
        return self.yarn.rest("/apps" + path, method, body, self.user)

    def state(self):
        """The RM's internal one; None: it does not know the application."""
        answer = self._ask("GET", f"/{self.id}/state")
        return None if answer.status == 404 else answer.json["state"]

    def until(self, *states):
        return wait_for(lambda: self.state() in states, f"{self.id} is {' or '.join(map(str, states))}")

    def _attempts(self):
        answer = self._ask("GET", f"/{self.id}/appattempts")
        return answer.json["appAttempts"].get("appAttempt", []) if answer.status == 200 else []

    def attempts(self):
        """State of each attempt, by its id."""
        return {one["appAttemptId"]: one["appAttemptState"] for one in self._attempts()}

    def attempt(self, number, *states):
        """Id of an attempt as soon as it is in such a state."""
        id = f"{self.id.replace('application', 'appattempt')}_{number:06d}"
        wait_for(lambda: self.attempts().get(id) in states, f"{id} is {' or '.join(states)}", SLOW)
        return id

    def masters_container(self, number):
        """Id of the container in which an attempt's master runs."""
        return next(one["containerId"] for one in self._attempts() if one["id"] == number)

    def live(self):
        """Node of each container that the RM lists, by its id."""
        found = {}
        for attempt in list(self.attempts())[-1:]:
            listed = self._ask("GET", f"/{self.id}/appattempts/{attempt}/containers").json.get("container", [])
            found = {one["containerId"]: one["assignedNodeId"] for one in ([listed] if isinstance(listed, dict) else listed)}
        return found

    def processes(self):
        """Pids of the commands of its containers, by container."""
        found, number = {}, self.id.partition("_")[2]
        for pid, id in containers(self.yarn.dir).items():
            if f"_{number}_" in id:
                found.setdefault(id, []).append(pid)
        return found

    def running(self, n):
        """Its n containers beside the master's, as soon as their commands run: node by id."""
        def all_run():
            masters = [one["containerId"] for one in self._attempts()]
            mine = {id: node for id, node in self.live().items() if id not in masters}
            return mine if len(mine) == n and all(self.processes().get(id) for id in mine) else None
        return wait_for(all_run, f"{self.id} has {n} containers", SLOW)

    def crash(self, container):
        """Kill the command of a container."""
        wait_for(lambda: self.processes().get(container), f"{container} has begun")
        wait_for(lambda: kill_processes(self.processes().get(container, [])), f"the command of {container} is killed")

    def kill(self):
        """As its user does."""
        wait_for(lambda: self._ask("PUT", f"/{self.id}/state", {"state": "KILLED"}).status == 200, f"{self.id} is killed")
        return self


class Shell(App):
    """distributedshell: a master that has n containers do nothing."""

    def __init__(self, yarn, n, memory_mb=64, **more):
        master = yarn.java(SHELL, "--container_memory", str(memory_mb), "--container_vcores", "1", "--num_containers", str(n),
                           "--homedir", f"{yarn.dir}/tmp",
                           "--keep_containers_across_application_attempts", heap_mb=64)
        its_text = f"printf '\\000\\{len(SLEEP):03o}{SLEEP}' >shellCommands"  # as Java writes one: its length first
        super().__init__(yarn, f"{its_text}; exec {' '.join(master)}", keep=True, **more)
