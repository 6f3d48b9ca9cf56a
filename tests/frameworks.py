"""Frameworks of the FrameworkLauncher API: what a test puts, and what it reads of them."""
from harness import PATIENCE, request, wait_for


def role(entry, sources, n=1, resource=None, **more):
    """A task role; more: its other members."""
    return {"taskNumber": n, "taskService": {"version": 7, "entryPoint": entry, "sourceLocations": sources,
                                             "resource": {"cpuNumber": 1, "memoryMB": 32, **(resource or {})}}, **more}


class Frameworks:
    """The API at a port of this host."""

    def __init__(self, port):
        self.port = port

    def ask(self, method, name, path="", body=None):
        return request(self.port, method, f"/v1/Frameworks/{name}{path}", body)

    def put(self, name, roles, version=3, **more):
        answer = self.ask("PUT", name, body={"version": version, "taskRoles": roles, **more})
        assert answer.status == 202, answer

    def delete(self, name):
        assert self.ask("DELETE", name).status == 202

    def status(self, name):
        return self._read(name, "/FrameworkStatus")

    def tasks(self, name, role_name="w"):
        """Statuses of the tasks of a role; []: it has none yet."""
        roles = self._read(name, "/AggregatedFrameworkStatus")["aggregatedTaskRoleStatuses"]
        return roles[role_name]["taskStatuses"]["taskStatusArray"] if role_name in roles else []

    def completed(self, name, timeout=PATIENCE):
        """Its status when it is over."""
        def ended():
            status = self.status(name)
            return status["frameworkState"] == "FRAMEWORK_COMPLETED" and status
        return wait_for(ended, f"{name} has completed", timeout)

    def until_tasks(self, name, state, n, role_name="w"):
        def there():
            found = self.tasks(name, role_name)
            return [t["taskState"] for t in found] == [state] * n and found
        return wait_for(there, f"{n} tasks of {name} are {state}")

    def _read(self, name, path):
        answer = self.ask("GET", name, path)
        assert answer.status == 200, answer
        return answer.json
