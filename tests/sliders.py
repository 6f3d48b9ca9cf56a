"""Applications of the Slider API: what a test puts, and what it reads of them."""
from harness import request, wait_for

NAMED = "/ws/v1/slider/applications/"


def role(priority, n, **options):
    """Options of a component; '_' in the names of options stand for '.'."""
    return {"yarn.role.priority": str(priority), "yarn.component.instances": str(n), "yarn.memory": "64",
            **{key.replace("_", "."): str(value) for key, value in options.items()}}


class Application:
    """An application, started and running."""

    def __init__(self, port, name, components, command="sleep 1000", **options):
        self.port, self.name, self.components = port, name, components
        self.options = {key: str(value) for key, value in options.items()}  # of all components
        body = {"resources": {"components": components, "global": self.options}, "appConf": {"global": {"launch_command": command}}}
        answer = request(port, "PUT", NAMED + name, body)
        assert answer.status == 202, answer
        wait_for(lambda: self.view().get("state") in ("STARTED", "STABLE"), f"{name} runs")
        self.root = self.view()["href"].split(str(port), 1)[1]

    def view(self):
        return request(self.port, "GET", NAMED + self.name).json

    def ask(self, method, path, body=None, headers=None):
        """A path below …/application."""
        return request(self.port, method, f"{self.root}/application/{path}", body, headers)

    def get(self, path):
        answer = self.ask("GET", path)
        assert answer.status == 200, answer
        return answer.json

    def flex(self, **counts):
        """Want other numbers of some components."""
        for name, n in counts.items():
            self.components[name]["yarn.component.instances"] = str(n)
        return self.ask("PUT", "model/desired/resources", {"components": self.components, "global": self.options})

    def flexed(self, **counts):
        answer = self.flex(**counts)
        assert answer.status == 202, answer
        return self.settled()

    def settled(self):
        """Its liveness when all is as wanted."""
        def done():
            answer = self.ask("GET", "live/liveness", headers={"Prefer": "wait=10"})
            ids = self.get("live/containers").values()
            return answer.json["allRequestsSatisfied"] and all(c["state"] == 3 and not c.get("released") for c in ids) and answer.json
        return wait_for(done, f"{self.name} is settled")

    def ids(self, component):
        return self.get(f"live/components/{component}/containers")

    def hosts(self, component):
        return [c["host"] for c in self.get("live/containers").values() if c["component"] == component]

    def component(self, name):
        return self.get(f"live/components/{name}")

    def destroy(self):
        request(self.port, "DELETE", NAMED + self.name)
        wait_for(lambda: request(self.port, "GET", NAMED + self.name).status == 404, f"{self.name} is gone")
