"""Slider applications for tests: their documents, packages, and a client of svcmgr's Slider API."""
import json
import os
import zipfile

from harness import request, wait_for

SCHEMA = "http://example.org/specification/v2.0.0"
NAMED = "/ws/v1/slider/applications"


def conf(components, **options):
    """A tree: components by name, with their options; options of all. A text or a number each."""
    return {"schema": SCHEMA, "metadata": {}, "global": {key: str(value) for key, value in options.items()}, "credentials": {},
            "components": {name: {key: str(value) for key, value in of.items()} for name, of in components.items()}}


def resources(**counts):
    """A resources document: number of instances by component, priorities in their order."""
    return conf({name: {"yarn.role.priority": i, "yarn.component.instances": n} for i, (name, n) in enumerate(counts.items(), 1)},
                **{"yarn.memory": 32})


def commands(**commands_of):
    """An application configuration: what each component runs."""
    return conf({name: {"launch_command": command} for name, command in commands_of.items()})


def files(directory, **documents):
    """Write documents; the file of each by its name."""
    paths = {}
    for name, document in documents.items():
        paths[name] = os.path.join(directory, f"{name}.json")
        with open(paths[name], "w", encoding="utf-8") as f:
            json.dump(document, f)
    return paths


def package(path, **entries):
    """A zip with these entries, of which "metainfo" is metainfo.json. Returns its path, which everybody can read."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for name, content in entries.items():
            z.writestr("metainfo.json" if name == "metainfo" else name, content if isinstance(content, str) else json.dumps(content))
    os.chmod(path, 0o644)
    return path


class Slider:
    """The API as one user."""

    def __init__(self, port, user="alice"):
        self.port, self.user = port, user

    def ask(self, method, path, body=None, headers=None):
        return request(self.port, method, f"{path}{'&' if '?' in path else '?'}user.name={self.user}", body, headers)

    def create(self, name, resources_of, app_conf, **more):
        answer = self.ask("PUT", f"{NAMED}/{name}", {"resources": resources_of, "appConf": app_conf, **more})
        assert answer.status == 202, answer
        return wait_for(lambda: self.root(name), f"{name} has an application")

    def application(self, name):
        answer = self.ask("GET", f"{NAMED}/{name}")
        assert answer.status == 200, answer
        return answer.json

    def root(self, name):
        """Path of an application's tree; None: it has no id yet."""
        known = self.application(name).get("id")
        return f"/proxy/{known}/ws/v1/slider" if known else None

    def until_live(self, name):
        """All that is wanted has started."""
        liveness = f"{self.root(name)}/application/live/liveness"
        wait_for(lambda: self.ask("GET", liveness).json["allRequestsSatisfied"] and self.application(name)["state"] == "STABLE", f"{name} is live")
