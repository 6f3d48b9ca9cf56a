"""Frameworks in DNS and in the registry: each task has a name, each port its SRV, by the names that `bobbin framework explain` shows."""
import json
import os

import pytest

from commands import commands
from frameworks import Frameworks, role
from harness import DOMAIN, Stack, request, wait_for

pytestmark = pytest.mark.sanitize

PORTS = {"portDefinitions": {"http": {"start": 0, "count": 1}, "ssh": {"start": 0, "count": 2}}}
FIXED = {"portDefinitions": {"rpc": {"start": 7000, "count": 1}}}

OPTIONS = {"yarn.nodemanager.resource.memory-mb": "100000", "yarn.nodemanager.resource.cpu-vcores": "1000"}

_, ok, refused = commands("framework")


@pytest.fixture(scope="module")
def stack():
    with Stack(services=True, options={"svcmgr": OPTIONS}) as s:
        with open(os.path.join(s.dir, "source"), "w", encoding="utf-8") as source:
            source.write("nothing\n")
        yield s


def put(stack, name, roles, user="alice"):
    descriptor = {"version": 1, "user": {"name": user}, "taskRoles": {
        of: role("sleep 1000", [os.path.join(stack.dir, "source")], n, resource) for of, (n, resource) in roles.items()}}
    ok(stack, "put", name, "-", "--wait", "-q", stdin=json.dumps(descriptor))
    for of, (n, _) in roles.items():
        Frameworks(stack.services_port).until_tasks(name, "CONTAINER_RUNNING", n, of)
    return explained(stack, name)


def explained(stack, name):
    return json.loads(ok(stack, "explain", "-o", "json", name))


def ports_of(task):
    """"http:8080;ssh:2200,2201;" by labels."""
    parts = (part.rpartition(":") for part in task["containerPorts"].split(";") if part)
    return {label: numbers.split(",") for label, _, numbers in parts}


def wanted_of(stack, name, document):
    """What DNS must answer for each name of a framework."""
    api, answers = Frameworks(stack.services_port), {}
    for of, names in document["taskRoles"].items():
        tasks = api.tasks(name, of)
        answers[names["taskRoleDnsName"], "A"] = sorted(task["containerIp"] for task in tasks)
        for task, called in zip(tasks, names["tasks"], strict=True):
            answers[called["taskDnsName"], "A"] = [task["containerIp"]]
        for label, srv in names["portDnsNames"].items():
            answers[srv, "SRV"] = sorted(f"1 1 {port} {called['taskDnsName']}." for task, called in zip(tasks, names["tasks"])
                                         for port in ports_of(task)[label])
    return answers


def until_answered(stack, wanted):
    def answered():
        stack.sync_all()
        assert {question: stack.dig(*question) for question in wanted} == wanted
        return True
    wait_for(answered, "DNS answers what is wanted")


def until_gone(stack, wanted):
    until_answered(stack, {question: [] for question in wanted})


def test_every_task_and_port_is_found_and_goes(stack):
    document = put(stack, "train", {"worker": (3, PORTS), "server": (2, FIXED)})
    base = f"train.alice.{DOMAIN}"
    assert document["frameworkDnsName"] == base and document["explain"] == []
    assert [task["taskDnsName"] for task in document["taskRoles"]["worker"]["tasks"]] == [f"worker-{i}.{base}" for i in range(3)]
    assert document["taskRoles"]["server"]["portDnsNames"] == {"rpc": f"_rpc._tcp.server.{base}"}
    wanted = wanted_of(stack, "train", document)
    assert sum(len(records) for (_, kind), records in wanted.items() if kind == "SRV") == 3 * 3 + 2
    until_answered(stack, wanted)
    ok(stack, "flex", "train", "worker=1")
    wait_for(lambda: len(explained(stack, "train")["taskRoles"]["worker"]["tasks"]) == 1, "one worker is left")
    until_gone(stack, [(f"worker-{i}.{base}", "A") for i in (1, 2)])
    until_answered(stack, wanted_of(stack, "train", explained(stack, "train")))
    ok(stack, "delete", "train")
    until_gone(stack, wanted)


def test_names_with_odd_characters_have_names_of_their_own(stack):
    roles = {"Web.Front": (1, {"portDefinitions": {"Http~1": {"start": 0, "count": 1}}}), "web-front": (1, PORTS), "w" * 60: (1, FIXED)}
    first = put(stack, "UA~Train.1", roles)
    second = put(stack, "ua-train-1", roles)
    wanted = {**wanted_of(stack, "UA~Train.1", first), **wanted_of(stack, "ua-train-1", second)}
    names = [name for document in (first, second) for of in document["taskRoles"].values() for name in
             (of["taskRoleDnsName"], *of["portDnsNames"].values(), *(task["taskDnsName"] for task in of["tasks"]))]
    assert len({name.lower() for name in names}) == len(names)
    assert all(len(label) <= 63 for name in names for label in name.split("."))
    assert {name.split(".", name.count(".") - DOMAIN.count("."))[-1] for name in names} == {DOMAIN}
    until_answered(stack, wanted)
    for name in ("UA~Train.1", "ua-train-1"):
        ok(stack, "delete", name)
    until_gone(stack, wanted)


def test_users_with_odd_characters_have_names_of_their_own(stack):
    users = ["Jane_B", "a.b", "a~b", "-z", "u" * 100]
    documents = [put(stack, f"of-{i}", {"w": (1, PORTS)}, user) for i, user in enumerate(users)]
    homes = [document["frameworkDnsName"].split(".", 1)[1] for document in documents]
    assert homes[0] == f"jane-b.{DOMAIN}" and len(set(homes)) == len(users), homes
    assert all(home.endswith(f".{DOMAIN}") and home.count(".") == DOMAIN.count(".") + 1 for home in homes), homes
    wanted = {}
    for i, document in enumerate(documents):
        wanted.update(wanted_of(stack, f"of-{i}", document))
    until_answered(stack, wanted)
    assert [explained(stack, f"of-{i}")["explain"] for i in range(len(users))] == [[]] * len(users)
    for i in range(len(users)):
        ok(stack, "delete", f"of-{i}")
    until_gone(stack, wanted)


def test_ports_are_found_by_api_in_the_registry(stack):
    put(stack, "found", {"worker": (2, PORTS)})
    tasks = Frameworks(stack.services_port).tasks("found", "worker")

    def targets(api):
        answer = request(stack.registry_port, "GET", f"/ws/v1/registry-find?user=alice&component=worker&api={api}&format=http_sd")
        return sorted(target for group in answer.json for target in group["targets"])
    wanted = sorted(f"{task['containerIp']}:{ports_of(task)['http'][0]}" for task in tasks)
    wait_for(lambda: targets("http") == wanted, f"the registry finds {wanted}")
    assert targets("none") == []
    ok(stack, "delete", "found")
    wait_for(lambda: targets("http") == [], "the registry finds nothing")
